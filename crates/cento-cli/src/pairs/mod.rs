//! `cento pairs`: of the documents of indexes, or of files.

mod files;
mod indexes;
mod known;
mod output;
mod passages;
mod report;
mod sides;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};

use super::Result;
use super::collection::{Given, Kind};
use super::join::JoinArgs;
use super::list_format::ListFormat;
use super::output::{self as shown, counted};
use super::parse::in_directory;
use super::progress::stop_flag;
use super::report_args::ReportArgs;
use super::terminal::{line, note};
use cento::Error;
use cento::index::Index;
use cento::runtime::replace;
use cento_api::NamePattern;
use cento_collections::pairs::{JoinSummary, PairOptions, PairReport};
use cento_report::{Edge, Network};
use files::FileArgs;
use indexes::IndexArgs;

/// Find pairs of documents that share text, in indexes or among files.
///
/// Compares every document of an index with all others, or with those of another index. Pairs are
/// written as they are found, in the order of the documents in the index. Without a threshold of
/// any kind, the preset of the index decides, if it has a threshold; else one document must contain
/// a tenth of the other. Exact copies are found whatever --max-df ignores; copies that have no
/// other fingerprints are paired with the first of them only. Where fingerprints are weighted by
/// rarity, this is rarity in the index, with --against in that other index.
///
/// Files, and those of directories and archives, are compared with each other, and nothing is kept
/// (the pairwise test of Finkel et al. 2002, section 2.6). The most similar pairs come first. The
/// similarity is symmetric: twice the number of runs of words that both texts have, divided by the
/// sum of the numbers that each has. With --against INDEX they are also compared with the documents
/// of an index, such as the hand-ins of earlier years, which are not compared with each other;
/// --add then adds them, also those that are all boilerplate. Inputs that cannot be compared,
/// because they are empty, not text, or all boilerplate, are reported with the reason, and the exit
/// status is then 2.
/// Directories of libraries and build output (node_modules, vendor, target, ...) are left out, with
/// --by also data (.json, .csv, ...), and of programs files in other languages;
/// --analyzer code is that of the commonest. Omitted files are named, and counted; --include '*'
/// reads all of them.
///
/// The score of a pair of programs is how much they suggest that one was copied, 0 to 1: how alike
/// they are in code and in words, where what few programs have counts for more. It is not less
/// where other pairs are as alike, so the members of a ring do not hide each other. Pairs of files
/// show it, pairs of indexes with --rank score. Programs of fewer than 50 tokens are too short to
/// tell: ranked pairs have them after all others, and clusters and networks leave them out.
#[derive(Debug, Args)]
pub struct Pairs {
    #[command(flatten)]
    given: Given,
    /// Directories of indexes, which are taken as one and must have the same scheme and analyzer;
    /// or files, directories, and archives (.tar, .tar.gz, .tgz, .tar.zst, .zip).
    #[arg(value_name = "INDEX|PATH", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    options: PairOptions,
    /// Only pairs with a document of this other index. Of INDEX, which must have the same scheme
    /// and analyzer: those of a document of either. Of files, which are signed as those of the
    /// index: their pairs with one another and with the documents of the index, best first, and
    /// what each of them has from where. Files are also compared with other files, such as the
    /// directory of last year's hand-ins.
    #[arg(long, value_name = "INDEX|PATH")]
    against: Option<PathBuf>,
    /// Also write the shown pairs as a network to this file: .graphml or .dot.
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
    /// Leave out names in the report: documents have numbers, by the similarity of their pairs.
    #[arg(long, requires = "reports")]
    anonymous: bool,
    /// Output format. The columns of csv and tsv are the fields of JSON.
    #[arg(long, value_enum, default_value = "human")]
    format: ListFormat,
}

/// The line before the pairs with a program that is too short.
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
        let stop = stop_flag();
        match kind {
            Kind::Indexes => self.run_indexes(&stop),
            Kind::Files => self.run_files(&stop),
        }
    }

    /// Refuses options that do not apply to pairs of this kind.
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
        // Of passages no run is resumed, so they can have another order.
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

/// Writes a network of pairs to a file.
fn write_network(path: &Path, network: Network, edges: &[Edge<'_>]) -> cento::Result<()> {
    let text = network.write(edges);
    replace::file(path, text.as_bytes()).map_err(|e| Error::io("write", path, e))
}

impl Pairs {
    /// Reports the number of documents without the field that decides.
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

/// Writes the passages of a pair, if they were requested.
fn write_passages(out: &mut impl Write, pair: &PairReport) -> io::Result<()> {
    for passage in pair.passages.iter().flatten() {
        line!(out, "    {}", shown::passage(passage))?;
    }
    if pair.passages_complete == Some(false) {
        line!(out, "    {}", shown::MORE_PASSAGES)?;
    }
    Ok(())
}
