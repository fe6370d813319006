//! Joins passages that are parts of a larger passage.
//!
//! A rewritten passage may consist of a copied part and a reordered part, which adjoin in both
//! texts and belong together. Two copied passages stay separate, because their ends are known to
//! the word.

use std::ops::Range;

use super::AlignedPassage;
use super::copied::GAP_TOKENS_MAX;

/// A passage that may be a part of a larger passage.
pub struct Part {
    /// The passage to join with its neighbors.
    pub passage: AlignedPassage,
    /// Whether the passage was copied, because two copied passages are never joined.
    pub is_copied: bool,
}

/// Joins adjoining passages and returns them in the order of the query. The flag marks joined
/// passages, because the caller must compute their similarity.
pub fn joined(mut parts: Vec<Part>) -> Vec<(AlignedPassage, bool)> {
    parts.sort_unstable_by_key(|Part { passage, .. }| (passage.query.start, passage.hit.start));
    let mut passages: Vec<(Part, bool)> = Vec::with_capacity(parts.len());
    for part in parts {
        match passages.last_mut() {
            Some((last, is_joined)) if last.adjoins(&part) => {
                if last.passage.is_before(&part.passage) {
                    last.passage.matched.extend(part.passage.matched);
                    last.passage.matched_in_hit.extend(part.passage.matched_in_hit);
                } else {
                    // The common tokens must be found anew, like the similarity.
                    last.passage.matched.clear();
                    last.passage.matched_in_hit.clear();
                }
                last.passage.query = hull(&last.passage.query, &part.passage.query);
                last.passage.hit = hull(&last.passage.hit, &part.passage.hit);
                last.is_copied = false;
                *is_joined = true;
            }
            _ => passages.push((part, false)),
        }
    }
    passages.into_iter().map(|(part, is_joined)| (part.passage, is_joined)).collect()
}

impl AlignedPassage {
    /// Returns whether this passage precedes `other` in both texts, and the common tokens of both
    /// are known.
    fn is_before(&self, other: &AlignedPassage) -> bool {
        self.query.end <= other.query.start
            && self.hit.end <= other.hit.start
            && !self.matched.is_empty()
            && !other.matched.is_empty()
    }
}

impl Part {
    fn adjoins(&self, other: &Part) -> bool {
        // Two sentences may separate the parts: twice the gap of a copy.
        let is_near = |a: &Range<usize>, b: &Range<usize>| {
            a.start.max(b.start).saturating_sub(a.end.min(b.end)) <= 2 * GAP_TOKENS_MAX
        };
        !(self.is_copied && other.is_copied)
            && is_near(&self.passage.query, &other.passage.query)
            && is_near(&self.passage.hit, &other.passage.hit)
    }
}

/// Returns the smallest range around two ranges.
fn hull(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    a.start.min(b.start)..a.end.max(b.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        parts: &[(Range<usize>, Range<usize>, bool)],
        expected: &[(Range<usize>, Range<usize>)],
    ) {
        let part = |(query, hit, is_copied): &(Range<usize>, Range<usize>, bool)| Part {
            passage: AlignedPassage::unmatched(query, hit),
            is_copied: *is_copied,
        };
        let found = joined(parts.iter().map(part).collect());
        let found: Vec<_> = found.into_iter().map(|(found, _)| (found.query, found.hit)).collect();
        assert_eq!(found, expected, "{parts:?}");
    }

    #[test]
    fn a_copied_and_a_rewritten_passage_that_adjoin_are_one() {
        let (a, b) = (100..200, 1300..1400);
        check(
            &[(a.clone(), b.clone(), true), (240..300, 1200..1260, false)],
            &[(100..300, 1200..1400)],
        );
        // Two sentences apart at most, in both texts.
        let far = [(241..300, 1200..1260), (240..300, 1200..1259)];
        for (c, d) in far {
            let parts = [(a.clone(), b.clone(), true), (c.clone(), d.clone(), false)];
            check(&parts, &[(a.clone(), b.clone()), (c, d)]);
        }
    }

    #[test]
    fn two_copied_passages_remain_two() {
        let parts = [(0..20, 0..20, true), (20..40, 60..80, true)];
        check(&parts, &[(0..20, 0..20), (20..40, 60..80)]);
    }

    #[test]
    fn parts_in_a_row_are_one() {
        let parts = [(60..90, 0..30, true), (0..20, 0..20, true), (30..50, 40..60, false)];
        check(&parts, &[(0..90, 0..60)]);
    }
}
