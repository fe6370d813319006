//! `POST /v1/compare` and `POST /v1/passages`

use std::sync::Arc;

use axum::extract::{Request, State};
use serde_json::json;

use crate::STEPS_MAX;
use crate::answer::WrittenAnswer;
use crate::app::App;
use crate::body::Body;
use crate::failure::Failure;
use crate::files::{Files, sent_again};
use crate::memory;
use crate::query;
use cento::index::Snapshot;
use cento::runtime::Permit;
use cento::search::Subject;
use cento::text::is_white_space;
use cento::text::kind::no_text_in;
use cento::{Config, Error, Measure, Result, TextPair, compare_by};
use cento_api::http::{
    CompareRequest, CompareResponse, FileReason, PassagesRequest, PassagesResponse, TextOrId,
};
use cento_source::InFile;

/// Compare two documents, stored or not.
///
/// With `multipart/form-data` one or both are files.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/compare",
    tag = "search",
    security(("token" = [])),
    request_body(content(
        (CompareRequest = "application/json"),
        (cento_api::http::CompareFilesRequest = "multipart/form-data"),
    )),
    responses(super::errors::Errors, (status = 200, description = "What the documents have in common", body = CompareResponse))
))]
pub async fn compare(
    State(app): State<Arc<App>>,
    request: Request,
) -> std::result::Result<WrittenAnswer, Failure> {
    let body = app.read_body(request).await?;
    let (request, in_files, room) = match body.is_files() {
        true => files(&app, body).await?,
        false => (body.json()?, Default::default(), body.into_parts().1),
    };
    request.options.check()?;
    let CompareRequest { a, b, options } = request;
    let (searcher, frequencies) = (app.searcher(), app.settings.frequencies.clone());
    let budget = app.memory.clone();
    let response = app.run(move |stop| {
        let _room = room;
        let snapshot = searcher.snapshot();
        let config = snapshot.config();
        let by = Measure::parse_all(&options.measures, frequencies.as_ref(), &config.analyzer)?;
        let by: Vec<Measure> = by.into_iter().map(|by| by.within(STEPS_MAX)).collect();
        let ((a, a_text), (b, b_text)) = (text_of(snapshot, a)?, text_of(snapshot, b)?);
        for (id, text) in [(&a, &a_text), (&b, &b_text)] {
            // An empty text has nothing in common with any text, so an answer would mislead.
            if text.chars().all(is_white_space) {
                let what = match id {
                    Some(id) => format!("the text of the document `{id}` is empty; name another"),
                    None => "a text is empty; give one".to_owned(),
                };
                return Err(Error::arguments(what));
            }
        }
        let _memory = memory::for_comparison(&budget, config, [&*a_text, &*b_text], &stop)?;
        let Config { scheme, analyzer, .. } = config;
        let mut comparison =
            compare_by(scheme, analyzer, TextPair::new(&a_text, &b_text), &by, &options, &stop)?;
        for (unseen, in_file) in comparison.unseen.iter_mut().zip(&in_files) {
            *unseen = unseen.with_hidden(in_file.hidden_characters);
        }
        let [a_file, b_file] = in_files;
        if let Some(origins) = a_file.origins {
            origins.place_a(&mut comparison.passages);
        }
        if let Some(origins) = b_file.origins {
            origins.place_b(&mut comparison.passages);
        }
        Ok(WrittenAnswer::of(&CompareResponse { a, b, comparison }))
    });
    response.await
}

/// Returns a request made from files with a text each, and the other findings in the files.
async fn files(
    app: &Arc<App>,
    body: Body,
) -> std::result::Result<(CompareRequest, [InFile; 2], Permit), Failure> {
    const PARTS: [&str; 2] = ["a", "b"];
    let mut files = Files::read(app, body, &PARTS).await?;
    // Typed clients send a text for each side, which is empty for a side with a file.
    let none = json!({"text": ""});
    for part in PARTS {
        let given = files.field(part);
        match files.parts.iter().filter(|name| *name == part).count() {
            0 if given.is_none() => {
                return Err(Failure::bad_request(format!(
                    "there is no part `{part}`; send it as a file, or name a text or an id as \
                     `{part}` in the part `request`"
                )));
            }
            1 if given.is_some_and(|given| *given != none) => {
                return Err(Failure::bad_request(format!(
                    "`{part}` is sent as a file, and is in the part `request` too; send one of them"
                )));
            }
            0 | 1 => {}
            _ => return Err(sent_again(part)),
        }
    }
    let mut request: CompareRequest = files.request(PARTS.map(|part| (part, none.clone())))?;
    if let Some(FileReason { path, reason }) =
        files.not_read.unread_files.iter().chain(&files.not_read.left_out).next()
    {
        // An incompletely read text would have too little in common with the text compared.
        return Err(Failure::bad_request(format!("{path}: {reason}")));
    }
    let mut in_files = <[InFile; 2]>::default();
    let sides = [&mut request.a, &mut request.b].into_iter().zip(&mut in_files);
    for (part, (side, in_file)) in PARTS.into_iter().zip(sides) {
        let mut documents = files.take(part);
        match (documents.pop(), documents.is_empty()) {
            (Some(found), true) => {
                *side = TextOrId::Text(found.document.text);
                *in_file = found.in_file;
            }
            (Some(_), false) => {
                let message = format!("the file `{part}` holds several texts; send one of them");
                return Err(Failure::bad_request(message));
            }
            (None, _) if files.parts.iter().any(|name| name == part) => {
                let message = format!("the file `{part}` holds no text; send one with a text");
                return Err(Failure::bad_request(message));
            }
            (None, _) => {}
        }
    }
    Ok((request, in_files, files.room))
}

/// Returns the text and, for a stored document, its id.
fn text_of(snapshot: &Snapshot, document: TextOrId) -> Result<(Option<String>, String)> {
    let id = match document {
        TextOrId::Text(text) => {
            return match no_text_in(&text) {
                Some(why) => Err(Error::arguments(format!("a text is binary data: {why}"))),
                None => Ok((None, text)),
            };
        }
        TextOrId::Id(id) => id,
    };
    let Some(address) = snapshot.find(&id)? else { return Err(Error::UnknownId { id }) };
    let what = "documents are compared by their texts, but the index stores none";
    let missing = || Error::argument("id", what);
    let text = snapshot.document(address)?.text.ok_or_else(missing)?;
    Ok((Some(id), text))
}

/// Show the passages that a query shares with a stored document.
///
/// They are the passages that a search with `passages` shows for that hit.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/passages",
    tag = "search",
    security(("token" = [])),
    request_body = PassagesRequest,
    responses(super::errors::Errors, (status = 200, description = "The passages", body = PassagesResponse))
))]
pub async fn passages(
    State(app): State<Arc<App>>,
    request: Request,
) -> std::result::Result<WrittenAnswer, Failure> {
    let body = app.read_body(request).await?;
    let request: PassagesRequest = body.json()?;
    let searcher = app.searcher();
    let (_, room) = body.into_parts();
    let budget = app.memory.clone();
    let response = app.run(move |stop| {
        let _room = room;
        let PassagesRequest { text, parts, id, signature, hit } = request;
        let config = searcher.snapshot().config();
        let query = query::query(text, parts, id, signature, config)?;
        let text = match &query.subject {
            Subject::Text(text) => vec![text.as_str()],
            _ => Vec::new(),
        };
        let own = memory::for_searches(&budget, config, &text, &[], &stop)?;
        let memory = memory::room(&budget, own.as_ref());
        let mut query = query.memory(memory);
        query.stop = stop;
        let passages = searcher.passages_of(&query, &hit)?;
        let (passages, complete) = (passages.found, passages.complete);
        Ok(WrittenAnswer::of(&PassagesResponse { hit, passages, complete }))
    });
    response.await
}
