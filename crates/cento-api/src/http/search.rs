//! Requests for a search over HTTP.

use serde::{Deserialize, Serialize};

use super::SignatureBody;
use crate::{PartText, SearchOptions, Thresholds};

/// The maximum number of hits or pairs that a request may ask for.
pub const HITS_MAX: usize = 10_000;

/// A service ranks at most this many candidates by passages, and then returns no more hits.
pub const CANDIDATES_MAX: usize = 1000;

/// A search: one of `text`, `parts`, `id` and `signature`, and the conditions for a hit. The
/// options are the options of `cento search`. A service ranks by passages for a `limit` of at most
/// 1000.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    /// Search for this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(pattern = r"^[^\x00]*$"))]
    pub text: Option<String>,
    /// Search for a text of these parts, such as the files of a submission: their texts, joined
    /// with line feeds. Passages name their parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<PartText>>,
    /// Search for documents like the stored one with this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Search for a signature made elsewhere, as `cento method fingerprint --format json` prints
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<SignatureBody>,
    /// Texts that do not count, such as templates. Counting without them takes time in proportion
    /// to the documents of the index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boilerplate: Vec<String>,
    /// The conditions for a hit.
    #[serde(flatten, deserialize_with = "crate::json::flattened")]
    pub thresholds: Thresholds,
    /// The other options.
    #[serde(flatten, deserialize_with = "crate::json::flattened")]
    pub options: SearchOptions,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Goal, MaxDf};

    fn read(json: &str) -> Result<SearchRequest, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn options_stand_beside_the_subject_and_unknown_ones_are_refused() {
        let request = read(
            r#"{"text": "a", "min_containment": 0.5, "limit": 5, "goal": "trace", "max_df": "0.5"}"#,
        );
        let request = request.unwrap();
        assert_eq!(request.text.as_deref(), Some("a"));
        assert_eq!(request.thresholds, Thresholds::default().min_containment(0.5));
        let options = SearchOptions::default().limit(5).goal(Goal::Trace);
        assert_eq!(request.options, options.max_df(MaxDf::Share(0.5)));
        for field in ["min_containtment", "best", "cover", "estimates", "thresholds", "options"] {
            let error = read(&format!(r#"{{"text": "a", "{field}": true}}"#)).unwrap_err();
            assert!(error.contains(field), "{error}");
        }
    }

    #[test]
    fn whole_numbers_may_have_a_point_beside_others() {
        let request =
            read(r#"{"limit": 10.0, "min_overlap": 1e1, "budget": 3, "candidates": null}"#);
        let request = request.unwrap();
        assert_eq!(request.options, SearchOptions::default().limit(10).budget(3));
        assert_eq!(request.thresholds, Thresholds::default().min_overlap(10));
        assert!(read(r#"{"limit": 10.5}"#).is_err());
        assert!(read(r#"{"min_overlap": 4294967296}"#).is_err());
    }

    #[test]
    fn a_request_survives_serialization() {
        let text = r#"{"id":"a","min_overlap":2,"goal":"hits","rank":"weight","verify":"cosine"}"#;
        assert_eq!(serde_json::to_string(&read(text).unwrap()).unwrap(), text);
    }
}
