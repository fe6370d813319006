//! Measures the speed and the number of segments of an index that receives a commit every second.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cento::index::{Document, Index, WriterOptions};
use cento::search::{Query, Searcher};
use clap::Args;
use fastrand::Rng;

use crate::Result;
use crate::corpus::Vocabulary;
use crate::measure::{Times, cpu_seconds};

/// Commit a document at a time, at regular intervals, and measure how long it takes to see each
/// one.
///
/// Documents are added, and stay: their ids begin with `cento-tools-commits-`.
#[derive(Debug, Args)]
pub struct Commits {
    /// The index; it is written to.
    index: PathBuf,
    /// The number of commits.
    #[arg(long, default_value = "3600")]
    commits: u32,
    /// Seconds from one commit to the next.
    #[arg(long, default_value = "1")]
    interval: f64,
    /// Commits for each line of the table.
    #[arg(long, default_value = "600")]
    each: u32,
}

impl Commits {
    pub(crate) fn run(self) -> Result {
        let mut rng = Rng::with_seed(1);
        let words = Vocabulary::new(&mut rng);
        let index = Index::open(&self.index)?;
        let mut writer = index.writer(WriterOptions::default())?;
        let run = format!("cento-tools-commits-{}", writer.committed()?.generation());
        println!(
            "| commits | add, commit, find: p50, ms | p99 | max | segments, most | at the end | processor, s |"
        );
        println!("|---|---|---|---|---|---|---|");
        let (mut times, mut segments, mut used) = (Times::default(), 0, cpu_seconds());
        let started = Instant::now();
        for commit in 0..self.commits {
            let due = started + Duration::from_secs_f64(self.interval * f64::from(commit));
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let id = format!("{run}-{commit}");
            let text = words.text(500, &mut rng);
            let searcher = times.time(|| -> Result<Searcher> {
                writer.add(Document::new(&*id, text.as_str()))?;
                writer.commit()?;
                let searcher = Searcher::new(writer.committed()?.clone());
                let found = searcher.search(&Query::text(text.as_str()).counts_only(true))?;
                if found.hits.first().is_none_or(|hit| hit.id != id) {
                    return Err(format!("{id} was added and is not found").into());
                }
                Ok(searcher)
            })?;
            let now = searcher.snapshot().segments().len();
            segments = segments.max(now);
            if (commit + 1) % self.each == 0 || commit + 1 == self.commits {
                println!(
                    "| {} | {:.2} | {:.2} | {:.1} | {segments} | {now} | {:.1} |",
                    commit + 1,
                    times.quantile(0.5) / 1e3,
                    times.quantile(0.99) / 1e3,
                    times.quantile(1.0) / 1e3,
                    cpu_seconds() - used,
                );
                (times, segments, used) = (Times::default(), 0, cpu_seconds());
            }
        }
        writer.finish()?;
        Ok(())
    }
}
