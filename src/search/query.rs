//! What is searched for, and what counts as a hit?

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::memory::QueryMemory;
use super::patience::Patience;
use crate::compare::measure::Measure;
use crate::error::{Error, Result};
use crate::index::MaxDf;
use crate::scheme::Fingerprint;
use crate::stop::Stop;

/// A search.
///
/// ```
/// use cento::search::Query;
///
/// let query = Query { min_containment: 0.3, limit: Some(5), ..Query::text("the text to look for") };
/// ```
#[derive(Debug, Clone)]
pub struct Query {
    /// What is searched for.
    pub subject: Subject,
    /// Hits contain at least this share of the text of the query, 0 to 1.
    ///
    /// Where fingerprints alone leave that open, the texts are compared if both are at hand; if they are
    /// not, a hit needs an estimate that is evidence ([`Similarity::resembles`](crate::Similarity::resembles)).
    pub min_containment: f64,
    /// The texts of hits have at least this resemblance to the query's, 0 to 1, in the same way.
    pub min_resemblance: f64,
    /// The minimum number of distinct fingerprints that a hit has in common with the query; at least 1.
    pub min_overlap: u32,
    /// Hits have at least this share of the weight of the query's fingerprints, 0 to 1: as
    /// [`min_containment`](Self::min_containment), but rare fingerprints count for more.
    pub min_weighted_containment: f64,
    /// Hits have at least this weighted resemblance, 0 to 1.
    pub min_weighted_resemblance: f64,
    /// By what hits are ranked, if the goal is [`Goal::Hits`].
    pub rank: Rank,
    /// The number of documents whose passages are looked for by [`Rank::Passages`]; at least
    /// [`limit`](Self::limit). If `None`, as many as it takes: see [`PATIENCE`](Self::PATIENCE).
    pub candidates: Option<usize>,
    /// The maximum number of hits; the best are kept, and [`Answer::more`](super::Answer::more) tells
    /// whether there are others. If `None`, [`HITS`](Self::HITS); in a search with passages or for a cover
    /// all up to the last document with a passage, which [`PATIENCE`](Self::PATIENCE) finds.
    pub limit: Option<usize>,
    /// Only documents that match this tantivy query on `meta`, `added` and `id`.
    pub filter: Option<String>,
    /// Fingerprints in more documents are stop-fingerprints; as the index has it if `None`.
    pub max_df: Option<MaxDf>,
    /// The maximum number of postings to read, rarest fingerprints first; beyond it the answer says
    /// that it is not complete.
    pub budget: Option<u64>,
    /// Estimate the similarity of hits by the positions of what is shared, for which the signature of
    /// each hit is read, and not by counts alone, which have a larger error. A threshold of similarity reads
    /// the signatures for which counts do not decide.
    pub estimates: bool,
    /// Show the passages that each hit shares with the query.
    pub passages: bool,
    /// The minimum number of tokens of the query in a passage of a hit; shorter passages are not shown:
    /// it is as if [`passages`](Self::passages) were set. If `None`, passages that are chance are not
    /// shown, but hits without any are hits.
    pub min_passage: Option<u32>,
    /// Measure each hit over both texts too, and leave out those that then miss a threshold.
    pub verify: Option<Measure>,
    /// Hits have at least this similarity by [`verify`](Self::verify), 0 to 1.
    pub min_similarity: f64,
    /// What is to be found among the documents that meet the thresholds.
    pub goal: Goal,
    /// Set to end the search soon, when its answer is no longer needed.
    pub stop: Option<Arc<AtomicBool>>,
    /// The memory, in bytes, for the passages of the answer. Those of the hits that come last are left out if they
    /// take more: [`Hit::passages`](super::Hit::passages) is then `None`, and they are not complete.
    pub passage_bytes_max: Option<usize>,
    /// What texts that are compared take is taken from here, if it is much.
    pub memory: Option<QueryMemory>,
}

/// By what hits are ranked.
///
/// Equal hits follow each other by overlap, then by resemblance, then by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    /// By the number of fingerprints in common: best for copies.
    #[default]
    Overlap,
    /// By the weight of the fingerprints in common, of which rare ones have more, over the square
    /// root of the number of the document's: best for reused text among many documents that share
    /// common phrases.
    Weight,
    /// By the tokens in passages in common, for the best documents by weight: best for text that was
    /// rewritten. It takes the time of finding passages for as many documents as
    /// [`Query::candidates`] says.
    Passages,
}

/// What a search is to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Goal {
    /// The documents that share most with the query, the best first.
    #[default]
    Hits,
    /// The smallest set of documents that explains the query, found greedily, with what each adds.
    Cover,
    /// The one passage of all documents that is most like the query (Sun et al. 2013); the limit does
    /// not matter.
    Passage,
}

/// What is searched for.
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

    /// The number of documents in a row without a passage after which a search for passages ends by
    /// default.
    ///
    /// On the training documents of PAN 2013, reports by weight then show a share of reused text that is
    /// .003 less, on average, than that of the 1,000 best documents, after looking at 46 of them.
    pub const PATIENCE: usize = 30;

    /// The default maximum number of documents whose passages are looked for.
    pub const CANDIDATES: usize = 1000;

    /// Whether documents must pass what is looked at in their texts.
    pub(super) fn is_demanding(&self) -> bool {
        self.verify.is_some() || self.min_passage.is_some()
    }

    /// Whether estimates are to be shown.
    pub(super) fn shows_estimates(&self) -> bool {
        self.estimates || self.is_of_texts()
    }

    /// Whether passages are to be shown.
    pub(super) fn shows_passages(&self) -> bool {
        self.passages || self.min_passage.is_some()
    }

    /// Whether fingerprints are to be weighed.
    pub(super) fn is_weighed(&self) -> bool {
        self.rank != Rank::Overlap
            || self.min_weighted_containment > 0.0
            || self.min_weighted_resemblance > 0.0
    }

    /// The share of the query's weight that a document has at least if it meets the thresholds.
    pub(super) fn least_weighted(&self) -> f64 {
        // Weighted resemblance is at most weighted containment.
        self.min_weighted_containment.max(self.min_weighted_resemblance)
    }

    /// The number of documents that are looked at closely, if all of these are hits.
    pub(super) fn looked_at(&self) -> usize {
        Patience::of(self).most()
    }

    /// Refuses what contradicts itself.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a rank or a length of passages is set for a goal that has none.
    pub(super) fn check(&self) -> Result<()> {
        let refused = |argument, what| Err(Error::argument(argument, what));
        if self.rank != Rank::Overlap && self.goal != Goal::Hits {
            return refused(
                "rank",
                "only the best hits can be ranked by weight or by passages, not a cover or the best \
                 passage",
            );
        }
        if self.min_passage.is_some() && self.goal == Goal::Passage {
            return refused(
                "min_passage",
                "the best passage has the length of the query; search for it without a minimum",
            );
        }
        Ok(())
    }

    /// How a search learns that its answer is no longer needed.
    pub(super) fn stop(&self) -> Stop<'_> {
        self.stop.as_deref().map_or(Stop::NEVER, |flag| Stop::on(flag))
    }

    /// A search for a text: the ten documents that share most with it.
    pub fn text(text: impl Into<String>) -> Query {
        Query::new(Subject::Text(text.into()))
    }

    /// A search for the documents like a stored one.
    pub fn id(id: impl Into<String>) -> Query {
        Query::new(Subject::Id(id.into()))
    }

    /// A search for `subject`: the ten documents that share most with it.
    #[must_use]
    pub fn new(subject: Subject) -> Query {
        Query {
            subject,
            min_containment: 0.0,
            min_resemblance: 0.0,
            min_overlap: 1,
            min_weighted_containment: 0.0,
            min_weighted_resemblance: 0.0,
            rank: Rank::Overlap,
            candidates: None,
            limit: None,
            filter: None,
            max_df: None,
            budget: None,
            estimates: false,
            passages: false,
            min_passage: None,
            verify: None,
            min_similarity: 0.0,
            goal: Goal::Hits,
            stop: None,
            passage_bytes_max: None,
            memory: None,
        }
    }
}
