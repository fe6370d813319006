//! Detects that a directory was replaced while it was being opened.

use std::path::Path;

use super::Index;
use crate::error::Result;

/// Opens the index at `path`, and tries again if the open failed while the directory was replaced.
pub fn while_it_stays(path: &Path, open: &dyn Fn() -> Result<Index>) -> Result<Index> {
    loop {
        let before = identity(path);
        let opened = open();
        if opened.is_ok() || before == identity(path) {
            return opened;
        }
    }
}

/// Returns the device and inode number of the directory at `path`, if it exists.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Other systems have no such numbers, so a replacement goes unnoticed.
#[cfg(not(unix))]
fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}
