//! How many fingerprints do the documents of a pair share at least?
//!
//! A single machine finds out while searching. A cluster of machines needs the number before: if a
//! document must share t of its n fingerprints, it has one of its n - t + 1 rarest fingerprints in
//! common with its partner. So only the rarest fingerprints are exchanged (prefix filtering).

use super::defaults::{EffectiveOptions, PairList};
use super::pair_search::PairConditions;
use super::thresholds::PairThresholds;
use super::{PairOptions, Thresholds};
use cento::index::{Config, Index};
use cento::search::Searcher;
use cento_api::error::{Error, Result};
use cento_text::sampling::Sampling;

/// The minimum overlap of a document with its partners, by its size.
///
/// ```
/// use cento_collections::{OverlapMinimum, PairOptions, Thresholds};
/// use cento::Config;
///
/// let alike = PairOptions::default().thresholds(Thresholds::default().min_resemblance(0.9));
/// let minimum = OverlapMinimum::of_pairs(&Config::new("kgram(k=5)", "words", true)?, &alike)?;
/// assert_eq!(minimum.of(100, 104), Some(90));
/// assert!(minimum.is_mutual());
/// # Ok::<(), cento::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OverlapMinimum {
    pub(super) sampling: Sampling,
    /// `None` if only equal texts belong together.
    pub(super) thresholds: Option<Thresholds>,
    pub(super) is_mutual: bool,
}

impl OverlapMinimum {
    /// Returns the minimum for pairs of documents signed with `config`.
    ///
    /// # Errors
    /// When the options are contradictory or out of bounds, or a pair would depend on more than its
    /// two documents.
    pub fn of_pairs(config: &Config, options: &PairOptions) -> Result<OverlapMinimum> {
        let empty = Searcher::new(Index::in_memory(config.clone())?.snapshot()?);
        let EffectiveOptions { options, .. } =
            EffectiveOptions::of_pairs(options, PairList::OfCollection, &empty, &empty);
        let PairConditions { thresholds, weighted, .. } = PairConditions::of(&options)?;
        if weighted || thresholds.is_weighed() {
            let what = "weights depend on all documents, so two documents alone have none; use \
                        unweighted thresholds, or the index of all documents";
            return Err(Error::argument("weighted", what));
        }
        Ok(OverlapMinimum {
            sampling: empty.sampling(empty.run_maker().as_ref()),
            thresholds: Some(thresholds),
            is_mutual: thresholds.containment() == 0.0,
        })
    }

    /// Returns the minimum for a document with this number of distinct fingerprints and of tokens,
    /// or `None` if it has no partner.
    #[must_use]
    pub fn of(&self, fingerprints: u32, tokens: u32) -> Option<u32> {
        let size = self.sampling.size(fingerprints, || Ok::<_, ()>(tokens));
        let size = size.expect("the number of tokens is known");
        let thresholds = self.thresholds.filter(|_| fingerprints > 0)?;
        Some(thresholds.overlap_min(self.sampling, size))
    }

    /// Tells whether both documents of a pair share at least their own minimum. If not, at least
    /// one document does, because a containment is the share of one document.
    #[must_use]
    pub fn is_mutual(&self) -> bool {
        self.is_mutual
    }
}
