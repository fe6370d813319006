//! Passages that were copied, with few edits or none.

use std::collections::HashMap;
use std::ops::Range;

use super::chain::{
    CHAINING_BYTES, Chain, CoveredRanges, Match, TAKING_STEPS, chains_where, distinct,
};
use super::common::ROOM;
use super::hash_filter::HashFilter;
use super::{LOOKUPS_AT_ONCE, PASSAGE_TOKENS_MIN};
use crate::error::Result;
use crate::hash::{BuildKeyHasher, mix64};
use crate::runtime::{Steps, Stop};

/// Runs of this many equal tokens are seeds. With 5, the default of an index, a passage with every
/// fifth word changed falls apart.
const SEED_TOKENS: usize = 3;

/// A run of tokens that the document has more often than this is not a seed, except at one place
/// where nothing else is found.
const SEED_OCCURRENCES_MAX: u32 = 16;

/// The maximum number of tokens in a row that were changed on either side.
const GAP_TOKENS_MAX: usize = 20;

/// The minimum share of a passage that is unchanged.
const DENSITY_MIN: f64 = 0.4;

/// The maximum number of runs that are chained, with one more for each token of the query. Two
/// volumes of RFCs of 8 MB, 1.2 million tokens each, have 0.75 million.
const RUNS_MAX: usize = 1 << 20;

/// The memory for runs grows by this part of its size, so that it is at most that much too large.
const GROWTH: usize = 8;

/// Returns the maximum memory, in bytes, for the runs of a query of this many tokens.
#[must_use]
pub fn runs_bytes(query_tokens: usize) -> usize {
    let runs = (SEED_OCCURRENCES_MAX as usize + 1).saturating_mul(query_tokens);
    let runs = runs.min(runs_max(query_tokens));
    (runs + runs / GROWTH).saturating_mul(size_of::<Match>()) + runs.saturating_mul(CHAINING_BYTES)
}

fn runs_max(query_tokens: usize) -> usize {
    RUNS_MAX.saturating_add(query_tokens)
}

/// A copied passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// From its first run to its last, in the query.
    pub query: Range<usize>,
    /// From its first run to its last, in the document.
    pub hit: Range<usize>,
    /// The tokens of the query that are in the document too, in the same order, or copied from it
    /// once more: ascending, disjoint.
    pub matched: Vec<Range<usize>>,
    /// The number of them that are in runs.
    pub in_runs: usize,
}

/// Limits of the search for runs.
#[derive(Clone, Copy)]
pub struct Limits {
    /// The maximum number of runs.
    pub runs_max: usize,
    /// Seeds that the document has more often than this are looked up only where nothing else is
    /// found, and at `places_max` of their places.
    pub occurrences_max: u32,
    /// See `occurrences_max`: each place is behind the run found at the one before.
    pub places_max: usize,
}

/// The number of steps of a look-up in a map too large for a cache.
const LOOKUP_STEPS: u64 = 8;

/// The number of tokens that are compared in the time of a step.
const TOKENS_A_STEP: usize = 8;

/// The seeds of a query, each with a number, computed once for all documents.
pub struct Seeds {
    numbers: HashMap<u64, u32, BuildKeyHasher>,
    known: HashFilter,
    /// The number of the seed at each place of the query.
    in_order: Vec<u32>,
}

impl Seeds {
    /// Returns the runs of [`SEED_TOKENS`] of a sequence of token hashes.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn new(query: &[u64], stop: &Stop) -> Result<Seeds> {
        Seeds::of_length::<SEED_TOKENS>(query, stop)
    }

    /// Returns the runs of `LEN` tokens.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_length<const LEN: usize>(query: &[u64], stop: &Stop) -> Result<Seeds> {
        let mut numbers: HashMap<u64, u32, BuildKeyHasher> = HashMap::default();
        numbers.reserve(query.len().min(ROOM));
        let mut in_order = Vec::with_capacity(query.len());
        for (at, seed) in seeds::<LEN>(query).enumerate() {
            stop.check_at(at)?;
            let next = numbers.len() as u32;
            in_order.push(*numbers.entry(seed).or_insert(next));
        }
        let known = HashFilter::new(numbers.keys().copied(), stop)?;
        Ok(Seeds { numbers, known, in_order })
    }

    /// Returns the number of a seed, if the query has it.
    #[inline]
    fn number(&self, seed: u64) -> Option<u32> {
        if self.known.may_have(seed) { self.numbers.get(&seed).copied() } else { None }
    }
}

/// Returns the copied passages of two sequences of token hashes, the longest first.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn passages(
    (query, of_query): (&[u64], &Seeds),
    document: &[u64],
    steps: &mut Steps<'_>,
) -> Result<Vec<Copied>> {
    let (runs_max, occurrences_max) = (runs_max(query.len()), SEED_OCCURRENCES_MAX);
    let limits = Limits { runs_max, occurrences_max, places_max: 1 };
    let matches = matches::<SEED_TOKENS>((query, of_query), document, limits, steps)?;
    of_matches(&matches, (query, document), &|_| true, steps)
}

/// Returns the passages that a text has again further on, beside each other or with other text
/// between, the longest first. `document` has the same tokens as the query, except for hidden ones.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn repeated(query: &[u64], document: &[u64], steps: &mut Steps<'_>) -> Result<Vec<Copied>> {
    let seeds = Seeds::new(query, steps.stop())?;
    let (runs_max, occurrences_max) = (runs_max(query.len()), SEED_OCCURRENCES_MAX);
    let limits = Limits { runs_max, occurrences_max, places_max: 1 };
    let mut matches = matches::<SEED_TOKENS>((query, &seeds), document, limits, steps)?;
    // The text is equal to itself, and each pair of places is found from either of them.
    matches.retain(|found| found.query < found.hit);
    let is_apart = |chain: &Chain| chain.query.end <= chain.hit.start;
    of_matches(&matches, (query, document), &is_apart, steps)
}

/// Returns the copied passages that runs of equal tokens make, those that `is_wanted` accepts.
fn of_matches(
    matches: &[Match],
    (query, document): (&[u64], &[u64]),
    is_wanted: &dyn Fn(&Chain) -> bool,
    steps: &mut Steps<'_>,
) -> Result<Vec<Copied>> {
    let is_passage = |chain: &Chain| {
        chain.matched >= PASSAGE_TOKENS_MIN && chain.density() >= DENSITY_MIN && is_wanted(chain)
    };
    let mut chained = chains_where(matches, GAP_TOKENS_MAX, &is_passage, steps)?;
    let found = distinct(std::mem::take(&mut chained.chains), steps)?;
    let mut copied = Vec::with_capacity(found.len());
    for chain in found {
        let matched = matched(&chained.parts(&chain, matches), query, document);
        copied.push(Copied {
            matched: with_copied_again(matched, &chain, matches, steps)?,
            query: chain.query,
            hit: chain.hit,
            in_runs: chain.matched,
        });
    }
    Ok(copied)
}

/// Adds the runs of a passage that the query has more often than the document, such as a clause or
/// a refrain: the chain has as many of them as the document.
fn with_copied_again(
    matched: Vec<Range<usize>>,
    chain: &Chain,
    matches: &[Match],
    steps: &mut Steps<'_>,
) -> Result<Vec<Range<usize>>> {
    let is_gap = |two: &[Range<usize>]| two[1].start - two[0].end >= PASSAGE_TOKENS_MIN;
    if !matched.windows(2).any(is_gap) {
        return Ok(matched);
    }
    let mut covered = CoveredRanges::default();
    matched.into_iter().for_each(|range| covered.insert(range));
    let from = matches.partition_point(|run| run.query < chain.query.start);
    let to = matches.partition_point(|run| run.query < chain.query.end);
    for run in &matches[from..to] {
        if !steps.take(1)? {
            break;
        }
        let (in_query, in_hit) = (run.query..run.query + run.len, run.hit..run.hit + run.len);
        let is_inside = in_query.end <= chain.query.end
            && chain.hit.start <= in_hit.start
            && in_hit.end <= chain.hit.end;
        if run.len < PASSAGE_TOKENS_MIN || !is_inside || !steps.take(TAKING_STEPS)? {
            continue;
        }
        if run.len - covered.covered(&in_query) >= PASSAGE_TOKENS_MIN {
            covered.insert(in_query);
        }
    }
    Ok(covered.ranges())
}

/// Returns the tokens of the query that are in the document too: those of the runs and, where the
/// stretch between two runs is equally long in both texts, those that are the same at the same
/// distance.
fn matched(runs: &[Match], query: &[u64], document: &[u64]) -> Vec<Range<usize>> {
    let mut matched: Vec<Range<usize>> = Vec::with_capacity(runs.len());
    let mut add = |range: Range<usize>| match matched.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => matched.push(range),
    };
    let mut ends = None;
    for run in runs {
        let (from, of_hit) = ends.unwrap_or((run.query, run.hit));
        if run.query - from == run.hit - of_hit {
            for at in (from..run.query).filter(|&at| query[at] == document[at - from + of_hit]) {
                add(at..at + 1);
            }
        }
        add(run.query..run.query + run.len);
        ends = Some((run.query + run.len, run.hit + run.len));
    }
    matched
}

/// Returns the first maximal runs of equal tokens, at least `LEN` long, in the order of the query:
/// all that have a seed which is not too frequent, and some of the others. The seeds of the query
/// have the same length.
///
/// # Errors
/// As [`passages`].
pub fn matches<const LEN: usize>(
    (query, of_query): (&[u64], &Seeds),
    document: &[u64],
    Limits { runs_max, occurrences_max, places_max }: Limits,
    steps: &mut Steps<'_>,
) -> Result<Vec<Match>> {
    let stop = steps.stop();
    let mut places = vec![Places { first: u32::MAX, count: 0 }; of_query.numbers.len()];
    // The next place with the same seed, for each place of the document.
    let mut next = vec![u32::MAX; document.len()];
    let of_document = seeds::<LEN>(document).enumerate();
    let enough = steps.take_each(of_document.len(), LOOKUP_STEPS)?;
    for (at, seed) in of_document.rev().take(enough) {
        stop.check_at(at)?;
        let Some(number) = of_query.number(seed) else { continue };
        let places = &mut places[number as usize];
        next[at] = places.first;
        *places = Places { first: at as u32, count: places.count + 1 };
    }
    let mut runs = Runs {
        query,
        document,
        ends: vec![0; query.len() + document.len() + 1],
        end: 0,
        found: Vec::new(),
    };
    runs.extend(0, 0);
    // Look-ups whose steps have not been charged: most places have a seed that the document lacks.
    let mut lookups = 0;
    'seeds: for (at, &number) in of_query.in_order.iter().enumerate() {
        lookups += 1;
        let places = places[number as usize];
        let mut place = places.first;
        if place == u32::MAX && lookups < LOOKUPS_AT_ONCE {
            continue;
        }
        let due = std::mem::take(&mut lookups);
        if steps.take_each(due, LOOKUP_STEPS)? < due {
            break;
        }
        if place != u32::MAX && runs.found.len() >= runs_max {
            steps.cut();
            break;
        }
        if places.count > occurrences_max {
            // A text that repeats itself has no other seeds. Where nothing else is found a few
            // places suffice, and take no more time than the runs are long.
            if at >= runs.end && !runs.extend_at_some(at, place, (&next, places_max), steps)? {
                break;
            }
            continue;
        }
        while place != u32::MAX {
            if !steps.take(runs.extend(at, place as usize))? {
                break 'seeds;
            }
            place = next[place as usize];
        }
    }
    steps.take_each(lookups, LOOKUP_STEPS)?;
    runs.extend(query.len(), document.len());
    let mut found = runs.found;
    found.retain(|found| found.len >= LEN);
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The runs found so far.
struct Runs<'a> {
    query: &'a [u64],
    document: &'a [u64],
    /// For each difference of places, where in the query its last run ends: no run is examined
    /// twice, however many seeds it has.
    ends: Vec<u32>,
    /// The end in the query of the run that ends last.
    end: usize,
    found: Vec<Match>,
}

impl Runs<'_> {
    /// Finds the runs through this place of the query and a few of the document, from `hit` on,
    /// each behind the run before it; `next` has the next place with the same seed. Returns `false`
    /// if that takes too many steps.
    fn extend_at_some(
        &mut self,
        at: usize,
        mut hit: u32,
        (next, places_max): (&[u32], usize),
        steps: &mut Steps<'_>,
    ) -> Result<bool> {
        for _ in 0..places_max {
            let found = self.found.len();
            if hit == u32::MAX {
                break;
            }
            if !steps.take(self.extend(at, hit as usize))? {
                return Ok(false);
            }
            let end = match self.found.get(found) {
                Some(run) => run.hit + run.len,
                None => hit as usize + 1,
            };
            if places_max > 1 {
                while hit != u32::MAX && (hit as usize) < end {
                    if !steps.take(1)? {
                        return Ok(false);
                    }
                    hit = next[hit as usize];
                }
            }
        }
        Ok(true)
    }

    /// Finds the run through this place of both texts, unless it was found before, and returns the
    /// steps that this took.
    fn extend(&mut self, at: usize, hit: usize) -> u64 {
        let end = &mut self.ends[at + self.document.len() - hit];
        if at < *end as usize {
            return LOOKUP_STEPS;
        }
        let back = self.query[..at].iter().rev().zip(self.document[..hit].iter().rev());
        let before = back.take_while(|(a, b)| a == b).count();
        let ahead = self.query[at..].iter().zip(&self.document[hit..]);
        let after = ahead.take_while(|(a, b)| a == b).count();
        // The texts have fewer than 2^32 tokens.
        *end = (at + after) as u32;
        self.end = self.end.max(at + after);
        let (query, hit) = (at - before, hit - before);
        if self.found.len() == self.found.capacity() {
            // Grows by less than a factor of two, unlike a vector.
            self.found.reserve_exact((self.found.len() / GROWTH).max(1 << 10));
        }
        self.found.push(Match { query, hit, len: before + after });
        2 * LOOKUP_STEPS + ((before + after) / TOKENS_A_STEP) as u64
    }
}

/// Places of a seed in the document.
#[derive(Clone, Copy)]
struct Places {
    first: u32,
    count: u32,
}

/// Returns the hashes of all runs of `LEN` tokens.
fn seeds<const LEN: usize>(
    tokens: &[u64],
) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator {
    // Tokens are hashes already; rotating each by a different number of bits makes their order
    // count.
    let turned = |run: &[u64]| (0..).zip(run).fold(0, |sum, (i, t)| sum ^ t.rotate_left(21 * i));
    tokens.windows(LEN).map(move |run| mix64(turned(run)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::runtime::stop::STEPS_BETWEEN_LOOKS;
    use crate::runtime::stop::testing::After;
    use proptest::prelude::*;

    fn seeds(query: &[u64]) -> Seeds {
        Seeds::new(query, Stop::NEVER).unwrap()
    }

    fn passages(query: &[u64], document: &[u64]) -> Vec<Copied> {
        let steps = &mut Steps::unbounded(Stop::NEVER);
        super::passages((query, &seeds(query)), document, steps).unwrap()
    }

    /// Returns the first runs, at most `runs_max`.
    fn first_matches(
        (query, of_query): (&[u64], &Seeds),
        document: &[u64],
        runs_max: usize,
        steps: &mut Steps<'_>,
    ) -> Result<Vec<Match>> {
        let limits = Limits { runs_max, occurrences_max: SEED_OCCURRENCES_MAX, places_max: 1 };
        super::matches::<SEED_TOKENS>((query, of_query), document, limits, steps)
    }

    fn matches(query: &[u64], document: &[u64]) -> Vec<Match> {
        let steps = &mut Steps::unbounded(Stop::NEVER);
        first_matches((query, &seeds(query)), document, usize::MAX, steps).unwrap()
    }

    fn whole(query: Range<usize>, hit: Range<usize>) -> [Copied; 1] {
        [Copied { matched: [query.clone()].into(), in_runs: query.len(), query, hit }]
    }

    /// Returns every maximal run of equal tokens, by definition.
    fn naive(query: &[u64], document: &[u64]) -> Vec<Match> {
        let mut found = Vec::new();
        for at in 0..query.len() {
            for hit in 0..document.len() {
                let begins = at == 0 || hit == 0 || query[at - 1] != document[hit - 1];
                let same = query[at..].iter().zip(&document[hit..]).take_while(|(a, b)| a == b);
                let len = same.count();
                if begins && len >= SEED_TOKENS {
                    found.push(Match { query: at, hit, len });
                }
            }
        }
        found
    }

    proptest! {
        #[test]
        fn matches_are_the_maximal_runs(
            query in proptest::collection::vec(0u64..4, 0..40),
            document in proptest::collection::vec(0u64..4, 0..15),
        ) {
            // The texts are so short that no seed is too frequent.
            prop_assert_eq!(matches(&query, &document), naive(&query, &document));
        }
    }

    #[test]
    fn a_run_that_begins_with_a_frequent_seed_is_found_whole() {
        let mut document: Vec<u64> =
            (0..u64::from(SEED_OCCURRENCES_MAX) + 3).flat_map(|i| [1, 2, 3, 100 + i]).collect();
        document.extend([1, 2, 3, 7, 8, 9]);
        document.push(4);
        let found = matches(&[1, 2, 3, 7, 8, 9], &document);
        let expected = Match { query: 0, hit: document.len() - 7, len: 6 };
        assert!(found.contains(&expected), "{found:?}");
    }

    #[test]
    fn a_text_that_repeats_itself_is_a_copy_of_itself() {
        let text: Vec<u64> = (0..50_000).map(|i| i % 7).collect();
        let found = passages(&text, &text);
        assert_eq!(found, whole(0..50_000, 0..50_000));
    }

    #[test]
    fn a_copy_of_repeated_lines_is_found_between_other_words() {
        let lines: Vec<u64> = (0..700).map(|i| i % 10).collect();
        let query = [&[100, 101], &lines[..], &[102]].concat();
        let document = [&[200], &lines[..], &[201, 202]].concat();
        let found = passages(&query, &document);
        assert_eq!(found, whole(2..702, 1..701));
    }

    #[test]
    fn changed_words_of_a_passage_are_not_matched() {
        // Tokens of the query below 100 are those of the document.
        let check = |query: &[u64], expected: &[(usize, usize)]| {
            let document: Vec<u64> = (0..40).collect();
            let found = passages(query, &document);
            assert_eq!(found.len(), 1, "{query:?}");
            let matched: Vec<_> = found[0].matched.iter().map(|m| (m.start, m.end)).collect();
            assert_eq!(matched, expected, "{query:?}");
        };
        let replaced = |places: &[usize]| {
            let mut query: Vec<u64> = (0..40).collect();
            places.iter().for_each(|&place| query[place] = 100 + place as u64);
            query
        };
        check(&replaced(&[]), &[(0, 40)]);
        check(&replaced(&[10, 11, 20]), &[(0, 10), (12, 20), (21, 40)]);
        // A single token between two replaced ones keeps its position.
        check(&replaced(&[10, 12]), &[(0, 10), (11, 12), (13, 40)]);
        let inserted = [&replaced(&[])[..10], &[100, 101, 102], &replaced(&[])[10..]].concat();
        check(&inserted, &[(0, 10), (13, 43)]);
        let left_out = [&replaced(&[])[..10], &replaced(&[])[15..]].concat();
        check(&left_out, &[(0, 35)]);
    }

    #[test]
    fn lines_that_differ_in_a_number_take_no_quadratic_time() {
        // Seeds are alternately frequent and rare, and every rare one is in the same run.
        for len in [4_000, 400_000] {
            let text: Vec<u64> =
                (0..len).map(|i| if i % 8 == 0 { 100 + i } else { i % 8 }).collect();
            let mut steps = Steps::unbounded(Stop::NEVER);
            let found = super::passages((&text, &seeds(&text)), &text, &mut steps).unwrap();
            assert_eq!(found.len(), 1);
            assert!(steps.taken() <= 64 * len, "{} steps for {len} tokens", steps.taken());
        }
    }

    #[test]
    fn a_passage_that_a_text_has_again_is_found_at_both_places() {
        let repeated = |text: &[u64]| {
            let steps = &mut Steps::unbounded(Stop::NEVER);
            let found = repeated(text, text, steps).unwrap();
            found.into_iter().map(|found| (found.query, found.hit)).collect::<Vec<_>>()
        };
        let passage: Vec<u64> = (0..30).collect();
        let own: Vec<u64> = (100..140).collect();
        let other: Vec<u64> = (200..240).collect();
        assert_eq!(repeated(&[&own[..], &passage, &other].concat()), []);
        let twice = [&passage[..], &own, &passage].concat();
        assert_eq!(repeated(&twice), [(0..30, 70..100)]);
        // Of three places each is found, in two pairs.
        let three = [&passage[..], &own, &passage, &other, &passage].concat();
        let found = repeated(&three);
        assert_eq!(found.len(), 2, "{found:?}");
        let places: std::collections::BTreeSet<usize> =
            found.iter().flat_map(|(one, other)| [one.start, other.start]).collect();
        assert_eq!(places, [0, 70, 140].into());
        // A word that repeats itself without end is no passage beside itself.
        assert_eq!(repeated(&[7; 20]), []);
    }

    #[test]
    fn no_more_runs_are_chained_than_there_is_memory_for() {
        // Every run of three is four times in the document, each before another word.
        let query: Vec<u64> = (0..100).collect();
        let document: Vec<u64> =
            (0..4 * 97).flat_map(|i| [i % 97, i % 97 + 1, i % 97 + 2, 1000 + i]).collect();
        let mut steps = Steps::unbounded(Stop::NEVER);
        let mut found = |runs_max| {
            let of_query = (&query[..], &seeds(&query));
            first_matches(of_query, &document, runs_max, &mut steps).unwrap()
        };
        let all = found(usize::MAX);
        assert_eq!(all.len(), 4 * 97);
        let some = found(10);
        assert!(some.len() >= 10 && some.len() < 20 && some.iter().all(|run| all.contains(run)));
        assert!(!steps.is_complete());
        // The number of runs equals the limit, and the last run of the query is not in the
        // document.
        let mut steps = Steps::unbounded(Stop::NEVER);
        let query: Vec<u64> = (0..101).collect();
        let found = first_matches((&query, &seeds(&query)), &document, 4 * 97, &mut steps);
        assert_eq!((found.unwrap().len(), steps.is_complete()), (4 * 97, true));
    }

    #[test]
    fn runs_that_cross_blocks_of_lookups_are_found_whole() {
        let document: Vec<u64> = (0..3 * LOOKUPS_AT_ONCE as u64).collect();
        let around = |place: usize| &document[place - 5..place + 5];
        let last = document.len() - LOOKUPS_AT_ONCE;
        let other: Vec<u64> = (1 << 40..(1 << 40) + 2 * LOOKUPS_AT_ONCE as u64).collect();
        let pieces = [5, last, 2 * LOOKUPS_AT_ONCE - 2, last - 2, document.len() - 5].map(around);
        let query = [pieces[0], &other, pieces[1], pieces[2], &other[..9], pieces[3], pieces[4]];
        let query = query.concat();
        let found = matches(&query, &document);
        assert_eq!(found, naive(&query, &document));
        assert_eq!(found.len(), pieces.len());
    }

    #[test]
    fn looking_up_many_places_without_a_run_is_stopped() {
        let flag = After::looks(1);
        let query: Vec<u64> = (0..1 << 17).collect();
        let seeds = seeds(&query);
        let mut steps = Steps::unbounded(flag.stop());
        let stopped = first_matches((&query, &seeds), &[1, 2, 4], usize::MAX, &mut steps);
        assert!(matches!(stopped, Err(Error::Cancelled)));
        assert!(steps.taken() <= 3 * STEPS_BETWEEN_LOOKS);
    }
}
