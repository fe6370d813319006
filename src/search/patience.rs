//! The number of candidates to search for passages.
//!
//! A query without a limit requests all reused parts of its text, not ten documents. Candidates are
//! ordered by rank, so those with passages come first, mixed with some that share only coincidental
//! fingerprints: when none of many in a row has a passage, hardly any of the rest has one.

use super::query::Query;
use super::{Goal, Rank};

/// Counts the examined candidates, and decides when to stop.
pub struct Patience {
    /// The maximum number examined, if all are hits.
    most: usize,
    /// Whether the search ends early when no more passages are found.
    ends_early: bool,
    /// Whether candidates that are not hits count too.
    counts_all: bool,
    looked_at: usize,
    /// The number examined when the last passage was found.
    last_found: usize,
    /// The number examined beyond the required hits, to find out whether there are more.
    beyond: usize,
}

impl Patience {
    /// Returns the patience that `query` requests, or the default.
    pub fn of(query: &Query) -> Patience {
        let by_passages = query.ranked_by() == Rank::Passages;
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
            // For candidates that need not pass a check, the existence of one more is enough.
            beyond: match query.checks_texts() && query.options.goal == Goal::Hits {
                true if !(by_passages || ends_early) => Query::PATIENCE,
                _ => 0,
            },
        }
    }

    /// Returns the maximum number of candidates to examine, if all are hits and all have passages.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Tells whether the search ends when no more passages are found.
    pub fn ends_early(&self) -> bool {
        self.ends_early
    }

    /// Tells whether the number of candidates is the same, whichever of them are hits.
    pub fn counts_all(&self) -> bool {
        self.counts_all
    }

    /// Tells whether to stop after this number of hits.
    pub fn is_enough(&self, hits: usize) -> bool {
        let count = if self.counts_all { self.looked_at } else { hits };
        let in_vain = self.looked_at - self.last_found;
        count >= self.most || (self.ends_early && in_vain >= Query::PATIENCE)
    }

    /// Tells whether to examine one more although there are enough hits.
    pub fn goes_on(&mut self) -> bool {
        let goes_on = self.beyond > 0;
        self.beyond = self.beyond.saturating_sub(1);
        goes_on
    }

    /// Counts one more examined candidate.
    pub fn look(&mut self, has_passage: bool) {
        self.looked_at += 1;
        if has_passage {
            self.last_found = self.looked_at;
        }
    }
}

impl Query {
    /// Returns the number of documents to examine closely, if all of these are hits.
    pub(super) fn looked_at(&self) -> usize {
        Patience::of(self).most()
    }

    /// Returns the number of hits to show; `has_passage` tells, best first, which of them have a
    /// passage.
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

    /// Tells whether to search for passages, to show them or to decide which documents to show.
    pub(super) fn needs_passages(&self) -> bool {
        let is_trace = self.options.goal == Goal::Trace;
        self.shows_passages() || self.ranked_by() == Rank::Passages || is_trace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the examined documents of endlessly many; these have a passage.
    fn examined(query: &Query, has_passage: impl Fn(usize) -> bool) -> usize {
        let mut patience = Patience::of(query);
        let (mut count, mut hits) = (0, 0);
        while !patience.is_enough(hits) || patience.goes_on() {
            patience.look(has_passage(count));
            hits += usize::from(has_passage(count));
            count += 1;
            assert!(count < 2 * Query::CANDIDATES);
        }
        count
    }

    #[test]
    fn a_search_for_passages_ends_when_no_more_are_found_or_after_the_maximum() {
        let by_passages = || Query::text("a").rank(Rank::Passages);
        for query in [Query::text("a").passages(true), by_passages()] {
            assert_eq!(examined(&query, |_| true), Query::CANDIDATES);
            assert_eq!(examined(&query, |_| false), Query::PATIENCE);
            assert_eq!(examined(&query, |at| at == 20), 21 + Query::PATIENCE);
        }
        assert_eq!(examined(&by_passages().candidates(70), |_| false), 70);
        // There are at least as many candidates as hits.
        assert_eq!(examined(&by_passages().candidates(7).limit(9), |_| true), 9);
        assert_eq!(examined(&by_passages().limit(2_000), |at| at < 5), 5 + Query::PATIENCE);
        assert_eq!(examined(&Query::text("a").passages(true).limit(3), |_| true), 3);
    }

    #[test]
    fn a_search_for_hits_that_need_a_passage_looks_for_one_more() {
        let query = Query::text("a").min_passage(20).limit(3);
        assert_eq!(examined(&query, |_| true), 3 + Query::PATIENCE);
        assert_eq!(examined(&query, |at| at % 2 == 1), 6 + Query::PATIENCE);
        assert_eq!(examined(&query.goal(Goal::Trace), |_| true), 3);
    }
}
