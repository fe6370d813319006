//! The best pairs by a rank.
//!
//! Ranks are those of hits, if they are symmetric: a hit is ranked by weight over its own size, a
//! pair by weighted resemblance. Where passages decide, they are found in every pair that meets the
//! thresholds; where they are only shown, in the best ones.

use std::cmp::Ordering;

use super::PairRank;
use super::best::Best;
use super::by_document::{DocumentPairs, Join, JoinSummary};
use super::pair::Pair;
use super::pair_search::{Wanted, check_texts};
use crate::compare::Passages;
use crate::error::Result;
use crate::runtime::ordered::in_order;
use crate::search::Texts;

/// The best pairs of a collection.
pub(super) struct BestPairs {
    /// The pairs, best first.
    pub pairs: Vec<Pair>,
    /// The number of all pairs that meet the thresholds.
    pub total: u64,
    /// Facts about the collection.
    pub summary: JoinSummary,
}

/// Finds the best pairs, best first, by `rank`; of equals those with the greater overlap, then
/// resemblance, then those stored first. Pairs with a program that is too short to tell come last.
///
/// They have their weighted measures, tokens in passages, margins or scores if they are ranked by
/// them.
/// `progress` is called with the number of documents that have been searched for.
///
/// # Errors
/// As [`pairs`](super::pairs::pairs).
pub(super) fn best_pairs(
    join: &Join,
    rank: PairRank,
    progress: &mut dyn FnMut(u64),
) -> Result<BestPairs> {
    let wanted = Wanted::of(&join.options)?;
    best_of(join, rank, wanted, progress, &mut |_| true)
}

/// Finds the best of the pairs that are `wanted` and `met`.
///
/// # Errors
/// As [`best_pairs`].
pub(super) fn best_of(
    join: &Join,
    rank: PairRank,
    mut wanted: Wanted,
    progress: &mut dyn FnMut(u64),
    is_met: &mut dyn FnMut(&mut Pair) -> bool,
) -> Result<BestPairs> {
    let shows_passages = join.options.passages || join.options.min_passage.is_some();
    if shows_passages {
        check_texts(join.searcher.snapshot(), join.other().snapshot())?;
    }
    // Where passages are only shown, those of the best pairs suffice.
    wanted.passages = rank == PairRank::Passages || join.options.min_passage.is_some();
    wanted.weighted |= rank == PairRank::Weight;
    if rank == PairRank::Margin {
        // A margin that is requested makes too few documents an error.
        wanted.min_margin = wanted.min_margin.or(Some(-1.0));
    }
    wanted.scores |= rank == PairRank::Score;
    let has_passages = wanted.passages;
    let limit = join.options.limit.unwrap_or(usize::MAX);
    let mut best = Best::new(limit, |one: &Pair, other: &Pair| order(rank, one, other));
    let mut total = 0;
    let mut documents = join.start(wanted);
    for document in documents.by_ref() {
        let DocumentPairs { next, pairs: mut found } = document?;
        found.retain_mut(&mut *is_met);
        if rank == PairRank::Passages {
            for pair in &mut found {
                pair.passage_tokens = pair.passages.as_ref().map(Passages::tokens);
                pair.passages = pair.passages.take().filter(|_| shows_passages);
            }
        }
        total += found.len() as u64;
        best.extend(found);
        progress(next);
    }
    let mut pairs = best.finish();
    if shows_passages && !has_passages {
        let addresses: Vec<_> = pairs.iter().map(|pair| (pair.a, pair.b)).collect();
        let find = |number: u64| {
            let (a, b) = addresses[number as usize];
            Texts::new(&join.searcher, join.other()).passages(a, b, &join.stop)
        };
        let numbers = 0..addresses.len() as u64;
        in_order(join.threads, numbers, &join.stop, &find, &mut |number, found| {
            pairs[number as usize].passages = Some(found);
            Ok(())
        })?;
    }
    Ok(BestPairs { pairs, total, summary: documents.summary() })
}

/// Compares pairs: the better first. Programs that are too short to tell come after all others.
fn order(rank: PairRank, one: &Pair, other: &Pair) -> Ordering {
    let apart = one.too_short.cmp(&other.too_short);
    let by = |of: &dyn Fn(&Pair) -> f64| of(other).total_cmp(&of(one));
    let by_rank = match rank {
        PairRank::Overlap => Ordering::Equal,
        // Equally similar pairs are in the order of their documents, however long these are.
        PairRank::Similarity => return apart.then(by(&|pair| pair.similarity.symmetric())),
        PairRank::Weight => by(&|pair| pair.weighted.map_or(0.0, |by| by.resemblance)),
        PairRank::Passages => other.passage_tokens.cmp(&one.passage_tokens),
        PairRank::Margin => by(&|pair| pair.margin.unwrap_or(f64::NEG_INFINITY)),
        PairRank::Score => by(&|pair| pair.score.unwrap_or(f64::NEG_INFINITY)),
    };
    apart
        .then(by_rank)
        .then_with(|| other.overlap.shared.cmp(&one.overlap.shared))
        .then_with(|| by(&|pair| pair.similarity.resemblance))
}
