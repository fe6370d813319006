//! The tokens of a query as shards send them.

use cento_api::QueryTokens;

use super::super::trace::{IndexArchive, TraceArchive, TracedText};
use crate::error::{Error, Result};
use crate::text::{Span, Tokens};

/// Returns the tokens in the form that a shard sends. `fingerprints` has the token of each
/// fingerprint, and its place among the distinct fingerprints.
pub fn to_json(
    text: &TracedText,
    archive: &IndexArchive<'_>,
    fingerprints: impl Iterator<Item = (u32, u32)>,
) -> QueryTokens {
    let (signed, words) = (archive.signed(), archive.words());
    QueryTokens {
        signed: numbers(signed),
        words: (words.spans != signed.spans).then(|| numbers(words)),
        fingerprints: fingerprints.collect(),
        is_program: text.is_program,
    }
}

fn numbers(tokens: &Tokens) -> Vec<u32> {
    let mut before = 0;
    let mut numbers = Vec::with_capacity(2 * tokens.spans.len());
    for &Span { start, end } in &tokens.spans {
        numbers.extend([start - before, end - start]);
        before = start;
    }
    numbers
}

/// Parses the tokens of a text, without their hashes.
///
/// # Errors
/// When the tokens belong to a different text.
pub fn of_numbers(numbers: &[u32], text: &str) -> Result<Tokens> {
    let refused = || {
        let what = "the tokens that the shards have named are those of another text: give the text \
                    that the shards compare";
        Error::argument("text", what)
    };
    let (tokens, []) = numbers.as_chunks() else { return Err(refused()) };
    let (mut spans, mut start) = (Vec::with_capacity(tokens.len()), 0u32);
    for &[gap, length] in tokens {
        start = start.checked_add(gap).ok_or_else(refused)?;
        let end = start.checked_add(length).filter(|&end| end as usize <= text.len());
        spans.push(Span { start, end: end.ok_or_else(refused)? });
    }
    Ok(Tokens { hashes: Vec::new(), spans })
}
