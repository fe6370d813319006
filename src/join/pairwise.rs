//! Which documents of a handful are most alike?
//!
//! The pairwise test of Finkel et al. (2002), section 2.6: symmetric similarity of all pairs, the most
//! similar ones first.

use std::cmp::Ordering;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::Thresholds;
use super::best::Best;
use super::margin::MARGIN_DOCUMENTS_MIN;
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

/// Which pairs are shown.
#[derive(Debug, Clone, Copy)]
pub struct PairwiseOptions {
    /// The maximum number of pairs.
    pub limit: usize,
    /// The least symmetric similarity of a pair, 0 to 1: 2 r / (1 + r) for a resemblance of r.
    pub similarity_min: f64,
    /// The least resemblance of the texts of a pair, 0 to 1.
    pub resemblance_min: f64,
    /// The least margin of a pair, -1 to 1, if margins decide.
    pub margin_min: Option<f64>,
    /// Whether those with the greatest margins come first.
    pub by_margin: bool,
    /// The minimum number of tokens in a passage of a pair, which is then shown. If it is given, that takes
    /// the texts, and the time of finding the passages of every pair that shares a fingerprint.
    pub min_passage: Option<u32>,
    /// Threads that search.
    pub threads: usize,
}

impl Default for PairwiseOptions {
    fn default() -> PairwiseOptions {
        PairwiseOptions {
            limit: 20,
            similarity_min: 0.0,
            resemblance_min: 0.0,
            margin_min: None,
            by_margin: false,
            min_passage: None,
            threads: crate::available_threads(),
        }
    }
}

/// The most similar pairs of documents, the most similar first; of equals those that are stored first.
///
/// They have a margin ([`margin`](super::margin)) if there are documents enough for it.
///
/// # Errors
/// When margins decide and there are too few documents for them, and when a file is damaged; [`Error::Cancelled`](crate::Error::Cancelled) after `stop`.
pub fn most_similar(
    searcher: &Searcher,
    options: &PairwiseOptions,
    stop: &AtomicBool,
) -> Result<Vec<SymmetricPair>> {
    let PairwiseOptions { limit, similarity_min, margin_min, by_margin, .. } = *options;
    let PairwiseOptions { resemblance_min, min_passage, threads, .. } = *options;
    let documents = searcher.snapshot().documents();
    // Asked for, so that there is an error if there are too few documents.
    let margin_min = margin_min.or(by_margin.then_some(f64::NEG_INFINITY));
    let options = PairOptions {
        // A pair has this symmetric similarity if it has that resemblance.
        thresholds: Thresholds {
            resemblance: (similarity_min / (2.0 - similarity_min)).max(resemblance_min),
            ..Thresholds::default()
        },
        relative: documents >= MARGIN_DOCUMENTS_MIN,
        margin_min,
        min_passage,
        threads,
        ..PairOptions::default()
    };
    let mut best = Best::new(limit, |one: &Pair, other: &Pair| order(by_margin, one, other));
    pairs(searcher, None, &options, 0, stop, &mut |_, found| {
        best.extend(found);
        Ok(())
    })?;
    let snapshot = searcher.snapshot();
    let report = |pair: Pair| {
        let symmetric = pair.similarity.symmetric();
        Ok(SymmetricPair { pair: pair.report(snapshot, snapshot)?, symmetric })
    };
    best.finish().into_iter().map(report).collect()
}

/// The more similar pair first, or that with the greater margin.
fn order(by_margin: bool, one: &Pair, other: &Pair) -> Ordering {
    let rank = |pair: &Pair| {
        let (similarity, margin) = (pair.similarity.symmetric(), pair.margin.unwrap_or_default());
        if by_margin { [margin, similarity] } else { [similarity, 0.0] }
    };
    let (ranks, others) = (rank(one), rank(other));
    others[0].total_cmp(&ranks[0]).then(others[1].total_cmp(&ranks[1]))
}
