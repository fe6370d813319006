//! Injects a fault at every operation on the directory. The last acknowledged commit must survive
//! whole.
//!
//! The faults are power cuts, kills, full disks, failed writes and failed syncs, at operation 0, 1,
//! 2, ... until a run gets by without a fault. After each fault the index is opened, written to and
//! compacted, with a second power cut in the middle. Trying every operation takes minutes:
//!
//!     CENTO_FAULT_SEEDS=10 cargo test --release --test crash -- --nocapture
//!
//! with ten outcomes per power cut. Without the variable, only some operations are tried, with a
//! single outcome.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::common::sim::{Fault, SimDirectory};
use crate::common::{Model, config, document, holds, words};
use cento::Stop;
use cento::hash::mix64;
use cento::index::SignedDocument;
use cento::index::{Config, Index, Training, Writer, WriterOptions};
use cento::scheme::frequency::FrequencyTable;
use cento::{Reason, Result};
use cento_collections::withdraw::{Plan, WithdrawOptions};

/// A sequence of operations on an index with this configuration.
type Run = fn(&SimDirectory, fn() -> Config, &mut Story) -> Result<()>;

struct Scenario {
    name: &'static str,
    config: fn() -> Config,
    run: Run,
}

/// The states that are allowed after a fault.
struct Story {
    /// The state after the last acknowledged step.
    acknowledged: Option<Model>,
    /// The state after the current step.
    under_way: Model,
}

impl Story {
    fn new() -> Story {
        Story { acknowledged: None, under_way: Model::new() }
    }
}

fn add(writer: &mut Writer, id: &str, text: &str) -> Result<()> {
    let signed = SignedDocument::new(document(id, text), writer.index().config(), Stop::NEVER)?;
    writer.add_signed(signed).map(|_| ())
}

/// Adds missing documents of the current step, removes `removed`, and commits.
fn commit(writer: &mut Writer, story: &mut Story, removed: &str) -> Result<()> {
    for (id, text) in story.under_way.clone() {
        add(writer, &id, &text)?;
    }
    writer.remove(removed)?;
    writer.commit()?;
    story.acknowledged = Some(story.under_way.clone());
    Ok(())
}

/// Creates an index, commits three times with replaced and removed documents, and compacts.
fn live(directory: &SimDirectory, config: fn() -> Config, story: &mut Story) -> Result<()> {
    let index = Index::create_in(directory.clone(), "sim", config())?;
    story.acknowledged = Some(Model::new());
    let mut writer = index.writer(WriterOptions::default())?;
    for round in 0..3u64 {
        for doc in 0..4 {
            // One of four documents is new. From the second commit on, the rest replace documents.
            let id = format!("doc{}", if doc == 0 { 100 + round } else { doc });
            story.under_way.insert(id, words(round * 10 + doc, 60));
        }
        let removed = format!("doc{}", 99 + round);
        story.under_way.remove(&removed);
        commit(&mut writer, story, &removed)?;
    }
    writer.finish()?;
    index.compact(1)?;
    assert_eq!(index.snapshot()?.segments().len(), 1);
    Ok(())
}

/// Commits often enough to trigger merges of segments in the background.
fn merge(directory: &SimDirectory, config: fn() -> Config, story: &mut Story) -> Result<()> {
    let index = Index::create_in(directory.clone(), "sim", config())?;
    story.acknowledged = Some(Model::new());
    let mut writer = index.writer(WriterOptions::default())?;
    for round in 0..9u64 {
        story.under_way.insert(format!("doc{round}"), words(round, 40));
        let removed = if round == 8 { "doc3" } else { "" };
        story.under_way.remove(removed);
        commit(&mut writer, story, removed)?;
    }
    writer.finish()?;
    if !directory.has_failed() {
        assert!(index.merges() >= 8, "{} segments were merged", index.merges());
    }
    Ok(())
}

/// Withdraws a document that has a copy and is quoted by another document.
fn withdraw(directory: &SimDirectory, config: fn() -> Config, story: &mut Story) -> Result<()> {
    let index = Index::create_in(directory.clone(), "sim", config())?;
    story.acknowledged = Some(Model::new());
    let mut writer = index.writer(WriterOptions::default().merge(false))?;
    let own = words(1, 60);
    for (id, text) in [(WITHDRAWN, own.clone()), ("other", words(3, 60)), ("copy", own.clone())] {
        story.under_way.insert(id.into(), text);
        commit(&mut writer, story, "")?;
    }
    story.under_way.insert(QUOTING.into(), format!("{} {own}", words(2, 60)));
    commit(&mut writer, story, "")?;
    let stop = Stop::default();
    let plan = Plan::new(writer.committed()?, WITHDRAWN, &WithdrawOptions::default(), &stop)?;
    story.under_way.remove(WITHDRAWN);
    story.under_way.remove("copy");
    plan.apply(&mut writer, &stop)?;
    story.acknowledged = Some(story.under_way.clone());
    assert!(!index.has_removed_documents()?);
    writer.finish()
}

/// A withdrawn document, and a document with a quotation.
const WITHDRAWN: &str = "withdrawn";
const QUOTING: &str = "quoting";

/// Checks that a document is refused exactly if it was withdrawn.
fn check_refused(index: &Index, model: &Model) -> std::result::Result<(), String> {
    let are_any = !index.withdrawals().map_err(|e| e.to_string())?.is_empty();
    let is_gone = model.contains_key(QUOTING) && !model.contains_key(WITHDRAWN);
    match are_any == is_gone {
        true => Ok(()),
        false => Err(format!("refused: {are_any}, but gone: {is_gone}")),
    }
}

/// Creates an index with a frequency table, and adds a document.
fn create(directory: &SimDirectory, config: fn() -> Config, story: &mut Story) -> Result<()> {
    let index = Index::create_in(directory.clone(), "sim", config())?;
    story.acknowledged = Some(Model::new());
    let mut writer = index.writer(WriterOptions::default())?;
    story.under_way.insert("a".into(), words(1, 40));
    commit(&mut writer, story, "")?;
    writer.finish()
}

pub fn config_with_table() -> Config {
    static TABLE: OnceLock<Arc<FrequencyTable>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let analyzer = "chars".parse().unwrap();
        let training = Training { analyzer, q: 3, spex: false };
        let mut texts = |add: &mut dyn FnMut(&str) -> Result<()>| add(&words(1, 300));
        Arc::new(training.write(&mut texts, &dir.path().join("table")).unwrap())
    });
    Config::with_frequencies("fbw(q=3,w=4)", "chars", true, Some(table.clone())).unwrap()
}

const SCENARIOS: [Scenario; 4] = [
    Scenario { name: "add, remove, compact", config, run: live },
    Scenario { name: "add with merges in the background", config, run: merge },
    Scenario { name: "withdraw", config, run: withdraw },
    Scenario { name: "create with a table", config: config_with_table, run: create },
];

/// The state of an index after a fault.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// Nothing was acknowledged, and the index could be created again.
    Created,
    LastCommit,
    CommitUnderWay,
}

/// The outcome, or a description of the damage.
type Judgement = std::result::Result<Outcome, String>;

/// Opens the index, or creates a missing index, adds a document and compacts. `found` gets the
/// documents that were in the index, and whether the new document was acknowledged.
fn reopen(
    directory: &SimDirectory,
    config: fn() -> Config,
    story: &Story,
    found: &mut Option<(Model, bool)>,
) -> Judgement {
    let (index, is_new) = match Index::open_in(directory.clone(), "sim") {
        Ok(index) => (index, false),
        Err(error) if story.acknowledged.is_some() => return Err(error.to_string()),
        Err(_) => {
            let created = Index::create_in(directory.clone(), "sim", config());
            (created.map_err(|e| format!("created again: {e}"))?, true)
        }
    };
    let snapshot = index.snapshot().map_err(|e| e.to_string())?;
    let mut model = crate::common::contents(&snapshot);
    let is_last = story.acknowledged.as_ref().is_some_and(|last| *last == model);
    if !is_last && model != story.under_way && !(is_new && model.is_empty()) {
        return Err("it is neither the last commit nor the one under way".into());
    }
    holds(&index, &model)?;
    check_refused(&index, &model)?;
    *found = Some((model.clone(), false));
    // The index can be written, even if the fault left stray files.
    let written = (|| {
        let mut writer = index.writer(WriterOptions::default())?;
        add(&mut writer, "after", &words(99, 30))?;
        writer.commit()?;
        model.insert("after".into(), words(99, 30));
        *found = Some((model.clone(), true));
        writer.finish()?;
        index.compact(1)
    })();
    written.map_err(|e: cento::Error| format!("written again: {e}"))?;
    holds(&index, &model)?;
    check_refused(&index, &model)?;
    let outcome = if is_last { Outcome::LastCommit } else { Outcome::CommitUnderWay };
    Ok(if is_new { Outcome::Created } else { outcome })
}

/// Judges the contents of `directory`, and then the contents after a power cut during the recovery.
fn judge(directory: &SimDirectory, scenario: &Scenario, story: &Story, seed: u64) -> Judgement {
    let second = directory.after_kill();
    directory.inject(Fault::PowerCut(usize::MAX));
    let outcome = reopen(directory, scenario.config, story, &mut None)?;
    let operations = directory.counted();
    second.inject(Fault::PowerCut(mix64(seed) as usize % operations));
    let mut found = None;
    let _ = reopen(&second, scenario.config, story, &mut found);
    let third = second.after_power_cut(seed);
    let twice = |what: String| format!("after a second power cut: {what}");
    let story = match found {
        None => {
            Story { acknowledged: story.acknowledged.clone(), under_way: story.under_way.clone() }
        }
        Some((model, true)) => Story { acknowledged: Some(model.clone()), under_way: model },
        Some((model, false)) => {
            let mut under_way = model.clone();
            under_way.insert("after".into(), words(99, 30));
            Story { acknowledged: Some(model), under_way }
        }
    };
    reopen(&third, scenario.config, &story, &mut None).map_err(twice)?;
    Ok(outcome)
}

/// The results of the faults of a kind.
#[derive(Default)]
struct Report {
    points: usize,
    outcomes: Vec<Outcome>,
    bad: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |wanted| self.outcomes.iter().filter(|outcome| **outcome == wanted).count();
        write!(
            f,
            "{} points, {} outcomes: {} last commit, {} commit under way, {} created again, {} bad",
            self.points,
            self.outcomes.len() + self.bad.len(),
            count(Outcome::LastCommit),
            count(Outcome::CommitUnderWay),
            count(Outcome::Created),
            self.bad.len()
        )
    }
}

/// The number of outcomes to try per power cut, or `None` for a short run.
fn seeds() -> Option<u64> {
    std::env::var("CENTO_FAULT_SEEDS").ok().map(|seeds| seeds.parse().unwrap())
}

/// Runs the scenario with the fault at operation 0, 1, 2, ... until the run gets by without a
/// fault. A short run tries one operation in `stride`.
fn every_fault(
    scenario: &Scenario,
    directory: fn() -> SimDirectory,
    fault: fn(usize) -> Fault,
    stride: usize,
) -> Report {
    let stride = if seeds().is_some() { 1 } else { stride };
    let (next, is_done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let report = Mutex::new(Report::default());
    let run = || {
        while !is_done.load(Ordering::Relaxed) {
            let at = stride * next.fetch_add(1, Ordering::Relaxed);
            let directory = directory();
            directory.inject(fault(at));
            let mut story = Story::new();
            let ran = (scenario.run)(&directory, scenario.config, &mut story);
            let (has_failed, counted) = (directory.has_failed(), directory.counted());
            let mut bad = Vec::new();
            if let (Err(error), false) = (&ran, has_failed) {
                bad.push(format!("it failed without a fault: {error}"));
            }
            if let (Err(error), true, Fault::NoSpace(_)) = (&ran, has_failed, fault(at))
                && error.reason() != Reason::StorageFull
            {
                bad.push(format!("the reason is no full disk: {error}"));
            }
            for path in directory.deleted_too_early() {
                bad.push(format!("{} was deleted too early", path.display()));
            }
            if !has_failed && counted <= at {
                is_done.store(true, Ordering::Relaxed);
            }
            directory.repair();
            let mut after = vec![("kill", directory.after_kill())];
            after.extend(
                (0..seeds().unwrap_or(1))
                    .map(|seed| ("power cut", directory.after_power_cut(mix64(at as u64) ^ seed))),
            );
            let mut outcomes = Vec::new();
            for (seed, (what, after)) in (0..).zip(after) {
                match judge(&after, scenario, &story, mix64(at as u64) ^ seed) {
                    Ok(outcome) => outcomes.push(outcome),
                    Err(error) => bad.push(format!("{what}, seed {seed}: {error}")),
                }
            }
            let mut report = report.lock().unwrap();
            report.points += 1;
            report.outcomes.extend(outcomes);
            let at = format!("{}, {:?}", scenario.name, fault(at));
            report.bad.extend(bad.into_iter().map(|what| format!("{at}: {what}")));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(run);
        run();
    });
    report.into_inner().unwrap()
}

fn assert_sound(fault: fn(usize) -> Fault, stride: usize) {
    for scenario in &SCENARIOS {
        let report = every_fault(scenario, SimDirectory::default, fault, stride);
        println!("{}, {:?}: {report}", scenario.name, fault(0));
        assert!(report.bad.is_empty(), "{:#?}", &report.bad[..report.bad.len().min(10)]);
        assert!(report.points > 2, "{} points: too few to cover the story", report.points);
    }
}

#[test]
fn a_power_cut_at_any_operation_leaves_a_whole_commit() {
    assert_sound(Fault::PowerCut, 23);
}

#[test]
fn a_full_disk_at_any_operation_leaves_a_whole_commit() {
    assert_sound(Fault::NoSpace, 37);
}

#[test]
fn a_failed_write_at_any_operation_leaves_a_whole_commit() {
    assert_sound(Fault::WriteError, 31);
}

#[test]
fn a_failed_sync_at_any_operation_leaves_a_whole_commit() {
    assert_sound(Fault::SyncError, 19);
}

#[test]
fn a_directory_whose_syncs_do_nothing_is_found_out() {
    // The control: without a difference here, the tests above would prove nothing.
    let report = every_fault(&SCENARIOS[0], SimDirectory::without_syncs, Fault::PowerCut, 29);
    println!("{}, without syncs: {report}", SCENARIOS[0].name);
    assert!(report.bad.len() > report.points / 4, "{report}");
}

#[test]
fn a_writer_whose_commit_failed_refuses_everything() {
    let directory = SimDirectory::default();
    let index = Index::create_in(directory.clone(), "sim", config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    add(&mut writer, "a", &words(1, 50)).unwrap();
    directory.inject(Fault::PowerCut(2));
    assert!(writer.commit().is_err());
    assert!(add(&mut writer, "b", &words(2, 50)).is_err());
    assert!(writer.commit().is_err());
    assert!(writer.remove("a").is_err());
    assert_eq!(directory.deleted_too_early(), Vec::<PathBuf>::new());
}

#[test]
fn a_commit_of_a_killed_writer_is_durable_before_the_next_builds_on_it() {
    // Once a merge was killed between renaming its list and syncing the directory. The repetition
    // found nothing to take and removed the shards. Then a power cut brought the old list back.
    let mut committed = 0;
    for at in 0.. {
        let directory = SimDirectory::default();
        let index = Index::create_in(directory.clone(), "sim", config()).unwrap();
        directory.inject(Fault::PowerCut(at));
        let written = (|| {
            let mut writer = index.writer(WriterOptions::default())?;
            add(&mut writer, "a", &words(1, 30))?;
            writer.commit()
        })();
        if written.is_ok() && !directory.has_failed() {
            break;
        }
        directory.repair();
        let after = directory.after_kill();
        let index = Index::open_in(after.clone(), "sim").unwrap();
        let found = crate::common::contents(&index.snapshot().unwrap());
        committed += usize::from(!found.is_empty());
        drop(index.writer(WriterOptions::default()).unwrap());
        for seed in 0..8 {
            let index = Index::open_in(after.after_power_cut(seed), "sim").unwrap();
            let left = crate::common::contents(&index.snapshot().unwrap());
            assert!(left == found, "operation {at}, seed {seed}: {:?}", left.keys());
        }
    }
    assert!(committed > 0, "no operation follows the rename of the list");
}
