//! Compares tantivy's files with their checksums at first use.
//!
//! A file has a single checksum. Comparing it at opening would make opening slower as the index
//! grows. Opening therefore checks only the end of the file, where tantivy reads the places of
//! everything. The whole file is compared before the first byte of the rest is read, once per
//! process. For the small components, which have some tens of bytes per document, the list of
//! segments has a checksum of the end. The index of a store is checked by
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

/// The names of verified files. File names are never reused.
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
/// When the component cannot be read.
pub fn tail_crc(file: &FileSlice) -> io::Result<u32> {
    let tail = file.slice_from(tail_start(file.len()));
    Ok(crc32fast::hash(&tail.read_bytes()?))
}

/// Returns the offset of the end of a component of `len` bytes.
fn tail_start(len: usize) -> usize {
    len.saturating_sub(TAIL_BYTES)
}

/// A component that is verified at first use.
pub struct LazyFile {
    path: PathBuf,
    /// The directory, for read-ahead requests to the system.
    root: Option<PathBuf>,
    file: Arc<dyn FileHandle>,
    /// The offset of the end, which is checked by other means.
    end: usize,
    verified: Verified,
    /// A copy of the file's state in `verified` that can be read without a lock.
    is_verified: AtomicBool,
}

impl LazyFile {
    /// Creates the component at `path`. If `verified` contains it, the whole component has been
    /// compared. The end is the part whose checksum is in the list of segments.
    pub fn new(path: &Path, file: Arc<dyn FileHandle>, verified: &Verified) -> LazyFile {
        let end = tail_start(file.len());
        LazyFile::with_end(path, file, end, verified)
    }

    /// Creates a component whose end begins at the offset `end`.
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

    /// Requests the whole file from the system before comparing it. `root` is its directory.
    pub fn in_directory(self, root: &Path) -> LazyFile {
        LazyFile { root: Some(root.to_owned()), ..self }
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Compares the end with its checksum.
    ///
    /// # Errors
    /// When the end does not match, or cannot be read.
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

    /// Compares the whole component with its checksum, unless that has been done.
    ///
    /// # Errors
    /// When the component does not match, or cannot be read.
    pub fn verify(&self) -> io::Result<()> {
        if self.is_verified.load(Ordering::Relaxed) {
            return Ok(());
        }
        let whole = || {
            // Request everything at once, instead of waiting for each page.
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
