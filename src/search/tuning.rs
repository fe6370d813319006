//! The sizes where a search changes its method. No answer depends on the sizes.
//!
//! The sizes are fields of a searcher, because tests of small indexes need smaller sizes than is
//! useful otherwise.

/// The sizes where a search changes its method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// Once this many documents of a segment have been brought up, the overlap that the best of
    /// them have reached may save reading lists. The check is repeated whenever the number of
    /// documents has doubled.
    pub reached_after: usize,
    /// Documents that can no longer have enough fingerprints are dropped after this many postings
    /// per document have been read.
    pub postings_a_look: usize,
    /// The number of documents compared with a filter at a time.
    pub batch_documents: usize,
    /// From this many candidates by weight on, candidates that cannot be among the best are
    /// dropped.
    pub candidates_kept: usize,
}

impl Tuning {
    /// The sizes outside of tests.
    pub const DEFAULT: Tuning = Tuning {
        reached_after: 4096,
        postings_a_look: 4,
        batch_documents: 4096,
        candidates_kept: 256,
    };
}
