//! A cache of words and their stems.
//!
//! Texts repeat their words, and finding a stem takes thirty times as long as looking one up. A
//! [`Vocabulary`] is emptied when it is full. It compares the letters of words, not only their
//! hashes, so its result never depends on which words came before.

use crate::hash::BuildKeyHasher;
use std::collections::HashMap;
use std::fmt;

/// The outcome of the steps for a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The hash of its token.
    pub(super) hash: u64,
    /// Whether it is neither a stop word nor one of little meaning.
    pub(super) is_kept: bool,
}

/// A bounded number of words and their outcomes.
pub(super) struct Vocabulary {
    /// By the hash of the normal form.
    known: HashMap<u64, KnownWord, BuildKeyHasher>,
    /// The words, as texts have them; those of ASCII in lower case.
    letters: Vec<u8>,
    words_max: usize,
}

/// The maximum number of words held, which take two megabytes: of a million words of English prose
/// in 1,500 documents all but 7 in 100 are then known.
const WORDS_MAX: usize = 1 << 15;

/// Longer words are not held: they are rare, and most are not words.
const WORD_BYTES_MAX: usize = 60;

/// A word and its outcome.
#[derive(Clone, Copy)]
struct KnownWord {
    outcome: u64,
    /// The offset of its letters.
    start: u32,
    length: u8,
    language: u8,
    is_kept: bool,
}

impl Vocabulary {
    pub(super) fn new() -> Vocabulary {
        Vocabulary { known: HashMap::default(), letters: Vec::new(), words_max: WORDS_MAX }
    }

    /// Returns the outcome of `word`, spelled as in the text. `make` computes it unless it is
    /// known. `hash` is that of the normal form, and `language` represents all else on which the
    /// outcome depends.
    #[inline(always)]
    pub(super) fn outcome(
        &mut self,
        word: &str,
        hash: u64,
        language: u8,
        make: impl FnOnce() -> Outcome,
    ) -> Outcome {
        let known = self.known.get(&hash).filter(|known| known.language == language);
        if let Some(known) = known.filter(|known| self.is_of(known, word.as_bytes())) {
            return Outcome { hash: known.outcome, is_kept: known.is_kept };
        }
        let outcome = make();
        self.hold(word.as_bytes(), hash, language, outcome);
        outcome
    }

    /// Returns whether `word` is the known one. Words of ASCII are the same in upper and lower
    /// case, because their normal forms are; for other words this is not certain.
    #[inline(always)]
    fn is_of(&self, known: &KnownWord, word: &[u8]) -> bool {
        let start = known.start as usize;
        let held = &self.letters[start..start + usize::from(known.length)];
        held == word || held.is_ascii() && held.eq_ignore_ascii_case(word)
    }

    #[cold]
    fn hold(&mut self, word: &[u8], hash: u64, language: u8, outcome: Outcome) {
        if word.len() > WORD_BYTES_MAX {
            return;
        }
        // If a word has several spellings, the letters of one remain when another replaces it.
        if self.known.len() >= self.words_max || self.letters.len() >= 16 * self.words_max {
            self.known.clear();
            self.letters.clear();
        }
        let start = self.letters.len();
        self.letters.extend_from_slice(word);
        if word.is_ascii() {
            self.letters[start..].make_ascii_lowercase();
        }
        let Outcome { hash: outcome, is_kept } = outcome;
        let (start, length) = (start as u32, word.len() as u8);
        self.known.insert(hash, KnownWord { outcome, start, length, language, is_kept });
    }
}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vocabulary").field("words", &self.known.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_vocabulary_has_the_words_that_would_be_computed(words in words(6)) {
            // Few words and few hashes, so that it is emptied, and words share hashes.
            check(words)?;
        }

        #[test]
        fn letters_of_words_that_lost_their_places_are_bounded(words in words(2)) {
            // Two hashes never fill it: only the number of letters empties it.
            check(words)?;
        }
    }

    /// Words of at most six bytes, each with a language and a hash below `hashes`.
    fn words(hashes: u64) -> impl Strategy<Value = Vec<(String, u8, u64)>> {
        prop::collection::vec(("[aAb\u{e9}\u{c9}]{0,3}", 0u8..3, 0..hashes), 0..200)
    }

    fn check(words: Vec<(String, u8, u64)>) -> Result<(), TestCaseError> {
        let mut vocabulary = Vocabulary { words_max: 4, ..Vocabulary::new() };
        for (word, language, hash) in words {
            let lower = if word.is_ascii() { word.to_ascii_lowercase() } else { word.clone() };
            let outcome = || Outcome {
                hash: crate::hash::hash_bytes(format!("{lower} {language} {hash}").as_bytes()),
                is_kept: lower.len() % 2 == 0,
            };
            prop_assert_eq!(vocabulary.outcome(&word, hash, language, outcome), outcome());
            prop_assert!(vocabulary.known.len() <= 4, "{}", vocabulary.known.len());
            // One word more than room for sixteen letters a word.
            prop_assert!(vocabulary.letters.len() < 16 * 4 + 6, "{}", vocabulary.letters.len());
        }
        Ok(())
    }

    #[test]
    fn a_word_is_made_once_unless_it_is_long() {
        let mut vocabulary = Vocabulary::new();
        let mut made = |word: &str, hash| {
            let mut count = 0;
            for _ in 0..3 {
                vocabulary.outcome(word, hash, 0, || {
                    count += 1;
                    Outcome { hash: 1, is_kept: true }
                });
            }
            count
        };
        assert_eq!(made("word", 7), 1);
        assert_eq!(made("WORD", 7), 0);
        assert_eq!(made(&"w".repeat(WORD_BYTES_MAX), 8), 1);
        assert_eq!(made(&"w".repeat(WORD_BYTES_MAX + 1), 9), 3);
    }
}
