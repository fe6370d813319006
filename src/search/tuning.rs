//! The sizes where a search changes its method: no answer depends on them.
//!
//! They are values of a searcher, so that a test of a small index can make them smaller than any
//! that is worth the trouble.

/// The sizes where a search changes its method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// Once this many documents of a segment have been brought up, the overlap that the best of
    /// them have reached may save reading lists; it is looked at again whenever their number has
    /// doubled.
    pub reached_after: usize,
    /// The documents that can still have enough fingerprints are looked for again when this many
    /// postings have been read for each of them.
    pub postings_a_look: usize,
    /// The number of documents compared with a filter at a time.
    pub batch_documents: usize,
    /// Once this many candidates by weight are kept, those that cannot be among the best are left
    /// out.
    pub candidates_kept: usize,
}

impl Tuning {
    /// The sizes of searches of any index.
    pub const DEFAULT: Tuning = Tuning {
        reached_after: 4096,
        postings_a_look: 4,
        batch_documents: 4096,
        candidates_kept: 256,
    };
}
