//! Words that a line end divides. The marks of a quoted line (`> `) belong to the line end.
//!
//! A hyphen directly after a letter, at the end of a line or page, divides a word if the next line
//! begins with a lower-case letter: `Nord-` before `Amerika` is a compound. In capitals, as in
//! headlines, compounds look like divided words, so all such words are joined. Transcriptions use
//! the not sign (U+00AC) or the soft hyphen only for divisions, so these signs also join letters
//! where the line end is lost, and before letters of either case.

use super::edit::EditedText;
use super::fold::Folds;
use super::numbers;
use super::quotations::line_marks;
use super::unicode::{is_letter, is_mark, is_upper_case, is_white_space};
use std::ops::Range;

/// Returns the text with divided words joined and without the numbers of lines, as the folds
/// request. `None` if nothing changes.
pub(super) fn join(text: &str, folds: Folds) -> Option<EditedText> {
    if folds.of_lines().is_none() {
        return None;
    }
    let mut cuts = match folds.leaves_out_numbers() {
        true => numbers::ranges(text),
        false => Vec::new(),
    };
    if folds.joins_lines() {
        cuts.extend(divisions(text));
        cuts.sort_by_key(|cut| cut.start);
    }
    if cuts.is_empty() {
        return None;
    }
    let mut edited = EditedText::default();
    // The end of the text that has been copied.
    let mut copied = 0;
    for Range { start, end } in cuts {
        edited.copy(text, copied, start);
        copied = end;
    }
    edited.copy(text, copied, text.len());
    Some(edited)
}

/// Returns the hyphens that divide words, each with the following line end.
fn divisions(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.char_indices().filter_map(|(at, c)| {
        let after = at + c.len_utf8();
        let next = HyphenKind::of(c)?.next(&text[..at], &text[after..])?;
        Some(at..after + next)
    })
}

/// Returns the memory, in bytes, for joining the lines of a text of this many bytes with these
/// folds.
pub(super) fn scratch_bytes(folds: Folds, text_bytes: usize) -> usize {
    let a_byte = match (folds.joins_lines(), folds.leaves_out_numbers()) {
        (false, false) => 0,
        (true, false) => DIVISION_BYTES_A_BYTE,
        (_, true) => DIVISION_BYTES_A_BYTE + NUMBER_BYTES_A_BYTE,
    };
    text_bytes.saturating_mul(a_byte)
}

/// The maximum memory for each byte of a text: a copy of the byte, and for three bytes a piece of
/// 24 bytes and a cut of 16, in lists that may be twice as long as needed.
const DIVISION_BYTES_A_BYTE: usize = 30;

/// The memory for the numbers of lines: 24 bytes for two bytes of a text, in two lists.
const NUMBER_BYTES_A_BYTE: usize = 50;

#[derive(Clone, Copy, PartialEq, Eq)]
enum HyphenKind {
    /// A hyphen, which also occurs within lines.
    Hyphen,
    /// A sign that occurs only where a word is divided.
    Division,
}

impl HyphenKind {
    fn of(c: char) -> Option<HyphenKind> {
        match c {
            '-' | '\u{2010}' | '\u{2e17}' => Some(HyphenKind::Hyphen),
            '\u{ac}' | '\u{ad}' => Some(HyphenKind::Division),
            _ => None,
        }
    }

    /// Returns the number of bytes of `after` before the continuation of the word that ends
    /// `before`.
    fn next(self, before: &str, after: &str) -> Option<usize> {
        let last = before.chars().rev().find(|&c| !is_mark(c))?;
        let rest = after.trim_start_matches(is_white_space);
        let rest = &rest[line_marks(rest)..];
        let next = rest.chars().next()?;
        if !is_letter(last) || !is_letter(next) {
            return None;
        }
        let space = &after[..after.len() - rest.len()];
        let ends = line_ends(space);
        let joins = match self {
            HyphenKind::Hyphen if is_upper_case(next) => {
                ends == 1 && are_capitals(before.chars().rev()) && are_capitals(rest.chars())
            }
            HyphenKind::Hyphen => ends == 1,
            HyphenKind::Division => ends <= 1 && (ends == 1 || space.is_empty()),
        };
        joins.then_some(space.len())
    }
}

/// Returns the number of line ends in white space: LF, CR LF or CR. A blank line ends a paragraph.
/// A form feed ends a page, and a word may continue on the next page, with or without a line end.
fn line_ends(space: &str) -> usize {
    let ends =
        space.matches('\n').count() + space.matches('\r').count() - space.matches("\r\n").count();
    if ends == 0 && space.contains('\u{c}') { 1 } else { ends }
}

/// Returns whether the word at the start of these characters has only capitals, at least two,
/// because a single capital is an initial.
fn are_capitals(chars: impl Iterator<Item = char>) -> bool {
    let mut letters = 0;
    for c in chars.filter(|&c| !is_mark(c)).take_while(|&c| is_letter(c)) {
        if !is_upper_case(c) {
            return false;
        }
        letters += 1;
    }
    letters >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let joined = join(text, Folds::HYPHENS);
        assert_eq!(joined.as_ref().map_or(text, |edited| &edited.text), expected, "{text:?}");
        assert_eq!(joined.is_none(), text == expected, "{text:?}");
    }

    #[test]
    fn a_word_goes_on_after_a_line_end() {
        check("Frank-\nreich", "Frankreich");
        check("Frank-\r\n   reich, ein-\nmal", "Frankreich, einmal");
        check("> Frank-\n> reich, ein-\n>> mal, a->b", "> Frankreich, einmal, a->b");
        check("m\u{f6}g-\n\u{17f}t", "m\u{f6}g\u{17f}t");
        check("re\u{301}-\npe\u{301}te\u{301}", "re\u{301}pe\u{301}te\u{301}");
        for hyphen in ["\u{2010}", "\u{2e17}", "\u{ac}", "\u{ad}"] {
            check(&format!("Frank{hyphen}\nreich"), "Frankreich");
        }
    }

    #[test]
    fn a_word_in_capitals_goes_on_in_capitals() {
        // Headlines in capitals shared no word with headlines of undivided words.
        check("CONSTAN-\nTINOPLE WAS YESTER-\nDAY", "CONSTANTINOPLE WAS YESTERDAY");
        check("E\u{301}PE\u{301}-\nE\u{301}S", "E\u{301}PE\u{301}E\u{301}S");
        for text in ["S\u{fc}d-\nAmerika", "SUED-\nAmerika", "Sued-\nAMERIKA", "U-\nBOOT", "AB-\nC"]
        {
            check(text, text);
        }
    }

    #[test]
    fn a_line_ends_with_cr_or_with_the_page() {
        check("Frank-\rreich", "Frankreich");
        check("Frank-\u{c}reich", "Frankreich");
        check("Frank-\n\u{c}reich", "Frankreich");
        for text in ["Ein-\r\rund", "Ein-\r\n\r\nund", "so -\rund"] {
            check(text, text);
        }
    }

    #[test]
    fn other_hyphens_stay() {
        // A compound, a dash, a list, a paragraph's end, a number, the end of the text.
        for text in [
            "> Ein-\n>\n> und",
            "Nord-\nAmerika",
            "so -\nund",
            "-\nund",
            "Ein-\n\nund",
            "1914-\nund",
            "in 3-\n4",
            "ein-",
            "ein-und",
            "ein- und",
            "",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn the_not_sign_and_the_soft_hyphen_only_divide_words() {
        check("Frank\u{ac}reich", "Frankreich");
        check("Nord\u{ac}\nAmerika", "NordAmerika");
        check("Frank\u{ad}reich", "Frankreich");
        check("a \u{ac} b, \u{ac}b, a\u{ac} b", "a \u{ac} b, \u{ac}b, a\u{ac} b");
    }
}
