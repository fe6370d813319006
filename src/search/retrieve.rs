//! Retrieval: finds the documents that may meet the query.
//!
//! The conditions of the query become conditions of a search for candidates ([`candidates`]). The
//! counts are exact, except within a budget. Then the most promising documents are counted again
//! from their signatures.

use std::cmp::Reverse;

use cento_api::ShardFrequencies;

use super::candidate::Candidate;
use super::candidates::{self, CandidateSet, Counters, Request};
use super::filter::Filter;
use super::pruning::Pruning;
use super::query::{Query, Subject};
use super::query_signature::QuerySignature;
use super::searcher::Searcher;
use super::shared::SharedFingerprints;
use super::weigh::Weigh;
use crate::error::{Error, Result};

/// A search whose candidates are known.
pub struct Search<'a> {
    pub searcher: &'a Searcher,
    pub query: &'a Query,
    pub subject: QuerySignature,
    /// The look-up of the query's fingerprints, without the documents.
    pub found: CandidateSet,
}

/// Within a budget, this many times the requested number of hits are counted again.
const RECOUNTED_PER_HIT: usize = 4;

impl<'a> Search<'a> {
    /// Finds the candidates of a query with this signature. If the snapshot is a shard,
    /// `collection` has the frequencies over every shard.
    ///
    /// # Errors
    /// When the filter of the query is invalid, or a file is damaged. [`Error::Cancelled`] soon
    /// after the query is stopped.
    pub fn retrieve(
        searcher: &'a Searcher,
        query: &'a Query,
        subject: QuerySignature,
        collection: Option<&ShardFrequencies>,
        counters: &mut Counters,
    ) -> Result<(Search<'a>, Vec<Candidate>)> {
        let found = find(searcher, query, &subject, collection, counters)?;
        let mut search = Search { searcher, query, subject, found };
        let mut documents = std::mem::take(&mut search.found.documents);
        if search.found.unread > 0 {
            documents = search.recount(documents)?;
        }
        Ok((search, documents))
    }

    /// Returns the most promising candidates with their true overlap, because counts within a
    /// budget may be too low.
    fn recount(&self, mut found: Vec<Candidate>) -> Result<Vec<Candidate>> {
        let Search { searcher, query, subject, .. } = self;
        let weights = &self.found.weights;
        // By count, then by place, so that the choice is deterministic.
        found.sort_unstable_by_key(|counted| {
            (Reverse(counted.weight), Reverse(counted.overlap), counted.address)
        });
        found.truncate(query.looked_at().max(1).saturating_mul(RECOUNTED_PER_HIT));
        found.sort_unstable_by_key(|counted| counted.address);
        let mut shared = SharedFingerprints::within(query.memory.as_ref());
        for counted in &mut found {
            let keyed = (&subject.keys[..], &[][..]);
            shared.read(&searcher.snapshot, keyed, counted.address, query.stop())?;
            let shared = shared.keys();
            counted.overlap = shared.len() as u32;
            if !weights.is_empty() {
                counted.weight = shared.iter().map(|&key| weights[key as usize]).sum();
            }
        }
        Ok(found)
    }
}

fn find(
    searcher: &Searcher,
    query: &Query,
    subject: &QuerySignature,
    collection: Option<&ShardFrequencies>,
    counters: &mut Counters,
) -> Result<CandidateSet> {
    let snapshot = &searcher.snapshot;
    let documents = collection.map_or_else(|| snapshot.documents(), |all| all.documents);
    let of_index = collection.map_or(snapshot.config().max_df, |all| all.max_df);
    let max_df = query.options.max_df.unwrap_or(of_index);
    let filter = query.options.filter.as_deref();
    let filter = filter.map(|text| match collection {
        // Documents of other shards may have fields that this shard lacks.
        Some(_) => Filter::standing(snapshot, text),
        None => Filter::new(snapshot, text),
    });
    let filter = filter.transpose()?;
    let excluded = subject.excluded(snapshot, &query.options.exclude_id)?;
    let pruning = Pruning::of(query, searcher.ignored.is_some());
    let request = Request {
        keys: &subject.keys,
        overlap_min: searcher.overlap_min(query, subject.tokens, subject.keys.len() as u32)?,
        best: pruning.by_overlap,
        best_by_weight: pruning.by_weight,
        tuning: searcher.tuning,
        max_df: max_df.limit(documents),
        budget: query.options.budget.unwrap_or(u64::MAX),
        weighed: query.is_weighed().then(|| (Weigh::among(documents), query.least_weighted())),
        collection,
        filter: filter.as_ref(),
        excluded: &excluded,
        keeps_terms: query.shows_estimates() && searcher.estimator().is_some(),
        stop: query.stop(),
    };
    query.stop().check()?;
    candidates::find(snapshot, &request, counters)
}

impl Searcher {
    /// Returns the smallest number of fingerprints that a hit shares with a query of these numbers
    /// of tokens and distinct fingerprints.
    ///
    /// # Errors
    /// When the configuration of the index cannot tell.
    pub fn overlap_min(&self, query: &Query, tokens: u32, fingerprints: u32) -> Result<u32> {
        let has_text = !matches!(query.subject, Subject::Signature { .. });
        let maker = self.run_maker().filter(|_| has_text && self.can_read_runs());
        let sampling = self.sampling(maker.as_ref());
        let size = sampling.size(fingerprints, || Ok::<_, Error>(tokens))?;
        // Resemblance never exceeds containment, because the union is no smaller than one side.
        let share = query.thresholds.containment().max(query.thresholds.resemblance());
        let least = if share > 0.0 { sampling.least_shared(share, size) } else { 1 };
        Ok(least.max(query.thresholds.overlap()))
    }
}
