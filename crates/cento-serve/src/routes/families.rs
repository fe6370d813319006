//! `POST /v1/families` and `/v1/lineage`

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;

use crate::app::App;
use crate::failure::Failure;
use crate::lines::Lines;
use crate::memory::{self, CollectionMemory};
use crate::turns::client_of;
use cento::runtime::ByteBudget;
use cento::search::{Boilerplate, Searcher};
use cento::{BoilerplateShare, Result, Stop};
use cento_api::http::{
    FamiliesRequest, FamiliesSummary, HITS_MAX, LineageRequest, LineageSummary, ValueWithoutDate,
};
use cento_collections::Scope;
use cento_collections::families::families;
use cento_collections::lineage::lineage;
use cento_collections::series::repeated_passages;

/// Find the families of passages: each reused passage once, with all documents that carry it.
///
/// With `document` only the families that this document carries, with `since` those that newer
/// documents carry; either is much quicker than all. The answer has lines of JSON: a summary, then
/// the families, those of most documents first. A large index may need a longer time limit of the
/// service. The work ends when the client disconnects.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/families",
    operation_id = "families",
    tag = "search",
    security(("token" = [])),
    request_body = FamiliesRequest,
    responses(
        super::errors::Errors,
        (
            status = 200,
            description = "A summary (`FamiliesSummary`), then families (`Family`)",
            body = String,
            content_type = "application/x-ndjson",
        ),
    )
))]
pub async fn of_passages(
    State(app): State<Arc<App>>,
    request: Request,
) -> std::result::Result<Response, Failure> {
    let client = client_of(&request);
    let body = app.read_body(request).await?;
    let request: FamiliesRequest = body.json()?;
    let (_, room) = body.into_parts();
    let FamiliesRequest { boilerplate, auto_boilerplate, options } = request;
    options.check()?;
    if options.limit.is_some_and(|limit| limit > HITS_MAX) {
        return Err(Failure::argument("limit", format!("`limit` must be at most {HITS_MAX}")));
    }
    let (budget, searcher) = (app.memory.clone(), app.searcher());
    app.lines(client, move |stop, mut lines: Lines| {
        let (searcher, mut memory) =
            without(&searcher, boilerplate, auto_boilerplate, &budget, &stop)?;
        drop(room);
        let found = families(&searcher, &options).threads(1).stop(&stop);
        let mut found = found.memory_bytes(memory.bytes);
        let mut next = found.next().transpose()?;
        memory.shrink_to(found.held_bytes());
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
/// its ancestor, the largest tree first. A large index may need a longer time limit of the service.
/// The work ends when the client disconnects.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/lineage",
    operation_id = "lineage",
    tag = "search",
    security(("token" = [])),
    request_body = LineageRequest,
    responses(
        super::errors::Errors,
        (
            status = 200,
            description = "A summary (`LineageSummary`), then documents (`Descent`)",
            body = String,
            content_type = "application/x-ndjson",
        ),
    )
))]
pub async fn of_documents(
    State(app): State<Arc<App>>,
    request: Request,
) -> std::result::Result<Response, Failure> {
    let client = client_of(&request);
    let body = app.read_body(request).await?;
    let request: LineageRequest = body.json()?;
    let (_, room) = body.into_parts();
    let LineageRequest { boilerplate, auto_boilerplate, options } = request;
    options.check()?;
    let (budget, searcher) = (app.memory.clone(), app.searcher());
    app.lines(client, move |stop, mut lines: Lines| {
        let (searcher, mut memory) =
            without(&searcher, boilerplate, auto_boilerplate, &budget, &stop)?;
        drop(room);
        let mut found = lineage(&searcher, &options).threads(1).stop(&stop);
        let mut next = found.next().transpose()?;
        memory.shrink_to(found.held_bytes());
        let summary = found.summary();
        lines.write(&LineageSummary {
            trees: summary.trees,
            // A tree has a single document without an ancestor.
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

/// Returns a searcher without these texts and without the passages of this share of the documents,
/// with the memory of a request about all documents.
fn without(
    searcher: &Searcher,
    texts: Vec<String>,
    share: Option<BoilerplateShare>,
    budget: &Arc<ByteBudget>,
    stop: &Stop,
) -> Result<(Searcher, CollectionMemory)> {
    let snapshot = searcher.snapshot();
    let config = snapshot.config();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let memory = memory::for_collection(budget, config, &texts, stop)?;
    let mut ignored = Some(Boilerplate::new(config)?.with_texts(texts, stop)?);
    if let Some(share) = share {
        let found = repeated_passages(snapshot, &Scope::Everywhere, share, 1, stop)?;
        ignored = found.added_to(ignored, snapshot, stop)?;
    }
    let searcher = searcher.clone();
    let searcher = match ignored.filter(|ignored| !ignored.is_empty()) {
        Some(ignored) => searcher.excluding(ignored, stop)?,
        None => searcher,
    };
    Ok((searcher, memory))
}
