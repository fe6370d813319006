//! Checks a store before tantivy reads it.
//!
//! tantivy reads the index of every store when it opens a segment, and the blocks when it merges
//! segments, without checking them. Here the index is checked when the store is first opened in a
//! process, and the whole file before a block is read.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tantivy::directory::{FileHandle, FileSlice};

use super::component::{footer, verify_body};
use super::lazy::{LazyFile, Verified};
use super::store;
use crate::error::Corruption;

/// The stores that have been verified.
#[derive(Default)]
pub struct Stores {
    /// Stores whose index leads to their blocks.
    indexed: Verified,
    /// Stores whose checksum matches the whole file.
    whole: Verified,
}

impl Stores {
    /// Opens a store for tantivy. The index is checked now. The whole file is compared with its
    /// checksum before the first byte of a block is read, which only merges do. Otherwise damaged
    /// texts would be copied into another segment and get a new checksum there.
    ///
    /// # Errors
    /// When the index is damaged, or the store cannot be read.
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

    /// Compares the whole store with its checksum.
    ///
    /// # Errors
    /// When the store does not match, or cannot be read.
    pub fn verify(&self, path: &Path, file: &Arc<dyn FileHandle>) -> io::Result<()> {
        self.whole
            .once(path, || verify_body(&path.display().to_string(), FileSlice::new(file.clone())))
    }
}
