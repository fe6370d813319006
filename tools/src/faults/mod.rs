//! Judges the state that a run leaves when it is interrupted, or when a system call fails, at any
//! operation.
//!
//! strace records a run of the real program on the real file system. For every n, the states that a
//! power cut after the n-th change may leave are then rebuilt and judged. Each state must be sound
//! and contain the acknowledged or the pending contents, and repeating the run must complete the
//! work, even if the repetition is interrupted too. ALICE (Pillai et al. 2014) and CrashMonkey
//! (Mohan et al. 2018) use the same method. Finally, the n-th call of each kind is made to fail.

mod cuts;
mod errors;
mod judge;
mod model;
mod record;
mod scenario;
mod story;
mod trace;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use clap::Args;
use fastrand::Rng;

use crate::Result;
use errors::{FAULTS, Outcome};
use judge::{Judge, Judged, Program};
use model::{LostSyncs, Tree, Way, read_tree, write_tree};
use record::{Recording, TRACED};
use scenario::{INDEX, Scenario};
use story::{Milestone, allowed, check_story, milestones};

/// Cut runs off, and refuse them calls, at every operation.
#[derive(Debug, Args)]
pub struct Faults {
    /// Path of the cento program to test.
    #[arg(long, default_value = "target/release/cento")]
    cento: PathBuf,
    /// A directory, best in memory, where each verb gets a new directory.
    #[arg(long)]
    work: PathBuf,
    /// The number of states of each power cut that are drawn, besides the four regular ones: all
    /// lost, names only, contents only, lengths only.
    #[arg(long, default_value = "3")]
    seeds: u64,
    /// One of all only.
    #[arg(long)]
    verb: Option<String>,
    /// Syncs do nothing: then there must be losses, and it is an error if no loss is found.
    #[arg(long)]
    broken_sync: bool,
    /// Each sync in turn does nothing: lists the syncs without which no judged state is bad.
    #[arg(long, conflicts_with = "broken_sync")]
    each_sync: bool,
    /// Crashes after one in this many changes, and after the last.
    #[arg(long, default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    every: u16,
    /// One in this many states is also judged by repeating the run.
    #[arg(long, default_value = "4")]
    repeat_every: usize,
    /// The number of repeated runs of a verb that are cut off again, each at three changes.
    #[arg(long, default_value = "16")]
    second: usize,
    /// No calls are made to fail.
    #[arg(long)]
    no_errors: bool,
    /// With --verb and --seed: only the state after this many changes, of the recording that is in
    /// --work.
    #[arg(long, requires_all = ["verb", "seed"])]
    at: Option<usize>,
    /// With --at: which state; 0 is a kill, 1 to 4 are regular, others are drawn.
    #[arg(long)]
    seed: Option<u64>,
    /// Number of threads to use.
    #[arg(long, default_value = "2")]
    jobs: usize,
}

/// The number of the first [`Way`] that is a seed.
const FIRST_SEED: u64 = 5;

#[derive(Debug, Default)]
struct Tally {
    changes: usize,
    merges: usize,
    kills: usize,
    power_cuts: usize,
    last: usize,
    under_way: usize,
    absent: usize,
    repeated: usize,
    second: usize,
    errors: usize,
    refused: usize,
    syncs: usize,
    needed: usize,
    bad: Vec<String>,
    /// The syncs without which no judged state is bad.
    idle: Vec<String>,
}

impl Tally {
    /// Counts a judged state by kind.
    fn count(&mut self, way: u64) {
        match way {
            0 => self.kills += 1,
            _ => self.power_cuts += 1,
        }
    }

    fn figures(&self) -> [(&'static str, usize); 14] {
        [
            ("changes", self.changes),
            ("merges", self.merges),
            ("kills", self.kills),
            ("power cuts", self.power_cuts),
            ("last commit", self.last),
            ("commit under way", self.under_way),
            ("before the first", self.absent),
            ("repeated", self.repeated),
            ("second crashes", self.second),
            ("faults", self.errors),
            ("refused", self.refused),
            ("syncs lost", self.syncs),
            ("noticed", self.needed),
            ("bad", self.bad.len()),
        ]
    }
}

impl Faults {
    pub(crate) fn run(self) -> Result {
        let is_there = Command::new("strace").arg("-V").stdout(Stdio::null()).status();
        if !is_there.is_ok_and(|status| status.success()) {
            return Err("this needs strace: install Debian's package of this name".into());
        }
        let path = self.cento.canonicalize();
        let path = path.map_err(|e| format!("{}: {e}", self.cento.display()))?;
        let program = Program { path };
        std::fs::create_dir_all(&self.work)?;
        let mut tallies = Vec::new();
        for scenario in scenario::all() {
            if self.verb.as_deref().is_none_or(|verb| verb == scenario.name) {
                let tally = self.run_one(&program, &scenario)?;
                tally.bad.iter().take(20).for_each(|bad| println!("{bad}"));
                tallies.push((scenario.name, tally));
            }
        }
        if tallies.is_empty() {
            return Err("there is no such verb".into());
        }
        print(&tallies);
        let bad: usize = tallies.iter().map(|(_, tally)| tally.bad.len()).sum();
        match (self.broken_sync, tallies.iter().find(|(_, tally)| tally.bad.is_empty())) {
            (false, _) if bad > 0 => Err(format!("{bad} states or faults ended badly").into()),
            (false, _) => Ok(()),
            (true, None) => {
                println!("control: without syncs {bad} states are bad, as it must be");
                Ok(())
            }
            (true, Some((verb, _))) => {
                Err(format!("control: {verb} loses nothing without syncs; they are not seen")
                    .into())
            }
        }
    }

    fn run_one(&self, program: &Program, scenario: &Scenario) -> Result<Tally> {
        let work = self.work.canonicalize()?.join(scenario.name);
        let record = work.join("record");
        let (before, log) = match self.at {
            Some(_) => (read_tree(&work.join("before"))?, work.join("record.log")),
            None => prepare(program, scenario, &work)?,
        };
        let judge = Judge::new(program, scenario, &record)?;
        let log = std::fs::read_to_string(log)?;
        let recording = Recording::new(before.clone(), &record.to_string_lossy(), &log)?;
        let milestones = milestones(&recording, &work.join("look"), scenario.writes_beside)?;
        check_story(scenario, &milestones, before.contains_key(INDEX))?;
        let bench = Bench { options: self, judge, recording, milestones, work };
        let mut tally = Tally { changes: bench.recording.changes.len(), ..Tally::default() };
        let merges = bench.milestones.windows(2).filter(|m| m[1].segments + 1 < m[0].segments);
        tally.merges = merges.count();
        if scenario.merges && tally.merges == 0 {
            return Err(format!("{}: no segments were merged", scenario.name).into());
        }
        let judged = bench.crash(&mut tally);
        if self.each_sync {
            bench.lose_each_sync(&judged, &mut tally);
        } else if !self.broken_sync && self.at.is_none() {
            bench.crash_again(&mut tally);
            if scenario.has_errors && !self.no_errors {
                bench.refuse(&before, &mut tally);
            }
        }
        Ok(tally)
    }
}

fn prepare(program: &Program, scenario: &Scenario, work: &Path) -> Result<(Tree, PathBuf)> {
    let record = work.join("record");
    let files = scenario.files.iter().map(|(name, text)| {
        let bytes = text.as_bytes().to_vec();
        ((*name).to_owned(), Some(bytes))
    });
    if work.exists() {
        std::fs::remove_dir_all(work)?;
    }
    write_tree(&record, &files.collect())?;
    for command in &scenario.setup {
        program.must(&record, &[], command)?;
    }
    let before = read_tree(&record)?;
    write_tree(&work.join("before"), &before)?;
    let log = work.join("record.log");
    trace(program, scenario, &record, &scenario.run, &log)?;
    Ok((before, log))
}

/// Runs a command in `dir` and writes its system calls to `log`.
fn trace(
    program: &Program,
    scenario: &Scenario,
    dir: &Path,
    command: &[&str],
    log: &Path,
) -> Judged {
    let (traced, log) = (format!("trace={TRACED}"), log.to_string_lossy());
    let mut strace = vec!["--seccomp-bpf", "-xx", "-s", "100000000", "-o", &log, "-e", &traced];
    if scenario.is_slow {
        // The delay makes checkpoints due, which are written five seconds after the previous
        // checkpoint began.
        strace.extend(["-e", "inject=rename,renameat:delay_exit=5200000:when=1..3"]);
    }
    program.must(dir, &strace, command)
}

struct Bench<'a> {
    options: &'a Faults,
    judge: Judge<'a>,
    recording: Recording,
    milestones: Vec<Milestone>,
    work: PathBuf,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bench<'_> {
    fn told(&self, n: usize, way: u64, what: &str) -> String {
        let after = n.checked_sub(1).map_or("nothing", |at| &self.recording.told[at]);
        let verb = self.judge.scenario.name;
        format!("BAD --verb {verb} --at {n} --seed {way}, after `{after}`: {what}")
    }

    /// Interrupts runs that repeat an interrupted run.
    fn crash_again(&self, tally: &mut Tally) {
        let next = AtomicUsize::new(0);
        let shared = Mutex::new(tally);
        self.in_parallel(
            &|job, _| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= self.options.second {
                        return Ok(());
                    }
                    self.crash_again_once(number, job, &shared)?;
                }
            },
            &shared,
        );
    }

    fn crash_again_once(&self, number: usize, job: usize, shared: &Mutex<&mut Tally>) -> Judged {
        let failed = |e: Box<dyn std::error::Error>| e.to_string();
        let scenario = self.judge.scenario;
        let mut rng = Rng::with_seed(number as u64);
        let n = self.recording.changes.len() * number / self.options.second;
        // Interruptions with an even number are kills, so the repeated run sees unsynced changes.
        let way = if number.is_multiple_of(2) { 0 } else { rng.u64(1..FIRST_SEED + 8) };
        let mut disk = self.recording.disk(LostSyncs::None).map_err(failed)?;
        self.recording.changes[..n].iter().for_each(|change| disk.change(change));
        let before = disk.after(Way::number(way));
        let dir = self.work.join(format!("job{job}"));
        write_tree(&dir, &before).map_err(failed)?;
        let plan = scenario.repeat(&dir, dir.join(INDEX).join("meta.json").exists());
        let Some(command) = plan.first() else { return Ok(()) };
        let log = self.work.join(format!("job{job}.log"));
        if let Err(what) = trace(self.judge.program, scenario, &dir, command, &log) {
            let bad = self.told(n, way, &format!("repeated: {what}"));
            locked(shared).bad.push(bad);
            return Ok(());
        }
        let log = std::fs::read_to_string(log).map_err(|e| e.to_string())?;
        let root = dir.to_string_lossy();
        let (again, from) = match way {
            0 => (self.recording.go_on(n, &root, &log).map_err(failed)?, n),
            _ => (Recording::new(before, &root, &log).map_err(failed)?, 0),
        };
        let milestones =
            milestones(&again, &self.work.join(format!("look{job}")), scenario.writes_beside)
                .map_err(failed)?;
        let is_known = |milestone: &Milestone| {
            milestone.contents.as_ref().is_none_or(|contents| scenario.allows(contents))
        };
        if !milestones.iter().all(is_known) {
            locked(shared).bad.push(self.told(n, way, "repeated: a commit is not as it should be"));
        }
        for _ in 0..3 {
            let (m, second) = (rng.usize(from..=again.changes.len()), rng.u64(..FIRST_SEED + 8));
            let mut disk = again.disk(LostSyncs::None).map_err(failed)?;
            again.changes[..m].iter().for_each(|change| disk.change(change));
            write_tree(&dir, &disk.after(Way::number(second))).map_err(failed)?;
            let judged = self.judge.place(&dir, &allowed(&milestones, m));
            let judged = judged.and_then(|_| self.judge.repeat(&dir));
            let mut tally = locked(shared);
            tally.second += 1;
            if let Err(what) = judged {
                let what = format!("and again after {m} changes, --seed {second}: {what}");
                tally.bad.push(self.told(n, way, &what));
            }
        }
        Ok(())
    }

    fn refuse(&self, before: &Tree, tally: &mut Tally) {
        let next = AtomicUsize::new(0);
        let shared = Mutex::new(tally);
        self.in_parallel(
            &|job, _| {
                let dir = self.work.join(format!("job{job}"));
                loop {
                    let Some(&fault) = FAULTS.get(next.fetch_add(1, Ordering::Relaxed)) else {
                        return Ok(());
                    };
                    for n in 1..errors::CALLS_MAX {
                        let failed = errors::fail(&self.judge, before, &dir, fault, n);
                        let mut tally = locked(&shared);
                        match failed {
                            Ok(Outcome::NoFault) => break,
                            Ok(outcome) => {
                                tally.errors += 1;
                                tally.refused += usize::from(outcome == Outcome::Refused);
                            }
                            Err(what) => {
                                let (verb, (calls, error)) = (self.judge.scenario.name, fault);
                                tally.errors += 1;
                                let bad =
                                    format!("BAD {verb}, {error} at {calls} number {n}: {what}");
                                tally.bad.push(bad);
                            }
                        }
                    }
                }
            },
            &shared,
        );
    }

    /// Runs `work` on several threads and records an error of a thread as a finding.
    fn in_parallel(
        &self,
        work: &(dyn Fn(usize, usize) -> Judged + Sync),
        tally: &Mutex<&mut Tally>,
    ) {
        let jobs = self.options.jobs.max(1);
        std::thread::scope(|scope| {
            for job in 0..jobs {
                scope.spawn(move || {
                    if let Err(what) = work(job, jobs) {
                        let bad = format!("BAD {}: {what}", self.judge.scenario.name);
                        locked(tally).bad.push(bad);
                    }
                });
            }
        });
    }
}

fn print(tallies: &[(&str, Tally)]) {
    let row = |cells: Vec<String>| println!("| {} |", cells.join(" | "));
    let names = Tally::default().figures().map(|(name, _)| name);
    row([&["run"], &names[..]].concat().iter().map(ToString::to_string).collect());
    println!("|---{}|", "|---:".repeat(names.len()));
    let mut all = names.map(|_| 0);
    for (name, tally) in tallies {
        let figures = tally.figures().map(|(_, figure)| figure);
        all.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
        row([(*name).to_owned()].into_iter().chain(figures.map(|f| f.to_string())).collect());
    }
    row(["all".to_owned()].into_iter().chain(all.map(|sum| sum.to_string())).collect());
    tallies.iter().flat_map(|(_, tally)| &tally.idle).for_each(|idle| println!("{idle}"));
}
