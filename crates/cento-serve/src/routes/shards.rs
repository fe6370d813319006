//! `POST /v1/shard/frequencies`, `POST /v1/shard/candidates` and `POST /v1/shard/spans`
//!
//! A service over a shard answers these three requests, and a client of all shards composes the
//! answer of a single index. Services send no requests to other services.

use std::sync::Arc;

use axum::extract::{Request, State};
use serde::Serialize;

use super::search::RequestedSearch;
use crate::answer::WrittenAnswer;
use crate::app::App;
use crate::body::Body;
use crate::failure::Failure;
use crate::turns::{Client, client_of};
use cento::Result;
use cento::search::{Query, Searcher};
use cento_api::http::{
    HITS_MAX, SearchRequest, ShardCandidatesRequest, ShardFrequenciesRequest, ShardSpansRequest,
};
#[cfg(test)]
use cento_api::{ShardCandidates, ShardFrequencies, ShardSpans};

/// Count the documents of a shard with each fingerprint of a query.
///
/// The first of three requests that search several indexes as one. Add up the answers of all
/// shards.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/shard/frequencies",
    tag = "shards",
    security(("token" = [])),
    request_body = ShardFrequenciesRequest,
    responses(
        super::errors::Errors,
        (status = 200, description = "The frequencies", body = ShardFrequencies),
    )
))]
pub async fn shard_frequencies(
    State(app): State<Arc<App>>,
    request: Request,
) -> std::result::Result<WrittenAnswer, Failure> {
    let client = client_of(&request);
    let body = app.read_body(request).await?;
    let ShardFrequenciesRequest { search, sample } = body.json()?;
    answer(&app, client, body, search, move |shard, query| shard.frequencies(query, sample)).await
}

/// Find the documents of a shard that may be hits, by the frequencies of all shards.
///
/// The second request. A shard with another commit than the one that it counted refuses it with
/// 409: begin again with the frequencies.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/shard/candidates",
    tag = "shards",
    security(("token" = [])),
    request_body = ShardCandidatesRequest,
    responses(
        super::errors::Errors,
        (status = 200, description = "The best candidates, best first", body = ShardCandidates),
    )
))]
pub async fn shard_candidates(
    State(app): State<Arc<App>>,
    request: Request,
) -> std::result::Result<WrittenAnswer, Failure> {
    let client = client_of(&request);
    let body = app.read_body(request).await?;
    let ShardCandidatesRequest { search, frequencies, most } = body.json()?;
    let ask = move |shard: &Searcher, query: &Query| shard.candidates(query, &frequencies, most);
    answer(&app, client, body, search, ask).await
}

/// Compare the winners of a shard with the query, or read excerpts of them.
///
/// The third request, refused with 409 as the second. If the answer says `needs_sample`, repeat it
/// with the sample of all shards, which the shard then keeps.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/shard/spans",
    tag = "shards",
    security(("token" = [])),
    request_body = ShardSpansRequest,
    responses(
        super::errors::Errors,
        (status = 200, description = "The winners as hits", body = ShardSpans),
    )
))]
pub async fn shard_spans(
    State(app): State<Arc<App>>,
    request: Request,
) -> std::result::Result<WrittenAnswer, Failure> {
    let client = client_of(&request);
    let body = app.read_body(request).await?;
    let ShardSpansRequest { search, winners } = body.json()?;
    if winners.winners.len() > HITS_MAX {
        let message = format!("at most {HITS_MAX} winners can be compared at once; send fewer");
        return Err(Failure::too_large(message));
    }
    answer(&app, client, body, search, move |shard, query| shard.spans(query, &winners)).await
}

/// Calls `ask` with the index and the query of a search, and writes its answer.
async fn answer<T: Serialize>(
    app: &Arc<App>,
    client: Client,
    body: Body,
    search: SearchRequest,
    ask: impl FnOnce(&Searcher, &Query) -> Result<T> + Send + 'static,
) -> std::result::Result<WrittenAnswer, Failure> {
    let (searcher, frequencies) = (app.searcher(), app.settings.frequencies.clone());
    let config = searcher.snapshot().config();
    let requested = RequestedSearch::new(search, config, frequencies.as_ref())?;
    let cost = requested.cost(config);
    let (_, room) = body.into_parts();
    let own = app.clone();
    let answer = app.run_search(client, cost, move |stop| {
        // The room is released after the answer is written.
        let _room = room;
        requested.ask(&own, &searcher, stop, |searcher, query| {
            ask(searcher, query).map(|answer| WrittenAnswer::of(&answer))
        })
    });
    answer.await
}
