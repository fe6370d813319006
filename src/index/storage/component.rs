//! Compares a component with its checksum.
//!
//! A component is a file of tantivy. Its footer contains a checksum. The list of segments repeats
//! the checksum, and records the length of the file.

use std::io;

use tantivy::HasLen;
use tantivy::directory::FileSlice;
use tantivy::directory::footer::Footer;

use super::seal::{COMPONENTS, Component, WITHDRAWALS};
use crate::error::Corruption;

/// The bytes of the length of tantivy's footer and its magic, at the end of a component.
const FOOTER_END_BYTES: usize = 8;

/// Returns the error for a damaged component.
pub fn damage(name: &str, what: impl Into<String>) -> io::Error {
    io::Error::other(Corruption::new(name, "component", 0, what))
}

/// Returns whether the list of segments may have this name: 32 hexadecimal digits and an extension.
pub fn is_component(name: &str) -> bool {
    let Some((segment, extension)) = name.split_once('.') else { return false };
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_number = |text: &str| {
        (1..=20).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_known = COMPONENTS.contains(&extension)
        || extension == WITHDRAWALS
        || extension.strip_suffix(".del").is_some_and(is_number);
    segment.len() == 32 && segment.bytes().all(is_hex) && is_known
}

/// Returns the name of the segment that a file belongs to, if any.
pub fn segment_of(name: &str) -> Option<&str> {
    let (segment, extension) = name.split_once('.')?;
    (is_component(name) && extension != WITHDRAWALS).then_some(segment)
}

/// Splits a component into tantivy's footer and the content before it.
///
/// # Errors
/// When the component has no footer.
pub fn footer(name: &str, file: FileSlice) -> io::Result<(Footer, FileSlice)> {
    // tantivy's own reader panics on shorter files.
    if file.len() < FOOTER_END_BYTES {
        return Err(damage(name, format!("it has only {} bytes", file.len())));
    }
    Footer::extract_footer(file).map_err(|error| match error.kind() {
        // tantivy's message speaks of its own versions, which would mislead.
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            damage(name, "its end, which has its checksum, is cut off or damaged")
        }
        _ => damage(name, error.to_string()),
    })
}

/// Compares the length of a component and the checksum in its footer with the listed values.
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

/// Compares the content of a component with the checksum in its footer.
///
/// # Errors
/// When the content does not match, or cannot be read.
pub fn verify_body(name: &str, file: FileSlice) -> io::Result<()> {
    let (footer, body) = footer(name, file)?;
    let found = crc32fast::hash(&body.read_bytes()?);
    if found != footer.crc {
        let what = format!("the checksum is {found:08x}, but {:08x} was written", footer.crc);
        return Err(damage(name, what));
    }
    Ok(())
}

/// Compares a whole component with its entry in the list.
///
/// # Errors
/// When the component differs from its entry, or cannot be read.
pub fn verify_whole(name: &str, file: FileSlice, listed: Component) -> io::Result<()> {
    verify_end(name, &file, listed)?;
    verify_body(name, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_is_cut_off_is_told_without_the_words_of_tantivy() {
        let whole = [&b"some content"[..], br#"{"version":{}}"#, &[14, 0, 0, 0, 57, 5, 0, 0]];
        let whole = whole.concat();
        for len in 0..=whole.len() {
            let error = footer("a.term", FileSlice::from(whole[..len].to_vec())).unwrap_err();
            let error = error.to_string();
            let told = error.contains("cut off or damaged") || error.contains("bytes");
            assert!(told && !error.contains("tantivy"), "{len}: {error}");
        }
    }

    #[test]
    fn only_names_of_segments_files_are_names() {
        let uuid = "0123456789abcdef0123456789abcdef";
        for good in ["sig", "store", "fast", "fieldnorm", "idx", "pos", "term", "0.del", "77.del"] {
            assert!(is_component(&format!("{uuid}.{good}")), "{good}");
        }
        let names = ["sig.x", "SIG", "", "del", ".del", "x.del", "../a.del", "sig/..", "-1.del"];
        for bad in names {
            assert!(!is_component(&format!("{uuid}.{bad}")), "{bad}");
        }
        for bad in ["../0123456789abcdef0123456789abc.sig", "meta.json", "a.sig", "", "."] {
            assert!(!is_component(bad), "{bad}");
        }
        assert!(!is_component("0123456789ABCDEF0123456789ABCDEF.sig"));
    }
}
