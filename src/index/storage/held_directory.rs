//! Keeps the directory and the lock of an index open while the index is written.
//!
//! A path can later lead to another index: operators switch a link, restore a backup, rename a
//! directory, mount a file system over it, or delete a lock that looks stale. A writer relying on
//! the path would then replace the wrong list of segments. This module keeps the directory and the
//! lock file open. Before each change, it compares them with the targets of their paths. Before
//! replacing the list of segments, it also compares the old list byte by byte, and the lengths of
//! the newly listed files.
//!
//! On Linux an open directory has its own path (`/proc/self/fd`). Files are created, renamed and
//! removed through that path, so an exchange after the comparison does not redirect them, and the
//! comparison is repeated before a commit is reported. On other systems, an exchange of the
//! directory between the comparison and the rename goes unnoticed. On every system, the same is
//! true for a list that is copied into the directory at that moment.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use same_file::Handle;
use tantivy::directory::INDEX_WRITER_LOCK;
use tantivy::directory::error::LockError;

use super::component::damage;
use super::seal::{Components, META};
use crate::error::{Error, Result};
use crate::hash::Digest;
use crate::reason::Reason;

/// How often to take the lock again when its file is replaced meanwhile.
const LOCK_TRIES: usize = 10;

/// The directory of an index, kept open.
pub struct HeldDirectory {
    /// The given path, made absolute. Readers find the index through this path.
    given: PathBuf,
    /// The path with links resolved, for reading files.
    root: PathBuf,
    /// The path of the open directory itself, valid while it is open. Equal to `root` on systems
    /// without such a path.
    own: PathBuf,
    directory: Handle,
    /// The writer's lock and list, if the writer is in this process.
    writer: Mutex<Option<Holding>>,
}

/// What the only writer of an index holds.
struct Holding {
    /// The lock file. Closing the file releases the lock.
    lock: Handle,
    /// The digest of the list of segments when the lock was taken, or as this writer last wrote it.
    /// `None` if there was no list.
    list: Option<Digest>,
}

/// The lock of the only writer. Released when dropped.
pub struct WriterLock(Arc<HeldDirectory>);

impl Drop for WriterLock {
    fn drop(&mut self) {
        let Some(holding) = self.0.writer().take() else { return };
        // Unlock before closing. If a thread is just starting a child process, the child has a copy
        // of the open file until the program is executed, and would keep the lock until then.
        if let Err(error) = holding.lock.as_file().unlock() {
            log::warn!("cannot release the lock of {}: {error}", self.0.root.display());
        }
    }
}

impl HeldDirectory {
    /// Opens the directory at `path` and keeps it open.
    ///
    /// # Errors
    /// When the directory cannot be found or opened.
    pub fn open(path: &Path) -> Result<HeldDirectory> {
        let held = || {
            let (given, root) = (std::path::absolute(path)?, path.canonicalize()?);
            let directory = Handle::from_path(&root)?;
            let own = own_path(&directory).unwrap_or_else(|| root.clone());
            Ok(HeldDirectory { given, root, own, directory, writer: Mutex::default() })
        };
        held().map_err(|e| Error::io("open", path, e))
    }

    /// Returns the path of the directory with links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path for changing files of the directory. Valid as long as `self` lives.
    pub fn own(&self) -> &Path {
        &self.own
    }

    fn writer(&self) -> MutexGuard<'_, Option<Holding>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock of the only writer.
    ///
    /// # Errors
    /// `LockBusy` when a different writer has the lock. When the lock cannot be taken, or the
    /// directory was exchanged.
    pub fn lock_writer(self: &Arc<HeldDirectory>) -> std::result::Result<WriterLock, LockError> {
        let failed = LockError::wrap_io_error;
        self.check_directory().map_err(failed)?;
        let path = self.own.join(&INDEX_WRITER_LOCK.filepath);
        for _ in 0..LOCK_TRIES {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
            let file = file.map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(LockError::LockBusy),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            let lock = Handle::from_file(file).map_err(failed)?;
            // Try again: a file removed between opening and locking excludes no process.
            if is_at(&lock, &path).map_err(failed)? {
                let list = self.list().map_err(failed)?;
                *self.writer() = Some(Holding { lock, list });
                return Ok(WriterLock(self.clone()));
            }
        }
        Err(LockError::LockBusy)
    }

    /// Returns whether a writer has the lock. Do not poll: a writer that requests the lock at the
    /// same moment may be refused.
    pub fn is_written(&self) -> bool {
        if self.writer().is_some() {
            return true;
        }
        // Without the file there is no writer. If it cannot be opened, a writer may exist.
        let lock = File::open(self.own.join(&INDEX_WRITER_LOCK.filepath));
        lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Checks that two paths still lead to the open directory: the given path, and the path for
    /// writing files.
    ///
    /// # Errors
    /// When a path leads to a different directory, or nowhere.
    pub fn check_directory(&self) -> io::Result<()> {
        if is_at(&self.directory, &self.given)? && is_at(&self.directory, &self.root)? {
            return Ok(());
        }
        self.refused(
            "the path does not lead to the directory that was opened: it was moved, removed or \
             replaced, or a link or mount was changed; nothing was written there; put the \
             directory back, or open the index again",
        )
    }

    /// Checks the directory and, if this process has the only writer, the lock.
    ///
    /// # Errors
    /// When the directory or the lock was replaced or is gone.
    pub fn check_writer(&self) -> io::Result<()> {
        self.check_directory()?;
        match &*self.writer() {
            Some(holding) => self.check_lock(holding),
            None => Ok(()),
        }
    }

    fn check_lock(&self, holding: &Holding) -> io::Result<()> {
        let path = self.own.join(&INDEX_WRITER_LOCK.filepath);
        if is_at(&holding.lock, &path)? {
            return Ok(());
        }
        self.refused(&format!(
            "its lock `{}` was removed or replaced while this writer held it, so another may have \
             written to the index; nothing was written; open the index again (the lock is never \
             stale: the system releases it when its process ends)",
            INDEX_WRITER_LOCK.filepath.display()
        ))
    }

    /// Checks that the list of segments may be replaced with a list of `components` and `others`.
    ///
    /// # Errors
    /// When the directory, lock or list was exchanged since this writer's last change, and when a
    /// listed file is missing or has a wrong length.
    pub fn check_list(&self, components: &Components, others: &[PathBuf]) -> io::Result<()> {
        self.check_directory()?;
        // An index that is being created has neither a lock nor a list.
        if let Some(holding) = &*self.writer() {
            self.check_lock(holding)?;
            if self.list()? != holding.list {
                return self.refused(
                    "its list of segments, meta.json, is not the one that this writer left: \
                     another index or a copy was put in its place; nothing was written; open the \
                     index again",
                );
            }
        }
        for (name, component) in components {
            let found = self.len(Path::new(name))?;
            if found != Some(component.len) {
                let what = match found {
                    None => "it is missing".to_owned(),
                    Some(len) => format!("it has {len} bytes, but {} were written", component.len),
                };
                return Err(damage(name, what));
            }
        }
        for name in others {
            if self.len(name)?.is_none() {
                return Err(damage(&name.display().to_string(), "it is missing"));
            }
        }
        Ok(())
    }

    /// Records that this writer has replaced the list of segments with `list`.
    pub fn wrote_list(&self, list: &[u8]) {
        if let Some(holding) = &mut *self.writer() {
            holding.list = Some(Digest::of(list));
        }
    }

    /// Returns the digest of the list of segments, if there is a list.
    fn list(&self) -> io::Result<Option<Digest>> {
        match std::fs::read(self.own.join(META)) {
            Ok(list) => Ok(Some(Digest::of(&list))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the length of a file, if it exists.
    fn len(&self, name: &Path) -> io::Result<Option<u64>> {
        match std::fs::metadata(self.own.join(name)) {
            Ok(found) => Ok(Some(found.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn refused(&self, what: &str) -> io::Result<()> {
        Err(io::Error::other(Error::index(&self.given, Reason::Replaced, what)))
    }
}

/// Returns a path that always leads to the open directory, even after a rename.
#[cfg(target_os = "linux")]
fn own_path(directory: &Handle) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    let path = PathBuf::from(format!("/proc/self/fd/{}", directory.as_file().as_raw_fd()));
    // /proc may not be mounted.
    is_at(directory, &path).unwrap_or(false).then_some(path)
}

#[cfg(not(target_os = "linux"))]
fn own_path(_: &Handle) -> Option<PathBuf> {
    None
}

/// Returns whether `path` leads to the open file or directory.
fn is_at(held: &Handle, path: &Path) -> io::Result<bool> {
    match Handle::from_path(path) {
        Ok(found) => Ok(found == *held),
        // The directory was renamed away, or a parent was replaced by a file.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_released_though_a_process_that_is_just_starting_has_it_too() {
        // Between fork and exec, a child process has every open file. A service reopened its writer
        // while another thread started a process: the writer was refused, and the service counted
        // acknowledged documents as lost.
        let dir = tempfile::tempdir().unwrap();
        let held = Arc::new(HeldDirectory::open(dir.path()).unwrap());
        for _ in 0..2 {
            let lock = held.lock_writer().unwrap();
            assert!(matches!(held.lock_writer(), Err(LockError::LockBusy)));
            let of_the_child = held.writer().as_ref().unwrap().lock.as_file().try_clone().unwrap();
            drop(lock);
            drop(held.lock_writer().unwrap());
            drop(of_the_child);
        }
    }
}
