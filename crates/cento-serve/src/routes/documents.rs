//! `/v1/documents` and `POST /v1/remove`

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;

use crate::app::App;
use crate::body::Body;
use crate::command::{Command, Room};
use crate::failure::Failure;
use cento::Error;
use cento_client::api::{
    AddResponse, Commit, DocumentResponse, RemoveRequest, RemoveResponse, When,
};

/// The maximum number of documents that one request removes.
const IDS_MAX: usize = 100_000;

fn status(committed: bool) -> StatusCode {
    if committed { StatusCode::OK } else { StatusCode::ACCEPTED }
}

/// Add a document, or many, in place of those with the same ids.
///
/// With `application/x-ndjson` the body has a document a line; an invalid record is counted, reported
/// with its line, and disturbs no other.
#[cfg_attr(feature = "openapi", utoipa::path(
    post,
    path = "/v1/documents",
    tag = "documents",
    security(("token" = [])),
    params(When),
    request_body(content(
        (cento_client::api::DocumentBody = "application/json"),
        (String = "application/x-ndjson"),
    )),
    responses(
        (status = 200, description = "Committed", body = AddResponse),
        (status = 202, description = "Accepted; will be part of the next commit", body = AddResponse),
        super::errors::Errors,
    )
))]
pub async fn add(
    State(app): State<Arc<App>>,
    Query(when): Query<When>,
    request: Request,
) -> Result<(StatusCode, Json<AddResponse>), Failure> {
    let body = Body::read(request, &app.writes, app.settings.body_bytes_max).await?;
    let response = app.add(body, when.commit).await?;
    Ok((status(response.committed), Json(response)))
}

/// Read a stored document.
#[cfg_attr(feature = "openapi", utoipa::path(
    get,
    path = "/v1/documents/{id}",
    tag = "documents",
    security(("token" = [])),
    params(("id" = String, Path, description = "The id, percent-encoded")),
    responses((status = 200, description = "The document", body = DocumentResponse), super::errors::Errors)
))]
pub async fn stored(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<DocumentResponse>, Failure> {
    let searcher = app.searcher();
    let response = app.run(move |_| {
        let snapshot = searcher.snapshot();
        let Some(address) = snapshot.find(&id)? else { return Err(Error::UnknownId { id }) };
        let document = snapshot.document(address)?;
        let segment = &snapshot.segment(address).signatures;
        Ok(DocumentResponse {
            id: document.id,
            text: document.text,
            meta: document.meta,
            tokens: segment.document(address.doc)?.tokens,
            fingerprints: searcher.size_of(address)?,
        })
    });
    Ok(Json(response.await?))
}

/// Remove a document.
#[cfg_attr(feature = "openapi", utoipa::path(
    delete,
    path = "/v1/documents/{id}",
    tag = "documents",
    security(("token" = [])),
    params(("id" = String, Path, description = "The id, percent-encoded"), When),
    responses(
        (status = 200, description = "Committed", body = RemoveResponse),
        (status = 202, description = "Accepted; will be part of the next commit", body = RemoveResponse),
        super::errors::Errors,
    )
))]
pub async fn remove_one(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Query(when): Query<When>,
) -> Result<(StatusCode, Json<RemoveResponse>), Failure> {
    let response = remove_all(&app, vec![id], when.commit, app.no_room()?).await?;
    match response.missing.first() {
        Some(id) => Err(Error::UnknownId { id: id.clone() }.into()),
        None => Ok((status(response.committed), Json(response))),
    }
}

/// Remove documents.
#[cfg_attr(feature = "openapi", utoipa::path(
    post,
    path = "/v1/remove",
    tag = "documents",
    security(("token" = [])),
    params(When),
    request_body = RemoveRequest,
    responses(
        (status = 200, description = "Committed", body = RemoveResponse),
        (status = 202, description = "Accepted; will be part of the next commit", body = RemoveResponse),
        super::errors::Errors,
    )
))]
pub async fn remove(
    State(app): State<Arc<App>>,
    Query(when): Query<When>,
    request: Request,
) -> Result<(StatusCode, Json<RemoveResponse>), Failure> {
    let body = Body::read(request, &app.writes, app.settings.body_bytes_max).await?;
    let RemoveRequest { ids } = body.json()?;
    if ids.len() > IDS_MAX {
        let message = format!("at most {IDS_MAX} documents can be removed at once; send fewer");
        return Err(Failure::too_large(message));
    }
    let response = remove_all(&app, ids, when.commit, app.room(body)).await?;
    Ok((status(response.committed), Json(response)))
}

async fn remove_all(
    app: &App,
    ids: Vec<String>,
    commit: Commit,
    room: Room,
) -> Result<RemoveResponse, Failure> {
    app.command(|reply| Command::Remove { ids, commit, room, reply }).await
}
