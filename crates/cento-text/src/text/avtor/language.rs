//! The languages of texts, their stop words and stemmers.
//!
//! The languages are the languages with a Snowball stemmer. All rules come from libraries
//! (Snowball, the stop words of NLTK). The versions of the libraries are pinned, because the rules
//! decide which documents find each other. [`super::detect`] finds the language of a text.

use super::LANGUAGES as NAMES;
use crate::hash::{BuildKeyHasher, hash_bytes};
use frostem::{Algorithm, Stemmer};
use std::collections::HashSet;
use std::sync::OnceLock;
use whatlang::Lang;

pub(super) type StopWords = HashSet<u64, BuildKeyHasher>;

/// A language, as an index into [`LANGUAGES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AvtorLanguage(usize);

/// The languages, in the order of [`NAMES`].
pub(super) const LANGUAGES: [(Lang, Algorithm); NAMES.len() - 2] = [
    (Lang::Ara, Algorithm::Arabic),
    (Lang::Dan, Algorithm::Danish),
    (Lang::Deu, Algorithm::German),
    (Lang::Ell, Algorithm::Greek),
    (Lang::Eng, Algorithm::English),
    (Lang::Spa, Algorithm::Spanish),
    (Lang::Fin, Algorithm::Finnish),
    (Lang::Fra, Algorithm::French),
    (Lang::Hun, Algorithm::Hungarian),
    (Lang::Ita, Algorithm::Italian),
    (Lang::Nld, Algorithm::Dutch),
    (Lang::Nob, Algorithm::Norwegian),
    (Lang::Por, Algorithm::Portuguese),
    (Lang::Ron, Algorithm::Romanian),
    (Lang::Rus, Algorithm::Russian),
    (Lang::Swe, Algorithm::Swedish),
    (Lang::Tam, Algorithm::Tamil),
    (Lang::Tur, Algorithm::Turkish),
];

impl AvtorLanguage {
    /// Returns the language with this number in [`NAMES`], or `None` if the name is no single
    /// language.
    pub(super) fn of(number: usize) -> Option<AvtorLanguage> {
        number.checked_sub(2).map(AvtorLanguage)
    }

    /// Returns the language that whatlang calls `lang`.
    pub(super) fn of_lang(lang: Lang) -> Option<AvtorLanguage> {
        LANGUAGES.iter().position(|language| language.0 == lang).map(AvtorLanguage)
    }

    /// Returns the languages that texts may be in, given a number in [`NAMES`].
    pub(super) fn all(number: usize) -> Vec<AvtorLanguage> {
        match number {
            0 => (0..LANGUAGES.len()).map(AvtorLanguage).collect(),
            number => AvtorLanguage::of(number).into_iter().collect(),
        }
    }

    #[cfg(test)]
    pub(super) fn name(self) -> &'static str {
        NAMES[self.0 + 2]
    }

    /// Returns the number of the language, which is unique and less than 255.
    pub(super) fn number(self) -> u8 {
        self.0 as u8
    }

    /// Returns the list of stop words, unchanged.
    pub(super) fn stop_list(self) -> &'static [&'static str] {
        stop_words::lookup(NAMES[self.0 + 2]).unwrap_or_default()
    }

    pub(super) fn stemmer(self) -> Stemmer {
        Stemmer::new(LANGUAGES[self.0].1)
    }

    /// Returns the hashes of the stop words in the form that `normal_form` makes.
    pub(super) fn stop_words(self, normal_form: impl Fn(&str) -> String) -> &'static StopWords {
        static SETS: [OnceLock<StopWords>; LANGUAGES.len()] =
            [const { OnceLock::new() }; LANGUAGES.len()];
        SETS[self.0].get_or_init(|| {
            self.stop_parts().map(|word| hash_bytes(normal_form(word).as_bytes())).collect()
        })
    }

    /// Returns the stop words as they occur in texts: "don't" is two words there, and the parts
    /// before and after the apostrophe are stop words.
    pub(super) fn stop_parts(self) -> impl Iterator<Item = &'static str> {
        self.stop_list().iter().flat_map(|word| word.split(['\'', '\u{2019}']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix64;
    use crate::text::normalize::normal_form;

    #[test]
    fn no_word_of_any_script_makes_a_stemmer_panic() {
        // A different stemmer cut this word within a letter.
        let greek = LANGUAGES.iter().position(|language| language.0 == Lang::Ell).unwrap();
        let word = "\u{3b1}\u{3bd}\u{3c4}\u{3af}\u{3b8}\u{3b5}\u{3c4}\u{3b5}";
        let stem = AvtorLanguage(greek).stemmer().stem(word).into_owned();
        assert!(!stem.is_empty() && stem.len() < word.len(), "{stem}");
        let scripts = [0x27..=0x7a, 0x61..=0x21f, 0x386..=0x3ce, 0x1f00..=0x1fff, 0x430..=0x45f];
        let scripts = scripts.into_iter().chain([0x621..=0x65f, 0xb82..=0xbcd]);
        let letters: Vec<Vec<char>> =
            scripts.map(|script| script.filter_map(char::from_u32).collect()).collect();
        for (language, letters) in
            (0..LANGUAGES.len()).flat_map(|n| letters.iter().map(move |l| (n, l)))
        {
            let stemmer = AvtorLanguage(language).stemmer();
            for seed in 0..1000u64 {
                let letter = |i: u64| letters[mix64(seed << 8 ^ i) as usize % letters.len()];
                let word: String = (0..1 + mix64(seed) % 14).map(letter).collect();
                // A stem may be longer than its word, because some stemmers write a letter as two.
                assert!(stemmer.stem(&word).len() <= 2 * word.len(), "{word}");
            }
        }
    }

    #[test]
    fn every_language_has_stop_words_and_a_stemmer_of_its_own() {
        // The sets are made once per process, in the same way as the analyzer makes them.
        let form = crate::text::prepared::FORM;
        let mut sets = HashSet::new();
        for (number, name) in NAMES.iter().enumerate().skip(2) {
            let language = AvtorLanguage::of(number).unwrap();
            let words = language.stop_words(|word| normal_form(word, form));
            assert!(words.len() > 20, "{name}");
            let mut words: Vec<u64> = words.iter().copied().collect();
            words.sort_unstable();
            assert!(sets.insert(words), "{name}");
        }
        let stem = |name: &str, word: &str| {
            let number = NAMES.iter().position(|other| *other == name).unwrap();
            AvtorLanguage::of(number).unwrap().stemmer().stem(word).into_owned()
        };
        assert_eq!(stem("en", "connections"), "connect");
        assert_eq!(stem("de", "h\u{e4}usern"), "haus");
    }
}
