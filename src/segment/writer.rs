//! Writes `.sig` files from front to back.
//!
//! A single pass writes terms in key order, then signatures in document order. Both the in-memory
//! builder and the merge use this writer, so a single place knows the order of sections. Memory:
//! the term index, a row and a digest per document, and the spools.

use std::io::{self, Write};

use super::bits::width_of;
use super::documents::{self, Digests, Document};
use super::filter;
use super::forward::{self, ForwardList};
use super::ids::{Identity, IdsWriter};
use super::layout::{Counts, Footer, HEADER_BYTES, Header, Section};
use super::pages::PageWriter;
use super::postings::Spool;
use super::terms::TermsWriter;
use crate::hash::Digest;

/// The sections written so far.
struct Sections {
    starts: Vec<u64>,
}

impl Sections {
    fn begin<W: Write>(&mut self, section: Section, out: &PageWriter<W>) {
        assert_eq!(self.starts.len(), section as usize, "sections are written in order");
        self.starts.push(out.written());
    }
}

/// Writes the terms of a segment. Continue with [`SegmentWriter::end_terms`].
pub struct SegmentWriter<W: Write> {
    header: Header,
    out: PageWriter<W>,
    sections: Sections,
    terms: TermsWriter,
    ids: IdsWriter,
    counts: Counts,
}

impl<W: Write> SegmentWriter<W> {
    /// Begins a segment with this `header`.
    pub fn new(out: W, header: Header, spool: Spool) -> io::Result<SegmentWriter<W>> {
        let mut out = PageWriter::new(out);
        out.write_all(&header.encode())?;
        debug_assert_eq!(out.written(), HEADER_BYTES as u64);
        let mut sections = Sections { starts: Vec::new() };
        sections.begin(Section::Terms, &out);
        Ok(SegmentWriter {
            header,
            out,
            sections,
            ids: IdsWriter::new(spool.beside()),
            terms: TermsWriter::new(header, spool),
            counts: Counts::default(),
        })
    }

    /// Appends a term and its strictly ascending documents. `key` must be larger than the last key.
    #[inline]
    pub fn push_term(&mut self, key: u64, docs: &[u32]) -> io::Result<()> {
        self.counts.postings += docs.len() as u64;
        self.terms.push(&mut self.out, key, docs)
    }

    /// Ends the terms. Signatures follow, in document order.
    pub fn end_terms(mut self) -> io::Result<ForwardWriter<W>> {
        let end = self.terms.finish(&mut self.out)?;
        self.counts.terms = end.terms;
        self.sections.begin(Section::TermIndex, &self.out);
        self.out.write_all(&end.index)?;
        self.sections.begin(Section::Filter, &self.out);
        self.out.write_all(&vec![0; filter::padding(self.out.written())])?;
        end.filter.copy_to(&mut self.out)?;
        self.sections.begin(Section::Postings, &self.out);
        end.lists.copy_to(&mut self.out)?;
        self.sections.begin(Section::Forward, &self.out);
        Ok(ForwardWriter {
            header: self.header,
            start: self.out.written(),
            out: self.out,
            sections: self.sections,
            counts: self.counts,
            ordinal_bits: width_of(end.terms.saturating_sub(1)),
            documents: Vec::with_capacity(self.header.documents as usize),
            digests: Digests::with_room(self.header.documents),
            ids: self.ids,
        })
    }
}

/// The approximate bytes of a chunk of forward lists, the unit of writing to the file.
pub const CHUNK_BYTES: usize = 64 << 10;

/// The encoded signatures of consecutive documents.
pub struct ForwardChunk {
    ordinal_bits: u32,
    bytes: Vec<u8>,
    /// The documents, with offsets of their lists relative to the beginning of the chunk.
    documents: Vec<Document>,
    ids: String,
    /// The end of each document's id in `ids`, and the digest of its text.
    identities: Vec<(usize, Digest)>,
    occurrences: usize,
}

impl ForwardChunk {
    /// Creates an empty chunk for a segment with this width of term ordinals.
    pub fn new(ordinal_bits: u32) -> ForwardChunk {
        ForwardChunk {
            ordinal_bits,
            bytes: Vec::new(),
            documents: Vec::new(),
            ids: String::new(),
            identities: Vec::new(),
            occurrences: 0,
        }
    }

    /// Appends the next document: id, digest, number of tokens, and number of distinct
    /// fingerprints. If signatures are stored, call [`push_signature`](Self::push_signature) or
    /// [`push_renumbered`](Self::push_renumbered) next.
    pub fn push(&mut self, identity: Identity<'_>, tokens: u32, distinct: u32) {
        let forward_at = self.bytes.len() as u64;
        self.documents.push(Document { distinct, tokens, forward_at });
        self.ids.push_str(identity.id);
        self.identities.push((self.ids.len(), identity.digest));
    }

    /// Appends the signature of the last pushed document, as term ordinals and positions.
    pub fn push_signature(
        &mut self,
        ordinals: impl ExactSizeIterator<Item = u32>,
        positions: &[u32],
    ) {
        self.occurrences += positions.len();
        forward::put_list(&mut self.bytes, ordinals, positions, self.ordinal_bits);
    }

    /// Appends the signature of the last pushed document, taken from another segment. `ordinals`
    /// are the ordinals of its terms in this segment.
    pub fn push_renumbered(&mut self, list: &ForwardList<'_>, ordinals: &[u32]) {
        self.occurrences += ordinals.len();
        list.put_renumbered(&mut self.bytes, ordinals, self.ordinal_bits);
    }

    /// Returns the number of fingerprints.
    pub fn occurrences(&self) -> usize {
        self.occurrences
    }

    /// Returns the bytes of the lists and the ids.
    pub fn len(&self) -> usize {
        self.bytes.len() + self.ids.len()
    }

    /// Removes every document, and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.documents.clear();
        self.ids.clear();
        self.identities.clear();
        self.occurrences = 0;
    }
}

/// Writes the signatures of the documents of a segment, and the end of the file.
pub struct ForwardWriter<W: Write> {
    header: Header,
    out: PageWriter<W>,
    sections: Sections,
    counts: Counts,
    ordinal_bits: u32,
    documents: Vec<Document>,
    digests: Digests,
    ids: IdsWriter,
    start: u64,
}

impl<W: Write> ForwardWriter<W> {
    /// Returns the number of bits of a term ordinal.
    pub fn ordinal_bits(&self) -> u32 {
        self.ordinal_bits
    }

    /// Appends the next documents.
    pub fn append(&mut self, chunk: &ForwardChunk) -> io::Result<()> {
        let base = self.out.written() - self.start;
        for document in &chunk.documents {
            let forward_at = base + document.forward_at;
            self.documents.push(Document { forward_at, ..*document });
            self.counts.tokens += u64::from(document.tokens);
        }
        let mut start = 0;
        for &(end, digest) in &chunk.identities {
            self.ids.push(Identity { id: &chunk.ids[start..end], digest })?;
            self.digests.push(digest);
            start = end;
        }
        self.counts.occurrences += chunk.occurrences as u64;
        self.out.write_all(&chunk.bytes)
    }

    /// Writes the remaining sections. Returns the counts and the unflushed inner writer.
    pub fn finish(mut self) -> io::Result<(Counts, W)> {
        assert_eq!(
            self.documents.len(),
            self.header.documents as usize,
            "as many documents as the header announces"
        );
        self.sections.begin(Section::Ids, &self.out);
        let (ids, places) = self.ids.finish()?;
        ids.copy_to(&mut self.out)?;
        self.sections.begin(Section::Documents, &self.out);
        let doc_bits = self.header.doc_bits();
        let (columns, mut widths) =
            documents::encode(&self.documents, &places, self.digests, doc_bits);
        if self.header.signatures {
            widths.ordinal = self.ordinal_bits as u8;
        }
        self.out.write_all(&columns)?;
        self.sections.begin(Section::Checksums, &self.out);
        let covered = self.out.written();
        let (checksums, mut out) = self.out.finish();
        let checksums: Vec<u8> = checksums.into_iter().flat_map(u32::to_le_bytes).collect();
        out.write_all(&checksums)?;
        let starts = self.sections.starts;
        let ends = starts[1..].iter().copied().chain([covered + checksums.len() as u64]);
        let table: Vec<_> =
            starts.iter().zip(ends).map(|(&start, end)| (start, end - start)).collect();
        let footer = Footer {
            sections: table.try_into().expect("all sections have been begun"),
            counts: self.counts,
            widths,
            checksums_crc: crc32fast::hash(&checksums),
        };
        out.write_all(&footer.encode())?;
        Ok((self.counts, out))
    }
}
