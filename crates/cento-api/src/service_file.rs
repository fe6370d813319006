//! The address of the service of an index.
//!
//! While the service runs, a small file in the directory of the index has its address, for
//! `cento compact` to find.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The default port of a service.
pub const DEFAULT_PORT: u16 = 7227;

/// The name of the file, which is hidden like the lock.
const FILE: &str = ".service.json";

/// The address of the service of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceFile {
    /// Its address.
    pub url: String,
    /// Its process.
    pub pid: u32,
    /// When it was started, in microseconds since 1970; `/healthz` returns the same time.
    pub started: u64,
}

impl ServiceFile {
    /// Returns the path of the file with the address of the service of the index at `path`.
    #[must_use]
    pub fn file(path: &Path) -> PathBuf {
        path.join(FILE)
    }

    /// Reads the address of the service of the index at `path`. The service may be gone.
    #[must_use]
    pub fn of(path: &Path) -> Option<ServiceFile> {
        serde_json::from_slice(&fs::read(ServiceFile::file(path)).ok()?).ok()
    }
}
