//! Requests the parts of a file that will be read soon.
//!
//! A query reads a few bytes in each of a hundred pages. From disk, these are a hundred waits in a
//! row, unless every page is requested before the first is read.

use std::path::Path;

#[cfg(target_os = "linux")]
use rustix::fs::{Advice, fadvise};

/// Requests parts of a file from the system in advance. The default value requests nothing.
#[derive(Debug, Default)]
pub struct ReadAhead {
    /// The file, opened a second time, because advice for a memory mapping would need unsafe code.
    #[cfg(target_os = "linux")]
    file: Option<std::fs::File>,
}

impl ReadAhead {
    /// Opens read-ahead for the file at `path`. Inactive if the file cannot be opened, or on a
    /// system without read-ahead.
    #[must_use]
    pub fn of(path: &Path) -> ReadAhead {
        #[cfg(target_os = "linux")]
        return ReadAhead { file: std::fs::File::open(path).ok() };
        #[cfg(not(target_os = "linux"))]
        {
            let _ = path;
            ReadAhead::default()
        }
    }

    /// Requests `len` bytes from `start`, or up to the end of the file if `len` is 0.
    ///
    /// This is only a hint: if it fails, the bytes are read when they are needed.
    pub fn ask(&self, start: u64, len: u64) {
        #[cfg(target_os = "linux")]
        if let Some(file) = &self.file {
            let _ = fadvise(file, start, std::num::NonZeroU64::new(len), Advice::WillNeed);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (start, len);
    }
}
