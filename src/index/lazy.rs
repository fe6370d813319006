//! When is a small component compared with its checksum?
//!
//! The files of tantivy's that are no store have some tens of bytes a document, and one checksum. Comparing
//! them when they are opened would make opening grow with the index. Of what is listed only the end is
//! compared then, for which the list has a checksum of its own: tantivy reads there what is where. All of
//! the file is compared before the first byte of the rest is read, once in a process.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::HasLen;
use tantivy::directory::{FileHandle, FileSlice, OwnedBytes};

use super::directory::{damage, verify_body};
use super::seal::TAIL_BYTES;

/// The components whose checksum has been found right. Their names are never used again.
#[derive(Clone, Default)]
pub struct Verified(Arc<Mutex<HashSet<PathBuf>>>);

impl Verified {
    fn has(&self, path: &Path) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
    }

    fn insert(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
    }
}

/// The CRC-32 of the end of a component.
///
/// # Errors
/// When it cannot be read.
pub fn tail_crc(file: &FileSlice) -> io::Result<u32> {
    let tail = file.slice_from(tail_start(file.len()));
    Ok(crc32fast::hash(&tail.read_bytes()?))
}

/// Where the end of a component of `len` bytes begins.
fn tail_start(len: usize) -> usize {
    len.saturating_sub(TAIL_BYTES)
}

/// A component, as tantivy has it.
pub struct LazyFile {
    path: PathBuf,
    file: Arc<dyn FileHandle>,
    verified: Verified,
    /// What `verified` says of it, without a lock.
    is_verified: AtomicBool,
}

impl LazyFile {
    /// The component at `path`, of which nothing has been compared with anything.
    pub fn new(path: &Path, file: Arc<dyn FileHandle>, verified: Verified) -> LazyFile {
        let is_verified = AtomicBool::new(verified.has(path));
        LazyFile { path: path.to_owned(), file, verified, is_verified }
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
        if !self.verified.has(&self.path) {
            verify_body(&self.name(), FileSlice::new(self.file.clone()))?;
            self.verified.insert(&self.path);
        }
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
        if range.start < tail_start(self.len()) && !range.is_empty() {
            self.verify()?;
        }
        self.file.read_bytes(range)
    }
}
