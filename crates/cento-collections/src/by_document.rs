//! Iterates over the documents of a collection, with the pairs of each document.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::PairOptions;
use super::connect::Connect;
use super::contenders::Contenders;
use super::numbering::Numbering;
use super::pair::Pair;
use super::pair_search::{PairConditions, PairSearch, PairTexts};
use super::score::PairScores;
use cento::search::{Chance, QueryMemory, Searcher, StoredMemory, Texts};
use cento_api::MAX_EXPECTED;
use cento_api::error::{Error, Result};
use cento_text::runtime::Stop;
use cento_text::runtime::ordered::OrderedResults;

#[derive(Debug, Clone)]
pub(super) struct Join {
    pub searcher: Searcher,
    pub against: Option<Searcher>,
    pub options: PairOptions,
    pub threads: usize,
    pub stop: Stop,
    pub documents: Range<u64>,
    pub memory: Option<QueryMemory>,
    /// The law that tells chance passages from evidence, computed when first needed.
    pub chance: Arc<OnceLock<Option<Arc<Chance>>>>,
    /// What to find out about the documents that pairs connect.
    pub connect: Connect,
}

impl Join {
    /// Returns the law that rates passages as chance or evidence, or `None` without texts.
    fn chance(&self) -> Result<Option<Arc<Chance>>> {
        let Some(against) = &self.against else { return self.searcher.chance(&self.stop) };
        if let Some(chance) = self.chance.get() {
            return Ok(chance.clone());
        }
        let both = [self.searcher.snapshot(), against.snapshot()];
        let chance = Chance::of(&both, &self.stop)?.map(Arc::new);
        Ok(self.chance.get_or_init(|| chance).clone())
    }

    /// Leaves out the parts of the texts that the options name.
    ///
    /// # Errors
    /// When an index stores no texts.
    pub fn leave_out_parts(&mut self) -> Result<()> {
        let parts = &self.options.without;
        self.searcher = self.searcher.without(parts)?.into_owned();
        if let Some(against) = &self.against {
            self.against = Some(against.without(parts)?.into_owned());
        }
        Ok(())
    }

    /// Returns a reader of the texts of pairs, which rates their passages.
    ///
    /// # Errors
    /// When a document cannot be read; [`Error::Cancelled`] after the join was stopped.
    pub fn texts(&self) -> Result<Texts<'_>> {
        let texts = Texts::new(&self.searcher, self.other()).within(self.stored_memory());
        Ok(texts.rated(self.chance()?, self.options.max_expected.unwrap_or(MAX_EXPECTED)))
    }

    /// Returns the searcher that finds the second document of a pair.
    pub fn other(&self) -> &Searcher {
        self.against.as_ref().unwrap_or(&self.searcher)
    }

    /// Returns the source of memory for archived documents, if the memory is bounded.
    pub fn stored_memory(&self) -> Option<StoredMemory> {
        let memory = self.memory.clone()?;
        let numbering = Numbering::new(self.searcher.snapshot());
        let has_archive = self.documents.end < numbering.end();
        has_archive.then(|| StoredMemory { memory, first: numbering.address(self.documents.end) })
    }

    /// Starts finding the pairs of each document, in stored order.
    pub fn start(&self, wanted: PairConditions) -> PairsByDocument {
        let (join, threads, memory) = (self.clone(), self.threads, self.stored_memory());
        let begun = Arc::<OnceLock<PairState>>::default();
        let to_fill = begun.clone();
        let found = OrderedResults::start(threads, &self.stop, move |stop, begin| {
            let Join { searcher, against, documents, .. } = &join;
            let chance = if wanted.passages { join.chance()? } else { None };
            let texts = PairTexts::new(searcher, against.as_ref(), &wanted, memory, chance);
            let search = PairSearch::new(searcher, &texts, &wanted, threads, stop)?;
            let documents_without_field = search.documents_without_field();
            let summary = JoinSummary { documents_without_field, estimated_pairs: 0 };
            let _ = to_fill.set(PairState { summary, scores: search.scores() });
            let end = search.end().min(documents.end);
            begin(documents.start.min(end)..end, &|number| search.contenders(number));
            Ok(())
        });
        PairsByDocument { found: PairsState::Begun(found), begun }
    }
}

/// The pairs of one document.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DocumentPairs {
    /// The number of the next document, where an interrupted search can resume
    /// ([`Pairs::documents`](super::pairs::Pairs::documents)).
    pub next: u64,
    /// The pairs that this document reports. A pair is reported by one document only.
    pub pairs: Vec<Pair>,
}

/// Iterator over the documents of a collection with their pairs, made by
/// [`Pairs::by_document`](super::pairs::Pairs::by_document).
#[must_use = "an iterator finds nothing before the first call of `next`"]
pub struct PairsByDocument {
    found: PairsState,
    begun: Arc<OnceLock<PairState>>,
}

/// Facts that a search knows before its first document.
struct PairState {
    summary: JoinSummary,
    scores: Option<Arc<PairScores>>,
}

enum PairsState {
    Refused(Option<Error>),
    Begun(OrderedResults<Contenders>),
}

impl std::fmt::Debug for PairsByDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PairsByDocument").finish_non_exhaustive()
    }
}

impl PairsByDocument {
    /// Returns an iterator that gives only this error.
    pub(super) fn refused(error: Error) -> PairsByDocument {
        PairsByDocument { found: PairsState::Refused(Some(error)), begun: Arc::default() }
    }

    /// Returns the number of the next document with its pairs, including pairs to count only.
    pub(super) fn next_found(&mut self) -> Option<Result<(u64, Contenders)>> {
        match &mut self.found {
            PairsState::Refused(error) => error.take().map(Err),
            PairsState::Begun(found) => found.next(),
        }
    }

    /// Returns facts about the collection, empty before the first document.
    #[must_use]
    pub fn summary(&self) -> JoinSummary {
        self.begun.get().map(|begun| begun.summary).unwrap_or_default()
    }

    /// Returns the scores of pairs, if scores are wanted and the search has begun.
    pub(super) fn scores(&self) -> Option<Arc<PairScores>> {
        self.begun.get()?.scores.clone()
    }
}

impl Iterator for PairsByDocument {
    type Item = Result<DocumentPairs>;

    fn next(&mut self) -> Option<Result<DocumentPairs>> {
        let found = self.next_found()?;
        Some(found.map(|(number, found)| DocumentPairs { next: number + 1, pairs: found.pairs }))
    }
}

/// Facts about a collection that a join finds out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JoinSummary {
    /// Documents without the field of the scope. They are in no series, so they pair with every
    /// document across series and with nothing within a series.
    pub documents_without_field: u64,
    /// Pairs of a new and an archived document that were compared by their fingerprints alone,
    /// because enough archived documents resemble the new document more.
    pub estimated_pairs: u64,
}
