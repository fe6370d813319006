//! Line ends within words.
//!
//! Chinese, Japanese, Thai, Lao and Khmer text is wrapped between any two letters or syllables,
//! Tibetan between syllables, and programs wrap it anywhere. A line end between two such letters
//! does not count, because the text would have no space there. An empty line, a space and a
//! punctuation mark do count. Korean and Burmese have spaces between phrases, and lines end there.
//!
//! The marks of a quoted line (`> `) belong to its line end.
//!
//! A soft hyphen at a line end has no other meaning than a divided word, in every script. Other
//! hyphens may belong to the word, so only the fold `hyphens` joins these words.

use super::Span;
use super::normalize::{CharSink, Class, Normalizer, is_apostrophe, is_ignorable};
use super::quotations::line_marks;
use super::unicode::{is_burmese, is_hangul, is_letter, is_mark, is_unspaced};
use crate::Result;

/// The number of characters that are examined before and after a line end: a letter and its marks.
/// A letter with more marks, which no real text has, ends at the line end.
const CHARS_EXAMINED: usize = 32;

/// Returns the length of the line end at byte `at` of a text, or 0 if there is no line end.
#[inline(always)]
fn line_end(text: &[u8], at: usize) -> usize {
    match text.get(at) {
        Some(b'\n') => 1,
        Some(b'\r') => 1 + usize::from(text.get(at + 1) == Some(&b'\n')),
        _ => 0,
    }
}

/// Returns the length of the line end at byte `at` of a text if the word before continues after the
/// line end, in text without spaces or after a soft hyphen. Otherwise 0.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when the normalizer is stopped.
#[inline(always)]
pub(super) fn line_end_within(
    text: &str,
    at: usize,
    normalizer: &mut Normalizer<'_>,
) -> Result<usize> {
    match line_end(text.as_bytes(), at) {
        0 => Ok(0),
        length => {
            let rest = &text[at + length..];
            // A sign with a mark on it is another sign.
            let marks = Some(line_marks(rest)).filter(|&marks| !rest[marks..].starts_with(is_mark));
            let length = length + marks.unwrap_or(0);
            Ok(if joins(text, at, at + length, normalizer)? { length } else { 0 })
        }
    }
}

/// Returns whether a soft hyphen divides a word at a line end. Scripts without spaces need none,
/// and their letters may combine with the letters before them. Apostrophes end words anyway.
fn is_divided(before: &str, after: &str) -> bool {
    let Some(word) = before.strip_suffix('\u{ad}') else { return false };
    let mut letters = word.chars().rev().filter(|&c| !is_ignorable(c) && !is_mark(c));
    let is_of_word = |c: char| is_letter(c) && !is_apostrophe(c);
    let is_next = |c: char| is_of_word(c) && !is_unspaced(c) && !is_hangul(c);
    letters.next().is_some_and(is_of_word) && after.starts_with(is_next)
}

#[cold]
fn joins(text: &str, end: usize, next: usize, normalizer: &mut Normalizer<'_>) -> Result<bool> {
    if is_divided(&text[..end], &text[next..]) {
        return Ok(true);
    }
    let mut after = text[next..].chars().skip_while(|&c| is_ignorable(c));
    let Some(first) = after.next().filter(|c| !c.is_ascii()) else { return Ok(false) };
    let first = match normalizer.settled(first) {
        Some(first) => Some(first),
        // The normal form may move a following mark before the character (U+0345).
        None => {
            let after = after.take_while(|c| !c.is_ascii()).take(CHARS_EXAMINED);
            let segment: String = [first].into_iter().chain(after).collect();
            NormalFormEnds::of(&segment, normalizer)?.first
        }
    };
    if !first.is_some_and(|(c, class)| class == Class::Mark || is_unbroken(c, class)) {
        return Ok(false);
    }
    // A line end may also be between a letter and its marks.
    let is_of_word = |c: &char| !is_ignorable(*c) && !matches!(c, '\n' | '\r');
    for c in text[..end].chars().rev().filter(is_of_word).take(CHARS_EXAMINED) {
        if let Some((c, class)) = NormalFormEnds::of(c.encode_utf8(&mut [0; 4]), normalizer)?.last {
            return Ok(is_unbroken(c, class));
        }
    }
    Ok(false)
}

/// Returns whether lines may end directly before and after a character in normal form with this
/// class.
fn is_unbroken(c: char, class: Class) -> bool {
    class == Class::Syllable || class == Class::Unit && !is_hangul(c) && !is_burmese(c)
}

/// The ends of the normal form of a text.
#[derive(Default)]
struct NormalFormEnds {
    first: Option<(char, Class)>,
    /// The last character that is not a mark.
    last: Option<(char, Class)>,
}

impl NormalFormEnds {
    fn of(text: &str, normalizer: &mut Normalizer<'_>) -> Result<NormalFormEnds> {
        let mut ends = NormalFormEnds::default();
        normalizer.normalize(text, 0, &mut ends)?;
        Ok(ends)
    }
}

impl CharSink for NormalFormEnds {
    fn accept(&mut self, c: char, class: Class, _: Span) {
        if class == Class::Ignorable {
            return;
        }
        self.first.get_or_insert((c, class));
        if class != Class::Mark {
            self.last = Some((c, class));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::text::tokenize::tests::{check, check_spans};

    #[test]
    fn a_word_goes_on_after_a_soft_hyphen_at_a_line_end() {
        for end in ["\n", "\r\n", "\r"] {
            check(&format!("The govern\u{ad}{end}ment of it"), &["the", "government", "of", "it"]);
            check(
                &format!("e\u{301}\u{ad}{end}\u{c9}t\u{ad}{end}\u{e9}"),
                &["\u{e9}\u{e9}t\u{e9}"],
            );
            check_spans(&format!("a\u{ad}{end}b"), &[&format!("a\u{ad}{end}b")]);
            let long = format!("{}a\u{ad}{end}b{}", "x ".repeat(511), " y".repeat(600));
            let words = [&["x"; 511][..], &["ab"], &["y"; 600]].concat();
            check(&long, &words);
        }
        check(
            "a\u{ad}\n\nb a\u{ad}\n1 1\u{ad}\nb a\u{ad}\n-",
            &["a", "b", "a", "1", "1", "b", "a"],
        );
        check("The govern\u{ad}\n> ment, a > b", &["the", "government", "a", "b"]);
        check("\u{1100}\u{ad}\n\u{1161}", &["\u{1100}", "\u{1161}"]);
        check("a\u{ad}\n\u{2bc}b \u{4e2d}\u{ad}\na", &["a", "b", "\u{4e2d}", "a"]);
    }
}
