//! `POST /v1/commit` and `POST /v1/compact`

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};

use crate::app::App;
use crate::body::Body;
use crate::command::Command;
use crate::failure::Failure;
use cento_client::api::{CommitResponse, CompactRequest, CompactResponse};

/// Commit what has been added and removed.
#[cfg_attr(feature = "openapi", utoipa::path(
    post,
    path = "/v1/commit",
    tag = "maintenance",
    security(("token" = [])),
    responses((status = 200, description = "Committed: durable and searchable", body = CommitResponse), super::errors::Errors)
))]
pub async fn commit(State(app): State<Arc<App>>) -> Result<Json<CommitResponse>, Failure> {
    Ok(Json(app.command(Command::Commit).await?))
}

/// Merge segments, and give back the space of removed documents.
///
/// Searches and additions go on meanwhile.
#[cfg_attr(feature = "openapi", utoipa::path(
    post,
    path = "/v1/compact",
    tag = "maintenance",
    security(("token" = [])),
    request_body = Option<CompactRequest>,
    responses(
        (status = 200, description = "Done", body = CompactResponse),
        (status = 202, description = "Begun", body = CompactResponse),
        (status = 409, description = "A compaction is running", body = cento_client::api::ErrorBody),
        super::errors::Errors,
    )
))]
pub async fn compact(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<(StatusCode, Json<CompactResponse>), Failure> {
    let is_empty = !request.headers().contains_key(header::CONTENT_TYPE);
    let CompactRequest { segments, wait } = match is_empty {
        true => CompactRequest::default(),
        // A body that does not come must not be waited for without limit, as the end is.
        false => {
            let body = Body::read(request, &app.writes, app.settings.body_bytes_max);
            let body = tokio::time::timeout(app.settings.timeout, body).await;
            let given: Option<CompactRequest> = body.map_err(|_| Failure::timed_out())??.json()?;
            given.unwrap_or_default()
        }
    };
    if segments == 0 {
        return Err(Failure::bad_request("`segments` must be at least 1"));
    }
    let segments = segments as usize;
    let response = app.command(|reply| Command::Compact { segments, reply, wait }).await?;
    let status = if response.done { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok((status, Json(response)))
}
