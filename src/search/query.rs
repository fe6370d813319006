//! Queries: the subject of a search, its thresholds and its options.

use std::borrow::Cow;

use derive_setters::Setters;

use super::memory::QueryMemory;
use super::options::{Rank, SearchOptions};
use super::thresholds::Thresholds;
use crate::error::Result;
use crate::index::{Preset, PresetDefaults, PresetUse};
use crate::runtime::Stop;
use crate::scheme::Fingerprint;

/// A search: its subject, and the conditions for hits.
///
/// The subject is a text, a signature, or the id of a stored document. The fields of
/// [`Thresholds`] and [`SearchOptions`] are methods here too. A query is checked when it is used:
/// [`Searcher::search`](super::Searcher::search) refuses values that contradict each other.
///
/// ```
/// use cento::{Query, Rank};
///
/// let query = Query::text("the text to look for").min_containment(0.3).limit(5);
/// assert_eq!(query.thresholds.min_containment, Some(0.3));
/// let rewritten = Query::id("essay.txt").rank(Rank::Weight).passages(true);
/// assert_eq!(rewritten.options.passages, true);
/// ```
#[derive(Debug, Clone, Setters)]
#[non_exhaustive]
#[setters(into)]
pub struct Query {
    /// The text or document to search for.
    #[setters(skip)]
    pub subject: Subject,
    /// The thresholds that hits must meet.
    #[setters(skip)]
    pub thresholds: Thresholds,
    /// The other options of the search.
    #[setters(skip)]
    pub options: SearchOptions,
    /// Set to end the search soon, when its answer is no longer needed.
    #[setters(skip)]
    pub stop: Stop,
    /// The memory, in bytes, for the passages of the answer. Those of the hits that come last are
    /// left out if they take more: [`Hit::passages`](super::Hit::passages) is then `None`, and they
    /// are not complete.
    pub passage_bytes_max: Option<usize>,
    /// The budget for the memory of compared texts, if they take much.
    pub memory: Option<QueryMemory>,
}

/// The subject of a search.
#[derive(Debug, Clone)]
pub enum Subject {
    /// A text, to be analyzed and signed as the index's documents were.
    Text(String),
    /// A signature that was made elsewhere with the index's scheme and analyzer.
    Signature {
        /// The tokens of the document.
        tokens: u32,
        /// Its fingerprints.
        fingerprints: Vec<Fingerprint>,
    },
    /// A stored document, which is not among the hits.
    Id(String),
}

impl Query {
    /// The default number of hits, with or without passages.
    pub const HITS: usize = 10;

    /// The number of consecutive documents without a passage that ends a search for passages by
    /// default.
    ///
    /// On the training documents of PAN 2013, reports by weight then show a share of reused text
    /// that is .003 less, on average, than that of the 1,000 best documents, after looking at 46 of
    /// them.
    pub const PATIENCE: usize = 30;

    /// The default maximum number of documents whose passages are looked for.
    pub const CANDIDATES: usize = 1000;

    /// Tells whether the similarity of texts decides which documents are hits.
    pub(super) fn is_of_texts(&self) -> bool {
        self.thresholds.is_of_texts()
    }

    /// Tells whether documents must pass a check of their texts.
    pub(super) fn is_demanding(&self) -> bool {
        self.options.verify.is_some() || self.options.min_passage.is_some()
    }

    /// Tells whether estimates are to be shown.
    pub(super) fn shows_estimates(&self) -> bool {
        !self.options.counts_only || self.is_of_texts()
    }

    /// Tells whether passages are to be shown.
    pub(super) fn shows_passages(&self) -> bool {
        self.options.passages || self.options.min_passage.is_some()
    }

    /// Returns the ranking of the hits.
    pub(super) fn ranked_by(&self) -> Rank {
        self.options.rank.unwrap_or_default()
    }

    /// Returns the query with the defaults of this preset for options that are not set, and the
    /// names of these.
    pub(super) fn with_defaults(
        &self,
        preset: Option<Preset>,
    ) -> (Cow<'_, Query>, Option<PresetDefaults>) {
        let mut used = PresetUse::of(preset);
        let rank = self.options.rank_by(&mut used);
        match used.defaults() {
            None => (Cow::Borrowed(self), None),
            defaults => {
                let mut query = self.clone();
                query.options.rank = Some(rank);
                (Cow::Owned(query), defaults)
            }
        }
    }

    /// Tells whether fingerprints are to be weighed.
    pub(super) fn is_weighed(&self) -> bool {
        self.ranked_by() != Rank::Overlap || self.thresholds.is_weighed()
    }

    /// Returns the least share of the query's weight in a document that meets the thresholds.
    pub(super) fn least_weighted(&self) -> f64 {
        // Weighted resemblance is at most weighted containment.
        self.thresholds.weighted_containment().max(self.thresholds.weighted_resemblance())
    }

    /// Refuses a query that contradicts itself or is out of bounds.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument), which names the option.
    pub fn check(&self) -> Result<()> {
        self.thresholds.check()?;
        self.options.check()
    }

    /// Returns the flag that ends the search when its answer is no longer needed.
    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Creates a search for a text: the ten documents that share most with it.
    pub fn text(text: impl Into<String>) -> Query {
        Query::new(Subject::Text(text.into()))
    }

    /// Creates a search for the documents like a stored one.
    pub fn id(id: impl Into<String>) -> Query {
        Query::new(Subject::Id(id.into()))
    }

    /// Creates a search for `subject`: the ten documents that share most with it.
    #[must_use]
    pub fn new(subject: Subject) -> Query {
        Query {
            subject,
            thresholds: Thresholds::default(),
            options: SearchOptions::default(),
            stop: Stop::default(),
            passage_bytes_max: None,
            memory: None,
        }
    }
}
