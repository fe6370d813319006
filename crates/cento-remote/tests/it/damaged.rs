//! A damaged manifest is reported, and stops only operations that need the manifest.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cento::Error;
use cento_remote::{Content, Mirror, PullOptions, Remote, Retention};
use object_store::ObjectStore;

use crate::faulty::{Fault, Faulty};
use crate::{Dirs, add, assert_has, memory, pull, push, remote, unwatched};

/// A store in a directory with three manifests, of 5, 10 and 15 documents, pushed from `idx`.
fn store(dirs: &Dirs) -> Remote {
    let remote = Remote::open(dirs.path("store").to_str().unwrap(), []).unwrap();
    for push_number in 0..3 {
        let index = add(&dirs.path("idx"), push_number * 5..push_number * 5 + 5);
        push(&remote, &index).unwrap();
        if push_number == 1 {
            pull(&remote, &dirs.path("second")).unwrap();
        }
    }
    remote
}

fn manifest(dirs: &Dirs, number: u64) -> PathBuf {
    dirs.path("store").join(format!("manifests/{number:020}.json"))
}

const DAMAGES: [fn(&mut Vec<u8>); 5] = [
    |bytes| bytes.clear(),
    |bytes| bytes.truncate(bytes.len() / 2),
    |bytes| bytes[100] ^= 1,
    |bytes| bytes.fill(0),
    |bytes| bytes.resize((64 << 20) + 1, b' '),
];

fn damage(dirs: &Dirs, number: u64, how: &dyn Fn(&mut Vec<u8>)) {
    let path = manifest(dirs, number);
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    how(&mut bytes);
    fs::write(&path, bytes).unwrap();
    // A retention removes by age.
    fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
}

#[test]
fn a_damaged_newest_manifest_is_listed_and_an_older_one_is_pulled_and_restored() {
    for how in DAMAGES {
        let dirs = Dirs::new();
        let remote = store(&dirs);
        damage(&dirs, 3, &how);
        let listed = remote.history().unwrap();
        assert_eq!(listed.iter().map(|l| l.manifest).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(listed[1].commit().unwrap().documents, 10);
        let Content::Damaged { damaged } = &listed[2].content else { panic!("{listed:?}") };
        assert!(damaged.contains("manifests/00000000000000000003.json"), "{damaged}");
        assert!(listed[2].is_current);

        // Nothing damaged is taken without an error.
        let error = pull(&remote, &dirs.path("copy")).unwrap_err();
        assert!(matches!(&error, Error::Corrupt(_)), "{error}");
        assert!(!dirs.path("copy").exists());
        assert!(matches!(remote.restore(3, false).unwrap_err(), Error::Corrupt(_)));
        let older = PullOptions { manifest: Some(2), ..PullOptions::default() };
        remote.pull(&dirs.path("copy"), &older, unwatched()).unwrap();
        assert_has(&dirs.path("copy"), 0..10);

        assert_eq!(remote.restore(2, false).unwrap(), 4);
        pull(&remote, &dirs.path("copy")).unwrap();
        assert_has(&dirs.path("copy"), 0..10);
    }
}

#[test]
fn the_index_that_a_damaged_manifest_was_made_of_puts_the_next_one_without_trusting_it() {
    for how in DAMAGES {
        let dirs = Dirs::new();
        let remote = store(&dirs);
        damage(&dirs, 3, &how);
        // Even a push of an unchanged index.
        let index = cento::Index::open(dirs.path("idx")).unwrap();
        let pushed = push(&remote, &index).unwrap();
        assert!(pushed.is_new && pushed.manifest == 4 && pushed.found == 0, "{pushed:?}");
        pull(&remote, &dirs.path("copy")).unwrap();
        assert_has(&dirs.path("copy"), 0..15);
        let pushed = push(&remote, &add(&dirs.path("copy"), 15..20)).unwrap();
        assert_eq!(pushed.manifest, 5);
    }
}

#[test]
fn an_index_of_another_manifest_does_not_replace_a_damaged_one() {
    let dirs = Dirs::new();
    let remote = store(&dirs);
    damage(&dirs, 3, &|bytes| bytes.truncate(10));
    for index in [add(&dirs.path("second"), 20..21), add(&dirs.path("other"), 20..21)] {
        let error = push(&remote, &index).unwrap_err();
        assert!(matches!(&error, Error::Conflict { .. }), "{error}");
        assert!(error.to_string().contains("manifest 3 of"), "{error}");
        assert!(error.to_string().contains("is damaged"), "{error}");
    }
    assert_eq!(remote.current().unwrap(), 3);
}

/// A newer cento wrote the manifest. The manifest is valid, and an older cento would lose a part.
#[test]
fn a_manifest_of_another_version_is_no_damaged_one() {
    let dirs = Dirs::new();
    let remote = store(&dirs);
    let text = fs::read_to_string(manifest(&dirs, 3)).unwrap();
    let json = text.replace("\"cento_manifest\":1", "\"cento_manifest\":2");
    let at = json.rfind(",\"xxh3\":").unwrap();
    let json = format!("{}}}", &json[..at]);
    let digest = xxhash_rust::xxh3::xxh3_128(json.as_bytes());
    let text = format!("{},\"xxh3\":\"{digest:032x}\"}}", &json[..json.len() - 1]);
    fs::write(manifest(&dirs, 3), text).unwrap();
    let index = cento::Index::open(dirs.path("idx")).unwrap();
    for error in [push(&remote, &index).unwrap_err(), remote.restore(1, false).unwrap_err()] {
        assert!(error.to_string().contains("of version 2"), "{error}");
    }
    assert!(matches!(remote.history().unwrap()[2].content, Content::Damaged { .. }));
    assert_eq!(remote.current().unwrap(), 3);
}

#[test]
fn a_retention_removes_no_part_while_a_damaged_manifest_stays() {
    let dirs = Dirs::new();
    let remote = store(&dirs);
    damage(&dirs, 2, &|bytes| bytes.truncate(10));
    let keep = |keep| Retention { keep, keep_for: Duration::ZERO, keep_min_age: Duration::ZERO };
    let retained = remote.retain(&keep(2)).unwrap();
    assert_eq!((retained.removed_manifests, retained.removed_parts), (1, 0));
    assert_eq!((retained.manifests, &retained.damaged[..]), (2, &[2][..]));
    // The manifest is removed like any other.
    let retained = remote.retain(&keep(1)).unwrap();
    assert_eq!((retained.removed_manifests, &retained.damaged[..]), (1, &[][..]));
    pull(&remote, &dirs.path("copy")).unwrap();
    assert_has(&dirs.path("copy"), 0..15);
}

#[test]
fn a_follower_passes_a_damaged_manifest() {
    let dirs = Dirs::new();
    let remote = store(&dirs);
    let url = remote.url().to_owned();
    let mirror = Mirror::begin(remote, &dirs.path("mirror"), u64::MAX).unwrap();
    mirror.fetch(3, None, unwatched()).unwrap();
    damage(&dirs, 3, &|bytes| bytes.truncate(10));
    assert_eq!(mirror.newest(Some(3)).unwrap(), (3, false));
    let index = cento::Index::open(dirs.path("idx")).unwrap();
    push(&Remote::open(&url, []).unwrap(), &index).unwrap();
    assert_eq!(mirror.newest(Some(3)).unwrap(), (4, false));
    let path = mirror.fetch(4, Some(3), unwatched()).unwrap();
    assert_has(&path, 0..15);
}

/// The file system takes odd names, and so does a store in it.
#[test]
fn a_store_may_lie_in_a_directory_of_any_name() {
    let dirs = Dirs::new();
    let names =
        ["a b", "100%", "a%20b", "#x", "q?y=1", "[x]", "~u", "a*b", "caf\u{e9}", "a&b", "a|b"];
    for (number, name) in names.into_iter().enumerate() {
        let url = dirs.path(name).join("../").join(name).join("");
        let remote = Remote::open(url.to_str().unwrap(), []).unwrap();
        let (idx, copy) = (format!("idx{number}"), format!("copy{number}"));
        push(&remote, &add(&dirs.path(&idx), 0..2)).unwrap();
        assert!(dirs.path(name).join("cento.json").exists(), "{name}");
        // The same store, with a different spelling.
        let remote = Remote::open(dirs.path(name).to_str().unwrap(), []).unwrap();
        assert_eq!(push(&remote, &add(&dirs.path(&idx), 2..3)).unwrap().manifest, 2, "{name}");
        pull(&remote, &dirs.path(&copy)).unwrap();
        assert_has(&dirs.path(&copy), 0..3);
    }
}

#[test]
fn a_list_without_end_is_refused_and_nothing_is_pulled() {
    // A store that answered with endless new pages kept a pull busy forever.
    let dirs = Dirs::new();
    let store = memory();
    push(&remote(&store), &add(&dirs.path("idx"), 0..3)).unwrap();
    let endless =
        [(Fault::NewPages, "more than 262144 objects"), (Fault::SamePage, " again after ")];
    for (fault, expected) in endless {
        let faulty: Arc<dyn ObjectStore> = Arc::new(Faulty::new(store.clone(), fault, 0));
        let error = pull(&remote(&faulty), &dirs.path("copy")).unwrap_err().to_string();
        assert!(error.contains("manifests/ has no end: it has "), "{error}");
        assert!(error.contains(expected), "{error}");
        assert!(!dirs.path("copy").exists());
    }
    pull(&remote(&store), &dirs.path("copy")).unwrap();
    assert_has(&dirs.path("copy"), 0..3);
}
