//! Which language is a text in?
//!
//! The script of most letters decides first. For Latin script, which several languages share, the
//! stop words of each language are counted, and the language with the most stop words wins
//! (Grefenstette 1995, "Comparing two language identification schemes", section 2: short words). If
//! other languages have nearly as many, as in texts of a few words and among related languages, the
//! trigrams of whatlang decide between these languages. If even the winner has few stop words, the
//! text may be in none of these languages, so the trigrams decide between all languages that
//! whatlang knows.
//!
//! Only a sample is read: the beginning, the middle and the end of a text. A passage shares few
//! trigrams with the sample of its document, but stop words are in both, so stop words assign both
//! to the same language more often than trigrams alone. Consistency matters more than correctness.
//! But short texts in an unlisted language would be taken for several listed ones, whose stems
//! differ: verses in Latin were taken for French, Italian, Romanian and Norwegian.

use super::language::{AvtorLanguage, LANGUAGES};
use crate::hash::{BuildKeyHasher, hash_bytes};
use crate::runtime::Stop;
use crate::text::normalize::normal_form;
use crate::text::prepared::{FORM, UNITS};
use crate::text::tokenize::tokenize;
use crate::text::unicode::{is_assigned, is_letter};
use crate::text::{Span, Take};
use std::collections::HashMap;
use std::sync::OnceLock;
use whatlang::{Detector, Lang};

/// The number of bytes of a part of the sample. A sample has three parts, and 250 words of English.
///
/// Among passages of 100 words of manual pages in fifteen languages, 0.861 get the language of
/// their page, with half of this size 0.802, with four times this size 0.868.
const PART_BYTES: usize = 512;

/// A language is considered if it has at least this share of the most frequent language's stop
/// words: four fifths.
const NEAR: [u32; 2] = [4, 5];

/// A text with a smaller share of stop words may be in an unlisted language: seven twentieths.
///
/// In a simulation, 0.95 of verses in Latin then get no language, and passages of 12 words of
/// manual pages in twelve listed languages get the language of the page in 0.79. With three tenths
/// these are 0.91 and 0.78. With four tenths, Dutch passages are taken for other languages more
/// often (0.79 instead of 0.81).
const STOP_WORDS_MIN: [u64; 2] = [7, 20];

/// Returns the most likely language of a text, or `None` if the text seems to be in an unlisted
/// language.
pub(super) fn detect(text: &str) -> Option<AvtorLanguage> {
    let sample = sample(text);
    match sample.iter().any(|part| !part.is_ascii()).then(|| script(&sample)) {
        None | Some(Some(LanguageScript::Latin)) => detect_latin(&sample),
        Some(Some(LanguageScript::Arabic)) => AvtorLanguage::of_lang(Lang::Ara),
        Some(Some(LanguageScript::Cyrillic)) => AvtorLanguage::of_lang(Lang::Rus),
        Some(Some(LanguageScript::Greek)) => AvtorLanguage::of_lang(Lang::Ell),
        Some(Some(LanguageScript::Tamil)) => AvtorLanguage::of_lang(Lang::Tam),
        Some(Some(LanguageScript::Other) | None) => None,
    }
}

/// Returns the parts of a text that are read, or all of a short text.
fn sample(text: &str) -> Vec<&str> {
    if text.len() <= 3 * PART_BYTES {
        return vec![text];
    }
    let boundary = |at: usize| {
        let before = (0..=at).rev().find(|&at| text.is_char_boundary(at));
        before.expect("the start of a text is a boundary")
    };
    let starts = [0, (text.len() - PART_BYTES) / 2, text.len() - PART_BYTES];
    starts.map(|start| &text[boundary(start)..boundary(start + PART_BYTES)]).to_vec()
}

/// The scripts of the supported languages, and all other scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LanguageScript {
    Latin,
    Arabic,
    Cyrillic,
    Greek,
    Tamil,
    Other,
}

/// Returns the script of most letters, the first of equally frequent scripts. `None` without
/// letters.
fn script(sample: &[&str]) -> Option<LanguageScript> {
    use LanguageScript::{Arabic, Cyrillic, Greek, Latin, Other, Tamil};
    let mut letters = [0u32; 6];
    for c in sample.iter().flat_map(|part| part.chars()) {
        if let Some(script) = script_of(c) {
            letters[script as usize] += 1;
        }
    }
    let most = letters.iter().copied().max().filter(|&most| most > 0)?;
    let scripts = [Latin, Arabic, Cyrillic, Greek, Tamil, Other];
    scripts.into_iter().find(|&script| letters[script as usize] == most)
}

/// Returns the script of the block that contains the letter `c`. Unicode never changes blocks.
fn script_of(c: char) -> Option<LanguageScript> {
    let script = match c {
        'A'..='Z' | 'a'..='z' => return Some(LanguageScript::Latin),
        '\0'..='\u{bf}' => return None,
        '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => LanguageScript::Latin,
        '\u{400}'..='\u{52f}' => return Some(LanguageScript::Cyrillic),
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => LanguageScript::Greek,
        '\u{600}'..='\u{6ff}'
        | '\u{750}'..='\u{77f}'
        | '\u{8a0}'..='\u{8ff}'
        | '\u{fb50}'..='\u{fdff}'
        | '\u{fe70}'..='\u{feff}' => LanguageScript::Arabic,
        '\u{b80}'..='\u{bff}' => LanguageScript::Tamil,
        '\u{2000}'..='\u{2bff}' | '\u{3000}'..='\u{303f}' => return None,
        _ => LanguageScript::Other,
    };
    is_letter(c).then_some(script)
}

/// Returns the most likely language of a sample in Latin script.
fn detect_latin(sample: &[&str]) -> Option<AvtorLanguage> {
    let mut votes = Votes::new();
    for part in sample {
        tokenize(part, FORM, UNITS, &mut votes, Stop::NEVER)
            .expect("words are found until this is stopped");
    }
    let most = votes.counts.iter().copied().max().unwrap_or(0);
    let is_listed = u64::from(most) * STOP_WORDS_MIN[1] >= votes.words * STOP_WORDS_MIN[0];
    if !is_listed && votes.words > 0 {
        return by_trigrams(sample, &Detector::new());
    }
    let mut near = Vec::new();
    for (&count, &(lang, _)) in votes.counts.iter().zip(&LANGUAGES) {
        if count * NEAR[1] >= most * NEAR[0] {
            near.push(lang);
        }
    }
    match near[..] {
        [lang] => AvtorLanguage::of_lang(lang),
        _ => by_trigrams(sample, &Detector::with_allowlist(near)),
    }
}

/// Returns the language whose trigrams are most like the trigrams of the sample, or `None` if that
/// language is not listed.
#[cold]
fn by_trigrams(sample: &[&str], detector: &Detector) -> Option<AvtorLanguage> {
    let sample: String = sample.join(" ").chars().map(settled).collect();
    AvtorLanguage::of_lang(detector.detect_lang(&sample)?)
}

/// Counts the stop words of each language.
struct Votes<'a> {
    stop_words: &'a HashMap<u64, u32, BuildKeyHasher>,
    counts: [u32; LANGUAGES.len()],
    words: u64,
}

impl Votes<'_> {
    fn new() -> Votes<'static> {
        Votes { stop_words: stop_words(), counts: [0; LANGUAGES.len()], words: 0 }
    }
}

impl Take for Votes<'_> {
    #[inline(always)]
    fn take(&mut self, hash: u64, _: Span) {
        self.words += 1;
        if let Some(languages) = self.stop_words.get(&hash) {
            for (number, count) in self.counts.iter_mut().enumerate() {
                *count += languages >> number & 1;
            }
        }
    }

    fn taken(&self) -> u64 {
        self.words
    }
}

/// Returns the stop words of the languages in Latin script, by hash, with a bit per language.
/// Single letters are omitted, because letters are also numbers, names and options.
fn stop_words() -> &'static HashMap<u64, u32, BuildKeyHasher> {
    static WORDS: OnceLock<HashMap<u64, u32, BuildKeyHasher>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let mut words: HashMap<u64, u32, BuildKeyHasher> = HashMap::default();
        for language in AvtorLanguage::all(0) {
            for word in language.stop_parts() {
                let word = normal_form(word, FORM);
                let is_latin = word.chars().all(|c| script_of(c) == Some(LanguageScript::Latin));
                if is_latin && word.chars().nth(1).is_some() {
                    *words.entry(hash_bytes(word.as_bytes())).or_default() |=
                        1 << language.number();
                }
            }
        }
        words
    })
}

/// Returns the character itself, unless its lower case may depend on the compiler.
///
/// whatlang converts a text to lower case by `str::to_lowercase`, which follows the compiler's
/// Unicode version. Unicode never changes the lower case of a character, so only new characters can
/// differ: characters that the tables of cento lack, and the cased characters of Unicode 17, which
/// the oldest supported compiler lacks. The lower case of a sigma depends on the characters around
/// it, by a property of characters that may change.
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
    use proptest::prelude::*;

    fn name(text: &str) -> &'static str {
        detect(text).map_or("none", AvtorLanguage::name)
    }

    #[test]
    fn languages_are_found_out() {
        let check = |text: &str, expected| assert_eq!(name(text), expected, "{text}");
        check("The quick brown fox jumps over the lazy dog, and then it goes home again.", "en");
        let german = "Der schnelle braune Fuchs springt \u{fc}ber den faulen Hund und geht dann \
                      nach Hause.";
        check(german, "de");
        // No word of this text is a stop word.
        check(
            "thoughtful strangers walking quietly through wet streets watched shining windows",
            "en",
        );
        check("\u{42d}\u{442}\u{438} \u{43a}\u{43e}\u{448}\u{43a}\u{438}, as it is", "ru");
        check("\u{3b1}\u{3bd}\u{3c4}\u{3af}", "el");
        check("\u{628}\u{64a}\u{62a}", "ar");
        check("\u{ba4}\u{bae}\u{bbf}\u{bb4}\u{bcd}", "ta");
        for text in ["12 34 !", "", "\u{2014} 12 \u{3001}", "\u{5d0}\u{5d1} a", "\u{4e00}\u{4e8c}"]
        {
            check(text, "none");
        }
    }

    #[test]
    fn versions_of_a_text_have_one_language() {
        // Articles, and passages of at least ten words, get the language of the whole text.
        for (language, text) in [
            ("en", include_str!("../../../../../tests/data/udhr/eng.txt")),
            ("de", include_str!("../../../../../tests/data/udhr/deu.txt")),
            ("ru", include_str!("../../../../../tests/data/udhr/rus.txt")),
            ("ar", include_str!("../../../../../tests/data/udhr/arb.txt")),
            ("none", include_str!("../../../../../tests/data/udhr/hin.txt")),
            ("none", include_str!("../../../../../tests/data/udhr/tha.txt")),
        ] {
            assert_eq!(name(text), language);
            let words: Vec<&str> = text.split_whitespace().collect();
            for length in [10, 25, 100] {
                let passages = words.chunks_exact(length).map(|words| words.join(" "));
                let (mut all, mut same) = (0, 0);
                for passage in passages {
                    all += 1;
                    same += usize::from(name(&passage) == language);
                }
                let least = if length == 10 { all - all / 20 } else { all };
                assert!(same >= least, "{language}, {length} words: {same} of {all}");
            }
        }
    }

    #[test]
    fn the_sample_is_of_the_beginning_the_middle_and_the_end() {
        let check = |text: &str| {
            let parts = sample(text);
            let at = parts.iter().map(|part| part.as_ptr() as usize - text.as_ptr() as usize);
            let at: Vec<usize> = at.collect();
            assert_eq!(at[0], 0);
            let last = parts.len() - 1;
            assert_eq!(at[last] + parts[last].len(), text.len());
            assert!(parts.iter().all(|part| part.len() <= PART_BYTES + 3) || parts.len() == 1);
            assert!(at.windows(2).zip(&parts).all(|(at, part)| at[0] + part.len() <= at[1]));
            parts.len()
        };
        assert_eq!(check(&"a".repeat(3 * PART_BYTES)), 1);
        assert_eq!(check(&"a".repeat(3 * PART_BYTES + 1)), 3);
        for shift in 0..3 {
            assert_eq!(check(&format!("{}{}", &"aa"[..shift.min(2)], "\u{4e00}".repeat(999))), 3);
        }
    }

    proptest! {
        #[test]
        fn the_script_is_that_of_most_letters(
            words in prop::collection::vec(
                prop_oneof![
                    ("[a-zA-Z\u{e4}\u{df}\u{1ea1}]{1,8}", Just(LanguageScript::Latin)),
                    ("[\u{430}-\u{44f}]{1,8}", Just(LanguageScript::Cyrillic)),
                    ("[\u{3b1}-\u{3c9}]{1,8}", Just(LanguageScript::Greek)),
                    ("[\u{628}-\u{63a}]{1,8}", Just(LanguageScript::Arabic)),
                    ("[\u{b95}\u{b99}\u{ba3}]{1,8}", Just(LanguageScript::Tamil)),
                    (
                        "[\u{5d0}-\u{5ea}\u{915}-\u{939}\u{4e00}-\u{4eff}]{1,8}",
                        Just(LanguageScript::Other)
                    ),
                ],
                0..12,
            ),
        ) {
            let text: Vec<String> = words.iter().map(|word| format!("{}, 1 ", word.0)).collect();
            let mut letters = [0usize; 6];
            for (word, script) in &words {
                letters[*script as usize] += word.chars().count();
            }
            let found = script(&[&text.concat()]);
            let most = letters.iter().copied().max().unwrap_or(0);
            prop_assert_eq!(found.is_none(), most == 0);
            prop_assert!(found.is_none_or(|script| letters[script as usize] == most));
        }

        #[test]
        fn stop_words_are_counted_as_they_stand_in_the_lists(
            words in prop::collection::vec("[a-zA-Z\u{e4}\u{c4}\u{e9}' ]{0,4}", 0..40),
        ) {
            let text = words.join(" ");
            let mut votes = Votes::new();
            tokenize(&text, FORM, UNITS, &mut votes, Stop::NEVER).unwrap();
            let lower = text.to_lowercase();
            let words = lower.split([' ', '\'']).filter(|word| word.chars().count() > 1);
            let mut counts = [0; LANGUAGES.len()];
            for word in words {
                for language in AvtorLanguage::all(0) {
                    // The dotless i of Turkish is compared as i.
                    let as_read = |other: &str| other.to_lowercase().replace('\u{131}', "i");
                    let is_in = language.stop_parts().any(|other| as_read(other) == word);
                    counts[usize::from(language.number())] += u32::from(is_in);
                }
            }
            prop_assert_eq!(votes.counts, counts, "{}", text);
        }
    }

    #[test]
    fn lower_case_is_the_same_in_every_version_of_unicode() {
        // If this test fails, the compiler has a different lower case for a character that the
        // detector sees, and `settled` must hide the character.
        let (mut digest, mut cased) = (0, 0);
        for c in ('\0'..=char::MAX).filter(|&c| settled(c) == c) {
            for lower in c.to_lowercase().filter(|&lower| lower != c) {
                digest = mix64(digest ^ u64::from(c)) ^ u64::from(lower);
                cased += 1;
            }
        }
        assert_eq!((cased, digest), (1460, 3_241_411_218_397_351_122));
        // Every cased character that Unicode 16 lacks is hidden.
        let known = regex::Regex::new(r"\P{Cn}").unwrap();
        for c in ('\0'..=char::MAX).filter(|c| !c.to_lowercase().eq([*c])) {
            let is_new = !known.is_match(c.encode_utf8(&mut [0; 4]));
            assert!(!is_new || settled(c) != c, "{c:?}");
        }
        assert_eq!(settled('\u{3a3}'), '\u{3c3}');
    }
}
