//! Measures of the runs of tokens, or of characters, that two texts share.

use std::collections::HashMap;

use super::family::Family;
use crate::error::Result;
use crate::hash::{BuildKeyHasher, mix64};
use crate::runtime::Stop;
use crate::spec::Parameter;

const K: Parameter = Parameter::number("k", 5, 1, 64, "the tokens of a run");

pub(super) const CONTAINMENT: Family = Family {
    name: "containment",
    parameters: &[K],
    summary: "runs of k tokens of the first text that the second has",
    source: "Finkel, Zaslavsky, Monostori and Schmidt 2002, section 2.5: asymmetric similarity",
    example: "containment(k=5)",
    purpose: "reuse of a text in a longer one",
    is_asymmetric: true,
    similarity: |texts| {
        let [a, b] = texts.tokens();
        containment(a, b, texts.get("k"), texts.stop)
    },
    ..Family::PLAIN
};

pub(super) const SYMMETRIC: Family = Family {
    name: "symmetric",
    parameters: &[K],
    summary: "twice the common runs of k tokens over the runs of both texts",
    source: "Finkel, Zaslavsky, Monostori and Schmidt 2002, section 2.5, which has no factor two",
    example: "symmetric(k=5)",
    purpose: "copies of like length",
    similarity: |texts| {
        let [a, b] = texts.tokens();
        symmetric(a, b, texts.get("k"), texts.stop)
    },
    ..Family::PLAIN
};

pub(super) const RESEMBLANCE: Family = Family {
    name: "resemblance",
    parameters: &[K],
    summary: "common runs of k tokens over all runs",
    source: "Broder 1997",
    example: "resemblance(k=5)",
    purpose: "near-duplicates",
    similarity: |texts| {
        let [a, b] = texts.tokens();
        resemblance(a, b, texts.get("k"), texts.stop)
    },
    ..Family::PLAIN
};

pub(super) const QGRAMS: Family = Family {
    name: "qgrams",
    parameters: &[Parameter::number("q", 4, 1, 64, "the characters of a gram")],
    summary: "q-grams of characters of the first text that the second has, counted as often as \
              both have them",
    source: "Sun, Qin and Wang 2013, section 3",
    example: "qgrams(q=4)",
    purpose: "texts with typing errors",
    is_asymmetric: true,
    similarity: |texts| qgrams(texts.a.text, texts.b.text, texts.get("q"), texts.stop),
    ..Family::PLAIN
};

/// Returns the distinct runs of `k` tokens, as hashes, ascending. A shorter text is a single run.
fn runs(tokens: &[u64], k: usize, stop: &Stop) -> Result<Vec<u64>> {
    let hash = |run: &[u64]| run.iter().fold(run.len() as u64, |hash, &token| mix64(hash ^ token));
    let mut runs: Vec<u64> = Vec::with_capacity(tokens.len());
    for (at, run) in windows(tokens, k).enumerate() {
        stop.check_at(at)?;
        runs.push(hash(run));
    }
    runs.sort_unstable();
    runs.dedup();
    Ok(runs)
}

/// Returns the runs of `k` elements. A shorter sequence is a single run.
fn windows<T>(sequence: &[T], k: usize) -> impl Iterator<Item = &[T]> {
    sequence.windows(k.min(sequence.len()).max(1))
}

/// Returns the numbers of common runs, of runs of `a` and of runs of `b`.
fn counts(a: &[u64], b: &[u64], k: usize, stop: &Stop) -> Result<[f64; 3]> {
    let (a, b) = (runs(a, k, stop)?, runs(b, k, stop)?);
    let mut common = 0;
    for (at, run) in a.iter().enumerate() {
        stop.check_at(at)?;
        common += usize::from(b.binary_search(run).is_ok());
    }
    Ok([common, a.len(), b.len()].map(|count| count as f64))
}

/// Returns a share, or 0 if the whole is 0.
fn share(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

/// Returns the share of the runs of `a` that `b` has.
pub fn containment(a: &[u64], b: &[u64], k: usize, stop: &Stop) -> Result<f64> {
    let [common, in_a, _] = counts(a, b, k, stop)?;
    Ok(share(common, in_a))
}

/// Returns the number of common runs over the mean number of runs.
pub fn symmetric(a: &[u64], b: &[u64], k: usize, stop: &Stop) -> Result<f64> {
    let [common, in_a, in_b] = counts(a, b, k, stop)?;
    Ok(share(2.0 * common, in_a + in_b))
}

/// Returns the number of common runs over the number of runs in either text.
pub fn resemblance(a: &[u64], b: &[u64], k: usize, stop: &Stop) -> Result<f64> {
    let [common, in_a, in_b] = counts(a, b, k, stop)?;
    Ok(share(common, in_a + in_b - common))
}

/// Returns the share of the q-grams of `a` that `b` has, with multiplicity: the one-sided Jaccard
/// similarity of multisets (Sun et al. 2013, section 3).
pub fn qgrams(a: &str, b: &str, q: usize, stop: &Stop) -> Result<f64> {
    let [a, b] = [a, b].map(|text| text.chars().collect::<Vec<char>>());
    let hash =
        |gram: &[char]| gram.iter().fold(0, |hash, &c| mix64(hash ^ u64::from(u32::from(c))));
    let mut left: HashMap<u64, u32, BuildKeyHasher> = HashMap::default();
    for (at, gram) in windows(&b, q).enumerate() {
        stop.check_at(at)?;
        *left.entry(hash(gram)).or_default() += 1;
    }
    let (mut common, mut all) = (0u32, 0u32);
    for (at, gram) in windows(&a, q).enumerate() {
        stop.check_at(at)?;
        all += 1;
        if let Some(count) = left.get_mut(&hash(gram)).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    Ok(share(f64::from(common), f64::from(all)))
}
