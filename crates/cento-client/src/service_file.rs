//! Where is the service of this index?
//!
//! A small file in its directory says so, as long as the service runs, so that `cento compact` finds it.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The file; hidden, as the lock is.
const FILE: &str = ".service.json";

/// Where the service of an index listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceFile {
    /// Its address.
    pub url: String,
    /// Its process.
    pub pid: u32,
    /// When it was started, in microseconds since 1970; it says the same of itself at `/healthz`.
    pub started: u64,
}

impl ServiceFile {
    /// The file in which the service of the index at `path` says where it is.
    #[must_use]
    pub fn file(path: &Path) -> PathBuf {
        path.join(FILE)
    }

    /// Where the service of the index at `path` said it was. It may be gone.
    #[must_use]
    pub fn of(path: &Path) -> Option<ServiceFile> {
        serde_json::from_slice(&fs::read(ServiceFile::file(path)).ok()?).ok()
    }
}
