//! Requests to the shards of a collection, and their answers.
//!
//! A shard is an index with a part of the documents. The shards together answer like a single index
//! with all documents. Document frequencies are added up before a fingerprint is stopped or
//! weighed. Each shard then names its best candidates, and only the winners are compared with the
//! query. Every message names its commit, so that answers of different states cannot be mixed.

use serde::{Deserialize, Serialize};

use crate::http::SignatureBody;
use crate::similarity::is_false;
use crate::whole::is_zero;
use crate::{Answer, Hit, MaxDf, Preset, QueryInfo, Similarity};

/// The document frequencies of the fingerprints of a query: in one shard, or added up over several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ShardFrequencies {
    /// The digest of the commit of each shard, ascending.
    pub commits: Vec<String>,
    /// The digest of the settings that decide about signatures and stored texts.
    pub settings: String,
    /// The digest of the distinct fingerprints of the query.
    pub fingerprints: String,
    /// The preset of the shards, if all have the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// The limit of document frequency of the query, or of the shards.
    pub max_df: MaxDf,
    /// The number of documents.
    pub documents: u64,
    /// The number of deleted documents that still use space.
    pub deleted_documents: u64,
    /// The number of documents with each fingerprint, deleted ones included, in the order of the
    /// fingerprints.
    pub dfs: Vec<u64>,
    /// The number of deleted documents among them; empty if no document is deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deleted: Vec<u64>,
    /// The places of fingerprints that only deleted and excluded documents have, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<u32>,
    /// The fields of the filter that no document has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_fields: Vec<String>,
    /// The sample of the texts, if it was requested and the index stores texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<ShardSample>,
}

/// The texts whose digests are least: they say which passages are chance. The sample of several
/// shards is made from theirs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ShardSample {
    /// The digest of the sample.
    pub digest: String,
    /// The texts, by their digests.
    pub texts: Vec<SampledText>,
}

/// A text of a sample. Its numbers are hexadecimal, because many readers of JSON round large ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SampledText {
    /// The digest of the document, 32 digits.
    pub digest: String,
    /// The hash of the part of the text that counts, 16 digits.
    pub hash: String,
    /// The hashes of its tokens, 16 digits each.
    pub tokens: String,
}

/// The documents of a shard that may be among the hits of a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShardCandidates {
    /// The digest of the commit.
    pub commit: String,
    /// The query, with the numbers of all shards: every shard says the same.
    pub query: QueryInfo,
    /// The weight of the fingerprints of the query; 0 if they are not weighed.
    pub weight: u64,
    /// The number of documents that meet the thresholds, as far as they were counted.
    pub met: u64,
    /// The number of best documents that were kept at least, if others were left out without being
    /// counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_max: Option<u64>,
    /// The best of them, best first.
    pub candidates: Vec<ShardCandidate>,
}

/// A document that may be a hit, with the numbers that order hits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ShardCandidate {
    /// The caller's id.
    pub id: String,
    /// Distinct fingerprints in common.
    pub overlap: u32,
    /// Distinct fingerprints of the document.
    pub fingerprints: u32,
    /// The weight of those in common; 0 if they are not weighed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub weight: u64,
    /// How similar the texts are, if that decided whether the document meets the thresholds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<Similarity>,
    /// The number of short runs of the query in the text of the document, if it may be one of the
    /// first hits and share equally many fingerprints with others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
}

/// The documents of a shard that are to be compared with the query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ShardWinners {
    /// The digest of the commit that found them.
    pub commit: String,
    /// The number of documents of all shards.
    pub documents: u64,
    /// The preset of the shards, if all have the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// The digest of the sample of all shards, if there are texts to sample and passages are
    /// requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_digest: Option<String>,
    /// That sample; a shard keeps the last ones, and says if it needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<ShardSample>,
    /// The documents.
    pub winners: Vec<ShardCandidate>,
}

/// The winners of a shard, compared with the query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShardSpans {
    /// The digest of the commit.
    pub commit: String,
    /// Whether the request must be repeated with the sample; then nothing was compared.
    #[serde(default, skip_serializing_if = "is_false")]
    pub needs_sample: bool,
    /// The documents, in the order of the request.
    pub hits: Vec<ShardHit>,
}

/// A document that was compared with the query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShardHit {
    /// The caller's id.
    pub id: String,
    /// The hit, without the measures of weights; absent if its measure by `verify` misses a
    /// threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit: Option<Hit>,
    /// What its passages count, if they were looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passages: Option<PassageCounts>,
    /// Its distinct fingerprints, if fingerprints are weighed: their document frequencies in all
    /// shards give its weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<SignatureBody>,
}

/// What the passages of a document count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PassageCounts {
    /// The number of passages.
    pub found: u32,
    /// Whether these are all.
    pub complete: bool,
    /// The tokens of the query in passages.
    pub tokens: u32,
}

/// What the shards have answered so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardAnswers {
    /// The frequencies of all shards, added up.
    pub frequencies: ShardFrequencies,
    /// The candidates of each shard.
    #[serde(default)]
    pub candidates: Vec<ShardCandidates>,
    /// The documents that were compared.
    #[serde(default)]
    pub hits: Vec<ShardHit>,
    /// The frequencies of the fingerprints of the hits to show, added up, if they were requested.
    #[serde(default)]
    pub weights: Option<ShardFrequencies>,
}

/// What to ask the shards next, or the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShardStep {
    /// Ask every shard for its candidates, this many at most.
    Candidates(usize),
    /// Ask each shard to compare these of its candidates, in the order of their answers.
    Spans(Vec<Vec<ShardCandidate>>),
    /// Ask every shard for the frequencies of these fingerprints, add them up, and keep them as
    /// `weights`.
    Weights(SignatureBody),
    /// The answer.
    Answer(Box<Answer>),
}
