//! Which fingerprints are certain to be shared by documents that share a passage?
//!
//! Winnowing (Schleimer, Wilkerson and Aiken 2003): of every `w` consecutive k-grams the one of
//! least value is kept. A passage of `w + k - 1` tokens holds `w` k-grams, and of every document that
//! holds the passage the same value is kept for them.
//!
//! Of equal values that is kept which the window before has kept, or else the rightmost: the paper's
//! *robust* winnowing (section 5.1). Of a line of dots or a table of zeros it keeps one in `w`, where
//! the rightmost of every window would be all of them.

use super::ngram::{self, Values};
use super::{Fingerprint, Method, W_MAX};
use crate::text::Tokens;

/// `winnow(k,w)`: the least k-gram of every `w`; of all, when there are fewer.
#[derive(Debug)]
pub(super) struct Winnow {
    k: usize,
    w: usize,
}

/// The values held at a time, the largest window included.
const BUFFER: usize = 1024;
const _: () = assert!(BUFFER >= 2 * W_MAX as usize);

impl Winnow {
    pub(super) fn new(k: usize, w: usize) -> Winnow {
        assert!((1..=W_MAX as usize).contains(&w), "the grammar bounds w");
        Winnow { k, w }
    }
}

impl Method for Winnow {
    fn span(&self) -> usize {
        self.k
    }

    fn window(&self) -> Option<usize> {
        Some(self.w)
    }

    fn sign(&self, tokens: &Tokens, signature: &mut Vec<Fingerprint>) {
        signature.clear();
        if ngram::sign_short(&tokens.hashes, self.k, signature) {
            return;
        }
        let values = Values::new(&tokens.hashes, self.k);
        winnow(values, self.w, |value, position| {
            signature.push(ngram::fingerprint(value, position));
        });
    }
}

/// Calls `keep` with the least value of every `w` in a row and its position; of all, when there are
/// fewer.
#[inline(always)]
pub(super) fn winnow(
    mut values: impl Iterator<Item = u64>,
    w: usize,
    mut keep: impl FnMut(u64, usize),
) {
    let mut buffer = [0; BUFFER];
    let mut held = fill(&mut buffer, &mut values);
    // The position of `buffer[0]`; the index of the value kept last; the index of the next one
    // to compare with it.
    let mut base = 0;
    let mut next = w.min(held);
    let mut least = ngram::rightmost_least(&buffer[..next]);
    keep(buffer[least], least);
    loop {
        let end = held.min(least + w);
        if let Some(less) = first_below(buffer[least], &buffer[next..end]) {
            least = next + less;
            next = least + 1;
        } else if end < held {
            // No window without the value kept last has been seen to its end but this one.
            // Looking through it is cheaper than keeping candidates in order: it happens once
            // in w values (measured against a monotone queue and against two stacks).
            least += 1 + ngram::rightmost_least(&buffer[least + 1..=end]);
            next = end + 1;
        } else if held < BUFFER {
            return;
        } else {
            // All that windows to come can hold is moved to the front.
            buffer.copy_within(least.., 0);
            base += least;
            next = held - least;
            least = 0;
            held = next + fill(&mut buffer[next..], &mut values);
            continue;
        }
        keep(buffer[least], base + least);
    }
}

/// Fills the buffer from its start; gives the number of values, less than fit only at the end.
#[inline(always)]
fn fill(buffer: &mut [u64], values: &mut impl Iterator<Item = u64>) -> usize {
    let mut filled = 0;
    for (slot, value) in buffer.iter_mut().zip(values) {
        *slot = value;
        filled += 1;
    }
    filled
}

/// The index of the first of `values` that is below `limit`.
#[inline(always)]
fn first_below(limit: u64, values: &[u64]) -> Option<usize> {
    values.iter().position(|&value| value < limit)
}
