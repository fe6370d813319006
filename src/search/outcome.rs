//! What a search finds, before the answer is made.

use cento_api::{CandidateTexts, Hit};

use super::extent::Extent;

/// The part of an answer that depends on the goal.
pub(super) struct Outcome {
    pub hits: Vec<Hit>,
    pub extent: Extent,
    /// The share of the query's fingerprints that the hits together have, of a cover.
    pub explained: Option<f64>,
    /// The number of texts considered for the best passage.
    pub candidates: Option<CandidateTexts>,
}

impl Outcome {
    pub fn new(hits: Vec<Hit>, extent: Extent) -> Outcome {
        Outcome { hits, extent, explained: None, candidates: None }
    }
}
