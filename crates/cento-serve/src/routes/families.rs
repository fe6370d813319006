//! `POST /v1/families` and `/v1/lineage`

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;

use crate::app::App;
use crate::failure::Failure;
use crate::lines::Lines;
use crate::memory;
use cento::join::families::{FamilyOptions, families};
use cento::join::lineage::{LineageOptions, lineage};
use cento_api::http::{FamiliesSummary, HITS_MAX, LineageSummary, ValueWithoutDate};

/// Find the families of passages: each reused passage once, with all documents that carry it.
///
/// With `document` only the families that this document carries, with `since` those that newer
/// documents carry; either is much quicker than all. The answer has lines of JSON: a summary, then
/// the families, those of most documents first. It has no time limit; the work ends when the
/// client disconnects.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/families",
    operation_id = "families",
    tag = "search",
    security(("token" = [])),
    request_body = FamilyOptions,
    responses(
        (
            status = 200,
            description = "A summary (`FamiliesSummary`), then families (`Family`)",
            body = String,
            content_type = "application/x-ndjson",
        ),
        super::errors::Errors,
    )
))]
pub async fn of_passages(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Failure> {
    let options: FamilyOptions = app.read_body(request).await?.json()?;
    options.check()?;
    if options.limit.is_some_and(|limit| limit > HITS_MAX) {
        return Err(Failure::argument("limit", format!("`limit` must be at most {HITS_MAX}")));
    }
    let (budget, searcher) = (app.memory.clone(), app.searcher());
    app.lines(move |stop, mut lines: Lines| {
        let (_memory, bytes) = memory::for_collection(&budget, &stop)?;
        let mut found = families(&searcher, &options).threads(1).memory_bytes(bytes).stop(&stop);
        let mut next = found.next().transpose()?;
        let summary = found.summary();
        let shown = summary.families.min(options.limit.map_or(u64::MAX, |limit| limit as u64));
        lines.write(&FamiliesSummary {
            families: summary.families,
            lines: shown,
            pairs: summary.pairs,
            cut_pairs: summary.cut_pairs,
            undated: summary.undated,
            no_date: summary.no_date.map(|(id, value)| ValueWithoutDate { id, value }),
            cursor: summary.cursor,
        })?;
        while let Some(family) = next {
            lines.write(&family)?;
            next = found.next().transpose()?;
        }
        lines.finish()
    })
    .await
}

/// Find the lineage of documents: the ancestor of each version.
///
/// The answer has lines of JSON: a summary, then the documents of each tree of versions, each after
/// its ancestor, the largest tree first. It has no time limit; the work ends when the client
/// disconnects.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/lineage",
    operation_id = "lineage",
    tag = "search",
    security(("token" = [])),
    request_body = LineageOptions,
    responses(
        (
            status = 200,
            description = "A summary (`LineageSummary`), then documents (`Descent`)",
            body = String,
            content_type = "application/x-ndjson",
        ),
        super::errors::Errors,
    )
))]
pub async fn of_documents(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Failure> {
    let options: LineageOptions = app.read_body(request).await?.json()?;
    options.check()?;
    let (budget, searcher) = (app.memory.clone(), app.searcher());
    app.lines(move |stop, mut lines: Lines| {
        let (_memory, _) = memory::for_collection(&budget, &stop)?;
        let mut found = lineage(&searcher, &options).threads(1).stop(&stop);
        let mut next = found.next().transpose()?;
        let summary = found.summary();
        lines.write(&LineageSummary {
            trees: summary.trees,
            // Each tree has one document without an ancestor.
            lines: summary.versions + summary.trees,
            versions: summary.versions,
            dated: summary.dated,
            undated: summary.undated,
            no_date: summary.no_date.map(|(id, value)| ValueWithoutDate { id, value }),
        })?;
        while let Some(descent) = next {
            lines.write(&descent)?;
            next = found.next().transpose()?;
        }
        lines.finish()
    })
    .await
}
