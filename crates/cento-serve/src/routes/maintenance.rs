//! `POST /v1/commit`, `POST /v1/compact` and `POST /v1/merge`

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};

use crate::app::App;
use crate::body::Body;
use crate::command::Command;
use crate::failure::Failure;
use cento::{AddIndexesOptions, AddedIndexes};
use cento_api::http::{CommitResponse, CompactRequest, CompactResponse, MergeRequest};

/// Commit all additions and removals.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/commit",
    tag = "maintenance",
    security(("token" = [])),
    responses(super::errors::Errors, (status = 200, description = "Committed: durable and searchable", body = CommitResponse))
))]
pub async fn commit(State(app): State<Arc<App>>) -> Result<Json<CommitResponse>, Failure> {
    Ok(Json(app.command(Command::Commit).await?))
}

/// Merge segments, and reclaim the space of removed documents.
///
/// Searches and additions continue meanwhile.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/compact",
    tag = "maintenance",
    security(("token" = [])),
    request_body = Option<CompactRequest>,
    responses(
        super::errors::Errors,
        (status = 200, description = "Done", body = CompactResponse),
        (status = 202, description = "Begun", body = CompactResponse),
        (status = 409, description = "A compaction is running", body = cento_api::http::ErrorBody),
    )
))]
pub async fn compact(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<(StatusCode, Json<CompactResponse>), Failure> {
    let is_empty = !request.headers().contains_key(header::CONTENT_TYPE);
    let CompactRequest { segments, wait } = match is_empty {
        true => CompactRequest::default(),
        false => body(&app, request).await?.json::<Option<CompactRequest>>()?.unwrap_or_default(),
    };
    if segments == 0 {
        return Err(Failure::argument("segments", "`segments` must be at least 1"));
    }
    let segments = segments as usize;
    let response = app.command(|reply| Command::Compact { segments, reply, wait }).await?;
    let status = if response.done { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok((status, Json(response)))
}

/// Merge finished indexes into this one, all in one commit.
///
/// They are in the directory that the service was started with for them. Searches continue
/// meanwhile; other changes wait. A repeated request changes nothing.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/merge",
    tag = "maintenance",
    security(("token" = [])),
    request_body = MergeRequest,
    responses(
        super::errors::Errors,
        (status = 200, description = "AddedIndexes: durable and searchable", body = AddedIndexes),
        (status = 409, description = "The indexes do not fit, are being written, or have an id \
                                      twice", body = cento_api::http::ErrorBody),
    )
))]
pub async fn merge(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<AddedIndexes>, Failure> {
    let Some(shards) = app.shards.clone() else {
        let message = "this service merges no indexes: it was started without a directory for them";
        return Err(Failure::new(StatusCode::FORBIDDEN, "not_allowed", message));
    };
    let MergeRequest { shards: names, on_conflict } = body(&app, request).await?.json()?;
    let options = AddIndexesOptions::default().on_conflict(on_conflict);
    let paths = shards.find(&names)?;
    let merged = app.command(|reply| Command::Merge { shards: paths, options, reply }).await?;
    let index = app.searcher().snapshot().index().path().to_owned();
    merged.map(Json).map_err(|error| shards.failure(&index, &error))
}

/// Reads the body within the time limit, for routes without a time limit for the work.
async fn body(app: &App, request: Request) -> Result<Body, Failure> {
    let body = Body::read(request, &app.writes, app.settings.body_bytes_max);
    tokio::time::timeout(app.settings.timeout, body).await.map_err(|_| Failure::timed_out())?
}
