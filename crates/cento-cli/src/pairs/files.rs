//! Pairs of files: the pairwise test of Finkel et al. (2002), section 2.6.

use std::io::{self, Write};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::report::{report_bytes_max, tell_cut};
use super::{Kind, Pairs, TOO_SHORT, columns, write_network, write_passages};
use crate::add::SourceArgs;
use crate::boilerplate::{Named, Unread, read_noting, without_read};
use crate::create::ConfigArgs;
use crate::file_set::{FilePair, FileSets};
use crate::left_out::{FilterArgs, LeftOuts};
use crate::list_format::ListOut;
use crate::memory;
use crate::messages::Messages;
use crate::output::{self, ListEnd, NotCompared, counted, similarity};
use crate::progress::AddProgress;
use crate::report_args;
use crate::terminal::{Id, line, note, tell};
use crate::{Outcome, Result};
use cento::index::{Config, Index};
use cento::join::most_similar::{MostSimilar, SymmetricPair};
use cento::join::pairs::{self, PairOptions, PairReport};
use cento::search::{Boilerplate, Searcher};
use cento::text::code::{lacks_language, language_in};
use cento::{Error, PresetUse, Stop};
use cento_report::{Joined, Network, PairsReport, Run, clusters, shown_of};
use cento_source::{AddOptions, Event, SourceOptions, is_by_name};

/// Options that only pairs of files have.
#[derive(Debug, Args)]
pub struct FileArgs {
    /// Compare each file, or each directory in PATH as one document. The document of a directory
    /// has all files below it.
    #[arg(long, value_enum, default_value = "file")]
    by: By,
    /// Also show which documents the shown pairs connect.
    #[arg(long)]
    clusters: bool,
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    source: SourceArgs,
}

/// Why a document is not compared if a later one has its id.
const REPLACED: &str = "a later document has the same id, and was compared in its place";

/// The unit of comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Each file.
    File,
    /// All files below each directory of the first level, together.
    Directory,
}

/// A pair as JSON.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    pair: &'a SymmetricPair,
    /// The files of two directories that have most in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<FilePair>>,
    /// The number of pairs of their files with something in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    files_total: Option<usize>,
}

/// The inputs that are compared, and those that are not.
struct Added {
    left_out: LeftOuts,
    file_sets: Option<FileSets>,
    documents: u64,
    not_compared: Vec<NotCompared>,
    warnings: Vec<NotCompared>,
}

impl Pairs {
    /// Finds the most similar pairs of files.
    pub(super) fn run_files(self, stop: &Stop) -> Result {
        let network = self.graph.as_deref().map(Network::of_file).transpose()?;
        if self.files.clusters && self.format.is_table() {
            let what = "a table has rows of one kind; write the clusters with --graph, where they \
                        are numbers of documents, or use --format json";
            return Err(Error::argument("clusters", what).into());
        }
        let dir =
            tempfile::tempdir().map_err(|e| Error::io("create", "a temporary directory", e))?;
        // Texts decide, so they are stored.
        let (config, source) = self.config_and_source()?;
        let index = Index::create(dir.path().join("index"), config)?;
        let mut unread = Unread::default();
        let named = Named::of(&self.join.boilerplate)?;
        let boilerplate = read_noting(&named.paths, index.config(), &mut unread)?;
        let mut not_compared = unread.list;
        let ignored = boilerplate.as_ref().map(Boilerplate::keys).unwrap_or_default();
        let mut added = self.add(&index, &source, &ignored, stop)?;
        if added.documents == 0 && source.filter.asks_language() {
            // No program has a name in this language.
            let filter = source.filter.in_any_language();
            added = self.add(&index, &SourceOptions { filter, ..source }, &ignored, stop)?;
        }
        let Added { mut file_sets, left_out, warnings, .. } = added;
        left_out.tell();
        check_enough(added.documents)?;
        not_compared.extend(added.not_compared);
        let searcher = Searcher::new(index.snapshot()?);
        let boilerplate = named.add_auto(boilerplate, searcher.snapshot(), stop)?;
        if let (Some(file_sets), Some(boilerplate)) = (&mut file_sets, &boilerplate) {
            file_sets.ignore(boilerplate);
        }
        let searcher = without_read(searcher, boilerplate)?;
        let mut preset = PresetUse::of(searcher.snapshot().preset());
        let has_scores = pairs::has_scores(&searcher);
        let options = self.options.clone().with_defaults_of_texts(&mut preset, has_scores);
        let found = pairs::pairs(&searcher, &options).threads(self.join.threads());
        let found = found.stop(stop).most_similar()?;
        self.tell_without_field(found.summary);
        let messages = Messages::default();
        for left in &found.not_compared {
            let analyzer = &searcher.snapshot().config().analyzer;
            let left = NotCompared::nothing_left(left.clone(), analyzer);
            messages.tell(&left.name, &left.reason);
            not_compared.push(left);
        }
        messages.finish();
        if found.compared < 2 {
            tell_not_compared(&not_compared);
        }
        check_enough(found.compared)?;
        let end = ListEnd::new(found.pairs.len(), found.total, &not_compared)
            .with_left_out(left_out.list())
            .with_warnings(&warnings)
            .with_defaults(preset.defaults());
        output::tell_defaults(preset.defaults());
        self.write(&found, file_sets.as_ref(), &end)?;
        if self.format.is_human() {
            output::print_warnings(&mut io::stdout().lock(), &warnings)?;
        } else if self.format.is_table() {
            warnings
                .iter()
                .for_each(|NotCompared { name, reason }| tell!("cento: {name} {reason}"));
        }
        let MostSimilar { pairs: best, .. } = &found;
        if let (Some(path), Some(network)) = (&self.graph, network) {
            let edges: Vec<_> = best
                .iter()
                .filter(|found| found.pair.too_short != Some(true))
                .map(|found| (&*found.pair.a, &*found.pair.b, found.symmetric))
                .collect();
            write_network(path, network, &edges)?;
        }
        let is_empty = best.is_empty();
        let is_missing = tell_not_compared(&not_compared);
        if self.report.is_asked() {
            let run = self.described(&searcher, &options, &left_out)?;
            self.report_files(run, &searcher, found, not_compared, warnings)?;
        }
        if is_missing {
            return Ok(Outcome::Bad);
        }
        Ok(if is_empty { Outcome::Nothing } else { Outcome::Found })
    }

    /// Returns the run for the foot of the report.
    fn described(
        &self,
        searcher: &Searcher,
        options: &PairOptions,
        left_out: &LeftOuts,
    ) -> cento::Result<Run> {
        let analyzer = &searcher.snapshot().config().analyzer;
        let mut run = self.report.run("pairs", analyzer)?;
        let limit = self.options.limit.unwrap_or(PairOptions::MOST_SIMILAR);
        run = run.with("scheme", self.files.config.scheme()).with("analyzer", analyzer);
        run = run.with_options(options).with("limit", limit);
        run =
            left_out.summary().into_iter().fold(run, |run, why| run.with("left out by name", why));
        if !self.join.boilerplate.is_empty() {
            run = run.with("boilerplate", report_args::listed(&self.join.boilerplate));
        }
        Ok(run)
    }

    /// Writes the report, with the passages of the shown pairs.
    fn report_files(
        &self,
        run: Run,
        searcher: &Searcher,
        found: MostSimilar,
        not_compared: Vec<NotCompared>,
        warnings: Vec<NotCompared>,
    ) -> cento::Result<()> {
        let all = found.pairs.len();
        let pairs = found.pairs.into_iter().map(|found| (found.pair, found.symmetric));
        let joined = Joined {
            compared: found.compared,
            measure: cento_report::SYMMETRIC_MEASURE.into(),
            histogram: Some(found.histogram),
            total: found.total,
            limit_option: "--limit",
            not_compared,
            warnings,
            ..Joined::read(pairs.collect(), searcher, Stop::NEVER, report_bytes_max())?
        };
        tell_cut(joined.pairs.len(), all);
        self.report.write_pairs(&PairsReport::new(run, joined, self.anonymous))
    }

    /// Returns the configuration, and the options for reading files: libraries and, of programs,
    /// files in other languages are left out by their names, and of directories also data.
    fn config_and_source(&self) -> cento::Result<(Config, SourceOptions)> {
        let (is_directory, analyzer) =
            (self.files.by == By::Directory, self.files.config.analyzer());
        let infers = lacks_language(analyzer);
        let is_program = infers || language_in(analyzer).is_some();
        let filter = self.files.filter.filter()?;
        let filter = filter.without_libraries(is_directory, is_directory || is_program);
        let filter = if is_directory { filter.without_data() } else { filter };
        let options = SourceOptions {
            filter,
            lists_are_texts: is_directory,
            tells_unseen: true,
            ..self.files.source.options()
        };
        let config = self.files.config.config_of_most(&self.paths, &options)?;
        let filter = match language_in(&config.analyzer.to_string()) {
            Some(language) => options.filter.in_language(language, infers),
            None => options.filter,
        };
        Ok((config, SourceOptions { filter, ..options }))
    }

    fn add(
        &self,
        index: &Index,
        source: &SourceOptions,
        ignored: &[u64],
        stop: &Stop,
    ) -> Result<Added> {
        match self.files.by {
            By::File => self.add_files(index, source, stop),
            By::Directory => self.add_directories(index, source, ignored, stop),
        }
    }

    fn add_files(&self, index: &Index, source: &SourceOptions, stop: &Stop) -> Result<Added> {
        let options = AddOptions {
            memory_bytes: memory::default_bytes(),
            source: source.clone(),
            ..AddOptions::default()
        };
        let progress = AddProgress::new(false);
        let (mut not_compared, mut warnings) = (Vec::new(), Vec::new());
        let mut left_out = LeftOuts::default();
        let messages = Messages::default();
        let added = cento_source::add(index, &self.paths, &options, stop, &mut |event| {
            match &event {
                Event::Skipped(place, why) if is_by_name(why) => {
                    return left_out.note(place, why, &self.paths, &source.filter);
                }
                Event::Skipped(place, why) => not_compared.push(NotCompared::new(*place, *why)),
                Event::Failed(error) => not_compared.push(output::not_compared(error)),
                // The comparison finds it, and reports the reason.
                Event::Empty(_) => return,
                Event::Replaced(id) => {
                    messages.tell(id, REPLACED);
                    not_compared.push(NotCompared::new(*id, REPLACED));
                }
                Event::Unseen(id, unseen) => warnings.extend(output::warnings(id, unseen)),
                Event::Progress(_) => {}
            }
            progress.tell(event);
        });
        progress.finish();
        messages.finish();
        let documents = added?.added;
        Ok(Added { file_sets: None, documents, not_compared, left_out, warnings })
    }

    fn add_directories(
        &self,
        index: &Index,
        source: &SourceOptions,
        ignored: &[u64],
        stop: &Stop,
    ) -> Result<Added> {
        let mut file_sets = FileSets::read(&self.paths, source)?;
        file_sets.add_to(index, ignored, stop)?;
        let not_compared = std::mem::take(&mut file_sets.left_out);
        let left_out = std::mem::take(&mut file_sets.by_name);
        let documents = file_sets.all.len() as u64;
        let unseen = file_sets.unseen();
        let warnings = unseen.flat_map(|(name, unseen)| output::warnings(name, &unseen)).collect();
        Ok(Added { file_sets: Some(file_sets), documents, not_compared, left_out, warnings })
    }

    fn write(
        &self,
        MostSimilar { pairs: best, .. }: &MostSimilar,
        file_sets: Option<&FileSets>,
        end: &ListEnd<'_>,
    ) -> io::Result<()> {
        let out = io::BufWriter::new(io::stdout().lock());
        let mut out = ListOut::new(out, self.format, columns(Kind::Files))?;
        if let ListOut::Human(out) = &mut out
            && !best.is_empty()
        {
            let any = |is: fn(&PairReport) -> bool| best.iter().any(|found| is(&found.pair));
            let score = if any(|pair| pair.score.is_some()) { "score " } else { "" };
            let margin = if any(|pair| pair.margin.is_some()) { " margin" } else { "" };
            line!(out, "{score}share{margin} {:>6} {:>6}  documents", "words", "words")?;
        }
        let mut is_apart = false;
        for found in best {
            let SymmetricPair { pair, .. } = found;
            if let ListOut::Human(out) = &mut out
                && !is_apart
                && pair.too_short == Some(true)
            {
                line!(out, "{TOO_SHORT}")?;
                is_apart = true;
            }
            let files = file_sets.map(|file_sets| file_sets.files_of(&pair.a, &pair.b));
            let (files, files_total) = files.unzip();
            let shown = Shown { pair: found, files, files_total };
            out.write(&shown, |out| print(out, &shown))?;
        }
        if self.files.clusters {
            let edges = best
                .iter()
                .filter(|found| found.pair.too_short != Some(true))
                .map(|found| (&*found.pair.a, &*found.pair.b));
            for cluster in clusters(edges) {
                out.write(&cluster, |out| {
                    let members = cluster.members.join("  ");
                    line!(out, "cluster {}, {}: {members}", cluster.cluster, cluster.size)
                })?;
            }
        }
        if let ListOut::Json(out) = &mut out {
            end.write(out)?;
        }
        out.flush()?;
        if let Some(said) = end.said("pairs", "--limit") {
            note!("{said}");
        }
        Ok(())
    }
}

/// Writes a pair for people.
fn print(out: &mut impl Write, Shown { pair, files, files_total }: &Shown<'_>) -> io::Result<()> {
    let SymmetricPair { pair, symmetric, .. } = pair;
    let score = pair.score.map_or(String::new(), |score| format!("{} ", similarity(score)));
    let margin = pair.margin.map_or(String::new(), |margin| format!(" {margin:+.3}"));
    let sizes = format!("{:>6} {:>6}", pair.tokens_a, pair.tokens_b);
    let similarity = similarity(*symmetric);
    line!(out, "{score}{similarity}{margin} {sizes}  {}  {}", Id(&pair.a), Id(&pair.b))?;
    for FilePair { a, b, overlap } in files.iter().flatten() {
        line!(out, "    {overlap:>6}  {a}  {b}")?;
    }
    let (shown, total) = (files.as_ref().map_or(0, Vec::len), files_total.unwrap_or(0));
    if let Some(said) = shown_of(shown as u64, total as u64, "pairs of files", "") {
        line!(out, "    {said}")?;
    }
    write_passages(out, pair)
}

/// Reports the number of inputs that were not compared; returns whether there are any.
fn tell_not_compared(list: &[NotCompared]) -> bool {
    if !list.is_empty() {
        tell!("cento: {} not compared, or only in part", counted(list.len() as u64, "text"));
    }
    !list.is_empty()
}

/// Refuses to compare fewer than two documents.
fn check_enough(documents: u64) -> cento::Result<()> {
    if documents >= 2 {
        return Ok(());
    }
    let what = format!("{} to compare; at least two are needed", counted(documents, "document"));
    Err(Error::argument("paths", what))
}
