//! Finds maximal runs of equal tokens in two texts by seeds: shorter runs of a fixed length.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::chain::Match;
use super::common::table;
use super::hash_filter::HashFilter;
use super::{COMPARED_A_STEP, LOOKUP_STEPS, LOOKUPS_AT_ONCE, NONE, TextPair};
use crate::error::Result;
use crate::hash::{BuildKeyHasher, mix64};
use crate::runtime::{Steps, Stop};

/// The memory for runs grows by this fraction of its size, which limits the unused memory.
pub const GROWTH: usize = 8;

/// Limits of the search for runs.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Maximum number of runs to collect.
    pub runs_max: usize,
    /// Seeds more frequent than this in either text are looked up only where nothing else is found,
    /// at `places_max` places. Counting only in the document would not suffice: a line that the
    /// longer text repeats would be extended at each of its places.
    pub occurrences_max: u32,
    /// Maximum places of a frequent seed (see `occurrences_max`), each behind the run found at the
    /// previous place.
    pub places_max: usize,
}

/// Numbered seeds of a text, computed once for all texts to align with it.
pub struct Seeds {
    numbers: HashMap<u64, u32, BuildKeyHasher>,
    known: HashFilter,
    /// Occurrences of each seed in the text, by seed number.
    counts: Vec<u32>,
    /// The number of the seed at each place of the text.
    in_order: Vec<u32>,
    /// Places of each seed, computed for the first text that is aligned as the query.
    places: OnceCell<SeedPlaces>,
}

/// The known seeds, and the text of a pair that they come from.
#[derive(Clone, Copy)]
pub enum KnownSeeds<'a> {
    /// The seeds come from the query.
    OfQuery(&'a Seeds),
    /// The seeds come from the document.
    OfDocument(&'a Seeds),
}

impl Seeds {
    /// Returns the runs of `LEN` tokens of a sequence of token hashes.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn of_length<const LEN: usize>(tokens: &[u64], stop: &Stop) -> Result<Seeds> {
        let mut numbers = table(tokens.len());
        let (mut counts, mut in_order) = (Vec::new(), Vec::with_capacity(tokens.len()));
        for (at, seed) in seeds::<LEN>(tokens).enumerate() {
            stop.check_at(at)?;
            let next = counts.len() as u32;
            let number = *numbers.entry(mix64(seed)).or_insert(next);
            if number == next {
                counts.push(0);
            }
            counts[number as usize] += 1;
            in_order.push(number);
        }
        let known = HashFilter::new(seeds::<LEN>(tokens), stop)?;
        Ok(Seeds { numbers, known, counts, in_order, places: OnceCell::new() })
    }

    /// Returns the places of the seeds in their own text.
    fn places(&self, stop: &Stop) -> Result<&SeedPlaces> {
        if let Some(places) = self.places.get() {
            return Ok(places);
        }
        let number = |at: usize| Some(self.in_order[at]);
        let places = SeedPlaces::new(self.numbers.len(), self.in_order.len(), number, stop)?;
        Ok(self.places.get_or_init(|| places))
    }

    /// Returns the places of seeds in a text, with the number of the seed. There are few places,
    /// because most texts are much longer than their common parts.
    fn found_in<const LEN: usize>(&self, tokens: &[u64], stop: &Stop) -> Result<Vec<(u32, u32)>> {
        let mut found = Vec::new();
        for start in (0..tokens.len()).step_by(LOOKUPS_AT_ONCE) {
            stop.check()?;
            let end = tokens.len().min(start + LOOKUPS_AT_ONCE + LEN - 1);
            for (at, run) in (start as u32..).zip(tokens[start..end].windows(LEN)) {
                if let Some(number) = self.number(seed_of::<LEN>(run)) {
                    found.push((at, number));
                }
            }
        }
        Ok(found)
    }

    /// Returns the number of a seed, if the text has it.
    ///
    /// Equal words in a row leave few random bits in a seed, so the map spreads the bits. The
    /// filter does not, because it is read at each place of a document.
    #[inline]
    fn number(&self, seed: u64) -> Option<u32> {
        if self.known.may_have(seed) { self.numbers.get(&mix64(seed)).copied() } else { None }
    }
}

/// Returns the first maximal runs of at least `LEN` equal tokens, in the order of the query: all
/// runs with a seed that is not too frequent, and some further runs. The seeds of one text are
/// known and have length `LEN`. The runs do not depend on which text the seeds come from.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn matches<const LEN: usize>(
    TextPair { a: query, b: document }: TextPair<&[u64]>,
    known: KnownSeeds<'_>,
    limits: Limits,
    steps: &mut Steps<'_>,
) -> Result<Vec<Match>> {
    let windows = |tokens: &[u64]| (tokens.len() + 1).saturating_sub(LEN);
    if !steps.take(LOOKUP_STEPS * windows(document) as u64)? {
        return Ok(Vec::new());
    }
    let mut runs = EqualRuns {
        query,
        document,
        windows: windows(query),
        ends: vec![0; query.len() + document.len() + 1],
        end: 0,
        found: Vec::new(),
    };
    runs.extend(0, 0);
    match known {
        KnownSeeds::OfQuery(seeds) => {
            let number = |at: usize| seeds.number(seed_of::<LEN>(&document[at..at + LEN]));
            let (count, stop) = (seeds.numbers.len(), steps.stop());
            let places = SeedPlaces::new(count, windows(document), number, stop)?;
            let in_order = (0..).zip(seeds.in_order.iter().copied());
            runs.find(in_order, &seeds.counts, &places, limits, steps)?;
        }
        KnownSeeds::OfDocument(seeds) => {
            let places = seeds.places(steps.stop())?;
            let in_order = seeds.found_in::<LEN>(query, steps.stop())?;
            let mut counts = vec![0; seeds.counts.len()];
            in_order.iter().for_each(|&(_, number)| counts[number as usize] += 1);
            runs.find(in_order.into_iter(), &counts, places, limits, steps)?;
        }
    }
    runs.extend(query.len(), document.len());
    let mut found = runs.found;
    found.retain(|found| found.len >= LEN);
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The runs found so far, and where to continue.
struct EqualRuns<'a> {
    query: &'a [u64],
    document: &'a [u64],
    /// The number of places of the query where a seed may begin.
    windows: usize,
    /// Per difference of places, the end of the last run in the query, so that a run with many
    /// seeds is examined only once.
    ends: Vec<u32>,
    /// The maximum end of all runs in the query.
    end: usize,
    found: Vec<Match>,
}

impl EqualRuns<'_> {
    /// Finds the runs through the places of seeds in the document. `in_order` has the place and
    /// number of every seed of the query, and `counts` the occurrences of the seeds. The document
    /// may lack a seed.
    fn find(
        &mut self,
        in_order: impl Iterator<Item = (u32, u32)>,
        counts: &[u32],
        places: &SeedPlaces,
        Limits { runs_max, occurrences_max, places_max }: Limits,
        steps: &mut Steps<'_>,
    ) -> Result<()> {
        // The places of the query whose steps have been charged. Steps are charged together,
        // because the document lacks the seeds of most places.
        let mut charged = 0;
        for (at, number) in in_order {
            let at = at as usize;
            let its = places.of_number[number as usize];
            let mut place = its.first;
            let due = at + 1 - charged;
            if place == NONE && due < LOOKUPS_AT_ONCE {
                continue;
            }
            charged += due;
            if steps.take_each(due, LOOKUP_STEPS)? < due {
                return Ok(());
            }
            if place == NONE {
                continue;
            }
            if self.found.len() >= runs_max {
                steps.cut();
                return Ok(());
            }
            if its.count.max(counts[number as usize]) > occurrences_max {
                // A text that repeats itself has only frequent seeds. Where nothing else is found,
                // a few places suffice, and take no more time than the runs are long.
                if at >= self.end
                    && !self.extend_at_some(at, place, &places.next, places_max, steps)?
                {
                    return Ok(());
                }
                continue;
            }
            while place != NONE {
                if !steps.take(self.extend(at, place as usize))? {
                    return Ok(());
                }
                place = places.next[place as usize];
            }
        }
        steps.take_each(self.windows - charged, LOOKUP_STEPS)?;
        Ok(())
    }

    /// Finds runs through a place of the query and a few places of the document, from `hit` on,
    /// each behind the previous run. `next` has the next place with the same seed. Returns `false`
    /// if that takes too many steps.
    fn extend_at_some(
        &mut self,
        at: usize,
        mut hit: u32,
        next: &[u32],
        places_max: usize,
        steps: &mut Steps<'_>,
    ) -> Result<bool> {
        for _ in 0..places_max {
            let found = self.found.len();
            if hit == NONE {
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
                while hit != NONE && (hit as usize) < end {
                    if !steps.take(1)? {
                        return Ok(false);
                    }
                    hit = next[hit as usize];
                }
            }
        }
        Ok(true)
    }

    /// Finds the run through a place of both texts, unless found before, and returns the steps
    /// taken.
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
            // Grow by less than the factor of two that a vector would use.
            self.found.reserve_exact((self.found.len() / GROWTH).max(1 << 10));
        }
        self.found.push(Match { query, hit, len: before + after });
        2 * LOOKUP_STEPS + ((before + after) / COMPARED_A_STEP) as u64
    }
}

/// All places of each seed in a text, as linked lists.
struct SeedPlaces {
    /// The first place and the count, by seed number.
    of_number: Vec<SeedOccurrences>,
    /// For each place, the next place with the same seed.
    next: Vec<u32>,
}

/// The occurrences of a seed in a text.
#[derive(Clone, Copy)]
struct SeedOccurrences {
    /// [`NONE`] if the text lacks the seed.
    first: u32,
    count: u32,
}

impl Default for SeedOccurrences {
    /// Returns the value for a seed that the text lacks.
    fn default() -> SeedOccurrences {
        SeedOccurrences { first: NONE, count: 0 }
    }
}

impl SeedPlaces {
    /// Records the places of `seeds` seeds in the first `count` places of a text. `number` returns
    /// the seed at a place, or `None` for an unknown seed.
    fn new(
        seeds: usize,
        count: usize,
        number: impl Fn(usize) -> Option<u32>,
        stop: &Stop,
    ) -> Result<SeedPlaces> {
        let mut of_number = vec![SeedOccurrences::default(); seeds];
        let mut next = vec![NONE; count];
        // Backwards, so that the places of a seed ascend.
        let mut end = count;
        while end > 0 {
            stop.check()?;
            let start = end.saturating_sub(LOOKUPS_AT_ONCE);
            for at in (start..end).rev() {
                let Some(number) = number(at) else { continue };
                let places = &mut of_number[number as usize];
                next[at] = places.first;
                *places = SeedOccurrences { first: at as u32, count: places.count + 1 };
            }
            end = start;
        }
        Ok(SeedPlaces { of_number, next })
    }
}

/// Returns the hashes of all runs of `LEN` tokens.
fn seeds<const LEN: usize>(tokens: &[u64]) -> impl ExactSizeIterator<Item = u64> {
    tokens.windows(LEN).map(seed_of::<LEN>)
}

/// Returns the hash of a run of `LEN` tokens.
#[inline(always)]
fn seed_of<const LEN: usize>(run: &[u64]) -> u64 {
    // Tokens are hashes already. Rotating each token by a different number of bits makes the order
    // count.
    let run: &[u64; LEN] = run.try_into().expect("a window has its length");
    (0..).zip(run).fold(0, |sum, (i, token)| sum ^ token.rotate_left(21 * i))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::runtime::stop::STEPS_BETWEEN_LOOKS;
    use crate::runtime::stop::testing::After;
    use proptest::prelude::*;

    const LEN: usize = 3;
    const OCCURRENCES_MAX: u32 = 16;

    fn seeds(query: &[u64]) -> Seeds {
        Seeds::of_length::<LEN>(query, Stop::NEVER).unwrap()
    }

    /// Returns the first runs, at most `runs_max`.
    fn first_matches(
        (query, of_query): (&[u64], &Seeds),
        document: &[u64],
        runs_max: usize,
        steps: &mut Steps<'_>,
    ) -> Result<Vec<Match>> {
        let tokens = TextPair::new(query, document);
        let limits = Limits { runs_max, occurrences_max: OCCURRENCES_MAX, places_max: 1 };
        let found = super::matches::<LEN>(tokens, KnownSeeds::OfQuery(of_query), limits, steps)?;
        let of_document = seeds(document);
        let known = KnownSeeds::OfDocument(&of_document);
        let others = &mut Steps::unbounded(Stop::NEVER);
        assert_eq!(super::matches::<LEN>(tokens, known, limits, others)?, found);
        Ok(found)
    }

    fn matches(query: &[u64], document: &[u64]) -> Vec<Match> {
        let steps = &mut Steps::unbounded(Stop::NEVER);
        first_matches((query, &seeds(query)), document, usize::MAX, steps).unwrap()
    }

    /// Returns every maximal run of equal tokens, by definition.
    fn naive(query: &[u64], document: &[u64]) -> Vec<Match> {
        let mut found = Vec::new();
        for at in 0..query.len() {
            for hit in 0..document.len() {
                let begins = at == 0 || hit == 0 || query[at - 1] != document[hit - 1];
                let same = query[at..].iter().zip(&document[hit..]).take_while(|(a, b)| a == b);
                let len = same.count();
                if begins && len >= LEN {
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
            (0..u64::from(OCCURRENCES_MAX) + 3).flat_map(|i| [1, 2, 3, 100 + i]).collect();
        document.extend([1, 2, 3, 7, 8, 9]);
        document.push(4);
        let found = matches(&[1, 2, 3, 7, 8, 9], &document);
        let expected = Match { query: 0, hit: document.len() - 7, len: 6 };
        assert!(found.contains(&expected), "{found:?}");
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
