//! `cento pairs`: of the documents of indexes, or of files.

mod files;
mod indexes;
mod known;
mod output;
mod passages;
mod report;
mod sides;

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};

use super::Result;
use super::collection::{GivenIds, Kind};
use super::join::JoinArgs;
use super::list_format::ListFormat;
use super::output::{self as shown, counted};
use super::parse::in_directory;
use super::progress::stop_flag;
use super::report_args::ReportArgs;
use super::terminal::{line, note, tell};
use cento::Error;
use cento::index::Index;
use cento::runtime::replace;
use cento_api::NamePattern;
use cento_collections::pairs::{JoinSummary, PairOptions, PairReport};
use cento_report::{DescribedLinks, Edge, Network, needs_threshold};
use files::FileArgs;
use indexes::IndexArgs;

/// Find pairs of documents that share text, in indexes or among files.
///
/// If you name files, folders or archives, cento compares every document in them with every other
/// one, and keeps nothing (the pairwise test of Finkel et al. 2002, section 2.6). You see the most
/// similar pairs first. The similarity is symmetric: cento counts the runs of words that both
/// documents have, and divides twice this number by the sum of the runs of each document. If a
/// document cannot be compared, because it is empty, not text, or all boilerplate, cento tells you
/// which one and why, and the exit status is 3.
///
/// cento skips folders of libraries and build output (node_modules, vendor, target, ...). With --by
/// it also skips data files (.json, .csv, ...). With source code it skips files in other languages,
/// and --analyzer code takes the most common language. You get a list of the skipped files, with
/// their number. --include '*' reads every file.
///
/// If you name an index, cento compares every document with all others, and writes each pair as
/// soon as it is found, in the order of the documents. Without a threshold, the preset of the index
/// sets one. If the preset sets no threshold, one document must contain a tenth of its partner.
/// cento finds exact copies even if --max-df ignores their fingerprints. Copies that have no other
/// fingerprints are paired with the first copy only. Weights by rarity use the rarity in the index,
/// or with --against the rarity in the other index.
///
/// With --against INDEX, cento also compares your files with the documents of an index, such as the
/// submissions of earlier years. It does not compare the documents of the index with each other.
/// --add then adds your files to the index, including documents that are all boilerplate.
///
/// Two programs get a score from 0 to 1, which says how strongly they suggest that one was copied.
/// The score rises with how alike they are in code and in words, and what few programs have counts
/// more. Other pairs that are as alike do not lower it, so the members of a ring cannot hide each
/// other. Pairs of files show the score, and pairs of indexes show it with --rank score. Programs
/// of fewer than 50 tokens are too short to judge. They come last in a ranking, and clusters and
/// networks omit them.
#[derive(Debug, Args)]
pub struct Pairs {
    #[command(flatten)]
    given: GivenIds,
    /// Files, folders and archives (.tar, .tar.gz, .tgz, .tar.zst, .zip), or directories of
    /// indexes. cento searches several indexes as one, so they must have the same scheme and
    /// analyzer.
    #[arg(value_name = "INDEX|PATH", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    options: PairOptions,
    /// Compare with this other index, or with these other files. If you name two indexes, cento
    /// shows only pairs with a document of each, and both must have the same scheme and analyzer.
    /// If you compare files with an index, cento signs them like the documents of the index, shows
    /// their pairs with each other and with the index, best first, and tells you which text each
    /// file has from where. Files can also be compared with other files, such as the folder of last
    /// year's submissions.
    #[arg(long, value_name = "INDEX|PATH")]
    against: Option<PathBuf>,
    /// Also write all pairs that meet the thresholds, shown or not, as a network to this file:
    /// .graphml or .dot. It replaces an earlier network, but no other file.
    #[arg(
        long,
        value_name = "FILE",
        value_parser = PathBufValueParser::new().try_map(in_directory),
        conflicts_with = "out"
    )]
    graph: Option<PathBuf>,
    #[command(flatten)]
    join: JoinArgs,
    #[command(flatten)]
    indexes: IndexArgs,
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    report: ReportArgs,
    /// Replace names in the report with numbers, ordered by the similarity of the pairs.
    #[arg(long, requires = "reports")]
    anonymous: bool,
    /// Output format. The columns of csv and tsv are the JSON fields.
    #[arg(long, value_enum, default_value = "human")]
    format: ListFormat,
}

/// Label of the line that lists programs too short to compare. Printed before the pairs.
const TOO_SHORT: &str = "too short to tell:";

/// The columns of a table of pairs; the last three are of pairs of files.
const COLUMNS: &[&str] = &[
    "a",
    "index_a",
    "b",
    "index_b",
    "overlap",
    "resemblance",
    "containment_of_a",
    "containment_of_b",
    "standard_error",
    "exact",
    "of_sketches",
    "weighted.resemblance",
    "weighted.containment_of_a",
    "weighted.containment_of_b",
    "fingerprints_a",
    "fingerprints_b",
    "tokens_a",
    "tokens_b",
    "score",
    "too_short",
    "passage_tokens",
    "category",
    "passages",
    "passages_complete",
    "symmetric",
    "files",
    "files_total",
];

/// Returns the columns of a table of pairs of this kind.
fn columns(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Indexes => &COLUMNS[..COLUMNS.len() - 3],
        Kind::Files => COLUMNS,
    }
}

impl Pairs {
    pub(super) fn run(self) -> Result {
        let kind = Kind::of(&self.paths)?;
        self.check_options(kind)?;
        let others = self.against.iter().chain(&self.join.boilerplate);
        let read: Vec<PathBuf> = self.paths.iter().chain(others).cloned().collect();
        self.report.check_outputs(&read, self.graph.as_deref(), self.indexes.out.as_deref())?;
        let stop = stop_flag();
        match kind {
            Kind::Indexes => self.run_indexes(&stop),
            Kind::Files => self.run_files(&stop),
        }
    }

    /// Refuses options that do not apply to pairs of this kind of input.
    fn check_options(&self, kind: Kind) -> cento::Result<()> {
        self.given.check::<IndexArgs, FileArgs>(kind, &self.paths, "pairs")?;
        if let (Kind::Indexes, Some(against)) = (kind, &self.against)
            && against.exists()
            && !Index::exists(against)
        {
            let (first, against) = (self.paths[0].display(), against.display());
            let what = format!(
                "{first} is an index, and {against} is none: add its files to an index with `cento \
                 add x.idx {against}`, which must have the same scheme and analyzer"
            );
            return Err(Error::argument("against", what));
        }
        if kind == Kind::Indexes && self.against.is_some() && !self.join.boilerplate.is_empty() {
            let what = "--boilerplate cannot be used with --against, where indexes are compared";
            return Err(Error::argument("boilerplate", what));
        }
        let ranked = self.options.rank.map(|_| "rank").or(self.options.limit.map(|_| "limit"));
        // Runs with passages are never resumed, so any order is allowed.
        let is_resumable = self.indexes.out.is_some() && self.indexes.context.is_none();
        match ranked.filter(|_| is_resumable) {
            None => Ok(()),
            Some(ranked) => {
                let what =
                    format!("--{ranked} cannot be used with --out, where pairs are in their order");
                Err(Error::argument(ranked, what))
            }
        }
    }
}

/// An edge of the network: the names of two documents and their resemblance.
type OwnedEdge = (String, String, f64);

/// Writes a network of the edges of shown pairs and of the links beyond them to a file.
fn write_network(
    path: &Path,
    network: Network,
    mut edges: Vec<OwnedEdge>,
    links: &DescribedLinks,
) -> cento::Result<()> {
    let mut known: HashSet<(String, String)> =
        edges.iter().map(|(a, b, _)| (a.clone(), b.clone())).collect();
    for link in &links.links {
        let [a, b] = link.ends.each_ref().map(|end| end.name.clone());
        if known.insert((a.clone(), b.clone())) {
            edges.push((a, b, link.resemblance));
        }
    }
    let edges: Vec<Edge<'_>> = edges.iter().map(|(a, b, weight)| (&**a, &**b, *weight)).collect();
    let text = network.write(&edges);
    replace::file(path, text.as_bytes()).map_err(|e| Error::io("write", path, e))?;
    if let Some(said) = links.edges_of() {
        tell!("cento: {}: {said}", path.display());
    }
    if let Some(said) = links.clusters_of() {
        tell!("cento: {}: {said}", path.display());
    }
    Ok(())
}

/// The tip under a cut list of very many pairs, where no threshold is set.
const THRESHOLD_TIP: &str = "--min-similarity 0.5 shows only pairs that are at least half alike";

/// Returns the option that shows more, or the tip under a cut list.
fn tip(options: &PairOptions, total: u64) -> &'static str {
    if needs_threshold(options, total) { THRESHOLD_TIP } else { "--limit" }
}

impl Pairs {
    /// Reports the number of documents without the field that the options group by.
    fn tell_without_field(&self, summary: JoinSummary) {
        let field = self.options.within.as_ref().or(self.options.group_by.as_ref());
        if let (Some(field), 1..) = (field, summary.documents_without_field) {
            let without = counted(summary.documents_without_field, "document");
            let pairs = match self.options.within {
                Some(_) => "in no pair",
                None => "each a group of its own",
            };
            let by = if NamePattern::is_pattern(field) { "an id by" } else { "the field" };
            note!("cento: {without} without {by} `{field}`: {pairs}");
        }
    }
}

/// Writes the passages of a pair, if requested.
fn write_passages(out: &mut impl Write, pair: &PairReport) -> io::Result<()> {
    for passage in pair.passages.iter().flatten() {
        line!(out, "    {}", shown::passage(passage))?;
    }
    if pair.passages_complete == Some(false) {
        line!(out, "    {}", shown::MORE_PASSAGES)?;
    }
    Ok(())
}
