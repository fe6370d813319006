//! How alike are two programs, in code and in words?
//!
//! Programs are compared by runs: runs of `CODE_TOKENS` tokens as the analyzer `code` reads a
//! program, without names, comments and layout, and runs of `WORD_TOKENS` words of the same text. A
//! copy with changed names keeps its runs of code, and independent solutions of a task share few
//! runs of words. A run in df of the N programs of a collection weighs ln(1 + N/df), an inverse
//! document frequency (Sparck Jones 1972), because code that many programs have is no evidence.
//!
//! For code and for words, the measure is the geometric mean of resemblance and containment (Broder
//! 1997, section 2) of the lighter program in the heavier. Together, code counts for two thirds,
//! but for less where the programs share hardly any name, number or text in quotes.
//!
//! A run is stored in 32 bits. A table counts document frequencies, at the place that some of the
//! bits select: a row of the count-min sketch of Cormode and Muthukrishnan (2005, section 3).
//! Frequencies may be too high, but never too low. The table has four places per token, up to
//! `PLACES_MAX`. In a large collection only a sample is counted, where a program counts as the
//! number of programs that it represents, in [`PARTS`]ths.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Result;
use crate::hash::mix64;
use crate::number::ln;
use crate::runtime::Stop;
use crate::text::written::{own_words, shared_words};
use crate::text::{Analyzer, Tokens};

use super::runs::unmasked_runs;

const CODE_TOKENS: usize = 5;

const WORD_TOKENS: usize = 3;

/// Code is full evidence if at least this share of the names, numbers and texts in quotes of the
/// program with fewer of them is in both programs. A copy with changed names still shares the names
/// of the language and its library. Tables of different numbers have the same code and share
/// nothing else.
pub const OWN_WORDS_MIN: f64 = 0.1;

/// The maximum number of places of a table of frequencies: 16 MiB, enough for a million distinct
/// runs with few collisions.
const PLACES_MAX: u64 = 1 << 22;

/// The unit of frequencies is this fraction of a program, because a program of a sample does not
/// represent a whole number of programs.
pub const PARTS: u32 = 16;

/// The integer that represents a weight of 1.
const UNIT: f64 = (1u64 << 20) as f64;

/// The distinct runs of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramRuns {
    /// The runs of code and the runs of words, ascending.
    kinds: [Vec<u32>; 2],
    /// The hashes of names, numbers and texts in quotes, ascending.
    own_words: Vec<u32>,
}

impl ProgramRuns {
    /// Makes the runs of a program that `analyzer` reads. Runs entirely in the ranges that `mask`
    /// returns for the tokens are omitted.
    #[cfg(test)]
    fn of_text(
        text: &str,
        analyzer: &Analyzer,
        mask: impl Fn(&[u64]) -> Vec<Range<usize>>,
        stop: &Stop,
    ) -> Result<ProgramRuns> {
        let mut tokens = Tokens::default();
        analyzer.analyze(text, &mut tokens, stop)?;
        ProgramRuns::of_tokens(text, &tokens, &mask(&tokens.hashes), stop)
    }

    /// Makes the runs of a program with these tokens of code. Runs entirely in the ranges of
    /// `of_code` are omitted.
    ///
    /// # Errors
    /// When the text is too large. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn of_tokens(
        text: &str,
        tokens: &Tokens,
        of_code: &[Range<usize>],
        stop: &Stop,
    ) -> Result<ProgramRuns> {
        let code = distinct(&tokens.hashes, CODE_TOKENS, of_code);
        let bytes = of_code.iter().map(|range| {
            let (first, last) = (tokens.spans[range.start], tokens.spans[range.end - 1]);
            first.start..last.end
        });
        let mut words = Tokens::default();
        Analyzer::default().analyze(text, &mut words, stop)?;
        let place = |byte: u32| words.spans.partition_point(|span| span.start < byte);
        let masked: Vec<_> = bytes.map(|bytes| place(bytes.start)..place(bytes.end)).collect();
        let own_words = own_words(text, tokens, of_code);
        let kinds = [code, distinct(&words.hashes, WORD_TOKENS, &masked)];
        Ok(ProgramRuns { kinds, own_words })
    }

    /// Returns the memory of the runs, in bytes.
    pub fn bytes(&self) -> usize {
        let kinds = self.kinds.iter().map(Vec::capacity).sum::<usize>();
        (kinds + self.own_words.capacity()) * size_of::<u32>()
    }
}

/// Returns the distinct runs of `k` tokens, ascending, without runs that are masked entirely.
fn distinct(tokens: &[u64], k: usize, masked: &[Range<usize>]) -> Vec<u32> {
    let runs = unmasked_runs(tokens, k, masked);
    let mut runs: Vec<u32> = runs.map(|hash| (mix64(hash) >> 32) as u32).collect();
    runs.sort_unstable();
    runs.dedup();
    runs.shrink_to_fit();
    runs
}

/// The document frequencies of the runs of a collection, while programs are counted.
#[derive(Debug)]
pub struct RunFrequencies {
    kinds: [Vec<u32>; 2],
    /// The number of programs, in [`PARTS`]ths like the frequencies.
    parts: u64,
}

impl RunFrequencies {
    /// Creates frequencies for programs of `tokens` tokens together.
    pub fn new(tokens: u64) -> RunFrequencies {
        let places = tokens.saturating_mul(4).clamp(1, PLACES_MAX).next_power_of_two() as usize;
        RunFrequencies { kinds: [vec![0; places], vec![0; places]], parts: 0 }
    }

    /// Counts the runs of a program that represents `parts` [`PARTS`]ths of a program.
    pub fn count(&mut self, program: &ProgramRuns, parts: u32) {
        self.parts += u64::from(parts);
        for (places, runs) in self.kinds.iter_mut().zip(&program.kinds) {
            let mask = places.len() - 1;
            for &run in runs {
                let place = &mut places[run as usize & mask];
                *place = place.saturating_add(parts);
            }
        }
    }

    /// Returns the weights of the runs, after all programs have been counted.
    pub fn weights(self) -> RunWeights {
        let all = self.parts as f64;
        let weight = |df: u32| (ln(1.0 + all / f64::from(df.max(PARTS))) * UNIT).round() as u32;
        // Most runs are rare and have one of a few weights, so their logarithms are computed once.
        let known: Vec<u32> = (0..1024 * PARTS).map(weight).collect();
        let weight = |df: u32| known.get(df as usize).copied().unwrap_or_else(|| weight(df));
        let kinds = self.kinds.map(|places| places.into_iter().map(weight).collect());
        RunWeights { kinds }
    }
}

/// How alike two programs are, from 0 (no common run) to 1 (the same runs).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likeness {
    /// The likeness of the tokens of code.
    pub code: f64,
    /// The likeness of the words as written.
    pub words: f64,
}

impl Likeness {
    /// Returns the likeness in code and words together.
    pub fn both(self) -> f64 {
        (2.0 * self.code + self.words) / 3.0
    }
}

/// The weights of the runs of a collection.
#[derive(Debug)]
pub struct RunWeights {
    kinds: [Vec<u32>; 2],
}

/// The weight of all runs of a program: of code, and of words.
pub type ProgramWeight = [u64; 2];

/// A program, with the weight of its runs in a collection.
#[derive(Debug)]
pub struct WeighedProgram {
    /// The runs of the program.
    pub runs: Arc<ProgramRuns>,
    /// The weight of all of the runs.
    pub weight: ProgramWeight,
}

impl RunWeights {
    /// Returns the weight of all runs of a program.
    pub fn of(&self, program: &ProgramRuns) -> ProgramWeight {
        [0, 1].map(|kind| program.kinds[kind].iter().map(|&run| self.weight(kind, run)).sum())
    }

    fn weight(&self, kind: usize, run: u32) -> u64 {
        let places = &self.kinds[kind];
        u64::from(places[run as usize & (places.len() - 1)])
    }

    /// Returns how alike two programs are.
    pub fn likeness(&self, a: &WeighedProgram, b: &WeighedProgram) -> Likeness {
        let of = |kind: usize| {
            let (mut one, mut other) = (&a.runs.kinds[kind][..], &b.runs.kinds[kind][..]);
            let mut shared = 0;
            while let ([run, rest @ ..], [next, more @ ..]) = (one, other) {
                if run == next {
                    shared += self.weight(kind, *run);
                }
                (one, other) =
                    (if run <= next { rest } else { one }, if next <= run { more } else { other });
            }
            measure(shared, a.weight[kind], b.weight[kind])
        };
        let evidence = shared_words(&a.runs.own_words, &b.runs.own_words) / OWN_WORDS_MIN;
        Likeness { code: of(0) * evidence.min(1.0), words: of(1) }
    }
}

/// Returns the geometric mean of resemblance and of the containment of the lighter program.
fn measure(shared: u64, a: u64, b: u64) -> f64 {
    if shared == 0 {
        return 0.0;
    }
    let [both, lighter] = [a + b - shared, a.min(b)].map(|weight| shared as f64 / weight as f64);
    (both * lighter).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    const PROGRAM: &str = "class A { int sum(int[] values) { int sum = 0; for (int v : values) {
        if (v > 7) { sum += v * 3; } } return sum; } }";

    fn runs(text: &str) -> ProgramRuns {
        let analyzer = "code(language=java)".parse::<Analyzer>().unwrap();
        ProgramRuns::of_text(text, &analyzer, |_| Vec::new(), Stop::NEVER).unwrap()
    }

    /// Returns the likeness of the first two programs, which must be symmetric.
    fn likeness(programs: &[ProgramRuns]) -> f64 {
        let mut frequencies = RunFrequencies::new(1 << 16);
        programs.iter().for_each(|program| frequencies.count(program, PARTS));
        let weights = frequencies.weights();
        let [a, b] = [0, 1].map(|at| {
            let runs = Arc::new(programs[at].clone());
            WeighedProgram { weight: weights.of(&runs), runs }
        });
        let found = weights.likeness(&a, &b);
        assert_eq!(found, weights.likeness(&b, &a), "it is symmetric");
        let found = found.both();
        assert!((0.0..=1.0).contains(&found), "{found}");
        found
    }

    #[test]
    fn layout_changes_nothing_and_names_the_words_alone() {
        let other = runs("interface B { String name(); }");
        let of = |text: &str| likeness(&[runs(PROGRAM), runs(text), other.clone()]);
        assert_eq!(of(PROGRAM), 1.0);
        assert_eq!(of(&PROGRAM.replace(' ', "\n\t")), 1.0);
        let commented = of(&PROGRAM.replace("; ", "; /* the sum of all */ "));
        assert!(commented > 0.8 && commented < 1.0, "{commented}");
        let renamed = PROGRAM.replace("sum", "total").replace("values", "xs").replace('v', "w");
        let renamed = of(&renamed.replace("walue", "value").replace('7', "8"));
        assert!(renamed > 2.0 / 3.0 && renamed < 0.8, "{renamed}");
        assert_eq!(of("interface C { }"), 0.0);
        assert_eq!(of(""), 0.0);
    }

    #[test]
    fn a_part_of_a_program_is_nearer_than_its_resemblance() {
        let more =
            "class B { long product(long a, long b) { while (b-- > 0) { a <<= 1; } return a; }
            boolean isOdd(long a) { return (a & 1) != 0; } }";
        let both = format!("{PROGRAM} {more}");
        let found = likeness(&[runs(PROGRAM), runs(&both)]);
        assert!(found > 0.55 && found < 0.9, "{found}");
    }

    #[test]
    fn rare_runs_count_for_more() {
        let reader = "class R { int read() { int c = in.read(); while (c <= 32) c = in.read();
            return c; } }";
        let [a, b] = ["class X { double f(double x) { return x / (1 + x * x); } }", PROGRAM]
            .map(|text| runs(&format!("{reader} {text}")));
        let many: Vec<ProgramRuns> = std::iter::repeat_n(runs(reader), 50).collect();
        let alone = likeness(&[a.clone(), b.clone()]);
        let among = likeness(&[&[a, b], &many[..]].concat());
        assert!(among < 0.6 * alone, "{among} {alone}");
    }

    #[test]
    fn runs_of_masked_tokens_alone_do_not_count() {
        let analyzer = "code(language=java)".parse::<Analyzer>().unwrap();
        let of = |mask: Option<Range<usize>>| {
            let mask = |_: &_| mask.iter().cloned().collect();
            ProgramRuns::of_text(PROGRAM, &analyzer, mask, Stop::NEVER).unwrap()
        };
        let (all, none) = (of(None), of(Some(0..47)));
        assert!(none.kinds.iter().all(Vec::is_empty));
        // Four tokens are no run of code, and six tokens have two runs.
        assert_eq!(of(Some(3..7)).kinds[0], all.kinds[0]);
        let some = of(Some(3..9));
        assert_eq!(all.kinds[0].len() - some.kinds[0].len(), 2);
    }

    proptest! {
        #[test]
        fn the_likeness_is_that_of_the_definition(
            programs in prop::collection::vec(prop::collection::btree_set(0u32..40, 0..30), 2..8),
            words in prop::collection::vec(prop::collection::btree_set(0u32..99, 0..30), 8),
        ) {
            let kinds = [&programs[..], &words[..programs.len()]];
            let of = |sets: &[BTreeSet<u32>]| {
                let mut df: BTreeMap<u32, f64> = BTreeMap::new();
                sets.iter().flatten().for_each(|run| *df.entry(*run).or_default() += 1.0);
                let weight = |run: &u32| (1.0 + sets.len() as f64 / df[run]).ln();
                let sum = |runs: &BTreeSet<u32>| runs.iter().map(weight).sum::<f64>();
                let shared = sum(&(&sets[0] & &sets[1]));
                let (both, least) =
                    (sum(&(&sets[0] | &sets[1])), sum(&sets[0]).min(sum(&sets[1])));
                if shared == 0.0 { 0.0 } else { (shared / both * shared / least).sqrt() }
            };
            let [code, words] = kinds.map(of);
            let expected = (2.0 * code + words) / 3.0;
            let runs = |set: &BTreeSet<u32>| set.iter().copied().collect();
            let programs: Vec<ProgramRuns> = (0..programs.len())
                .map(|at| ProgramRuns {
                    kinds: kinds.map(|kind| runs(&kind[at])),
                    own_words: Vec::new(),
                })
                .collect();
            let found = likeness(&programs);
            prop_assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
    }
}
