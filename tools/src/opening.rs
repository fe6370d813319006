//! How long does it take until an index can be searched, and until a change can be seen?

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cento::index::{Document, Index, WriterOptions};
use cento::search::{Query, Searcher};
use clap::Args;

use crate::Result;
use crate::measure::Times;

/// Measure how long opening an index takes, and committing one document.
///
/// Documents are added and removed again: their ids begin with `cento-tools-opening-`.
#[derive(Debug, Args)]
pub struct Opening {
    /// Indexes of several sizes; they are written to.
    #[arg(required = true)]
    indexes: Vec<PathBuf>,
    /// How many times each is done.
    #[arg(long, default_value = "50")]
    rounds: u32,
}

impl Opening {
    pub(crate) fn run(self) -> Result {
        println!("| index | documents | segments | open | add | remove | sync |");
        println!("|---|---|---|---|---|---|---|");
        for path in &self.indexes {
            let mut open = Times::default();
            for _ in 0..self.rounds {
                let started = Instant::now();
                let snapshot = Index::open_for_search(path)?.snapshot()?;
                open.push(started.elapsed());
                drop(snapshot);
            }
            let index = Index::open(path)?;
            let mut writer = index.writer(WriterOptions::default())?;
            let (mut add, mut remove, mut sync) =
                (Times::default(), Times::default(), Times::default());
            for round in 0..self.rounds {
                let id = format!("cento-tools-opening-{round}");
                let text =
                    format!("the {round}. document that is added to see how long that takes");
                let started = Instant::now();
                writer.add(Document::new(&*id, text))?;
                writer.commit()?;
                let searcher = Searcher::new(writer.committed()?.clone());
                let answer = searcher.search(&Query::id(&*id).counts_only(true))?;
                add.push(started.elapsed());
                drop((searcher, answer));
                sync.push(synced(path)?);
            }
            for round in 0..self.rounds {
                let id = format!("cento-tools-opening-{round}");
                let started = Instant::now();
                writer.remove(&id)?;
                writer.commit()?;
                let is_there = writer.committed()?.find(&id)?.is_some();
                remove.push(started.elapsed());
                assert!(!is_there, "{id} was removed");
            }
            let snapshot = writer.committed()?;
            println!(
                "| {} | {} | {} | {} | {} | {} | {} |",
                path.display(),
                snapshot.documents(),
                snapshot.segments().len(),
                milliseconds(&mut open),
                milliseconds(&mut add),
                milliseconds(&mut remove),
                milliseconds(&mut sync),
            );
            writer.finish()?;
        }
        println!(
            "\nMilliseconds, median and 99th percentile. Add and remove: one document, committed"
        );
        println!("and visible; sync: a small file, written and synced.");
        Ok(())
    }
}

/// The time of writing a small file to the disk.
fn synced(beside: &std::path::Path) -> Result<Duration> {
    let file = tempfile::tempfile_in(beside.parent().unwrap_or(beside))?;
    let started = Instant::now();
    std::io::Write::write_all(&mut &file, b"a few bytes")?;
    file.sync_all()?;
    Ok(started.elapsed())
}

fn milliseconds(times: &mut Times) -> String {
    format!("{:.2} / {:.2}", times.quantile(0.5) / 1e3, times.quantile(0.99) / 1e3)
}
