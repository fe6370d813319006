//! Details of the hits, before the answer is made.

use std::cmp::Reverse;

use super::score::Scored;
use super::verify::Verified;
use super::{Passages, Query, Rank};

/// A hit to show, with the requested details besides numbers.
pub struct HitDetails {
    pub scored: Scored,
    /// The fingerprints that it adds to a cover.
    pub adds: Option<u32>,
    pub verified: Option<Verified>,
    pub passages: Option<Passages>,
    /// Whether its passages were left out for lack of memory.
    pub is_without_passages: bool,
    /// The tokens of the query in passages.
    pub passage_tokens: u32,
}

impl HitDetails {
    pub fn new(
        (scored, adds): (Scored, Option<u32>),
        verified: Option<Verified>,
        passages: Option<Passages>,
    ) -> HitDetails {
        let passage_tokens = passages.as_ref().map_or(0, Passages::tokens);
        HitDetails { scored, adds, verified, passages, is_without_passages: false, passage_tokens }
    }

    /// Tells whether it has a passage, or may have one because the search for them was cut short.
    pub fn may_have_passage(&self) -> bool {
        self.is_without_passages || self.passages.as_ref().is_some_and(Passages::may_have_any)
    }

    fn has_passage(&self) -> bool {
        let is_found = |passages: &Passages| !passages.found.is_empty();
        self.is_without_passages || self.passages.as_ref().is_some_and(is_found)
    }

    fn passage_bytes(&self) -> usize {
        self.passages.as_ref().map_or(0, Passages::bytes)
    }
}

/// The documents to show, with passages as far as there is memory for them.
pub struct List {
    shown: Vec<HitDetails>,
    by_passages: bool,
    bytes_max: usize,
    bytes: usize,
}

impl List {
    pub fn of(query: &Query) -> List {
        List {
            shown: Vec::new(),
            by_passages: query.ranked_by() == Rank::Passages,
            bytes_max: query.passage_bytes_max.unwrap_or(usize::MAX),
            bytes: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.shown.len()
    }

    pub fn push(&mut self, shown: HitDetails) {
        self.bytes = self.bytes.saturating_add(shown.passage_bytes());
        self.shown.push(shown);
        // Not with each one: the best by passages may still follow.
        if self.bytes / 2 > self.bytes_max {
            self.leave_out();
        }
    }

    /// Returns the documents, the best first.
    pub fn finish(mut self) -> Vec<HitDetails> {
        self.leave_out();
        if self.by_passages {
            // Equal ones stay in the order of their weight.
            self.shown.sort_by_key(|shown| Reverse(shown.passage_tokens));
        }
        self.shown
    }

    /// Leaves out passages, from the first document on whose passages exceed the memory.
    fn leave_out(&mut self) {
        if self.bytes <= self.bytes_max {
            return;
        }
        let mut order: Vec<usize> = (0..self.shown.len()).collect();
        if self.by_passages {
            order.sort_by_key(|&at| Reverse(self.shown[at].passage_tokens));
        }
        self.bytes = 0;
        let mut is_full = false;
        for at in order {
            let shown = &mut self.shown[at];
            let bytes = self.bytes.saturating_add(shown.passage_bytes());
            is_full |= bytes > self.bytes_max || shown.is_without_passages;
            match is_full && shown.has_passage() {
                true => (shown.passages, shown.is_without_passages) = (None, true),
                false => self.bytes = bytes,
            }
        }
    }
}
