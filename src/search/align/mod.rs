//! Which passages do two texts have in common, and where exactly do they stand?
//!
//! Two texts, as tokens, in; passages out, as ranges of tokens of both. Copied text, with small
//! edits or none, is found by `copied`: runs of equal tokens, chained where the gaps between
//! them are bounded (Sun et al. 2013, section 5, with finer seeds than an index holds). Text that
//! was rewritten, so that hardly a run is left, is found by `rewritten`: sentences that share
//! rare words, clustered. What both find is reported once.
//!
//! It knows neither indexes nor fingerprints; `chain` alone also serves where there is no text.

mod chain;
mod copied;
mod rewritten;

use std::collections::HashMap;
use std::ops::Range;

use crate::hash::BuildKeyHasher;
pub use crate::text::Side;

use chain::Taken;
pub use chain::{Chain, Match, chains, distinct};

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

/// Two places less alike are of like content at most.
const SIMILARITY_MIN: f64 = 0.3;

/// The passages that two texts have in common, in the order of the query.
///
/// Of two passages that share more than half of their places in the query, the better one is
/// given; a place of the document may be copied several times.
pub fn align(query: Side<'_>, document: Side<'_>) -> Vec<Aligned> {
    let [q, d] = [&query.tokens.hashes[..], &document.tokens.hashes[..]];
    let aligned = |query: Range<usize>, hit: Range<usize>| Aligned {
        similarity: similarity(&q[query.clone()], &d[hit.clone()]),
        query,
        hit,
    };
    let copied = copied::passages(q, d);
    let mut rewritten: Vec<Aligned> = rewritten::passages(query, document, &copied)
        .into_iter()
        .map(|(query, hit)| aligned(query, hit))
        .collect();
    rewritten.retain(|passage| passage.similarity >= SIMILARITY_MIN);
    let copied = copied.into_iter().map(|chain| aligned(chain.query, chain.hit));
    // Copied phrases within a rewritten passage are part of it; a rewritten passage of which most
    // was copied says nothing new.
    let mut around = Taken::default();
    rewritten.iter().for_each(|passage| around.insert(passage.query.clone()));
    let (inside, mut passages): (Vec<Aligned>, Vec<Aligned>) = copied.partition(|copied| {
        // Few are near a rewritten one at all, and only those are compared with each.
        around.covered(&copied.query) * 2 > copied.query.len()
            && rewritten.iter().any(|passage| passage.holds(copied))
    });
    let mut taken = Taken::default();
    passages.iter().for_each(|passage| _ = taken.take(&passage.query));
    for mut later in [rewritten, inside] {
        later.retain(|passage| taken.take(&passage.query));
        passages.append(&mut later);
    }
    passages.sort_unstable_by_key(|passage| (passage.query.start, passage.hit.start));
    passages
}

impl Aligned {
    /// Whether most of `other` is in this passage, on both sides.
    fn holds(&self, other: &Aligned) -> bool {
        shared(&self.query, &other.query) * 2 > other.query.len()
            && shared(&self.hit, &other.hit) * 2 > other.hit.len()
    }
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
