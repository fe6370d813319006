//! What a search finds, before the answer is made.

use cento_api::{CandidateTexts, Hit, Trace};

use super::extent::Extent;

/// The part of an answer that depends on the goal.
pub(super) struct Outcome {
    pub hits: Vec<Hit>,
    pub extent: Extent,
    /// Where every part of the query comes from, of a trace.
    pub trace: Option<Trace>,
    /// The number of texts considered for the best passage.
    pub candidates: Option<CandidateTexts>,
}

impl Outcome {
    pub fn new(hits: Vec<Hit>, extent: Extent) -> Outcome {
        Outcome { hits, extent, trace: None, candidates: None }
    }
}
