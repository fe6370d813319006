//! Aligns decoded text of a page with its source bytes.
//!
//! A tokenizer decodes references and replaces line ends. Comparing the decoded text with the
//! source splits the text into equal parts and different parts.

use std::borrow::Cow;
use std::ops::Range;

use html5gum::{Token, Tokenizer};

/// A part of a text, with its bytes in the source.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AlignedPart<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) source: Range<usize>,
    /// Whether text and source have the same bytes.
    pub(super) is_same: bool,
}

/// Splits the text that a tokenizer made of `source`. If alignment fails, returns a single part.
pub(super) fn parts<'a>(text: &'a str, source: &str) -> Vec<AlignedPart<'a>> {
    if text == source {
        return vec![AlignedPart { text: text.into(), source: 0..source.len(), is_same: true }];
    }
    let found = aligned(text, source, false).or_else(|| aligned(text, source, true));
    found.unwrap_or_else(|| {
        vec![AlignedPart { text: text.into(), source: 0..source.len(), is_same: false }]
    })
}

/// Aligns a text with its source, in spite of references, line ends, and characters that the
/// standard drops or replaces. In raw text, as in `xmp`, only line ends and NULs differ.
fn aligned<'a>(text: &'a str, source: &str, is_raw: bool) -> Option<Vec<AlignedPart<'a>>> {
    /// An end tag without a name, which is dropped.
    const EMPTY_END_TAG: &str = "</>";
    let (mut parts, mut in_text, mut at) = (Vec::new(), 0, 0);
    while at < source.len() {
        let (rest, left) = (&source[at..], &text[in_text..]);
        let (len, source_len, is_same) = match rest.as_bytes() {
            [b'&', ..] if !is_raw => {
                let reference = &rest[..reference_len(rest)];
                let decoded = decoded(reference);
                // Letters that follow a reference without a semicolon.
                let after = match reference.as_bytes() {
                    [_, b'#', ..] => 0,
                    _ => common_end(&decoded, reference),
                };
                let (len, source_len) = (decoded.len() - after, reference.len() - after);
                if !left.starts_with(&decoded[..len]) {
                    return None;
                }
                (len, source_len, decoded[..len] == reference[..source_len])
            }
            [b'\r', b'\n', ..] if left.starts_with('\n') => (1, 2, false),
            [b'\r', ..] if left.starts_with('\n') => (1, 1, false),
            [b'\0', ..] if left.starts_with('\u{fffd}') => ('\u{fffd}'.len_utf8(), 1, false),
            // In a title, the empty end tag is text.
            _ if rest.starts_with(EMPTY_END_TAG) && !left.starts_with(EMPTY_END_TAG) => {
                (0, EMPTY_END_TAG.len(), false)
            }
            _ => {
                let is_other = |at: &usize| match rest.as_bytes()[*at] {
                    b'<' => rest[*at..].starts_with(EMPTY_END_TAG),
                    _ => true,
                };
                let places = rest.bytes().enumerate().skip(1);
                let places = places.filter(|(_, byte)| b"&\r\0<".contains(byte));
                let len = places.map(|(at, _)| at).find(is_other).unwrap_or(rest.len());
                if !left.starts_with(&rest[..len]) {
                    return None;
                }
                (len, len, true)
            }
        };
        if len > 0 {
            let text = Cow::Borrowed(&text[in_text..in_text + len]);
            parts.push(AlignedPart { text, source: at..at + source_len, is_same });
        }
        (in_text, at) = (in_text + len, at + source_len);
    }
    (in_text == text.len()).then_some(parts)
}

/// Returns the length of a possible character reference, which begins with a `&`.
fn reference_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_numeric = bytes.get(1) == Some(&b'#');
    let name = 1 + usize::from(is_numeric);
    let len = bytes[name..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    name + len + usize::from(bytes.get(name + len) == Some(&b';'))
}

/// Decodes a reference with the rules of the tokenizer, so that the two always agree.
pub(crate) fn decoded(reference: &str) -> String {
    let mut decoded = String::new();
    for Ok(token) in Tokenizer::new(reference) {
        if let Token::String(text) = token {
            decoded.push_str(&String::from_utf8_lossy(&text.value));
        }
    }
    decoded
}

/// Returns the number of equal bytes at the end of both texts, apart from the first character.
fn common_end(decoded: &str, reference: &str) -> usize {
    let first = decoded.chars().next().map_or(0, char::len_utf8);
    let ends = decoded.bytes().skip(first).rev().zip(reference.bytes().rev());
    ends.take_while(|(one, other)| one == other && one.is_ascii()).count()
}
