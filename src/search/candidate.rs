//! A candidate: a document with its counts.

use crate::index::DocAddress;

/// A document that shares fingerprints with the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// The place of the document in the snapshot.
    pub address: DocAddress,
    /// The number of distinct fingerprints in common.
    pub overlap: u32,
    /// The weight of the common fingerprints, or 0 if fingerprints are not weighed.
    pub weight: u64,
}
