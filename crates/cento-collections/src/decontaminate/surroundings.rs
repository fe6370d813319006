//! Which documents are copies of one page?
//!
//! Copies have the same words around a place. But so have unrelated documents that quote more of a
//! speech or of a license than a question does. Beyond the quotation, each of them goes on with
//! words of its own, and copies do not.

use std::ops::Range;

use cento_text::hash::mix64;

/// How many tokens on each side of a place may belong to the same quotation. A famous passage is
/// rarely longer, and neither is what sites put around a page.
const QUOTED_TOKENS: usize = 128;

/// The words of a document around the places of questions.
pub(super) struct Surroundings<'a> {
    tokens: &'a [u64],
    /// The values of all runs of `k` tokens.
    pub runs: &'a [u64],
    k: usize,
    /// The least digest of the runs up to each place, and from each place on.
    least_to: Vec<u64>,
    least_from: Vec<u64>,
}

impl<'a> Surroundings<'a> {
    pub fn new(tokens: &'a [u64], runs: &'a [u64], k: usize) -> Surroundings<'a> {
        let least = |least: &mut u64, run: &u64| {
            *least = mix64(*run).min(*least);
            Some(*least)
        };
        let least_to = runs.iter().scan(u64::MAX, least).collect();
        let mut least_from: Vec<u64> = runs.iter().rev().scan(u64::MAX, least).collect();
        least_from.reverse();
        Surroundings { tokens, runs, k, least_to, least_from }
    }

    /// Returns a digest of the tokens around a place: one run on each side, and the least of the
    /// runs farther away than a quotation. Two documents have the same least run with the
    /// probability of their resemblance there (Broder 1997), so words that were changed in a copy
    /// rarely matter.
    pub fn digest(&self, place: &Range<usize>) -> u32 {
        let before = &self.tokens[place.start.saturating_sub(self.k)..place.start];
        let after = &self.tokens[place.end..self.tokens.len().min(place.end + self.k)];
        let far_before = place.start.checked_sub(QUOTED_TOKENS + self.k);
        let far_before = far_before.and_then(|last| self.least_to.get(last));
        let far_after = self.least_from.get(place.end + QUOTED_TOKENS);
        let far = far_before.into_iter().chain(far_after).min().copied().unwrap_or_default();
        let mixed = |digest: u64, token: &u64| mix64(digest ^ token);
        let before = before.iter().fold(far, mixed);
        after.iter().fold(mix64(before), mixed) as u32
    }
}
