//! Thresholds: decides which candidates meet the query.
//!
//! Counts exclude documents that cannot meet the query. Where counts leave the decision open and
//! texts decide, the texts are compared.

use super::candidate::Candidate;
use super::retrieve::Search;
use super::score::{self, Scored};
use super::similar::Similarities;
use crate::error::{Error, Result};
use crate::sampling::Sampling;

impl Search<'_> {
    /// Returns the candidates that meet the thresholds, unordered and without their ids.
    ///
    /// # Errors
    /// When a file is damaged. [`Error::Cancelled`] soon after the query is stopped.
    pub fn meeting(&self, candidates: &[Candidate]) -> Result<Vec<Scored>> {
        let mut similarities = Similarities::of(self)?;
        let hits = self.meeting_by_counts(candidates, similarities.sampling())?;
        if !self.query.is_of_texts() {
            return Ok(hits);
        }
        let mut meeting = Vec::with_capacity(hits.len());
        for mut hit in hits {
            self.query.stop().check()?;
            hit.similarity = similarities.meeting(&hit)?;
            if hit.similarity.is_some() {
                meeting.push(hit);
            }
        }
        Ok(meeting)
    }

    /// Returns the candidates that may meet the thresholds, as far as counts can tell (`sampling`).
    fn meeting_by_counts(
        &self,
        candidates: &[Candidate],
        sampling: Sampling,
    ) -> Result<Vec<Scored>> {
        let Search { searcher, query, subject, found } = self;
        let in_query = subject.keys.len() as u32;
        let mut hits = Vec::with_capacity(candidates.len());
        let weight_in_query: u64 = found.weights.iter().sum();
        searcher.for_each_size(candidates, |&candidate, size| {
            let scored = Scored::new(candidate, in_query, size);
            hits.push(match query.is_weighed() {
                true => scored.weighed(candidate.weight, weight_in_query, query.ranked_by()),
                false => scored,
            });
        })?;
        hits.retain(|hit| hit.overlap.shared >= query.thresholds.overlap());
        if query.is_of_texts() {
            let own = sampling.size(in_query, || Ok::<_, Error>(subject.tokens))?;
            let mut may_be = Vec::with_capacity(hits.len());
            for hit in hits {
                let other = searcher.size_by(sampling, hit.address, hit.overlap.in_b)?;
                let all = [own.is_all, other.is_all];
                let (contained, alike) =
                    (query.thresholds.containment(), query.thresholds.resemblance());
                if (contained == 0.0 || sampling.may_contain_a(contained, hit.overlap, all))
                    && (alike == 0.0 || sampling.may_resemble(alike, hit.overlap, all))
                {
                    may_be.push(hit);
                }
            }
            hits = may_be;
        }
        if query.is_weighed() {
            let share = query.least_weighted();
            hits.retain(|hit| hit.weighted.is_some_and(|weighted| weighted.containment() >= share));
        }
        if query.thresholds.weighted_resemblance() > 0.0 {
            score::weigh_documents(searcher, hits.iter_mut(), query)?;
            let least = query.thresholds.weighted_resemblance();
            hits.retain(|hit| hit.weighted.is_some_and(|weighted| weighted.resemblance() >= least));
        }
        Ok(hits)
    }
}
