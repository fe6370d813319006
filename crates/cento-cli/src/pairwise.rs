//! `cento pairwise`

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::add::SourceArgs;
use super::boilerplate::without;
use super::create::ConfigArgs;
use super::handout::{self, HandoutArgs};
use super::output::{Format, counted};
use super::pairs::write_passages;
use super::progress::{AddProgress, stop_flag};
use super::submission::{FilePair, Submissions};
use super::terminal::{self, line, tell};
use super::values::{parse_margin, parse_share};
use super::{Outcome, Result};
use cento::Error;
use cento::index::Index;
use cento::join::pairwise::{PairwiseOptions, SymmetricPair, most_similar};
use cento::replace;
use cento::search::Searcher;
use cento::stop::Stop;
use cento_report::{Histogram, Joined, PairsReport, clusters, dot};
use cento_source::{AddOptions, check_there};

/// Show the most similar pairs of a few files.
///
/// The pairwise test of Finkel et al. (2002), section 2.6: compares all files of a directory, or of
/// a tar or zip archive, with each other. The similarity is symmetric: twice the number of runs of words that
/// both texts have, divided by the sum of the numbers that each has. Keeps no index. Files that cannot be compared,
/// because they are empty or not text, are reported, and the exit status is then 2.
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
    /// Also write the shown pairs as a graph for Graphviz to this file.
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
}

/// What is compared, and how many texts are not.
struct Added {
    submissions: Option<Submissions>,
    documents: u64,
    missing: u64,
}

impl Pairwise {
    pub(super) fn run(self) -> Result {
        let stop = stop_flag();
        check_there(&self.paths)?;
        let dir =
            tempfile::tempdir().map_err(|e| Error::io("create", "a temporary directory", e))?;
        // Texts decide, so they are stored.
        let config = self.config.config_of(true, &self.paths, &self.source.options())?;
        let index = Index::create(dir.path().join("index"), config)?;
        let added = match self.by {
            By::File => self.add_files(&index, &stop)?,
            By::Directory => self.add_directories(&index, Stop::on(&*stop))?,
        };
        if added.documents < 2 {
            let what = format!(
                "{} to compare; at least two are needed",
                counted(added.documents, "document")
            );
            return Err(Error::Query { what }.into());
        }
        let searcher = without(Searcher::new(index.snapshot()?), &self.boilerplate)?;
        let options = PairwiseOptions {
            // The report counts all of them.
            limit: if self.handout.is_asked() { usize::MAX } else { self.limit },
            similarity_min: self.min_similarity,
            resemblance_min: self.min_resemblance,
            margin_min: self.min_margin,
            by_margin: self.relative,
            min_passage: self.min_passage,
            ..PairwiseOptions::default()
        };
        let mut best = most_similar(&searcher, &options, &stop)?;
        let histogram = Histogram::new(
            best.iter().map(|found| found.symmetric),
            searcher.snapshot().documents(),
        );
        best.truncate(self.limit);
        self.write(&best, added.submissions.as_ref())?;
        if let Some(path) = &self.graph {
            let edges: Vec<_> = best
                .iter()
                .map(|found| (&*found.pair.a, &*found.pair.b, found.symmetric))
                .collect();
            replace::file(path, dot(&edges).as_bytes()).map_err(|e| Error::io("write", path, e))?;
        }
        if self.handout.is_asked() {
            self.report(&searcher, &best, histogram)?;
        }
        if added.missing > 0 {
            tell!("cento: {} not compared", counted(added.missing, "text"));
            return Ok(Outcome::Bad);
        }
        Ok(if best.is_empty() { Outcome::Nothing } else { Outcome::Found })
    }

    /// Writes the report, with the passages of the shown pairs.
    fn report(
        &self,
        searcher: &Searcher,
        best: &[SymmetricPair],
        histogram: Histogram,
    ) -> cento::Result<()> {
        let mut run = self.handout.run("pairwise")?;
        run = run.with("scheme", &self.config.scheme).with("limit", self.limit);
        run = run.with("analyzer", &searcher.snapshot().config().analyzer);
        run = handout::unless(run, "min-similarity", &self.min_similarity, &0.0);
        run = handout::unless(run, "min-resemblance", &self.min_resemblance, &0.0);
        if let Some(least) = self.min_passage {
            run = run.with("min-passage", least);
        }
        if !self.boilerplate.is_empty() {
            run = run.with("template", handout::listed(&self.boilerplate));
        }
        let pairs = best.iter().map(|found| (found.pair.clone(), found.symmetric));
        let joined = Joined {
            compared: searcher.snapshot().documents(),
            measure: cento_report::PAIRWISE_MEASURE.into(),
            histogram: Some(histogram),
            ..Joined::read(pairs.collect(), searcher, None)?
        };
        self.handout.write_pairs(&PairsReport::new(run, joined, self.anonymous))
    }

    fn add_files(&self, index: &Index, stop: &std::sync::atomic::AtomicBool) -> Result<Added> {
        let options = AddOptions { source: self.source.options(), ..AddOptions::default() };
        let progress = AddProgress::new(false);
        let added = cento_source::add(index, &self.paths, &options, stop, &mut |event| {
            progress.tell(event);
        });
        progress.finish();
        let report = added?;
        let missing = report.skipped + report.failed + report.empty;
        Ok(Added { submissions: None, documents: report.added, missing })
    }

    fn add_directories(&self, index: &Index, stop: Stop<'_>) -> Result<Added> {
        let mut submissions = Submissions::read(&self.paths, &self.source.options())?;
        let empty = submissions.add_to(index, &self.boilerplate, stop)?;
        let (documents, missing) = (submissions.all.len() as u64, submissions.left_out + empty);
        Ok(Added { submissions: Some(submissions), documents, missing })
    }

    fn write(&self, best: &[SymmetricPair], submissions: Option<&Submissions>) -> io::Result<()> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        if self.format == Format::Human && !best.is_empty() {
            let margin =
                if best.iter().any(|found| found.pair.margin.is_some()) { " margin" } else { "" };
            line!(out, "share{margin} {:>6} {:>6}  documents", "words", "words")?;
        }
        for found in best {
            let SymmetricPair { pair, symmetric, .. } = found;
            let files = submissions.map(|submissions| submissions.files_of(&pair.a, &pair.b));
            if self.format == Format::Json {
                writeln!(out, "{}", terminal::json(&Shown { pair: found, files })?)?;
                continue;
            }
            let margin = pair.margin.map_or(String::new(), |margin| format!(" {margin:+.3}"));
            let sizes = format!("{:>6} {:>6}", pair.tokens_a, pair.tokens_b);
            let short = if pair.too_short == Some(true) { "  (too short to tell)" } else { "" };
            line!(out, "{symmetric:.3}{margin} {sizes}  {}  {}{short}", pair.a, pair.b)?;
            for FilePair { a, b, overlap } in files.iter().flatten() {
                line!(out, "    {overlap:>6}  {a}  {b}")?;
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
        out.flush()
    }
}
