//! Bloom filters of the keys of a segment.
//!
//! Most keys of a new text are in no segment, and in an index of many segments every key is absent
//! from most segments. Each group of terms therefore has a Bloom filter, divided into lines of 64
//! bytes. A key belongs to one line (blocked filters: Putze, Sanders and Singler 2007, "Cache-,
//! Hash- and Space-Efficient Bloom Filters"), so in a segment without the key only this line is
//! read. With 6 bits a key, 4 of them set, 6 % of absent keys pass. Layout: segments-format.md,
//! "Filter".

use std::ops::Range;

use super::file::SigFile;
use super::layout::{FILTER_KEY_BITS, GROUP_TERMS, Section};
use crate::error::Corruption;
use crate::hash::mix64;

/// The bytes of a line, which equal a cache line.
pub const LINE_BYTES: usize = 64;

/// A line of a filter.
pub type Line = [u8; LINE_BYTES];

/// A line of a filter without keys, which no key passes.
pub const EMPTY_LINE: Line = [0; LINE_BYTES];

const LINE_BITS: u64 = 8 * LINE_BYTES as u64;

/// The number of bits that a key sets in its line.
const KEY_PLACES: u32 = 4;

/// Returns the number of lines of the filter of a group of `keys` keys.
pub const fn lines(keys: usize) -> usize {
    (keys * FILTER_KEY_BITS).div_ceil(LINE_BITS as usize)
}

/// Returns the number of bytes before the first line, if the section begins at byte `at` of the
/// file. Lines begin at multiples of their size, so that each is a single line of the processor's
/// cache.
pub const fn padding(at: u64) -> usize {
    (at.next_multiple_of(LINE_BYTES as u64) - at) as usize
}

/// Returns the length of the section of a segment of `terms` terms, if the section begins at byte
/// `at` of the file.
pub fn section_bytes(at: u64, terms: u64) -> usize {
    let (groups, rest) = (terms as usize / GROUP_TERMS, terms as usize % GROUP_TERMS);
    padding(at) + (groups * lines(GROUP_TERMS) + lines(rest)) * LINE_BYTES
}

/// The hash of a key, which is the same for the filters of every segment.
#[derive(Debug, Clone, Copy)]
pub struct KeyHash(u64);

impl KeyHash {
    /// Returns the hash of `key`.
    #[inline]
    pub fn of(key: u64) -> KeyHash {
        KeyHash(mix64(key))
    }

    /// Returns the number of the key's line, among `lines`.
    #[inline]
    fn line(self, lines: usize) -> usize {
        (((self.0 >> 32) * lines as u64) >> 32) as usize
    }

    /// Returns the bits that the key sets in its line.
    #[inline]
    fn bits(self) -> impl Iterator<Item = usize> {
        (0..KEY_PLACES).map(move |i| (self.0 >> (9 * i) & (LINE_BITS - 1)) as usize)
    }

    /// Returns whether a filter with this `line` may contain the key. For most absent keys the
    /// answer is false, and nothing else is read.
    #[inline]
    pub fn may_be_in(self, line: &Line) -> bool {
        self.bits().fold(1, |all, bit| all & line[bit / 8] >> (bit % 8)) == 1
    }
}

/// Returns the filter of the keys of a group.
pub fn of_keys(keys: &[u64]) -> Vec<u8> {
    let mut filter = vec![0; lines(keys.len()) * LINE_BYTES];
    for &key in keys {
        let hash = KeyHash::of(key);
        let line = hash.line(lines(keys.len())) * LINE_BYTES;
        let line = &mut filter[line..][..LINE_BYTES];
        hash.bits().for_each(|bit| line[bit / 8] |= 1 << (bit % 8));
    }
    filter
}

/// The filters of a segment, read in place.
#[derive(Debug, Clone, Copy)]
pub struct Filters {
    /// The offset of the first line in the section.
    start: usize,
    /// The offset of the section in the file.
    offset: usize,
    terms: u64,
    /// The last group and its number of lines, which may be smaller because it has fewer terms.
    last: (usize, usize),
}

/// Returns the number of terms of a group in a segment of `terms` terms.
fn terms_of(terms: u64, group: usize) -> usize {
    (terms as usize).saturating_sub(group * GROUP_TERMS).min(GROUP_TERMS)
}

impl Filters {
    /// Returns the filters of the segment in `file`.
    ///
    /// # Errors
    /// When the length of the section does not match the number of terms.
    pub fn open(file: &SigFile) -> Result<Filters, Corruption> {
        let terms = file.footer.counts.terms;
        let at = file.start(Section::Filter);
        if section_bytes(at, terms) != file.len(Section::Filter) {
            let what = "its length does not match the number of terms";
            return Err(file.corruption(Section::Filter, 0, what));
        }
        let group = (terms as usize).saturating_sub(1) / GROUP_TERMS;
        let last = (group, lines(terms_of(terms, group)));
        Ok(Filters { start: padding(at), offset: at as usize, terms, last })
    }

    /// Returns the number of the key's line within the segment, given its `group`.
    #[inline]
    pub fn line_of(&self, hash: KeyHash, group: usize) -> u32 {
        let (last, last_lines) = self.last;
        let lines_of = if group == last { last_lines } else { lines(GROUP_TERMS) };
        // Less than 2^26 for 2^32 terms, the maximum.
        (group * lines(GROUP_TERMS) + hash.line(lines_of)) as u32
    }

    /// Returns the group of a line.
    #[inline]
    pub fn group_of(line: u32) -> u32 {
        line / lines(GROUP_TERMS) as u32
    }

    /// Returns the range of a line in the section.
    #[inline]
    pub fn place(&self, line: u32) -> Range<usize> {
        let start = self.start + line as usize * LINE_BYTES;
        start..start + LINE_BYTES
    }

    /// Returns a line if its page has been verified.
    #[inline]
    pub fn known<'a>(&self, file: &'a SigFile, line: u32) -> Option<&'a Line> {
        file.checked(self.offset + self.place(line).start)
    }

    /// Reads a line.
    ///
    /// # Errors
    /// When the line is damaged.
    pub fn read<'a>(&self, file: &'a SigFile, line: u32) -> Result<&'a Line, Corruption> {
        let line = file.read(Section::Filter, self.place(line).start, LINE_BYTES)?;
        Ok(line.first_chunk().expect("read returns the requested length"))
    }

    /// Returns whether the filter of `group` was made from `keys`.
    ///
    /// # Errors
    /// When the filter is damaged.
    pub fn is_of(&self, file: &SigFile, group: usize, keys: &[u64]) -> Result<bool, Corruption> {
        let start = self.start + group * lines(GROUP_TERMS) * LINE_BYTES;
        let len = lines(terms_of(self.terms, group)) * LINE_BYTES;
        Ok(file.read(Section::Filter, start, len)? == of_keys(keys))
    }

    /// Returns whether the bytes before the first line are zero.
    ///
    /// # Errors
    /// When the bytes are damaged.
    pub fn is_padded(&self, file: &SigFile) -> Result<bool, Corruption> {
        let padding = file.read(Section::Filter, 0, self.start)?;
        Ok(padding.iter().all(|&byte| byte == 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn passes(filter: &[u8], keys: usize, key: u64) -> bool {
        let hash = KeyHash::of(key);
        let line = filter[hash.line(lines(keys)) * LINE_BYTES..].first_chunk();
        hash.may_be_in(line.expect("a line within the filter"))
    }

    proptest! {
        #[test]
        fn no_key_of_a_group_is_missed(keys in proptest::collection::btree_set(any::<u64>(), 1..=900)) {
            let keys: Vec<u64> = keys.into_iter().collect();
            let filter = of_keys(&keys);
            for &key in &keys {
                prop_assert!(passes(&filter, keys.len(), key));
            }
        }
    }

    #[test]
    fn one_absent_key_in_fourteen_passes_at_most() {
        let keys: Vec<u64> = (0..GROUP_TERMS as u64).map(|i| mix64(i) >> 24).collect();
        let filter = of_keys(&keys);
        assert_eq!(filter.len(), GROUP_TERMS * FILTER_KEY_BITS / 8);
        let absent = (100_000..200_000).map(|i| mix64(i) >> 24);
        let passed = absent.filter(|&key| passes(&filter, keys.len(), key)).count();
        assert!((1000..7000).contains(&passed), "{passed} of 100,000");
    }
}
