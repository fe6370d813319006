//! Which runs of words does a text have?
//!
//! A run is k tokens in a row; what two texts have in common by definition is what their sets of runs
//! have in common. A run is known by a hash of 64 bits that rolls along the text.

use std::collections::HashSet;
use std::ops::Range;

use crate::hash::{BuildKeyHasher, mix64};
use crate::scheme::run_values;

/// Replaces the contents of `out` with the hashes of all runs of `k` tokens, one for each place, in
/// order. A text with fewer than `k` tokens is one run of all of them; an empty one has none.
///
/// Equal runs have equal hashes. Different ones have different hashes but for one pair in 2^64, whatever
/// their lengths.
pub(crate) fn run_hashes(tokens: &[u64], k: usize, out: &mut Vec<u64>) {
    out.clear();
    out.reserve_exact((tokens.len() + 1).saturating_sub(k).max(1));
    out.extend(run_values(tokens, k));
}

/// The runs of some texts.
#[derive(Debug, Clone)]
pub(crate) struct Runs {
    k: usize,
    hashes: HashSet<u64, BuildKeyHasher>,
}

impl Runs {
    /// None yet, of `k` tokens.
    pub(crate) fn new(k: usize) -> Runs {
        Runs { k, hashes: HashSet::default() }
    }

    /// Adds those of a text.
    pub(crate) fn add(&mut self, tokens: &[u64]) {
        self.hashes.extend(run_values(tokens, self.k));
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Whether a run of this hash is among them.
    pub(crate) fn has(&self, hash: u64) -> bool {
        self.hashes.contains(&hash)
    }

    /// The tokens of a text that are in any of these runs: ascending ranges that do not touch.
    pub(crate) fn mask(&self, tokens: &[u64]) -> Vec<Range<usize>> {
        let len = self.k.min(tokens.len());
        let mut masked: Vec<Range<usize>> = Vec::new();
        if self.is_empty() {
            return masked;
        }
        for (at, _) in run_values(tokens, self.k).enumerate().filter(|(_, hash)| self.has(*hash)) {
            match masked.last_mut() {
                Some(last) if at <= last.end => last.end = at + len,
                _ => masked.push(at..at + len),
            }
        }
        masked
    }
}

/// The two texts of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Query,
    Document,
}

/// The hash of a hidden token, which is unique to its place and text.
fn hidden(text: Place, at: usize) -> u64 {
    let salt = match text {
        Place::Query => 0x5bf0_3635_dcd1_a6b1,
        Place::Document => 0xa24b_aed4_963e_e407,
    };
    mix64(salt ^ at as u64)
}

/// Hides the tokens in these ranges: they match no other token.
pub(crate) fn hide(tokens: &mut [u64], ranges: &[Range<usize>], text: Place) {
    for at in ranges.iter().cloned().flatten() {
        tokens[at] = hidden(text, at);
    }
}

/// The range without hidden tokens at its ends.
pub(crate) fn trimmed(mut range: Range<usize>, tokens: &[u64], text: Place) -> Range<usize> {
    let is_hidden = |at: usize| tokens[at] == hidden(text, at);
    while !range.is_empty() && is_hidden(range.start) {
        range.start += 1;
    }
    while !range.is_empty() && is_hidden(range.end - 1) {
        range.end -= 1;
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash_bytes;
    use proptest::prelude::*;

    fn hashes(tokens: &[u64], k: usize) -> Vec<u64> {
        let mut out = vec![7];
        run_hashes(tokens, k, &mut out);
        out
    }

    fn tokens(text: &[u8]) -> Vec<u64> {
        text.iter().map(|word| hash_bytes(&[*word])).collect()
    }

    proptest! {
        #[test]
        fn runs_are_equal_where_their_tokens_are(
            text in proptest::collection::vec(0u8..3, 1..40),
            k in 1usize..9,
        ) {
            let tokens = tokens(&text);
            let found = hashes(&tokens, k);
            let k = k.min(text.len());
            let runs: Vec<&[u8]> = text.windows(k).collect();
            prop_assert_eq!(found.len(), runs.len());
            for (a, at_a) in found.iter().zip(&runs) {
                for (b, at_b) in found.iter().zip(&runs) {
                    prop_assert_eq!(a == b, at_a == at_b);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_mask_is_what_stands_in_a_run(
            template in proptest::collection::vec(0u8..3, 0..12),
            text in proptest::collection::vec(0u8..3, 0..30),
            k in 1usize..5,
        ) {
            let mut runs = Runs::new(k);
            runs.add(&tokens(&template));
            let mask = runs.mask(&tokens(&text));
            let mut expected = vec![false; text.len()];
            let of = |text: &[u8]| k.min(text.len()).max(1);
            for (at, run) in text.windows(of(&text)).enumerate() {
                if template.windows(of(&template)).any(|other| other == run) {
                    expected[at..at + run.len()].fill(true);
                }
            }
            let masked: Vec<bool> =
                (0..text.len()).map(|at| mask.iter().any(|range| range.contains(&at))).collect();
            prop_assert_eq!(masked, expected);
            prop_assert!(mask.windows(2).all(|two| two[0].end < two[1].start));
        }
    }

    #[test]
    fn a_hidden_token_is_like_no_other() {
        let text = tokens(b"abab");
        let (mut query, mut document) = (text.clone(), text.clone());
        hide(&mut query, &[0..1, 2..4], Place::Query);
        hide(&mut document, &[0..1, 1..3], Place::Document);
        let all: std::collections::BTreeSet<u64> =
            [&text[..], &query, &document].concat().into_iter().collect();
        assert_eq!(all.len(), 2 + 3 + 3);
        assert_eq!(trimmed(0..4, &query, Place::Query), 1..2);
        assert_eq!(trimmed(0..4, &document, Place::Document), 3..4);
        assert_eq!(trimmed(0..3, &document, Place::Document), 3..3);
        assert_eq!(trimmed(0..4, &text, Place::Query), 0..4);
    }

    #[test]
    fn a_text_shorter_than_a_run_is_one_run_of_its_own() {
        let text = tokens(b"abc");
        assert_eq!(hashes(&text, 5).len(), 1);
        assert_eq!(hashes(&text, 5), hashes(&text, 9));
        assert_ne!(hashes(&text, 5), hashes(&tokens(b"abcd"), 5));
        assert_ne!(hashes(&text, 5), hashes(&tokens(b"abd"), 5));
        assert!(hashes(&[], 5).is_empty());
    }
}
