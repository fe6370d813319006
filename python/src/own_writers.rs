//! Remembers which indexes this process writes to, so that a message about a lock does not blame a
//! different process.

use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, PoisonError};

/// Directories with the id of the writing process, because a fork copies the list.
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
