//! Pushes, pulls, races and retention, over stores in memory and on disk that fail at every
//! request.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod damaged;
mod faulty;
mod orders;
mod races;
mod transfers;
mod turns;
mod withdrawn;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento::index::{Config, Document, Index, WriterOptions};
use cento::{Result, Searcher, Stop};
use cento_remote::{PullOptions, PullResult, PushOptions, PushResult, Remote, Watch};
use object_store::ObjectStore;
use object_store::memory::InMemory;

/// A watch that shows and stops nothing.
fn unwatched() -> Watch<'static> {
    Watch { progress: &|_| {}, stop: Stop::NEVER }
}

fn memory() -> Arc<dyn ObjectStore> {
    Arc::new(InMemory::new())
}

fn remote(store: &Arc<dyn ObjectStore>) -> Remote {
    Remote::over(store.clone(), "memory:///test").unwrap()
}

/// Text whose words depend on the seed.
fn text(seed: usize) -> String {
    (0..60).map(|word| format!("w{seed}x{} ", word * 7919 % 61)).collect()
}

/// Adds documents with these numbers to the index at `path`. Creates the index if necessary.
fn add(path: &Path, numbers: std::ops::Range<usize>) -> Index {
    let index = match Index::exists(path) {
        true => Index::open(path).unwrap(),
        false => Index::create(path, Config::new("kgram(k=3)", "words", true).unwrap()).unwrap(),
    };
    let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
    for number in numbers {
        writer.add(Document::new(number.to_string(), text(number))).unwrap();
    }
    writer.finish().unwrap();
    index
}

/// Pushes in small parts, so that a file has several parts.
fn push(remote: &Remote, index: &Index) -> Result<PushResult> {
    let options = PushOptions { part_bytes: 1000, ..PushOptions::default() };
    remote.push(index, &options, unwatched())
}

fn pull(remote: &Remote, dir: &Path) -> Result<PullResult> {
    remote.pull(dir, &PullOptions::default(), unwatched())
}

/// Checks that the index is sound and contains exactly these documents.
#[track_caller]
fn assert_has(path: &Path, numbers: impl IntoIterator<Item = usize>) {
    let index = Index::open(path).unwrap();
    let report = index.check().unwrap();
    assert!(report.problems.is_empty(), "{report:?}");
    let searcher = Searcher::new(index.snapshot().unwrap());
    let mut count = 0;
    for number in numbers {
        let query = cento::Query::new(cento::Subject::Text(text(number)));
        let found = searcher.search(&query).unwrap();
        assert_eq!(found.hits[0].id, number.to_string());
        count += 1;
    }
    assert_eq!(index.snapshot().unwrap().documents(), count);
}

/// The names in a directory, without locks.
fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.ends_with(".lock")).collect();
    names.sort();
    names
}

struct Dirs(tempfile::TempDir);

impl Dirs {
    fn new() -> Dirs {
        Dirs(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}
