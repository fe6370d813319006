//! Analyzers for changing or omitting words before texts are compared.
//!
//! Analyzers that prepare words cut a text as [`super::tokenize`] does, and keep a form derived
//! from the normal form of each word. `prefixes(n)` keeps the first n letters, for
//! fuzzy-fingerprinting, which classifies words by their beginnings. The second analyzer of this
//! kind is [`super::avtor`].

use super::family::{Family, Tokenize};
use super::fold::{FOLDS, Folds};
use super::hyphens;
use super::normalize::{CharForm, normal_form};
use super::tokenize::tokenize;
use super::{Span, Take};
use crate::Result;
use crate::hash::hash_bytes;
use crate::runtime::Stop;
use crate::spec::Parameter;
use std::sync::Arc;

pub(super) const FAMILY: Family = Family {
    name: "prefixes",
    parameters: &[
        Parameter::number("n", 1, 1, 64, "the letters that are taken of each word"),
        FOLDS,
    ],
    summary: "the first letters of each word",
    source: "Stein 2005: the classes of fuzzy-fingerprinting",
    example: "prefixes(n=1)",
    build: |spec| Arc::new(Prefixes { letters: spec.get("n") as usize, folds: Folds::of(spec) }),
};

/// The analyzer: the tokens of a text are the beginnings of its words.
#[derive(Debug)]
struct Prefixes {
    letters: usize,
    folds: Folds,
}

impl Tokenize for Prefixes {
    fn tokenize(&self, text: &str, tokens: &mut impl Take, stop: &Stop) -> Result<()> {
        let form = CharForm { folds: self.folds.of_letters(), ..FORM };
        let Some(joined) = hyphens::join(text, self.folds) else {
            return prefixes(text, form, self.letters, tokens, stop);
        };
        stop.check()?;
        prefixes(&joined.text, form, self.letters, &mut joined.moved(tokens), stop)
    }

    fn scratch_bytes(&self, text_bytes: usize) -> usize {
        hyphens::scratch_bytes(self.folds, text_bytes)
    }

    fn of_all_words(&self, _: bool) -> Option<String> {
        Some(format!("words(folds={})", FOLDS.written(self.folds.value())))
    }
}

/// Equal to the defaults of the analyzer `words`.
pub(super) const FORM: CharForm = CharForm { nfkc: true, fold: true, folds: Folds::NONE };
pub(super) const UNITS: usize = 2;

/// Appends the first `letters` letters of each word of `text`.
pub(super) fn prefixes(
    text: &str,
    form: CharForm,
    letters: usize,
    tokens: &mut impl Take,
    stop: &Stop,
) -> Result<()> {
    tokenize(text, form, UNITS, &mut Beginnings { text, form, letters, tokens }, stop)
}

/// Returns the normal form of the word at `span` of `text` with this hash. `None` if a character
/// made several words: such words are left unchanged.
pub(super) fn letters(text: &str, hash: u64, span: Span) -> Option<String> {
    letters_in(FORM, text, hash, span)
}

/// Does the work of `letters` for a given form.
fn letters_in(form: CharForm, text: &str, hash: u64, span: Span) -> Option<String> {
    let letters = normal_form(&text[span.start as usize..span.end as usize], form);
    (hash_bytes(letters.as_bytes()) == hash).then_some(letters)
}

/// Receives the words of a text, and passes on their beginnings.
struct Beginnings<'a, T> {
    text: &'a str,
    form: CharForm,
    /// The number of letters to take from each word.
    letters: usize,
    tokens: &'a mut T,
}

impl<T: Take> Take for Beginnings<'_, T> {
    fn take(&mut self, hash: u64, span: Span) {
        let prefix = |word: String| {
            let end = word.char_indices().nth(self.letters).map_or(word.len(), |(at, _)| at);
            hash_bytes(&word.as_bytes()[..end])
        };
        self.tokens.take(letters_in(self.form, self.text, hash, span).map_or(hash, prefix), span);
    }

    fn taken(&self) -> u64 {
        self.tokens.taken()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Tokens;

    fn prefixes(text: &str, letters: usize, tokens: &mut Tokens) {
        super::prefixes(text, FORM, letters, tokens, Stop::NEVER).unwrap();
    }

    #[test]
    fn prefixes_are_the_first_letters() {
        let mut tokens = Tokens::default();
        prefixes("\u{c9}t\u{e9} is Strange", 2, &mut tokens);
        let expected = ["\u{e9}t", "is", "st"].map(|word| hash_bytes(word.as_bytes()));
        assert_eq!(tokens.hashes, expected);
        assert_eq!(tokens.spans[0], Span { start: 0, end: 5 });
    }

    #[test]
    fn the_first_letters_of_a_wrapped_word_are_its_own() {
        let hashes = |text| {
            let mut tokens = Tokens::default();
            prefixes(text, 1, &mut tokens);
            tokens.hashes
        };
        assert_eq!(hashes("\u{4e2d}\n\u{6587}"), hashes("\u{4e2d}\u{6587}"));
    }
}
