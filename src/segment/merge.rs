//! How do several segments become one?
//!
//! In two streaming passes. The first merges the sorted terms of all sources and leaves, for each
//! source, a map from old to new term ordinals; the second copies the forward lists in document
//! order through that map. Deleted documents vanish, and with them the terms that nothing else
//! holds. Memory: one block a source, the longest posting list, a row a document, and about ten
//! bits a term for the maps.

use std::io::{self, Write};
use std::path::Path;

use super::bits::{BitWriter, get, width_of};
use super::layout::BLOCK_TERMS;
use super::layout::{Counts, Header};
use super::postings::{List, Postings, Spool};
use super::reader::{SegmentReader, inline_docs};
use super::writer::SegmentWriter;
use crate::error::{Corruption, Error, Result};

type Checked<T> = std::result::Result<T, Corruption>;

/// One of the segments to be merged.
pub struct MergeSource<'a> {
    /// The segment.
    pub reader: &'a SegmentReader,
    /// The documents to keep, ascending; all of them if `None`.
    pub alive: Option<Vec<u32>>,
}

impl std::fmt::Debug for MergeSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MergeSource").finish_non_exhaustive()
    }
}

impl MergeSource<'_> {
    /// The number of documents that the merged segment gets from this one.
    #[must_use]
    pub fn documents(&self) -> u32 {
        self.alive.as_ref().map_or(self.reader.header().documents, |alive| alive.len() as u32)
    }
}

/// Writes to `out` the segment that holds the kept documents of `sources`, in their order.
///
/// `header` announces the merged segment: its documents are the sources' kept ones together.
///
/// # Errors
/// When a source is damaged or `out` cannot be written.
pub fn merge<W: Write>(
    sources: &[MergeSource<'_>],
    header: Header,
    out: W,
    spool_dir: Option<&Path>,
) -> Result<(Counts, W)> {
    let kept: u64 = sources.iter().map(|source| u64::from(source.documents())).sum();
    assert_eq!(u64::from(header.documents), kept, "the header counts the kept documents");
    let wrote = |source: io::Error| Error::io("write", "the merged .sig file", source);
    let mut writer = SegmentWriter::new(out, header, Spool::new(spool_dir)).map_err(wrote)?;
    let maps = merge_terms(sources, &mut writer)?;
    let mut forward = writer.end_terms().map_err(wrote)?;
    let (mut ordinals, mut positions) = (Vec::new(), Vec::new());
    for (source, map) in sources.iter().zip(&maps) {
        let every = 0..source.reader.header().documents;
        let kept: Box<dyn Iterator<Item = u32>> = match &source.alive {
            None => Box::new(every),
            Some(alive) => Box::new(alive.iter().copied()),
        };
        for doc in kept {
            let row = source.reader.document(doc)?;
            source.reader.forward(doc, &mut ordinals, &mut positions)?;
            // A pass of its own, so that the scattered reads do not wait for each other.
            ordinals.iter_mut().for_each(|ordinal| *ordinal = map.get(*ordinal));
            let ordinals = ordinals.iter().copied();
            forward.push_document(row.tokens, row.distinct, ordinals, &positions).map_err(wrote)?;
        }
    }
    forward.finish().map_err(wrote)
}

fn merge_terms<W: Write>(
    sources: &[MergeSource<'_>],
    writer: &mut SegmentWriter<W>,
) -> Result<Vec<OrdinalMap>> {
    let mut maps: Vec<OrdinalMap> = sources.iter().map(|_| OrdinalMap::default()).collect();
    let mut cursors = Vec::with_capacity(sources.len());
    let mut base = 0;
    for (i, source) in sources.iter().enumerate() {
        cursors.extend(Cursor::open(i, source, base)?);
        base += source.documents();
    }
    let mut docs = Vec::new();
    let mut next_ordinal = 0;
    // The keys of the cursors, side by side.
    let mut heads: Vec<u64> = cursors.iter().map(|cursor| cursor.key).collect();
    while !heads.is_empty() {
        docs.clear();
        let mut exhausted = false;
        let Least { key, first, count } = least(&heads);
        // Which source is next cannot be foreseen: going to it costs less than asking each.
        let which = if count == 1 { first..first + 1 } else { first..heads.len() };
        for i in which {
            if heads[i] == key {
                let cursor = &mut cursors[i];
                cursor.take(&mut docs)?;
                maps[cursor.source].push(next_ordinal);
                exhausted |= !cursor.advance()?;
                heads[i] = cursor.key;
            }
        }
        if exhausted {
            cursors.retain(|cursor| !cursor.is_exhausted());
            heads = cursors.iter().map(|cursor| cursor.key).collect();
        }
        if !docs.is_empty() {
            writer
                .push_term(key, &docs)
                .map_err(|e| Error::io("write", "the merged .sig file", e))?;
            next_ordinal = after(next_ordinal)?;
        }
    }
    for map in &mut maps {
        map.finish();
    }
    Ok(maps)
}

/// The ordinal of the next term of the merged segment.
///
/// # Errors
/// When there is none: the terms of a segment are fewer than 2^32, those of its sources may be more.
fn after(ordinal: u32) -> Result<u32> {
    ordinal.checked_add(1).ok_or_else(|| {
        let what = "the merged segment would have 2^32 terms and more; compact into more segments";
        Error::io("write", "the merged .sig file", io::Error::other(what))
    })
}

/// The least of some keys, where it first stands, and how often.
struct Least {
    key: u64,
    first: usize,
    count: usize,
}

/// The least of `keys`, which are not empty; without a branch on them.
#[inline]
fn least(keys: &[u64]) -> Least {
    let mut least = Least { key: keys[0], first: 0, count: 1 };
    for (i, &key) in keys.iter().enumerate().skip(1) {
        let is_less = key < least.key;
        least.first = if is_less { i } else { least.first };
        least.count = if is_less { 1 } else { least.count + usize::from(key == least.key) };
        least.key = least.key.min(key);
    }
    least
}

/// A source at one of its terms.
struct Cursor<'a> {
    source: usize,
    reader: &'a SegmentReader,
    renumber: Renumber,
    /// The key at which the cursor stands.
    key: u64,
    next_block: usize,
    at: usize,
    keys: Vec<u64>,
    postings: Vec<Postings>,
}

/// From a document's ordinal in its source to that in the merged segment.
enum Renumber {
    /// All are kept: the source's documents follow those of the sources before it.
    Shift(u32),
    /// The new ordinal of each; `DELETED` for none.
    Table(Vec<u32>),
}

const DELETED: u32 = u32::MAX;

impl<'a> Cursor<'a> {
    /// A cursor at the first term; `None` in a segment without terms.
    fn open(source: usize, from: &MergeSource<'a>, base: u32) -> Result<Option<Cursor<'a>>> {
        let renumber = match &from.alive {
            None => Renumber::Shift(base),
            Some(alive) => {
                let mut table = vec![DELETED; from.reader.header().documents as usize];
                for (new, &old) in (base..).zip(alive) {
                    table[old as usize] = new;
                }
                Renumber::Table(table)
            }
        };
        let mut cursor = Cursor {
            source,
            reader: from.reader,
            renumber,
            key: 0,
            next_block: 0,
            at: 0,
            keys: Vec::with_capacity(BLOCK_TERMS),
            postings: Vec::with_capacity(BLOCK_TERMS),
        };
        Ok(cursor.load()?.then_some(cursor))
    }

    fn is_exhausted(&self) -> bool {
        self.at == self.keys.len()
    }

    /// Moves to the next term; false at the end.
    #[inline]
    fn advance(&mut self) -> Checked<bool> {
        self.at += 1;
        if self.at == self.keys.len() {
            return self.load();
        }
        self.key = self.keys[self.at];
        Ok(true)
    }

    fn load(&mut self) -> Checked<bool> {
        self.at = 0;
        self.keys.clear();
        self.postings.clear();
        let (file, index) = (self.reader.file(), self.reader.index());
        if self.next_block == index.blocks() {
            return Ok(false);
        }
        let last = self.key;
        let block = index.read(file, self.next_block)?;
        block.keys(&mut self.keys);
        block.all_postings(&mut self.postings);
        let ascend = self.keys.windows(2).all(|pair| pair[0] < pair[1]);
        // A forged block may hold no key at all.
        let follow = self.keys.first().is_some_and(|&key| self.next_block == 0 || last < key);
        if self.keys.len() != block.len() || !ascend || !follow {
            let what = format!("the keys of block {} are not in order", self.next_block);
            return Err(file.corruption(super::Section::Terms, 0, what));
        }
        self.next_block += 1;
        self.key = self.keys[0];
        Ok(true)
    }

    /// Appends the kept documents of the term at the cursor, renumbered.
    #[inline]
    fn take(&self, docs: &mut Vec<u32>) -> Checked<()> {
        let before = docs.len();
        let file = self.reader.file();
        let postings = self.postings[self.at];
        if let (Postings::One(doc), Renumber::Shift(base)) = (postings, &self.renumber)
            && doc < file.header.documents
        {
            // Three terms in four: worth a way of their own.
            docs.push(doc + base);
            return Ok(());
        }
        match postings {
            Postings::List(encoding, at) => List::open(file, encoding, at)?.decode(file, docs)?,
            inline => {
                docs.extend(inline_docs(&inline));
                if docs[docs.len() - 1] >= file.header.documents {
                    let what = "a term occurs in a document beyond the last";
                    return Err(file.corruption(super::Section::Terms, 0, what));
                }
            }
        }
        match &self.renumber {
            Renumber::Shift(base) => docs[before..].iter_mut().for_each(|doc| *doc += base),
            Renumber::Table(table) => {
                let mut kept = before;
                for i in before..docs.len() {
                    let new = table[docs[i] as usize];
                    docs[kept] = new;
                    kept += usize::from(new != DELETED);
                }
                docs.truncate(kept);
            }
        }
        Ok(())
    }
}

/// From a term's ordinal in its source to that in the merged segment.
///
/// The new ordinals ascend with the old, so each stretch of [`STRETCH`] is its first and packed
/// differences: 1.2 bytes a term where a plain table takes 4.
#[derive(Default)]
struct OrdinalMap {
    stretches: Vec<Stretch>,
    packed: Vec<u8>,
    pending: Vec<u32>,
}

struct Stretch {
    first: u32,
    width: u8,
    at: u64,
}

const STRETCH: usize = 128;

impl OrdinalMap {
    /// Appends the new ordinal of the next old one.
    #[inline]
    fn push(&mut self, new: u32) {
        self.pending.push(new);
        if self.pending.len() == STRETCH {
            self.finish();
        }
    }

    /// Packs what has been pushed since the last full stretch.
    fn finish(&mut self) {
        let (Some(&first), Some(&last)) = (self.pending.first(), self.pending.last()) else {
            return;
        };
        let width = width_of(u64::from(last - first));
        self.stretches.push(Stretch { first, width: width as u8, at: self.packed.len() as u64 });
        let mut writer = BitWriter::new(&mut self.packed);
        for &new in &self.pending {
            writer.put(u64::from(new - first), width);
        }
        writer.finish();
        self.pending.clear();
    }

    /// The new ordinal of `old`.
    #[inline]
    fn get(&self, old: u32) -> u32 {
        let stretch = &self.stretches[old as usize / STRETCH];
        let packed = &self.packed[stretch.at as usize..];
        stretch.first + get(packed, old as usize % STRETCH, u32::from(stretch.width)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::Fingerprint;
    use crate::segment::SegmentBuilder;
    use crate::segment::filter::filter_bytes;
    use crate::segment::layout::{FOOTER_BYTES, HEADER_BYTES};
    use crate::segment::pages::PAGE_BYTES;
    use crate::segment::terms::BLOCK_HEADER_BYTES;
    use ownedbytes::OwnedBytes;
    use proptest::prelude::*;

    fn open(bytes: &[u8]) -> SegmentReader {
        SegmentReader::open("f.sig", OwnedBytes::new(bytes.to_vec())).unwrap()
    }

    #[test]
    fn a_forged_block_without_keys_is_an_error() {
        let mut builder = SegmentBuilder::new();
        let keys = 0..BLOCK_TERMS as u32 + 2;
        let signature = keys.map(|i| Fingerprint { key: u64::from(i) << 8, position: i });
        builder.push(1000, &signature.collect::<Vec<_>>());
        let header = Header { key_bits: 40, documents: 1, config: 1, owner: 2 };
        let (_, mut bytes) = builder.write(Vec::new(), header, None).unwrap();
        let block = HEADER_BYTES + open(&bytes).index().range(1).start;
        let upper = block + BLOCK_HEADER_BYTES + header.key_bytes() + filter_bytes(2);
        let upper_bytes = usize::from(bytes[block + 2]);
        bytes[upper..upper + upper_bytes].fill(0);
        // The checksums of the only page, of the checksums, and of the footer.
        let (footer, checksums) = (bytes.len() - FOOTER_BYTES, bytes.len() - FOOTER_BYTES - 4);
        assert!(checksums <= PAGE_BYTES);
        for (checked, at) in [
            (0..checksums, checksums),
            (checksums..footer, footer + 136),
            (footer..footer + 140, footer + 140),
        ] {
            let crc = crc32fast::hash(&bytes[checked]).to_le_bytes();
            bytes[at..at + 4].copy_from_slice(&crc);
        }
        let reader = open(&bytes);
        let merged =
            merge(&[MergeSource { reader: &reader, alive: None }], header, Vec::new(), None);
        let error = merged.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("the keys of block 1 are not in order"), "{error}");
    }

    #[test]
    fn a_segment_of_too_many_terms_is_refused_and_not_numbered_from_0_again() {
        assert_eq!(after(u32::MAX - 1).unwrap(), u32::MAX);
        let error = after(u32::MAX).unwrap_err().to_string();
        assert!(error.contains("2^32 terms"), "{error}");
    }

    proptest! {
        #[test]
        fn an_ordinal_map_gives_back_what_was_pushed(
            steps in proptest::collection::vec(0u32..5000, 1..1000),
        ) {
            let mut map = OrdinalMap::default();
            let mut new = 0;
            let news: Vec<u32> = steps.iter().map(|step| { new += step; new }).collect();
            for &new in &news {
                map.push(new);
            }
            map.finish();
            for (old, &new) in news.iter().enumerate() {
                prop_assert_eq!(map.get(old as u32), new);
            }
        }
    }
}
