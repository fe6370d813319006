//! Requests for a search over HTTP.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Signature;
use cento::index::Config;
use cento::scheme::frequency::FrequencyTable;
use cento::search::{Goal, Query, SearchOptions, Subject, Thresholds};
use cento::text::kind::no_text_in;
use cento::{Error, Measure, Result};

/// The maximum number of hits, or of pairs, that a request may ask for.
pub const HITS_MAX: usize = 10_000;

/// A service ranks at most this many candidates by passages, and then returns no more hits.
pub const CANDIDATES_MAX: usize = 1000;

/// A search: one of `text`, `id` and `signature`, and the conditions for a hit. The options are
/// those of `cento search`; a service ranks by passages for a `limit` of at most 1000.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    /// Search for this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(pattern = r"^[^\x00]*$"))]
    pub text: Option<String>,
    /// Search for documents like the stored one with this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Search for a signature made elsewhere, as `cento fingerprint --format json` prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    /// Texts that do not count, such as templates. Counting without them takes time in proportion
    /// to the documents of the index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boilerplate: Vec<String>,
    /// The conditions for a hit.
    #[serde(flatten)]
    pub thresholds: Thresholds,
    /// The other options.
    #[serde(flatten)]
    pub options: SearchOptions,
}

impl SearchRequest {
    /// Returns a request with the options of `query`, but without its subject and the contexts of
    /// its filter and its measure: the caller sets texts, ids and signatures as they are to be
    /// sent.
    pub fn of(query: &Query) -> SearchRequest {
        SearchRequest {
            thresholds: query.thresholds,
            options: query.options.clone(),
            ..SearchRequest::default()
        }
    }

    /// Returns the query of an index with this configuration; `frequencies` weighs the words of
    /// measures that know a collection.
    ///
    /// # Errors
    /// When the request is invalid.
    pub fn query(
        self,
        config: &Config,
        frequencies: Option<&Arc<FrequencyTable>>,
    ) -> Result<Query> {
        let SearchRequest { text, id, signature, boilerplate, thresholds, mut options } = self;
        if options.goal == Goal::Passage && !boilerplate.is_empty() {
            let what = "the goal `passage` cannot be combined with `boilerplate`";
            return Err(Error::argument("goal", what));
        }
        if let Some(table) = frequencies {
            let weigh = |measure: Measure| measure.in_collection(table, &config.analyzer);
            options.verify = options.verify.map(weigh).transpose()?;
        }
        let mut query = Query::new(subject(text, id, signature, config)?);
        (query.thresholds, query.options) = (thresholds, options);
        query.check()?;
        Ok(query)
    }
}

/// Returns the subject of a search, one of three that exclude each other.
pub(super) fn subject(
    text: Option<String>,
    id: Option<String>,
    signature: Option<Signature>,
    config: &Config,
) -> Result<Subject> {
    match (text, id, signature) {
        (Some(text), None, None) => match no_text_in(&text) {
            Some(why) => Err(Error::argument("text", format!("`text` is not text: {why}"))),
            None => Ok(Subject::Text(text)),
        },
        (None, Some(id), None) => Ok(Subject::Id(id)),
        (None, None, Some(signature)) => signature.subject(config),
        _ => Err(Error::arguments("exactly one of `text`, `id` and `signature` is required")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> std::result::Result<SearchRequest, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn options_stand_beside_the_subject_and_unknown_ones_are_refused() {
        let request = read(
            r#"{"text": "a", "min_containment": 0.5, "limit": 5, "goal": "cover", "max_df": "0.5"}"#,
        );
        let request = request.unwrap();
        assert_eq!(request.text.as_deref(), Some("a"));
        assert_eq!(request.thresholds, Thresholds::default().min_containment(0.5));
        let options = SearchOptions::default().limit(5).goal(Goal::Cover);
        assert_eq!(request.options, options.max_df(cento::MaxDf::Share(0.5)));
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

    #[test]
    fn an_option_that_is_out_of_bounds_is_named() {
        let config = Config::new("winnow(k=5,w=10)", "words", true).unwrap();
        for (json, named) in [
            (r#"{"text": "a", "min_containment": 1.1}"#, "`min_containment`"),
            (r#"{"text": "a", "min_weighted_resemblance": -1}"#, "`min_weighted_resemblance`"),
            (r#"{"text": "a", "min_passage": 0}"#, "`min_passage`"),
            (r#"{"text": "a", "min_similarity": 0.5}"#, "`verify`"),
            (r#"{"text": "a", "goal": "cover", "rank": "weight"}"#, "`rank`"),
            (r#"{"text": "a", "goal": "passage", "boilerplate": ["b"]}"#, "`boilerplate`"),
        ] {
            let error = read(json).unwrap().query(&config, None).unwrap_err().to_string();
            assert!(error.contains(named), "{json}: {error}");
        }
    }
}
