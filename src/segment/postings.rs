//! Which documents does this fingerprint occur in?
//!
//! One or two documents stand in the term's value; longer lists are here, as varint deltas up to
//! [`VARINT_DF_MAX`] documents and as a run-optimised roaring bitmap above. Lists are read where
//! they lie. Deleted documents are still in them: `index` hides those. Layout:
//! segments-format.md, "Postings".

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

use roaring::RoaringBitmap;

use super::bits::{VARINT_BYTES_MAX, put_varint, take_varint};
use super::layout::{Section, SigFile};
use crate::error::Corruption;

/// Lists of more documents are bitmaps. At 256 the sum of both kinds is within 1 % of its
/// smallest on real text, and set operations on bitmaps begin to pay.
pub const VARINT_DF_MAX: usize = 256;

/// Lists of so many documents are held in the term's value.
pub const INLINE_DF_MAX: usize = 2;

/// A document of a list takes at most so many bytes as a varint.
const DOC_BYTES_MAX: usize = 5;

/// How a posting list of the postings section is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Varint deltas.
    Varint,
    /// A serialised roaring bitmap.
    Roaring,
}

/// What the dictionary knows of a term's posting list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Postings {
    /// The only document.
    One(u32),
    /// The two documents, in order.
    Two(u32, u32),
    /// A list that begins at this byte of the postings section.
    List(Encoding, u64),
}

/// Lists on their way into a segment: in memory while they are few, then in an unnamed file.
///
/// They come to light together with the terms but stand after them in the file.
pub struct Spool {
    file: tempfile::SpooledTempFile,
    written: u64,
    scratch: Vec<u8>,
}

/// A spool holds so many bytes in memory.
const SPOOL_BYTES_MAX: usize = 16 << 20;

impl Spool {
    /// An empty spool that grows into a file in `dir`, or in the system's directory for temporary
    /// files.
    pub fn new(dir: Option<&Path>) -> Spool {
        let file = match dir {
            Some(dir) => tempfile::spooled_tempfile_in(SPOOL_BYTES_MAX, dir),
            None => tempfile::spooled_tempfile(SPOOL_BYTES_MAX),
        };
        Spool { file, written: 0, scratch: Vec::new() }
    }

    /// Appends the list of `docs`, which are strictly ascending and more than
    /// [`INLINE_DF_MAX`]; its place.
    pub fn push(&mut self, docs: &[u32]) -> io::Result<(Encoding, u64)> {
        assert!(docs.len() > INLINE_DF_MAX, "short lists are held in the term's value");
        let at = self.written;
        self.scratch.clear();
        put_varint(&mut self.scratch, docs.len() as u64);
        let encoding = if docs.len() <= VARINT_DF_MAX {
            put_deltas(&mut self.scratch, docs);
            Encoding::Varint
        } else {
            put_bitmap(&mut self.scratch, docs)?;
            Encoding::Roaring
        };
        self.file.write_all(&self.scratch)?;
        self.written += self.scratch.len() as u64;
        Ok((encoding, at))
    }

    /// Writes everything spooled to `out`.
    pub fn copy_to(mut self, out: &mut impl Write) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut buffer = vec![0; 64 << 10];
        loop {
            let len = self.file.read(&mut buffer)?;
            if len == 0 {
                return Ok(());
            }
            out.write_all(&buffer[..len])?;
        }
    }
}

fn put_deltas(bytes: &mut Vec<u8>, docs: &[u32]) {
    put_varint(bytes, u64::from(docs[0]));
    for pair in docs.windows(2) {
        put_varint(bytes, u64::from(pair[1] - pair[0] - 1));
    }
}

fn put_bitmap(bytes: &mut Vec<u8>, docs: &[u32]) -> io::Result<()> {
    let mut bitmap = RoaringBitmap::from_sorted_iter(docs.iter().copied())
        .expect("the documents of a list are strictly ascending");
    // Near-duplicates are added together and are runs of ordinals: 2.04 -> 0.44 bytes a posting.
    bitmap.optimize();
    put_varint(bytes, bitmap.serialized_size() as u64);
    bitmap.serialize_into(bytes)
}

/// A set of documents of a segment, to be looked for in long lists.
#[derive(Debug, Default)]
pub struct Candidates {
    bitmap: RoaringBitmap,
}

impl Candidates {
    /// The set of these documents, in any order.
    pub fn new(mut docs: Vec<u32>) -> Candidates {
        docs.sort_unstable();
        docs.dedup();
        let bitmap = RoaringBitmap::from_sorted_iter(docs).expect("they were sorted");
        Candidates { bitmap }
    }

    /// Whether the set has `doc`.
    pub fn contains(&self, doc: u32) -> bool {
        self.bitmap.contains(doc)
    }
}

/// A posting list found in a segment, not yet decoded.
#[derive(Debug, Clone, Copy)]
pub struct List<'a> {
    /// The number of documents.
    pub df: u32,
    encoding: Encoding,
    bytes: &'a [u8],
    at: u64,
}

impl<'a> List<'a> {
    /// The list that begins at byte `at` of the postings section.
    ///
    /// # Errors
    /// When its bytes are damaged or its length is not possible in this segment.
    pub fn open(file: &'a SigFile, encoding: Encoding, at: u64) -> Result<List<'a>, Corruption> {
        let damage = |what| file.corruption(Section::Postings, at as usize, what);
        let start = at as usize;
        let mut head = file.read_up_to(Section::Postings, start, 2 * VARINT_BYTES_MAX)?;
        let before = head.len();
        let df = take_varint(&mut head).filter(|&df| df <= u64::from(file.header.documents));
        let df = df.ok_or_else(|| damage("a list longer than the number of documents"))? as usize;
        let fits = match encoding {
            Encoding::Varint => (INLINE_DF_MAX + 1..=VARINT_DF_MAX).contains(&df),
            Encoding::Roaring => df > VARINT_DF_MAX,
        };
        if !fits {
            return Err(damage("a list of a length that its encoding is not for"));
        }
        let bytes = match encoding {
            Encoding::Varint => {
                let start = start + (before - head.len());
                file.read_up_to(Section::Postings, start, df * DOC_BYTES_MAX)?
            }
            Encoding::Roaring => {
                let len = take_varint(&mut head);
                let len = len.ok_or_else(|| damage("a bitmap without a length"))?;
                let start = start + (before - head.len());
                file.read(Section::Postings, start, usize::try_from(len).unwrap_or(usize::MAX))?
            }
        };
        Ok(List { df: df as u32, encoding, bytes, at })
    }

    /// Appends the documents of the list, in ascending order, to `docs`.
    ///
    /// # Errors
    /// When the list does not hold what it says. `docs` may then have been added to.
    pub fn decode(&self, file: &SigFile, docs: &mut Vec<u32>) -> Result<(), Corruption> {
        let before = docs.len();
        match self.encoding {
            Encoding::Varint => self.decode_deltas(docs),
            Encoding::Roaring => docs.extend(self.bitmap(file)?.iter()),
        }
        let decoded = &docs[before..];
        let last_fits = decoded.last().is_some_and(|&doc| doc < file.header.documents);
        if decoded.len() != self.df as usize || !last_fits {
            return Err(self.damage(file, "a list that does not hold the documents it counts"));
        }
        Ok(())
    }

    /// Whether intersecting with a set of `candidates` documents beats decoding.
    ///
    /// Measured: a probe costs about as much as decoding 400 documents, and grows with the
    /// candidates.
    #[inline]
    pub fn is_probed(&self, candidates: usize) -> bool {
        self.encoding == Encoding::Roaring && self.df as usize > 400 + 4 * candidates
    }

    /// The documents of the list that are among `candidates`, in ascending order. A bitmap is
    /// intersected in its serialised form: only containers that both have are looked at.
    ///
    /// # Errors
    /// When the list does not hold what it says.
    pub fn among(
        &self,
        file: &SigFile,
        candidates: &Candidates,
    ) -> Result<impl Iterator<Item = u32> + use<>, Corruption> {
        let found: Vec<u32> = match self.encoding {
            Encoding::Varint => {
                let mut docs = Vec::with_capacity(self.df as usize);
                self.decode(file, &mut docs)?;
                docs.retain(|&doc| candidates.contains(doc));
                docs
            }
            Encoding::Roaring => candidates
                .bitmap
                .intersection_with_serialized_unchecked(Cursor::new(self.bytes))
                .map_err(|_| self.damage(file, "a bitmap that cannot be read"))?
                .into_iter()
                .collect(),
        };
        Ok(found.into_iter())
    }

    /// Stops early, with fewer documents than `df`, at bytes that are no list.
    fn decode_deltas(&self, docs: &mut Vec<u32>) {
        let mut rest = self.bytes;
        let mut next = 0u64;
        for _ in 0..self.df {
            let Some(delta) = take_varint(&mut rest) else {
                return;
            };
            let Some(doc) = next.checked_add(delta).and_then(|doc| u32::try_from(doc).ok()) else {
                return;
            };
            docs.push(doc);
            next = u64::from(doc) + 1;
        }
    }

    /// The list as a bitmap; only for [`Encoding::Roaring`].
    fn bitmap(&self, file: &SigFile) -> Result<RoaringBitmap, Corruption> {
        let mut cursor = Cursor::new(self.bytes);
        let bitmap = RoaringBitmap::deserialize_from(&mut cursor).ok();
        bitmap
            .filter(|bitmap| {
                cursor.position() == self.bytes.len() as u64 && bitmap.len() == u64::from(self.df)
            })
            .ok_or_else(|| self.damage(file, "a bitmap that does not hold what it counts"))
    }

    fn damage(&self, file: &SigFile, what: &str) -> Corruption {
        file.corruption(Section::Postings, self.at as usize, what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    fn check_deltas(docs: &[u32]) {
        let mut bytes = Vec::new();
        put_deltas(&mut bytes, docs);
        let list = List { df: docs.len() as u32, encoding: Encoding::Varint, bytes: &bytes, at: 0 };
        let mut decoded = Vec::new();
        list.decode_deltas(&mut decoded);
        assert_eq!(decoded, docs);
    }

    proptest! {
        #[test]
        fn deltas_give_back_the_documents(docs in btree_set(any::<u32>(), 3..200)) {
            check_deltas(&docs.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_largest_ordinals_survive() {
        check_deltas(&[0, 1, u32::MAX - 1, u32::MAX]);
    }

    #[test]
    fn a_spool_gives_back_its_lists_one_after_the_other() {
        let mut spool = Spool::new(None);
        let long: Vec<u32> = (0..1000).map(|i| i * 3).collect();
        assert_eq!(spool.push(&[1, 2, 3]).unwrap(), (Encoding::Varint, 0));
        let (encoding, at) = spool.push(&long).unwrap();
        assert_eq!((encoding, at), (Encoding::Roaring, 4));
        let mut bytes = Vec::new();
        spool.copy_to(&mut bytes).unwrap();
        assert_eq!(bytes[..4], [3, 1, 0, 0]);
        let mut rest = &bytes[4..];
        assert_eq!(take_varint(&mut rest), Some(1000));
        assert_eq!(take_varint(&mut rest), Some(rest.len() as u64));
        let bitmap = RoaringBitmap::deserialize_from(rest).unwrap();
        assert!(bitmap.iter().eq(long.iter().copied()));
    }
}
