//! Judges the state that a run leaves when it is interrupted, or when a system call fails, at any
//! operation.
//!
//! strace records a run of the real program on the real file system. For every n, the states that a
//! power cut after the n-th change may leave are then rebuilt and judged. Each state must be sound
//! and contain the acknowledged or the pending contents, and repeating the run must complete the
//! work, even if the repetition is interrupted too. ALICE (Pillai et al. 2014) and CrashMonkey
//! (Mohan et al. 2018) use the same method. Finally, the n-th call of each kind is made to fail.

mod errors;
mod judge;
mod model;
mod record;
mod scenario;
mod trace;

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashSet};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use clap::Args;
use fastrand::Rng;

use crate::Result;
use errors::{FAULTS, Outcome};
use judge::{Judge, Judged, Program, look};
use model::{Change, Tree, Way, read_tree, write_tree};
use record::{Recording, TRACED};
use scenario::{Contents, INDEX, Scenario};

/// Cut runs off, and refuse them calls, at every operation.
#[derive(Debug, Args)]
pub struct Faults {
    /// The program.
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
    /// Threads.
    #[arg(long, default_value = "2")]
    jobs: usize,
}

/// The number of the first [`Way`] that is a seed.
const FIRST_SEED: u64 = 5;

#[derive(Debug, Default)]
struct Tally {
    changes: usize,
    merges: usize,
    states: usize,
    last: usize,
    under_way: usize,
    absent: usize,
    repeated: usize,
    second: usize,
    errors: usize,
    refused: usize,
    bad: Vec<String>,
}

/// A point of the run where the allowed contents of the index change.
struct Milestone {
    /// The number of changes before the contents are visible.
    from: usize,
    /// The number of changes before the contents are acknowledged.
    durable: usize,
    contents: Option<Contents>,
    segments: usize,
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
        bench.crash(&mut tally);
        if !self.broken_sync && self.at.is_none() {
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

/// Finds the contents of the index during the recorded run, with the first change of each.
fn milestones(recording: &Recording, dir: &Path, writes_beside: bool) -> Result<Vec<Milestone>> {
    let mut disk = recording.disk(false)?;
    let mut found: Vec<Milestone> = Vec::new();
    for from in 0..=recording.changes.len() {
        let mut durable = 0;
        if let Some(at) = from.checked_sub(1) {
            disk.change(&recording.changes[at]);
            // Contents that no sync makes durable are acknowledged by the end of the run.
            durable = recording.durable_after(at).unwrap_or(recording.changes.len());
            let is_list = match &recording.changes[at] {
                Change::Names(names) => {
                    names.iter().any(|(_, name, _)| name == "meta.json" || name == INDEX)
                }
                _ => false,
            };
            if !is_list && !writes_beside {
                continue;
            }
            // The contents of a directory are no more durable than the directory.
            durable = durable.max(found.last().map_or(0, |before| before.durable));
        }
        write_tree(dir, &disk.after(Way::Killed))?;
        let (contents, segments) = look(dir)?.map_or((None, 0), |(c, s)| (Some(c), s));
        if writes_beside && found.last().is_some_and(|before| before.contents == contents) {
            continue;
        }
        found.push(Milestone { from, durable, contents, segments });
    }
    Ok(found)
}

/// Checks that the index went through the expected contents during the run.
fn check_story(scenario: &Scenario, milestones: &[Milestone], was_there: bool) -> Judged {
    let mut last = None;
    for (number, milestone) in milestones.iter().enumerate() {
        let Some(contents) = &milestone.contents else {
            match last.is_none() && !was_there {
                true => continue,
                false => return Err(format!("{}: the index went away", scenario.name)),
            }
        };
        let place = scenario.story.iter().rposition(|story| story == contents);
        if place.is_none() || place < last {
            return Err(format!("{}: commit {number} is not as it should be", scenario.name));
        }
        last = place;
    }
    match last.is_some_and(|last| last + 1 == scenario.story.len()) {
        true => Ok(()),
        false => Err(format!("{}: the run did not come to its end", scenario.name)),
    }
}

/// Returns the allowed contents of the index after `n` changes: the last acknowledged contents and
/// all later contents.
fn allowed(milestones: &[Milestone], n: usize) -> Vec<Option<Contents>> {
    let is_acknowledged = |milestone: &Milestone| milestone.durable <= n;
    let first = milestones.iter().rposition(is_acknowledged).unwrap_or(0);
    let begun = milestones[first..].iter().take_while(|milestone| milestone.from <= n);
    begun.map(|milestone| milestone.contents.clone()).collect()
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
    /// Judges the states that crashes after each change leave.
    fn crash(&self, tally: &mut Tally) {
        let seen = Mutex::new(HashSet::new());
        let shared = Mutex::new(tally);
        self.in_parallel(
            &|job, jobs| {
                let mut disk =
                    self.recording.disk(self.options.broken_sync).map_err(|e| e.to_string())?;
                for n in 0..=self.recording.changes.len() {
                    if let Some(at) = n.checked_sub(1) {
                        disk.change(&self.recording.changes[at]);
                    }
                    if n % jobs != job || self.options.at.is_some_and(|at| at != n) {
                        continue;
                    }
                    let allowed = allowed(&self.milestones, n);
                    for way in 0..FIRST_SEED + self.options.seeds {
                        let wanted = self.options.seed.filter(|_| self.options.at.is_some());
                        if wanted.is_some_and(|wanted| wanted != way) {
                            continue;
                        }
                        let tree = disk.after(Way::number(way));
                        let mut hasher = DefaultHasher::new();
                        (&tree, &allowed).hash(&mut hasher);
                        let mut seen = locked(&seen);
                        if !seen.insert(hasher.finish()) {
                            continue;
                        }
                        let repeats = seen.len().is_multiple_of(self.options.repeat_every.max(1))
                            || wanted.is_some()
                            || n == self.recording.changes.len();
                        drop(seen);
                        let judged = self.judge_state(&tree, &allowed, job, n, repeats);
                        let mut tally = locked(&shared);
                        tally.states += 1;
                        tally.repeated += usize::from(repeats);
                        match judged {
                            Ok(place) if allowed[place].is_none() => tally.absent += 1,
                            Ok(place) if allowed[place] == allowed[0] => tally.last += 1,
                            Ok(_) => tally.under_way += 1,
                            Err(what) => tally.bad.push(self.told(n, way, &what)),
                        }
                    }
                }
                Ok(())
            },
            &shared,
        );
    }

    fn told(&self, n: usize, way: u64, what: &str) -> String {
        let after = n.checked_sub(1).map_or("nothing", |at| &self.recording.told[at]);
        let verb = self.judge.scenario.name;
        format!("BAD --verb {verb} --at {n} --seed {way}, after `{after}`: {what}")
    }

    fn judge_state(
        &self,
        tree: &Tree,
        allowed: &[Option<Contents>],
        job: usize,
        n: usize,
        repeats: bool,
    ) -> Judged<usize> {
        let dir = self.work.join(format!("job{job}"));
        write_tree(&dir, tree).map_err(|e| e.to_string())?;
        let place = self.judge.place(&dir, allowed)?;
        if n == self.recording.changes.len() {
            let whole = self.judge.outputs_are_whole(&dir);
            whole.map_err(|what| format!("the run has ended, but {what}"))?;
        }
        if repeats {
            self.judge.repeat(&dir)?;
        }
        Ok(place)
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
        let mut disk = self.recording.disk(false).map_err(failed)?;
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
            let mut disk = again.disk(false).map_err(failed)?;
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
    println!(
        "| run | changes | merges | crash states | last commit | commit under way | before the first | \
         repeated | second crashes | faults | refused | bad |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut all: BTreeMap<usize, usize> = BTreeMap::new();
    for (name, tally) in tallies {
        let Tally { changes, merges, states, last, under_way, absent, .. } = tally;
        let Tally { repeated, second, errors, refused, bad, .. } = tally;
        let numbers = [
            *changes,
            *merges,
            *states,
            *last,
            *under_way,
            *absent,
            *repeated,
            *second,
            *errors,
            *refused,
            bad.len(),
        ];
        for (column, number) in numbers.iter().enumerate() {
            *all.entry(column).or_default() += number;
        }
        println!("| {name} | {} |", numbers.map(|number| number.to_string()).join(" | "));
    }
    let all: Vec<String> = all.values().map(ToString::to_string).collect();
    println!("| all | {} |", all.join(" | "));
}
