//! A passage that a query and a stored document have in common.

use serde::{Deserialize, Serialize};

/// A passage that the query and a stored document have in common.
///
/// Ranges are half-open and count bytes of both texts, or [tokens](Unit::Tokens) where a text is
/// missing. A search finds passages if its query requests them; aligning two texts takes time in
/// proportion to their lengths, bounded by a budget of steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(
    feature = "openapi",
    schema(description = "A passage that the query and a stored document have in common.")
)]
pub struct Passage {
    /// Its range in the query.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<u32>, min_items = 2, max_items = 2))]
    pub query: (u32, u32),
    /// Its range in the document.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<u32>, min_items = 2, max_items = 2))]
    pub hit: (u32, u32),
    /// What the two ranges, which are half-open, count.
    #[serde(default, skip_serializing_if = "Unit::is_bytes")]
    pub unit: Unit,
    /// The words of the query in it, of a program its tokens. All words count, also where the
    /// tokens of the index are stems without stop words, or letters.
    pub tokens: u32,
    /// Those of them that the document has too, in its range. If the passage was copied, they are
    /// in the same order there: the words that were not edited. Of a rewritten passage or a summary
    /// they are the words of both places, each as often as both have it. A clause that the query
    /// copied more often than the document has it is matched each time. Without text, an estimate
    /// from the fingerprints.
    #[serde(default)]
    pub matched: u32,
    /// The places of the matched tokens in the query, ascending and disjoint; empty if all are
    /// matched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<u32>>))]
    pub matched_ranges: Vec<(u32, u32)>,
    /// How alike the two places are, 0 to 1: the tokens that both have as a share of their mean
    /// number; without text, an estimate from the fingerprints.
    pub similarity: f64,
    /// The part of the query that it is in, if the query has parts. Its page and line are then
    /// those of the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_part: Option<String>,
    /// The part of the document that it is in, if the document has parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_part: Option<String>,
    /// The page of the query on which it begins, counted from 1, if the query is a text with pages:
    /// form feeds (U+000C) end them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_page: Option<u32>,
    /// The line of the query on which it begins, counted from 1, if the query is a text with lines:
    /// line feeds end them, whatever the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_line: Option<u32>,
    /// The page of the document on which it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_page: Option<u32>,
    /// The line of the document on which it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_line: Option<u32>,
    /// Its place in the file that the query was extracted from, if that is known: in a web page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_origin: Option<Origin>,
    /// Its place in the file that the document was extracted from, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_origin: Option<Origin>,
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
    /// Returns a passage without pages and lines, whose bytes are all matched.
    #[must_use]
    pub fn new(
        query: (u32, u32),
        hit: (u32, u32),
        unit: Unit,
        tokens: u32,
        similarity: f64,
    ) -> Passage {
        Passage {
            query,
            hit,
            unit,
            tokens,
            matched: tokens,
            matched_ranges: Vec::new(),
            similarity,
            query_part: None,
            hit_part: None,
            query_page: None,
            query_line: None,
            hit_page: None,
            hit_line: None,
            query_origin: None,
            hit_origin: None,
        }
    }

    /// Sets the number of matched tokens and their ranges.
    #[must_use]
    pub fn with_matched(mut self, tokens: u32, ranges: Vec<(u32, u32)>) -> Passage {
        let is_whole = ranges == [self.query];
        (self.matched, self.matched_ranges) = (tokens, if is_whole { Vec::new() } else { ranges });
        self
    }

    /// Returns the parts of `query` that the document has too, in the same unit.
    #[must_use]
    pub fn matched_in_query(&self) -> &[(u32, u32)] {
        match self.matched_ranges.is_empty() {
            true => std::slice::from_ref(&self.query),
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
