//! Makes the files of tantivy trustworthy.
//!
//! tantivy trusts the bytes on disk and the paths for writing. The modules here keep the directory
//! open, seal the list of segments, compare components with their checksums before the first byte
//! is used, and check every length while reading stored texts. The modules depend neither on
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

pub use byte_lru::{ByteLru, InMemory, LruShare};
pub use failure::{query_words, store_error, words};

use crate::error::Result;

/// Opens the directory `path` of the file system.
///
/// # Errors
/// When the directory does not exist or cannot be read.
pub fn mmap_directory(path: &Path) -> Result<MmapDirectory> {
    MmapDirectory::open(path).map_err(|e| store_error("open", path, e.into()))
}
