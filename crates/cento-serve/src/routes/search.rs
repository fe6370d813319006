//! `POST /v1/search`

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::answer::WrittenAnswer;
use crate::app::{ANSWER_BYTES_MAX, App};
use crate::batch;
use crate::body::{self, Body};
use crate::failure::Failure;
use crate::files::{FileDocument, Files};
use crate::memory;
use crate::query;
use crate::turns::{Client, client_of};
use cento::Stop;
use cento::index::{Config, Document};
use cento::scheme::frequency::FrequencyTable;
use cento::search::{Answer, Boilerplate, Cost, Goal, Query, Rank, Searcher, Subject, reads_texts};
use cento::{Error, Result};
#[cfg(test)]
use cento_api::http::SearchFilesResponse;
use cento_api::http::{CANDIDATES_MAX, FileAnswer, HITS_MAX, NotRead, SearchRequest};
use cento_api::part::exchanged_parts;

/// The maximum size, in bytes, of a search's body to read regardless of other searches.
const QUICK_BYTES_MAX: usize = 4 << 10;

/// The refusal of several searches at once.
const TOO_MANY_ANSWERS: &str =
    "the answers are too large together; send fewer searches at a time, or lower `limit`";

/// The type of answers to a search for files. A single answer has a different type, so every type
/// has one schema.
const ANSWERS: &str = "application/vnd.cento.answers+json";

/// Find the documents that share text with a given one.
///
/// With `application/x-ndjson` the body is a batch with one search per line; the answer has one
/// line for each, in the same order: the answer to that search alone. With `multipart/form-data`
/// the body is files, and each document in them is searched for; `request` has neither text nor id.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/search",
    tag = "search",
    security(("token" = [])),
    request_body(content(
        (SearchRequest = "application/json"),
        (String = "application/x-ndjson"),
        (cento_api::http::FilesRequest = "multipart/form-data"),
    )),
    responses(
        super::errors::Errors,
        (status = 200, description = "The hits, best first", content(
            (Answer = "application/json"),
            (SearchFilesResponse = "application/vnd.cento.answers+json"),
            (String = "application/x-ndjson"),
        )),
    )
))]
pub async fn search(
    State(app): State<Arc<App>>,
    request: Request,
) -> std::result::Result<Response, Failure> {
    let client = client_of(&request);
    let body = app.quick_body(request, QUICK_BYTES_MAX).await?;
    if body.is_lines() {
        return batch(&app, body, client).await;
    }
    if body.is_files() {
        return Ok(files(&app, body, client).await?.into_response());
    }
    let request: SearchRequest = body.json()?;
    let (searcher, frequencies) = (app.searcher(), app.settings.frequencies.clone());
    let requested =
        RequestedSearch::new(request, searcher.snapshot().config(), frequencies.as_ref())?;
    let cost = requested.cost(searcher.snapshot().config());
    if cost == Cost::Postings {
        // Answer on this thread, regardless of other searches.
        return Ok(requested.written(&app, &searcher, Stop::default())?.into_response());
    }
    // The room is released after the search.
    let (_, room) = body.into_parts();
    let own = app.clone();
    let answer = app.run_search(client, cost, move |stop| {
        let _room = room;
        requested.written(&own, &searcher, stop)
    });
    Ok(answer.await?.into_response())
}

/// Searches for every document in files.
async fn files(
    app: &Arc<App>,
    body: Body,
    client: Client,
) -> std::result::Result<WrittenAnswer, Failure> {
    let mut files = Files::read(app, body, &["file"]).await?;
    let request: SearchRequest = files.request([])?;
    let SearchRequest { text, parts, id, signature, .. } = &request;
    if text.is_some() || parts.is_some() || id.is_some() || signature.is_some() {
        let message = "the files are the queries; give neither text, parts, id nor signature";
        return Err(Failure::bad_request(message));
    }
    let Files { documents, not_read, room, .. } = files;
    let documents_max = app.settings.batch_max;
    if documents.len() > documents_max {
        let message =
            format!("at most {documents_max} documents can be searched for; send fewer at a time");
        return Err(Failure::too_large(message));
    }
    let (own, searcher) = (app.clone(), app.searcher());
    let written = app.run_search(
        client,
        cost_of(request.options.filter.as_deref(), request.options.goal),
        move |stop| {
            let _room = room;
            let (mut answers, mut bytes) = (Vec::with_capacity(documents.len()), 0);
            for document in documents {
                let answer = answer_of_file(&own, &searcher, document, &request, stop.clone())?;
                bytes += answer.get().len();
                if bytes > ANSWER_BYTES_MAX / 2 {
                    return Ok(Err(Failure::too_large(TOO_MANY_ANSWERS)));
                }
                answers.push(answer);
            }
            Ok(Ok(WrittenAnswer::with_kind(&WrittenAnswers { answers, not_read }, ANSWERS)))
        },
    );
    written.await?
}

/// The answer of [`SearchFilesResponse`](cento_api::http::SearchFilesResponse), made of answers
/// that are written already, because the meta objects of all answers could take too much memory.
#[derive(Serialize)]
struct WrittenAnswers {
    answers: Vec<Box<RawValue>>,
    #[serde(flatten)]
    not_read: NotRead,
}

/// Searches for a document in a file, and returns the [`FileAnswer`] as JSON.
fn answer_of_file(
    app: &App,
    searcher: &Searcher,
    FileDocument { document: Document { id, text, parts, .. }, in_file, .. }: FileDocument,
    request: &SearchRequest,
    stop: Stop,
) -> Result<Box<RawValue>> {
    let (text, parts) = match parts.is_empty() {
        true => (Some(text), None),
        false => (None, Some(exchanged_parts(&parts, &text))),
    };
    let request = SearchRequest { text, parts, ..request.clone() };
    let config = searcher.snapshot().config();
    let requested = RequestedSearch::new(request, config, app.settings.frequencies.as_ref())?;
    requested.ask(app, searcher, stop, |searcher, query| {
        let mut answer = searcher.search(query)?;
        app.metrics.searched(&answer);
        answer.query.unseen = answer.query.unseen.with_hidden(in_file.hidden_characters);
        if let Some(origins) = in_file.origins {
            let hits = answer.hits.iter_mut();
            origins.place_a(hits.flat_map(|hit| hit.passages.iter_mut().flatten()));
        }
        let answer = FileAnswer { id, answer };
        Ok(serde_json::value::to_raw_value(&answer).expect("memory takes every byte"))
    })
}

/// The options that may make a search read every text of the index.
#[derive(Default, Deserialize)]
#[serde(default)]
struct TextOptions {
    filter: Option<String>,
    goal: Goal,
}

/// Returns an upper bound of the cost of searches with these options.
pub(super) fn cost_of(filter: Option<&str>, goal: Goal) -> Cost {
    match goal == Goal::Trace || filter.is_some_and(reads_texts) {
        true => Cost::EveryText,
        false => Cost::Texts,
    }
}

/// Returns an upper bound of the cost of a batch.
fn cost_of_batch(body: &Body) -> Cost {
    // Few batches have these letters, so the lines are rarely read twice.
    let has_neither = |text: &str| !text.contains("text:") && !text.contains("trace");
    if str::from_utf8(body.bytes()).is_ok_and(has_neither) {
        return Cost::Texts;
    }
    let cost = |line| {
        // A line that is no search costs nothing.
        let TextOptions { filter, goal } = serde_json::from_slice(line).unwrap_or_default();
        cost_of(filter.as_deref(), goal)
    };
    body.lines().map(cost).max().unwrap_or(Cost::Texts)
}

/// A requested search with its boilerplate.
pub(super) struct RequestedSearch {
    query: Query,
    /// Texts to ignore in the query and the hits.
    boilerplate: Vec<String>,
}

impl RequestedSearch {
    /// Checks a request and makes its query.
    ///
    /// # Errors
    /// When the request is invalid.
    pub(super) fn new(
        request: SearchRequest,
        config: &Config,
        frequencies: Option<&Arc<FrequencyTable>>,
    ) -> Result<RequestedSearch> {
        let options = &request.options;
        if options.limit.is_some_and(|limit| limit > HITS_MAX) {
            return Err(Error::argument("limit", format!("`limit` must be at most {HITS_MAX}")));
        }
        // There are never fewer candidates than hits.
        let is_more = |number: Option<usize>| number.is_some_and(|number| number > CANDIDATES_MAX);
        if options.rank == Some(Rank::Passages) && is_more(options.limit) {
            let what = format!("`limit` must be at most {CANDIDATES_MAX} to rank by passages");
            return Err(Error::argument("limit", what));
        }
        for (name, number) in [("candidates", options.candidates), ("carriers", options.carriers)] {
            if is_more(number) {
                let what = format!("`{name}` must be at most {CANDIDATES_MAX}");
                return Err(Error::argument(name, what));
            }
        }
        let (query, boilerplate) = query::of(request, config, frequencies)?;
        Ok(RequestedSearch { query, boilerplate })
    }

    /// Returns the cost of the search. Reading a few postings takes less time than handing the
    /// search to another thread and back.
    pub(super) fn cost(&self, config: &Config) -> Cost {
        let least = if self.boilerplate.is_empty() { Cost::Postings } else { Cost::Texts };
        self.query.cost(config).max(least)
    }

    /// Runs the search and writes the hits.
    fn written(self, app: &App, searcher: &Searcher, stop: Stop) -> Result<WrittenAnswer> {
        self.ask(app, searcher, stop, |searcher, query| {
            let answer = searcher.search(query)?;
            app.metrics.searched(&answer);
            Ok(WrittenAnswer::of(&answer))
        })
    }

    /// Runs the search and returns the hits, whose memory is no longer reserved.
    pub(super) fn answer(self, app: &App, searcher: &Searcher, stop: Stop) -> Result<Answer> {
        self.ask(app, searcher, stop, Searcher::search)
    }

    /// Calls `ask` with the searcher and the query, without the ignored texts. The memory of the
    /// answer is reserved until `ask` returns.
    pub(super) fn ask<T>(
        self,
        app: &App,
        searcher: &Searcher,
        stop: Stop,
        ask: impl FnOnce(&Searcher, &Query) -> Result<T>,
    ) -> Result<T> {
        let RequestedSearch { mut query, boilerplate } = self;
        let config = searcher.snapshot().config();
        let known: Vec<&str> = boilerplate.iter().map(String::as_str).collect();
        let own = match &query.subject {
            Subject::Text(text) => vec![text.as_str()],
            _ => Vec::new(),
        };
        let own = memory::for_searches(&app.memory, config, &own, &known, &stop)?;
        query.memory = memory::room(&app.memory, own.as_ref());
        query.stop = stop;
        if boilerplate.is_empty() {
            return ask(searcher, &query);
        }
        let boilerplate = Boilerplate::new(config)?
            .with_texts(boilerplate.iter().map(String::as_str), &query.stop)?;
        ask(&searcher.clone().excluding(boilerplate, &query.stop)?, &query)
    }
}

/// Answers a search of a batch with a line.
fn line_of(app: &App, searcher: &Searcher, line: &[u8], stop: Stop) -> Vec<u8> {
    let frequencies = app.settings.frequencies.as_ref();
    let written = body::parse(line).and_then(|request| {
        let config = searcher.snapshot().config();
        let requested = RequestedSearch::new(request, config, frequencies)?;
        Ok(requested.written(app, searcher, stop)?)
    });
    let mut line = match written {
        Ok(answer) => answer.into_json(),
        Err(failure) => serde_json::to_vec(&failure.body()).expect("memory takes every byte"),
    };
    line.push(b'\n');
    line
}

async fn batch(
    app: &Arc<App>,
    body: Body,
    client: Client,
) -> std::result::Result<Response, Failure> {
    let batch_max = app.settings.batch_max;
    if body.lines().count() > batch_max {
        let message =
            format!("a batch can have at most {batch_max} searches; send fewer at a time");
        return Err(Failure::too_large(message));
    }
    // All searches of a batch see the same commit.
    let (searcher, own, cost) = (app.searcher(), app.clone(), cost_of_batch(&body));
    let lines = app.run_search(client, cost, move |stop| {
        let lines: Vec<&[u8]> = body.lines().collect();
        let answers: Vec<OnceLock<Vec<u8>>> = lines.iter().map(|_| OnceLock::new()).collect();
        let bytes = AtomicUsize::new(0);
        let answer = |number: usize| {
            let line = line_of(&own, &searcher, lines[number], stop.clone());
            let before = bytes.fetch_add(line.len(), Ordering::Relaxed);
            let is_too_large = before + line.len() > ANSWER_BYTES_MAX / 2;
            let _ = answers[number].set(line);
            !is_too_large && !stop.is_set()
        };
        // A search that takes minutes must not take a thread from short searches.
        let is_long = cost == Cost::EveryText;
        let others_max = if is_long { 0 } else { own.settings.threads.saturating_sub(1) };
        batch::share(lines.len(), others_max, &|| own.one_more(), &answer);
        if stop.is_set() {
            return Err(Error::Cancelled);
        }
        if bytes.into_inner() > ANSWER_BYTES_MAX / 2 {
            return Ok(Err(Failure::too_large(TOO_MANY_ANSWERS)));
        }
        Ok(Ok(answers.into_iter().filter_map(OnceLock::into_inner).flatten().collect::<Vec<u8>>()))
    });
    let lines = lines.await??;
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], lines).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_batch_with_a_search_that_may_read_every_text_waits_for_its_turn() {
        let cost = |lines: &str| {
            let room = body::Gate::new(0).enter(0).unwrap();
            cost_of_batch(&Body::of_lines(lines.as_bytes().to_vec(), room))
        };
        let quick = json!({"text": "a context: of words, and a trace of them"});
        assert_eq!(cost(&quick.to_string()), Cost::Texts);
        assert_eq!(cost("no search with text:"), Cost::Texts);
        for slow in [
            json!({"text": "a", "filter": "text:\"went up\""}),
            json!({"text": "a", "goal": "trace"}),
        ] {
            assert_eq!(cost(&format!("{quick}\n{slow}\n{quick}")), Cost::EveryText);
        }
    }

    #[test]
    fn a_search_is_quick_if_it_reads_few_postings_and_has_no_boilerplate() {
        let config = Config::new("winnow(k=5,w=10)", "words", true).unwrap();
        let is_quick = |request: Value| {
            let request: SearchRequest = serde_json::from_value(request).unwrap();
            RequestedSearch::new(request, &config, None).unwrap().cost(&config) == Cost::Postings
        };
        assert!(is_quick(json!({"text": "a short text"})));
        assert!(!is_quick(json!({"text": "a short text", "boilerplate": ["a"]})));
        assert!(!is_quick(json!({"text": "a short text", "passages": true})));
        assert!(!is_quick(json!({"text": "a ".repeat(3 << 10)})));
        assert!(!is_quick(json!({"id": "a"})));
    }
}
