//! A directory that loses unsynced data and fails on request.
//!
//! The directory keeps two states apart: what a running process sees, and what survives a power
//! cut. After a power cut, a file has any subset of the unsynced writes, and ends where some write
//! ended. Every change of a name since the last sync of the directory has happened or not,
//! independently.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use cento::hash::mix64;
use cento::tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use cento::tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, OwnedBytes, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};

/// A fault. Operations are counted from 0, and the number selects the failing operation.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// Every operation fails, starting with this operation.
    PowerCut(usize),
    /// From this operation on there is no space for anything new.
    NoSpace(usize),
    /// This write fails, and later operations succeed.
    WriteError(usize),
    /// This sync of a file or of the directory fails, and no later sync saves its data.
    SyncError(usize),
}

/// An operation that changes the directory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Create,
    Write,
    Sync,
    Delete,
}

/// A directory in memory that keeps apart what a process sees and what survives a power cut.
#[derive(Clone, Default)]
pub struct SimDirectory {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The state for processes: files by name.
    names: BTreeMap<PathBuf, usize>,
    /// The state that survives: files by name at the last sync of the directory.
    durable: BTreeMap<PathBuf, usize>,
    files: Vec<File>,
    fault: Option<Fault>,
    /// Operations since the fault was injected. Counts only the kind that the fault selects.
    counted: usize,
    has_failed: bool,
    /// Syncs report success and do nothing.
    ignores_syncs: bool,
    locked: HashMap<PathBuf, Arc<()>>,
    /// Files deleted while the durable list of segments named the files.
    deleted_too_early: Vec<PathBuf>,
}

#[derive(Clone, Default)]
struct File {
    bytes: Vec<u8>,
    /// The ends of all writes since the file was created. A sync empties the list.
    unsynced: Vec<usize>,
}

impl State {
    fn operate(&mut self, operation: Operation) -> io::Result<()> {
        let Some(fault) = self.fault else { return Ok(()) };
        let (at, is_counted) = match fault {
            Fault::PowerCut(at) | Fault::NoSpace(at) => (at, true),
            Fault::WriteError(at) => (at, operation == Operation::Write),
            Fault::SyncError(at) => (at, operation == Operation::Sync),
        };
        if !is_counted {
            return Ok(());
        }
        self.counted += 1;
        let number = self.counted - 1;
        let error = match fault {
            Fault::PowerCut(_) if number >= at => io::Error::other("the power is out"),
            Fault::NoSpace(_)
                if number >= at && matches!(operation, Operation::Create | Operation::Write) =>
            {
                // 28 is ENOSPC on Linux.
                io::Error::from_raw_os_error(28)
            }
            Fault::WriteError(_) | Fault::SyncError(_) if number == at => {
                // 5 is EIO on Linux.
                io::Error::from_raw_os_error(5)
            }
            _ => return Ok(()),
        };
        self.has_failed = true;
        Err(error)
    }

    fn create(&mut self, path: &Path, file: File) -> usize {
        self.files.push(file);
        self.names.insert(path.to_owned(), self.files.len() - 1);
        self.files.len() - 1
    }
}

impl SimDirectory {
    /// An empty directory whose syncs do nothing.
    pub fn without_syncs() -> SimDirectory {
        let directory = SimDirectory::default();
        directory.lock().ignores_syncs = true;
        directory
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Lets operations fail from now on, by this fault.
    pub fn inject(&self, fault: Fault) {
        let mut state = self.lock();
        (state.fault, state.counted, state.has_failed) = (Some(fault), 0, false);
    }

    /// Lets operations succeed from now on.
    pub fn repair(&self) {
        self.lock().fault = None;
    }

    /// How many operations the fault has counted.
    pub fn counted(&self) -> usize {
        self.lock().counted
    }

    /// Whether an operation has failed.
    pub fn has_failed(&self) -> bool {
        self.lock().has_failed
    }

    /// Files deleted too early, because the durable list of segments still named the files.
    pub fn deleted_too_early(&self) -> Vec<PathBuf> {
        self.lock().deleted_too_early.clone()
    }

    /// The directory after the process is killed and the system goes on.
    pub fn after_kill(&self) -> SimDirectory {
        let state = self.lock();
        let (names, durable) = (state.names.clone(), state.durable.clone());
        let files = state.files.clone();
        let ignores_syncs = state.ignores_syncs;
        let after = State { names, durable, files, ignores_syncs, ..State::default() };
        SimDirectory { state: Arc::new(Mutex::new(after)) }
    }

    /// The directory after a power cut; the seed selects one of the possible outcomes.
    pub fn after_power_cut(&self, seed: u64) -> SimDirectory {
        let state = self.lock();
        let mut draws = 0;
        let mut draw = |below: usize| {
            draws += 1;
            (mix64(seed ^ mix64(draws)) % below as u64) as usize
        };
        let mut names = state.durable.clone();
        let paths: BTreeSet<&PathBuf> = state.names.keys().chain(state.durable.keys()).collect();
        for path in paths {
            if state.names.get(path) != state.durable.get(path) && draw(2) == 0 {
                match state.names.get(path) {
                    Some(&file) => names.insert(path.clone(), file),
                    None => names.remove(path),
                };
            }
        }
        let mut after = State { ignores_syncs: state.ignores_syncs, ..State::default() };
        for (path, file) in names {
            let bytes = state.files[file].after_power_cut(&mut draw);
            after.create(&path, File { bytes, unsynced: Vec::new() });
        }
        after.durable = after.names.clone();
        SimDirectory { state: Arc::new(Mutex::new(after)) }
    }
}

impl File {
    /// The file after a power cut: any subset of the unsynced writes, and any of the sizes.
    fn after_power_cut(&self, draw: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
        if self.unsynced.is_empty() {
            return self.bytes.clone();
        }
        let mut left = vec![0; self.bytes.len()];
        let mut start = 0;
        for &end in &self.unsynced {
            let kept = match draw(3) {
                0 => start..start,
                1 => start..end,
                _ => start..start + draw(end - start + 1),
            };
            left[kept.clone()].copy_from_slice(&self.bytes[kept]);
            start = end;
        }
        let sizes = self.unsynced.len() + 1;
        let len = match draw(sizes + 1) {
            0 => 0,
            n if n < sizes => self.unsynced[n - 1],
            _ => draw(self.bytes.len() + 1),
        };
        left.truncate(len);
        left
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
        state.operate(Operation::Write)?;
        let file = &mut state.files[self.file];
        file.bytes.extend_from_slice(bytes);
        file.unsynced.push(file.bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for SimWriter {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        let mut state = self.directory.lock();
        state.operate(Operation::Sync)?;
        if !state.ignores_syncs {
            state.files[self.file].unsynced.clear();
        }
        Ok(())
    }
}

/// Held while a file is locked. The reference count shows whether a lock is held.
#[expect(dead_code, reason = "it is held, and not read")]
struct Unlock(Arc<()>);

impl Directory for SimDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let bytes = self.atomic_read(path)?;
        Ok(Arc::new(OwnedBytes::new(bytes)))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let mut state = self.lock();
        state.operate(Operation::Delete).map_err(|e| DeleteError::IoError {
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
        let operated = state.operate(Operation::Create);
        operated.map_err(|e| OpenWriteError::wrap_io_error(e, path.to_owned()))?;
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
        // Written to another name, synced, renamed: the content is safe, the name is not yet.
        state.operate(Operation::Write)?;
        state.operate(Operation::Sync)?;
        state.operate(Operation::Create)?;
        let unsynced = if state.ignores_syncs { vec![data.len()] } else { Vec::new() };
        state.create(path, File { bytes: data.to_vec(), unsynced });
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        let mut state = self.lock();
        state.operate(Operation::Sync)?;
        if !state.ignores_syncs {
            state.durable = state.names.clone();
        }
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

    fn watch(&self, _: WatchCallback) -> cento::tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
