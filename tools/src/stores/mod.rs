//! Tests that an object store loses nothing under races, kills and a misbehaving server.
//!
//! The tests run the command itself over any URL that the command accepts. Writers race to push.
//! Pushes, pulls and followers are killed at random moments, and the result is compared with the
//! acknowledged state. Followers are searched while a writer commits. A relay in front of the
//! server damages its answers.

mod damage;
mod load;
mod relay;

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

/// Race, kill and deceive pushes, pulls and followers of an object store.
#[derive(Debug, Args)]
pub struct Stores {
    /// The experiment to run.
    what: What,
    /// The store, which must be empty below NAME for each NAME that is done; credentials and
    /// endpoint come from the environment.
    url: String,
    /// A directory for indexes, which is made anew.
    #[arg(long)]
    work: PathBuf,
    /// Path of the cento program to test.
    #[arg(long, default_value = "target/release/cento")]
    cento: PathBuf,
    /// Commits that are to be acknowledged, or how many times each is killed.
    #[arg(long, default_value = "100")]
    times: u64,
    /// Writers that race for one store.
    #[arg(long, default_value = "8")]
    writers: u64,
    /// Followers that pull under load.
    #[arg(long, default_value = "3")]
    followers: u64,
    /// For how long followers are under load.
    #[arg(long, default_value = "600")]
    seconds: u64,
    /// The time between two commits meanwhile, in milliseconds.
    #[arg(long, default_value = "3000")]
    every_ms: u64,
    /// The time between two looks of a follower under load, in milliseconds.
    #[arg(long, default_value = "200")]
    interval_ms: u64,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Several writers push at the same time.
    Races,
    /// A push, a pull and a follower are killed.
    Kills,
    /// Followers are searched while a writer commits and compacts.
    Load,
    /// Objects are missing, damaged, or break off. Needs a server at AWS_ENDPOINT, over http.
    Damage,
    /// The server knows no conditions. Needs a server at AWS_ENDPOINT, over http.
    Conditions,
    /// All of these experiments, one after another.
    All,
}

impl Stores {
    pub(crate) fn run(mut self) -> Result {
        // Commands run in another directory.
        self.cento = self.cento.canonicalize()?;
        let url = self.url.trim_end_matches('/').to_owned();
        let url =
            if url.contains("://") { url } else { std::path::absolute(url)?.display().to_string() };
        let work = std::path::absolute(&self.work)?;
        type Do = fn(&Stores) -> Result;
        let all: [(What, &str, Do); 5] = [
            (What::Conditions, "conditions", Stores::conditions),
            (What::Damage, "damage", Stores::damage),
            (What::Races, "races", Stores::races),
            (What::Kills, "kills", Stores::kills),
            (What::Load, "load", Stores::load),
        ];
        for (what, name, run) in all {
            if what != self.what && self.what != What::All {
                continue;
            }
            self.work = work.join(name);
            self.url = format!("{url}/{name}");
            if self.work.exists() {
                std::fs::remove_dir_all(&self.work)?;
            }
            std::fs::create_dir_all(&self.work)?;
            run(&self).map_err(|error| format!("{name}: {error}"))?;
        }
        Ok(())
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

    fn must(&self, args: &[&str]) -> Result {
        let output = self.output(args)?;
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("{args:?}: {}", String::from_utf8_lossy(&output.stderr)).into()),
        }
    }

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
        self.must(&["store", "push", "first", &self.url])?;
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
        self.must(&["store", "pull", &self.url, "all"])?;
        let found = ids(&self.work.join("all"))?;
        if let Some(lost) = acknowledged.difference(&found).next() {
            return Err(format!("the commit of {lost} was acknowledged and is gone").into());
        }
        println!(
            "{} writers: {} commits were acknowledged, and all are there; {} were told that \
             another came first; {} documents in all; {seconds:.1} s",
            self.writers,
            kept.into_inner(),
            told.into_inner(),
            found.len()
        );
        Ok(())
    }

    /// Pulls, adds a document and pushes, until `times` commits have been acknowledged.
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
            // The pull fails if another writer pushed first, because the histories have diverged.
            if !self.output(&["store", "pull", &self.url, &index, "--force"])?.status.success() {
                std::fs::remove_dir_all(self.work.join(&index))?;
                self.must(&["store", "pull", &self.url, &index])?;
            }
            self.add(&index, std::slice::from_ref(&id))?;
            let output = self.output(&["store", "push", &index, &self.url])?;
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
        self.add_next(0, &mut all)?;
        // A push that is not killed takes about the same time.
        let begun = Instant::now();
        self.must(&["store", "push", "all", &self.url])?;
        let pushing = begun.elapsed();
        let begun = Instant::now();
        self.must(&["store", "pull", &self.url, "copy"])?;
        let pulling = begun.elapsed();
        let mut killed = [0; 3];
        for round in 1..=self.times {
            self.add_next(round, &mut all)?;
            let before = ids_of(&all, round - 1);
            killed[0] +=
                u64::from(self.kill(&["store", "push", "all", &self.url], pushing, &mut rng)?);
            self.check_pull("fresh", &[&before, &ids_of(&all, round)])?;
            std::fs::remove_dir_all(self.work.join("fresh"))?;
            // The next push must find the objects of the killed push although the index has changed
            // since.
            if round.is_multiple_of(2) {
                self.must(&["compact", "all"])?;
            }
            self.must(&["store", "push", "all", &self.url])?;
            killed[1] +=
                u64::from(self.kill(&["store", "pull", &self.url, "copy"], pulling, &mut rng)?);
            let copy = self.work.join("copy");
            if Index::exists(&copy) {
                check(
                    &copy,
                    &[&before, &ids_of(&all, round), &ids_of(&all, round.saturating_sub(2))],
                )?;
            }
            self.check_pull("copy", &[&ids_of(&all, round)])?;
            killed[2] +=
                self.kill_follower(pulling * 2, &mut rng, &before, &ids_of(&all, round))?;
        }
        println!(
            "killed before the end: {} of {} pushes, {} pulls, {} followers; every index was one \
             of the two commits, whole, and every repetition succeeded",
            killed[0], self.times, killed[1], killed[2]
        );
        Ok(())
    }

    /// Adds the documents of a round, and merges the segments in every third round.
    fn add_next(&self, round: u64, all: &mut Vec<String>) -> Result {
        let new: Vec<String> = (0..20).map(|number| format!("{round}-{number}")).collect();
        self.add("all", &new)?;
        all.extend(new);
        if round.is_multiple_of(3) { self.must(&["compact", "all"]) } else { Ok(()) }
    }

    /// Starts a command and kills it at a random moment within this time. Returns whether the
    /// command was still running.
    fn kill(&self, args: &[&str], within: Duration, rng: &mut Rng) -> Result<bool> {
        let mut child = self.command(args).spawn()?;
        std::thread::sleep(within.mul_f64(rng.f64()));
        child.kill()?;
        Ok(child.wait()?.code().is_none())
    }

    /// Pulls, and checks that the index has an expected set of ids.
    fn check_pull(&self, name: &str, expected: &[&BTreeSet<String>]) -> Result {
        self.must(&["store", "pull", &self.url, name])?;
        check(&self.work.join(name), expected)
    }

    /// Starts a follower, kills the follower at a random moment, and starts the follower again.
    fn kill_follower(
        &self,
        within: Duration,
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
        let killed = u64::from(self.kill(&args, within, rng)?);
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
            if documents != before.len() as u64 {
                return Err(format!("a follower serves {documents} documents").into());
            }
            if Instant::now() > until {
                return Err("a follower does not come to the newest commit".into());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Returns the ids of all rounds up to `round`.
fn ids_of(all: &[String], round: u64) -> BTreeSet<String> {
    all.iter().take(20 * (round as usize + 1)).cloned().collect()
}

/// Checks that the index is sound and has an expected set of ids.
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

fn ids(path: &Path) -> Result<BTreeSet<String>> {
    let snapshot = Index::open(path)?.snapshot()?;
    Ok(snapshot.live().map(|address| snapshot.id(address)).collect::<cento::Result<_>>()?)
}
