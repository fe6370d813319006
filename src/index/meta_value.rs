//! How filters compare a text in the meta object: as a whole, and as written.
//!
//! The words of a text would match filters that nobody means: `tenant:acme` the tenant `acme two`,
//! `lang:de` the language `de-AT`. A filter restricts what a search sees and what `remove` deletes,
//! so it must not match more than its value.

use std::borrow::Cow;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::hash::Digest;

/// The name of the tokenizer in the schema.
pub const WHOLE_VALUE: &str = "whole";

/// Longer texts are indexed by their beginning and their digest, because the dictionary of terms
/// takes memory for every byte of a term.
const BYTES_MAX: usize = 128;

/// The bytes of a long text before its digest of 32 characters. No text of at most [`BYTES_MAX`]
/// bytes is as long as both.
const START_BYTES: usize = BYTES_MAX - 16;

/// Returns the term of a text: the text, or its beginning and digest if it is long.
pub fn term_of(text: &str) -> Cow<'_, str> {
    if text.len() <= BYTES_MAX {
        return text.into();
    }
    let start = &text[..text.floor_char_boundary(START_BYTES)];
    let Digest { low, high } = Digest::of(text.as_bytes());
    format!("{start}{high:016x}{low:016x}").into()
}

/// Makes one term of each text.
#[derive(Clone, Default)]
pub struct WholeValue {
    token: Token,
}

/// The only token of a text.
pub struct OnlyToken<'a> {
    token: &'a mut Token,
    is_taken: bool,
}

impl Tokenizer for WholeValue {
    type TokenStream<'a> = OnlyToken<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> OnlyToken<'a> {
        self.token.reset();
        self.token.position = 0;
        self.token.offset_to = text.len();
        self.token.text.push_str(&term_of(text));
        OnlyToken { token: &mut self.token, is_taken: false }
    }
}

impl TokenStream for OnlyToken<'_> {
    fn advance(&mut self) -> bool {
        !std::mem::replace(&mut self.is_taken, true)
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_has_a_term_of_its_own() {
        let long = |end: &str| "\u{e9}".repeat(100) + end;
        assert_eq!(term_of("Deep Sea"), "Deep Sea");
        assert_eq!(term_of(&"a".repeat(BYTES_MAX)), "a".repeat(BYTES_MAX));
        let terms = [term_of(&long("a")).into_owned(), term_of(&long("b")).into_owned()];
        assert_ne!(terms[0], terms[1]);
        assert!(terms.iter().all(|term| term.len() > BYTES_MAX && term.len() <= BYTES_MAX + 16));
    }
}
