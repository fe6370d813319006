//! The files of tantivy made trustworthy.
//!
//! tantivy trusts the bytes that it reads and the paths that it writes to. These modules hold a
//! directory open, seal the list of segments, compare each component with its checksum before its
//! first byte is used, and read stored texts with checks of every length. They depend neither on
//! documents nor on signatures.

pub mod byte_lru;
pub mod column;
pub mod component;
pub mod directory;
pub mod failure;
pub mod features;
pub mod held_directory;
pub mod lazy;
pub mod record;
pub mod seal;
pub mod store;
pub mod store_file;

use std::path::Path;

use tantivy::directory::MmapDirectory;

pub use byte_lru::{ByteLru, InMemory, Owner};
pub use failure::{query_words, store_error, words};

use crate::error::Result;

/// Opens the directory `path` of the file system.
///
/// # Errors
/// When there is no such directory, or it cannot be read.
pub fn mmap_directory(path: &Path) -> Result<MmapDirectory> {
    MmapDirectory::open(path).map_err(|e| store_error("open", path, e.into()))
}
