//! The term index: leads from a key to the block that may have it.
//!
//! When a segment is opened, an FST of the separators between groups of 64 blocks is streamed into
//! a table that is small enough to stay in the processor's cache. The first keys of a group's
//! blocks are read in place. Opening therefore costs an entry per 16,384 terms. Layout:
//! segments-format.md, "Term index".

use std::ops::Range;

use super::bits::{get_bits, width_of};
use super::block::{Block, Shape};
use super::file::SigFile;
use super::layout::{BLOCK_TERMS, GROUP_BLOCKS, Header, Section};
use crate::automaton;
use crate::error::Corruption;

/// The bytes of an offset in a section.
const OFFSET_BYTES: usize = 6;
/// The bytes of a group's record before its entries.
const HEAD_BYTES: usize = 2 * OFFSET_BYTES;
/// The bytes of an entry after the first key.
const ENTRY_REST_BYTES: usize = 7;

/// How many bits a prefix has in addition to the bits of a group number.
const PREFIX_BITS_SPARE: u32 = 3;
const PREFIX_BITS_MAX: u32 = 24;

/// The head of the record of a group.
#[derive(Debug, Clone, Copy)]
pub struct GroupHead {
    /// The offset of the group's first block in the terms section.
    pub terms_base: u64,
    /// The offset of the group's first list in the postings section, or 0 without lists.
    pub lists_base: u64,
}

impl GroupHead {
    /// Appends the head to a record.
    pub fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.terms_base.to_le_bytes()[..OFFSET_BYTES]);
        bytes.extend_from_slice(&self.lists_base.to_le_bytes()[..OFFSET_BYTES]);
    }

    /// Reads the head of a record.
    #[inline]
    fn read(record: &[u8]) -> GroupHead {
        let base = |at: usize| get_bits(record, 8 * at, 8 * OFFSET_BYTES as u32);
        GroupHead { terms_base: base(0), lists_base: base(OFFSET_BYTES) }
    }
}

/// The entry of a block in the record of its group.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The encoding of the block.
    pub shape: Shape,
    /// The distance in bytes from the first block of the group.
    pub offset: usize,
}

impl Entry {
    /// Appends the entry to a record.
    pub fn put(&self, bytes: &mut Vec<u8>, key_bytes: usize) {
        let Shape { first, low_bits, upper_bytes, value_bits, gap_bits } = self.shape;
        let offset = u32::try_from(self.offset).expect("64 blocks of 5 KiB at most");
        assert!(offset < 1 << 24, "64 blocks of 5 KiB at most");
        bytes.extend_from_slice(&first.to_le_bytes()[..key_bytes]);
        bytes.extend_from_slice(&offset.to_le_bytes()[..3]);
        bytes.extend_from_slice(&[low_bits, upper_bytes, value_bits, gap_bits]);
    }

    /// Returns the entry that begins at byte `at` of a record.
    #[inline]
    fn read(record: &[u8], at: usize, key_bytes: usize) -> Entry {
        let first = first_key(record, at, key_bytes);
        let rest = get_bits(record, 8 * (at + key_bytes), 8 * ENTRY_REST_BYTES as u32);
        let [low_bits, upper_bytes, value_bits, gap_bits] =
            [24, 32, 40, 48].map(|bit| (rest >> bit) as u8);
        let shape = Shape { first, low_bits, upper_bytes, value_bits, gap_bits };
        Entry { shape, offset: (rest & 0xff_ffff) as usize }
    }
}

/// Returns the first key of the block whose entry begins at byte `at` of a record.
#[inline]
fn first_key(record: &[u8], at: usize, key_bytes: usize) -> u64 {
    get_bits(record, 8 * at, 8 * key_bytes as u32)
}

/// The place and encoding of a block, from the index.
#[derive(Debug, Clone, Copy)]
pub struct LocatedBlock {
    /// The number of the block.
    pub block: usize,
    shape: Shape,
    /// The offset of the lists of the block's group.
    lists_base: u64,
    /// The range of the block in the terms section.
    pub range: (usize, usize),
}

impl LocatedBlock {
    /// Returns the offsets in the terms section that decide the number of documents of term
    /// `index`: the flag for several documents, and the entry. For loads ahead of time.
    #[inline]
    pub fn flag_and_entry(&self, index: usize) -> [usize; 2] {
        let Shape { low_bits, value_bits, upper_bytes, .. } = self.shape;
        let flags = self.range.0 + usize::from(upper_bytes);
        let bits = usize::from(low_bits) + usize::from(value_bits);
        let entry = flags + BLOCK_TERMS / 8 + index * bits / 8;
        [flags + index / 8, entry].map(|at| at.min(self.range.1 - 1))
    }
}

/// Finds the block of a key. Separators of groups are in memory, the rest is read in place.
pub struct TermIndex {
    /// The separators as keys. Keys of a group are at least its separator and below the next.
    separators: Vec<u64>,
    /// For each prefix of a key, the first group whose separator has this prefix or a larger one.
    by_prefix: Vec<u32>,
    prefix_shift: u32,
    blocks: usize,
    terms: usize,
    key_bytes: usize,
    key_max: u64,
}

impl TermIndex {
    /// Reads the term index of a segment.
    ///
    /// # Errors
    /// When the index does not describe as many groups as the segment has.
    pub fn open(file: &SigFile) -> Result<TermIndex, Corruption> {
        let damage = |what: &str| file.corruption(Section::TermIndex, 0, what);
        let (terms, header) = (file.footer.counts.terms as usize, file.header);
        let key_bytes = header.key_bytes();
        let blocks = terms.div_ceil(BLOCK_TERMS);
        let groups = blocks.div_ceil(GROUP_BLOCKS);
        let directory = groups * HEAD_BYTES + blocks * (key_bytes + ENTRY_REST_BYTES);
        let fst_bytes = file
            .len(Section::TermIndex)
            .checked_sub(directory)
            .ok_or_else(|| damage("it has no room for all blocks"))?;
        file.fetch(Section::TermIndex, std::iter::once(directory..directory + fst_bytes));
        let fst = file.read(Section::TermIndex, directory, fst_bytes)?;
        let (separators, records) = stream(fst, &header, groups)
            .ok_or_else(|| damage("it indexes another number of groups"))?;
        let record_bytes = record_bytes(key_bytes) as u64;
        let are_there = (0..).zip(&records).all(|(group, &at)| at == group * record_bytes);
        // A look-up relies on this: keys below every separator belong to the first group.
        let from_zero = separators.first().is_none_or(|&first| first == 0);
        if !are_there || !from_zero || separators.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(damage("the groups are not in order"));
        }
        let prefix_bits = width_of(groups as u64) + PREFIX_BITS_SPARE;
        let prefix_bits = prefix_bits.min(u32::from(header.key_bits)).min(PREFIX_BITS_MAX);
        let prefix_shift = u32::from(header.key_bits) - prefix_bits;
        let mut by_prefix = vec![0; (1 << prefix_bits) + 1];
        for &separator in &separators {
            by_prefix[prefix(separator, prefix_shift) + 1] += 1;
        }
        for i in 1..by_prefix.len() {
            by_prefix[i] += by_prefix[i - 1];
        }
        let key_max = u64::MAX >> (u64::BITS - u32::from(header.key_bits));
        Ok(TermIndex { separators, by_prefix, prefix_shift, blocks, terms, key_bytes, key_max })
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Returns the only group that can have `key`, or `None` in a segment without terms.
    #[inline(always)]
    pub fn group_of(&self, key: u64) -> Option<usize> {
        if self.separators.is_empty() {
            return None;
        }
        let at = prefix(key, self.prefix_shift).min(self.by_prefix.len() - 2);
        let [from, to] = [self.by_prefix[at], self.by_prefix[at + 1]].map(|group| group as usize);
        // There are more prefixes than groups, so most prefixes need no search.
        let within = match from == to {
            true => 0,
            false => self.separators[from..to].partition_point(|&separator| separator <= key),
        };
        Some((from + within).saturating_sub(1))
    }

    /// Returns the blocks of a group.
    #[inline]
    fn blocks_of(&self, group: usize) -> Range<usize> {
        group * GROUP_BLOCKS..((group + 1) * GROUP_BLOCKS).min(self.blocks)
    }

    /// Returns the block of `group` where `key` would be if keys were uniformly distributed.
    #[inline]
    fn guess(&self, group: usize, key: u64) -> usize {
        let blocks = self.blocks_of(group);
        let first = self.separators[group];
        let next = self.separators.get(group + 1).copied().unwrap_or(self.key_max);
        let share = key.saturating_sub(first) as f32 / (next - first).max(1) as f32;
        // A key with too many bits can lie arbitrarily far beyond the last block.
        blocks.start + ((share * blocks.len() as f32) as usize).min(blocks.len() - 1)
    }

    /// Returns the offset of the entry of a block in the section.
    #[inline]
    pub fn entry_at(&self, block: usize) -> usize {
        let (group, place) = (block / GROUP_BLOCKS, block % GROUP_BLOCKS);
        self.record_of(group).start + self.entry_in_record(place)
    }

    /// Returns the offset in a group's record of the entry of the block at `place` of the group.
    #[inline]
    fn entry_in_record(&self, place: usize) -> usize {
        HEAD_BYTES + place * self.entry_bytes()
    }

    fn entry_bytes(&self) -> usize {
        self.key_bytes + ENTRY_REST_BYTES
    }

    /// Returns the range of the record of a group in the section.
    #[inline]
    pub fn record_of(&self, group: usize) -> Range<usize> {
        let bytes = record_bytes(self.key_bytes);
        group * bytes..(group + 1) * bytes
    }

    /// Returns the offset in the section that a search for `key` in `group` probably reads first,
    /// assuming uniformly distributed keys.
    #[inline]
    pub fn place(&self, group: usize, key: u64) -> usize {
        self.entry_at(self.guess(group, key))
    }

    /// Returns the only block of `group` that can have `key`.
    ///
    /// # Errors
    /// When the record of the group is damaged.
    pub fn block_of(
        &self,
        file: &SigFile,
        group: usize,
        key: u64,
    ) -> Result<Option<usize>, Corruption> {
        Ok(self.block_in(self.record(file, group)?, group, key))
    }

    /// Like [`block_of`](Self::block_of), but returns the entry of the block in the index.
    ///
    /// # Errors
    /// The errors of [`block_of`](Self::block_of).
    #[inline]
    pub fn locate_key(
        &self,
        file: &SigFile,
        group: usize,
        key: u64,
    ) -> Result<Option<LocatedBlock>, Corruption> {
        let record = self.record(file, group)?;
        let Some(block) = self.block_in(record, group, key) else { return Ok(None) };
        self.located(file, record, block).map(Some)
    }

    /// Returns the entry of a block in the index.
    ///
    /// # Errors
    /// When the record of the group is damaged, or the entry lies outside the terms section.
    pub fn locate(&self, file: &SigFile, block: usize) -> Result<LocatedBlock, Corruption> {
        if block >= self.blocks {
            return Err(self.is_nowhere(file, block));
        }
        self.located(file, self.record(file, block / GROUP_BLOCKS)?, block)
    }

    /// Returns the entries of blocks in the index. Consecutive blocks of the same group share a
    /// read of its record.
    ///
    /// # Errors
    /// The errors of [`locate`](Self::locate).
    pub fn locate_all(
        &self,
        file: &SigFile,
        blocks: impl Iterator<Item = usize>,
    ) -> Result<Vec<LocatedBlock>, Corruption> {
        let mut all: Vec<LocatedBlock> = Vec::with_capacity(blocks.size_hint().0);
        let mut read: Option<(usize, &[u8])> = None;
        for block in blocks {
            if let Some(same) = all.last().filter(|last| last.block == block) {
                all.push(*same);
                continue;
            }
            if block >= self.blocks {
                return Err(self.is_nowhere(file, block));
            }
            let group = block / GROUP_BLOCKS;
            let record = match read.filter(|&(last, _)| last == group) {
                Some((_, record)) => record,
                None => self.record(file, group)?,
            };
            read = Some((group, record));
            all.push(self.located(file, record, block)?);
        }
        Ok(all)
    }

    /// Returns the first block with keys from `key` on. This may be the previous block, even if its
    /// keys are all smaller than `key`. `None` in a segment without terms.
    ///
    /// # Errors
    /// When the record of a group is damaged.
    pub fn first_from(&self, file: &SigFile, key: u64) -> Result<Option<usize>, Corruption> {
        let Some(group) = self.group_of(key) else { return Ok(None) };
        let first = self.blocks_of(group).start;
        Ok(Some(self.block_of(file, group, key)?.unwrap_or(first)))
    }

    /// Returns the record of a group.
    #[inline]
    fn record<'a>(&self, file: &'a SigFile, group: usize) -> Result<&'a [u8], Corruption> {
        let at = self.record_of(group).start;
        let len = self.entry_in_record(self.blocks_of(group).len());
        file.read(Section::TermIndex, at, len)
    }

    #[inline]
    fn block_in(&self, record: &[u8], group: usize, key: u64) -> Option<usize> {
        let blocks = self.blocks_of(group);
        let first = |block: usize| {
            first_key(record, self.entry_in_record(block - blocks.start), self.key_bytes)
        };
        let mut block = self.guess(group, key);
        while first(block) > key {
            if block == blocks.start {
                return None;
            }
            block -= 1;
        }
        while block + 1 < blocks.end && first(block + 1) <= key {
            block += 1;
        }
        Some(block)
    }

    /// Decodes the entry of a block in the `record` of its group.
    #[inline]
    fn located(
        &self,
        file: &SigFile,
        record: &[u8],
        block: usize,
    ) -> Result<LocatedBlock, Corruption> {
        let entry = |place: usize| Entry::read(record, self.entry_in_record(place), self.key_bytes);
        let (group, place) = (block / GROUP_BLOCKS, block % GROUP_BLOCKS);
        let GroupHead { terms_base, lists_base } = GroupHead::read(record);
        let Entry { shape, offset } = entry(place);
        let (base, len) = (terms_base as usize, file.len(Section::Terms));
        let end = if block + 1 == self.blocks {
            len
        } else if place + 1 == GROUP_BLOCKS {
            GroupHead::read(self.record(file, group + 1)?).terms_base as usize
        } else {
            base + entry(place + 1).offset
        };
        let start = base + offset;
        if start >= end || end > len {
            return Err(self.is_nowhere(file, block));
        }
        Ok(LocatedBlock { block, shape, lists_base, range: (start, end) })
    }

    #[cold]
    fn is_nowhere(&self, file: &SigFile, block: usize) -> Corruption {
        let what = format!("block {block} is nowhere in the terms");
        file.corruption(Section::TermIndex, self.entry_at(block), what)
    }

    /// Returns the block with the number `block`.
    ///
    /// # Errors
    /// When the block or the record of its group is damaged.
    #[inline]
    pub fn read<'a>(&self, file: &'a SigFile, block: usize) -> Result<Block<'a>, Corruption> {
        self.open_block(file, &self.locate(file, block)?)
    }

    /// Returns a located block.
    ///
    /// # Errors
    /// When the block is damaged.
    #[inline]
    pub fn open_block<'a>(
        &self,
        file: &'a SigFile,
        located: &LocatedBlock,
    ) -> Result<Block<'a>, Corruption> {
        let &LocatedBlock { block, ref shape, lists_base, range: (start, end) } = located;
        if !shape.is_possible() {
            let what = format!("block {block} has columns that are too wide");
            return Err(file.corruption(Section::TermIndex, self.entry_at(block), what));
        }
        let bytes = file.read(Section::Terms, start, end - start)?;
        let len = self.terms.saturating_sub(block * BLOCK_TERMS).min(BLOCK_TERMS);
        Block::new(bytes, len, shape, lists_base)
            .ok_or_else(|| file.corruption(Section::Terms, start, "a block is cut short"))
    }
}

/// Returns the bytes of the record of a full group.
fn record_bytes(key_bytes: usize) -> usize {
    HEAD_BYTES + GROUP_BLOCKS * (key_bytes + ENTRY_REST_BYTES)
}

#[inline]
fn prefix(key: u64, shift: u32) -> usize {
    (key >> shift) as usize
}

/// Reads the entries of the FST, with separators as keys. `None` if the number of entries is not
/// `groups`, or if the FST cannot be traversed. The FST was then forged, because the checksums are
/// correct.
fn stream(bytes: &[u8], header: &Header, groups: usize) -> Option<(Vec<u64>, Vec<u64>)> {
    use fst::Streamer;

    if automaton::keys(bytes, header.key_bytes())? != groups as u64 {
        return None;
    }
    let map = fst::Map::new(bytes).ok()?;
    let (mut separators, mut records) = (Vec::with_capacity(groups), Vec::with_capacity(groups));
    let mut entries = map.stream();
    while let Some((separator, record)) = entries.next() {
        let mut key = [0; 8];
        key[8 - header.key_bytes()..][..separator.len()].copy_from_slice(separator);
        separators.push(u64::from_be_bytes(key));
        records.push(record);
    }
    let fits = header.key_bits == 64 || separators.last().is_none_or(|s| s >> header.key_bits == 0);
    (separators.len() == groups && fits).then_some((separators, records))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{Digest, mix64};
    use crate::scheme::Fingerprint;
    use crate::segment::layout::GROUP_TERMS;
    use crate::segment::{Identity, SegmentBuilder, SegmentReader};
    use ownedbytes::OwnedBytes;

    const TERMS: u64 = GROUP_TERMS as u64;

    /// Creates a segment of a single document with these keys.
    fn reader(key_bits: u8, keys: impl Iterator<Item = u64>) -> SegmentReader {
        let signature: Vec<_> =
            (0..).zip(keys).map(|(position, key)| Fingerprint { key, position }).collect();
        let mut builder = SegmentBuilder::new();
        let identity = Identity { id: "a", digest: Digest::of(b"") };
        builder.push(identity, signature.len() as u32, &signature);
        let header = Header { key_bits, documents: 1, config: 1, signatures: true };
        let (_, bytes) = builder.write(Vec::new(), header, None).unwrap();
        SegmentReader::open("f.sig", OwnedBytes::new(bytes)).unwrap()
    }

    #[test]
    fn a_key_of_more_bits_than_those_of_a_segment_is_looked_for_at_its_end() {
        // The last group begins at the largest key, so the distance of any larger key is unbounded
        // in terms of the group's width.
        let reader = reader(32, (1 << 32) - TERMS - 1..1 << 32);
        let (file, index) = (reader.file(), reader.index());
        for key in [1 << 32, 1 << 63, u64::MAX] {
            let group = index.group_of(key).unwrap();
            assert_eq!(group, 1);
            assert_eq!(index.block_of(file, group, key).unwrap(), Some(index.blocks() - 1));
            assert!(reader.find(key).unwrap().is_none());
        }
    }

    #[test]
    fn ascending_keys_are_in_the_groups_and_blocks_of_each_of_them() {
        // A group and a second group with one block, then three groups and a fourth with one block.
        for terms in [0, 1, TERMS + 8, 3 * TERMS + 5] {
            let key = |i: u64| 1 << 38 | mix64(i) >> 25;
            let reader = reader(40, (0..terms).map(key));
            let (file, index) = (reader.file(), reader.index());
            // Some keys below the segment, keys of the segment, and other keys between and above.
            let others = (0..100).chain((0..500).map(|i| mix64(!i) >> 24));
            let mut keys: Vec<u64> = (0..terms).step_by(16).map(key).chain(others).collect();
            keys.sort_unstable();
            for &key in &keys {
                let group = index.group_of(key);
                let below = index.separators.partition_point(|&separator| separator <= key);
                assert_eq!(group, below.checked_sub(1));
                let Some(group) = group else { continue };
                let block = index.block_of(file, group, key).unwrap();
                let located = index.locate_key(file, group, key).unwrap();
                assert_eq!(located.map(|located| located.block), block);
                let range = block.map(|block| index.locate(file, block).unwrap().range);
                assert_eq!(located.map(|located| located.range), range);
            }
            let mut end = 0;
            for block in 0..index.blocks() {
                let (from, to) = index.locate(file, block).unwrap().range;
                assert_eq!(from, end);
                end = to;
            }
            assert_eq!(end, file.len(Section::Terms));
            // In order, and with groups alternating.
            for places in [[0, 0, 1, 2], [0, 64, 1, 65]] {
                let blocks = (0..index.blocks()).flat_map(|at| places.map(|place| at + place));
                let blocks: Vec<usize> = blocks.filter(|&block| block < index.blocks()).collect();
                let all = index.locate_all(file, blocks.iter().copied()).unwrap();
                let each = blocks.iter().map(|&block| index.locate(file, block).unwrap());
                let place = |located: &LocatedBlock| (located.block, located.range, located.shape);
                assert!(all.iter().map(place).eq(each.map(|located| place(&located))));
            }
            let all = index.locate_all(file, [0, index.blocks()].into_iter());
            assert!(all.err().unwrap().what.contains("is nowhere in the terms"));
            let beyond = index.locate(file, index.blocks()).err().unwrap();
            assert!(beyond.what.contains("is nowhere in the terms"), "{beyond}");
        }
    }
}
