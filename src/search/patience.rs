//! Decides how many candidates to search for passages.
//!
//! A query without a limit requests every reused part of its text, not just ten documents.
//! Candidates are ordered by rank, so candidates with passages come first, mixed with a few that
//! share only coincidental fingerprints. After many candidates in a row without a passage, hardly
//! any later candidate has a passage.

use super::query::Query;
use super::{Goal, Rank};

/// Counts examined candidates, and decides when to stop.
pub struct Patience {
    /// The most candidates to examine if every one is a hit.
    most: usize,
    /// Whether to stop early when no more passages are found.
    ends_early: bool,
    /// Whether candidates that are not hits count too.
    counts_all: bool,
    looked_at: usize,
    /// The number of examined candidates when the last passage was found.
    last_found: usize,
    /// How many candidates to examine after the required hits, to find out if there are more.
    beyond: usize,
}

impl Patience {
    /// Returns the patience for `query`, with defaults for missing options.
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
            // If candidates need not pass a check, one more candidate proves that there are more.
            beyond: match query.checks_texts() && query.options.goal == Goal::Hits {
                true if !(by_passages || ends_early) => Query::PATIENCE,
                _ => 0,
            },
        }
    }

    /// Returns the most candidates to examine, if every one is a hit with passages.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Returns whether the search stops when no more passages are found.
    pub fn ends_early(&self) -> bool {
        self.ends_early
    }

    /// Returns whether the number of examined candidates does not depend on which are hits.
    pub fn counts_all(&self) -> bool {
        self.counts_all
    }

    /// Returns whether to stop after this number of hits.
    pub fn is_enough(&self, hits: usize) -> bool {
        let count = if self.counts_all { self.looked_at } else { hits };
        let in_vain = self.looked_at - self.last_found;
        count >= self.most || (self.ends_early && in_vain >= Query::PATIENCE)
    }

    /// Returns whether to examine another candidate although there are enough hits.
    pub fn goes_on(&mut self) -> bool {
        let goes_on = self.beyond > 0;
        self.beyond = self.beyond.saturating_sub(1);
        goes_on
    }

    /// Counts an examined candidate.
    pub fn look(&mut self, has_passage: bool) {
        self.looked_at += 1;
        if has_passage {
            self.last_found = self.looked_at;
        }
    }
}

impl Query {
    /// Returns the number of documents to examine closely, if every one is a hit.
    pub(super) fn looked_at(&self) -> usize {
        Patience::of(self).most()
    }

    /// Returns the number of hits to show. `has_passage` describes the hits, best first.
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

    /// Returns whether passages are needed, to show them or to choose documents.
    pub(super) fn needs_passages(&self) -> bool {
        let is_trace = self.options.goal == Goal::Trace;
        self.shows_passages() || self.ranked_by() == Rank::Passages || is_trace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the examined documents among infinitely many. `has_passage` selects documents.
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
        // A search examines at least as many candidates as hits.
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
