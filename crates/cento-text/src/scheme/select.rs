//! Selection of k-grams by their position, or by their neighbors.
//!
//! The selections of Potthast and Stein (2008), table 1, that do not keep all k-grams, k-grams of
//! certain values, or the minimum of a window:
//!
//! - [`SelectionRule::Every`]: every `l`-th k-gram. An inserted word shifts everything that
//!   follows.
//! - [`SelectionRule::Random`]: one of every `l` k-grams, drawn from a seed.
//! - [`SelectionRule::Extremum`]: the k-grams of greater value than all `h` neighbors on either
//!   side
//!   (Bjorner, Blass and Gurevich 2010). The selection depends on the neighborhood alone, as in
//!   winnowing, but leaves gaps without a bound.
//! - [`SelectionRule::Anchor`]: the k-grams that begin with a word of a fixed set (Manber 1994).
//! - [`SelectionRule::Infrequent`]: the k-grams that begin with a word that the document has at
//!   most `f`
//!   times (Heintze 1996).

#[cfg(test)]
use super::family::Laws;
use super::family::{Family, K, K_GRAMS, L_MAX, SchemeBuilder, W_MAX};
use super::ngram::{self, GramValues};
use super::{Fingerprint, SchemeMethod};
use crate::Result;
use crate::hash::{BuildKeyHasher, mix64};
use crate::runtime::Stop;
use crate::spec::{Parameter, Spec};
use std::collections::HashMap;

pub(super) const EVERY: Family = Family {
    name: "every",
    parameters: &[K, Parameter::number("l", 6, 1, L_MAX, "one run in `l` is kept")],
    summary: "every `l`-th run",
    density: "1 / l",
    source: "Potthast and Stein 2008, table 1: sliding window",
    example: "every(k=5,l=6)",
    kind: K_GRAMS,
    build: SchemeBuilder::Alone(|spec| {
        Select::of(spec, SelectionRule::Every { l: spec.get("l") as usize })
    }),
    #[cfg(test)]
    laws: Laws {
        small: &["every(k=3,l=3)"],
        pins: &[("every", "words", 7275197307572920287)],
        ..Laws::NONE
    },
};

pub(super) const RANDOM: Family = Family {
    name: "random",
    parameters: &[
        K,
        Parameter::number("l", 6, 1, L_MAX, "of `l` runs in a row one is kept"),
        Parameter::number("seed", 1, 0, u32::MAX, "another one makes another choice"),
    ],
    summary: "one of every `l` runs, at random",
    density: "1 / l",
    source: "Potthast and Stein 2008, table 1: random choice",
    example: "random(k=5,l=6,seed=1)",
    kind: K_GRAMS,
    build: SchemeBuilder::Alone(|spec| {
        Select::of(
            spec,
            SelectionRule::Random { l: spec.get("l") as usize, seed: u64::from(spec.get("seed")) },
        )
    }),
    #[cfg(test)]
    laws: Laws {
        small: &["random(k=3,l=3)"],
        pins: &[("random", "words", 827601387339841726)],
        ..Laws::NONE
    },
};

pub(super) const EXTREMUM: Family = Family {
    name: "extremum",
    parameters: &[
        K,
        Parameter::number("h", 5, 1, W_MAX, "the neighbors on either side that must be less"),
    ],
    summary: "runs of greater value than `h` on either side",
    density: "1 / (2 h + 1)",
    source: "Bjorner, Blass and Gurevich 2010; Potthast and Stein 2008, table 1",
    example: "extremum(k=5,h=5)",
    kind: K_GRAMS,
    build: SchemeBuilder::Alone(|spec| {
        Select::of(spec, SelectionRule::Extremum { h: spec.get("h") as usize })
    }),
    #[cfg(test)]
    laws: Laws {
        small: &["extremum(k=3,h=2)"],
        pins: &[("extremum", "words", 1857073579753043139)],
        ..Laws::NONE
    },
};

pub(super) const ANCHOR: Family = Family {
    name: "anchor",
    parameters: &[K, Parameter::number("p", 6, 1, L_MAX, "one word in `p` is an anchor")],
    summary: "runs that begin with certain words",
    density: "about 1 / p",
    source: "Manber 1994; Potthast and Stein 2008, table 1",
    example: "anchor(k=5,p=6)",
    kind: K_GRAMS,
    build: SchemeBuilder::Alone(|spec| {
        Select::of(spec, SelectionRule::Anchor { p: u64::from(spec.get("p")) })
    }),
    #[cfg(test)]
    laws: Laws {
        small: &["anchor(k=3,p=3)"],
        pins: &[("anchor", "words", 6328823692697375295)],
        ..Laws::NONE
    },
};

pub(super) const INFREQUENT: Family = Family {
    name: "infrequent",
    parameters: &[
        K,
        Parameter::number("f", 1, 1, L_MAX, "how often the document may have the first word"),
    ],
    summary: "runs that begin with a word the document has at most `f` times",
    density: "varies",
    source: "Heintze 1996; Potthast and Stein 2008, table 1",
    example: "infrequent(k=5,f=1)",
    kind: K_GRAMS,
    build: SchemeBuilder::Alone(|spec| {
        Select::of(spec, SelectionRule::Infrequent { f: spec.get("f") })
    }),
    #[cfg(test)]
    laws: Laws {
        small: &["infrequent(k=3)"],
        pins: &[("infrequent", "words", 9617072565425126944)],
        ..Laws::NONE
    },
};

/// The rule that selects k-grams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SelectionRule {
    /// The k-grams at multiples of `l`.
    Every { l: usize },
    /// A random k-gram of every `l` in a row.
    Random { l: usize, seed: u64 },
    /// The k-grams with a greater value than the `h` neighbors on either side.
    Extremum { h: usize },
    /// The k-grams whose first token's mixed hash is divisible by `p`.
    Anchor { p: u64 },
    /// The k-grams whose first token occurs at most `f` times in the document.
    Infrequent { f: u32 },
}

/// K-grams that a [`SelectionRule`] selects, or else the rightmost minimum.
#[derive(Debug)]
struct Select {
    k: usize,
    rule: SelectionRule,
}

impl Select {
    fn of(spec: &Spec, rule: SelectionRule) -> Box<dyn SchemeMethod> {
        Box::new(Select { k: spec.get("k") as usize, rule })
    }

    /// Returns the selected positions, ascending.
    fn positions(&self, tokens: &[u64], values: &[u64]) -> Vec<usize> {
        let all = 0..values.len();
        match self.rule {
            SelectionRule::Every { l } => all.step_by(l).collect(),
            SelectionRule::Random { l, seed } => all
                .step_by(l)
                .map(|start| start + (mix64(seed ^ mix64(start as u64)) % l as u64) as usize)
                .filter(|&position| position < values.len())
                .collect(),
            SelectionRule::Extremum { h } => extrema(values, h),
            SelectionRule::Anchor { p } => {
                all.filter(|&i| mix64(tokens[i] ^ ANCHORED).is_multiple_of(p)).collect()
            }
            SelectionRule::Infrequent { f } => {
                let mut counts: HashMap<u64, u32, BuildKeyHasher> = HashMap::default();
                tokens.iter().for_each(|&token| *counts.entry(token).or_default() += 1);
                all.filter(|&i| counts[&tokens[i]] <= f).collect()
            }
        }
    }
}

/// Makes the choice of anchors independent of every other choice by token hashes.
const ANCHORED: u64 = 0x616e_6368_6f72;

/// Returns the positions whose value is greater than the `h` values before and the `h` values
/// after, or as many as exist.
fn extrema(values: &[u64], h: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < values.len() {
        let end = values.len().min(at + h + 1);
        // The first value that is not less. No position between `at` and `next` can be an extremum.
        match (at + 1..end).find(|&next| values[next] >= values[at]) {
            Some(next) => {
                // If two values are equal, neither value is an extremum, but the later value may
                // still exclude its neighbors.
                at = next;
            }
            None => {
                let start = at.saturating_sub(h);
                if values[start..at].iter().all(|&value| value < values[at]) {
                    found.push(at);
                }
                // The following values up to `end` are smaller, and `at` is within their range.
                at = end;
            }
        }
    }
    found
}

impl SchemeMethod for Select {
    fn chosen_run_tokens(&self) -> Option<usize> {
        Some(self.k)
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, _: &Stop) -> Result<()> {
        if ngram::sign_short(hashes, self.k, signature) {
            return Ok(());
        }
        let values: Vec<u64> = GramValues::new(hashes, self.k).collect();
        let mut positions = self.positions(hashes, &values);
        if positions.is_empty() {
            positions.push(ngram::rightmost_least(&values));
        }
        let selected = positions.into_iter();
        signature.extend(selected.map(|at| ngram::fingerprint(values[at], at)));
        Ok(())
    }
}
