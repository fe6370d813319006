//! What is hidden, and so left out?

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ignore::DirEntry;

/// Why something hidden is left out.
pub const HIDDEN: &str = "it is hidden; --all reads it";

/// Keeps a walk out of what is hidden, and remembers that.
#[derive(Clone, Default)]
pub struct Hidden {
    left_out: Arc<Mutex<Vec<PathBuf>>>,
}

impl Hidden {
    /// Whether the walk may go there. Where it begins was named, hidden or not.
    pub fn passes(&self, entry: &DirEntry) -> bool {
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if entry.depth() == 0 || !is_hidden {
            return true;
        }
        let mut left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        left_out.push(entry.path().to_owned());
        false
    }

    /// What was left out since the last time.
    pub fn left_out(&self) -> Vec<PathBuf> {
        std::mem::take(&mut *self.left_out.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
