//! Numbers of lines and verses.
//!
//! Depositions, editions of poems and Bibles number their lines or verses, and other copies of the
//! same text do not. The fold `numbers` removes numbers that count up, in steps of one or of a few:
//! at the beginnings of lines, at line ends after a gap, at the beginnings of sentences, where a
//! number may touch the next word, or anywhere in brackets of one kind. Years, amounts and most
//! other numbers do not count up.
//!
//! Marks of notes in superscript digits count up, too. Readers cannot remove them from plain text,
//! because passages are byte ranges of the file. Powers and units (`m\u{b2}`) do not count up, and
//! have few letters.

use super::unicode::is_letter;
use std::ops::Range;

const DIGITS_MAX: usize = 5;

/// The minimum length of a sequence of numbers that count up.
const NUMBERS_MIN: usize = 4;

/// The possible steps: every line, or every second, fourth, fifth or tenth line is numbered.
const STEPS: [u32; 5] = [1, 2, 4, 5, 10];

/// The fraction of the numbers at the same kind of place that must count up: four in five.
const COUNTING: (usize, usize) = (4, 5);

/// A number and its place, with the gap after or before the number.
struct PlacedNumber {
    value: u32,
    at: Range<usize>,
}

/// The numbers of a text, by their places.
#[derive(Default)]
struct NumberPlaces {
    line_starts: Vec<PlacedNumber>,
    line_ends: Vec<PlacedNumber>,
    sentences: Vec<PlacedNumber>,
    /// Numbers in brackets, by the kind of bracket.
    bracketed: [Vec<PlacedNumber>; BRACKETS.len()],
    /// Superscript numbers after words and sentences.
    note_marks: Vec<PlacedNumber>,
    /// Superscript numbers at the beginnings of lines, where notes begin.
    notes: Vec<PlacedNumber>,
}

/// The superscript digits, in the order of their values.
const SUPERSCRIPTS: [char; 10] = [
    '\u{2070}', '\u{b9}', '\u{b2}', '\u{b3}', '\u{2074}', '\u{2075}', '\u{2076}', '\u{2077}',
    '\u{2078}', '\u{2079}',
];

/// The minimum length of a word with a note. Shorter words are units and variables.
const NOTED_LETTERS_MIN: usize = 3;

/// The brackets around the numbers of verses.
const BRACKETS: [(char, char); 3] = [('[', ']'), ('(', ')'), ('{', '}')];

/// Returns the ranges of the numbers of lines and verses in a text, in order.
pub(super) fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut places = NumberPlaces::default();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit).map(|to| at + to) {
        let len = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        at = start + len;
        if len <= DIGITS_MAX
            && let Ok(value) = text[start..at].parse()
        {
            places.add(text, PlacedNumber { value, at: start..at });
        }
    }
    places.add_superscripts(text);
    let NumberPlaces { line_starts, line_ends, sentences, bracketed, note_marks, notes } = places;
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let numbers = [line_starts, line_ends, sentences, note_marks, notes];
    for numbers in numbers.into_iter().chain(bracketed) {
        ranges.extend(counting(&numbers).map(|number| number.at.clone()));
    }
    ranges.sort_by_key(|range| range.start);
    ranges.dedup();
    ranges
}

impl NumberPlaces {
    fn add(&mut self, text: &str, number: PlacedNumber) {
        let (before, after) = (&text[..number.at.start], &text[number.at.end..]);
        let of =
            |(open, close): &(char, char)| before.ends_with(*open) && after.starts_with(*close);
        if let Some(kind) = BRACKETS.iter().position(of) {
            // Each bracket is a single byte.
            let at = number.at.start - 1..number.at.end + 1;
            self.bracketed[kind].push(PlacedNumber { at, ..number });
            return;
        }
        let next = after.chars().next();
        let before_word = next.is_some_and(|c| is_blank(c) || is_letter(c) || is_open(c));
        let last = before.chars().rev().find(|c| !is_blank(*c));
        let blanks = after.find(|c| !is_blank(c)).unwrap_or(after.len());
        let with_gap = PlacedNumber { at: number.at.start..number.at.end + blanks, ..number };
        let has_gap = before.chars().next_back().is_some_and(is_blank);
        if last.is_none_or(is_end) {
            if before_word {
                // A verse may also begin at the beginning of a line.
                self.sentences.push(PlacedNumber { at: with_gap.at.clone(), ..with_gap });
                self.line_starts.push(with_gap);
            }
        } else if has_gap && after.chars().find(|c| !is_blank(*c)).is_none_or(is_end) {
            let start = before.trim_end_matches(is_blank).len();
            self.line_ends.push(PlacedNumber { at: start..with_gap.at.end, ..number });
        } else if has_gap && before_word && last.is_some_and(ends_sentence) {
            self.sentences.push(with_gap);
        }
    }

    /// Adds the numbers in superscript digits.
    fn add_superscripts(&mut self, text: &str) {
        let digit = |c| SUPERSCRIPTS.iter().position(|of| *of == c);
        let mut from = 0;
        while let Some(start) = text[from..].find(SUPERSCRIPTS).map(|to| from + to) {
            let digits = text[start..].chars().map_while(digit).take(DIGITS_MAX);
            let value = digits.fold(0, |value, digit| value * 10 + digit as u32);
            let rest = text[start..].trim_start_matches(SUPERSCRIPTS);
            let at = start..text.len() - rest.len();
            from = at.end;
            let before = &text[..start];
            let letters = before.chars().rev().take_while(|c| is_letter(*c));
            let is_word = letters.take(NOTED_LETTERS_MIN).count() == NOTED_LETTERS_MIN;
            let is_inside = rest.starts_with(|c: char| is_letter(c) || c.is_ascii_digit());
            let number = PlacedNumber { value, at };
            if before.trim_end_matches(is_blank).chars().next_back().is_none_or(is_end) {
                self.notes.push(number);
            } else if !is_inside && (is_word || before.ends_with(ends_sentence)) {
                self.note_marks.push(number);
            }
        }
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{a0}')
}

fn is_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{c}')
}

fn is_open(c: char) -> bool {
    matches!(c, '"' | '\'' | '(' | '[' | '\u{201c}' | '\u{2018}' | '\u{ab}')
}

fn ends_sentence(c: char) -> bool {
    matches!(
        c,
        '.' | '!' | '?' | ';' | ':' | ',' | '"' | '\'' | ')' | '\u{201d}' | '\u{2019}' | '\u{bb}'
    )
}

/// Returns the numbers that count up, or none if most numbers do not.
fn counting(numbers: &[PlacedNumber]) -> impl Iterator<Item = &PlacedNumber> {
    let pairs = |step: u32| {
        let follows = move |pair: &&[PlacedNumber]| follows(pair[0].value, pair[1].value, step);
        numbers.windows(2).filter(follows).count()
    };
    let step = STEPS.into_iter().max_by_key(|&step| (pairs(step), std::cmp::Reverse(step)));
    let step = step.unwrap_or(1);
    let (of, all) = COUNTING;
    let is_counted = numbers.len() >= NUMBERS_MIN && pairs(step) * all >= (numbers.len() - 1) * of;
    let is_in_row = move |at: usize| {
        let goes_on = |first: usize| match (numbers.get(first), numbers.get(first + 1)) {
            (Some(first), Some(second)) => follows(first.value, second.value, step),
            _ => false,
        };
        goes_on(at) || at.checked_sub(1).is_some_and(goes_on)
    };
    let found = numbers.iter().enumerate().filter(move |(at, _)| is_counted && is_in_row(*at));
    found.map(|(_, number)| number)
}

/// Returns whether the second number continues the count, or begins a new count on the next page.
fn follows(first: u32, second: u32, step: u32) -> bool {
    second == first.saturating_add(step) || (second <= step && first > second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut kept = String::new();
        let mut at = 0;
        for range in ranges(text) {
            kept.push_str(&text[at..range.start]);
            at = range.end;
        }
        kept.push_str(&text[at..]);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&kept), words(expected), "{text}");
    }

    #[test]
    fn numbers_that_count_up_at_lines_and_sentences_are_left_out() {
        check("  1  one\n  2  two 7\n  3  three\n  4  four", "one two 7 three four");
        check("one   5\ntwo\nthree  10\nfour  15\nfive 20\nsix", "one two three four five six");
        check(
            "1 One. 2 Two, \u{201c}x.\u{201d} 3 Three; 4 four. 5 Five",
            "One. Two, \u{201c}x.\u{201d} Three; four. Five",
        );
        check("1One. 2Two. 3Three. 4Four. 5Five.", "One. Two. Three. Four. Five.");
        check("[12] One [13] two,\n[14]three [15] four (2) x.", "One two,\nthree four (2) x.");
        check("{1} One {2} two {3} three {4} four", "One two three four");
        check("(1) One; (2) two; (3) three; (4) four", "One; two; three; four");
        // The next page begins a new count.
        check("1 a\n2 b\n3 c\n1 d\n2 e", "a b c d e");
    }

    #[test]
    fn superscript_marks_of_notes_go_and_powers_stay() {
        check(
            "The wall\u{b9} of the gate.\u{b2} A m\u{b2}, x\u{b3} and 10\u{b3} of it,\u{b3} or.\u{2074}\n\
             \u{b9} A.\n\u{b2} B.\n\u{b3} C.\n\u{2074} D.",
            "The wall of the gate. A m\u{b2}, x\u{b3} and 10\u{b3} of it, or. A. B. C. D.",
        );
        for text in [
            "The area\u{b2} of the room, sin\u{b2} and cos\u{b2}, (a+b)\u{b2} = (b+a)\u{b2}.",
            "x\u{b9}, x\u{b2}, x\u{b3}, x\u{2074} and 10\u{b9}, 10\u{b2}, 10\u{b3}, 10\u{2074}",
            "the wall\u{b9}x the wall\u{b2}x the wall\u{b3}x the wall\u{2074}x",
        ] {
            assert!(ranges(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn other_numbers_are_text() {
        for text in [
            "1 one\n2 two\n3 three",
            "1914 began.\n1918 ended.\n2001 a film.\n12 monkeys.\n7 more.",
            "In 1, 2 and 3 of 4 cases 5 were 6.",
            "As in [7], [3], [12] and [4], or f(1) and f(2) and f(3).",
            "Sold 3.\nSold 5.\nSold 4.\nSold 9.\n",
            "",
        ] {
            assert!(ranges(text).is_empty(), "{text}");
        }
    }
}
