//! Helpers that read files and collect documents and reports.

use std::io::Write;
use std::path::{Path, PathBuf};

use cento::index::Document;
use cento_source::{ReadError, SourceOptions, documents, read_bytes};

pub use cento_testing::{Dir, line, words, zip};

/// The documents and refusals of a reading. Paths are below the directory of the test.
#[derive(Debug, Default)]
pub struct Read {
    pub documents: Vec<Document>,
    /// Records that are not documents.
    pub refused: Vec<String>,
    pub left_out: Vec<String>,
    /// Files that could not be read, or not to their end.
    pub unread: Vec<String>,
}

impl Read {
    /// The ids of the documents, sorted.
    pub fn ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.documents.iter().map(|found| found.id.as_str()).collect();
        ids.sort_unstable();
        ids
    }

    /// The numbers of documents, refused records, files left out and files not read.
    pub fn counts(&self) -> [usize; 4] {
        [self.documents.len(), self.refused.len(), self.left_out.len(), self.unread.len()]
    }

    /// The text of the document of this id.
    #[track_caller]
    pub fn text(&self, id: &str) -> &str {
        let found = self.documents.iter().find(|document| document.id == id);
        &found.unwrap_or_else(|| panic!("{id} is not among {:?}", self.ids())).text
    }

    fn take(&mut self, root: &str, read: Result<Document, ReadError>) {
        let without_root = |text: String| text.replace(root, "");
        match read {
            Ok(mut document) => {
                document.id = without_root(document.id);
                self.documents.push(document);
            }
            Err(error) => {
                let said = without_root(error.to_string());
                match error {
                    ReadError::LeftOut { .. } => self.left_out.push(said),
                    ReadError::Refused(_) => self.refused.push(said),
                    ReadError::Unread(_) => self.unread.push(said),
                }
            }
        }
    }
}

/// Reads files and directories below `dir`.
pub fn read(dir: &Dir, names: &[&str], options: &SourceOptions) -> Read {
    let paths: Vec<PathBuf> = names.iter().map(|name| dir.path(name)).collect();
    let root = format!("{}/", dir.path("").display().to_string().trim_end_matches('/'));
    let mut found = Read::default();
    for read in documents(&paths, options) {
        found.take(&root, read.map(|(document, _)| document));
    }
    found
}

/// Reads a file or directory of `dir` by default.
pub fn read_one(dir: &Dir, name: &str) -> Read {
    read(dir, &[name], &SourceOptions::default())
}

/// Reads a stream with this name, with default options.
pub fn read_stream(name: &str, bytes: &[u8]) -> Read {
    let options = SourceOptions::default();
    let mut found = Read::default();
    for chunk in read_bytes(name, bytes.to_vec(), &options) {
        match chunk {
            Ok(chunk) => {
                for document in chunk.documents(&options) {
                    let document = document.map(|(document, _)| document);
                    found.take("\0", document.map_err(ReadError::Refused));
                }
            }
            Err(error) => found.take("\0", Err(error)),
        }
    }
    found
}

/// Checks the reading of a stream of this name: the numbers of documents, refused records, files
/// left out and files not read, and, unless it is empty, a part of the messages.
#[track_caller]
pub fn check(name: &str, bytes: &[u8], expected: [usize; 4], said: &str) {
    let found = read_stream(name, bytes);
    assert_eq!(found.counts(), expected, "{name}: {found:?}");
    let all = [&found.refused[..], &found.left_out, &found.unread].concat();
    assert!(said.is_empty() || all.iter().any(|one| one.contains(said)), "{said}: {all:?}");
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Makes a named pipe, which blocks a reader without a writer.
#[cfg(unix)]
pub fn make_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}
