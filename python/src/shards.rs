//! The calls of a shard, and what to ask the shards next: JSON as services read and write it.

use cento::search::{Boilerplate, ForeignSignature, Query, add_up_frequencies, next_step};
use cento::text::kind::no_text_in;
use cento::{Config, Error, Result, Searcher};
use cento_api::http::{
    SearchRequest, ShardCandidatesRequest, ShardFrequenciesRequest, ShardSpansRequest,
};
use cento_api::{ShardAnswers, ShardFrequencies};
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::open_index::OpenIndex;
use crate::run;

/// Answers a request to a shard: `frequencies`, `candidates` or `spans`.
pub fn answer(py: Python<'_>, index: &OpenIndex, call: &str, request: &str) -> PyResult<String> {
    run::long(py, |stop| {
        let searcher = index.searcher()?;
        let asked = |search: SearchRequest| -> Result<(Searcher, Query)> {
            let (mut query, boilerplate) = query_of(search, searcher.snapshot().config())?;
            query.stop = stop.clone();
            let searcher = match boilerplate {
                Some(boilerplate) => searcher.clone().excluding(boilerplate, stop)?,
                None => searcher.clone(),
            };
            Ok((searcher, query))
        };
        match call {
            "frequencies" => {
                let request: ShardFrequenciesRequest = read("the request", request)?;
                let (shard, query) = asked(request.search)?;
                write(&shard.frequencies(&query, request.sample)?)
            }
            "candidates" => {
                let request: ShardCandidatesRequest = read("the request", request)?;
                let (shard, query) = asked(request.search)?;
                write(&shard.candidates(&query, &request.frequencies, request.most)?)
            }
            _ => {
                let request: ShardSpansRequest = read("the request", request)?;
                let (shard, query) = asked(request.search)?;
                write(&shard.spans(&query, &request.winners)?)
            }
        }
    })
}

/// Adds up the frequencies of shards.
#[pyfunction]
pub fn add_up(py: Python<'_>, frequencies: Vec<String>) -> PyResult<String> {
    run::short(py, || {
        let read = |json: &String| read::<ShardFrequencies>("the frequencies", json);
        write(&add_up_frequencies(frequencies.iter().map(read).collect::<Result<_>>()?)?)
    })
}

/// Returns what to ask the shards next about a search, or the answer.
#[pyfunction]
pub fn shard_step(py: Python<'_>, search: &str, answers: &str) -> PyResult<String> {
    run::short(py, || {
        let search: SearchRequest = read("the search", search)?;
        let answers: ShardAnswers = read("the answers", answers)?;
        let mut query = match (search.id, search.text, search.parts) {
            (Some(id), ..) => Query::id(id),
            (None, _, Some(parts)) => {
                Query::of_parts(parts.into_iter().map(|part| (part.name, part.text)))
            }
            // Only a trace reads the text.
            (None, text, None) => Query::text(text.unwrap_or_default()),
        };
        (query.thresholds, query.options) = (search.thresholds, search.options);
        write(&next_step(&query, &answers)?)
    })
}

/// Makes the query of a search, and the text that does not count.
fn query_of(search: SearchRequest, config: &Config) -> Result<(Query, Option<Boilerplate>)> {
    let SearchRequest { text, parts, id, signature, boilerplate, thresholds, options } = search;
    let mut query = match (text, parts, id, signature) {
        (Some(text), None, None, None) => Query::text(text),
        (None, Some(parts), None, None) => {
            Query::of_parts(parts.into_iter().map(|part| (part.name, part.text)))
        }
        (None, None, Some(id), None) => Query::id(id),
        (None, None, None, Some(signature)) => {
            Query::new(ForeignSignature::subject_of(signature, config)?)
        }
        _ => return Err(Error::arguments("give a `text`, `parts` or a `signature`, one of them")),
    };
    if let cento::Subject::Text(text) = &query.subject
        && let Some(why) = no_text_in(text)
    {
        return Err(Error::input("the text", why));
    }
    (query.thresholds, query.options) = (thresholds, options);
    let boilerplate = match boilerplate.is_empty() {
        true => None,
        false => {
            let texts = boilerplate.iter().map(String::as_str);
            Some(Boilerplate::new(config)?.with_texts(texts, &query.stop)?)
        }
    };
    Ok((query, boilerplate))
}

fn read<T: DeserializeOwned>(name: &'static str, json: &str) -> Result<T> {
    serde_json::from_str(json).map_err(|error| Error::arguments(format!("{name}: {error}")))
}

fn write<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::internal("an answer", error.to_string()))
}
