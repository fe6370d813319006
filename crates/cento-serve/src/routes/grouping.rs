//! `POST /v1/grouping`

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::body::Body;
use crate::failure::Failure;
use crate::memory;
use crate::turns::client_of;
use cento::Stop;
use cento_api::http::{
    FileOfDocument, FileReason, FilesOfDocument, GroupingRequest, GroupingResponse,
};
use cento_source::{By, GroupedFiles, Grouping, ListedFiles};

/// Make documents of several files, by the names of the files.
///
/// The texts of the files, which `POST /v1/texts` extracts, are then the parts of the documents.
/// Nothing is kept.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/grouping",
    tag = "search",
    security(("token" = [])),
    request_body = GroupingRequest,
    responses(
        super::errors::Errors,
        (status = 200, description = "The documents", body = GroupingResponse),
    )
))]
pub async fn grouping(State(app): State<Arc<App>>, request: Request) -> Result<Response, Failure> {
    let client = client_of(&request);
    let body = app.read_body(request).await?;
    let own = app.clone();
    let found = app.in_turn(client, move |stop, turn| {
        turn.wait(&stop)?;
        let room = memory::for_names(&own.memory, body.bytes(), &stop)?;
        let found = grouped(&body, &stop);
        stop.check()?;
        // The room is returned after the answer is written.
        Ok(found.map(|found| (found, room)))
    });
    let (found, _room) = found.await??;
    Ok(Json(found).into_response())
}

fn grouped(body: &Body, stop: &Stop) -> Result<GroupingResponse, Failure> {
    let GroupingRequest { names, by } = body.json()?;
    check(&names, by.as_deref())?;
    let by = by.map(|by| by.parse::<By>().map_err(|what| Failure::argument("by", what)));
    let by = by.transpose()?.map_or_else(|| By::proposed(&names, stop), Ok)?;
    let ListedFiles { documents, left_out, said, .. } = Grouping::of_names(&by, &names, stop)?;
    // Leave out the advice, which mentions options of the command that clients lack.
    let named = |(path, why): (String, &str)| FileReason { path, reason: why.to_owned() };
    Ok(GroupingResponse {
        by: by.to_string(),
        said,
        documents: documents.into_iter().map(files_of).collect(),
        left_out: left_out.into_iter().map(named).collect(),
    })
}

/// The maximum length of a file name and of a pattern, in bytes. The time to match grows with the
/// square of a name's length.
const NAME_BYTES_MAX: usize = 1024;
const PATTERN_BYTES_MAX: usize = 256;

fn check(names: &[String], by: Option<&str>) -> Result<(), Failure> {
    if let Some(name) = names.iter().find(|name| name.len() > NAME_BYTES_MAX) {
        let bytes = name.len();
        let what = format!("a name has {bytes} bytes; the maximum is {NAME_BYTES_MAX}");
        return Err(Failure::argument("names", what));
    }
    match by.filter(|by| by.len() > PATTERN_BYTES_MAX) {
        Some(_) => {
            let what = format!("a pattern may have {PATTERN_BYTES_MAX} bytes");
            Err(Failure::argument("by", what))
        }
        None => Ok(()),
    }
}

fn files_of(GroupedFiles { id, parts, meta, .. }: GroupedFiles) -> FilesOfDocument {
    let part = |(name, file)| FileOfDocument { name, file: file as u32 };
    FilesOfDocument { id, parts: parts.into_iter().map(part).collect(), meta }
}
