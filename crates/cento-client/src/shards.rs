//! Requests to a service over a shard.

use cento_api::{Result, ShardCandidates, ShardFrequencies, ShardSpans};

use crate::api::{ShardCandidatesRequest, ShardFrequenciesRequest, ShardSpansRequest};
use crate::client::{Client, json};

impl Client {
    /// Counts the documents of a shard with each fingerprint of a query.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn shard_frequencies(&self, request: &ShardFrequenciesRequest) -> Result<ShardFrequencies> {
        self.post("/v1/shard/frequencies", json(request)?)
    }

    /// Finds the documents of a shard that may be hits.
    ///
    /// # Errors
    /// As [`search`](Self::search), and `conflict` when the shard has a different commit than when
    /// it counted.
    pub fn shard_candidates(&self, request: &ShardCandidatesRequest) -> Result<ShardCandidates> {
        self.post("/v1/shard/candidates", json(request)?)
    }

    /// Compares the winners of a shard with the query, or reads excerpts of them.
    ///
    /// # Errors
    /// As [`shard_candidates`](Self::shard_candidates).
    pub fn shard_spans(&self, request: &ShardSpansRequest) -> Result<ShardSpans> {
        self.post("/v1/shard/spans", json(request)?)
    }
}
