//! Finds places in documents by position.

use std::collections::HashMap;

use super::link::Place;

/// The minimum share of a passage that a related place must have.
pub const SHARE_MIN: f64 = 0.5;

/// Numbered places of documents.
#[derive(Debug, Default)]
pub struct Places {
    /// The places of each document, ascending.
    of: HashMap<u32, Vec<(Place, usize)>>,
    longest: u32,
}

impl Places {
    pub fn insert(&mut self, document: u32, place: Place, number: usize) {
        let own = self.of.entry(document).or_default();
        own.insert(own.partition_point(|known| *known < (place, number)), (place, number));
        self.longest = self.longest.max(length(place));
    }

    /// Replaces a place that was inserted with this number.
    pub fn replace(&mut self, document: u32, before: Place, after: Place, number: usize) {
        let own = self.of.entry(document).or_default();
        if let Ok(at) = own.binary_search(&(before, number)) {
            own.remove(at);
        }
        self.insert(document, after, number);
    }

    /// Returns the places of a document that overlap `place`, with their numbers.
    pub fn around(&self, document: u32, place: Place) -> impl Iterator<Item = (Place, usize)> {
        let own = self.of.get(&document).map_or(&[][..], Vec::as_slice);
        // A place with an earlier start ends before this place begins.
        let earliest = place.0.saturating_sub(self.longest);
        let own = &own[own.partition_point(|known| known.0.0 < earliest)..];
        let own = own.iter().take_while(move |known| known.0.0 < place.1);
        own.copied().filter(move |known| known.0.1 > place.0)
    }
}

/// Returns the length of a place in bytes.
pub fn length(place: Place) -> u32 {
    place.1 - place.0
}

/// Returns the common range of two places.
pub fn common(a: Place, b: Place) -> Option<Place> {
    let (start, end) = (a.0.max(b.0), a.1.min(b.1));
    (start < end).then_some((start, end))
}

/// Tells whether `whole` has at least this share of `part`.
pub fn covers(whole: Place, part: Place, share: f64) -> bool {
    common(whole, part)
        .is_some_and(|found| f64::from(length(found)) >= share * f64::from(length(part)))
}

/// Tells whether two places of a document are the same, because either place has half of the other
/// place.
pub fn is_same(a: Place, b: Place) -> bool {
    covers(a, b, SHARE_MIN) || covers(b, a, SHARE_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_around_one_are_those_that_overlap_it(
            all in prop::collection::vec((0u32..3, 0u32..60, 1u32..20), 0..40),
            moved in prop::collection::vec((0usize..40, 0u32..60, 1u32..20), 0..10),
            (start, length) in (0u32..60, 1u32..20),
        ) {
            let mut all: Vec<(u32, Place)> =
                all.into_iter().map(|(of, at, length)| (of, (at, at + length))).collect();
            let mut places = Places::default();
            for (number, &(document, place)) in all.iter().enumerate() {
                places.insert(document, place, number);
            }
            for (number, at, length) in moved {
                let Some((document, place)) = all.get_mut(number) else { continue };
                places.replace(*document, *place, (at, at + length), number);
                *place = (at, at + length);
            }
            let wanted = (start, start + length);
            for document in 0..3 {
                let mut found: Vec<_> = places.around(document, wanted).collect();
                found.sort_unstable_by_key(|&(_, number)| number);
                let overlap = |place: Place| place.0 < wanted.1 && wanted.0 < place.1;
                let is_near = |of: u32, place: Place| of == document && overlap(place);
                let all = all.iter().enumerate();
                let expected = all.filter(|(_, place)| is_near(place.0, place.1));
                let expected: Vec<_> =
                    expected.map(|(number, &(_, place))| (place, number)).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
