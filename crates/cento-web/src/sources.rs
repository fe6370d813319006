//! Which pages share text with a document?

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::time::Duration;

use cento::index::{Config, Document, Index, WriterOptions};
use cento::scheme::DEFAULT_SPEC;
use cento::{Error, Key};
use cento_api::number::parse_bytes;
use cento_source::{SourceOptions, charset, read_text};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::Map;

use crate::engine::{EngineAddress, SearxngEngine};
use crate::fetch::{Fetcher, Limits, Page};
use crate::windows::spread;

/// How sources are searched for.
#[derive(Debug, Clone, clap::Args)]
pub struct WebOptions {
    /// Search engine and its address: searxng=http://127.0.0.1:8080. The engine itself may be on
    /// this machine.
    #[arg(long, value_name = "NAME=URL")]
    pub engine: EngineAddress,
    /// Maximum number of queries, which are spread over the text.
    #[arg(
        long, value_name = "N", default_value = "50",
        value_parser = clap::value_parser!(u16).range(1..),
    )]
    pub queries: u16,
    /// Maximum number of pages to fetch, most votes first.
    #[arg(
        long, value_name = "N", default_value = "20",
        value_parser = clap::value_parser!(u16).range(1..),
    )]
    pub pages: u16,
    /// Maximum size of a page.
    #[arg(long, value_name = "SIZE", default_value = "8MiB", value_parser = parse_bytes)]
    pub max_page_bytes: usize,
    /// Maximum time for a page, redirects apart.
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = parse_time)]
    pub timeout: Duration,
    /// Time between two requests to a host.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_time)]
    pub interval: Duration,
    /// Fetch from this machine too, for tests.
    #[arg(long, hide = true)]
    pub allow_loopback: bool,
    /// How pages are read.
    #[arg(skip)]
    pub source: SourceOptions,
    /// The key of the index. One that is created with a key stores no texts.
    #[arg(skip)]
    pub key: Option<Key>,
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let time: Option<SignedDuration> = text.parse().ok();
    let time = time.and_then(|time| Duration::try_from(time).ok()).filter(|time| !time.is_zero());
    time.ok_or_else(|| "expected a duration above zero, such as 500ms, 5s or 10m".into())
}

/// The result of a search for sources.
#[derive(Debug, Default, Serialize)]
#[non_exhaustive]
pub struct WebReport {
    /// The queries with an answer of the engine.
    pub asked: Vec<AnsweredQuery>,
    /// The queries without an answer of the engine.
    pub unanswered: Vec<Failure>,
    /// The number of windows without a query.
    pub not_asked: usize,
    /// The pages that are in the index.
    pub added: Vec<IndexedPage>,
    /// The pages that could not be fetched or read.
    pub failed: Vec<Failure>,
    /// The number of addresses beyond the maximum number of pages.
    pub not_fetched: usize,
}

/// A query that the engine answered.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct AnsweredQuery {
    /// The run of words that was sent.
    pub query: String,
    /// The number of addresses in the answer.
    pub addresses: usize,
}

/// A query without an answer, or an address without a page.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Failure {
    /// The query, or the address.
    pub what: String,
    /// The reason, as a clause, with the option that concerns the reason.
    pub why: String,
}

/// A page that is in the index.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct IndexedPage {
    /// The final address of the page, which is its id.
    pub address: String,
    /// The number of answers with the address.
    pub votes: u32,
    /// The size in bytes.
    pub bytes: usize,
}

/// The engine gets no more queries after this many failures in a row.
const FAILURES_MAX: usize = 3;

/// Sends the queries to the engine, fetches the pages that most answers contain, and adds them to
/// the index at `into`, which is created if it does not exist. The id of a page is its final
/// address. Its `meta` has the number of answers with the address (`votes`) and the time
/// (`fetched`).
///
/// # Errors
/// When the index cannot be opened (before any request) or written, or when the address of the
/// engine needs the feature `tls` and the build lacks it. The report lists queries without an
/// answer, and pages that cannot be fetched or read.
pub fn add_sources(
    queries: Vec<String>,
    into: &Path,
    options: &WebOptions,
) -> cento::Result<WebReport> {
    if Index::exists(into) {
        open(into, options.key.as_ref())?;
    }
    let engine = options.engine.open(options.timeout)?;
    let mut report = WebReport::default();
    let ranked = ask(&engine, queries, options.queries.into(), &mut report);
    let pages = fetch(ranked, options, &mut report);
    if !pages.is_empty() {
        add(pages, into, options.key.as_ref(), &mut report)?;
    }
    Ok(report)
}

/// Sends at most `queries_max` queries. Returns addresses with their votes, most votes first.
fn ask(
    engine: &SearxngEngine,
    queries: Vec<String>,
    queries_max: usize,
    report: &mut WebReport,
) -> Vec<(String, u32)> {
    let windows = queries.len();
    let mut votes: HashMap<String, (u32, usize)> = HashMap::new();
    let mut failures = 0;
    for query in spread(queries, queries_max) {
        if failures == FAILURES_MAX {
            break;
        }
        let addresses = match engine.search(&query) {
            Ok(addresses) => addresses,
            Err(why) => {
                failures += 1;
                report.unanswered.push(Failure { what: query, why });
                continue;
            }
        };
        failures = 0;
        let mut seen = HashSet::new();
        for address in &addresses {
            // A page that occurs twice in an answer gets a single vote.
            if seen.insert(address) {
                let next = votes.len();
                votes.entry(address.clone()).or_insert((0, next)).0 += 1;
            }
        }
        report.asked.push(AnsweredQuery { query, addresses: seen.len() });
    }
    report.not_asked = windows - report.asked.len() - report.unanswered.len();
    let mut ranked: Vec<(String, (u32, usize))> = votes.into_iter().collect();
    // Among equal votes, the address that occurred first.
    ranked.sort_by_key(|(_, (votes, first))| (std::cmp::Reverse(*votes), *first));
    ranked.into_iter().map(|(address, (votes, _))| (address, votes)).collect()
}

/// A page as a document, with its entry in the report.
type Fetched = (Document, IndexedPage);

/// Fetches the first pages. The index is not locked meanwhile, because pages arrive slowly.
fn fetch(ranked: Vec<(String, u32)>, options: &WebOptions, report: &mut WebReport) -> Vec<Fetched> {
    let mut fetcher = Fetcher::new(Limits {
        bytes: options.max_page_bytes,
        time: options.timeout,
        interval: options.interval,
        allows_loopback: options.allow_loopback,
    });
    report.not_fetched = ranked.len().saturating_sub(options.pages.into());
    let mut fetched = Vec::new();
    for (address, votes) in ranked.into_iter().take(options.pages.into()) {
        let read = |page: Page| document(page, votes, &options.source);
        match fetcher.fetch(&address).and_then(read) {
            Ok(page) => fetched.push(page),
            Err(why) => report.failed.push(Failure { what: address, why }),
        }
    }
    fetched
}

/// Opens an index for adding pages, with this key or without a key.
fn open(path: &Path, key: Option<&Key>) -> cento::Result<Index> {
    let index = Index::open(path)?;
    match key {
        Some(key) => index.unlock(key)?,
        None => drop(index.config().text_digest("")?),
    }
    Ok(index)
}

fn add(
    pages: Vec<Fetched>,
    into: &Path,
    key: Option<&Key>,
    report: &mut WebReport,
) -> cento::Result<()> {
    let index = match Index::exists(into) {
        true => open(into, key)?,
        false => {
            let config = Config::new(DEFAULT_SPEC, "words", key.is_none())?;
            Index::create(into, key.map_or(Ok(config.clone()), |key| config.with_key(key))?)?
        }
    };
    let mut writer = index.writer(WriterOptions::default())?;
    for (document, added) in pages {
        writer.add(document)?;
        report.added.push(added);
    }
    writer.finish()
}

/// Makes a document of a page.
fn document(page: Page, votes: u32, options: &SourceOptions) -> Result<Fetched, String> {
    let text = text_of(&page, options)?;
    if text.trim().is_empty() {
        return Err("it has no text".into());
    }
    let fetched = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let meta = Map::from_iter([
        ("fetched".to_owned(), fetched.into()),
        ("votes".to_owned(), votes.into()),
    ]);
    let added = IndexedPage { address: page.address.clone(), votes, bytes: page.bytes.len() };
    let document = Document::new(page.address, text).with_meta(meta).checked();
    Ok((document.map_err(|error| error.to_string())?, added))
}

/// Reads a page like a file: the first bytes determine the format, or else the declared type.
fn text_of(page: &Page, options: &SourceOptions) -> Result<String, String> {
    let unwritten = |error: io::Error| format!("it cannot be kept in a temporary file: {error}");
    let dir = tempfile::tempdir().map_err(unwritten)?;
    let path = dir.path().join(format!("page.{}", page.extension()));
    std::fs::write(&path, &page.bytes).map_err(unwritten)?;
    let is_believed =
        |name: &String| charset::is_known(name) && !charset::contradicts(&page.bytes, name);
    let encoding = page.charset.clone().filter(is_believed);
    let options = SourceOptions { encoding, ..options.clone() };
    let mut cut = None;
    // Files that a page includes are pages of their own.
    let is_of_page = |missing: &Error| missing.place_and_message().0 == path.to_string_lossy();
    let text = read_text(&path, &options, &mut |missing| {
        cut = Some(missing.to_string()).filter(|_| is_of_page(missing)).or(cut.take());
    });
    // The name of the temporary file means nothing to the user.
    let named = |what: String| what.replace(&path.display().to_string(), "the page");
    match (text, cut) {
        (Err(error), _) => Err(named(error.to_string())),
        (_, Some(what)) => Err(named(what)),
        (Ok(text), None) => Ok(text),
    }
}
