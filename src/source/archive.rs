//! Which files are in this archive?
//!
//! Files in it are documents as files in a directory are; the name of one is that of the archive, a
//! slash, and its name in there.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::ControlFlow;

/// What is done with each file: its name in the archive, and its contents.
pub type Each<'a> = &'a mut dyn FnMut(&str, &mut dyn Read) -> ControlFlow<()>;

/// Goes through the files of a tar archive, as they stand in it.
///
/// # Errors
/// When it is no archive, or ends too early.
pub fn tar(stream: impl Read, each: Each<'_>) -> io::Result<ControlFlow<()>> {
    let mut archive = tar::Archive::new(stream);
    for entry in archive.entries()? {
        let mut entry = entry?;
        // Links and devices have no contents of their own.
        if entry.header().entry_type().is_file() {
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            if each(&name, &mut entry).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Goes through the files of a zip archive, in the order of its directory.
///
/// # Errors
/// When it is no archive, is damaged, or is encrypted or compressed in another way than usual.
pub fn zip(file: File, each: Each<'_>) -> io::Result<ControlFlow<()>> {
    let mut archive = zip::ZipArchive::new(BufReader::new(file))?;
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at)?;
        if entry.is_file() {
            let name = entry.name()?.into_owned();
            if each(&name, &mut entry).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}
