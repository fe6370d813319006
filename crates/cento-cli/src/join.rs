//! What do the verbs that join documents have in common?

use std::path::{Path, PathBuf};

use clap::Args;

use super::search::parse_share;
use super::terminal::tell;
use cento::index::{Config, Index, MaxDf};
use cento::join::Thresholds;
use cento::search::Searcher;
use cento_source::SourceOptions;

/// The thresholds of a pair.
#[derive(Debug, Clone, Copy, Args)]
pub struct ThresholdArgs {
    /// Minimum share of one document that the other contains, 0 to 1.
    #[arg(long, value_name = "X", value_parser = parse_share)]
    min_containment: Option<f64>,
    /// Minimum resemblance of a pair, 0 to 1.
    #[arg(long, value_name = "X", value_parser = parse_share)]
    min_resemblance: Option<f64>,
    /// Minimum number of fingerprints in common. Default: 1.
    #[arg(long, value_name = "N")]
    min_overlap: Option<u32>,
}

impl ThresholdArgs {
    /// The thresholds; `containment` and `resemblance` if none is given.
    pub fn thresholds(&self, containment: f64, resemblance: f64) -> Thresholds {
        let ThresholdArgs { min_containment, min_resemblance, min_overlap } = *self;
        if let (None, None, None) = (min_containment, min_resemblance, min_overlap) {
            return Thresholds { overlap: 1, containment, resemblance };
        }
        Thresholds {
            overlap: min_overlap.unwrap_or(1),
            containment: min_containment.unwrap_or(0.0),
            resemblance: min_resemblance.unwrap_or(0.0),
        }
    }
}

/// How an index is joined.
#[derive(Debug, Clone, Args)]
pub struct JoinArgs {
    /// Ignore fingerprints in more documents than this when looking for candidates: a number of
    /// documents, or a share of them such as 0.01. Default: the setting of the index.
    #[arg(long, value_name = "N|F")]
    pub max_df: Option<MaxDf>,
    /// Boilerplate to ignore, such as templates: files, directories or an index. Can be repeated.
    #[arg(long, short = 'b', value_name = "PATH")]
    pub boilerplate: Vec<PathBuf>,
    /// Number of threads that search. Default: the number of processors.
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

impl JoinArgs {
    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(cento::available_threads)
    }

    /// Returns a searcher over the index at `path` that ignores the boilerplate.
    pub fn searcher(&self, path: &Path) -> cento::Result<Searcher> {
        let searcher = Searcher::new(Index::open(path)?.snapshot()?);
        without(searcher, &self.boilerplate)
    }
}

/// Makes a searcher ignore the text at these paths.
pub fn without(searcher: Searcher, boilerplate: &[PathBuf]) -> cento::Result<Searcher> {
    if boilerplate.is_empty() {
        return Ok(searcher);
    }
    let keys = keys_of(boilerplate, searcher.snapshot().config())?;
    searcher.without(keys)
}

/// Returns the fingerprints of the text at these paths.
pub fn keys_of(boilerplate: &[PathBuf], config: &Config) -> cento::Result<Vec<u64>> {
    let mut keys = Vec::new();
    for path in boilerplate {
        add_keys(path, config, &mut keys)?;
    }
    Ok(keys)
}

/// Adds the fingerprints of what is at `path`, an index or documents.
fn add_keys(path: &Path, config: &Config, keys: &mut Vec<u64>) -> cento::Result<()> {
    if Index::exists(path) {
        let snapshot = Index::open(path)?.snapshot()?;
        config.check_signs_as(snapshot.config(), path)?;
        return snapshot.for_each_term(&mut |key, _| keys.push(key));
    }
    cento_source::check_there([&path.to_owned()])?;
    let mut add = |text: &str| {
        keys.extend(config.sign(text)?.1.iter().map(|fingerprint| fingerprint.key));
        Ok(())
    };
    let mut skipped = |what: &str| tell!("cento: {what}");
    cento_source::for_each_text(
        &[path.to_owned()],
        &SourceOptions::default(),
        &mut add,
        &mut skipped,
    )
}
