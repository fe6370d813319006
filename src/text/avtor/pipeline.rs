//! What does AVTOR.NET make of words?
//!
//! The pipeline of Sharapova and Sharapova (2018), section 3.3: markup is removed, letters of a wrong
//! script are replaced, stop words and words that say little are left out, the others stemmed. If
//! nothing would be left, all words are kept.

use super::edit::Edited;
use super::language::Language;
use super::{homoglyphs, markup};
use crate::Result;
use crate::hash::hash_bytes;
use crate::spec::Spec;
use crate::stop::Stop;
use crate::text::Take;
use crate::text::family::{SAMPLE, Tokenize};
use crate::text::normalize::normal_form;
use crate::text::prepared::{FORM, Word, each_word};
use crate::text::unicode::is_number;
use std::borrow::Cow;

/// Words that say little are shorter or longer than this, in letters, or have a digit in them.
const LETTERS: std::ops::RangeInclusive<usize> = 2..=30;

/// The steps of AVTOR.NET that are taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps {
    /// A number of the names of languages.
    language: usize,
    markup: bool,
    homoglyphs: bool,
    stop: bool,
    filter: bool,
    stem: bool,
}

/// What the steps take for a while for each byte of a text, at most: two edited texts, each byte of
/// which may be a piece of its own.
const BYTES_A_BYTE: usize = 50;

/// Texts of which each of the steps makes something else.
const PROSE: [&str; 3] = [
    SAMPLE,
    "<em>Two</em> caf&eacute;s and thousand connections of 1999 were made by these machines, and t\u{435}sting them was hard.",
    "\u{42d}\u{442}\u{438} \u{43a}\u{43e}\u{448}\u{43a}\u{438} \u{431}\u{44b}\u{43b}\u{438} \u{432} \u{434}\u{43e}\u{43c}\u{430}\u{445}",
];

impl Steps {
    pub(super) fn new(spec: &Spec) -> Steps {
        Steps {
            language: spec.get("language") as usize,
            markup: spec.is_on("markup"),
            homoglyphs: spec.is_on("homoglyphs"),
            stop: spec.is_on("stop"),
            filter: spec.is_on("filter"),
            stem: spec.is_on("stem"),
        }
    }
}

impl Tokenize for Steps {
    fn tokenize(&self, text: &str, tokens: &mut impl Take, stop: Stop<'_>) -> Result<()> {
        avtor(text, *self, tokens, stop)
    }

    fn scratch_bytes(&self, text_bytes: usize) -> usize {
        text_bytes.saturating_mul(BYTES_A_BYTE)
    }

    fn of_passages(&self) -> Option<String> {
        let [markup, homoglyphs] = [self.markup, self.homoglyphs].map(u32::from);
        let leaves_out = self.stop || self.filter || self.stem;
        leaves_out.then(|| {
            format!(
                "avtor(language=none,markup={markup},homoglyphs={homoglyphs},stop=0,filter=0,stem=0)"
            )
        })
    }

    fn samples(&self) -> Vec<Cow<'static, str>> {
        PROSE.map(Cow::from).to_vec()
    }

    fn table_hashes(&self) -> Vec<u64> {
        let likes = self.homoglyphs.then(homoglyphs::likes_hash);
        language_hashes(self.language).into_iter().chain(likes).collect()
    }
}

/// Appends what the steps make of the words of `text`.
fn avtor(text: &str, steps: Steps, tokens: &mut impl Take, stop: Stop<'_>) -> Result<()> {
    let mut edits: Vec<Edited> = Vec::new();
    if steps.markup {
        edits.push(markup::strip(text));
        stop.check()?;
    }
    let plain = edits.last().map_or(text, |edited| &edited.text);
    if let Some(edited) = steps.homoglyphs.then(|| homoglyphs::replace(plain)).flatten() {
        edits.push(edited);
    }
    stop.check()?;
    let plain = edits.last().map_or(text, |edited| &edited.text);
    let origin = |span| edits.iter().rev().fold(span, |span, edited| edited.origin(span));
    let language = Language::of(steps.language, plain);
    let stop_words = language
        .filter(|_| steps.stop)
        .map(|language| language.stop_words(|word| normal_form(word, FORM)));
    let stemmer = language.filter(|_| steps.stem).map(Language::stemmer);
    let is_kept = |word: &Word<'_>| {
        stop_words.is_none_or(|words| !words.contains(&word.hash))
            && !(steps.filter && word.letters.is_some_and(says_little))
    };
    let stem = |word: &Word<'_>| match (&stemmer, word.letters) {
        (Some(stemmer), Some(letters)) if letters.len() <= STEMMED_BYTES_MAX => {
            hash_bytes(stemmer.stem(letters).as_bytes())
        }
        _ => word.hash,
    };
    let first = tokens.taken();
    let mut take = |is_kept: &dyn Fn(&Word<'_>) -> bool| -> Result<bool> {
        each_word(plain, stop, &mut |word| {
            if is_kept(&word) {
                tokens.take(stem(&word), origin(word.span));
            }
        })?;
        Ok(tokens.taken() > first)
    };
    if !take(&is_kept)? {
        take(&|_| true)?;
    }
    Ok(())
}

/// Longer words have no stem: finding it takes time that grows with the square of the length.
const STEMMED_BYTES_MAX: usize = 1 << 10;

/// What languages do to words, as numbers: another version of a library has others.
fn language_hashes(language: usize) -> Vec<u64> {
    let mut hashes = Vec::new();
    for language in Language::all(language) {
        let stemmer = language.stemmer();
        for word in language.stop_list() {
            let word = normal_form(word, FORM);
            hashes
                .extend([hash_bytes(word.as_bytes()), hash_bytes(stemmer.stem(&word).as_bytes())]);
        }
    }
    hashes
}

/// Whether a word is a number, a code, a single letter or a heap of letters. Of scripts written
/// without spaces every pair of letters is a word.
fn says_little(word: &str) -> bool {
    !LETTERS.contains(&word.chars().count()) || word.chars().any(|c| is_number(c) || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Tokens;
    use crate::text::prepared::prefixes;

    fn avtor(text: &str, steps: Steps, tokens: &mut Tokens) {
        super::avtor(text, steps, tokens, Stop::NEVER).unwrap();
    }

    const ALL: Steps =
        Steps { language: 6, markup: true, homoglyphs: true, stop: true, filter: true, stem: true };

    /// What the words have become, by their spans, must be these.
    fn check(steps: Steps, text: &str, expected: &[(&str, &str)]) {
        let mut tokens = Tokens::default();
        avtor(text, steps, &mut tokens);
        let found = tokens
            .hashes
            .iter()
            .copied()
            .zip(tokens.spans.iter().map(|span| &text[span.start as usize..span.end as usize]));
        let expected = expected.iter().map(|(word, origin)| (hash_bytes(word.as_bytes()), *origin));
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{text}");
    }

    #[test]
    fn words_are_prepared_and_know_where_they_stand() {
        let text = "<p>The Connections of <b>caf&eacute;s</b>, in 1999: a t\u{435}st";
        check(
            ALL,
            text,
            &[("connect", "Connections"), ("caf\u{e9}", "caf&eacute;s"), ("test", "t\u{435}st")],
        );
        check(
            Steps { stem: false, ..ALL },
            "Testing the tests",
            &[("testing", "Testing"), ("tests", "tests")],
        );
        check(Steps { stop: false, ..ALL }, "in tests", &[("in", "in"), ("test", "tests")]);
        check(Steps { filter: false, ..ALL }, "x 12", &[("x", "x"), ("12", "12")]);
        check(Steps { markup: false, ..ALL }, "<em>", &[("em", "em")]);
        check(Steps { homoglyphs: false, ..ALL }, "t\u{435}st", &[("t\u{435}st", "t\u{435}st")]);
        check(Steps { language: 1, ..ALL }, "the tests", &[("the", "the"), ("tests", "tests")]);
        let russian = "\u{43a}\u{43e}\u{448}\u{43a}\u{430}\u{43c}\u{438}";
        check(Steps { language: 16, ..ALL }, russian, &[("\u{43a}\u{43e}\u{448}\u{43a}", russian)]);
    }

    #[test]
    fn a_text_is_not_left_without_words() {
        check(ALL, "the 12", &[("the", "the"), ("12", "12")]);
        check(ALL, "<br>", &[]);
        check(ALL, "", &[]);
    }

    #[test]
    fn a_character_that_makes_several_words_is_what_they_are() {
        // A square of kana, a fraction after a number, "a.m." in one character.
        for (one, several) in [
            ("\u{3300}", "\u{30a2}\u{30d1}\u{30fc}\u{30c8}"),
            ("1\u{bd}", "11\u{2044}2"),
            ("\u{33c2}", "a.m."),
        ] {
            for steps in [Some(ALL), None] {
                let hashes = |text: &str| {
                    let mut tokens = Tokens::default();
                    match steps {
                        Some(steps) => avtor(text, Steps { filter: false, ..steps }, &mut tokens),
                        None => prefixes(text, 64, &mut tokens, Stop::NEVER).unwrap(),
                    }
                    tokens.hashes
                };
                assert_eq!(hashes(one), hashes(several), "{one}");
            }
        }
    }
}
