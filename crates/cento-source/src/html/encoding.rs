//! Declared encoding of a page.

use std::borrow::Cow;

use crate::charset;

/// The number of bytes of a page that may declare its encoding, by the HTML standard.
const DECLARATION_BYTES: usize = 1024;

/// Decodes a page or an XML file, in the encoding that is `named` from outside or that it declares.
///
/// # Errors
/// When its encoding is unknown, with the reason as a clause.
pub fn decoded_page<'a>(bytes: &'a [u8], named: Option<&str>) -> Result<Cow<'a, str>, String> {
    let declared = named.map(str::to_owned).or_else(|| declared(bytes));
    if declared.is_none()
        && std::str::from_utf8(bytes).is_err()
        && let Some(label) = unknown(bytes)
    {
        return Err(format!(
            "it declares the encoding `{label}`, which is unknown; name another with --encoding"
        ));
    }
    charset::decode_undoubted(bytes, declared.as_deref())
}

/// Returns the label in an XML declaration, if there is no such encoding.
fn unknown(bytes: &[u8]) -> Option<String> {
    let rest = bytes.strip_prefix(b"<?xml")?;
    let rest = &rest[..rest.len().min(DECLARATION_BYTES)];
    let rest = &rest[..memchr::memchr(b'>', rest)?];
    let at = memchr::memmem::find(rest, b"encoding")? + b"encoding".len();
    let found = rest[at..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, found) = found.split_first()?;
    let label = String::from_utf8_lossy(&found[..memchr::memchr(*quote, found)?]).into_owned();
    (!charset::is_known(&label)).then_some(label)
}

/// Returns the label after `charset=`, of a `meta` element, or else after `encoding=` of an XML
/// declaration.
pub fn declared(bytes: &[u8]) -> Option<String> {
    let start = bytes[..bytes.len().min(DECLARATION_BYTES)].to_ascii_lowercase();
    [&b"charset"[..], b"encoding"].iter().find_map(|name| {
        // The words may also occur without a declaration.
        let mut places = memchr::memmem::find_iter(&start, name);
        places.find_map(|at| label(&start[at + name.len()..]))
    })
}

/// Returns the label of an encoding after `=`.
fn label(text: &[u8]) -> Option<String> {
    let text = text.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let text = text.strip_prefix(b"\"").or(text.strip_prefix(b"'")).unwrap_or(text);
    let is_label = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(byte);
    let len = text.iter().position(|byte| !is_label(byte)).unwrap_or(text.len());
    let label = String::from_utf8(text[..len].to_vec()).ok()?;
    // A page whose declaration is found by reading it as ASCII is not in UTF-16.
    (charset::is_known(&label) && !label.starts_with("utf-16")).then_some(label)
}
