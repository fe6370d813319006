//! Chains matches into passages.
//!
//! A match is a piece that occurs in both texts. Successive matches in both texts, with only small
//! gaps, form a chain (Sun et al. 2013, section 5: gaps are bounded). A gap is edited text. The
//! bound grows with the number of matched tokens, so that a shared word after a long gap does not
//! join two phrases into a passage.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::{LOOKUP_STEPS, NONE};
use crate::error::Result;
use crate::hash::BuildKeyHasher;
use crate::runtime::Steps;

/// A piece of the query that also occurs in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// The first place in the query.
    pub query: usize,
    /// The first place in the document.
    pub hit: usize,
    /// The number of places, the same in both texts.
    pub len: usize,
}

/// A sequence of matches that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// The query from the first match to the last match.
    pub query: Range<usize>,
    /// The document from the first match to the last match.
    pub hit: Range<usize>,
    /// The number of places of the query inside matches. Overlaps count once.
    pub matched: usize,
    /// The index of the last match. Links lead from there back to the first match.
    pub last: u32,
}

impl Chain {}

/// Chains, with links to find the matches in each chain.
#[derive(Debug)]
pub struct MatchChains {
    /// The kept chains, in the order of the function that made them.
    pub chains: Vec<Chain>,
    /// For each match, the preceding match of the chain, or [`NONE`] for the first match.
    previous: Vec<u32>,
}

impl MatchChains {
    /// Chains matches on the same diagonal, each directly after the last: `are_next` holds for
    /// their two places in the query, or the first match reaches the second.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn unbroken(
        matches: &[Match],
        are_next: &dyn Fn(usize, usize) -> bool,
        steps: &mut Steps<'_>,
    ) -> Result<MatchChains> {
        let mut chains: Vec<Chain> = Vec::new();
        let mut previous = vec![NONE; matches.len()];
        // The last chain on each diagonal.
        let mut last: HashMap<u64, usize, BuildKeyHasher> = HashMap::default();
        for (at, found) in (0u32..).zip(matches) {
            if !steps.take(2 * LOOKUP_STEPS)? {
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
        Ok(MatchChains { chains, previous })
    }
}

impl MatchChains {
    /// Returns the parts that each match adds to the chain. The parts are equal in both texts, and
    /// ascend in both texts. `matches` must be the chained matches.
    pub fn parts(&self, chain: &Chain, matches: &[Match]) -> Vec<Match> {
        let mut parts = Vec::new();
        let mut at = chain.last;
        while at != NONE {
            parts.push(matches[at as usize]);
            at = self.previous[at as usize];
        }
        parts.reverse();
        let mut ends = (0, 0);
        for part in &mut parts {
            let before = new_from(ends.0, ends.1, part);
            (part.query, part.hit) = (part.query + before, part.hit + before);
            part.len -= before;
            ends = (part.query + part.len, part.hit + part.len);
        }
        parts
    }
}

/// Returns how much of a match overlaps the end of a chain, in either text.
fn new_from(query: usize, hit: usize, found: &Match) -> usize {
    query.saturating_sub(found.query).max(hit.saturating_sub(found.hit))
}

/// Number of recent chains that a match may continue. More chains are open only where a text
/// repeats itself.
const OPEN_MAX: usize = 64;

/// Score of a matched token. The difference in length between the two sides of a gap costs 1 per
/// token.
pub const TOKEN_SCORE: i64 = 4;

/// The best chain that ends with a certain match.
struct OpenChain {
    chain: Chain,
    score: i64,
    /// Whether a match continues the chain.
    is_continued: bool,
}

/// Rates how well a match continues a chain. The greater value is the better continuation.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Continuation {
    score: i64,
    /// Tokens in the gaps, where fewer are better.
    gaps: Reverse<usize>,
    /// The last match of the chain. A later match is better, because overlapping matches follow
    /// each other.
    last: u32,
    /// Difference of the gap's lengths in the two texts.
    shift: u64,
}

impl OpenChain {
    /// Rates a match as a continuation of the chain, or returns `None` if the gap is too large.
    fn continued_by(&self, found: &Match, gap_max: usize) -> Option<Continuation> {
        let Chain { query, hit, matched, .. } = &self.chain;
        // A match may overlap the end of the chain, so only its new part counts.
        let before = new_from(query.end, hit.end, found);
        if found.hit < hit.start || before >= found.len {
            return None;
        }
        let gap = |end: usize, start: usize| start.saturating_sub(end);
        let gaps = (gap(query.end, found.query), gap(hit.end, found.hit));
        let mut bound = gap_max.min((*matched).max(found.len) * 2);
        if before > 0 {
            // The match repeats the end of the chain, so it is a refrain and not the text after a
            // gap, unless it adds more than the gap.
            bound = bound.min(found.len - before);
        }
        if gaps.0.max(gaps.1) > bound {
            return None;
        }
        let distance = |end: usize, start: usize| start as i64 - end as i64;
        let shift = distance(query.end, found.query) - distance(hit.end, found.hit);
        let score = self.score + TOKEN_SCORE * (found.len - before) as i64 - shift.abs();
        let (gaps, shift) = (Reverse(gaps.0 + gaps.1), shift.unsigned_abs());
        Some(Continuation { score, gaps, last: self.chain.last, shift })
    }
}

/// The end of a chain, ordered by score and then by last match.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ChainEnd {
    score: i32,
    last: Reverse<u32>,
}

/// Returns the maximum memory for chaining this many matches, in bytes, without the kept chains. A
/// match needs a link, the end of a chain, and a mark that the match is taken.
#[must_use]
pub const fn chaining_bytes(matches: usize) -> usize {
    matches.saturating_mul(size_of::<u32>() + size_of::<ChainEnd>() + size_of::<bool>())
}

/// Chains `matches`, which must be in ascending order of the query. Gaps have at most `gap_max`
/// tokens on either side.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn chains(matches: &[Match], gap_max: usize, steps: &mut Steps<'_>) -> Result<MatchChains> {
    chains_where(matches, gap_max, &|_| true, steps)
}

/// Chains like [`chains`], but keeps only chains that satisfy `is_kept`, because there may be as
/// many chains as matches.
///
/// A match continues the chain that leads to the best score, and several matches may continue the
/// same chain: in a repetitive text, the right place shows only further on. Then the best chain is
/// taken whole, and later chains get the remaining matches (Li 2018, "Minimap2: pairwise alignment
/// for nucleotide sequences", section 2.1).
///
/// # Errors
/// As [`chains`].
pub fn chains_where(
    matches: &[Match],
    gap_max: usize,
    is_kept: &dyn Fn(&Chain) -> bool,
    steps: &mut Steps<'_>,
) -> Result<MatchChains> {
    let mut open: Vec<OpenChain> = Vec::new();
    let mut ends: Vec<ChainEnd> = Vec::new();
    let mut close = |open: &OpenChain| {
        if !open.is_continued && is_kept(&open.chain) {
            let score = i32::try_from(open.score).unwrap_or(i32::MAX);
            ends.push(ChainEnd { score, last: Reverse(open.chain.last) });
        }
    };
    let mut previous = vec![NONE; matches.len()];
    for (at, found) in (0u32..).zip(matches) {
        if !steps.take(2 + 2 * open.len() as u64)? {
            break;
        }
        // Drop chains that ended too far back to be continued.
        open.retain(|open| {
            let grows = open.chain.query.end + gap_max >= found.query;
            if !grows {
                close(open);
            }
            grows
        });
        let continued =
            |(i, open): (usize, &OpenChain)| Some((open.continued_by(found, gap_max)?, i));
        let next = match open.iter().enumerate().filter_map(continued).max() {
            Some((Continuation { score, shift, .. }, i)) => {
                let mut chain = if shift == 0 {
                    // On the same diagonal, every continuation of the shorter chain also continues
                    // this chain.
                    open.remove(i).chain
                } else {
                    open[i].is_continued = true;
                    open[i].chain.clone()
                };
                previous[at as usize] = chain.last;
                chain.add(found, at);
                OpenChain { chain, score, is_continued: false }
            }
            None => {
                let score = TOKEN_SCORE * found.len as i64;
                OpenChain { chain: Chain::of(found, at), score, is_continued: false }
            }
        };
        if open.len() == OPEN_MAX {
            let end = |(_, open): &(usize, &OpenChain)| (open.chain.query.end, open.score);
            let oldest = open.iter().enumerate().min_by_key(end).map_or(0, |(i, _)| i);
            close(&open.swap_remove(oldest));
        }
        open.push(next);
    }
    open.iter().for_each(close);
    let mut chained = MatchChains { chains: Vec::new(), previous };
    let sorting = ends.len() as u64 * u64::from(ends.len().max(1).ilog2());
    if steps.take(sorting)? {
        ends.sort_unstable_by(|a, b| b.cmp(a));
        chained.part(ends, matches, is_kept, steps)?;
    }
    Ok(chained)
}

impl MatchChains {
    /// Takes the chains with these ends: the first chain whole, and of each later chain only the
    /// matches after the matches already taken.
    fn part(
        &mut self,
        ends: Vec<ChainEnd>,
        matches: &[Match],
        is_kept: &dyn Fn(&Chain) -> bool,
        steps: &mut Steps<'_>,
    ) -> Result<()> {
        let mut is_taken = vec![false; matches.len()];
        let mut path: Vec<u32> = Vec::new();
        for ChainEnd { last: Reverse(last), .. } in ends {
            path.clear();
            let mut at = last;
            while at != NONE && !is_taken[at as usize] {
                is_taken[at as usize] = true;
                path.push(at);
                at = self.previous[at as usize];
            }
            if !steps.take(1 + path.len() as u64)? {
                break;
            }
            let first = path.pop().expect("no chain has the end of another one");
            self.previous[first as usize] = NONE;
            let mut chain = Chain::of(&matches[first as usize], first);
            path.iter().rev().for_each(|&at| chain.add(&matches[at as usize], at));
            if is_kept(&chain) {
                self.chains.push(chain);
            }
        }
        Ok(())
    }
}

impl Chain {
    /// Makes a chain of a single match with this index.
    fn of(found: &Match, number: u32) -> Chain {
        Chain {
            query: found.query..found.query + found.len,
            hit: found.hit..found.hit + found.len,
            matched: found.len,
            last: number,
        }
    }

    /// Appends a match that follows the matches of the chain.
    fn add(&mut self, found: &Match, number: u32) {
        self.matched += found.len - new_from(self.query.end, self.hit.end, found);
        self.query.end = self.query.end.max(found.query + found.len);
        self.hit.end = self.hit.end.max(found.hit + found.len);
        self.last = number;
    }
}

/// Keeps the longest chains and drops redundant chains: if the document repeats itself, only one
/// place is the source of a place in the query.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn distinct(mut chains: Vec<Chain>, steps: &mut Steps<'_>) -> Result<Vec<Chain>> {
    chains
        .sort_unstable_by_key(|chain| (Reverse(chain.matched), chain.query.start, chain.hit.start));
    let (mut in_query, mut in_hit) = (CoveredRanges::default(), CoveredRanges::default());
    let mut kept = Vec::new();
    for chain in chains {
        if !steps.take(4 * LOOKUP_STEPS)? {
            break;
        }
        let share = |taken: &CoveredRanges, range: &Range<usize>| {
            taken.covered(range) as f64 / range.len() as f64
        };
        let of_query = share(&in_query, &chain.query);
        if of_query <= 0.5 && of_query + share(&in_hit, &chain.hit) <= CROSSING_MAX {
            in_query.insert(chain.query.clone());
            in_hit.insert(chain.hit.clone());
            kept.push(chain);
        }
    }
    Ok(kept)
}

/// Maximum sum of the shares of a chain's two sides that longer chains cover. The document side may
/// be covered completely, because a place may be copied several times. But if a longer chain also
/// covers a quarter of the copy, the texts repeat themselves and the chain crosses better chains.
/// No evaluation set needs this limit. Without a limit, a clause repeated in both texts has more
/// matches than occurrences.
const CROSSING_MAX: f64 = 1.25;

/// A set of places in a text, kept as disjoint ranges.
#[derive(Debug, Default)]
pub struct CoveredRanges {
    /// The ends of disjoint ranges, by start.
    ranges: BTreeMap<usize, usize>,
}

impl CoveredRanges {
    /// Adds a range, unless more than half of it is taken already. Returns whether the range was
    /// added.
    pub fn take(&mut self, range: &Range<usize>) -> bool {
        let is_free = self.covered(range) * 2 <= range.len();
        if is_free {
            self.insert(range.clone());
        }
        is_free
    }

    /// Returns how many places of `range` are taken.
    pub fn covered(&self, range: &Range<usize>) -> usize {
        self.touching(range).map(|(start, end)| end.min(range.end) - start.max(range.start)).sum()
    }

    /// Returns the disjoint ranges taken that overlap a range, the last first.
    pub fn touching(&self, range: &Range<usize>) -> impl Iterator<Item = (usize, usize)> + use<'_> {
        let (from, to) = (range.start, range.end);
        let before = self.ranges.range(..to).rev().take_while(move |(_, end)| **end > from);
        before.map(|(&start, &end)| (start, end))
    }

    /// Returns the disjoint ranges taken, in ascending order.
    pub fn ranges(self) -> Vec<Range<usize>> {
        self.ranges.into_iter().map(|(start, end)| start..end).collect()
    }

    /// Returns whether nothing is taken.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the ranges of the first `count` places that are not taken.
    pub fn gaps(&self, count: usize) -> CoveredRanges {
        let mut gaps = CoveredRanges::default();
        let mut end = count;
        for (from, to) in self.touching(&(0..count)).chain([(0, 0)]) {
            if to < end {
                gaps.ranges.insert(to, end);
            }
            end = from;
        }
        gaps
    }

    /// Adds a range, even if parts of it are taken already.
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

    fn best(matches: &[Match]) -> (Range<usize>, Range<usize>, usize) {
        let best = chains(matches, 20).into_iter().max_by_key(|chain| chain.matched).unwrap();
        (best.query, best.hit, best.matched)
    }

    #[test]
    fn a_run_continues_the_better_chain_and_not_the_nearer_one() {
        // A word was changed. The few words before the change occur again in the second text, a
        // word on.
        let matches = [found(0, 0, 25), found(21, 22, 4), found(26, 26, 14)];
        assert_eq!(best(&matches), (0..40, 0..40, 39));
    }

    #[test]
    fn a_run_at_a_wrong_place_does_not_end_the_chain() {
        // The last run is before the second one in the other text.
        let matches = [found(0, 0, 20), found(24, 34, 6), found(31, 31, 8)];
        assert_eq!(best(&matches), (0..39, 0..39, 28));
        // What no better chain has is a chain of its own.
        let matched: Vec<usize> = chains(&matches, 20).iter().map(|chain| chain.matched).collect();
        assert_eq!(matched, [28, 6]);
    }

    #[test]
    fn a_chain_across_two_longer_ones_is_redundant_and_a_second_copy_is_not() {
        let kept = |third: (Range<usize>, Range<usize>)| {
            let chain = |(query, hit): (Range<usize>, Range<usize>)| {
                let matched = query.len();
                Chain { query, hit, matched, last: 0 }
            };
            let chains = [(0..100, 0..100), (130..230, 130..230), third].map(chain);
            distinct(chains.to_vec(), &mut Steps::unbounded(Stop::NEVER)).unwrap().len()
        };
        assert_eq!(kept((90..125, 40..75)), 2);
        // The third chain is between the two, in a different place, or shares only a few words at
        // an end.
        assert_eq!(kept((101..125, 40..64)), 3);
        assert_eq!(kept((90..125, 300..335)), 3);
        assert_eq!(kept((95..125, 40..70)), 3);
    }

    #[test]
    fn a_chain_counts_overlapping_matches_once() {
        let matches = [found(0, 0, 5), found(2, 2, 5), found(4, 4, 5)];
        let chained = super::chains(&matches, 20, &mut Steps::unbounded(Stop::NEVER)).unwrap();
        assert_eq!(chained.chains, [Chain { query: 0..9, hit: 0..9, matched: 9, last: 2 }]);
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
