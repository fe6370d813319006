//! Estimates the similarity of a text with stored documents.
//!
//! Signatures of the few relevant documents are read, because an estimate depends on the positions
//! of the shared fingerprints in both texts, not only on their number.

use std::sync::Arc;

use super::boilerplate::IgnoredCounts;
use super::memory::{self, QueryMemory};
use super::run_sets::RunMaker;
use super::searcher::Searcher;
use super::shared::SharedFingerprints;
use crate::error::Result;
use crate::index::{DocAddress, Snapshot};
use crate::overlap::Overlap;
use crate::runtime::Stop;
use crate::sampling::{Sampling, Size};
use crate::scheme::{Estimator, Fingerprint, KeyedSignature, distinct_keys};
use crate::similarity::Similarity;

/// Estimates the similarity of a text, the first side, with documents of a snapshot.
pub struct Estimates<'a> {
    estimator: Estimator,
    snapshot: &'a Snapshot,
    /// The distinct fingerprints of the first text, ascending.
    keys: &'a [u64],
    tokens: u32,
    /// The fingerprints of the first text by position: the position, and the place among `keys`.
    places: Vec<(u32, u32)>,
    shared: SharedFingerprints,
    /// The memory budget of the query, if any.
    memory: Option<QueryMemory>,
    /// For each segment, the ordinals of terms among the keys, ascending, and their places in
    /// `keys`. Empty if they have not been looked up.
    terms: &'a [Vec<(u32, u32)>],
    /// For each key, whether the last document has it.
    is_shared: Vec<bool>,
    /// The places of the shared fingerprints in the last document, ascending.
    of_document: Vec<u32>,
    /// The places of the shared fingerprints in the first text.
    of_text: Vec<u32>,
    stop: &'a Stop,
}

impl std::fmt::Debug for Estimates<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Estimates").field("estimator", &self.estimator).finish_non_exhaustive()
    }
}

impl Searcher {
    /// Returns the estimator of similarity. `None` if the scheme has no estimator or there is
    /// boilerplate, because an estimate requires the fingerprints of a whole text.
    #[must_use]
    pub fn estimator(&self) -> Option<Estimator> {
        let estimator = self.snapshot.config().scheme.estimator();
        estimator.filter(|_| self.ignored.is_none())
    }

    /// Returns the relation between shared fingerprints and texts. `maker` makes the runs that
    /// decide in the end, if texts decide.
    pub fn sampling(&self, maker: Option<&RunMaker>) -> Sampling {
        let Some(maker) = maker else {
            return self.estimator().map_or(Sampling::Sketches, Sampling::Runs);
        };
        let scheme = &self.snapshot.config().scheme;
        let of_segments = || {
            let segment_tokens = scheme.segment_tokens()?;
            Some(Estimator::of_segments(maker.run_tokens() as u32, segment_tokens))
        };
        let of_rest = |ignored: &Arc<IgnoredCounts>| ignored.boilerplate.estimator();
        let estimator = self.ignored.as_ref().map_or_else(|| self.estimator(), of_rest);
        match (estimator, &self.ignored) {
            (None, _) => of_segments().map_or(Sampling::Unknown, Sampling::Other),
            (Some(estimator), _) if maker.has_other_tokens() => {
                Sampling::Other(estimator.of_other_tokens())
            }
            (Some(estimator), None) => Sampling::Runs(estimator),
            (Some(estimator), Some(_)) => Sampling::Rest(estimator),
        }
    }

    /// Returns the size of the document at `address`, which has `fingerprints` distinct ones.
    ///
    /// # Errors
    /// When the document cannot be read.
    pub fn size_by(
        &self,
        sampling: Sampling,
        address: DocAddress,
        fingerprints: u32,
    ) -> Result<Size> {
        let signatures = &self.snapshot.segment(address).signatures;
        sampling.size(fingerprints, || Ok(signatures.document(address.doc)?.tokens))
    }

    /// Estimates the similarity of a text of `tokens` tokens with the document at `address` from
    /// the number of shared fingerprints, without reading signatures. The error is larger than with
    /// [`Estimates`].
    ///
    /// # Errors
    /// When the document cannot be read.
    pub(crate) fn similarity_of_counts(
        &self,
        tokens: u32,
        overlap: Overlap,
        address: DocAddress,
    ) -> Result<Similarity> {
        let Some(estimator) = self.estimator() else { return Ok(Similarity::of_sketches(overlap)) };
        let signatures = &self.snapshot.segment(address).signatures;
        // The number of tokens of the document matters only if one side keeps every run.
        let other = match estimator.keeps_all(tokens) || estimator.may_keep_all(overlap.in_b) {
            true => signatures.document(address.doc)?.tokens,
            false => u32::MAX,
        };
        Ok(estimator.of_counts(overlap, tokens, other))
    }

    /// Returns estimates of the similarity of a text with documents of the index, or `None` without
    /// an estimator. `keys` are the distinct keys of `signature`, ascending. `signature` may come
    /// from another searcher.
    #[must_use]
    pub fn estimates<'a>(
        &'a self,
        tokens: u32,
        signature: &[Fingerprint],
        keys: &'a [u64],
        stop: &'a Stop,
    ) -> Option<Estimates<'a>> {
        let estimator = self.estimator()?;
        let place = |key| keys.binary_search(&key).ok().map(|place| place as u32);
        let places = signature.iter().filter_map(|f| Some((f.position, place(f.key)?)));
        let mut places: Vec<(u32, u32)> = places.collect();
        // A signature from a client may be in any order.
        places.sort_unstable();
        Some(Estimates {
            estimator,
            snapshot: &self.snapshot,
            keys,
            tokens,
            places,
            shared: SharedFingerprints::default(),
            memory: None,
            terms: &[],
            is_shared: Vec::new(),
            of_document: Vec::new(),
            of_text: Vec::new(),
            stop,
        })
    }
}

impl<'a> Estimates<'a> {
    /// Provides the terms of the keys in each segment, which saves look-ups.
    pub(super) fn with_terms(self, terms: &'a [Vec<(u32, u32)>]) -> Estimates<'a> {
        Estimates { terms, ..self }
    }

    /// Sets the memory budget of the query, if any.
    pub(super) fn within(self, memory: Option<&QueryMemory>) -> Estimates<'a> {
        Estimates { shared: SharedFingerprints::within(memory), memory: memory.cloned(), ..self }
    }

    /// Estimates the similarity with the document at `address`, which has `in_document` distinct
    /// fingerprints.
    ///
    /// # Errors
    /// When a file cannot be read. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn with(&mut self, address: DocAddress, in_document: u32) -> Result<Similarity> {
        self.bounded(address, in_document).map(|(similarity, _)| similarity)
    }

    /// Like [`with`](Self::with), but also returns the largest possible similarity with these
    /// fingerprints, if edits are close together ([`Estimator::of_close_edits`]).
    ///
    /// # Errors
    /// The errors of [`with`](Self::with).
    pub(super) fn bounded(
        &mut self,
        address: DocAddress,
        in_document: u32,
    ) -> Result<(Similarity, Similarity)> {
        let keys = self.keys.len();
        let tokens = self.snapshot.segment(address).signatures.document(address.doc)?.tokens;
        if self.estimator.has_tokens() && self.estimator.keeps_all(tokens) {
            // The keys of a short document tell runs from single tokens, and they are few.
            let signature =
                memory::signature(self.snapshot, address, self.memory.as_ref(), self.stop)?;
            let of_document = distinct_keys(&signature);
            let overlap = Overlap::of(self.keys, &of_document);
            let own = KeyedSignature { tokens: self.tokens, fingerprints: &[], keys: self.keys };
            let other = KeyedSignature { tokens, fingerprints: &[], keys: &of_document };
            let exact = self.estimator.compare(overlap, own, other);
            return Ok((exact, exact));
        }
        self.is_shared.clear();
        self.is_shared.resize(keys, false);
        self.of_document.clear();
        let mut shared = 0;
        let mut each = |place: usize, key: u32| {
            let is_shared = &mut self.is_shared[key as usize];
            shared += u32::from(!*is_shared);
            *is_shared = true;
            self.of_document.push(place as u32);
        };
        let keyed = (self.keys, self.terms);
        let signature = self.shared.scan(self.snapshot, keyed, address, &mut each, self.stop)?;
        if self.estimator.has_tokens() {
            // A long document has only runs, no single tokens.
            let own = self.keys.iter().filter(|&&key| self.estimator.is_of_run(key)).count();
            let exact = Similarity::exact(Overlap::new(shared, own as u32, in_document));
            return Ok((exact, exact));
        }
        self.of_text.clear();
        let own = (0..).zip(&self.places).filter(|(_, place)| self.is_shared[place.1 as usize]);
        self.of_text.extend(own.map(|(at, _)| at));
        let position = |at: usize| self.places[at].0;
        let own = self.estimator.coverage_of_shared(
            self.tokens,
            self.places.len(),
            &self.of_text,
            |at| position(at) - at.checked_sub(1).map_or(0, position),
            || self.places.last().map_or(0, |place| u64::from(place.0)),
        );
        let other = self.estimator.coverage_of_shared(
            tokens,
            signature.len(),
            &self.of_document,
            |place| signature.gap(place),
            || signature.last_position(),
        );
        let overlap = Overlap::new(shared, keys as u32, in_document);
        let most = self.estimator.of_close_edits().estimate(overlap, &own, &other);
        Ok((self.estimator.estimate(overlap, &own, &other), most))
    }
}
