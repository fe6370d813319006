//! Pushes and pulls arrive, whatever fails.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cento::{Error, Index, Stop};
use cento_remote::{PullOptions, PushOptions, Remote, Retention, Watch};
use futures_util::TryStreamExt;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt};

use crate::faulty::{Fault, Faulty};
use crate::{Dirs, add, assert_has, memory, names, pull, push, remote, unwatched};

pub fn objects(store: &Arc<dyn ObjectStore>, prefix: &str) -> Vec<ObjectPath> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let prefix = ObjectPath::from(prefix);
    let listed = store.list(Some(&prefix)).map_ok(|meta| meta.location).try_collect();
    let mut listed: Vec<ObjectPath> = runtime.block_on(listed).unwrap();
    listed.sort();
    listed
}

pub fn block<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

#[test]
fn a_push_is_pulled_and_only_new_files_travel() {
    for on_disk in [false, true] {
        let dirs = Dirs::new();
        let index = add(&dirs.path("a"), 0..20);
        let remote = match on_disk {
            false => remote(&memory()),
            true => Remote::open(dirs.path("store").to_str().unwrap(), []).unwrap(),
        };
        let error = pull(&remote, &dirs.path("b")).unwrap_err().to_string();
        assert!(error.contains("there is no index here"), "{error}");
        assert!(!dirs.path("b").exists() && !dirs.path("store").exists());

        let first = push(&remote, &index).unwrap();
        assert!(first.is_new && first.manifest == 1 && first.files == 7, "{first:?}");
        let again = push(&remote, &index).unwrap();
        assert!(!again.is_new && again.manifest == 1 && again.bytes == 0, "{again:?}");
        let pulled = pull(&remote, &dirs.path("b")).unwrap();
        assert_eq!((pulled.files, pulled.bytes), (7, first.bytes));
        assert_has(&dirs.path("b"), 0..20);
        assert_eq!(names(&dirs.path("a")), names(&dirs.path("b")));

        let index = add(&dirs.path("a"), 20..25);
        let second = push(&remote, &index).unwrap();
        assert!(second.manifest == 2 && second.files == 7 && second.bytes < first.bytes);
        let pulled = pull(&remote, &dirs.path("b")).unwrap();
        assert_eq!((pulled.files, pulled.kept, pulled.bytes), (7, 7, second.bytes));
        assert_has(&dirs.path("b"), 0..25);
        assert_eq!(pull(&remote, &dirs.path("b")).unwrap().kept, 14);
        let listed = remote.history().unwrap();
        assert_eq!(
            listed.iter().map(|m| m.commit().unwrap().documents).collect::<Vec<_>>(),
            [20, 25]
        );
        assert_eq!(
            listed.iter().map(|m| m.commit().unwrap().new_bytes).collect::<Vec<_>>(),
            [first.bytes, second.bytes]
        );
        assert!(!listed[0].is_current && listed[1].is_current);
    }
}

#[test]
fn the_first_push_needs_an_empty_store() {
    let dirs = Dirs::new();
    let index = add(&dirs.path("a"), 0..5);
    let other = add(&dirs.path("b"), 5..9);
    let store = memory();
    let refused = |index: &Index, expected: &str| {
        let before = objects(&store, "");
        let error = push(&remote(&store), index).unwrap_err();
        assert_eq!(error.reason(), cento::Reason::NotEmpty, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(objects(&store, ""), before);
    };
    let put = |path: &str| {
        let path = ObjectPath::from(path);
        block(store.put(&path, "{}".into())).unwrap();
    };
    let remove = |path: &ObjectPath| block(store.delete(path)).unwrap();
    for foreign in ["meta.json", "photos/1.jpg", "data.csv"] {
        put(foreign);
        refused(&index, foreign);
        remove(&ObjectPath::from(foreign));
    }
    // Names that directories have in passing.
    put(".directory");
    push(&remote(&store), &index).unwrap();
    // Without manifests, the parts would be mixed with the parts of another index.
    for manifest in objects(&store, "manifests") {
        remove(&manifest);
    }
    refused(&other, "no manifest");
    refused(&index, "no manifest");
    for part in objects(&store, "data") {
        remove(&part);
    }
    assert_eq!(push(&remote(&store), &other).unwrap().manifest, 1);
}

#[test]
fn a_first_push_that_was_cut_off_is_repeated_by_its_index_alone() {
    let dirs = Dirs::new();
    let index = add(&dirs.path("a"), 0..5);
    let other = add(&dirs.path("b"), 5..9);
    let inner = memory();
    // The last request but one puts the manifest.
    let counted = Arc::new(Faulty::new(memory(), Fault::Cut, usize::MAX));
    let objects_of = |faulty: &Arc<Faulty>| -> Arc<dyn ObjectStore> { faulty.clone() };
    push(&remote(&objects_of(&counted)), &add(&dirs.path("c"), 0..5)).unwrap();
    let cut = Arc::new(Faulty::new(inner.clone(), Fault::Cut, counted.requests() - 2));
    assert!(push(&remote(&objects_of(&cut)), &index).is_err());
    assert!(!objects(&inner, "data").is_empty() && objects(&inner, "manifests").is_empty());
    let error = push(&remote(&inner), &other).unwrap_err();
    assert_eq!(error.reason(), cento::Reason::NotEmpty, "{error}");
    // Also if the index has changed meanwhile.
    let index = add(&dirs.path("a"), 9..12);
    assert_eq!(push(&remote(&inner), &index).unwrap().manifest, 1);
}

#[test]
fn a_store_that_was_moved_takes_the_next_push_and_each_copy_has_its_own_history() {
    let dirs = Dirs::new();
    let at = |name: &str| Remote::open(dirs.path(name).to_str().unwrap(), []).unwrap();
    push(&at("store"), &add(&dirs.path("a"), 0..5)).unwrap();
    std::fs::rename(dirs.path("store"), dirs.path("moved")).unwrap();
    // The push from the moved manifest is cut off after its manifest was put.
    let record = |name: &str| dirs.path("a").join(name);
    let index = add(&dirs.path("a"), 5..7);
    let before = std::fs::read(record(".remote.json")).unwrap();
    assert_eq!(push(&at("moved"), &index).unwrap().manifest, 2);
    std::fs::rename(record(".remote.json"), record(".remote.next.json")).unwrap();
    std::fs::write(record(".remote.json"), before).unwrap();
    std::fs::rename(dirs.path("moved"), dirs.path("store")).unwrap();
    assert_eq!(push(&at("store"), &add(&dirs.path("a"), 7..9)).unwrap().manifest, 3);
    // A copy has the same last manifest, and then a separate history.
    copy(&dirs.path("store"), &dirs.path("copy"));
    let index = add(&dirs.path("a"), 9..12);
    assert_eq!(push(&at("copy"), &index).unwrap().manifest, 4);
    let error = push(&at("store"), &index).unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
    // The progress of a moved store is also known.
    pull(&at("copy"), &dirs.path("b")).unwrap();
    std::fs::rename(dirs.path("copy"), dirs.path("far")).unwrap();
    assert_eq!(push(&at("far"), &add(&dirs.path("b"), 12..13)).unwrap().manifest, 5);
    let error = push(&at("far"), &add(&dirs.path("a"), 13..14)).unwrap_err();
    assert!(error.to_string().contains("was 4 and is 5"), "{error}");
    pull(&at("store"), &dirs.path("c")).unwrap();
    assert_has(&dirs.path("c"), 0..9);
    pull(&at("far"), &dirs.path("b")).unwrap();
    assert_has(&dirs.path("b"), 0..13);
}

#[test]
fn a_pulled_index_is_written_to_compacted_and_pushed_back() {
    let dirs = Dirs::new();
    let remote = remote(&memory());
    push(&remote, &add(&dirs.path("a"), 0..10)).unwrap();
    pull(&remote, &dirs.path("b")).unwrap();
    let index = add(&dirs.path("b"), 10..20);
    index.compact(1).unwrap();
    // Pulled files are collected like files written here.
    assert_eq!(names(&dirs.path("b")).iter().filter(|name| name.ends_with(".sig")).count(), 1);
    assert_eq!(push(&remote, &index).unwrap().manifest, 2);
    pull(&remote, &dirs.path("a")).unwrap();
    assert_has(&dirs.path("a"), 0..20);
    assert_eq!(names(&dirs.path("a")).iter().filter(|name| name.ends_with(".sig")).count(), 1);
}

#[test]
fn a_frequency_table_and_deletions_travel_too() {
    let dirs = Dirs::new();
    let remote = remote(&memory());
    let training = cento::Training { analyzer: "words".parse().unwrap(), q: 1, spex: false };
    let table = training.write_of(&add(&dirs.path("plain"), 0..10), &dirs.path("table"));
    let config = cento::index::Config::with_frequencies(
        "fbw(q=1,w=5)",
        "words",
        true,
        Some(Arc::new(table.unwrap())),
    );
    let index = Index::create(dirs.path("a"), config.unwrap()).unwrap();
    drop(index);
    let index = add(&dirs.path("a"), 0..10);
    let mut writer = index.writer(cento::WriterOptions::default()).unwrap();
    writer.remove("3").unwrap();
    writer.finish().unwrap();
    push(&remote, &index).unwrap();
    assert_eq!(remote.history().unwrap()[0].commit().unwrap().documents, 9);
    pull(&remote, &dirs.path("b")).unwrap();
    assert_has(&dirs.path("b"), (0..10).filter(|&number| number != 3));
    assert!(dirs.path("b").join("frequencies.cento").exists());
}

/// An operation on a store that fails.
pub type Work<'a> = dyn FnMut(Fault, usize, &Arc<Faulty>) -> Result<(), Error> + 'a;

/// Runs `work` over stores that fail at the first request, the second, and so on, until the run
/// without faults. Returns the result of that run.
pub fn at_every_request(faults: &[Fault], work: &mut Work<'_>) {
    for &fault in faults {
        let mut failures = 0;
        for at in 0.. {
            let store = Arc::new(Faulty::new(memory(), fault, at));
            let worked = work(fault, at, &store);
            failures += usize::from(worked.is_err());
            if store.requests() <= at {
                assert!(worked.is_ok(), "{fault:?} {at}: {worked:?}");
                break;
            }
        }
        let is_fatal = matches!(fault, Fault::Cut | Fault::CutAfter);
        assert!(failures > 0 || !is_fatal, "{fault:?} was never noticed");
    }
}

#[test]
fn a_push_that_fails_anywhere_is_repeated_and_sends_nothing_twice() {
    let dirs = Dirs::new();
    let index = add(&dirs.path("a"), 0..8);
    let whole = push(&remote(&memory()), &index).unwrap().bytes;
    let all = [Fault::Cut, Fault::CutAfter, Fault::Lost, Fault::Unanswered, Fault::Delayed];
    at_every_request(&all, &mut |fault, at, faulty| {
        let _ = std::fs::remove_file(dirs.path("a").join(".remote.json"));
        let store: Arc<dyn ObjectStore> = faulty.clone();
        let first = push(&remote(&store), &index);
        // The store below the faults.
        let whole_store = faulty.inner();
        let before = objects(&whole_store, "data").len() as u64;
        let again = push(&remote(&whole_store), &index).unwrap();
        let twice = again.bytes + again.found;
        assert!(twice == 0 || twice == whole, "{fault:?} {at}: {again:?}");
        assert!(again.manifest == 1 && (again.found > 0 || before == 0 || !again.is_new));
        assert_eq!(objects(&whole_store, "manifests").len(), 1);
        let dir = dirs.path("b");
        pull(&remote(&whole_store), &dir).unwrap();
        assert_has(&dir, 0..8);
        std::fs::remove_dir_all(dir).unwrap();
        first.map(drop)
    });
}

#[test]
fn a_pull_that_fails_anywhere_leaves_the_old_index_and_is_repeated() {
    let dirs = Dirs::new();
    let all = [Fault::Cut, Fault::Lost, Fault::Truncated, Fault::Flipped, Fault::Delayed];
    let source = memory();
    let index = add(&dirs.path("a"), 0..8);
    push(&remote(&source), &index).unwrap();
    pull(&remote(&source), &dirs.path("old")).unwrap();
    push(&remote(&source), &add(&dirs.path("a"), 8..12)).unwrap();
    for fault in all {
        let mut failures = 0;
        for at in 0.. {
            let dir = dirs.path("b");
            copy(&dirs.path("old"), &dir);
            let faulty = Arc::new(Faulty::new(source.clone(), fault, at));
            let store: Arc<dyn ObjectStore> = faulty.clone();
            let first = pull(&remote(&store), &dir);
            assert_has(&dir, 0..if first.is_ok() { 12 } else { 8 });
            let again = pull(&remote(&source), &dir).unwrap();
            assert!(first.is_err() || again.files == 0, "{fault:?} {at}");
            assert_has(&dir, 0..12);
            assert!(!names(&dir).iter().any(|name| name.starts_with(".pull")), "{:?}", names(&dir));
            std::fs::remove_dir_all(dir).unwrap();
            failures += usize::from(first.is_err());
            if faulty.requests() <= at {
                assert!(first.is_ok());
                break;
            }
        }
        assert!(failures > 0 || fault != Fault::Cut);
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for name in names(from) {
        match from.join(&name).is_dir() {
            true => copy(&from.join(&name), &to.join(&name)),
            false => drop(std::fs::copy(from.join(&name), to.join(&name)).unwrap()),
        }
    }
}

#[test]
fn files_that_have_arrived_are_not_sent_again() {
    let dirs = Dirs::new();
    let source = memory();
    let whole = push(&remote(&source), &add(&dirs.path("a"), 0..30)).unwrap().bytes;
    let at_half = |stop: &Stop, progress: cento_remote::Progress| {
        if progress.done * 2 > progress.total {
            stop.set();
        }
    };
    let stop = Stop::new();
    let watch = Watch { progress: &|progress| at_half(&stop, progress), stop: &stop };
    let cut = remote(&source).pull(&dirs.path("b"), &PullOptions::default(), watch);
    assert!(matches!(cut, Err(Error::Cancelled)));
    assert!(!Index::exists(dirs.path("b")));
    let pulled = pull(&remote(&source), &dirs.path("b")).unwrap();
    assert!(pulled.found * 2 > whole && pulled.found + pulled.bytes <= whole, "{pulled:?}");
    assert_has(&dirs.path("b"), 0..30);

    let other = memory();
    let index = Index::open(dirs.path("a")).unwrap();
    let options = PushOptions { part_bytes: 1000, ..PushOptions::default() };
    let stop = Stop::new();
    let watch = Watch { progress: &|progress| at_half(&stop, progress), stop: &stop };
    let cut = remote(&other).push(&index, &options, watch);
    assert!(matches!(cut, Err(Error::Cancelled)));
    let pushed = push(&remote(&other), &index).unwrap();
    assert!(pushed.found * 2 > whole && pushed.found + pushed.bytes == whole, "{pushed:?}");
}

#[test]
fn missing_damaged_and_truncated_objects_are_named() {
    let dirs = Dirs::new();
    let source = memory();
    push(&remote(&source), &add(&dirs.path("a"), 0..8)).unwrap();
    for path in objects(&source, "") {
        let bytes = block(async { source.get(&path).await.unwrap().bytes().await.unwrap() });
        let mut flipped = bytes.to_vec();
        flipped[bytes.len() / 2] ^= 1;
        let half = bytes.slice(..bytes.len() / 2).to_vec();
        let longer = [&bytes[..], b"x"].concat();
        for damaged in [None, Some(flipped), Some(half), Some(longer)] {
            match damaged {
                None => block(source.delete(&path)).unwrap(),
                Some(damaged) => drop(block(source.put(&path, damaged.into())).unwrap()),
            }
            let error = pull(&remote(&source), &dirs.path("b")).unwrap_err().to_string();
            let is_named = error.contains(path.as_ref()) || error.contains("cento.json");
            let is_absent = error.contains("no index here") || error.contains("no manifest");
            assert!(is_named || is_absent, "{path}: {error}");
            assert!(!Index::exists(dirs.path("b")));
            // Files that have arrived are not fetched again.
            let _ = std::fs::remove_dir_all(dirs.path("b"));
        }
        block(source.put(&path, bytes.into())).unwrap();
    }
    pull(&remote(&source), &dirs.path("b")).unwrap();
    assert_has(&dirs.path("b"), 0..8);
}

#[test]
fn a_damaged_file_is_not_pushed() {
    let dirs = Dirs::new();
    let index = add(&dirs.path("a"), 0..8);
    let name = names(&dirs.path("a")).into_iter().find(|name| name.ends_with(".sig")).unwrap();
    let path = dirs.path("a").join(&name);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let store = memory();
    let error = push(&remote(&store), &index).unwrap_err();
    assert!(matches!(&error, Error::Corrupt(found) if Path::new(&found.file) == path), "{error}");
    assert!(objects(&store, "manifests").is_empty());
}

#[test]
fn a_pull_loses_no_changes_unless_forced() {
    let dirs = Dirs::new();
    let remote = remote(&memory());
    push(&remote, &add(&dirs.path("a"), 0..4)).unwrap();
    pull(&remote, &dirs.path("b")).unwrap();
    add(&dirs.path("b"), 4..6);
    let error = pull(&remote, &dirs.path("b")).unwrap_err().to_string();
    assert!(error.contains("changes that were not pushed"), "{error}");
    assert_has(&dirs.path("b"), 0..6);
    let force = PullOptions { force: true, ..PullOptions::default() };
    remote.pull(&dirs.path("b"), &force, unwatched()).unwrap();
    assert_has(&dirs.path("b"), 0..4);
    // A pull leaves a directory without an index alone, and also an index that another process
    // writes to.
    std::fs::create_dir(dirs.path("c")).unwrap();
    std::fs::write(dirs.path("c").join("thesis.txt"), "precious").unwrap();
    assert!(pull(&remote, &dirs.path("c")).unwrap_err().to_string().contains("thesis.txt"));
    let index = Index::open(dirs.path("b")).unwrap();
    let writer = index.writer(cento::WriterOptions::default()).unwrap();
    assert!(matches!(pull(&remote, &dirs.path("b")), Err(Error::Locked { .. })));
    drop(writer);
}

#[test]
fn an_old_manifest_is_pulled_restored_and_kept_for_the_requested_time() {
    let dirs = Dirs::new();
    let store = memory();
    let remote = remote(&store);
    for number in 0..5 {
        push(&remote, &add(&dirs.path("a"), number..number + 1)).unwrap();
    }
    let third = PullOptions { manifest: Some(3), ..PullOptions::default() };
    remote.pull(&dirs.path("b"), &third, unwatched()).unwrap();
    assert_has(&dirs.path("b"), 0..3);
    assert_eq!(remote.restore(3, false).unwrap(), 6);
    assert_eq!(remote.history().unwrap()[5].commit().unwrap().restored, Some(3));
    pull(&remote, &dirs.path("c")).unwrap();
    assert_has(&dirs.path("c"), 0..3);
    // An index at manifest 5 cannot be pushed over the restored manifest unnoticed.
    let error = push(&remote, &add(&dirs.path("a"), 5..6)).unwrap_err();
    assert!(matches!(&error, Error::Conflict { .. }), "{error}");
    assert!(error.to_string().contains("was 5 and is 6"), "{error}");

    let parts = objects(&store, "data").len();
    let kept = remote.retain(&Retention { keep: 2, ..Retention::default() }).unwrap();
    assert_eq!((kept.manifests, kept.removed_manifests, kept.removed_parts), (6, 0, 0));
    assert_eq!(objects(&store, "data").len(), parts);
    let now = Retention { keep: 2, keep_for: Duration::ZERO, keep_min_age: Duration::ZERO };
    let kept = remote.retain(&now).unwrap();
    assert_eq!((kept.manifests, kept.removed_manifests), (2, 4));
    // Manifest 5 has all files.
    assert_eq!(kept.removed_parts, 0);
    let kept = remote.retain(&Retention { keep: 1, ..now.clone() }).unwrap();
    assert_eq!((kept.manifests, kept.removed_manifests), (1, 1));
    assert!(kept.removed_parts > 0 && kept.removed_bytes > 0);
    assert_eq!(remote.history().unwrap().len(), 1);
    pull(&remote, &dirs.path("d")).unwrap();
    assert_has(&dirs.path("d"), 0..3);
    let error = remote.restore(1, false).unwrap_err().to_string();
    assert!(error.contains("there is no manifest 1"), "{error}");
}

#[test]
fn parts_of_a_push_that_may_still_succeed_are_not_collected() {
    let dirs = Dirs::new();
    let store = memory();
    push(&remote(&store), &add(&dirs.path("a"), 0..4)).unwrap();
    let index = add(&dirs.path("a"), 4..8);
    // Everything is in the store but the manifest.
    let requests = {
        let inner = memory();
        push(&remote(&inner), &add(&dirs.path("x"), 0..4)).unwrap();
        let counted = Arc::new(Faulty::new(inner, Fault::Lost, usize::MAX));
        let over: Arc<dyn ObjectStore> = counted.clone();
        push(&remote(&over), &add(&dirs.path("x"), 4..8)).unwrap();
        counted.requests()
    };
    let cut: Arc<dyn ObjectStore> = Arc::new(Faulty::new(store.clone(), Fault::Cut, requests - 2));
    push(&remote(&cut), &index).unwrap_err();
    let now = Retention { keep: 1, keep_for: Duration::ZERO, keep_min_age: Duration::ZERO };
    let before = objects(&store, "data").len();
    assert_eq!(remote(&store).retain(&now).unwrap().removed_parts, 0);
    assert_eq!(objects(&store, "data").len(), before);
    // Once another push has come first, no manifest will list these parts.
    pull(&remote(&store), &dirs.path("b")).unwrap();
    push(&remote(&store), &add(&dirs.path("b"), 20..21)).unwrap();
    assert!(remote(&store).retain(&now).unwrap().removed_parts > 0);
    assert!(matches!(push(&remote(&store), &index), Err(Error::Conflict { .. })));
    pull(&remote(&store), &dirs.path("c")).unwrap();
    assert_has(&dirs.path("c"), (0..4).chain([20]));
}

#[test]
fn files_are_linked_from_another_directory() {
    let dirs = Dirs::new();
    let remote = remote(&memory());
    push(&remote, &add(&dirs.path("a"), 0..4)).unwrap();
    pull(&remote, &dirs.path("1")).unwrap();
    push(&remote, &add(&dirs.path("a"), 4..8)).unwrap();
    let options = PullOptions { reuse: Some(dirs.path("1")), ..PullOptions::default() };
    let pulled = remote.pull(&dirs.path("2"), &options, unwatched()).unwrap();
    assert_eq!((pulled.kept, pulled.files), (7, 7));
    assert_has(&dirs.path("1"), 0..4);
    assert_has(&dirs.path("2"), 0..8);
}
