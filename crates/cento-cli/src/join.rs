//! Options that every verb based on a similarity join shares.

use std::path::{Path, PathBuf};

use clap::Args;

use super::boilerplate::{without, without_of_pairs};
use super::key;
use super::output::counted;
use super::parse::parse_threads;
use super::terminal::note;
use cento::Stop;
use cento::index::{Index, MaxDf, Snapshot};
use cento::search::Searcher;
use cento_collections::{Scope, StopCounts};

/// Options for joining an index.
#[derive(Debug, Clone, Args)]
pub struct JoinArgs {
    /// Ignore this boilerplate, such as templates: files, folders or an index. `auto` ignores the
    /// passages that three of four documents have (auto:0.5: half of them), `none` ignores
    /// nothing. Can be repeated. Default: nothing, but `pairs` of files ignores the passages of
    /// `auto` if they are at most half of a document of average length.
    #[arg(long, short = 'b', value_name = "PATH|auto|none")]
    pub boilerplate: Vec<PathBuf>,
    /// Number of threads that search. Default: the number of processors.
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
}

impl JoinArgs {
    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(cento::available_threads)
    }

    /// Reports on standard error what the limit of document frequency hides of the index that is
    /// searched.
    pub fn tell_stopped(
        &self,
        searcher: &Searcher,
        max_df: Option<MaxDf>,
        stop: &Stop,
    ) -> cento::Result<()> {
        let counts = searcher.stop_counts(max_df, stop)?;
        if let Some(said) = stopped(&counts) {
            note!("cento: {said}");
        }
        Ok(())
    }

    /// Returns a searcher over the indexes at `paths`, combined as a union. The searcher ignores
    /// the boilerplate of pairs of this scope.
    pub fn searcher_of_pairs(&self, paths: &[PathBuf], scope: &Scope) -> cento::Result<Searcher> {
        let searcher = Searcher::new(union(paths, paths.iter().map(key::open))?);
        without_of_pairs(searcher, &self.boilerplate, scope, self.threads())
    }

    /// Returns a searcher over the index at `path` that ignores the boilerplate.
    pub fn searcher(&self, path: &Path) -> cento::Result<Searcher> {
        self.searcher_of(key::open(path)?.snapshot()?)
    }

    /// Returns a searcher over a snapshot that ignores the boilerplate.
    pub fn searcher_of(&self, snapshot: Snapshot) -> cento::Result<Searcher> {
        without(Searcher::new(snapshot), &self.boilerplate, self.threads())
    }
}

/// Describes what the limit of document frequency hides from a join. `None` if nothing is hidden.
pub fn stopped(counts: &StopCounts) -> Option<String> {
    let StopCounts { max_df, fingerprints, documents, .. } = *counts;
    if fingerprints == 0 {
        return None;
    }
    let mut said = format!(
        "{} stopped, in more than {} each (--max-df)",
        counted(fingerprints, "fingerprint"),
        counted(max_df, "document")
    );
    if documents > 0 {
        let have = if documents == 1 { "has" } else { "have" };
        said += &format!(
            "; {} {have} no others: of these only exact copies are found",
            counted(documents, "document")
        );
    }
    Some(said)
}

/// Returns the union of the indexes at these paths.
pub fn union(
    paths: &[PathBuf],
    indexes: impl Iterator<Item = cento::Result<Index>>,
) -> cento::Result<Snapshot> {
    let named = paths
        .iter()
        .zip(indexes)
        .map(|(path, index)| Ok((path.display().to_string(), index?.snapshot()?)));
    Snapshot::union(named.collect::<cento::Result<_>>()?)
}
