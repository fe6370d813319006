//! A passage of two texts of equal standing, with neither as the query.

use serde::{Deserialize, Serialize};

use crate::{Origin, Passage, Unit};

/// A passage that two texts, `a` and `b`, have in common.
///
/// A search has a query and hits, so its passages are [`Passage`]s; comparisons and pairs have two
/// texts of equal standing, and this is the same for them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PairPassage {
    /// Its range in `a`.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<u32>, min_items = 2, max_items = 2))]
    pub a: (u32, u32),
    /// Its range in `b`.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<u32>, min_items = 2, max_items = 2))]
    pub b: (u32, u32),
    /// What the two ranges, which are half-open, count.
    #[serde(default, skip_serializing_if = "Unit::is_bytes")]
    pub unit: Unit,
    /// The number of words of `a` in it; see [`Passage::tokens`].
    pub tokens: u32,
    /// The number of these that `b` has too, in its range; see [`Passage::matched`].
    #[serde(default)]
    pub matched: u32,
    /// The places of the matched tokens in `a`, ascending and disjoint; empty if all are matched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<u32>>))]
    pub matched_ranges: Vec<(u32, u32)>,
    /// How alike the two places are, 0 to 1: the tokens that both have as a share of their mean
    /// number; without text, an estimate from the fingerprints.
    pub similarity: f64,
    /// The part of `a` that it is in, if `a` has parts. Its page and line are then those of the
    /// part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a_part: Option<String>,
    /// The part of `b` that it is in, if `b` has parts.
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
    /// Its place in the file that `a` was extracted from, if that is known: in a web page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a_origin: Option<Origin>,
    /// Its place in the file that `b` was extracted from, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b_origin: Option<Origin>,
}

impl PairPassage {
    /// Returns the parts of `a` that `b` has too, in the same unit.
    #[must_use]
    pub fn matched_in_a(&self) -> &[(u32, u32)] {
        match self.matched_ranges.is_empty() {
            true => std::slice::from_ref(&self.a),
            false => &self.matched_ranges,
        }
    }
}

impl From<Passage> for PairPassage {
    /// The query is `a`, the hit `b`.
    fn from(passage: Passage) -> PairPassage {
        let Passage {
            query,
            hit,
            unit,
            tokens,
            matched,
            matched_ranges,
            similarity,
            query_part,
            hit_part,
            query_page,
            query_line,
            hit_page,
            hit_line,
            query_origin,
            hit_origin,
        } = passage;
        PairPassage {
            a: query,
            b: hit,
            unit,
            tokens,
            matched,
            matched_ranges,
            similarity,
            a_part: query_part,
            b_part: hit_part,
            a_page: query_page,
            a_line: query_line,
            b_page: hit_page,
            b_line: hit_line,
            a_origin: query_origin,
            b_origin: hit_origin,
        }
    }
}

impl From<PairPassage> for Passage {
    /// `a` is the query, `b` the hit.
    fn from(passage: PairPassage) -> Passage {
        let PairPassage {
            a,
            b,
            unit,
            tokens,
            matched,
            matched_ranges,
            similarity,
            a_part,
            b_part,
            a_page,
            a_line,
            b_page,
            b_line,
            a_origin,
            b_origin,
        } = passage;
        Passage {
            query: a,
            hit: b,
            unit,
            tokens,
            matched,
            matched_ranges,
            similarity,
            query_part: a_part,
            hit_part: b_part,
            query_page: a_page,
            query_line: a_line,
            hit_page: b_page,
            hit_line: b_line,
            query_origin: a_origin,
            hit_origin: b_origin,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_of_a_search_and_of_a_pair_say_the_same() {
        let mut passage = Passage::new((1, 5), (2, 7), Unit::Tokens, 4, 0.5);
        passage.matched_ranges = vec![(1, 2), (3, 5)];
        (passage.query_page, passage.query_line) = (Some(3), Some(4));
        (passage.hit_page, passage.hit_line) = (Some(5), Some(6));
        passage.query_origin = Some(Origin { start: 1, end: 2, line: 3 });
        passage.hit_origin = Some(Origin { start: 4, end: 5, line: 6 });
        let of_pair = PairPassage::from(passage.clone());
        assert_eq!(
            (of_pair.a, of_pair.b, of_pair.a_page, of_pair.b_line),
            ((1, 5), (2, 7), Some(3), Some(6))
        );
        assert_eq!(Passage::from(of_pair), passage);
    }
}
