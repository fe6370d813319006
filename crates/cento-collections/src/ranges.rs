//! Ranges of places in a text.

use std::ops::Range;

/// Joins ascending ranges that touch or overlap.
pub fn joined(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// Returns the places of ascending ranges that do not touch, without those of others.
pub fn without(ranges: &[Range<usize>], others: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut left = Vec::new();
    let mut others = others.iter().peekable();
    for range in ranges {
        let mut start = range.start;
        while let Some(other) = others.peek().filter(|other| other.start < range.end) {
            if start < other.start {
                left.push(start..other.start);
            }
            start = start.max(other.end);
            // It may go on into the next range.
            if other.end > range.end {
                break;
            }
            others.next();
        }
        if start < range.end {
            left.push(start..range.end);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranges_of(bits: &[bool]) -> Vec<Range<usize>> {
        let set = bits.iter().enumerate().filter(|(_, is)| **is);
        joined(set.map(|(at, _)| at..at + 1))
    }

    proptest! {
        #[test]
        fn what_is_left_has_the_places_of_the_first_alone(
            bits in prop::collection::vec((any::<bool>(), any::<bool>()), 0..40),
        ) {
            let [first, second, expected]: [Vec<bool>; 3] = [
                bits.iter().map(|bits| bits.0).collect(),
                bits.iter().map(|bits| bits.1).collect(),
                bits.iter().map(|bits| bits.0 && !bits.1).collect(),
            ];
            let found = without(&ranges_of(&first), &ranges_of(&second));
            prop_assert_eq!(joined(found.into_iter()), ranges_of(&expected));
        }
    }
}
