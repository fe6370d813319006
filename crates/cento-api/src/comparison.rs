//! The result of a comparison of two texts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Category, Passage, Similarity, UnseenText};

/// The result of a comparison of two texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Comparison {
    /// Distinct fingerprints in common.
    pub overlap: u32,
    /// How similar the texts are: exactly, unless the scheme is of sketches.
    #[serde(flatten)]
    pub similarity: Similarity,
    /// The category of reuse. `None` if at most a tenth of one text is in the second text, in
    /// either direction.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub category: Option<Category>,
    /// The values of the measures that you requested, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<String, f64>,
    /// The passages in common, in the order of the first text.
    pub passages: Vec<Passage>,
    /// Whether `passages` lists every passage. If not, finding all passages would have exceeded the
    /// limit on steps or memory. Equal texts have equal answers.
    #[serde(default = "yes")]
    pub complete: bool,
    /// What a reader of either text does not see, if there is any.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unseen: [UnseenText; 2],
}

/// Returns the default of `complete` where it is missing.
fn yes() -> bool {
    true
}

fn is_none(of_both: &[UnseenText; 2]) -> bool {
    of_both.iter().all(UnseenText::is_none)
}
