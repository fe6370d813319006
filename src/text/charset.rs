//! Which characters do these bytes stand for?
//!
//! A byte order mark decides; then what the caller declares; then UTF-8 if the bytes are; then
//! what chardetng makes of them. The text that comes out is the original to which all spans refer.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::error::{Error, Result};

/// A text and how it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The text, without a byte order mark.
    pub text: Cow<'a, str>,
    /// The name of the encoding, as the WHATWG Encoding Standard has it.
    pub charset: &'static str,
    /// Whether some bytes stood for no character and were replaced by U+FFFD.
    pub has_replacements: bool,
}

/// Bytes looked at to tell text from data.
const PROBE_BYTES: usize = 8 << 10;

/// Decodes `bytes`, which `declared` says are of that encoding.
///
/// # Errors
/// When there is no encoding of the declared name.
pub fn decode<'a>(bytes: &'a [u8], declared: Option<&str>) -> Result<Decoded<'a>> {
    let encoding = match (Encoding::for_bom(bytes), declared) {
        (Some((encoding, _)), _) => encoding,
        (None, Some(label)) => Encoding::for_label(label.as_bytes()).ok_or_else(|| {
            Error::spec(label, "there is no encoding of this name; see the WHATWG list")
        })?,
        (None, None) => detect(bytes),
    };
    let (text, encoding, has_replacements) = encoding.decode(bytes);
    Ok(Decoded { text, charset: encoding.name(), has_replacements })
}

fn detect(bytes: &[u8]) -> &'static Encoding {
    // Western UTF-16 is also valid UTF-8, with a zero after every letter: it must come first.
    if let Some(encoding) = utf16_without_mark(bytes) {
        return encoding;
    }
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Allow)
}

/// UTF-16 of mostly Western text gives itself away by a zero in every second byte.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let probe = &bytes[..bytes.len().min(PROBE_BYTES) & !1];
    let pairs = probe.len() / 2;
    let zeros = |at: usize| probe.iter().skip(at).step_by(2).filter(|&&byte| byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    if pairs >= 2 && odd * 10 >= pairs * 7 && even * 20 <= pairs {
        return Some(UTF_16LE);
    }
    if pairs >= 2 && even * 10 >= pairs * 7 && odd * 20 <= pairs {
        return Some(UTF_16BE);
    }
    None
}

/// Whether `bytes` are something other than text, as git tells it: there is a zero byte near the
/// start, and they are no UTF-16.
pub fn looks_binary(bytes: &[u8]) -> bool {
    let probe = &bytes[..bytes.len().min(PROBE_BYTES)];
    probe.contains(&0)
        && utf16_without_mark(probe).is_none()
        && Encoding::for_bom(probe).is_none_or(|(encoding, _)| encoding == UTF_8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], declared: Option<&str>, text: &str, charset: &str) {
        let decoded = decode(bytes, declared).unwrap();
        assert_eq!((decoded.text.as_ref(), decoded.charset), (text, charset));
    }

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn a_byte_order_mark_decides() {
        check(b"\xef\xbb\xbfabc", Some("latin1"), "abc", "UTF-8");
        check(&utf16("\u{feff}ab\u{e9}", u16::to_le_bytes), None, "ab\u{e9}", "UTF-16LE");
        check(
            &utf16("\u{feff}ab\u{e9}", |unit| unit.swap_bytes().to_le_bytes()),
            None,
            "ab\u{e9}",
            "UTF-16BE",
        );
    }

    #[test]
    fn a_declared_encoding_comes_before_a_guess() {
        check(b"caf\xe9", Some("iso-8859-1"), "caf\u{e9}", "windows-1252");
        check(b"caf\xc3\xa9", Some("latin1"), "caf\u{c3}\u{a9}", "windows-1252");
        assert!(decode(b"abc", Some("no such")).is_err());
    }

    #[test]
    fn an_encoding_is_found() {
        check(b"plain", None, "plain", "UTF-8");
        check("na\u{ef}ve".as_bytes(), None, "na\u{ef}ve", "UTF-8");
        check(
            b"Le caf\xe9 est tr\xe8s \xe0 c\xf4t\xe9 du ch\xe2teau",
            None,
            "Le caf\u{e9} est tr\u{e8}s \u{e0} c\u{f4}t\u{e9} du ch\u{e2}teau",
            "windows-1252",
        );
        check(&utf16("plain text", u16::to_le_bytes), None, "plain text", "UTF-16LE");
    }

    #[test]
    fn bytes_that_stand_for_nothing_are_replaced_and_told() {
        let decoded = decode(b"a\xffb", Some("utf-8")).unwrap();
        assert_eq!((decoded.text.as_ref(), decoded.has_replacements), ("a\u{fffd}b", true));
    }

    #[test]
    fn data_is_told_from_text() {
        assert!(looks_binary(b"\x7fELF\x02\x01\x01\0\0\0\0\0"));
        assert!(!looks_binary(b"text"));
        assert!(!looks_binary(b""));
        assert!(!looks_binary(&utf16("plain text", u16::to_le_bytes)));
        assert!(!looks_binary(&utf16("\u{feff}\u{4e00}\0", u16::to_le_bytes)));
    }
}
