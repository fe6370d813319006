//! A block of terms: finds a key, and the postings of its term.
//!
//! A block has [`BLOCK_TERMS`](super::layout::BLOCK_TERMS) terms in key order. The high parts of
//! keys are Elias-Fano coded. The low part of a key is next to the value of the term, so that a
//! look-up touches two cache lines: one with the high part, one with the entry. The first key and
//! the widths of the columns are stored in the term index instead of the block. Layout:
//! segments-format.md, "Terms".

use super::bits::{BitWriter, column_bytes, get, get_bits, put_column, width_of};
use super::postings::Postings;

/// The largest width of the low part of a key.
const LOW_BITS_MAX: u8 = 63;
/// The largest width of the column of gaps.
const GAP_BITS_MAX: u8 = 32;
/// The largest width of a value, which is an offset in the postings section.
const VALUE_BITS_MAX: u8 = 48;

/// The description of a block in the term index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The first key of the block.
    pub first: u64,
    /// The bits of the low part of a key.
    pub low_bits: u8,
    /// The bytes of the high parts together.
    pub upper_bytes: u8,
    /// The bits of a value.
    pub value_bits: u8,
    /// The bits of the difference of two documents.
    pub gap_bits: u8,
}

impl Shape {
    /// Returns whether a block can have columns of these widths.
    pub fn is_possible(&self) -> bool {
        let Shape { low_bits, value_bits, gap_bits, .. } = *self;
        low_bits <= LOW_BITS_MAX && value_bits <= VALUE_BITS_MAX && gap_bits <= GAP_BITS_MAX
    }
}

/// Collects the terms of a block.
#[derive(Default)]
pub struct BlockBuilder {
    keys: Vec<u64>,
    postings: Vec<Postings>,
}

impl BlockBuilder {
    /// Returns the number of collected terms.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the collected keys, ascending.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Appends a term. `key` must be larger than the last key.
    #[inline]
    pub fn push(&mut self, key: u64, postings: Postings) {
        debug_assert!(self.keys.last().is_none_or(|&last| last < key), "keys ascend");
        self.keys.push(key);
        self.postings.push(postings);
    }

    /// Appends the block to `bytes` and clears the builder, which must not be empty. A document
    /// takes `doc_bits` bits. Offsets of lists are relative to `lists_base`.
    pub fn write(&mut self, bytes: &mut Vec<u8>, doc_bits: u32, lists_base: u64) -> Shape {
        let (count, first) = (self.keys.len(), self.keys[0]);
        let range = self.keys[count - 1] - first;
        let low_bits = low_bits(range, count);
        let upper_bytes = ((range >> low_bits) as usize + count).div_ceil(8);
        let (mut value_bits, mut gap_bits) = (doc_bits, 0);
        for postings in &self.postings {
            match *postings {
                Postings::One(_) => {}
                Postings::Two(a, b) => gap_bits = gap_bits.max(width_of(u64::from(b - a - 1))),
                Postings::List(at) => value_bits = value_bits.max(width_of(at - lists_base)),
            }
        }

        let upper_at = bytes.len();
        bytes.resize(upper_at + upper_bytes, 0);
        for (i, key) in self.keys.iter().enumerate() {
            let bit = ((key - first) >> low_bits) as usize + i;
            bytes[upper_at + bit / 8] |= 1 << (bit % 8);
        }
        let is_several = |postings: &&Postings| !matches!(postings, Postings::One(_));
        put_column(bytes, self.postings.iter().map(|p| u64::from(is_several(&p))), 1);
        let low_mask = (1u64 << low_bits) - 1;
        let mut entries = BitWriter::new(bytes);
        for (key, postings) in self.keys.iter().zip(&self.postings) {
            let low = (key - first) & low_mask;
            let value = match *postings {
                Postings::One(doc) | Postings::Two(doc, _) => u64::from(doc),
                Postings::List(at) => at - lists_base,
            };
            if low_bits + value_bits <= 64 {
                entries.put(low | value << low_bits, low_bits + value_bits);
            } else {
                entries.put(low, low_bits);
                entries.put(value, value_bits);
            }
        }
        entries.finish();
        let several = self.postings.iter().filter(is_several);
        put_column(bytes, several.map(|p| u64::from(matches!(p, Postings::List(_)))), 1);
        let gaps = self.postings.iter().filter_map(|postings| match *postings {
            Postings::Two(a, b) => Some(u64::from(b - a - 1)),
            _ => None,
        });
        put_column(bytes, gaps, gap_bits);

        self.keys.clear();
        self.postings.clear();
        Shape {
            first,
            low_bits: low_bits as u8,
            upper_bytes: u8::try_from(upper_bytes).expect("three bits a term at most"),
            value_bits: value_bits as u8,
            gap_bits: gap_bits as u8,
        }
    }
}

/// Returns the number of low bits of the Elias-Fano code of `count` keys that span `range`.
fn low_bits(range: u64, count: usize) -> u32 {
    width_of(range / count as u64).saturating_sub(1)
}

/// A block of terms, read in place.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    first: u64,
    len: usize,
    low_bits: u32,
    value_bits: u32,
    gap_bits: u32,
    lists_base: u64,
    upper: &'a [u8],
    several: &'a [u8],
    entries: &'a [u8],
    /// The flags of terms with a list, followed by the gaps.
    rest: &'a [u8],
}

impl<'a> Block<'a> {
    /// Creates the block of `len` terms in `bytes`, without reading the bytes. `shape` must be
    /// possible. `None` if there are too few bytes.
    #[inline]
    pub fn new(bytes: &'a [u8], len: usize, shape: &Shape, lists_base: u64) -> Option<Block<'a>> {
        let Shape { first, low_bits, upper_bytes, value_bits, gap_bits } = *shape;
        let (low_bits, value_bits) = (u32::from(low_bits), u32::from(value_bits));
        let (upper, rest) = bytes.split_at_checked(usize::from(upper_bytes))?;
        let (several, rest) = rest.split_at_checked(column_bytes(len, 1))?;
        let (entries, rest) = rest.split_at_checked(column_bytes(len, low_bits + value_bits))?;
        let gap_bits = u32::from(gap_bits);
        Some(Block {
            first,
            len,
            low_bits,
            value_bits,
            gap_bits,
            lists_base,
            upper,
            several,
            entries,
            rest,
        })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the first key.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Returns the number of keys marked in the upper bits, which differs from [`len`](Self::len)
    /// in a damaged block.
    pub fn keys_marked(&self) -> usize {
        self.upper.iter().map(|byte| byte.count_ones() as usize).sum()
    }

    /// Returns whether the last column ends exactly at the end of the block.
    pub fn is_whole(&self) -> bool {
        let several = ones_before(self.several, self.len);
        let lists = ones_before(self.rest, several);
        let gaps = column_bytes(several - lists, self.gap_bits);
        self.rest.len() == column_bytes(several, 1) + gaps
    }

    /// Returns the bit of the upper bits where the search for `key` begins, or `None` if the block
    /// does not have the key. Reads only upper bits.
    #[inline]
    pub fn seek(&self, key: u64) -> Option<usize> {
        let high = (key.checked_sub(self.first)? >> self.low_bits) as usize;
        let bit = after_zero(self.upper, high)?;
        (bit - high < self.len && self.upper_bit(bit)).then_some(bit)
    }

    /// Returns the place of the first term of a search that begins at the upper bit `bit`, as
    /// returned by [`seek`](Self::seek) for `key`.
    #[inline]
    pub fn place(&self, key: u64, bit: usize) -> usize {
        bit - ((key - self.first) >> self.low_bits) as usize
    }

    /// Returns a byte of the entry of term `index`, to load its memory ahead of time.
    #[inline]
    pub fn entry(&self, index: usize) -> u8 {
        let at = index * (self.low_bits + self.value_bits) as usize / 8;
        let entry = self.entries.get(at).copied().unwrap_or(0);
        entry ^ self.several.get(index / 8).copied().unwrap_or(0)
    }

    /// Returns the place of `key`, given the `bit` that [`seek`](Self::seek) returned for it.
    #[inline]
    pub fn find_from(&self, key: u64, mut bit: usize) -> Option<usize> {
        let delta = key - self.first;
        let high = (delta >> self.low_bits) as usize;
        let low = delta & ((1 << self.low_bits) - 1);
        loop {
            let i = bit - high;
            if i >= self.len || !self.upper_bit(bit) {
                return None;
            }
            match self.low(i).cmp(&low) {
                std::cmp::Ordering::Less => bit += 1,
                std::cmp::Ordering::Equal => return Some(i),
                std::cmp::Ordering::Greater => return None,
            }
        }
    }

    /// Returns the place of `key`, or `None` if the block does not have it.
    #[inline]
    pub fn find(&self, key: u64) -> Option<usize> {
        self.find_from(key, self.seek(key)?)
    }

    #[inline]
    fn upper_bit(&self, bit: usize) -> bool {
        self.upper.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    }

    /// Returns the high part of the key of term `index`. `None` if the block is damaged.
    pub fn high(&self, index: usize) -> Option<u64> {
        let mut before = 0;
        for at in (0..self.upper.len()).step_by(8) {
            let ones = get(&self.upper[at..], 0, 64);
            let here = ones.count_ones() as usize;
            if before + here > index {
                return Some((at * 8 + select(ones, index - before) - index) as u64);
            }
            before += here;
        }
        None
    }

    /// Appends every key in order. Fewer than [`len`](Self::len) if the block is damaged.
    pub fn keys(&self, keys: &mut Vec<u64>) {
        let mut index = 0;
        for at in (0..self.upper.len()).step_by(8) {
            let mut ones = get(&self.upper[at..], 0, 64);
            while ones != 0 && index < self.len {
                let bit = at * 8 + ones.trailing_zeros() as usize;
                keys.push(self.key_of((bit - index) as u64, index));
                ones &= ones - 1;
                index += 1;
            }
        }
    }

    /// Returns the key of term `index`, given its high part.
    #[inline]
    pub fn key_of(&self, high: u64, index: usize) -> u64 {
        let delta = high << self.low_bits | self.low(index);
        self.first.wrapping_add(delta)
    }

    #[inline]
    fn low(&self, index: usize) -> u64 {
        let entry = index * (self.low_bits + self.value_bits) as usize;
        get_bits(self.entries, entry, self.low_bits)
    }

    #[inline]
    fn value(&self, index: usize) -> u64 {
        let entry = index * (self.low_bits + self.value_bits) as usize;
        get_bits(self.entries, entry + self.low_bits as usize, self.value_bits)
    }

    /// Returns the postings of term `index`, which must be less than [`len`](Self::len).
    #[inline]
    pub fn postings(&self, index: usize) -> Postings {
        if get(self.several, index, 1) == 0 {
            return Postings::One(document(self.value(index)));
        }
        let place = ones_before(self.several, index);
        let lists = ones_before(self.rest, place);
        self.several_at(index, place, lists, self.gaps())
    }

    /// Returns the number of documents of term `index`, or the offset of its list, which begins
    /// with that number. `index` must be less than [`len`](Self::len).
    #[inline]
    pub fn df_or_list(&self, index: usize) -> Result<u32, u64> {
        if get(self.several, index, 1) == 0 {
            return Ok(1);
        }
        let place = ones_before(self.several, index);
        match get(self.rest, place, 1) {
            0 => Ok(2),
            _ => Err(self.lists_base + self.value(index)),
        }
    }

    /// Appends the postings of every term, in order.
    pub fn all_postings(&self, postings: &mut Vec<Postings>) {
        let mut all = self.postings_from(0);
        postings.extend((0..self.len).map(|_| all.take()));
    }

    /// Returns the postings of term `index` and of the terms after it, in order.
    pub fn postings_from(&self, index: usize) -> PostingsFrom<'a> {
        let several = ones_before(self.several, index);
        let lists = ones_before(self.rest, several);
        PostingsFrom { block: *self, gaps: self.gaps(), index, several, lists }
    }

    /// Returns the column of gaps.
    #[inline]
    fn gaps(&self) -> &'a [u8] {
        let flags = column_bytes(ones_before(self.several, self.len), 1);
        self.rest.get(flags..).unwrap_or(&[])
    }

    /// Returns the postings of a term with several documents. `place` such terms come before, of
    /// them `lists` with a list.
    #[inline]
    fn several_at(&self, index: usize, place: usize, lists: usize, gaps: &[u8]) -> Postings {
        if get(self.rest, place, 1) == 1 {
            return Postings::List(self.lists_base + self.value(index));
        }
        let first = document(self.value(index));
        let gap = get(gaps, place - lists, self.gap_bits) as u32;
        Postings::Two(first, first.saturating_add(gap).saturating_add(1))
    }
}

/// Iterates over the postings of a block's terms.
#[derive(Clone, Copy)]
pub struct PostingsFrom<'a> {
    block: Block<'a>,
    gaps: &'a [u8],
    index: usize,
    /// The number of earlier terms with several documents.
    several: usize,
    /// The number of earlier terms with a list.
    lists: usize,
}

impl PostingsFrom<'_> {
    /// Returns the postings of the next term, which must exist.
    #[inline]
    pub fn take(&mut self) -> Postings {
        let (block, index) = (&self.block, self.index);
        self.index += 1;
        if get(block.several, index, 1) == 0 {
            return Postings::One(document(block.value(index)));
        }
        let postings = block.several_at(index, self.several, self.lists, self.gaps);
        self.several += 1;
        self.lists += usize::from(matches!(postings, Postings::List(_)));
        postings
    }
}

/// Converts a value to a document ordinal. A value that is too large becomes the maximum, which is
/// never a valid ordinal.
#[inline]
fn document(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Counts the set bits among the first `count` bits, as far as there are bytes.
#[inline]
fn ones_before(bytes: &[u8], count: usize) -> usize {
    let (words, rest) = (count / 64, count % 64);
    let whole: u32 = (0..words).map(|word| get(bytes, word, 64).count_ones()).sum();
    let last = if rest == 0 { 0 } else { get_bits(bytes, words * 64, rest as u32).count_ones() };
    (whole + last) as usize
}

/// Returns the bit after the `nth` zero, counted from 1, or the first bit for 0.
#[inline]
fn after_zero(upper: &[u8], nth: usize) -> Option<usize> {
    if nth == 0 {
        return Some(0);
    }
    let mut before = 0;
    for at in (0..upper.len()).step_by(8) {
        let zeros = !get(&upper[at..], 0, 64);
        let here = zeros.count_ones() as usize;
        if before + here >= nth {
            return Some(at * 8 + select(zeros, nth - before - 1) + 1);
        }
        before += here;
    }
    None
}

/// Returns the position of the set bit of `word` with `nth` set bits below it.
#[inline]
fn select(mut word: u64, mut nth: usize) -> usize {
    let mut position = 0;
    for half in [32, 16, 8] {
        let below = (word & ((1 << half) - 1)).count_ones() as usize;
        let is_above = nth >= below;
        nth -= if is_above { below } else { 0 };
        position += if is_above { half } else { 0 };
        word >>= if is_above { half } else { 0 };
    }
    for _ in 0..nth {
        word &= word - 1;
    }
    position + word.trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::layout::BLOCK_TERMS;
    use proptest::collection::btree_map;
    use proptest::prelude::*;

    const LISTS_BASE: u64 = 1 << 40;

    proptest! {
        #[test]
        fn a_block_finds_every_key_and_no_other(
            key_bits in 8u8..=64,
            terms in btree_map(any::<u64>(), (0u32..1000, 0u32..1000, 0u8..3, 0u64..1 << 47), 1..=BLOCK_TERMS),
            probes in proptest::collection::vec(any::<u64>(), 50),
        ) {
            let mask = u64::MAX >> (64 - key_bits);
            let terms: std::collections::BTreeMap<u64, Postings> = terms
                .into_iter()
                .map(|(key, (a, gap, kind, at))| (key & mask, match kind {
                    0 => Postings::One(a),
                    1 => Postings::Two(a, a + gap + 1),
                    _ => Postings::List(LISTS_BASE + at),
                }))
                .collect();
            let mut builder = BlockBuilder::default();
            terms.iter().for_each(|(&key, &postings)| builder.push(key, postings));
            let mut bytes = vec![0xaa];
            let shape = builder.write(&mut bytes, 10, LISTS_BASE);
            let block = Block::new(&bytes[1..], terms.len(), &shape, LISTS_BASE).unwrap();
            prop_assert!(block.is_whole());
            prop_assert_eq!(block.keys_marked(), terms.len());
            let (mut keys, mut postings) = (Vec::new(), Vec::new());
            block.keys(&mut keys);
            block.all_postings(&mut postings);
            prop_assert!(keys.iter().eq(terms.keys()));
            prop_assert!(postings.iter().eq(terms.values()));
            for (i, (&key, &postings)) in terms.iter().enumerate() {
                prop_assert_eq!(block.high(i).map(|high| block.key_of(high, i)), Some(key));
                prop_assert_eq!(block.find(key), Some(i));
                prop_assert_eq!(block.postings_from(i).take(), postings);
                prop_assert_eq!(block.postings(i), postings);
            }
            let near = keys.iter().flat_map(|key| [key.wrapping_sub(1), key.wrapping_add(1)]);
            for probe in probes.into_iter().chain(near) {
                let expected = keys.binary_search(&(probe & mask)).ok();
                prop_assert_eq!(block.find(probe & mask), expected);
            }
        }

        #[test]
        fn a_block_of_any_bytes_is_no_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            len in 1..=BLOCK_TERMS,
            first: u64,
            (low_bits, upper_bytes, value_bits, gap_bits) in (0u8..70, any::<u8>(), 0u8..60, 0u8..40),
            key: u64,
            index in 0usize..BLOCK_TERMS,
        ) {
            let shape = Shape { first, low_bits, upper_bytes, value_bits, gap_bits };
            if let Some(block) = Some(&shape)
                .filter(|shape| shape.is_possible())
                .and_then(|shape| Block::new(&bytes, len, shape, 7))
            {
                block.find(key);
                if let Some(bit) = block.seek(key) {
                    block.entry(block.place(key, bit));
                }
                if index < block.len() {
                    block.high(index).map(|high| block.key_of(high, index));
                    block.postings(index);
                }
                block.is_whole();
                block.keys(&mut Vec::new());
                block.all_postings(&mut Vec::new());
            }
        }
    }
}
