//! The details of the hits, before the answer is assembled.

use std::cmp::Reverse;

use super::query::Query;
use super::retrieve::Search;
use super::score::{self, Scored};
use super::similar::Similarities;
use super::weigh::WeightedOverlap;
use crate::compare::Passages;
use crate::error::Result;
use cento_api::{Goal, Hit, PassageCounts, Rank, Verified};

/// A hit to show, with the requested details in addition to its counts.
pub struct HitDetails {
    pub scored: Scored,
    /// The fingerprints that the hit adds to a cover.
    pub adds: Option<u32>,
    pub verified: Option<Verified>,
    pub passages: Option<Passages>,
    /// Whether the passages were dropped for lack of memory.
    pub is_without_passages: bool,
    /// The number of tokens of the query in passages.
    pub passage_tokens: u32,
}

impl HitDetails {
    pub fn new(
        scored: Scored,
        adds: Option<u32>,
        verified: Option<Verified>,
        passages: Option<Passages>,
    ) -> HitDetails {
        let passage_tokens = passages.as_ref().map_or(0, Passages::tokens);
        HitDetails { scored, adds, verified, passages, is_without_passages: false, passage_tokens }
    }
}

/// A document that may be shown, with the counts of its passages.
pub trait ListedDocument {
    /// Returns the counts of the passages, if passages were looked for and not dropped.
    fn passages(&self) -> Option<PassageCounts>;

    /// Returns whether the passages were dropped for lack of memory.
    fn is_without_passages(&self) -> bool;

    /// Returns the number of tokens of the query in the passages, including dropped passages.
    fn passage_tokens(&self) -> u32;

    /// Returns the bytes of the passages.
    fn passage_bytes(&self) -> usize;

    /// Drops the passages to free their memory.
    fn leave_out_passages(&mut self);

    /// Returns whether the document has a passage, or may have: its search was cut short.
    fn may_have_passage(&self) -> bool {
        self.is_without_passages() || self.passages().is_some_and(may_have_any)
    }

    /// Returns whether the document has a passage.
    fn has_passage(&self) -> bool {
        self.is_without_passages() || self.passages().is_some_and(|passages| passages.found > 0)
    }
}

/// Returns whether there is a passage, or may be one because the search was cut short.
pub fn may_have_any(passages: PassageCounts) -> bool {
    passages.found > 0 || !passages.complete
}

impl ListedDocument for HitDetails {
    fn passages(&self) -> Option<PassageCounts> {
        self.passages.as_ref().map(|passages| PassageCounts {
            found: passages.found.len() as u32,
            complete: passages.complete,
            tokens: self.passage_tokens,
        })
    }

    fn is_without_passages(&self) -> bool {
        self.is_without_passages
    }

    fn passage_tokens(&self) -> u32 {
        self.passage_tokens
    }

    fn passage_bytes(&self) -> usize {
        self.passages.as_ref().map_or(0, Passages::bytes)
    }

    fn leave_out_passages(&mut self) {
        (self.passages, self.is_without_passages) = (None, true);
    }
}

/// The documents to show, with passages as far as memory allows.
pub struct List<T> {
    shown: Vec<T>,
    by_passages: bool,
    bytes_max: usize,
    bytes: usize,
}

impl<T: ListedDocument> List<T> {
    pub fn of(query: &Query) -> List<T> {
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

    pub fn push(&mut self, shown: T) {
        self.bytes = self.bytes.saturating_add(shown.passage_bytes());
        self.shown.push(shown);
        // Not after every document, because the best by passages may still come.
        if self.bytes / 2 > self.bytes_max {
            self.leave_out();
        }
    }

    /// Returns the documents, best first.
    pub fn finish(mut self) -> Vec<T> {
        self.leave_out();
        if self.by_passages {
            // A stable sort: equal documents stay in the order of their weight.
            self.shown.sort_by_key(|shown| Reverse(shown.passage_tokens()));
        }
        self.shown
    }

    /// Drops passages, starting with the first document whose passages exceed the memory.
    fn leave_out(&mut self) {
        if self.bytes <= self.bytes_max {
            return;
        }
        let mut order: Vec<usize> = (0..self.shown.len()).collect();
        if self.by_passages {
            order.sort_by_key(|&at| Reverse(self.shown[at].passage_tokens()));
        }
        self.bytes = 0;
        let mut is_full = false;
        for at in order {
            let shown = &mut self.shown[at];
            let bytes = self.bytes.saturating_add(shown.passage_bytes());
            is_full |= bytes > self.bytes_max || shown.is_without_passages();
            match is_full && shown.has_passage() {
                true => shown.leave_out_passages(),
                false => self.bytes = bytes,
            }
        }
    }
}

impl Search<'_> {
    /// Makes hits from the documents to show.
    ///
    /// # Errors
    /// When a document cannot be read. [`Error::Cancelled`](crate::Error::Cancelled) soon after the
    /// query is stopped.
    pub fn hits_of(&self, mut shown: Vec<HitDetails>) -> Result<Vec<Hit>> {
        let scored = shown.iter_mut().map(|shown| &mut shown.scored);
        score::weigh_documents(self.searcher, scored, self.query)?;
        let mut similarities = Similarities::of(self)?;
        let hit = |shown| {
            self.query.stop().check()?;
            self.hit(shown, &mut similarities)
        };
        shown.into_iter().map(hit).collect()
    }

    fn hit(&self, shown: HitDetails, similarities: &mut Similarities<'_>) -> Result<Hit> {
        let Search { searcher, query, .. } = self;
        let by_passages = query.ranked_by() == Rank::Passages;
        let passage_tokens = by_passages.then_some(shown.passage_tokens);
        let HitDetails { scored, adds, verified, passages, is_without_passages, .. } = shown;
        let passages =
            passages.filter(|_| query.shows_passages() || query.options.goal == Goal::Passage);
        let passages_complete = passages.as_ref().map(|passages| passages.complete);
        let passages_complete = if is_without_passages { Some(false) } else { passages_complete };
        let similarity = match scored.similarity {
            Some(similarity) => similarity,
            None => similarities.shown(&scored)?,
        };
        let (meta, meta_bytes) = searcher.snapshot.measured_meta(scored.address)?;
        query.keep(meta_bytes, "meta objects")?;
        Ok(Hit {
            meta,
            similarity,
            index: searcher.snapshot.name_of(scored.address).map(str::to_owned),
            id: scored.id,
            overlap: scored.overlap.shared,
            fingerprints: scored.overlap.in_b,
            weighted: scored.weighted.map(WeightedOverlap::measures),
            passage_tokens,
            adds,
            verified,
            passages: passages.map(|passages| passages.found),
            passages_complete,
        })
    }
}
