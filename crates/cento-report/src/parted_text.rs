//! The texts of a report, with the parts that a text was joined from.

use std::ops::{Deref, Range};

use cento::Part;
use cento::index::StoredDocument;
use cento_api::part::{part_at, part_range};

/// A text and its parts, if any. Dereferences to the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartedText {
    /// The texts of the parts, joined.
    pub text: String,
    /// The parts of the text, in order.
    pub parts: Vec<Part>,
}

impl Deref for PartedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl From<String> for PartedText {
    fn from(text: String) -> PartedText {
        PartedText { text, parts: Vec::new() }
    }
}

impl From<&str> for PartedText {
    fn from(text: &str) -> PartedText {
        text.to_owned().into()
    }
}

impl PartedText {
    /// Returns the text of a document, if stored.
    #[must_use]
    pub fn of(document: StoredDocument) -> Option<PartedText> {
        let parts = document.parts;
        document.text.map(|text| PartedText { text, parts })
    }

    /// Returns the name and the bytes of the part that contains this range of the text. `None` if
    /// no part contains the whole range.
    pub(crate) fn part_of(&self, range: &Range<usize>) -> Option<(&str, Range<usize>)> {
        let start = u32::try_from(range.start).ok()?;
        let part = part_at(&self.parts, start)?;
        let at = self.parts.partition_point(|other| other.start < part.start);
        let of_part = part_range(&self.parts, at, self.text.len());
        (range.end <= of_part.end).then_some((part.name.as_str(), of_part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_in_the_part_that_has_all_of_it() {
        let parts = [("a", 0), ("empty", 4), ("b", 5)];
        let parts = parts.map(|(name, start)| Part::new(name, start)).to_vec();
        let text = PartedText { text: "one\n\ntwo".into(), parts };
        let of = |range: Range<usize>| text.part_of(&range);
        assert_eq!(of(1..3), Some(("a", 0..3)));
        assert_eq!(of(4..4), Some(("empty", 4..4)));
        assert_eq!(of(5..8), Some(("b", 5..8)));
        assert_eq!([of(2..4), of(0..8)], [None, None]);
        assert_eq!(PartedText::from("one").part_of(&(0..1)), None);
    }
}
