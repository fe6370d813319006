//! Takes the measurements of a run in the order of the document.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cento::search::{Query, Rank, Searcher};
use cento::{Goal, Index};

use super::record::{
    Cold, Count, Engine, IndexSize, Job, Latencies, Latency, Load, Machine, Merging, Opening,
    Outcome, Row, Run, Search, Segments, Setting, Size, Spent, Threads,
};
use super::{corpora, neighbors, process};
use crate::Result;
use crate::baseline::Baselines;
use crate::cento::documents;
use crate::measure::{Times, config, cpu_seconds, directory_bytes, queries, snapshot};
use crate::service::{Beside, Service};
use crate::{latency, merging, opening, scale};

const NEAR: &str = "0.8";

/// The number of measured rounds, after a warm-up round.
const ROUNDS: usize = 3;

/// The number of queries with no part of the index in memory.
const COLD: usize = 20;

/// How often an index is opened, and how often a document is added and removed.
const OPENINGS: u32 = 20;

pub struct Measuring {
    pub cento: PathBuf,
    pub work: PathBuf,
    pub megabytes: usize,
    pub queries: usize,
    pub seconds: u64,
    pub python: Option<PathBuf>,
    pub gigabytes: Vec<usize>,
    pub counts: Vec<Count>,
}

struct Queries {
    passages: Vec<String>,
    documents: Vec<String>,
}

impl Queries {
    fn of(corpus: &Path, count: usize) -> Result<Queries> {
        let (documents, passages) = queries(corpus, count, 1)?;
        Ok(Queries { passages, documents })
    }

    fn first(&self, count: usize) -> Queries {
        let first = |texts: &[String]| texts.iter().take(count).cloned().collect();
        Queries { passages: first(&self.passages), documents: first(&self.documents) }
    }

    fn ask(&self, searcher: &Searcher, change: fn(Query) -> Query) -> Result<Latencies> {
        Ok(Latencies {
            passage: latency_of(searcher, &self.passages, change)?,
            document: latency_of(searcher, &self.documents, change)?,
        })
    }
}

/// Returns the latency of the round with the least median, after a warm-up round.
fn latency_of(
    searcher: &Searcher,
    texts: &[String],
    change: fn(Query) -> Query,
) -> Result<Latency> {
    let mut best: Option<Latency> = None;
    for round in 0..=ROUNDS {
        let mut times = Times::default();
        for text in texts {
            let query = change(Query::text(text.as_str()).counts_only(true));
            let answer = times.time(|| searcher.search(&query))?;
            std::hint::black_box(answer.hits.len());
        }
        let latency = latency(&mut times);
        if round > 0 && best.is_none_or(|best| latency.p50_us < best.p50_us) {
            best = Some(latency);
        }
    }
    best.ok_or_else(|| "there are no queries".into())
}

fn latency(times: &mut Times) -> Latency {
    Latency { p50_us: times.quantile(0.5), p99_us: times.quantile(0.99) }
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn path_text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| format!("{} is no UTF-8", path.display()).into())
}

impl Measuring {
    pub fn run(&self, machine: Machine, given: Option<&Path>) -> Result<Run> {
        let bytes = self.megabytes * 1_000_000;
        let (made, main) = (self.work.join("synthetic.jsonl"), self.work.join("main.jsonl"));
        self.tell("corpora");
        let made_up = corpora::make_made_up(&made, bytes)?;
        let corpus = match given {
            None => corpora::make_sources(&main, bytes)?,
            Some(given) => {
                let part = self.work.join("given.jsonl");
                latency::write_first(given, bytes, &part)?;
                let copied = corpora::make_copy(&main, &part, given)?;
                fs::remove_file(part)?;
                copied
            }
        };
        let part = self.work.join("part.jsonl");
        latency::write_first(&main, bytes / 5, &part)?;
        let part_of = corpora::describe_part(&corpus.name, &part)?;
        self.tell("commands");
        let signing_seconds = signing(&main)?;
        let (jobs, index, searches) = self.commands(&main)?;
        self.tell("plain tantivy");
        let engines = self.engines(&part)?;
        self.tell("neighbors");
        let python = self.python.as_deref();
        let megabytes = self.megabytes.div_ceil(5);
        let neighbors = neighbors::measure(python, &self.cento, &self.work, megabytes, 0.7)?;
        self.tell("sizes");
        let (sizes, opening) = self.sizes()?;
        self.tell("segments");
        let segments = self.segments(&made)?;
        self.tell("threads");
        let threads = self.threads(&made, machine.cores)?;
        self.tell("service");
        let service = self.service(&main, &made)?;
        self.tell("settings");
        let settings = self.settings(&part)?;
        self.tell("merging");
        let merged = merging::Merging::of(80 * self.megabytes as u64)?;
        let merging = Merging {
            postings: merged.postings,
            written_millions: merged.written,
            merged_millions: merged.merged,
        };
        let counts = self.counts.clone();
        let corpora = vec![made_up, corpus];
        Run {
            machine,
            corpora,
            signing_seconds,
            jobs,
            index,
            searches,
            part: part_of,
            engines,
            neighbors,
            sizes,
            segments,
            threads,
            opening,
            service,
            settings,
            merging,
            counts,
        }
        .rounded()
    }

    fn tell(&self, part: &str) {
        eprintln!("measuring: {part}");
    }

    fn cento(&self, args: &[&str]) -> Result<Spent> {
        process::run(Command::new(&self.cento).args(args))
    }

    /// Returns a path in the work directory, and removes the index of an earlier run there.
    fn without_index(&self, name: &str) -> Result<PathBuf> {
        let path = self.work.join(name);
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        Ok(path)
    }

    /// Makes an index in the work directory and returns the path of the index and the cost of
    /// adding the corpus.
    fn add(
        &self,
        name: &str,
        create: &[&str],
        corpus: &Path,
        add: &[&str],
    ) -> Result<(PathBuf, Spent)> {
        let path = self.without_index(name)?;
        let index = path_text(&path)?;
        self.cento(&[&["create", index], create].concat())?;
        let spent = self.cento(&[&["add", index, path_text(corpus)?], add].concat())?;
        Ok((path, spent))
    }

    fn commands(&self, corpus: &Path) -> Result<(Vec<Job>, IndexSize, Vec<Search>)> {
        let mut jobs = Vec::new();
        let mut job =
            |command: &str, spent: Spent| jobs.push(Job { command: command.into(), spent });
        let (without, spent) = self.add("without.idx", &["--no-text"], corpus, &[])?;
        job("add --no-text", spent);
        let (with, spent) = self.add("main.idx", &[], corpus, &[])?;
        job("add", spent);
        let (index, file) = (path_text(&with)?, path_text(corpus)?);
        job("check", self.cento(&["check", index])?);
        job(
            "pairs --min-resemblance 0.8",
            self.cento(&["pairs", index, "--min-resemblance", NEAR])?,
        );
        job(
            "cluster --min-resemblance 0.8",
            self.cento(&["cluster", index, "--min-resemblance", NEAR])?,
        );
        let out = self.work.join("kept.jsonl");
        let dedup = ["dedup", file, "--min-resemblance", NEAR, "--out", path_text(&out)?];
        job("dedup --min-resemblance 0.8", self.cento(&dedup)?);
        fs::remove_file(&out)?;
        let kept = self.without_index("kept.idx")?;
        let dedup = [&dedup[..], &["--index", path_text(&kept)?, "--no-text"]].concat();
        job("dedup --min-resemblance 0.8 --no-text", self.cento(&dedup)?);
        let opened = snapshot(&with)?;
        let index = IndexSize {
            documents: opened.documents(),
            segments: opened.segments().len(),
            with_texts_mb: mb(directory_bytes(&with)?),
            without_texts_mb: mb(directory_bytes(&without)?),
        };
        let searcher = Searcher::new(opened);
        let queries = Queries::of(corpus, self.queries)?;
        let mut searches = Vec::new();
        // Tracing a whole document takes a thousand times as long as searching for a passage.
        let few = queries.first(self.queries.div_ceil(5));
        let mut search = |options: &str, queries: &Queries, change: fn(Query) -> Query| -> Result {
            let latencies = queries.ask(&searcher, change)?;
            searches.push(Search { options: options.into(), latencies });
            Ok(())
        };
        search("--counts-only", &queries, |query| query)?;
        search("none: estimates of the similarity", &queries, |query| query.counts_only(false))?;
        search("--counts-only --min-containment 0.5", &queries, |query| {
            query.min_containment(0.5)
        })?;
        search("--counts-only --limit 100", &queries, |query| query.limit(100))?;
        search("--counts-only --rank weight", &queries, |query| query.rank(Rank::Weight))?;
        search("--goal trace", &few, |query| query.goal(Goal::Trace).limit(10))?;
        search("--passages --limit 10", &few, |query| {
            query.counts_only(false).passages(true).limit(10)
        })?;
        Ok((jobs, index, searches))
    }

    fn engines(&self, corpus: &Path) -> Result<Vec<Engine>> {
        let work = self.work.join("engines");
        let (corpus, queries) = (corpus.to_owned(), self.queries);
        let baselines = Baselines { corpus, work, queries, seed: 1, no_shingles: false };
        let mut engines = Vec::new();
        for engine in baselines.measure()? {
            let (Some(built), Some(bytes)) = (engine.built, engine.index_bytes) else { continue };
            let latencies = engine.times.map(|[mut whole, mut passages]| Latencies {
                passage: latency(&mut passages),
                document: latency(&mut whole),
            });
            engines.push(Engine {
                name: engine.name.into(),
                seconds: built.seconds,
                processor_seconds: built.processor_seconds,
                index_mb: mb(bytes),
                latencies,
            });
        }
        fs::remove_dir_all(&baselines.work)?;
        Ok(engines)
    }

    /// Measures indexes of synthetic text. A larger index contains the text of the smaller indexes.
    fn sizes(&self) -> Result<(Vec<Row<Size>>, Vec<Opening>)> {
        let sample = self.work.join("sample.jsonl");
        let smallest = self.megabytes.div_ceil(10);
        corpora::make_made_up(&sample, smallest * 1_000_000)?;
        let queries = Queries::of(&sample, self.queries)?;
        let (mut rows, mut openings) = (Vec::new(), Vec::new());
        let asked = self.gigabytes.iter().map(|size| size * 1000);
        for size in [smallest, self.megabytes].into_iter().chain(asked) {
            let (size_of, opening) = self.size(size, &queries)?;
            rows.push(Row { name: size_name(size), outcome: Outcome::Measured(size_of) });
            openings.push(opening);
        }
        for gigabytes in [1, 10, 100] {
            if !self.gigabytes.contains(&gigabytes) {
                let why = format!("only with `--gigabytes {gigabytes}`");
                let name = size_name(gigabytes * 1000);
                rows.push(Row { name, outcome: Outcome::NotMeasured(why) });
            }
        }
        Ok((rows, openings))
    }

    fn size(&self, megabytes: usize, queries: &Queries) -> Result<(Size, Opening)> {
        let path = self.work.join("size.idx");
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        let index = path_text(&path)?;
        self.cento(&["create", index, "--no-text"])?;
        // The corpus is written to a file, because adding a stream would also measure how fast text
        // is made up.
        let corpus = self.work.join("size.jsonl");
        corpora::make_made_up(&corpus, megabytes * 1_000_000)?;
        let add = self.cento(&["add", index, path_text(&corpus)?])?;
        fs::remove_file(corpus)?;
        let index_mb = mb(directory_bytes(&path)?);
        let searcher = Searcher::new(Index::open_for_search(&path)?.snapshot()?);
        let (documents, segments) =
            (searcher.snapshot().documents(), searcher.snapshot().segments().len());
        let latencies = queries.ask(&searcher, |query| query)?;
        // Mapped pages would stay in memory.
        drop(searcher);
        let cold = cold(&path, queries)?;
        let size = Size { documents, segments, add, index_mb, latencies, cold };
        let mut opened = opening::measure(&path, OPENINGS)?;
        let median = |times: &mut Times| times.quantile(0.5) / 1e3;
        let opening = Opening {
            megabytes: megabytes as f64,
            documents,
            segments,
            open_ms: median(&mut opened.open),
            add_ms: median(&mut opened.add),
            remove_ms: median(&mut opened.remove),
            sync_ms: median(&mut opened.sync),
        };
        fs::remove_dir_all(&path)?;
        Ok((size, opening))
    }

    fn segments(&self, corpus: &Path) -> Result<Vec<Segments>> {
        let queries = Queries::of(corpus, self.queries)?;
        let mut rows = Vec::new();
        for segments in [1, 4, 16, 64] {
            let path = self.work.join("segments.idx");
            latency::build((corpus, usize::MAX), segments, false, &path)?;
            let searcher = Searcher::new(snapshot(&path)?);
            let segments = searcher.snapshot().segments().len();
            rows.push(Segments { segments, latencies: queries.ask(&searcher, |query| query)? });
            drop(searcher);
            fs::remove_dir_all(&path)?;
        }
        Ok(rows)
    }

    fn threads(&self, corpus: &Path, cores: usize) -> Result<Vec<Threads>> {
        let queries = Queries::of(corpus, self.queries)?;
        let counts = [1, 2, 4, 8, 16, 32, 64].into_iter().filter(|&threads| threads < cores);
        let mut rows = Vec::new();
        for threads in counts.chain([cores]) {
            let options = ["--threads", &threads.to_string()];
            let (path, add) = self.add("threads.idx", &["--no-text"], corpus, &options)?;
            let searcher = Searcher::new(snapshot(&path)?);
            let searches_per_second = searches_per_second(&searcher, &queries, threads)?;
            rows.push(Threads { threads, add, searches_per_second });
        }
        Ok(rows)
    }

    fn service(&self, corpus: &Path, added: &Path) -> Result<Vec<Load>> {
        let service = Service {
            corpus: corpus.to_owned(),
            added: added.to_owned(),
            work: self.work.join("service"),
            cento: self.cento.clone(),
            queries: self.queries,
            seconds: self.seconds,
            connections: vec![1, 2],
            seed: 1,
        };
        let mut rows = Vec::new();
        service.measure(&mut |load| {
            let state = match (load.kind, load.connections, load.beside) {
                (Some(_), 0, _) => "library",
                (_, _, Beside::Nothing) => "idle",
                (_, _, Beside::Adding) => "adding",
                (_, _, Beside::AddingAndCompacting) => "adding and compacting",
                (_, _, Beside::NothingAnyMore) => "idle, with all documents added",
            };
            let at = |share| load.times.at(share) as f64;
            rows.push(Load {
                name: load.kind.unwrap_or("empty route").into(),
                state: state.into(),
                connections: load.connections,
                per_second: load.times.rate(),
                latency: Latency { p50_us: at(0.5), p99_us: at(0.99) },
            });
        })?;
        fs::remove_dir_all(&service.work)?;
        Ok(rows)
    }

    fn settings(&self, corpus: &Path) -> Result<Vec<Setting>> {
        let queries = Queries::of(corpus, self.queries)?;
        let settings: [&[&str]; 10] = [
            &[],
            &["--no-text"],
            &["--signatures", "computed"],
            &["--scheme", "winnow(k=3,w=10)"],
            &["--scheme", "winnow(k=8,w=10)", "--analyzer", "chars"],
            &["--scheme", "kgram(k=5)"],
            &["--scheme", "kgram(k=2)"],
            &["--scheme", "reuse"],
            &["--scheme", "reuse", "--analyzer", "avtor(language=en)"],
            &["--scheme", "minhash"],
        ];
        let mut rows = Vec::new();
        for options in settings {
            let (path, add) = self.add("setting.idx", options, corpus, &[])?;
            let searcher = Searcher::new(snapshot(&path)?);
            rows.push(Setting {
                options: if options.is_empty() { "none".into() } else { options.join(" ") },
                add,
                index_mb: mb(directory_bytes(&path)?),
                latencies: queries.ask(&searcher, |query| query)?,
            });
        }
        Ok(rows)
    }
}

fn size_name(megabytes: usize) -> String {
    match megabytes % 1000 {
        0 => format!("{} GB", megabytes / 1000),
        _ => format!("{megabytes} MB"),
    }
}

/// Returns the processor time of tokenizing and winnowing all texts on a single thread.
fn signing(corpus: &Path) -> Result<f64> {
    let config = config(false)?;
    let mut seconds = 0.0;
    for document in documents(corpus)? {
        let text = document?.text;
        let used = cpu_seconds();
        std::hint::black_box(config.sign(&text)?.1.len());
        seconds += cpu_seconds() - used;
    }
    Ok(seconds)
}

fn cold(path: &Path, queries: &Queries) -> Result<Outcome<Cold>> {
    let (mut open, mut search, mut bytes) = (Times::default(), Times::default(), 0);
    for text in queries.passages.iter().take(COLD) {
        let cold = scale::search_cold(path, text)?;
        open.push(cold.open);
        search.push(cold.search);
        bytes += cold.bytes_read;
    }
    if bytes == 0 {
        return Ok(Outcome::NotMeasured("the work directory is in memory".into()));
    }
    Ok(Outcome::Measured(Cold {
        open_ms: open.quantile(0.5) / 1e3,
        passage_ms: search.quantile(0.5) / 1e3,
        passage_read_kb: bytes as f64 / 1e3 / queries.passages.len().min(COLD) as f64,
    }))
}

fn searches_per_second(searcher: &Searcher, queries: &Queries, threads: usize) -> Result<f64> {
    let (done, next) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let started = Instant::now();
    let until = started + Duration::from_secs(1);
    std::thread::scope(|scope| -> Result {
        let work = || -> std::result::Result<(), cento::Error> {
            while Instant::now() < until {
                let at = next.fetch_add(1, Ordering::Relaxed) % queries.passages.len();
                let query = Query::text(queries.passages[at].as_str()).counts_only(true);
                std::hint::black_box(searcher.search(&query)?.hits.len());
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            thread.join().map_err(|_| "a thread that searches panicked")??;
        }
        Ok(())
    })?;
    Ok(done.into_inner() as f64 / started.elapsed().as_secs_f64())
}

impl Run {
    /// Rounds the run to the three significant digits that the document shows. Further digits would
    /// be noise.
    fn rounded(self) -> Result<Run> {
        let mut value = serde_json::to_value(self)?;
        round(&mut value);
        Ok(serde_json::from_value(value)?)
    }
}

fn round(value: &mut serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::Array(values) => values.iter_mut().for_each(round),
        Value::Object(fields) => fields.iter_mut().for_each(|(_, value)| round(value)),
        Value::Number(number) if number.is_f64() => {
            let exact = number.as_f64().unwrap_or(0.0);
            // Multiplying and dividing by a power of ten would leave digits behind the third.
            let rounded: f64 = format!("{exact:.2e}").parse().unwrap_or(exact);
            *value = rounded.into();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn figures_have_three_digits_and_counts_all() {
        let mut value = serde_json::json!({"a": [1234.56, 0.012345], "n": 123456});
        super::round(&mut value);
        assert_eq!(value, serde_json::json!({"a": [1230.0, 0.0123], "n": 123456}));
    }
}
