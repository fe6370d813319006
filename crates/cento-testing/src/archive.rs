//! Archives, part by part, so that a test can damage a single part.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;

/// A zip archive whose files are not compressed.
pub fn stored(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, text) in files {
        zip.start_file(*name, options).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The start of the central header of the entry of this name.
pub fn central(zip: &[u8], name: &str) -> usize {
    let is_central = |at: &usize| {
        zip[*at..].starts_with(b"PK\x01\x02") && zip[at + 46..].starts_with(name.as_bytes())
    };
    (0..zip.len() - 46).find(is_central).unwrap()
}

/// An entry of a tar archive: header, and contents up to a whole number of blocks.
pub fn entry(kind: tar::EntryType, name: &str, contents: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.set_path(name).unwrap();
    header.set_mode(0o644);
    header.set_entry_type(kind);
    header.set_size(contents.len() as u64);
    header.set_cksum();
    let mut bytes = [header.as_bytes(), contents].concat();
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

/// The end of a tar archive: two empty blocks.
pub fn ends() -> Vec<u8> {
    vec![0; 1024]
}
