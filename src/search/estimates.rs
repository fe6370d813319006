//! How similar are the texts of a document and of stored ones?
//!
//! Read from the forward lists of the few documents that matter: an estimate asks where either text has the
//! fingerprints that both have, not only how many they are.

use super::Searcher;
use super::shared::SharedFingerprints;
use crate::error::{Error, Result};
use crate::estimate::{Estimate, Estimator};
use crate::index::{DocAddress, Snapshot};
use crate::overlap::Overlap;
use crate::scheme::Fingerprint;
use crate::stop::Stop;

/// Estimates the similarity of one text, the first, with documents of a snapshot.
pub struct Estimates<'a> {
    estimator: Estimator,
    snapshot: &'a Snapshot,
    /// The distinct fingerprints of the first text, ascending.
    keys: &'a [u64],
    tokens: u32,
    /// Its fingerprints, by position: the position, and the place among the keys.
    places: Vec<(u32, u32)>,
    shared: SharedFingerprints,
    /// For each key, whether the document has it that was read last.
    is_shared: Vec<bool>,
    stop: Stop<'a>,
}

impl std::fmt::Debug for Estimates<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Estimates").field("estimator", &self.estimator).finish_non_exhaustive()
    }
}

impl Searcher {
    /// Returns how similarity is estimated; none if the scheme has no estimator, or if there is
    /// boilerplate: what is left of a text without it is no text.
    #[must_use]
    pub fn estimator(&self) -> Option<Estimator> {
        let estimator = self.snapshot.config().scheme.estimator();
        estimator.filter(|_| self.boilerplate.is_none())
    }

    /// The same, for a search with a threshold of the estimate.
    ///
    /// # Errors
    /// When there is none.
    pub fn estimator_needed(&self) -> Result<Estimator> {
        self.estimator().ok_or_else(|| {
            let scheme = &self.snapshot.config().scheme;
            let what = match self.boilerplate {
                Some(_) => "an estimated resemblance is that of whole texts: leave out the \
                            boilerplate, or set a minimum resemblance of fingerprints"
                    .into(),
                None => format!(
                    "the scheme {scheme} does not estimate the resemblance of texts; winnow, mod and \
                     kgram do: set a minimum resemblance of fingerprints"
                ),
            };
            Error::Query { what }
        })
    }

    /// Estimates the similarity of a text with documents of the index, if that can be estimated. `keys` are the
    /// distinct keys of its `signature`, ascending; the searcher of `signature` may be another.
    #[must_use]
    pub fn estimates<'a>(
        &'a self,
        (tokens, signature): (u32, &[Fingerprint]),
        keys: &'a [u64],
        stop: Stop<'a>,
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
            is_shared: Vec::new(),
            stop,
        })
    }
}

impl Estimates<'_> {
    /// Estimates the similarity with the document at `address`, which has `in_document` distinct fingerprints.
    ///
    /// # Errors
    /// When the document cannot be read; [`Error::Cancelled`] soon after `stop`.
    pub fn with(&mut self, address: DocAddress, in_document: u32) -> Result<Estimate> {
        self.shared.read(self.snapshot, self.keys, address, self.stop)?;
        self.is_shared.clear();
        self.is_shared.resize(self.keys.len(), false);
        self.shared.occurrences().iter().for_each(|&(key, _)| self.is_shared[key as usize] = true);
        let shared = self.is_shared.iter().filter(|&&is_shared| is_shared).count() as u32;
        let own =
            self.places.iter().map(|&(position, key)| (position, self.is_shared[key as usize]));
        let own = self.estimator.coverage(self.tokens, own);
        let signatures = &self.snapshot.segment(address).signatures;
        let tokens = signatures.document(address.doc)?.tokens;
        let other = self.estimator.coverage(tokens, self.shared.places());
        let overlap = Overlap::new(shared, self.keys.len() as u32, in_document);
        Ok(self.estimator.estimate(overlap, &own, &other))
    }
}
