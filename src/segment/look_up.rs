//! Which of these fingerprints occur in this segment?
//!
//! A look-up of one key is a chain of loads, each of which waits for memory: the line of a filter, the
//! entry of a block in the term index, high parts, the term's entry, its list. Here all keys go along the
//! chain together: what a step needs is requested for all of them before the first of them takes it. The
//! first step, which is the last one of most keys of a new text, is apart, so that it can be requested in
//! many segments at once.

use super::block::Block;
use super::filter::KeyHash;
use super::layout::{BLOCK_TERMS, Section};
use super::postings::Postings;
use super::reader::{SegmentReader, Term};
use crate::error::Corruption;

/// The number of bytes of a posting list that are requested before its length is known.
const LIST_FETCH_BYTES: usize = 512;

/// Keys to be looked up in several segments, with what is the same in all of them.
pub struct Keys {
    keys: Vec<(u64, KeyHash)>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}

impl Keys {
    /// These keys, which ascend.
    #[must_use]
    pub fn new(keys: &[u64]) -> Keys {
        Keys { keys: keys.iter().map(|&key| (key, KeyHash::of(key))).collect() }
    }
}

/// A key that is looked up.
#[derive(Clone, Copy)]
struct Wanted {
    key: u64,
    hash: KeyHash,
    /// Where the line of the filter begins that knows it.
    line_at: usize,
    /// Its place among the keys.
    i: u32,
    group: u32,
}

/// Keys whose look-up in a segment has begun.
pub struct LookUp<'a> {
    reader: &'a SegmentReader,
    wanted: Vec<Wanted>,
}

impl std::fmt::Debug for LookUp<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LookUp").finish_non_exhaustive()
    }
}

impl SegmentReader {
    /// The terms of those of the ascending `keys` that occur in the segment, each with its place
    /// among `keys`.
    ///
    /// Looking up many at once is several times faster than one by one: the memory of all blocks,
    /// then that of all lists, is fetched at the same time, from the disk too if need be.
    ///
    /// # Errors
    /// When the bytes to be read are damaged.
    pub fn find_all(&self, keys: &[u64]) -> Result<Vec<(u32, Term<'_>)>, Corruption> {
        self.look_up(&Keys::new(keys)).finish()
    }

    /// Begins to look keys up: requests what is read first, and reads nothing.
    #[must_use]
    pub fn look_up(&self, keys: &Keys) -> LookUp<'_> {
        let (file, index, filters) = (self.file(), self.index(), self.filters());
        let mut wanted = Vec::with_capacity(keys.keys.len());
        for (i, &(key, hash)) in (0..).zip(&keys.keys) {
            if let Some(group) = index.group_of(key) {
                let line_at = filters.line_at(hash, group);
                wanted.push(Wanted { key, hash, line_at, i, group: group as u32 });
            }
        }
        file.fetch(Section::Filter, wanted.iter().map(|key| key.line_at..key.line_at + 1));
        // Of a key that passes one entry is read, but which one takes longer to find out than to ask for a
        // page. Keys ascend, and so do their groups.
        let groups = wanted.chunk_by(|a, b| a.group == b.group);
        file.fetch(Section::TermIndex, groups.map(|same| index.record_of(same[0].group as usize)));
        let near = |at: usize| file.touch(Section::Filter, at);
        std::hint::black_box(wanted.iter().fold(0, |sum, key| sum ^ near(key.line_at)));
        LookUp { reader: self, wanted }
    }
}

impl<'a> LookUp<'a> {
    /// The terms of those of the keys that occur in the segment, each with its place among them.
    ///
    /// # Errors
    /// When the bytes to be read are damaged.
    pub fn finish(mut self) -> Result<Vec<(u32, Term<'a>)>, Corruption> {
        self.filter()?;
        if self.wanted.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.found()?;
        let file = self.reader.file();
        let lists = || {
            found.iter().filter_map(|(_, _, postings)| match postings {
                Postings::List(at) => Some(*at as usize),
                _ => None,
            })
        };
        file.fetch(Section::Postings, lists().map(|at| at..at + LIST_FETCH_BYTES));
        let near = lists().fold(0, |sum, at| sum ^ file.touch(Section::Postings, at));
        std::hint::black_box(near);
        let mut terms = Vec::with_capacity(found.len());
        for (i, ordinal, postings) in found {
            terms.push((i, self.reader.term(ordinal, postings)?));
        }
        Ok(terms)
    }

    /// Leaves the keys that pass the filters.
    fn filter(&mut self) -> Result<(), Corruption> {
        let (file, filters) = (self.reader.file(), self.reader.filters());
        let mut passing = 0;
        for at in 0..self.wanted.len() {
            let key = self.wanted[at];
            self.wanted[passing] = key;
            passing += usize::from(filters.passes(file, key.hash, key.line_at)?);
        }
        self.wanted.truncate(passing);
        Ok(())
    }

    /// The keys that are there: the place of each, the ordinal of its term, and its postings.
    fn found(&self) -> Result<Vec<(u32, u32, Postings)>, Corruption> {
        let (file, index) = (self.reader.file(), self.reader.index());
        let places = self.wanted.iter().map(|key| index.place(key.group as usize, key.key));
        let near = places.fold(0, |sum, at| sum ^ file.touch(Section::TermIndex, at));
        std::hint::black_box(near);
        let mut in_blocks = Vec::with_capacity(self.wanted.len());
        for wanted in &self.wanted {
            if let Some(block) = index.block_of(file, wanted.group as usize, wanted.key)? {
                in_blocks.push((*wanted, index.locate(file, block)?));
            }
        }
        file.fetch(Section::Terms, in_blocks.iter().map(|(_, at)| at.range.0..at.range.1));
        let near = |at: usize| file.touch(Section::Terms, at);
        std::hint::black_box(in_blocks.iter().fold(0, |sum, (_, located)| {
            // High parts are 64 to 96 bytes.
            sum ^ near(located.range.0) ^ near(located.range.0 + 64)
        }));
        let mut blocks: Vec<(Wanted, usize, Block<'_>, usize)> =
            Vec::with_capacity(in_blocks.len());
        for (wanted, located) in in_blocks {
            let (at, block) = (located.block, index.open_block(file, &located)?);
            if let Some(bit) = block.seek(wanted.key) {
                blocks.push((wanted, at, block, bit));
            }
        }
        std::hint::black_box(
            blocks.iter().fold(0, |sum, (key, _, block, bit)| sum ^ block.entry(key.key, *bit)),
        );
        let mut found = Vec::with_capacity(blocks.len());
        for (wanted, at, block, bit) in blocks {
            if let Some(place) = block.find_from(wanted.key, bit) {
                let ordinal = (at * BLOCK_TERMS + place) as u32;
                found.push((wanted.i, ordinal, block.postings(place)));
            }
        }
        Ok(found)
    }
}
