//! Which documents of a handful are most alike?
//!
//! The pairwise test of Finkel et al. (2002), section 2.6: symmetric similarity of all pairs, the most
//! similar ones first.

use std::cmp::Reverse;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::Thresholds;
use super::pairs::{Pair, PairOptions, PairReport, pairs};
use crate::error::Result;
use crate::search::Searcher;

/// A pair, and how similar its documents are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct SymmetricPair {
    /// The pair.
    #[serde(flatten)]
    pub pair: PairReport,
    /// Symmetric similarity, 0 to 1: twice what both have over what each has.
    pub symmetric: f64,
}

/// The `limit` most similar pairs of documents, the most similar first; of equals those that are
/// stored first.
///
/// # Errors
/// When a file is damaged; [`Error::Cancelled`](crate::Error::Cancelled) after `stop`.
pub fn most_similar(
    searcher: &Searcher,
    limit: usize,
    stop: &AtomicBool,
) -> Result<Vec<SymmetricPair>> {
    let options = PairOptions { thresholds: Thresholds::default(), ..PairOptions::default() };
    let mut best: Vec<Pair> = Vec::new();
    pairs(searcher, None, &options, 0, stop, &mut |_, found| {
        best.extend(found);
        if best.len() >= limit.saturating_mul(2).saturating_add(4096) {
            keep_best(&mut best, limit);
        }
        Ok(())
    })?;
    keep_best(&mut best, limit);
    let snapshot = searcher.snapshot();
    let report = |pair: Pair| {
        let symmetric = pair.overlap.symmetric();
        Ok(SymmetricPair { pair: pair.report(snapshot, snapshot)?, symmetric })
    };
    best.into_iter().map(report).collect()
}

/// Leaves the most similar pairs, the first ones of equals.
fn keep_best(pairs: &mut Vec<Pair>, limit: usize) {
    // Similarities are shares, so their bits are in their order.
    pairs.sort_by_key(|pair| (Reverse(pair.overlap.symmetric().to_bits()), pair.a, pair.b));
    pairs.truncate(limit);
}
