//! `POST /v1/pairwise`, `/v1/pairwise/report`

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::json;

use crate::app::App;
use crate::body::Body;
use crate::failure::Failure;
use crate::files::Files;
use crate::memory;
use cento::Error;
use cento::budget::Permit;
use cento::index::{Config, Document, Index, Signed, WriterOptions};
use cento::join::pairwise::{PairwiseOptions, SymmetricPair, most_similar};
use cento::search::Searcher;
use cento::stop::Stop;
use cento_client::api::{
    DocumentBody, HITS_MAX, NotRead, PairwiseReportRequest, PairwiseRequest, PairwiseResponse,
};
use cento_report::{Histogram, Joined, PAIRWISE_MEASURE, PairsReport, Run};

/// Compare a handful of documents with each other.
///
/// The pairwise test of Finkel et al. (2002), section 2.6. Nothing of the documents is kept. With
/// `multipart/form-data` they are files, and files in parts `boilerplate` do not count.
#[cfg_attr(feature = "openapi", utoipa::path(
    post,
    path = "/v1/pairwise",
    tag = "search",
    security(("token" = [])),
    request_body(content(
        (PairwiseRequest = "application/json"),
        (cento_client::api::FilesRequest = "multipart/form-data"),
    )),
    responses((status = 200, description = "The most similar pairs", body = PairwiseResponse), super::errors::Errors)
))]
pub async fn pairwise(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<PairwiseResponse>, Failure> {
    let body = Body::read(request, &app.reads, app.settings.body_bytes_max).await?;
    let (request, room, not_read) = match body.is_files() {
        true => files(&app, body).await?,
        false => (body.json()?, body.into_parts().1, NotRead::default()),
    };
    check(&app, &request)?;
    let (own, searcher) = (app.clone(), app.searcher());
    let pairs = app.run(move |stop| {
        let _room = room;
        let (min_passage, limit) = (request.min_passage()?, request.limit);
        let config = searcher.snapshot().config().with_text(min_passage.is_some())?;
        // One more says whether there are more.
        let wanted = (limit + 1, min_passage.is_some());
        let mut pairs = Compared::new(&own, config, request, wanted, &stop)?.pairs;
        let more = pairs.len() > limit;
        let total = (!more).then_some(pairs.len() as u64);
        pairs.truncate(limit);
        Ok((pairs, more, total))
    });
    let (pairs, more, total) = pairs.await?;
    Ok(Json(PairwiseResponse { pairs, more, total, not_read }))
}

/// Report which of a handful of documents are most alike, and where.
///
/// The answer is one HTML file that needs nothing else: all similarities, a graph with clusters, a matrix, and
/// each pair side by side. Nothing of the documents is kept.
#[cfg_attr(feature = "openapi", utoipa::path(
    post,
    path = "/v1/pairwise/report",
    tag = "search",
    security(("token" = [])),
    request_body = PairwiseReportRequest,
    responses(
        (status = 200, description = "The report", body = String, content_type = "text/html"),
        super::errors::Errors,
    )
))]
pub async fn report(State(app): State<Arc<App>>, request: Request) -> Result<Response, Failure> {
    let body = Body::read(request, &app.reads, app.settings.body_bytes_max).await?;
    let request: PairwiseReportRequest = body.json()?;
    let (_, room) = body.into_parts();
    check(&app, &request.pairwise)?;
    let (own, searcher) = (app.clone(), app.searcher());
    let html = app.run(move |stop| {
        let _room = room;
        let config = searcher.snapshot().config().with_text(true)?;
        made(&own, config, request, &stop)
    });
    Ok(super::report::file(html.await?))
}

fn made(
    app: &App,
    config: Config,
    PairwiseReportRequest { pairwise, anonymous }: PairwiseReportRequest,
    stop: &Arc<AtomicBool>,
) -> cento::Result<String> {
    let run = described(&pairwise, &config);
    let limit = pairwise.limit;
    let text_bytes = pairwise.documents.iter().map(|document| document.text.len()).sum();
    // All pairs are counted, of which the best are shown.
    let Compared { searcher, mut pairs, memory } =
        Compared::new(app, config, pairwise, (HITS_MAX, true), stop)?;
    let similarities = pairs.iter().map(|found| found.symmetric);
    let documents = searcher.snapshot().documents();
    let histogram = (pairs.len() < HITS_MAX)
        .then(|| Histogram::new(similarities.collect::<Vec<_>>(), documents));
    pairs.truncate(limit);
    let shown = pairs.into_iter().map(|found| (found.pair, found.symmetric)).collect();
    let mut joined = Joined::read(shown, &searcher, Some(stop))?;
    joined.compared = documents;
    joined.measure = PAIRWISE_MEASURE.into();
    joined.histogram = histogram;
    drop(memory);
    let (_memory, _) = memory::for_report(&app.memory, text_bytes, stop)?;
    super::report::bounded(PairsReport::new(run, joined, anonymous).html())
}

/// What the foot of the report says.
fn described(request: &PairwiseRequest, config: &Config) -> Run {
    let mut run =
        Run::new("pairwise").with("scheme", &config.scheme).with("analyzer", &config.analyzer);
    run.date = Some(super::report::now());
    run = run.with("limit", request.limit);
    if request.min_estimated_resemblance > 0.0 {
        run = run.with("min_estimated_resemblance", request.min_estimated_resemblance);
    }
    if let Some(least) = request.min_passage {
        run = run.with("min_passage", least);
    }
    if !request.boilerplate.is_empty() {
        run = run.with("boilerplate", format!("{} texts", request.boilerplate.len()));
    }
    run
}

/// Checks what a request says before anything is computed.
fn check(app: &App, request: &PairwiseRequest) -> Result<(), Failure> {
    request.min_passage()?;
    request.min_estimated_resemblance()?;
    if request.limit > HITS_MAX {
        return Err(Failure::bad_request(format!("`limit` must be at most {HITS_MAX}")));
    }
    let documents_max = app.settings.batch_max;
    if request.documents.len() > documents_max {
        let message = format!(
            "at most {documents_max} documents can be compared with each other; send fewer"
        );
        return Err(Failure::too_large(message));
    }
    Ok(())
}

/// Documents that were compared with each other.
struct Compared {
    searcher: Searcher,
    pairs: Vec<SymmetricPair>,
    /// What the search for passages takes.
    memory: Option<Permit>,
}

impl Compared {
    /// Compares the documents of a request in an index of their own; gives at most so many pairs, and takes
    /// the memory to find their passages, if that is asked for.
    fn new(
        app: &App,
        config: Config,
        request: PairwiseRequest,
        (limit, finds_passages): (usize, bool),
        stop: &Arc<AtomicBool>,
    ) -> cento::Result<Compared> {
        let (min_passage, estimated_resemblance_min) =
            (request.min_passage()?, request.min_estimated_resemblance()?);
        let PairwiseRequest { documents, boilerplate, .. } = request;
        let wanted = Stop::on(&**stop);
        let texts: Vec<&str> = documents.iter().map(|document| document.text.as_str()).collect();
        let handed_out: Vec<&str> = boilerplate.iter().map(String::as_str).collect();
        let texts = (&texts[..], &handed_out[..]);
        let (memory, threads) =
            memory::for_pairs(&app.memory, &config, texts, finds_passages, stop)?;
        let keys = memory::keys_of(&config, &boilerplate, wanted)?;
        let index = Index::in_memory(config)?;
        let mut writer = index.writer(WriterOptions { memory_bytes: 0, merge: false })?;
        for document in documents {
            let document =
                Document::new(document.id, document.text).with_meta(document.meta).checked()?;
            if writer.has(&document.id)? {
                let what = format!("two documents have the id `{}`", document.id);
                return Err(Error::Query { what });
            }
            writer.add_signed(Signed::until(document, index.config(), wanted)?)?;
        }
        wanted.check()?;
        writer.finish()?;
        let mut searcher = Searcher::new(index.snapshot()?);
        if !boilerplate.is_empty() {
            searcher = searcher.without_until(keys, wanted)?;
        }
        let options = PairwiseOptions {
            limit,
            estimated_resemblance_min,
            estimates: true,
            min_passage,
            threads,
            ..PairwiseOptions::default()
        };
        let pairs = most_similar(&searcher, &options, stop)?;
        Ok(Compared { searcher, pairs, memory })
    }
}

/// The request that files make, beside the documents and the boilerplate that it has.
async fn files(app: &Arc<App>, body: Body) -> Result<(PairwiseRequest, Permit, NotRead), Failure> {
    let mut files = Files::read(app, body, &["file", "boilerplate"]).await?;
    let mut request: PairwiseRequest = files.request([("documents", json!([]))])?;
    let boilerplate = files.take("boilerplate").into_iter();
    request.boilerplate.extend(boilerplate.map(|found| found.document.text));
    let documents = files.take("file").into_iter().map(|found| found.document);
    request.documents.extend(documents.map(|Document { id, text, meta, .. }| DocumentBody {
        id,
        text,
        meta,
    }));
    Ok((request, files.room, files.not_read))
}
