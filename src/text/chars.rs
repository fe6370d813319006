//! What if the tokens of a text are its characters?
//!
//! Three kinds of token, for schemes that were described over characters:
//!
//! - [`Kind::Chars`]: letters and digits of ASCII, lower-cased; every other character is `_`. The
//!   alphabet of 37 signs of Sun et al. (2013), section 7.1.
//! - [`Kind::Consonants`]: the consonants of ASCII, lower-cased; all else is left out (Koala,
//!   Heintze 1996: chunks of 20 consonants).
//! - [`Kind::Bytes`]: every byte as it is (SIF, Manber 1994: chunks of 50 bytes). The span of a
//!   byte is that of its character, so that no passage cuts one.

use super::family::{Family, Tokenize};
use super::{Span, Take};
use crate::Result;
use crate::hash::hash_bytes;
use crate::stop::Stop;
use std::sync::Arc;

/// `chars()`.
pub(super) const CHARS: Family = Family {
    name: "chars",
    parameters: &[],
    summary: "letters and digits of ASCII, and `_` for every other character",
    source: "Sun, Qin and Wang 2013, section 7.1",
    example: "chars",
    feature: None,
    build: Some(|_| Arc::new(Kind::Chars)),
};

/// `consonants()`.
pub(super) const CONSONANTS: Family = Family {
    name: "consonants",
    parameters: &[],
    summary: "the consonants of ASCII",
    source: "Heintze 1996: Koala",
    example: "consonants",
    feature: None,
    build: Some(|_| Arc::new(Kind::Consonants)),
};

/// `bytes()`.
pub(super) const BYTES: Family = Family {
    name: "bytes",
    parameters: &[],
    summary: "every byte",
    source: "Manber 1994: SIF",
    example: "bytes",
    feature: None,
    build: Some(|_| Arc::new(Kind::Bytes)),
};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Chars,
    Consonants,
    Bytes,
}

/// The signs of [`Kind::Chars`], in the order of their alphabet.
const ALPHABET: &[u8; 37] = b"0123456789_abcdefghijklmnopqrstuvwxyz";

impl Tokenize for Kind {
    fn tokenize(&self, text: &str, tokens: &mut impl Take, _: Stop<'_>) -> Result<()> {
        tokenize(text, *self, tokens);
        Ok(())
    }

    fn alphabet(&self) -> Option<&'static [u8]> {
        (*self == Kind::Chars).then_some(ALPHABET)
    }
}

/// Appends the tokens of `text`, which must be at most `u32::MAX` bytes long.
fn tokenize(text: &str, kind: Kind, tokens: &mut impl Take) {
    // The hash of a token is that of its byte, so there are 256.
    let hashes: Vec<u64> = (0..=u8::MAX).map(|byte| hash_bytes(&[byte])).collect();
    for (start, c) in text.char_indices() {
        let span = Span { start: start as u32, end: (start + c.len_utf8()) as u32 };
        let mut push = |byte: u8| tokens.take(hashes[usize::from(byte)], span);
        match kind {
            Kind::Chars if c.is_ascii_alphanumeric() => push(c.to_ascii_lowercase() as u8),
            Kind::Chars => push(b'_'),
            Kind::Consonants => {
                let lower = c.to_ascii_lowercase();
                if lower.is_ascii_lowercase() && !"aeiou".contains(lower) {
                    push(lower as u8);
                }
            }
            Kind::Bytes => c.encode_utf8(&mut [0; 4]).bytes().for_each(push),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Tokens;

    fn check(kind: Kind, text: &str, expected: &str) {
        let mut tokens = Tokens::default();
        tokenize(text, kind, &mut tokens);
        let wanted: Vec<u64> = expected.bytes().map(|byte| hash_bytes(&[byte])).collect();
        assert_eq!(tokens.hashes, wanted, "{text}");
        for span in tokens.spans {
            assert!(text.get(span.start as usize..span.end as usize).is_some());
        }
    }

    #[test]
    fn texts_become_signs() {
        check(Kind::Chars, "A b-9\u{e9}!", "a_b_9__");
        check(Kind::Consonants, "Koala, Y\u{e9}s: 20", "klys");
        check(Kind::Bytes, "A\u{e9} b", "A\u{e9} b");
    }
}
