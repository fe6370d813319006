//! What does a search give?

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Passage, Verified};
use crate::similarity::HitSimilarity;
use crate::text::unseen::Unseen;

/// What a query found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Answer {
    /// What was searched for.
    pub query: QueryInfo,
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// The share of the query's fingerprints that the hits together have, if a cover was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub explained: Option<f64>,
    /// How many texts came into question for the best passage, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub candidates: Option<CandidateTexts>,
    /// Whether further documents meet the query and are not among the hits, or may meet it and were not
    /// looked at, because of `limit` or `candidates`, or because the search for passages ended.
    pub more: bool,
    /// How many documents meet the query, those of `hits` included; absent if it is not known. It is
    /// always known if there are no more, and the search was complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub total: Option<u64>,
    /// Whether the search read all that it had to; if not, because of the query's budget, documents
    /// may be missing that neither `more` nor `total` counts. The numbers of the hits are exact in any
    /// case. It says nothing of the limit: `more` does.
    pub complete: bool,
    /// The time it took, in microseconds.
    pub took_us: u64,
}

/// How many texts came into question for the best passage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct CandidateTexts {
    /// All of them.
    pub texts: usize,
    /// Those whose similarity was calculated.
    pub calculated: usize,
}

/// What was searched for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct QueryInfo {
    /// The stored document, if the query is one.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub id: Option<String>,
    /// Tokens of the query.
    pub tokens: u32,
    /// Distinct fingerprints of the query.
    pub fingerprints: u32,
    /// The share of them that any document has: global similarity (Finkel et al. 2002, section
    /// 2.5).
    pub global: f64,
    /// How many of them are stop-fingerprints, which bring up no document by themselves.
    pub stopped: u32,
    /// The stop-fingerprints.
    pub stopped_fingerprints: Vec<Stopped>,
    /// The postings of all fingerprints that were looked at: those read are no more.
    pub postings: u64,
    /// The bytes of the query's text that are boilerplate, if there is any and passages were asked for: ascending
    /// and disjoint. They count for nobody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<u32>>))]
    pub boilerplate: Vec<(u32, u32)>,
    /// What a reader of the query's text does not see, if there is any.
    #[serde(default, skip_serializing_if = "Unseen::is_none")]
    pub unseen: Unseen,
}

/// A stop-fingerprint of a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Stopped {
    /// Its key, in decimal digits: many readers of JSON round large numbers.
    pub key: String,
    /// The first token where the query has it.
    pub position: u32,
    /// The number of documents that hold it; documents that have been deleted and not yet
    /// compacted away may be counted.
    pub df: u64,
}

/// The measures of a hit with fingerprints weighed by their rarity: each counts for the square of its
/// inverse document frequency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Weighted {
    /// How much of the weight of the query is in the document, 0 to 1.
    pub containment_of_query: f64,
    /// How much of the weight of the document is in the query, 0 to 1.
    pub containment_of_hit: f64,
    /// How much of the weight of both together is in both, 0 to 1.
    pub resemblance: f64,
}

/// A stored document that shares fingerprints with the query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Hit {
    /// The caller's id.
    pub id: String,
    /// The index that has it, if several were searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub index: Option<String>,
    /// Distinct fingerprints in common.
    pub overlap: u32,
    /// Distinct fingerprints of the document.
    pub fingerprints: u32,
    /// How similar the texts are.
    #[serde(flatten)]
    pub similarity: HitSimilarity,
    /// The measures of the fingerprints weighed by their rarity, if these were weighed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub weighted: Option<Weighted>,
    /// The tokens of the query in passages in common, if hits are ranked by them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub passage_tokens: Option<u32>,
    /// Fingerprints of the query that no hit before this one has, if a cover was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub adds: Option<u32>,
    /// What the caller knows of the document.
    pub meta: Map<String, Value>,
    /// The similarity of the texts by the measure that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub verified: Option<Verified>,
    /// The passages in common, if they were asked for and the memory for passages suffices.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub passages: Option<Vec<Passage>>,
    /// Whether these are all the passages, if they were asked for: if not, looking for all would have
    /// taken more steps or memory than it may. Equal texts have equal answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub passages_complete: Option<bool>,
}
