//! Finds the best pairs by a rank.
//!
//! The ranks are the ranks of hits where these are symmetric: a hit is ranked by weight relative to
//! its own size, a pair by weighted resemblance. If passages decide the rank, they are found in
//! every pair that meets the thresholds. If passages are only shown, they are found in the best
//! pairs. The same holds for scores.

use super::PairRank;
use super::best::{Best, Floor};
use super::by_document::{Join, JoinSummary};
use super::contenders::{CountedPair, RankedPairs};
use super::links::{LinkSearch, Links};
use super::pair::{Pair, check_texts};
use super::pair_search::PairConditions;
use super::score::PairScores;
use cento_api::error::Result;
use cento_text::runtime::ordered::in_order;

pub(super) struct BestPairs {
    /// The pairs, best first.
    pub pairs: Vec<Pair>,
    /// The number of pairs that meet the thresholds, including pairs beyond the limit.
    pub total: u64,
    /// Facts about the collection, such as the number of estimated pairs.
    pub summary: JoinSummary,
    /// The documents that the pairs connect, including pairs beyond the limit.
    pub links: Links,
}

/// Finds the best pairs by `rank`, best first. Equal pairs are ordered by overlap, then
/// resemblance, then place in the index. Pairs with a program that is too short for meaningful
/// numbers come last.
///
/// Pairs get the weighted measures, tokens in passages or scores that `rank` needs. `progress` is
/// called with the number of documents searched for so far.
///
/// # Errors
/// The errors of [`pairs`](super::pairs::pairs).
pub(super) fn best_pairs(
    join: &Join,
    rank: PairRank,
    progress: &mut dyn FnMut(u64),
) -> Result<BestPairs> {
    let wanted = PairConditions::of(&join.options)?;
    best_of(join, rank, wanted, progress, &mut |_| {})
}

/// Finds the best of the `wanted` pairs. `see` gets every pair, best or not.
///
/// # Errors
/// The errors of [`best_pairs`].
pub(super) fn best_of(
    join: &Join,
    rank: PairRank,
    mut wanted: PairConditions,
    progress: &mut dyn FnMut(u64),
    see: &mut dyn FnMut(CountedPair),
) -> Result<BestPairs> {
    let shows_passages = join.options.passages || join.options.min_passage.is_some();
    if shows_passages {
        check_texts(join.searcher.snapshot(), join.other().snapshot())?;
    }
    // If passages are only shown, finding them in the best pairs suffices.
    wanted.passages = rank == PairRank::Passages || join.options.min_passage.is_some();
    wanted.weighted |= rank == PairRank::Weight;
    wanted.scores |= rank == PairRank::Score;
    let has_passages = wanted.passages;
    let shows_scores = wanted.scores && rank != PairRank::Score;
    let limit = join.options.limit.unwrap_or(usize::MAX);
    let floor = Floor::default();
    let mut best = Best::new(limit, rank, floor.clone());
    wanted.ranked = Some(RankedPairs { rank, limit, floor });
    let (mut total, mut estimated_pairs) = (0, 0);
    let mut links = LinkSearch::new(join.connect);
    let mut documents = join.start(wanted);
    while let Some(found) = documents.next_found() {
        let (number, mut found) = found?;
        let met = found.pairs.iter().map(CountedPair::met);
        for seen in met.chain(found.others.iter().copied()) {
            total += u64::from(seen.is_met);
            estimated_pairs += u64::from(seen.is_estimated);
            links.note(&seen);
            see(seen);
        }
        if !shows_passages {
            found.pairs.iter_mut().for_each(|pair| pair.passages = None);
        }
        best.extend(found.pairs);
        progress(number + 1);
    }
    let mut pairs = best.finish();
    if shows_passages && !has_passages {
        let addresses: Vec<_> = pairs.iter().map(|pair| (pair.a, pair.b)).collect();
        let find = |number: u64| {
            let (a, b) = addresses[number as usize];
            join.texts()?.passages(a, b, &join.stop)
        };
        let numbers = 0..addresses.len() as u64;
        in_order(join.threads, numbers, &join.stop, &find, &mut |number, found| {
            pairs[number as usize].passages = Some(found);
            Ok(())
        })?;
    }
    if shows_scores && let Some(scores) = documents.scores() {
        add_scores(join, &scores, &mut pairs)?;
    }
    let summary = JoinSummary { estimated_pairs, ..documents.summary() };
    Ok(BestPairs { pairs, total, summary, links: links.finish(join)? })
}

fn add_scores(join: &Join, scores: &PairScores, pairs: &mut [Pair]) -> Result<()> {
    let of: Vec<_> = pairs.iter().map(|pair| (pair.a, pair.b)).collect();
    let find = |number: u64| {
        let (a, b) = of[number as usize];
        scores.of(a, b, &join.stop)
    };
    in_order(join.threads, 0..of.len() as u64, &join.stop, &find, &mut |number, score| {
        pairs[number as usize].score = Some(score);
        Ok(())
    })
}
