//! Which pairs of one document can be among the best?
//!
//! A pair is a contender until a known pair excludes it. Excluded pairs are only counted. The
//! result does not depend on when a thread learns about the floor that excludes a pair.
//!
//! A new document resembles most documents of an archive a little, because of code or phrases that
//! everyone writes. So only the archived documents with the best fingerprints are compared by text.
//! The remaining documents are counted by fingerprints.

use super::best::{Floor, order};
use super::pair::Pair;
use super::thresholds::PairThresholds;
use super::{PairOptions, PairRank};
use cento::index::DocAddress;
use cento::search::{Neighbor, WeightedOverlap};
use cento_api::overlap::Overlap;
use cento_text::compare::Passages;
use cento_text::sampling::{Sampling, Size};

/// The minimum number of archived documents to compare with a new document by text.
const COMPARED_MIN: usize = 256;

#[derive(Debug, Clone)]
pub(super) struct RankedPairs {
    pub rank: PairRank,
    pub limit: usize,
    pub floor: Floor,
}

/// What a count of pairs needs to know about a pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountedPair {
    /// The first document, as in [`Pair`].
    pub a: DocAddress,
    /// The second document.
    pub b: DocAddress,
    /// The symmetric similarity. The histogram counts pairs by this value.
    pub similarity: f64,
    /// Whether the pair meets the thresholds.
    pub is_met: bool,
    /// Whether the similarity was estimated from fingerprints alone.
    pub is_estimated: bool,
    /// Whether a program is known to be too short for meaningful numbers.
    pub is_too_short: bool,
}

impl CountedPair {
    /// Describes a pair that meets the thresholds.
    pub fn met(pair: &Pair) -> CountedPair {
        CountedPair {
            a: pair.a,
            b: pair.b,
            similarity: pair.similarity.symmetric(),
            is_met: true,
            is_estimated: false,
            is_too_short: pair.too_short == Some(true),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Contenders {
    /// Pairs that can be among the best and meet the thresholds.
    pub pairs: Vec<Pair>,
    /// The pairs that are only counted, in no order.
    pub others: Vec<CountedPair>,
}

/// Tells whether a pair that was found without thresholds meets them. Drops passages shorter than
/// `min_passage`.
pub(super) fn is_met(options: &PairOptions, pair: &mut Pair) -> bool {
    let (least, weighted) = (options.thresholds, pair.weighted.as_ref());
    let is_alike = pair.similarity.symmetric() >= options.min_similarity.unwrap_or(0.0)
        && pair.overlap.shared >= least.overlap()
        && least.meets(&pair.similarity)
        && weighted.is_none_or(|weighted| {
            let most = weighted.containment_of_a.max(weighted.containment_of_b);
            most >= least.weighted_containment()
                && weighted.resemblance >= least.weighted_resemblance()
        });
    let Some(tokens_min) = options.min_passage else { return is_alike };
    let passages = pair.passages.take();
    pair.passages = passages.map(|passages| passages.of_at_least(tokens_min));
    is_alike && pair.passages.as_ref().is_some_and(Passages::may_have_any)
}

impl RankedPairs {
    /// Separates the pairs of a document that can be among the best.
    pub fn divide(&self, mut pairs: Vec<Pair>) -> Contenders {
        if pairs.len() > self.limit {
            pairs.sort_unstable_by(|one, other| order(self.rank, one, other));
        }
        let mut found = Contenders::default();
        for pair in pairs {
            match found.pairs.len() < self.limit && !self.floor.excludes(self.rank, &pair) {
                true => found.pairs.push(pair),
                false => found.others.push(CountedPair::met(&pair)),
            }
        }
        found
    }
}

/// A document that may form a pair with the searched-for document.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairCandidate {
    pub found: Neighbor,
    pub size: Size,
    pub weights: Option<WeightedOverlap>,
}

/// An archive, which is compared with new documents but not with itself.
#[derive(Debug, Clone)]
pub(super) struct Archive {
    /// The number of the first archived document. Smaller numbers are new documents.
    pub first: u64,
    /// The thresholds and the ranking of the pairs.
    pub options: PairOptions,
    pub rank: PairRank,
    /// How many archived documents are compared with a new document by text.
    pub compared: usize,
}

impl Archive {
    /// Describes an archive. By text, a new document is compared with `limit` archived documents,
    /// at least [`COMPARED_MIN`]. `limit` pairs are shown, so further texts could not change the
    /// list.
    pub fn new(first: u64, options: PairOptions, rank: PairRank, limit: usize) -> Archive {
        Archive { first, options, rank, compared: limit.max(COMPARED_MIN) }
    }

    /// Removes archived candidates of a new document that will not be compared by text. Candidates
    /// that can meet the thresholds are kept first, then the best by the rank as estimated from
    /// fingerprints.
    pub fn leave_out(
        &self,
        own: Size,
        sampling: Sampling,
        candidates: &mut Vec<PairCandidate>,
        is_archived: impl Fn(DocAddress) -> bool,
    ) -> Vec<PairCandidate> {
        let all = candidates.drain(..);
        let (mut archived, new): (Vec<_>, Vec<_>) =
            all.partition(|candidate| is_archived(candidate.found.address));
        let compared = self.compared;
        let mut left_out = Vec::new();
        if archived.len() > compared {
            let mut rated: Vec<_> =
                archived.drain(..).map(|one| (self.rate(own, sampling, &one), one)).collect();
            rated.select_nth_unstable_by(compared, |(a, one), (b, other)| {
                let by = |at: usize| b[at].total_cmp(&a[at]);
                let address = |candidate: &PairCandidate| candidate.found.address;
                by(0).then(by(1)).then(by(2)).then_with(|| address(one).cmp(&address(other)))
            });
            left_out.extend(rated.drain(compared..).map(|(_, one)| one));
            archived.extend(rated.into_iter().map(|(_, one)| one));
        }
        candidates.extend(new);
        candidates.extend(archived);
        // Reading texts is fastest in stored order.
        candidates.sort_unstable_by_key(|candidate| candidate.found.address);
        left_out
    }

    /// Rates a candidate by its fingerprints: may meet the thresholds, rank, overlap.
    fn rate(&self, own: Size, sampling: Sampling, candidate: &PairCandidate) -> [f64; 3] {
        let overlap: Overlap = candidate.found.with(own.fingerprints);
        let thresholds = self.options.thresholds;
        let may_meet = thresholds.may_meet(sampling, overlap, [own, candidate.size]);
        let shared = f64::from(overlap.shared);
        let by_rank = match self.rank {
            PairRank::Overlap | PairRank::Passages => shared,
            PairRank::Weight => candidate.weights.map_or(0.0, |weights| weights.resemblance()),
            PairRank::Similarity | PairRank::Score => overlap.resemblance(),
        };
        [f64::from(u8::from(may_meet)), by_rank, shared]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn archived_documents_with_the_best_rank_are_compared(
            shared in prop::collection::vec((1u32..20, 20u32..40), 0..40), new in 0u32..4,
            compared in 0usize..20,
            rank in prop::sample::select(vec![PairRank::Overlap, PairRank::Score]),
        ) {
            let size = |fingerprints| Size { fingerprints, is_all: true };
            let of = |(doc, (overlap, fingerprints)): (u32, &(u32, u32))| {
                let address = DocAddress { segment: 0, doc };
                let found = Neighbor { address, overlap: *overlap, fingerprints: *fingerprints };
                PairCandidate { found, size: size(*fingerprints), weights: None }
            };
            let all: Vec<PairCandidate> = (0u32..).zip(&shared).map(of).collect();
            let options = PairOptions::default();
            let archive = Archive { first: u64::from(new), options, rank, compared };
            let mut kept = all.clone();
            kept.reverse();
            let left_out = archive.leave_out(size(30), Sampling::Unknown, &mut kept, |address| {
                u64::from(address.doc) >= archive.first
            });
            let doc = |candidate: &PairCandidate| candidate.found.address.doc;
            let resemblance = |candidate: &PairCandidate| candidate.found.with(30).resemblance();
            let mut best: Vec<&PairCandidate> = all.iter().filter(|one| doc(one) >= new).collect();
            best.sort_by(|one, other| match rank {
                PairRank::Overlap => other.found.overlap.cmp(&one.found.overlap),
                _ => resemblance(other).total_cmp(&resemblance(one))
                    .then(other.found.overlap.cmp(&one.found.overlap)),
            });
            best.truncate(compared);
            let mut expected: Vec<u32> = best.into_iter().map(doc).collect();
            expected.extend(all.iter().map(doc).filter(|&doc| doc < new));
            expected.sort_unstable();
            prop_assert_eq!(kept.iter().map(doc).collect::<Vec<_>>(), expected);
            prop_assert_eq!(kept.len() + left_out.len(), all.len());
        }
    }
}
