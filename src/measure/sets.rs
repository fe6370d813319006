//! How many runs of tokens, or of characters, do two texts share?

use std::collections::HashMap;

use crate::hash::{BuildKeyHasher, mix64};

/// The distinct runs of `k` tokens, as hashes, ascending; of a shorter text the whole.
fn runs(tokens: &[u64], k: usize) -> Vec<u64> {
    let hash = |run: &[u64]| run.iter().fold(run.len() as u64, |hash, &token| mix64(hash ^ token));
    let mut runs: Vec<u64> = match tokens.len() {
        0 => Vec::new(),
        len => tokens.windows(k.min(len)).map(hash).collect(),
    };
    runs.sort_unstable();
    runs.dedup();
    runs
}

/// The numbers of common runs, of runs of `a` and of runs of `b`.
fn counts(a: &[u64], b: &[u64], k: usize) -> [f64; 3] {
    let (a, b) = (runs(a, k), runs(b, k));
    let common = a.iter().filter(|run| b.binary_search(run).is_ok()).count();
    [common, a.len(), b.len()].map(|count| count as f64)
}

/// 0 where there is nothing.
fn share(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

/// The share of the runs of `a` that `b` has.
pub fn containment(a: &[u64], b: &[u64], k: usize) -> f64 {
    let [common, in_a, _] = counts(a, b, k);
    share(common, in_a)
}

/// Common runs over the mean number of runs.
pub fn symmetric(a: &[u64], b: &[u64], k: usize) -> f64 {
    let [common, in_a, in_b] = counts(a, b, k);
    share(2.0 * common, in_a + in_b)
}

/// Common runs over those of both together.
pub fn resemblance(a: &[u64], b: &[u64], k: usize) -> f64 {
    let [common, in_a, in_b] = counts(a, b, k);
    share(common, in_a + in_b - common)
}

/// The share of the q-grams of `a` that `b` has, each counted as often as both have it: the
/// one-sided Jaccard similarity of multisets (Sun et al. 2013, section 3).
pub fn qgrams(a: &str, b: &str, q: usize) -> f64 {
    let grams = |text: &str| -> Vec<u64> {
        let chars: Vec<char> = text.chars().collect();
        let hash =
            |gram: &[char]| gram.iter().fold(0, |hash, &c| mix64(hash ^ u64::from(u32::from(c))));
        match chars.len() {
            0 => Vec::new(),
            len => chars.windows(q.min(len)).map(hash).collect(),
        }
    };
    let mut left: HashMap<u64, u32, BuildKeyHasher> = HashMap::default();
    for gram in grams(b) {
        *left.entry(gram).or_default() += 1;
    }
    let a = grams(a);
    let mut common = 0u32;
    for gram in &a {
        if let Some(count) = left.get_mut(gram).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    share(f64::from(common), a.len() as f64)
}
