//! When are two documents a pair?

use crate::error::Result;
use crate::overlap::{Overlap, least_overlap};
use crate::search::{Searcher, WeightedOverlap, least_weight};

/// What a pair must have at least; all of it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Thresholds {
    /// Distinct fingerprints in common; 0 and 1 are the same.
    pub overlap: u32,
    /// The greater of both containments, 0 to 1.
    pub containment: f64,
    /// Resemblance of the fingerprints, 0 to 1.
    pub resemblance: f64,
    /// Estimated resemblance of the texts themselves, 0 to 1; more than 0 only for a scheme that has an
    /// [`estimator`](crate::scheme::Scheme::estimator), and without boilerplate.
    pub estimated_resemblance: f64,
    /// The greater of both containments with fingerprints weighed by their rarity in the index that is
    /// searched, 0 to 1.
    pub weighted_containment: f64,
    /// Resemblance with fingerprints weighed so, 0 to 1.
    pub weighted_resemblance: f64,
}

impl Thresholds {
    /// The thresholds of fingerprints that all pairs meet which meet these; what is estimated
    /// is left to be looked at.
    ///
    /// # Errors
    /// When the index of `searcher` cannot estimate what is asked for.
    pub(super) fn of_fingerprints(&self, searcher: &Searcher) -> Result<Thresholds> {
        if self.estimated_resemblance == 0.0 {
            return Ok(*self);
        }
        let least = searcher.estimator_needed()?.least(self.estimated_resemblance);
        Ok(Thresholds { resemblance: self.resemblance.max(least), ..*self })
    }

    /// Tells whether two documents with this overlap are a pair, as far as that tells.
    #[must_use]
    pub fn meets(&self, overlap: Overlap) -> bool {
        overlap.shared >= self.overlap.max(1)
            && overlap.max_containment() >= self.containment
            && overlap.resemblance() >= self.resemblance
    }

    /// Tells whether fingerprints need to be weighed.
    #[must_use]
    pub fn is_weighed(&self) -> bool {
        self.weighted_containment > 0.0 || self.weighted_resemblance > 0.0
    }

    /// The same of the weights of what they share.
    pub(super) fn meets_weighted(&self, weighted: WeightedOverlap) -> bool {
        weighted.max_containment() >= self.weighted_containment
            && weighted.resemblance() >= self.weighted_resemblance
    }

    /// The share of its own weight with which a document finds the others of its pairs.
    ///
    /// A pair that meets the thresholds is found from one of its documents at least. That is the smaller
    /// one if a containment is asked for, the lighter one if a weighted containment is; they need not
    /// be the same, so if both are, only the former decides which document finds a pair. Each resemblance is at
    /// most either containment of its kind, and may decide in any case.
    pub(super) fn weight_share_min(&self) -> f64 {
        match self.containment > 0.0 {
            true => self.weighted_resemblance,
            false => self.weighted_containment.max(self.weighted_resemblance),
        }
    }

    /// Tells whether a document of `of` fingerprints, with what it weighs as the query's weight, finds
    /// the other with which it shares so much.
    pub(super) fn finds(&self, shared: u32, of: u32, weights: Option<WeightedOverlap>) -> bool {
        let is_heavy = |weights: WeightedOverlap| {
            weights.shared >= least_weight(self.weight_share_min(), weights.in_query)
        };
        shared >= self.overlap_min(of) && weights.is_none_or(is_heavy)
    }

    /// The least overlap with which a document of `of` fingerprints finds the others of its pairs:
    /// that of which it has enough itself, for resemblance or containment.
    ///
    /// A pair that meets the thresholds is found from one of its documents at least: the smaller.
    #[must_use]
    pub fn overlap_min(&self, of: u32) -> u32 {
        least_overlap(self.containment.max(self.resemblance), of).max(self.overlap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_pair_is_found_from_its_smaller_document(
            in_a in 1u32..60, in_b in 1u32..60, overlap in 1u32..60,
            least in 0u32..5, containment in 0u32..11, resemblance in 0u32..11,
        ) {
            prop_assume!(overlap <= in_a.min(in_b));
            let share = |tenths: u32| f64::from(tenths) / 10.0;
            let thresholds = Thresholds {
                overlap: least, containment: share(containment), resemblance: share(resemblance),
                ..Thresholds::default()
            };
            if thresholds.meets(Overlap::new(overlap, in_a, in_b)) {
                prop_assert!(overlap >= thresholds.overlap_min(in_a.min(in_b)));
            }
        }

        #[test]
        fn a_weighed_pair_is_found_from_one_of_its_documents(
            overlap in 1u32..30, (a_more, b_more) in (0u32..30, 0u32..30),
            shared in 1u64..1000, (a_weight, b_weight) in (0u64..1000, 0u64..1000),
            tenths in prop::array::uniform4(prop_oneof![1 => Just(0u32), 2 => 1u32..11]),
        ) {
            let [containment, resemblance, weighted_containment, weighted_resemblance] =
                tenths.map(|tenths| f64::from(tenths) / 10.0);
            let thresholds = Thresholds {
                containment, resemblance, weighted_containment, weighted_resemblance,
                ..Thresholds::default()
            };
            let (in_a, in_b) = (overlap + a_more, overlap + b_more);
            let weighted = WeightedOverlap {
                shared, in_query: shared + a_weight, in_document: shared + b_weight,
            };
            let counted = Overlap::new(overlap, in_a, in_b);
            if thresholds.meets(counted) && thresholds.meets_weighted(weighted) {
                let from_a = thresholds.finds(overlap, in_a, Some(weighted));
                let from_b = thresholds.finds(overlap, in_b, Some(weighted.swapped()));
                prop_assert!(from_a || from_b);
            }
        }
    }
}
