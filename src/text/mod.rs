//! What are the words of this text, and where do they stand?
//!
//! Bytes in, tokens out. This module knows neither files nor indexes.

pub mod analyzer;
mod chars;
pub mod charset;
mod code;
mod edit;
mod homoglyphs;
pub mod kind;
mod language;
mod markup;
mod normalize;
mod prepared;
mod tokenize;
mod unicode;

pub use analyzer::Analyzer;
pub use code::paragraph_break;
pub(crate) use unicode::is_white_space;

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

/// A text that is compared, with its tokens.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The text.
    pub text: &'a str,
    /// Its tokens.
    pub tokens: &'a Tokens,
}

/// A half-open range of bytes of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}
