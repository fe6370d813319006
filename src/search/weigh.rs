//! Weights of fingerprints by their rarity.
//!
//! A fingerprint that three documents have is stronger evidence than one that three thousand have.
//! Its weight is the square of its inverse document frequency, ln((N + 1) / (df + 1/2)) over the N
//! live documents (Sparck Jones 1972): in the vector space model the query and the document each
//! contribute the frequency once (Salton and Buckley 1988). A document is ranked by the weight of
//! the fingerprints that it shares with the query over the square root of the number of its own.
//! That root replaces the length of its vector, so a long document is not found by chance.
//!
//! Weights are whole numbers: sums do not depend on the order, and with [`ln`] they are the same on
//! every machine.

use cento_api::WeightedSimilarity;

use crate::index::Snapshot;
use crate::number::ln;

/// The weights of fingerprints in a collection.
#[derive(Debug, Clone, Copy)]
pub struct Weigh {
    documents: u64,
    /// The most documents of a fingerprint that counts for one, if fingerprints are counted.
    common_df: Option<u64>,
}

/// The number for a weight of one: rounding then changes no order that matters.
const UNIT: f64 = (1u64 << 20) as f64;

impl Weigh {
    /// Creates the weights of fingerprints by the documents of a snapshot.
    pub fn new(snapshot: &Snapshot) -> Weigh {
        Weigh::among(snapshot.documents())
    }

    /// Creates the weights of fingerprints in a collection of this number of documents.
    pub fn among(documents: u64) -> Weigh {
        Weigh { documents, common_df: None }
    }

    /// Creates weights that count fingerprints. Those that more than `common_df` live documents
    /// have count for nearly nothing: only of documents that have no others do they decide.
    pub fn counting(common_df: u64) -> Weigh {
        Weigh { documents: 0, common_df: Some(common_df) }
    }

    /// Returns the weight of a fingerprint that this number of live documents have; at least 1.
    pub fn weight(self, df: u64) -> u64 {
        if let Some(common_df) = self.common_df {
            return if df > common_df { 1 } else { UNIT as u64 };
        }
        let idf = ln((self.documents + 1) as f64 / (df as f64 + 0.5)).max(0.0);
        ((idf * idf * UNIT).round() as u64).max(1)
    }

    /// Returns the weights of fingerprints that these numbers of live documents have.
    pub fn weights(self, dfs: &[u64]) -> Vec<u64> {
        // Most fingerprints are in few documents, and a logarithm takes longer than a look-up. No
        // weight is 0.
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

/// The document frequencies whose weights are computed once for many fingerprints.
const KNOWN_DFS: usize = 128;

/// Returns the score of a document of `size` distinct fingerprints whose shared ones have this
/// weight.
pub fn score(shared: u64, size: u32) -> f64 {
    shared as f64 / f64::from(size.max(1)).sqrt()
}

/// The weighted overlap of a query and a document: as [`Overlap`](crate::overlap::Overlap), with
/// sums of weights for counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WeightedOverlap {
    /// The weight of the fingerprints that both have.
    pub shared: u64,
    /// The weight of those of the query.
    pub in_query: u64,
    /// The weight of those of the document.
    pub in_document: u64,
}

impl WeightedOverlap {
    /// Returns the measures of the query, `a`, and the document, `b`.
    pub fn measures(self) -> WeightedSimilarity {
        WeightedSimilarity {
            containment_of_a: self.containment(),
            containment_of_b: self.swapped().containment(),
            resemblance: self.resemblance(),
        }
    }

    /// Returns the share of the query's weight that is in the document, 0 to 1.
    pub fn containment(self) -> f64 {
        share(self.shared, self.in_query)
    }

    /// Exchanges the query and the document.
    pub fn swapped(self) -> WeightedOverlap {
        WeightedOverlap { in_query: self.in_document, in_document: self.in_query, ..self }
    }

    /// Returns the greater of both containments, 0 to 1.
    pub fn max_containment(self) -> f64 {
        share(self.shared, self.in_query.min(self.in_document))
    }

    /// Returns the share of the weight of both together that is in both, 0 to 1.
    pub fn resemblance(self) -> f64 {
        share(self.shared, self.in_query + self.in_document - self.shared)
    }
}

fn share(part: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

/// Returns the least weight that is this share of `of`.
pub fn least_weight(threshold: f64, of: u64) -> u64 {
    // The product may be off either way; the quotient decides about a hit.
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
        // Deleted documents may still be counted elsewhere; a weight is never nothing.
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
