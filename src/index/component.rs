//! Checks of a component against its checksum.
//!
//! A component is a file of tantivy's with a footer that has a checksum; the list of segments
//! repeats the checksum, and records the length of the file.

use std::io;

use tantivy::HasLen;
use tantivy::directory::FileSlice;
use tantivy::directory::footer::Footer;

use super::seal::Component;
use crate::error::Corruption;

/// The two numbers at the end of a component: the length of tantivy's footer, and its magic.
const FOOTER_END_BYTES: usize = 8;

/// Returns the error for damage of a component.
pub fn damage(name: &str, what: impl Into<String>) -> io::Error {
    io::Error::other(Corruption::new(name, "component", 0, what))
}

/// Splits a component into tantivy's footer and all before it.
///
/// # Errors
/// When it has no footer.
pub fn footer(name: &str, file: FileSlice) -> io::Result<(Footer, FileSlice)> {
    // tantivy's own reader panics on less.
    if file.len() < FOOTER_END_BYTES {
        return Err(damage(name, format!("it has only {} bytes", file.len())));
    }
    Footer::extract_footer(file).map_err(|e| damage(name, e.to_string()))
}

/// Compares a component's length, and the checksum in its footer, with those that were listed.
pub fn verify_end(name: &str, file: &FileSlice, listed: Component) -> io::Result<()> {
    if file.len() as u64 != listed.len {
        let what = format!("it has {} bytes, but {} were written", file.len(), listed.len);
        return Err(damage(name, what));
    }
    let found = footer(name, file.clone())?.0.crc;
    if found != listed.crc {
        let what = format!(
            "its content differs from the written one: its checksum is {found:08x}, not {:08x}",
            listed.crc
        );
        return Err(damage(name, what));
    }
    Ok(())
}

/// Compares all that a component holds with the checksum in its footer.
///
/// # Errors
/// When it does not fit, or cannot be read.
pub fn verify_body(name: &str, file: FileSlice) -> io::Result<()> {
    let (footer, body) = footer(name, file)?;
    let found = crc32fast::hash(&body.read_bytes()?);
    if found != footer.crc {
        let what = format!("the checksum is {found:08x}, but {:08x} was written", footer.crc);
        return Err(damage(name, what));
    }
    Ok(())
}

/// Compares all of a component with its entry in the list.
///
/// # Errors
/// When it differs from that entry, or cannot be read.
pub fn verify_whole(name: &str, file: FileSlice, listed: Component) -> io::Result<()> {
    verify_end(name, &file, listed)?;
    verify_body(name, file)
}
