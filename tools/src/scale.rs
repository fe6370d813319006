//! Measures how the time of searches grows with an index, how far searches are from the time of
//! memory accesses, and the time with no part of the index in memory.
//!
//! The queries have known sources from `plant`. The indexes are searched in alternation, so that
//! other work on the machine slows all indexes equally.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cento::index::{Index, Snapshot};
use cento::search::{Query, Searcher};
use clap::Args;
use fastrand::Rng;

use crate::Result;
use crate::corpus::Planted;
use crate::measure::{Times, directory_bytes, keys};

/// The number of 64-byte lines that looking up an absent fingerprint reads: a line of the filter.
const LINES_ABSENT: usize = 1;
/// The number of lines for a present fingerprint: the filter, the term index, the high parts, the
/// entry and the list.
const LINES_PRESENT: usize = 5;

/// Measure searches of planted queries in indexes of several sizes: warm, cold, recall, and the
/// limit.
#[derive(Debug, Args)]
pub struct Scale {
    /// Indexes of corpora that hold the sources of the queries.
    #[arg(required = true)]
    indexes: Vec<PathBuf>,
    /// The queries, as `plant` wrote them.
    #[arg(long)]
    queries: PathBuf,
    /// How many times each is searched for, after once that is not counted.
    #[arg(long, default_value = "3")]
    rounds: usize,
    /// Of each kind, how many are also asked with nothing of the index in memory; not for an index
    /// in a file system that is itself in memory.
    #[arg(long, default_value = "0")]
    cold: usize,
}

#[derive(Default)]
struct Row {
    /// The times of each round, in order.
    rounds: Vec<Times>,
    look_ups: Times,
    open_cold: Times,
    cold: Times,
    /// The number of bytes that cold searches read from the disk.
    cold_bytes: u64,
    lines: usize,
    /// For each level of edits, the numbers of queries and of queries whose source was found.
    found: BTreeMap<u32, (usize, usize)>,
}

impl Scale {
    pub(crate) fn run(self) -> Result {
        let text = std::fs::read_to_string(&self.queries)?;
        let planted: Vec<Planted> =
            text.lines().map(serde_json::from_str).collect::<std::result::Result<_, _>>()?;
        println!(
            "| index | MB | documents | segments | kind | p50 | p99 | look-up | lines | limit | \
             open cold | p50 cold | p99 cold | kB cold | found by edits |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
        for kind in ["copy", "passage"] {
            let planted: Vec<&Planted> =
                planted.iter().filter(|query| query.kind == kind).collect();
            let mut rows = Vec::new();
            for path in &self.indexes {
                let snapshot = Index::open_for_search(path)?.snapshot()?;
                rows.push((path, Searcher::new(snapshot), Row::default()));
            }
            for round in 0..=self.rounds {
                for (_, searcher, row) in &mut rows {
                    row.ask(searcher, &planted, round)?;
                }
            }
            for (path, searcher, mut row) in rows {
                row.look_up(searcher.snapshot(), &planted)?;
                let miss = miss_nanoseconds(signature_bytes(path)?);
                let snapshot = searcher.snapshot();
                let (documents, segments) = (snapshot.documents(), snapshot.segments().len());
                let mut rounds: Vec<(f64, f64)> =
                    row.rounds.iter_mut().map(|t| (t.quantile(0.5), t.quantile(0.99))).collect();
                rounds.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
                let best = rounds.first().copied().unwrap_or_default();
                let lines = row.lines as f64 / planted.len() as f64;
                let found = row.found.iter().map(|(level, &(all, found))| {
                    format!("{level} %: {:.3}", found as f64 / all as f64)
                });
                let found = found.collect::<Vec<_>>().join(", ");
                print!(
                    "| {} | {:.0} | {documents} | {segments} | {kind} | {:.1} | {:.0} | {:.1} | \
                     {lines:.0} | {:.1} ",
                    path.display(),
                    directory_bytes(path)? as f64 / 1e6,
                    best.0,
                    best.1,
                    row.look_ups.quantile(0.5),
                    lines * miss / 1e3,
                );
                // Mapped pages would stay in memory.
                drop(searcher);
                row.ask_cold(path, planted.iter().take(self.cold))?;
                println!(
                    "| {:.0} | {:.0} | {:.0} | {:.0} | {found} |",
                    row.open_cold.quantile(0.5),
                    row.cold.quantile(0.5),
                    row.cold.quantile(0.99),
                    row.cold_bytes as f64 / 1e3 / self.cold.max(1) as f64,
                );
            }
        }
        println!(
            "\nMicroseconds, of the round with the least median. Limit: lines of 64 bytes a query,"
        );
        println!("times what a line of as much memory takes that is read at random, many at once.");
        Ok(())
    }
}

impl Row {
    fn ask(&mut self, searcher: &Searcher, planted: &[&Planted], round: usize) -> Result {
        let mut times = Times::default();
        for planted in planted {
            let query = Query::text(planted.text.as_str()).counts_only(true);
            let answer = times.time(|| searcher.search(&query))?;
            if round == 0 {
                let (all, found) = self.found.entry(planted.level).or_default();
                *all += 1;
                *found += usize::from(answer.hits.iter().any(|hit| hit.id == planted.source));
            }
        }
        if round > 0 {
            self.rounds.push(times);
        }
        Ok(())
    }

    /// Measures only the look-ups, and counts the lines read by the look-ups.
    fn look_up(&mut self, snapshot: &Snapshot, planted: &[&Planted]) -> Result {
        for round in 0..2 {
            for planted in planted {
                let keys = keys(snapshot.config(), &planted.text)?;
                let started = Instant::now();
                let mut present = 0;
                for segment in snapshot.segments() {
                    present += black_box(segment.signatures.find_all(&keys)?).len();
                }
                let took = started.elapsed();
                if round > 0 {
                    let absent = keys.len() * snapshot.segments().len() - present;
                    self.look_ups.push(took);
                    self.lines += present * LINES_PRESENT + absent * LINES_ABSENT;
                }
            }
        }
        Ok(())
    }

    /// Opens and searches the index. Before every search, no part of the index is in memory.
    fn ask_cold<'a>(
        &mut self,
        path: &Path,
        planted: impl Iterator<Item = &'a &'a Planted>,
    ) -> Result {
        for planted in planted {
            let cold = search_cold(path, &planted.text)?;
            self.open_cold.push(cold.open);
            self.cold.push(cold.search);
            self.cold_bytes += cold.bytes_read;
        }
        Ok(())
    }
}

/// The cost of a search with no part of the index in memory.
pub struct Cold {
    pub open: Duration,
    pub search: Duration,
    /// The bytes that the search alone read from the disk. 0 if the file system is in memory.
    pub bytes_read: u64,
}

/// Removes the index at `path` from memory, then opens the index and searches for the text.
pub fn search_cold(path: &Path, text: &str) -> Result<Cold> {
    for file in std::fs::read_dir(path)? {
        let file = std::fs::File::open(file?.path())?;
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    }
    let query = Query::text(text).counts_only(true);
    let started = Instant::now();
    let searcher = Searcher::new(Index::open_for_search(path)?.snapshot()?);
    let open = started.elapsed();
    let before = bytes_read()?;
    let started = Instant::now();
    searcher.search(&query)?;
    Ok(Cold { open, search: started.elapsed(), bytes_read: bytes_read()? - before })
}

/// Returns the number of bytes that this process has read from disks.
fn bytes_read() -> Result<u64> {
    let io = std::fs::read_to_string("/proc/self/io")?;
    let line = io.lines().find_map(|line| line.strip_prefix("read_bytes: "));
    Ok(line.ok_or("/proc/self/io has no line read_bytes")?.parse()?)
}

fn signature_bytes(path: &Path) -> Result<usize> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|extension| extension == "sig") {
            bytes += entry.metadata()?.len() as usize;
        }
    }
    Ok(bytes)
}

/// Returns the nanoseconds for reading a line at random in memory of this size, with many reads at
/// once.
fn miss_nanoseconds(bytes: usize) -> f64 {
    const READS: usize = 1 << 20;
    /// No cache has the lines of more memory, and the index may be larger than the memory.
    const BYTES_MAX: usize = 2 << 30;
    let lines = (bytes.min(BYTES_MAX) / 64).max(1);
    let memory: Vec<u64> = (0..lines as u64 * 8).collect();
    let mut rng = Rng::with_seed(1);
    let places: Vec<usize> = (0..READS).map(|_| rng.usize(0..lines) * 8).collect();
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let started = Instant::now();
        black_box(places.iter().fold(0u64, |sum, &at| sum.wrapping_add(memory[at])));
        best = best.min(started.elapsed());
    }
    best.as_secs_f64() * 1e9 / READS as f64
}
