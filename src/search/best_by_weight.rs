//! Keeps the candidates that may be among the best by weight.
//!
//! A query ranked by weight shares a fingerprint with most documents of a collection, but shows
//! few. The score of a document is the weight of the shared fingerprints divided by the square root
//! of its size ([`weigh::score`]). Once enough candidates are known, the worst of the best sets a
//! minimum score. Documents that cannot reach it are dropped, and posting lists that cannot bring
//! up a new document are read only for the remaining documents (MaxScore, Turtle and Flood 1995).

use super::candidate::Candidate;
use super::weigh;

/// The candidates of a query that may be among the best by weight.
pub struct BestByWeight {
    /// The number of requested candidates, at least 1.
    limit: usize,
    /// Candidates that may be among the best, with their scores.
    found: Vec<(f64, Candidate)>,
    /// How many candidates may accumulate before the worst are dropped.
    room: usize,
    /// At least `limit` documents have this score.
    score_min: f64,
}

/// Rounding changes a score by much less than this fraction of its square.
const ROUNDING: f64 = 1e-9;

impl BestByWeight {
    /// Creates a list for the best `limit` candidates. Others are dropped beyond `room`.
    pub fn new(limit: usize, room: usize) -> BestByWeight {
        assert!(limit > 0, "one of the best is wanted at least");
        BestByWeight { limit, found: Vec::new(), room: room.max(limit), score_min: 0.0 }
    }

    /// Adds candidates. `sizes` are their numbers of distinct fingerprints.
    pub fn extend(&mut self, candidates: impl Iterator<Item = Candidate>, sizes: &[u32]) {
        for (candidate, &size) in candidates.zip(sizes) {
            if self.may_be(candidate.weight, size) {
                self.found.push((weigh::score(candidate.weight, size), candidate));
                if self.found.len() > self.room {
                    self.leave_out();
                }
            }
        }
    }

    /// Raises the minimum score with hits that have not been added, given lower bounds of their
    /// weights and their sizes.
    pub fn raise(&mut self, hits: impl Iterator<Item = (u64, u32)>) {
        let mut scores: Vec<f64> = hits.map(|(weight, size)| weigh::score(weight, size)).collect();
        if scores.len() >= self.limit {
            let by_score = |a: &f64, b: &f64| b.total_cmp(a);
            let (_, &mut last, _) = scores.select_nth_unstable_by(self.limit - 1, by_score);
            self.score_min = self.score_min.max(last);
        }
    }

    /// Returns whether a document of this size may be among the best if its shared fingerprints
    /// weigh at most `weight_max`.
    #[inline]
    pub fn may_be(&self, weight_max: u64, size: u32) -> bool {
        // Comparing squares avoids a root and a division for most documents.
        let weight = weight_max as f64;
        weight * weight >= self.square_min() * f64::from(size.max(1))
    }

    /// Returns whether a document may be among the best if its shared fingerprints weigh at most
    /// `each` individually and at most `all` in total.
    pub fn may_be_brought_up(&self, each: u64, all: u64) -> bool {
        // n fingerprints weigh at most n times `each`, and at most `all`, and the document has a
        // size of at least n, so the squared score is at most `each` times `all`.
        each as f64 * all as f64 >= self.square_min()
    }

    /// Returns a lower bound of the square of the minimum score.
    #[inline]
    fn square_min(&self) -> f64 {
        self.score_min * self.score_min * (1.0 - ROUNDING)
    }

    /// Drops the candidates that are not among the best. Equal scores are kept, because other
    /// criteria decide later.
    fn leave_out(&mut self) {
        if self.found.len() > self.limit {
            let last = self.limit - 1;
            let (_, last, _) = self.found.select_nth_unstable_by(last, |a, b| b.0.total_cmp(&a.0));
            self.score_min = self.score_min.max(last.0);
            self.found.retain(|found| found.0 >= self.score_min);
        }
        self.room = self.room.max(2 * self.found.len());
    }

    /// Returns the candidates that may be among the best, ordered by segment: at least the
    /// requested number, if there are that many.
    pub fn finish(mut self) -> Vec<Candidate> {
        self.leave_out();
        let mut found: Vec<Candidate> = self.found.into_iter().map(|found| found.1).collect();
        found.sort_unstable_by_key(|candidate| candidate.address);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::DocAddress;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_and_their_equals_are_kept(
            documents in prop::collection::vec((0u64..40, 0u32..6), 0..60),
            limit in 1usize..8, room in 0usize..20, at_once in 1usize..30, raises in any::<bool>(),
        ) {
            let candidates: Vec<Candidate> = (0..).zip(&documents).map(|(doc, &(weight, _))| {
                let address = DocAddress { segment: doc / 25, doc };
                // The weights differ only in their last digits.
                Candidate { address, overlap: 1, weight: (1 << 40) + weight }
            }).collect();
            let sizes: Vec<u32> = documents.iter().map(|&(_, size)| size).collect();
            let mut best = BestByWeight::new(limit, room);
            for (some, sizes) in candidates.chunks(at_once).zip(sizes.chunks(at_once)) {
                if raises {
                    // A part of the shared weight is not known yet.
                    let known = some.iter().map(|candidate| candidate.weight - 3);
                    best.raise(known.zip(sizes.iter().copied()));
                }
                best.extend(some.iter().copied(), sizes);
            }
            let scores: Vec<f64> = candidates.iter().zip(&sizes)
                .map(|(candidate, &size)| weigh::score(candidate.weight, size)).collect();
            let better = |score: f64| scores.iter().filter(|&&other| other > score).count();
            let expected: Vec<Candidate> = candidates.iter().zip(&scores)
                .filter(|(_, score)| better(**score) < limit)
                .map(|(candidate, _)| *candidate).collect();
            prop_assert_eq!(best.finish(), expected);
        }

        #[test]
        fn no_document_that_may_be_among_the_best_is_ruled_out_by_its_fingerprints(
            weights in prop::collection::vec(1u64..1 << 30, 1..20),
            others in 0u32..20, has in any::<u32>(),
        ) {
            let mut weights = weights;
            weights.sort_unstable_by(|a, b| b.cmp(a));
            let shared = (0..).zip(&weights).filter(|&(at, _)| has >> at & 1 == 1);
            let shared: Vec<u64> = shared.map(|(_, &weight)| weight).collect();
            let (weight, size) = (shared.iter().sum(), shared.len() as u32 + others);
            let mut best = BestByWeight::new(1, 0);
            // Another document has the same score.
            best.raise(std::iter::once((weight, size)));
            prop_assert!(best.may_be(weight, size));
            prop_assert!(best.may_be_brought_up(weights[0], weights.iter().sum()));
        }
    }
}
