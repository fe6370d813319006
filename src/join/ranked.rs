//! Which pairs are the best?
//!
//! Ranks are those of hits, as far as they are symmetric: a hit is ranked by weight over its own size,
//! a pair by weighted resemblance. Passages are found in every pair that meets the thresholds.

use std::cmp::Ordering;
use std::sync::atomic::AtomicBool;

use super::best::Best;
use super::pairs::{Pair, PairOptions, pairs};
use crate::compare::Passages;
use crate::error::Result;
use crate::search::{Rank, Searcher};

/// The best `limit` pairs, best first: by the overlap, the weighted resemblance or the tokens in
/// passages; of equals those with the greater overlap, then resemblance, then those stored first.
///
/// Pairs are those that [`pairs`] finds; they have their weighted measures or tokens in passages if
/// they are ranked by them. `progress` is called with the number of documents that have been searched for.
///
/// # Errors
/// As [`pairs`].
pub fn best_pairs(
    searcher: &Searcher,
    against: Option<&Searcher>,
    options: &PairOptions,
    (rank, limit): (Rank, usize),
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<Pair>> {
    let shows_passages = options.needs_passages();
    let options = PairOptions {
        weighted: options.weighted || rank == Rank::Weight,
        passages: options.passages || rank == Rank::Passages,
        ..options.clone()
    };
    let mut best = Best::new(limit, |one: &Pair, other: &Pair| order(rank, one, other));
    pairs(searcher, against, &options, 0, stop, &mut |next, mut found| {
        if rank == Rank::Passages {
            for pair in &mut found {
                pair.passage_tokens = pair.passages.as_ref().map(Passages::tokens);
                pair.passages = pair.passages.take().filter(|_| shows_passages);
            }
        }
        best.extend(found);
        progress(next);
        Ok(())
    })?;
    Ok(best.finish())
}

/// The better pair first.
fn order(rank: Rank, one: &Pair, other: &Pair) -> Ordering {
    let by_rank = match rank {
        Rank::Overlap => Ordering::Equal,
        Rank::Weight => {
            let weight = |pair: &Pair| pair.weighted.map_or(0.0, |by| by.resemblance);
            weight(other).total_cmp(&weight(one))
        }
        Rank::Passages => other.passage_tokens.cmp(&one.passage_tokens),
    };
    let resemblance = |pair: &Pair| pair.similarity.resemblance;
    by_rank
        .then_with(|| other.overlap.shared.cmp(&one.overlap.shared))
        .then_with(|| resemblance(other).total_cmp(&resemblance(one)))
}
