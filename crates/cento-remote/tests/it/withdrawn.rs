//! Is a withdrawn text gone, whatever was pulled, cut off and pushed?

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use cento::{Error, Index, Stop, WriterOptions};
use cento_collections::withdraw::{self, Plan, WithdrawOptions, Withdrawal};
use cento_remote::{Progress, PullOptions, PushOptions, Remote, Retention, Watch};
use cento_testing::raw::files_with;

use super::{Dirs, add, assert_has, memory, names, pull, push, remote, text, unwatched};

fn withdraw(index: &Index, id: &str) -> Withdrawal {
    let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
    let options = WithdrawOptions::default();
    let plan = Plan::new(writer.committed().unwrap(), id, &options, Stop::NEVER).unwrap();
    let withdrawal = plan.apply(&mut writer, Stop::NEVER).unwrap();
    writer.finish().unwrap();
    withdrawal
}

/// Returns a stop, and a progress callback that sets it after this number of parts, if given.
pub fn stop_after(parts: Option<usize>) -> (Stop, impl Fn(Progress) + Sync) {
    let (stop, arrived) = (Stop::new(), AtomicUsize::new(0));
    let set = stop.clone();
    let progress = move |_| {
        if Some(arrived.fetch_add(1, Ordering::Relaxed) + 1) == parts {
            set.set();
        }
    };
    (stop, progress)
}

/// Pulls a manifest by force, and stops after this number of parts.
fn cut_off(remote: &Remote, manifest: u64, dir: &Path, parts: usize) {
    let (stop, progress) = stop_after(Some(parts));
    let options = PullOptions {
        manifest: Some(manifest),
        force: true,
        parallel: 1,
        ..PullOptions::default()
    };
    let watch = Watch { progress: &progress, stop: &stop };
    assert!(matches!(remote.pull(dir, &options, watch), Err(Error::Cancelled)));
}

#[test]
fn a_refused_pull_has_fetched_nothing() {
    // All files had arrived before the withdrawals were compared, and stayed.
    let dirs = Dirs::new();
    let remote = remote(&memory());
    let index = add(&dirs.path("a"), 0..4);
    push(&remote, &index).unwrap();
    withdraw(&index, "1");
    push(&remote, &index).unwrap();
    pull(&remote, &dirs.path("b")).unwrap();
    assert_eq!(remote.restore(1, true).unwrap(), 3);
    let before = names(&dirs.path("b"));
    let error = pull(&remote, &dirs.path("b")).unwrap_err().to_string();
    assert!(error.contains("manifest 3 does not refuse `1`"), "{error}");
    assert_eq!(names(&dirs.path("b")), before);
    assert_eq!(files_with(&dirs.path("b"), &text(1)).len(), 0);
    assert_has(&dirs.path("b"), [0, 2, 3]);
}

#[test]
fn a_damaged_newest_manifest_does_not_bring_a_withdrawn_document_back() {
    // Then nothing was compared, so the document came back without a word.
    let dirs = Dirs::new();
    let remote = Remote::open(dirs.path("store").to_str().unwrap(), []).unwrap();
    let index = add(&dirs.path("a"), 0..4);
    push(&remote, &index).unwrap();
    withdraw(&index, "1");
    push(&remote, &index).unwrap();
    withdraw(&index, "2");
    push(&remote, &index).unwrap();
    let older = |number| PullOptions { manifest: Some(number), ..PullOptions::default() };
    let refused = |number: u64, id: &str| {
        for error in [
            remote.pull(&dirs.path("copy"), &older(number), unwatched()).unwrap_err(),
            remote.restore(number, false).unwrap_err(),
        ] {
            let expected = format!("manifest {number} does not refuse `{id}`");
            assert!(error.to_string().contains(&expected), "{error}");
        }
        assert!(!dirs.path("copy").exists());
    };
    let damage = |number: u64| {
        let path = dirs.path("store").join(format!("manifests/{number:020}.json"));
        File::options().write(true).open(path).unwrap().set_len(10).unwrap();
    };
    refused(1, "1");
    // Only this manifest lists the second withdrawal, whose file is still there.
    damage(3);
    refused(2, "2");
    refused(1, "1");
    damage(2);
    refused(1, "1");
    assert_eq!(remote.restore(1, true).unwrap(), 4);
}

#[test]
fn what_a_cut_off_pull_has_left_is_named_and_the_next_writer_removes_it() {
    // `check` was clean, the check of the record called the text gone, and every writer left the
    // text.
    let dirs = Dirs::new();
    let remote = remote(&memory());
    let index = add(&dirs.path("a"), 0..30);
    remote.push(&index, &PushOptions::default(), unwatched()).unwrap();
    let record = withdraw(&index, "1");
    push(&remote, &index).unwrap();
    let mut whole_texts = 0;
    // The index has seven files, of a part each.
    for parts in 1..=6 {
        let dir = dirs.path(&parts.to_string());
        pull(&remote, &dir).unwrap();
        let before = names(&dir);
        cut_off(&remote, 1, &dir, parts);
        let left: Vec<String> =
            names(&dir).into_iter().filter(|name| !before.contains(name)).collect();
        assert!(!left.is_empty());
        whole_texts += files_with(&dir, &text(1)).len();
        let copy = Index::open(&dir).unwrap();
        let report = copy.check().unwrap();
        assert_eq!((report.problems.len(), &report.unlisted), (0, &left));
        let problems = withdraw::check(&copy, &record, Stop::NEVER).unwrap().problems;
        let is_named = |name: &String| problems.iter().any(|problem| problem.contains(name));
        assert!(left.iter().all(is_named), "{left:?}: {problems:?}");
        // Whatever the writer does.
        drop(copy.writer(WriterOptions::default()).unwrap());
        assert_eq!(names(&dir), before);
        assert_eq!(copy.check().unwrap().unlisted, [""; 0]);
        assert_eq!(files_with(&dir, &text(1)).len(), 0);
        assert_eq!(withdraw::check(&copy, &record, Stop::NEVER).unwrap().problems, [""; 0]);
        assert_has(&dir, (0..30).filter(|&number| number != 1));
    }
    assert!(whole_texts > 0);
}

#[test]
fn the_files_of_a_running_writer_are_not_taken_for_left_ones() {
    let dirs = Dirs::new();
    let index = add(&dirs.path("a"), 0..2);
    let writer = index.writer(WriterOptions::default()).unwrap();
    let name = ".pull-0123456789abcdef0123456789abcdef.store";
    fs::write(dirs.path("a").join(name), "a part").unwrap();
    let other = Index::open(dirs.path("a")).unwrap();
    for index in [&index, &other] {
        assert_eq!(index.check().unwrap().unlisted, [""; 0]);
    }
    drop(writer);
    for index in [&index, &other] {
        assert_eq!(index.check().unwrap().unlisted, [name]);
    }
}

#[test]
fn an_index_that_is_recovered_after_a_cut_off_pull_refuses_all_that_was_withdrawn() {
    // The newest file with withdrawals was taken, which belonged to the older commit.
    let dirs = Dirs::new();
    let remote = remote(&memory());
    let index = add(&dirs.path("a"), 0..30);
    for id in ["1", "2"] {
        withdraw(&index, id);
        remote.push(&index, &PushOptions::default(), unwatched()).unwrap();
    }
    pull(&remote, &dirs.path("b")).unwrap();
    cut_off(&remote, 1, &dirs.path("b"), 6);
    fs::write(dirs.path("b").join("meta.json"), "damaged").unwrap();
    let recovered = Index::recover(dirs.path("b"), dirs.path("c"), Some(&index), &[]);
    // Either without the document, or not at all.
    match recovered {
        Ok(recovered) => {
            assert!(recovered.withdrawals().unwrap().find("2").is_some());
            assert_eq!(files_with(&dirs.path("c"), &text(2)).len(), 0);
        }
        Err(error) => assert!(!dirs.path("c").exists(), "{error}"),
    }
}

/// Makes all files below a directory older.
pub fn age(dir: &Path, by: Duration) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => age(&path, by),
            false => {
                let file = File::options().write(true).open(&path).unwrap();
                file.set_modified(SystemTime::now() - by).unwrap();
            }
        }
    }
}

#[test]
fn the_commit_before_a_withdrawal_is_removed_from_a_store_without_another_push() {
    // "Now" was the time of the last push, so the commit before was never old.
    let dirs = Dirs::new();
    let store = dirs.path("store");
    let remote = Remote::open(store.to_str().unwrap(), []).unwrap();
    let push = |index| remote.push(index, &PushOptions::default(), unwatched()).unwrap();
    let index = add(&dirs.path("a"), 0..4);
    push(&index);
    assert_eq!(remote.before_withdrawals().unwrap(), [0; 0]);
    withdraw(&index, "1");
    push(&index);
    assert_eq!(remote.before_withdrawals().unwrap(), [1]);
    assert_eq!(files_with(&store, &text(1)).len(), 1);
    let keep_one = Retention { keep: 1, ..Retention::default() };
    assert_eq!(remote.retain(&keep_one).unwrap().removed_manifests, 0);
    age(&store, Duration::from_secs(2 * 86_400));
    let retained = remote.retain(&keep_one).unwrap();
    assert_eq!((retained.manifests, retained.removed_manifests), (1, 1));
    assert!(retained.removed_parts > 0);
    assert_eq!(remote.before_withdrawals().unwrap(), [0; 0]);
    assert_eq!(files_with(&store, &text(1)).len(), 0);
    pull(&remote, &dirs.path("b")).unwrap();
    assert_has(&dirs.path("b"), [0, 2, 3]);
}

#[test]
fn what_a_cut_off_push_has_left_in_a_store_is_counted_until_it_is_removed() {
    // No manifest lists the parts, and an answer that counts only older manifests called the store
    // clean.
    let dirs = Dirs::new();
    let store = dirs.path("store");
    let remote = Remote::open(store.to_str().unwrap(), []).unwrap();
    let index = add(&dirs.path("a"), 0..1);
    push(&remote, &index).unwrap();
    let index = add(&dirs.path("a"), 1..4);
    let options = PushOptions { part_bytes: 1000, parallel: 1, ..PushOptions::default() };
    let needle = &text(1)[..20];
    let mut parts = 0;
    while files_with(&store, needle).is_empty() {
        parts += 1;
        let (stop, progress) = stop_after(Some(parts));
        let watch = Watch { progress: &progress, stop: &stop };
        assert!(matches!(remote.push(&index, &options, watch), Err(Error::Cancelled)));
    }
    withdraw(&index, "1");
    push(&remote, &index).unwrap();
    assert!(remote.unnamed_parts().unwrap() > 0);
    age(&store, Duration::from_secs(10));
    let at_once = Retention { keep: 1, keep_min_age: Duration::ZERO, ..Retention::default() };
    assert!(remote.retain(&at_once).unwrap().removed_parts > 0);
    assert_eq!(remote.unnamed_parts().unwrap(), 0);
    assert_eq!(files_with(&store, needle).len(), 0);
}
