//! A directory that loses what was not synced.
//!
//! It keeps what a running process sees apart from what would survive a power cut. It can be told
//! to fail for good at its n-th change, and then to show what is left on disk: files that were
//! never synced hold any part of what was written, and changes of names since the last sync of
//! the directory have happened or not, each for itself.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use cento::hash::mix64;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, OwnedBytes, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};

/// The directory.
#[derive(Clone)]
pub struct SimDirectory {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// What a process sees: the file behind each name.
    names: BTreeMap<PathBuf, usize>,
    /// What survives: the file behind each name at the last sync of the directory.
    durable: BTreeMap<PathBuf, usize>,
    files: Vec<File>,
    changes: usize,
    fails_at: Option<usize>,
    locked: HashMap<PathBuf, Arc<()>>,
    /// Files that were deleted while the durable list of segments named them.
    deleted_too_early: Vec<PathBuf>,
}

#[derive(Clone, Default)]
struct File {
    bytes: Vec<u8>,
    is_synced: bool,
}

impl State {
    fn change(&mut self) -> io::Result<()> {
        self.changes += 1;
        match self.fails_at {
            Some(at) if self.changes > at => Err(io::Error::other("the power is out")),
            _ => Ok(()),
        }
    }

    fn create(&mut self, path: &Path, file: File) -> usize {
        self.files.push(file);
        self.names.insert(path.to_owned(), self.files.len() - 1);
        self.files.len() - 1
    }
}

impl SimDirectory {
    /// An empty directory.
    pub fn new() -> SimDirectory {
        SimDirectory { state: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Lets `changes` more changes succeed and none after them.
    pub fn fail_after(&self, changes: usize) {
        let mut state = self.lock();
        state.fails_at = Some(state.changes + changes);
    }

    /// Whether a change has failed.
    pub fn has_failed(&self) -> bool {
        let state = self.lock();
        state.fails_at.is_some_and(|at| state.changes > at)
    }

    /// Files that were deleted while they were still needed after a crash.
    pub fn deleted_too_early(&self) -> Vec<PathBuf> {
        self.lock().deleted_too_early.clone()
    }

    /// What a power cut leaves; which of the possible outcomes, the seed decides.
    pub fn after_power_cut(&self, seed: u64) -> SimDirectory {
        let state = self.lock();
        let mut draws = 0;
        let mut draw = || {
            draws += 1;
            mix64(seed ^ mix64(draws))
        };
        let mut names = state.durable.clone();
        let changed: Vec<&PathBuf> =
            state.names.keys().chain(state.durable.keys()).collect::<Vec<_>>();
        for path in changed {
            if state.names.get(path) != state.durable.get(path) && draw().is_multiple_of(2) {
                match state.names.get(path) {
                    Some(&file) => names.insert(path.clone(), file),
                    None => names.remove(path),
                };
            }
        }
        let mut after = State::default();
        for (path, file) in names {
            let mut file = state.files[file].clone();
            if !file.is_synced {
                let kept = draw() as usize % (file.bytes.len() + 1);
                file.bytes.truncate(kept);
                if draw().is_multiple_of(2) {
                    // The size arrived and the content did not.
                    file.bytes.iter_mut().for_each(|byte| *byte = 0);
                }
            }
            file.is_synced = true;
            after.create(&path, file);
        }
        after.durable = after.names.clone();
        SimDirectory { state: Arc::new(Mutex::new(after)) }
    }
}

impl fmt::Debug for SimDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SimDirectory")
    }
}

struct SimWriter {
    directory: SimDirectory,
    file: usize,
}

impl Write for SimWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.directory.lock();
        state.change()?;
        state.files[self.file].bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for SimWriter {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        let mut state = self.directory.lock();
        state.change()?;
        state.files[self.file].is_synced = true;
        Ok(())
    }
}

struct Unlock(Arc<()>);

impl Directory for SimDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let bytes = self.atomic_read(path)?;
        Ok(Arc::new(OwnedBytes::new(bytes)))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let mut state = self.lock();
        state.change().map_err(|e| DeleteError::IoError {
            io_error: Arc::new(e),
            filepath: path.to_owned(),
        })?;
        let meta = state.durable.get(Path::new("meta.json")).map(|&file| &state.files[file].bytes);
        let meta = meta.map(|bytes| String::from_utf8_lossy(bytes).replace('-', ""));
        let name = path.display().to_string();
        let segment = name.split('.').next().unwrap_or_default();
        // A `.del` of an older commit goes while its segment stays.
        if !name.ends_with(".del") && meta.is_some_and(|meta| meta.contains(segment)) {
            state.deleted_too_early.push(path.to_owned());
        }
        match state.names.remove(path) {
            Some(_) => Ok(()),
            None => Err(DeleteError::FileDoesNotExist(path.to_owned())),
        }
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.lock().names.contains_key(path))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let mut state = self.lock();
        state.change().map_err(|e| OpenWriteError::wrap_io_error(e, path.to_owned()))?;
        if state.names.contains_key(path) {
            return Err(OpenWriteError::FileAlreadyExists(path.to_owned()));
        }
        let file = state.create(path, File::default());
        let writer = SimWriter { directory: self.clone(), file };
        Ok(BufWriter::new(Box::new(writer)))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let state = self.lock();
        match state.names.get(path) {
            Some(&file) => Ok(state.files[file].bytes.clone()),
            None => Err(OpenReadError::FileDoesNotExist(path.to_owned())),
        }
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        state.change()?;
        // Written to another name, synced, renamed: the content is safe, the name is not yet.
        state.create(path, File { bytes: data.to_vec(), is_synced: true });
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        let mut state = self.lock();
        state.change()?;
        state.durable = state.names.clone();
        Ok(())
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        loop {
            let mut state = self.lock();
            let held = state.locked.entry(lock.filepath.clone()).or_default();
            if Arc::strong_count(held) == 1 {
                return Ok(DirectoryLock::from(Box::new(Unlock(held.clone()))));
            }
            if !lock.is_blocking {
                return Err(LockError::LockBusy);
            }
            drop(state);
            std::thread::yield_now();
        }
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
