//! The answer to a search.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Passage, PresetDefaults, Similarity, Trace, UnseenText, WeightedSimilarity};

/// The answer to a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Answer {
    /// The query.
    pub query: QueryInfo,
    /// Where every part of the query comes from, if a trace was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// The hits, best first. Those of a trace are the documents with passages; the next one is
    /// always the one that adds most to those before it.
    pub hits: Vec<Hit>,
    /// The number of texts considered for the best passage, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<CandidateTexts>,
    /// Whether further documents meet the query and are not among the hits, or may meet it and were
    /// not examined, because of `limit` or `candidates`, or because the search for passages ended.
    pub more: bool,
    /// The number of documents that meet the query, including `hits`; absent if unknown. It is
    /// always known if there are no more, and the search was complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Whether the search read everything that it needed; if not, because of the query's budget,
    /// documents may be missing that neither `more` nor `total` counts. The numbers of the hits are
    /// exact in any case. It is independent of the limit, which `more` reports.
    pub complete: bool,
    /// The defaults of the preset of the index that the search used, if it used any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defaults: Option<PresetDefaults>,
    /// The duration of the search, in microseconds.
    pub took_us: u64,
}

/// The number of texts considered for the best passage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CandidateTexts {
    /// The number of all of them.
    pub texts: usize,
    /// The number of those whose similarity was calculated.
    pub calculated: usize,
}

/// The query of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QueryInfo {
    /// The stored document, if the query is one.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub id: Option<String>,
    /// The number of tokens of the query.
    pub tokens: u32,
    /// The number of distinct fingerprints of the query.
    pub fingerprints: u32,
    /// The share of them that any document has: global similarity (Finkel et al. 2002, section
    /// 2.5).
    pub global: f64,
    /// The number of them that are stop-fingerprints, which bring up no document by themselves.
    pub stopped: u32,
    /// The stop-fingerprints.
    pub stopped_fingerprints: Vec<Stopped>,
    /// The number of postings of all fingerprints that were looked up: no more than these were
    /// read.
    pub postings: u64,
    /// The bytes of the query's text that are boilerplate, if there is any and passages were
    /// requested: ascending and disjoint. They count neither in the query nor in a hit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boilerplate: Vec<(u32, u32)>,
    /// The parts of the query's text that a reader does not see, if there are any.
    #[serde(default, skip_serializing_if = "UnseenText::is_none")]
    pub unseen: UnseenText,
}

/// A stop-fingerprint of a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Stopped {
    /// Its key, in decimal digits: many readers of JSON round large numbers.
    pub key: String,
    /// The position of its first token in the query.
    pub position: u32,
    /// The number of documents that hold it; documents that have been deleted and not yet
    /// compacted away may be counted.
    pub df: u64,
}

/// A stored document that shares fingerprints with the query.
///
/// The numbers of fingerprints are exact. [`similarity`](Hit::similarity) is exact if both texts
/// were compared, and otherwise an estimate with its standard error. Fields of options that the
/// query did not set are `None`. As JSON it is a hit of the HTTP API and of `cento search --format
/// json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(
    feature = "openapi",
    schema(description = "A stored document that shares fingerprints with the query.")
)]
pub struct Hit {
    /// The caller's id.
    pub id: String,
    /// The index that has it, if several were searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// Distinct fingerprints in common.
    pub overlap: u32,
    /// Distinct fingerprints of the document.
    pub fingerprints: u32,
    /// How similar the texts are.
    #[serde(flatten)]
    pub similarity: Similarity,
    /// The measures of the fingerprints weighed by their rarity, if these were weighed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighted: Option<WeightedSimilarity>,
    /// The words of the query in passages in common, if hits are ranked by them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passage_tokens: Option<u32>,
    /// The letters and digits of the query, or the tokens of a program, that no hit before this one
    /// has, if a trace was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adds: Option<u32>,
    /// The meta object of the document.
    pub meta: Map<String, Value>,
    /// The similarity of the texts by the requested measure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
    /// The passages in common, if they were requested and the memory for passages suffices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passages: Option<Vec<Passage>>,
    /// Whether these are all the passages, if they were requested: if not, looking for all would
    /// have taken more steps or memory than it may. Equal texts have equal answers. Other places of
    /// a text that the hit has several times are no passages of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passages_complete: Option<bool>,
}

/// The result of a measure for a hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Verified {
    /// The measure.
    pub measure: String,
    /// The similarity of the query with the document, 0 to 1.
    pub similarity: f64,
}
