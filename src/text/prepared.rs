//! What if words are changed, or left out, before they are compared?
//!
//! Two analysers cut a text into words as [`super::tokenize`] does, take each word in its normal
//! form, and keep what they make of it:
//!
//! - `prefixes(n)`: its first n letters, for fuzzy-fingerprinting, whose classes of words are those
//!   that begin alike.
//! - `avtor(...)`: the pipeline of AVTOR.NET (Sharapova and Sharapova 2018, section 3.3): markup is
//!   removed, letters of a wrong script are replaced, stop words and words that say little are left
//!   out, the others stemmed. If nothing would be left, all words are kept.

use super::edit::Edited;
use super::language::Language;
use super::normalize::{Form, normal_form};
use super::tokenize::tokenize;
use super::unicode::is_number;
use super::{Span, Take, homoglyphs, markup};
use crate::Result;
use crate::hash::hash_bytes;
use crate::stop::Stop;

/// Both analysers take words as the analyser `words` does by default.
const FORM: Form = Form { nfkc: true, fold: true };
const UNITS: usize = 2;

/// Words that say little are shorter or longer than this, in letters, or have a digit in them.
const LETTERS: std::ops::RangeInclusive<usize> = 2..=30;

/// The steps of AVTOR.NET that are taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps {
    /// A number of [`super::language::NAMES`].
    pub(super) language: usize,
    pub(super) markup: bool,
    pub(super) homoglyphs: bool,
    pub(super) stop: bool,
    pub(super) filter: bool,
    pub(super) stem: bool,
}

/// Appends the first `letters` letters of each word of `text`.
pub(super) fn prefixes(
    text: &str,
    letters: usize,
    tokens: &mut impl Take,
    stop: Stop<'_>,
) -> Result<()> {
    each_word(text, stop, &mut |word| {
        let prefix = |word: &str| {
            let end = word.char_indices().nth(letters).map_or(word.len(), |(at, _)| at);
            hash_bytes(&word.as_bytes()[..end])
        };
        tokens.take(word.letters.map_or(word.hash, prefix), word.span);
    })
}

/// Appends what the steps make of the words of `text`.
pub(super) fn avtor(
    text: &str,
    steps: Steps,
    tokens: &mut impl Take,
    stop: Stop<'_>,
) -> Result<()> {
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
pub(super) fn language_hashes(language: usize) -> Vec<u64> {
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

/// A word, its hash, and where it stands.
struct Word<'a> {
    /// Its normal form; unknown if a character made several words, which is then left as it is.
    letters: Option<&'a str>,
    hash: u64,
    span: Span,
}

/// Calls `each` with each word of `text`.
fn each_word(text: &str, stop: Stop<'_>, each: &mut dyn FnMut(Word<'_>)) -> Result<()> {
    tokenize(text, FORM, UNITS, &mut EachWord { text, each, taken: 0 }, stop)
}

/// Looks at each token of a text for the word that it is.
struct EachWord<'a> {
    text: &'a str,
    each: &'a mut dyn FnMut(Word<'_>),
    taken: u64,
}

impl Take for EachWord<'_> {
    fn take(&mut self, hash: u64, span: Span) {
        let letters = normal_form(&self.text[span.start as usize..span.end as usize], FORM);
        let is_known = hash_bytes(letters.as_bytes()) == hash;
        (self.each)(Word { letters: is_known.then_some(&letters), hash, span });
        self.taken += 1;
    }

    fn take_all(
        &mut self,
        hashes: impl ExactSizeIterator<Item = u64>,
        spans: impl ExactSizeIterator<Item = Span>,
    ) {
        hashes.zip(spans).for_each(|(hash, span)| self.take(hash, span));
    }

    fn taken(&self) -> u64 {
        self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Tokens;

    fn avtor(text: &str, steps: Steps, tokens: &mut Tokens) {
        super::avtor(text, steps, tokens, Stop::NEVER).unwrap();
    }

    fn prefixes(text: &str, letters: usize, tokens: &mut Tokens) {
        super::prefixes(text, letters, tokens, Stop::NEVER).unwrap();
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
                        None => prefixes(text, 64, &mut tokens),
                    }
                    tokens.hashes
                };
                assert_eq!(hashes(one), hashes(several), "{one}");
            }
        }
    }

    #[test]
    fn prefixes_are_the_first_letters() {
        let mut tokens = Tokens::default();
        prefixes("\u{c9}t\u{e9} is Strange", 2, &mut tokens);
        let expected = ["\u{e9}t", "is", "st"].map(|word| hash_bytes(word.as_bytes()));
        assert_eq!(tokens.hashes, expected);
        assert_eq!(tokens.spans[0], Span { start: 0, end: 5 });
    }
}
