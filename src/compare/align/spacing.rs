//! Does a text have stretches whose spaces are lost, or are between all letters?
//!
//! Words that are joined, or cut into letters, are other words, though their letters are the same.
//! Their length tells: words of a language have five to seven letters on average. Letters are
//! aligned where a stretch has far longer or far shorter ones, and only outside of long copied
//! passages.

use std::collections::VecDeque;
use std::ops::Range;

use super::Side;
use super::chain::CoveredRanges;
use crate::error::Result;
use crate::runtime::Steps;

/// The number of tokens of a stretch.
const STRETCH: usize = 32;

/// Of a text with joined words, a stretch has more letters a token, in tenths: half of the spaces
/// of English lost leave 9.4. Pages in Finnish have 8 at most.
const JOINED_TENTHS_MIN: usize = 85;

/// As [`JOINED_TENTHS_MIN`], for the number of words of fewer tokens than a stretch has: 12 to 20
/// words of German in a row have more than 8.5 letters each in one of 75 to 250 places, and 12 in
/// none.
const SHORT_JOINED_TENTHS_MIN: usize = 120;

/// A stretch of text that was cut into letters has fewer letters a token, in tenths.
const CUT_TENTHS_MAX: usize = 18;

/// Fewer letters than this are too few for a passage.
pub const LETTERS_MIN: usize = 48;

/// Fewer letters than this are too few for a passage, where letters are ideographs or syllables.
pub const IDEOGRAPHS_MIN: usize = 20;

/// The usual number of letters of a word.
const WORD_LETTERS: usize = 5;

/// Returns whether a text has words that were joined or cut, outside of the ranges `covered` of its
/// tokens.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn is_odd(side: Side<'_>, covered: &CoveredRanges, steps: &mut Steps<'_>) -> Result<bool> {
    let count = side.tokens.spans.len();
    if !steps.take(count as u64)? {
        return Ok(false);
    }
    let mut window = Window::default();
    // The last first: ranges are found from their ends.
    let mut end = count;
    for (from, to) in covered.touching(&(0..count)).chain([(0, 0)]) {
        for at in (to..end).rev() {
            // Rows of numbers, and lines that are drawn, are as long as words.
            let letters = if has_letter(side, at) { letters_of(side, at) } else { WORD_LETTERS };
            if window.is_odd_with(letters) {
                return Ok(true);
            }
        }
        if window.is_odd_at_its_end() {
            return Ok(true);
        }
        window = Window::default();
        end = from;
    }
    Ok(false)
}

/// Returns the number of words of a stretch of text that was joined or cut, by its letters; `None`
/// for other text, and for ideographs and syllables, whose tokens are not words anyway.
pub fn words_by_letters(side: Side<'_>, tokens: Range<usize>) -> Option<usize> {
    let count = tokens.len();
    let spans = side.tokens.spans.get(tokens.clone())?;
    let bytes: usize = spans.iter().map(|span| (span.end - span.start) as usize).sum();
    let letters: usize = tokens.clone().map(|at| letters_of(side, at)).sum();
    // A row of numbers of one digit is not cut.
    let is_cut = || {
        letters * 10 <= CUT_TENTHS_MAX * count
            && 2 * tokens.filter(|&at| has_letter(side, at)).count() > count
    };
    let tenths_min = if count < STRETCH { SHORT_JOINED_TENTHS_MIN } else { JOINED_TENTHS_MIN };
    let is_odd = is_joined(letters, count, tenths_min) || is_cut();
    (is_odd && letters >= LETTERS_MIN && bytes < 3 * letters)
        .then(|| letters.div_ceil(WORD_LETTERS))
}

/// Returns the bytes of a token.
fn bytes_of<'a>(side: Side<'a>, at: usize) -> &'a [u8] {
    let span = side.tokens.spans[at];
    side.text.as_bytes().get(span.start as usize..span.end as usize).unwrap_or_default()
}

/// Returns the number of characters of a token.
fn letters_of(side: Side<'_>, at: usize) -> usize {
    bytes_of(side, at).iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}

/// Tells whether a token has more than digits and low lines.
fn has_letter(side: Side<'_>, at: usize) -> bool {
    bytes_of(side, at).iter().any(|byte| !byte.is_ascii_digit() && *byte != b'_')
}

fn is_joined(letters: usize, tokens: usize, tenths_min: usize) -> bool {
    letters * 10 >= tenths_min * tokens
}

/// The last tokens of a stretch.
#[derive(Default)]
struct Window {
    lens: VecDeque<usize>,
    letters: usize,
    is_whole: bool,
}

impl Window {
    /// Adds a token, and returns whether a whole stretch up to it is joined or cut.
    fn is_odd_with(&mut self, letters: usize) -> bool {
        if self.lens.len() == STRETCH {
            self.letters -= self.lens.pop_front().unwrap_or(0);
        }
        self.lens.push_back(letters);
        self.letters += letters;
        self.is_whole |= self.lens.len() == STRETCH;
        self.lens.len() == STRETCH && self.is_odd()
    }

    /// Returns whether a stretch that is shorter is joined or cut as a whole.
    fn is_odd_at_its_end(&self) -> bool {
        !self.is_whole && self.is_odd()
    }

    fn is_odd(&self) -> bool {
        let count = self.lens.len();
        let is_cut = self.letters * 10 <= CUT_TENTHS_MAX * count && count >= IDEOGRAPHS_MIN;
        is_cut || is_joined(self.letters, count, JOINED_TENTHS_MIN) && self.letters >= LETTERS_MIN
    }
}
