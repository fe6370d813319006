//! Shared parts of tests: the library's helpers, the real binary, a running service.

#[path = "../../../../../tests/it/common/mod.rs"]
mod library;
pub mod nginx;
pub mod run;
pub mod service;

use std::io::{Cursor, Write};

pub use library::*;

/// A zip archive of these files, by name and content.
pub fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}
