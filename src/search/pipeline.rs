//! The stages of a search, from the query to the answer.

use std::time::Instant;

use super::filter::check_field;
use super::outcome::GoalOutcome;
use super::query::Query;
use super::query_signature::QuerySignature;
use super::retrieve::Search;
use super::score::Scored;
use super::searcher::Searcher;
use crate::error::Result;
use cento_api::{Answer, Goal};

impl Searcher {
    /// Finds the documents that share fingerprints with the query, best first: by overlap, then by
    /// resemblance, then by id. If up to four documents share equally many fingerprints with a
    /// text, the most but not all, they are ordered by how many short runs of words their texts
    /// have in common with it, unless only counts were requested.
    ///
    /// If no fingerprint of the query is stopped (`max_df`), the hits are exactly the documents
    /// that meet the thresholds. A stop-fingerprint still counts for documents found through other
    /// fingerprints, so every number of a hit is exact in any case.
    ///
    /// # Errors
    /// When the query contains an unknown id, its filter cannot be parsed, no document has the
    /// field with the dates of a trace, or a file is damaged.
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after the query is stopped.
    pub fn search(&self, query: &Query) -> Result<Answer> {
        let started = Instant::now();
        query.check()?;
        let (query, defaults) = query.with_defaults(self.snapshot.preset());
        let query = &*query;
        let searcher = self.without(&query.options.without)?;
        let (search, meeting) = searcher.find(query)?;
        let GoalOutcome { hits, extent, trace, candidates } = match query.options.goal {
            Goal::Hits => search.hits(meeting)?,
            Goal::Trace => {
                if let Some(field) = &query.options.date {
                    check_field(&searcher.snapshot, "date", field)?;
                }
                let mut traced = search.trace(meeting)?;
                if let Some(trace) = &mut traced.trace {
                    trace.containing = search.containing()?;
                }
                traced
            }
            Goal::Passage => search.best_passage(meeting)?,
        };
        let Search { subject, found, .. } = &search;
        let is_complete = found.unread == 0;
        Ok(Answer {
            query: subject.info(&searcher, query, found)?,
            trace,
            hits,
            candidates,
            more: extent.more,
            total: extent.total.filter(|_| is_complete).map(|total| total as u64),
            complete: is_complete,
            defaults,
            took_us: started.elapsed().as_micros() as u64,
        })
    }

    /// Finds the documents that meet the thresholds of a query, unordered and without their ids.
    pub(super) fn find<'a>(&'a self, query: &'a Query) -> Result<(Search<'a>, Vec<Scored>)> {
        let mut scratch = self.spare.pop().unwrap_or_default();
        let subject = QuerySignature::of(self, query, &mut scratch.part)?;
        let (search, documents) =
            Search::retrieve(self, query, subject, None, &mut scratch.counters)?;
        let meeting = search.meeting(&documents)?;
        // Only returned on success: after an error the counters may not be zero.
        let _ = self.spare.push(scratch);
        Ok((search, meeting))
    }
}
