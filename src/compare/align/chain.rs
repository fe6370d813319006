//! Chains of matches that belong together.
//!
//! A match is a piece that two texts have in common. Matches that follow each other in both, with
//! small gaps only, are a chain (Sun et al. 2013, section 5: gaps are bounded). A gap is edited
//! text; its bound grows with the number of matched tokens, so that a word in common after a long
//! gap does not join two phrases into a passage.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::error::Result;
use crate::hash::BuildKeyHasher;
use crate::runtime::Steps;

/// A piece of both texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// Its start in the query.
    pub query: usize,
    /// Its start in the document.
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
    /// The number of places of the query in matches.
    pub matched: usize,
    /// The last match of the chain, by its index among all.
    pub last: u32,
}

impl Chain {
    /// Returns the share of the longer side that is matched.
    #[must_use]
    pub fn density(&self) -> f64 {
        self.matched as f64 / self.query.len().max(self.hit.len()) as f64
    }
}

/// Chains, with the matches in each.
#[derive(Debug)]
pub struct Chained {
    /// The chains.
    pub chains: Vec<Chain>,
    /// For each match, the one before it in its chain; [`FIRST`] if it is the first.
    previous: Vec<u32>,
}

impl Chained {
    /// Chains matches at one distance in both texts where each follows the one before: `are_next`
    /// holds for their two places in the query, or the first reaches to the second.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn unbroken(
        matches: &[Match],
        are_next: &dyn Fn(usize, usize) -> bool,
        steps: &mut Steps<'_>,
    ) -> Result<Chained> {
        let mut chains: Vec<Chain> = Vec::new();
        let mut previous = vec![FIRST; matches.len()];
        // The last chain at each distance.
        let mut last: HashMap<u64, usize, BuildKeyHasher> = HashMap::default();
        for (at, found) in (0u32..).zip(matches) {
            if !steps.take(UNBROKEN_STEPS)? {
                break;
            }
            let (query, hit) =
                (found.query..found.query + found.len, found.hit..found.hit + found.len);
            let distance = (found.query as u64).wrapping_sub(found.hit as u64);
            let open = last.get(&distance).map(|&chain| (chain, chains[chain].last));
            let follows = |&(chain, before): &(usize, u32)| {
                chains[chain].query.end >= query.start
                    || are_next(matches[before as usize].query, query.start)
            };
            if let Some((chain, before)) = open.filter(follows) {
                let chain = &mut chains[chain];
                chain.matched += query.end.saturating_sub(chain.query.end.max(query.start));
                chain.query.end = chain.query.end.max(query.end);
                chain.hit.end = chain.hit.end.max(hit.end);
                (previous[at as usize], chain.last) = (before, at);
                continue;
            }
            last.insert(distance, chains.len());
            chains.push(Chain { query, hit, matched: found.len, last: at });
        }
        Ok(Chained { chains, previous })
    }
}

/// The number of steps to find the chain that a match continues.
const UNBROKEN_STEPS: u64 = 32;

/// Marks the first match of a chain, which has no predecessor; there are fewer matches than this.
const FIRST: u32 = u32::MAX;

impl Chained {
    /// Returns the part that each match of a chain adds to those before it: parts of both texts
    /// that are equal and, in either text, follow each other. `matches` are those that were
    /// chained.
    pub fn parts(&self, chain: &Chain, matches: &[Match]) -> Vec<Match> {
        let mut parts = Vec::new();
        let mut at = chain.last;
        while at != FIRST {
            parts.push(matches[at as usize]);
            at = self.previous[at as usize];
        }
        parts.reverse();
        let mut ends = (0, 0);
        for part in &mut parts {
            let before = new_from(ends, part);
            (part.query, part.hit) = (part.query + before, part.hit + before);
            part.len -= before;
            ends = (part.query + part.len, part.hit + part.len);
        }
        parts
    }
}

/// Returns how much of a match is before these ends, in either text.
fn new_from((query, hit): (usize, usize), found: &Match) -> usize {
    query.saturating_sub(found.query).max(hit.saturating_sub(found.hit))
}

/// The number of chains, those that ended last, that a match may continue: more are open only where
/// a text repeats itself.
const OPEN_MAX: usize = 64;

/// Chains the `matches`, which are in ascending order of the query; gaps are at most `gap_max`
/// tokens on either side.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn chains(matches: &[Match], gap_max: usize, steps: &mut Steps<'_>) -> Result<Chained> {
    chains_where(matches, gap_max, &|_| true, steps)
}

/// Chains like [`chains`], keeping only chains that satisfy `is_kept`: the others may be as many as
/// the matches.
///
/// # Errors
/// As [`chains`].
pub fn chains_where(
    matches: &[Match],
    gap_max: usize,
    is_kept: &dyn Fn(&Chain) -> bool,
    steps: &mut Steps<'_>,
) -> Result<Chained> {
    let mut open: Vec<Chain> = Vec::new();
    let mut done = Vec::new();
    let mut previous = vec![FIRST; matches.len()];
    for (at, found) in (0u32..).zip(matches) {
        if !steps.take(2 + 2 * open.len() as u64)? {
            break;
        }
        // A chain that ended too far back can grow no more.
        open.retain(|chain| {
            let grows = chain.query.end + gap_max >= found.query;
            if !grows && is_kept(chain) {
                done.push(chain.clone());
            }
            grows
        });
        let gap = |chain: &Chain| {
            // How much of the match is new on both sides; it may overlap the end of the chain.
            let before = new_from((chain.query.end, chain.hit.end), found);
            if found.hit < chain.hit.start || before >= found.len {
                return None;
            }
            let gap = |end: usize, start: usize| start.saturating_sub(end);
            let gaps = (gap(chain.query.end, found.query), gap(chain.hit.end, found.hit));
            let mut bound = gap_max.min(chain.matched.max(found.len) * 2);
            if before > 0 {
                // It has again what the chain ends with: a refrain, and not the text after a gap,
                // unless it adds more than the gap.
                bound = bound.min(found.len - before);
            }
            (gaps.0 <= bound && gaps.1 <= bound).then_some((gaps.0 + gaps.1, before))
        };
        let best = open.iter().enumerate().filter_map(|(i, chain)| Some((gap(chain)?, i))).min();
        if let Some(((_, before), i)) = best {
            let chain = &mut open[i];
            chain.query.end = chain.query.end.max(found.query + found.len);
            chain.hit.end = chain.hit.end.max(found.hit + found.len);
            chain.matched += found.len - before;
            previous[at as usize] = chain.last;
            chain.last = at;
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
            last: at,
        });
    }
    open.retain(is_kept);
    done.append(&mut open);
    Ok(Chained { chains: done, previous })
}

/// Returns the longest chains that are not redundant: where the document repeats itself, only one
/// of its places is the source of a place of the query.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn distinct(mut chains: Vec<Chain>, steps: &mut Steps<'_>) -> Result<Vec<Chain>> {
    chains.sort_unstable_by_key(|chain| {
        (std::cmp::Reverse(chain.matched), chain.query.start, chain.hit.start)
    });
    let mut taken = CoveredRanges::default();
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

/// The number of steps to look up a range among those taken, and to take it. A range that is looked
/// up contains few others: those are about as long as their match in it, or longer.
pub const TAKING_STEPS: u64 = 16;

/// Places of the query that belong to a passage.
#[derive(Debug, Default)]
pub struct CoveredRanges {
    /// Disjoint, by where they begin.
    ranges: BTreeMap<usize, usize>,
}

impl CoveredRanges {
    /// Takes a range, unless more than half of it is taken already.
    pub fn take(&mut self, range: &Range<usize>) -> bool {
        let is_free = self.covered(range) * 2 <= range.len();
        if is_free {
            self.insert(range.clone());
        }
        is_free
    }

    /// Returns how much of a range is taken.
    pub fn covered(&self, range: &Range<usize>) -> usize {
        self.touching(range).map(|(start, end)| end.min(range.end) - start.max(range.start)).sum()
    }

    /// Returns the disjoint ranges taken that overlap a range, the last first.
    pub fn touching(&self, range: &Range<usize>) -> impl Iterator<Item = (usize, usize)> + use<'_> {
        let (from, to) = (range.start, range.end);
        let before = self.ranges.range(..to).rev().take_while(move |(_, end)| **end > from);
        before.map(|(&start, &end)| (start, end))
    }

    /// Takes a range, even if parts of it are taken already.
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
    use crate::runtime::Stop;
    use proptest::prelude::*;

    fn found(query: usize, hit: usize, len: usize) -> Match {
        Match { query, hit, len }
    }

    fn chains(matches: &[Match], gap_max: usize) -> Vec<Chain> {
        super::chains(matches, gap_max, &mut Steps::unbounded(Stop::NEVER)).unwrap().chains
    }

    #[test]
    fn gaps_are_bounded_by_the_limit_and_by_the_matched_tokens() {
        let count = |matches: &[Match]| chains(matches, 20).len();
        assert_eq!(count(&[found(0, 0, 10), found(15, 18, 10)]), 1);
        assert_eq!(count(&[found(0, 0, 10), found(31, 10, 10)]), 2, "beyond the limit");
        assert_eq!(count(&[found(0, 0, 3), found(12, 12, 3)]), 2, "9 tokens between 3 and 3");
        assert_eq!(count(&[found(0, 50, 10), found(10, 0, 10)]), 2, "the other way round");
    }

    #[test]
    fn a_long_chain_stays_open_among_many_short_ones() {
        // Phrases of the first half also occur elsewhere, a hundred times.
        let mut matches = vec![found(0, 0, 120), found(121, 121, 79)];
        matches.extend((0..100).map(|i| found(60 + i / 5, 1000 + 50 * i, 4)));
        matches.sort_unstable();
        let longest = chains(&matches, 20).into_iter().map(|chain| chain.matched).max();
        assert_eq!(longest, Some(199));
    }

    #[test]
    fn a_chain_counts_overlapping_matches_once() {
        let matches = [found(0, 0, 5), found(2, 2, 5), found(4, 4, 5)];
        let chained = super::chains(&matches, 20, &mut Steps::unbounded(Stop::NEVER)).unwrap();
        assert_eq!(chained.chains, [Chain { query: 0..9, hit: 0..9, matched: 9, last: 2 }]);
        assert_eq!(chained.chains[0].density(), 1.0);
        let parts = chained.parts(&chained.chains[0], &matches);
        assert_eq!(parts, [found(0, 0, 5), found(5, 5, 2), found(7, 7, 2)]);
    }

    proptest! {
        #[test]
        fn the_parts_of_a_chain_are_its_matches(
            mut matches in proptest::collection::vec((0usize..80, 0usize..80, 1usize..9), 0..30),
        ) {
            matches.sort_unstable();
            let matches: Vec<Match> =
                matches.into_iter().map(|(query, hit, len)| found(query, hit, len)).collect();
            let chained = super::chains(&matches, 20, &mut Steps::unbounded(Stop::NEVER)).unwrap();
            for chain in &chained.chains {
                let parts = chained.parts(chain, &matches);
                prop_assert_eq!(parts.iter().map(|part| part.len).sum::<usize>(), chain.matched);
                let (first, last) = (parts[0], parts[parts.len() - 1]);
                prop_assert_eq!(first.query..last.query + last.len, chain.query.clone());
                prop_assert_eq!(first.hit..last.hit + last.len, chain.hit.clone());
                let follow = |two: &[Match]| {
                    two[0].query + two[0].len <= two[1].query && two[0].hit + two[0].len <= two[1].hit
                };
                prop_assert!(parts.windows(2).all(follow));
            }
        }
    }

    proptest! {
        #[test]
        fn memory_is_counted_as_by_hand(
            ranges in proptest::collection::vec((0usize..60, 1usize..20), 0..30),
        ) {
            let (mut taken, mut naive) = (CoveredRanges::default(), [false; 100]);
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
