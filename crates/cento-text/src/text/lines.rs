//! Line ends within text that has no spaces.
//!
//! Chinese, Japanese, Thai, Lao and Khmer text is wrapped between any two letters or syllables,
//! Tibetan between syllables, and programs wrap it anywhere. A line end between two such letters
//! does not count, because the text would have no space there. An empty line, a space and a
//! punctuation mark do count. Korean and Burmese have spaces between phrases, and lines end there.

use super::Span;
use super::normalize::{CharSink, Class, Normalizer, is_ignorable};
use super::unicode::{is_burmese, is_hangul};
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
/// line end, which happens only in text without spaces. Otherwise 0.
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
        length if joins(text, at, at + length, normalizer)? => Ok(length),
        _ => Ok(0),
    }
}

#[cold]
fn joins(text: &str, end: usize, next: usize, normalizer: &mut Normalizer<'_>) -> Result<bool> {
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
