//! Weighs the overlap of two documents.
//!
//! Fingerprints weigh as much as in a query: by the live documents of the searched index. So the
//! numbers of a pair equal the numbers of a hit. The weight of a document is computed once and
//! kept.

use std::sync::atomic::{AtomicU64, Ordering};

use super::numbering::Numbering;
use cento::index::DocAddress;
use cento::search::{Neighbor, NeighborLimits, Searcher, Weigh, WeightedOverlap};
use cento_api::error::Result;
use cento_text::runtime::Stop;

/// Finds the documents that share enough of the keys and, with weights, of their weight. See
/// [`DocumentWeights::neighbors`] and [`Searcher::neighbors`].
pub(super) fn candidates(
    searched: &Searcher,
    weights: Option<&DocumentWeights<'_>>,
    keys: &[u64],
    limits: NeighborLimits,
    stop: &Stop,
) -> Result<Vec<(Neighbor, Option<WeightedOverlap>)>> {
    let Some(weights) = weights else {
        let found = searched.neighbors(keys, limits, stop)?;
        return Ok(found.into_iter().map(|found| (found, None)).collect());
    };
    let found = weights.neighbors(keys, limits, stop)?;
    Ok(found.into_iter().map(|(found, weights)| (found, Some(weights))).collect())
}

pub(super) struct DocumentWeights<'a> {
    searcher: &'a Searcher,
    weigh: Weigh,
    numbering: Numbering,
    /// Weights by document number. 0 means not computed yet, because a document that shares a
    /// fingerprint never weighs 0.
    known: Vec<AtomicU64>,
}

impl<'a> DocumentWeights<'a> {
    pub(super) fn new(searcher: &'a Searcher) -> DocumentWeights<'a> {
        DocumentWeights::by(searcher, Weigh::new(searcher.snapshot()))
    }

    pub(super) fn by(searcher: &'a Searcher, weigh: Weigh) -> DocumentWeights<'a> {
        let numbering = Numbering::new(searcher.snapshot());
        let known = (0..numbering.end()).map(|_| AtomicU64::new(0)).collect();
        DocumentWeights { searcher, weigh, numbering, known }
    }

    /// Returns the documents that share enough of the keys and of their weight, with the weight of
    /// the shared keys. Otherwise like [`Searcher::neighbors`]. The weight of the found document is
    /// 0 until [`complete`](Self::complete) fills it in.
    pub(super) fn neighbors(
        &self,
        keys: &[u64],
        limits: NeighborLimits,
        stop: &Stop,
    ) -> Result<Vec<(Neighbor, WeightedOverlap)>> {
        let (in_query, found) = self.searcher.weighed_neighbors(keys, self.weigh, limits, stop)?;
        if let Some(own) = limits.except {
            self.known_of(own).store(in_query, Ordering::Relaxed);
        }
        let weighted = |shared| WeightedOverlap { shared, in_query, in_document: 0 };
        Ok(found.into_iter().map(|(neighbor, shared)| (neighbor, weighted(shared))).collect())
    }

    /// Fills in the weight of the document at `address`.
    pub(super) fn complete(
        &self,
        weighted: WeightedOverlap,
        address: DocAddress,
        stop: &Stop,
    ) -> Result<WeightedOverlap> {
        let known = self.known_of(address);
        let mut in_document = known.load(Ordering::Relaxed);
        if in_document == 0 {
            in_document = self.searcher.weight_of(address, self.weigh, None, stop)?;
            // Another thread may have computed the same weight, so storing it twice is harmless.
            known.store(in_document, Ordering::Relaxed);
        }
        Ok(WeightedOverlap { in_document, ..weighted })
    }

    /// Returns the weight of each of the ascending keys.
    pub(super) fn of_keys(&self, keys: &[u64], stop: &Stop) -> Result<Vec<u64>> {
        self.searcher.weights_of(keys, self.weigh, stop)
    }

    fn known_of(&self, address: DocAddress) -> &AtomicU64 {
        &self.known[self.numbering.number(address) as usize]
    }
}
