//! How much information is in a run of tokens, given a collection of texts?
//!
//! Any two programs share loops, and any two letters share their salutation. A *background model*
//! of the collection gives the probability of a token after the preceding tokens, and the
//! information of the token is -log2 of the probability, in bits (Shannon 1948): about 8 for a word
//! of prose, 1 to 4 for a token of code, and nearly 0 for a token of a line that most texts have.
//! One unit therefore serves prose, programs and tables, without a constant for each.
//!
//! The model counts runs of one to eight tokens. A token's probability is interpolated over all of
//! these orders with a Dirichlet prior, from the shortest context to the longest (MacKay and Peto
//! 1995). Contexts must be long: with runs of two tokens, every idiom of a language looks like
//! evidence (research/RESULTS.md, "Evidence").
//!
//! A text is no background for itself. The model counts occurrences, so one occurrence of every run
//! is subtracted for each of the compared texts that the model has counted.
//!
//! A repeat has no information: two lists of like statements are equal however long they are. So
//! the model counts no repeats within a text, and a passage has the information of the first of its
//! equal runs ([`Repeats`]).
//!
//! Copies are no background either. Otherwise a press release that half of the archive prints would
//! be easy to guess, and the members of a ring of copies would protect each other. A run with at
//! least `COPY_BITS`, word by word, that an earlier text has is therefore not counted again. Idioms
//! and phrases are shorter, and every occurrence counts.

use std::collections::HashMap;

use crate::hash::mix64;
use crate::number::log2;

/// The number of tokens of the longest counted run.
const ORDER_MAX: usize = 8;

/// The weight of the shorter context beside the occurrences of the longer context.
const PRIOR: f64 = 5.0;

/// The maximum number of tokens that a model counts: a few hundred programs or essays. The table of
/// the model has two places for each run, 16 MiB.
pub const COUNTED_TOKENS_MAX: usize = 1 << 18;

/// The information that makes a run a copy, by the frequencies of its tokens alone: some 18 words
/// of prose, or 35 tokens of programs. In programs, 24 tokens are still idioms, and without idioms
/// the law of chance is too broad (a scale of 12 bits and above). Without this limit, a copy that
/// nine further texts have carries no information (research/RESULTS.md, "Evidence").
const COPY_BITS: f64 = 160.0;

/// In fewer than some 1,400 tokens, no word has as much information as a word of prose usually has,
/// so a copy needs this many words that occur only in the copy and the original. With `COPY_BITS`
/// alone, a common sentence of two short texts was due to chance.
const COPY_TOKENS: f64 = 18.0;

/// The base of the polynomial that hashes runs.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// The bits of a place that store the count. The other bits identify the run.
const COUNT_BITS: u32 = 14;

/// With fewer texts no run is common, and no law of chance can be fitted.
pub const TEXTS_MIN: u64 = 8;

/// How often runs of tokens occur in a collection.
#[derive(Debug, Clone, Default)]
pub struct Background {
    runs: RunCounts,
    /// For each run of [`ORDER_MAX`] tokens, the number of texts with the run, except texts that
    /// are mostly copies.
    carriers: RunCounts,
    /// The number of counted texts, except texts that are mostly copies.
    texts: u64,
    tokens: u64,
    /// The number of distinct counted tokens.
    vocabulary: u64,
}

impl Background {
    /// Counts the runs of these texts, up to [`COUNTED_TOKENS_MAX`] tokens in all.
    #[must_use]
    pub fn new(texts: &[&[u64]]) -> Background {
        let mut room = COUNTED_TOKENS_MAX;
        let counted = |text: &&[u64]| {
            let len = text.len().min(room);
            room -= len;
            len
        };
        let lens: Vec<usize> = texts.iter().map(counted).collect();
        let tokens = lens.iter().sum::<usize>();
        let mut model = Background {
            runs: RunCounts::with_room(tokens * ORDER_MAX),
            carriers: RunCounts::with_room(tokens),
            texts: 0,
            tokens: tokens as u64,
            vocabulary: 0,
        };
        let texts = || texts.iter().zip(&lens).map(|(text, &len)| RunHashes::new(&text[..len]));
        for runs in texts() {
            for at in 0..runs.len() {
                model.vocabulary += u64::from(model.runs.add(runs.of(at, 1)));
            }
        }
        for runs in texts() {
            let repeats = Repeats::of_runs(&runs);
            let copied = model.copied(&runs, &repeats);
            let mut since = 0;
            for (end, &is_copied) in copied.iter().enumerate() {
                since = if repeats.has(end, 0) { since } else { end + 1 };
                if is_copied {
                    continue;
                }
                for order in 2..=ORDER_MAX.min(end + 1) {
                    let start = end + 1 - order;
                    if start < since {
                        model.runs.add(runs.of(start, order));
                    }
                }
            }
            // A copy of a whole text does not make the text common: most of an archive may be
            // reprints of a single release. But starter code may be longer than an own program.
            let own: Vec<usize> =
                (0..runs.len()).filter(|&at| !copied[at] && !repeats.has(at, 0)).collect();
            let has_own = own.len() * 2 >= copied.len()
                || model.bits_of(&runs, own.iter().copied()) >= copy_bits(model.tokens);
            if has_own {
                model.texts += 1;
                runs.longest().into_iter().for_each(|run| _ = model.carriers.add(run));
            }
        }
        model
    }

    /// Returns the information, in bits, of each token of a text after the preceding tokens.
    /// `counted` is the number of compared texts that the model has counted, at most 2.
    #[must_use]
    pub fn bits(&self, text: &[u64], counted: u32) -> Vec<f64> {
        let runs = RunHashes::new(text);
        let mut before = EndingRuns::default();
        let mut bits_at = |end| {
            let mut ending = EndingRuns::default();
            let bits = self.bits_at(&runs, end, u64::from(counted), (&before, &mut ending));
            before = ending;
            bits
        };
        (0..text.len()).map(&mut bits_at).collect()
    }

    /// Returns the information of the token at `end`. `before` has the counts of the runs that end
    /// with the token before, and `ending` gets the counts of those that end with this token.
    fn bits_at(
        &self,
        runs: &RunHashes,
        end: usize,
        counted: u64,
        (before, ending): (&EndingRuns, &mut EndingRuns),
    ) -> f64 {
        let mut probability = 1.0 / (self.vocabulary as f64 + 1.0);
        for order in 1..=ORDER_MAX.min(end + 1) {
            let start = end + 1 - order;
            let context = match order {
                1 => self.tokens,
                _ => {
                    let known = before.0[order - 1];
                    let count = known.unwrap_or_else(|| self.runs.of(runs.of(start, order - 1)));
                    count.saturating_sub(counted)
                }
            };
            if context == 0 {
                break;
            }
            let run = self.runs.of(runs.of(start, order));
            ending.0[order] = Some(run);
            let run = run.saturating_sub(counted).min(context);
            probability = (run as f64 + PRIOR * probability) / (context as f64 + PRIOR);
        }
        -log2(probability)
    }

    /// Returns which tokens of a text are in a copy of a counted run. What the text repeats says
    /// nothing again.
    fn copied(&self, runs: &RunHashes, repeats: &Repeats) -> Vec<bool> {
        let mut copied = vec![false; runs.len()];
        let (mut at, last) = (0, (runs.len() + 1).saturating_sub(ORDER_MAX));
        let is_known = |at: usize| self.runs.of(runs.of(at, ORDER_MAX)) > 0;
        while at < last {
            let run = (at..last).take_while(|&at| is_known(at)).count();
            if run > 0 {
                let tokens = at..at + run + ORDER_MAX - 1;
                let said = tokens.clone().filter(|&at| !repeats.has(at, 0));
                if self.bits_of(runs, said) >= copy_bits(self.tokens) {
                    copied[tokens].fill(true);
                }
            }
            at += run + 1;
        }
        copied
    }

    /// Tells whether a run of tokens contains enough information to be a copy.
    #[must_use]
    pub fn is_copy(&self, run: &[u64]) -> bool {
        let runs = RunHashes::new(run);
        let repeats = Repeats::of_runs(&runs);
        let said = (0..run.len()).filter(|&at| !repeats.has(at, 0));
        self.bits_of(&runs, said) >= copy_bits(self.tokens)
    }

    /// Returns the information of these tokens of a text, each without a context.
    fn bits_of(&self, text: &RunHashes, tokens: impl Iterator<Item = usize>) -> f64 {
        tokens.map(|at| bits_alone(self.tokens, self.runs.of(text.of(at, 1)))).sum()
    }

    /// Returns which tokens of a text are in a run that most of the counted texts have, such as the
    /// starter code of a class or the head of a form.
    #[must_use]
    pub fn common(&self, text: &[u64]) -> Vec<bool> {
        let mut common = vec![false; text.len()];
        if self.texts >= TEXTS_MIN {
            let runs = RunHashes::new(text);
            for at in 0..(text.len() + 1).saturating_sub(ORDER_MAX) {
                if self.carriers.of(runs.of(at, ORDER_MAX)) * 2 > self.texts {
                    common[at..at + ORDER_MAX].fill(true);
                }
            }
        }
        common
    }
}

/// Returns the information that makes a run a copy, in a collection of this many tokens.
pub(super) fn copy_bits(tokens: u64) -> f64 {
    COPY_BITS.min(COPY_TOKENS * log2((tokens as f64 + 1.0) / 3.0).max(1.0))
}

/// Returns the information of a token without a context: the token occurs `count` times in a
/// collection of `tokens`.
pub(super) fn bits_alone(tokens: u64, count: u64) -> f64 {
    log2((tokens as f64 + 1.0) / (count as f64 + 1.0))
}

/// Where a text repeats itself: the runs of eight tokens that occur earlier in the text, such as
/// the statements in a list of like statements.
#[derive(Debug, Default)]
pub struct Repeats {
    /// For each token, the place after the begin of the last run that a run with the token repeats,
    /// or 0. Empty without repeats.
    after: Vec<u32>,
}

impl Repeats {
    /// Finds the repeats of a text.
    #[must_use]
    pub fn of(text: &[u64]) -> Repeats {
        Repeats::of_runs(&RunHashes::new(text))
    }

    fn of_runs(runs: &RunHashes) -> Repeats {
        let starts = 0..(runs.len() + 1).saturating_sub(ORDER_MAX);
        // Most texts have no repeats, which a table of counts tells in a tenth of the time.
        let mut counts = RunCounts::with_room(starts.len());
        if starts.clone().all(|at| counts.add(runs.of(at, ORDER_MAX))) {
            return Repeats::default();
        }
        let mut after = Vec::new();
        let mut last = HashMap::new();
        for at in starts {
            if let Some(earlier) = last.insert(runs.of(at, ORDER_MAX), at as u32 + 1) {
                after.resize(runs.len(), 0);
                for token in &mut after[at..at + ORDER_MAX] {
                    *token = earlier.max(*token);
                }
            }
        }
        Repeats { after }
    }

    /// Returns whether a run with the token at `at` repeats a run that begins at `start` or later.
    #[must_use]
    pub fn has(&self, at: usize, start: usize) -> bool {
        self.after.get(at).is_some_and(|&after| after as usize > start)
    }

    /// Returns whether the text has no repeats.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.after.is_empty()
    }
}

/// The counts of runs, by their hashes: an open table with linear probing.
#[derive(Debug, Clone, Default)]
struct RunCounts {
    /// The count of a run in the low bits, and a part of its hash in the high bits.
    places: Vec<u32>,
}

impl RunCounts {
    /// Creates a table for at most this many distinct runs.
    fn with_room(runs: usize) -> RunCounts {
        RunCounts { places: vec![0; (2 * runs).max(1).next_power_of_two()] }
    }

    /// Counts a run once more. Returns whether the run is new.
    fn add(&mut self, hash: u64) -> bool {
        let at = self.place_of(hash);
        let place = &mut self.places[at];
        let is_new = *place == 0;
        if is_new {
            *place = mark_of(hash);
        }
        if *place & COUNT_MAX < COUNT_MAX {
            *place += 1;
        }
        is_new
    }

    /// Returns the number of times that a run was counted.
    fn of(&self, hash: u64) -> u64 {
        if self.places.is_empty() {
            return 0;
        }
        u64::from(self.places[self.place_of(hash)] & COUNT_MAX)
    }

    /// Returns the place of a run, or the free place where the run would be. At most half of the
    /// places are taken, so the search ends.
    fn place_of(&self, hash: u64) -> usize {
        let (last, mark) = (self.places.len() - 1, mark_of(hash));
        let mut at = hash as usize & last;
        while self.places[at] != 0 && self.places[at] & !COUNT_MAX != mark {
            at = (at + 1) & last;
        }
        at
    }
}

const COUNT_MAX: u32 = (1 << COUNT_BITS) - 1;

/// Returns the bits of a hash that identify the run in the table.
fn mark_of(hash: u64) -> u32 {
    (hash >> 32) as u32 & !COUNT_MAX
}

/// The counts of the runs that end with a token, by length, as far as they were looked up. Looking
/// up a run takes as long as a read from memory, and each run is the context of the next token.
#[derive(Default)]
struct EndingRuns([Option<u64>; ORDER_MAX + 1]);

/// The hashes of the runs of a text, each computed in constant time.
struct RunHashes {
    /// For each place, the polynomial of all tokens before.
    before: Vec<u64>,
    powers: [u64; ORDER_MAX + 1],
}

impl RunHashes {
    fn new(text: &[u64]) -> RunHashes {
        let mut before = Vec::with_capacity(text.len() + 1);
        let mut hash = 0u64;
        before.push(hash);
        for &token in text {
            hash = hash.wrapping_mul(BASE).wrapping_add(mix64(token));
            before.push(hash);
        }
        let mut powers = [1u64; ORDER_MAX + 1];
        for at in 1..powers.len() {
            powers[at] = powers[at - 1].wrapping_mul(BASE);
        }
        RunHashes { before, powers }
    }

    /// Returns the distinct runs of [`ORDER_MAX`] tokens.
    fn longest(&self) -> Vec<u64> {
        let places = 0..(self.len() + 1).saturating_sub(ORDER_MAX);
        let mut runs: Vec<u64> = places.map(|at| self.of(at, ORDER_MAX)).collect();
        runs.sort_unstable();
        runs.dedup();
        runs
    }

    fn len(&self) -> usize {
        self.before.len() - 1
    }

    /// Returns the hash of the run of `len` tokens from `start`.
    fn of(&self, start: usize, len: usize) -> u64 {
        let before = self.before[start].wrapping_mul(self.powers[len]);
        mix64(self.before[start + len].wrapping_sub(before).wrapping_add(len as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The number of times that a run occurs in the texts. A run of several tokens does not count
    /// where every token is in a repeated run of eight.
    fn naive(texts: &[Vec<u64>], run: &[u64]) -> u64 {
        let of_text = |text: &Vec<u64>| {
            let repeats =
                |at: usize| (0..at).any(|before| text[before..before + 8] == text[at..at + 8]);
            let starts: Vec<usize> = (0..(text.len() + 1).saturating_sub(8)).collect();
            let is_repeated = |token: usize| {
                starts.iter().any(|&at| (at..at + 8).contains(&token) && repeats(at))
            };
            let is_in_repeat = |end: usize| (end + 1 - run.len()..=end).all(is_repeated);
            let ends = (run.len() - 1)..text.len().max(run.len() - 1);
            let occurs = |&end: &usize| text[end + 1 - run.len()..=end] == *run;
            ends.filter(occurs).filter(|&end| run.len() == 1 || !is_in_repeat(end)).count() as u64
        };
        texts.iter().map(of_text).sum()
    }

    /// The information of each token, by definition.
    fn naive_bits(texts: &[Vec<u64>], text: &[u64], counted: u64) -> Vec<f64> {
        let mut vocabulary: Vec<u64> = texts.concat();
        vocabulary.sort_unstable();
        vocabulary.dedup();
        let of = |end: usize| {
            let mut probability = 1.0 / (vocabulary.len() as f64 + 1.0);
            for order in 1..=ORDER_MAX.min(end + 1) {
                let run = &text[end + 1 - order..=end];
                let context = match order {
                    1 => texts.iter().map(Vec::len).sum::<usize>() as u64,
                    _ => naive(texts, &run[..order - 1]).saturating_sub(counted),
                };
                if context == 0 {
                    break;
                }
                let run = naive(texts, run).saturating_sub(counted).min(context);
                probability = (run as f64 + 5.0 * probability) / (context as f64 + 5.0);
            }
            -probability.log2()
        };
        (0..text.len()).map(of).collect()
    }

    proptest! {
        #[test]
        fn information_is_that_of_the_definition(
            texts in prop::collection::vec(prop::collection::vec(0u64..4, 0..30), 0..6),
            text in prop::collection::vec(0u64..5, 0..30), counted in 0u32..3,
        ) {
            let slices: Vec<&[u64]> = texts.iter().map(Vec::as_slice).collect();
            let found = Background::new(&slices).bits(&text, counted);
            let expected = naive_bits(&texts, &text, u64::from(counted));
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert!((found - expected).abs() < 1e-6, "{found} {expected}");
            }
            prop_assert_eq!(found.len(), text.len());
        }
    }

    #[test]
    fn common_text_says_little_and_rare_text_much() {
        let line: Vec<u64> = (0..10).collect();
        let texts: Vec<Vec<u64>> =
            (1..50u64).map(|n| [&line[..], &[100 * n, 7, 3]].concat()).collect();
        let slices: Vec<&[u64]> = texts.iter().map(Vec::as_slice).collect();
        let model = Background::new(&slices);
        let sum = |text: &[u64]| model.bits(text, 0).iter().sum::<f64>();
        assert!(sum(&line) < 10.0, "{}", sum(&line));
        let other: Vec<u64> = (1000..1010).collect();
        assert!(sum(&other) > 60.0, "{}", sum(&other));
    }

    #[test]
    fn copies_do_not_make_a_text_easy_to_guess() {
        let own = |n: u64| (0..200).map(move |at| mix64(1000 * n + at) % 500).collect::<Vec<u64>>();
        let bits = |copies: u64| {
            let release: Vec<u64> = (0..60).map(|at| mix64(at) % 500).collect();
            let text = |n: u64| match n < copies {
                true => [own(n), release.clone(), own(n + 90)].concat(),
                false => own(n),
            };
            let texts: Vec<Vec<u64>> = (0..40).map(text).collect();
            let slices: Vec<&[u64]> = texts.iter().map(Vec::as_slice).collect();
            let bits = Background::new(&slices).bits(&texts[0], 2);
            bits[200..260].iter().sum::<f64>()
        };
        let (two, twenty) = (bits(2), bits(20));
        assert!(twenty > 0.8 * two && two > 400.0, "{two} {twenty}");
    }

    #[test]
    fn long_lists_of_imports_are_no_copies_of_each_other() {
        // Regression: every list counted as a copy of an earlier list and said 3.8 bits a token.
        let list = |lines: usize| (1..8).cycle().take(7 * lines).collect::<Vec<u64>>();
        let own = |n: u64| (0..200).map(move |at| 10 + mix64(n << 32 | at) % 40);
        let text = |n: u64| match n % 3 {
            0 => [list(4 + n as usize % 9), own(n).collect()].concat(),
            _ => [list(1), own(n).collect()].concat(),
        };
        let texts: Vec<Vec<u64>> = (0..42).map(text).collect();
        let slices: Vec<&[u64]> = texts.iter().map(Vec::as_slice).collect();
        let model = Background::new(&slices);
        let said = model.bits(&list(10), 2).iter().sum::<f64>();
        assert!(said < 70.0, "{said}");
        assert!(!model.is_copy(&list(10)));
        assert!(model.is_copy(&texts[1][7..57]));
    }

    #[test]
    fn what_most_texts_have_is_common_unless_it_is_all_of_them() {
        let own = |n: u64| (0..100).map(move |at| 1000 * n + at).collect::<Vec<u64>>();
        let sheet: Vec<u64> = (1..31).collect();
        let common = |carriers: u64, own_tokens: usize| {
            let text = |n: u64| match n < carriers {
                true => [&sheet[..], &own(n)[..own_tokens]].concat(),
                false => own(n),
            };
            let texts: Vec<Vec<u64>> = (1..21).map(text).collect();
            let slices: Vec<&[u64]> = texts.iter().map(Vec::as_slice).collect();
            let found = Background::new(&slices).common(&texts[0]);
            found.into_iter().filter(|&common| common).count()
        };
        assert_eq!([common(13, 100), common(10, 100), common(13, 5)], [30, 0, 0]);
        // Starter code longer than the own program.
        assert_eq!([common(13, 25), common(10, 25)], [30, 0]);
        assert!(Background::new(&[&sheet[..]; 3]).common(&sheet).iter().all(|&common| !common));
    }
}
