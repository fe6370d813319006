//! Declared encoding of a page.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use crate::charset::{self, EncodingLabel};

/// The number of first bytes of a page that may declare an encoding, by the HTML standard.
const DECLARATION_BYTES: usize = 1024;

/// The number of first bytes that are searched for a late declaration in a `meta` element.
const LATE_DECLARATION_BYTES: usize = 64 << 10;

/// Decodes a page. Without a `label`, the declaration of the page counts.
///
/// # Errors
/// When the encoding is unknown, with the reason as a clause.
pub fn decoded_page<'a>(bytes: &'a [u8], label: EncodingLabel<'_>) -> Result<Cow<'a, str>, String> {
    decoded(bytes, label, &declared)
}

/// Decodes an XML file. Without a `label`, only the XML declaration counts, because `charset=` and
/// `encoding=` elsewhere are contents.
///
/// # Errors
/// When the encoding is unknown, with the reason as a clause.
pub fn decoded_xml<'a>(bytes: &'a [u8], label: EncodingLabel<'_>) -> Result<Cow<'a, str>, String> {
    decoded(bytes, label, &|bytes| xml_label(bytes).filter(|label| is_usable(label)))
}

fn decoded<'a>(
    bytes: &'a [u8],
    label: EncodingLabel<'_>,
    declared: &dyn Fn(&[u8]) -> Option<String>,
) -> Result<Cow<'a, str>, String> {
    if label != EncodingLabel::Missing {
        return charset::decode_undoubted(bytes, label);
    }
    let declared = declared(bytes);
    if declared.is_none()
        && std::str::from_utf8(bytes).is_err()
        && let Some(label) = xml_label(bytes).filter(|label| !charset::is_known(label))
    {
        return Err(format!(
            "it declares the encoding `{label}`, which is unknown; name another with --encoding"
        ));
    }
    charset::decode_undoubted(bytes, EncodingLabel::of(None, declared.as_deref()))
}

/// Returns the label in an XML declaration.
fn xml_label(bytes: &[u8]) -> Option<String> {
    let rest = bytes.strip_prefix(b"<?xml")?;
    let rest = &rest[..rest.len().min(DECLARATION_BYTES)];
    let rest = &rest[..memchr::memchr(b'>', rest)?];
    let at = memchr::memmem::find(rest, b"encoding")? + b"encoding".len();
    let found = rest[at..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, found) = found.split_first()?;
    Some(String::from_utf8_lossy(&found[..memchr::memchr(*quote, found)?]).into_owned())
}

/// Returns whether a declared encoding is plausible: known, and not UTF-16, because a
/// declaration in UTF-16 cannot be read as ASCII.
fn is_usable(label: &str) -> bool {
    let is_utf16 = Encoding::for_label(label.as_bytes())
        .is_some_and(|encoding| encoding == UTF_16LE || encoding == UTF_16BE);
    charset::is_known(label) && !is_utf16
}

/// Returns the label after `charset=`, of a `meta` element, or else after `encoding=` of an XML
/// declaration. Pages with long scripts have the element later than the standard allows.
pub fn declared(bytes: &[u8]) -> Option<String> {
    let start = bytes[..bytes.len().min(DECLARATION_BYTES)].to_ascii_lowercase();
    let of_start = [&b"charset"[..], b"encoding"].iter().find_map(|name| {
        // The words may also occur without a declaration.
        let mut places = memchr::memmem::find_iter(&start, name);
        places.find_map(|at| label(&start[at + name.len()..]))
    });
    of_start.or_else(|| of_meta(&bytes[..bytes.len().min(LATE_DECLARATION_BYTES)]))
}

/// Returns the label of the first `meta` element with `charset`.
fn of_meta(start: &[u8]) -> Option<String> {
    let is_meta =
        |at: &usize| start.get(at + 1..at + 5).is_some_and(|it| it.eq_ignore_ascii_case(b"meta"));
    memchr::memchr_iter(b'<', start).filter(is_meta).find_map(|at| {
        let tag = &start[at..];
        let tag = tag[..memchr::memchr(b'>', tag)?].to_ascii_lowercase();
        let name = b"charset";
        let mut places = memchr::memmem::find_iter(&tag, name);
        places.find_map(|at| label(&tag[at + name.len()..]))
    })
}

/// Returns the label of an encoding after `=`.
fn label(text: &[u8]) -> Option<String> {
    let text = text.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let text = text.strip_prefix(b"\"").or(text.strip_prefix(b"'")).unwrap_or(text);
    let is_label = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(byte);
    let len = text.iter().position(|byte| !is_label(byte)).unwrap_or(text.len());
    let label = String::from_utf8(text[..len].to_vec()).ok()?;
    is_usable(&label).then_some(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_declaration_names_the_encoding_of_an_xml_file() {
        let check = |xml: &str| {
            assert_eq!(decoded_xml(xml.as_bytes(), EncodingLabel::Missing).unwrap(), xml)
        };
        check("<?xml version='1.0'?><xsl:output encoding='ISO-8859-1'/>Die Gr\u{f6}\u{df}e");
        check(
            "<?xml version='1.0' encoding='UTF-8'?><a type='text/html; charset=latin1'/>f\u{fc}r",
        );
        // A declaration that is readable as ASCII cannot be in UTF-16.
        for label in ["utf-16", "ISO-10646-UCS-2", "unicode"] {
            check(&format!("<?xml version='1.0' encoding='{label}'?><a>one</a>"));
        }
        let latin = b"<?xml version=\"1.0\" encoding = \"ISO-8859-1\"?><a>f\xfcr</a>";
        assert!(decoded_xml(latin, EncodingLabel::Missing).unwrap().contains("f\u{fc}r"));
    }
}
