//! `cento pairwise`

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use super::add::SourceArgs;
use super::boilerplate::without;
use super::create::ConfigArgs;
use super::output::{Format, counted};
use super::progress::{AddProgress, stop_flag};
use super::terminal::{self, line, tell};
use super::{Outcome, Result};
use cento::Error;
use cento::index::Index;
use cento::join::pairwise::{PairwiseOptions, SymmetricPair, most_similar};
use cento::search::Searcher;
use cento_source::{AddOptions, check_there};

/// Show the most similar pairs of a few files.
///
/// The pairwise test of Finkel et al. (2002), section 2.6: compares all files of a directory, or of
/// a tar or zip archive, with each other. The similarity is symmetric: twice the number of common
/// fingerprints, divided by the sum of both numbers. Keeps no index. Files that cannot be compared,
/// because they are empty or not text, are reported, and the exit status is then 2.
#[derive(Debug, Args)]
pub struct Pairwise {
    /// A directory, an archive (.tar, .tar.gz, .tgz, .tar.zst, .zip), or files.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Maximum number of pairs to show.
    #[arg(long, short = 'n', value_name = "N", default_value = "20")]
    limit: usize,
    #[command(flatten)]
    config: ConfigArgs,
    /// Boilerplate to ignore, such as a template that was handed out: files, directories or an
    /// index.
    #[arg(long, short = 'b', value_name = "PATH")]
    boilerplate: Vec<PathBuf>,
    #[command(flatten)]
    source: SourceArgs,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

impl Pairwise {
    pub(super) fn run(self) -> Result {
        let stop = stop_flag();
        check_there(&self.paths)?;
        let dir =
            tempfile::tempdir().map_err(|e| Error::io("create", "a temporary directory", e))?;
        let options = AddOptions { source: self.source.options(), ..AddOptions::default() };
        let config = self.config.config_of(false, &self.paths, &options.source)?;
        let index = Index::create(dir.path().join("index"), config)?;
        let progress = AddProgress::new(false);
        let added = cento_source::add(&index, &self.paths, &options, &stop, &mut |event| {
            progress.tell(event);
        });
        progress.finish();
        let report = added?;
        if report.added < 2 {
            let what = format!(
                "{} to compare; at least two are needed",
                counted(report.added, "document")
            );
            return Err(Error::Query { what }.into());
        }
        let searcher = without(Searcher::new(index.snapshot()?), &self.boilerplate)?;
        let options = PairwiseOptions { limit: self.limit, ..PairwiseOptions::default() };
        let best = most_similar(&searcher, &options, &stop)?;
        let mut out = io::BufWriter::new(io::stdout().lock());
        for found in &best {
            if self.format == Format::Json {
                writeln!(out, "{}", terminal::json(found)?)?;
            } else {
                let SymmetricPair { pair, symmetric, .. } = found;
                line!(out, "{symmetric:.3}  {}  {}", pair.a, pair.b)?;
            }
        }
        out.flush()?;
        let missing = report.skipped + report.failed + report.empty;
        if missing > 0 {
            tell!("cento: {} not compared", counted(missing, "text"));
            return Ok(Outcome::Bad);
        }
        Ok(if best.is_empty() { Outcome::Nothing } else { Outcome::Found })
    }
}
