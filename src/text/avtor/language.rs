//! Detection of the language of a text, and its stop words and stemmer.
//!
//! The languages are those with a Snowball stemmer. All the rules here come from libraries
//! (whatlang, Snowball, the stop words of NLTK), whose versions are pinned: their results decide
//! which documents find each other.

use super::LANGUAGES as NAMES;
use crate::hash::{BuildKeyHasher, hash_bytes};
use crate::text::unicode::is_assigned;
use frostem::{Algorithm, Stemmer};
use std::collections::HashSet;
use std::sync::{LazyLock, OnceLock};
use whatlang::{Detector, Lang, Script};

/// The hashes of the stop words of a language.
pub(super) type StopWords = HashSet<u64, BuildKeyHasher>;

/// A language, by its place in [`LANGUAGES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::text) struct Language(usize);

/// The languages, in the order of their names.
const LANGUAGES: [(Lang, Algorithm); NAMES.len() - 2] = [
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

/// The number of bytes that language detection reads from a text.
const SAMPLE_BYTES: usize = 16 << 10;

impl Language {
    /// Returns the language of this number in [`NAMES`]; that of `text` if it is to be detected.
    pub(in crate::text) fn of(number: usize, text: &str) -> Option<Language> {
        match number {
            0 => detect(text),
            1 => None,
            number => Some(Language(number - 2)),
        }
    }

    /// Returns the language of this number in [`NAMES`], or all if it is to be detected.
    pub(in crate::text) fn all(number: usize) -> Vec<Language> {
        match number {
            0 => (0..LANGUAGES.len()).map(Language).collect(),
            number => Language::of(number, "").into_iter().collect(),
        }
    }

    /// Returns a number that no other language has, less than 255.
    pub(in crate::text) fn number(self) -> u8 {
        self.0 as u8
    }

    /// Returns its stop words as they are listed.
    pub(in crate::text) fn stop_list(self) -> &'static [&'static str] {
        stop_words::lookup(NAMES[self.0 + 2]).unwrap_or_default()
    }

    pub(in crate::text) fn stemmer(self) -> Stemmer {
        Stemmer::new(LANGUAGES[self.0].1)
    }

    /// Returns the hashes of the normal forms of its stop words; `normal_form` computes these.
    pub(in crate::text) fn stop_words(
        self,
        normal_form: impl Fn(&str) -> String,
    ) -> &'static StopWords {
        static SETS: [OnceLock<StopWords>; LANGUAGES.len()] =
            [const { OnceLock::new() }; LANGUAGES.len()];
        SETS[self.0].get_or_init(|| {
            // "don't" is two words here, and the parts before and after the apostrophe are stop
            // words.
            let parts = self.stop_list().iter().flat_map(|word| word.split(['\'', '\u{2019}']));
            parts.map(|word| hash_bytes(normal_form(word).as_bytes())).collect()
        })
    }
}

/// Returns the most likely language of a text, if it contains words. The certainty does not matter:
/// versions of a text must be assigned to the same language, right or wrong.
fn detect(text: &str) -> Option<Language> {
    let mut lengths = (0..=SAMPLE_BYTES.min(text.len())).rev();
    let end = lengths.find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    let text = &text[..end];
    if text.is_ascii() {
        return detect_latin(text);
    }
    let text: String = text.chars().map(settled).collect();
    // The script is that of most characters.
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    if letters > text.chars().filter(|c| !c.is_ascii()).count() {
        return detect_latin(&text);
    }
    // Each other script has one of the languages, or none.
    let lang = match whatlang::detect_script(&text)? {
        Script::Latin => return detect_latin(&text),
        Script::Arabic => Lang::Ara,
        Script::Cyrillic => Lang::Rus,
        Script::Greek => Lang::Ell,
        Script::Tamil => Lang::Tam,
        _ => return None,
    };
    of_lang(lang)
}

/// Returns the most likely language of a sample in Latin script.
fn detect_latin(text: &str) -> Option<Language> {
    static DETECTOR: LazyLock<Detector> = LazyLock::new(|| {
        Detector::with_allowlist(LANGUAGES.iter().map(|language| language.0).collect())
    });
    of_lang(DETECTOR.detect_lang(text)?)
}

fn of_lang(lang: Lang) -> Option<Language> {
    LANGUAGES.iter().position(|language| language.0 == lang).map(Language)
}

/// Returns the character itself, unless its lower case may depend on the compiler.
///
/// whatlang lower-cases a text by `str::to_lowercase`, which follows the compiler's Unicode
/// version. Unicode never changes the lower case of a character that has one, so only characters
/// that are new can differ: those that the tables do not know, and the cased ones of Unicode 17,
/// which the oldest compiler that builds cento does not know. The lower case of a sigma depends on
/// the characters around it, by a property of all characters that may change.
fn settled(c: char) -> char {
    match c {
        c if c.is_ascii() => c,
        '\u{3a3}' => '\u{3c3}',
        '\u{a7ce}' | '\u{a7d2}' | '\u{a7d4}' | '\u{16ea0}'..='\u{16eb8}' => {
            char::REPLACEMENT_CHARACTER
        }
        c if is_assigned(c) => c,
        _ => char::REPLACEMENT_CHARACTER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix64;
    use crate::text::normalize::{Form, normal_form};
    use proptest::prelude::*;

    fn name(text: &str) -> &'static str {
        Language::of(0, text).map_or("none", |language| NAMES[language.0 + 2])
    }

    #[test]
    fn no_word_of_any_script_makes_a_stemmer_panic() {
        // Another stemmer cut this word within a letter.
        let greek = LANGUAGES.iter().position(|language| language.0 == Lang::Ell).unwrap();
        let word = "\u{3b1}\u{3bd}\u{3c4}\u{3af}\u{3b8}\u{3b5}\u{3c4}\u{3b5}";
        let stem = Language(greek).stemmer().stem(word).into_owned();
        assert!(!stem.is_empty() && stem.len() < word.len(), "{stem}");
        let scripts = [0x27..=0x7a, 0x61..=0x21f, 0x386..=0x3ce, 0x1f00..=0x1fff, 0x430..=0x45f];
        let scripts = scripts.into_iter().chain([0x621..=0x65f, 0xb82..=0xbcd]);
        let letters: Vec<Vec<char>> =
            scripts.map(|script| script.filter_map(char::from_u32).collect()).collect();
        for (language, letters) in
            (0..LANGUAGES.len()).flat_map(|n| letters.iter().map(move |l| (n, l)))
        {
            let stemmer = Language(language).stemmer();
            for seed in 0..1000u64 {
                let letter = |i: u64| letters[mix64(seed << 8 ^ i) as usize % letters.len()];
                let word: String = (0..1 + mix64(seed) % 14).map(letter).collect();
                // It may be longer: some write one letter as two.
                assert!(stemmer.stem(&word).len() <= 2 * word.len(), "{word}");
            }
        }
    }

    #[test]
    fn languages_are_found_out() {
        assert_eq!(
            name("The quick brown fox jumps over the lazy dog, and then it goes home again."),
            "en"
        );
        assert_eq!(
            name(
                "Der schnelle braune Fuchs springt \u{fc}ber den faulen Hund und geht dann nach \
                 Hause."
            ),
            "de"
        );
        assert_eq!(name("12 34 !"), "none");
        assert_eq!(Language::of(1, "The quick brown fox jumps over the lazy dog"), None);
    }

    proptest! {
        #[test]
        fn the_script_decides_as_the_detector_would(
            text in "([a-z\u{e4}\u{df}]{1,8}|[\u{430}-\u{44f}]{1,8}|[\u{3b1}-\u{3c9}]{1,8}|[\u{628}-\u{64a}]{1,8}\
                |[\u{b95}-\u{bb9}]{1,8}|[\u{5d0}-\u{5ea}]{1,8}|[\u{915}-\u{939}]{1,8}|[\u{3042}-\u{30fa}]{1,8}\
                |[\u{4e00}-\u{4eff}]{1,8}|[0-9 .,]{1,8}| ){0,12}",
        ) {
            let allowed = LANGUAGES.iter().map(|language| language.0).collect();
            let sample: String = text.chars().map(settled).collect();
            let lang = Detector::with_allowlist(allowed).detect_lang(&sample);
            prop_assert_eq!(detect(&text), lang.and_then(of_lang), "{}", text);
        }
    }

    #[test]
    fn lower_case_is_the_same_in_every_version_of_unicode() {
        // If this fails, the compiler has another lower case for a character that the detector
        // sees; `settled` must hide it.
        let (mut digest, mut cased) = (0, 0);
        for c in ('\0'..=char::MAX).filter(|&c| settled(c) == c) {
            for lower in c.to_lowercase().filter(|&lower| lower != c) {
                digest = mix64(digest ^ u64::from(c)) ^ u64::from(lower);
                cased += 1;
            }
        }
        assert_eq!((cased, digest), (1460, 3_241_411_218_397_351_122));
        // Every cased character that Unicode 16 does not have is hidden.
        let known = regex::Regex::new(r"\P{Cn}").unwrap();
        for c in ('\0'..=char::MAX).filter(|c| !c.to_lowercase().eq([*c])) {
            let is_new = !known.is_match(c.encode_utf8(&mut [0; 4]));
            assert!(!is_new || settled(c) != c, "{c:?}");
        }
        assert_eq!(settled('\u{3a3}'), '\u{3c3}');
    }

    #[test]
    fn every_language_has_stop_words_and_a_stemmer_of_its_own() {
        // The sets are made once in a process, in the same way as by the analyzer.
        let form = Form { nfkc: true, fold: true };
        let mut sets = HashSet::new();
        for (number, name) in NAMES.iter().enumerate().skip(2) {
            let language = Language::of(number, "").unwrap();
            let words = language.stop_words(|word| normal_form(word, form));
            assert!(words.len() > 20, "{name}");
            let mut words: Vec<u64> = words.iter().copied().collect();
            words.sort_unstable();
            assert!(sets.insert(words), "{name}");
        }
        let stem = |name: &str, word: &str| {
            let number = NAMES.iter().position(|other| *other == name).unwrap();
            Language::of(number, "").unwrap().stemmer().stem(word).into_owned()
        };
        assert_eq!(stem("en", "connections"), "connect");
        assert_eq!(stem("de", "h\u{e4}usern"), "haus");
    }
}
