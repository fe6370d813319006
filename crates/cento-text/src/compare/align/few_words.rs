//! Handles passages of few different words: scores, answer sheets, chords, tables of yes and no.
//!
//! Any two such texts share most words, many even in the same order, so shared words are no
//! evidence for reuse. Only text that was copied nearly whole, or in a run too long for chance, is
//! reused.

use std::collections::HashSet;
use std::ops::Range;

use super::common::counts;
use super::{CopiedPassage, Side};
use crate::hash::BuildKeyHasher;
use crate::number::ln;

/// Minimum number of different words, as a multiple of the root of the number of words (Guiraud
/// 1954, "Les caracteres statistiques du vocabulaire"). Only five of 13,551 places of candidates of
/// PAN 2013 have fewer, and half of the places of 60 to 120 words have 6.4 times the root or more.
const DIFFERENT_MIN: f64 = 2.0;

/// Maximum expected number of equally similar passages by chance, among all pairs of places of two
/// texts, for a copy with few different words.
const CHANCE_MAX: f64 = 1e-6;

/// Maximum distance, in tokens, to an earlier number that a number may follow from.
const EARLIER: usize = 32;

impl Side<'_> {
    /// Returns the word of a token. Every number is 0, because all numbers count as one word.
    fn word(&self, at: usize) -> u64 {
        if self.has_letter(at) { self.tokens.hashes[at] } else { 0 }
    }

    /// Returns whether these tokens have few different words.
    pub(super) fn has_few_words(&self, place: &Range<usize>) -> bool {
        let mut different: HashSet<u64, BuildKeyHasher> = HashSet::default();
        let enough = DIFFERENT_MIN * (place.len() as f64).sqrt();
        place.clone().all(|at| {
            different.insert(self.word(at));
            (different.len() as f64) < enough
        })
    }

    /// Returns the words of a place, without numbers that follow from earlier numbers: rows, years
    /// and regular steps, which unrelated tables have too.
    fn unexpected_words(&self, place: &Range<usize>) -> Vec<u64> {
        let number = |at: usize| self.written(at).parse::<i128>().ok();
        let numbers: Vec<Option<i128>> = place.clone().map(number).collect();
        let is_unexpected =
            |&at: &usize| self.has_letter(at) || is_unexpected(&numbers[..=at - place.start]);
        place.clone().filter(is_unexpected).map(|at| self.tokens.hashes[at]).collect()
    }
}

/// Returns whether the last number does not follow from the numbers shortly before: it is neither a
/// previous number plus one, nor the next of a regular series.
fn is_unexpected(numbers: &[Option<i128>]) -> bool {
    let Some((Some(last), before)) = numbers.split_last() else { return false };
    let number = |back: usize| before.len().checked_sub(back).and_then(|at| before[at]);
    !(1..=EARLIER).any(|back| {
        number(back).is_some_and(|one| {
            let step = last.saturating_sub(one);
            step == 1 || number(2 * back).is_some_and(|other| one.saturating_sub(other) == step)
        })
    })
}

/// Returns whether a copied passage is more than chance, though its places may have few different
/// words.
///
/// The expected number by chance is the number of pairs of places, times the chance that all
/// matched words are equal, times the number of ways to choose the matched words on each side (as
/// Karlin and Altschul 1990 count runs, with gaps). The longest run is tested alone too.
/// Predictable words do not count, because they are equal without a copy. A copy of a whole text
/// always passes.
pub fn is_evident(copied: &CopiedPassage, query: Side<'_>, document: Side<'_>) -> bool {
    let matched: usize = copied.matched.iter().map(Range::len).sum();
    let texts = [query, document].map(|side| side.tokens.hashes.len());
    let is_whole = texts.contains(&matched);
    if is_whole || !(query.has_few_words(&copied.query) || document.has_few_words(&copied.hit)) {
        return true;
    }
    let mut words = query.unexpected_words(&copied.query);
    words.extend(document.unexpected_words(&copied.hit));
    let unexpected = words.len() as f64 / (copied.query.len() + copied.hit.len()) as f64;
    let equal = unexpected * ln(repeat_rate(&words));
    let places = texts.iter().map(|&tokens| ln(tokens as f64)).sum::<f64>();
    let ways = ways(copied.query.len(), matched) + ways(copied.hit.len(), matched);
    let (whole, run) = (matched as f64 * equal + ways, copied.longest as f64 * equal);
    places + whole.min(run) <= ln(CHANCE_MAX)
}

/// Returns the logarithm of an upper bound for the ways to choose `chosen` of `all`.
fn ways(all: usize, chosen: usize) -> f64 {
    let share = (chosen.min(all) as f64 / all as f64).clamp(0.0, 1.0);
    let part = |share: f64| if share > 0.0 { -share * ln(share) } else { 0.0 };
    all as f64 * (part(share) + part(1.0 - share))
}

/// Returns the chance that two words taken at random are equal (Simpson 1949, "Measurement of
/// diversity"), and at least the chance that one more word repeats a given word.
fn repeat_rate(words: &[u64]) -> f64 {
    let pairs = |count: u64| count * count.saturating_sub(1);
    let equal: u64 = counts(words).values().map(|&count| pairs(u64::from(count))).sum();
    let all = words.len().max(1) as f64;
    (equal as f64 / pairs(words.len() as u64).max(1) as f64).max(1.0 / all)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::super::joined::testing::aligned;
    use crate::hash::mix64;

    const TEAMS: [&str; 12] = [
        "Arsenal",
        "Burnley",
        "Chelsea",
        "Derby",
        "Everton",
        "Fulham",
        "Leeds",
        "Liverpool",
        "Millwall",
        "Norwich",
        "Reading",
        "Sunderland",
    ];

    /// Writes the line of a number, with numbers drawn below a bound.
    type WriteLine<'a> = dyn Fn(&mut String, u64, &mut dyn FnMut(u64) -> u64) + 'a;

    /// Returns the lines of `line`, which gets its number and a source of numbers below a bound.
    fn text(seed: u64, lines: u64, line: &WriteLine<'_>) -> String {
        let mut drawn = 0;
        let mut below = |bound: u64| {
            drawn += 1;
            mix64(seed << 32 | drawn) % bound
        };
        let mut text = String::new();
        for at in 0..lines {
            line(&mut text, at, &mut below);
            text.push('\n');
        }
        text
    }

    fn season(seed: u64) -> String {
        text(seed, 36, &|text, _, below| {
            for end in [" ", ""] {
                write!(text, "{} {}{end}", TEAMS[below(12) as usize], below(5)).unwrap();
            }
        })
    }

    fn answers(seed: u64) -> String {
        text(seed, 60, &|text, at, below| {
            write!(text, "{}. {}", at + 1, ["A", "B", "C", "D"][below(4) as usize]).unwrap();
        })
    }

    fn chords(seed: u64) -> String {
        text(seed, 30, &|text, _, below| {
            (0..10).for_each(|_| {
                write!(text, "{} ", ["C", "D", "E", "F", "G", "A", "B"][below(7) as usize]).unwrap()
            });
        })
    }

    fn truths(seed: u64) -> String {
        text(seed, 15, &|text, _, below| {
            (0..10)
                .for_each(|_| write!(text, "{} ", ["true", "false"][below(2) as usize]).unwrap());
        })
    }

    fn table(seed: u64) -> String {
        text(seed, 40, &|text, at, below| {
            write!(text, "{at},{},{},yes,no", below(10), below(10)).unwrap();
        })
    }

    #[test]
    fn texts_of_few_different_words_have_no_passage_by_chance() {
        // Random chords were 91 % reused, seasons without a result in common 98 %.
        for kind in [season, answers, chords, truths, table] {
            for seed in 0..20 {
                let (a, b) = (kind(2 * seed), kind(2 * seed + 1));
                assert_eq!(aligned(&a, &b).0, [], "{a}\n{b}");
            }
        }
    }

    /// A table of measurements, with the same times and other values for each seed.
    fn readings(seed: u64) -> String {
        let rows = text(seed, 20, &|text, at, below| {
            let row = [at + 1, 5 * at, below(9), below(100), 10 + below(90), below(100)];
            let [row, time, volts, hundredths, ohm, tenths] = row;
            write!(text, "{row} | {time} | {volts}.{hundredths:02} | {ohm}.{tenths:02}").unwrap();
        });
        format!("\nNo | s | V | Ohm\n{rows}\n")
    }

    #[test]
    fn a_table_of_measurements_is_a_passage_where_its_values_are_equal() {
        // A pair with the same table had "new 1.000", because numbers were no evidence.
        let prose =
            |words: [&str; 3]| format!("{} lies {} the line {}.", words[0], words[1], words[2]);
        let [ann, bob] = [["All", "on", "drawn"], ["Nothing", "near", "given"]].map(prose);
        for seed in 0..20 {
            let table = readings(seed);
            let (found, shares) = aligned(&format!("{table}{ann}"), &format!("{table}{bob}"));
            assert!(found.len() == 1 && shares[0] > 0.9, "{table}{found:?}");
            // Every honest report has the times and the numbers of the rows.
            let other = readings(seed + 100);
            let (found, _) = aligned(&format!("{table}{ann}"), &format!("{other}{bob}"));
            assert_eq!(found, [], "{table}\n{other}");
        }
    }

    #[test]
    fn tables_of_the_same_days_with_other_values_have_no_passage() {
        // Digits in common were letters that recognition had changed.
        let days = |seed: u64| {
            text(seed, 31, &|text, at, below| {
                let day = at + 1;
                let wind = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"][below(8) as usize];
                let [low, high, rain] = [15, 22, 30].map(&mut *below);
                let [a, b, air] = [10, 10, 35].map(&mut *below);
                let air = 990 + air;
                write!(text, "{day:02}.03.2021 {low}.{a} {high}.{b} {rain} {air} {wind}").unwrap();
            })
        };
        for seed in 0..40 {
            let (a, b) = (days(2 * seed), days(2 * seed + 1));
            assert_eq!(aligned(&a, &b).0, [], "{a}\n{b}");
            assert_eq!(aligned(&a, &a).1, [1.0; 2]);
        }
    }

    #[test]
    fn numbers_that_a_series_lets_expect_are_no_evidence() {
        let check = |numbers: &[i128], expected: bool| {
            let numbers: Vec<Option<i128>> = numbers.iter().map(|&number| Some(number)).collect();
            assert_eq!(super::is_unexpected(&numbers), expected, "{numbers:?}");
        };
        check(&[7, 40, 2, 8], false);
        check(&[5, 31, 10, 77, 15], false);
        check(&[20, 3, 20, 9, 20], false);
        check(&[5, 31, 10, 77, 16], true);
        check(&[17], true);
        check(&[12_345_678_901_234_567_890, 98_765_432_109_876_543_210], true);
    }

    #[test]
    fn a_text_of_one_word_is_a_copy_of_itself() {
        let text = "na ".repeat(60);
        assert_eq!(aligned(&text, &text).1, [1.0; 2]);
        assert_eq!(aligned(&text, &"na ".repeat(90)).1[0], 1.0);
    }

    #[test]
    fn copies_of_texts_of_few_different_words_are_passages() {
        for kind in [season, answers, chords, truths, table] {
            for seed in 0..5 {
                let copy = kind(seed);
                let (found, shares) = aligned(&copy, &copy);
                assert_eq!((found.len(), shares), (1, [1.0; 2]), "{copy}");
                // Every twentieth word is replaced.
                let mut words: Vec<&str> = copy.split(' ').collect();
                words.iter_mut().skip(9).step_by(20).for_each(|word| *word = "pear");
                let (found, shares) = aligned(&words.join(" "), &copy);
                assert!(!found.is_empty() && shares[0] > 0.9, "{copy}\n{found:?}");
            }
        }
    }
}
