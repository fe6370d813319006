//! `POST /v1/pairwise`

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use serde_json::json;

use crate::app::App;
use crate::body::Body;
use crate::failure::Failure;
use crate::files::Files;
use crate::memory;
use cento::Error;
use cento::budget::Permit;
use cento::index::Document;
use cento::index::Signed;
use cento::index::{Index, WriterOptions};
use cento::join::pairwise::{PairwiseOptions, most_similar};
use cento::search::Searcher;
use cento::stop::Stop;
use cento_client::api::{DocumentBody, HITS_MAX, NotRead, PairwiseRequest, PairwiseResponse};

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
    let min_passage = request.min_passage()?;
    let estimated_resemblance_min = request.min_estimated_resemblance()?;
    let PairwiseRequest { documents, boilerplate, limit, .. } = request;
    if limit > HITS_MAX {
        return Err(Failure::bad_request(format!("`limit` must be at most {HITS_MAX}")));
    }
    let documents_max = app.settings.batch_max;
    if documents.len() > documents_max {
        let message = format!(
            "at most {documents_max} documents can be compared with each other; send fewer"
        );
        return Err(Failure::too_large(message));
    }
    let searcher = app.searcher();
    let budget = app.memory.clone();
    let pairs = app.run(move |stop| {
        let (_room, wanted) = (room, Stop::on(&*stop));
        let config = searcher.snapshot().config().with_text(min_passage.is_some())?;
        let texts: Vec<&str> = documents.iter().map(|document| document.text.as_str()).collect();
        let handed_out: Vec<&str> = boilerplate.iter().map(String::as_str).collect();
        let texts = (&texts[..], &handed_out[..]);
        let (_memory, threads) =
            memory::for_pairs(&budget, &config, texts, min_passage.is_some(), &stop)?;
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
        most_similar(&searcher, &options, &stop)
    });
    Ok(Json(PairwiseResponse { pairs: pairs.await?, not_read }))
}

/// The request that files make, beside the documents and the boilerplate that it has.
async fn files(app: &Arc<App>, body: Body) -> Result<(PairwiseRequest, Permit, NotRead), Failure> {
    let mut files = Files::read(app, body, &["file", "boilerplate"]).await?;
    let mut request: PairwiseRequest = files.request([("documents", json!([]))])?;
    let boilerplate = files.take("boilerplate").into_iter();
    request.boilerplate.extend(boilerplate.map(|document| document.text));
    let documents = files.take("file").into_iter();
    request.documents.extend(documents.map(|Document { id, text, meta, .. }| DocumentBody {
        id,
        text,
        meta,
    }));
    Ok((request, files.room, files.not_read))
}
