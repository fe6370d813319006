//! `cento web`
//!
//! The internet module of Sharapova and Sharapov (2011): pieces of a text are sent to a search
//! engine as queries, the pages that most answers name are fetched and added to an index, and an
//! ordinary search follows.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use cento::Error;
use cento_source::read_text;
use cento_web::{
    Added, Asked, Collection, EngineAddress, Failure, FailureKind, WebOptions, WebReport,
    add_sources, queries,
};
use clap::Args;

use super::extract::source_options;
use super::hints::{Explained, ON_CERTIFICATES};
use super::key;
use super::output::{self, Format, counted};
use super::parse::{parse_bytes, parse_duration};
use super::terminal::{line, tell};
use super::{Outcome, Result};

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
    engine: EngineAddress,
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

impl Web {
    pub(super) fn run(self) -> Result {
        let mut missing = |missing: &Error| tell!("cento: {}", Explained(missing));
        let text = read_text(&self.file, &source_options(), &mut missing)?;
        let open = |path| Collection::open(path, key::given());
        let frequencies = self.frequencies.as_deref().map(open).transpose()?;
        let (window, words) = (usize::from(self.window), usize::from(self.words));
        let queries = queries(&text, window, words, frequencies.as_ref())?;
        if queries.is_empty() {
            return Err(Error::input(self.file.display().to_string(), "it has no words").into());
        }
        let options = WebOptions {
            engine: self.engine,
            queries: self.queries.into(),
            pages: self.pages.into(),
            page_bytes_max: self.max_page_bytes,
            timeout: self.timeout,
            interval: self.interval,
            allows_loopback: self.allow_loopback,
            source: source_options(),
            key: key::given().cloned(),
        };
        let mut report = add_sources(queries, &self.into, &options)?;
        for failure in report.unanswered.iter_mut().chain(&mut report.failed) {
            explain(failure);
        }
        show(&report, self.format)?;
        Ok(match (report.asked.is_empty(), report.added.is_empty()) {
            (true, _) => Outcome::Bad,
            (_, true) => Outcome::Nothing,
            _ => Outcome::Found,
        })
    }
}

/// Adds the option, or the hint, that concerns a failure.
fn explain(failure: &mut Failure) {
    failure.why += &match failure.kind {
        FailureKind::PageTooLarge => " (--max-page-bytes)".into(),
        FailureKind::TimedOut => " (--timeout)".into(),
        FailureKind::Certificate => format!("; {ON_CERTIFICATES}"),
        FailureKind::NeedsTls => "; install cento-cli with `--features tls`".into(),
        _ => String::new(),
    };
}

fn show(report: &WebReport, format: Format) -> io::Result<()> {
    if format == Format::Json {
        return output::print_json(report);
    }
    let mut out = io::stdout().lock();
    for Asked { query, addresses, .. } in &report.asked {
        line!(out, "asked   {:>3} addresses  {query}", addresses)?;
    }
    for Failure { what, why, .. } in &report.unanswered {
        line!(out, "no answer  {what}: {why}")?;
    }
    for Added { address, votes, bytes, .. } in &report.added {
        line!(out, "added   {votes:>3} votes  {address}, {}", output::bytes(*bytes as u64))?;
    }
    for Failure { what, why, .. } in &report.failed {
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
