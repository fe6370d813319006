//! Requests to a shard over HTTP.

use serde::{Deserialize, Serialize};

use super::SearchRequest;
use crate::{ShardFrequencies, ShardWinners, whole};

/// A request for the document frequencies of a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ShardFrequenciesRequest {
    /// The search. A shard refuses `id`, `budget`, `min_weighted_resemblance`, and the goal
    /// `passage`.
    pub search: SearchRequest,
    /// Whether to send the sample of the texts of the shard, up to 4 MB: it is needed for passages,
    /// and stays the same until the next commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sample: bool,
}

/// A request for the documents that may be hits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ShardCandidatesRequest {
    /// The search.
    pub search: SearchRequest,
    /// The frequencies of all shards, added up, without the sample.
    pub frequencies: ShardFrequencies,
    /// The maximum number of documents to name.
    #[serde(deserialize_with = "whole::number")]
    pub most: usize,
}

/// A request to compare the winners with the query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ShardSpansRequest {
    /// The search.
    pub search: SearchRequest,
    /// The documents.
    pub winners: ShardWinners,
}
