//! Comparison of tantivy's files with their checksums, at first use.
//!
//! A file has one checksum. Comparing it when the file is opened would make opening grow with the
//! index. So at opening only the end is checked, by other means: there tantivy reads where
//! everything is. All of the file is compared before the first byte of the rest is read, once in a
//! process. For the small components, which have some tens of bytes a document, the list of
//! segments has a checksum of the end; the index of a store is checked by
//! [`Stores`](super::store_file::Stores).

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::HasLen;
use tantivy::directory::{FileHandle, FileSlice, OwnedBytes};

use super::component::{damage, verify_body};
use super::seal::TAIL_BYTES;
use crate::segment::ReadAhead;

/// The names of the files whose check succeeded. These names are never used again.
#[derive(Clone, Default)]
pub struct Verified(Arc<Mutex<HashSet<PathBuf>>>);

impl Verified {
    fn has(&self, path: &Path) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
    }

    /// Checks a file with `find_out`, unless an earlier check succeeded.
    ///
    /// # Errors
    /// The errors of `find_out`.
    pub fn once(&self, path: &Path, find_out: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        if !self.has(path) {
            find_out()?;
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
        }
        Ok(())
    }
}

/// Returns the CRC-32 of the end of a component.
///
/// # Errors
/// When it cannot be read.
pub fn tail_crc(file: &FileSlice) -> io::Result<u32> {
    let tail = file.slice_from(tail_start(file.len()));
    Ok(crc32fast::hash(&tail.read_bytes()?))
}

/// Returns where the end of a component of `len` bytes begins.
fn tail_start(len: usize) -> usize {
    len.saturating_sub(TAIL_BYTES)
}

/// A component, as tantivy has it.
pub struct LazyFile {
    path: PathBuf,
    /// The directory for requests to the system to read ahead.
    root: Option<PathBuf>,
    file: Arc<dyn FileHandle>,
    /// The start of the end, which is checked by other means.
    end: usize,
    verified: Verified,
    /// A copy of the file's state in `verified`, without a lock.
    is_verified: AtomicBool,
}

impl LazyFile {
    /// Creates the component at `path`; all of it has been compared if `verified` has it. Its end
    /// is the part with a checksum in the list of segments.
    pub fn new(path: &Path, file: Arc<dyn FileHandle>, verified: &Verified) -> LazyFile {
        let end = tail_start(file.len());
        LazyFile::with_end(path, file, end, verified)
    }

    /// Creates a component whose end begins at `end`.
    pub fn with_end(
        path: &Path,
        file: Arc<dyn FileHandle>,
        end: usize,
        verified: &Verified,
    ) -> LazyFile {
        let is_verified = AtomicBool::new(verified.has(path));
        let (path, verified) = (path.to_owned(), verified.clone());
        LazyFile { path, root: None, file, end, verified, is_verified }
    }

    /// Requests the whole file from the system before all of it is compared, as a file of the
    /// directory `root`.
    pub fn in_directory(self, root: &Path) -> LazyFile {
        LazyFile { root: Some(root.to_owned()), ..self }
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Compares the end with its checksum.
    ///
    /// # Errors
    /// When it does not fit, or cannot be read.
    pub fn verify_tail(&self, expected: u32) -> io::Result<()> {
        if self.is_verified.load(Ordering::Relaxed) {
            return Ok(());
        }
        let found = tail_crc(&FileSlice::new(self.file.clone()))?;
        if found != expected {
            let what = format!("the checksum of its end is {found:08x} instead of {expected:08x}");
            return Err(damage(&self.name(), what));
        }
        Ok(())
    }

    /// Compares all of it with its checksum, unless that has been done.
    ///
    /// # Errors
    /// When it does not fit, or cannot be read.
    pub fn verify(&self) -> io::Result<()> {
        if self.is_verified.load(Ordering::Relaxed) {
            return Ok(());
        }
        let whole = || {
            // Page by page it would be a wait for each.
            if let Some(root) = &self.root {
                ReadAhead::of(&root.join(&self.path)).ask(0, 0);
            }
            verify_body(&self.name(), FileSlice::new(self.file.clone()))
        };
        self.verified.once(&self.path, whole)?;
        self.is_verified.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl fmt::Debug for LazyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LazyFile({})", self.path.display())
    }
}

impl HasLen for LazyFile {
    fn len(&self) -> usize {
        self.file.len()
    }
}

impl FileHandle for LazyFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start < self.end && !range.is_empty() {
            self.verify()?;
        }
        self.file.read_bytes(range)
    }
}
