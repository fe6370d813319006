//! The similarity of the texts of the query and of a hit.
//!
//! The fingerprints decide where they are certain. Where they are not, and a threshold must be
//! decided, the texts are compared, if both are at hand.

use super::candidates::CandidateSet;
use super::estimates::Estimates;
use super::memory;
use super::query_signature::QuerySignature;
use super::run_sets::RunMaker;
use super::score::Scored;
use super::{Query, Searcher};
use crate::compare::runs::RunSet;
use crate::error::Result;
use crate::sampling::Sampling;
use crate::similarity::Similarity;

/// The maximum memory of a token of a set of runs, in bytes, with the token itself.
const RUN_BYTES: usize = 40;

/// Compares a query with its hits.
pub struct Similarities<'a> {
    searcher: &'a Searcher,
    subject: &'a QuerySignature,
    query: &'a Query,
    /// The estimator by positions, if the scheme has one.
    estimates: Option<Estimates<'a>>,
    /// The maker of the runs of texts, and the text of the query.
    texts: Option<(RunMaker, String)>,
    /// The runs of the query, once they are needed.
    runs: Option<RunSet>,
}

impl Searcher {
    /// Creates the comparison of the query with its hits.
    pub(super) fn similarities<'a>(
        &'a self,
        subject: &'a QuerySignature,
        found: &'a CandidateSet,
        query: &'a Query,
    ) -> Result<Similarities<'a>> {
        let estimates = self.estimates_of(subject, found, query);
        let text = match query.is_of_texts() && self.snapshot.config().store_text {
            true => self.text_of(subject, query)?,
            false => None,
        };
        Ok(Similarities::new(self, (subject, query), estimates, text))
    }

    fn estimates_of<'a>(
        &'a self,
        subject: &'a QuerySignature,
        found: &'a CandidateSet,
        query: &'a Query,
    ) -> Option<Estimates<'a>> {
        if !query.shows_estimates() {
            return None;
        }
        let of = (subject.tokens, &subject.signature[..]);
        let estimates = self.estimates(of, &subject.keys, query.stop())?;
        Some(estimates.with_terms(&found.terms).within(query.memory.as_ref()))
    }
}

impl Query {
    /// Tells whether the similarity of texts decides which documents are hits.
    pub(super) fn is_of_texts(&self) -> bool {
        self.thresholds.is_of_texts()
    }

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
    pub(super) fn is_met(&self, similarity: &Similarity) -> bool {
        let (resemblance, containment) =
            (self.thresholds.resemblance(), self.thresholds.containment());
        (resemblance == 0.0 || similarity.resembles(resemblance))
            && (containment == 0.0 || similarity.contains_a(containment))
    }
}

impl<'a> Similarities<'a> {
    /// Compares by `estimates`, if there are any, and by the `text` of the query, if it is to be
    /// compared with stored texts.
    pub fn new(
        searcher: &'a Searcher,
        (subject, query): (&'a QuerySignature, &'a Query),
        estimates: Option<Estimates<'a>>,
        text: Option<String>,
    ) -> Similarities<'a> {
        let texts = text.and_then(|text| Some((searcher.run_maker()?, text)));
        Similarities { searcher, subject, query, estimates, texts, runs: None }
    }

    /// Returns the similarity to show: estimated by positions, or else by counts.
    ///
    /// # Errors
    /// When the document cannot be read; [`Error::Cancelled`](crate::Error::Cancelled) soon after
    /// `stop`.
    pub fn shown(&mut self, scored: &Scored) -> Result<Similarity> {
        let counted = self.counted(scored)?;
        match &mut self.estimates {
            Some(estimates) if !counted.exact => {
                estimates.with(scored.address, scored.overlap.in_b)
            }
            _ => Ok(counted),
        }
    }

    fn counted(&self, scored: &Scored) -> Result<Similarity> {
        let tokens = self.subject.tokens;
        self.searcher.similarity_of_counts(tokens, scored.overlap, scored.address)
    }

    /// Returns the similarity of a document that meets the thresholds of the query, or `None`.
    ///
    /// # Errors
    /// As [`shown`](Self::shown).
    pub fn meeting(&mut self, scored: &Scored) -> Result<Option<Similarity>> {
        // Signatures, and then texts, are read only of documents that counts alone do not decide.
        let counted = self.counted(scored)?;
        match self.certainly_met(&counted) {
            Some(false) => return Ok(None),
            Some(true) if self.query.options.counts_only => return Ok(Some(counted)),
            _ => {}
        }
        let shown = self.shown(scored)?;
        let similarity = match self.certainly_met(&shown) {
            Some(_) => shown,
            None => self.exact(scored)?.unwrap_or(shown),
        };
        Ok(Some(similarity).filter(|similarity| self.query.is_met(similarity)))
    }

    /// Tells whether a similarity meets the thresholds of the query, if that is certain.
    fn certainly_met(&self, similarity: &Similarity) -> Option<bool> {
        // Fingerprints may be unrelated to texts that are at hand.
        let is_known = self.sampling() != Sampling::Unknown;
        self.query.is_certainly_met(similarity).filter(|_| is_known)
    }

    /// Returns the relation between shared fingerprints and the texts that decide.
    pub fn sampling(&self) -> Sampling {
        self.searcher.sampling(self.texts.is_some())
    }

    /// Compares the texts; `None` if they are not at hand.
    fn exact(&mut self, scored: &Scored) -> Result<Option<Similarity>> {
        let Some((maker, text)) = &self.texts else { return Ok(None) };
        let (snapshot, stop) = (self.searcher.snapshot(), self.query.stop());
        let room = |tokens: u32| {
            let bytes = (tokens as usize).saturating_mul(RUN_BYTES);
            memory::reserve(self.query.memory.as_ref(), 0, bytes, tokens)
        };
        if self.runs.is_none() {
            let _room = room(self.subject.tokens)?;
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
