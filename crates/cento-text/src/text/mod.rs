//! The words of a text and their positions.
//!
//! The input is bytes, the output tokens. This module knows neither files nor indexes.

pub mod analyzer;
mod avtor;
mod bibliography;
mod chars;
pub mod cited;
pub mod code;
mod edit;
mod family;
mod fold;
mod hyphens;
pub mod kind;
mod letters;
mod lines;
pub mod mark;
mod normalize;
mod numbers;
mod prepared;
mod quotations;
pub mod ranges;
mod tokenize;
mod unicode;
mod variants;
mod word_share;
pub mod written;

use cento_api::Part;

use crate::error::Result;
use crate::runtime::Stop;

pub use analyzer::{Analyzer, PART_TOKENS};
pub use family::Family;
pub use letters::{Letters, TOKEN_LETTERS_MAX};
pub use unicode::is_letter;
pub use unicode::is_number;
pub use unicode::is_unspaced;
pub use unicode::is_white_space;
pub(crate) use word_share::{WORD, word_parts};

/// Returns the token between the paragraphs of a program, that is, where a subroutine begins or
/// ends: the analyzer `code` makes it, and the scheme `syntax` cuts there.
#[must_use]
pub(crate) fn paragraph_break() -> u64 {
    crate::hash::hash_bytes(b"\n\n")
}

/// The tokens of one text, in order: for each its hash and its place.
///
/// Two columns of equal length, because signing reads only the hashes.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// The hash of each token's normalised form ([`crate::hash::hash_bytes`]).
    pub hashes: Vec<u64>,
    /// The bytes of the original text that each token was made from.
    pub spans: Vec<Span>,
}

/// Takes the tokens of a text, in order, as they are found.
trait Take {
    /// Takes a token.
    fn take(&mut self, hash: u64, span: Span);

    /// Takes the tokens of both iterators, which are few.
    #[inline(always)]
    fn take_all(
        &mut self,
        hashes: impl ExactSizeIterator<Item = u64>,
        spans: impl ExactSizeIterator<Item = Span>,
    ) {
        hashes.zip(spans).for_each(|(hash, span)| self.take(hash, span));
    }

    /// Returns the number of tokens taken.
    fn taken(&self) -> u64;
}

impl Tokens {
    /// Returns empty tokens, with memory for this many of a text, and at most one token a byte.
    pub fn with_room(tokens: u32, text: &str) -> Tokens {
        let room = (tokens as usize).min(text.len());
        Tokens { hashes: Vec::with_capacity(room), spans: Vec::with_capacity(room) }
    }

    /// Returns a byte of each token, ascending, to count the tokens in a stretch of the text.
    ///
    /// A token has its first byte; the break between paragraphs of a program, without a byte, is
    /// with the token that it follows without a gap, or with the next one, so that it counts in a
    /// stretch of both.
    pub fn places(&self) -> Vec<u32> {
        let mut last = Span { start: 0, end: 0 };
        let place = |span: &Span| {
            if span.start < span.end {
                last = *span;
            }
            if span.start == last.end { last.start } else { span.start }
        };
        self.spans.iter().map(place).collect()
    }

    /// Releases unused memory.
    pub fn shrink_to_fit(&mut self) {
        self.hashes.shrink_to_fit();
        self.spans.shrink_to_fit();
    }
}

impl Take for Tokens {
    #[inline(always)]
    fn take(&mut self, hash: u64, span: Span) {
        self.hashes.push(hash);
        self.spans.push(span);
    }

    #[inline(always)]
    fn take_all(
        &mut self,
        hashes: impl ExactSizeIterator<Item = u64>,
        spans: impl ExactSizeIterator<Item = Span>,
    ) {
        self.hashes.extend(hashes);
        self.spans.extend(spans);
    }

    fn taken(&self) -> u64 {
        self.hashes.len() as u64
    }
}

/// Passes the hashes of tokens on, part by part, without their spans.
struct Parts<'a> {
    /// The part being collected.
    part: &'a mut Vec<u64>,
    handed_on: u64,
    each: &'a mut dyn FnMut(&[u64]),
}

impl Parts<'_> {
    #[cold]
    fn hand_on(&mut self) {
        (self.each)(self.part);
        self.handed_on += self.part.len() as u64;
        self.part.clear();
    }
}

impl Take for Parts<'_> {
    #[inline(always)]
    fn take(&mut self, hash: u64, _: Span) {
        if self.part.len() >= PART_TOKENS {
            self.hand_on();
        }
        self.part.push(hash);
    }

    #[inline(always)]
    fn take_all(
        &mut self,
        hashes: impl ExactSizeIterator<Item = u64>,
        _: impl ExactSizeIterator<Item = Span>,
    ) {
        if self.part.len() + hashes.len() > PART_TOKENS {
            self.hand_on();
        }
        self.part.extend(hashes);
    }

    fn taken(&self) -> u64 {
        self.handed_on + self.part.len() as u64
    }
}

/// A text that is compared, with its tokens.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The text.
    pub text: &'a str,
    /// Its tokens.
    pub tokens: &'a Tokens,
    /// Its parts, if it was joined of several.
    pub parts: &'a [Part],
}

impl<'a> Side<'a> {
    /// Returns a token as it is written.
    pub fn written(&self, token: usize) -> &'a str {
        let span = self.tokens.spans[token];
        &self.text[span.start as usize..span.end as usize]
    }
}

/// A text with its tokens.
#[derive(Debug, Clone, Default)]
pub struct Analyzed {
    /// The text.
    pub text: String,
    /// Its tokens.
    pub tokens: Tokens,
    /// Its parts, if it was joined of several.
    pub parts: Vec<Part>,
}

impl Analyzed {
    /// Splits a text into tokens.
    ///
    /// # Errors
    /// When it is too large; [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn new(text: String, analyzer: &Analyzer, stop: &Stop) -> Result<Analyzed> {
        let mut tokens = Tokens::default();
        analyzer.analyze(&text, &mut tokens, stop)?;
        Ok(Analyzed { text, tokens, parts: Vec::new() })
    }

    /// Analyzes a text of about this many tokens and reserves their memory in advance.
    pub fn with_room(
        text: String,
        tokens: u32,
        analyzer: &Analyzer,
        stop: &Stop,
    ) -> Result<Analyzed> {
        let mut tokens = Tokens::with_room(tokens, &text);
        analyzer.analyze(&text, &mut tokens, stop)?;
        Ok(Analyzed { text, tokens, parts: Vec::new() })
    }

    /// Sets the parts of the text.
    #[must_use]
    pub fn with_parts(self, parts: Vec<Part>) -> Analyzed {
        Analyzed { parts, ..self }
    }

    /// Returns the memory, in bytes, that the text, its tokens and its parts take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let names = self.parts.iter().map(|part| part.name.capacity());
        self.text.capacity()
            + self.tokens.hashes.capacity() * size_of::<u64>()
            + self.tokens.spans.capacity() * size_of::<Span>()
            + self.parts.capacity() * size_of::<Part>()
            + names.sum::<usize>()
    }

    /// Returns the text and its tokens, for a comparison.
    #[must_use]
    pub fn side(&self) -> Side<'_> {
        Side { text: &self.text, tokens: &self.tokens, parts: &self.parts }
    }
}

/// A half-open range of bytes of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}
