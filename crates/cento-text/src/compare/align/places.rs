//! Looks up the places of a hash in a text.
//!
//! A table of chains takes a third of the time of a map to build, and most texts that are compared
//! need the table only once.

use super::NONE;
use crate::error::Result;
use crate::runtime::Stop;

/// Maximum number of places of a hash. A hash with more places is a frequent word, or a part of
/// one, and would bring up places other than a copy. Four times as many places are compared,
/// because hashes share chains. Bounds work: no evaluation set needs more.
pub const PLACES_MAX: usize = 4;

/// A hash table of places, with a chain for each part of the hashes.
pub struct Places {
    /// For each part of the hashes, the last place in the text.
    last: Vec<u32>,
    /// For each place, the preceding place in the same part.
    before: Vec<u32>,
}

impl Places {
    /// Records the place of each hash. The bits of the hashes must be equally random.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn new(hashes: impl ExactSizeIterator<Item = u64>, stop: &Stop) -> Result<Places> {
        let parts = hashes.len().next_power_of_two();
        let (mut last, mut before) = (vec![NONE; parts], vec![NONE; hashes.len()]);
        for (at, hash) in hashes.enumerate() {
            stop.check_at(at)?;
            let last = &mut last[part(hash, parts)];
            before[at] = std::mem::replace(last, at as u32);
        }
        Ok(Places { last, before })
    }

    /// Records places like [`new`](Self::new), but leaves out a part with more than four times
    /// [`PLACES_MAX`] places. Such a part holds a frequent hash, and possibly a few rare hashes.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_rare(
        hashes: impl ExactSizeIterator<Item = u64> + Clone,
        stop: &Stop,
    ) -> Result<Places> {
        let mut places = Places::new(hashes.clone(), stop)?;
        let mut counts = vec![0u8; places.last.len()];
        for (at, hash) in hashes.enumerate() {
            stop.check_at(at)?;
            let count = &mut counts[part(hash, places.last.len())];
            *count = count.saturating_add(1);
        }
        for (last, count) in places.last.iter_mut().zip(counts) {
            *last = if usize::from(count) > 4 * PLACES_MAX { NONE } else { *last };
        }
        Ok(places)
    }

    /// Fills `places` with the places of a hash, the last place first: the places in the same part
    /// where `is_same` holds. With more than [`PLACES_MAX`] places, `places` is left empty. Returns
    /// the number of places compared.
    #[inline]
    pub fn find(&self, hash: u64, is_same: impl Fn(usize) -> bool, places: &mut Vec<u32>) -> u64 {
        places.clear();
        let mut at = self.last[part(hash, self.last.len())];
        let mut compared = 0;
        while at != NONE && compared < 4 * PLACES_MAX as u64 {
            compared += 1;
            if is_same(at as usize) {
                if places.len() == PLACES_MAX {
                    places.clear();
                    break;
                }
                places.push(at);
            }
            at = self.before[at as usize];
        }
        compared
    }
}

fn part(hash: u64, parts: usize) -> usize {
    // The high bits, because the filter uses the lowest bits.
    (hash >> 32) as usize & (parts - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::hash::mix64;
    use crate::runtime::stop::PLACES_BETWEEN_LOOKS;
    use crate::runtime::stop::testing::After;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_those_of_equal_hashes(
            text in proptest::collection::vec(0u64..6, 0..16), wanted in 0u64..7,
        ) {
            let hashes: Vec<u64> = text.iter().map(|&word| mix64(word)).collect();
            let places = Places::new(hashes.iter().copied(), Stop::NEVER).unwrap();
            let mut found = vec![9];
            places.find(mix64(wanted), |at| text[at] == wanted, &mut found);
            let mut expected: Vec<u32> =
                (0..).zip(&text).filter(|(_, word)| **word == wanted).map(|(at, _)| at).collect();
            expected.reverse();
            if expected.len() > PLACES_MAX {
                expected.clear();
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn places_of_a_frequent_hash_are_not_noted() {
        // Seventeen times 7, with 8 and 9 between them.
        let hashes: Vec<u64> =
            (0u64..21).map(|at| if at % 5 == 1 { 8 + at % 2 } else { 7 } << 32).collect();
        let found = |hashes: &[u64], wanted: u64| {
            let places = Places::of_rare(hashes.iter().copied(), Stop::NEVER).unwrap();
            let mut found = Vec::new();
            let compared = places.find(wanted << 32, |at| hashes[at] == wanted << 32, &mut found);
            (found, compared)
        };
        assert_eq!(hashes.iter().filter(|&&hash| hash == 7 << 32).count(), 17);
        let of_all = [7, 8, 9].map(|wanted| found(&hashes, wanted));
        assert_eq!(of_all, [(vec![], 0), (vec![16, 6], 2), (vec![11, 1], 2)]);
        // Sixteen places are recorded, but too many to be returned.
        assert_eq!(found(&hashes[..20], 7), (vec![], PLACES_MAX as u64 + 1));
    }

    #[test]
    fn few_places_are_compared_however_often_a_hash_occurs() {
        let places = Places::new(std::iter::repeat_n(5, 10_000), Stop::NEVER).unwrap();
        let mut found = Vec::new();
        assert_eq!(places.find(5, |_| true, &mut found), PLACES_MAX as u64 + 1);
        assert!(found.is_empty());
        assert_eq!(places.find(5, |_| false, &mut found), 4 * PLACES_MAX as u64);
    }

    #[test]
    fn noting_many_places_is_stopped() {
        let flag = After::looks(1);
        let hashes = vec![1; 3 * PLACES_BETWEEN_LOOKS];
        let stopped = Places::new(hashes.into_iter(), flag.stop());
        assert!(matches!(stopped, Err(Error::Cancelled)));
    }
}
