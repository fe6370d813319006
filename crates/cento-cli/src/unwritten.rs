//! Cleans up the new files and the new index of a command that is refused.

use std::path::{Path, PathBuf};

use super::outfile::{OutFile, is_stream};
use cento::index::Index;

/// The name of a new file. Dropping removes the file unless [`keep`](Self::keep) was called.
pub struct UnwrittenFile {
    path: PathBuf,
    is_kept: bool,
}

impl UnwrittenFile {
    /// Creates a file; a pipe or device was there before, and stays.
    ///
    /// # Errors
    /// As [`OutFile::create`].
    pub fn create(path: &Path) -> cento::Result<(OutFile, UnwrittenFile)> {
        let out = OutFile::create(path)?;
        Ok((out, UnwrittenFile { path: path.to_owned(), is_kept: is_stream(path) }))
    }

    pub fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Removes the file, even if it was to be kept.
    pub fn discard(mut self) {
        self.is_kept = is_stream(&self.path);
    }
}

impl Drop for UnwrittenFile {
    fn drop(&mut self) {
        if !self.is_kept {
            // The original error matters more than a file that cannot be removed.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Removes the index that a refused command created, so that you can repeat the command with
/// different options. An index stays if it has documents, or if another process writes to it.
pub fn remove_if_empty(index: Index) {
    // The command has already failed, and an index that stays without documents does no harm.
    let _ = index.remove_if_empty();
}
