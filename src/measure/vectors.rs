//! How near are the vectors of two texts?

use std::collections::BTreeMap;

use crate::hash::hash_bytes;

/// The frequencies of tokens, in the order of their hashes: sums are then always the same.
fn frequencies(tokens: &[u64]) -> BTreeMap<u64, f64> {
    let mut counts = BTreeMap::new();
    for &token in tokens {
        *counts.entry(token).or_insert(0.0) += 1.0;
    }
    counts
}

/// The cosine of the vectors of words, a word that occurs n times weighing 1 + ln n. Without a
/// collection there is no telling which words are rare.
pub fn cosine(a: &[u64], b: &[u64]) -> f64 {
    let weigh = |tokens: &[u64]| -> BTreeMap<u64, f64> {
        frequencies(tokens).into_iter().map(|(token, n)| (token, 1.0 + n.ln())).collect()
    };
    let (a, b) = (weigh(a), weigh(b));
    let product: f64 = a.iter().filter_map(|(token, weight)| Some(weight * b.get(token)?)).sum();
    let length = |words: &BTreeMap<u64, f64>| words.values().map(|w| w * w).sum::<f64>().sqrt();
    let lengths = length(&a) * length(&b);
    if lengths == 0.0 { 0.0 } else { product / lengths }
}

/// The words whose shares make the vector of Finkel et al. (2002), section 4.2.
const COMMON_WORDS: [&str; 4] = ["the", "and", "but", "so"];

/// 1 less the Euclidean distance of the shares of common words, over its greatest value.
pub fn style(a: &[u64], b: &[u64]) -> f64 {
    let shares = |tokens: &[u64]| -> [f64; 4] {
        let counts = frequencies(tokens);
        COMMON_WORDS.map(|word| {
            let count = counts.get(&hash_bytes(word.as_bytes())).copied().unwrap_or(0.0);
            count / tokens.len().max(1) as f64
        })
    };
    let squares = shares(a).into_iter().zip(shares(b)).map(|(a, b)| (a - b) * (a - b));
    1.0 - squares.sum::<f64>().sqrt() / 2f64.sqrt()
}
