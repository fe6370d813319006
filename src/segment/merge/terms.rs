//! Merges the terms of several segments, for a range of keys.
//!
//! The keys of the sources are divided into ranges of a few hundred blocks each, so that several
//! ranges can be merged at the same time. A range is returned in batches of limited size.

use super::MergeSource;
use crate::error::{Corruption, Result};
use crate::segment::Section;
use crate::segment::block::PostingsFrom;
use crate::segment::layout::BLOCK_TERMS;
use crate::segment::postings::{List, Postings};
use crate::segment::reader::{SegmentReader, inline_docs};

type Checked<T> = std::result::Result<T, Corruption>;

/// The most blocks of each source in a range. 128 blocks are 32,768 terms.
const RANGE_BLOCKS: usize = 128;

/// A batch ends after the term that reaches this number of postings.
const BATCH_POSTINGS: usize = 1 << 18;

/// Converts the documents of a source to ordinals of the merged segment.
pub enum Renumber {
    /// Every document is kept, with this number added to its ordinal.
    Shift(u32),
    /// The new ordinal of each document, or `DELETED`.
    Table(Vec<u32>),
}

const DELETED: u32 = u32::MAX;

impl Renumber {
    /// Returns the renumbering of every source.
    pub fn of_all(sources: &[MergeSource<'_>]) -> Vec<Renumber> {
        let mut base = 0;
        let of_one = |source: &MergeSource<'_>| {
            let first = base;
            base += source.documents();
            let Some(alive) = &source.alive else { return Renumber::Shift(first) };
            let mut table = vec![DELETED; source.reader.header().documents as usize];
            for (new, &old) in (first..).zip(alive) {
                table[old as usize] = new;
            }
            Renumber::Table(table)
        };
        sources.iter().map(of_one).collect()
    }
}

/// Keys from the first (inclusive) to the second (exclusive), or to the last key of all.
pub type KeyRange = (u64, Option<u64>);

/// Returns ranges that together contain every key of the sources, in order.
///
/// # Errors
/// When a block is damaged.
pub fn ranges(sources: &[MergeSource<'_>]) -> Result<Vec<KeyRange>> {
    let mut bounds = vec![0];
    for source in sources {
        let (file, index) = (source.reader.file(), source.reader.index());
        for block in (RANGE_BLOCKS..index.blocks()).step_by(RANGE_BLOCKS) {
            bounds.push(index.read(file, block)?.first());
        }
    }
    bounds.sort_unstable();
    bounds.dedup();
    let ends = bounds[1..].iter().copied().map(Some).chain([None]);
    Ok(bounds.iter().copied().zip(ends).collect())
}

/// Merged terms in key order, and the terms that were taken from each source.
#[derive(Default)]
pub struct Batch {
    keys: Vec<u64>,
    /// The end of each term's documents in `docs`.
    ends: Vec<usize>,
    docs: Vec<u32>,
    /// The terms taken from a source, by source.
    pub taken: Vec<TermRun>,
}

/// Consecutive terms of a source.
#[derive(Default)]
pub struct TermRun {
    /// The ordinal of the first term in the source.
    pub first: usize,
    /// The place of each term among the terms of the batch. A term that occurs in no kept document
    /// gets the place of the next term.
    pub places: Vec<u32>,
}

impl Batch {
    /// Returns the number of terms.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the number of postings.
    pub fn postings(&self) -> usize {
        self.docs.len()
    }

    /// Returns the terms with their documents.
    pub fn terms(&self) -> impl Iterator<Item = (u64, &[u32])> {
        let mut start = 0;
        self.keys.iter().zip(&self.ends).map(move |(&key, &end)| {
            let docs = &self.docs[start..end];
            start = end;
            (key, docs)
        })
    }

    fn clear(&mut self, cursors: &[Cursor<'_>]) {
        self.keys.clear();
        self.ends.clear();
        self.docs.clear();
        self.taken.iter_mut().for_each(|taken| taken.places.clear());
        for cursor in cursors {
            self.taken[cursor.source].first = cursor.ordinal();
        }
    }
}

/// Merges a range of keys, batch by batch.
pub struct RangeMerge<'a> {
    cursors: Vec<Cursor<'a>>,
    /// The keys of the cursors, side by side for a fast minimum.
    heads: Vec<u64>,
    batch: Batch,
    is_over: bool,
}

impl<'a> RangeMerge<'a> {
    /// Opens the merge of the terms of the sources in this range.
    ///
    /// # Errors
    /// When a source is damaged.
    pub fn open(
        sources: &'a [MergeSource<'a>],
        renumber: &'a [Renumber],
        range: KeyRange,
    ) -> Result<RangeMerge<'a>> {
        let mut cursors = Vec::with_capacity(sources.len());
        for (i, (source, renumber)) in sources.iter().zip(renumber).enumerate() {
            cursors.extend(Cursor::open(i, source.reader, renumber, range)?);
        }
        let heads = cursors.iter().map(|cursor| cursor.key).collect();
        let taken = sources.iter().map(|_| TermRun::default()).collect();
        Ok(RangeMerge {
            cursors,
            heads,
            batch: Batch { taken, ..Batch::default() },
            is_over: false,
        })
    }

    /// Returns the terms that [`advance`](Self::advance) merged. `None` after the last batch.
    pub fn batch(&self) -> Option<&Batch> {
        (!self.is_over).then_some(&self.batch)
    }

    /// Merges the next batch.
    ///
    /// # Errors
    /// When a source is damaged.
    pub fn advance(&mut self) -> Result<()> {
        let RangeMerge { cursors, heads, batch, is_over } = self;
        *is_over = heads.is_empty();
        batch.clear(cursors);
        while !heads.is_empty() && batch.docs.len() < BATCH_POSTINGS {
            let before = batch.docs.len();
            let mut exhausted = false;
            let Least { key, first, count } = least(heads);
            // Branch prediction fails here, because the next source is unpredictable. Jumping to a
            // single source costs less than testing each.
            let which = if count == 1 { first..first + 1 } else { first..heads.len() };
            for i in which {
                if heads[i] == key {
                    let cursor = &mut cursors[i];
                    cursor.take(&mut batch.docs)?;
                    batch.taken[cursor.source].places.push(batch.keys.len() as u32);
                    exhausted |= !cursor.advance()?;
                    heads[i] = cursor.key;
                }
            }
            if exhausted {
                cursors.retain(|cursor| !cursor.is_exhausted());
                heads.clear();
                heads.extend(cursors.iter().map(|cursor| cursor.key));
            }
            if batch.docs.len() > before {
                batch.keys.push(key);
                batch.ends.push(batch.docs.len());
            }
        }
        Ok(())
    }
}

/// The minimum of some keys, its first place, and the number of occurrences.
struct Least {
    key: u64,
    first: usize,
    count: usize,
}

/// Finds the minimum of `keys`, which must not be empty, without branches that depend on keys.
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

/// A read position in the terms of a source.
struct Cursor<'a> {
    source: usize,
    reader: &'a SegmentReader,
    renumber: &'a Renumber,
    /// The key at the cursor.
    key: u64,
    /// The exclusive end of the range.
    end: Option<u64>,
    next_block: usize,
    at: usize,
    keys: Vec<u64>,
    /// The postings of the current term and the following terms of the block.
    postings: Option<PostingsFrom<'a>>,
}

impl<'a> Cursor<'a> {
    /// Opens a cursor at the first term of the range. `None` if the source has no term there.
    fn open(
        source: usize,
        reader: &'a SegmentReader,
        renumber: &'a Renumber,
        (start, end): KeyRange,
    ) -> Checked<Option<Cursor<'a>>> {
        let Some(first_block) = reader.index().first_from(reader.file(), start)? else {
            return Ok(None);
        };
        let mut cursor = Cursor {
            source,
            reader,
            renumber,
            key: 0,
            end,
            next_block: first_block,
            at: 0,
            keys: Vec::with_capacity(BLOCK_TERMS),
            postings: None,
        };
        if !cursor.load(None)? {
            return Ok(None);
        }
        cursor.at = cursor.keys.partition_point(|&key| key < start);
        match cursor.keys.get(cursor.at) {
            Some(&key) => {
                cursor.key = key;
                let block = reader.index().read(reader.file(), first_block)?;
                cursor.postings = Some(block.postings_from(cursor.at));
            }
            None => {
                let last = cursor.keys.last().copied();
                return Ok(cursor.load(last)?.then_some(cursor));
            }
        }
        Ok(Some(cursor))
    }

    fn is_exhausted(&self) -> bool {
        self.at == self.keys.len()
    }

    /// Returns the ordinal of the current term in the source.
    fn ordinal(&self) -> usize {
        (self.next_block - 1) * BLOCK_TERMS + self.at
    }

    /// Moves to the next term. Returns false at the end.
    #[inline]
    fn advance(&mut self) -> Checked<bool> {
        self.at += 1;
        if self.at == self.keys.len() {
            return self.load(Some(self.key));
        }
        self.key = self.keys[self.at];
        Ok(true)
    }

    /// Reads the next block, whose keys must exceed `last`. Returns false if no key is in the
    /// range.
    fn load(&mut self, last: Option<u64>) -> Checked<bool> {
        self.at = 0;
        self.keys.clear();
        let (file, index) = (self.reader.file(), self.reader.index());
        if self.next_block == index.blocks() {
            return Ok(false);
        }
        let block = index.read(file, self.next_block)?;
        block.keys(&mut self.keys);
        let ascend = self.keys.windows(2).all(|pair| pair[0] < pair[1]);
        // A forged block may have no key at all.
        let follow = self.keys.first().is_some_and(|&key| last.is_none_or(|last| last < key));
        if self.keys.len() != block.len() || !ascend || !follow {
            return Err(disorder(self.reader, self.next_block));
        }
        if let Some(end) = self.end {
            self.keys.truncate(self.keys.partition_point(|&key| key < end));
        }
        let Some(&key) = self.keys.first() else { return Ok(false) };
        self.postings = Some(block.postings_from(0));
        self.next_block += 1;
        self.key = key;
        Ok(true)
    }

    /// Appends the kept documents of the current term, renumbered. Call this once per term.
    #[inline]
    fn take(&mut self, docs: &mut Vec<u32>) -> Checked<()> {
        let before = docs.len();
        let file = self.reader.file();
        let postings = self.postings.as_mut().expect("a cursor is within a block").take();
        if let (Postings::One(doc), Renumber::Shift(base)) = (postings, self.renumber)
            && doc < file.header.documents
        {
            // The case of three terms in four is worth a separate path.
            docs.push(doc + base);
            return Ok(());
        }
        match postings {
            Postings::List(at) => List::open(file, at)?.decode(file, docs)?,
            inline => {
                docs.extend(inline_docs(&inline));
                if docs[docs.len() - 1] >= file.header.documents {
                    let what = "a term occurs in a document beyond the last";
                    return Err(file.corruption(Section::Terms, 0, what));
                }
            }
        }
        match self.renumber {
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

/// Returns the error for a block whose keys do not follow the keys of the previous block.
#[cold]
pub fn disorder(reader: &SegmentReader, block: usize) -> Corruption {
    let what = format!("the keys of block {block} are not in order");
    reader.file().corruption(Section::Terms, 0, what)
}
