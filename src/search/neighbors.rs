//! For joins of whole indexes: documents that share fingerprints with a set, and their counts.

use std::sync::Arc;

use super::boilerplate::Boilerplate;
use super::candidate::Candidate;
use super::candidates::{self, CandidateSet, Request};
use super::chance::{Chance, QueryInformation};
use super::memory::{DOCUMENT_TOKEN_BYTES, StoredMemory};
use super::searcher::Searcher;
use super::weigh::Weigh;
use crate::compare::TextPair;
use crate::compare::passages::{self, Genre, Passages, Prepared};
use crate::compare::runs::Place;
use crate::error::Result;
use crate::index::{DocAddress, MaxDf, Snapshot, StoredDocument};
use crate::overlap::Overlap;
use crate::runtime::{Permit, Stop};
use crate::text::{AnalyzedText, Tokens};

/// A document that shares fingerprints with the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbor {
    /// The place of the document in the snapshot.
    pub address: DocAddress,
    /// The number of distinct fingerprints in common.
    pub overlap: u32,
    /// The number of distinct fingerprints of the document.
    pub fingerprints: u32,
}

/// The neighbors that a search looks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeighborLimits {
    /// The minimum number of shared fingerprints.
    pub overlap_min: u32,
    /// The minimum share of the weight of the fingerprints, if fingerprints are weighed.
    pub share_min: f64,
    /// Replaces the maximum document frequency of the index.
    pub max_df: Option<MaxDf>,
    /// A document to leave out.
    pub except: Option<DocAddress>,
}

impl Neighbor {
    /// Combines the counts with the query (side a), which has `searched_for` distinct fingerprints.
    #[must_use]
    pub fn with(&self, searched_for: u32) -> Overlap {
        Overlap::new(self.overlap, searched_for, self.fingerprints)
    }
}

impl Searcher {
    /// Returns the documents that share enough of the ascending `keys`, unordered. At least one of
    /// the shared keys is not a stop-fingerprint.
    ///
    /// # Errors
    /// When a file is damaged. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn neighbors(
        &self,
        keys: &[u64],
        limits: NeighborLimits,
        stop: &Stop,
    ) -> Result<Vec<Neighbor>> {
        let found = self.sharing(keys, None, limits, stop)?.documents;
        let mut neighbors = Vec::with_capacity(found.len());
        self.for_each_size(&found, |&Candidate { address, overlap, .. }, fingerprints| {
            neighbors.push(Neighbor { address, overlap, fingerprints });
        })?;
        Ok(neighbors)
    }

    /// Returns the weight of the keys, and the documents that share enough of the weight, with the
    /// weight of their shared keys.
    pub fn weighed_neighbors(
        &self,
        keys: &[u64],
        weigh: Weigh,
        limits: NeighborLimits,
        stop: &Stop,
    ) -> Result<(u64, Vec<(Neighbor, u64)>)> {
        let found = self.sharing(keys, Some(weigh), limits, stop)?;
        let mut neighbors = Vec::with_capacity(found.documents.len());
        self.for_each_size(
            &found.documents,
            |&Candidate { address, overlap, weight }, fingerprints| {
                neighbors.push((Neighbor { address, overlap, fingerprints }, weight));
            },
        )?;
        Ok((found.weights.iter().sum(), neighbors))
    }

    /// Returns the documents within the limits. With `weigh`, the keys are weighed.
    pub(super) fn sharing(
        &self,
        keys: &[u64],
        weigh: Option<Weigh>,
        limits: NeighborLimits,
        stop: &Stop,
    ) -> Result<CandidateSet> {
        let NeighborLimits { overlap_min, share_min, max_df, except } = limits;
        let max_df = max_df.unwrap_or(self.snapshot.config().max_df);
        let request = Request {
            keys,
            overlap_min: overlap_min.max(1),
            best: usize::MAX,
            best_by_weight: usize::MAX,
            tuning: self.tuning,
            max_df: max_df.limit(self.snapshot.documents()),
            budget: u64::MAX,
            weighed: weigh.map(|weigh| (weigh, share_min)),
            collection: None,
            filter: None,
            excluded: except.as_slice(),
            keeps_terms: false,
            stop,
        };
        let mut scratch = self.spare.pop().unwrap_or_default();
        let found = candidates::find(&self.snapshot, &request, &mut scratch.counters)?;
        let _ = self.spare.push(scratch);
        Ok(found)
    }
}

/// Finds the passages that stored documents share, within one snapshot or across two.
pub struct Texts<'a> {
    snapshots: [&'a Snapshot; 2],
    /// The last document of each side.
    last: [Option<LastText>; 2],
    /// The prepared document of the first side. Reused while the document stays the same.
    prepared: Option<(DocAddress, Prepared, QueryInformation)>,
    /// The statistics for rating passages, and how often by chance a passage may be expected.
    rating: Option<(Arc<Chance>, f64)>,
    /// Whether text that most documents have counts as any other text.
    counts_common_text: bool,
    /// Text that counts in neither document.
    boilerplate: Option<&'a Boilerplate>,
    /// The source of memory for documents, if memory is limited.
    memory: Option<StoredMemory>,
}

/// The document that was read last.
struct LastText {
    address: DocAddress,
    text: Arc<AnalyzedText>,
    /// The permit for the text, if memory is limited.
    _room: Option<Permit>,
}

impl std::fmt::Debug for Texts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Texts").finish_non_exhaustive()
    }
}

impl<'a> Texts<'a> {
    /// Creates a reader for a document of `a` and one of `b`. The boilerplate of `a` applies to
    /// both.
    #[must_use]
    pub fn new(a: &'a Searcher, b: &'a Searcher) -> Texts<'a> {
        let boilerplate = a.boilerplate().map(|boilerplate| &**boilerplate);
        let snapshots = [a.snapshot(), b.snapshot()];
        Texts {
            snapshots,
            last: [None, None],
            prepared: None,
            rating: None,
            counts_common_text: false,
            boilerplate,
            memory: None,
        }
    }

    /// Reserves memory for the texts of stored documents from this source.
    #[must_use]
    pub fn within(self, memory: Option<StoredMemory>) -> Texts<'a> {
        Texts { memory, ..self }
    }

    /// Rates passages, and drops passages expected more than `expected_max` times by chance.
    /// `chance` must come from the compared snapshots. Without it, passages are not rated.
    #[must_use]
    pub fn rated(self, chance: Option<Arc<Chance>>, expected_max: f64) -> Texts<'a> {
        Texts { rating: chance.map(|chance| (chance, expected_max)), ..self }
    }

    /// Rates text that most documents have like any other text, for a search for its carriers. By
    /// default such text has no information, because no two documents share it by copying.
    #[must_use]
    pub fn counting_common_text(self) -> Texts<'a> {
        Texts { counts_common_text: true, ..self }
    }

    /// Returns the passages that `a` and `b` share, in the order of `a`.
    ///
    /// # Errors
    /// When a file cannot be read. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn passages(&mut self, a: DocAddress, b: DocAddress, stop: &Stop) -> Result<Passages> {
        let (query, document) = (self.read(0, a, stop)?, self.read(1, b, stop)?);
        let prepared = match self.prepared.take().filter(|(last, ..)| *last == a) {
            Some(prepared) => prepared,
            None => {
                let genre = Genre::of(&self.snapshots[0].config().analyzer);
                let prepared = Prepared::new(query.side(), genre, stop)?;
                let information = match self.counts_common_text {
                    true => QueryInformation::default(),
                    false => QueryInformation::of_pairs(),
                };
                (a, prepared, information)
            }
        };
        let (_, prepared, information) = self.prepared.insert(prepared);
        let found = passages::between_prepared(query.side(), prepared, document.side(), stop)?;
        let Some((chance, expected_max)) = &self.rating else { return Ok(found) };
        let tokens = TextPair::new(&query.tokens, &document.tokens);
        let of_a = chance.has_counted(self.snapshots[0], a)?;
        let of_b = chance.has_counted(self.snapshots[1], b)?;
        let counted = usize::from(of_a) + usize::from(of_b);
        Ok(information.rated(found, chance, *expected_max, tokens, counted))
    }

    /// Returns the passages that a document repeats further on, in its order.
    ///
    /// # Errors
    /// The errors of [`passages`](Self::passages).
    pub fn repeated(&mut self, document: DocAddress, stop: &Stop) -> Result<Passages> {
        // Hidden tokens differ between the two sides, so boilerplate is not a repetition.
        let [one, other] = self.pair(document, document, stop)?;
        passages::repeated(one.side(), other.side(), stop)
    }

    /// Returns the texts of `a` and `b` with hidden boilerplate.
    ///
    /// # Errors
    /// The errors of [`passages`](Self::passages).
    pub fn pair(
        &mut self,
        a: DocAddress,
        b: DocAddress,
        stop: &Stop,
    ) -> Result<[Arc<AnalyzedText>; 2]> {
        Ok([self.read(0, a, stop)?, self.read(1, b, stop)?])
    }

    /// Returns the tokens of the first document of the last pair.
    pub fn query(&self) -> Option<&Tokens> {
        self.last[0].as_ref().map(|last| &last.text.tokens)
    }

    fn read(&mut self, side: usize, address: DocAddress, stop: &Stop) -> Result<Arc<AnalyzedText>> {
        if let Some(last) = self.last[side].as_ref().filter(|last| last.address == address) {
            return Ok(last.text.clone());
        }
        // Free the memory of the last document first.
        self.last[side] = None;
        let snapshot = self.snapshots[side];
        let StoredDocument { text, parts, .. } = snapshot.document(address)?;
        let (text, analyzer) = (text.unwrap_or_default(), snapshot.config().analyzer.of_passages());
        let tokens = snapshot.segment(address).signatures.document(address.doc)?.tokens;
        let room = self.memory.as_ref().map(|memory| {
            memory.reserve(address, &analyzer, text.len(), tokens, DOCUMENT_TOKEN_BYTES)
        });
        // The first permit is dropped once the text is split.
        let [_scratch, room] = room.transpose()?.unwrap_or_default();
        let mut text = AnalyzedText::new(text, &analyzer, stop)?.with_parts(parts);
        if let Some(boilerplate) = self.boilerplate {
            let place = [Place::Query, Place::Document][side];
            boilerplate.hide(&text.text, &mut text.tokens, place);
        }
        let text = Arc::new(text);
        self.last[side] = Some(LastText { address, text: text.clone(), _room: room });
        Ok(text)
    }
}
