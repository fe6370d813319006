//! The frame of a `.sig` file.
//!
//! The frame consists of the header at the front, and of the footer with the section table, counts
//! and thresholds at the end. Both have a fixed size. `file` reads the sections of a checked file.
//! Layout: segments-format.md, "The .sig file".

use super::bits::{take_array, uint_le, width_of};
use crate::error::Corruption;

/// The version of the format that this code writes, and the only readable version.
pub const FORMAT_VERSION: u16 = 1;

const MAGIC: [u8; 8] = *b"CENTOSIG";
const END_MAGIC: [u8; 8] = *b"GISOTNEC";

/// The bytes of the header.
pub const HEADER_BYTES: usize = 40;
/// The bytes of the footer: the table of sections, and 64 bytes of other fields.
pub const FOOTER_BYTES: usize = 2 * size_of::<u64>() * SECTIONS + 64;

/// The number of terms of a full block.
pub const BLOCK_TERMS: usize = 256;
/// The number of blocks of a full group.
pub const GROUP_BLOCKS: usize = 64;
/// The number of terms of a full group.
pub const GROUP_TERMS: usize = BLOCK_TERMS * GROUP_BLOCKS;
/// The bits of the filter per key.
pub const FILTER_KEY_BITS: usize = 6;
/// The number of documents of a full group of ids.
pub const ID_GROUP: usize = 16;

/// Lists with more documents are bitmaps. At 256, the total size of both kinds is within 1 % of the
/// minimum on real text, and set operations on bitmaps begin to pay off.
pub const VARINT_DF_MAX: usize = 256;

/// The constants above in the form of a footer.
const THRESHOLDS: [u8; 7] = {
    let [terms, terms_high] = (BLOCK_TERMS as u16).to_le_bytes();
    let [df, df_high] = (VARINT_DF_MAX as u16).to_le_bytes();
    [ID_GROUP as u8, terms, terms_high, GROUP_BLOCKS as u8, FILTER_KEY_BITS as u8, df, df_high]
};

/// The parts of a `.sig` file between header and footer, in file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Blocks of keys with the values that lead to their postings.
    Terms,
    /// The place and encoding of each block, group by group, and the FST from separators to groups.
    TermIndex,
    /// Bloom filters, which exclude most absent keys.
    Filter,
    /// The posting lists that do not fit into the values of terms.
    Postings,
    /// The signature of each document, in document order.
    Forward,
    /// The id of each document, and the digest of its text.
    Ids,
    /// Columns with a few numbers per document, and the column from digests to documents.
    Documents,
    /// The checksum of each page of all earlier bytes.
    Checksums,
}

/// The number of sections. If a new section lacks a line in [`Section::ALL`] or a name, compilation
/// fails. If the writer forgets the section, the writer panics.
pub const SECTIONS: usize = Section::Checksums as usize + 1;

impl Section {
    /// Every section, in file order.
    pub const ALL: [Section; SECTIONS] = [
        Section::Terms,
        Section::TermIndex,
        Section::Filter,
        Section::Postings,
        Section::Forward,
        Section::Ids,
        Section::Documents,
        Section::Checksums,
    ];

    /// Returns the name of the section in messages and in segments-format.md.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Section::Terms => "terms",
            Section::TermIndex => "term index",
            Section::Filter => "filter",
            Section::Postings => "postings",
            Section::Forward => "forward",
            Section::Ids => "ids",
            Section::Documents => "documents",
            Section::Checksums => "checksums",
        }
    }
}

/// The properties of a segment that are fixed before its first term is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Keys are smaller than 2^`key_bits`. 1 to 64.
    pub key_bits: u8,
    /// The number of documents, whose ordinals are 0 to `documents` - 1.
    pub documents: u32,
    /// The digest of scheme, analyzer and hash, the same in every segment of an index.
    pub config: u64,
    /// Whether signatures are stored. If not, they are computed from the texts.
    pub signatures: bool,
}

impl Header {
    /// Returns the number of bytes of a key in big-endian and little-endian form.
    #[must_use]
    pub fn key_bytes(&self) -> usize {
        usize::from(self.key_bits).div_ceil(8)
    }

    /// Returns the number of bits of a document ordinal.
    #[must_use]
    pub fn doc_bits(&self) -> u32 {
        width_of(u64::from(self.documents.saturating_sub(1)))
    }

    /// Returns the bytes of the header.
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes[10] = self.key_bits;
        bytes[11] = u8::from(!self.signatures);
        bytes[12..16].copy_from_slice(&self.documents.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.config.to_le_bytes());
        bytes
    }

    /// Parses a header. `file` is the name for errors.
    ///
    /// # Errors
    /// When the bytes are not a header of this version.
    pub fn decode(file: &str, bytes: &[u8]) -> Result<Header, Corruption> {
        let damage = |offset, what: String| Corruption::new(file, "header", offset, what);
        if bytes.len() < HEADER_BYTES || bytes[..8] != MAGIC {
            return Err(damage(0, "it is not a .sig file".into()));
        }
        let version = uint_le(&bytes[8..10]) as u16;
        if version != FORMAT_VERSION {
            let what = format!(
                "the file has format version {version}, but this version of cento reads \
                 {FORMAT_VERSION}; use the version that wrote it, or create the index again"
            );
            return Err(damage(8, what));
        }
        let key_bits = bytes[10];
        if !(1..=64).contains(&key_bits) {
            return Err(damage(10, format!("keys have {key_bits} bits; 1 to 64 are possible")));
        }
        if bytes[11] > 1 {
            let what = "whether signatures are stored is neither 0 nor 1";
            return Err(damage(11, what.into()));
        }
        if bytes[24..HEADER_BYTES].iter().any(|&byte| byte != 0) {
            return Err(damage(24, "reserved bytes are not zero".into()));
        }
        Ok(Header {
            key_bits,
            documents: uint_le(&bytes[12..16]) as u32,
            config: uint_le(&bytes[16..24]),
            signatures: bytes[11] == 0,
        })
    }
}

/// The counts of a segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of distinct fingerprints.
    pub terms: u64,
    /// The number of pairs of a fingerprint and a document with it.
    pub postings: u64,
    /// The number of fingerprints in stored signatures, repetitions included.
    pub occurrences: u64,
    /// The number of tokens of all documents.
    pub tokens: u64,
}

/// The widths in bits of the packed columns that span the whole segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Widths {
    /// The width of a term ordinal in a forward list.
    pub ordinal: u8,
    /// The width of the number of distinct fingerprints of a document.
    pub distinct: u8,
    /// The width of the number of tokens of a document.
    pub tokens: u8,
    /// The width of the offset of a forward list.
    pub forward: u8,
    /// The width of the offset of a group of ids.
    pub ids: u8,
}

/// The values that are known only after everything else has been written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Footer {
    /// The file offset and length of each section, in the order of [`Section::ALL`].
    pub sections: [(u64, u64); SECTIONS],
    /// The counts of the segment.
    pub counts: Counts,
    /// The widths of the packed columns.
    pub widths: Widths,
    /// The CRC-32 of the checksums section.
    pub checksums_crc: u32,
}

impl Footer {
    /// Returns the bytes of the footer.
    pub fn encode(&self) -> [u8; FOOTER_BYTES] {
        let Counts { terms, postings, occurrences, tokens } = self.counts;
        let mut bytes = Vec::with_capacity(FOOTER_BYTES);
        for (offset, len) in self.sections {
            bytes.extend_from_slice(&offset.to_le_bytes());
            bytes.extend_from_slice(&len.to_le_bytes());
        }
        for count in [terms, postings, occurrences, tokens] {
            bytes.extend_from_slice(&count.to_le_bytes());
        }
        let Widths { ordinal, distinct, tokens, forward, ids } = self.widths;
        bytes.extend_from_slice(&[ordinal, distinct, tokens, forward, ids]);
        bytes.extend_from_slice(&THRESHOLDS);
        bytes.extend_from_slice(&self.checksums_crc.to_le_bytes());
        let crc = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&crc.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&END_MAGIC);
        bytes.try_into().expect("the fields of the footer add up to its size")
    }

    /// Parses a footer, which begins at byte `at` of `file`.
    ///
    /// # Errors
    /// When the bytes are not a footer as a writer of this version leaves it.
    pub fn decode(file: &str, bytes: &[u8], at: u64) -> Result<Footer, Corruption> {
        let damage = |what: &str| Corruption::new(file, "footer", at, what);
        let cut = || damage("it is cut short");
        if bytes.len() != FOOTER_BYTES || bytes[FOOTER_BYTES - 8..] != END_MAGIC {
            return Err(damage("the end of the file is missing"));
        }
        let (fields, crc) = bytes.split_at(FOOTER_BYTES - 16);
        if uint_le(&crc[..4]) != u64::from(crc32fast::hash(fields)) || uint_le(&crc[4..8]) != 0 {
            return Err(damage("it does not match its checksum"));
        }
        let mut rest = fields;
        let mut number = || take_array(&mut rest).map(u64::from_le_bytes).ok_or_else(cut);
        let mut sections = [(0, 0); SECTIONS];
        for section in &mut sections {
            *section = (number()?, number()?);
        }
        let counts = Counts {
            terms: number()?,
            postings: number()?,
            occurrences: number()?,
            tokens: number()?,
        };
        let widths @ [ordinal, distinct, tokens, forward, ids] =
            take_array(&mut rest).ok_or_else(cut)?;
        if take_array(&mut rest).ok_or_else(cut)? != THRESHOLDS {
            return Err(damage("the thresholds are not those of this version of the format"));
        }
        if widths.iter().any(|&width| width > 64) {
            return Err(damage("a column is wider than 64 bits"));
        }
        let checksums_crc = take_array(&mut rest).map(u32::from_le_bytes).ok_or_else(cut)?;
        let widths = Widths { ordinal, distinct, tokens, forward, ids };
        Ok(Footer { sections, counts, widths, checksums_crc })
    }
}
