//! Looks up many fingerprints in many segments.
//!
//! A look-up of a single key is a chain of loads, and every load waits for memory or disk: the line
//! of a filter, the entry of a block in the term index, high parts, the entry of the term, the
//! list. Here the keys take every step together, in every segment: the bytes of a step are
//! requested for every key before the first key reads any. Only the filters are read one segment
//! after another (see `sieve`).

use super::block::Block;
use super::layout::{BLOCK_TERMS, Section};
use super::postings::Postings;
use super::prefetch::near;
use super::reader::{SegmentReader, Term};
use super::sieve::Sieve;
use super::term_index::LocatedBlock;
use crate::error::Corruption;

/// The bytes of a posting list to request while the length is unknown.
const LIST_FETCH_BYTES: usize = 512;

/// The terms of a segment among some keys, with the places of the keys.
pub type Terms<'a> = Vec<(u32, Term<'a>)>;

/// A key that may be in a segment.
#[derive(Clone, Copy)]
struct KeyProbe {
    key: u64,
    /// The place among the keys.
    i: u32,
    group: u32,
    /// The place of the segment.
    segment: u32,
}

/// A key and the block of terms that may have it.
type BlockProbe = (KeyProbe, LocatedBlock);

/// A key, the number of the block that may have it, the block, and the bit where the search begins.
type BlockSearch<'a> = (KeyProbe, usize, Block<'a>, usize);

/// A found key: its place, the place of the segment, the ordinal of the term, and the postings.
type LocatedTerm = (u32, u32, u32, Postings);

impl SegmentReader {
    /// Returns the terms of the segment among the ascending `keys`, with the places of the keys.
    ///
    /// Looking up many keys together is several times faster than one by one, because the memory of
    /// every block, and then of every list, is fetched at the same time, also from disk.
    ///
    /// # Errors
    /// When the bytes are damaged.
    pub fn find_all(&self, keys: &[u64]) -> Result<Terms<'_>, Corruption> {
        Ok(find_in(&[self], keys)?.remove(0))
    }
}

/// Returns the terms of each segment among the ascending `keys`. See
/// [`find_all`](SegmentReader::find_all).
///
/// # Errors
/// When the bytes are damaged.
pub fn find_in<'a>(
    segments: &[&'a SegmentReader],
    keys: &[u64],
) -> Result<Vec<Terms<'a>>, Corruption> {
    let look_up = LookUp { segments };
    let wanted = look_up.filter(keys)?;
    if wanted.is_empty() {
        return Ok(segments.iter().map(|_| Vec::new()).collect());
    }
    let in_blocks = look_up.locate(&wanted)?;
    let sought = look_up.seek(&in_blocks)?;
    look_up.terms(look_up.find(&sought))
}

/// The steps of a look-up. Each step requests the bytes that the next step reads. Disk reads are
/// requested for every segment before the first segment waits.
struct LookUp<'s, 'a> {
    segments: &'s [&'a SegmentReader],
}

impl<'a> LookUp<'_, 'a> {
    fn of(&self, wanted: &KeyProbe) -> &'a SegmentReader {
        self.segments[wanted.segment as usize]
    }

    /// Returns the keys that pass the filters of the segments. Requests entries of the term
    /// index.
    fn filter(&self, keys: &[u64]) -> Result<Vec<KeyProbe>, Corruption> {
        let mut sieve = Sieve::new(keys);
        let (mut wanted, mut unread) = (Vec::new(), Vec::new());
        for (segment, reader) in (0..).zip(self.segments) {
            if sieve.take_known(reader) {
                wanted.extend(passing(&sieve, segment));
            } else {
                unread.push(segment);
            }
        }
        for segment in unread {
            sieve.take(self.segments[segment as usize])?;
            wanted.extend(passing(&sieve, segment));
        }
        for own in wanted.chunk_by(|a, b| a.segment == b.segment) {
            let (file, index) = (self.of(&own[0]).file(), self.of(&own[0]).index());
            // Locating each entry takes longer than requesting the record of its group.
            let groups = own.chunk_by(|a, b| a.group == b.group);
            let records = groups.map(|same| index.record_of(same[0].group as usize));
            file.fetch(Section::TermIndex, records);
        }
        near(wanted.iter().map(|key| {
            let reader = self.of(key);
            let at = reader.index().place(key.group as usize, key.key);
            reader.file().touch(Section::TermIndex, at)
        }));
        Ok(wanted)
    }

    /// Returns the blocks that may have the keys. Requests their high parts.
    fn locate(&self, wanted: &[KeyProbe]) -> Result<Vec<BlockProbe>, Corruption> {
        let mut in_blocks: Vec<BlockProbe> = Vec::with_capacity(wanted.len());
        for key in wanted {
            let (file, index) = (self.of(key).file(), self.of(key).index());
            if let Some(located) = index.locate_key(file, key.group as usize, key.key)? {
                in_blocks.push((*key, located));
            }
        }
        for own in in_blocks.chunk_by(|a, b| a.0.segment == b.0.segment) {
            let ranges = own.iter().map(|(_, at)| at.range.0..at.range.1);
            self.of(&own[0].0).file().fetch(Section::Terms, ranges);
        }
        near(in_blocks.iter().map(|(key, located)| {
            let touch = |at: usize| self.of(key).file().touch(Section::Terms, at);
            // High parts take 64 to 96 bytes.
            touch(located.range.0) ^ touch(located.range.0 + 64)
        }));
        Ok(in_blocks)
    }

    /// Finds where the search for each key begins in its block. Requests the entries of the
    /// terms.
    fn seek(&self, in_blocks: &[BlockProbe]) -> Result<Vec<BlockSearch<'a>>, Corruption> {
        let mut sought: Vec<BlockSearch<'a>> = Vec::with_capacity(in_blocks.len());
        for (key, located) in in_blocks {
            let reader = self.of(key);
            let block = reader.index().open_block(reader.file(), located)?;
            if let Some(bit) = block.seek(key.key) {
                sought.push((*key, located.block, block, bit));
            }
        }
        near(sought.iter().map(|(key, _, block, bit)| block.entry(block.place(key.key, *bit))));
        Ok(sought)
    }

    /// Returns the keys that were found. Requests their lists.
    fn find(&self, sought: &[BlockSearch<'a>]) -> Vec<LocatedTerm> {
        let mut found = Vec::with_capacity(sought.len());
        for (key, at, block, bit) in sought {
            if let Some(place) = block.find_from(key.key, *bit) {
                let ordinal = (at * BLOCK_TERMS + place) as u32;
                found.push((key.i, key.segment, ordinal, block.postings(place)));
            }
        }
        for own in found.chunk_by(|a, b| a.1 == b.1) {
            let ranges = own.iter().filter_map(list_of).map(|at| at..at + LIST_FETCH_BYTES);
            self.segments[own[0].1 as usize].file().fetch(Section::Postings, ranges);
        }
        near(found.iter().filter_map(|present| {
            let file = self.segments[present.1 as usize].file();
            Some(file.touch(Section::Postings, list_of(present)?))
        }));
        found
    }

    /// Returns the terms of the found keys, by segment.
    fn terms(&self, found: Vec<LocatedTerm>) -> Result<Vec<Terms<'a>>, Corruption> {
        let mut terms: Vec<Terms<'a>> = self.segments.iter().map(|_| Vec::new()).collect();
        for own in found.chunk_by(|a, b| a.1 == b.1) {
            terms[own[0].1 as usize].reserve_exact(own.len());
        }
        for (i, segment, ordinal, postings) in found {
            let segment = segment as usize;
            terms[segment].push((i, self.segments[segment].term(ordinal, postings)?));
        }
        Ok(terms)
    }
}

/// Returns the keys that pass the filters of `segment`, whose lines are in the sieve.
fn passing(sieve: &Sieve<'_, '_>, segment: u32) -> impl Iterator<Item = KeyProbe> {
    sieve.passing().map(move |(i, key, group)| KeyProbe { key, i, group, segment })
}

/// Returns the offset of the list of a term, if the term has a list.
fn list_of((_, _, _, postings): &LocatedTerm) -> Option<usize> {
    match postings {
        Postings::List(at) => Some(*at as usize),
        _ => None,
    }
}
