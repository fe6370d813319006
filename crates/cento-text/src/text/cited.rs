//! Which parts of a text did its author mark as the words of others?

use std::ops::Range;

use cento_api::CitedPart;

use super::bibliography::bibliography;
use super::quotations::quotations;
use super::ranges::joined;

/// Returns the bytes of these parts of a text, as ascending and disjoint ranges.
///
/// ```
/// use cento_api::CitedPart;
/// use cento_text::text::cited::cited;
///
/// let text = "He said \"yes\" and left.";
/// assert_eq!(cited(text, &[CitedPart::Quotations]), [8..13]);
/// assert!(cited(text, &[CitedPart::Bibliography]).is_empty());
/// ```
#[must_use]
pub fn cited(text: &str, parts: &[CitedPart]) -> Vec<Range<u32>> {
    let mut found: Vec<Range<u32>> = Vec::new();
    if parts.contains(&CitedPart::Quotations) {
        found.extend(quotations(text));
    }
    if parts.contains(&CitedPart::Bibliography) {
        found.extend(bibliography(text));
    }
    joined(found)
}
