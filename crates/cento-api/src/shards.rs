//! Requests to the shards of a collection, and their answers.
//!
//! A shard is an index with a part of the documents. The shards together answer like a single index
//! with all documents. Document frequencies are added up before a fingerprint is stopped or
//! weighed. Each shard then names its best candidates, and only the winners are compared with the
//! query. Every message names its commit, so that answers of different states cannot be mixed.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// How many of these documents are deleted. Empty if no document is deleted.
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

/// The texts with the smallest digests, which show which passages occur by chance. A sample of
/// several shards is made from the samples of the shards.
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
    /// The query with the numbers of all shards, equal in the answer of every shard.
    pub query: QueryInfo,
    /// The weight of the query's fingerprints, or 0 if fingerprints are not weighted.
    pub weight: u64,
    /// The number of documents that meet the thresholds, as far as they were counted.
    pub met: u64,
    /// The minimum number of best documents that the shard kept. Missing if the shard counted every
    /// document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_max: Option<u64>,
    /// The best of the kept documents, best first.
    pub candidates: Vec<ShardCandidate>,
    /// The tokens of the query, for the goal `trace`, equal in the answer of every shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<QueryTokens>,
    /// The documents that contain the whole text, for the goal `trace`, if the text is short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containing: Option<ShardContaining>,
}

/// The documents of a shard that contain a text, word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ShardContaining {
    /// How many there are.
    pub documents: u64,
    /// The first of them in the order of addition, at most ten: when each was added, in
    /// microseconds since 1970, and its id.
    pub first: Vec<(u64, String)>,
}

/// Where the tokens and fingerprints of a query are in its text.
///
/// A list of tokens has two numbers for each token: the bytes from the beginning of the token
/// before, or from the beginning of the text, and its own length in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct QueryTokens {
    /// The tokens that fingerprints are made of.
    pub signed: Vec<u32>,
    /// The words, as passages count them. Missing if they are the signed tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<Vec<u32>>,
    /// For each fingerprint, the place of its first signed token, and its place among the distinct
    /// fingerprints.
    pub fingerprints: Vec<(u32, u32)>,
    /// Whether the query is a program.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_program: bool,
}

/// A document that may be a hit, with the numbers that order hits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ShardCandidate {
    /// The id that you gave the document.
    pub id: String,
    /// Distinct fingerprints in common.
    pub overlap: u32,
    /// Distinct fingerprints of the document.
    pub fingerprints: u32,
    /// The weight of the shared fingerprints, or 0 if fingerprints are not weighted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub weight: u64,
    /// The similarity of the texts, if the thresholds required it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<Similarity>,
    /// The number of short runs of the query in the text of the document. Present if the document
    /// may be one of the first hits and another document shares equally many fingerprints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
    /// The digest of the text, 32 hexadecimal digits, for the goal `trace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The places of the shared fingerprints among the distinct fingerprints of the query,
    /// ascending, for the goal `trace`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<u32>,
    /// Ranges of bytes of the text. If present, the shard does not compare the document, but
    /// returns its facts and these excerpts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpts: Option<Vec<(u32, u32)>>,
}

/// The documents of a shard that are to be compared with the query, or read.
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
    /// The sample with this digest. A shard keeps the last samples, and requests the sample if it
    /// is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<ShardSample>,
    /// The candidates to compare with the query, or to read excerpts of.
    pub winners: Vec<ShardCandidate>,
}

/// The winners of a shard, compared with the query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShardSpans {
    /// The digest of the commit.
    pub commit: String,
    /// Whether the shard compared nothing, because the request must be repeated with the sample.
    #[serde(default, skip_serializing_if = "is_false")]
    pub needs_sample: bool,
    /// The documents, in the order of the request.
    pub hits: Vec<ShardHit>,
}

/// A document that was compared with the query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShardHit {
    /// The id that you gave the document.
    pub id: String,
    /// The hit, without measures by weight. Missing if the measure of `verify` is below a
    /// threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit: Option<Hit>,
    /// The number and size of the passages, if passages were looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passages: Option<PassageCounts>,
    /// The distinct fingerprints of the document, if fingerprints are weighted. The document
    /// frequencies in all shards give their weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<SignatureBody>,
    /// The facts of a document with passages, and of a document whose excerpts were requested, for
    /// the goal `trace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<DocumentFacts>,
}

/// When a document was added, its date, and parts of its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DocumentFacts {
    /// When the document was added, in microseconds since 1970.
    pub added: u64,
    /// The value of the field for dates, if it is a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<Value>,
    /// The requested excerpts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excerpts: Vec<TextExcerpt>,
}

/// A part of the text of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TextExcerpt {
    /// Its range in the text of the document, half-open, in bytes.
    pub b: (u32, u32),
    /// The text.
    pub text: String,
}

/// What the passages of a document count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PassageCounts {
    /// The number of passages.
    pub found: u32,
    /// Whether all passages were found.
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
    /// Ask each shard to compare these of its candidates, or to read their excerpts, in the order
    /// of their answers.
    Spans(Vec<Vec<ShardCandidate>>),
    /// Ask every shard for the frequencies of these fingerprints, add them up, and keep them as
    /// `weights`.
    Weights(SignatureBody),
    /// The search is complete: the answer over all shards.
    Answer(Box<Answer>),
}
