//! Declared encoding of a page.

use crate::charset;

/// The number of bytes of a page that may declare its encoding, by the HTML standard.
const DECLARATION_BYTES: usize = 1024;

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
