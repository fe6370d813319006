//! Whether a path leads to the same directory as before.

use std::path::Path;

use super::Index;
use crate::error::Result;

/// Opens the index at `path`, and again if another took its place meanwhile.
pub fn while_it_stays(path: &Path, open: &dyn Fn() -> Result<Index>) -> Result<Index> {
    loop {
        let before = identity(path);
        let opened = open();
        if opened.is_ok() || before == identity(path) {
            return opened;
        }
    }
}

/// Identifies the directory at `path`, if there is one.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Elsewhere directories cannot be distinguished.
#[cfg(not(unix))]
fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}
