//! The best pairs by a rank.
//!
//! Ranks are those of hits, if they are symmetric: a hit is ranked by weight over its own size, a
//! pair by weighted resemblance. Where passages decide, they are found in every pair that meets the
//! thresholds; where they are only shown, in the best ones.

use std::cmp::Ordering;

use super::best::Best;
use super::pairs::{JoinSummary, Pair, PairOptions, check_texts, pairs};
use crate::compare::Passages;
use crate::error::Result;
use crate::ordered::in_order;
use crate::search::{Searcher, Texts};
use crate::stop::Stop;

/// The ranking of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PairRank {
    /// By the number of fingerprints in common.
    #[default]
    Overlap,
    /// By weighted resemblance, where rare fingerprints count for more.
    Weight,
    /// By the tokens in passages in common.
    Passages,
    /// By the margin ([`margin`](super::margin)).
    Margin,
}

/// The best pairs of a collection.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BestPairs {
    /// The pairs, best first.
    pub pairs: Vec<Pair>,
    /// The number of all pairs that meet the thresholds.
    pub total: u64,
    /// Facts about the collection.
    pub summary: JoinSummary,
}

/// Finds the best `limit` pairs, best first, by `rank`; of equals those with the greater overlap,
/// then resemblance, then those stored first.
///
/// Pairs are those that [`pairs`] finds; they have their weighted measures, tokens in passages or
/// margins if they are ranked by them. `progress` is called with the number of documents that have
/// been searched for.
///
/// # Errors
/// As [`pairs`].
pub fn best_pairs(
    searcher: &Searcher,
    against: Option<&Searcher>,
    options: &PairOptions,
    (rank, limit): (PairRank, usize),
    stop: &Stop,
    progress: &mut dyn FnMut(u64),
) -> Result<BestPairs> {
    let (own, other) = (searcher.snapshot(), against.unwrap_or(searcher).snapshot());
    let shows_passages = options.needs_passages();
    if shows_passages {
        check_texts(own, other)?;
    }
    let options = PairOptions {
        weighted: options.weighted || rank == PairRank::Weight,
        passages: rank == PairRank::Passages,
        // The requested margin makes too few documents an error.
        min_margin: match rank {
            PairRank::Margin => options.min_margin.or(Some(f64::NEG_INFINITY)),
            _ => options.min_margin,
        },
        ..options.clone()
    };
    let mut best = Best::new(limit, |one: &Pair, other: &Pair| order(rank, one, other));
    let mut total = 0;
    let summary = pairs(searcher, against, &options, 0, stop, &mut |next, mut found| {
        if rank == PairRank::Passages {
            for pair in &mut found {
                pair.passage_tokens = pair.passages.as_ref().map(Passages::tokens);
                pair.passages = pair.passages.take().filter(|_| shows_passages);
            }
        }
        total += found.len() as u64;
        best.extend(found);
        progress(next);
        Ok(())
    })?;
    let mut best = best.finish();
    if shows_passages && !options.needs_passages() {
        let wanted = stop;
        let addresses: Vec<_> = best.iter().map(|pair| (pair.a, pair.b)).collect();
        let find = |number: u64| {
            let (a, b) = addresses[number as usize];
            Texts::new(searcher, against.unwrap_or(searcher)).passages(a, b, wanted)
        };
        in_order(options.threads, 0..addresses.len() as u64, stop, &find, &mut |number, found| {
            best[number as usize].passages = Some(found);
            Ok(())
        })?;
    }
    Ok(BestPairs { pairs: best, total, summary })
}

/// Compares pairs: the better first.
fn order(rank: PairRank, one: &Pair, other: &Pair) -> Ordering {
    let by_rank = match rank {
        PairRank::Overlap => Ordering::Equal,
        PairRank::Weight => {
            let weight = |pair: &Pair| pair.weighted.map_or(0.0, |by| by.resemblance);
            weight(other).total_cmp(&weight(one))
        }
        PairRank::Passages => other.passage_tokens.cmp(&one.passage_tokens),
        PairRank::Margin => {
            let margin = |pair: &Pair| pair.margin.unwrap_or(f64::NEG_INFINITY);
            margin(other).total_cmp(&margin(one))
        }
    };
    let resemblance = |pair: &Pair| pair.similarity.resemblance;
    by_rank
        .then_with(|| other.overlap.shared.cmp(&one.overlap.shared))
        .then_with(|| resemblance(other).total_cmp(&resemblance(one)))
}
