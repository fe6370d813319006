//! Comparisons of a few documents with each other, over HTTP.

use serde::{Deserialize, Serialize};

use super::search::{min_passage, share};
use super::{DocumentBody, FileReason, NotRead};
use cento::Result;
use cento::join::most_similar::SymmetricPair;
use cento::whole;

/// Documents to compare with each other; they are not kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PairsRequest {
    /// The documents.
    pub documents: Vec<DocumentBody>,
    /// Texts that do not count, such as handouts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boilerplate: Vec<String>,
    /// The maximum number of pairs. Default: 20.
    #[serde(default = "default_limit", deserialize_with = "whole::number")]
    #[cfg_attr(feature = "openapi", schema(maximum = 10000))]
    pub limit: usize,
    /// Only pairs whose texts have at least this resemblance.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(minimum = 0.0, maximum = 1.0))]
    pub min_resemblance: f64,
    /// Only pairs with a passage of at least this many tokens, with these passages.
    #[serde(default, deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub min_passage: Option<u32>,
}

impl PairsRequest {
    /// Returns the minimum length of passages, if given.
    ///
    /// # Errors
    /// When it is 0.
    pub fn min_passage(&self) -> Result<Option<u32>> {
        min_passage(self.min_passage)
    }

    /// Returns the minimum resemblance.
    ///
    /// # Errors
    /// When it is not a number from 0 to 1.
    pub fn min_resemblance(&self) -> Result<f64> {
        share("min_resemblance", self.min_resemblance)
    }
}

fn default_limit() -> usize {
    20
}

/// The most similar pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PairsResponse {
    /// The pairs, the most similar first.
    pub pairs: Vec<SymmetricPair>,
    /// The number of all pairs that meet the thresholds.
    pub total: u64,
    /// Whether there are more pairs than these; a greater `limit` gives more.
    pub more: bool,
    /// Files that were not read, if files were sent, and documents without a fingerprint to
    /// compare.
    #[serde(flatten)]
    pub not_read: NotRead,
    /// The documents with content that a reader does not see, with descriptions of it as clauses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<FileReason>,
}
