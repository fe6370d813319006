//! Repairs invalid JSON that programs commonly write.

use std::borrow::Cow;
use std::fmt::Write;

use crate::charset;

/// Returns a line as its writer meant it. Repairs invalid numbers (Python writes `NaN` and
/// `Infinity`, which become `null`), halves of surrogate pairs (U+FFFD), raw control characters in
/// strings (escaped), bytes that are not UTF-8, and a comma at the end. Returns `None` if nothing
/// was repaired.
pub fn repaired(line: &[u8]) -> Option<String> {
    let text = charset::record_text(line);
    let line = text.trim_end();
    let line = line.strip_suffix(',').unwrap_or(line);
    let mut repaired = String::with_capacity(line.len());
    let (mut rest, mut is_string) = (line, false);
    while let Some(first) = rest.chars().next() {
        if is_string && first < ' ' {
            // Writing to memory cannot fail.
            let _ = write!(repaired, "\\u{:04x}", u32::from(first));
            rest = &rest[1..];
            continue;
        }
        let (len, written) = match (is_string, first) {
            (true, '\\') => escape(rest),
            (true, '"') | (false, '"') => {
                is_string = !is_string;
                (1, "\"")
            }
            (false, 'N' | 'I' | '-') => number(rest),
            (_, c) => (c.len_utf8(), &rest[..c.len_utf8()]),
        };
        repaired.push_str(written);
        rest = &rest[len..];
    }
    let is_changed = repaired != text.trim_end() || matches!(text, Cow::Owned(_));
    is_changed.then_some(repaired)
}

/// Returns the length of the leading escape, and a valid form. A lone half of a surrogate pair
/// encodes no character, so it becomes U+FFFD.
fn escape(text: &str) -> (usize, &str) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let len = match (unit(0), unit(6)) {
        (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
        (Some(0xd800..=0xdfff), _) => return (6, "\\ufffd"),
        (Some(_), _) => 6,
        // A quotation mark, or an invalid escape.
        _ => 1 + text[1..].chars().next().map_or(0, char::len_utf8),
    };
    (len, &text[..len])
}

/// Returns the length of an invalid number at the beginning, and a valid form.
fn number(text: &str) -> (usize, &str) {
    for name in ["NaN", "Infinity", "-Infinity"] {
        let is_whole = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
        if text.strip_prefix(name).is_some_and(is_whole) {
            return (name.len(), "null");
        }
    }
    (1, &text[..1])
}
