//! Pruning: which documents may be left out before it is known whether they are hits.
//!
//! A search that keeps the k best only may do so where nothing that is decided later can drop one
//! of them: the next best would be lost without a word. What decides later is read from the options
//! here, and nowhere else.

use super::patience::Patience;
use super::query::Query;
use cento_api::{Goal, Rank, SearchOptions, Thresholds};

/// The numbers of best documents that the stages of a search keep; the greatest number keeps all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pruning {
    /// Of the candidates, by their counts.
    pub by_overlap: usize,
    /// Of the candidates, by the weights of shared fingerprints.
    pub by_weight: usize,
    /// Of the documents that meet the thresholds.
    pub hits: usize,
    /// Whether hits must pass a check of their texts after they met the thresholds.
    pub checks_texts: bool,
}

impl Pruning {
    /// Reads a query with the defaults of the index, whose searcher may ignore fingerprints.
    pub fn of(query: &Query, ignores_fingerprints: bool) -> Pruning {
        // Of a new option, or a new threshold, the compiler asks here whether it drops documents.
        let SearchOptions {
            goal,
            rank,
            verify,
            min_passage,
            // Decides which passages are shown, not which hits.
            max_expected: _,
            // Describe the carriers of spans.
            date: _,
            carriers: _,
            limit: _,
            candidates: _,
            // Decide before anything is counted, or by counts.
            filter: _,
            exclude_id: _,
            max_df: _,
            budget: _,
            // Change the hits that are shown, and not which these are.
            counts_only: _,
            passages: _,
            // Texts that are left out are those of a searcher, which ignores fingerprints then.
            without: _,
            // The least value of `verify`.
            min_similarity: _,
        } = &query.options;
        let Thresholds {
            min_containment: _,
            min_resemblance: _,
            min_weighted_containment: _,
            min_weighted_resemblance: _,
            // Decides by counts.
            min_overlap: _,
        } = &query.thresholds;
        let (of_texts, of_weights) =
            (query.thresholds.is_of_texts(), query.thresholds.is_weighed());
        let by_weight = rank.unwrap_or_default() != Rank::Overlap;
        let patience = Patience::of(query);
        let checks_texts = query.checks_texts();
        // Candidates for passages are the same number, whichever of them are hits.
        let may_miss_passage = min_passage.is_some() && !patience.counts_all();
        let drops_hits = verify.is_some() || may_miss_passage;
        // A document that is not among the best may add more to a trace, or have the best passage.
        let is_of_hits = *goal == Goal::Hits;
        // One more tells whether there are more.
        let best = patience.most().saturating_add(1);
        let all_unless = |is_decided: bool| if is_decided { best } else { usize::MAX };
        Pruning {
            by_overlap: all_unless(
                is_of_hits && !of_texts && !of_weights && !by_weight && !checks_texts,
            ),
            by_weight: all_unless(
                is_of_hits
                    && by_weight
                    && !of_texts
                    && !of_weights
                    && !drops_hits
                    && !ignores_fingerprints,
            ),
            hits: if drops_hits { usize::MAX } else { patience.most() },
            checks_texts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pruning(query: &Query) -> [bool; 3] {
        let Pruning { by_overlap, by_weight, hits, .. } = Pruning::of(query, false);
        [by_overlap, by_weight, hits].map(|kept| kept != usize::MAX)
    }

    #[test]
    fn whatever_may_drop_a_document_later_keeps_all_until_then() {
        fn plain() -> Query {
            Query::text("a text").limit(3usize)
        }
        fn weighed() -> Query {
            plain().rank(Rank::Weight)
        }
        assert_eq!(pruning(&plain()), [true, false, true]);
        assert_eq!(pruning(&weighed()), [false, true, true]);
        assert_eq!(Pruning::of(&plain(), false).by_overlap, 4);
        assert_eq!(Pruning::of(&weighed(), true).by_weight, usize::MAX);
        for query in [plain as fn() -> Query, weighed] {
            let of_texts = |query: Query| pruning(&query.min_containment(0.5))[..2] == [false; 2];
            assert!(of_texts(query()));
            assert_eq!(pruning(&query().min_resemblance(0.5))[..2], [false; 2]);
            assert_eq!(pruning(&query().min_weighted_containment(0.5))[..2], [false; 2]);
            assert_eq!(pruning(&query().goal(Goal::Trace))[..2], [false; 2]);
            assert_eq!(pruning(&query().verify("jaccard(k=2)")), [false; 3]);
            assert_eq!(pruning(&query().min_passage(20u32)), [false; 3]);
        }
        // What a look at the passages of a fixed number of candidates drops takes no other's place.
        let by_passages = plain().rank(Rank::Passages).candidates(5usize).min_passage(20u32);
        assert_eq!(pruning(&by_passages), [false, true, true]);
    }
}
