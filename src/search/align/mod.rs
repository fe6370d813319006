//! Which passages do two texts have in common, and where exactly do they stand?
//!
//! Two texts, as tokens, in; passages out, as ranges of tokens of both. Copied text, with small
//! edits or none, is found by [`copied`]: runs of equal tokens, chained where the gaps between
//! them are bounded (Sun et al. 2013, section 5, with finer seeds than an index holds). Text that
//! was rewritten, so that hardly a run is left, is found by [`rewritten`]: sentences that share
//! rare words, clustered. What both find is reported once.
//!
//! It knows neither indexes nor fingerprints; [`chain`] alone also serves where there is no text.

mod chain;
mod copied;
mod rewritten;

use std::collections::HashMap;
use std::ops::Range;

use crate::hash::BuildKeyHasher;
use crate::text::Tokens;

pub use chain::{Chain, Match, chains};

/// A text that is compared, with its tokens.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The text.
    pub text: &'a str,
    /// Its tokens.
    pub tokens: &'a Tokens,
}

/// Two ranges of tokens that are one passage.
#[derive(Debug, Clone, PartialEq)]
pub struct Aligned {
    /// The tokens of the query.
    pub query: Range<usize>,
    /// The tokens of the document.
    pub hit: Range<usize>,
    /// The tokens that both ranges have, however ordered, as a share of their mean length: 1 if
    /// nothing was changed.
    pub similarity: f64,
}

/// Shorter passages are chance: the default scheme guarantees to find 14 tokens in a row.
pub const PASSAGE_TOKENS_MIN: usize = 12;

/// The passages that two texts have in common, in the order of the query.
///
/// A place of the query belongs to one passage at most, the longest; a place of the document may
/// be copied several times.
pub fn align(query: Side<'_>, document: Side<'_>) -> Vec<Aligned> {
    let [q, d] = [&query.tokens.hashes[..], &document.tokens.hashes[..]];
    let copied = copied::passages(q, d);
    let rewritten = rewritten::passages(query, document, &copied);
    // Copied phrases within a rewritten passage are part of it.
    let mut ranges: Vec<(Range<usize>, Range<usize>)> = copied
        .into_iter()
        .map(|chain| (chain.query, chain.hit))
        .filter(|(a, b)| {
            !rewritten.iter().any(|(c, d)| shared(a, c) * 2 > a.len() && shared(b, d) * 2 > b.len())
        })
        .collect();
    ranges.extend(rewritten.iter().cloned());
    ranges.sort_unstable_by_key(|(query, hit)| (query.start, hit.start, query.end));
    ranges
        .into_iter()
        .map(|(query, hit)| Aligned {
            similarity: similarity(&q[query.clone()], &d[hit.clone()]),
            query,
            hit,
        })
        .collect()
}

/// How many places two ranges share.
fn shared(a: &Range<usize>, b: &Range<usize>) -> usize {
    a.end.min(b.end).saturating_sub(a.start.max(b.start))
}

/// The tokens that both have, counted as often as both have them, over their mean number.
fn similarity(a: &[u64], b: &[u64]) -> f64 {
    let mut counts: HashMap<u64, u32, BuildKeyHasher> = HashMap::default();
    for &token in a {
        *counts.entry(token).or_default() += 1;
    }
    let mut common = 0u32;
    for token in b {
        if let Some(count) = counts.get_mut(token).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    f64::from(2 * common) / (a.len() + b.len()) as f64
}
