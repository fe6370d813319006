//! Which block of terms can hold this fingerprint?
//!
//! The FST of the separators between blocks, streamed once at open into a table that finds the
//! block of a key in a few nanoseconds: an FST seek a key would cost five times as much. Layout:
//! segments-format.md, "Term index".

use std::ops::Range;

use super::bits::width_of;
use super::file::SigFile;
use super::filter::{Place, WORD_BYTES, filter_bytes};
use super::layout::BLOCK_TERMS;
use super::layout::{Header, Section};
use super::terms::{BLOCK_HEADER_BYTES, Block, low_bits};
use crate::automaton;
use crate::error::Corruption;

/// Finds the block of a key: the separators and places of all blocks, in memory.
pub struct TermIndex {
    /// The separators as keys: each block's keys are at least its own and less than the next.
    separators: Vec<u64>,
    /// The place of each block in the terms section, and the section's end.
    offsets: Vec<usize>,
    /// For each value of a key's highest bits, the first block whose separator has it or more.
    by_prefix: Vec<u32>,
    prefix_shift: u32,
    /// The terms of the segment.
    terms: u64,
    key_bytes: usize,
}

impl TermIndex {
    /// Reads the term index of a segment.
    ///
    /// # Errors
    /// When it does not describe the blocks of the terms section.
    pub fn open(file: &SigFile) -> Result<TermIndex, Corruption> {
        let damage = |what: &str| file.corruption(Section::TermIndex, 0, what);
        let blocks = file.footer.counts.terms.div_ceil(BLOCK_TERMS as u64) as usize;
        let terms_len = file.len(Section::Terms);
        if blocks > terms_len {
            return Err(damage("there are more terms than its blocks can hold"));
        }
        let (bytes, header) = (file.read_all(Section::TermIndex)?, file.header);
        let (separators, mut offsets) = stream(bytes, &header, blocks)
            .ok_or_else(|| damage("it indexes another number of blocks"))?;
        offsets.push(terms_len);
        let ascends = offsets.windows(2).all(|pair| pair[0] < pair[1])
            && separators.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascends || offsets[0] != if blocks == 0 { terms_len } else { 0 } {
            return Err(damage("the blocks are not in order"));
        }
        let prefix_bits = width_of(blocks as u64).min(u32::from(file.header.key_bits)).min(24);
        let prefix_shift = u32::from(file.header.key_bits) - prefix_bits;
        let mut by_prefix = vec![0; (1 << prefix_bits) + 1];
        for &separator in &separators {
            by_prefix[prefix(separator, prefix_shift) + 1] += 1;
        }
        for i in 1..by_prefix.len() {
            by_prefix[i] += by_prefix[i - 1];
        }
        let (terms, key_bytes) = (file.footer.counts.terms, file.header.key_bytes());
        Ok(TermIndex { separators, offsets, by_prefix, prefix_shift, terms, key_bytes })
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.separators.len()
    }

    /// The only block that can hold `key`.
    #[inline]
    pub fn block_of(&self, key: u64) -> Option<usize> {
        let at = prefix(key, self.prefix_shift);
        let from = *self.by_prefix.get(at)? as usize;
        let to = *self.by_prefix.get(at + 1)? as usize;
        let within = self.separators[from..to].partition_point(|&separator| separator <= key);
        (from + within).checked_sub(1)
    }

    /// Where the block `block` lies in the terms section.
    #[inline]
    pub fn range(&self, block: usize) -> Range<usize> {
        self.offsets[block]..self.offsets[block + 1]
    }

    /// Where in a block its filter begins.
    fn filter_at(&self) -> usize {
        BLOCK_HEADER_BYTES + self.key_bytes
    }

    /// The word of the filter of `block` that knows `key`: where it begins in the terms section, and the
    /// bits that it must have.
    #[inline]
    pub fn filter(&self, key: u64, block: usize) -> (usize, Place) {
        let before = (block * BLOCK_TERMS) as u64;
        let keys = self.terms.saturating_sub(before).min(BLOCK_TERMS as u64) as usize;
        let place = Place::of(key, keys);
        (self.offsets[block] + self.filter_at() + place.at, place)
    }

    /// Whether a key passes the filter that [`filter`](Self::filter) gives. Most absent keys do not, and
    /// nothing else of their block is read.
    ///
    /// # Errors
    /// When its bytes are damaged.
    #[inline]
    pub fn passes(&self, file: &SigFile, (at, place): (usize, Place)) -> Result<bool, Corruption> {
        Ok(place.may_be_in(file.read(Section::Terms, at, WORD_BYTES)?))
    }

    /// Where in the terms section a look-up of `key` in its block will read, as far as can be predicted
    /// without reading: the head, the upper bits, and about where the key's low bits and its value stand if keys
    /// are spread evenly.
    #[inline]
    pub fn places(&self, key: u64, block: usize) -> [usize; 4] {
        let Range { start, end } = self.range(block);
        let first = self.separators[block];
        let next = self.separators.get(block + 1).map_or(u64::MAX, |&next| next);
        let (delta, range) = (key - first, next - first);
        let index = (delta as f32 / range as f32 * BLOCK_TERMS as f32) as usize;
        let upper = start + self.filter_at() + filter_bytes(BLOCK_TERMS);
        let low = upper + BLOCK_TERMS / 4;
        let low_bits = low_bits(range, BLOCK_TERMS) as usize;
        let values = low + (BLOCK_TERMS * low_bits + 2 * BLOCK_TERMS) / 8;
        let value = values + end.saturating_sub(values) * index / BLOCK_TERMS;
        [start, upper, (low + index * low_bits / 8).min(end - 1), value.min(end - 1)]
    }

    /// The block `block`.
    ///
    /// # Errors
    /// When its bytes are damaged.
    #[inline]
    pub fn read<'a>(&self, file: &'a SigFile, block: usize) -> Result<Block<'a>, Corruption> {
        let Range { start, end } = self.range(block);
        let bytes = file.read(Section::Terms, start, end - start)?;
        Block::parse(bytes, &file.header)
            .ok_or_else(|| file.corruption(Section::Terms, start, "a block is cut short"))
    }
}

#[inline]
fn prefix(key: u64, shift: u32) -> usize {
    key.checked_shr(shift).unwrap_or(0) as usize
}

/// The entries of the FST, separators as keys; `None` if they are not as many as `blocks`, or it
/// cannot be walked: the checksums of its bytes fit, so it was forged.
pub fn stream(bytes: &[u8], header: &Header, blocks: usize) -> Option<(Vec<u64>, Vec<usize>)> {
    use fst::Streamer;

    if automaton::keys(bytes, header.key_bytes())? != blocks as u64 {
        return None;
    }
    let map = fst::Map::new(bytes).ok()?;
    let (mut separators, mut offsets) = (Vec::with_capacity(blocks), Vec::with_capacity(blocks));
    let mut entries = map.stream();
    while let Some((separator, offset)) = entries.next() {
        let mut key = [0; 8];
        key[8 - header.key_bytes()..][..separator.len()].copy_from_slice(separator);
        separators.push(u64::from_be_bytes(key));
        offsets.push(usize::try_from(offset).ok()?);
    }
    let fits = header.key_bits == 64 || separators.last().is_none_or(|s| s >> header.key_bits == 0);
    (separators.len() == blocks && fits).then_some((separators, offsets))
}
