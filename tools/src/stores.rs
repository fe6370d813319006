//! Does an object store lose nothing, whoever races and whatever is killed?
//!
//! The command itself is run, over any URL that it takes. Writers race to push; pushes, pulls and
//! followers are killed at random moments, and what is left is compared with what was acknowledged.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cento::index::Index;
use cento_client::Client;
use clap::{Args, ValueEnum};
use fastrand::Rng;

use crate::Result;
use crate::service::Running;

/// Race and kill pushes, pulls and followers of an object store.
#[derive(Debug, Args)]
pub struct Stores {
    /// What is done.
    what: What,
    /// The store, which must be empty; credentials come from the environment.
    url: String,
    /// A directory for indexes, which is made anew.
    #[arg(long)]
    work: PathBuf,
    /// The program.
    #[arg(long, default_value = "target/release/cento")]
    cento: PathBuf,
    /// Commits that are to be acknowledged, or how many times each is killed.
    #[arg(long, default_value = "100")]
    times: u64,
    /// Writers that race.
    #[arg(long, default_value = "8")]
    writers: u64,
    /// The seed.
    #[arg(long, default_value = "1")]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Several writers push at the same time.
    Races,
    /// A push, a pull and a follower are killed.
    Kills,
}

impl Stores {
    pub(crate) fn run(self) -> Result {
        if self.work.exists() {
            std::fs::remove_dir_all(&self.work)?;
        }
        std::fs::create_dir_all(&self.work)?;
        match self.what {
            What::Races => self.races(),
            What::Kills => self.kills(),
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.cento);
        command.args(args).current_dir(&self.work).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    fn output(&self, args: &[&str]) -> Result<Output> {
        Ok(self.command(args).output()?)
    }

    /// Runs a command that is to succeed.
    fn must(&self, args: &[&str]) -> Result {
        let output = self.output(args)?;
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("{args:?}: {}", String::from_utf8_lossy(&output.stderr)).into()),
        }
    }

    /// Adds documents with these ids to an index.
    fn add(&self, index: &str, ids: &[String]) -> Result {
        let file = format!("{index}.jsonl");
        let line = |id: &String| {
            let words: Vec<String> = (0..200).map(|word| format!("{id}x{word}")).collect();
            format!("{}\n", serde_json::json!({"id": id, "text": words.join(" ")}))
        };
        std::fs::write(self.work.join(&file), ids.iter().map(line).collect::<String>())?;
        self.must(&["add", index, &file])
    }

    fn races(&self) -> Result {
        self.add("first", &["first".into()])?;
        self.must(&["push", "first", &self.url])?;
        let acknowledged = Mutex::new(BTreeSet::from(["first".to_owned()]));
        let (kept, told, begun) = (AtomicU64::new(0), AtomicU64::new(0), Instant::now());
        let failures = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for writer in 0..self.writers {
                let (acknowledged, failures) = (&acknowledged, &failures);
                let (kept, told) = (&kept, &told);
                scope.spawn(move || {
                    let raced = self.race(writer, acknowledged, kept, told);
                    if let Err(error) = raced {
                        let mut failures = failures.lock().unwrap_or_else(PoisonError::into_inner);
                        failures.push(error.to_string());
                    }
                });
            }
        });
        let seconds = begun.elapsed().as_secs_f64();
        if let Some(failure) = failures.into_inner()?.first() {
            return Err(failure.clone().into());
        }
        let acknowledged = acknowledged.into_inner()?;
        self.must(&["pull", &self.url, "all"])?;
        let found = ids(&self.work.join("all"))?;
        if let Some(lost) = acknowledged.difference(&found).next() {
            return Err(format!("the commit of {lost} was acknowledged and is gone").into());
        }
        println!(
            "{} writers: {} commits were acknowledged, and all are there; {} were told that another came \
             first; {} documents in all; {seconds:.1} s",
            self.writers,
            kept.into_inner(),
            told.into_inner(),
            found.len()
        );
        Ok(())
    }

    /// Pulls, adds a document and pushes, until enough commits have been acknowledged.
    fn race(
        &self,
        writer: u64,
        acknowledged: &Mutex<BTreeSet<String>>,
        kept: &AtomicU64,
        told: &AtomicU64,
    ) -> Result {
        let index = format!("writer{writer}");
        for number in 0.. {
            if kept.load(Ordering::Relaxed) >= self.times {
                break;
            }
            let id = format!("{writer}-{number}");
            // An index that was outrun has a history of its own.
            if !self.output(&["pull", &self.url, &index, "--discard"])?.status.success() {
                std::fs::remove_dir_all(self.work.join(&index))?;
                self.must(&["pull", &self.url, &index])?;
            }
            self.add(&index, std::slice::from_ref(&id))?;
            let output = self.output(&["push", &index, &self.url])?;
            let said = String::from_utf8_lossy(&output.stderr);
            if output.status.success() {
                kept.fetch_add(1, Ordering::Relaxed);
                acknowledged.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
            } else if said.contains("since this index was pulled") {
                told.fetch_add(1, Ordering::Relaxed);
            } else {
                return Err(format!("writer {writer}: {said}").into());
            }
        }
        Ok(())
    }

    fn kills(&self) -> Result {
        let mut rng = Rng::with_seed(self.seed);
        let mut all: Vec<String> = Vec::new();
        self.push_next(0, &mut all)?;
        let mut killed = [0; 3];
        for round in 1..=self.times {
            // What a push takes that is not killed says within which time to kill the next one.
            self.add_next(round, &mut all)?;
            let before = ids_of(&all, round - 1);
            killed[0] += u64::from(self.kill(&["push", "all", &self.url], &mut rng)?);
            self.check_pull("fresh", &[&before, &ids_of(&all, round)])?;
            std::fs::remove_dir_all(self.work.join("fresh"))?;
            self.must(&["push", "all", &self.url])?;
            killed[1] += u64::from(self.kill(&["pull", &self.url, "copy"], &mut rng)?);
            let copy = self.work.join("copy");
            if Index::exists(&copy) {
                check(
                    &copy,
                    &[&before, &ids_of(&all, round), &ids_of(&all, round.saturating_sub(2))],
                )?;
            }
            self.check_pull("copy", &[&ids_of(&all, round)])?;
            killed[2] += self.kill_follower(&mut rng, &before, &ids_of(&all, round))?;
        }
        println!(
            "killed before the end: {} of {} pushes, {} pulls, {} followers; every index was one of the two \
             commits, whole, and every repetition succeeded",
            killed[0], self.times, killed[1], killed[2]
        );
        Ok(())
    }

    /// Adds the documents of a round; every third time the segments are merged.
    fn add_next(&self, round: u64, all: &mut Vec<String>) -> Result {
        let new: Vec<String> = (0..20).map(|number| format!("{round}-{number}")).collect();
        self.add("all", &new)?;
        all.extend(new);
        if round.is_multiple_of(3) { self.must(&["compact", "all"]) } else { Ok(()) }
    }

    fn push_next(&self, round: u64, all: &mut Vec<String>) -> Result {
        self.add_next(round, all)?;
        self.must(&["push", "all", &self.url])
    }

    /// Starts a command and kills it at a random moment; returns whether it had not ended.
    fn kill(&self, args: &[&str], rng: &mut Rng) -> Result<bool> {
        let mut child = self.command(args).spawn()?;
        std::thread::sleep(Duration::from_micros(rng.u64(..150_000)));
        child.kill()?;
        Ok(child.wait()?.code().is_none())
    }

    /// Pulls, and checks that the index is one of these.
    fn check_pull(&self, name: &str, expected: &[&BTreeSet<String>]) -> Result {
        self.must(&["pull", &self.url, name])?;
        check(&self.work.join(name), expected)
    }

    /// Starts a follower, kills it at a random moment, and starts it again.
    fn kill_follower(
        &self,
        rng: &mut Rng,
        before: &BTreeSet<String>,
        now: &BTreeSet<String>,
    ) -> Result<u64> {
        let cache = self.work.join("cache");
        let url = self.url.as_str();
        let args = [
            "serve",
            "cache",
            "--listen",
            "127.0.0.1:0",
            "--follow",
            url,
            "--follow-interval",
            "5ms",
        ];
        let killed = u64::from(self.kill(&args, rng)?);
        let service = Running::start(
            &self.cento,
            &cache,
            &["--follow", url, "--follow-interval", "5ms", "--log", "json"],
        )?;
        let client = Client::new(&service.url, None)?;
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let documents = client.stats()?.index.documents;
            if documents == now.len() as u64 {
                return Ok(killed);
            }
            if documents != before.len() as u64 && documents > now.len() as u64 {
                return Err(format!("a follower serves {documents} documents").into());
            }
            if Instant::now() > until {
                return Err("a follower does not come to the newest commit".into());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// The ids of all rounds until this one.
fn ids_of(all: &[String], round: u64) -> BTreeSet<String> {
    all.iter().take(20 * (round as usize + 1)).cloned().collect()
}

/// Checks that the index is whole, and one of these.
fn check(path: &Path, expected: &[&BTreeSet<String>]) -> Result {
    let problems = Index::open(path)?.check()?.problems;
    if !problems.is_empty() {
        return Err(format!("{}: {problems:?}", path.display()).into());
    }
    let found = ids(path)?;
    match expected.contains(&&found) {
        true => Ok(()),
        false => Err(format!("{}: {} documents, of no commit", path.display(), found.len()).into()),
    }
}

/// The ids of all documents.
fn ids(path: &Path) -> Result<BTreeSet<String>> {
    let snapshot = Index::open(path)?.snapshot()?;
    Ok(snapshot.live().map(|address| snapshot.id(address)).collect::<cento::Result<_>>()?)
}
