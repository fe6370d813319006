//! Removes families with about the same places.
//!
//! The ends of a passage of many documents differ from pair to pair, so a passage can make several
//! families. A family says nothing new if an earlier family has the same places, with at least half
//! of either place in common.

use std::collections::HashMap;

use super::Settled;
use super::places::{Places, SHARE_MIN, covers};
use cento_api::error::Result;
use cento_text::runtime::Stop;

/// Removes families whose places all belong to a single earlier family.
///
/// # Errors
/// [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
pub fn remove(families: &mut Vec<Settled>, stop: &Stop) -> Result<()> {
    let (mut kept_places, mut kept) = (Places::default(), Vec::new());
    for family in families.drain(..) {
        let mut common: HashMap<usize, usize> = HashMap::new();
        for (at, &(document, place)) in family.iter().enumerate() {
            stop.check()?;
            let same = kept_places.around(document, place).filter(|&(other, _)| {
                covers(other, place, SHARE_MIN) && covers(place, other, SHARE_MIN)
            });
            // An earlier family stays in the count only while it has every place so far. If two of
            // its places match, only the first match counts.
            for (_, number) in same {
                let count = common.entry(number).or_default();
                if *count == at {
                    *count += 1;
                }
            }
        }
        if common.values().any(|&count| count == family.len()) {
            continue;
        }
        for &(document, place) in &family {
            kept_places.insert(document, place, kept.len());
        }
        kept.push(family);
    }
    *families = kept;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_family_of_the_places_of_another_is_not_kept_places_again() {
        let all = vec![(0, (10, 50)), (1, (0, 40)), (2, (5, 45)), (2, (45, 90))];
        let again = vec![(0, (12, 60)), (2, (0, 44))];
        let elsewhere = vec![(0, (10, 50)), (1, (40, 80))];
        let longer = vec![(0, (0, 400)), (1, (0, 390))];
        let mut families =
            vec![all.clone(), again.clone(), elsewhere.clone(), again, longer.clone()];
        remove(&mut families, Stop::NEVER).unwrap();
        assert_eq!(families, [all, elsewhere, longer]);
    }

    proptest! {
        #[test]
        fn those_that_are_left_are_not_in_one_before_them(
            all in prop::collection::vec(
                prop::collection::vec((0u32..4, 0u32..30, 5u32..20), 1..6), 0..8,
            ),
        ) {
            let family = |places: Vec<(u32, u32, u32)>| {
                let places = places.into_iter().map(|(of, at, length)| (of, (at, at + length)));
                let mut places: Settled = places.collect();
                places.sort_unstable();
                places
            };
            let all: Vec<Settled> = all.into_iter().map(family).collect();
            let has = |one: &Settled, other: &Settled| other.iter().all(|(of, place)| {
                one.iter().any(|(document, own)| {
                    document == of
                        && covers(*own, *place, SHARE_MIN)
                        && covers(*place, *own, SHARE_MIN)
                })
            });
            let mut expected: Vec<Settled> = Vec::new();
            for family in &all {
                if !expected.iter().any(|before| has(before, family)) {
                    expected.push(family.clone());
                }
            }
            let mut found = all;
            remove(&mut found, Stop::NEVER).unwrap();
            prop_assert_eq!(found, expected);
        }
    }
}
