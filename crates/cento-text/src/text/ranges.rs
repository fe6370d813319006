//! Operations on ranges of places in a text.

use std::ops::Range;

/// Joins ranges that touch or overlap. The input may be in any order, the result is ascending and
/// disjoint.
///
/// ```
/// assert_eq!(cento_text::text::ranges::joined([5..9, 0..3, 2..5]), [0..9]);
/// ```
pub fn joined<T: Ord>(ranges: impl IntoIterator<Item = Range<T>>) -> Vec<Range<T>> {
    let mut ranges: Vec<Range<T>> = ranges.into_iter().collect();
    ranges.sort_by(|one, other| one.start.cmp(&other.start));
    let mut joined: Vec<Range<T>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => {
                if range.end > last.end {
                    last.end = range.end;
                }
            }
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn joined_ranges_have_the_places_of_all_and_do_not_touch(
            ranges in prop::collection::vec((0usize..40, 0usize..6), 0..12),
        ) {
            let ranges = ranges.iter().map(|(start, len)| *start..start + len);
            let joined = joined(ranges.clone());
            for place in 0..50 {
                let is_in = joined.iter().any(|range| range.contains(&place));
                prop_assert_eq!(is_in, ranges.clone().any(|range| range.contains(&place)));
            }
            prop_assert!(joined.windows(2).all(|two| two[0].end < two[1].start));
        }
    }
}
