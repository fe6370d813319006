//! The runs of tokens that two texts share, and the windows that share the most.

use std::ops::Range;

use super::background::Repeats;
use crate::number::log2;

/// The maximum number of places of a token that are looked up in a text.
const PLACES_MAX: usize = 8;

/// The sums of the information of a text's first tokens, for the information of any range.
#[derive(Debug)]
pub struct Sums(Vec<f64>);

impl Sums {
    /// Adds up the information of each token.
    #[must_use]
    pub fn new(bits: &[f64]) -> Sums {
        let mut sum = 0.0;
        let sums = bits.iter().map(|bits| {
            sum += bits;
            sum
        });
        Sums(std::iter::once(0.0).chain(sums).collect())
    }

    /// Returns the information of the tokens in a range.
    #[must_use]
    pub fn of(&self, range: &Range<usize>) -> f64 {
        self.0[range.end] - self.0[range.start]
    }

    /// Returns the information of the tokens of a run, without the tokens that repeat an earlier
    /// part of the run.
    #[must_use]
    pub fn without_repeats(&self, run: &Range<usize>, repeats: &Repeats) -> f64 {
        if repeats.is_empty() {
            return self.of(run);
        }
        let new = run.clone().filter(|&at| !repeats.has(at, run.start));
        new.map(|at| self.of(&(at..at + 1))).sum()
    }

    /// Returns the score of a passage, in bits: the information of the matched tokens of the query.
    /// Each run after the best could be at any of `hit` places in the document, so log2 of their
    /// number is subtracted from its information. A run with less information than that does not
    /// count.
    #[must_use]
    pub fn score(&self, matched: &[Range<usize>], hit: usize) -> f64 {
        let place = log2(1.0 + hit as f64);
        let runs: Vec<f64> = matched.iter().map(|run| self.of(run)).collect();
        let best = runs.iter().copied().fold(0.0, f64::max);
        let others: f64 = runs.iter().map(|bits| (bits - place).max(0.0)).sum();
        best + others - (best - place).max(0.0)
    }
}

/// The places of the tokens of a text.
///
/// Places whose hashes end in the same bits form a linked list. Most passages need the places only
/// once, and a map of lists takes ten times as long to make.
pub(super) struct TokenPlaces<'a> {
    text: &'a [u64],
    /// For each ending of hashes, the first place.
    first: Vec<u32>,
    /// For each place, the next place with the same ending.
    next: Vec<u32>,
}

/// Marks the end of a list.
const NONE: u32 = u32::MAX;

impl<'a> TokenPlaces<'a> {
    pub(super) fn new(text: &'a [u64]) -> TokenPlaces<'a> {
        let first = vec![NONE; text.len().next_power_of_two()];
        let mut places = TokenPlaces { text, first, next: vec![NONE; text.len()] };
        for (at, &token) in text.iter().enumerate() {
            let (mut last, mut count) = (NONE, 0);
            for other in places.linked(token) {
                last = other;
                count += usize::from(text[other as usize] == token);
            }
            let ending = places.ending(token);
            match places.next.get_mut(last as usize) {
                None => places.first[ending] = at as u32,
                // Further places would never be looked up.
                Some(next) if count < PLACES_MAX => *next = at as u32,
                Some(_) => {}
            }
        }
        places
    }

    fn ending(&self, token: u64) -> usize {
        token as usize & (self.first.len() - 1)
    }

    /// Returns the places whose hashes have the same ending as a token, ascending.
    fn linked(&self, token: u64) -> impl Iterator<Item = u32> + use<'_> {
        let is_place = |place: &u32| *place != NONE;
        let first = Some(self.first[self.ending(token)]).filter(is_place);
        std::iter::successors(first, move |&place| Some(self.next[place as usize]).filter(is_place))
    }

    /// Returns the first places of a token, ascending.
    fn of(&self, token: u64) -> impl Iterator<Item = usize> + use<'_> {
        let places = self.linked(token).map(|place| place as usize);
        places.filter(move |&place| self.text[place] == token)
    }

    /// Returns the longest equal runs with another text. A run that only continues an earlier run
    /// is not returned. `bits` returns the information of a run of this text.
    pub(super) fn runs(
        &self,
        other: &[u64],
        bits: impl Fn(&Range<usize>) -> f64,
    ) -> Vec<CommonRun> {
        let mut runs = Vec::new();
        for (hit, token) in other.iter().enumerate() {
            for at in self.of(*token) {
                if at > 0 && hit > 0 && self.text[at - 1] == other[hit - 1] {
                    continue;
                }
                let (rest, of_other) = (&self.text[at..], &other[hit..]);
                let len = rest.iter().zip(of_other).take_while(|(a, b)| a == b).count();
                let query = at..at + len;
                runs.push(CommonRun { bits: bits(&query), query, hit });
            }
        }
        runs
    }
}

/// Returns the longest consecutive runs of the matched tokens of a text that `hit` also contains.
/// The matched words of a rewritten passage may be anywhere in `hit`.
#[must_use]
pub fn equal_runs(text: &[u64], matched: &[Range<usize>], hit: &[u64]) -> Vec<Range<usize>> {
    let places = TokenPlaces::new(hit);
    let mut runs = Vec::new();
    for range in matched {
        let mut at = range.start;
        while at < range.end {
            let rest = &text[at..range.end];
            let equal =
                |place: usize| rest.iter().zip(&hit[place..]).take_while(|(a, b)| a == b).count();
            let len = places.of(text[at]).map(equal).max();
            if let Some(len) = len {
                runs.push(at..at + len);
            }
            at += len.unwrap_or(1);
        }
    }
    runs
}

/// A run of tokens that two texts share.
#[derive(Debug, Clone)]
pub(super) struct CommonRun {
    pub query: Range<usize>,
    /// Where the run begins in the other text.
    pub hit: usize,
    /// The information of the run.
    pub bits: f64,
}

/// Returns the runs that do not overlap in the query, in descending order of information. A run of
/// the query that occurs several times in the other text is returned once per occurrence. The best
/// run is always included, further runs only with at least `least` bits.
pub(super) fn disjoint(mut runs: Vec<CommonRun>, query: usize, least: f64) -> Vec<CommonRun> {
    // Numbers that are not negative are in the order of their bits.
    let order = |run: &CommonRun| (!run.bits.to_bits(), run.query.start, run.query.end, run.hit);
    let Some(best) = runs.iter().min_by_key(|run| order(run)).map(|best| best.bits) else {
        return runs;
    };
    runs.retain(|run| run.bits >= least.min(best));
    runs.sort_unstable_by_key(order);
    let mut taken = vec![false; query];
    let mut last = 0..0;
    runs.retain(|run| {
        let is_new = !taken[run.query.clone()].contains(&true);
        if is_new {
            taken[run.query.clone()].fill(true);
            last = run.query.clone();
        }
        is_new || last == run.query
    });
    runs
}

/// Returns the best score per token of two windows of at most this many tokens, one in each text,
/// from the [`disjoint`] runs of the texts. Windows begin at every half of their length.
pub(super) fn best_window(runs: &[CommonRun], window: usize, lens: (usize, usize)) -> f64 {
    let stride = window / 2;
    let place = log2(1.0 + window.min(lens.1) as f64);
    let count = |len: usize| len.saturating_sub(window).div_ceil(stride) + 1;
    let of = |start: usize, len: usize, count: usize| {
        (start + len).saturating_sub(window).div_ceil(stride)..count.min(start / stride + 1)
    };
    let counts = (count(lens.0), count(lens.1));
    // For each pair of windows, the score and the end of the last run.
    let mut windows = vec![(0.0, 0); counts.0 * counts.1];
    let mut best = 0.0f64;
    for CommonRun { query, hit, bits } in runs {
        let more = bits - place;
        for row in of(query.start, query.len(), counts.0) {
            for column in of(*hit, query.len(), counts.1) {
                let (score, last) = &mut windows[row * counts.1 + column];
                if *last == 0 {
                    *score = *bits;
                } else if *last != query.end && more > 0.0 {
                    *score += more;
                }
                *last = query.end;
                best = best.max(*score);
            }
        }
    }
    best / window.min(lens.0).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_run_adds_what_it_says_beyond_its_place(
            bits in prop::collection::vec(0.0f64..20.0, 9), hit in 1usize..1000,
        ) {
            let (sums, place) = (Sums::new(&bits), log2(1.0 + hit as f64));
            let runs = [0..3, 4..6, 7..9];
            let mut of = runs.clone().map(|run| sums.of(&run));
            of.sort_unstable_by(f64::total_cmp);
            let expected = of[2] + (of[1] - place).max(0.0) + (of[0] - place).max(0.0);
            prop_assert!((sums.score(&runs, hit) - expected).abs() < 1e-9);
            prop_assert_eq!(sums.score(&[], hit), 0.0);
        }

        #[test]
        fn places_are_the_first_of_each_token(text in prop::collection::vec(0u64..9, 0..90)) {
            // Some tokens share an ending.
            let text: Vec<u64> = text.iter().map(|token| token * 64 / 3).collect();
            let places = TokenPlaces::new(&text);
            for token in 0..200 {
                let all = text.iter().enumerate().filter(|(_, other)| **other == token);
                let expected: Vec<usize> = all.map(|(at, _)| at).take(PLACES_MAX).collect();
                prop_assert_eq!(places.of(token).collect::<Vec<_>>(), expected);
            }
        }

        #[test]
        fn the_best_run_is_that_of_all_runs(
            one in prop::collection::vec(0u64..5, 0..12),
            other in prop::collection::vec(0u64..5, 0..12),
            bits in prop::collection::vec(0.0f64..9.0, 12),
        ) {
            let sums = Sums::new(&bits);
            let mut best = 0.0f64;
            for at in 0..one.len() {
                for hit in 0..other.len() {
                    let pairs = one[at..].iter().zip(&other[hit..]);
                    let len = pairs.take_while(|(a, b)| a == b).count();
                    best = best.max(sums.of(&(at..at + len)));
                }
            }
            // If a text has a token more often, only the first places are looked up.
            let is_exact = (0..5).all(|token| one.iter().filter(|&&t| t == token).count() <= 8);
            let runs = TokenPlaces::new(&one).runs(&other, |run| sums.of(run));
            let found = disjoint(runs, one.len(), 0.0);
            let found = found.first().map_or(0.0, |best| best.bits);
            prop_assert!(found == best || (!is_exact && found < best));
        }

        #[test]
        fn the_best_window_is_that_of_all_pairs_of_windows(
            one in prop::collection::vec(0u64..7, 0..40),
            other in prop::collection::vec(0u64..7, 0..40),
            bits in prop::collection::vec(8.0f64..12.0, 40),
            window in 2usize..20,
        ) {
            let lens = (one.len(), other.len());
            let sums = Sums::new(&bits);
            let runs = TokenPlaces::new(&one).runs(&other, |run| sums.of(run));
            let runs = disjoint(runs, one.len(), 8.0);
            let starts = |len: usize| {
                let is_last = move |start: usize| start + window >= len;
                std::iter::successors(Some(0), move |&start| {
                    (!is_last(start)).then_some(start + window / 2)
                })
            };
            let place = log2(1.0 + window.min(lens.1) as f64);
            let mut best = 0.0f64;
            for in_one in starts(lens.0).map(|start| start..start + window) {
                for in_other in starts(lens.1).map(|start| start..start + window) {
                    let is_in = |window: &Range<usize>, start: usize, len: usize| {
                        window.start <= start && start + len <= window.end
                    };
                    let mut inner: Vec<&CommonRun> = runs
                        .iter()
                        .filter(|run| {
                            let (start, len) = (run.query.start, run.query.len());
                            is_in(&in_one, start, len) && is_in(&in_other, run.hit, len)
                        })
                        .collect();
                    inner.dedup_by_key(|run| run.query.start);
                    let of = |run: &&CommonRun| (run.bits - place).max(0.0);
                    let first = inner.first().map_or(0.0, |run| run.bits);
                    best = best.max(first + inner.iter().skip(1).map(of).sum::<f64>());
                }
            }
            let found = best_window(&runs, window, lens);
            prop_assert!((found - best / window.min(lens.0).max(1) as f64).abs() < 1e-9);
        }

        #[test]
        fn equal_runs_are_in_the_other_text_and_hold_all_matched_tokens_that_are(
            text in prop::collection::vec(0u64..5, 1..20),
            hit in prop::collection::vec(0u64..5, 0..8),
            (start, len) in (0usize..20, 0usize..20),
        ) {
            let matched = start.min(text.len())..(start + len).min(text.len());
            let runs = equal_runs(&text, std::slice::from_ref(&matched), &hit);
            let is_in = |run: &[u64]| hit.windows(run.len()).any(|window| window == run);
            prop_assert!(runs.iter().all(|run| is_in(&text[run.clone()])));
            prop_assert!(runs.windows(2).all(|two| two[0].end <= two[1].start));
            let held = runs.iter().map(Range::len).sum::<usize>();
            prop_assert_eq!(held, text[matched].iter().filter(|token| hit.contains(token)).count());
        }
    }
}
