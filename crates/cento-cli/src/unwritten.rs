//! Cleans up new files of a command that is refused before writing.

use std::path::{Path, PathBuf};

use super::outfile::{OutFile, is_stream};

/// The name of a new file. Dropping removes the file unless [`keep`](Self::keep) was called.
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

    pub fn keep(&mut self) {
        self.0 = None;
    }
}

impl Drop for UnwrittenFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // The error that ends the command matters more than a file that cannot be removed.
            let _ = std::fs::remove_file(path);
        }
    }
}
