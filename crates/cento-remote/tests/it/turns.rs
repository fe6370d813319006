//! Several processes on one directory, and the state after a process was cut off.

use std::fs::{self, File};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cento::index::{Config, Index, Training};
use cento::{Error, Stop};
use cento_remote::{Progress, PullOptions, PushOptions, Watch};
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt};

use crate::faulty::{Fault, Faulty};
use crate::transfers::{at_every_request, block, objects};
use crate::{Dirs, add, assert_has, memory, names, pull, push, remote, unwatched};

#[test]
fn a_push_that_was_cut_off_is_settled_though_the_index_has_changed_since() {
    // The manifest was in the store, and the directory did not know: every later push failed
    // because of a newer manifest, its own.
    let all = [Fault::Cut, Fault::CutAfter, Fault::Lost, Fault::Unanswered];
    let mut put = 0;
    at_every_request(&all, &mut |fault, at, faulty| {
        let dirs = Dirs::new();
        let whole = remote(&faulty.inner());
        let index = add(&dirs.path("a"), 0..4);
        let store: Arc<dyn ObjectStore> = faulty.clone();
        let first = remote(&store).push(&index, &PushOptions::default(), unwatched());
        let is_put = objects(&faulty.inner(), "manifests").len() == 1;
        let index = add(&dirs.path("a"), 4..6);
        let again = push(&whole, &index).unwrap_or_else(|error| panic!("{fault:?} {at}: {error}"));
        assert_eq!(again.manifest, 1 + u64::from(is_put));
        if first.is_err() && is_put {
            put += 1;
            pull(&whole, &dirs.path("b")).unwrap();
            assert_has(&dirs.path("b"), 0..6);
        }
        let left = names(&dirs.path("a")).into_iter().filter(|name| name.contains(".remote"));
        assert_eq!(left.collect::<Vec<_>>(), [".remote.json"]);
        first.map(drop)
    });
    assert!(put > 0, "no push was cut off after its manifest was put");
}

#[test]
fn a_push_that_was_cut_off_is_forgotten_by_a_pull_of_something_else() {
    let dirs = Dirs::new();
    let store = memory();
    push(&remote(&store), &add(&dirs.path("a"), 0..2)).unwrap();
    pull(&remote(&store), &dirs.path("b")).unwrap();
    let requests = {
        let faulty = Arc::new(Faulty::new(store.clone(), Fault::Lost, usize::MAX));
        let counting: Arc<dyn ObjectStore> = faulty.clone();
        push(&remote(&counting), &add(&dirs.path("a"), 2..4)).unwrap();
        faulty.requests()
    };
    // A second index of the same history puts the next manifest, and is cut off at the last
    // request.
    pull(&remote(&store), &dirs.path("b")).unwrap();
    let index = add(&dirs.path("b"), 4..6);
    let cut: Arc<dyn ObjectStore> = Arc::new(Faulty::new(store.clone(), Fault::Cut, requests - 1));
    assert!(push(&remote(&cut), &index).is_err());
    assert_eq!(objects(&store, "manifests").len(), 3);
    // The directory returns to the previous manifest, so additions to it must not undo the last
    // push.
    let older = PullOptions { manifest: Some(2), force: true, ..PullOptions::default() };
    remote(&store).pull(&dirs.path("b"), &older, unwatched()).unwrap();
    let told = push(&remote(&store), &add(&dirs.path("b"), 6..8)).unwrap_err();
    assert!(told.to_string().contains("was 2 and is 3"), "{told}");
}

#[test]
fn pushes_of_one_index_take_turns() {
    // A push that recorded its manifest after a later push lost every race from then on.
    let dirs = Dirs::new();
    let store = memory();
    let index = add(&dirs.path("a"), 0..1);
    push(&remote(&store), &index).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    push(&remote(&store), &Index::open(dirs.path("a")).unwrap()).unwrap();
                }
            });
        }
        for number in 1..12 {
            add(&dirs.path("a"), number..number + 1);
        }
        is_done.store(true, Ordering::Relaxed);
    });
    push(&remote(&store), &index).unwrap();
    pull(&remote(&store), &dirs.path("b")).unwrap();
    assert_has(&dirs.path("b"), 0..12);
}

#[test]
fn a_push_that_waits_for_its_turn_can_be_stopped() {
    let dirs = Dirs::new();
    let index = add(&dirs.path("a"), 0..1);
    let lock = File::create(dirs.path("a").join(".remote.lock")).unwrap();
    lock.lock().unwrap();
    let stop = Stop::new();
    stop.set();
    let watch = Watch { progress: &|_| {}, stop: &stop };
    let store = memory();
    let stopped = remote(&store).push(&index, &PushOptions::default(), watch);
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    drop(lock);
    assert!(push(&remote(&store), &index).unwrap().is_new);
}

/// An index with a frequency table, made from texts that begin with this number.
fn with_table(dirs: &Dirs, name: &str, from: usize) -> Index {
    let training = Training { analyzer: "words".parse().unwrap(), q: 1, spex: false };
    let trained = dirs.path(&format!("{name}.table"));
    let plain = add(&dirs.path(&format!("{name}.plain")), from..from + 10);
    let table = training.write_of(&plain, &trained).unwrap();
    let config = Config::with_frequencies("fbw(q=1,w=5)", "words", true, Some(Arc::new(table)));
    Index::create(dirs.path(name), config.unwrap()).unwrap();
    add(&dirs.path(name), 0..4)
}

#[test]
fn an_index_keeps_its_frequency_table_while_a_later_manifest_is_pulled() {
    // The table was moved aside and compared first. Meanwhile an opened index had no table, and a
    // failed pull left the index without a table.
    let dirs = Dirs::new();
    let source = memory();
    with_table(&dirs, "a", 0);
    push(&remote(&source), &Index::open(dirs.path("a")).unwrap()).unwrap();
    pull(&remote(&source), &dirs.path("b")).unwrap();
    push(&remote(&source), &add(&dirs.path("a"), 4..8)).unwrap();
    let table = dirs.path("b").join("frequencies.cento");
    let before = fs::read(&table).unwrap();
    let watch = Watch { progress: &|_| assert_has(&dirs.path("b"), 0..4), ..unwatched() };
    let pulled = remote(&source).pull(&dirs.path("b"), &PullOptions::default(), watch).unwrap();
    assert_eq!((pulled.kept, pulled.files), (8, 7));
    assert_has(&dirs.path("b"), 0..8);

    // A damaged table is fetched again.
    fs::write(&table, vec![b'x'; before.len()]).unwrap();
    assert_eq!(pull(&remote(&source), &dirs.path("b")).unwrap().files, 1);
    assert_eq!(fs::read(&table).unwrap(), before);

    // A different table belongs to another index.
    let other = memory();
    push(&remote(&other), &with_table(&dirs, "c", 5)).unwrap();
    let force = PullOptions { force: true, ..PullOptions::default() };
    let error = remote(&other).pull(&dirs.path("b"), &force, unwatched()).unwrap_err().to_string();
    assert!(error.contains("frequencies.cento has another content"), "{error}");
    assert_has(&dirs.path("b"), 0..8);
}

#[test]
fn a_manifest_that_is_removed_while_it_is_pulled_is_not_called_damaged() {
    let dirs = Dirs::new();
    let store = memory();
    push(&remote(&store), &add(&dirs.path("a"), 0..8)).unwrap();
    let all = [objects(&store, "manifests"), objects(&store, "data")].concat();
    let remove = |path: &ObjectPath| block(store.delete(path)).unwrap();
    let progress = |progress: Progress| {
        if progress.done < progress.total {
            // The calling thread runs requests, and cannot wait for other requests.
            std::thread::scope(|scope| scope.spawn(|| all.iter().for_each(remove)).join().unwrap());
        }
    };
    let options = PullOptions { parallel: 1, ..PullOptions::default() };
    let watch = Watch { progress: &progress, ..unwatched() };
    let error = remote(&store).pull(&dirs.path("b"), &options, watch).unwrap_err();
    assert!(matches!(&error, Error::Conflict { .. }), "{error}");
    assert!(error.to_string().contains("manifest 1 of memory:///test was removed"), "{error}");
    assert!(!Index::exists(dirs.path("b")));
}

#[test]
fn a_store_whose_first_push_was_cut_off_says_so() {
    let dirs = Dirs::new();
    let store = memory();
    let layout = ObjectPath::from("cento.json");
    block(store.put(&layout, "{\"cento_repository\":1}\n".into())).unwrap();
    let error = pull(&remote(&store), &dirs.path("b")).unwrap_err().to_string();
    assert!(error.contains("no push has come to its end"), "{error}");
    assert!(!dirs.path("b").exists());
}

#[test]
fn a_pull_removes_the_rest_of_one_of_another_manifest() {
    let dirs = Dirs::new();
    let store = memory();
    push(&remote(&store), &add(&dirs.path("a"), 0..2)).unwrap();
    pull(&remote(&store), &dirs.path("b")).unwrap();
    let before = names(&dirs.path("b"));
    push(&remote(&store), &add(&dirs.path("a"), 2..4)).unwrap();
    let stop = Stop::new();
    let progress = |progress: Progress| {
        if progress.done * 2 > progress.total {
            stop.set();
        }
    };
    let watch = Watch { progress: &progress, stop: &stop };
    let cut = remote(&store).pull(&dirs.path("b"), &PullOptions::default(), watch);
    assert!(matches!(cut, Err(Error::Cancelled)));
    assert!(names(&dirs.path("b")).len() > before.len(), "nothing had arrived");
    let first = PullOptions { manifest: Some(1), ..PullOptions::default() };
    remote(&store).pull(&dirs.path("b"), &first, unwatched()).unwrap();
    assert_eq!(names(&dirs.path("b")), before);
}

#[test]
fn a_copy_whose_list_is_damaged_is_not_linked_from_and_not_in_the_way() {
    let dirs = Dirs::new();
    let store = memory();
    push(&remote(&store), &add(&dirs.path("a"), 0..4)).unwrap();
    pull(&remote(&store), &dirs.path("1")).unwrap();
    fs::write(dirs.path("1").join("meta.json"), "{}").unwrap();
    let options = PullOptions { reuse: Some(dirs.path("1")), ..PullOptions::default() };
    let pulled = remote(&store).pull(&dirs.path("2"), &options, unwatched()).unwrap();
    assert_eq!((pulled.kept, pulled.files), (0, 7));
    assert_has(&dirs.path("2"), 0..4);
}
