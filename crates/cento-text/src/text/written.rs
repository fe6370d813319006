//! Programs as written: the words and signs of a text without layout and comments, and the
//! program's own words.
//!
//! The analyzer `code` reads a name as `i`, a number as `0` and a text in quotes as `s`, so
//! unrelated programs share long runs of tokens. The replaced words distinguish such programs.

use std::collections::HashSet;
use std::ops::Range;

use super::unicode::{is_letter, is_mark, is_number, is_white_space};
use super::{Span, Tokens};
use crate::hash::{BuildKeyHasher, hash_bytes, mix64};

/// The tokens for names, numbers and texts in quotes.
pub const LETTERS: [&str; 3] = ["i", "0", "s"];

/// Returns the words and signs of a text, in order. A word consists of letters, digits, marks and
/// `_`. Every other character except white space is a sign.
///
/// ```
/// let text = "x+=1;";
/// let pieces = cento_text::text::written::pieces(text);
/// let pieces: Vec<&str> = pieces.map(|at| &text[at.start as usize..at.end as usize]).collect();
/// assert_eq!(pieces, ["x", "+", "=", "1", ";"]);
/// ```
pub fn pieces(text: &str) -> impl Iterator<Item = Span> + '_ {
    let is_word = |c: char| is_letter(c) || is_number(c) || is_mark(c) || c == '_';
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, c) = rest.by_ref().find(|&(_, c)| !is_white_space(c))?;
        let mut end = start + c.len_utf8();
        while let Some((at, next)) = rest.next_if(|&(_, next)| is_word(c) && is_word(next)) {
            end = at + next.len_utf8();
        }
        Some(Span { start: start as u32, end: end as u32 })
    })
}

/// The words and signs of a program as written, without its comments. They do not depend on whether
/// a part of a program is parsed by itself or with the whole program.
#[derive(Debug, Default)]
pub struct WrittenTokens {
    /// The words and signs, with their places in the text.
    pub pieces: Tokens,
    /// The indexes of tokens, by piece.
    of_tokens: Vec<u32>,
    /// Whether a line begins with the piece, by piece.
    begin_lines: Vec<bool>,
}

impl WrittenTokens {
    /// Makes the words and signs of a program with these tokens.
    pub fn of(text: &str, tokens: &Tokens) -> WrittenTokens {
        let mut written = WrittenTokens::default();
        for (number, span) in (0u32..).zip(&tokens.spans) {
            let token = &text[span.start as usize..span.end as usize];
            for piece in pieces(token) {
                let bytes = &token.as_bytes()[piece.start as usize..piece.end as usize];
                let (start, end) = (span.start + piece.start, span.start + piece.end);
                let before = written.pieces.spans.last().map(|last| last.end..start);
                let begins_line = before.is_none_or(|before| {
                    let between = text.get(before.start as usize..before.end as usize);
                    between.is_some_and(|between| between.contains('\n'))
                });
                written.begin_lines.push(begins_line);
                written.pieces.hashes.push(hash_bytes(bytes));
                written.pieces.spans.push(Span { start, end });
                written.of_tokens.push(number);
            }
        }
        written
    }

    /// Returns the tokens of the lines that are entirely in these ranges of words and signs, which
    /// must ascend and not touch. The common end of two lines with different beginnings does not
    /// count, because many programs share such ends.
    pub fn tokens_in(&self, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
        let of = &self.of_tokens;
        let whole = |range: &Range<usize>| {
            let (mut start, mut end) = (range.start, range.end);
            while start < end && !self.begin_lines[start] {
                start += 1;
            }
            while start < end && end < of.len() && !self.begin_lines[end] {
                end -= 1;
            }
            // A token of several lines may begin before the range, or end after the range.
            while start < end && start > 0 && of[start - 1] == of[start] {
                start += 1;
            }
            while start < end && end < of.len() && of[end - 1] == of[end] {
                end -= 1;
            }
            (start < end).then(|| of[start] as usize..of[end - 1] as usize + 1)
        };
        ranges.iter().filter_map(whole).collect()
    }
}

/// Returns the hashes of the distinct names, numbers and texts in quotes that the analyzer `code`
/// replaced in these tokens, ascending. Tokens in `masked` ranges, which ascend, are omitted.
pub fn own_words(text: &str, tokens: &Tokens, masked: &[Range<usize>]) -> Vec<u32> {
    let letters = LETTERS.map(|letter| hash_bytes(letter.as_bytes()));
    let mut masked = masked.iter().peekable();
    let mut words: HashSet<u32, BuildKeyHasher> = HashSet::default();
    for (at, (hash, span)) in tokens.hashes.iter().zip(&tokens.spans).enumerate() {
        while masked.next_if(|range| range.end <= at).is_some() {}
        if letters.contains(hash) && masked.peek().is_none_or(|range| at < range.start) {
            let word = &text.as_bytes()[span.start as usize..span.end as usize];
            words.insert((mix64(hash_bytes(word)) >> 32) as u32);
        }
    }
    let mut words: Vec<u32> = words.into_iter().collect();
    words.sort_unstable();
    words
}

/// Returns the share of the words of the program with fewer words that the second program also has,
/// given two ascending lists. 1 if a list is empty, as for a program whose names were not replaced.
pub fn shared_words(a: &[u32], b: &[u32]) -> f64 {
    let least = a.len().min(b.len());
    if least == 0 {
        return 1.0;
    }
    let (mut one, mut other, mut shared) = (a, b, 0usize);
    while let ([word, rest @ ..], [next, more @ ..]) = (one, other) {
        shared += usize::from(word == next);
        (one, other) =
            (if word <= next { rest } else { one }, if next <= word { more } else { other });
    }
    shared as f64 / least as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::paragraph_break;

    /// Returns the tokens of a text at these words, each with this letter.
    fn tokens(text: &str, parts: &[(&str, &str)]) -> Tokens {
        let mut found = Tokens::default();
        let mut from = 0;
        for (part, letter) in parts {
            let start = from + text[from..].find(part).unwrap();
            from = start + part.len();
            let hash =
                if letter.is_empty() { paragraph_break() } else { hash_bytes(letter.as_bytes()) };
            found.hashes.push(hash);
            found.spans.push(Span { start: start as u32, end: from as u32 });
        }
        found
    }

    #[test]
    fn a_token_is_in_a_range_with_its_whole_line() {
        let text = "a +=\n\"b c\"\n; d";
        let parts = [("a", "i"), ("+=", "+="), ("", ""), ("\"b c\"", "s"), (";", ";"), ("d", "i")];
        let written = WrittenTokens::of(text, &tokens(text, &parts));
        assert_eq!(written.pieces.hashes.len(), 9);
        let check = |range: Range<usize>, expected: Option<Range<usize>>| {
            let found = written.tokens_in(std::slice::from_ref(&range));
            assert!(found.iter().eq(expected.iter()), "{range:?}: {found:?}");
        };
        check(0..9, Some(0..6));
        check(0..3, Some(0..2));
        check(0..2, None);
        check(2..7, Some(3..4));
        check(2..6, None);
        check(1..8, Some(3..4));
        check(3..9, Some(3..6));
    }

    #[test]
    fn own_words_are_distinct_and_not_masked() {
        let text = "x = x + y + 1";
        let parts =
            [("x", "i"), ("=", "="), ("x", "i"), ("+", "+"), ("y", "i"), ("+", "+"), ("1", "0")];
        let tokens = tokens(text, &parts);
        let all = own_words(text, &tokens, &[]);
        assert_eq!(all.len(), 3);
        assert_eq!(own_words(text, &tokens, std::slice::from_ref(&(1..5))).len(), 2);
        assert_eq!(shared_words(&all, &own_words(text, &tokens, &[0..1, 4..7])), 1.0);
        assert_eq!(shared_words(&all, &[]), 1.0);
        let others = own_words("z = z + y + 7", &tokens, &[]);
        assert!((shared_words(&all, &others) - 1.0 / 3.0).abs() < 1e-9);
    }
}
