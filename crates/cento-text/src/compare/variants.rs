//! Which texts of a sample are variants of an earlier text?
//!
//! A ring of copies is its own background: the common text of the members is in many texts, so the
//! text looks like an idiom. Every member was edited in different places, so a single run common to
//! two members may be too short for a copy. Together the runs are long enough: a text is a variant
//! of an earlier text if common runs cover two fifths of the tokens of the longer text.
//!
//! The number of common runs would miss a ring of copies: if every member replaced a word in
//! twelve, two members share a quarter of their runs of eight words, but these runs cover half of
//! the words. A run counts only if it says a third as much as a copy, which takes eight words of
//! prose or twelve tokens of programs, because shorter runs cover two fifths of many pairs of
//! honest programs. With half as much, most members of a ring of 30 among 40 honest texts would
//! hide the ring. The threshold of two fifths cannot be much lower, because honest programs that
//! share a reader have a third of their tokens in common (research/RESULTS.md, "Evidence").
//!
//! If more than half of the texts are variants of the same text, that text is a form or starter
//! code for everybody, and its variants count.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::background::{bits_alone, copy_bits};
use super::common_runs::Sums;
use crate::hash::BuildKeyHasher;
use crate::scheme::run_values;

/// The number of tokens of the shortest run.
const RUN_TOKENS: usize = 8;

/// A text that is not a variant of an earlier text.
struct Original {
    tokens: usize,
    /// The number of texts: the original and its variants.
    texts: usize,
}

/// The runs that a text shares with an original, as far as the text was read.
#[derive(Clone, Default)]
struct SharedRuns {
    /// The tokens of the last run.
    last: Range<usize>,
    /// The number of tokens in runs that count, and the end of the last of these runs.
    covered: usize,
    end: usize,
}

impl SharedRuns {
    /// Adds a run of tokens, which may continue the last run.
    fn add(&mut self, run: Range<usize>, bits: &Sums, least: f64) {
        if self.last.end + 1 != run.end {
            self.close(bits, least);
            self.last.start = run.start;
        }
        self.last.end = run.end;
    }

    /// Counts the tokens of the last run, if it says enough.
    fn close(&mut self, bits: &Sums, least: f64) {
        if bits.of(&self.last) >= least {
            self.covered += self.last.end - self.last.start.max(self.end);
            self.end = self.last.end;
        }
    }
}

/// For each text, returns whether it is a variant of an earlier text.
///
/// ```
/// let texts = [0, 0, 100, 200, 300].map(|first| (first..first + 20).collect::<Vec<u64>>());
/// let texts: Vec<&[u64]> = texts.iter().map(Vec::as_slice).collect();
/// assert_eq!(cento_text::compare::variants::variants(&texts), [false, true, false, false, false]);
/// ```
#[must_use]
pub fn variants(texts: &[&[u64]]) -> Vec<bool> {
    let mut counts: HashMap<u64, u64, BuildKeyHasher> = HashMap::default();
    texts.iter().copied().flatten().for_each(|&token| *counts.entry(token).or_default() += 1);
    let tokens = texts.iter().map(|text| text.len()).sum::<usize>() as u64;
    let least = copy_bits(tokens) / 3.0;
    let mut originals: Vec<Original> = Vec::new();
    let mut owners: HashMap<u64, Vec<u32>, BuildKeyHasher> = HashMap::default();
    let mut shared: Vec<SharedRuns> = Vec::new();
    let mut variant_of = |text: &&[u64]| {
        let bits: Vec<f64> = text.iter().map(|token| bits_alone(tokens, counts[token])).collect();
        let bits = Sums::new(&bits);
        shared.clear();
        shared.resize(originals.len(), SharedRuns::default());
        let mut seen: HashSet<u64, BuildKeyHasher> = HashSet::default();
        // A text that repeats a run has not more in common with a text that has the run once.
        let runs = run_values(text, RUN_TOKENS).enumerate().filter(|&(_, run)| seen.insert(run));
        let runs: Vec<(usize, u64)> = runs.collect();
        for (at, run) in &runs {
            for &owner in owners.get(run).into_iter().flatten() {
                // A text with fewer tokens than a run is a run itself.
                let run = *at..text.len().min(at + RUN_TOKENS);
                shared[owner as usize].add(run, &bits, least);
            }
        }
        shared.iter_mut().for_each(|runs| runs.close(&bits, least));
        let mut known = originals.iter_mut().zip(&shared).enumerate();
        let is_alike = |(own, shared): (&Original, &SharedRuns)| {
            5 * shared.covered > 2 * own.tokens.max(text.len())
        };
        if let Some((at, (own, _))) = known.find(|(_, (own, shared))| is_alike((own, shared))) {
            own.texts += 1;
            return Some(at);
        }
        let number = originals.len() as u32;
        originals.push(Original { tokens: text.len(), texts: 1 });
        runs.into_iter().for_each(|(_, run)| owners.entry(run).or_default().push(number));
        None
    };
    let found: Vec<Option<usize>> = texts.iter().map(&mut variant_of).collect();
    let is_ring = |at: usize| 2 * originals[at].texts <= texts.len();
    found.into_iter().map(|original| original.is_some_and(is_ring)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix64;

    /// A text of 300 tokens, with every fortieth token replaced if `edit` is not 0.
    fn text(seed: u64, edit: u64) -> Vec<u64> {
        let token = |at: u64| match (at + 7 * edit) % 40 {
            0 if edit > 0 => mix64(mix64(seed) ^ (at << 32 | edit)),
            _ => mix64(seed << 32 | at),
        };
        (0..300).map(token).collect()
    }

    fn of(texts: &[Vec<u64>]) -> Vec<bool> {
        variants(&texts.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn equal_texts_shorter_than_a_run_are_variants() {
        // Two texts of one to seven equal words, such as "Thank you!" and "thank you", made every
        // search for passages panic.
        for tokens in 0..12 {
            let short: Vec<u64> = (0..tokens).collect();
            let long: Vec<u64> = (100..400).collect();
            let found = of(&[
                short.clone(),
                long.clone(),
                short.clone(),
                short[..1.min(short.len())].to_vec(),
            ]);
            assert_eq!((found[0], found[1]), (false, false), "{tokens}");
        }
    }

    #[test]
    fn a_ring_counts_once_and_starter_code_each_time() {
        let others: Vec<Vec<u64>> = (10..30).map(|seed| text(seed, 0)).collect();
        let ring: Vec<Vec<u64>> = (0..11).map(|edit| text(1, edit)).collect();
        let found = of(&[others.clone(), ring.clone()].concat());
        assert_eq!(found.iter().filter(|&&is| is).count(), 10);
        assert!(!found[..21].contains(&true), "the first of them counts");
        // A ring of 11 is not common among 31 texts, but is common among 20 texts.
        assert!(!of(&[&others[..9], &ring[..]].concat()).contains(&true));
    }

    #[test]
    fn a_ring_is_known_though_each_member_replaced_one_word_in_twelve() {
        let others = (100..140).map(|seed| text(seed, 0));
        let token = |edit: u64, at: u64| match mix64(mix64(edit) ^ at) % 12 {
            0 => mix64(edit << 32 | at) % 500,
            _ => mix64(at) % 500,
        };
        let ring = (1..31).map(|edit| (0..300).map(|at| token(edit, at)).collect::<Vec<u64>>());
        let found = of(&others.chain(ring).collect::<Vec<_>>());
        assert!(!found[..41].contains(&true));
        let missed = found[41..].iter().filter(|&&is| !is).count();
        // Two members with more replacements than usual are not variants.
        assert!(missed <= 2, "{missed}");
    }

    #[test]
    fn programs_that_share_short_runs_throughout_are_no_variants() {
        // Nine of twelve tokens are idioms, of a vocabulary of 30 signs and names.
        let program = |seed: u64| -> Vec<u64> {
            let idiom = |at: u64| mix64(at / 12 % 20 * 12 + at % 12) % 30;
            let own = |at: u64| mix64(seed << 32 | at) % 30;
            (0..300).map(|at| if at % 12 < 9 { idiom(at) } else { own(at) }).collect()
        };
        let programs: Vec<Vec<u64>> = (1..40).map(program).collect();
        assert!(!of(&programs).contains(&true));
    }

    #[test]
    fn variants_have_two_fifths_of_the_longer_text() {
        let others: Vec<Vec<u64>> = (10..30).map(|seed| text(seed, 0)).collect();
        for tokens in [0, 60, 100, 120, 130, 150, 200, 300] {
            let one = text(1, 0);
            let part = [&one[..tokens], &text(2, 0)[..300 - tokens]].concat();
            let found = of(&[&others[..], &[one, part]].concat());
            assert_eq!(found[21], 5 * tokens > 2 * 300, "{tokens}");
        }
        // A quarter of the long text is the whole of the short text.
        let long = text(1, 0);
        assert!(!of(&[&others[..], &[long.clone(), long[..75].to_vec()]].concat())[21]);
        assert_eq!(of(&[Vec::new(), vec![1, 2]]), [false, false]);
    }
}
