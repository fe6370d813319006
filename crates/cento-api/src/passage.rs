//! A passage that two texts share.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A passage that two texts share. In a search, `a` is the query and `b` the hit. In a pair, `a`
/// and `b` are the two documents.
///
/// Ranges are half-open and count bytes of both texts, or [tokens](Unit::Tokens) where a text is
/// missing. A search finds passages if its query requests them; aligning two texts takes time in
/// proportion to their lengths, bounded by a budget of steps.
///
/// ```
/// use cento_api::{Passage, Unit};
///
/// // Bytes 204 to 498 of the query are bytes 0 to 291 of the hit: 60 words.
/// let passage = Passage::new((204, 498), (0, 291), Unit::Bytes, 60, 0.975);
/// let passage = passage.with_matched(58, vec![(204, 300), (310, 498)]);
/// assert_eq!((passage.matched, passage.matched_in_a().len()), (58, 2));
/// ```
#[doc(alias = "plagiarism")]
#[doc(alias = "alignment")]
#[doc(alias = "match")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(
    feature = "openapi",
    schema(
        description = "A passage that two texts have in common: `a`, the query or the first of \
        a pair, and `b`, the hit or the second."
    )
)]
pub struct Passage {
    /// Its range in `a`.
    pub a: (u32, u32),
    /// Its range in `b`.
    pub b: (u32, u32),
    /// What the two ranges, which are half-open, count.
    #[serde(default, skip_serializing_if = "Unit::is_bytes")]
    pub unit: Unit,
    /// The words of the passage in `a`, or the tokens of a program. All words count, even if the
    /// tokens of the index are stems without stop words, or letters.
    pub tokens: u32,
    /// The words that `a` and `b` both have in their ranges. In a copied passage these are the
    /// words that were not edited, in the same order. In a rewritten passage or a summary, each
    /// word counts as often as both ranges have it. If `a` repeats a clause, every repetition is
    /// matched. Without text, the number is an estimate from the fingerprints.
    #[serde(default)]
    pub matched: u32,
    /// The ranges of the matched tokens in `a`, ascending and disjoint. Empty if all tokens are
    /// matched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matched_ranges: Vec<(u32, u32)>,
    /// How alike the two ranges are, 0 to 1: the number of matched tokens divided by the mean
    /// length of both ranges. Without text, an estimate from the fingerprints.
    pub similarity: f64,
    /// The information of the matched tokens in bits, minus the cost of gaps: how much the passage
    /// says in this collection. Text that many documents have says almost nothing. Missing without
    /// the texts of a collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<f64>,
    /// How many unrelated documents of the collection are expected to share a passage of as much
    /// evidence with `a` by chance. If the passages cover more than half of the longer text, the
    /// number for all passages together counts if it is smaller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
    /// Whether letters were aligned instead of words, because many words have wrong letters, or
    /// were joined or cut. The whole passage then corresponds. If at most half of its words are
    /// equal, cento computes no evidence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_letters: bool,
    /// The part of `a` with the passage, if `a` has parts. Page and line then count from the
    /// beginning of the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a_part: Option<String>,
    /// The part of `b` with the passage, if `b` has parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b_part: Option<String>,
    /// The page of `a` on which it begins, counted from 1, if `a` has pages: form feeds (U+000C)
    /// end them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a_page: Option<u32>,
    /// The line of `a` on which it begins, counted from 1, if `a` has lines: line feeds end them,
    /// whatever the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a_line: Option<u32>,
    /// The page of `b` on which it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b_page: Option<u32>,
    /// The line of `b` on which it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b_line: Option<u32>,
    /// The range in the file that `a` was extracted from, for a web page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a_origin: Option<Origin>,
    /// The range in the file that `b` was extracted from, for a web page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b_origin: Option<Origin>,
}

/// The default maximum number of chance occurrences of a shown passage.
pub const MAX_EXPECTED: f64 = 0.01;

/// Refuses a number of expected passages below zero.
///
/// # Errors
/// [`Error::InvalidArgument`], which names the field.
pub(crate) fn check_max_expected(expected: Option<f64>) -> Result<()> {
    match expected {
        Some(expected) if expected.is_nan() || expected < 0.0 => {
            Err(Error::argument("max_expected", "`max_expected` must be a number from 0 on"))
        }
        _ => Ok(()),
    }
}

/// A place in the file that a text was extracted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Origin {
    /// Its first byte, in the file as it was decoded: in UTF-8, without a byte order mark.
    pub start: u32,
    /// The byte after its last one.
    pub end: u32,
    /// The line of the file on which it begins, counted from 1.
    pub line: u32,
}

/// What a range counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Bytes of the original text.
    #[default]
    Bytes,
    /// Tokens, because the index or the query is without text.
    Tokens,
}

impl Passage {
    /// Returns a passage without pages and lines. Every byte is matched.
    #[must_use]
    pub fn new(a: (u32, u32), b: (u32, u32), unit: Unit, tokens: u32, similarity: f64) -> Passage {
        Passage {
            a,
            b,
            unit,
            tokens,
            matched: tokens,
            matched_ranges: Vec::new(),
            similarity,
            evidence: None,
            expected: None,
            by_letters: false,
            a_part: None,
            b_part: None,
            a_page: None,
            a_line: None,
            b_page: None,
            b_line: None,
            a_origin: None,
            b_origin: None,
        }
    }

    /// Sets the number of matched tokens and their ranges.
    #[must_use]
    pub fn with_matched(mut self, tokens: u32, ranges: Vec<(u32, u32)>) -> Passage {
        let is_whole = ranges == [self.a];
        (self.matched, self.matched_ranges) = (tokens, if is_whole { Vec::new() } else { ranges });
        self
    }

    /// Returns the parts of `a` that `b` also has, in the same unit. If letters were aligned, this
    /// is all of `a`.
    #[must_use]
    pub fn matched_in_a(&self) -> &[(u32, u32)] {
        match self.matched_ranges.is_empty() || self.by_letters {
            true => std::slice::from_ref(&self.a),
            false => &self.matched_ranges,
        }
    }
}

impl Unit {
    /// Tells serde to leave out the unit of most passages.
    pub(crate) fn is_bytes(&self) -> bool {
        *self == Unit::Bytes
    }
}
