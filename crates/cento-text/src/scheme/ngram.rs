//! Values and keys of sequences of tokens.
//!
//! Schemes select k-grams by their *value*: the polynomial of the token hashes at [`BASE`], modulo
//! 2^64, mixed. The polynomial rolls along a document at the cost of two multiplications, and the
//! mixing makes its low bits equal in quality to its high ones. The *key* of a
//! selected value, which an index stores, is the value mixed once more and cut to [`KEY_BITS`]
//! bits. The second mixing matters: schemes select by value (the least of a window, the multiples
//! of p), so the values selected crowd together; cut as they are, keys of windows of 10 collided
//! 3.5 times too often.

use super::Fingerprint;
use crate::hash::mix64;

/// The bits of a key: at 29 million distinct keys, a random one is among them once in 38,000.
pub(super) const KEY_BITS: u8 = 40;

/// The argument of the polynomials: odd, so that no token hash is lost, and without structure (the
/// golden ratio's fraction, 64 bits).
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the fingerprint of the k-gram that begins at `position`.
#[inline(always)]
pub(super) fn fingerprint(value: u64, position: usize) -> Fingerprint {
    Fingerprint { key: remix(value) >> (64 - KEY_BITS), position: position as u32 }
}

/// The bit of a key that tells a token from a pair, where there are both.
pub(super) const KIND: u64 = 1;

/// Returns the fingerprint of the pair of this value, where single tokens have some too: the lowest
/// bit of a key tells a token, 1, from a pair.
#[inline(always)]
pub(super) fn pair(value: u64, position: usize) -> Fingerprint {
    let fingerprint = fingerprint(value, position);
    Fingerprint { key: fingerprint.key & !KIND, ..fingerprint }
}

/// Returns the fingerprint of a single token beside those of pairs.
pub(super) fn token(hash: u64, position: usize) -> Fingerprint {
    let fingerprint = fingerprint(value(&[hash]), position);
    Fingerprint { key: fingerprint.key | KIND, ..fingerprint }
}

/// Tells whether a key is that of a pair and not of a single token.
pub(super) fn is_of_pair(key: u64) -> bool {
    key & KIND == 0
}

/// Mixes a number by a bijection unrelated to [`mix64`] (the finaliser of MurmurHash3).
#[inline(always)]
fn remix(value: u64) -> u64 {
    let value = (value ^ (value >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let value = (value ^ (value >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}

/// Signs a document shorter than a k-gram; returns `false` without effect if it is not shorter.
///
/// All its tokens make one fingerprint. Their number is part of it, so that a document is not
/// confused with the beginning of another.
pub(super) fn sign_short(hashes: &[u64], k: usize, signature: &mut Vec<Fingerprint>) -> bool {
    if hashes.len() >= k {
        return false;
    }
    if !hashes.is_empty() {
        signature.push(fingerprint(value(hashes), 0));
    }
    true
}

/// Returns the values of all k-grams of a document; for a document shorter than a k-gram, that of
/// the whole.
pub fn values(hashes: &[u64], k: usize) -> impl Iterator<Item = u64> + '_ {
    let is_long = hashes.len() >= k;
    let short = (!is_long && !hashes.is_empty()).then(|| value(hashes));
    let long = is_long.then(|| Values::new(hashes, k));
    short.into_iter().chain(long.into_iter().flatten())
}

/// Returns the value of one sequence, however long.
pub(super) fn value(hashes: &[u64]) -> u64 {
    mix64(polynomial(hashes) ^ mix64(hashes.len() as u64))
}

/// Returns the index of the rightmost of the least values; 0 if there are no values.
#[inline(always)]
pub(super) fn rightmost_least(values: &[u64]) -> usize {
    // The least value is kept beside its index: reading it back each time would chain the loads.
    let first = (0, u64::MAX);
    let (least, _) = values.iter().enumerate().fold(first, |(least, value), (i, &other)| {
        if other <= value { (i, other) } else { (least, value) }
    });
    least
}

fn polynomial(hashes: &[u64]) -> u64 {
    let append = |sum: u64, &hash| sum.wrapping_mul(BASE).wrapping_add(hash);
    hashes.iter().fold(0, append)
}

/// The tokens of a document that arrives part by part, as far as later k-grams need them.
pub(super) struct Rolling {
    k: usize,
    /// The last tokens, fewer than `k` after a push.
    tokens: Vec<u64>,
    /// The number of k-grams so far.
    count: usize,
}

impl Rolling {
    pub(super) fn new(k: usize) -> Rolling {
        Rolling { k, tokens: Vec::new(), count: 0 }
    }

    /// Appends tokens; returns the values of the new k-grams, and the position of the first.
    pub(super) fn push(&mut self, hashes: &[u64]) -> (usize, impl Iterator<Item = u64> + '_) {
        let kept = self.tokens.len().min(self.k - 1);
        self.tokens.drain(..self.tokens.len() - kept);
        self.tokens.extend_from_slice(hashes);
        let first = self.count;
        self.count += (self.tokens.len() + 1).saturating_sub(self.k);
        let is_long = self.tokens.len() >= self.k;
        (first, is_long.then(|| Values::new(&self.tokens, self.k)).into_iter().flatten())
    }

    /// Signs the document if it is shorter than a k-gram; returns `false` without effect if it is
    /// not.
    pub(super) fn sign_short(&self, signature: &mut Vec<Fingerprint>) -> bool {
        self.count == 0 && sign_short(&self.tokens, self.k, signature)
    }
}

/// The values of the k-grams of a document, in order.
pub(super) struct Values<'a> {
    /// The tokens that leave, and those that enter.
    pairs: std::iter::Zip<std::slice::Iter<'a, u64>, std::slice::Iter<'a, u64>>,
    polynomial: u64,
    /// `BASE` to the power k.
    power: u64,
    first: bool,
}

impl<'a> Values<'a> {
    /// Iterates over the values of the k-grams of `hashes`, which must be at least `k`.
    pub(super) fn new(hashes: &'a [u64], k: usize) -> Values<'a> {
        Values {
            pairs: hashes.iter().zip(&hashes[k..]),
            polynomial: polynomial(&hashes[..k]),
            power: BASE.wrapping_pow(k as u32),
            first: true,
        }
    }
}

impl Iterator for Values<'_> {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        if self.first {
            self.first = false;
            return Some(mix64(self.polynomial));
        }
        let (&old, &new) = self.pairs.next()?;
        // The power is off the chain of dependent operations, which is what bounds the speed.
        let entering = new.wrapping_sub(old.wrapping_mul(self.power));
        self.polynomial = self.polynomial.wrapping_mul(BASE).wrapping_add(entering);
        Some(mix64(self.polynomial))
    }

    /// Takes the first value apart from the others: a loop over all of them then has no test for
    /// the first.
    fn fold<B, F: FnMut(B, u64) -> B>(mut self, init: B, mut each: F) -> B {
        let folded = match self.first {
            true => each(init, mix64(self.polynomial)),
            false => init,
        };
        self.pairs.fold(folded, |folded, (&old, &new)| {
            let entering = new.wrapping_sub(old.wrapping_mul(self.power));
            self.polynomial = self.polynomial.wrapping_mul(BASE).wrapping_add(entering);
            each(folded, mix64(self.polynomial))
        })
    }
}
