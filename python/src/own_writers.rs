//! The indexes that this process is writing to: so that the message about a lock does not speak of
//! another process when it is this one.

use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, PoisonError};

/// The directories, each with the process that writes to it: a fork copies them.
static OWN: Mutex<Vec<(u32, PathBuf)>> = Mutex::new(Vec::new());

/// A writer of this process, until it is dropped.
pub struct OwnWriter {
    entry: (u32, PathBuf),
}

impl OwnWriter {
    /// Remembers that this process writes to the index at `path`.
    pub fn new(path: &Path) -> OwnWriter {
        let entry = (process::id(), real(path));
        OWN.lock().unwrap_or_else(PoisonError::into_inner).push(entry.clone());
        OwnWriter { entry }
    }

    /// Returns whether this process writes to the index at `path`.
    pub fn is_at(path: &Path) -> bool {
        let asked = (process::id(), real(path));
        OWN.lock().unwrap_or_else(PoisonError::into_inner).contains(&asked)
    }
}

impl Drop for OwnWriter {
    fn drop(&mut self) {
        let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = own.iter().position(|entry| *entry == self.entry) {
            own.swap_remove(at);
        }
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
