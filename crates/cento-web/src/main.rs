//! The program `cento-web`: sources of a text on the web, added to an index.
//!
//! Results go to standard output, errors to standard error. The exit status is 1 if no page could
//! be added, and 2 after an error or if the search engine answered nothing.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use cento::{Error, Key, Reason};
use cento_report::counted;
use cento_report::terminal::{json, printable};
use cento_source::{Extraction, SourceOptions, read_text};
use cento_web::{
    AnsweredQuery, Collection, Failure, IndexedPage, WebOptions, WebReport, add_sources, queries,
};

/// Find sources of a text on the web, and add them to an index.
///
/// Cuts the text into windows and asks a search engine for the rarest run of words of each. Pages
/// that most answers name are fetched and added, with their addresses as ids, `votes` and the time
/// in `meta`. Then `cento trace INDEX FILE --report FILE.html` shows the passages that they share
/// with the text.
///
/// Sends parts of the text to the search engine. Keeps to robots.txt, makes one request a second to
/// a host, and refuses addresses that are not public, also after redirects. The exit status is 1 if
/// no page could be added, and 2 if the engine answered nothing.
#[derive(Debug, Parser)]
#[command(name = "cento-web", version, max_term_width = 100)]
struct Web {
    /// The text, or - for standard input.
    file: PathBuf,
    /// Index to add pages to; it is created if it does not exist.
    #[arg(long, value_name = "INDEX")]
    into: PathBuf,
    /// Index of your own, or table of `cento method train --analyzer words`, that says which runs
    /// of words are rare: those in few of its documents, or that it has counted least. Without it,
    /// runs with the longest words are taken.
    #[arg(long, value_name = "PATH")]
    frequencies: Option<PathBuf>,
    /// Words of a window.
    #[arg(
        long, value_name = "N", default_value = "100",
        value_parser = clap::value_parser!(u16).range(10..),
    )]
    window: u16,
    /// Words of a run.
    #[arg(
        long, value_name = "N", default_value = "8",
        value_parser = clap::value_parser!(u16).range(3..=10),
    )]
    words: u16,
    #[command(flatten)]
    options: WebOptions,
    /// File with the key of the index, if it has one: 32 hexadecimal digits. A new index then has
    /// that key, and stores no texts.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: OutputFormat,
}

/// The format of the output.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum OutputFormat {
    /// Text for people.
    Human,
    /// One JSON object for programs.
    Json,
}

impl Web {
    /// Adds the sources that are found to the index.
    fn run(self) -> cento::Result<WebReport> {
        let program = std::env::current_exe().ok();
        let source =
            SourceOptions { extraction: program.map(Extraction::by), ..SourceOptions::default() };
        let key = self.key_file.as_deref().map(Key::read).transpose()?;
        let text = read_text(&self.file, &source, &mut |missing| tell(missing))?;
        let open = |path| Collection::open(path, key.as_ref());
        let frequencies = self.frequencies.as_deref().map(open).transpose()?;
        let (window, words) = (self.window.into(), self.words.into());
        let queries = queries(&text, window, words, frequencies.as_ref())?;
        if queries.is_empty() {
            return Err(Error::input(self.file.display().to_string(), "it has no words"));
        }
        let options = WebOptions { source, key, ..self.options };
        add_sources(queries, &self.into, &options)
    }
}

/// Writes an error with its hint to standard error.
fn tell(error: &Error) {
    let hint = match error.reason() {
        Reason::NeedsKey => "; --key-file names the file with the key".to_owned(),
        Reason::Unsupported { feature } => {
            format!("; install cento-web with `--features {feature}`")
        }
        Reason::Damaged => "; run `cento check` on the index".to_owned(),
        _ => String::new(),
    };
    eprintln!("cento-web: {}", printable(&format!("{error}{hint}")));
}

fn show(report: &WebReport, format: OutputFormat) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if matches!(format, OutputFormat::Json) {
        return writeln!(out, "{}", json(report)?);
    }
    let mut line = |text: String| writeln!(out, "{}", printable(&text));
    for AnsweredQuery { query, addresses, .. } in &report.asked {
        line(format!("asked   {addresses:>3} addresses  {query}"))?;
    }
    for Failure { what, why, .. } in &report.unanswered {
        line(format!("no answer  {what}: {why}"))?;
    }
    for IndexedPage { address, votes, bytes, .. } in &report.added {
        line(format!("added   {votes:>3} votes  {address}, {}", counted(*bytes as u64, "byte")))?;
    }
    for Failure { what, why, .. } in &report.failed {
        line(format!("failed  {what}: {why}"))?;
    }
    if report.not_asked > 0 {
        line(format!("without a query: {}", counted(report.not_asked as u64, "window")))?;
    }
    if report.not_fetched > 0 {
        line(format!("not fetched: {}", counted(report.not_fetched as u64, "other page")))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(served) = cento_source::serve_as_worker(&arguments) {
        return ExitCode::from(if served.is_ok() { 0 } else { 2 });
    }
    let web = Web::parse();
    let format = web.format;
    let report = match web.run() {
        Ok(report) => report,
        Err(error) => {
            tell(&error);
            return ExitCode::from(2);
        }
    };
    match show(&report, format) {
        // The reader has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => {
            eprintln!("cento-web: cannot write the output: {error}");
            return ExitCode::from(2);
        }
        Ok(()) => {}
    }
    ExitCode::from(match (report.asked.is_empty(), report.added.is_empty()) {
        (true, _) => 2,
        (_, true) => 1,
        _ => 0,
    })
}
