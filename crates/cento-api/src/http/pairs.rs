//! Pairwise comparison of a few documents, over HTTP.

use serde::{Deserialize, Serialize};

use super::{AddedDocument, FileReason, NotRead};
use crate::{
    BoilerplateShare, PairOptions, PresetDefaults, RepeatedPassage, Sources, SymmetricPair,
};

/// Documents to compare with each other. The service does not store them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PairsRequest {
    /// The documents.
    pub documents: Vec<AddedDocument>,
    /// Also compare them with the documents of the index, which are not compared with each other.
    /// Those that have the id of one of `documents` are earlier versions of it and left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub against_index: bool,
    /// Also count where the text of each document comes from. The service searches for every
    /// document among all others, regardless of the thresholds and the limit of pairs.
    /// `min_passage` sets the minimum length of a passage.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sources: bool,
    /// Texts that do not count, such as handouts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boilerplate: Vec<String>,
    /// Also list the passages that this share of the documents have, and at least five, as
    /// `proposed`; they count. With `group_by` the documents of a group count once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub propose_boilerplate: Option<BoilerplateShare>,
    /// List the proposed passages and exclude all of them from the comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_boilerplate: Option<BoilerplateShare>,
    /// The options.
    // The flattened options take all remaining fields, and reject unknown fields.
    #[serde(flatten, deserialize_with = "crate::json::flattened")]
    pub options: PairOptions,
}

/// The most similar pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PairsResponse {
    /// The pairs, the most similar first.
    pub pairs: Vec<SymmetricPair>,
    /// The number of all pairs that meet the thresholds.
    pub total: u64,
    /// Whether there are more pairs than these; a greater `limit` gives more.
    pub more: bool,
    /// The defaults of the preset of the index that decided, if any did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defaults: Option<PresetDefaults>,
    /// The passages that most documents have, the most frequent first, if you requested them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proposed: Vec<RepeatedPassage>,
    /// Where the text of each document comes from, if you requested it and the index stores texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Sources>,
    /// The ids of the documents with an earlier version in the index, which was not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_versions: Vec<String>,
    /// The boilerplate in the documents of these pairs, if any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boilerplate: Vec<DocumentBoilerplate>,
    /// Files that were not read, if files were sent, and documents without a fingerprint to
    /// compare.
    #[serde(flatten)]
    pub not_read: NotRead,
    /// The documents with content that a reader does not see, with descriptions of it as clauses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<FileReason>,
}

/// The boilerplate in a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DocumentBoilerplate {
    /// The id of the document.
    pub id: String,
    /// The index that it is in, if it is no document of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// Its parts that do not count, in bytes: ascending and disjoint.
    pub ranges: Vec<(u32, u32)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PairRank, Thresholds};

    fn read(json: &str) -> Result<PairsRequest, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn options_stand_beside_the_documents_and_unknown_ones_are_refused() {
        let text = r#"{"documents":[],"min_resemblance":0.5,"rank":"weight","limit":5}"#;
        let request = read(text).unwrap();
        let options = PairOptions::default().rank(PairRank::Weight).limit(5usize);
        let thresholds = Thresholds::default().min_resemblance(0.5);
        assert_eq!(request.options, options.thresholds(thresholds));
        assert_eq!(serde_json::to_string(&request).unwrap(), text);
        assert_eq!(read(r#"{"documents":[],"limit":5.0}"#).unwrap().options.limit, Some(5));
        for field in ["min_resemblence", "thresholds", "options", "threads", "against"] {
            let error = read(&format!(r#"{{"documents":[],"{field}":1}}"#)).unwrap_err();
            assert!(error.contains(field), "{error}");
        }
        assert!(read(r#"{"limit":5}"#).unwrap_err().contains("documents"));
    }
}
