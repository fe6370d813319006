//! Measures how fast the service answers under load, and checks its answers.
//!
//! One run measures the library call, an empty route, searches alone, searches during additions,
//! searches during additions and a compaction, and finally searches with all added documents. Every
//! answer is compared with the answer of the library.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cento::index::Index;
use cento::search::{Answer, Hit, Query, SearchOptions, Searcher};
use cento_client::Client;
use cento_client::api::{Commit, CompactRequest, DocumentBody, SearchRequest};
use cento_serve::ServiceFile;
use clap::Args;

use crate::Result;
use crate::cento::documents;
use crate::measure::queries;

/// Measure a service under load, and check its answers.
#[derive(Debug, Args)]
pub struct Service {
    /// The corpus: a JSON lines file.
    #[arg(long)]
    pub corpus: PathBuf,
    /// Documents to be added meanwhile: a JSON lines file.
    #[arg(long)]
    pub added: PathBuf,
    /// A directory for the index, which is made anew.
    #[arg(long)]
    pub work: PathBuf,
    /// Path of the cento program to test.
    #[arg(long, default_value = "target/release/cento")]
    pub cento: PathBuf,
    /// Queries of each kind.
    #[arg(long, default_value = "300")]
    pub queries: usize,
    /// Seconds for each line of the table.
    #[arg(long, default_value = "8")]
    pub seconds: u64,
    /// Connections at a time.
    #[arg(long, value_delimiter = ',', default_value = "1,2,8")]
    pub connections: Vec<usize>,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    pub seed: u64,
}

#[derive(Debug, Clone)]
pub struct Load {
    /// `passage` or `whole`. `None` for the empty route.
    pub kind: Option<&'static str>,
    /// The number of connections, or 0 for the library.
    pub connections: usize,
    pub beside: Beside,
    pub times: Times,
}

impl Load {
    fn name(&self) -> String {
        match (self.kind, self.connections) {
            (None, connections) => format!("empty route, {connections}"),
            (Some(kind), 0) => format!("{kind}, library"),
            (Some(kind), connections) => format!("{kind}, {connections}, {:?}", self.beside),
        }
    }
}

struct Asked {
    request: SearchRequest,
    hits: Vec<Hit>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    Nothing,
    Adding,
    AddingAndCompacting,
    /// No work, but with all added documents in the index. The phases with additions are comparable
    /// with this phase.
    NothingAnyMore,
}

/// A service in a child process, which is killed on drop.
pub struct Running {
    child: Child,
    pub url: String,
}

impl Running {
    /// Serves the index in the directory `index`, and waits until the service has a URL.
    pub fn start(cento: &Path, index: &Path, args: &[&str]) -> Result<Running> {
        Running::start_with(cento, index, args, &[])
    }

    /// As [`Running::start`], with these environment variables.
    pub fn start_with(
        cento: &Path,
        index: &Path,
        args: &[&str],
        environment: &[(&str, PathBuf)],
    ) -> Result<Running> {
        let _ = fs::remove_file(index.join(".service.json"));
        let mut command = Command::new(cento);
        command.arg("serve").arg(index).args(["--listen", "127.0.0.1:0"]).args(args);
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        let mut child = command.stdin(Stdio::null()).spawn()?;
        loop {
            if let Some(found) = ServiceFile::of(index) {
                return Ok(Running { child, url: found.url });
            }
            if let Some(status) = child.try_wait()? {
                return Err(format!("the service ended: {status}").into());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the exit status of a service that ended by itself.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Asks the service to end, and waits until it has.
    pub fn terminate(&mut self) -> Result<ExitStatus> {
        let id = i32::try_from(self.id())?;
        let id = rustix::process::Pid::from_raw(id).ok_or("a process without a number")?;
        rustix::process::kill_process(id, rustix::process::Signal::TERM)?;
        Ok(self.child.wait()?)
    }

    pub fn kill(&mut self) -> Result {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// The sorted times of equal requests, in microseconds.
#[derive(Debug, Clone)]
pub struct Times {
    sorted: Vec<u64>,
    seconds: f64,
}

impl Times {
    fn new(mut times: Vec<u64>, seconds: f64) -> Times {
        times.sort_unstable();
        Times { sorted: times, seconds }
    }

    /// Returns the quantile `share` (0 to 1) of the times in microseconds.
    pub fn at(&self, share: f64) -> u64 {
        let last = self.sorted.len().saturating_sub(1);
        self.sorted.get((share * last as f64) as usize).copied().unwrap_or(0)
    }

    pub fn rate(&self) -> f64 {
        self.sorted.len() as f64 / self.seconds
    }

    fn row(&self, name: &str) {
        println!(
            "| {name} | {:.0} | {} | {} | {} | {} |",
            self.rate(),
            self.at(0.5),
            self.at(0.99),
            self.at(0.999),
            self.at(1.0),
        );
    }
}

impl Service {
    pub(crate) fn run(self) -> Result {
        println!("| | a second | p50, us | p99 | p99.9 | max |\n|---|---|---|---|---|---|");
        self.measure(&mut |load| load.times.row(&load.name()))
    }

    /// Measures row by row. A failed request or a wrong answer is an error.
    pub fn measure(&self, row: &mut dyn FnMut(Load)) -> Result {
        let index = self.work.join("service.idx");
        if index.exists() {
            fs::remove_dir_all(&index)?;
        }
        fs::create_dir_all(&self.work)?;
        let status = Command::new(&self.cento).arg("add").arg(&index).arg(&self.corpus).status()?;
        if !status.success() {
            return Err("the corpus could not be added".into());
        }
        let (whole, passages) = queries(&self.corpus, self.queries, self.seed)?;
        let searcher = Searcher::new(Index::open_for_search(&index)?.snapshot()?);
        let mut kinds: Vec<(&'static str, Vec<Asked>)> = Vec::new();
        for (kind, texts) in [("passage", passages), ("whole", whole)] {
            let (times, asked) = self.library(&searcher, &texts)?;
            row(Load { kind: Some(kind), connections: 0, beside: Beside::Nothing, times });
            kinds.push((kind, asked));
        }
        drop(searcher);
        let service = Running::start(&self.cento, &index, &["--commit-interval", "1s"])?;
        let times = self.empty_route(&service)?;
        row(Load { kind: None, connections: 1, beside: Beside::Nothing, times });
        let originals = documents(&self.corpus)?.map(|d| Ok(d?.id)).collect::<Result<_>>()?;
        let phases =
            [Beside::Nothing, Beside::Adding, Beside::AddingAndCompacting, Beside::NothingAnyMore];
        for beside in phases {
            self.beside(&service, beside, || {
                for (kind, asked) in &kinds {
                    for &connections in &self.connections {
                        let name = format!("{kind}, {connections}, {beside:?}");
                        let times = self.load(&service, &name, asked, connections, &originals)?;
                        row(Load { kind: Some(kind), connections, beside, times });
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn library(&self, searcher: &Searcher, texts: &[String]) -> Result<(Times, Vec<Asked>)> {
        let (mut times, mut asked) = (Vec::new(), Vec::new());
        for round in 0..3 {
            for text in texts {
                let query = Query::text(text.as_str()).counts_only(true);
                let started = Instant::now();
                let answer = searcher.search(&query)?;
                let took = started.elapsed().as_micros() as u64;
                if round > 0 {
                    times.push(took);
                } else {
                    let request = SearchRequest {
                        text: Some(text.clone()),
                        // The options are the options of the library's query above.
                        options: SearchOptions::default().counts_only(true),
                        ..SearchRequest::default()
                    };
                    asked.push(Asked { request, hits: answer.hits });
                }
            }
        }
        let seconds = times.iter().sum::<u64>() as f64 / 1e6;
        Ok((Times::new(times, seconds), asked))
    }

    fn empty_route(&self, service: &Running) -> Result<Times> {
        let client = Client::new(&service.url, None)?;
        let (mut times, started) = (Vec::new(), Instant::now());
        while started.elapsed() < Duration::from_secs(self.seconds.min(3)) {
            let asked = Instant::now();
            client.health()?;
            times.push(asked.elapsed().as_micros() as u64);
        }
        Ok(Times::new(times, started.elapsed().as_secs_f64()))
    }

    fn beside(&self, service: &Running, beside: Beside, work: impl FnOnce() -> Result) -> Result {
        let (is_done, added) = (AtomicBool::new(false), AtomicU64::new(0));
        let bytes = AtomicU64::new(0);
        let started = Instant::now();
        let mut batches = match beside {
            Beside::Nothing | Beside::NothingAnyMore => Vec::new(),
            Beside::Adding | Beside::AddingAndCompacting => batches(&self.added, beside)?,
        };
        let mut compactions = 0;
        let result = std::thread::scope(|scope| -> Result {
            let adding = scope.spawn(|| -> std::result::Result<(), String> {
                let client = Client::new(&service.url, None).map_err(|e| e.to_string())?;
                // The documents are added again and again with new ids, so that the additions do
                // not end.
                for round in 0.. {
                    for batch in &mut batches {
                        if is_done.load(Ordering::Relaxed) {
                            return Ok(());
                        }
                        batch.set_round(round);
                        let sent = client.add_lines(&batch.lines, Commit::Auto);
                        let report = sent.map_err(|e| e.to_string())?.report;
                        added.fetch_add(report.added + report.replaced, Ordering::Relaxed);
                        bytes.fetch_add(batch.text_bytes, Ordering::Relaxed);
                    }
                    if batches.is_empty() {
                        return Ok(());
                    }
                }
                Ok(())
            });
            let compacting = scope.spawn(|| -> std::result::Result<u64, String> {
                let client = Client::new(&service.url, None).map_err(|e| e.to_string())?;
                let mut done = 0;
                while beside == Beside::AddingAndCompacting && !is_done.load(Ordering::Relaxed) {
                    let request = CompactRequest { segments: 1, wait: true };
                    client.compact(&request).map_err(|e| e.to_string())?;
                    done += 1;
                }
                Ok(done)
            });
            let worked = work();
            is_done.store(true, Ordering::Relaxed);
            adding.join().map_err(|_| "adding panicked")??;
            compactions = compacting.join().map_err(|_| "compacting panicked")??;
            worked
        });
        let seconds = started.elapsed().as_secs_f64();
        let megabytes = bytes.into_inner() as f64 / 1e6;
        eprintln!(
            "{beside:?}: {} documents, {:.1} MB/s, {compactions} compactions in {seconds:.0} s",
            added.into_inner(),
            megabytes / seconds
        );
        result
    }

    fn load(
        &self,
        service: &Running,
        name: &str,
        asked: &[Asked],
        connections: usize,
        originals: &HashSet<String>,
    ) -> Result<Times> {
        let until = Instant::now() + Duration::from_secs(self.seconds);
        let started = Instant::now();
        let (errors, wrong) = (AtomicU64::new(0), AtomicU64::new(0));
        let times = std::thread::scope(|scope| -> Result<Vec<u64>> {
            let threads: Vec<_> = (0..connections)
                .map(|number| {
                    let (errors, wrong) = (&errors, &wrong);
                    scope.spawn(move || {
                        let client = Client::new(&service.url, None).map_err(|e| e.to_string())?;
                        let mut times = Vec::new();
                        let mut at = number * 37;
                        while Instant::now() < until {
                            let asked = &asked[at % asked.len()];
                            at += 1;
                            let begun = Instant::now();
                            let answer = client.search(&asked.request);
                            times.push(begun.elapsed().as_micros() as u64);
                            match answer {
                                Ok(answer) if is_right(asked, &answer, originals) => {}
                                Ok(_) => drop(wrong.fetch_add(1, Ordering::Relaxed)),
                                Err(_) => drop(errors.fetch_add(1, Ordering::Relaxed)),
                            }
                        }
                        Ok::<_, String>(times)
                    })
                })
                .collect();
            let mut times = Vec::new();
            for thread in threads {
                times.extend(thread.join().map_err(|_| "a client panicked")??);
            }
            Ok(times)
        })?;
        let seconds = started.elapsed().as_secs_f64();
        let (errors, wrong) = (errors.into_inner(), wrong.into_inner());
        let times = Times::new(times, seconds);
        match (errors, wrong) {
            (0, 0) => Ok(times),
            _ => Err(format!("{name}: {errors} requests failed, {wrong} answers are wrong").into()),
        }
    }
}

/// A request with documents. Batches are made before the measurement, because adding and searching
/// threads share the processors.
struct Batch {
    lines: Vec<u8>,
    rounds: Vec<usize>,
    text_bytes: u64,
}

const ROUND_DIGITS: usize = 10;

impl Batch {
    /// Gives the documents ids that are new in this round.
    fn set_round(&mut self, round: u32) {
        let digits = format!("{round:0ROUND_DIGITS$}");
        for &at in &self.rounds {
            self.lines[at..at + ROUND_DIGITS].copy_from_slice(digits.as_bytes());
        }
    }
}

/// Returns the documents of a corpus in batches of a hundred.
fn batches(corpus: &Path, beside: Beside) -> Result<Vec<Batch>> {
    const DOCUMENTS: usize = 100;
    let mut batches: Vec<Batch> = Vec::new();
    for document in documents(corpus)? {
        let document = document?;
        if batches.last().is_none_or(|batch| batch.rounds.len() == DOCUMENTS) {
            batches.push(Batch { lines: Vec::new(), rounds: Vec::new(), text_bytes: 0 });
        }
        let Some(Batch { lines, rounds, text_bytes }) = batches.last_mut() else { break };
        let before = format!("{{\"id\":\"{beside:?}/");
        rounds.push(lines.len() + before.len());
        *text_bytes += document.text.len() as u64;
        let id = format!("{beside:?}/{:0ROUND_DIGITS$}/{}", 0, document.id);
        let (text, meta) = (document.text, serde_json::Map::new());
        serde_json::to_writer(&mut *lines, &DocumentBody { id, text, meta, id_place: None })?;
        lines.push(b'\n');
        let is_round =
            rounds.last().is_some_and(|&at| lines[at..].starts_with(&[b'0'; ROUND_DIGITS]));
        assert!(is_round, "a body begins with its id");
    }
    Ok(batches)
}

/// Returns whether an answer has the hits of the library in the same order with the same numbers.
/// Later documents may displace the last hits.
fn is_right(asked: &Asked, answer: &Answer, originals: &HashSet<String>) -> bool {
    let mut own = answer.hits.iter().filter(|hit| originals.contains(&hit.id));
    let mut expected = asked.hits.iter();
    let is_full = answer.hits.len() == asked.request.options.limit.unwrap_or(Query::HITS);
    loop {
        match (own.next(), expected.next()) {
            (Some(hit), Some(before)) if hit == before => {}
            (None, None) => return true,
            (None, Some(_)) => return is_full,
            _ => return false,
        }
    }
}
