//! New files that a refused command leaves behind.

use std::path::{Path, PathBuf};

use super::outfile::is_stream;

/// A new file, which is removed unless it is kept: of a command that ends before it writes.
pub struct Unused(Option<PathBuf>);

impl Unused {
    /// Notes a file that was just created; a pipe or device was there before.
    pub fn new(path: &Path) -> Unused {
        Unused(Some(path.to_owned()).filter(|path| !is_stream(path)))
    }

    /// Keeps it.
    pub fn keep(&mut self) {
        self.0 = None;
    }
}

impl Drop for Unused {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // The error that ends the command is worse than a file that cannot be removed.
            let _ = std::fs::remove_file(path);
        }
    }
}
