//! Temporary directories and their files.

use std::fs;
use std::io::{Cursor, Write};
use std::path::PathBuf;

use tempfile::TempDir;

/// A temporary directory, which is removed when this is dropped.
#[derive(Debug)]
pub struct Dir {
    dir: TempDir,
}

impl Dir {
    /// Creates an empty directory, which is removed when the value is dropped.
    #[expect(clippy::new_without_default, reason = "it makes a directory")]
    pub fn new() -> Dir {
        Dir { dir: tempfile::tempdir().unwrap() }
    }

    /// A path below it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file below it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

/// A zip archive of these files, by name and content.
pub fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}
