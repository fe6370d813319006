//! `POST /v1/report`

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;

use super::search::{self, RequestedSearch};
use crate::app::{ANSWER_BYTES_MAX, App};
use crate::failure::Failure;
use crate::memory;
use crate::query;
use crate::turns::client_of;
use cento::Stop;
use cento::index::Document;
use cento::search::{Goal, Searcher};
use cento::{Error, Result};
use cento_api::http::{ReportRequest, SearchRequest};
use cento_api::json::heap_bytes;
use cento_report::{IndexState, MeasuredDocument, PartedText, ReuseReport, Run, warnings};

/// Report how much of a document is reused, with the sources and the places.
///
/// The answer is one self-contained HTML file: numbered sources with shares, the text in their
/// colors, each passage beside its source.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/report",
    tag = "search",
    security(("token" = [])),
    request_body = ReportRequest,
    responses(
        super::errors::Errors,
        (status = 200, description = "The report", body = String, content_type = "text/html"),
    )
))]
pub async fn report(
    State(app): State<Arc<App>>,
    request: Request,
) -> std::result::Result<Response, Failure> {
    let client = client_of(&request);
    let body = app.read_body(request).await?;
    let request: ReportRequest = body.json()?;
    let options = &request.search.options;
    let cost = search::cost_of(options.filter.as_deref(), options.goal);
    let searcher = app.searcher();
    let (_, room) = body.into_parts();
    let own = app.clone();
    let html = app.run_search(client, cost, move |stop| {
        let _room = room;
        made(&own, &searcher, request, stop)
    });
    Ok(file(html.await?))
}

/// Answers with a report.
pub fn file(html: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        // Download the file, because the report is no page of this service.
        (header::CONTENT_DISPOSITION, "attachment; filename=\"report.html\""),
    ];
    (headers, html).into_response()
}

/// Returns the report, unless it exceeds the maximum size of an answer.
///
/// # Errors
/// [`Error::InvalidArgument`] if the report is too large.
pub fn bounded(html: String) -> Result<String> {
    match html.len() > ANSWER_BYTES_MAX / 2 {
        true => {
            let what = "the report is too large; lower `limit`, or send shorter texts";
            Err(Error::argument("limit", what))
        }
        false => Ok(html),
    }
}

/// Returns the current time in the form of a report.
pub fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string()
}

fn made(app: &App, searcher: &Searcher, request: ReportRequest, stop: Stop) -> Result<String> {
    let refused = |what: &str| Error::arguments(what);
    let ReportRequest { mut search, name } = request;
    if search.signature.is_some() || search.options.goal == Goal::Passage {
        return Err(refused("a report is of `text` or `id`, and not with the goal `passage`"));
    }
    search.options.passages = true;
    let search = query::with_canonical_measure(search)?;
    let without = search.options.without.clone();
    let run = described(&search, searcher);
    let stored = |id: &str| -> Result<Option<PartedText>> {
        let unknown = || Error::UnknownId { id: id.to_owned() };
        let snapshot = searcher.snapshot();
        Ok(PartedText::of(snapshot.document(snapshot.find(id)?.ok_or_else(unknown)?)?))
    };
    let text = match (&search.text, &search.parts, &search.id) {
        (Some(text), ..) => text.as_str().into(),
        (None, Some(parts), _) => {
            let parts = parts.iter().map(|part| (part.name.as_str(), part.text.as_str()));
            let Document { text, parts, .. } = Document::of_parts("", parts);
            PartedText { text, parts }
        }
        (None, None, Some(id)) => stored(id)?
            .ok_or_else(|| refused("the index stores no texts; give `text`, not `id`"))?,
        _ => return Err(refused("exactly one of `text`, `parts` and `id` is required")),
    };
    let name = name.or_else(|| search.id.clone()).unwrap_or_else(|| "Text".into());
    let frequencies = app.settings.frequencies.as_ref();
    let limit = search.options.limit;
    let config = searcher.snapshot().config();
    let requested = RequestedSearch::new(search, config, frequencies)?;
    let answer = requested.answer(app, searcher, stop.clone())?;
    app.metrics.searched(&answer);
    let run = answer.defaults.into_iter().fold(run, |run, used| run.with("preset", used));
    let meta_bytes = answer.hits.iter().map(|hit| heap_bytes(&hit.meta)).sum();
    let (_memory, bytes_max) = memory::for_report(&app.memory, text.len(), meta_bytes, &stop)?;
    let mut bytes = 0;
    let text_of = |id: &str| {
        let text = stored(id)?;
        bytes += text.as_ref().map_or(0, |text| text.len());
        match bytes > bytes_max {
            true => Err(refused("the texts of the sources are too large together; lower `limit`")),
            false => Ok(text),
        }
    };
    let analyzer = &searcher.snapshot().config().analyzer;
    let warnings = warnings(&name, &answer.query.unseen);
    let searched = MeasuredDocument::new(name, text, &answer, text_of, analyzer, limit)?;
    let mut report = ReuseReport::new(run, vec![searched], &without)?;
    report.warnings = warnings;
    bounded(report.html())
}

/// Returns the text for the foot of the report: the request's options, without defaults.
fn described(search: &SearchRequest, searcher: &Searcher) -> Run {
    let snapshot = searcher.snapshot();
    let run = Run {
        date: Some(now()),
        index: Some(IndexState {
            // Clients must not see the path.
            place: "of the service".into(),
            generation: Some(snapshot.generation().to_string()),
            documents: snapshot.documents(),
        }),
        ..Run::new("search")
    };
    let mut run = run.analyzed_by(&snapshot.config().analyzer);
    // Reports contain passages in any case, so `passages` tells nothing.
    let options = search.options.clone().passages(false);
    run = run.with_options(&search.thresholds).with_options(&options);
    if !search.boilerplate.is_empty() {
        run = run.with("boilerplate", format!("{} texts", search.boilerplate.len()));
    }
    run
}
