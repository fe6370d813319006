//! The size of an index, and the effect of a compaction.

use serde::{Deserialize, Serialize};

use crate::Preset;

/// The size of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Stats {
    /// Documents that a search can find.
    pub documents: u64,
    /// Removed or replaced documents that still take space.
    pub deleted: u64,
    /// Segments, each with its own `.sig` file.
    pub segments: usize,
    /// Distinct fingerprints, added up over the segments.
    pub terms: u64,
    /// Pairs of a fingerprint and a document with the fingerprint, deleted documents included.
    pub postings: u64,
    /// Stored occurrences of fingerprints, deleted documents included.
    pub fingerprints: u64,
    /// Tokens, deleted documents included.
    pub tokens: u64,
    /// The specification of the scheme.
    pub scheme: String,
    /// The specification of the analyzer.
    pub analyzer: String,
    /// The preset of the index, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// The check value of the key that fingerprints depend on, if they depend on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Bytes on disk, by content.
    pub bytes: Bytes,
}

/// Bytes on disk, by content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Bytes {
    /// Bytes of all `.sig` files.
    pub signatures: u64,
    /// The stored documents, if texts are stored.
    pub text: u64,
    /// Bytes of all remaining files of the index.
    pub other: u64,
}

/// The result of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Compaction {
    /// Segments before the compaction.
    pub segments_before: usize,
    /// Segments after the compaction.
    pub segments_after: usize,
    /// Deleted documents whose space was reclaimed.
    pub purged: u64,
}
