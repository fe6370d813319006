//! Weights of fingerprints by rarity.
//!
//! A fingerprint of three documents is stronger evidence than a fingerprint of three thousand. The
//! weight is the square of the inverse document frequency, ln((N + 1) / (df + 1/2)) over the N live
//! documents (Sparck Jones 1972). The square follows from the vector space model, where the query
//! and the document each contribute the frequency once (Salton and Buckley 1988). A document is
//! ranked by the weight of the shared fingerprints divided by the square root of its number of
//! fingerprints. The root replaces the length of the document vector, so that a long document is
//! not found by chance.
//!
//! Weights are integers, so that sums do not depend on the order of addition. With [`ln`] they are
//! the same on every machine.

use cento_api::WeightedSimilarity;

use crate::index::Snapshot;
use crate::number::ln;

/// The weights of fingerprints in a collection.
#[derive(Debug, Clone, Copy)]
pub struct Weigh {
    documents: u64,
    /// If fingerprints are counted instead of weighed, the maximum document frequency of a
    /// fingerprint that counts.
    common_df: Option<u64>,
}

/// The integer for a weight of 1, large enough that rounding changes no relevant order.
const UNIT: f64 = (1u64 << 20) as f64;

impl Weigh {
    /// Creates weights by the live documents of a snapshot.
    pub fn new(snapshot: &Snapshot) -> Weigh {
        Weigh::among(snapshot.documents())
    }

    /// Creates weights for a collection of this number of documents.
    pub fn among(documents: u64) -> Weigh {
        Weigh { documents, common_df: None }
    }

    /// Creates weights that count fingerprints. Fingerprints in more than `common_df` live
    /// documents count almost nothing, and only decide between documents without other
    /// fingerprints.
    pub fn counting(common_df: u64) -> Weigh {
        Weigh { documents: 0, common_df: Some(common_df) }
    }

    /// Returns the weight of a fingerprint in `df` live documents, at least 1.
    pub fn weight(self, df: u64) -> u64 {
        if let Some(common_df) = self.common_df {
            return if df > common_df { 1 } else { UNIT as u64 };
        }
        let idf = ln((self.documents + 1) as f64 / (df as f64 + 0.5)).max(0.0);
        ((idf * idf * UNIT).round() as u64).max(1)
    }

    /// Returns the weights of fingerprints with these numbers of live documents.
    pub fn weights(self, dfs: &[u64]) -> Vec<u64> {
        // Most fingerprints are in few documents, and a logarithm is slower than a table. A weight
        // is never 0, so 0 marks an unused entry of the table.
        let mut known = [0; KNOWN_DFS];
        let weight = |&df: &u64| match known.get_mut(usize::try_from(df).unwrap_or(usize::MAX)) {
            Some(known) => {
                if *known == 0 {
                    *known = self.weight(df);
                }
                *known
            }
            None => self.weight(df),
        };
        dfs.iter().map(weight).collect()
    }
}

/// Weights of smaller document frequencies than this are computed once and reused.
const KNOWN_DFS: usize = 128;

/// Returns the score of a document with `size` distinct fingerprints and the shared weight.
pub fn score(shared: u64, size: u32) -> f64 {
    shared as f64 / f64::from(size.max(1)).sqrt()
}

/// The weighted overlap of a query and a document: like [`Overlap`](crate::overlap::Overlap), with
/// sums of weights instead of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WeightedOverlap {
    /// The weight of the shared fingerprints.
    pub shared: u64,
    /// The weight of the query's fingerprints.
    pub in_query: u64,
    /// The weight of the document's fingerprints.
    pub in_document: u64,
}

impl WeightedOverlap {
    /// Returns the measures of the query (side a) and the document (side b).
    pub fn measures(self) -> WeightedSimilarity {
        WeightedSimilarity {
            containment_of_a: self.containment(),
            containment_of_b: self.swapped().containment(),
            resemblance: self.resemblance(),
        }
    }

    /// Returns the share of the query's weight in the document, 0 to 1.
    pub fn containment(self) -> f64 {
        share(self.shared, self.in_query)
    }

    /// Swaps the query and the document.
    pub fn swapped(self) -> WeightedOverlap {
        WeightedOverlap { in_query: self.in_document, in_document: self.in_query, ..self }
    }

    /// Returns the larger of the two containments, 0 to 1.
    pub fn max_containment(self) -> f64 {
        share(self.shared, self.in_query.min(self.in_document))
    }

    /// Returns the shared weight as a share of the union's weight, 0 to 1.
    pub fn resemblance(self) -> f64 {
        share(self.shared, self.in_query + self.in_document - self.shared)
    }
}

fn share(part: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

/// Returns a lower bound of the weights that are at least the share `threshold` of `of`.
pub fn least_weight(threshold: f64, of: u64) -> u64 {
    // The product may be rounded up or down. The quotient decides about a hit later.
    let about = (threshold * of as f64) as u64;
    about.saturating_sub(about / (1 << 48) + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rarer_fingerprints_weigh_more() {
        let weigh = Weigh { documents: 1000, common_df: None };
        let weights: Vec<u64> = (0..=1000).map(|df| weigh.weight(df)).collect();
        assert!(weights.windows(2).all(|pair| pair[0] >= pair[1]));
        assert!(weights[1] > 20 * weights[500], "{} {}", weights[1], weights[500]);
        // Deleted documents may still be counted elsewhere, and a weight is never 0.
        assert!(weigh.weight(1000) >= 1);
    }

    #[test]
    fn common_fingerprints_decide_only_where_there_are_no_others() {
        let weigh = Weigh::counting(50);
        assert_eq!(weigh.weights(&[1, 50, 51, 900]), [1 << 20, 1 << 20, 1, 1]);
        assert_eq!(share(weigh.weight(60), weigh.weights(&[60, 70]).iter().sum()), 0.5);
    }

    #[test]
    fn weights_of_many_fingerprints_are_those_of_each() {
        let weigh = Weigh { documents: 1000, common_df: None };
        let twice: Vec<u64> = (0..=1000).chain(0..=1000).collect();
        let each: Vec<u64> = twice.iter().map(|&df| weigh.weight(df)).collect();
        assert_eq!(weigh.weights(&twice), each);
    }

    proptest! {
        #[test]
        fn a_share_that_meets_the_threshold_has_the_least_weight(
            of in 1u64..1 << 60, part in 0.0f64..=1.0, threshold in 0.0f64..=1.0,
        ) {
            let part = ((of as f64 * part) as u64).min(of);
            if share(part, of) >= threshold {
                prop_assert!(part >= least_weight(threshold, of), "{part} of {of} at {threshold}");
            }
        }
    }
}
