//! `cento web`
//!
//! The internet module of Sharapova and Sharapov (2011): pieces of a text are sent to a search
//! engine as queries, the pages that most answers name are fetched and added to an index, and an
//! ordinary search follows.

mod address;
mod engine;
mod fetch;
mod robots;
mod windows;

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Map;

use super::extract::source_options;
use super::hints::Explained;
use super::output::{self, Format, counted};
use super::parse::{parse_bytes, parse_duration};
use super::terminal::{line, tell};
use super::{Outcome, Result};
use cento::Error;
use cento::index::{Config, Document, Index, WriterOptions};
use cento::scheme::DEFAULT_SPEC;
use cento_source::{SourceOptions, charset, read_text};
use engine::{Engine, EngineArg};
use fetch::{Fetcher, Limits, Page};

/// Find sources of a text on the web, and add them to an index.
///
/// Cuts the text into windows and asks a search engine for the rarest run of words of each. Pages
/// that most answers name are fetched and added, with their addresses as ids, `votes` and the time
/// in `meta`. Then `cento search INDEX FILE --goal cover --passages --report FILE.html` shows the
/// passages that they share with the text.
///
/// Sends parts of the text to the search engine. Keeps to robots.txt, makes one request a second to
/// a host, and refuses addresses that are not public, also after redirects. The exit status is 1 if
/// no page could be added, and 2 if the engine answered nothing.
#[derive(Debug, Args)]
pub struct Web {
    /// The text, or - for standard input.
    file: PathBuf,
    /// Search engine and its address: searxng=http://127.0.0.1:8080. The engine itself may be on
    /// this machine.
    #[arg(long, value_name = "NAME=URL")]
    engine: EngineArg,
    /// Index to add pages to; it is created if it does not exist.
    #[arg(long, value_name = "INDEX")]
    into: PathBuf,
    /// Index of your own, or table of `cento train --analyzer words`, that says which runs of words
    /// are rare: those in few of its documents, or that it has counted least. Without it, runs with
    /// the longest words are taken.
    #[arg(long, value_name = "PATH")]
    frequencies: Option<PathBuf>,
    /// Words of a window.
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u16).range(10..))]
    window: u16,
    /// Words of a run.
    #[arg(long, value_name = "N", default_value = "8", value_parser = clap::value_parser!(u16).range(3..=10))]
    words: u16,
    /// Maximum number of queries, which are spread over the text.
    #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u16).range(1..))]
    queries: u16,
    /// Maximum number of pages to fetch, those with most votes.
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u16).range(1..))]
    pages: u16,
    /// Maximum size of a page.
    #[arg(long, value_name = "SIZE", default_value = "8MiB", value_parser = parse_bytes)]
    max_page_bytes: usize,
    /// Maximum time for a page, redirects apart.
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = parse_duration)]
    timeout: Duration,
    /// Time between two requests to a host.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    interval: Duration,
    /// Fetch from this machine too, for tests.
    #[arg(long, hide = true)]
    allow_loopback: bool,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// The result of a run, as JSON.
#[derive(Debug, Default, Serialize)]
struct Report {
    /// The queries that the engine answered.
    asked: Vec<Asked>,
    /// The queries that it did not answer.
    unanswered: Vec<Failed>,
    /// The number of windows without a query.
    not_asked: usize,
    /// The pages that are in the index.
    added: Vec<Added>,
    /// The pages that could not be fetched or read.
    failed: Vec<Failed>,
    /// Addresses that came after the last page.
    not_fetched: usize,
}

#[derive(Debug, Serialize)]
struct Asked {
    query: String,
    addresses: usize,
}

#[derive(Debug, Serialize)]
struct Failed {
    /// The query, or the address.
    what: String,
    why: String,
}

#[derive(Debug, Serialize)]
struct Added {
    /// The final address of the page: its id.
    address: String,
    votes: u32,
    bytes: usize,
}

/// After this number of failures in a row the engine gets no more queries.
const FAILURES_MAX: usize = 3;

impl Web {
    pub(super) fn run(self) -> Result {
        let mut missing = |missing: &Error| tell!("cento: {}", Explained(missing));
        let text = read_text(&self.file, &source_options(), &mut missing)?;
        let frequencies = self.frequencies.as_deref().map(windows::Collection::open).transpose()?;
        let (window, words) = (usize::from(self.window), usize::from(self.words));
        let queries = windows::queries(&text, window, words, frequencies.as_ref())?;
        if queries.is_empty() {
            return Err(Error::input(self.file.display().to_string(), "it has no words").into());
        }
        if Index::exists(&self.into) {
            // Before any request is sent.
            Index::open(&self.into)?;
        }
        let mut report = Report::default();
        let engine = self.engine.open(self.timeout)?;
        let ranked = self.ask(&*engine, queries, &mut report);
        if report.asked.is_empty() {
            self.show(&report)?;
            return Ok(Outcome::Bad);
        }
        self.fetch(ranked, &mut report)?;
        self.show(&report)?;
        Ok(if report.added.is_empty() { Outcome::Nothing } else { Outcome::Found })
    }

    /// Sends the queries to the engine; returns addresses with their votes, most votes first.
    fn ask(
        &self,
        engine: &dyn Engine,
        queries: Vec<String>,
        report: &mut Report,
    ) -> Vec<(String, u32)> {
        let windows = queries.len();
        let queries = windows::spread(queries, self.queries.into());
        let mut votes: HashMap<String, (u32, usize)> = HashMap::new();
        let mut failures = 0;
        for query in queries {
            if failures == FAILURES_MAX {
                break;
            }
            let addresses = match engine.search(&query) {
                Ok(addresses) => addresses,
                Err(why) => {
                    failures += 1;
                    report.unanswered.push(Failed { what: query, why });
                    continue;
                }
            };
            failures = 0;
            let mut seen = HashSet::new();
            for address in &addresses {
                // A page that an answer names twice gets one vote from it.
                if seen.insert(address) {
                    let next = votes.len();
                    votes.entry(address.clone()).or_insert((0, next)).0 += 1;
                }
            }
            report.asked.push(Asked { query, addresses: seen.len() });
        }
        report.not_asked = windows - report.asked.len() - report.unanswered.len();
        let mut ranked: Vec<(String, (u32, usize))> = votes.into_iter().collect();
        // Of equals, the one that was named first.
        ranked.sort_by_key(|(_, (votes, first))| (std::cmp::Reverse(*votes), *first));
        ranked.into_iter().map(|(address, (votes, _))| (address, votes)).collect()
    }

    /// Fetches the first pages, and adds them.
    fn fetch(&self, ranked: Vec<(String, u32)>, report: &mut Report) -> cento::Result<()> {
        let mut fetcher = Fetcher::new(Limits {
            bytes: self.max_page_bytes,
            time: self.timeout,
            interval: self.interval,
            allows_loopback: self.allow_loopback,
        });
        report.not_fetched = ranked.len().saturating_sub(self.pages.into());
        // Pages come slowly, and no other process should wait for the lock of the index meanwhile.
        let mut documents = Vec::new();
        for (address, votes) in ranked.into_iter().take(self.pages.into()) {
            let read = |page: Page| {
                let bytes = page.bytes.len();
                document(page, votes).map(|read| (read, bytes))
            };
            match fetcher.fetch(&address).and_then(read) {
                Ok((document, bytes)) => documents.push((document, votes, bytes)),
                Err(why) => report.failed.push(Failed { what: address, why }),
            }
        }
        if documents.is_empty() {
            return Ok(());
        }
        let index = match Index::exists(&self.into) {
            true => Index::open(&self.into)?,
            false => Index::create(&self.into, Config::new(DEFAULT_SPEC, "words", true)?)?,
        };
        let mut writer = index.writer(WriterOptions::default())?;
        for (document, votes, bytes) in documents {
            let address = document.id.clone();
            writer.add(document)?;
            report.added.push(Added { address, votes, bytes });
        }
        writer.finish()
    }

    fn show(&self, report: &Report) -> io::Result<()> {
        if self.format == Format::Json {
            return output::print_json(report);
        }
        let mut out = io::stdout().lock();
        for Asked { query, addresses } in &report.asked {
            line!(out, "asked   {:>3} addresses  {query}", addresses)?;
        }
        for Failed { what, why } in &report.unanswered {
            line!(out, "no answer  {what}: {why}")?;
        }
        for Added { address, votes, bytes } in &report.added {
            line!(out, "added   {votes:>3} votes  {address}, {}", output::bytes(*bytes as u64))?;
        }
        for Failed { what, why } in &report.failed {
            line!(out, "failed  {what}: {why}")?;
        }
        if report.not_asked > 0 {
            line!(out, "without a query: {}", counted(report.not_asked as u64, "window"))?;
        }
        if report.not_fetched > 0 {
            line!(out, "not fetched: {}", counted(report.not_fetched as u64, "other page"))?;
        }
        out.flush()
    }
}

/// Makes a document of a page; the error is a clause with the reason.
fn document(page: Page, votes: u32) -> std::result::Result<Document, String> {
    let text = text_of(&page)?;
    if text.trim().is_empty() {
        return Err("it has no text".into());
    }
    let fetched = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let meta = Map::from_iter([
        ("fetched".to_owned(), fetched.into()),
        ("votes".to_owned(), votes.into()),
    ]);
    Document::new(page.address, text).with_meta(meta).checked().map_err(|error| error.to_string())
}

/// Reads a page as a file would be read: its first bytes determine its format, then its type.
fn text_of(page: &Page) -> std::result::Result<String, String> {
    let unwritten = |error: io::Error| format!("it cannot be kept in a temporary file: {error}");
    let dir = tempfile::tempdir().map_err(unwritten)?;
    let path = dir.path().join(format!("page.{}", page.extension()));
    std::fs::write(&path, &page.bytes).map_err(unwritten)?;
    let encoding = page.charset.clone().filter(|name| charset::is_known(name));
    let options = SourceOptions { encoding, ..source_options() };
    let mut cut = None;
    let text = read_text(&path, &options, &mut |missing| cut = Some(missing.to_string()));
    // The name of the temporary file means nothing to the user.
    let named = |what: String| what.replace(&path.display().to_string(), "the page");
    match (text, cut) {
        (Err(error), _) => Err(named(error.to_string())),
        (_, Some(what)) => Err(named(what)),
        (Ok(text), None) => Ok(text),
    }
}
