//! The distinct runs of tokens of a text.
//!
//! A run is k tokens in a row, and measures compare the sets of runs of two texts. A hash of 64
//! bits that rolls along the text identifies a run.

use std::collections::HashSet;
use std::ops::Range;

use crate::error::Result;
use crate::hash::{BuildKeyHasher, mix64};
use crate::overlap::Overlap;
use crate::runtime::Stop;
use crate::scheme::run_values;
use crate::text::Analyzer;
use crate::text::mark::is_marked;

/// The distinct runs of a text.
///
/// The set is a table of hashes with at least twice as many places. Hashes are evenly distributed,
/// and filling the table takes a third of the time of sorting the hashes.
///
/// ```
/// use cento_text::compare::runs::RunSet;
///
/// // The runs of two tokens: {1 2, 2 3, 3 4} and {2 3, 3 4, 4 5}.
/// let (a, b) = (RunSet::new(&[1, 2, 3, 4], 2), RunSet::new(&[2, 3, 4, 5], 2));
/// let overlap = a.overlap(&b);
/// assert_eq!((overlap.shared, overlap.in_a, overlap.in_b), (2, 3, 3));
/// ```
#[derive(Debug, Clone)]
pub struct RunSet {
    /// Every hash is at the first free place from the place that its low bits select. Elsewhere
    /// [`FREE`].
    table: Vec<u64>,
    count: u32,
    /// The repetitions of runs in the order of the text, empty for programs. Counting them here
    /// took half as long as making the set, and few texts need the counts.
    again: Vec<u64>,
    /// The data that distinguish programs with the same runs. `None` for prose.
    program: Option<ProgramWords>,
}

/// The properties of a program besides its runs, because runs contain neither names nor numbers.
#[derive(Debug, Clone, Default)]
pub struct ProgramWords {
    /// The number of tokens, boilerplate included.
    pub tokens: u32,
    /// The hashes of names, numbers and texts in quotes, ascending.
    pub own: Vec<u32>,
}

/// The minimum number of bytes of a word in most texts, including the separator after it.
const WORD_BYTES_MIN: usize = 5;

/// The maximum number of tokens to reserve memory for before their number is known.
const ROOM_MAX: usize = 1 << 16;

/// A text repeats itself if it has at least this many times as many runs as distinct runs.
const REPEATS_MIN: u32 = 2;

/// A place without a hash.
const FREE: u64 = 0;

impl RunSet {
    /// Makes the set of the runs of `k` tokens of a text whose tokens have these hashes.
    pub fn new(tokens: &[u64], k: usize) -> RunSet {
        RunSet::without(tokens, k, |_| false)
    }

    /// Makes the same set without the runs whose hash `is_left_out`. Marked words are in no run,
    /// because long texts do not contain marked words.
    pub fn without(tokens: &[u64], k: usize, is_left_out: impl Fn(u64) -> bool) -> RunSet {
        if tokens.iter().any(|&token| is_marked(token)) {
            let kept = tokens.iter().copied().filter(|&token| !is_marked(token));
            return RunSet::without(&kept.collect::<Vec<_>>(), k, is_left_out);
        }
        let runs = (tokens.len() + 1).saturating_sub(k).max(1);
        let mut set = RunSet::with_room(runs);
        run_values(tokens, k).for_each(|hash| {
            if !is_left_out(hash) && !set.insert(hash) {
                set.again.push(named(hash));
            }
        });
        set
    }

    /// Makes the set of the runs of a program, without runs that are entirely in a `masked` range
    /// of tokens.
    pub fn of_program(
        tokens: &[u64],
        k: usize,
        masked: &[Range<usize>],
        program: ProgramWords,
    ) -> RunSet {
        let mut set = RunSet::with_room((tokens.len() + 1).saturating_sub(k).max(1));
        unmasked_runs(tokens, k, masked).for_each(|hash| _ = set.insert(hash));
        RunSet { program: Some(program), ..set }
    }

    fn with_room(runs: usize) -> RunSet {
        let table = vec![FREE; (2 * runs).next_power_of_two()];
        RunSet { table, count: 0, again: Vec::new(), program: None }
    }

    /// Returns the properties of a program, or `None` if the text is not read as a program.
    pub fn program(&self) -> Option<&ProgramWords> {
        self.program.as_ref()
    }

    /// Adds a run. Returns whether the run is new.
    fn insert(&mut self, hash: u64) -> bool {
        let place = self.place(hash);
        let is_new = self.table[place] == FREE;
        if is_new {
            self.table[place] = named(hash);
            self.count += 1;
        }
        is_new
    }

    /// Returns the number of runs, repetitions included.
    fn all(&self) -> u32 {
        self.count + self.again.len() as u32
    }

    /// Returns the place of a hash, or the free place where the hash would be.
    #[inline]
    fn place(&self, hash: u64) -> usize {
        let (hash, mask) = (named(hash), self.table.len() - 1);
        let mut place = hash as usize & mask;
        while self.table[place] != hash && self.table[place] != FREE {
            place = (place + 1) & mask;
        }
        place
    }

    /// Makes the set of the runs of `k` tokens of `text`, without runs whose hash `is_left_out`.
    ///
    /// # Errors
    /// When the text is too large. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn of_text(
        text: &str,
        analyzer: &Analyzer,
        k: usize,
        is_left_out: impl Fn(u64) -> bool,
        stop: &Stop,
    ) -> Result<RunSet> {
        let tokens = hashes_of(text, analyzer, stop)?;
        Ok(RunSet::without(&tokens, k, is_left_out))
    }

    /// Counts the common runs, and the runs of each text. `None` if the resemblance is below
    /// `least`.
    pub fn resembling(&self, other: &RunSet, least: f64) -> Option<Overlap> {
        let (small, large) = if self.count <= other.count { (self, other) } else { (other, self) };
        let [few, many] = [small.count, large.count].map(f64::from);
        // Rounding must not exclude a pair exactly at the threshold.
        let shared_min = least * (few + many) / (1.0 + least) * (1.0 - 1e-12);
        let missing_max = (few - shared_min) as u32;
        if few < shared_min || small.count == 0 {
            return None;
        }
        let mut missing = 0;
        for &hash in small.table.iter().filter(|&&hash| hash != FREE) {
            missing += u32::from(large.table[large.place(hash)] != hash);
            if missing > missing_max {
                return None;
            }
        }
        Some(Overlap::new(small.count - missing, self.count, other.count))
    }

    /// Counts the common runs, and the runs of each text.
    pub fn overlap(&self, other: &RunSet) -> Overlap {
        self.resembling(other, 0.0).unwrap_or(Overlap::new(0, self.count, other.count))
    }

    /// Counts as [`overlap`](Self::overlap) does, for a second text with these tokens and `count`
    /// distinct runs of `k` tokens. `None` if a word is marked.
    ///
    /// Takes a quarter of the time of making a set of the second text.
    pub fn overlap_with(&self, tokens: &[u64], k: usize, count: u32) -> Option<Overlap> {
        let has_marked = tokens.iter().any(|&token| is_marked(token));
        (!has_marked).then(|| Overlap::new(self.shared_with(tokens, k), self.count, count))
    }

    /// Counts the distinct runs of `k` tokens in common with a text with these tokens. Runs with
    /// marked words are not in common.
    pub fn shared_with(&self, tokens: &[u64], k: usize) -> u32 {
        let mut is_shared = vec![false; self.table.len()];
        let mut shared = 0;
        run_values(tokens, k).for_each(|hash| {
            let place = self.place(hash);
            if self.table[place] != FREE && !std::mem::replace(&mut is_shared[place], true) {
                shared += 1;
            }
        });
        shared
    }

    /// Returns the number of distinct runs.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Tells whether the text has each of its runs at least twice, on average.
    pub fn repeats_itself(&self) -> bool {
        self.all() >= REPEATS_MIN * self.count.max(1)
    }

    /// Counts the common runs with multiplicity, and the runs of either text. `None` without
    /// repetition in this text.
    ///
    /// Two texts of few distinct runs, such as sheets of true and false, share nearly all runs, but
    /// not equally often.
    pub fn repeated_overlap(&self, other: &RunSet) -> Option<Overlap> {
        if !self.repeats_itself() {
            return None;
        }
        let again = [self, other].map(|set| {
            let mut again = set.again.clone();
            again.sort_unstable();
            again
        });
        let times = |again: &[u64], hash: u64| {
            let from = &again[again.partition_point(|&other| other < hash)..];
            1 + from.partition_point(|&other| other == hash) as u32
        };
        let hashes = self.table.iter().copied().filter(|&hash| hash != FREE);
        let in_both = hashes.filter(|&hash| other.table[other.place(hash)] == hash);
        let least = |hash| times(&again[0], hash).min(times(&again[1], hash));
        let shared = in_both.map(least).sum();
        Some(Overlap::new(shared, self.all(), other.all()))
    }

    /// Returns the memory of the set, in bytes.
    pub fn bytes(&self) -> usize {
        let again = self.again.capacity() * size_of::<u64>();
        let words = self.program.as_ref().map_or(0, |program| program.own.capacity());
        self.table.capacity() * size_of::<u64>() + again + words * size_of::<u32>()
    }
}

/// Returns the hashes of the tokens of a text, without their places.
///
/// # Errors
/// When the text is too large. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
pub fn hashes_of(text: &str, analyzer: &Analyzer, stop: &Stop) -> Result<Vec<u64>> {
    // Reserves memory for the tokens of most texts. Otherwise the tokens would be copied as their
    // number grows.
    let room = text.len() / WORD_BYTES_MIN + 1;
    let (mut tokens, mut rest) = (Vec::new(), Vec::with_capacity(room.min(ROOM_MAX)));
    analyzer.for_each_part(text, &mut rest, &mut |part| tokens.extend_from_slice(part), stop)?;
    // Most texts have a single part, which is not copied.
    if tokens.is_empty() {
        return Ok(rest);
    }
    tokens.extend_from_slice(&rest);
    Ok(tokens)
}

/// Returns the hashes of the runs of `k` tokens, without runs that are entirely in a `masked`
/// range. The ranges ascend.
pub(crate) fn unmasked_runs<'a>(
    tokens: &'a [u64],
    k: usize,
    masked: &'a [Range<usize>],
) -> impl Iterator<Item = u64> + use<'a> {
    let len = k.min(tokens.len());
    let mut masked = masked.iter().peekable();
    let mut is_masked = move |at: usize| {
        while masked.next_if(|range| range.end < at + len).is_some() {}
        masked.peek().is_some_and(|range| range.start <= at)
    };
    let runs = run_values(tokens, k).enumerate().filter(move |&(at, _)| !is_masked(at));
    runs.map(|(_, hash)| hash)
}

/// Returns a hash as stored in a table, where [`FREE`] has a special meaning.
#[inline]
fn named(hash: u64) -> u64 {
    if hash == FREE { 1 } else { hash }
}

/// The distinct runs of several texts.
#[derive(Debug, Clone)]
pub struct Runs {
    k: usize,
    hashes: HashSet<u64, BuildKeyHasher>,
}

impl Runs {
    /// Returns an empty set of runs of `k` tokens.
    pub fn new(k: usize) -> Runs {
        Runs { k, hashes: HashSet::default() }
    }

    /// Adds the runs of a text.
    pub fn add(&mut self, tokens: &[u64]) {
        self.hashes.extend(run_values(tokens, self.k));
    }

    /// Returns the hashes of the runs, ascending.
    pub fn sorted(&self) -> Vec<u64> {
        let mut hashes: Vec<u64> = self.hashes.iter().copied().collect();
        hashes.sort_unstable();
        hashes
    }

    /// Returns whether there are no runs.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Returns whether the set contains a run with this hash.
    pub fn has(&self, hash: u64) -> bool {
        self.hashes.contains(&hash)
    }

    /// Returns the tokens of a text that are in any run of the set: ascending ranges that do not
    /// touch.
    pub fn mask(&self, tokens: &[u64]) -> Vec<Range<usize>> {
        let len = self.k.min(tokens.len());
        let mut masked: Vec<Range<usize>> = Vec::new();
        if self.is_empty() {
            return masked;
        }
        for (at, _) in run_values(tokens, self.k).enumerate().filter(|(_, hash)| self.has(*hash)) {
            match masked.last_mut() {
                Some(last) if at <= last.end => last.end = at + len,
                _ => masked.push(at..at + len),
            }
        }
        masked
    }
}

/// The two texts of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The text that is searched for.
    Query,
    /// The text that is found.
    Document,
}

/// Returns the hash of a hidden token, which is unique to its place and text.
fn hidden(text: Place, at: usize) -> u64 {
    let salt = match text {
        Place::Query => 0x5bf0_3635_dcd1_a6b1,
        Place::Document => 0xa24b_aed4_963e_e407,
    };
    mix64(salt ^ at as u64)
}

/// Returns whether the token at a place is hidden.
pub fn is_hidden(token: u64, at: usize, text: Place) -> bool {
    token == hidden(text, at)
}

/// Hides the tokens in these ranges: a hidden token matches no token, not even a hidden one.
pub fn hide(tokens: &mut [u64], ranges: &[Range<usize>], text: Place) {
    for at in ranges.iter().cloned().flatten() {
        tokens[at] = hidden(text, at);
    }
}

/// Returns the range without hidden tokens at its ends.
pub(crate) fn trimmed(mut range: Range<usize>, tokens: &[u64], text: Place) -> Range<usize> {
    let is_hidden = |at: usize| is_hidden(tokens[at], at, text);
    while !range.is_empty() && is_hidden(range.start) {
        range.start += 1;
    }
    while !range.is_empty() && is_hidden(range.end - 1) {
        range.end -= 1;
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash_bytes;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn hashes(tokens: &[u64], k: usize) -> Vec<u64> {
        run_values(tokens, k).collect()
    }

    fn tokens(text: &[u8]) -> Vec<u64> {
        text.iter().map(|word| hash_bytes(&[*word])).collect()
    }

    proptest! {
        #[test]
        fn runs_are_equal_where_their_tokens_are(
            text in proptest::collection::vec(0u8..3, 1..40),
            k in 1usize..9,
        ) {
            let tokens = tokens(&text);
            let found = hashes(&tokens, k);
            let k = k.min(text.len());
            let runs: Vec<&[u8]> = text.windows(k).collect();
            prop_assert_eq!(found.len(), runs.len());
            for (a, at_a) in found.iter().zip(&runs) {
                for (b, at_b) in found.iter().zip(&runs) {
                    prop_assert_eq!(a == b, at_a == at_b);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn runs_are_shared_with_or_without_a_set_of_the_other_text(
            one in proptest::collection::vec(0u8..4, 0..60),
            other in proptest::collection::vec(0u8..4, 0..60),
            k in 1usize..5,
        ) {
            let [one, other] = [tokens(&one), tokens(&other)];
            let [own, set] = [&one, &other].map(|tokens| RunSet::new(tokens, k));
            let counted = own.overlap_with(&other, k, set.count());
            prop_assert_eq!(counted, Some(own.overlap(&set)));
            // An iterator that is advanced step by step yields the same runs as `fold`.
            let mut runs = run_values(&other, k);
            let each: Vec<u64> = std::iter::from_fn(|| runs.next()).collect();
            prop_assert_eq!(each, hashes(&other, k));
            let marked = [&other[..], &[crate::text::mark::marked(7)]].concat();
            prop_assert_eq!(own.overlap_with(&marked, k, set.count()), None);
        }
    }

    proptest! {
        #[test]
        fn a_mask_has_the_tokens_of_a_run(
            template in proptest::collection::vec(0u8..3, 0..12),
            text in proptest::collection::vec(0u8..3, 0..30),
            k in 1usize..5,
        ) {
            let mut runs = Runs::new(k);
            runs.add(&tokens(&template));
            let mask = runs.mask(&tokens(&text));
            let mut expected = vec![false; text.len()];
            let of = |text: &[u8]| k.min(text.len()).max(1);
            for (at, run) in text.windows(of(&text)).enumerate() {
                if template.windows(of(&template)).any(|other| other == run) {
                    expected[at..at + run.len()].fill(true);
                }
            }
            let masked: Vec<bool> =
                (0..text.len()).map(|at| mask.iter().any(|range| range.contains(&at))).collect();
            prop_assert_eq!(masked, expected);
            prop_assert!(mask.windows(2).all(|two| two[0].end < two[1].start));
        }
    }

    proptest! {
        #[test]
        fn repeated_runs_are_counted_as_often_as_both_texts_have_them(
            a in proptest::collection::vec(0u8..2, 0..60),
            b in proptest::collection::vec(0u8..2, 0..60),
            k in 1usize..4,
        ) {
            let [a, b] = [&a, &b].map(|text| tokens(text));
            let runs = |text: &[u64]| -> Vec<u64> { run_values(text, k).collect() };
            let (of_a, mut left) = (runs(&a), runs(&b));
            let set = RunSet::new(&a, k);
            let distinct: BTreeSet<&u64> = of_a.iter().collect();
            prop_assert_eq!(set.repeats_itself(), of_a.len() >= 2 * distinct.len().max(1));
            let other = RunSet::new(&b, k);
            let size = left.len();
            let mut shared = 0;
            for run in &of_a {
                if let Some(at) = left.iter().position(|other| other == run) {
                    left.swap_remove(at);
                    shared += 1;
                }
            }
            let expected = Overlap::new(shared, of_a.len() as u32, size as u32);
            let expected = set.repeats_itself().then_some(expected);
            prop_assert_eq!(set.repeated_overlap(&other), expected);
        }
    }

    #[test]
    fn a_hidden_token_is_like_no_other() {
        let text = tokens(b"abab");
        let (mut query, mut document) = (text.clone(), text.clone());
        hide(&mut query, &[0..1, 2..4], Place::Query);
        hide(&mut document, &[0..1, 1..3], Place::Document);
        let all: BTreeSet<u64> = [&text[..], &query, &document].concat().into_iter().collect();
        assert_eq!(all.len(), 2 + 3 + 3);
        assert_eq!(trimmed(0..4, &query, Place::Query), 1..2);
        assert_eq!(trimmed(0..4, &document, Place::Document), 3..4);
        assert_eq!(trimmed(0..3, &document, Place::Document), 3..3);
        assert_eq!(trimmed(0..4, &text, Place::Query), 0..4);
    }

    #[test]
    fn the_runs_of_a_text_are_those_of_its_tokens_however_many_parts_it_has() {
        let analyzer = Analyzer::default();
        for words in [0, 3, 40, 200_000] {
            let text: String = (0..words).map(|word| format!("w{} ", word % 70_000)).collect();
            let mut tokens = crate::text::Tokens::default();
            analyzer.analyze(&text, &mut tokens, Stop::NEVER).unwrap();
            let expected = RunSet::new(&tokens.hashes, 5);
            let found = RunSet::of_text(&text, &analyzer, 5, |_| false, Stop::NEVER).unwrap();
            let runs: BTreeSet<&[u64]> =
                tokens.hashes.windows(tokens.hashes.len().clamp(1, 5)).collect();
            let count = runs.len() as u32;
            assert_eq!(found.overlap(&expected), Overlap::new(count, count, count));
        }
    }

    proptest! {
        #[test]
        fn sets_of_runs_are_sets(
            a in proptest::collection::vec(0u8..3, 0..60),
            b in proptest::collection::vec(0u8..3, 0..60),
            k in 1usize..6,
        ) {
            let of = |text: &[u8]| {
                let tokens = tokens(text);
                let set: BTreeSet<u64> = hashes(&tokens, k).into_iter().collect();
                (RunSet::new(&tokens, k), set)
            };
            let ((a, in_a), (b, in_b)) = (of(&a), of(&b));
            let shared = in_a.intersection(&in_b).count() as u32;
            let expected = Overlap::new(shared, in_a.len() as u32, in_b.len() as u32);
            prop_assert_eq!(a.overlap(&b), expected);
            prop_assert_eq!(b.overlap(&a), expected.swapped());
            let resemblance = expected.resemblance();
            if shared > 0 {
                prop_assert_eq!(a.resembling(&b, resemblance), Some(expected));
            }
            prop_assert_eq!(a.resembling(&b, resemblance + 0.01), None);
        }
    }

    #[test]
    fn the_hash_of_a_free_place_is_a_hash_too() {
        let mut set = RunSet { table: vec![FREE; 8], count: 0, again: Vec::new(), program: None };
        for hash in [FREE, FREE, 8, 16] {
            set.insert(hash);
        }
        assert_eq!(set.overlap(&set), Overlap::new(3, 3, 3));
    }

    #[test]
    fn a_text_shorter_than_a_run_is_one_run_of_its_own() {
        let text = tokens(b"abc");
        assert_eq!(hashes(&text, 5).len(), 1);
        assert_eq!(hashes(&text, 5), hashes(&text, 9));
        assert_ne!(hashes(&text, 5), hashes(&tokens(b"abcd"), 5));
        assert_ne!(hashes(&text, 5), hashes(&tokens(b"abd"), 5));
        assert!(hashes(&[], 5).is_empty());
    }
}
