//! Novelty: how much of a document was new to the index when it was added?

use serde::{Deserialize, Serialize};

/// The member of a document's meta object that holds its [`Novelty`].
///
/// A change of it alone is no change of the document.
pub const NOVELTY: &str = "cento_novelty";

/// How much of a document was new to the index when it was added, in shares of its tokens, rounded
/// to four decimals.
///
/// A document had a part of it if they share at least two fingerprints there, not far apart: a few
/// edited words between these count as had, too. Fingerprints of more than 200 documents count as
/// had, whichever documents have them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Novelty {
    /// The share that no earlier document had.
    pub new: f64,
    /// The share that more than half of the documents had, and at least eight.
    pub common: f64,
    /// The documents that had the rest first: at most three, the largest share first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<NoveltySource>,
}

/// A document that had a part of a later one, and of all in the index was the first to have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NoveltySource {
    /// Its id.
    pub id: String,
    /// The share of the later document's tokens.
    pub share: f64,
}

/// The new text of a day.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NewText {
    /// The day on which the documents were added, in UTC, such as `2026-11-29`.
    pub day: String,
    /// The number of documents that say how much of them was new.
    pub documents: u64,
    /// The number of their tokens.
    pub tokens: u64,
    /// The number of tokens that were new, rounded.
    pub new: u64,
    /// The number of tokens that were common, rounded.
    pub common: u64,
}
