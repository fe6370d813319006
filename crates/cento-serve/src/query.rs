//! Turns requests into queries of the index.

use std::sync::Arc;

use cento::index::Config;
use cento::scheme::frequency::FrequencyTable;
use cento::search::{ForeignSignature, Goal, Query};
use cento::text::kind::no_text_in;
use cento::{Error, Measure, Result};
use cento_api::PartText;
use cento_api::http::{SearchRequest, SignatureBody};

use crate::STEPS_MAX;

/// Returns the query of a request to an index with this configuration, and the texts of
/// boilerplate. `frequencies` weighs words, for measures that know a collection.
///
/// # Errors
/// When the request is invalid.
pub fn of(
    request: SearchRequest,
    config: &Config,
    frequencies: Option<&Arc<FrequencyTable>>,
) -> Result<(Query, Vec<String>)> {
    let SearchRequest { text, parts, id, signature, boilerplate, thresholds, options } = request;
    if options.goal == Goal::Passage && !boilerplate.is_empty() {
        let what = "the goal `passage` cannot be combined with `boilerplate`";
        return Err(Error::argument("goal", what));
    }
    let mut query = query(text, parts, id, signature, config)?;
    (query.thresholds, query.options) = (thresholds, options);
    query.frequencies = frequencies.cloned();
    query.measure_steps_max = Some(STEPS_MAX);
    query.check()?;
    Ok((query, boilerplate))
}

/// Returns the query for the subject of a search, which is one of four fields.
///
/// # Errors
/// When the request has no subject or several, or the subject cannot be used.
pub fn query(
    text: Option<String>,
    parts: Option<Vec<PartText>>,
    id: Option<String>,
    signature: Option<SignatureBody>,
    config: &Config,
) -> Result<Query> {
    let refused = |name: &'static str, why: &str| {
        Err(Error::argument(name, format!("`{name}` is not text: {why}")))
    };
    let is_empty = |text: &str| text.trim().is_empty();
    let empty = |name: &'static str| {
        Err(Error::argument(name, format!("`{name}` is empty; a query needs text")))
    };
    match (text, parts, id, signature) {
        (Some(text), None, None, None) if is_empty(&text) => empty("text"),
        (Some(text), None, None, None) => match no_text_in(&text) {
            Some(why) => refused("text", why),
            None => Ok(Query::text(text)),
        },
        (None, Some(parts), None, None) => {
            if parts.iter().all(|part| is_empty(&part.text)) {
                return empty("parts");
            }
            if let Some(why) = parts.iter().find_map(|part| no_text_in(&part.text)) {
                return refused("parts", why);
            }
            let parts = parts.into_iter().map(|PartText { name, text }| (name, text));
            let query = Query::of_parts(parts);
            query.check()?;
            Ok(query)
        }
        (None, None, Some(id), None) => Ok(Query::id(id)),
        (None, None, None, Some(signature)) => {
            Ok(Query::new(ForeignSignature::subject_of(signature, config)?))
        }
        _ => {
            let what = "exactly one of `text`, `parts`, `id` and `signature` is required";
            Err(Error::arguments(what))
        }
    }
}

/// Writes the measure of a request in canonical form.
///
/// # Errors
/// When the measure is unknown.
pub fn with_canonical_measure(mut request: SearchRequest) -> Result<SearchRequest> {
    if let Some(measure) = &mut request.options.verify {
        *measure = measure.parse::<Measure>()?.to_string();
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> std::result::Result<SearchRequest, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn an_option_that_is_out_of_bounds_is_named() {
        let config = Config::new("winnow(k=5,w=10)", "words", true).unwrap();
        for (json, named) in [
            (r#"{"text": "a", "min_containment": 1.1}"#, "`min_containment`"),
            (r#"{"text": "a", "min_weighted_resemblance": -1}"#, "`min_weighted_resemblance`"),
            (r#"{"text": "a", "min_passage": 0}"#, "`min_passage`"),
            (r#"{"text": ""}"#, "`text` is empty; a query needs text"),
            (r#"{"text": " \n\t"}"#, "`text` is empty; a query needs text"),
            (r#"{"parts": []}"#, "`parts` is empty; a query needs text"),
            (r#"{"parts": [{"name": "a", "text": " "}]}"#, "`parts` is empty; a query needs text"),
            (r#"{"parts": [{"name": "", "text": "a"}]}"#, "the name of its part 1 is empty"),
            (r#"{"text": "a", "min_similarity": 0.5}"#, "`verify`"),
            (r#"{"text": "a", "goal": "trace", "rank": "weight"}"#, "`rank`"),
            (r#"{"text": "a", "goal": "passage", "boilerplate": ["b"]}"#, "`boilerplate`"),
        ] {
            let error = of(read(json).unwrap(), &config, None).unwrap_err().to_string();
            assert!(error.contains(named), "{json}: {error}");
        }
    }
}
