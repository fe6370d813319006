//! The answer to a search.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Passage, PresetDefaults, Similarity, Trace, UnseenText, WeightedSimilarity};

/// The answer to a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Answer {
    /// The query as cento read it, with the cost of looking it up.
    pub query: QueryInfo,
    /// Where every part of your text comes from, if you requested a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// The hits, best first. In a trace, the hits are the documents with passages, and each hit
    /// adds more to the hits before it than any later hit would.
    pub hits: Vec<Hit>,
    /// The number of texts considered for the best passage, if you requested the best passage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<CandidateTexts>,
    /// Whether further documents meet the query and are not among the hits, or may meet it and were
    /// not examined, because of `limit` or `candidates`, or because the search for passages ended.
    pub more: bool,
    /// The number of documents that meet the query, including `hits`; absent if unknown. It is
    /// always known if there are no more, and the search was complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Whether the search read everything that it needed. If the query's budget stopped the search,
    /// documents may be missing, and neither `more` nor `total` counts them. The numbers of the
    /// hits are exact in any case. `more` reports the limit, which `complete` ignores.
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
    /// The number of texts that were considered.
    pub texts: usize,
    /// The number of texts whose similarity was calculated.
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
    /// The share of the query's fingerprints that any document has: global similarity (Finkel et
    /// al. 2002, section 2.5).
    pub global: f64,
    /// The number of stop-fingerprints among the fingerprints. A stop-fingerprint alone brings up
    /// no document.
    pub stopped: u32,
    /// The stop-fingerprints with their document frequencies.
    pub stopped_fingerprints: Vec<Stopped>,
    /// The number of postings of all fingerprints that were looked up, which is the maximum number
    /// of postings read.
    pub postings: u64,
    /// The byte ranges of boilerplate in your text, ascending and disjoint, if you requested
    /// passages. Boilerplate counts neither in the query nor in a hit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boilerplate: Vec<(u32, u32)>,
    /// The parts of your text that a reader does not see, if there are any.
    #[serde(default, skip_serializing_if = "UnseenText::is_none")]
    pub unseen: UnseenText,
}

/// A stop-fingerprint of a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Stopped {
    /// The key of the fingerprint, in decimal digits, because many readers of JSON round large
    /// numbers.
    pub key: String,
    /// The position of its first token in the query.
    pub position: u32,
    /// The number of documents with the fingerprint. Deleted documents may count until their
    /// segment is compacted.
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
    /// The id that you gave the document.
    pub id: String,
    /// The index with the document, if you searched several indexes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// Distinct fingerprints in common.
    pub overlap: u32,
    /// Distinct fingerprints of the document.
    pub fingerprints: u32,
    /// How similar the texts are.
    #[serde(flatten)]
    pub similarity: Similarity,
    /// The measures of the fingerprints weighted by rarity, if the query weights fingerprints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighted: Option<WeightedSimilarity>,
    /// The words of the query in passages in common, if hits are ranked by them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passage_tokens: Option<u32>,
    /// How many letters and digits of your text, or tokens of your program, are in this hit and in
    /// no hit before, if you requested a trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adds: Option<u32>,
    /// The meta object of the document.
    pub meta: Map<String, Value>,
    /// The similarity of the texts by the measure that you requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
    /// The passages that your text shares with the document, if you requested passages and the
    /// memory suffices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passages: Option<Vec<Passage>>,
    /// Whether `passages` lists every passage. If not, finding all passages would have exceeded the
    /// limit on steps or memory. Equal texts have equal answers. A text that the hit repeats is
    /// listed at one place only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passages_complete: Option<bool>,
}

/// The result of a measure for a hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Verified {
    /// The name of the measure, such as `resemblance`.
    pub measure: String,
    /// The similarity of the query with the document, 0 to 1.
    pub similarity: f64,
}
