//! The letters of a text, without the signs between.
//!
//! OCR text has wrong letters in most words, and its words are joined or divided where a line ends,
//! but its letters are still in the right order. Spaces, hyphens and other signs are omitted, case
//! is folded, and accents are removed, because accents are recognized worst. Vowel signs, as in
//! Devanagari and Thai, are letters.

use std::ops::Range;
use std::sync::LazyLock;

use super::Side;
use super::normalize::{Class, Normalizer, is_ignorable};
use super::prepared::FORM;
use super::unicode::normal::{base, combining_class, nfkc};
use super::unicode::{is_assigned, is_letter, is_mark};
use crate::Result;
use crate::runtime::Stop;

/// The letters and digits in the tokens of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Letters {
    /// For each letter, the low 16 bits of its folded code point. Different letters with equal low
    /// bits are hardly ever at the same place of two texts.
    pub codes: Vec<u16>,
    /// The index of each token's first letter, and at the end the number of all letters.
    starts: Vec<u32>,
}

/// The maximum number of letters that are kept of a token, unless words were joined. A longer token
/// is hardly a word.
pub const TOKEN_LETTERS_MAX: usize = 24;

/// The code for no letter: a character between words.
const NONE: u16 = 0;
/// The code for several letters, or for a letter that depends on the characters around it.
const OTHERS: u16 = 1;
/// The minimum code of a letter. The caller may choose a smaller code for omitted tokens.
const CODES_MIN: u16 = 16;

/// The end of the characters in the table of letters: Latin, Greek, Cyrillic and most other
/// alphabets. Later characters are not decomposed, because Hangul would lose its vowels.
const TABLE_END: usize = 0x2000;

static TABLE: LazyLock<Box<[u16; TABLE_END]>> = LazyLock::new(|| {
    let mut normalizer = Normalizer::new(FORM, Stop::NEVER);
    let mut table = Box::new([NONE; TABLE_END]);
    for (code, letter) in (0u32..).zip(table.iter_mut()) {
        *letter = char::from_u32(code).map_or(NONE, |c| letter_of(c, &mut normalizer));
    }
    table
});

/// Returns the code of a character, or [`NONE`] or [`OTHERS`].
fn letter_of(c: char, normalizer: &mut Normalizer<'_>) -> u16 {
    // Accents are omitted, alone and in a letter.
    if !is_assigned(c) || is_ignorable(c) || combining_class(c) > 0 {
        return NONE;
    }
    let Some((c, class)) = normalizer.settled(c) else { return OTHERS };
    let is_letter = match class {
        Class::Word | Class::Unit | Class::Syllable => c != '_',
        Class::Mark => true,
        Class::Other | Class::Ignorable => false,
    };
    if !is_letter {
        return NONE;
    }
    let is_in_table = (c as usize) < TABLE_END && is_assigned(c);
    (if is_in_table { base(c) } else { c }) as u16
}

impl Letters {
    /// Returns the letters of the first tokens of a text, and whether all tokens are included.
    /// Takes about `letters_max` letters, and at most `of_token_max` per token. An omitted token
    /// has a single letter with the code `instead`, which matches no letter of another text.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when `stop` is set.
    pub fn new(
        side: Side<'_>,
        is_left_out: &dyn Fn(usize) -> bool,
        instead: u16,
        of_token_max: usize,
        letters_max: usize,
        stop: &Stop,
    ) -> Result<(Letters, bool)> {
        debug_assert!(instead < CODES_MIN, "{instead}");
        let table = &**TABLE;
        let mut normalizer = Normalizer::new(FORM, stop);
        let mut letters = Letters::default();
        letters.starts.reserve_exact(side.tokens.spans.len() + 1);
        // The end of the bytes in earlier tokens. Tokens of scripts without spaces overlap.
        let mut end = 0;
        for (at, span) in side.tokens.spans.iter().enumerate() {
            stop.check_at(at)?;
            let first = letters.codes.len();
            if first >= letters_max {
                break;
            }
            letters.starts.push(first as u32);
            let start = span.start.max(end);
            end = end.max(span.end);
            if is_left_out(at) {
                letters.codes.push(instead);
                continue;
            }
            let Some(word) = side.text.get(start as usize..end as usize) else { continue };
            for c in word.chars() {
                let letter = match table.get(c as usize) {
                    Some(&letter) => letter,
                    None => letter_of(c, &mut normalizer),
                };
                match letter {
                    NONE => continue,
                    OTHERS => letters.push_all(c, &mut normalizer),
                    letter => letters.codes.push(letter),
                }
                if letters.codes.len() >= first.saturating_add(of_token_max) {
                    break;
                }
            }
        }
        let is_complete = letters.starts.len() == side.tokens.spans.len();
        letters.starts.push(letters.codes.len() as u32);
        letters.codes.shrink_to_fit();
        Ok((letters, is_complete))
    }

    /// Appends the letters of a character that expands to several letters.
    #[cold]
    fn push_all(&mut self, c: char, normalizer: &mut Normalizer<'_>) {
        for c in nfkc(c).filter(|&c| is_assigned(c)) {
            match letter_of(c, normalizer) {
                NONE => {}
                // A letter that folds to two letters, such as a sharp s.
                OTHERS if is_letter(c) || is_mark(c) => self.codes.push(c as u16),
                OTHERS => {}
                letter => self.codes.push(letter),
            }
        }
    }

    /// Returns the number of tokens with letters here.
    pub fn tokens(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn of_token(&self, token: usize) -> Range<usize> {
        self.starts[token] as usize..self.starts[token + 1] as usize
    }

    pub(crate) fn token_of(&self, letter: usize) -> usize {
        // A token without letters begins at the first letter of the next token.
        self.starts.partition_point(|&start| start as usize <= letter) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AnalyzedText, Analyzer};
    use super::*;

    fn letters(text: &str) -> String {
        let text = AnalyzedText::new(text.to_owned(), &Analyzer::default(), Stop::NEVER).unwrap();
        let (letters, is_complete) =
            Letters::new(text.side(), &|_| false, 2, TOKEN_LETTERS_MAX, usize::MAX, Stop::NEVER)
                .unwrap();
        assert!(is_complete);
        // Every letter is in exactly one token, and tokens are adjacent.
        let count = text.tokens.hashes.len();
        let tokens = (0..count).flat_map(|token| letters.of_token(token).map(move |_| token));
        let of_letters = (0..letters.codes.len()).map(|letter| letters.token_of(letter));
        assert!(tokens.eq(of_letters));
        String::from_utf16(&letters.codes).unwrap()
    }

    #[test]
    fn letters_are_folded_and_what_is_between_words_is_left_out() {
        for (text, expected) in [
            ("The Old, old\n  mill-wheel: 1849!", "theoldoldmillwheel1849"),
            ("Fru\u{308}h\u{ad}ling, Fr\u{fc}hling", "fruhlingfruhling"),
            ("Wa\u{17f}\u{17f}er \u{fb01}x", "wasserfix"),
            ("Gru\u{df}", "gru\u{df}"),
            ("\u{3b1}\u{301} \u{3ac}", "\u{3b1}\u{3b1}"),
            // Vowel signs are letters, a virama is not. Pairs of ideographs overlap.
            ("\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}", "\u{939}\u{93f}\u{928}\u{926}\u{940}"),
            ("\u{6f22}\u{5b57}\u{4eee}\u{540d}", "\u{6f22}\u{5b57}\u{4eee}\u{540d}"),
            ("\u{d55c}\u{ad6d}", "\u{d55c}\u{ad6d}"),
            ("snake_case", "snakecase"),
            ("", ""),
        ] {
            assert_eq!(letters(text), expected, "{text:?}");
        }
        assert_eq!(letters(&"x".repeat(99)).len(), TOKEN_LETTERS_MAX);
    }

    #[test]
    fn tokens_that_are_left_out_have_a_letter_of_their_own() {
        let text =
            AnalyzedText::new("one two three".into(), &Analyzer::default(), Stop::NEVER).unwrap();
        let of = |letters_max| {
            Letters::new(text.side(), &|at| at == 1, 2, TOKEN_LETTERS_MAX, letters_max, Stop::NEVER)
                .unwrap()
        };
        let (some, is_complete) = of(usize::MAX);
        assert_eq!(String::from_utf16(&some.codes).unwrap(), "one\u{2}three");
        assert!(is_complete);
        let (first, is_complete) = of(4);
        assert_eq!((first.codes.len(), first.of_token(1), is_complete), (4, 3..4, false));
    }
}
