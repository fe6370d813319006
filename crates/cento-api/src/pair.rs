//! A pair of documents, in the form that programs exchange.

use serde::{Deserialize, Serialize};

use crate::{Category, Passage, Similarity};

/// A pair with the ids of its documents, as programs show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PairReport {
    /// The id of the first document.
    pub a: String,
    /// The id of the second document.
    pub b: String,
    /// The index with `a`, if you compared several indexes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_a: Option<String>,
    /// The index with `b`, if you compared several indexes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_b: Option<String>,
    /// Distinct fingerprints in common.
    pub overlap: u32,
    /// How similar their texts are.
    #[serde(flatten)]
    pub similarity: Similarity,
    /// Distinct fingerprints of `a`, boilerplate left out.
    pub fingerprints_a: u32,
    /// Distinct fingerprints of `b`, boilerplate left out.
    pub fingerprints_b: u32,
    /// The number of tokens of `a`.
    pub tokens_a: u32,
    /// The number of tokens of `b`.
    pub tokens_b: u32,
    /// How strongly two programs suggest copying, 0 to 1. The score combines how alike the programs
    /// are in code and in words. Code and words that few programs have count more. Only for
    /// programs with stored texts, if you requested the score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// For programs: whether one of them is too short to be distinctive. Independent solutions of a
    /// short task are often equal, so the numbers are then meaningless.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub too_short: Option<bool>,
    /// The measures of the fingerprints weighted by rarity, if fingerprints were weighted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weighted: Option<WeightedSimilarity>,
    /// The words of `a` in passages in common, if pairs are ranked by them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passage_tokens: Option<u32>,
    /// The category of Seo and Croft. Missing if one containment is a tenth or less.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub category: Option<Category>,
    /// The passages that both documents share, if you requested passages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passages: Option<Vec<Passage>>,
    /// Whether `passages` lists every passage. If not, finding all passages would have exceeded the
    /// limit on steps or memory. Equal texts have equal answers. A text that `b` repeats is listed
    /// at one place only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passages_complete: Option<bool>,
}

impl PairReport {
    /// Returns whether the pair joins two documents in a cluster. A passage must be evidence beyond
    /// chance, or the search for passages must have been cut short. Both programs must be long
    /// enough to judge. Without texts, no passages are required.
    #[must_use]
    pub fn is_edge(&self) -> bool {
        let has_passage = self.passages.as_ref().is_none_or(|found| !found.is_empty());
        let may_have = has_passage || self.passages_complete == Some(false);
        may_have && self.too_short != Some(true)
    }
}

/// The measures of a pair with fingerprints weighted by rarity. The weight of a fingerprint is the
/// square of its inverse document frequency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WeightedSimilarity {
    /// The share of the weight of `a` that is in `b`, 0 to 1.
    pub containment_of_a: f64,
    /// The share of the weight of `b` that is in `a`, 0 to 1.
    pub containment_of_b: f64,
    /// The weight of the shared fingerprints, divided by the weight of all fingerprints of both
    /// documents, 0 to 1.
    pub resemblance: f64,
}

impl WeightedSimilarity {
    /// Returns the similarity with the two documents exchanged.
    #[must_use]
    pub fn swapped(self) -> WeightedSimilarity {
        WeightedSimilarity {
            containment_of_a: self.containment_of_b,
            containment_of_b: self.containment_of_a,
            ..self
        }
    }
}

/// A pair, and the similarity of its documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SymmetricPair {
    /// The pair.
    #[serde(flatten)]
    pub pair: PairReport,
    /// Symmetric similarity, 0 to 1: twice the common part over the sum of both.
    pub symmetric: f64,
}
