//! Web pages within documents.
//!
//! Chapters of e-books and pages embedded in documents are written as XML. Empty elements may
//! therefore be self-closing, and titles are not displayed.

use std::borrow::Cow;

use super::encoding::declared;
use super::hidden::hidden_in;
use super::{joined, pieces};
use crate::charset::{self, EncodingLabel};
use crate::extracted::ExtractedText;

/// Returns the text of the body of a page, such as a chapter of an e-book.
pub fn body_of(bytes: &[u8]) -> ExtractedText {
    let label = declared(bytes);
    let label = EncodingLabel::of(None, label.as_deref()).believed(bytes);
    let page = charset::decode(bytes, label).text;
    let page = without_empty(&page, EmptyElements::All);
    let is_body = |at: &usize| {
        let tag = page.as_bytes().get(*at..*at + BODY.len());
        tag.is_some_and(|tag| tag.eq_ignore_ascii_case(BODY))
    };
    let body = memchr::memchr_iter(b'<', page.as_bytes()).find(is_body).unwrap_or_default();
    let body = &page[body..];
    let pieces = pieces(body);
    let (text, _) = joined(body, &pieces);
    ExtractedText { text, hidden: hidden_in(&pieces), ..ExtractedText::default() }
}

/// The beginning of the body of a page.
const BODY: &[u8] = b"<body";

/// Elements that XML allows to be self-closing. An HTML parser would take the text after such a tag
/// for the element's contents.
const RAW: [&str; 7] = ["iframe", "noframes", "script", "style", "textarea", "title", "xmp"];

/// The maximum length of a tag that is examined, in bytes. Longer tags stay.
const TAG_BYTES_MAX: usize = 1024;

/// Where self-closing elements are empty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EmptyElements {
    /// In the whole page, which is XML.
    All,
    /// In drawings (SVG) within a page of HTML.
    InDrawings,
}

/// Replaces empty self-closing elements by spaces, so that the remaining text keeps its place.
pub(super) fn without_empty(page: &str, empty: EmptyElements) -> Cow<'_, str> {
    let mut kept = String::new();
    let (mut from, mut is_drawing) = (0, empty == EmptyElements::All);
    for at in memchr::memchr_iter(b'<', page.as_bytes()) {
        let rest = &page.as_bytes()[at + 1..];
        let rest = &rest[..rest.len().min(TAG_BYTES_MAX)];
        let is_end = rest.first() == Some(&b'/');
        let name = &rest[usize::from(is_end)..];
        let is_one = |other: &str| {
            let len = other.len();
            let is_whole = name.get(len).is_none_or(|byte| !byte.is_ascii_alphanumeric());
            is_whole && name.get(..len).is_some_and(|n| n.eq_ignore_ascii_case(other.as_bytes()))
        };
        if empty == EmptyElements::InDrawings && is_one("svg") {
            is_drawing = !is_end;
        }
        if at < from || !is_drawing || is_end || !RAW.iter().any(|raw| is_one(raw)) {
            continue;
        }
        let Some(end) = memchr::memchr(b'>', rest) else { continue };
        if rest[..end].ends_with(b"/") {
            kept.push_str(&page[from..at]);
            from = at + 1 + end + 1;
            kept.extend(std::iter::repeat_n(' ', from - at));
        }
    }
    if from == 0 { Cow::Borrowed(page) } else { Cow::Owned(kept + &page[from..]) }
}
