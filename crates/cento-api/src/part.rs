//! Parts of a document: the files of a submission, the chapters of a book.
//!
//! The text of the document is the texts of the parts, joined with line feeds. A part records where
//! its text begins. This module checks the names and the number of parts.

use std::collections::HashSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The longest name of a part, in bytes.
pub const PART_NAME_BYTES_MAX: usize = 1024;

/// The maximum number of parts of a document.
pub const PARTS_MAX: usize = 1 << 16;

/// A part of a document, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The name, unique in the document: not empty, at most [`PART_NAME_BYTES_MAX`], no control
    /// characters.
    pub name: String,
    /// The byte of the document's text where the part begins. A part ends before the line feed that
    /// separates it from the next part, or at the end of the text.
    pub start: u32,
    /// The token of the document where the part begins. Only an index without texts records it.
    pub first_token: Option<u32>,
}

/// A part of a document, with its text: how parts are exchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PartText {
    /// The name, unique in the document.
    pub name: String,
    /// The text of the part.
    #[cfg_attr(feature = "openapi", schema(pattern = r"^[^\x00]*$"))]
    pub text: String,
}

impl Part {
    /// Returns a part that begins at this byte of the text.
    #[must_use]
    pub fn new(name: impl Into<String>, start: u32) -> Part {
        Part { name: name.into(), start, first_token: None }
    }
}

/// Returns the bytes of the part at this place in the list `parts` of a document whose text has
/// this many bytes.
///
/// ```
/// use cento_api::{Part, part::part_range};
///
/// // Two files of a submission, joined with a line feed.
/// let (text, parts) = ("fn a() {}\nfn b() {}", [Part::new("a.rs", 0), Part::new("b.rs", 10)]);
/// assert_eq!(&text[part_range(&parts, 0, text.len())], "fn a() {}");
/// ```
///
/// # Panics
/// When the list has no such place.
#[must_use]
pub fn part_range(parts: &[Part], at: usize, text_bytes: usize) -> Range<usize> {
    let end = parts.get(at + 1).map_or(text_bytes, |next| (next.start as usize).saturating_sub(1));
    (parts[at].start as usize).min(end)..end
}

/// Returns the name and the text of each part of a document with this text.
pub fn part_texts<'a>(
    parts: &'a [Part],
    text: &'a str,
) -> impl ExactSizeIterator<Item = (&'a str, &'a str)> {
    let of_part = |(at, part): (usize, &'a Part)| {
        let range = part_range(parts, at, text.len());
        (part.name.as_str(), text.get(range).unwrap_or_default())
    };
    parts.iter().enumerate().map(of_part)
}

/// Returns the parts of a document with their texts, to be exchanged.
#[must_use]
pub fn exchanged_parts(parts: &[Part], text: &str) -> Vec<PartText> {
    let part = |(name, text): (&str, &str)| PartText { name: name.into(), text: text.into() };
    part_texts(parts, text).map(part).collect()
}

/// Returns the part with this byte of the text. A line feed between parts belongs to the part
/// before.
///
/// ```
/// use cento_api::{Part, part::part_at};
///
/// let parts = [Part::new("a.rs", 0), Part::new("b.rs", 10)];
/// assert_eq!(part_at(&parts, 12).unwrap().name, "b.rs");
/// ```
#[must_use]
pub fn part_at(parts: &[Part], byte: u32) -> Option<&Part> {
    let after = parts.partition_point(|part| part.start <= byte);
    parts.get(after.checked_sub(1)?)
}

/// Returns the part with this token of the document, or `None` if the parts do not record tokens.
#[must_use]
pub fn part_at_token(parts: &[Part], token: u32) -> Option<&Part> {
    let is_recorded = parts.iter().all(|part| part.first_token.is_some());
    let after = parts.partition_point(|part| part.first_token.is_some_and(|first| first <= token));
    // A part without tokens begins at the same token as the next part, which has the token.
    parts.get(after.checked_sub(1)?).filter(|_| is_recorded)
}

/// Returns the reason why no document with this text can have these parts, as a clause, if any.
///
/// ```
/// use cento_api::{Part, part::parts_problem};
///
/// let parts = [Part::new("a.rs", 0), Part::new("a.rs", 4)];
/// assert!(parts_problem(&parts, "one\ntwo").is_some());
/// ```
#[must_use]
pub fn parts_problem(parts: &[Part], text: &str) -> Option<String> {
    let [first, ..] = parts else { return None };
    if parts.len() > PARTS_MAX {
        return Some(format!("it has {} parts; the maximum is {PARTS_MAX}", parts.len()));
    }
    if text.len() > u32::MAX as usize {
        return Some(format!("its parts have {} bytes; the maximum is {}", text.len(), u32::MAX));
    }
    let mut names = HashSet::with_capacity(parts.len());
    for (at, Part { name, .. }) in parts.iter().enumerate() {
        let number = at + 1;
        if name.is_empty() {
            return Some(format!("the name of its part {number} is empty"));
        }
        if name.len() > PART_NAME_BYTES_MAX {
            let len = name.len();
            return Some(format!(
                "the name of its part {number} has {len} bytes; the maximum is \
                 {PART_NAME_BYTES_MAX}"
            ));
        }
        if name.chars().any(char::is_control) {
            return Some(format!("the name {name:?} of its part contains a control character"));
        }
        if !names.insert(name.as_str()) {
            return Some(format!("two of its parts have the name {name:?}"));
        }
    }
    let is_after_line = |part: &Part| {
        let before = (part.start as usize).checked_sub(1);
        before.is_some_and(|before| text.as_bytes().get(before) == Some(&b'\n'))
    };
    let is_in_order = parts.windows(2).all(|two| two[0].start < two[1].start);
    let is_joined = first.start == 0 && is_in_order && parts[1..].iter().all(is_after_line);
    (!is_joined).then(|| "its text is not the texts of its parts, joined with line feeds".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_no_index_can_hold_are_refused_by_name() {
        let check = |parts: &[(&str, u32)], text: &str, expected: Option<&str>| {
            let parts: Vec<Part> =
                parts.iter().map(|&(name, start)| Part::new(name, start)).collect();
            let problem = parts_problem(&parts, text);
            let is_expected = match (&problem, expected) {
                (Some(problem), Some(expected)) => problem.contains(expected),
                (problem, expected) => problem.is_none() && expected.is_none(),
            };
            assert!(is_expected, "{problem:?}");
        };
        check(&[], "anything", None);
        check(&[("a", 0)], "", None);
        check(&[("a", 0), ("b", 1), ("c", 2)], "\n\n", None);
        check(&[("a", 0), ("b", 4)], "one\ntwo", None);
        check(&[("", 0)], "", Some("part 1 is empty"));
        check(&[("a", 0), ("a", 1)], "\n", Some("two of its parts have the name \"a\""));
        check(&[("a\nb", 0)], "", Some("control character"));
        check(&[(&"n".repeat(1025), 0)], "", Some("1025 bytes"));
        check(&[("a", 1)], "\n", Some("joined"));
        check(&[("a", 0), ("b", 0)], "\n", Some("joined"));
        check(&[("a", 0), ("b", 2)], "one", Some("joined"));
        check(&[("a", 0), ("b", 9)], "one", Some("joined"));
    }

    #[test]
    fn a_place_is_in_the_part_that_begins_last_before_it() {
        let part = |name, start, token| Part { first_token: Some(token), ..Part::new(name, start) };
        let parts = [part("a", 0, 0), part("none", 4, 1), part("b", 5, 1)];
        let of_byte = |byte| part_at(&parts, byte).map(|part| part.name.as_str());
        assert_eq!([0, 3, 4, 5, 9].map(of_byte), ["a", "a", "none", "b", "b"].map(Some));
        let of_token = |token| part_at_token(&parts, token).map(|part| part.name.as_str());
        assert_eq!([0, 1, 7].map(of_token), ["a", "b", "b"].map(Some));
        assert_eq!(part_at_token(&[Part::new("a", 0)], 0), None);
        let texts: Vec<_> = part_texts(&parts, "one\n\ntwo").collect();
        assert_eq!(texts, [("a", "one"), ("none", ""), ("b", "two")]);
    }
}
