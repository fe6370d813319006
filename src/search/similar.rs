//! The similarity of the texts of the query and of a hit.
//!
//! The fingerprints decide where they are certain. Where they are not, and a threshold must be
//! decided, the texts are compared, if both are at hand.

use super::estimates::Estimates;
use super::memory;
use super::query::Query;
use super::retrieve::Search;
use super::run_sets::RunMaker;
use super::score::Scored;
use crate::compare::runs::RunSet;
use crate::error::Result;
use crate::sampling::Sampling;
use crate::similarity::Similarity;

/// The maximum memory of a token of a set of runs, in bytes, with the token itself: 8, up to four
/// places of a table, and 20 if each run is there twice.
const RUN_BYTES: usize = 64;

/// The factor of the standard error of counts where they leave out what texts would decide.
const COUNTED_SLACK: f64 = 1.5;

/// Compares a query with its hits.
pub struct Similarities<'a> {
    search: &'a Search<'a>,
    /// The estimator by positions, if the scheme has one.
    estimates: Option<Estimates<'a>>,
    /// The maker of the runs of texts, and the text of the query.
    texts: Option<(RunMaker, String)>,
    /// The runs of the query, once they are needed.
    runs: Option<RunSet>,
}

impl Query {
    /// Tells whether a similarity meets the thresholds, if that is certain.
    fn is_certainly_met(&self, similarity: &Similarity) -> Option<bool> {
        let (resemblance, containment) =
            (self.thresholds.resemblance(), self.thresholds.containment());
        let resembles = match resemblance > 0.0 {
            true => similarity.certainly_resembles(resemblance),
            false => Some(true),
        };
        let contains = match containment > 0.0 {
            true => similarity.certainly_contains_a(containment),
            false => Some(true),
        };
        match (resembles, contains) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }
    }

    /// Tells whether there is evidence that a similarity meets the thresholds.
    fn is_met(&self, similarity: &Similarity) -> bool {
        let (resemblance, containment) =
            (self.thresholds.resemblance(), self.thresholds.containment());
        (resemblance == 0.0 || similarity.resembles(resemblance))
            && (containment == 0.0 || similarity.contains_a(containment))
    }
}

impl<'a> Similarities<'a> {
    /// Creates the comparison of the query of a search with its hits.
    ///
    /// # Errors
    /// When the text of the query cannot be read.
    pub fn of(search: &'a Search<'a>) -> Result<Similarities<'a>> {
        let Search { searcher, query, subject, .. } = search;
        let text = match query.is_of_texts() && searcher.snapshot.config().store_text {
            true => subject.text(&searcher.snapshot, query)?,
            false => None,
        };
        let texts = text.and_then(|text| Some((searcher.run_maker()?, text)));
        Ok(Similarities { search, estimates: estimates(search), texts, runs: None })
    }

    /// Returns the similarity to show: estimated by positions, or else by counts.
    ///
    /// # Errors
    /// When the document cannot be read; [`Error::Cancelled`](crate::Error::Cancelled) soon after
    /// `stop`.
    pub fn shown(&mut self, scored: &Scored) -> Result<Similarity> {
        self.bounded(scored).map(|(shown, _)| shown)
    }

    /// Returns the similarity to show, and the greatest that the fingerprints allow.
    fn bounded(&mut self, scored: &Scored) -> Result<(Similarity, Similarity)> {
        let counted = self.counted(scored)?;
        match &mut self.estimates {
            Some(estimates) if !counted.exact => {
                estimates.bounded(scored.address, scored.overlap.in_b)
            }
            _ => Ok((counted, self.counted_at_most(&counted))),
        }
    }

    fn counted(&self, scored: &Scored) -> Result<Similarity> {
        let Search { searcher, subject, .. } = self.search;
        searcher.similarity_of_counts(subject.tokens, scored.overlap, scored.address)
    }

    /// Returns the similarity of a document that meets the thresholds of the query, or `None`.
    ///
    /// # Errors
    /// As [`shown`](Self::shown).
    pub fn meeting(&mut self, scored: &Scored) -> Result<Option<Similarity>> {
        // Signatures, and then texts, are read only of documents that counts alone do not decide.
        let counted = self.counted(scored)?;
        if self.certainly_met(&self.counted_at_most(&counted)) == Some(false) {
            return Ok(None);
        }
        if self.search.query.options.counts_only && self.certainly_met(&counted) == Some(true) {
            return Ok(Some(counted));
        }
        let (shown, most) = self.bounded(scored)?;
        let similarity = match self.certainly_met(&shown) {
            Some(true) => shown,
            Some(false) if self.texts.is_none() => shown,
            Some(false) if self.certainly_met(&most) == Some(false) => shown,
            _ => self.exact(scored)?.unwrap_or(shown),
        };
        Ok(Some(similarity).filter(|similarity| self.search.query.is_met(similarity)))
    }

    /// Returns the similarity that is estimated from counts, with the greatest error that it may
    /// have where the texts can decide, and must not be left out by chance.
    fn counted_at_most(&self, counted: &Similarity) -> Similarity {
        let factor = if self.texts.is_some() { COUNTED_SLACK } else { 1.0 };
        let standard_error = counted.standard_error.map(|error| error * factor);
        Similarity { standard_error, ..*counted }
    }

    /// Tells whether a similarity meets the thresholds of the query, if that is certain.
    fn certainly_met(&self, similarity: &Similarity) -> Option<bool> {
        // Fingerprints may be unrelated to texts that are at hand, or unable to estimate them.
        let is_known =
            !matches!(self.sampling(), Sampling::Unknown | Sampling::Rest(_) | Sampling::Other(_));
        self.search.query.is_certainly_met(similarity).filter(|_| is_known)
    }

    /// Returns the relation between shared fingerprints and the texts that decide.
    pub fn sampling(&self) -> Sampling {
        self.search.searcher.sampling(self.texts.as_ref().map(|(maker, _)| maker))
    }

    /// Compares the texts; `None` if they are not at hand.
    fn exact(&mut self, scored: &Scored) -> Result<Option<Similarity>> {
        let Some((maker, text)) = &self.texts else { return Ok(None) };
        let Search { searcher, query, subject, .. } = self.search;
        let (snapshot, stop) = (&searcher.snapshot, query.stop());
        let room = |tokens: u32| {
            let bytes = (tokens as usize).saturating_mul(RUN_BYTES);
            memory::reserve(query.memory.as_ref(), 0, bytes, tokens)
        };
        if self.runs.is_none() {
            let _room = room(subject.tokens)?;
            self.runs = Some(maker.of_text(text, stop)?);
        }
        let address = scored.address;
        let tokens = snapshot.segment(address).signatures.document(address.doc)?.tokens;
        let _room = room(tokens)?;
        let other = snapshot.text(address)?.unwrap_or_default();
        let other = maker.of_text(&other, stop)?;
        let runs = self.runs.as_ref().map(|runs| runs.overlap(&other));
        Ok(runs.map(Similarity::exact))
    }
}

/// Creates the estimator by positions, if estimates are shown and the scheme has one.
fn estimates<'a>(search: &'a Search<'a>) -> Option<Estimates<'a>> {
    let Search { searcher, query, subject, found } = search;
    if !query.shows_estimates() {
        return None;
    }
    let of = (subject.tokens, &subject.signature[..]);
    let estimates = searcher.estimates(of, &subject.keys, query.stop())?;
    Some(estimates.with_terms(&found.terms).within(query.memory.as_ref()))
}
