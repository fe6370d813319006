//! How many tokens must be changed to make one text the other?
//!
//! Each as 1 - distance / greatest possible distance.

use rapidfuzz::distance;

/// Tokens inserted, deleted and replaced.
pub fn levenshtein(a: &[u64], b: &[u64]) -> f64 {
    distance::levenshtein::normalized_similarity(a.iter().copied(), b.iter().copied())
}

/// The same, with neighbours that changed places for one change.
pub fn damerau(a: &[u64], b: &[u64]) -> f64 {
    distance::damerau_levenshtein::normalized_similarity(a.iter().copied(), b.iter().copied())
}

/// The longest common subsequence, as a share of the longer text.
pub fn lcs(a: &[u64], b: &[u64]) -> f64 {
    distance::lcs_seq::normalized_similarity(a.iter().copied(), b.iter().copied())
}

/// Equal tokens at equal places, as a share of the longer text.
pub fn hamming(a: &[u64], b: &[u64]) -> f64 {
    let equal = a.iter().zip(b).filter(|(a, b)| a == b).count();
    match a.len().max(b.len()) {
        0 => 1.0,
        len => equal as f64 / len as f64,
    }
}
