//! Can this block of terms hold this key?
//!
//! Most keys of a new text are in no segment. A block begins with a small Bloom filter of its keys, cut
//! into words of 64 bits: a key asks one word, so of a block that lacks it one cache line is read (Putze,
//! Sanders and Singler 2007, "Cache-, Hash- and Space-Efficient Bloom Filters": blocked filters). With 8
//! bits a key, 4 of them set, 4 % of absent keys pass. Layout: segments-format.md, "Terms".

use super::bits::get;
use crate::hash::mix64;

/// The size of a word.
pub const WORD_BYTES: usize = 8;

/// The keys for which there is a word.
const WORD_KEYS: usize = 8;

/// The length of the filter of a block of `keys` keys.
pub const fn filter_bytes(keys: usize) -> usize {
    keys.div_ceil(WORD_KEYS) * WORD_BYTES
}

/// The place of a key in a filter.
#[derive(Clone, Copy)]
pub struct Place {
    /// The first byte of its word.
    pub at: usize,
    /// The bits of the word that it sets.
    bits: u64,
}

impl Place {
    /// That of `key` in the filter of a block of `keys` keys.
    #[inline]
    pub fn of(key: u64, keys: usize) -> Place {
        let hash = mix64(key);
        let words = keys.div_ceil(WORD_KEYS) as u64;
        let word = ((hash >> 32) * words) >> 32;
        let bit = |i: u32| 1u64 << (hash >> (6 * i) & 63);
        Place { at: word as usize * WORD_BYTES, bits: bit(0) | bit(1) | bit(2) | bit(3) }
    }

    /// Whether a key with this place may be among those whose filter has this `word`.
    #[inline]
    pub fn may_be_in(self, word: &[u8]) -> bool {
        get(word, 0, 64) & self.bits == self.bits
    }
}

/// Appends the filter of the keys of a block.
pub fn put(bytes: &mut Vec<u8>, keys: &[u64]) {
    let start = bytes.len();
    bytes.resize(start + filter_bytes(keys.len()), 0);
    for &key in keys {
        let place = Place::of(key, keys.len());
        let word = &mut bytes[start + place.at..][..WORD_BYTES];
        let with = get(word, 0, 64) | place.bits;
        word.copy_from_slice(&with.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_key_of_a_block_is_missed(keys in proptest::collection::btree_set(any::<u64>(), 1..=128)) {
            let keys: Vec<u64> = keys.into_iter().collect();
            let mut filter = vec![7];
            put(&mut filter, &keys);
            prop_assert_eq!(filter.len(), 1 + filter_bytes(keys.len()));
            for &key in &keys {
                let place = Place::of(key, keys.len());
                prop_assert!(place.may_be_in(&filter[1 + place.at..][..WORD_BYTES]));
            }
        }
    }

    #[test]
    fn one_absent_key_in_twenty_passes_at_most() {
        let keys: Vec<u64> = (0..128).map(|i| mix64(i) >> 24).collect();
        let mut filter = Vec::new();
        put(&mut filter, &keys);
        let passes = |key: u64| {
            let place = Place::of(key, keys.len());
            place.may_be_in(&filter[place.at..][..WORD_BYTES])
        };
        let absent = (1000..101_000).map(|i| mix64(i) >> 24);
        let passed = absent.filter(|&key| passes(key)).count();
        assert!((1000..5000).contains(&passed), "{passed} of 100,000");
    }
}
