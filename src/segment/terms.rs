//! Is this fingerprint in the segment, and where are its postings?
//!
//! Sorted keys in blocks of [`BLOCK_TERMS`], each block Elias-Fano coded with a value a term. An
//! FST maps the separators between blocks to blocks; `term_index` finds the block of a key. An FST
//! with one entry a key would cost three times the bytes: random keys share almost nothing.
//! Layout: segments-format.md, "Terms".

use std::io::{self, Write};

use super::bits::{BitWriter, column_bytes, get, put_column, uint_le, width_of};
use super::filter::{self, filter_bytes};
use super::layout::{BLOCK_TERMS, Header};
use super::postings::{Encoding, Postings, Spool};

/// The bytes of a block before its first key, which its filter follows.
pub const BLOCK_HEADER_BYTES: usize = 11;

const TAG_ONE: u64 = 0;
const TAG_TWO: u64 = 1;
const TAG_VARINT: u64 = 2;
const TAG_ROARING: u64 = 3;

/// Writes terms in key order, block by block.
pub struct TermsWriter {
    header: Header,
    keys: Vec<u64>,
    tags: Vec<u64>,
    ones: Vec<u32>,
    twos: Vec<(u32, u32)>,
    lists: Vec<u64>,
    spool: Spool,
    index: fst::MapBuilder<Vec<u8>>,
    block: Vec<u8>,
    written: u64,
    last_key: Option<u64>,
    terms: u64,
}

/// What remains to be written after the last block.
pub struct TermsEnd {
    /// The finished FST.
    pub index: Vec<u8>,
    /// The posting lists.
    pub spool: Spool,
    /// The number of terms.
    pub terms: u64,
}

impl TermsWriter {
    /// A writer of the terms of the segment that begins with `header`.
    pub fn new(header: Header, spool: Spool) -> TermsWriter {
        TermsWriter {
            header,
            keys: Vec::with_capacity(BLOCK_TERMS),
            tags: Vec::with_capacity(BLOCK_TERMS),
            ones: Vec::with_capacity(BLOCK_TERMS),
            twos: Vec::with_capacity(BLOCK_TERMS),
            lists: Vec::with_capacity(BLOCK_TERMS),
            spool,
            index: fst::MapBuilder::memory(),
            block: Vec::new(),
            written: 0,
            last_key: None,
            terms: 0,
        }
    }

    /// Appends a term, of a larger key than the last, with its documents in ascending order.
    #[inline]
    pub fn push(&mut self, out: &mut impl Write, key: u64, docs: &[u32]) -> io::Result<()> {
        if self.keys.len() == BLOCK_TERMS {
            self.flush(out)?;
        }
        debug_assert!(self.keys.last().is_none_or(|&last| last < key), "keys ascend");
        self.keys.push(key);
        match *docs {
            [] => unreachable!("a term occurs in a document"),
            [doc] => {
                self.tags.push(TAG_ONE);
                self.ones.push(doc);
            }
            [first, second] => {
                self.tags.push(TAG_TWO);
                self.twos.push((first, second));
            }
            _ => {
                let (encoding, at) = self.spool.push(docs)?;
                self.tags.push(match encoding {
                    Encoding::Varint => TAG_VARINT,
                    Encoding::Roaring => TAG_ROARING,
                });
                self.lists.push(at);
            }
        }
        Ok(())
    }

    /// Writes the last block; what is left to write elsewhere.
    pub fn finish(mut self, out: &mut impl Write) -> io::Result<TermsEnd> {
        if !self.keys.is_empty() {
            self.flush(out)?;
        }
        let index = self.index.into_inner().map_err(io::Error::other)?;
        Ok(TermsEnd { index, spool: self.spool, terms: self.terms })
    }

    fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        let first = self.keys[0];
        let key_bytes = self.header.key_bytes();
        let separator = separator(self.last_key, first, key_bytes);
        self.index.insert(&separator, self.written).map_err(io::Error::other)?;

        let key_count = self.keys.len();
        let range = self.keys[key_count - 1] - first;
        let low_bits = low_bits(range, key_count);
        let upper_bytes = ((range >> low_bits) as usize + key_count).div_ceil(8);
        let gaps = self.twos.iter().map(|&(a, b)| u64::from(b - a - 1));
        let gap_bits = gaps.map(width_of).max().unwrap_or(0);
        let lists_base = self.lists.first().copied().unwrap_or(0);
        let list_bits = self.lists.last().map_or(0, |&last| width_of(last - lists_base));

        let block = &mut self.block;
        block.clear();
        let small = [key_count - 1, low_bits as usize, upper_bytes];
        block.extend(small.map(|n| u8::try_from(n).expect("at most 128 terms a block")));
        block.extend([gap_bits as u8, list_bits as u8]);
        block.extend_from_slice(&lists_base.to_le_bytes()[..6]);
        block.extend_from_slice(&first.to_le_bytes()[..key_bytes]);
        filter::put(block, &self.keys);
        let upper_at = block.len();
        block.resize(upper_at + upper_bytes, 0);
        for (i, key) in self.keys.iter().enumerate() {
            let bit = ((key - first) >> low_bits) as usize + i;
            block[upper_at + bit / 8] |= 1 << (bit % 8);
        }
        let low_mask = (1u64 << low_bits) - 1;
        put_column(block, self.keys.iter().map(|key| (key - first) & low_mask), low_bits);
        put_column(block, self.tags.iter().copied(), 2);
        let doc_bits = self.header.doc_bits();
        put_column(block, self.ones.iter().map(|&doc| u64::from(doc)), doc_bits);
        let mut pairs = BitWriter::new(block);
        for &(a, b) in &self.twos {
            pairs.put(u64::from(a), doc_bits);
            pairs.put(u64::from(b - a - 1), gap_bits);
        }
        pairs.finish();
        put_column(block, self.lists.iter().map(|at| at - lists_base), list_bits);

        out.write_all(block)?;
        self.written += block.len() as u64;
        self.terms += key_count as u64;
        self.last_key = self.keys.last().copied();
        self.keys.clear();
        self.tags.clear();
        self.ones.clear();
        self.twos.clear();
        self.lists.clear();
        Ok(())
    }
}

/// The low bits of the Elias-Fano code of `count` keys that span `range`.
pub fn low_bits(range: u64, count: usize) -> u32 {
    width_of(range / count as u64).saturating_sub(1)
}

/// The shortest string that is greater than the big-endian form of `last` and at most that of
/// `first`; empty before the first block.
fn separator(last: Option<u64>, first: u64, key_bytes: usize) -> Vec<u8> {
    let bytes = |key: u64| key.to_be_bytes()[8 - key_bytes..].to_vec();
    let Some(last) = last else { return Vec::new() };
    let (last, mut first) = (bytes(last), bytes(first));
    let common = last.iter().zip(&first).take_while(|(a, b)| a == b).count();
    first.truncate(common + 1);
    first
}

/// One block of terms, where it lies.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    filter: &'a [u8],
    first: u64,
    len: usize,
    low_bits: u32,
    gap_bits: u32,
    list_bits: u32,
    doc_bits: u32,
    lists_base: u64,
    upper: &'a [u8],
    low: &'a [u8],
    tags: &'a [u8],
    values: &'a [u8],
}

impl<'a> Block<'a> {
    /// The block in `bytes`; `None` if they are no block of a segment with this header.
    #[inline]
    pub fn parse(bytes: &'a [u8], header: &Header) -> Option<Block<'a>> {
        let key_bytes = header.key_bytes();
        let (head, rest) = bytes.split_at_checked(BLOCK_HEADER_BYTES)?;
        let (first, rest) = rest.split_at_checked(key_bytes)?;
        let len = usize::from(head[0]) + 1;
        let (low_bits, upper_bytes) = (u32::from(head[1]), usize::from(head[2]));
        let (gap_bits, list_bits) = (u32::from(head[3]), u32::from(head[4]));
        if len > BLOCK_TERMS || low_bits > 63 || gap_bits > 32 || list_bits > 48 {
            return None;
        }
        let (filter, rest) = rest.split_at_checked(filter_bytes(len))?;
        let (upper, rest) = rest.split_at_checked(upper_bytes)?;
        let (low, rest) = rest.split_at_checked(column_bytes(len, low_bits))?;
        let (tags, values) = rest.split_at_checked(column_bytes(len, 2))?;
        Some(Block {
            filter,
            first: uint_le(first),
            len,
            low_bits,
            gap_bits,
            list_bits,
            doc_bits: header.doc_bits(),
            lists_base: uint_le(&head[5..]),
            upper,
            low,
            tags,
            values,
        })
    }

    /// The number of terms.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the filter is that of these keys.
    pub fn filters(&self, keys: &[u64]) -> bool {
        let mut filter = Vec::with_capacity(self.filter.len());
        filter::put(&mut filter, keys);
        filter == self.filter
    }

    /// The number of keys that the upper bits have; other than [`len`](Self::len) if they are damaged.
    pub fn keys_marked(&self) -> usize {
        self.upper.iter().map(|byte| byte.count_ones() as usize).sum()
    }

    /// Whether the block ends where its last column does.
    pub fn is_whole(&self) -> bool {
        let [ones, twos, lists] = self.ranks(self.len);
        let columns =
            [(ones, self.doc_bits), (twos, self.doc_bits + self.gap_bits), (lists, self.list_bits)];
        let len: usize = columns.iter().map(|&(count, width)| column_bytes(count, width)).sum();
        self.values.len() == len
    }

    /// The place of `key` in the block.
    #[inline]
    pub fn find(&self, key: u64) -> Option<usize> {
        let delta = key.checked_sub(self.first)?;
        let high = (delta >> self.low_bits) as usize;
        let low = delta & ((1 << self.low_bits) - 1);
        let mut bit = self.after_zero(high)?;
        loop {
            let i = bit - high;
            if i >= self.len || !self.upper_bit(bit) {
                return None;
            }
            match get(self.low, i, self.low_bits).cmp(&low) {
                std::cmp::Ordering::Less => bit += 1,
                std::cmp::Ordering::Equal => return Some(i),
                std::cmp::Ordering::Greater => return None,
            }
        }
    }

    /// The bit after the `nth` zero of the upper bits, counted from 1; the first bit for 0.
    #[inline]
    fn after_zero(&self, nth: usize) -> Option<usize> {
        if nth == 0 {
            return Some(0);
        }
        let mut before = 0;
        for at in (0..self.upper.len()).step_by(8) {
            let zeros = !get(&self.upper[at..], 0, 64);
            let here = zeros.count_ones() as usize;
            if before + here >= nth {
                return Some(at * 8 + select(zeros, nth - before - 1) + 1);
            }
            before += here;
        }
        None
    }

    #[inline]
    fn upper_bit(&self, bit: usize) -> bool {
        self.upper.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    }

    /// The key of the term `index`, which is in the block.
    pub fn key(&self, index: usize) -> u64 {
        let mut before = 0;
        for at in (0..self.upper.len()).step_by(8) {
            let ones = get(&self.upper[at..], 0, 64);
            let here = ones.count_ones() as usize;
            if before + here > index {
                let high = (at * 8 + select(ones, index - before) - index) as u64;
                return self.key_of(high, index);
            }
            before += here;
        }
        self.first
    }

    /// Appends all keys, in order. Fewer than [`len`](Self::len) if the block is damaged.
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

    #[inline]
    fn key_of(&self, high: u64, index: usize) -> u64 {
        let delta = high << self.low_bits | get(self.low, index, self.low_bits);
        self.first.wrapping_add(delta)
    }

    #[inline]
    fn tag(&self, index: usize) -> u64 {
        get(self.tags, index, 2)
    }

    /// Of the terms before `index`, how many hold one document, two documents, a list.
    #[inline]
    fn ranks(&self, index: usize) -> [usize; 3] {
        const LOW: u64 = 0x5555_5555_5555_5555;
        let [mut twos, mut lists] = [0; 2];
        let mut bits = index * 2;
        for at in (0..self.tags.len()).step_by(8) {
            let taken = bits.min(64);
            let word = get(&self.tags[at..], 0, taken as u32);
            let high = word >> 1 & LOW;
            lists += high.count_ones() as usize;
            twos += (word & LOW & !high).count_ones() as usize;
            bits -= taken;
        }
        [index - twos - lists, twos, lists]
    }

    /// The postings of the term `index`, which is in the block.
    #[inline]
    pub fn postings(&self, index: usize) -> Postings {
        self.postings_at(self.tag(index), self.ranks(index), self.columns())
    }

    /// Appends the postings of all terms, in order.
    pub fn all_postings(&self, postings: &mut Vec<Postings>) {
        let columns = self.columns();
        let mut ranks = [0; 3];
        for (word, start) in (0..self.len).step_by(32).enumerate() {
            let mut tags = get(self.tags, word, 64);
            for _ in start..self.len.min(start + 32) {
                let tag = tags & 3;
                tags >>= 2;
                postings.push(self.postings_at(tag, ranks, columns));
                ranks[tag.min(TAG_VARINT) as usize] += 1;
            }
        }
    }

    /// The postings of the term `index` and of those after it, in order.
    pub fn postings_from(&self, index: usize) -> PostingsFrom<'a> {
        PostingsFrom { block: *self, columns: self.columns(), ranks: self.ranks(index), index }
    }

    /// Where the columns of values begin.
    #[inline]
    fn columns(&self) -> [&'a [u8]; 3] {
        let [ones, twos, _] = self.ranks(self.len);
        let after = |bytes: &'a [u8], len: usize| bytes.get(len..).unwrap_or(&[]);
        let pairs = after(self.values, column_bytes(ones, self.doc_bits));
        let lists = after(pairs, column_bytes(twos, self.doc_bits + self.gap_bits));
        [self.values, pairs, lists]
    }

    #[inline]
    fn postings_at(&self, tag: u64, ranks: [usize; 3], columns: [&[u8]; 3]) -> Postings {
        match tag {
            TAG_ONE => Postings::One(get(columns[0], ranks[0], self.doc_bits) as u32),
            TAG_TWO => {
                let pair = get(columns[1], ranks[1], self.doc_bits + self.gap_bits);
                let first = pair & ((1 << self.doc_bits) - 1);
                let gap = pair >> self.doc_bits;
                Postings::Two(first as u32, (first + gap + 1) as u32)
            }
            _ => {
                let encoding = if tag == TAG_VARINT { Encoding::Varint } else { Encoding::Roaring };
                Postings::List(
                    encoding,
                    self.lists_base + get(columns[2], ranks[2], self.list_bits),
                )
            }
        }
    }
}

/// The postings of a block's terms, one after the other.
#[derive(Clone, Copy)]
pub struct PostingsFrom<'a> {
    block: Block<'a>,
    columns: [&'a [u8]; 3],
    ranks: [usize; 3],
    index: usize,
}

impl PostingsFrom<'_> {
    /// Those of the next term, which is in the block.
    #[inline]
    pub fn take(&mut self) -> Postings {
        let tag = self.block.tag(self.index);
        let postings = self.block.postings_at(tag, self.ranks, self.columns);
        self.ranks[tag.min(TAG_VARINT) as usize] += 1;
        self.index += 1;
        postings
    }
}

/// The position of the set bit of `word` that has `nth` set bits below it.
#[inline]
fn select(mut word: u64, nth: usize) -> usize {
    for _ in 0..nth {
        word &= word - 1;
    }
    word.trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_map;
    use proptest::prelude::*;

    fn header(key_bits: u8, documents: u32) -> Header {
        Header { key_bits, documents, config: 0, owner: 0 }
    }

    /// The blocks of `terms`, each parsed again.
    fn blocks_of(header: Header, terms: &[(u64, Vec<u32>)]) -> Vec<Vec<u8>> {
        let mut writer = TermsWriter::new(header, Spool::new(None));
        let mut out = Vec::new();
        for (key, docs) in terms {
            writer.push(&mut out, *key, docs).unwrap();
        }
        let end = writer.finish(&mut out).unwrap();
        assert_eq!(end.terms, terms.len() as u64);
        let blocks = terms.len().div_ceil(BLOCK_TERMS);
        let (_, mut offsets) =
            crate::segment::term_index::stream(&end.index, &header, blocks).unwrap();
        offsets.push(out.len());
        offsets.windows(2).map(|pair| out[pair[0]..pair[1]].to_vec()).collect()
    }

    proptest! {
        #[test]
        fn blocks_find_every_key_and_no_other(
            key_bits in 8u8..=64,
            terms in btree_map(any::<u64>(), (0u32..1000, 0u32..1000), 1..400),
            probes in proptest::collection::vec(any::<u64>(), 50),
        ) {
            let mask = u64::MAX >> (64 - key_bits);
            let header = header(key_bits, 1000);
            let terms: std::collections::BTreeMap<u64, Vec<u32>> = terms
                .into_iter()
                .map(|(key, (a, b))| {
                    let mut docs = vec![a, b];
                    docs.sort_unstable();
                    docs.dedup();
                    (key & mask, docs)
                })
                .collect();
            let terms: Vec<_> = terms.into_iter().collect();
            for (bytes, terms) in blocks_of(header, &terms).iter().zip(terms.chunks(BLOCK_TERMS)) {
                let block = Block::parse(bytes, &header).unwrap();
                prop_assert_eq!(block.len(), terms.len());
                let (mut keys, mut postings) = (Vec::new(), Vec::new());
                block.keys(&mut keys);
                block.all_postings(&mut postings);
                for (i, (key, docs)) in terms.iter().enumerate() {
                    prop_assert_eq!(keys[i], *key);
                    prop_assert_eq!(block.key(i), *key);
                    prop_assert_eq!(block.find(*key), Some(i));
                    prop_assert_eq!(block.postings(i), postings[i]);
                    prop_assert_eq!(postings[i], match docs[..] {
                        [a] => Postings::One(a),
                        [a, b] => Postings::Two(a, b),
                        _ => unreachable!(),
                    });
                }
                for probe in &probes {
                    let expected = terms.binary_search_by_key(&(probe & mask), |term| term.0).ok();
                    prop_assert_eq!(block.find(probe & mask), expected);
                }
            }
        }

        #[test]
        fn a_block_of_any_bytes_is_no_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..300), key: u64, index in 0usize..128,
        ) {
            if let Some(block) = Block::parse(&bytes, &header(40, 77)) {
                block.find(key);
                if index < block.len() {
                    block.key(index);
                    block.postings(index);
                }
                block.keys(&mut Vec::new());
                block.all_postings(&mut Vec::new());
            }
        }

        #[test]
        fn a_separator_separates(last: u64, first: u64) {
            let (last, first) = (last.min(first) >> 8, last.max(first) >> 8);
            prop_assume!(last < first);
            let separator = separator(Some(last), first, 7);
            prop_assert!(separator.as_slice() > &last.to_be_bytes()[1..]);
            prop_assert!(separator.as_slice() <= &first.to_be_bytes()[1..]);
        }
    }
}
