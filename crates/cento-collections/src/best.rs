//! Keeps the best pairs in bounded memory.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Arc, PoisonError, RwLock};

use super::PairRank;
use super::pair::Pair;

/// Orders pairs best first. Programs that are too short for meaningful numbers come last. Pairs
/// that are equal by `rank` are ordered by overlap, then resemblance, then place in the index.
pub fn order(rank: PairRank, one: &Pair, other: &Pair) -> Ordering {
    let by = |of: &dyn Fn(&Pair) -> f64| of(other).total_cmp(&of(one));
    let by_rank = match rank {
        PairRank::Overlap => Ordering::Equal,
        PairRank::Similarity => by(&|pair| pair.similarity.symmetric()),
        PairRank::Weight => by(&|pair| pair.weighted.map_or(0.0, |by| by.resemblance)),
        PairRank::Passages => other.passage_tokens.cmp(&one.passage_tokens),
        PairRank::Score => by(&|pair| pair.score.unwrap_or(f64::NEG_INFINITY)),
    };
    let of_equals = || match rank {
        // Equally similar pairs stay in stored order. Their overlap would favor long documents.
        PairRank::Similarity => Ordering::Equal,
        _ => other
            .overlap
            .shared
            .cmp(&one.overlap.shared)
            .then_with(|| by(&|pair| pair.similarity.resemblance)),
    };
    one.too_short
        .cmp(&other.too_short)
        .then(by_rank)
        .then_with(of_equals)
        .then_with(|| (one.a, one.b).cmp(&(other.a, other.b)))
}

/// The worst of the best pairs so far, set once the limit is reached. A pair after the floor cannot
/// be among the best in the end, so threads share the floor to drop pairs early.
#[derive(Debug, Clone, Default)]
pub struct Floor(Arc<RwLock<Option<Pair>>>);

impl Floor {
    fn set(&self, last: &Pair) {
        let last = last.without_passages();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(last);
    }

    /// Tells whether a pair is certainly not among the best.
    pub fn excludes(&self, rank: PairRank, pair: &Pair) -> bool {
        let last = self.0.read().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().is_some_and(|last| order(rank, last, pair).is_lt())
    }
}

/// Reversed order, so that the top of the heap is the worst pair.
struct RankedPair {
    rank: PairRank,
    pair: Pair,
}

impl Ord for RankedPair {
    fn cmp(&self, other: &RankedPair) -> Ordering {
        order(self.rank, &self.pair, &other.pair)
    }
}

impl PartialOrd for RankedPair {
    fn partial_cmp(&self, other: &RankedPair) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedPair {
    fn eq(&self, other: &RankedPair) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RankedPair {}

/// The best pairs by a rank, at most `limit`.
pub struct Best {
    /// A heap with the worst pair at the top.
    pairs: BinaryHeap<RankedPair>,
    limit: usize,
    rank: PairRank,
    floor: Floor,
}

impl Best {
    /// Keeps the best `limit` pairs, and publishes the worst of the kept pairs as the `floor`.
    pub fn new(limit: usize, rank: PairRank, floor: Floor) -> Best {
        Best { pairs: BinaryHeap::new(), limit, rank, floor }
    }

    /// Offers pairs, and keeps a pair that beats the worst kept pair.
    pub fn extend(&mut self, pairs: impl IntoIterator<Item = Pair>) {
        let mut is_raised = false;
        for pair in pairs {
            let ranked = RankedPair { rank: self.rank, pair };
            if self.pairs.len() < self.limit {
                self.pairs.push(ranked);
            } else if let Some(mut last) = self.pairs.peek_mut()
                && ranked < *last
            {
                *last = ranked;
            } else {
                continue;
            }
            is_raised = true;
        }
        if is_raised
            && self.pairs.len() == self.limit
            && let Some(last) = self.pairs.peek()
        {
            self.floor.set(&last.pair);
        }
    }

    pub fn finish(self) -> Vec<Pair> {
        self.pairs.into_sorted_vec().into_iter().map(|ranked| ranked.pair).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento::index::DocAddress;
    use cento_api::overlap::Overlap;
    use cento_api::similarity::Similarity;

    fn pair(number: u32, shared: u32) -> Pair {
        let at = |doc| DocAddress { segment: 0, doc };
        Pair {
            a: at(number),
            b: at(number + 1),
            overlap: Overlap::new(shared, 100, 100),
            score: None,
            too_short: None,
            similarity: Similarity::of_sketches(Overlap::new(shared, 100, 100)),
            weighted: None,
            passage_tokens: None,
            passages: None,
        }
    }

    #[test]
    fn the_best_are_those_of_all_however_many_are_held() {
        // More than ten times the middle limit, with many equal overlaps.
        let all: Vec<Pair> = (0..40_000)
            .map(|number| pair(number, (cento_text::hash::mix64(u64::from(number)) % 50) as u32))
            .collect();
        let mut expected = all.clone();
        // The sort is stable, so equal pairs stay in stored order.
        expected.sort_by_key(|pair| std::cmp::Reverse(pair.overlap.shared));
        for limit in [0, 1, 3000, all.len(), usize::MAX] {
            let floor = Floor::default();
            let mut best = Best::new(limit, PairRank::Overlap, floor.clone());
            for pairs in all.chunks(700) {
                // Pairs that the floor excludes cannot change the result.
                let pairs = pairs.iter().filter(|pair| !floor.excludes(PairRank::Overlap, pair));
                best.extend(pairs.cloned());
                assert!(best.pairs.len() <= limit, "{limit}");
            }
            assert!(best.finish() == expected[..limit.min(all.len())], "{limit}");
        }
    }
}
