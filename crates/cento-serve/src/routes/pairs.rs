//! `POST /v1/pairs`, `/v1/pairs/report`

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::json;

use crate::answer::WrittenAnswer;
use crate::app::App;
use crate::body::Body;
use crate::failure::Failure;
use crate::files::{FileDocument, Files};
use crate::memory;
use crate::turns::client_of;
use cento::Error;
use cento::Stop;
use cento::UnseenText;
use cento::index::{Config, Document, IdSource, Index, SignedDocument, Snapshot, WriterOptions};
use cento::runtime::Permit;
use cento::search::{Boilerplate, Searcher};
use cento_api::http::{
    AddedDocument, DocumentBody, DocumentBoilerplate, DocumentOfParts, FileReason, HITS_MAX,
    NotRead, PairsReportRequest, PairsRequest, PairsResponse,
};
use cento_api::{RepeatedPassage, Sources};
use cento_collections::links::Connect;
use cento_collections::most_similar::MostSimilar;
use cento_collections::pairs::PairOptions;
use cento_collections::submissions::{ComparedSubmissions, Submissions};
use cento_report::{
    DescribedLinks, DescribedPairs, NotCompared, PairsReport, Run, needs_threshold,
    symmetric_measure,
};

/// Compare a few documents with each other.
///
/// The pairwise test of Finkel et al. (2002), section 2.6. The documents are not kept. With
/// `against_index` they are also compared with those of the index. With `multipart/form-data` they
/// are files, and the texts of files in parts `boilerplate` do not count.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/pairs",
    tag = "search",
    security(("token" = [])),
    request_body(content(
        (PairsRequest = "application/json"),
        (cento_api::http::PairsFilesRequest = "multipart/form-data"),
    )),
    responses(super::errors::Errors, (status = 200, description = "The most similar pairs", body = PairsResponse))
))]
pub async fn pairs(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<WrittenAnswer, Failure> {
    let client = client_of(&request);
    let mut body = app.read_body(request).await?;
    let (request, unseen, room, mut not_read) = match body.is_files() {
        true => files(&app, body).await?,
        false => {
            let request = body.json_of_values(&app.reads)?;
            (request, Vec::new(), body.into_parts().1, NotRead::default())
        }
    };
    check(&app, &request)?;
    let (own, searcher) = (app.clone(), app.searcher());
    let found = app.in_turn(client, move |stop, turn| {
        turn.wait(&stop)?;
        let _room = room;
        let warnings = warnings(&request.documents, &unseen);
        let finds_passages = request.options.needs_passages() || request.sources;
        let mut compared =
            ComparedFiles::new(&own, &searcher, request, finds_passages, Connect::Nothing, &stop)?;
        let left = compared.nothing_left();
        let boilerplate = compared.boilerplate(&stop)?;
        let ComparedFiles { found, proposed, sources, earlier_versions, .. } = compared;
        let MostSimilar { pairs, total, defaults, .. } = found;
        let left =
            left.into_iter().map(|NotCompared { name: path, reason }| FileReason { path, reason });
        not_read.left_out.extend(left);
        let more = (pairs.len() as u64) < total;
        Ok(WrittenAnswer::of(&PairsResponse {
            pairs,
            total,
            more,
            defaults,
            proposed,
            sources,
            earlier_versions,
            boilerplate,
            not_read,
            warnings,
        }))
    });
    found.await
}

/// Report which of a few documents are most alike, and where.
///
/// The answer is one self-contained HTML file: all similarities, a graph with clusters, a matrix,
/// and each pair side by side. The documents are not kept.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/pairs/report",
    operation_id = "pairs_report",
    tag = "search",
    security(("token" = [])),
    request_body = PairsReportRequest,
    responses(
        super::errors::Errors,
        (status = 200, description = "The report", body = String, content_type = "text/html"),
    )
))]
pub async fn report(State(app): State<Arc<App>>, request: Request) -> Result<Response, Failure> {
    let client = client_of(&request);
    let mut body = app.read_body(request).await?;
    let request: PairsReportRequest = body.json_of_values(&app.reads)?;
    let (_, room) = body.into_parts();
    check(&app, &request.pairs)?;
    let (own, searcher) = (app.clone(), app.searcher());
    let html = app.in_turn(client, move |stop, turn| {
        turn.wait(&stop)?;
        let _room = room;
        made(&own, &searcher, request, &stop)
    });
    Ok(super::report::file(html.await?))
}

/// Returns the configuration for comparing documents as the index does. Texts decide, so texts are
/// stored, unless the documents are compared with an index that stores no texts.
fn config_of(snapshot: &Snapshot, against_index: bool) -> cento::Result<Config> {
    let config = snapshot.config();
    let config = if against_index { config.clone() } else { config.with_text(true)? };
    Ok(config.with_preset(snapshot.preset()))
}

fn made(
    app: &App,
    served: &Searcher,
    PairsReportRequest { pairs, anonymous, not_compared, mut warnings }: PairsReportRequest,
    stop: &Stop,
) -> cento::Result<String> {
    if warnings.is_empty() {
        warnings = self::warnings(&pairs.documents, &[]);
    }
    let run = described(&pairs, served.snapshot().config());
    let text_bytes = pairs.documents.iter().flat_map(AddedDocument::texts).map(str::len).sum();
    let scope = pairs.options.scope()?;
    let mut compared = ComparedFiles::new(app, served, pairs, true, Connect::Clusters, stop)?;
    let left = compared.nothing_left();
    let ComparedFiles { searcher, found, memory, sources, .. } = compared;
    let defaults = found.defaults;
    let run = defaults.into_iter().fold(run, |run, used| run.with("preset", used));
    let links =
        DescribedLinks::read(&found.links, searcher.snapshot(), searcher.snapshot(), &scope)?;
    let shown = found.pairs.into_iter().map(|found| (found.pair, found.symmetric)).collect();
    let mut joined = DescribedPairs::read(shown, &searcher, &scope, stop, usize::MAX)?;
    joined.compared = found.compared;
    let config = searcher.snapshot().config();
    joined.measure = symmetric_measure(&config.scheme, &config.analyzer);
    joined.histogram = Some(found.histogram);
    joined.total = found.total;
    joined.limit_option = match needs_threshold(&found.options, found.total) {
        true => "`min_similarity` 0.5 shows only pairs that are at least half alike",
        false => "`limit`",
    };
    joined.links = links;
    joined.documents_without_field = found.summary.documents_without_field;
    joined.sources = sources;
    let named = |FileReason { path, reason }| NotCompared::new(path, reason);
    joined.not_compared = not_compared.into_iter().map(named).chain(left).collect();
    joined.warnings = warnings.into_iter().map(named).collect();
    drop(memory);
    let (_memory, _) = memory::for_report(&app.memory, text_bytes, 0, stop)?;
    super::report::bounded(PairsReport::new(run, joined, anonymous).html())
}

/// Returns the warnings for readers of the documents. `unseen` has the hidden content of files, in
/// the order of the files.
fn warnings(documents: &[AddedDocument], unseen: &[UnseenText]) -> Vec<FileReason> {
    let first_of_files = documents.len() - unseen.len();
    let of = |(place, document): (usize, &AddedDocument)| {
        let in_file = place.checked_sub(first_of_files).map(|at| vec![unseen[at]]);
        let unseen = in_file.unwrap_or_else(|| document.texts().map(UnseenText::of).collect());
        let path = document.id();
        let named = |reason| FileReason { path: path.to_owned(), reason };
        unseen.iter().flat_map(UnseenText::warnings).map(named).collect::<Vec<_>>()
    };
    documents.iter().enumerate().flat_map(of).collect()
}

/// Returns the text for the foot of the report.
fn described(request: &PairsRequest, config: &Config) -> Run {
    let mut run =
        Run::new("pairs").with("scheme", &config.scheme).with("analyzer", &config.analyzer);
    run.date = Some(super::report::now());
    let limit = request.options.limit.unwrap_or(PairOptions::MOST_SIMILAR);
    run = run.analyzed_by(&config.analyzer).with_options(&request.options).with("limit", limit);
    if !request.boilerplate.is_empty() {
        run = run.with("boilerplate", format!("{} texts", request.boilerplate.len()));
    }
    if request.against_index {
        run = run.with("against", INDEX);
    }
    if let Some(share) = request.auto_boilerplate {
        run = run.with("boilerplate in this share of the documents", share);
    }
    run
}

/// Checks a request before any computation.
fn check(app: &App, request: &PairsRequest) -> Result<(), Failure> {
    request.options.check()?;
    if request.propose_boilerplate.is_some() && request.auto_boilerplate.is_some() {
        let what = "`propose_boilerplate` and `auto_boilerplate` exclude each other";
        return Err(Failure::argument("auto_boilerplate", what));
    }
    if request.options.limit.is_some_and(|limit| limit > HITS_MAX) {
        return Err(Failure::argument("limit", format!("`limit` must be at most {HITS_MAX}")));
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

/// The name of the service's index, beside the documents of a request.
const INDEX: &str = "the index";

/// Returns a document of a request, and checks it.
fn document_of(body: AddedDocument) -> cento::Result<Document> {
    let (document, meta, id_place) = match body {
        AddedDocument::Text(DocumentBody { id, text, meta, id_place }) => {
            (Document::new(id, text), meta, id_place)
        }
        AddedDocument::Parts(DocumentOfParts { id, parts, meta, id_place }) => {
            if parts.is_empty() {
                let what = format!("the document `{id}` has no parts");
                return Err(Error::argument("documents", what));
            }
            let parts = parts.iter().map(|part| (part.name.as_str(), part.text.as_str()));
            (Document::of_parts(id, parts), meta, id_place)
        }
    };
    let id_source = id_place.map_or(IdSource::GIVEN, IdSource::made);
    document.with_meta(meta).with_id_source(id_source).checked()
}

/// Documents after a pairwise comparison.
struct ComparedFiles {
    searcher: Searcher,
    found: MostSimilar,
    /// The passages of most documents, if requested.
    proposed: Vec<RepeatedPassage>,
    /// The sources of every document, if requested.
    sources: Vec<Sources>,
    /// The ids of the documents with an earlier version in the index.
    earlier_versions: Vec<String>,
    /// The memory for the search for passages.
    memory: Option<Permit>,
}

impl ComparedFiles {
    /// Takes out the documents without a fingerprint to compare, with reasons.
    fn nothing_left(&mut self) -> Vec<NotCompared> {
        let analyzer = &self.searcher.snapshot().config().analyzer;
        let left = std::mem::take(&mut self.found.not_compared).into_iter();
        left.map(|left| NotCompared::nothing_left(left, analyzer)).collect()
    }

    /// Returns the boilerplate of the documents in pairs, or nothing without boilerplate.
    fn boilerplate(&self, stop: &Stop) -> cento::Result<Vec<DocumentBoilerplate>> {
        let Some(named) = self.searcher.boilerplate() else { return Ok(Vec::new()) };
        let snapshot = self.searcher.snapshot();
        let pairs = self.found.pairs.iter().map(|found| &found.pair);
        let pairs = pairs.flat_map(|pair| [(&pair.index_a, &pair.a), (&pair.index_b, &pair.b)]);
        let documents: BTreeSet<(&Option<String>, &String)> = pairs.collect();
        let mut found = Vec::new();
        for (index, id) in documents {
            let Some(address) = snapshot.find_in(index.as_deref(), id)? else { continue };
            let text = snapshot.document(address)?.text.unwrap_or_default();
            let ranges = named.ranges_in(&text, stop)?;
            found.push(DocumentBoilerplate { id: id.clone(), index: index.clone(), ranges });
        }
        found.retain(|document| !document.ranges.is_empty());
        Ok(found)
    }

    /// Compares the documents of a request in a temporary index. Reserves the memory for passages
    /// of pairs, if requested.
    fn new(
        app: &App,
        served: &Searcher,
        request: PairsRequest,
        finds_passages: bool,
        connect: Connect,
        stop: &Stop,
    ) -> cento::Result<ComparedFiles> {
        let is_accepted = request.auto_boilerplate.is_some();
        let share = request.auto_boilerplate.or(request.propose_boilerplate);
        let PairsRequest { documents, boilerplate, mut options, against_index, .. } = request;
        let known = Some(served.snapshot()).filter(|_| against_index);
        let config = config_of(served.snapshot(), against_index)?;
        let documents: Vec<Document> =
            documents.into_iter().map(document_of).collect::<cento::Result<_>>()?;
        let texts: Vec<&str> = documents.iter().map(|document| document.text.as_str()).collect();
        let handed_out: Vec<&str> = boilerplate.iter().map(String::as_str).collect();
        // Repeated passages cannot exceed the documents, so reserve for the whole texts.
        let repeated = if share.is_some() { &texts[..] } else { &[] };
        let may_be_boilerplate = [&handed_out[..], repeated].concat();
        let finds_passages = finds_passages && config.store_text;
        let (memory, threads) = memory::for_pairs(
            &app.memory,
            &config,
            &texts,
            &may_be_boilerplate,
            finds_passages,
            stop,
        )?;
        let ignored = Boilerplate::new(&config)?.with_texts(handed_out, stop)?;
        let index = Index::in_memory(config)?;
        let mut writer =
            index.writer(WriterOptions::default().memory_bytes(0usize).merge(false))?;
        for document in documents {
            if writer.has(&document.id)? {
                let what = format!("two documents have the id `{}`", document.id);
                return Err(Error::argument("documents", what));
            }
            writer.add_signed(SignedDocument::new(document, index.config(), stop)?)?;
        }
        stop.check()?;
        writer.finish()?;
        options.passages |= finds_passages;
        let submissions = Submissions::new(&index.snapshot()?, &options).without(Some(ignored));
        let mut submissions = submissions
            .threads(threads)
            .stop(stop)
            .memory(memory::room(&app.memory, memory.as_ref()))
            .with_sources(request.sources)
            .connecting(connect);
        let mut proposed = Vec::new();
        if let Some(share) = share {
            let found = submissions.repeated_passages(share)?;
            if is_accepted {
                submissions = submissions.without_repeated(&found)?;
            }
            proposed = found.passages;
        }
        if let Some(known) = known {
            submissions = submissions.against(known, INDEX)?;
        }
        let earlier_versions = submissions.earlier_versions().to_vec();
        let ComparedSubmissions { searcher, most_similar: found, sources, .. } =
            submissions.compare()?;
        Ok(ComparedFiles { searcher, found, proposed, sources, earlier_versions, memory })
    }
}

/// Returns the request with documents and boilerplate from files added. Also returns the hidden
/// content of the files, whose documents come last.
async fn files(
    app: &Arc<App>,
    body: Body,
) -> Result<(PairsRequest, Vec<UnseenText>, Permit, NotRead), Failure> {
    let mut files = Files::read(app, body, &["file", "boilerplate"]).await?;
    let mut request: PairsRequest = files.request([("documents", json!([]))])?;
    let boilerplate = files.take("boilerplate").into_iter();
    request.boilerplate.extend(boilerplate.map(|found| found.document.text));
    let mut unseen = Vec::new();
    for FileDocument { document, in_file, .. } in files.take("file") {
        let Document { id, text, parts, meta, .. } = document;
        unseen.push(in_file.unseen(&text));
        request.documents.push(AddedDocument::new(id, text, &parts, meta, None));
    }
    Ok((request, unseen, files.room, files.not_read))
}
