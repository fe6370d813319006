//! Compares the events of watches with a naive matcher, and measures the cost of watches.

mod compare;
mod cost;
mod load;
mod naive;

use std::path::{Path, PathBuf};

use cento_client::api::WatchRequest;
use clap::Args;

use crate::Result;

/// Measure what watches add to commits, or compare the events of a service that is killed again and
/// again with the matches of a naive matcher.
#[derive(Debug, Args)]
pub struct Watches {
    /// A directory for the indexes, which are made anew.
    #[arg(long)]
    work: PathBuf,
    /// The program, for a comparison and for a service.
    #[arg(long, default_value = "target/release/cento")]
    cento: PathBuf,
    /// Numbers of watches to measure. The first number is for the comparison.
    #[arg(long, value_delimiter = ',', default_value = "0,1000,100000")]
    watches: Vec<usize>,
    /// The number of commits: to measure, of 1,000 documents each.
    #[arg(long, default_value = "10")]
    commits: usize,
    /// Measure a service instead, with passages of these JSON lines files as watches and documents.
    #[arg(long, value_name = "FILE")]
    corpus: Vec<PathBuf>,
    /// The number of words of these passages.
    #[arg(long, default_value = "120")]
    words: usize,
    /// Compare: kill the service within this many milliseconds, again and again.
    #[arg(long, value_name = "MILLISECONDS")]
    kill_within: Option<u64>,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    seed: u64,
}

fn fresh(path: &Path) -> Result {
    if path.exists() {
        std::fs::remove_dir_all(path)?;
    }
    Ok(())
}

fn request(number: usize, text: String) -> WatchRequest {
    let name = Some(format!("watch-{number}"));
    WatchRequest { name, text: Some(text), ..WatchRequest::default() }
}

impl Watches {
    pub(crate) fn run(self) -> Result {
        std::fs::create_dir_all(&self.work)?;
        match self.kill_within {
            None if !self.corpus.is_empty() => self.load(),
            None => self.measure(),
            Some(milliseconds) => self.compare(milliseconds),
        }
    }
}
