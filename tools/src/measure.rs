//! Code that the measuring tools share: indexes, queries and figures.

use std::path::Path;
use std::time::{Duration, Instant};

use cento::index::{Config, Index, Snapshot, WriterOptions};
use cento::search::Searcher;
use cento::text::kind::no_text_in;
use fastrand::Rng;

use crate::Result;
use crate::cento::{Document, documents};

/// Returns the configuration of the measured indexes: the default scheme and the analyzer `words`.
pub fn config(store_text: bool) -> Result<Config> {
    Ok(Config::new(cento::scheme::DEFAULT_SPEC, "words", store_text)?)
}

/// Reads the documents of a corpus, and reports and omits documents that an index would refuse
/// because they are not text.
pub fn texts(corpus: &Path) -> Result<Vec<Document>> {
    let mut all = documents(corpus)?.collect::<Result<Vec<Document>>>()?;
    all.retain(|document| match no_text_in(&document.text) {
        Some(why) => {
            eprintln!("{} is left out: {why}", document.id);
            false
        }
        None => true,
    });
    Ok(all)
}

/// Makes an index of these documents at `path`. Creates the directory if necessary.
pub fn index<'a>(
    path: &Path,
    config: Config,
    documents: impl IntoIterator<Item = &'a Document>,
) -> Result<Searcher> {
    std::fs::create_dir_all(path)?;
    let index = Index::create(path, config)?;
    let mut writer = index.writer(WriterOptions::default())?;
    for Document { id, text } in documents {
        writer.add(cento::index::Document::new(id, text))?;
    }
    writer.finish()?;
    Ok(Searcher::new(index.snapshot()?))
}

/// Opens the index at `path` and returns its current state.
pub fn snapshot(path: &Path) -> Result<Snapshot> {
    Ok(Index::open(path)?.snapshot()?)
}

/// Returns the distinct keys of a text under a scheme, in ascending order.
pub fn keys(config: &Config, text: &str) -> Result<Vec<u64>> {
    let mut keys: Vec<u64> = config.sign(text)?.1.iter().map(|f| f.key).collect();
    keys.sort_unstable();
    keys.dedup();
    Ok(keys)
}

/// Draws `count` whole documents of a corpus and `count` passages of 100 words, with `seed`.
pub fn queries(corpus: &Path, count: usize, seed: u64) -> Result<(Vec<String>, Vec<String>)> {
    let mut rng = Rng::with_seed(seed);
    let all: Vec<String> =
        documents(corpus)?.map(|d| Ok(d?.text)).collect::<Result<Vec<String>>>()?;
    let long = |text: &&String| text.split_whitespace().nth(100).is_some();
    let all: Vec<&String> = all.iter().filter(long).collect();
    if all.is_empty() {
        return Err("the corpus has no document of more than 100 words".into());
    }
    let whole = (0..count).map(|_| (*rng.choice(&all).expect("it is not empty")).clone()).collect();
    let passages = (0..count).map(|_| {
        let text = rng.choice(&all).expect("it is not empty");
        let words: Vec<&str> = text.split_whitespace().collect();
        let start = rng.usize(0..=words.len() - 100);
        words[start..start + 100].join(" ")
    });
    Ok((whole, passages.collect()))
}

/// The times of a series of queries.
#[derive(Debug, Clone, Default)]
pub struct Times {
    micros: Vec<f64>,
}

impl Times {
    /// Adds the time of one query.
    pub fn push(&mut self, time: Duration) {
        self.micros.push(time.as_secs_f64() * 1e6);
    }

    /// Runs `work` and adds its duration.
    pub fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let outcome = work();
        self.push(started.elapsed());
        outcome
    }

    /// Returns the quantile `share` (0 to 1) of the times in microseconds, or 0 without times.
    pub fn quantile(&mut self, share: f64) -> f64 {
        self.micros.sort_unstable_by(f64::total_cmp);
        let last = self.micros.len().saturating_sub(1);
        self.micros.get((last as f64 * share).round() as usize).copied().unwrap_or(0.0)
    }
}

/// Returns the processor time of this process so far, over all threads.
pub fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Returns the total size of the files in a directory, without subdirectories.
pub fn directory_bytes(path: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(path)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}
