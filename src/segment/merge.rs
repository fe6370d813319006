//! Merges segments.
//!
//! A merge makes two streaming passes. The first merges the sorted terms of the sources, range of
//! keys by range, and produces for each source a map from old to new term ordinals. The second
//! renumbers the forward lists in document order, chunk by chunk. Deleted documents are dropped,
//! and also terms that occur in no other document. Several threads may process ranges and chunks,
//! without changing the bytes.
//!
//! Nothing that grows with the segments is read randomly. Memory: a few ranges and chunks per
//! thread, the longest posting list, a row and a digest per document, and about ten bits per term
//! for the maps.

mod ordinals;
mod terms;

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use self::ordinals::{OrdinalMap, Renumbering};
use self::terms::{Batch, KeyRange, RangeMerge, Renumber};
use super::layout::BLOCK_TERMS;
use super::layout::{Counts, Header};
use super::postings::Spool;
use super::reader::SegmentReader;
use super::writer::{ForwardChunk, ForwardWriter, SegmentWriter};
use crate::error::{Error, Result};
use crate::runtime::Stop;
use crate::runtime::ordered::in_order_within;

/// The chunks of forward lists in memory per thread.
const CHUNKS_PER_THREAD: usize = 2;
/// The ranges of keys in memory per thread.
const RANGES_PER_THREAD: usize = 4;

/// The bytes of the forward lists of a chunk: half the size of the source's map, within these
/// limits, so that passing through the map once per chunk costs less than the chunk itself.
const CHUNK_BYTES: Range<usize> = 1 << 20..16 << 20;

/// A segment to be merged.
pub struct MergeSource<'a> {
    /// The reader of the segment.
    pub reader: &'a SegmentReader,
    /// The documents to keep, ascending, or `None` to keep all.
    pub alive: Option<Vec<u32>>,
}

impl std::fmt::Debug for MergeSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MergeSource").finish_non_exhaustive()
    }
}

impl MergeSource<'_> {
    /// Returns the number of documents that are kept.
    #[must_use]
    pub fn documents(&self) -> u32 {
        self.alive.as_ref().map_or(self.reader.header().documents, |alive| alive.len() as u32)
    }

    /// Returns the kept document `index`.
    fn kept(&self, index: u32) -> u32 {
        self.alive.as_ref().map_or(index, |alive| alive[index as usize])
    }
}

/// Options of a merge.
#[derive(Default)]
pub struct MergeOptions<'a> {
    /// The directory for posting lists while terms are written. `None`: the system's choice.
    pub spool_dir: Option<&'a Path>,
    /// The number of threads in addition to the caller's, from 0. The bytes do not depend on it.
    pub threads: usize,
    /// Called with the number of postings, and later of fingerprints of documents, written since
    /// the last call. The sum is [`merge_work`].
    pub done: Option<&'a dyn Fn(u64)>,
}

impl std::fmt::Debug for MergeOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MergeOptions").field("threads", &self.threads).finish_non_exhaustive()
    }
}

/// Returns the number of postings and fingerprints of documents that a merge of these sources
/// reads. With deleted documents, a merge writes fewer.
#[must_use]
pub fn merge_work(sources: &[MergeSource<'_>]) -> u64 {
    let of_one = |source: &MergeSource<'_>| {
        let Counts { postings, occurrences, .. } = source.reader.counts();
        postings + occurrences
    };
    sources.iter().map(of_one).sum()
}

/// Writes the segment with the kept documents of `sources`, in order, to `out`.
///
/// `header` describes the merged segment, and must count the kept documents.
///
/// # Errors
/// When a source is damaged or `out` cannot be written.
pub fn merge<W: Write>(
    sources: &[MergeSource<'_>],
    header: Header,
    out: W,
    options: &MergeOptions<'_>,
) -> Result<(Counts, W)> {
    let kept: u64 = sources.iter().map(|source| u64::from(source.documents())).sum();
    assert_eq!(u64::from(header.documents), kept, "the header counts the kept documents");
    let is_alike =
        |source: &MergeSource<'_>| source.reader.header().signatures == header.signatures;
    assert!(sources.iter().all(is_alike), "all segments store signatures, or none does");
    let writer = SegmentWriter::new(out, header, Spool::new(options.spool_dir)).map_err(wrote)?;
    let mut terms = Terms::new(sources, header.signatures, writer, options);
    let renumber = Renumber::of_all(sources);
    let ranges = terms::ranges(sources)?;
    let open = |number: u64| -> Result<RangeMerge<'_>> {
        let range: KeyRange = ranges[number as usize];
        let mut merge = RangeMerge::open(sources, &renumber, range)?;
        merge.advance()?;
        Ok(merge)
    };
    let write = &mut |_, mut merge: RangeMerge<'_>| -> Result<()> {
        while let Some(batch) = merge.batch() {
            terms.push(batch)?;
            merge.advance()?;
        }
        Ok(())
    };
    in_turn(options.threads, RANGES_PER_THREAD, ranges.len(), &open, write)?;
    let (maps, writer) = terms.finish()?;
    let mut forward = writer.end_terms().map_err(wrote)?;
    merge_documents(sources, &maps, &mut forward, options)?;
    forward.finish().map_err(wrote)
}

fn wrote(source: io::Error) -> Error {
    Error::io("write", "the merged .sig file", source)
}

/// Calls `work` for the numbers below `count`, and passes the results to `sink` in order. With 0
/// threads, on the caller's thread.
fn in_turn<T: Send>(
    threads: usize,
    waiting: usize,
    count: usize,
    work: &(dyn Fn(u64) -> Result<T> + Sync),
    sink: &mut dyn FnMut(u64, T) -> Result<()>,
) -> Result<()> {
    let numbers = 0..count as u64;
    if threads == 0 {
        return numbers.into_iter().try_for_each(|number| sink(number, work(number)?));
    }
    in_order_within(threads, waiting * threads, numbers, Stop::NEVER, work, sink)
}

/// Collects the terms of the merged segment.
struct Terms<'a, W: Write> {
    sources: &'a [MergeSource<'a>],
    writer: SegmentWriter<W>,
    /// The number of terms of each source that have been merged.
    passed: Vec<usize>,
    /// For each source, the map from its ordinals to ordinals of the merged segment. Empty without
    /// signatures, because nothing is renumbered then.
    maps: Vec<OrdinalMap>,
    next_ordinal: u32,
    options: &'a MergeOptions<'a>,
}

impl<'a, W: Write> Terms<'a, W> {
    fn new(
        sources: &'a [MergeSource<'a>],
        has_signatures: bool,
        writer: SegmentWriter<W>,
        options: &'a MergeOptions<'a>,
    ) -> Terms<'a, W> {
        let mapped = if has_signatures { sources } else { &[] };
        let maps = mapped.iter().map(|_| OrdinalMap::default()).collect();
        let passed = vec![0; sources.len()];
        Terms { sources, writer, passed, maps, next_ordinal: 0, options }
    }

    fn push(&mut self, batch: &Batch) -> Result<()> {
        let end = after(self.next_ordinal, batch.len())?;
        for (source, (passed, taken)) in self.passed.iter_mut().zip(&batch.taken).enumerate() {
            // Unordered keys, which only a forged block has, would lose terms.
            if !taken.places.is_empty() && taken.first != *passed {
                let block = taken.first / BLOCK_TERMS;
                return Err(terms::disorder(self.sources[source].reader, block).into());
            }
            *passed += taken.places.len();
        }
        for (map, taken) in self.maps.iter_mut().zip(&batch.taken) {
            map.extend(self.next_ordinal, &taken.places);
        }
        for (key, docs) in batch.terms() {
            self.writer.push_term(key, docs).map_err(wrote)?;
        }
        self.next_ordinal = end;
        self.options.report(batch.postings());
        Ok(())
    }

    fn finish(mut self) -> Result<(Vec<OrdinalMap>, SegmentWriter<W>)> {
        for (source, passed) in self.sources.iter().zip(self.passed) {
            if passed as u64 != source.reader.counts().terms {
                return Err(terms::disorder(source.reader, passed / BLOCK_TERMS).into());
            }
        }
        self.maps.iter_mut().for_each(OrdinalMap::finish);
        Ok((self.maps, self.writer))
    }
}

impl MergeOptions<'_> {
    fn report(&self, done: usize) {
        if let Some(report) = self.done {
            report(done as u64);
        }
    }
}

/// Returns the ordinal after `count` more terms of the merged segment.
///
/// # Errors
/// When that exceeds the limit: a segment has fewer than 2^32 terms, its sources may have more.
fn after(ordinal: u32, count: usize) -> Result<u32> {
    u32::try_from(count).ok().and_then(|count| ordinal.checked_add(count)).ok_or_else(|| {
        let what = "the merged segment would have 2^32 terms and more; compact into more segments";
        Error::io("write", "the merged .sig file", io::Error::other(what))
    })
}

/// Without forward lists, a chunk has this many documents.
const CHUNK_DOCUMENTS: u32 = 1 << 16;

/// Consecutive kept documents of a source.
struct SourceChunk {
    source: usize,
    kept: Range<u32>,
}

/// Divides the kept documents of the sources into chunks, in order, whose forward lists take about
/// [`CHUNK_BYTES`] bytes. Without maps there are no forward lists.
fn chunks(sources: &[MergeSource<'_>], maps: &[OrdinalMap]) -> Result<Vec<SourceChunk>> {
    /// The offset of one document in this many is examined.
    const STEP: usize = 32;
    let mut chunks = Vec::new();
    for (i, source) in sources.iter().enumerate() {
        let documents = source.documents();
        let Some(map) = maps.get(i) else {
            let starts = (0..documents).step_by(CHUNK_DOCUMENTS as usize);
            chunks.extend(starts.map(|start| SourceChunk {
                source: i,
                kept: start..documents.min(start.saturating_add(CHUNK_DOCUMENTS)),
            }));
            continue;
        };
        let chunk_bytes = (map.bytes() / 2).clamp(CHUNK_BYTES.start, CHUNK_BYTES.end) as u64;
        let (mut start, mut starts_at) = (0, 0);
        for index in (0..documents).step_by(STEP) {
            let at = source.reader.document(source.kept(index))?.forward_at;
            if at.saturating_sub(starts_at) >= chunk_bytes && index > start {
                chunks.push(SourceChunk { source: i, kept: start..index });
                (start, starts_at) = (index, at);
            }
        }
        chunks.push(SourceChunk { source: i, kept: start..documents });
    }
    Ok(chunks)
}

fn merge_documents<W: Write>(
    sources: &[MergeSource<'_>],
    maps: &[OrdinalMap],
    forward: &mut ForwardWriter<W>,
    options: &MergeOptions<'_>,
) -> Result<()> {
    let chunks = chunks(sources, maps)?;
    let ordinal_bits = forward.ordinal_bits();
    let scratches: Mutex<Vec<RenumberBuffers>> = Mutex::default();
    let lock = || scratches.lock().unwrap_or_else(PoisonError::into_inner);
    let encode = |number: u64| -> Result<ForwardChunk> {
        let SourceChunk { source, kept } = &chunks[number as usize];
        let mut scratch = lock().pop().unwrap_or_default();
        let encoded =
            scratch.encode(&sources[*source], kept.clone(), maps.get(*source), ordinal_bits);
        lock().push(scratch);
        encoded
    };
    let write = &mut |_, chunk: ForwardChunk| -> Result<()> {
        options.report(chunk.occurrences());
        forward.append(&chunk).map_err(wrote)
    };
    in_turn(options.threads, CHUNKS_PER_THREAD, chunks.len(), &encode, write)
}

/// The buffers of a thread that renumbers forward lists.
#[derive(Default)]
struct RenumberBuffers {
    renumbering: Renumbering,
    /// The ordinals of the documents of a chunk, one document after another.
    ordinals: Vec<u32>,
}

impl RenumberBuffers {
    /// Encodes the `kept` documents of a source, and with a map their forward lists, with the
    /// ordinals of the merged segment.
    fn encode(
        &mut self,
        source: &MergeSource<'_>,
        kept: Range<u32>,
        map: Option<&OrdinalMap>,
        ordinal_bits: u32,
    ) -> Result<ForwardChunk> {
        let RenumberBuffers { renumbering, ordinals } = self;
        ordinals.clear();
        if let Some(map) = map {
            for index in kept.clone() {
                source.reader.forward_ordinals(source.kept(index), ordinals)?;
            }
            renumbering.apply(map, ordinals);
        }
        let mut chunk = ForwardChunk::new(ordinal_bits);
        let mut rest = ordinals.as_slice();
        let mut identities = source.reader.identities();
        for index in kept {
            let doc = source.kept(index);
            let row = source.reader.document(doc)?;
            chunk.push(identities.get(doc)?, row.tokens, row.distinct);
            if map.is_some() {
                let list = source.reader.forward_list(doc)?;
                list.check_positions(source.reader.file())?;
                let (own, others) = rest.split_at(list.len());
                rest = others;
                chunk.push_renumbered(&list, own);
            }
        }
        Ok(chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Digest;
    use crate::scheme::Fingerprint;
    use crate::segment::layout::{FOOTER_BYTES, HEADER_BYTES};
    use crate::segment::pages::PAGE_BYTES;
    use crate::segment::{Identity, SegmentBuilder};
    use ownedbytes::OwnedBytes;

    fn open(bytes: &[u8]) -> SegmentReader {
        SegmentReader::open("f.sig", OwnedBytes::new(bytes.to_vec())).unwrap()
    }

    #[test]
    fn a_forged_block_without_keys_is_an_error() {
        let mut builder = SegmentBuilder::new();
        let keys = 0..BLOCK_TERMS as u32 + 2;
        let signature = keys.map(|i| Fingerprint { key: u64::from(i) << 8, position: i });
        let identity = Identity { id: "a", digest: Digest::of(b"a") };
        builder.push(identity, 1000, &signature.collect::<Vec<_>>());
        let header = Header { key_bits: 40, documents: 1, config: 1, signatures: true };
        let (_, mut bytes) = builder.write(Vec::new(), header, None).unwrap();
        let upper = {
            let reader = open(&bytes);
            HEADER_BYTES + reader.index().locate(reader.file(), 1).unwrap().range.0
        };
        // Two keys have a byte of high parts.
        bytes[upper] = 0;
        // The checksums of the only page, of the checksums section, and of the footer.
        let (footer, checksums) = (bytes.len() - FOOTER_BYTES, bytes.len() - FOOTER_BYTES - 4);
        assert!(checksums <= PAGE_BYTES);
        for (checked, at) in [
            (0..checksums, checksums),
            (checksums..footer, footer + 172),
            (footer..footer + 176, footer + 176),
        ] {
            let crc = crc32fast::hash(&bytes[checked]).to_le_bytes();
            bytes[at..at + 4].copy_from_slice(&crc);
        }
        let reader = open(&bytes);
        let merged = merge(
            &[MergeSource { reader: &reader, alive: None }],
            header,
            Vec::new(),
            &MergeOptions::default(),
        );
        let error = merged.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("the keys of block 1 are not in order"), "{error}");
    }

    #[test]
    fn a_segment_of_too_many_terms_is_refused_and_not_numbered_from_0_again() {
        assert_eq!(after(u32::MAX - 1, 1).unwrap(), u32::MAX);
        let error = after(u32::MAX - 5, 6).unwrap_err().to_string();
        assert!(error.contains("2^32 terms"), "{error}");
    }
}
