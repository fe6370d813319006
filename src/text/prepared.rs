//! What if words are changed, or left out, before they are compared?
//!
//! Analysers that prepare words cut a text as [`super::tokenize`] does, take each word in its normal
//! form, and keep what they make of it. `prefixes(n)` keeps its first n letters, for
//! fuzzy-fingerprinting, whose classes of words are those that begin alike; [`super::avtor`] is the
//! other.

use super::family::{Family, Tokenize};
use super::normalize::{Form, normal_form};
use super::tokenize::tokenize;
use super::{Span, Take};
use crate::Result;
use crate::hash::hash_bytes;
use crate::spec::Parameter;
use crate::stop::Stop;
use std::sync::Arc;

/// `prefixes(n)`.
pub(super) const FAMILY: Family = Family {
    name: "prefixes",
    parameters: &[Parameter::number("n", 1, 1, 64, "the letters that are taken of each word")],
    summary: "the first letters of each word",
    source: "Stein 2005: the classes of fuzzy-fingerprinting",
    example: "prefixes(n=1)",
    feature: None,
    build: Some(|spec| Arc::new(Prefixes { letters: spec.get("n") as usize })),
};

/// The tokens of a text are the beginnings of its words.
#[derive(Debug)]
struct Prefixes {
    letters: usize,
}

impl Tokenize for Prefixes {
    fn tokenize(&self, text: &str, tokens: &mut impl Take, stop: Stop<'_>) -> Result<()> {
        prefixes(text, self.letters, tokens, stop)
    }
}

/// Words are taken as the analyser `words` does by default.
pub(super) const FORM: Form = Form { nfkc: true, fold: true };
const UNITS: usize = 2;

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

/// A word, its hash, and where it stands.
pub(super) struct Word<'a> {
    /// Its normal form; unknown if a character made several words, which is then left as it is.
    pub(super) letters: Option<&'a str>,
    pub(super) hash: u64,
    pub(super) span: Span,
}

/// Calls `each` with each word of `text`.
pub(super) fn each_word(text: &str, stop: Stop<'_>, each: &mut dyn FnMut(Word<'_>)) -> Result<()> {
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

    fn prefixes(text: &str, letters: usize, tokens: &mut Tokens) {
        super::prefixes(text, letters, tokens, Stop::NEVER).unwrap();
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
