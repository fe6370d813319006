//! Checks of a store before tantivy reads it.
//!
//! tantivy reads the index of every store when it opens a segment, and the blocks when it merges
//! some, without checking them. The checks are made here: of the index at the first opening in a
//! process, of the whole file before a block is read.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tantivy::directory::{FileHandle, FileSlice};

use super::component::{footer, verify_body};
use super::lazy::{LazyFile, Verified};
use super::store;
use crate::error::Corruption;

/// The stores that have been found sound.
#[derive(Default)]
pub struct Stores {
    /// Those whose index leads to their blocks.
    indexed: Verified,
    /// Those whose checksum matches the whole file.
    whole: Verified,
}

impl Stores {
    /// Opens a store for tantivy: its index has been checked, and before the first byte of a block
    /// is read, which only a merge does, all of it is compared with its checksum. So damaged texts
    /// are not copied into another segment, where they would get a new checksum.
    ///
    /// # Errors
    /// When its index is damaged, or it cannot be read.
    pub fn open(&self, path: &Path, file: Arc<dyn FileHandle>) -> io::Result<LazyFile> {
        let name = path.display().to_string();
        let damage = |(at, what): store::Damage| {
            io::Error::other(Corruption::new(&name, "store", at as u64, what))
        };
        let body = footer(&name, FileSlice::new(file.clone()))?.1.read_bytes()?;
        self.indexed.once(path, || store::check(&body).map_err(damage))?;
        let blocks_len = store::blocks_len(&body).map_err(damage)?;
        Ok(LazyFile::with_end(path, file, blocks_len, &self.whole))
    }

    /// Compares all of a store with its checksum.
    ///
    /// # Errors
    /// When it does not fit, or cannot be read.
    pub fn verify(&self, path: &Path, file: &Arc<dyn FileHandle>) -> io::Result<()> {
        self.whole
            .once(path, || verify_body(&path.display().to_string(), FileSlice::new(file.clone())))
    }
}
