//! The words of a text and their positions.
//!
//! The input is bytes, the output tokens. This module knows neither files nor indexes.

pub mod analyzer;
mod avtor;
mod bibliography;
mod chars;
pub mod cited;
pub mod code;
mod digit;
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
pub use bibliography::is_bibliography_heading;
pub use family::Family;
pub use letters::{Letters, TOKEN_LETTERS_MAX};
pub use quotations::closing_quotation_marks;
pub use unicode::is_letter;
pub use unicode::is_number;
pub use unicode::is_unspaced;
pub use unicode::is_white_space;
pub(crate) use word_share::{WORD, word_parts};

/// Returns the token between the paragraphs of a program, where a subroutine begins or ends. The
/// analyzer `code` makes this token, and the scheme `syntax` cuts there.
#[must_use]
pub(crate) fn paragraph_break() -> u64 {
    crate::hash::hash_bytes(b"\n\n")
}

/// The tokens of a text, in order, each with a hash and a place.
///
/// Two columns of equal length, because signing reads only the hashes.
///
/// ```
/// use cento_text::{Analyzer, Stop, Tokens};
///
/// let (text, mut tokens) = ("Rose, rose!", Tokens::default());
/// Analyzer::default().analyze(text, &mut tokens, Stop::NEVER)?;
/// // Equal words have equal hashes, whatever their case. Spans refer to the original text.
/// assert_eq!(tokens.hashes[0], tokens.hashes[1]);
/// let span = tokens.spans[1];
/// assert_eq!(&text[span.start as usize..span.end as usize], "rose");
/// # Ok::<(), cento_text::Error>(())
/// ```
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// The hash of each token's normalized form ([`crate::hash::hash_bytes`]).
    pub hashes: Vec<u64>,
    /// The bytes of the original text that each token was made from.
    pub spans: Vec<Span>,
}

/// Receives the tokens of a text, in order.
trait Take {
    fn take(&mut self, hash: u64, span: Span);

    /// Takes a few tokens at once, from iterators of equal length.
    #[inline(always)]
    fn take_all(
        &mut self,
        hashes: impl ExactSizeIterator<Item = u64>,
        spans: impl ExactSizeIterator<Item = Span>,
    ) {
        hashes.zip(spans).for_each(|(hash, span)| self.take(hash, span));
    }

    /// Returns the number of tokens taken so far.
    fn taken(&self) -> u64;
}

impl Tokens {
    /// Returns empty tokens with reserved memory for `tokens` tokens, but at most one token per
    /// byte of `text`.
    pub fn with_room(tokens: u32, text: &str) -> Tokens {
        let room = (tokens as usize).min(text.len());
        Tokens { hashes: Vec::with_capacity(room), spans: Vec::with_capacity(room) }
    }

    /// Returns one byte per token, ascending, to count the tokens in a stretch of the text.
    ///
    /// The byte of a token is its first byte. A paragraph break of a program has no bytes. The
    /// break gets the byte of the preceding token if there is no gap, and otherwise of the next
    /// token, so the break counts in a stretch with both tokens.
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

    /// Frees the capacity that the tokens do not use.
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

/// Passes on the hashes of tokens, part by part, without their spans.
struct PartHashes<'a> {
    /// The part that is being collected.
    part: &'a mut Vec<u64>,
    handed_on: u64,
    each: &'a mut dyn FnMut(&[u64]),
}

impl PartHashes<'_> {
    #[cold]
    fn hand_on(&mut self) {
        (self.each)(self.part);
        self.handed_on += self.part.len() as u64;
        self.part.clear();
    }
}

impl Take for PartHashes<'_> {
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

/// A text to compare, with its tokens.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The text that the spans of `tokens` refer to.
    pub text: &'a str,
    /// The tokens of the text.
    pub tokens: &'a Tokens,
    /// The parts, if the text was joined from several parts.
    pub parts: &'a [Part],
}

impl<'a> Side<'a> {
    /// Returns the text of a token as written.
    pub fn written(&self, token: usize) -> &'a str {
        let span = self.tokens.spans[token];
        &self.text[span.start as usize..span.end as usize]
    }
}

/// An owned text with its tokens.
///
/// ```
/// use cento_text::{Analyzer, Measure, Stop, text::AnalyzedText};
///
/// let analyzed = |text: &str| AnalyzedText::new(text.into(), &Analyzer::default(), Stop::NEVER);
/// let (a, b) = (analyzed("one two three")?, analyzed("one two three four")?);
/// assert_eq!(a.side().written(2), "three");
/// assert_eq!("containment(k=2)".parse::<Measure>()?.of(a.side(), b.side()), 1.0);
/// # Ok::<(), cento_text::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct AnalyzedText {
    /// The text that the spans of `tokens` refer to.
    pub text: String,
    /// The tokens of the text.
    pub tokens: Tokens,
    /// The parts, if the text was joined from several parts.
    pub parts: Vec<Part>,
}

impl AnalyzedText {
    /// Splits a text without parts into tokens.
    ///
    /// # Errors
    /// When the text is too large. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn new(text: String, analyzer: &Analyzer, stop: &Stop) -> Result<AnalyzedText> {
        let mut tokens = Tokens::default();
        analyzer.analyze(&text, &mut tokens, stop)?;
        Ok(AnalyzedText { text, tokens, parts: Vec::new() })
    }

    /// Does the work of `new` with memory reserved in advance for about `tokens` tokens.
    pub fn with_room(
        text: String,
        tokens: u32,
        analyzer: &Analyzer,
        stop: &Stop,
    ) -> Result<AnalyzedText> {
        let mut tokens = Tokens::with_room(tokens, &text);
        analyzer.analyze(&text, &mut tokens, stop)?;
        Ok(AnalyzedText { text, tokens, parts: Vec::new() })
    }

    /// Sets the parts of the text.
    #[must_use]
    pub fn with_parts(self, parts: Vec<Part>) -> AnalyzedText {
        AnalyzedText { parts, ..self }
    }

    /// Returns the memory, in bytes, of the text, its tokens and its parts.
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
    /// The first byte of the span, in the text.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}
