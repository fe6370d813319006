//! A candidate: a document with its counts.

use crate::index::DocAddress;

/// A document, with the number of fingerprints that it shares with the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// The document.
    pub address: DocAddress,
    /// Distinct fingerprints in common.
    pub overlap: u32,
    /// Their weight; 0 if they are not weighed.
    pub weight: u64,
}
