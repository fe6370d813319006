//! Novelty: how much of a document was new to the index when it was added?

use serde::{Deserialize, Serialize};

/// The member of a document's meta object that holds its [`Novelty`].
///
/// Updating only this member does not count as a change of the document.
pub const NOVELTY: &str = "cento_novelty";

/// How much of a document was new to the index when it was added, in shares of its tokens, rounded
/// to four decimals.
///
/// Documents share a part if they have at least two of its fingerprints, close together. A few
/// edited words between these fingerprints count as shared. Fingerprints of more than 200 documents
/// count as shared with any document.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Novelty {
    /// The share that no earlier document had.
    pub new: f64,
    /// The share that more than half of the documents, and at least eight, already had.
    pub common: f64,
    /// The documents that had the remaining text first: at most three, the largest share first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<NoveltySource>,
}

/// The first document of the index with a part of a later document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NoveltySource {
    /// The id of the earlier document.
    pub id: String,
    /// The share of the later document's tokens.
    pub share: f64,
}

/// The new text of a day.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NewText {
    /// The day on which the documents were added, in UTC, such as `2026-11-29`.
    pub day: String,
    /// The number of documents with a recorded novelty.
    pub documents: u64,
    /// The number of tokens in these documents.
    pub tokens: u64,
    /// The number of tokens that were new, rounded.
    pub new: u64,
    /// The number of tokens that were common, rounded.
    pub common: u64,
}
