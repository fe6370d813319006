//! Estimates the cost of a search before it begins.
//!
//! If a program answers on the thread of a request, or holds a lock meanwhile, the search must be
//! over before a second thread could take over.

use super::containing::is_counted;
use super::filter::{Phrase, reads_texts};
use super::query::rank_by;
use super::{Goal, Query, Rank, SearchOptions, Subject};
use crate::index::{Config, MaxDf, PresetUse};
use crate::scheme::Fingerprint;

/// The cost of a search, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Few postings and no text: the search ends before another thread could take over.
    Postings,
    /// Every candidate is weighed, or its signature is read, and some texts.
    Candidates,
    /// Texts of many documents or other files of the index: a user may want to cancel the search.
    Texts,
    /// Perhaps every text of the index, to look for words in a row: minutes in a large index.
    EveryText,
}

/// The most bytes of a text or signature for [`Cost::Postings`]. Splitting such a text into tokens
/// takes tens of microseconds.
const POSTINGS_BYTES_MAX: usize = 4 << 10;

/// The most bytes of a text or signature for [`Cost::Candidates`].
const CANDIDATES_BYTES_MAX: usize = 16 << 10;

/// The most requested hits, and the most excluded documents, for [`Cost::Postings`].
const POSTINGS_HITS_MAX: usize = 100;

impl Query {
    /// Returns the cost of the search in an index with this configuration.
    ///
    /// The cost is an upper bound: for a long subject, and for a stored document, whose length is
    /// unknown, it is the cost of reading texts.
    #[must_use]
    pub fn cost(&self, config: &Config) -> Cost {
        let filter = self.options.filter.as_deref();
        match filter.is_some_and(reads_texts) || self.counts_containing(config) {
            true => Cost::EveryText,
            false => self.cost_of_subject().max(self.cost_of_conditions(config)),
        }
    }

    /// Returns whether a trace looks for the whole query in every text.
    fn counts_containing(&self, config: &Config) -> bool {
        let Subject::Text(text) = &self.subject else { return false };
        self.options.goal == Goal::Trace
            && config.store_text
            && text.len() <= CANDIDATES_BYTES_MAX
            && Phrase::read(config, text, &self.stop).is_ok_and(|phrase| {
                phrase.is_some_and(|phrase| is_counted(&phrase) && !phrase.is_guaranteed(config))
            })
    }

    fn cost_of_subject(&self) -> Cost {
        let bytes = match &self.subject {
            Subject::Text(text) => text.len(),
            Subject::Signature { fingerprints, .. } => {
                size_of::<Fingerprint>() * fingerprints.len()
            }
            Subject::Id(_) => usize::MAX,
        };
        match bytes {
            bytes if bytes <= POSTINGS_BYTES_MAX => Cost::Postings,
            bytes if bytes <= CANDIDATES_BYTES_MAX => Cost::Candidates,
            _ => Cost::Texts,
        }
    }

    /// Returns the cost of thresholds and options for a short subject.
    fn cost_of_conditions(&self, config: &Config) -> Cost {
        // The pattern lists every option, so the compiler enforces that a new one is considered.
        let SearchOptions {
            goal,
            rank: _,
            candidates: _,
            limit,
            filter,
            exclude_id,
            max_df,
            budget,
            counts_only,
            passages,
            min_passage,
            verify,
            max_expected: _,
            date: _,
            carriers: _,
            without,
            min_similarity: _,
        } = &self.options;
        let rank = rank_by(&self.options, &mut PresetUse::of(config.preset));
        let aligns_texts = *passages || min_passage.is_some() || rank == Rank::Passages;
        // A signature that is not stored is computed from the whole text.
        let signs_texts = !config.store_signatures && (!counts_only || budget.is_some());
        let is_plain =
            *goal == Goal::Hits && filter.is_none() && verify.is_none() && without.is_empty();
        if aligns_texts || signs_texts || !is_plain {
            return Cost::Texts;
        }
        // Where fingerprints cannot decide about a threshold, texts are compared.
        let is_counted =
            rank == Rank::Overlap && !self.thresholds.is_weighed() && !self.is_of_texts();
        // The default limit of document frequency keeps the number of postings small.
        let is_default = max_df.is_none() && config.max_df == MaxDf::Default;
        let is_short = limit.is_none_or(|limit| limit <= POSTINGS_HITS_MAX)
            && exclude_id.len() <= POSTINGS_HITS_MAX;
        if is_counted && is_default && is_short { Cost::Postings } else { Cost::Candidates }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::measure::Measure;

    fn config() -> Config {
        Config::new("winnow(k=5,w=10)", "words", true).unwrap()
    }

    #[track_caller]
    fn check(query: Query, config: &Config, expected: Cost) {
        assert_eq!(query.cost(config), expected, "{query:?}");
    }

    #[test]
    fn a_longer_subject_costs_more() {
        let config = config();
        let signature = |count: usize| {
            let fingerprints = vec![Fingerprint { key: 1, position: 0 }; count];
            Query::new(Subject::Signature { tokens: 9, fingerprints })
        };
        for (query, expected) in [
            (Query::text("a".repeat(4 << 10)), Cost::Postings),
            (Query::text("a".repeat((4 << 10) + 1)), Cost::Candidates),
            (Query::text("a".repeat(16 << 10)), Cost::Candidates),
            (Query::text("a".repeat((16 << 10) + 1)), Cost::Texts),
            (signature(100), Cost::Postings),
            (signature(1_000), Cost::Candidates),
            (signature(10_000), Cost::Texts),
            (Query::id("a"), Cost::Texts),
        ] {
            check(query, &config, expected);
        }
    }

    #[test]
    fn options_that_read_more_cost_more() {
        // A search with a threshold once read every candidate's signature, with no way to stop.
        let config = config();
        let query = || Query::text("a short text");
        check(query(), &config, Cost::Postings);
        check(query().min_resemblance(0.0).min_overlap(3u32), &config, Cost::Postings);
        check(query().limit(100usize), &config, Cost::Postings);
        for more in [
            query().min_resemblance(0.01),
            query().min_containment(0.01),
            query().min_weighted_containment(0.01),
            query().min_weighted_resemblance(0.01),
            query().rank(Rank::Weight),
            query().max_df(MaxDf::Documents(5)),
            query().limit(101usize),
            query().exclude_id(vec!["a".to_owned(); 101]),
        ] {
            check(more, &config, Cost::Candidates);
        }
        for more in [
            query().passages(true),
            query().min_passage(5u32),
            query().rank(Rank::Passages),
            query().verify("overlap".parse::<Measure>().unwrap()),
            query().goal(Goal::Passage),
            query().filter("lang:de"),
            Query::text("word ".repeat(14)).goal(Goal::Trace),
        ] {
            check(more, &config, Cost::Texts);
        }
        for more in [query().goal(Goal::Trace), query().filter("lang:de AND NOT text:'a b'")] {
            check(more, &config, Cost::EveryText);
        }
    }

    #[test]
    fn a_search_that_signs_stored_texts_again_costs_as_much_as_reading_texts() {
        let unsigned = config().without_signatures().unwrap();
        let query = || Query::text("a short text");
        check(query(), &unsigned, Cost::Texts);
        check(query().counts_only(true), &unsigned, Cost::Postings);
        check(query().counts_only(true).budget(100u64), &unsigned, Cost::Texts);
    }
}
