//! Measures of two texts as vectors.

use std::collections::BTreeMap;

use super::family::Family;
use crate::error::Result;
use crate::hash::hash_bytes;
use crate::number::ln;
use crate::runtime::Stop;
use crate::scheme::Grams;
use crate::scheme::frequency::FrequencyTable;

pub(super) const COSINE: Family = Family {
    name: "cosine",
    summary: "words, weighted by the logarithm of their frequency, or with a frequency table by \
              TF-IDF",
    source: "Sharapova and Sharapova 2018, section 2.3 h",
    example: "cosine",
    purpose: "the same topic",
    knows_collections: true,
    similarity: |texts| {
        let [a, b] = texts.tokens();
        cosine(a, b, texts.collection, texts.stop)
    },
    ..Family::PLAIN
};

pub(super) const STYLE: Family = Family {
    name: "style",
    summary: "the shares of the words the, and, but, so; 0 if neither text has any",
    source: "Finkel, Zaslavsky, Monostori and Schmidt 2002, section 4.2",
    example: "style",
    purpose: "whole documents, roughly",
    similarity: |texts| {
        let [a, b] = texts.tokens();
        Ok(style(a, b))
    },
    ..Family::PLAIN
};

/// Returns the frequencies of tokens. The order of hashes makes all sums reproducible.
fn frequencies(tokens: &[u64], stop: &Stop) -> Result<BTreeMap<u64, f64>> {
    let mut counts = BTreeMap::new();
    for (at, &token) in tokens.iter().enumerate() {
        stop.check_at(at)?;
        *counts.entry(token).or_insert(0.0) += 1.0;
    }
    Ok(counts)
}

/// Returns the cosine of the vectors of words. A word that occurs n times weighs 1 + ln n. With a
/// table of a collection of N words, the weight is multiplied by ln(1 + N / f), where f is the
/// count of the word in the table, or 1 if the word is missing.
pub(super) fn cosine(
    a: &[u64],
    b: &[u64],
    collection: Option<&FrequencyTable>,
    stop: &Stop,
) -> Result<f64> {
    let grams = collection.map(|table| Grams::new(1, &table.header().analyzer));
    let rarity = |token: u64| match (collection, &grams) {
        (Some(table), Some(grams)) => {
            let count = table.count(grams.key(&[token])).max(1);
            ln(1.0 + table.header().grams as f64 / count as f64)
        }
        _ => 1.0,
    };
    let weigh = |tokens: &[u64]| -> Result<BTreeMap<u64, f64>> {
        let mut counts = frequencies(tokens, stop)?;
        for (at, (&token, n)) in counts.iter_mut().enumerate() {
            stop.check_at(at)?;
            *n = (1.0 + ln(*n)) * rarity(token);
        }
        Ok(counts)
    };
    let (a, b) = (weigh(a)?, weigh(b)?);
    stop.check()?;
    let product: f64 = a.iter().filter_map(|(token, weight)| Some(weight * b.get(token)?)).sum();
    let length = |words: &BTreeMap<u64, f64>| words.values().map(|w| w * w).sum::<f64>().sqrt();
    let lengths = length(&a) * length(&b);
    Ok(if lengths == 0.0 { 0.0 } else { product / lengths })
}

/// The words whose shares make the vector of Finkel et al. (2002), section 4.2.
const COMMON_WORDS: [&str; 4] = ["the", "and", "but", "so"];

/// The vector of a text: the share of each of these words.
type Style = [f64; COMMON_WORDS.len()];

fn style_of(tokens: &[u64]) -> Style {
    let words = COMMON_WORDS.map(|word| hash_bytes(word.as_bytes()));
    let mut counts = [0u32; COMMON_WORDS.len()];
    for token in tokens {
        for (count, word) in counts.iter_mut().zip(words) {
            *count += u32::from(*token == word);
        }
    }
    counts.map(|count| f64::from(count) / tokens.len().max(1) as f64)
}

/// Returns 1 minus the quotient of the Euclidean distance of two styles and its maximum.
///
/// Texts without common words, such as texts that are not in English, would be equal. The result
/// for two such texts is 0, unless the texts are equal.
pub(super) fn style(a: &[u64], b: &[u64]) -> f64 {
    let [x, y] = [style_of(a), style_of(b)];
    if [x, y] == [[0.0; COMMON_WORDS.len()]; 2] {
        return f64::from(a == b);
    }
    let squared: f64 = x.iter().zip(&y).map(|(x, y)| (x - y) * (x - y)).sum();
    1.0 - squared.sqrt() / 2f64.sqrt()
}
