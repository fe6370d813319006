//! When are two documents a pair?

use crate::error::Result;
use crate::overlap::{Overlap, least_overlap};
use crate::search::Searcher;

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
                estimated_resemblance: 0.0,
            };
            if thresholds.meets(Overlap::new(overlap, in_a, in_b)) {
                prop_assert!(overlap >= thresholds.overlap_min(in_a.min(in_b)));
            }
        }
    }
}
