//! At how many candidates is it worth looking for passages?
//!
//! Who sets no limit wants to know what the text has of others, not ten documents. Candidates are in
//! the order of their rank, so those with passages come first, mixed with some that share nothing but
//! chance fingerprints: when none of many in a row has a passage, hardly any of the rest has one.

use super::{Goal, Query, Rank};

/// Counts the candidates that have been looked at, and says when to stop.
pub struct Patience {
    /// The number that is looked at, if all are hits.
    most: usize,
    /// Whether it ends early when no more passages are found.
    ends_early: bool,
    /// Whether candidates count whether they are hits or not.
    counts_all: bool,
    looked_at: usize,
    /// How many had been looked at when the last passage was found.
    last_found: usize,
    /// How many are still looked at once there are hits enough, to know whether there are more.
    beyond: usize,
}

impl Patience {
    /// What `query` asks for, and what is done if it does not say.
    pub fn of(query: &Query) -> Patience {
        let by_passages = query.options.rank == Rank::Passages;
        let wants_all = query.options.limit.is_none() && query.needs_passages();
        let ends_early = match by_passages {
            true => query.options.candidates.is_none(),
            false => wants_all,
        };
        let most = match (ends_early, query.options.candidates) {
            (true, _) => Query::CANDIDATES,
            (false, Some(candidates)) if by_passages => candidates,
            (false, _) => 0,
        };
        let limit = query.options.limit.unwrap_or(if ends_early { 0 } else { Query::HITS });
        Patience {
            most: most.max(limit),
            ends_early,
            counts_all: by_passages || ends_early,
            looked_at: 0,
            last_found: 0,
            // Of those that need not pass anything, that there is one is enough to know.
            beyond: match query.is_demanding() && query.options.goal == Goal::Hits {
                true if !(by_passages || ends_early) => Query::PATIENCE,
                _ => 0,
            },
        }
    }

    /// The number of candidates that are looked at, if all are hits and all have passages.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Whether the candidates are the same number, whatever becomes of them.
    pub fn counts_all(&self) -> bool {
        self.counts_all
    }

    /// Whether to stop, with so many hits.
    pub fn is_enough(&self, hits: usize) -> bool {
        let count = if self.counts_all { self.looked_at } else { hits };
        let in_vain = self.looked_at - self.last_found;
        count >= self.most || (self.ends_early && in_vain >= Query::PATIENCE)
    }

    /// Whether one more is looked at although there are hits enough.
    pub fn goes_on(&mut self) -> bool {
        let goes_on = self.beyond > 0;
        self.beyond = self.beyond.saturating_sub(1);
        goes_on
    }

    /// One more has been looked at.
    pub fn look(&mut self, has_passage: bool) {
        self.looked_at += 1;
        if has_passage {
            self.last_found = self.looked_at;
        }
    }
}

impl Query {
    /// The number of hits that are shown, best first, of which these have a passage.
    pub(super) fn shown(
        &self,
        mut has_passage: impl DoubleEndedIterator<Item = bool> + ExactSizeIterator,
    ) -> usize {
        match self.options.limit {
            Some(limit) => limit,
            None => {
                has_passage.rposition(|found| found).map_or(0, |last| last + 1).max(Query::HITS)
            }
        }
    }

    /// Whether passages are to be looked for, to be shown or to know which documents to show.
    pub(super) fn needs_passages(&self) -> bool {
        let covers_all = self.options.goal == Goal::Cover && self.options.limit.is_none();
        self.shows_passages() || self.options.rank == Rank::Passages || covers_all
    }
}
