//! The figures of one run, as stored in `tools/bench.json`.
//!
//! The name of a field ends with the unit of a duration. `seconds` are by the clock, and
//! `processor_seconds` are the sum over all threads of a process.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub machine: Machine,
    /// The last corpus is the main corpus, which every table uses unless the table names a corpus.
    pub corpora: Vec<Corpus>,
    /// The processor time of signing the main corpus on one thread without an index.
    pub signing_seconds: f64,
    /// Commands on the whole main corpus.
    pub jobs: Vec<Job>,
    pub index: IndexSize,
    pub searches: Vec<Search>,
    pub part: Corpus,
    pub engines: Vec<Engine>,
    pub neighbors: Vec<Row<Neighbor>>,
    pub sizes: Vec<Row<Size>>,
    pub segments: Vec<Segments>,
    pub threads: Vec<Threads>,
    pub opening: Vec<Opening>,
    pub service: Vec<Load>,
    pub settings: Vec<Setting>,
    pub merging: Merging,
    pub counts: Vec<Count>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    pub processor: String,
    pub cores: usize,
    pub memory_gib: f64,
    pub kernel: String,
    /// The load of the machine in the minute before the run.
    pub load: f64,
    pub commit: String,
    pub date: String,
    pub profile: String,
    pub command: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Corpus {
    pub name: String,
    pub contents: String,
    pub documents: usize,
    pub megabytes: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    pub seconds: f64,
    pub processor_seconds: f64,
    pub peak_mb: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub command: String,
    pub spent: Spent,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct IndexSize {
    pub documents: u64,
    pub segments: usize,
    pub with_texts_mb: f64,
    pub without_texts_mb: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub p50_us: f64,
    pub p99_us: f64,
}

/// Latencies of passages of 100 words and of whole documents.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    pub passage: Latency,
    pub document: Latency,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Search {
    pub options: String,
    pub latencies: Latencies,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Engine {
    pub name: String,
    pub seconds: f64,
    pub processor_seconds: f64,
    pub index_mb: f64,
    pub latencies: Option<Latencies>,
}

/// A row with its figures, or with the reason for missing figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row<T> {
    pub name: String,
    #[serde(flatten)]
    pub outcome: Outcome<T>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome<T> {
    Measured(T),
    NotMeasured(String),
}

/// A program that removes near-duplicates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Neighbor {
    pub mb_per_second: f64,
    pub mb_per_processor_second: f64,
    pub peak_mb: f64,
    /// The recall at 0, 1, 2, 5 and 10 % of replaced words.
    pub recall: Vec<f64>,
    pub precision: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Size {
    pub documents: u64,
    pub segments: usize,
    pub add: Spent,
    pub index_mb: f64,
    pub latencies: Latencies,
    pub cold: Outcome<Cold>,
}

/// Medians of searches with no part of the index in memory.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cold {
    pub open_ms: f64,
    pub passage_ms: f64,
    pub passage_read_kb: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Segments {
    pub segments: usize,
    pub latencies: Latencies,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Threads {
    pub threads: usize,
    pub add: Spent,
    pub searches_per_second: f64,
}

/// Medians of opening an index and of committing one document until searches see the change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    pub megabytes: f64,
    pub documents: u64,
    pub segments: usize,
    pub open_ms: f64,
    pub add_ms: f64,
    pub remove_ms: f64,
    pub sync_ms: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    pub name: String,
    pub state: String,
    pub connections: usize,
    pub per_second: f64,
    pub latency: Latency,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    pub options: String,
    pub add: Spent,
    pub index_mb: f64,
    pub latencies: Latencies,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Merging {
    pub postings: u64,
    pub written_millions: f64,
    pub merged_millions: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Count {
    pub operation: String,
    pub instructions: u64,
}

/// A figure of a longer run, which the default run does not repeat (`tools/bench-kept.json`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub section: String,
    pub figure: String,
    pub corpus: String,
    pub time: String,
    pub command: String,
    pub commit: String,
    pub date: String,
}
