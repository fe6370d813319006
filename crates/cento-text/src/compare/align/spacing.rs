//! Finds stretches of a text that lost their spaces, or that have a space after every letter.
//!
//! Joined words, and words cut into letters, never equal the original words, though the letters do.
//! Length reveals such stretches, because the words of a language have five to seven letters on
//! average. The letters of a stretch with far longer or shorter words are aligned with the other
//! text, but only outside long copied passages. A table of single letters counts as such a stretch
//! too.

use std::ops::Range;

use super::chain::CoveredRanges;
use super::{PASSAGE_TOKENS_MIN, Side};
use crate::error::Result;
use crate::runtime::Steps;
use crate::text::Span;

/// The number of tokens of a stretch.
const STRETCH: usize = 32;

/// Minimum letters per token where words were joined, in tenths. English that lost half of its
/// spaces has 9.4 letters a token, and pages in Finnish have at most 8.
const JOINED_TENTHS_MIN: usize = 85;

/// Maximum letters for each token where words were cut into letters, in tenths.
const CUT_TENTHS_MAX: usize = 18;

/// Minimum letters of a passage, less the letters that differ. Ideographs and syllables need only
/// as many as a passage needs tokens.
pub const LETTERS_MIN: usize = 48;

/// Tokens around an odd stretch that are compared too, because a text that lost only a part of its
/// spaces also has normal stretches.
pub const AROUND: usize = 4 * STRETCH;

/// The usual number of letters of a word.
const WORD_LETTERS: usize = 5;

/// Returns the odd stretches: tokens whose words were joined or cut, with [`AROUND`] tokens before
/// and after. Searches only outside `covered`.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn odd_stretches(
    side: Side<'_>,
    covered: &CoveredRanges,
    steps: &mut Steps<'_>,
) -> Result<CoveredRanges> {
    let mut odd = CoveredRanges::default();
    let count = side.tokens.spans.len();
    if !steps.take(count as u64)? {
        return Ok(odd);
    }
    // Some stretches of a text whose spaces are lost here and there are not odd.
    let mut add = |tokens: &Range<usize>| {
        odd.insert(tokens.start.saturating_sub(AROUND)..(tokens.end + AROUND).min(count));
    };
    let is_ascii = side.text.is_ascii();
    // Backwards, because ranges are found from their ends.
    let mut end = count;
    for (from, to) in covered.touching(&(0..count)).chain([(0, 0)]) {
        if is_ascii && end.saturating_sub(to) >= STRETCH {
            for tokens in may_be_odd(side, to..end) {
                odd_stretches_in(side, tokens, is_ascii, &mut add);
            }
        } else {
            odd_stretches_in(side, to..end, is_ascii, &mut add);
        }
        end = from;
    }
    Ok(odd)
}

/// Calls `add` with the odd stretches among some tokens. Fewer tokens than a stretch are odd as a
/// whole or not at all.
fn odd_stretches_in(
    side: Side<'_>,
    tokens: Range<usize>,
    is_ascii: bool,
    add: &mut impl FnMut(&Range<usize>),
) {
    let mut window = Window::default();
    // Overlapping stretches are merged.
    let mut open: Option<Range<usize>> = None;
    for at in tokens.clone().rev() {
        // Numbers, drawn lines and names in programs count as normal words, because their length
        // says nothing.
        let letters = match is_word(side, at) {
            false => WORD_LETTERS,
            true if is_ascii => bytes_of(side, at).len(),
            true => letters_of(side, at),
        };
        if !window.is_odd_with(letters) {
            continue;
        }
        match &mut open {
            Some(open) if at + STRETCH >= open.start => open.start = at,
            _ => open.replace(at..at + STRETCH).iter().for_each(&mut *add),
        }
    }
    open.iter().for_each(&mut *add);
    if window.is_odd_at_its_end() {
        add(&tokens);
    }
}

/// Returns the tokens of all stretches that may be odd, out of at least as many tokens as a stretch
/// has. A quick test by bytes, which passes over most texts: an ASCII word has at most as many
/// letters as bytes, and a token of a different kind counts as a normal word.
fn may_be_odd(side: Side<'_>, tokens: Range<usize>) -> Vec<Range<usize>> {
    let lengths = |span: &Span| {
        let len = span.end - span.start;
        (len.min(WORD_LETTERS as u32), len.max(WORD_LETTERS as u32))
    };
    let spans = &side.tokens.spans[tokens.clone()];
    let (first, others) = spans.split_at(STRETCH);
    let add = |(least, most), (low, high)| (least + low, most + high);
    let (mut least, mut most) = first.iter().map(lengths).fold((0, 0), add);
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut look = |at: usize, least: u32, most: u32| {
        if least as usize * 10 <= CUT_TENTHS_MAX * STRETCH || is_joined(most as usize, STRETCH) {
            match found.last_mut() {
                Some(last) if last.end >= at => last.end = at + STRETCH,
                _ => found.push(at..at + STRETCH),
            }
        }
    };
    look(tokens.start, least, most);
    for (at, (leaving, entering)) in (tokens.start + 1..).zip(spans.iter().zip(others)) {
        let ((low, high), (low_before, high_before)) = (lengths(entering), lengths(leaving));
        (least, most) = (least + low - low_before, most + high - high_before);
        look(at, least, most);
    }
    found
}

/// Returns the number of words in joined or cut text, estimated by letters. Returns `None` for
/// normal text, and for ideographs and syllables, whose tokens are no words.
pub fn words_by_letters(side: Side<'_>, tokens: Range<usize>) -> Option<usize> {
    let count = tokens.len();
    let spans = side.tokens.spans.get(tokens.clone())?;
    let bytes: usize = spans.iter().map(|span| (span.end - span.start) as usize).sum();
    let letters: usize = tokens.clone().map(|at| letters_of(side, at)).sum();
    // A row of single digits is not cut text.
    let is_cut = || {
        letters * 10 <= CUT_TENTHS_MAX * count
            && 2 * tokens.filter(|&at| is_word(side, at)).count() > count
    };
    let is_odd = is_joined(letters, count) || is_cut();
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

/// Returns whether a token has more than digits, and no underscore. The first character decides for
/// short tokens, which are as long as words anyway.
fn is_word(side: Side<'_>, at: usize) -> bool {
    match bytes_of(side, at) {
        [] => false,
        [first, rest @ ..] if rest.len() < WORD_LETTERS => {
            !first.is_ascii_digit() && *first != b'_'
        }
        bytes => !bytes.contains(&b'_') && bytes.iter().any(|byte| !byte.is_ascii_digit()),
    }
}

fn is_joined(letters: usize, tokens: usize) -> bool {
    letters * 10 >= JOINED_TENTHS_MIN * tokens
}

/// A sliding window over the last tokens.
#[derive(Default)]
struct Window {
    /// Lengths of the last tokens, as a ring buffer.
    lens: [usize; STRETCH],
    letters: usize,
    count: usize,
}

impl Window {
    /// Adds a token, and returns whether the window is full and odd.
    #[inline]
    fn is_odd_with(&mut self, letters: usize) -> bool {
        let leaving = std::mem::replace(&mut self.lens[self.count % STRETCH], letters);
        self.letters = self.letters + letters - leaving;
        self.count += 1;
        self.count >= STRETCH && self.is_odd()
    }

    /// Returns whether a stretch shorter than the window is odd as a whole.
    fn is_odd_at_its_end(&self) -> bool {
        self.count < STRETCH && self.is_odd()
    }

    fn is_odd(&self) -> bool {
        let count = self.count.min(STRETCH);
        let is_cut = self.letters * 10 <= CUT_TENTHS_MAX * count && count >= PASSAGE_TOKENS_MIN;
        is_cut || is_joined(self.letters, count) && self.letters >= LETTERS_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::super::noisy::testing::text;
    use super::super::testing::analyzed;
    use super::*;
    use crate::hash::mix64;
    use crate::runtime::Stop;

    fn odd(text: &str, covered: &[Range<usize>]) -> Vec<(usize, usize)> {
        let mut taken = CoveredRanges::default();
        covered.iter().for_each(|range| taken.insert(range.clone()));
        let analyzed = analyzed(text);
        let steps = &mut Steps::unbounded(Stop::NEVER);
        let odd = odd_stretches(analyzed.side(), &taken, steps).unwrap();
        let mut odd: Vec<_> = odd.touching(&(0..usize::MAX)).collect();
        odd.reverse();
        odd
    }

    #[test]
    fn stretches_that_lengths_rule_out_are_not_odd() {
        // Words of one to twelve letters, numbers and names, some joined or cut.
        const WORDS: usize = 3000;
        let (mut parts, mut ruled_out) = (0, 0);
        for seed in 0..60u64 {
            let word = |at: u64| {
                let drawn = mix64(seed << 16 | at);
                let longest = 2 + (seed + at / 500) % 15;
                let letter = ["a", "b", "7", "_"][(drawn >> 32) as usize % (2 + seed as usize % 3)];
                letter.repeat(1 + (drawn % longest) as usize)
            };
            let analyzed = analyzed((0..WORDS as u64).map(word).collect::<Vec<_>>().join(" "));
            let steps = &mut Steps::unbounded(Stop::NEVER);
            let copied = 40..40 + 13 * seed as usize;
            let mut passage = CoveredRanges::default();
            passage.insert(copied.clone());
            let found = odd_stretches(analyzed.side(), &passage, steps).unwrap();
            let mut expected = CoveredRanges::default();
            // Some stretches of a text whose spaces are lost here and there are not odd.
            let mut add = |tokens: &Range<usize>| {
                let end = (tokens.end + AROUND).min(WORDS);
                expected.insert(tokens.start.saturating_sub(AROUND)..end);
            };
            for tokens in [copied.end..WORDS, 0..copied.start] {
                odd_stretches_in(analyzed.side(), tokens, true, &mut add);
            }
            let found = found.ranges();
            assert_eq!(found, expected.ranges(), "{seed}");
            parts += found.len();
            let may_be_odd = may_be_odd(analyzed.side(), copied.end..WORDS);
            ruled_out += WORDS - copied.end - may_be_odd.iter().map(Range::len).sum::<usize>();
        }
        assert!(parts > 30 && ruled_out > 60 * WORDS / 2, "{parts} {ruled_out}");
    }

    #[test]
    fn a_table_of_letters_makes_only_its_surroundings_odd() {
        // Regression: the letters of the whole text were aligned with every other text.
        let table = "a b c d ".repeat(10);
        for (before, after) in [(1000, 800), (0, 500), (70, 0)] {
            let whole = format!("{} {table} {}", text(1, before), text(2, after));
            let (before, count) = (before as usize, (before + 40 + after) as usize);
            let found = odd(&whole, &[]);
            assert_eq!(found.len(), 1, "{found:?}");
            let at_most = before.saturating_sub(AROUND + STRETCH)
                ..(before + 40 + AROUND + STRETCH).min(count);
            let at_least = before.saturating_sub(AROUND)..(before + 40 + AROUND).min(count);
            assert!(found[0].0 >= at_most.start && found[0].1 <= at_most.end, "{found:?}");
            assert!(found[0].0 <= at_least.start && found[0].1 >= at_least.end, "{found:?}");
            let covered = before..before + 40;
            assert_eq!(odd(&whole, std::slice::from_ref(&covered)), [], "covered");
        }
    }

    #[test]
    fn usual_text_and_rows_of_numbers_are_not_odd() {
        assert_eq!(odd(&text(1, 3000), &[]), []);
        assert_eq!(odd(&"1 2 3 4 ".repeat(100), &[]), []);
        assert_eq!(odd(&"________________________________ ".repeat(100), &[]), []);
    }

    #[test]
    fn letters_are_counted_and_not_bytes() {
        // In UTF-8, a Greek word of five letters has ten bytes, and a Greek letter two.
        assert_eq!(odd(&"\u{3bb}\u{3cc}\u{3b3}\u{3bf}\u{3c2} ".repeat(100), &[]), []);
        assert_eq!(odd(&"\u{3bb} \u{3b3} ".repeat(50), &[]), [(0, 100)]);
    }
}
