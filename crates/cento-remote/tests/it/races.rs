//! Several writers with a single store: a commit is kept, or its writer gets an error.

use std::sync::Arc;
use std::sync::Mutex;

use cento::Error;
use cento_remote::{PullOptions, Remote};
use object_store::ObjectStore;

use crate::faulty::Faulty;
use crate::{Dirs, add, assert_has, memory, pull, push, remote, unwatched};

const WRITERS: usize = 8;

/// Every writer adds separate documents, one per push, and starts again from the newest manifest
/// when a push is outrun. Returns the number of outrun pushes.
fn race(dirs: &Dirs, open: &(dyn Fn() -> Remote + Sync), each: usize) -> usize {
    push(&open(), &add(&dirs.path("first"), 1000..1001)).unwrap();
    let outrun = Mutex::new(0);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let outrun = &outrun;
            scope.spawn(move || {
                let remote = open();
                let dir = dirs.path(&format!("w{writer}"));
                for number in writer * each..(writer + 1) * each {
                    loop {
                        let options = PullOptions { force: true, ..PullOptions::default() };
                        // A directory with a different history begins anew.
                        if remote.pull(&dir, &options, unwatched()).is_err() {
                            std::fs::remove_dir_all(&dir).unwrap();
                            continue;
                        }
                        let index = add(&dir, number..number + 1);
                        match push(&remote, &index) {
                            Ok(pushed) => {
                                assert!(pushed.is_new);
                                break;
                            }
                            Err(Error::Conflict { .. }) => *outrun.lock().unwrap() += 1,
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            });
        }
    });
    outrun.into_inner().unwrap()
}

#[test]
fn of_eight_racing_writers_every_commit_is_kept_or_told() {
    let dirs = Dirs::new();
    let store = memory();
    race(&dirs, &|| remote(&store), 3);
    pull(&remote(&store), &dirs.path("all")).unwrap();
    assert_has(&dirs.path("all"), (0..WRITERS * 3).chain([1000]));
    assert_eq!(remote(&store).current().unwrap(), WRITERS as u64 * 3 + 1);
}

#[test]
fn writers_race_over_a_directory_too() {
    let dirs = Dirs::new();
    let url = format!("file://{}", dirs.path("store").display());
    race(&dirs, &|| Remote::open(&url, []).unwrap(), 1);
    pull(&Remote::open(&url, []).unwrap(), &dirs.path("all")).unwrap();
    assert_has(&dirs.path("all"), (0..WRITERS).chain([1000]));
}

#[test]
fn a_store_that_ignores_conditions_is_refused() {
    let dirs = Dirs::new();
    let inner = memory();
    let ignores: Arc<dyn ObjectStore> = Arc::new(Faulty::unconditional(inner.clone()));
    let index = add(&dirs.path("a"), 0..2);
    let error = push(&remote(&ignores), &index).unwrap_err().to_string();
    assert!(error.contains("If-None-Match") && error.contains("would be lost"), "{error}");
    // Also after a push over a store that knew conditions.
    push(&remote(&inner), &index).unwrap();
    let index = add(&dirs.path("a"), 2..4);
    assert!(push(&remote(&ignores), &index).is_err());
    assert!(remote(&ignores).restore(1, false).is_err());
    assert_eq!(remote(&inner).current().unwrap(), 1);
}

#[test]
fn a_writer_whose_number_was_freed_by_retention_gets_an_error() {
    // The writer read manifest 1 and stopped. Manifest 2 came and went, and manifest 3 exists.
    let dirs = Dirs::new();
    let store = memory();
    push(&remote(&store), &add(&dirs.path("a"), 0..2)).unwrap();
    pull(&remote(&store), &dirs.path("slow")).unwrap();
    push(&remote(&store), &add(&dirs.path("a"), 2..4)).unwrap();
    push(&remote(&store), &add(&dirs.path("a"), 4..6)).unwrap();
    let late = add(&dirs.path("slow"), 10..11);
    // The slow writer sees a store with only manifest 1 in its list, until it has put its own
    // manifest.
    let now = cento_remote::Retention {
        keep: 1,
        keep_for: std::time::Duration::ZERO,
        keep_min_age: std::time::Duration::ZERO,
    };
    let slow: Arc<dyn ObjectStore> = Arc::new(Faulty::late(store.clone(), move |store| {
        remote(store).retain(&now).unwrap();
    }));
    let error = push(&remote(&slow), &late).unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
    assert_eq!(
        remote(&store).history().unwrap().iter().map(|m| m.manifest).collect::<Vec<_>>(),
        [3]
    );
    pull(&remote(&store), &dirs.path("b")).unwrap();
    assert_has(&dirs.path("b"), 0..6);
}
