//! Values and keys of sequences of tokens.
//!
//! Schemes select k-grams by their *value*: the polynomial of the token hashes at [`BASE`], modulo
//! 2^64, mixed. The polynomial rolls along a document at the cost of two multiplications, and
//! mixing makes its low bits as good as its high bits. The *key* of a selected value, which an
//! index stores, is the value mixed once more and cut to [`KEY_BITS`] bits. The second mixing
//! matters: schemes select by value (the minimum of a window, the multiples of p), so selected
//! values crowd together. Without the second mixing, keys of windows of 10 collided 3.5 times too
//! often.

use super::Fingerprint;
use crate::hash::mix64;

/// The bits of a key. Among 29 million distinct keys, a random key occurs once in 38,000 cases.
pub(super) const KEY_BITS: u8 = 40;

/// The argument of the polynomials: odd, so that no token hash is lost, and without structure (the
/// fraction of the golden ratio, 64 bits).
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the fingerprint of the k-gram that begins at `position`.
#[inline(always)]
pub(super) fn fingerprint(value: u64, position: usize) -> Fingerprint {
    Fingerprint { key: remix(value) >> (64 - KEY_BITS), position: position as u32 }
}

/// The bit of a key that tells a token from a pair, in signatures with both kinds.
pub(super) const KIND: u64 = 1;

/// Returns the fingerprint of the pair with this value, in signatures with single tokens. The
/// lowest bit of the key is 0.
#[inline(always)]
pub(super) fn pair(value: u64, position: usize) -> Fingerprint {
    let fingerprint = fingerprint(value, position);
    Fingerprint { key: fingerprint.key & !KIND, ..fingerprint }
}

/// Returns the fingerprint of a single token beside pairs. The lowest bit of the key is 1.
pub(super) fn token(hash: u64, position: usize) -> Fingerprint {
    let fingerprint = fingerprint(value(&[hash]), position);
    Fingerprint { key: fingerprint.key | KIND, ..fingerprint }
}

/// Tells whether a key represents a pair and not a single token.
pub(super) fn is_of_pair(key: u64) -> bool {
    key & KIND == 0
}

/// Mixes a number by a bijection unrelated to [`mix64`] (the finalizer of MurmurHash3).
#[inline(always)]
fn remix(value: u64) -> u64 {
    let value = (value ^ (value >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let value = (value ^ (value >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}

/// Signs a document shorter than a k-gram. Returns `false` without effect for a longer document.
///
/// All tokens make one fingerprint. Their number is part of the hash, so that a document is not
/// confused with the beginning of a longer document.
pub(super) fn sign_short(hashes: &[u64], k: usize, signature: &mut Vec<Fingerprint>) -> bool {
    if hashes.len() >= k {
        return false;
    }
    if !hashes.is_empty() {
        signature.push(fingerprint(value(hashes), 0));
    }
    true
}

/// Returns the values of all k-grams of a document. A document shorter than a k-gram has a single
/// value for the whole.
pub fn values(hashes: &[u64], k: usize) -> impl Iterator<Item = u64> + '_ {
    let is_long = hashes.len() >= k;
    let short = (!is_long && !hashes.is_empty()).then(|| value(hashes));
    let long = is_long.then(|| GramValues::new(hashes, k));
    short.into_iter().chain(long.into_iter().flatten())
}

/// Returns the value of a sequence of any length.
pub(super) fn value(hashes: &[u64]) -> u64 {
    mix64(polynomial(hashes) ^ mix64(hashes.len() as u64))
}

/// Returns the index of the rightmost minimum, or 0 if there are no values.
#[inline(always)]
pub(super) fn rightmost_least(values: &[u64]) -> usize {
    // Keeps the minimum beside its index: reading the value back each time would chain the loads.
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

/// The last tokens of a document that arrives part by part, as many as later k-grams need.
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

    /// Appends tokens. Returns the position of the first new k-gram, and the values of the new
    /// k-grams.
    pub(super) fn push(&mut self, hashes: &[u64]) -> (usize, impl Iterator<Item = u64> + '_) {
        let kept = self.tokens.len().min(self.k - 1);
        self.tokens.drain(..self.tokens.len() - kept);
        self.tokens.extend_from_slice(hashes);
        let first = self.count;
        self.count += (self.tokens.len() + 1).saturating_sub(self.k);
        let is_long = self.tokens.len() >= self.k;
        (first, is_long.then(|| GramValues::new(&self.tokens, self.k)).into_iter().flatten())
    }

    /// Signs a document shorter than a k-gram. Returns `false` without effect for a longer
    /// document.
    pub(super) fn sign_short(&self, signature: &mut Vec<Fingerprint>) -> bool {
        self.count == 0 && sign_short(&self.tokens, self.k, signature)
    }
}

/// The values of the k-grams of a document, in order.
pub(super) struct GramValues<'a> {
    /// The token that leaves and the token that enters, by step.
    pairs: std::iter::Zip<std::slice::Iter<'a, u64>, std::slice::Iter<'a, u64>>,
    polynomial: u64,
    /// `BASE` to the power k.
    power: u64,
    first: bool,
}

impl<'a> GramValues<'a> {
    /// Iterates over the values of the k-grams of `hashes`, which must have at least `k` tokens.
    pub(super) fn new(hashes: &'a [u64], k: usize) -> GramValues<'a> {
        GramValues {
            pairs: hashes.iter().zip(&hashes[k..]),
            polynomial: polynomial(&hashes[..k]),
            power: BASE.wrapping_pow(k as u32),
            first: true,
        }
    }
}

impl Iterator for GramValues<'_> {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        if self.first {
            self.first = false;
            return Some(mix64(self.polynomial));
        }
        let (&old, &new) = self.pairs.next()?;
        // Keeps the power off the chain of dependent operations, which limits the speed.
        let entering = new.wrapping_sub(old.wrapping_mul(self.power));
        self.polynomial = self.polynomial.wrapping_mul(BASE).wrapping_add(entering);
        Some(mix64(self.polynomial))
    }

    /// Handles the first value before the loop, so that the loop has no test for the first value.
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
