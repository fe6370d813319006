//! Which number stands for k tokens in a row?
//!
//! What the overlapping schemes share: the rolling hash of k-grams, the rule for documents that
//! are too short, and the making of keys.

use super::Fingerprint;
use crate::hash::mix64;
use crate::spec::Parameter;

/// The bits of a key. 40 make a chance hit of one probe 3e-5 among 29 million terms; 32 would
/// save a byte a term and make it 7e-3.
pub const KEY_BITS: u8 = 40;

/// The parameter `k`: the tokens in a k-gram.
pub const K: Parameter = Parameter { key: "k", default: 5, min: 1, max: 100 };

/// The base of the polynomial; odd, so that no token is lost from the low bits.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Keeps the keys apart from the hashes by which they were selected.
const KEY_SALT: u64 = 0xd6e8_feb8_6659_fd93;

/// Calls `each` with every k-gram's hash, in order: as many as `k` fit into `tokens`, or one of
/// all tokens if they are fewer than `k`.
///
/// The hash of a k-gram is [`mix64`] of the polynomial of its token hashes modulo 2^64; that of a
/// shorter text has its length mixed in, so that it is no prefix of another.
#[inline]
pub fn for_each_hash(tokens: &[u64], k: usize, mut each: impl FnMut(usize, u64)) {
    let first = tokens.len().min(k);
    let mut sum = 0u64;
    let mut highest = 1u64;
    for &token in &tokens[..first] {
        sum = sum.wrapping_mul(BASE).wrapping_add(token);
        highest = highest.wrapping_mul(BASE);
    }
    if tokens.len() < k {
        if !tokens.is_empty() {
            each(0, mix64(mix64(sum) ^ tokens.len() as u64));
        }
        return;
    }
    each(0, mix64(sum));
    // `highest` is BASE^k: the token that leaves has been multiplied k - 1 times, and once more
    // with the new one.
    for (i, (&old, &new)) in tokens.iter().zip(&tokens[first..]).enumerate() {
        sum = sum.wrapping_mul(BASE).wrapping_add(new).wrapping_sub(old.wrapping_mul(highest));
        each(i + 1, mix64(sum));
    }
}

/// The fingerprint of a selected k-gram.
///
/// The hash is mixed again before it is cut to [`KEY_BITS`]: selected hashes crowd the low end,
/// and cut as they are they would collide 3.5 times too often.
#[inline]
pub fn fingerprint(position: usize, hash: u64) -> Fingerprint {
    let key = mix64(hash ^ KEY_SALT) >> (64 - u32::from(KEY_BITS));
    Fingerprint { key, position: position as u32 }
}

#[cfg(test)]
pub mod naive {
    //! The k-gram hash from its definition, each from scratch.

    use super::*;

    /// The hash of one k-gram, or of a whole text shorter than that.
    pub fn hash(tokens: &[u64], k: usize) -> u64 {
        let sum =
            tokens.iter().fold(0u64, |sum, token| sum.wrapping_mul(BASE).wrapping_add(*token));
        if tokens.len() < k { mix64(mix64(sum) ^ tokens.len() as u64) } else { mix64(sum) }
    }

    /// The hashes of all k-grams.
    pub fn hashes(tokens: &[u64], k: usize) -> Vec<u64> {
        if tokens.is_empty() {
            Vec::new()
        } else if tokens.len() < k {
            vec![hash(tokens, k)]
        } else {
            tokens.windows(k).map(|kgram| hash(kgram, k)).collect()
        }
    }

    /// The tokens with these hashes.
    pub fn tokens(hashes: &[u64]) -> crate::text::Tokens {
        let spans = vec![crate::text::Span { start: 0, end: 0 }; hashes.len()];
        crate::text::Tokens { hashes: hashes.to_vec(), spans }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rolling_gives_the_hashes_of_the_definition(
            tokens in proptest::collection::vec(any::<u64>(), 0..60), k in 1usize..20,
        ) {
            let mut rolled = Vec::new();
            for_each_hash(&tokens, k, |i, hash| {
                assert_eq!(i, rolled.len());
                rolled.push(hash);
            });
            prop_assert_eq!(rolled, naive::hashes(&tokens, k));
        }
    }

    #[test]
    fn a_short_text_is_no_part_of_a_longer_one() {
        // One hash for each length, also where all tokens are alike.
        let hashes: Vec<u64> = (1..=5).map(|n| naive::hash(&vec![0; n], 5)).collect();
        for (i, hash) in hashes.iter().enumerate() {
            assert!(!hashes[..i].contains(hash));
        }
    }
}
