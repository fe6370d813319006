//! `cento dedup`

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::add::SourceArgs;
use super::advice::Explained;
use super::boilerplate::{keys_of, without};
use super::create::ConfigArgs;
use super::outfile::{OutFile, is_taken, listed, path_name};
use super::output::{self, Format, count};
use super::pause::Pause;
use super::progress::{NotRead, Omissions, Spinner, stop_flag};
use super::terminal::{self, tell};
use super::values::{parse_bytes, parse_share};
use super::{Outcome, Result};
use cento::Error;
use cento::hash::hash_fields;
use cento::index::Document;
use cento::index::Index;
use cento::join::dedup::{Decision, DedupOptions, Event, Progress, Verdict};
use cento::search::Searcher;
use cento_source::{SourceOptions, check_there, dedup};

/// Write the documents that are not duplicates, and report the others.
///
/// Compares every document with those before it, in one pass, and with other indexes. The first of
/// several duplicates is kept. A report lists every dropped document, the reason, and the document
/// that it duplicates. Fingerprints are not weighted by rarity, which changes with every batch: a verdict
/// does not depend on what was committed when.
#[derive(Debug, Args)]
pub struct Dedup {
    /// Files or directories, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Index to compare with and to add the kept documents to, so that tomorrow's batch is compared
    /// with today's. Created if it does not exist.
    #[arg(long, value_name = "INDEX")]
    index: Option<PathBuf>,
    /// Index to compare with, which is not changed. Can be repeated.
    #[arg(long, value_name = "INDEX")]
    against: Vec<PathBuf>,
    /// Minimum resemblance of a duplicate to an earlier document, 0 to 1.
    #[arg(long, value_name = "X", default_value = "0.8", value_parser = parse_share)]
    min_resemblance: f64,
    /// Minimum estimated resemblance of the texts themselves, 0 to 1, in place of --min-resemblance;
    /// that of fingerprints, which it is about, is lower for most schemes.
    #[arg(long, value_name = "X", value_parser = parse_share)]
    #[arg(conflicts_with_all = ["min_resemblance", "exact"])]
    min_estimated_resemblance: Option<f64>,
    /// Also drop a document if an earlier one contains at least this share of it, 0 to 1.
    #[arg(long, value_name = "X", value_parser = parse_share)]
    min_containment: Option<f64>,
    /// Drop only documents with identical text.
    #[arg(long, conflicts_with_all = ["min_resemblance", "min_containment"])]
    exact: bool,
    /// Remove runs of at least this many words that an earlier document contains from the kept
    /// documents. Needs an index that stores text.
    #[arg(long, value_name = "WORDS", value_parser = clap::value_parser!(u32).range(5..))]
    cut_passages: Option<u32>,
    /// Boilerplate to ignore, such as templates: files, directories or an index. Can be repeated.
    #[arg(long, short = 'b', value_name = "PATH")]
    boilerplate: Vec<PathBuf>,
    /// Drop nothing; write all documents, each with its verdict in a member `dedup`.
    #[arg(long, conflicts_with = "cut_passages")]
    annotate: bool,
    /// Write to this file instead of standard output. With --index, an interrupted run can then be
    /// resumed.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the report to this file instead of standard error, one JSON line per document.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Resume the interrupted run that wrote to --out and --report; use the same documents and
    /// options.
    #[arg(long, requires_all = ["index", "out"])]
    resume: bool,
    /// Start again although a run was interrupted. The documents that it kept stay in the index.
    #[arg(long, requires = "index", conflicts_with = "resume")]
    give_up: bool,
    #[command(flatten)]
    config: DedupConfigArgs,
    #[command(flatten)]
    source: SourceArgs,
    /// Memory for documents that are not committed yet.
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = parse_bytes)]
    memory: usize,
    /// Number of threads. Default: the number of processors.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Stop at the first record that is not a document, or file that cannot be read. If files were left
    /// out because they are not text, the exit status is 3.
    #[arg(long)]
    strict: bool,
    /// Format of the summary.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// The configuration of a new index.
#[derive(Debug, Args)]
struct DedupConfigArgs {
    /// Scheme of a new index: how fingerprints are chosen. Default: as in --against, or winnow.
    #[arg(long, value_name = "SPEC")]
    scheme: Option<String>,
    /// Analyzer of a new index: how text is split into tokens.
    #[arg(long, value_name = "SPEC")]
    analyzer: Option<String>,
    /// Frequency table of a new index, for schemes that need one.
    #[arg(long, value_name = "FILE")]
    frequencies: Option<PathBuf>,
    /// Store no text in a new index.
    #[arg(long, conflicts_with = "cut_passages")]
    no_text: bool,
}

/// How many documents had which result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Summary {
    kept: u64,
    exact: u64,
    near: u64,
    contained: u64,
    /// Dropped because passages of other documents contain all of it.
    passages: u64,
    /// Kept without some passages.
    cut: u64,
    skipped: u64,
    failed: u64,
    /// Of these, files that could not be read, or not to their ends.
    #[serde(default)]
    unread: u64,
    /// Documents without a token.
    #[serde(default)]
    empty: u64,
    bytes: u64,
    kept_bytes: u64,
}

/// The summary as JSON.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    /// What was not read since the run began or was resumed.
    #[serde(flatten)]
    not_read: &'a NotRead,
}

/// A line of the report.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    #[serde(flatten)]
    verdict: &'a Verdict,
}

impl Dedup {
    pub(super) fn run(self) -> Result {
        self.check_apart()?;
        let stop = stop_flag();
        let started = std::time::Instant::now();
        check_there(&self.paths)?;
        let against = self
            .against
            .iter()
            .map(|path| without(Searcher::new(Index::open(path)?.snapshot()?), &self.boilerplate));
        let against = against.collect::<cento::Result<Vec<_>>>()?;
        let temporary = match self.index {
            Some(_) => None,
            None => Some(
                tempfile::tempdir().map_err(|e| Error::io("create", "a temporary directory", e))?,
            ),
        };
        let path = match (&self.index, &temporary) {
            (Some(path), _) => path.clone(),
            (None, Some(dir)) => dir.path().join("index"),
            (None, None) => unreachable!("there is a temporary directory if no index is named"),
        };
        let index = self.open_or_create(&path, &against)?;
        let mut boilerplate = keys_of(&self.boilerplate, index.config())?;
        boilerplate.sort_unstable();
        boilerplate.dedup();
        let options = self.options(boilerplate);
        let run = self.identify(&index, &against, &options);
        let from = self.start(&index, run)?;
        let is_done = from.done;
        let mut files = Files::open(&self, &from.note)?;
        let spinner = Spinner::new();
        let (mut at_commit, mut at_document) = (Pause::at("commit"), Pause::at("document"));
        let mut sink = |event: Event<'_>| {
            let is_commit = matches!(event, Event::Committing(_));
            let told = files.tell(event, self.annotate);
            // Before the commit, once both files are durable.
            if is_commit {
                at_commit.reached()
            } else {
                at_document.reached()
            }
            spinner.tell(&|| files.summary.line());
            told
        };
        // A run that was interrupted after its end has nothing left to do.
        let end = match is_done {
            true => Ok(()),
            false => dedup(
                &index,
                &against,
                &self.paths,
                &self.source(),
                &options,
                from,
                &stop,
                &mut sink,
            ),
        };
        spinner.finish();
        if let Err(error) = end {
            if matches!(error, Error::Cancelled) && self.index.is_some() && self.out.is_some() {
                tell!("cento: repeat the command with --resume to continue from the last commit");
            }
            return Err(error.into());
        }
        let (summary, not_read) = files.finish()?;
        let report = Report { summary: &summary, not_read: &not_read };
        match self.format {
            // Documents have standard output for themselves.
            Format::Json if self.out.is_none() => tell!("{}", terminal::json(&report)?),
            Format::Json => output::print_json(&report)?,
            Format::Human => {
                let seconds = started.elapsed().as_secs_f64();
                let speed = summary.bytes as f64 / seconds.max(1e-9) / 1e6;
                tell!("{} in {seconds:.1} s ({speed:.0} MB/s)", summary.line());
            }
        }
        Ok(match summary.kept {
            _ if summary.unread > 0 => Outcome::Bad,
            _ if self.strict && summary.skipped > 0 => Outcome::Incomplete,
            0 => Outcome::Nothing,
            _ => Outcome::Found,
        })
    }

    fn source(&self) -> SourceOptions {
        SourceOptions { keeps_records: true, ..self.source.options() }
    }

    fn options(&self, boilerplate: Vec<u64>) -> DedupOptions {
        DedupOptions {
            near: (!self.exact && self.min_estimated_resemblance.is_none())
                .then_some(self.min_resemblance),
            near_estimated: self.min_estimated_resemblance,
            contained: self.min_containment,
            passage: self.cut_passages.map(|words| words as usize),
            boilerplate,
            threads: self.threads.unwrap_or_else(cento::available_threads),
            memory_bytes: self.memory,
            resumable: self.index.is_some() && self.out.is_some(),
            strict: self.strict,
        }
    }

    fn open_or_create(&self, path: &Path, against: &[Searcher]) -> cento::Result<Index> {
        if Index::exists(path) {
            return Index::open(path);
        }
        let DedupConfigArgs { scheme, analyzer, frequencies, no_text } = &self.config;
        let store_text = self.cut_passages.is_some() || (self.index.is_some() && !no_text);
        let is_given = scheme.is_some() || analyzer.is_some() || frequencies.is_some();
        let config = match against.first().map(|first| first.snapshot().config()) {
            Some(config) if !is_given => config.with_text(store_text)?,
            _ => ConfigArgs {
                scheme: scheme.clone().unwrap_or_else(|| cento::scheme::DEFAULT_SPEC.into()),
                analyzer: analyzer.clone().unwrap_or_else(|| "words".into()),
                frequencies: frequencies.clone(),
            }
            .config_of(store_text, &self.paths, &self.source())?,
        };
        Index::create(path, config)
    }

    /// Refuses to write into an input, or two outputs into one file.
    fn check_apart(&self) -> cento::Result<()> {
        // What is not there yet will be in a directory that is.
        let place = |path: &Path| {
            let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
            let dir = dir.unwrap_or(Path::new(".")).canonicalize().ok()?;
            path.canonicalize().ok().or_else(|| Some(dir.join(path.file_name()?)))
        };
        let written: Vec<(&PathBuf, Option<PathBuf>)> = [&self.out, &self.report, &self.index]
            .into_iter()
            .flatten()
            .map(|path| (path, place(path)))
            .collect();
        for (i, (path, written_at)) in written.iter().enumerate() {
            let Some(written_at) = written_at else { continue };
            let is_read = |input: &&PathBuf| {
                input.canonicalize().is_ok_and(|input| written_at.starts_with(input))
            };
            if let Some(input) = self.paths.iter().find(is_read) {
                let what =
                    format!("it is inside the input {}; write it elsewhere", input.display());
                return Err(Error::input(path.display().to_string(), what));
            }
            let is_same =
                |other: &(&PathBuf, Option<PathBuf>)| other.1.as_ref() == Some(written_at);
            if written[..i].iter().any(is_same) {
                let what = "two outputs have this name; give each its own";
                return Err(Error::input(path.display().to_string(), what));
            }
        }
        Ok(())
    }

    /// Returns a number that identifies what will be written.
    fn identify(&self, index: &Index, against: &[Searcher], options: &DedupOptions) -> u64 {
        // Threads and memory change nothing, nor does whether it stops at a bad record.
        let DedupOptions {
            near,
            near_estimated,
            contained,
            passage,
            boilerplate,
            threads: _,
            memory_bytes: _,
            resumable,
            strict: _,
        } = options;
        let SourceOptions {
            id_field,
            text_field,
            meta_field,
            encoding,
            record_bytes_max,
            read_ignored,
            keeps_records,
            requires_id,
            html,
            extraction,
        } = &self.source();
        let config = index.config();
        let generations = against.iter().map(|other| other.snapshot().generation());
        hash_fields(&BTreeMap::from([
            ("paths", listed(self.paths.iter().map(|path| path_name(path)))),
            ("out", listed(self.out.iter().map(|path| path_name(path)))),
            ("report", listed(self.report.iter().map(|path| path_name(path)))),
            ("annotate", self.annotate.to_string()),
            ("against", listed(generations)),
            ("scheme", config.scheme.to_string()),
            ("analyzer", config.analyzer.to_string()),
            ("near", listed(*near)),
            ("near_estimated", listed(*near_estimated)),
            ("contained", listed(*contained)),
            ("passage", listed(*passage)),
            ("boilerplate", listed(boilerplate)),
            ("resumable", resumable.to_string()),
            ("id_field", id_field.clone()),
            ("text_field", text_field.clone()),
            ("meta_field", meta_field.clone()),
            ("encoding", listed(encoding)),
            ("record_bytes_max", record_bytes_max.to_string()),
            ("read_ignored", read_ignored.to_string()),
            ("keeps_records", keeps_records.to_string()),
            ("requires_id", requires_id.to_string()),
            ("html", format!("{html:?}")),
            ("extraction", extraction.is_some().to_string()),
        ]))
    }

    /// Returns where the run begins.
    fn start(&self, index: &Index, run: u64) -> cento::Result<Progress> {
        let is_of_interest =
            |progress: &Progress| !progress.done || (self.resume && progress.run == run);
        let before = Progress::of(index)?.filter(is_of_interest);
        let refused = |what: &str| Err(Error::index(index.path(), what));
        match (before, self.resume) {
            (Some(before), true) if before.run == run => Ok(before),
            (Some(_), true) => refused(
                "the interrupted run had other inputs or options; repeat the command with those",
            ),
            (Some(_), false) if !self.give_up => refused(
                "an earlier run was interrupted; continue it with --resume and the same inputs and \
                 options, or start another with --give-up, which compares with what it kept",
            ),
            (None, true) if self.out.as_ref().is_some_and(|out| is_taken(out)) => {
                refused("there is no interrupted run to resume; omit --resume")
            }
            // Or a run was interrupted before it had begun.
            _ => Ok(Progress { run, ..Progress::default() }),
        }
    }
}

/// The outputs, and what has been written to them.
struct Files {
    out: OutFile,
    /// None for standard error.
    report: Option<OutFile>,
    /// The field of a record with the text.
    text_field: String,
    summary: Summary,
    omissions: Omissions,
}

/// What a commit notes of them.
#[derive(Serialize, Deserialize)]
struct Note {
    /// The lengths of both files.
    out: u64,
    report: u64,
    summary: Summary,
}

impl Files {
    /// Opens the outputs, at the positions in the note of the last commit if there is one.
    fn open(args: &Dedup, note: &Value) -> cento::Result<Files> {
        let note: Option<Note> = serde_json::from_value(note.clone()).ok();
        let open = |path: &Path, length: Option<u64>| match length {
            None if is_taken(path) => {
                let what = "the file exists already; choose another name, or remove it";
                Err(Error::input(path.display().to_string(), what))
            }
            None | Some(0) if !path.exists() => OutFile::create(path),
            length => OutFile::resume(path, length.unwrap_or(0)),
        };
        let (at_out, at_report) = (note.as_ref().map(|n| n.out), note.as_ref().map(|n| n.report));
        let out = args.out.as_deref().map(|path| open(path, at_out)).transpose()?;
        let report = args.report.as_deref().map(|path| open(path, at_report)).transpose()?;
        let summary = note.map(|note| note.summary).unwrap_or_default();
        let text_field = args.source.options().text_field;
        let out = out.unwrap_or_else(OutFile::stdout);
        let omissions = Omissions::new(args.format == Format::Json);
        Ok(Files { out, report, text_field, summary, omissions })
    }

    fn tell(&mut self, event: Event<'_>, annotates: bool) -> cento::Result<()> {
        match event {
            Event::Decided(decision) => self.decided(decision, annotates)?,
            Event::Skipped(place, why) => {
                self.summary.skipped += 1;
                if let Some(said) = self.omissions.left_out(place, why) {
                    tell!("{said}");
                }
            }
            Event::Failed(error) => {
                self.summary.failed += 1;
                self.summary.unread += u64::from(matches!(error, Error::Io { .. }));
                self.omissions.failed(error);
                tell!("cento: {}", Explained(error));
            }
            Event::Empty(id) => {
                self.summary.empty += 1;
                if let Some(said) = self.omissions.empty(id) {
                    tell!("{said}");
                }
            }
            Event::Committing(note) => {
                let (out, report) = self.sync()?;
                let own = Note { out, report, summary: self.summary };
                *note = serde_json::to_value(own).expect("numbers are JSON");
            }
        }
        Ok(())
    }

    /// Makes both files durable; gives their lengths.
    fn sync(&mut self) -> cento::Result<(u64, u64)> {
        let out = self.out.sync().map_err(|e| self.out.failed(e))?;
        let report = match &mut self.report {
            Some(report) => report.sync().map_err(|e| report.failed(e))?,
            None => 0,
        };
        Ok((out, report))
    }

    fn decided(&mut self, decision: Decision<'_>, annotates: bool) -> cento::Result<()> {
        let Decision { document, verdict, .. } = decision;
        let summary = &mut self.summary;
        summary.bytes += document.text.len() as u64;
        let (is_kept, is_cut) = match verdict {
            Verdict::Kept { cut, .. } => (true, !cut.is_empty()),
            _ => (false, false),
        };
        let is_renamed = matches!(verdict, Verdict::Kept { kept_as: Some(_), .. });
        match verdict {
            Verdict::Kept { .. } => {
                summary.kept += 1;
                summary.cut += u64::from(is_cut);
            }
            Verdict::Exact { .. } => summary.exact += 1,
            Verdict::Near { .. } => summary.near += 1,
            Verdict::Contained { .. } => summary.contained += 1,
            Verdict::Passages { .. } => summary.passages += 1,
        }
        let cut_text = is_cut.then(|| decision.kept_text());
        if is_kept {
            let text = cut_text.as_ref().unwrap_or(&document.text);
            self.summary.kept_bytes += text.len() as u64;
        }
        if is_kept || annotates {
            let line = match cut_text {
                _ if annotates => annotated(document, verdict).into(),
                Some(text) => with_text(document, &text, &self.text_field).into(),
                None => record(document),
            };
            writeln!(self.out, "{line}").map_err(|e| self.out.failed(e))?;
        }
        if !is_kept || is_cut || is_renamed {
            let line = terminal::json(&Line { id: &document.id, verdict });
            let line = line.expect("it has names for keys only");
            match &mut self.report {
                Some(report) => writeln!(report, "{line}").map_err(|e| report.failed(e))?,
                // The annotations are a report.
                None if annotates => {}
                None => tell!("{line}"),
            }
        }
        Ok(())
    }

    fn finish(mut self) -> cento::Result<(Summary, NotRead)> {
        self.sync()?;
        self.omissions.finish();
        Ok((self.summary, self.omissions.into_lists()))
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("it has names for keys only")
}

/// The record of a document, as it was read.
fn record(document: &Document) -> Cow<'_, str> {
    match &document.record {
        Some(record) => (&**record).into(),
        None => written(document, &document.text).into(),
    }
}

/// A document that was read from something else than a record, with this text.
fn written(document: &Document, text: &str) -> String {
    let Document { id, meta, .. } = document;
    json(&Record { id, meta, text })
}

/// A record that is made here. Not a JSON object of `serde_json`, whose members are in one order or
/// another with the features of a build.
#[derive(Serialize)]
struct Record<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    meta: &'a Map<String, Value>,
    text: &'a str,
}

/// The record with another text, in this field; all else is as it was read.
fn with_text(document: &Document, text: &str, field: &str) -> String {
    let record = document.record.as_deref();
    let place = record.and_then(|record| Some((record, cento_source::text_place(record, field)?)));
    let Some((record, place)) = place else {
        return written(document, text);
    };
    format!("{}{}{}", &record[..place.start], json(&text), &record[place.end..])
}

/// The record with one member more.
fn annotated(document: &Document, verdict: &Verdict) -> String {
    let record = record(document);
    let open = record.trim_end().strip_suffix('}').unwrap_or(&record);
    format!("{open},\"dedup\":{}}}", json(verdict))
}

impl Summary {
    /// Summarises the results in a line.
    fn line(&self) -> String {
        let mut parts = vec![format!("{} kept", count(self.kept))];
        for (number, what) in [
            (self.exact, "exact duplicates"),
            (self.near, "near-duplicates"),
            (self.contained, "contained in others"),
            (self.passages, "nothing but passages of others"),
            (self.cut, "kept without some passages"),
            (self.skipped, "left out"),
            (self.failed, "failed"),
            (self.empty, "empty"),
        ] {
            if number > 0 {
                parts.push(format!("{} {what}", count(number)));
            }
        }
        format!("{}; {} of text", parts.join(", "), output::bytes(self.bytes))
    }
}
