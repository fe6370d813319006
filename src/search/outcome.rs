//! The findings of a search, before the answer is assembled.

use cento_api::{CandidateTexts, Hit, Trace};

use super::extent::Extent;

/// The part of an answer that depends on the goal.
pub(super) struct GoalOutcome {
    pub hits: Vec<Hit>,
    pub extent: Extent,
    /// For a trace, where every part of the query comes from.
    pub trace: Option<Trace>,
    /// For the goal `passage`, the number of considered texts.
    pub candidates: Option<CandidateTexts>,
}

impl GoalOutcome {
    pub fn new(hits: Vec<Hit>, extent: Extent) -> GoalOutcome {
        GoalOutcome { hits, extent, trace: None, candidates: None }
    }
}
