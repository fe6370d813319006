//! Measures what every verb and the main routes take of the machine at most, beside the bounds
//! that docs/concepts/limits.md states.
//!
//! Each verb runs over two corpora, the second with four times the documents, so that growth with
//! the number of documents shows. Memory is anonymous memory, because the pages of mapped files
//! are dropped when memory is short. Samples are taken every two milliseconds. The helper processes
//! that read Office documents and Parquet have separate limits.

mod peak;
mod routes;
mod verbs;

use std::fs;
use std::path::PathBuf;

use cento_tools::corpus::{Vocabulary, edit};
use clap::Args;
use fastrand::Rng;
use serde_json::json;

use self::peak::Peak;
use crate::Result;

/// Measure the peak memory, files and threads of every verb and route, beside the stated bounds.
#[derive(Debug, Args)]
pub struct Bounds {
    /// A directory for the corpora and indexes, which is made anew.
    #[arg(long)]
    work: PathBuf,
    /// Path of the cento program to test.
    #[arg(long, default_value = "target/release/cento")]
    cento: PathBuf,
    /// `--memory` of the verbs and of the service, in MiB.
    #[arg(long, default_value = "64")]
    memory: u64,
    /// Documents of the larger corpus. The smaller corpus has a quarter of them.
    #[arg(long, default_value = "40000")]
    documents: u64,
    /// Words of a document.
    #[arg(long, default_value = "60")]
    words: usize,
    /// Only verbs and routes whose names contain this.
    #[arg(long)]
    only: Option<String>,
}

/// The bound that the documentation states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatedBound {
    /// `--memory`, and [`SLACK_MB`] beyond it.
    Budget,
    /// This number of bytes for each document, and [`SLACK_MB`].
    PerDocument(u64),
    /// [`SLACK_MB`], whatever the number of documents.
    Fixed,
}

/// For merges, a block of texts, and memory that the allocator keeps.
const SLACK_MB: u64 = 300;

/// The most open files, without connections. Files of an index are mapped and not kept open.
const FILES_MAX: usize = 64;

/// The most connections while one client sends one request: the listener, the connection of the
/// client, and the sockets that wake the threads of the service.
const CONNECTIONS_MAX: usize = 8;

/// The most threads: this number, and the next number for every processor.
const THREADS_MAX: usize = 16;
const PROCESSOR_THREADS_MAX: usize = 8;

impl StatedBound {
    /// Returns the bound in MB for this budget in MiB and this number of documents.
    fn megabytes(self, memory: u64, documents: u64) -> u64 {
        SLACK_MB
            + match self {
                StatedBound::Budget => (memory << 20) / 1_000_000,
                StatedBound::PerDocument(bytes) => documents * bytes / 1_000_000,
                StatedBound::Fixed => 0,
            }
    }

    /// Returns the bound as limits.md states it.
    fn stated(self) -> String {
        match self {
            StatedBound::Budget => format!("`--memory` + {SLACK_MB} MB"),
            StatedBound::PerDocument(bytes) => format!("{SLACK_MB} MB + {bytes} B a document"),
            StatedBound::Fixed => format!("{SLACK_MB} MB"),
        }
    }
}

/// The peaks of a verb or route over a corpus.
struct PeakRow {
    name: String,
    bound: StatedBound,
    peak: Peak,
}

/// The files that verbs and routes read.
struct Corpus {
    dir: PathBuf,
    documents: u64,
    memory: u64,
}

const CORPUS: &str = "corpus.jsonl";
/// Other texts for the ids of the corpus.
const OTHERS: &str = "others.jsonl";
/// Some documents of the corpus, with edits.
const QUERIES: &str = "queries.jsonl";
const QUERY: &str = "query.txt";
const INDEX: &str = "corpus.idx";

impl Bounds {
    pub(crate) fn run(self) -> Result {
        let cento = self.cento.canonicalize();
        let cento = cento.map_err(|e| format!("{}: {e}", self.cento.display()))?;
        if self.work.exists() {
            fs::remove_dir_all(&self.work)?;
        }
        let sizes = [self.documents / 4, self.documents];
        let mut columns: Vec<Vec<PeakRow>> = Vec::new();
        for documents in sizes {
            let corpus = self.corpus(documents)?;
            let wanted = |name: &str| self.only.as_deref().is_none_or(|only| name.contains(only));
            let mut rows = verbs::measure(&cento, &corpus, &wanted)?;
            rows.extend(routes::measure(&cento, &corpus, &wanted)?);
            columns.push(rows);
            fs::remove_dir_all(&corpus.dir)?;
        }
        let [small, large] = &columns[..] else { return Err("there are two sizes".into()) };
        let (few, many) = (sizes[0], sizes[1]);
        println!(
            "`--memory {}MiB`, documents of {} words; peaks in MB of anonymous memory\n",
            self.memory, self.words
        );
        println!(
            "| verb or route | stated | of {many} | {few} | {many} | bytes a document more | files \
             | connections | threads |"
        );
        println!("|---|---|---:|---:|---:|---:|---:|---:|---:|");
        let mut over = Vec::new();
        for (small, large) in small.iter().zip(large) {
            let PeakRow { name, bound, peak } = large;
            let Peak { memory_mb, files, connections, threads } = peak;
            let most = bound.megabytes(self.memory, many);
            let small_mb = small.peak.memory_mb;
            let more = (memory_mb - small_mb) * 1e6 / (many - few) as f64;
            let stated = bound.stated();
            println!(
                "| {name} | {stated} | {most} | {small_mb:.0} | {memory_mb:.0} | {more:.0} | \
                 {files} | {connections} | {threads} |"
            );
            let few_most = bound.megabytes(self.memory, few);
            let threads_max = THREADS_MAX + PROCESSOR_THREADS_MAX * cento::available_threads();
            if *memory_mb > most as f64
                || small_mb > few_most as f64
                || *files > FILES_MAX
                || *connections > CONNECTIONS_MAX
                || *threads > threads_max
            {
                over.push(name.as_str());
            }
        }
        match over.is_empty() {
            true => Ok(()),
            false => Err(format!("more than stated: {}", over.join(", ")).into()),
        }
    }

    /// Writes a corpus. A fifth of the documents are edited copies of earlier documents.
    fn corpus(&self, documents: u64) -> Result<Corpus> {
        let dir = self.work.join(documents.to_string());
        fs::create_dir_all(&dir)?;
        let mut rng = Rng::with_seed(1);
        let words = Vocabulary::new(&mut rng);
        let mut texts: Vec<String> = Vec::new();
        for number in 0..documents {
            texts.push(match number % 5 {
                4 => {
                    let source: Vec<&str> =
                        rng.choice(&texts).ok_or("no text")?.split(' ').collect();
                    edit(&source, 2, &words, &mut rng)
                }
                _ => words.text(self.words, &mut rng),
            });
        }
        let line = |(number, text): (usize, &String)| {
            let (day, folder) = (number % 28 + 1, number % 97);
            let (id, date) = (format!("folder{folder}/{number}"), format!("2024-01-{day:02}"));
            format!("{}\n", json!({"id": id, "text": text, "meta": {"date": date}}))
        };
        let write = |name: &str, lines: String| fs::write(dir.join(name), lines);
        write(CORPUS, texts.iter().enumerate().map(line).collect())?;
        // Every id gets the text of the next id.
        let others = texts.iter().cycle().skip(1).take(texts.len());
        write(OTHERS, others.enumerate().map(line).collect())?;
        let query = |number: usize| {
            let source: Vec<&str> = texts[number].split(' ').collect();
            edit(&source, 5, &words, &mut Rng::with_seed(number as u64))
        };
        let queries = (0..texts.len().min(500)).map(|number| {
            format!("{}\n", json!({"id": format!("query{number}"), "text": query(number)}))
        });
        write(QUERIES, queries.collect())?;
        write(QUERY, (0..texts.len().min(100)).map(|number| query(number) + "\n\n").collect())?;
        Ok(Corpus { dir, documents, memory: self.memory })
    }
}

impl Corpus {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_states_the_bound_of_each_verb_and_route() {
        let page = include_str!("../../../docs/concepts/limits.md");
        let stated = format!(
            "at most {FILES_MAX} open files and {THREADS_MAX} threads, and {PROCESSOR_THREADS_MAX} \
             more threads for each"
        );
        assert!(page.replace('\n', " ").contains(&stated), "{stated}");
        for (name, bound) in verbs::BOUNDS.iter().chain(routes::BOUNDS) {
            let name = &format!("`{name}`");
            let is_row =
                |line: &&str| line.split(" | ").next().is_some_and(|cell| cell.contains(name));
            let line = page.lines().filter(|line| line.starts_with('|')).find(is_row);
            let line = line.unwrap_or_else(|| panic!("limits.md has no row for {name}"));
            let stated = bound.stated();
            assert!(line.ends_with(&format!("| {stated} |")), "{name}: {stated}, but: {line}");
        }
    }
}
