//! Overlap of two sets of fingerprints.
//!
//! It consists of three numbers, and every measure of a hit, a pair or a verdict is a quotient of
//! them. The names are Broder's (1997, section 2): *resemblance* is |A and B| / |A or B|,
//! *containment* of A in B is |A and B| / |A|.

use serde::{Deserialize, Serialize};

/// The number of distinct fingerprints that two documents share, and that each has.
///
/// ```
/// use cento_api::Overlap;
///
/// // Sorted keys of two documents: three of four and of six are shared.
/// let overlap = Overlap::of(&[1, 3, 5, 7], &[1, 2, 3, 4, 5, 6]);
/// assert_eq!(overlap.containment(), 0.75);
/// assert_eq!(overlap.swapped().containment(), 0.5);
/// assert_eq!(overlap.resemblance(), 3.0 / 7.0);
/// ```
#[doc(alias = "Jaccard")]
#[doc(alias = "resemblance")]
#[doc(alias = "containment")]
#[doc(alias = "Dice")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Overlap {
    /// Distinct fingerprints that both have.
    pub shared: u32,
    /// Distinct fingerprints of the first.
    pub in_a: u32,
    /// Distinct fingerprints of the second.
    pub in_b: u32,
}

impl Overlap {
    /// Creates the overlap from three counts.
    #[must_use]
    pub fn new(shared: u32, in_a: u32, in_b: u32) -> Overlap {
        debug_assert!(shared <= in_a.min(in_b), "{shared} of {in_a} and {in_b}");
        Overlap { shared, in_a, in_b }
    }

    /// Counts the common keys of two ascending lists of distinct keys.
    #[must_use]
    pub fn of(a: &[u64], b: &[u64]) -> Overlap {
        let (mut i, mut j, mut shared) = (0, 0, 0);
        while i < a.len() && j < b.len() {
            shared += u32::from(a[i] == b[j]);
            (i, j) = (i + usize::from(a[i] <= b[j]), j + usize::from(b[j] <= a[i]));
        }
        Overlap::new(shared, a.len() as u32, b.len() as u32)
    }

    /// Returns the overlap with the two documents exchanged.
    #[must_use]
    pub fn swapped(self) -> Overlap {
        Overlap { shared: self.shared, in_a: self.in_b, in_b: self.in_a }
    }

    /// Returns C(A,B), the share of the first document that is in the second, from 0 to 1. An empty
    /// first document gives 0.
    #[must_use]
    pub fn containment(self) -> f64 {
        share(self.shared, self.in_a)
    }

    /// Returns the share of fingerprints of either document that are in both, from 0 to 1. Two
    /// empty documents give 0.
    ///
    /// The resemblance never exceeds the [`containment`](Self::containment) in either direction.
    #[must_use]
    pub fn resemblance(self) -> f64 {
        share(self.shared, self.in_a + self.in_b - self.shared)
    }

    /// Returns the share of the smaller document that is in the larger, 0 to 1: the greater
    /// containment.
    #[must_use]
    pub fn max_containment(self) -> f64 {
        share(self.shared, self.in_a.min(self.in_b))
    }

    /// Returns the symmetric similarity (Finkel et al. 2002, section 2.5), 0 to 1: twice the number
    /// of common fingerprints over the sum of both numbers.
    #[must_use]
    pub fn symmetric(self) -> f64 {
        let sum = u64::from(self.in_a) + u64::from(self.in_b);
        if sum == 0 { 0.0 } else { 2.0 * f64::from(self.shared) / sum as f64 }
    }

    /// Returns the category of text reuse (Seo and Croft 2008, section 3.3).
    #[must_use]
    pub fn category(self) -> Option<Category> {
        Category::of(self.containment(), self.swapped().containment())
    }
}

/// The categories of text reuse (Seo & Croft 2008, section 3.3). Two containments decide: how much
/// of each document is in the second document. *Most* is more than 80 %, *considerable* more than
/// 50 %, *partial* more than 10 %.
///
/// ```
/// use cento_api::Category;
///
/// // Nine tenths of the first document are in the second, which is three times as long.
/// assert_eq!(Category::of(0.9, 0.3), Some(Category::C3));
/// assert_eq!(Category::of(0.9, 0.1), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Category {
    /// Most of each document is in the other document.
    C1,
    /// Most of one document, and a considerable part of the second document.
    C2,
    /// Most of one document, and a part of the second document.
    C3,
    /// A considerable part of each document.
    C4,
    /// A considerable part of one document, and a part of the second document.
    C5,
    /// A part of each document.
    C6,
}

impl Category {
    /// Returns the category of a pair with these containments, or `None` if either is at most 0.1.
    #[must_use]
    pub fn of(a_in_b: f64, b_in_a: f64) -> Option<Category> {
        let range = |containment: f64| match containment {
            x if x > 0.8 => Some(0),
            x if x > 0.5 => Some(1),
            x if x > 0.1 => Some(2),
            _ => None,
        };
        let (a, b) = (range(a_in_b)?, range(b_in_a)?);
        Some(match (a.min(b), a.max(b)) {
            (0, 0) => Category::C1,
            (0, 1) => Category::C2,
            (0, _) => Category::C3,
            (1, 1) => Category::C4,
            (1, _) => Category::C5,
            _ => Category::C6,
        })
    }
}

/// Returns the quotient of two counts, or 0 if the divisor is 0.
fn share(part: u32, of: u32) -> f64 {
    if of == 0 { 0.0 } else { f64::from(part) / f64::from(of) }
}

/// Returns the least number of shared fingerprints, at least 1, that is this share of `of`: the
/// threshold of a containment as a count.
#[must_use]
pub fn least_overlap(threshold: f64, of: u32) -> u32 {
    let mut least = (threshold * f64::from(of)) as u32;
    // The product may be off by one in either direction, so the quotient decides about a hit.
    least = least.saturating_sub(1);
    while least < of && share(least, of) < threshold {
        least += 1;
    }
    least.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn measures_are_those_of_sets(a in btree_set(0u64..30, 0..20), b in btree_set(0u64..30, 0..20)) {
            let keys = |set: &std::collections::BTreeSet<u64>| set.iter().copied().collect::<Vec<_>>();
            let overlap = Overlap::of(&keys(&a), &keys(&b));
            let both = a.intersection(&b).count() as f64;
            let either = a.union(&b).count().max(1) as f64;
            prop_assert_eq!(overlap.resemblance(), both / either);
            prop_assert_eq!(overlap.containment(), both / a.len().max(1) as f64);
            prop_assert_eq!(overlap.swapped().containment(), both / b.len().max(1) as f64);
            // The laws on which pruning rests.
            prop_assert!(overlap.resemblance() <= overlap.containment());
            prop_assert!(overlap.resemblance() <= overlap.symmetric());
            prop_assert!(overlap.symmetric() <= overlap.max_containment());
            prop_assert_eq!(overlap.resemblance(), overlap.swapped().resemblance());
            prop_assert_eq!(overlap.symmetric(), overlap.swapped().symmetric());
        }
    }

    #[test]
    fn the_least_overlap_is_the_first_that_meets_the_threshold() {
        for of in [1, 3, 7, 10, 100, 1241] {
            for threshold in [0.0, 0.1, 0.3, 1.0 / 3.0, 0.5, 0.7, 0.8, 0.99, 1.0] {
                let least = least_overlap(threshold, of);
                let meets = |shared: u32| Overlap::new(shared, of, of).containment() >= threshold;
                assert!(meets(least) && least >= 1, "{threshold} of {of}");
                assert!(least == 1 || !meets(least - 1), "{threshold} of {of}");
            }
        }
    }

    #[test]
    fn categories_are_those_of_table_2() {
        let check = |a, b, expected| {
            assert_eq!(Category::of(a, b), expected);
            assert_eq!(Category::of(b, a), expected);
        };
        check(0.9, 0.81, Some(Category::C1));
        check(0.9, 0.8, Some(Category::C2));
        check(0.9, 0.2, Some(Category::C3));
        check(0.6, 0.6, Some(Category::C4));
        check(0.6, 0.5, Some(Category::C5));
        check(0.11, 0.5, Some(Category::C6));
        check(0.9, 0.1, None);
    }
}
