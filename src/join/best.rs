//! The first pairs of many, in bounded memory.

use std::cmp::Ordering;

use super::pairs::Pair;

/// The number of pairs that may be held beyond twice the requested number.
const HELD_MORE: usize = 4096;

/// The first pairs by an order, holding little more than the requested number.
pub struct Best<F> {
    pairs: Vec<Pair>,
    limit: usize,
    order: F,
}

impl<F: Fn(&Pair, &Pair) -> Ordering> Best<F> {
    /// Keeps the first `limit` pairs by `order`; of equals those stored first.
    pub fn new(limit: usize, order: F) -> Best<F> {
        Best { pairs: Vec::new(), limit, order }
    }

    /// Adds pairs.
    pub fn extend(&mut self, pairs: impl IntoIterator<Item = Pair>) {
        self.pairs.extend(pairs);
        if self.pairs.len() >= self.limit.saturating_mul(2).saturating_add(HELD_MORE) {
            self.cut();
        }
    }

    /// Returns the first of all pairs, in order.
    pub fn finish(mut self) -> Vec<Pair> {
        self.cut();
        self.pairs
    }

    fn cut(&mut self) {
        let order = &self.order;
        self.pairs.sort_unstable_by(|one, other| {
            order(one, other).then_with(|| (one.a, one.b).cmp(&(other.a, other.b)))
        });
        self.pairs.truncate(self.limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::DocAddress;
    use crate::overlap::Overlap;
    use crate::similarity::Similarity;

    fn pair(number: u32, shared: u32) -> Pair {
        let at = |doc| DocAddress { segment: 0, doc };
        Pair {
            a: at(number),
            b: at(number + 1),
            overlap: Overlap::new(shared, 100, 100),
            margin: None,
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
        // Ten times more than are held, many of them equal.
        let all: Vec<Pair> = (0..10 * HELD_MORE as u32)
            .map(|number| pair(number, (crate::hash::mix64(u64::from(number)) % 50) as u32))
            .collect();
        let by_overlap = |one: &Pair, other: &Pair| other.overlap.shared.cmp(&one.overlap.shared);
        let mut expected = all.clone();
        // Stable: equal ones stay in the order of the index.
        expected.sort_by(by_overlap);
        for limit in [0, 1, 3000, all.len(), usize::MAX] {
            let mut best = Best::new(limit, by_overlap);
            let mut held_max = 0;
            for pairs in all.chunks(700) {
                best.extend(pairs.iter().cloned());
                held_max = held_max.max(best.pairs.len());
            }
            assert!(held_max <= limit.saturating_mul(2).saturating_add(HELD_MORE), "{limit}");
            assert!(best.finish() == expected[..limit.min(all.len())], "{limit}");
        }
    }
}
