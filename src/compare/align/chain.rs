//! Which matches belong together?
//!
//! A match is a piece that two texts have in common. Matches that follow each other in both, with
//! small gaps only, are a chain (Sun et al. 2013, section 5: gaps are bounded). A gap is what was
//! edited; its bound grows with what has been matched, so that a word in common after a long gap
//! does not make a passage of two phrases.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::error::Result;
use crate::stop::Steps;

/// A piece of both texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// Where it begins in the query.
    pub query: usize,
    /// Where it begins in the document.
    pub hit: usize,
    /// Its length in both.
    pub len: usize,
}

/// Matches that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// From the first match to the last, in the query.
    pub query: Range<usize>,
    /// From the first match to the last, in the document.
    pub hit: Range<usize>,
    /// The places of the query in matches.
    pub matched: usize,
}

impl Chain {
    /// The share of the longer side that is matched.
    #[must_use]
    pub fn density(&self) -> f64 {
        self.matched as f64 / self.query.len().max(self.hit.len()) as f64
    }
}

/// The number of chains, those that ended last, that a match may continue: more are open only where a text
/// repeats itself.
const OPEN_MAX: usize = 64;

/// Chains the `matches`, of which the query's order is ascending; gaps are at most `gap_max`
/// tokens on either side.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn chains(matches: &[Match], gap_max: usize, steps: &mut Steps<'_>) -> Result<Vec<Chain>> {
    chains_where(matches, gap_max, &|_| true, steps)
}

/// The same, of which those are kept that `is_kept` says: there may be as many others as there are matches.
///
/// # Errors
/// As [`chains`].
pub fn chains_where(
    matches: &[Match],
    gap_max: usize,
    is_kept: &dyn Fn(&Chain) -> bool,
    steps: &mut Steps<'_>,
) -> Result<Vec<Chain>> {
    let mut open: Vec<Chain> = Vec::new();
    let mut done = Vec::new();
    for found in matches {
        if !steps.take(2 + 2 * open.len() as u64)? {
            break;
        }
        // What ended too far before can grow no more.
        open.retain(|chain| {
            let grows = chain.query.end + gap_max >= found.query;
            if !grows && is_kept(chain) {
                done.push(chain.clone());
            }
            grows
        });
        let gap = |chain: &Chain| {
            // How much of the match is new on both sides; it may overlap the end of the chain.
            let before = chain.query.end.saturating_sub(found.query);
            let before = before.max(chain.hit.end.saturating_sub(found.hit));
            let is_after = found.hit >= chain.hit.start && before < found.len;
            let gap = |end: usize, start: usize| start.saturating_sub(end);
            let gaps = (gap(chain.query.end, found.query), gap(chain.hit.end, found.hit));
            let bound = gap_max.min(chain.matched.max(found.len) * 2);
            (is_after && gaps.0 <= bound && gaps.1 <= bound).then_some((gaps.0 + gaps.1, before))
        };
        let best = open.iter().enumerate().filter_map(|(i, chain)| Some((gap(chain)?, i))).min();
        if let Some(((_, before), i)) = best {
            let chain = &mut open[i];
            chain.query.end = chain.query.end.max(found.query + found.len);
            chain.hit.end = chain.hit.end.max(found.hit + found.len);
            chain.matched += found.len - before;
            continue;
        }
        if open.len() == OPEN_MAX {
            let ends = |(_, chain): &(usize, &Chain)| (chain.query.end, chain.matched);
            let oldest = open.iter().enumerate().min_by_key(ends).map_or(0, |(i, _)| i);
            let oldest = open.swap_remove(oldest);
            if is_kept(&oldest) {
                done.push(oldest);
            }
        }
        open.push(Chain {
            query: found.query..found.query + found.len,
            hit: found.hit..found.hit + found.len,
            matched: found.len,
        });
    }
    open.retain(is_kept);
    done.append(&mut open);
    Ok(done)
}

/// The longest chains that do not say the same: where the document repeats itself, one of the
/// places is the source of a place of the query.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn distinct(mut chains: Vec<Chain>, steps: &mut Steps<'_>) -> Result<Vec<Chain>> {
    chains.sort_unstable_by_key(|chain| {
        (std::cmp::Reverse(chain.matched), chain.query.start, chain.hit.start)
    });
    let mut taken = Taken::default();
    let mut kept = Vec::new();
    for chain in chains {
        if !steps.take(TAKING_STEPS)? {
            break;
        }
        if taken.take(&chain.query) {
            kept.push(chain);
        }
    }
    Ok(kept)
}

/// What it takes to look up a range among those taken, and to take it. A range that is looked up has
/// few others within it: those are no shorter than what was matched in it, give or take.
pub const TAKING_STEPS: u64 = 16;

/// Places of the query that belong to a passage.
#[derive(Debug, Default)]
pub struct Taken {
    /// Disjoint, by where they begin.
    ranges: BTreeMap<usize, usize>,
}

impl Taken {
    /// Takes a range, unless more than half of it is taken already.
    pub fn take(&mut self, range: &Range<usize>) -> bool {
        let is_free = self.covered(range) * 2 <= range.len();
        if is_free {
            self.insert(range.clone());
        }
        is_free
    }

    /// How much of a range is taken.
    pub fn covered(&self, range: &Range<usize>) -> usize {
        self.touching(range).map(|(start, end)| end.min(range.end) - start.max(range.start)).sum()
    }

    fn touching(&self, range: &Range<usize>) -> impl Iterator<Item = (usize, usize)> + use<'_> {
        let (from, to) = (range.start, range.end);
        let before = self.ranges.range(..to).rev().take_while(move |(_, end)| **end > from);
        before.map(|(&start, &end)| (start, end))
    }

    /// Takes a range, whatever is taken already.
    pub fn insert(&mut self, range: Range<usize>) {
        let touching: Vec<(usize, usize)> = self.touching(&range).collect();
        let (mut start, mut end) = (range.start, range.end);
        for (from, to) in touching {
            self.ranges.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        self.ranges.insert(start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stop::Stop;
    use proptest::prelude::*;

    fn found(query: usize, hit: usize, len: usize) -> Match {
        Match { query, hit, len }
    }

    fn chains(matches: &[Match], gap_max: usize) -> Vec<Chain> {
        super::chains(matches, gap_max, &mut Steps::unbounded(Stop::NEVER)).unwrap()
    }

    #[test]
    fn gaps_are_bounded_by_the_limit_and_by_what_was_matched() {
        let count = |matches: &[Match]| chains(matches, 20).len();
        assert_eq!(count(&[found(0, 0, 10), found(15, 18, 10)]), 1);
        assert_eq!(count(&[found(0, 0, 10), found(31, 10, 10)]), 2, "beyond the limit");
        assert_eq!(count(&[found(0, 0, 3), found(12, 12, 3)]), 2, "9 tokens between 3 and 3");
        assert_eq!(count(&[found(0, 50, 10), found(10, 0, 10)]), 2, "the other way round");
    }

    #[test]
    fn a_long_chain_stays_open_among_many_short_ones() {
        // Phrases of the first half stand elsewhere too, a hundred times.
        let mut matches = vec![found(0, 0, 120), found(121, 121, 79)];
        matches.extend((0..100).map(|i| found(60 + i / 5, 1000 + 50 * i, 4)));
        matches.sort_unstable();
        let longest = chains(&matches, 20).into_iter().map(|chain| chain.matched).max();
        assert_eq!(longest, Some(199));
    }

    #[test]
    fn a_chain_counts_overlapping_matches_once() {
        let chains = chains(&[found(0, 0, 5), found(2, 2, 5), found(4, 4, 5)], 20);
        assert_eq!(chains, [Chain { query: 0..9, hit: 0..9, matched: 9 }]);
        assert_eq!(chains[0].density(), 1.0);
    }

    proptest! {
        #[test]
        fn what_is_taken_is_counted_as_by_hand(
            ranges in proptest::collection::vec((0usize..60, 1usize..20), 0..30),
        ) {
            let (mut taken, mut naive) = (Taken::default(), [false; 100]);
            for (start, len) in ranges {
                let range = start..start + len;
                let covered = naive[range.clone()].iter().filter(|&&place| place).count();
                prop_assert_eq!(taken.covered(&range), covered);
                prop_assert_eq!(taken.take(&range), covered * 2 <= len);
                if covered * 2 <= len {
                    naive[range].fill(true);
                }
            }
        }
    }
}
