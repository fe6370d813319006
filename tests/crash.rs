//! Power cuts at every change of the directory: the last acknowledged commit is there, whole.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use cento::Result;
use cento::index::{Index, WriterOptions};
use common::sim::SimDirectory;
use common::{Model, add, assert_holds, config, words};

/// What the index may hold after a crash.
struct Story {
    /// What the last acknowledged step left.
    acknowledged: Option<Model>,
    /// What the step under way would leave.
    under_way: Model,
}

/// Creates an index, commits thrice with replaced and removed documents, and compacts.
fn run(directory: &SimDirectory, story: &mut Story) -> Result<()> {
    let index = Index::create_in(directory.clone(), "sim", config())?;
    story.acknowledged = Some(Model::new());
    let mut writer = index.writer(WriterOptions::default())?;
    for commit in 0..3u64 {
        let mut next = story.under_way.clone();
        for doc in 0..4 {
            // Of four documents one is new, and three replace others from the second commit on.
            let id = format!("doc{}", if doc == 0 { 100 + commit } else { doc });
            next.insert(id, words(commit * 10 + doc, 60));
        }
        let removed = format!("doc{}", 99 + commit);
        next.remove(&removed);
        story.under_way = next;
        for (id, text) in story.under_way.clone() {
            add(&mut writer, &id, &text)?;
        }
        writer.remove(&removed)?;
        writer.commit()?;
        story.acknowledged = Some(story.under_way.clone());
    }
    writer.finish()?;
    index.compact(1)?;
    let snapshot = index.snapshot()?;
    assert_eq!(snapshot.segments().len(), 1);
    assert_holds(&index, &story.under_way);
    Ok(())
}

fn check_after_crash(directory: &SimDirectory, story: &Story, what: &str) {
    let index = match Index::open_in(directory.clone(), "sim") {
        Ok(index) => index,
        Err(error) => {
            assert!(story.acknowledged.is_none(), "{what}: {error}");
            return;
        }
    };
    let found = common::contents(&index.snapshot().unwrap());
    let is_last = story.acknowledged.as_ref() == Some(&found);
    assert!(is_last || found == story.under_way, "{what}: neither this commit nor the one before");
    assert_holds(&index, &found);
    // It goes on from here, also when the crash left files that nobody knows.
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    add(&mut writer, "after", &words(99, 30)).unwrap();
    writer.finish().unwrap();
    let mut expected = found;
    expected.insert("after".into(), words(99, 30));
    assert_holds(&index, &expected);
    index.compact(1).unwrap();
    assert_holds(&index, &expected);
}

#[test]
fn a_power_cut_at_any_change_leaves_a_whole_commit() {
    let mut at = 0;
    loop {
        let directory = SimDirectory::new();
        directory.fail_after(at);
        let mut story = Story { acknowledged: None, under_way: Model::new() };
        let outcome = run(&directory, &mut story);
        assert_eq!(directory.deleted_too_early(), Vec::<std::path::PathBuf>::new());
        for seed in 0..3 {
            let after = directory.after_power_cut(seed);
            check_after_crash(&after, &story, &format!("change {at}, seed {seed}"));
        }
        if outcome.is_ok() && !directory.has_failed() {
            break;
        }
        at += 1;
    }
    assert!(at > 50, "only {at} changes: the test does not see what is written");
}

#[test]
fn a_writer_whose_commit_failed_refuses_everything() {
    let directory = SimDirectory::new();
    let index = Index::create_in(directory.clone(), "sim", config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    add(&mut writer, "a", &words(1, 50)).unwrap();
    directory.fail_after(2);
    assert!(writer.commit().is_err());
    assert!(add(&mut writer, "b", &words(2, 50)).is_err());
    assert!(writer.commit().is_err());
    assert!(writer.remove("a").is_err());
}
