//! The goal `hits`: the documents that share most with the query, best first.

use super::evidence::Evidence;
use super::examine::{TextExaminer, examine};
use super::outcome::GoalOutcome;
use super::pruning::Pruning;
use super::retrieve::Search;
use super::score::{self, Scored};
use crate::error::Result;

impl Search<'_> {
    /// Returns the best of the documents that meet the query, with the requested details.
    ///
    /// # Errors
    /// When verification is requested without texts, or a document cannot be read.
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after the query is stopped.
    pub fn hits(&self, mut meeting: Vec<Scored>) -> Result<GoalOutcome> {
        let Search { searcher, query, subject, found } = self;
        self.order_ties(&mut meeting)?;
        let mut texts = TextExaminer::new(Evidence::of(searcher, subject, query)?, query);
        let met = meeting.len();
        let pruning = Pruning::of(query, searcher.ignored.is_some());
        let best = score::best(&searcher.snapshot, meeting, pruning.hits, query.stop())?;
        let chosen = best.len();
        let examined = examine(query, best, &mut texts)?;
        let extent = examined.extent(pruning, chosen, met, found.is_pruned);
        Ok(GoalOutcome::new(self.hits_of(examined.shown)?, extent))
    }
}
