//! `cento search` finds documents that share text with the queries.

mod engine;
mod queries;
mod trace;

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde::Serialize;

use super::add::SourceArgs;
use super::boilerplate::{self, UnreadBoilerplate};
use super::grouping::UnitArgs;
use super::join::union;
use super::key;
use super::left_out::FilterArgs;
use super::list_format::{ListFormat, ListOut};
use super::memory;
use super::output::{self, percent};
use super::parse::{parse_bytes, parse_measure};
use super::report_args::{self, ReportArgs};
use super::search_report::{CollectedAnswers, Subject as Reported, without_text};
use super::target::{Target, TargetArgs};
use super::terminal::{Id, line, note, tell};
use super::{Result, VerbOutcome};
use cento::index::Index;
use cento::scheme::frequency::FrequencyTable;
use cento::search::{Answer, Goal, Hit, Query, SearchOptions, Searcher, Thresholds};
use cento::{Analyzer, Error, Unit};
use cento_client::api::SignatureBody;
use cento_report::{NotCompared, PartedText, ReuseReport, Run, shares_in_text};
use cento_source::InFile;
use engine::SearchEngine;
use queries::{End, UnansweredQueries};
pub use trace::TraceText;

/// Find the documents that share text with your query.
///
/// You see the hits with the most shared fingerprints first, unless you set --rank. `of query` is
/// the share of your query that the hit contains, and `of hit` is the share of the hit that the
/// query contains, both counted in runs of words. A ~ marks an estimate.
#[derive(Debug, Args)]
#[command(mut_arg("verify", |arg| arg.value_parser(parse_measure)))]
pub struct Search {
    #[command(flatten)]
    target: TargetArgs,
    /// Files or folders to search for, or - for standard input. Each file is a query with its path
    /// as id, and so is each record of a list, such as a .jsonl file. You can put more indexes
    /// before the files, and cento searches all of them as one. If cento cannot read a query, it
    /// tells you which one and why, answers the others, and the exit status is 3.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Use this text as the query.
    #[arg(
        long, value_name = "TEXT", conflicts_with_all = ["id", "signature"],
        allow_hyphen_values = true,
    )]
    text: Option<String>,
    /// Use the stored document with this id as the query.
    #[arg(long, conflicts_with = "signature", allow_hyphen_values = true)]
    id: Option<String>,
    /// Use a signature as the query. `cento method fingerprint --format json` makes one.
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    #[command(flatten)]
    thresholds: Thresholds,
    #[command(flatten)]
    options: SearchOptions,
    /// Ignore this boilerplate, such as templates: files, folders or an index. `auto` ignores the
    /// passages that three of four documents of the index have (auto:0.5: half of them).
    /// Boilerplate counts in no number and no passage, except in the measure of --verify, which
    /// uses the full texts. Can be repeated.
    #[arg(long, short = 'b', value_name = "PATH|auto")]
    boilerplate: Vec<PathBuf>,
    /// Frequency table of a collection, so that `--verify cosine` weights words by TF-IDF. `cento
    /// method train --run-length 1` makes it.
    #[arg(long, value_name = "FILE", requires = "verify")]
    frequencies: Option<PathBuf>,
    /// Read standard input as JSON lines, one query per line.
    #[arg(long)]
    jsonl: bool,
    /// Memory for passages and the report. If a part does not fit, cento omits it and tells you
    /// which one. Default: 512MiB, or less in a container or machine with less than 2.2 GiB.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    memory: Option<usize>,
    #[command(flatten)]
    report: ReportArgs,
    #[command(flatten)]
    unit: UnitArgs,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    source: SourceArgs,
    /// Output format. Rows of csv and tsv are hits, or the spans of a trace. The id of the query
    /// comes first, and the other columns are the JSON fields of a hit or span. With passages,
    /// `share_in_text` is the share of the query in passages, as in a report.
    #[arg(long, value_enum, default_value = "human")]
    format: ListFormat,
}

/// Passages of one answer may take one part in `PASSAGES_SHARE` of the memory, because the
/// formatted text takes more than as much again.
const PASSAGES_SHARE: usize = 4;

/// The share of the memory for the data of a report.
const REPORT_SHARE: usize = 2;

/// A query of the user.
enum UserQuery {
    /// A text with its parts, and the position in its file.
    Text(PartedText, InFile),
    Id(String),
    Signature(SignatureBody),
}

impl Search {
    pub(super) fn run(mut self) -> Result {
        if self.report.is_asked() && self.signature.is_some() {
            let what = "a report shows the text of the document, and a signature has no text; \
                        search with the file instead of --signature";
            return Err(Error::arguments(what).into());
        }
        let others = self.boilerplate.iter().chain(&self.signature).chain(&self.frequencies);
        let read: Vec<PathBuf> = self.files.iter().chain(others).cloned().collect();
        self.report.check_outputs(&read, None, None)?;
        let query = self.query()?;
        let mut unread = UnreadBoilerplate::default();
        let (engine, place) = self.engine(&mut unread)?;
        let (mut found, mut answered, mut unanswered) = (false, 0, UnansweredQueries::default());
        let (memory, limit) = (self.memory(), self.options.limit);
        let (mut collected, mut analyzer) =
            (CollectedAnswers::within(memory / REPORT_SHARE, limit), None);
        let (mut warnings, mut defaults) = (Vec::new(), None);
        for id in &self.options.exclude_id {
            if !engine.has(id)? {
                note!("cento: --exclude-id {id}: there is no such document");
            }
        }
        let columns = match self.options.goal {
            Goal::Trace => trace::COLUMNS,
            Goal::Hits | Goal::Passage => COLUMNS,
        };
        let mut out = ListOut::new(io::stdout().lock(), self.format, columns)?;
        self.for_each_query(&mut unanswered, &mut |name, id, mut asked| {
            let in_file = match &mut asked {
                UserQuery::Text(_, in_file) => std::mem::take(in_file),
                UserQuery::Id(_) | UserQuery::Signature(_) => InFile::default(),
            };
            let reported = match (&asked, self.report.is_asked()) {
                (_, false) | (UserQuery::Signature(_), _) => None,
                (UserQuery::Text(text, _), true) => Some(text.clone()),
                (UserQuery::Id(id), true) => {
                    Some(engine.text_of(id)?.ok_or_else(|| without_text(id))?)
                }
            };
            let text = match (&asked, &out) {
                (UserQuery::Text(text, _), ListOut::Human(_)) => Some(text.text.clone()),
                _ => None,
            };
            // Text that the table measures the passages in.
            let measured = match (&asked, &out) {
                (_, ListOut::Human(_) | ListOut::Json(_)) => None,
                (UserQuery::Text(text, _), ListOut::Rows(_)) => Some(text.clone()),
                (UserQuery::Id(id), ListOut::Rows(_)) => engine.text_of(id)?,
                (UserQuery::Signature(_), ListOut::Rows(_)) => None,
            };
            let mut answer = engine.search(asked, &query)?;
            answer.query.id = answer.query.id.or(id);
            answer.query.unseen = answer.query.unseen.with_hidden(in_file.hidden_characters);
            let warned = output::warnings(&name, &answer.query.unseen);
            if let Some(origins) = &in_file.origins {
                let hits = answer.hits.iter_mut();
                origins.place_a(hits.flat_map(|hit| hit.passages.iter_mut().flatten()));
            }
            if let Some(text) = reported {
                let subject = Reported { name: name.clone(), text };
                let text_of = |id: &str| engine.text_of(id);
                let analyzer = match analyzer.take() {
                    Some(known) => analyzer.insert(known),
                    None => analyzer.insert(engine.analyzer()?),
                };
                collected.add(subject, &answer, text_of, analyzer)?;
            }
            // `--limit 0` shows no hits, so `more` decides whether something was found.
            let containing = answer.trace.as_ref().and_then(|trace| trace.containing.as_ref());
            found |= !answer.hits.is_empty() || answer.more;
            found |= containing.is_some_and(|containing| containing.documents > 0);
            defaults = answer.defaults.or(defaults);
            answered += 1;
            match &mut out {
                ListOut::Json(out) => output::print_json_to(out, &answer)?,
                ListOut::Human(out) => {
                    print_human(out, &answer, &query, text.as_deref())?;
                    output::print_warnings(out, &warned)?;
                }
                ListOut::Rows(rows) => {
                    let id = answer.query.id.as_deref();
                    match &answer.trace {
                        Some(traced) => {
                            let mut spans = traced.spans.iter();
                            spans
                                .try_for_each(|span| rows.write(&trace::Row { query: id, span }))?;
                        }
                        None => {
                            let shares = match measured.filter(|_| has_passages(&answer)) {
                                Some(text) => {
                                    let without = &self.options.without;
                                    let analyzer = engine.analyzer()?;
                                    shares_in_text(text, &answer, &analyzer, without)?
                                }
                                None => Vec::new(),
                            };
                            for (at, hit) in answer.hits.iter().enumerate() {
                                let share_in_text = shares.get(at).map(|share| share.ratio());
                                rows.write(&HitRow { query: id, share_in_text, hit })?;
                            }
                        }
                    }
                    tell_beside_rows(&name, &answer, &query, &warned);
                }
            }
            out.flush()?;
            warnings.extend(warned);
            if let Some(said) = without_passages(&name, &answer, memory) {
                tell!("cento: {}: {}", said.name, said.reason);
                warnings.push(said);
            }
            Ok(())
        })?;
        if self.report.is_asked() {
            let run = self.reported(&engine.analyzer()?)?;
            let run = defaults.into_iter().fold(run, |run, used| run.with("preset", used));
            let run = Run { index: Some(engine.state(&place)?), ..run };
            let exclusions = &self.options.without;
            for said in &collected.left_out {
                tell!("cento: {}: {}", said.name, said.reason);
            }
            let mut report = ReuseReport::new(run, collected.searched, exclusions)?;
            report.not_compared = unread.list;
            report.not_compared.extend(collected.left_out);
            report.not_compared.extend(unanswered.list.iter().cloned());
            report.warnings = warnings;
            self.report.write_reuse(&report)?;
        }
        if unanswered.finish() {
            if let ListOut::Json(out) = &mut out {
                output::print_json_to(out, &End { answered, not_compared: &unanswered.list })?;
            }
            return Ok(if answered > 0 { VerbOutcome::Incomplete } else { VerbOutcome::Bad });
        }
        Ok(VerbOutcome::of_inputs(unread.is_any_refused, found))
    }

    /// Opens the engine, and returns the engine with its path or URL. Notes unreadable boilerplate.
    fn engine(&mut self, unread: &mut UnreadBoilerplate) -> cento::Result<(SearchEngine, String)> {
        let place;
        let engine = match self.target.target(&mut self.files)? {
            Target::Index(path) => {
                let mut paths = vec![path];
                // No directory is a query.
                while self.files.first().is_some_and(Index::exists) {
                    paths.push(self.files.remove(0));
                }
                if let (true, Some(file)) = (self.asks_once(), self.files.first()) {
                    let what = "give either query files or one of --text, --id and --signature";
                    return Err(Error::input(file.display().to_string(), what));
                }
                place = report_args::listed(&paths);
                let searcher =
                    Searcher::new(union(&paths, paths.iter().map(key::open_for_search))?);
                let searcher = boilerplate::without_noting(searcher, &self.boilerplate, unread)?;
                let table = self.frequencies.as_deref().map(FrequencyTable::open).transpose()?;
                SearchEngine::Index { searcher, frequencies: table.map(Arc::new) }
            }
            Target::Service(client) => {
                if let Some(index) = self.files.iter().find(|path| Index::exists(path)) {
                    let what = "this is an index; give either an index or --url, not both";
                    return Err(Error::input(index.display().to_string(), what));
                }
                if self.asks_once() && !self.files.is_empty() {
                    let what = "give either an index or --url, not both";
                    return Err(Error::input(self.files[0].display().to_string(), what));
                }
                if self.frequencies.is_some() {
                    let what = "--frequencies cannot be used with --url; give it to `cento serve`";
                    return Err(Error::arguments(what));
                }
                place = client.url().to_owned();
                SearchEngine::Service { client, boilerplate: self.boilerplate_texts(unread)? }
            }
        };
        Ok((engine, place))
    }

    /// Returns the options that decide the result, for the foot of the report.
    fn reported(&self, analyzer: &Analyzer) -> cento::Result<Run> {
        let run = self.report.run("search", analyzer)?;
        let run = run.with_options(&self.thresholds).with_options(&self.options);
        Ok(match self.boilerplate.is_empty() {
            true => run,
            false => run.with("boilerplate", report_args::listed(&self.boilerplate)),
        })
    }

    /// Returns whether an option, and not a file, holds the query.
    fn asks_once(&self) -> bool {
        self.text.is_some() || self.id.is_some() || self.signature.is_some()
    }

    /// Reads the boilerplate as texts, for a service.
    fn boilerplate_texts(&self, unread: &mut UnreadBoilerplate) -> cento::Result<Vec<String>> {
        let paths = boilerplate::NamedBoilerplate::paths_alone(
            &self.boilerplate,
            "cannot be used with --url, because the service has the documents",
        )?;
        cento_source::check_there(&paths)?;
        if let Some(index) = paths.iter().find(|path| Index::exists(path)) {
            let what = "this is an index, but with --url boilerplate must be text files";
            return Err(Error::input(index.display().to_string(), what));
        }
        boilerplate::texts_noting(&paths, &self.source.options(), unread)
    }

    fn memory(&self) -> usize {
        self.memory.unwrap_or_else(memory::default_bytes)
    }

    /// Returns the options as a query without a subject.
    ///
    /// # Errors
    /// When options contradict each other.
    fn query(&self) -> cento::Result<Query> {
        let is_alone = self.boilerplate.is_empty() && !self.report.is_asked();
        if self.options.goal == Goal::Passage && !is_alone {
            let what = "--goal passage cannot be combined with --boilerplate or --report: it \
                        compares whole texts, and finds no shares of them";
            return Err(Error::argument("goal", what));
        }
        let mut query = Query::text("").passage_bytes_max(self.memory() / PASSAGES_SHARE);
        (query.thresholds, query.options) = (self.thresholds, self.options.clone());
        query.options.passages |= self.report.is_asked();
        query.check()?;
        Ok(query)
    }
}

/// The columns of a table of hits.
const COLUMNS: &[&str] = &[
    "query",
    "id",
    "index",
    "overlap",
    "fingerprints",
    "containment_of_a",
    "containment_of_b",
    "resemblance",
    "standard_error",
    "exact",
    "of_sketches",
    "weighted.containment_of_a",
    "weighted.containment_of_b",
    "weighted.resemblance",
    "passage_tokens",
    "share_in_text",
    "adds",
    "verified.measure",
    "verified.similarity",
    "meta",
    "passages",
    "passages_complete",
];

/// A hit, as a row of a table.
#[derive(Serialize)]
struct HitRow<'a> {
    query: Option<&'a str>,
    /// As in the report of the search.
    share_in_text: Option<f64>,
    #[serde(flatten)]
    hit: &'a Hit,
}

fn has_passages(answer: &Answer) -> bool {
    answer.hits.iter().any(|hit| hit.passages.is_some())
}

/// Reports what rows of hits do not say of an answer.
fn tell_beside_rows(name: &str, answer: &Answer, wanted: &Query, warned: &[NotCompared]) {
    for NotCompared { name, reason } in warned {
        tell!("cento: {name} {reason}");
    }
    if answer.more {
        note!("cento: {name}: {}", more(answer, wanted));
    }
}

/// Prints an answer. `text` is the text of the query, if available.
fn print_human(
    out: &mut impl Write,
    answer: &Answer,
    wanted: &Query,
    text: Option<&str>,
) -> io::Result<()> {
    let query = &answer.query;
    let name = query.id.as_deref().unwrap_or("query");
    let stopped = match query.stopped {
        0 => String::new(),
        stopped => format!(", {} of them stopped", output::count(stopped.into())),
    };
    line!(
        out,
        "{name}: {}, {}{stopped}; {} in {} us",
        output::counted(query.tokens.into(), "token"),
        output::counted(query.fingerprints.into(), "fingerprint"),
        // The line under a list that is cut has the same number.
        output::counted(answer.total.unwrap_or(answer.hits.len() as u64), "hit"),
        answer.took_us,
    )?;
    if let Some(defaults) = answer.defaults {
        line!(out, "--for {defaults}")?;
    }
    if let Some(traced) = &answer.trace {
        trace::print(out, answer, traced, &wanted.options)?;
    }
    if !answer.hits.is_empty() {
        print_hits(out, answer, text)?;
    }
    if answer.more {
        line!(out, "{}", more(answer, wanted))?;
    }
    Ok(())
}

/// Returns a message that the hits are shown without passages.
fn without_passages(name: &str, answer: &Answer, memory: usize) -> Option<NotCompared> {
    let is_without = |hit: &&Hit| hit.passages.is_none() && hit.passages_complete == Some(false);
    let count = answer.hits.iter().filter(is_without).count();
    let what = || {
        format!(
            "the passages of the last {} are left out, because a quarter of --memory, {}, does not \
             suffice for them; raise it, lower --limit, or set --min-passage",
            output::counted(count as u64, "hit"),
            output::bytes((memory / PASSAGES_SHARE) as u64),
        )
    };
    (count > 0).then(|| NotCompared::new(name, what()))
}

/// Returns a message that further hits, or spans of a trace, may exist, with the option to raise.
fn more(answer: &Answer, wanted: &Query) -> String {
    if answer.trace.is_some() && answer.total.is_none() {
        let cure = match wanted.options.candidates {
            Some(_) => "raise --candidates",
            None => "--candidates 1000 compares more of them",
        };
        return format!(
            "cento did not compare every document that shares fingerprints with this text, so \
             there may be more spans and carriers; {cure}"
        );
    }
    let shown = answer.hits.len() as u64;
    let is_full = wanted.options.limit.is_none_or(|limit| answer.hits.len() >= limit);
    // If fewer hits than the limit are shown, the number of candidates was the limit.
    let option = if is_full { "--limit" } else { "--candidates" };
    let is_demanding = wanted.options.min_passage.is_some() || wanted.options.verify.is_some();
    match answer.total {
        None if is_demanding => {
            let shown = output::counted(shown, "hit");
            format!("{shown} shown, there may be more; raise {option}")
        }
        total => output::cut(shown, total, "hit", option),
    }
}

/// Prints the hits. `text` is the text of the query, if available.
fn print_hits(out: &mut impl Write, answer: &Answer, text: Option<&str>) -> io::Result<()> {
    let adds = if answer.trace.is_some() { "     adds" } else { "" };
    line!(
        out,
        "{:>9} {:>9} {:>11} {:>8}{adds}  id",
        "of query",
        "of hit",
        "resemblance",
        "overlap"
    )?;
    for hit in &answer.hits {
        let adds = hit.adds.map_or(String::new(), |adds| format!(" {adds:>8}"));
        let of_texts = &hit.similarity;
        let share = |share| output::share(share, of_texts.exact);
        line!(
            out,
            "{:>9} {:>9} {:>11} {:>8}{adds}  {}",
            share(of_texts.containment_of_a),
            share(of_texts.containment_of_b),
            share(of_texts.resemblance),
            hit.overlap,
            Id(&output::named(&hit.id, hit.index.as_deref()))
        )?;
        if let Some(weighted) = &hit.weighted {
            line!(
                out,
                "{:>9} {:>9} {:>11} weighted",
                percent(weighted.containment_of_a),
                percent(weighted.containment_of_b),
                percent(weighted.resemblance)
            )?;
        }
        if let Some(tokens) = hit.passage_tokens {
            line!(out, "{:>11} in passages", output::counted(tokens.into(), "word"))?;
        }
        if let Some(verified) = &hit.verified {
            line!(out, "{:>11} by {}", percent(verified.similarity), verified.measure)?;
        }
        // With a trace, the spans are shown in place of passages.
        let passages = hit.passages.iter().flatten().filter(|_| answer.trace.is_none());
        for passage in passages {
            line!(out, "{:>13}{}", "", output::passage(passage))?;
            let (start, end) = (passage.a.0 as usize, passage.a.1 as usize);
            let bytes = text.filter(|_| passage.unit == Unit::Bytes);
            if let Some(text) = bytes.and_then(|text| text.get(start..end)) {
                line!(out, "{:>17}{}", "", output::beginning(text))?;
            }
        }
        if hit.passages_complete == Some(false) && hit.passages.is_some() {
            line!(out, "{:>13} {}", "", output::MORE_PASSAGES)?;
        }
    }
    Ok(())
}
