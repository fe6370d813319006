//! Is a store whole enough to be given to tantivy?
//!
//! tantivy reads the index of every store when it opens a segment, and the blocks when it merges
//! some, without asking whether they are what was written. It is asked here: about the index at the
//! first opening in a process, about all of the file before a block is read.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::HasLen;
use tantivy::directory::{FileHandle, FileSlice, OwnedBytes};

use super::directory::{footer, verify_body};
use super::store;
use crate::error::Corruption;

/// The stores that have been found sound. Their names are never used again.
#[derive(Clone, Default)]
pub struct Stores {
    /// Those whose index leads to their blocks.
    indexed: Arc<Mutex<HashSet<PathBuf>>>,
    /// Those of which all fits the checksum.
    whole: Arc<Mutex<HashSet<PathBuf>>>,
}

/// Finds out whether a store is sound, unless that is known.
fn once(
    known: &Mutex<HashSet<PathBuf>>,
    path: &Path,
    find_out: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let known = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if !known().contains(path) {
        find_out()?;
        known().insert(path.to_owned());
    }
    Ok(())
}

impl Stores {
    /// A store for tantivy: its index has been checked, and before the first byte of a block is
    /// read, which only a merge does, all of it is compared with its checksum. So damaged texts are
    /// not copied into another segment, where they would get a new checksum.
    ///
    /// # Errors
    /// When its index is damaged, or it cannot be read.
    pub fn open(&self, path: &Path, file: Arc<dyn FileHandle>) -> io::Result<Arc<dyn FileHandle>> {
        let name = path.display().to_string();
        let damage = |(at, what): store::Damage| {
            io::Error::other(Corruption::new(&name, "store", at as u64, what))
        };
        let body = footer(&name, FileSlice::new(file.clone()))?.1.read_bytes()?;
        once(&self.indexed, path, || store::check(&body).map_err(damage))?;
        let blocks_len = store::blocks_len(&body).map_err(damage)?;
        Ok(Arc::new(StoreFile { path: path.to_owned(), file, blocks_len, stores: self.clone() }))
    }

    /// Compares all of a store with its checksum.
    ///
    /// # Errors
    /// When it does not fit, or cannot be read.
    pub fn verify(&self, path: &Path, file: &Arc<dyn FileHandle>) -> io::Result<()> {
        once(&self.whole, path, || {
            verify_body(&path.display().to_string(), FileSlice::new(file.clone()))
        })
    }
}

/// A store, as tantivy has it.
struct StoreFile {
    path: PathBuf,
    file: Arc<dyn FileHandle>,
    blocks_len: usize,
    stores: Stores,
}

impl fmt::Debug for StoreFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreFile({})", self.path.display())
    }
}

impl HasLen for StoreFile {
    fn len(&self) -> usize {
        self.file.len()
    }
}

impl FileHandle for StoreFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start < self.blocks_len && !range.is_empty() {
            self.stores.verify(&self.path, &self.file)?;
        }
        self.file.read_bytes(range)
    }
}
