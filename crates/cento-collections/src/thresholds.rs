//! Thresholds for pairs of documents.

use cento::search::{Thresholds, WeightedOverlap, least_weight};
use cento_api::overlap::Overlap;
use cento_text::sampling::{Sampling, Size};

/// What thresholds say about pairs of documents, by their fingerprints.
pub(super) trait PairThresholds {
    /// Tells whether texts of these sizes with this overlap may be a pair.
    fn may_meet(&self, sampling: Sampling, overlap: Overlap, of: [Size; 2]) -> bool;

    /// Tells whether documents with the same text and this number of fingerprints are a pair.
    fn meet_copies(&self, fingerprints: u32) -> bool;

    /// Tells whether the weights of the shared fingerprints meet the thresholds.
    fn meets_weighted(&self, weighted: WeightedOverlap) -> bool;

    /// Returns the share of its weight that a document must share with a partner to find the
    /// partner.
    ///
    /// At least one document finds a pair that meets the thresholds: the smaller document if a
    /// containment is requested, the lighter document if a weighted containment is. The smaller
    /// document need not be the lighter one, so if both containments are requested, only the
    /// unweighted containment decides which document finds the pair. A resemblance never exceeds
    /// the containment of either document, so a minimum resemblance is safe in any case.
    fn weight_share_min(&self) -> f64;

    /// Tells whether a document of size `own`, whose weight is the weight of the query, finds a
    /// partner with this number of shared fingerprints.
    fn finds(
        &self,
        sampling: Sampling,
        shared: u32,
        own: Size,
        weights: Option<WeightedOverlap>,
    ) -> bool;

    /// Returns the minimum overlap for a document of this size to find its partners: enough for the
    /// requested resemblance or containment of this document.
    ///
    /// At least one document of a pair that meets the thresholds finds the pair.
    fn overlap_min(&self, sampling: Sampling, own: Size) -> u32;
}

impl PairThresholds for Thresholds {
    fn may_meet(&self, sampling: Sampling, overlap: Overlap, of: [Size; 2]) -> bool {
        let all = of.map(|size| size.is_all);
        overlap.shared >= self.overlap()
            && (self.resemblance() == 0.0
                || sampling.may_resemble(self.resemblance(), overlap, all))
            && (self.containment() == 0.0
                || sampling.may_contain_either(self.containment(), overlap, all))
    }

    fn meet_copies(&self, fingerprints: u32) -> bool {
        fingerprints >= self.overlap()
    }

    fn meets_weighted(&self, weighted: WeightedOverlap) -> bool {
        weighted.max_containment() >= self.weighted_containment()
            && weighted.resemblance() >= self.weighted_resemblance()
    }

    fn weight_share_min(&self) -> f64 {
        match self.containment() > 0.0 {
            true => self.weighted_resemblance(),
            false => self.weighted_containment().max(self.weighted_resemblance()),
        }
    }

    fn finds(
        &self,
        sampling: Sampling,
        shared: u32,
        own: Size,
        weights: Option<WeightedOverlap>,
    ) -> bool {
        let is_heavy = |weights: WeightedOverlap| {
            weights.shared >= least_weight(self.weight_share_min(), weights.in_query)
        };
        shared >= self.overlap_min(sampling, own) && weights.is_none_or(is_heavy)
    }

    fn overlap_min(&self, sampling: Sampling, own: Size) -> u32 {
        let share = self.containment().max(self.resemblance());
        let least = if share > 0.0 { sampling.least_shared(share, own) } else { 1 };
        least.max(self.overlap())
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
            all in prop::array::uniform2(any::<bool>()),
            least in 0u32..5, containment in 0u32..11, resemblance in 0u32..11,
        ) {
            prop_assume!(overlap <= in_a.min(in_b));
            let share = |tenths: u32| f64::from(tenths) / 10.0;
            let thresholds = Thresholds::default()
                .min_overlap(least)
                .min_containment(share(containment))
                .min_resemblance(share(resemblance));
            let [a, b] = [(in_a, all[0]), (in_b, all[1])]
                .map(|(fingerprints, is_all)| Size { fingerprints, is_all });
            let counted = Overlap::new(overlap, in_a, in_b);
            let estimator = cento_text::scheme::parse("winnow").unwrap().estimator().unwrap();
            let of_runs =
                [Sampling::Runs, Sampling::Rest, Sampling::Other].map(|of| of(estimator));
            for sampling in [Sampling::Sketches, Sampling::Unknown].into_iter().chain(of_runs) {
                if thresholds.may_meet(sampling, counted, [a, b]) {
                    let from_a = thresholds.finds(sampling, overlap, a, None);
                    let from_b = thresholds.finds(sampling, overlap, b, None);
                    prop_assert!(from_a || from_b, "{sampling:?}");
                }
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
            let thresholds = Thresholds::default()
                .min_containment(containment)
                .min_resemblance(resemblance)
                .min_weighted_containment(weighted_containment)
                .min_weighted_resemblance(weighted_resemblance);
            let (in_a, in_b) = (overlap + a_more, overlap + b_more);
            let weighted = WeightedOverlap {
                shared, in_query: shared + a_weight, in_document: shared + b_weight,
            };
            let counted = Overlap::new(overlap, in_a, in_b);
            let sampling = Sampling::Sketches;
            let [a, b] =
                [in_a, in_b].map(|fingerprints| Size { fingerprints, is_all: false });
            let may_be = thresholds.may_meet(sampling, counted, [a, b]);
            if may_be && thresholds.meets_weighted(weighted) {
                let from_a = thresholds.finds(sampling, overlap, a, Some(weighted));
                let from_b = thresholds.finds(sampling, overlap, b, Some(weighted.swapped()));
                prop_assert!(from_a || from_b);
            }
        }
    }
}
