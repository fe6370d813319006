//! Pruning: decides which documents may be dropped before it is known whether they are hits.
//!
//! A search may keep only the k best documents if no later decision can drop a document, because
//! the next best would then be missing silently. Only this file reads from the options whether a
//! later decision exists.

use super::patience::Patience;
use super::query::Query;
use cento_api::{Goal, Rank, SearchOptions, Thresholds};

/// How many of the best documents each stage keeps. The maximum number keeps every document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pruning {
    /// The number of candidates to keep by overlap.
    pub by_overlap: usize,
    /// The number of candidates to keep by weight of the shared fingerprints.
    pub by_weight: usize,
    /// The number of documents to keep that meet the thresholds.
    pub hits: usize,
    /// Whether a document that meets the thresholds must also pass a check of its text.
    pub checks_texts: bool,
}

impl Pruning {
    /// Reads a query that has the defaults of the index. The searcher may ignore fingerprints.
    pub fn of(query: &Query, ignores_fingerprints: bool) -> Pruning {
        // The patterns list every option and threshold, so the compiler enforces decisions on new
        // ones.
        let SearchOptions {
            goal,
            rank,
            verify,
            min_passage,
            // Decides which passages are shown, not which documents are hits.
            max_expected: _,
            // These describe the carriers of spans.
            date: _,
            carriers: _,
            limit: _,
            candidates: _,
            // These decide before counting, or by counts.
            filter: _,
            exclude_id: _,
            max_df: _,
            budget: _,
            // These change details of hits, not which documents are hits.
            counts_only: _,
            passages: _,
            // Cited text is excluded through a searcher, which then ignores fingerprints.
            without: _,
            // The threshold of `verify`.
            min_similarity: _,
        } = &query.options;
        let Thresholds {
            min_containment: _,
            min_resemblance: _,
            min_weighted_containment: _,
            min_weighted_resemblance: _,
            // This threshold decides by counts.
            min_overlap: _,
        } = &query.thresholds;
        let (of_texts, of_weights) =
            (query.thresholds.is_of_texts(), query.thresholds.is_weighed());
        let by_weight = rank.unwrap_or_default() != Rank::Overlap;
        let patience = Patience::of(query);
        let checks_texts = query.checks_texts();
        // A fixed number of candidates is searched for passages, whichever of them are hits.
        let may_miss_passage = min_passage.is_some() && !patience.counts_all();
        let drops_hits = verify.is_some() || may_miss_passage;
        // A document that is not among the best may add more to a trace, or have the best passage.
        let is_of_hits = *goal == Goal::Hits;
        // One more document shows whether there are more hits.
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
            hits: if drops_hits || !is_of_hits { usize::MAX } else { patience.most() },
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
        // If the number of examined candidates is fixed, dropping one makes no room for another.
        let by_passages = plain().rank(Rank::Passages).candidates(5usize).min_passage(20u32);
        assert_eq!(pruning(&by_passages), [false, true, true]);
    }
}
