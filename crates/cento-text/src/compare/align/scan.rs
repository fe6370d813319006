//! Where do scores add up to most?
//!
//! The places of a text have scores, above zero where they are evidence and below zero where they
//! speak against it. A segment is a range of places whose scores add up to much, and which no place
//! before, after or within it improves. Karlin and Altschul, "Methods for assessing the statistical
//! significance of molecular sequence features by using general scoring schemes" (PNAS 1990), give
//! such sums their meaning: if scores are logarithms of odds, chance makes a segment of score s
//! with a probability that falls as exp(-s). Segments are separated as by BLAST (Altschul et al.
//! 1990): one ends where the sum has fallen from its greatest value by as much as another segment
//! would have to have. So one pass suffices.

use std::ops::Range;

/// Returns the disjoint segments with a sum of at least `sum_min`, which is positive, in order.
pub fn segments(scores: impl IntoIterator<Item = f64>, sum_min: f64) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut sum, mut start, mut best, mut end) = (0.0, 0, 0.0, 0);
    let mut at = 0;
    for score in scores {
        sum += score;
        at += 1;
        if sum > best {
            (best, end) = (sum, at);
        }
        if sum <= 0.0 || sum <= best - sum_min {
            if best >= sum_min {
                found.push(start..end);
            }
            (sum, start, best, end) = (0.0, at, 0.0, at);
        }
    }
    if best >= sum_min {
        found.push(start..end);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(scores: &[i32], range: &Range<usize>) -> i32 {
        scores[range.clone()].iter().sum()
    }

    fn found(scores: &[i32], sum_min: i32) -> Vec<Range<usize>> {
        segments(scores.iter().map(|&score| f64::from(score)), f64::from(sum_min))
    }

    proptest! {
        #[test]
        fn segments_are_the_ranges_that_no_place_improves(
            scores in proptest::collection::vec(-5i32..6, 0..40),
            sum_min in 1i32..15,
        ) {
            let found = found(&scores, sum_min);
            for segment in &found {
                prop_assert!(sum(&scores, segment) >= sum_min);
                for place in segment.clone() {
                    // Neither end can be left out.
                    prop_assert!(sum(&scores, &(segment.start..place + 1)) > 0);
                    prop_assert!(sum(&scores, &(place..segment.end)) > 0);
                }
            }
            prop_assert!(found.windows(2).all(|two| two[0].end <= two[1].start));
            // No range beside them has the sum.
            for start in 0..scores.len() {
                for end in start + 1..=scores.len() {
                    let is_beside = found.iter().all(|segment| {
                        segment.end <= start || end <= segment.start
                    });
                    prop_assert!(!is_beside || sum(&scores, &(start..end)) < sum_min);
                }
            }
        }
    }

    #[test]
    fn a_fall_by_the_sum_of_another_ends_a_segment() {
        let bounds = |scores: &[i32]| -> Vec<(usize, usize)> {
            found(scores, 8).into_iter().map(|segment| (segment.start, segment.end)).collect()
        };
        assert_eq!(bounds(&[4, 4, -7, 4, 4]), [(0, 5)]);
        assert_eq!(bounds(&[4, 4, -8, 4, 4]), [(0, 2), (3, 5)]);
        assert_eq!(bounds(&[9, -1, -1, -6, 4, 4]), [(0, 1), (4, 6)]);
        assert_eq!(bounds(&[7, -8, 7]), []);
    }
}
