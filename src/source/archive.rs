//! Which files are in this archive?
//!
//! Files in it are documents as files in a directory are; the name of one is that of the archive, a
//! slash, and its name in there.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::ControlFlow;

/// What is done with each entry that is no directory: its name in the archive, and its contents; none
/// if it is a link or no regular file.
pub type Each<'a> = &'a mut dyn FnMut(&str, Option<&mut dyn Read>) -> ControlFlow<()>;

/// A name takes at most so many bytes. Some archives have entries that are names, of any length.
const NAME_BYTES_MAX: u64 = 64 << 10;

/// Goes through the files of a tar archive, as they stand in it.
///
/// # Errors
/// When it is no archive, ends too early, or has names without end.
pub fn tar(stream: impl Read, each: Each<'_>) -> io::Result<ControlFlow<()>> {
    let mut archive = tar::Archive::new(stream);
    // Of an entry before: the name of the next.
    let mut named: Option<String> = None;
    for entry in archive.entries()?.raw(true) {
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() || kind.is_pax_local_extensions() {
            let bytes = short(&mut entry)?;
            named = if kind.is_gnu_longname() {
                let name = bytes.strip_suffix(b"\0").unwrap_or(&bytes);
                Some(String::from_utf8_lossy(name).into_owned())
            } else {
                let records = tar::PaxExtensions::new(&bytes).flatten();
                let path = records.filter(|record| record.key_bytes() == b"path").last();
                path.map(|path| String::from_utf8_lossy(path.value_bytes()).into_owned())
            };
            continue;
        }
        let own = || String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let name = named.take().unwrap_or_else(own);
        // Directories, and what is said of all entries or of links.
        let is_passed = kind.is_dir() || kind.is_pax_global_extensions() || kind.is_gnu_longlink();
        if is_passed {
            continue;
        }
        let is_file = kind.is_file() || kind.is_contiguous();
        let contents = is_file.then_some(&mut entry as &mut dyn Read);
        if each(&name, contents).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// The contents of an entry that is about another.
fn short(entry: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    entry.take(NAME_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > NAME_BYTES_MAX {
        return Err(io::Error::other("a name without end in it"));
    }
    Ok(bytes)
}

/// Goes through the files of a zip archive, in the order of its directory.
///
/// # Errors
/// When it is no archive, is damaged, or is encrypted or compressed in another way than usual.
pub fn zip(file: File, each: Each<'_>) -> io::Result<ControlFlow<()>> {
    let mut archive = zip::ZipArchive::new(BufReader::new(file))?;
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at)?;
        if entry.is_dir() {
            continue;
        }
        let name = entry.name()?.into_owned();
        let contents = entry.is_file().then_some(&mut entry as &mut dyn Read);
        if each(&name, contents).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
