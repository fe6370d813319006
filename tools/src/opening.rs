//! Measures how long opening an index takes, and how long until a change is visible.

use std::path::{Path, PathBuf};
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

pub struct Opened {
    pub documents: u64,
    pub segments: usize,
    pub open: Times,
    pub add: Times,
    pub remove: Times,
    /// The times of writing and syncing a small file.
    pub sync: Times,
}

impl Opening {
    pub(crate) fn run(self) -> Result {
        println!("| index | documents | segments | open | add | remove | sync |");
        println!("|---|---|---|---|---|---|---|");
        for path in &self.indexes {
            let mut opened = measure(path, self.rounds)?;
            println!(
                "| {} | {} | {} | {} | {} | {} | {} |",
                path.display(),
                opened.documents,
                opened.segments,
                milliseconds(&mut opened.open),
                milliseconds(&mut opened.add),
                milliseconds(&mut opened.remove),
                milliseconds(&mut opened.sync),
            );
        }
        println!(
            "\nMilliseconds, median and 99th percentile. Add and remove: one document, committed"
        );
        println!("and visible; sync: a small file, written and synced.");
        Ok(())
    }
}

/// Measures opening an index, adding a document and removing the document, `rounds` times.
pub fn measure(path: &Path, rounds: u32) -> Result<Opened> {
    let mut open = Times::default();
    for _ in 0..rounds {
        let started = Instant::now();
        let snapshot = Index::open_for_search(path)?.snapshot()?;
        open.push(started.elapsed());
        drop(snapshot);
    }
    let index = Index::open(path)?;
    let mut writer = index.writer(WriterOptions::default())?;
    let (mut add, mut remove, mut sync) = (Times::default(), Times::default(), Times::default());
    for round in 0..rounds {
        let id = format!("cento-tools-opening-{round}");
        let text = format!("the {round}. document that is added to see how long that takes");
        let started = Instant::now();
        writer.add(Document::new(&*id, text))?;
        writer.commit()?;
        let searcher = Searcher::new(writer.committed()?.clone());
        let answer = searcher.search(&Query::id(&*id).counts_only(true))?;
        add.push(started.elapsed());
        drop((searcher, answer));
        sync.push(synced(path)?);
    }
    for round in 0..rounds {
        let id = format!("cento-tools-opening-{round}");
        let started = Instant::now();
        writer.remove(&id)?;
        writer.commit()?;
        let is_there = writer.committed()?.find(&id)?.is_some();
        remove.push(started.elapsed());
        assert!(!is_there, "{id} was removed");
    }
    let snapshot = writer.committed()?;
    let (documents, segments) = (snapshot.documents(), snapshot.segments().len());
    writer.finish()?;
    Ok(Opened { documents, segments, open, add, remove, sync })
}

/// Returns the time of writing and syncing a small file.
fn synced(beside: &Path) -> Result<Duration> {
    let file = tempfile::tempfile_in(beside.parent().unwrap_or(beside))?;
    let started = Instant::now();
    std::io::Write::write_all(&mut &file, b"a few bytes")?;
    file.sync_all()?;
    Ok(started.elapsed())
}

fn milliseconds(times: &mut Times) -> String {
    format!("{:.2} / {:.2}", times.quantile(0.5) / 1e3, times.quantile(0.99) / 1e3)
}
