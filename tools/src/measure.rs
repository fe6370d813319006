//! What do the tools that measure share: indexes, queries, and the figures that are taken?

use std::path::Path;
use std::time::{Duration, Instant};

use cento::index::{Config, Index, Snapshot, WriterOptions};
use cento::search::Searcher;
use cento::text::kind::no_text_in;
use fastrand::Rng;

use crate::Result;
use crate::cento::{Document, documents};

/// The configuration of the indexes that are measured.
pub fn config(store_text: bool) -> Result<Config> {
    Ok(Config::new(cento::scheme::DEFAULT_SPEC, "words", store_text)?)
}

/// The documents of a corpus that are text: an index refuses the others, which are named.
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

/// A new index of these documents at `path`, a directory that is made if it is not there.
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

/// The only segment, or all, of the index at `path`.
pub fn snapshot(path: &Path) -> Result<Snapshot> {
    Ok(Index::open(path)?.snapshot()?)
}

/// The distinct keys of a text under a scheme, ascending.
pub fn keys(config: &Config, text: &str) -> Result<Vec<u64>> {
    let mut keys: Vec<u64> = config.sign(text)?.1.iter().map(|f| f.key).collect();
    keys.sort_unstable();
    keys.dedup();
    Ok(keys)
}

/// Whole documents of a corpus, and passages of 100 words of as many; the same for the same seed.
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

/// The times of many queries.
#[derive(Debug, Clone, Default)]
pub struct Times {
    micros: Vec<f64>,
}

impl Times {
    /// Adds one.
    pub fn push(&mut self, time: Duration) {
        self.micros.push(time.as_secs_f64() * 1e6);
    }

    /// Adds the time that `work` takes.
    pub fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let outcome = work();
        self.push(started.elapsed());
        outcome
    }

    /// The time that this share of the queries took at most, in microseconds.
    pub fn quantile(&mut self, share: f64) -> f64 {
        self.micros.sort_unstable_by(f64::total_cmp);
        let last = self.micros.len().saturating_sub(1);
        self.micros.get((last as f64 * share).round() as usize).copied().unwrap_or(0.0)
    }
}

/// The processor time of this process so far, all threads together.
pub fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The bytes of the files in a directory.
pub fn directory_bytes(path: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(path)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}
