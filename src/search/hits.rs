//! The goal `hits`: the documents that share most with the query, best first.

use super::evidence::Evidence;
use super::examine::Examined;
use super::extent::Extent;
use super::outcome::Outcome;
use super::pruning::Pruning;
use super::retrieve::Search;
use super::score::{self, Scored};
use crate::error::Result;

impl Search<'_> {
    /// Returns the best of the documents that meet the query, with all that it requests of them.
    ///
    /// # Errors
    /// When verification is requested without texts, or a document cannot be read;
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after the query is stopped.
    pub fn hits(&self, meeting: Vec<Scored>) -> Result<Outcome> {
        let Search { searcher, query, subject, found } = self;
        let mut evidence = Evidence::of(searcher, subject, query)?;
        let met = meeting.len();
        let pruning = Pruning::of(query, searcher.ignored.is_some());
        let best = score::best(&searcher.snapshot, meeting, pruning.hits, query.stop())?;
        let is_left_out = best.len() < met;
        let chosen = best.into_iter().map(|scored| (scored, None)).collect();
        let Examined { shown, passed, is_cut } = self.examine(chosen, evidence.as_mut())?;
        let extent = match pruning.checks_texts {
            true => Extent::of_those_looked_at(shown.len(), passed, is_left_out || is_cut),
            false => Extent::of_all(shown.len(), met, found.is_pruned),
        };
        Ok(Outcome::new(self.hits_of(shown)?, extent))
    }
}
