//! A cache of words and their stems.
//!
//! Texts repeat their words, and finding a stem takes thirty times as long as looking up a word. A
//! [`BoundedVocabulary`] is a table of bounded size. Each word has two possible places, as in a
//! set-associative cache, and replaces the older of the two words there. The table compares the
//! letters of words, not only their hashes, so the result never depends on which words came before.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WordOutcome {
    pub(super) hash: u64,
    /// Whether the word is neither a stop word nor a word of little meaning.
    pub(super) is_kept: bool,
}

/// A bounded number of words with their outcomes.
pub(super) struct BoundedVocabulary {
    /// The sets, a power of two in number. The hash of a word selects its set.
    sets: Vec<Set>,
    /// The number of words that were put into these sets.
    put: usize,
    sets_max: usize,
}

/// The words with the same place, newest first.
type Set = [KnownWord; 2];

/// The number of sets of a vocabulary with few words, such as the words of a query: 16 KiB.
const SETS_MIN: usize = 1 << 7;

/// The maximum number of sets, which take two megabytes. With a million words of English prose in
/// 1,500 documents, the cache then misses 7 in 100 words.
const SETS_MAX: usize = 1 << 14;

const GROWTH: usize = 4;

/// The maximum length of a cached word. Longer words are rare, and most are not words.
const WORD_BYTES_MAX: usize = 44;

/// A word and its outcome, in one line of the processor's cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct KnownWord {
    /// The hash of the normal form.
    hash: u64,
    outcome: u64,
    is_kept: bool,
    language: u8,
    /// The number of bytes of the word, 0 in a free place.
    length: u8,
    /// The bits that are added to each byte of a word before the comparison.
    added: u8,
    /// The bytes of the word as in a text, with the added bits.
    letters: [u8; WORD_BYTES_MAX],
}

impl KnownWord {
    const NONE: KnownWord = KnownWord {
        hash: 0,
        outcome: 0,
        is_kept: false,
        language: 0,
        length: 0,
        added: 0,
        letters: [0; WORD_BYTES_MAX],
    };

    fn new(word: &[u8], hash: u64, language: u8, outcome: WordOutcome) -> KnownWord {
        // A word of ASCII has the same outcome in upper and lower case, because the normal forms
        // are equal. For other words this is not certain. The bit that distinguishes capitals is
        // set in all digits and not in `_`, so adding the bit makes no two other bytes of words
        // equal.
        let added = if word.is_ascii() { 0x20 } else { 0 };
        let mut letters = [0; WORD_BYTES_MAX];
        for (letter, byte) in letters.iter_mut().zip(word) {
            *letter = byte | added;
        }
        let WordOutcome { hash: outcome, is_kept } = outcome;
        KnownWord { hash, outcome, is_kept, language, length: word.len() as u8, added, letters }
    }

    /// Returns whether this is the word of `length` bytes at the beginning of `text`. A word that
    /// is not ASCII has a byte above 127, which an ASCII word with the added bit cannot have.
    #[inline(always)]
    fn is(&self, text: &[u8], length: usize, hash: u64, language: u8) -> bool {
        if self.hash != hash || self.language != language || usize::from(self.length) != length {
            return false;
        }
        match text.first_chunk::<16>() {
            Some(text) if (1..=16).contains(&length) => {
                let held =
                    self.letters.first_chunk::<16>().expect("there is room for more letters");
                is_same_start(held, text, length, self.added)
            }
            _ => is_same(&self.letters[..length], &text[..length], self.added),
        }
    }
}

/// Returns whether the first `length` bytes of `text`, with the bits `added` to each byte, are the
/// letters of a word of this length.
///
/// Most words are compared here, without a branch that depends on the word, because a processor
/// predicts the lengths of words badly.
#[inline(always)]
fn is_same_start(letters: &[u8; 16], text: &[u8; 16], length: usize, added: u8) -> bool {
    let mask = u128::MAX >> (128 - 8 * length);
    let text = u128::from_le_bytes(*text) | u128::from_le_bytes([added; 16]);
    (u128::from_le_bytes(*letters) ^ text) & mask == 0
}

/// Returns whether `word`, with the bits `added` to each byte, equals `letters` of the same length.
/// For long words, and at the end of a text.
fn is_same(letters: &[u8], word: &[u8], added: u8) -> bool {
    letters.iter().zip(word).all(|(letter, byte)| *letter == byte | added)
}

impl BoundedVocabulary {
    pub(super) fn new() -> BoundedVocabulary {
        BoundedVocabulary { sets: vec![[KnownWord::NONE; 2]; SETS_MIN], put: 0, sets_max: SETS_MAX }
    }

    /// Returns the outcome of the word of `length` bytes, not 0, at the beginning of `text`. `make`
    /// computes an unknown outcome. `hash` is the hash of the normal form, and `language` stands
    /// for everything else that the outcome depends on.
    #[inline(always)]
    pub(super) fn outcome(
        &mut self,
        text: &[u8],
        length: usize,
        hash: u64,
        language: u8,
        make: impl FnOnce() -> WordOutcome,
    ) -> WordOutcome {
        let set = &self.sets[place(hash, self.sets.len())];
        for known in set {
            if known.is(text, length, hash, language) {
                return WordOutcome { hash: known.outcome, is_kept: known.is_kept };
            }
        }
        let outcome = make();
        if length <= WORD_BYTES_MAX {
            self.put(KnownWord::new(&text[..length], hash, language, outcome));
        }
        outcome
    }

    #[cold]
    fn put(&mut self, word: KnownWord) {
        if self.put >= self.sets.len() && self.sets.len() < self.sets_max {
            let length = (self.sets.len() * GROWTH).min(self.sets_max);
            let before = std::mem::replace(&mut self.sets, vec![[KnownWord::NONE; 2]; length]);
            for known in before.iter().flat_map(|set| set.iter().rev()) {
                self.place(*known);
            }
        }
        self.put += 1;
        self.place(word);
    }

    /// Puts a word before the newest word of its place.
    fn place(&mut self, word: KnownWord) {
        let length = self.sets.len();
        let [newest, other] = &mut self.sets[place(word.hash, length)];
        *other = std::mem::replace(newest, word);
    }
}

/// Returns the set of the words with this hash, among a power of two of sets.
#[inline(always)]
fn place(hash: u64, sets: usize) -> usize {
    hash as usize & (sets - 1)
}

impl fmt::Debug for BoundedVocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vocabulary").field("sets", &self.sets.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_vocabulary_has_the_words_that_would_be_computed(
            words in prop::collection::vec(
                ("[aAbZ_09\u{e9}\u{c9}]{1,12}", 0u8..3, 0u64..6),
                0..300,
            ),
            sets_max in 0u32..3,
            rest in 0usize..20,
        ) {
            // Few sets and few hashes, so that words evict earlier words and share hashes.
            let sets = vec![[KnownWord::NONE; 2]; 1];
            let mut vocabulary = BoundedVocabulary { sets, put: 0, sets_max: 1 << sets_max };
            for (word, language, hash) in words {
                let lower = if word.is_ascii() { word.to_ascii_lowercase() } else { word.clone() };
                let outcome = || WordOutcome {
                    hash: crate::hash::hash_bytes(format!("{lower} {language} {hash}").as_bytes()),
                    is_kept: lower.len() % 2 == 0,
                };
                // The following words do not count, and there may be none.
                let text = format!("{word}{}", &", and the rest of a text"[..rest]);
                let found =
                    vocabulary.outcome(text.as_bytes(), word.len(), hash, language, outcome);
                prop_assert_eq!(found, outcome());
                prop_assert!(vocabulary.sets.len() <= 1 << sets_max);
            }
        }

        #[test]
        fn words_are_the_same_but_for_the_case_of_ascii(
            word in "[a-zA-Z0-9_]{1,44}|[a-zA-Z0-9_\u{e9}\u{c9}\u{44f}\u{42f}]{1,11}",
            at: prop::sample::Index,
            other in "[a-zA-Z0-9_\u{e9}\u{c9}]",
        ) {
            let outcome = WordOutcome { hash: 2, is_kept: true };
            let known = KnownWord::new(word.as_bytes(), 1, 0, outcome);
            let mut chars: Vec<char> = word.chars().collect();
            let at = at.index(chars.len());
            chars[at] = other.chars().next().unwrap();
            let changed: String = chars.iter().collect();
            let is_same = word == changed || word.is_ascii() && word.eq_ignore_ascii_case(&changed);
            for rest in ["", "Zz and the rest of a text"] {
                let is = |word: &str| {
                    known.is(format!("{word}{rest}").as_bytes(), word.len(), 1, 0)
                };
                prop_assert_eq!(is(&changed), is_same, "{} {}", word, changed);
                prop_assert!(is(&word));
            }
        }
    }

    #[test]
    fn a_word_is_made_once_unless_it_is_long() {
        let mut vocabulary = BoundedVocabulary::new();
        let mut made = |word: &str, hash| {
            let mut count = 0;
            for _ in 0..3 {
                vocabulary.outcome(word.as_bytes(), word.len(), hash, 0, || {
                    count += 1;
                    WordOutcome { hash: 1, is_kept: true }
                });
            }
            count
        };
        assert_eq!(made("word", 7), 1);
        assert_eq!(made("WORD", 7), 0);
        assert_eq!(made(&"w".repeat(WORD_BYTES_MAX), 8), 1);
        assert_eq!(made(&"w".repeat(WORD_BYTES_MAX + 1), 9), 3);
    }

    #[test]
    fn words_stay_known_while_the_table_grows_to_its_bound() {
        let mut vocabulary = BoundedVocabulary::new();
        let hash = crate::hash::mix64;
        let mut made = 0;
        let mut meet = |vocabulary: &mut BoundedVocabulary, i: u64| {
            let word = i.to_string();
            vocabulary.outcome(word.as_bytes(), word.len(), hash(i), 0, || {
                made += 1;
                WordOutcome { hash: i, is_kept: true }
            })
        };
        for i in 0..SETS_MIN as u64 {
            meet(&mut vocabulary, i);
        }
        // The next word makes the table grow.
        for i in (0..=SETS_MIN as u64).rev() {
            meet(&mut vocabulary, i);
        }
        assert_eq!(vocabulary.sets.len(), SETS_MIN * GROWTH);
        for i in 0..8 * SETS_MAX as u64 {
            assert_eq!(meet(&mut vocabulary, i).hash, i);
        }
        assert_eq!(vocabulary.sets.len(), SETS_MAX);
        assert_eq!(size_of_val(&*vocabulary.sets), 2 << 20);
        // A set has two words, so a few sets overflowed before the table grew.
        let least = 8 * SETS_MAX;
        assert!((least..least + SETS_MIN).contains(&made), "{made}");
    }
}
