//! A pair of documents, in the form that programs exchange.

use serde::{Deserialize, Serialize};

use crate::{Category, Passage, Similarity};

/// A pair with the ids of its documents, as programs show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PairReport {
    /// The id of the one document.
    pub a: String,
    /// The id of the other.
    pub b: String,
    /// The index that has `a`, if several were searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_a: Option<String>,
    /// The index that has `b`, if several were searched.
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
    /// Tokens of `a`.
    pub tokens_a: u32,
    /// Tokens of `b`.
    pub tokens_b: u32,
    /// How much two programs suggest that one was copied, 0 to 1: how alike they are in code and in
    /// words, where what few programs have counts for more. Only of programs with stored texts, if
    /// it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// For programs: whether either is too short to be distinctive, because independent solutions
    /// of a task of its size are often equal. The numbers are then meaningless.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub too_short: Option<bool>,
    /// The measures with fingerprints weighed by their rarity, if these were weighed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weighted: Option<WeightedSimilarity>,
    /// The words of `a` in passages in common, if pairs are ranked by them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passage_tokens: Option<u32>,
    /// The category of Seo and Croft; none if either containment is a tenth or less.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub category: Option<Category>,
    /// The passages in common, if they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passages: Option<Vec<Passage>>,
    /// Whether these are all, if they were requested: if not, looking for all would have taken more
    /// steps or memory than it may. Equal texts have equal answers. Other places of a text that `b`
    /// has several times are no passages of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passages_complete: Option<bool>,
}

impl PairReport {
    /// Returns whether the pair joins two documents in a cluster. A passage must say more than
    /// chance, or may do so because the search for passages was cut short, and neither program may
    /// be too short to judge. Without texts, no passages are required.
    #[must_use]
    pub fn is_edge(&self) -> bool {
        let has_passage = self.passages.as_ref().is_none_or(|found| !found.is_empty());
        let may_have = has_passage || self.passages_complete == Some(false);
        may_have && self.too_short != Some(true)
    }
}

/// The measures of a pair with fingerprints weighed by their rarity: each counts for the square of
/// its inverse document frequency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WeightedSimilarity {
    /// The share of the weight of `a` that is in `b`, 0 to 1.
    pub containment_of_a: f64,
    /// The share of the weight of `b` that is in `a`, 0 to 1.
    pub containment_of_b: f64,
    /// The share of the weight of both together that is in both, 0 to 1.
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
