//! What if k-grams are selected by where they stand, or by what stands beside them?
//!
//! The selections of Potthast and Stein (2008), table 1, that are neither all k-grams, nor those of
//! certain values, nor the least of a window:
//!
//! - [`Rule::Every`]: one of a sliding window. Whoever inserts a word shifts all that follow.
//! - [`Rule::Random`]: a local random choice: one of every `l`, drawn from a seed.
//! - [`Rule::Extremum`]: the k-grams of greater value than all `h` neighbours on either side
//!   (Bjorner, Blass and Gurevich 2010). Like winnowing they depend on the neighbourhood alone; unlike it they leave gaps
//!   without a bound.
//! - [`Rule::Anchor`]: those that begin with one of a fixed set of words (Manber 1994).
//! - [`Rule::Infrequent`]: those that begin with a word that the document has at most `f` times
//!   (Heintze 1996).

use super::ngram::{self, Values};
use super::{Fingerprint, Method};
use crate::hash::{BuildKeyHasher, mix64};
use std::collections::HashMap;

/// Which k-grams are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// Those at multiples of `l`.
    Every { l: usize },
    /// Of every `l` in a row one, at random.
    Random { l: usize, seed: u64 },
    /// Those of greater value than `h` on either side.
    Extremum { h: usize },
    /// Those whose first token's mixed hash is divisible by `p`.
    Anchor { p: u64 },
    /// Those whose first token occurs at most `f` times in the document.
    Infrequent { f: u32 },
}

/// K-grams selected by a [`Rule`]; if it selects none, the rightmost least.
#[derive(Debug)]
pub(super) struct Select {
    k: usize,
    rule: Rule,
}

impl Select {
    pub(super) fn new(k: usize, rule: Rule) -> Select {
        Select { k, rule }
    }

    /// The selected positions, ascending.
    fn positions(&self, tokens: &[u64], values: &[u64]) -> Vec<usize> {
        let all = 0..values.len();
        match self.rule {
            Rule::Every { l } => all.step_by(l).collect(),
            Rule::Random { l, seed } => all
                .step_by(l)
                .map(|start| start + (mix64(seed ^ mix64(start as u64)) % l as u64) as usize)
                .filter(|&position| position < values.len())
                .collect(),
            Rule::Extremum { h } => extrema(values, h),
            Rule::Anchor { p } => {
                all.filter(|&i| mix64(tokens[i] ^ ANCHOR).is_multiple_of(p)).collect()
            }
            Rule::Infrequent { f } => {
                let mut counts: HashMap<u64, u32, BuildKeyHasher> = HashMap::default();
                tokens.iter().for_each(|&token| *counts.entry(token).or_default() += 1);
                all.filter(|&i| counts[&tokens[i]] <= f).collect()
            }
        }
    }
}

/// Makes the choice of anchors independent of everything else that is decided by token hashes.
const ANCHOR: u64 = 0x616e_6368_6f72;

/// The positions whose value is greater than the `h` before and the `h` after, as far as there
/// are any.
fn extrema(values: &[u64], h: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < values.len() {
        let end = values.len().min(at + h + 1);
        // The first that is not less: behind it nothing before `at` can be an extremum.
        match (at + 1..end).find(|&next| values[next] >= values[at]) {
            Some(next) => {
                // Of equals neither is one, but the later one may still rule out its neighbours.
                at = next;
            }
            None => {
                let start = at.saturating_sub(h);
                if values[start..at].iter().all(|&value| value < values[at]) {
                    found.push(at);
                }
                // Those after it are less, and it is near them.
                at = end;
            }
        }
    }
    found
}

impl Method for Select {
    fn span(&self) -> usize {
        self.k
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>) {
        signature.clear();
        if ngram::sign_short(hashes, self.k, signature) {
            return;
        }
        let values: Vec<u64> = Values::new(hashes, self.k).collect();
        let mut positions = self.positions(hashes, &values);
        if positions.is_empty() {
            positions.push(ngram::rightmost_least(&values));
        }
        let selected = positions.into_iter();
        signature.extend(selected.map(|at| ngram::fingerprint(values[at], at)));
    }
}
