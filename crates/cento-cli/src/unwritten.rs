//! New files that a refused command leaves behind.

use std::path::{Path, PathBuf};

use super::outfile::{OutFile, is_stream};

/// The name of a new file, which is removed unless it is kept: of a command that ends before it
/// writes.
pub struct UnwrittenFile(Option<PathBuf>);

impl UnwrittenFile {
    /// Creates a file; a pipe or device was there before, and stays.
    ///
    /// # Errors
    /// As [`OutFile::create`].
    pub fn create(path: &Path) -> cento::Result<(OutFile, UnwrittenFile)> {
        let out = OutFile::create(path)?;
        Ok((out, UnwrittenFile(Some(path.to_owned()).filter(|path| !is_stream(path)))))
    }

    /// Keeps it.
    pub fn keep(&mut self) {
        self.0 = None;
    }
}

impl Drop for UnwrittenFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // The error that ends the command is worse than a file that cannot be removed.
            let _ = std::fs::remove_file(path);
        }
    }
}
