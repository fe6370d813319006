//! The stages of a search, from a query to its answer.

use std::time::Instant;

use super::outcome::Outcome;
use super::query::Query;
use super::query_signature::QuerySignature;
use super::retrieve::Search;
use super::score::Scored;
use super::searcher::Searcher;
use crate::error::Result;
use cento_api::{Answer, Goal};

impl Searcher {
    /// Finds the documents that share fingerprints with the query, best first: by overlap, then by
    /// resemblance, then by id.
    ///
    /// With no more stop-fingerprints than `max_df` allows, the hits are exactly the documents
    /// that meet the thresholds. A stop-fingerprint counts for documents that are found through
    /// another fingerprint, so every number of a hit is exact in any case.
    ///
    /// # Errors
    /// When the query names no stored document, its filter cannot be parsed, or a file is damaged;
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after the query is stopped.
    pub fn search(&self, query: &Query) -> Result<Answer> {
        let started = Instant::now();
        query.check()?;
        let (query, defaults) = query.with_defaults(self.snapshot.preset());
        let query = &*query;
        let searcher = self.without(&query.options.without)?;
        let (search, meeting) = searcher.find(query)?;
        let Outcome { hits, extent, trace, candidates } = match query.options.goal {
            Goal::Hits => search.hits(meeting)?,
            Goal::Trace => search.trace(meeting)?,
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

    /// Finds all documents that meet the thresholds of a query, in no order and without their ids.
    pub(super) fn find<'a>(&'a self, query: &'a Query) -> Result<(Search<'a>, Vec<Scored>)> {
        let mut scratch = self.spare.pop().unwrap_or_default();
        let subject = QuerySignature::of(self, query, &mut scratch.part)?;
        let (search, documents) =
            Search::retrieve((self, query), subject, None, &mut scratch.counters)?;
        let meeting = search.meeting(&documents)?;
        // After an error the counters would not be all zero; then they are not kept.
        let _ = self.spare.push(scratch);
        Ok((search, meeting))
    }
}
