//! The directory of an index is exchanged under an open writer: nothing there is overwritten, and
//! nothing is acknowledged that is not there.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::{fmt, fs, io};

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

use crate::common::{Model, add, assert_holds, config, contents, words};
use cento::Error;
use cento::index::{AddIndexesOptions, Index, Writer, WriterOptions};

/// A replacement of an index directory, with its name.
type Exchange = (&'static str, fn(&Path));

const LOCK: &str = ".tantivy-writer.lock";

/// Makes an index at `path` with `count` documents, numbered from `from`.
fn made(path: &Path, from: u64, count: u64) -> Model {
    let index = Index::create(path, config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    let model: Model = (from..from + count).map(|i| (format!("d{i}"), words(i, 60))).collect();
    for (id, text) in &model {
        add(&mut writer, id, text).unwrap();
    }
    writer.finish().unwrap();
    model
}

/// Copies the files of an index.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Every file of a directory, except locks, which readers may create.
fn files(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(path).unwrap().flatten().map(|entry| entry.path());
    let entries = entries.filter(|path| path.extension().is_none_or(|end| end != "lock"));
    entries.map(|path| (path.file_name().unwrap().into(), fs::read(&path).unwrap())).collect()
}

/// Asserts that the writer refuses everything with advice, permanently. A commit without documents
/// fails when it writes the list. A commit with documents fails earlier.
fn assert_refused(writer: &mut Writer, with_document: bool, what: &str) {
    let added = if with_document { add(writer, "new", &words(99, 60)) } else { Ok(()) };
    let error = added.and_then(|()| writer.commit_with("a note")).unwrap_err();
    assert!(matches!(error, Error::Index { .. } | Error::Corrupt(_)), "{what}: {error:?}");
    assert!(error.to_string().contains(what), "{what}: {error}");
    assert!(!writer.is_usable());
    writer.commit().unwrap_err();
}

/// A writer of the index at `path`, which has committed a document.
fn writing(path: &Path) -> Writer {
    let index = Index::open(path).unwrap();
    let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
    add(&mut writer, "first", &words(98, 60)).unwrap();
    writer.commit().unwrap();
    writer
}

#[test]
fn a_directory_that_takes_the_place_of_another_is_not_written_to() {
    // Each exchange puts the index `other` in the place of `cur`, a link to `v1`.
    let exchanges: [Exchange; 4] = [
        ("a link is switched", |dir| {
            fs::remove_file(dir.join("cur")).unwrap();
            symlink(dir.join("other"), dir.join("cur")).unwrap();
        }),
        ("the target of a link is renamed", |dir| {
            fs::rename(dir.join("v1"), dir.join("aside")).unwrap();
            fs::rename(dir.join("other"), dir.join("v1")).unwrap();
            symlink(dir.join("v1"), dir.join("other")).unwrap();
        }),
        ("a backup is put in the place of a removed index", |dir| {
            fs::remove_dir_all(dir.join("v1")).unwrap();
            fs::rename(dir.join("other"), dir.join("v1")).unwrap();
            symlink(dir.join("v1"), dir.join("other")).unwrap();
        }),
        ("a link takes the place of the directory", |dir| {
            fs::rename(dir.join("v1"), dir.join("aside")).unwrap();
            symlink(dir.join("other"), dir.join("v1")).unwrap();
        }),
    ];
    for (name, exchange) in exchanges {
        for with_document in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let path = |name: &str| dir.path().join(name);
            made(&path("v1"), 0, 3);
            let other = made(&path("other"), 10, 5);
            symlink(path("v1"), path("cur")).unwrap();
            let mut writer = writing(&path("cur"));
            let before = files(&path("other"));
            exchange(dir.path());
            assert_refused(
                &mut writer,
                with_document,
                "does not lead to the directory that was opened",
            );
            let index = writer.index().clone();
            drop(writer);
            // The old handle gets no writer of the new index. A newly opened path does.
            let error = index.writer(WriterOptions::default()).unwrap_err();
            assert!(error.to_string().contains("open the index again"), "{name}: {error}");
            assert!(files(&path("other")) == before, "{name}");
            let opened = Index::open(path("cur")).unwrap();
            assert_holds(&opened, &other);
            opened.writer(WriterOptions::default()).unwrap().finish().unwrap();
        }
    }
}

#[test]
fn a_directory_that_is_gone_acknowledges_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let mut model = made(&path("a"), 0, 3);
    let mut writer = writing(&path("a"));
    model.insert("first".into(), words(98, 60));
    fs::rename(path("a"), path("b")).unwrap();
    assert_refused(&mut writer, true, "does not lead to the directory that was opened");
    assert!(!path("a").exists());
    // Once put back, the index can be written to again, even through the old handle.
    fs::rename(path("b"), path("a")).unwrap();
    let index = writer.index().clone();
    drop(writer);
    assert_holds(&index, &model);
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    add(&mut writer, "new", &words(99, 60)).unwrap();
    writer.finish().unwrap();
    assert_eq!(index.snapshot().unwrap().documents(), 5);
}

#[test]
fn a_lock_that_is_removed_lets_no_two_writers_acknowledge() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    let mut model = made(&path, 0, 3);
    let mut first = writing(&path);
    model.insert("first".into(), words(98, 60));
    // An operator removes a supposedly stale lock.
    fs::remove_file(path.join(LOCK)).unwrap();
    let mut second = Index::open(&path).unwrap().writer(WriterOptions::default()).unwrap();
    for i in 20..25 {
        let (id, text) = (format!("d{i}"), words(i, 60));
        add(&mut second, &id, &text).unwrap();
        model.insert(id, text);
    }
    second.commit().unwrap();
    assert_refused(&mut first, true, "its lock `.tantivy-writer.lock` was removed or replaced");
    drop(first);
    // The first writer must not truncate or collect files of the second writer.
    let (id, text) = ("last".to_owned(), words(30, 60));
    add(&mut second, &id, &text).unwrap();
    model.insert(id, text);
    second.finish().unwrap();
    assert_holds(&Index::open(&path).unwrap(), &model);
    // Removing the lock is refused even without a second writer, because a second writer could come
    // anytime.
    let mut writer = writing(&path);
    fs::remove_file(path.join(LOCK)).unwrap();
    assert_refused(&mut writer, false, "open the index again");
    drop(writer);
    assert_holds(&Index::open(&path).unwrap(), &model);
}

#[test]
fn a_list_that_was_put_back_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let backup = made(&path("a"), 0, 3);
    copy(&path("a"), &path("backup"));
    let mut writer = writing(&path("a"));
    copy(&path("backup"), &path("a"));
    let before = files(&path("a"));
    assert_refused(
        &mut writer,
        false,
        "its list of segments, meta.json, is not the one that this writer left",
    );
    assert_eq!(fs::read(path("a/meta.json")).unwrap(), before[Path::new("meta.json")]);
    drop(writer);
    assert_holds(&Index::open(path("a")).unwrap(), &backup);
    // Without any list the index is unknown, and a new list would name this writer's.
    let mut writer = writing(&path("a"));
    fs::remove_file(path("a/meta.json")).unwrap();
    assert_refused(&mut writer, false, "is not the one that this writer left");
    assert!(!path("a/meta.json").exists());
}

#[test]
fn no_list_names_a_file_that_is_gone_or_cut() {
    for cut in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        made(&path, 0, 3);
        let mut writer = writing(&path);
        let signatures = fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path());
        let mut signatures = signatures.filter(|path| path.extension().is_some_and(|e| e == "sig"));
        let signatures = signatures.next().unwrap();
        let before = fs::read(path.join("meta.json")).unwrap();
        // A new file is written under the same name, because truncation would damage the memory
        // map.
        let bytes = fs::read(&signatures).unwrap();
        fs::remove_file(&signatures).unwrap();
        if cut {
            fs::write(&signatures, &bytes[..bytes.len() / 2]).unwrap();
        }
        assert_refused(&mut writer, true, if cut { "were written" } else { "it is missing" });
        assert_eq!(fs::read(path.join("meta.json")).unwrap(), before);
    }
}

#[test]
fn a_change_beside_the_index_keeps_no_writer_from_writing() {
    // A backup by links, new permissions and times, an unrelated file, a link to the index.
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    made(&path("v1"), 0, 3);
    symlink(path("v1"), path("cur")).unwrap();
    let mut writer = writing(&path("cur"));
    fs::create_dir(path("backup")).unwrap();
    for entry in fs::read_dir(path("v1")).unwrap().flatten() {
        fs::hard_link(entry.path(), path("backup").join(entry.file_name())).unwrap();
    }
    fs::set_permissions(path("v1/meta.json"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(path("v1"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(path("v1/notes.txt"), "mine").unwrap();
    // The same list, copied over itself, is the list.
    let list = fs::read(path("v1/meta.json")).unwrap();
    fs::remove_file(path("v1/meta.json")).unwrap();
    fs::write(path("v1/meta.json"), list).unwrap();
    // The link is replaced, but leads to the same directory.
    fs::remove_file(path("cur")).unwrap();
    symlink("v1", path("cur")).unwrap();
    writer.commit_with("a note").unwrap();
    add(&mut writer, "newer", &words(97, 60)).unwrap();
    writer.finish().unwrap();
    assert_eq!(Index::open(path("cur")).unwrap().snapshot().unwrap().documents(), 5);
}

#[test]
fn a_shard_that_was_exchanged_is_not_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    made(&path("shard"), 0, 3);
    let other = made(&path("other"), 10, 3);
    let shard = Index::open(path("shard")).unwrap();
    fs::rename(path("shard"), path("aside")).unwrap();
    fs::rename(path("other"), path("shard")).unwrap();
    let index = Index::create(path("all"), config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    let options = AddIndexesOptions::default().remove(true);
    let error = writer.add_indexes(&[shard], options).unwrap_err();
    assert!(error.to_string().contains("does not lead to the directory"), "{error}");
    assert_holds(&Index::open(path("shard")).unwrap(), &other);
}

/// A directory that calls a closure before the operation with this number.
#[derive(Clone)]
struct Watched {
    inner: Box<dyn Directory>,
    left: Arc<AtomicUsize>,
    happens: Arc<dyn Fn() + Send + Sync>,
}

impl Watched {
    fn count(&self) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            (self.happens)();
        }
    }
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watched")
    }
}

impl Directory for Watched {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.count();
        self.inner.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.count();
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.count();
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.count();
        self.inner.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.count();
        self.inner.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.count();
        self.inner.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.count();
        self.inner.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        self.count();
        self.inner.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }
}

/// Adds, replaces and removes documents in several commits, merges and compacts. `acknowledged`
/// gets the model of every acknowledged commit.
fn live(index: &Index, model: &mut Model, acknowledged: &mut Model) -> cento::Result<()> {
    let mut writer = index.writer(WriterOptions::default())?;
    for round in 0..10u64 {
        for (id, text) in
            [(format!("n{round}"), words(50 + round, 40)), ("d0".into(), words(70 + round, 40))]
        {
            add(&mut writer, &id, &text)?;
            model.insert(id, text);
        }
        if round == 5 {
            writer.remove("d1")?;
            model.remove("d1");
        }
        writer.commit()?;
        acknowledged.clone_from(model);
    }
    writer.finish()?;
    index.compact(1).map(|_| ())
}

#[test]
fn whichever_operation_an_exchange_precedes_nothing_is_overwritten_and_nothing_lost() {
    // While `idx` is written, the directory is moved aside and replaced before operation `n`. With
    // CENTO_FAULT_SEEDS in the environment, every operation is tried, and otherwise one of 61.
    let is_thorough = std::env::var_os("CENTO_FAULT_SEEDS").is_some();
    let kinds: [Exchange; 3] = [
        ("another comes", |dir| {
            fs::rename(dir.join("idx"), dir.join("aside")).unwrap();
            fs::rename(dir.join("other"), dir.join("idx")).unwrap();
        }),
        ("a backup comes", |dir| {
            fs::rename(dir.join("idx"), dir.join("aside")).unwrap();
            copy(&dir.join("backup"), &dir.join("idx"));
        }),
        ("nothing comes", |dir| fs::rename(dir.join("idx"), dir.join("aside")).unwrap()),
    ];
    for (name, exchange) in kinds {
        let mut n = 1;
        loop {
            let dir = tempfile::tempdir().unwrap();
            let path = |name: &str| dir.path().join(name);
            let mut model = made(&path("idx"), 0, 3);
            copy(&path("idx"), &path("backup"));
            made(&path("other"), 10, 5);
            let left = Arc::new(AtomicUsize::new(n));
            let at = dir.path().to_owned();
            let has_ended = Arc::new(AtomicBool::new(false));
            let end = has_ended.clone();
            let watched = Watched {
                inner: Box::new(MmapDirectory::open(path("idx")).unwrap()),
                left: left.clone(),
                happens: Arc::new(move || {
                    exchange(&at);
                    end.store(true, Ordering::SeqCst);
                }),
            };
            let before = match name {
                "another comes" => Some(files(&path("other"))),
                "a backup comes" => Some(files(&path("backup"))),
                _ => None,
            };
            let mut acknowledged = model.clone();
            let done = Index::open_in(watched, path("idx"))
                .and_then(|index| live(&index, &mut model, &mut acknowledged));
            let has_happened = left.load(Ordering::SeqCst) == 0 || left.load(Ordering::SeqCst) > n;
            if !has_happened {
                done.unwrap();
                break;
            }
            // The exchange may happen on any thread, and the writer may fail before the exchange is
            // complete.
            while !has_ended.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            match before {
                Some(before) => {
                    let after = files(&path("idx"));
                    let changed =
                        before.iter().filter(|(file, bytes)| after.get(*file) != Some(*bytes));
                    let changed: Vec<_> = changed.map(|(file, _)| file).collect();
                    assert!(changed.is_empty(), "{name}, operation {n}: {changed:?}");
                    // A file in the middle of its creation may exist, but no list names the file.
                    assert_eq!(Index::open(path("idx")).unwrap().check().unwrap().problems, []);
                }
                None => assert!(!path("idx/meta.json").exists(), "{name}, operation {n}"),
            }
            let held = contents(&Index::open(path("aside")).unwrap().snapshot().unwrap());
            // A commit in progress may have been completed.
            let is_right = held == acknowledged || held == model;
            assert!(is_right, "{name}, operation {n}: {done:?}");
            n += if is_thorough { 1 } else { 61 };
        }
        assert!(n > 60, "{name}: only {n} operations");
    }
}
