//! Builds segments from the signatures of new documents.
//!
//! Fingerprints are collected in two flat columns, sorted by radix, and written. If there are many,
//! another thread sorts range after range while the terms of earlier ranges are written. A hash map
//! instead took 15 times as long and 5 times the memory.

use std::io::{self, Write};
use std::ops::Range;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use crossbeam::channel::bounded;

use super::ids::Identity;
use super::layout::{Counts, Header};
use super::postings::Spool;
use super::radix::sort_from;
use super::writer::{CHUNK_BYTES, ForwardChunk, SegmentWriter};
use crate::hash::Digest;
use crate::scheme::Fingerprint;

/// Collects the signatures of documents for a segment.
#[derive(Default)]
pub struct SegmentBuilder {
    keys: Vec<u64>,
    positions: Vec<u32>,
    documents: Vec<ForwardRow>,
    ids: String,
}

impl std::fmt::Debug for SegmentBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SegmentBuilder").finish_non_exhaustive()
    }
}

struct ForwardRow {
    /// The place of the document's first fingerprint in `keys` and `positions`.
    start: u64,
    tokens: u32,
    /// The end of the document's id in `ids`.
    id_end: usize,
    digest: Digest,
}

/// The builder records the document of every 16th occurrence, and counts on from there.
const STRIDE: usize = 16;

impl SegmentBuilder {
    /// Creates a builder without documents. Memory is allocated as documents are pushed.
    #[must_use]
    pub fn new() -> SegmentBuilder {
        SegmentBuilder::default()
    }

    /// Appends a document: id and digest, number of tokens, and signature, ordered by position.
    pub fn push(&mut self, identity: Identity<'_>, tokens: u32, signature: &[Fingerprint]) {
        self.ids.push_str(identity.id);
        let (id_end, digest) = (self.ids.len(), identity.digest);
        self.documents.push(ForwardRow { start: self.keys.len() as u64, tokens, id_end, digest });
        self.keys.extend(signature.iter().map(|fingerprint| fingerprint.key));
        self.positions.extend(signature.iter().map(|fingerprint| fingerprint.position));
    }

    /// Returns the number of documents.
    #[must_use]
    pub fn documents(&self) -> u32 {
        u32::try_from(self.documents.len()).expect("a segment has less than 2^32 documents")
    }

    /// Returns the bytes that the builder holds and will need for writing.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        // Key and position, and the key again in its range: the first copy is freed before ordinals
        // are needed. With a single range for every key, sorting would take 4 more bytes per key.
        const OCCURRENCE_BYTES: usize = 8 + 4 + 8;
        // The row (doubled, because the vector grows by doubling), its output record, and its
        // digest for sorting.
        const DOCUMENT_BYTES: usize = 2 * size_of::<ForwardRow>() + 48;
        self.keys.len() * OCCURRENCE_BYTES + self.documents.len() * DOCUMENT_BYTES + self.ids.len()
    }

    /// Returns the number of occurrences beyond which sorting needs twice the memory.
    #[must_use]
    pub fn occurrences_max(key_bits: u8) -> usize {
        1 << (64 - u32::from(key_bits)).min(32)
    }

    /// Returns the number of collected fingerprints, repetitions included.
    #[must_use]
    pub fn occurrences(&self) -> usize {
        self.keys.len()
    }

    /// Writes the segment. `header.documents` must be the number of pushed documents.
    pub fn write<W: Write>(
        mut self,
        out: W,
        header: Header,
        spool_dir: Option<&Path>,
    ) -> io::Result<(Counts, W)> {
        assert_eq!(header.documents, self.documents(), "the header counts the documents");
        assert!(u32::try_from(self.keys.len()).is_ok(), "a segment has less than 2^32 occurrences");
        // Larger keys would be truncated, and found under another number.
        let all_bits = self.keys.iter().fold(0, |all, key| all | key);
        assert!(
            all_bits <= u64::MAX >> (u64::BITS - u32::from(header.key_bits)),
            "a key has no more bits than the segment's"
        );
        let mut writer = SegmentWriter::new(out, header, Spool::new(spool_dir))?;
        let keys = std::mem::take(&mut self.keys);
        let doc_of = DocOf::new(&self.documents, keys.len());
        // Start with every occurrence. Repetitions are subtracted while terms are written.
        let mut distinct: Vec<u32> = (0..self.documents.len())
            .map(|doc| occurrences(&self.documents, doc, keys.len()).len() as u32)
            .collect();
        // Documents replace occurrences in the packed integers, and there may be more of them.
        let ordinals =
            if keys.len().max(self.documents.len()) <= Self::occurrences_max(header.key_bits) {
                write_packed(keys, header, &doc_of, &mut distinct, &mut writer)?
            } else {
                write_wide(keys, header, &doc_of, &mut distinct, &mut writer)?
            };
        let mut forward = writer.end_terms()?;
        let mut chunk = ForwardChunk::new(forward.ordinal_bits());
        let mut id_start = 0;
        for (doc, row) in self.documents.iter().enumerate() {
            let id = &self.ids[id_start..row.id_end];
            id_start = row.id_end;
            chunk.push(Identity { id, digest: row.digest }, row.tokens, distinct[doc]);
            if header.signatures {
                let range = occurrences(&self.documents, doc, self.positions.len());
                let ordinals = ordinals[range.clone()].iter().copied();
                chunk.push_signature(ordinals, &self.positions[range]);
            }
            if chunk.len() >= CHUNK_BYTES {
                forward.append(&chunk)?;
                chunk.clear();
            }
        }
        forward.append(&chunk)?;
        forward.finish()
    }
}

fn occurrences(documents: &[ForwardRow], doc: usize, total: usize) -> Range<usize> {
    let end = documents.get(doc + 1).map_or(total, |next| next.start as usize);
    documents[doc].start as usize..end
}

/// The number of ranges of keys, as a power of two. Enough ranges that little remains to be written
/// after the last is sorted.
const RANGE_BITS: u32 = 8;

/// Sorting fewer occurrences takes less time than starting and joining a thread.
const OCCURRENCES_OF_A_THREAD: usize = 1 << 16;

/// Writes the terms if key and occurrence fit into one integer, which takes half the memory and
/// half the time. Returns the term ordinal of each occurrence if signatures are stored.
fn write_packed<W: Write>(
    mut keys: Vec<u64>,
    header: Header,
    doc_of: &DocOf,
    distinct: &mut [u32],
    writer: &mut SegmentWriter<W>,
) -> io::Result<Vec<u32>> {
    let shift = 64 - u32::from(header.key_bits);
    let mask = (1u64 << shift) - 1;
    for (occurrence, key) in keys.iter_mut().enumerate() {
        *key = *key << shift | occurrence as u64;
    }
    let mut docs = Vec::new();
    let mut write = |sorted: Vec<u64>| {
        sorted.chunk_by(|a, b| a >> shift == b >> shift).try_for_each(|group| {
            let group_docs = group.iter().map(|packed| (packed & mask) as u32);
            push_term(group[0] >> shift, group_docs, &mut docs, distinct, writer)
        })
    };
    let ordinals = vec![0; if header.signatures { keys.len() } else { 0 }];
    let mut sorting = Sorting { shift, doc_of, ordinals, terms: 0 };
    if keys.len() < OCCURRENCES_OF_A_THREAD {
        write(sorting.sort(keys))?;
        return Ok(sorting.ordinals);
    }
    let ranges = by_range(keys);
    thread::scope(|scope| {
        let (sorted_tx, sorted) = bounded(1 << RANGE_BITS);
        let thread = thread::Builder::new().spawn_scoped(scope, move || {
            // The receiver is gone if writing has failed.
            let _ = ranges.into_iter().try_for_each(|range| sorted_tx.send(sorting.sort(range)));
            sorting.ordinals
        })?;
        sorted.into_iter().try_for_each(write)?;
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Splits packed keys and occurrences into consecutive ranges of keys.
fn by_range(all: Vec<u64>) -> Vec<Vec<u64>> {
    // With shorter keys, the highest bits of the occurrence are included, which are 0.
    let range_of = |packed: u64| (packed >> (64 - RANGE_BITS)) as usize;
    let mut counts = vec![0; 1 << RANGE_BITS];
    all.iter().for_each(|&packed| counts[range_of(packed)] += 1);
    let mut ranges: Vec<Vec<u64>> = counts.into_iter().map(Vec::with_capacity).collect();
    all.into_iter().for_each(|packed| ranges[range_of(packed)].push(packed));
    ranges
}

/// Sorts ranges of keys, one after another.
struct Sorting<'a> {
    /// The lowest bit of the key in a packed integer.
    shift: u32,
    doc_of: &'a DocOf,
    /// The term ordinal of each occurrence. Empty if ordinals are not needed.
    ordinals: Vec<u32>,
    /// The number of terms in earlier ranges.
    terms: u32,
}

impl Sorting<'_> {
    /// Returns the sorted keys of the next range, packed with their documents. A document may occur
    /// several times.
    ///
    /// A pass over the sorted integers does a single thing, so that scattered reads or writes do
    /// not wait in line.
    fn sort(&mut self, mut range: Vec<u64>) -> Vec<u64> {
        let mask = (1u64 << self.shift) - 1;
        sort_from(&mut range, self.shift);
        if !self.ordinals.is_empty() {
            self.number(&range);
        }
        for packed in &mut range {
            *packed = *packed & !mask | u64::from(self.doc_of.get((*packed & mask) as usize));
        }
        range
    }

    /// Records the term ordinals of the occurrences of a range.
    fn number(&mut self, range: &[u64]) {
        let (shift, mask) = (self.shift, (1u64 << self.shift) - 1);
        let Some(first) = range.first() else { return };
        let mut last = first >> shift;
        for packed in range {
            let key = packed >> shift;
            self.terms += u32::from(key != last);
            last = key;
            self.ordinals[(packed & mask) as usize] = self.terms;
        }
        self.terms += 1;
    }
}

/// Sorts and writes keys of any width.
fn write_wide<W: Write>(
    keys: Vec<u64>,
    header: Header,
    doc_of: &DocOf,
    distinct: &mut [u32],
    writer: &mut SegmentWriter<W>,
) -> io::Result<Vec<u32>> {
    let mut ordinals = vec![0; if header.signatures { keys.len() } else { 0 }];
    let mut pairs: Vec<(u64, usize)> =
        keys.into_iter().enumerate().map(|(occurrence, key)| (key, occurrence)).collect();
    pairs.sort_unstable();
    let mut docs = Vec::new();
    for (ordinal, group) in (0u32..).zip(pairs.chunk_by(|a, b| a.0 == b.0)) {
        if header.signatures {
            group.iter().for_each(|pair| ordinals[pair.1] = ordinal);
        }
        let group_docs = group.iter().map(|pair| doc_of.get(pair.1));
        push_term(group[0].0, group_docs, &mut docs, distinct, writer)?;
    }
    Ok(ordinals)
}

/// Appends a term with its documents. `all` ascends, and may contain a document several times.
#[inline]
fn push_term<W: Write>(
    key: u64,
    all: impl Iterator<Item = u32>,
    docs: &mut Vec<u32>,
    distinct: &mut [u32],
    writer: &mut SegmentWriter<W>,
) -> io::Result<()> {
    docs.clear();
    for doc in all {
        if docs.last() == Some(&doc) {
            distinct[doc as usize] -= 1;
        } else {
            docs.push(doc);
        }
    }
    writer.push_term(key, docs)
}

/// Finds the document of an occurrence in a few steps, with a table that fits the cache.
struct DocOf {
    starts: Vec<u64>,
    at_stride: Vec<u32>,
}

impl DocOf {
    fn new(documents: &[ForwardRow], total: usize) -> DocOf {
        let mut at_stride = Vec::with_capacity(total.div_ceil(STRIDE));
        let mut doc = 0;
        for occurrence in (0..total).step_by(STRIDE) {
            while occurrences(documents, doc, total).end <= occurrence {
                doc += 1;
            }
            at_stride.push(doc as u32);
        }
        let starts = documents.iter().map(|row| row.start).chain([total as u64]).collect();
        DocOf { starts, at_stride }
    }

    #[inline]
    fn get(&self, occurrence: usize) -> u32 {
        let mut doc = self.at_stride[occurrence / STRIDE];
        while self.starts[doc as usize + 1] <= occurrence as u64 {
            doc += 1;
        }
        doc
    }
}
