//! `POST /v1/texts`

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};

use crate::app::App;
use crate::body::Body;
use crate::failure::Failure;
use crate::files::{FileDocument, Files};
use cento_api::http::{FileText, TextsResponse};

/// Extract the texts of files.
///
/// They are the texts that the other routes read from the same files; nothing is kept.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/texts",
    tag = "search",
    security(("token" = [])),
    request_body(content = cento_api::http::OnlyFilesRequest, content_type = "multipart/form-data"),
    responses(super::errors::Errors, (status = 200, description = "The texts", body = TextsResponse))
))]
pub async fn texts(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<TextsResponse>, Failure> {
    let body = Body::read(request, &app.reads, app.settings.body_bytes_max).await?;
    if !body.is_files() {
        return Err(Failure::unsupported("send files, as multipart/form-data"));
    }
    let files = Files::read(&app, body, &["file"]).await?.without_request()?;
    let Files { documents, not_read, .. } = files;
    let documents = documents.into_iter();
    let documents = documents.map(|FileDocument { part, document, list, in_file }| FileText {
        part,
        id: document.id,
        list: list.map(|list| list.as_ref().to_owned()),
        unseen: in_file.unseen(&document.text),
        text: document.text,
    });
    Ok(Json(TextsResponse { documents: documents.collect(), not_read }))
}
