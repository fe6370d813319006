//! Candidates by weight: which of them may be among the best?
//!
//! A query by weight shares a fingerprint with many documents of a collection, and few of them
//! are shown. The score of a document depends on the weight of the shared fingerprints and on its
//! size alone ([`weigh::score`]), so documents whose score is less than the score of the last of
//! the best so far are counted, and nothing else is done for them.

use super::candidate::Candidate;
use super::weigh;

/// The candidates of a query that may be among its best by weight.
pub struct BestByWeight {
    /// The number of the best.
    limit: usize,
    /// Those that may be among them, with their scores.
    found: Vec<(f64, Candidate)>,
    /// The number of candidates that are kept before some are left out.
    room: usize,
    /// The last of the best had this score when some were left out.
    score_min: f64,
    left_out: usize,
}

/// What rounding can take from a score, or add to it, is far less than this share of its square.
const ROUNDING: f64 = 1e-9;

impl BestByWeight {
    /// Creates a list for the best `limit` candidates; some are left out from `room` on.
    pub fn new(limit: usize, room: usize) -> BestByWeight {
        let room = room.max(limit);
        BestByWeight { limit, found: Vec::new(), room, score_min: 0.0, left_out: 0 }
    }

    /// Adds candidates, which have these numbers of distinct fingerprints.
    pub fn extend(&mut self, candidates: impl Iterator<Item = Candidate>, sizes: &[u32]) {
        let mut square_min = self.square_min();
        for (candidate, &size) in candidates.zip(sizes) {
            let weight = candidate.weight as f64;
            // Of most of them it is certain without a root and a quotient.
            if weight * weight < square_min * f64::from(size.max(1)) {
                self.left_out += 1;
                continue;
            }
            self.found.push((weigh::score(candidate.weight, size), candidate));
            if self.found.len() > self.room {
                self.leave_out();
                square_min = self.square_min();
            }
        }
    }

    /// Returns a bound below the square of the least score.
    fn square_min(&self) -> f64 {
        self.score_min * self.score_min * (1.0 - ROUNDING)
    }

    /// Leaves out those that are not among the best. Equal scores are all kept: more than the score
    /// decides between them.
    fn leave_out(&mut self) {
        let before = self.found.len();
        if self.limit == 0 {
            (self.score_min, self.found) = (f64::INFINITY, Vec::new());
        } else if before > self.limit {
            let last = self.limit - 1;
            let (_, last, _) = self.found.select_nth_unstable_by(last, |a, b| b.0.total_cmp(&a.0));
            self.score_min = last.0;
            self.found.retain(|found| found.0 >= self.score_min);
        }
        self.left_out += before - self.found.len();
        self.room = self.room.max(2 * self.found.len());
    }

    /// Returns those that may be among the best, by segment, and the number of the others.
    pub fn finish(mut self) -> (Vec<Candidate>, usize) {
        self.leave_out();
        let mut found: Vec<Candidate> = self.found.into_iter().map(|found| found.1).collect();
        found.sort_unstable_by_key(|candidate| candidate.address);
        (found, self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::DocAddress;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_and_their_equals_are_kept_and_all_others_counted(
            documents in prop::collection::vec((0u64..40, 0u32..6), 0..60),
            limit in 0usize..8, room in 0usize..20, at_once in 1usize..30,
        ) {
            let candidates: Vec<Candidate> = (0..).zip(&documents).map(|(doc, &(weight, _))| {
                let address = DocAddress { segment: doc / 25, doc };
                // Weights that differ in their last places only.
                Candidate { address, overlap: 1, weight: (1 << 40) + weight }
            }).collect();
            let sizes: Vec<u32> = documents.iter().map(|&(_, size)| size).collect();
            let mut best = BestByWeight::new(limit, room);
            for (some, sizes) in candidates.chunks(at_once).zip(sizes.chunks(at_once)) {
                best.extend(some.iter().copied(), sizes);
            }
            let scores: Vec<f64> = candidates.iter().zip(&sizes)
                .map(|(candidate, &size)| weigh::score(candidate.weight, size)).collect();
            let better = |score: f64| scores.iter().filter(|&&other| other > score).count();
            let expected: Vec<Candidate> = candidates.iter().zip(&scores)
                .filter(|(_, score)| better(**score) < limit)
                .map(|(candidate, _)| *candidate).collect();
            let others = documents.len() - expected.len();
            prop_assert_eq!(best.finish(), (expected, others));
        }
    }
}
