//! Checked reads and durable commits on top of a tantivy directory.
//!
//! A thin layer over a tantivy directory, which is the memory-mapped one except in tests. The layer
//! adds five guarantees:
//!
//! - An atomic write is durable when it returns.
//! - Changes go only to the directory that was opened (`held`).
//! - The list of segments is verified at every read.
//! - A component has the listed length and checksum.
//! - The end of a small component, which leads to everything else, is verified when the component
//!   is opened, and the whole component before any other byte is used (`lazy`).
//!
//! Large components have their own checks. A `.sig` file has pages. In a `.store`, the index is
//! checked at opening, digests of documents when documents are read, and the whole file before a
//! merge.

mod unlisted;
mod withdrawals;

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use tantivy::HasLen;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, FileSlice, INDEX_WRITER_LOCK, Lock,
    META_LOCK, TerminatingWrite, WatchCallback, WatchHandle, WritePtr,
};

use super::component::{damage, footer, verify_end};
use super::features::UnknownFeatures;
use super::held_directory::HeldDirectory;
use super::lazy::{self, LazyFile, Verified};
use super::seal::{
    self, Adopted, Adoption, CarriedList, Component, Components, META, SealedSegments,
    WithdrawalsChange,
};
use super::store_file::Stores;
use crate::error::Error;
use crate::reason::Reason;
use crate::runtime::replace;
pub use unlisted::{UNFINISHED, is_temporary};

/// The extensions of components that verify themselves while they are read.
const SELF_CHECKED: [&str; 2] = ["sig", "store"];

/// tantivy's list of collectable files.
pub const MANAGED: &str = ".managed.json";

/// A tantivy directory with durable commits and verified reads.
#[derive(Clone)]
pub struct IndexDirectory {
    inner: Box<dyn Directory>,
    state: Arc<DirectoryState>,
}

#[derive(Default)]
struct DirectoryState {
    /// The directory, if it is in the file system.
    held: Option<Arc<HeldDirectory>>,
    /// Other files that the index cannot be opened without.
    others: Mutex<BTreeSet<PathBuf>>,
    /// The entries for files in the last list of segments. File names are never reused.
    listed: Mutex<Components>,
    /// Locked from reading or writing the list until `listed` is set. Otherwise a thread with an
    /// older copy of the list could overwrite a newer one.
    list: Mutex<()>,
    /// The adopted segments of other indexes, according to the last list.
    adopted: Mutex<Adopted>,
    /// The features of the last list that this version does not know.
    unknown_features: Mutex<UnknownFeatures>,
    /// The segments that the next commit adopts.
    adoption: Mutex<Option<Adoption>>,
    /// The change of withdrawals in the next commit.
    withdrawals: Mutex<Option<WithdrawalsChange>>,
    /// The content of tantivy's list of collectable files, while further files are announced.
    announced: Mutex<BTreeSet<String>>,
    /// Files to skip: future links (`Some`) and existing files (`None`).
    unwritten: Mutex<HashMap<PathBuf, Option<PathBuf>>>,
    /// Components whose checksum has been verified.
    verified: Verified,
    stores: Stores,
    /// How many times each thread holds the list of segments.
    holders: Mutex<HashMap<ThreadId, usize>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl IndexDirectory {
    /// Creates a layer over `inner`. `held` is the same directory if it is in the file system.
    pub fn new(inner: Box<dyn Directory>, held: Option<HeldDirectory>) -> IndexDirectory {
        let held = held.map(Arc::new);
        IndexDirectory {
            inner,
            state: Arc::new(DirectoryState { held, ..DirectoryState::default() }),
        }
    }

    /// Prevents every process from collecting files that the list of segments contains.
    ///
    /// Every file of a list that is read under this lock can be opened. A thread may take the lock
    /// several times. A reader without write access and without a file to lock holds nothing, and
    /// has to repeat opening when the list has changed.
    ///
    /// # Errors
    /// When the lock cannot be taken although the directory is writable.
    pub fn hold_list(&self) -> Result<ListHold, LockError> {
        let thread = std::thread::current().id();
        let is_held = locked(&self.state.holders).contains_key(&thread);
        let lock = if is_held { None } else { Some(self.lock_list()?) };
        *locked(&self.state.holders).entry(thread).or_default() += 1;
        Ok(ListHold { state: self.state.clone(), thread, _lock: lock, _not_send: PhantomData })
    }

    /// Records the features that tantivy's list requires.
    ///
    /// # Errors
    /// When reading requires a feature that this version lacks.
    fn check_features(&self, list: &[u8]) -> io::Result<()> {
        let unknown = UnknownFeatures::of(list)?;
        match unknown.problem_of_readers() {
            Some(what) => Err(self.of_other_version(what)),
            None => {
                *locked(&self.state.unknown_features) = unknown;
                Ok(())
            }
        }
    }

    /// Refuses to change an index whose list requires an unknown feature of writers.
    fn check_may_write(&self) -> io::Result<()> {
        let problem = locked(&self.state.unknown_features).problem_of_writers();
        problem.map_or(Ok(()), |what| Err(self.of_other_version(what)))
    }

    fn of_other_version(&self, what: String) -> io::Error {
        let path = self.root().unwrap_or(Path::new(META));
        io::Error::other(Error::index(path, Reason::OtherVersion, what))
    }

    fn lock_list(&self) -> Result<DirectoryLock, LockError> {
        match (self.root(), self.inner.acquire_lock(&META_LOCK)) {
            (Some(root), Err(LockError::IoError(error))) if is_denied(&error) => {
                // An open file is enough for a lock. If the file is missing or the file system has
                // no locks, no other process can hold the lock.
                let file = File::open(root.join(&META_LOCK.filepath));
                let locked = file.and_then(|file| file.lock().map(|()| file)).ok();
                Ok(DirectoryLock::from(Box::new(locked)))
            }
            (_, locked) => locked,
        }
    }

    /// Opens a component without checks, to find its damage.
    pub fn open_unchecked(&self, path: &Path) -> Result<FileSlice, OpenReadError> {
        self.inner.get_file_handle(path).map(FileSlice::new)
    }

    /// Opens the store at `path` without tantivy's footer, for a reader that checks every value.
    ///
    /// # Errors
    /// When the store cannot be opened, or has no footer.
    pub fn open_store(&self, path: &Path) -> Result<FileSlice, OpenReadError> {
        let failed = |e| OpenReadError::wrap_io_error(e, path.to_owned());
        let file = self.open_unchecked(path)?;
        Ok(footer(&path.display().to_string(), file).map_err(failed)?.1)
    }

    /// Compares the whole store at `path` with its checksum.
    ///
    /// # Errors
    /// When the store does not match or cannot be read. A missing store is not an error.
    pub fn verify_store(&self, path: &Path) -> io::Result<()> {
        let file = self.inner.get_file_handle(path);
        file.map_or(Ok(()), |file| self.state.stores.verify(path, &file))
    }

    /// Reads the list of segments from disk without verification.
    pub fn sealed_list(&self) -> Result<Vec<u8>, OpenReadError> {
        self.inner.atomic_read(Path::new(META))
    }

    /// Returns the entries for files in the list of segments that was last read or written.
    pub fn listed(&self) -> Components {
        locked(&self.state.listed).clone()
    }

    /// Returns the adopted segments of other indexes, according to the list of segments that was
    /// last read or written.
    pub fn adopted(&self) -> Adopted {
        locked(&self.state.adopted).clone()
    }

    /// Makes the list with the segments of `adoption` record where they come from.
    pub fn record(&self, adoption: Adoption) {
        *locked(&self.state.adoption) = Some(adoption);
    }

    /// Returns the path of the directory, if it is in the file system.
    pub fn root(&self) -> Option<&Path> {
        self.state.held.as_deref().map(HeldDirectory::root)
    }

    /// Returns the path for changing files of the directory, if it is in the file system. Valid as
    /// long as `self` lives.
    pub fn own(&self) -> Option<&Path> {
        self.state.held.as_deref().map(HeldDirectory::own)
    }

    /// Adds the names of future files to the list of collectable files, durably and in one write.
    /// tantivy adds each name separately, and syncing the list takes longer than writing most of
    /// these files, so the list is not written again for announced files until
    /// [`end_announcement`](Self::end_announcement).
    ///
    /// # Errors
    /// When the list cannot be read or written.
    pub fn announce(&self, names: impl IntoIterator<Item = String>) -> io::Result<()> {
        // Locked while the list is read and written, so that no name is lost in between.
        let mut announced = locked(&self.state.announced);
        let mut all: BTreeSet<String> = match self.inner.atomic_read(Path::new(MANAGED)) {
            Ok(list) => serde_json::from_slice(&list)?,
            Err(OpenReadError::FileDoesNotExist(_)) => BTreeSet::new(),
            Err(error) => return Err(io::Error::other(error)),
        };
        all.extend(names);
        self.replace(Path::new(MANAGED), &serde_json::to_vec(&all)?)?;
        *announced = all;
        Ok(())
    }

    /// Ends the announcement. tantivy's list is written unchanged again.
    pub fn end_announcement(&self) {
        locked(&self.state.announced).clear();
    }

    /// Writes tantivy's list of collectable files, including announced names. The list may contain
    /// files that are gone or were never created.
    fn write_managed(&self, list: &[u8]) -> io::Result<()> {
        let mut announced = locked(&self.state.announced);
        if announced.is_empty() {
            return self.replace(Path::new(MANAGED), list);
        }
        let names: BTreeSet<String> = serde_json::from_slice(list)?;
        if names.is_subset(&announced) {
            return Ok(());
        }
        let mut all = announced.clone();
        all.extend(names);
        self.replace(Path::new(MANAGED), &serde_json::to_vec(&all)?)?;
        *announced = all;
        Ok(())
    }

    /// Makes the next [`open_write`](Directory::open_write) of `path` link the durable file
    /// `source` and write nothing. The call goes through tantivy, which records the file before it
    /// exists, and collects it if no list contains it.
    pub fn link_next(&self, path: &Path, source: PathBuf) {
        locked(&self.state.unwritten).insert(path.to_owned(), Some(source));
    }

    /// Records a file that the index cannot be opened without.
    fn relies_on(&self, path: &Path) {
        if path != Path::new(MANAGED) {
            locked(&self.state.others).insert(path.to_owned());
        }
    }

    /// Checks that changes still go to the opened index, and that no second writer has taken over.
    ///
    /// # Errors
    /// When a different directory or lock has taken the place of the held one.
    pub fn check_writer(&self) -> io::Result<()> {
        self.state.held.as_ref().map_or(Ok(()), |held| held.check_writer())
    }

    /// Writes a whole file durably. An existing file is replaced.
    ///
    /// # Errors
    /// When the file cannot be written, or the directory has been exchanged.
    pub fn replace(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.replace_if(path, data, &|| self.check_writer())
    }

    /// Replaces the list of segments with `list`, which contains `components`.
    ///
    /// # Errors
    /// When the list cannot be written, when the list on disk is not the one that this writer left,
    /// and when a listed file is missing.
    pub fn replace_list(&self, list: &[u8], components: &Components) -> io::Result<()> {
        let Some(held) = &self.state.held else {
            return self.replace_if(Path::new(META), list, &|| Ok(()));
        };
        let others: Vec<PathBuf> = locked(&self.state.others).iter().cloned().collect();
        self.replace_if(Path::new(META), list, &|| held.check_list(components, &others))?;
        held.wrote_list(list);
        // If the directory was exchanged meanwhile, no reader will open the commit.
        held.check_directory()
    }

    /// Writes a file like [`replace`](Self::replace), but only if `check` succeeds both before
    /// writing and before the new file replaces the old one.
    fn replace_if(
        &self,
        path: &Path,
        data: &[u8],
        check: &dyn Fn() -> io::Result<()>,
    ) -> io::Result<()> {
        check()?;
        if let Some(held) = &self.state.held {
            // Not tantivy's writer, whose files only the owner may read.
            return replace::file_if(&held.own().join(path), data, check);
        }
        self.inner.atomic_write(path, data)?;
        // tantivy syncs the directory only before the rename. Without another sync, a power cut
        // could undo an acknowledged commit.
        self.inner.sync_directory()
    }

    /// Returns the length and checksum of a component, from the list or, if it is new, its footer.
    fn component(&self, name: &str) -> io::Result<Component> {
        if let Some(&component) = locked(&self.state.listed).get(name) {
            return Ok(component);
        }
        let file = self.open_unchecked(Path::new(name)).map_err(io::Error::other)?;
        let len = file.len() as u64;
        let tail = match is_self_checked(Path::new(name)) {
            true => None,
            false => Some(lazy::tail_crc(&file)?),
        };
        Ok(Component { len, crc: footer(name, file)?.0.crc, tail })
    }

    fn is_listed(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|name| locked(&self.state.listed).contains_key(name))
    }

    /// Returns a handle that verifies every byte of the component before it is used.
    fn checked(&self, path: &Path, handle: Arc<dyn FileHandle>) -> io::Result<Arc<dyn FileHandle>> {
        let name = path.display().to_string();
        let file = FileSlice::new(handle.clone());
        let listed = locked(&self.state.listed).get(&name).copied();
        match listed {
            Some(component) => verify_end(&name, &file, component)?,
            None => drop(footer(&name, file.clone())?),
        }
        if path.extension() == Some(OsStr::new("store")) {
            return Ok(Arc::new(self.state.stores.open(path, handle)?));
        }
        if is_self_checked(path) {
            return Ok(handle);
        }
        let mut lazy = LazyFile::new(path, handle, &self.state.verified);
        if let Some(root) = self.root() {
            lazy = lazy.in_directory(root);
        }
        match listed.and_then(|component| component.tail) {
            Some(tail) => lazy.verify_tail(tail)?,
            None => lazy.verify()?,
        }
        Ok(Arc::new(lazy))
    }
}

/// Returns whether a component verifies itself while it is read.
fn is_self_checked(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or("");
    SELF_CHECKED.contains(&extension)
}

/// A writer that ignores the input, because the file is already complete.
struct NoOpWriter;

impl io::Write for NoOpWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for NoOpWriter {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps the listed files from being collected until it is dropped.
pub struct ListHold {
    state: Arc<DirectoryState>,
    thread: ThreadId,
    _lock: Option<DirectoryLock>,
    /// The hold counts per thread, so it must not move to another thread.
    _not_send: PhantomData<*const ()>,
}

impl Drop for ListHold {
    fn drop(&mut self) {
        let mut holders = locked(&self.state.holders);
        if let Some(times) = holders.get_mut(&self.thread) {
            *times -= 1;
            if *times == 0 {
                holders.remove(&self.thread);
            }
        }
    }
}

pub fn is_denied(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

impl fmt::Debug for IndexDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IndexDirectory({:?})", self.inner)
    }
}

impl Directory for IndexDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let failed = |e| OpenReadError::wrap_io_error(e, path.to_owned());
        let handle = self.inner.get_file_handle(path).map_err(|e| match e {
            // tantivy treats a missing file of positions as an empty one.
            OpenReadError::FileDoesNotExist(_) if self.is_listed(path) => {
                failed(damage(&path.display().to_string(), "it is missing"))
            }
            other => other,
        })?;
        self.checked(path, handle).map_err(failed)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => DeleteError::FileDoesNotExist(path.to_owned()),
            _ => DeleteError::IoError { io_error: Arc::new(error), filepath: path.to_owned() },
        };
        self.check_writer().map_err(failed)?;
        let Some(held) = &self.state.held else { return self.inner.delete(path) };
        std::fs::remove_file(held.own().join(path)).map_err(failed)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let failed = |e| OpenWriteError::wrap_io_error(e, path.to_owned());
        self.check_writer().map_err(failed)?;
        let unwritten = locked(&self.state.unwritten).remove(path);
        let (Some(source), Some(held)) = (unwritten, &self.state.held) else {
            return self.inner.open_write(path);
        };
        if let Some(source) = source {
            std::fs::hard_link(source, held.own().join(path)).map_err(failed)?;
        }
        Ok(io::BufWriter::new(Box::new(NoOpWriter)))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        if path != Path::new(META) {
            let bytes = self.inner.atomic_read(path)?;
            self.relies_on(path);
            return Ok(bytes);
        }
        let _list = locked(&self.state.list);
        let bytes = self.inner.atomic_read(path)?;
        let SealedSegments { json, components, adopted } = seal::unseal(&bytes)
            .map_err(|e| OpenReadError::wrap_io_error(io::Error::other(e), path.to_owned()))?;
        self.check_features(&json).map_err(|e| OpenReadError::wrap_io_error(e, path.to_owned()))?;
        *locked(&self.state.listed) = components;
        *locked(&self.state.adopted) = adopted;
        Ok(json)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        if path == Path::new(META) {
            self.check_may_write()?;
            let _list = locked(&self.state.list);
            let (before, adoption) = (self.adopted(), locked(&self.state.adoption));
            let (withdrawals, change) = (self.withdrawals(), locked(&self.state.withdrawals));
            let carried = CarriedList {
                adopted: &before,
                adoption: adoption.as_ref(),
                withdrawals: withdrawals.as_deref(),
                change: change.as_ref(),
            };
            let sealed = seal::seal(data, carried, |name| self.component(name))?;
            self.replace_list(&sealed.json, &sealed.components)?;
            *locked(&self.state.listed) = sealed.components;
            *locked(&self.state.adopted) = sealed.adopted;
            return Ok(());
        }
        if path == Path::new(MANAGED) {
            return self.write_managed(data);
        }
        self.replace(path, data)?;
        self.relies_on(path);
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.inner.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        if let (true, Some(held)) = (lock.filepath == INDEX_WRITER_LOCK.filepath, &self.state.held)
        {
            self.check_may_write().map_err(LockError::wrap_io_error)?;
            return Ok(DirectoryLock::from(Box::new(held.lock_writer()?)));
        }
        if lock.filepath != META_LOCK.filepath {
            return self.inner.acquire_lock(lock);
        }
        // tantivy takes this lock while it opens segments. The thread may hold the lock already,
        // and taking it twice would deadlock.
        let thread = std::thread::current().id();
        if locked(&self.state.holders).contains_key(&thread) {
            return Ok(DirectoryLock::from(Box::new(())));
        }
        self.lock_list()
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use crate::index::{Config, Document, Index, WriterOptions};

    #[test]
    fn a_cached_list_is_never_older_than_the_last_commit() {
        // A reader read the list before a commit, and cached it afterwards. The files of the commit
        // then looked unfinished.
        let config = Config::new("kgram(k=1)", "words", false).unwrap();
        let index = Index::in_memory(config).unwrap();
        let mut writer =
            index.writer(WriterOptions::default().memory_bytes(0usize).merge(false)).unwrap();
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_done.load(Ordering::Relaxed) {
                        index.tantivy().load_metas().unwrap();
                    }
                });
            }
            let mut stale = 0;
            for i in 0..100 {
                let document = Document::new(i.to_string(), "a text");
                writer.add(document).unwrap();
                writer.commit().unwrap();
                let listed = index.directory().listed();
                index.tantivy().load_metas().unwrap();
                stale += usize::from(listed.len() != index.directory().listed().len());
            }
            is_done.store(true, Ordering::Relaxed);
            assert_eq!(stale, 0);
        });
    }
}
