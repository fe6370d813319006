//! Which passages does a hit share with the query, as shown to the user?
//!
//! With both texts at hand they are aligned. Without, the shared fingerprints are chained: ranges
//! of tokens, as exact as the fingerprints are dense.

use std::ops::Range;

use serde::Serialize;

use super::align::{Aligned, Chain, Match, Side, align, chains, distinct};
use crate::scheme::Fingerprint;
use crate::text::Tokens;

/// A passage that the query and a stored document have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Passage {
    /// Where it stands in the query.
    pub query: (u32, u32),
    /// Where it stands in the document.
    pub hit: (u32, u32),
    /// What the two ranges, which are half-open, count.
    #[serde(skip_serializing_if = "Unit::is_bytes")]
    pub unit: Unit,
    /// The tokens of the query in it.
    pub tokens: u32,
    /// How alike the two places are, 0 to 1: the tokens that both have as a share of their mean
    /// number; without text, an estimate from the fingerprints.
    pub similarity: f64,
}

/// What a range counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Bytes of the original text.
    Bytes,
    /// Tokens, because the index keeps no text or the query has none.
    Tokens,
}

impl Passage {
    /// The same passage of tokens, in bytes of both texts.
    pub fn in_bytes(self, query: &Tokens, document: &Tokens) -> Passage {
        let range = |tokens: &Tokens, (start, end): (u32, u32)| {
            let last = tokens.spans.len();
            bytes(tokens, &((start as usize).min(last)..(end as usize).min(last)))
        };
        Passage {
            query: range(query, self.query),
            hit: range(document, self.hit),
            unit: Unit::Bytes,
            ..self
        }
    }
}

impl Unit {
    fn is_bytes(&self) -> bool {
        *self == Unit::Bytes
    }
}

/// The passages of two texts, in the order of the first.
pub fn between(query: Side<'_>, document: Side<'_>) -> Vec<Passage> {
    let passage = |aligned: Aligned| Passage {
        query: bytes(query.tokens, &aligned.query),
        hit: bytes(document.tokens, &aligned.hit),
        unit: Unit::Bytes,
        tokens: aligned.query.len() as u32,
        similarity: aligned.similarity,
    };
    align(query, document).into_iter().map(passage).collect()
}

/// The bytes from the first of a range of tokens to the last.
fn bytes(tokens: &Tokens, range: &Range<usize>) -> (u32, u32) {
    let spans = &tokens.spans[range.clone()];
    spans.first().zip(spans.last()).map_or((0, 0), |(first, last)| (first.start, last.end))
}

/// Between two fingerprints of one passage lie at most so many tokens.
const GAP_TOKENS_MAX: usize = 40;

/// A fingerprint that the document has more often chains nothing.
const OCCURRENCES_MAX: usize = 16;

/// The passages that the shared fingerprints alone tell of, as ranges of tokens.
///
/// `signature` is the query's, `keys` its distinct keys, `occurrences` those of the document as
/// places among the keys and positions. A fingerprint stands for `span` tokens.
pub fn in_fingerprints(
    signature: &[Fingerprint],
    keys: &[u64],
    occurrences: &[(u32, u32)],
    span: usize,
) -> Vec<Passage> {
    let mut places: Vec<(u32, u32)> = occurrences.to_vec();
    places.sort_unstable();
    let mut matches = Vec::new();
    for fingerprint in signature {
        let Ok(key) = keys.binary_search(&fingerprint.key) else { continue };
        let first = places.partition_point(|place| (place.0 as usize) < key);
        let same = places[first..].partition_point(|place| place.0 as usize == key);
        // What stands everywhere tells nothing about where.
        if same <= OCCURRENCES_MAX || places.len() <= OCCURRENCES_MAX {
            matches.extend(places[first..first + same].iter().map(|&(_, position)| Match {
                query: fingerprint.position as usize,
                hit: position as usize,
                len: span,
            }));
        }
    }
    matches.sort_unstable();
    let mut found = distinct(chains(&matches, GAP_TOKENS_MAX));
    // One fingerprint alone is evidence only where there is no better.
    let longest = found.first().map_or(0, |chain| chain.matched);
    found.retain(|chain| chain.matched > span.min(longest - 1));
    found.sort_unstable_by_key(|chain| (chain.query.start, chain.hit.start));
    let passage = |chain: Chain| {
        let at = |position: u32| signature.partition_point(|f| f.position < position);
        let ends = |range: &Range<usize>| (range.start as u32, range.end as u32);
        let (start, end) = ends(&chain.query);
        let from = matches.partition_point(|found| found.query < chain.query.start);
        let within = matches[from..].iter().take_while(|found| found.query < chain.query.end);
        let mut shared: Vec<usize> = within
            .filter(|found| chain.hit.contains(&found.hit))
            .map(|found| found.query)
            .collect();
        shared.dedup();
        Passage {
            query: (start, end),
            hit: ends(&chain.hit),
            unit: Unit::Tokens,
            tokens: end - start,
            similarity: (shared.len() as f64 / (at(end) - at(start)).max(1) as f64).min(1.0),
        }
    };
    found.into_iter().map(passage).collect()
}
