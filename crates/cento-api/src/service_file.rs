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
    /// The URL of the service.
    pub url: String,
    /// The id of the process, which may have ended.
    pub pid: u32,
    /// The time of the start, in microseconds since 1970. `/healthz` returns the same time, which
    /// identifies the process.
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
