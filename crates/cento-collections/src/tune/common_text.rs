//! Decides whether two texts share text that a reader would call copied.
//!
//! This tells whether a hit that was not planted is false. Only the words of both texts are
//! compared, without fingerprints or settings, so the answer is the same for every setting.

use std::collections::{HashMap, HashSet};

use cento_api::error::Result;
use cento_text::compare::passages::PASSAGE_TOKENS_MIN;
use cento_text::hash::{BuildKeyHasher, mix64};
use cento_text::runtime::Stop;
use cento_text::text::{Analyzer, Tokens};

/// For texts with fewer than twice the words of a passage, the minimum is half of the words of the
/// shorter text, and at least this number.
const SHORT_WORDS_MIN: usize = 2;

/// Tells whether two texts share a run of words as long as the minimum of a passage, or half of the
/// words of the shorter text if that is less.
pub(super) fn is_common(a: &str, b: &str, stop: &Stop) -> Result<bool> {
    let [a, b] = [tokens(a, stop)?, tokens(b, stop)?];
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let length = short.len().div_ceil(2).clamp(SHORT_WORDS_MIN, PASSAGE_TOKENS_MIN);
    let runs: HashSet<u64, BuildKeyHasher> = short.windows(length).map(hash).collect();
    Ok(long.windows(length).any(|run| runs.contains(&hash(run))))
}

fn tokens(text: &str, stop: &Stop) -> Result<Vec<u64>> {
    let mut tokens = Tokens::default();
    Analyzer::default().analyze(text, &mut tokens, stop)?;
    Ok(tokens.hashes)
}

fn hash(run: &[u64]) -> u64 {
    run.iter().fold(0, |hash, &token| mix64(hash ^ token))
}

/// Remembers which texts of a run share text.
#[derive(Debug, Default)]
pub(super) struct CommonTexts {
    /// The answers by number of the query and id of the document.
    known: HashMap<(usize, String), bool>,
}

impl CommonTexts {
    /// Tells whether the query with this number and a document share text.
    pub fn are_common(
        &mut self,
        number: usize,
        query: &str,
        id: &str,
        document: &str,
        stop: &Stop,
    ) -> Result<bool> {
        let key = (number, id.to_owned());
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        let is = is_common(query, document, stop)?;
        self.known.insert(key, is);
        Ok(is)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_common_from_twelve_words_in_a_row() {
        let check = |a: &str, b: &str, expected: bool| {
            assert_eq!(is_common(a, b, Stop::NEVER).unwrap(), expected, "{a} / {b}");
            assert_eq!(is_common(b, a, Stop::NEVER).unwrap(), expected, "{b} / {a}");
        };
        let numbered = |from: usize, to: usize| {
            (from..to).map(|number| format!("w{number} ")).collect::<String>()
        };
        let long = numbered(0, 100);
        check(&long, &(numbered(500, 540) + &numbered(50, 62) + &numbered(600, 640)), true);
        check(&long, &(numbered(500, 540) + &numbered(50, 61) + &numbered(600, 640)), false);
        // The same words in another order are no common text.
        let back: String = (0..100).rev().map(|number| format!("w{number} ")).collect();
        check(&long, &back, false);
        // Titles need half of the words of the shorter title.
        check("the history of the art", "a short history of the world", true);
        check("the history of the art of war", "history of the art lessons", true);
        check("one two three four", "two four one three", false);
        check("", "one two three", false);
    }
}
