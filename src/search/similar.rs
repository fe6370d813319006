//! The similarity of the texts of the query and of a hit.
//!
//! Fingerprints decide the certain cases. If a threshold stays undecided, available texts are
//! compared.

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

/// The most bytes per token of a set of runs, including the token: 8, up to four slots of a table,
/// and 20 if each run occurs twice.
const RUN_BYTES: usize = 64;

/// The factor for the standard error of counts, where excluding a document by counts would take the
/// decision from the texts.
const COUNTED_SLACK: f64 = 1.5;

/// Compares a query with its hits.
pub struct Similarities<'a> {
    search: &'a Search<'a>,
    /// The estimator by positions, if the scheme has one.
    estimates: Option<Estimates<'a>>,
    /// The maker of runs and the text of the query, if texts decide.
    texts: Option<(RunMaker, String)>,
    /// The runs of the query, made on demand.
    runs: Option<RunSet>,
}

impl Query {
    /// Returns whether a similarity meets the thresholds, or `None` if that is uncertain.
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

    /// Returns whether there is evidence that a similarity meets the thresholds.
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

    /// Returns the similarity to show, estimated by positions or otherwise by counts.
    ///
    /// # Errors
    /// When a file cannot be read. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn shown(&mut self, scored: &Scored) -> Result<Similarity> {
        self.bounded(scored).map(|(shown, _)| shown)
    }

    /// Returns the similarity to show, and the largest similarity that the fingerprints allow.
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
    /// The errors of [`shown`](Self::shown).
    pub fn meeting(&mut self, scored: &Scored) -> Result<Option<Similarity>> {
        // Read signatures, and then texts, only if counts alone do not decide.
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

    /// Returns the similarity estimated from counts. Where texts can decide, the standard error is
    /// enlarged, so that counts do not exclude a document by chance.
    fn counted_at_most(&self, counted: &Similarity) -> Similarity {
        let factor = if self.texts.is_some() { COUNTED_SLACK } else { 1.0 };
        let standard_error = counted.standard_error.map(|error| error * factor);
        Similarity { standard_error, ..*counted }
    }

    /// Returns whether a similarity meets the thresholds of the query, or `None` if that is
    /// uncertain.
    fn certainly_met(&self, similarity: &Similarity) -> Option<bool> {
        // Fingerprints may be unrelated to available texts, or unable to estimate their similarity.
        let is_known =
            !matches!(self.sampling(), Sampling::Unknown | Sampling::Rest(_) | Sampling::Other(_));
        self.search.query.is_certainly_met(similarity).filter(|_| is_known)
    }

    /// Returns the relation between shared fingerprints and the texts that decide.
    pub fn sampling(&self) -> Sampling {
        self.search.searcher.sampling(self.texts.as_ref().map(|(maker, _)| maker))
    }

    /// Compares the texts. `None` if a text is not available.
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

/// Creates the estimator by positions, if estimates are shown and the scheme has an estimator.
fn estimates<'a>(search: &'a Search<'a>) -> Option<Estimates<'a>> {
    let Search { searcher, query, subject, found } = search;
    if !query.shows_estimates() {
        return None;
    }
    let (tokens, signature) = (subject.tokens, &subject.signature);
    let estimates = searcher.estimates(tokens, signature, &subject.keys, query.stop())?;
    Some(estimates.with_terms(&found.terms).within(query.memory.as_ref()))
}
