//! `/v1/documents` and `POST /v1/remove`

use std::collections::HashSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;

use super::search::cost_of;
use crate::answer::WrittenAnswer;
use crate::app::{App, StopOnDrop};
use crate::body::Body;
use crate::command::{Command, QueueReservation};
use crate::failure::Failure;
use crate::files::{FileDocument, Files};
use crate::readable::Parameters;
use crate::turns::{Client, client_of};
use cento::index::Document;
use cento::search::Goal;
use cento::{Error, Part, Stop};
use cento_api::http::{
    AddResponse, AddedDocument, Commit, DocumentResponse, ListRequest, ListResponse,
    ListedDocument, PatchRequest, PatchResponse, RemoveRequest, RemoveResponse, StoredPart, When,
};
use cento_api::json::heap_bytes;

/// The maximum number of ids in a request to remove documents.
const IDS_MAX: usize = 100_000;

/// The default number of documents in a page of a list.
const PAGE_DEFAULT: usize = 100;

/// The maximum number of documents in a page.
const PAGE_MAX: usize = 1000;

/// The memory of meta objects, in bytes, that ends a page early.
const PAGE_META_BYTES: usize = 8 << 20;

fn status(committed: bool) -> StatusCode {
    if committed { StatusCode::OK } else { StatusCode::ACCEPTED }
}

/// Add a document, or many, in place of those with the same ids.
///
/// With `application/x-ndjson` the body has one document per line; an invalid record is counted,
/// reported with its line, and affects no other. A document with a field of another name is
/// invalid: such fields go into `meta`. With `multipart/form-data` it has files, whose
/// documents are added with their names; files and records that are not read are named in
/// `left_out` and `unread_files`, fields of records in `fields_not_kept`, and the line of an error
/// is the number of the document.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/documents",
    tag = "documents",
    security(("token" = [])),
    params(When),
    request_body(content(
        (AddedDocument = "application/json"),
        (String = "application/x-ndjson"),
        (cento_api::http::OnlyFilesRequest = "multipart/form-data"),
    )),
    responses(
        super::errors::Errors,
        (status = 200, description = "Committed", body = AddResponse),
        (status = 202, description = "Accepted; will be part of the next commit", body = AddResponse),
    )
))]
pub async fn add(
    State(app): State<Arc<App>>,
    Parameters(when): Parameters<When>,
    request: Request,
) -> Result<(StatusCode, Json<AddResponse>), Failure> {
    let body = app.write_body(request).await?;
    let response = match body.is_files() {
        true => add_files(&app, body, when.commit).await?,
        false => app.add(body, when.commit).await?,
    };
    Ok((status(response.committed), Json(response)))
}

/// Adds the documents in files through the same path as lines of JSON.
async fn add_files(app: &Arc<App>, body: Body, commit: Commit) -> Result<AddResponse, Failure> {
    let files = Files::read(app, body, &["file"]).await?.without_request()?;
    let Files { documents, not_read, counts, fields_not_kept, mut room, .. } = files;
    let mut lines = Vec::new();
    for FileDocument { document: Document { id, text, parts, meta, id_source, .. }, .. } in
        documents
    {
        let id_place = id_source.made_of();
        let before = lines.len();
        let document = AddedDocument::new(id, text, &parts, meta, id_place);
        serde_json::to_writer(&mut lines, &document).expect("memory takes every byte");
        lines.push(b'\n');
        if !room.try_grow(lines.len() - before) {
            return Err(Failure::busy("too many bytes of requests are in flight; try again later"));
        }
    }
    let mut response = match lines.is_empty() {
        true => AddResponse { committed: true, ..AddResponse::default() },
        false => app.add(Body::of_lines(lines, room), commit).await?,
    };
    app.metrics.arrived("failed", counts.failed);
    response.report.skipped += counts.skipped;
    response.report.skipped_by_name += counts.skipped_by_name;
    response.report.failed += counts.failed;
    response.report.unread += counts.unread;
    Ok(AddResponse { not_read, fields_not_kept, ..response })
}

/// Read a stored document.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/documents/{id}",
    tag = "documents",
    security(("token" = [])),
    params(("id" = String, Path, description = "The id, percent-encoded")),
    responses(super::errors::Errors, (status = 200, description = "The document", body = DocumentResponse))
))]
pub async fn stored(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<WrittenAnswer, Failure> {
    let searcher = app.searcher();
    let response = app.run(move |_| {
        let snapshot = searcher.snapshot();
        let Some(address) = snapshot.find(&id)? else { return Err(Error::UnknownId { id }) };
        let document = snapshot.document(address)?;
        let part = |part: Part| StoredPart { name: part.name, start: part.start };
        let segment = &snapshot.segment(address).signatures;
        Ok(WrittenAnswer::of(&DocumentResponse {
            id: document.id,
            text: document.text,
            parts: document.parts.into_iter().map(part).collect(),
            meta: document.meta,
            tokens: segment.document(address.doc)?.tokens,
            fingerprints: searcher.size_of(address)?,
        }))
    });
    response.await
}

/// List the stored documents, page by page, in the order of their ids.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/documents",
    tag = "documents",
    security(("token" = [])),
    params(ListRequest),
    responses(super::errors::Errors, (status = 200, description = "A page", body = ListResponse))
))]
pub async fn list(
    State(app): State<Arc<App>>,
    Parameters(request): Parameters<ListRequest>,
    sent: Request,
) -> Result<WrittenAnswer, Failure> {
    let limit = request.limit.unwrap_or(PAGE_DEFAULT);
    if !(1..=PAGE_MAX).contains(&limit) {
        return Err(Failure::argument("limit", format!("`limit` must be 1 to {PAGE_MAX}")));
    }
    let searcher = app.searcher();
    let cost = cost_of(request.filter.as_deref(), Goal::Hits);
    let page = app.run_search(client_of(&sent), cost, move |stop| {
        let snapshot = searcher.snapshot();
        let ListRequest { cursor, filter, .. } = &request;
        // Asking for a further document shows whether a further page exists.
        let after = cursor.as_deref();
        let found = searcher.documents_after(after, limit + 1, filter.as_deref(), &stop)?;
        let (mut documents, mut metas_bytes) = (Vec::<ListedDocument>::new(), 0);
        let mut cursor = None;
        for address in found {
            let document = snapshot.document(address)?;
            let last = documents.last().map(|last| &last.id);
            let is_full = documents.len() >= limit || metas_bytes > PAGE_META_BYTES;
            // Documents with the same id stay on a page, because the cursor is an id.
            if is_full && last.is_some_and(|last| *last != document.id) {
                cursor = last.cloned();
                break;
            }
            metas_bytes += heap_bytes(&document.meta);
            let added = jiff::Timestamp::from_second(snapshot.added(address)?).ok();
            documents.push(ListedDocument {
                id: document.id,
                index: snapshot.name_of(address).map(str::to_owned),
                tokens: snapshot.segment(address).signatures.document(address.doc)?.tokens,
                bytes: document.text.map(|text| text.len() as u64),
                parts: Some(document.parts.len() as u32).filter(|&parts| parts > 0),
                added: added.map(|time| time.to_string()),
                meta: document.meta,
            });
        }
        Ok(WrittenAnswer::of(&ListResponse { documents, cursor }))
    });
    page.await
}

/// Remove a document.
#[cfg_attr(test, utoipa::path(
    delete,
    path = "/v1/documents/{id}",
    tag = "documents",
    security(("token" = [])),
    params(("id" = String, Path, description = "The id, percent-encoded"), When),
    responses(
        super::errors::Errors,
        (status = 200, description = "Committed", body = RemoveResponse),
        (status = 202, description = "Accepted; will be part of the next commit", body = RemoveResponse),
    )
))]
pub async fn remove_one(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Parameters(when): Parameters<When>,
) -> Result<(StatusCode, Json<RemoveResponse>), Failure> {
    let response = remove_all(&app, vec![id], when.commit, app.no_room()?).await?;
    match response.missing.first() {
        Some(id) => Err(Error::UnknownId { id: id.clone() }.into()),
        None => Ok((status(response.committed), Json(response))),
    }
}

/// Change the meta object of a stored document, which keeps its text.
#[cfg_attr(test, utoipa::path(
    patch,
    path = "/v1/documents/{id}",
    tag = "documents",
    security(("token" = [])),
    params(("id" = String, Path, description = "The id, percent-encoded"), When),
    request_body = PatchRequest,
    responses(
        super::errors::Errors,
        (status = 200, description = "Committed", body = PatchResponse),
        (status = 202, description = "Accepted; will be part of the next commit",
            body = PatchResponse),
    )
))]
pub async fn patch(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Parameters(when): Parameters<When>,
    request: Request,
) -> Result<(StatusCode, Json<PatchResponse>), Failure> {
    let body = app.write_body(request).await?;
    let PatchRequest { meta: patch } = body.json()?;
    let (commit, room) = (when.commit, app.room(body));
    let done = app.command(|reply| Command::Patch { id, patch, commit, room, reply });
    let response = done.await?;
    Ok((status(response.committed), Json(response)))
}

/// Remove documents: those with the given ids, or all that match a filter.
///
/// A filter is evaluated by the thread that writes: other changes wait meanwhile, and searches
/// continue.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/remove",
    tag = "documents",
    security(("token" = [])),
    params(When),
    request_body = RemoveRequest,
    responses(
        super::errors::Errors,
        (status = 200, description = "Committed, or with `dry_run` counted", body = RemoveResponse),
        (status = 202, description = "Accepted; will be part of the next commit", body = RemoveResponse),
    )
))]
pub async fn remove(
    State(app): State<Arc<App>>,
    Parameters(when): Parameters<When>,
    request: Request,
) -> Result<(StatusCode, Json<RemoveResponse>), Failure> {
    let client = client_of(&request);
    let body = app.write_body(request).await?;
    let request: RemoveRequest = body.json()?;
    if request.ids.as_ref().is_some_and(|ids| ids.len() > IDS_MAX) {
        let message = format!("at most {IDS_MAX} documents can be removed at once; send fewer");
        return Err(Failure::too_large(message));
    }
    if request.dry_run {
        return Ok((StatusCode::OK, Json(to_remove(&app, client, request).await?)));
    }
    let response = match (request.ids, request.filter) {
        (Some(ids), None) => remove_all(&app, ids, when.commit, app.room(body)).await?,
        (None, Some(filter)) => {
            // The stop is set when the client has gone. Then the remaining documents stay.
            let (stop, commit) = (StopOnDrop(Stop::new()), when.commit);
            let own = stop.0.clone();
            let command = |reply| Command::RemoveMatching { filter, commit, stop: own, reply };
            app.command(command).await?
        }
        _ => return Err(one_of_ids_and_filter()),
    };
    Ok((status(response.committed), Json(response)))
}

fn one_of_ids_and_filter() -> Failure {
    Failure::argument("ids", "give either `ids` or `filter`: the documents to remove")
}

/// Counts the documents that a request would remove.
async fn to_remove(
    app: &App,
    client: Client,
    request: RemoveRequest,
) -> Result<RemoveResponse, Failure> {
    // Commit first, because the real removal would see the accepted changes.
    app.command(Command::Commit).await?;
    let searcher = app.searcher();
    let (ids, filter) = match (request.ids, request.filter) {
        (Some(ids), None) => (ids, None),
        (None, Some(filter)) => (Vec::new(), Some(filter)),
        _ => return Err(one_of_ids_and_filter()),
    };
    let cost = cost_of(filter.as_deref(), Goal::Hits);
    let found = app.run_search(client, cost, move |stop| {
        let mut found = RemoveResponse { removed: 0, missing: Vec::new(), committed: false };
        if let Some(filter) = filter {
            found.removed = searcher.count_matching(&filter, &stop)?;
        }
        let mut seen = HashSet::new();
        for id in ids {
            stop.check()?;
            match searcher.snapshot().find(&id)? {
                _ if !seen.insert(id.clone()) => {}
                Some(_) => found.removed += 1,
                None => found.missing.push(id),
            }
        }
        Ok(found)
    });
    found.await
}

async fn remove_all(
    app: &App,
    ids: Vec<String>,
    commit: Commit,
    room: QueueReservation,
) -> Result<RemoveResponse, Failure> {
    app.command(|reply| Command::Remove { ids, commit, room, reply }).await
}
