//! `cento pairwise`

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::add::SourceArgs;
use super::boilerplate::{Unread, read_noting, without_read};
use super::create::ConfigArgs;
use super::handout::{self, HandoutArgs};
use super::left_out::{FilterArgs, LeftOuts};
use super::memory;
use super::messages::Messages;
use super::output::{self, Format, ListEnd, NotCompared, counted, similarity};
use super::pairs::write_passages;
use super::pairs_report::{report_bytes_max, tell_cut};
use super::progress::{AddProgress, stop_flag};
use super::submission::{FilePair, Submissions};
use super::terminal::{self, line, tell};
use super::values::{parse_margin, parse_share};
use super::{Outcome, Result};
use cento::Error;
use cento::index::{Config, Index};
use cento::join::pairwise::{MostSimilar, PairwiseOptions, SymmetricPair, most_similar};
use cento::replace;
use cento::search::{Boilerplate, Searcher};
use cento::stop::Stop;
use cento::text::code::{lacks_language, language_in};
use cento_report::{Joined, Network, PairsReport, clusters, shown_of};
use cento_source::{AddOptions, Event, SourceOptions, check_there, is_by_name};

/// Show the most similar pairs of a few files.
///
/// The pairwise test of Finkel et al. (2002), section 2.6: compares all files of a directory, or of
/// a tar or zip archive, with each other. The similarity is symmetric: twice the number of runs of
/// words that both texts have, divided by the sum of the numbers that each has. Keeps no index. What cannot
/// be compared, because it is empty, not text, or all of it is boilerplate, is reported with the reason, and the
/// exit status is then 2.
///
/// Directories of libraries and build output (node_modules, vendor, target, ...) are left out, with --by
/// directory also data (.json, .csv, ...), and of programs files in other languages; --analyzer code is
/// that of the commonest. What is left out is named, and counted; --include '*' reads all of it.
///
/// Of eight documents or more each pair also has its margin: its resemblance less that of the sixth
/// best other neighbour of either document. Usual solutions of one task are alike, and have none.
/// Fingerprints are not weighted by rarity: a few files do not tell what is rare.
#[derive(Debug, Args)]
pub struct Pairwise {
    /// A directory, an archive (.tar, .tar.gz, .tgz, .tar.zst, .zip), or files.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What is compared: each file, or each directory in PATH, with all files below it as one
    /// document.
    #[arg(long, value_enum, default_value = "file")]
    by: By,
    /// Maximum number of pairs to show.
    #[arg(long, short = 'n', value_name = "N", default_value = "20")]
    limit: usize,
    /// Minimum symmetric similarity of a pair, 0 to 1.
    #[arg(long, value_name = "X", default_value = "0", value_parser = parse_share)]
    min_similarity: f64,
    /// Minimum resemblance of the texts of a pair, 0 to 1.
    #[arg(long, value_name = "X", default_value = "0", value_parser = parse_share)]
    min_resemblance: f64,
    /// Minimum margin of a pair, -1 to 1.
    #[arg(long, value_name = "X", value_parser = parse_margin, allow_negative_numbers = true)]
    min_margin: Option<f64>,
    /// Show the pairs with the greatest margins first, not the most similar ones.
    #[arg(long)]
    relative: bool,
    /// Also show which documents the shown pairs connect.
    #[arg(long)]
    clusters: bool,
    /// Also write the shown pairs as a network to this file: .gexf, .graphml or .dot.
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    /// Only pairs with a passage of at least this many words, and show these passages. Fewer than 12 words
    /// are a passage only if they are all of a text.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    min_passage: Option<u32>,
    #[command(flatten)]
    config: ConfigArgs,
    /// Boilerplate to ignore, such as a template that was handed out: files, directories or an
    /// index.
    #[arg(long, visible_alias = "template", short = 'b', value_name = "PATH")]
    boilerplate: Vec<PathBuf>,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    handout: HandoutArgs,
    /// Leave out names in the report: documents have numbers, by the similarity of their pairs.
    #[arg(long, requires = "handouts")]
    anonymous: bool,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// Why a document is not compared whose id another one has.
const REPLACED: &str = "a later document has the same id, and was compared in its place";

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
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
    /// How many pairs of their files have something in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    files_total: Option<usize>,
}

/// The inputs that are compared, and those that are not.
struct Added {
    left_out: LeftOuts,
    submissions: Option<Submissions>,
    documents: u64,
    not_compared: Vec<NotCompared>,
    warnings: Vec<NotCompared>,
}

impl Pairwise {
    pub(super) fn run(self) -> Result {
        let stop = stop_flag();
        check_there(&self.paths)?;
        let network = self.graph.as_deref().map(Network::of_file).transpose()?;
        let dir =
            tempfile::tempdir().map_err(|e| Error::io("create", "a temporary directory", e))?;
        // Texts decide, so they are stored.
        let (config, source) = self.config_and_source()?;
        let index = Index::create(dir.path().join("index"), config)?;
        let mut unread = Unread::default();
        let boilerplate = read_noting(&self.boilerplate, index.config(), &mut unread)?;
        let mut not_compared = unread.list;
        let ignored = boilerplate.as_ref().map(Boilerplate::keys).unwrap_or_default();
        let mut added = self.add(&index, &source, &ignored, &stop)?;
        if added.documents == 0 && source.filter.asks_language() {
            // Nobody gave their programs such names.
            let filter = source.filter.in_any_language();
            added = self.add(&index, &SourceOptions { filter, ..source }, &ignored, &stop)?;
        }
        let Added { submissions, left_out, warnings, .. } = added;
        left_out.tell();
        check_enough(added.documents)?;
        not_compared.extend(added.not_compared);
        let searcher = Searcher::new(index.snapshot()?);
        let searcher = without_read(searcher, boilerplate)?;
        let options = PairwiseOptions {
            limit: self.limit,
            similarity_min: self.min_similarity,
            resemblance_min: self.min_resemblance,
            margin_min: self.min_margin,
            by_margin: self.relative,
            min_passage: self.min_passage,
            ..PairwiseOptions::default()
        };
        let found = most_similar(&searcher, &options, &stop)?;
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
            .with_warnings(&warnings);
        self.write(&found, submissions.as_ref(), &end)?;
        if self.format == Format::Human {
            output::print_warnings(&warnings)?;
        }
        let MostSimilar { pairs: best, .. } = &found;
        if let (Some(path), Some(network)) = (&self.graph, network) {
            let edges: Vec<_> = best
                .iter()
                .map(|found| (&*found.pair.a, &*found.pair.b, found.symmetric))
                .collect();
            let text = network.write(&edges);
            replace::file(path, text.as_bytes()).map_err(|e| Error::io("write", path, e))?;
        }
        let is_empty = best.is_empty();
        let is_missing = tell_not_compared(&not_compared);
        if self.handout.is_asked() {
            self.report(&searcher, found, not_compared, warnings, &left_out)?;
        }
        if is_missing {
            return Ok(Outcome::Bad);
        }
        Ok(if is_empty { Outcome::Nothing } else { Outcome::Found })
    }

    /// Writes the report, with the passages of the shown pairs.
    fn report(
        &self,
        searcher: &Searcher,
        found: MostSimilar,
        not_compared: Vec<NotCompared>,
        warnings: Vec<NotCompared>,
        left_out: &LeftOuts,
    ) -> cento::Result<()> {
        let analyzer = &searcher.snapshot().config().analyzer;
        let mut run = self.handout.run("pairwise", analyzer)?;
        run = run.with("scheme", &self.config.scheme).with("limit", self.limit);
        run = run.with("analyzer", analyzer);
        for (name, least) in
            [("min-similarity", self.min_similarity), ("min-resemblance", self.min_resemblance)]
        {
            run = handout::unless(run, name, &least, &0.0);
        }
        for (name, value) in [
            ("min-passage", self.min_passage.map(|least| least.to_string())),
            ("min-margin", self.min_margin.map(|least| least.to_string())),
            ("relative", self.relative.then(|| "yes".into())),
            ("left out by name", left_out.summary()),
        ] {
            run = value.into_iter().fold(run, |run, value| run.with(name, value));
        }
        if !self.boilerplate.is_empty() {
            run = run.with("template", handout::listed(&self.boilerplate));
        }
        let all = found.pairs.len();
        let pairs = found.pairs.into_iter().map(|found| (found.pair, found.symmetric));
        let joined = Joined {
            compared: found.compared,
            measure: cento_report::PAIRWISE_MEASURE.into(),
            histogram: Some(found.histogram),
            total: found.total,
            limit_option: "--limit",
            not_compared,
            warnings,
            ..Joined::read(pairs.collect(), searcher, None, report_bytes_max())?
        };
        tell_cut(joined.pairs.len(), all);
        self.handout.write_pairs(&PairsReport::new(run, joined, self.anonymous))
    }

    /// The configuration, and how files are read: libraries and, of programs, files in other languages
    /// are left out by their names, and of directories also data.
    fn config_and_source(&self) -> cento::Result<(Config, SourceOptions)> {
        let (is_directory, analyzer) = (self.by == By::Directory, &self.config.analyzer);
        let infers = lacks_language(analyzer);
        let is_program = infers || language_in(analyzer).is_some();
        let filter = self.filter.filter()?;
        let filter = filter.without_libraries(is_directory, is_directory || is_program);
        let filter = if is_directory { filter.without_data() } else { filter };
        let options = SourceOptions {
            filter,
            lists_are_texts: is_directory,
            tells_unseen: true,
            ..self.source.options()
        };
        let config = self.config.config_of_most(&self.paths, &options)?;
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
        stop: &AtomicBool,
    ) -> Result<Added> {
        match self.by {
            By::File => self.add_files(index, source, stop),
            By::Directory => self.add_directories(index, source, ignored, Stop::on(stop)),
        }
    }

    fn add_files(&self, index: &Index, source: &SourceOptions, stop: &AtomicBool) -> Result<Added> {
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
        Ok(Added { submissions: None, documents, not_compared, left_out, warnings })
    }

    fn add_directories(
        &self,
        index: &Index,
        source: &SourceOptions,
        ignored: &[u64],
        stop: Stop<'_>,
    ) -> Result<Added> {
        let mut submissions = Submissions::read(&self.paths, source)?;
        submissions.add_to(index, ignored, stop)?;
        let not_compared = std::mem::take(&mut submissions.left_out);
        let left_out = std::mem::take(&mut submissions.by_name);
        let documents = submissions.all.len() as u64;
        let unseen = submissions.unseen();
        let warnings = unseen.flat_map(|(name, unseen)| output::warnings(name, &unseen)).collect();
        Ok(Added { submissions: Some(submissions), documents, not_compared, left_out, warnings })
    }

    fn write(
        &self,
        MostSimilar { pairs: best, .. }: &MostSimilar,
        submissions: Option<&Submissions>,
        end: &ListEnd<'_>,
    ) -> io::Result<()> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        if self.format == Format::Human && !best.is_empty() {
            let margin =
                if best.iter().any(|found| found.pair.margin.is_some()) { " margin" } else { "" };
            line!(out, "share{margin} {:>6} {:>6}  documents", "words", "words")?;
        }
        for found in best {
            let SymmetricPair { pair, symmetric, .. } = found;
            let files = submissions.map(|submissions| submissions.files_of(&pair.a, &pair.b));
            let (files, files_total) = files.unzip();
            if self.format == Format::Json {
                writeln!(out, "{}", terminal::json(&Shown { pair: found, files, files_total })?)?;
                continue;
            }
            let margin = pair.margin.map_or(String::new(), |margin| format!(" {margin:+.3}"));
            let sizes = format!("{:>6} {:>6}", pair.tokens_a, pair.tokens_b);
            let short = if pair.too_short == Some(true) { "  (too short to tell)" } else { "" };
            let similarity = similarity(*symmetric);
            line!(out, "{similarity}{margin} {sizes}  {}  {}{short}", pair.a, pair.b)?;
            for FilePair { a, b, overlap } in files.iter().flatten() {
                line!(out, "    {overlap:>6}  {a}  {b}")?;
            }
            let (shown, total) = (files.map_or(0, |files| files.len()), files_total.unwrap_or(0));
            if let Some(said) = shown_of(shown as u64, total as u64, "pairs of files", "") {
                line!(out, "    {said}")?;
            }
            write_passages(&mut out, pair)?;
        }
        if self.clusters {
            let edges = best.iter().map(|found| (&*found.pair.a, &*found.pair.b));
            for cluster in clusters(edges) {
                match self.format {
                    Format::Json => writeln!(out, "{}", terminal::json(&cluster)?)?,
                    Format::Human => {
                        let members = cluster.members.join("  ");
                        line!(out, "cluster {}, {}: {members}", cluster.cluster, cluster.size)?;
                    }
                }
            }
        }
        if self.format == Format::Json {
            end.write(&mut out)?;
        }
        out.flush()?;
        if let Some(said) = end.said("pairs", "--limit") {
            tell!("{said}");
        }
        Ok(())
    }
}

/// Says how many were not compared; returns whether there are any.
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
