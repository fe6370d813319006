//! The runs of stored texts, which give exact similarities.
//!
//! A text is read, split into tokens and hashed once while it is in use: the least recently used
//! sets are evicted.

use std::ops::Range;
use std::sync::Arc;

use super::boilerplate::Boilerplate;
use super::memory::{RUN_TOKEN_BYTES, StoredMemory};
use super::searcher::Searcher;
use crate::compare::programs::ProgramRuns;
use crate::compare::runs::{ProgramWords, RunSet, Runs};
use crate::error::Result;
use crate::index::{AnalyzedDocument, ByteLru, Config, DocAddress, InMemory, LruShare, Snapshot};
use crate::overlap::Overlap;
use crate::runtime::{Permit, Stop};
use crate::scheme::RUN_TOKENS;
use crate::text::written::own_words;
use crate::text::{Analyzer, Tokens};

/// The bytes of cached sets.
const KEPT_BYTES: usize = 64 << 20;

impl InMemory for RunSet {
    fn memory_bytes(&self) -> usize {
        self.bytes()
    }
}

impl InMemory for ProgramRuns {
    fn memory_bytes(&self) -> usize {
        self.bytes()
    }
}

/// Makes sets of runs with the measures of an index with this configuration.
#[derive(Debug, Clone)]
pub struct RunMaker {
    analyzer: Analyzer,
    k: usize,
    /// Text whose runs do not count.
    boilerplate: Option<Arc<Boilerplate>>,
    /// Whether the runs use other tokens than the fingerprints.
    has_other_tokens: bool,
}

impl RunMaker {
    /// Returns the maker of the run sets that decide whether a text is removed as a duplicate. No
    /// word is left out, even if the analyzer of the index leaves words out to find texts.
    ///
    /// The runs have the length of the scheme. That length counts tokens of the analyzer of the
    /// index, so runs of another analyzer have the length of the default scheme. Programs are
    /// measured by their code, and their words are compared in addition ([`ProgramWords`]).
    pub fn of_verdicts(config: &Config, boilerplate: Option<Arc<Boilerplate>>) -> RunMaker {
        let analyzer = match config.analyzer.is_of_programs() {
            true => config.analyzer.clone(),
            false => config.analyzer.of_all_words(),
        };
        let has_other_tokens = analyzer != config.analyzer;
        let k = config.scheme.run_tokens().filter(|_| !has_other_tokens).unwrap_or(RUN_TOKENS);
        RunMaker { analyzer, k, boilerplate, has_other_tokens }
    }

    /// Returns the analyzer that makes the tokens of the runs.
    pub fn analyzer(&self) -> &Analyzer {
        &self.analyzer
    }

    /// Returns the number of tokens of a run.
    pub fn run_tokens(&self) -> usize {
        self.k
    }

    /// Returns whether the runs use other tokens than the fingerprints.
    pub fn has_other_tokens(&self) -> bool {
        self.has_other_tokens
    }

    /// Makes the set of `text`.
    ///
    /// # Errors
    /// When the text is too large. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn of_text(&self, text: &str, stop: &Stop) -> Result<RunSet> {
        match &self.boilerplate {
            _ if self.analyzer.is_of_programs() => {
                let mut tokens = Tokens::default();
                self.analyzer.analyze(text, &mut tokens, stop)?;
                Ok(self.of_tokens(text, &tokens))
            }
            None => RunSet::of_text(text, &self.analyzer, self.k, |_| false, stop),
            Some(boilerplate) if self.has_other_tokens || boilerplate.depends_on_texts() => {
                let mut tokens = Tokens::default();
                self.analyzer.analyze(text, &mut tokens, stop)?;
                let mask = boilerplate.mask_of_any(text, &tokens, stop)?;
                let left_out = self.runs_in(&tokens.hashes, &mask);
                Ok(RunSet::without(&tokens.hashes, self.k, |hash| left_out.has(hash)))
            }
            Some(boilerplate) => {
                let is_left_out = |hash| boilerplate.has_run(hash);
                RunSet::of_text(text, &self.analyzer, self.k, is_left_out, stop)
            }
        }
    }

    /// Returns the runs that lie completely within one of the ranges of tokens.
    fn runs_in(&self, tokens: &[u64], ranges: &[Range<usize>]) -> Runs {
        let mut runs = Runs::new(self.k);
        ranges.iter().for_each(|range| runs.add(&tokens[range.clone()]));
        runs
    }

    /// Counts the common runs of a text and a document, and the runs of either side. The document
    /// must have tokens of this maker. The distinct runs of the document are counted once and
    /// cached.
    pub(super) fn overlap(&self, own: &RunSet, document: &AnalyzedDocument) -> Overlap {
        let known = document.distinct_runs.get().filter(|_| self.boilerplate.is_none());
        let hashes = &document.tokens.hashes;
        if let Some(overlap) = known.and_then(|&count| own.overlap_with(hashes, self.k, count)) {
            return overlap;
        }
        let other = self.of_tokens(&document.text, &document.tokens);
        if self.boilerplate.is_none() {
            document.distinct_runs.get_or_init(|| other.count());
        }
        own.overlap(&other)
    }

    /// Makes the set of `text` from its tokens.
    pub fn of_tokens(&self, text: &str, tokens: &Tokens) -> RunSet {
        if self.analyzer.is_of_programs() {
            let boilerplate = self.boilerplate.as_ref();
            let masked = boilerplate.map(|own| own.mask_as_signed(text, tokens));
            let masked = masked.unwrap_or_default();
            let own = own_words(text, tokens, &masked);
            let program = ProgramWords { tokens: tokens.hashes.len() as u32, own };
            return RunSet::of_program(&tokens.hashes, self.k, &masked, program);
        }
        let hashes = &tokens.hashes;
        match &self.boilerplate {
            None => RunSet::new(hashes, self.k),
            Some(boilerplate) if boilerplate.depends_on_texts() => {
                let left_out = self.runs_in(hashes, &boilerplate.mask_as_signed(text, tokens));
                RunSet::without(hashes, self.k, |hash| left_out.has(hash))
            }
            Some(boilerplate) => RunSet::without(hashes, self.k, |hash| boilerplate.has_run(hash)),
        }
    }
}

/// Reads the text of a document.
type ReadText<'a> = Box<dyn Fn(DocAddress) -> Result<String> + Send + Sync + 'a>;

/// Makes the run set of a document.
type MakeRuns<'a> = Box<dyn Fn(DocAddress, &RunMaker, &Stop) -> Result<RunSet> + Send + Sync + 'a>;

/// Reads the run sets of the documents of a snapshot.
pub struct StoredRuns<'a> {
    make: MakeRuns<'a>,
    maker: RunMaker,
    /// By segment, its sets in the cache.
    kept: Vec<LruShare<RunSet>>,
}

impl std::fmt::Debug for StoredRuns<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredRuns").finish_non_exhaustive()
    }
}

impl Searcher {
    /// Returns the maker of the run sets that decide the similarity of two available texts. `None`
    /// if the scheme measures no runs, or if boilerplate has unknown runs.
    pub fn run_maker(&self) -> Option<RunMaker> {
        let config = self.snapshot().config();
        let k = config.scheme.compared_run_tokens(config.analyzer.is_of_programs())?;
        let (boilerplate, analyzer) = (self.known_boilerplate()?, config.analyzer.clone());
        Some(RunMaker { analyzer, k, boilerplate, has_other_tokens: false })
    }

    /// Returns the maker of the run sets that decide whether a text is removed
    /// ([`RunMaker::of_verdicts`]). `None` if boilerplate has unknown runs.
    pub fn verdict_maker(&self) -> Option<RunMaker> {
        Some(RunMaker::of_verdicts(self.snapshot().config(), self.known_boilerplate()?))
    }

    /// Returns the boilerplate, if any, or the outer `None` if its runs are unknown.
    fn known_boilerplate(&self) -> Option<Option<Arc<Boilerplate>>> {
        let boilerplate = self.boilerplate().cloned();
        let is_known = boilerplate.as_ref().is_none_or(|boilerplate| boilerplate.knows_runs());
        is_known.then_some(boilerplate)
    }

    /// Returns whether the texts of the documents are stored.
    pub fn stores_texts(&self) -> bool {
        self.snapshot().config().store_text
    }

    /// Returns whether run sets of stored texts are available.
    pub(super) fn can_read_runs(&self) -> bool {
        self.snapshot().config().store_text && self.run_maker().is_some()
    }

    /// Returns the reader of the run sets of stored texts. `None` without a maker, or if no texts
    /// are stored. `kept` caches the sets. If memory is limited, the memory for a text is reserved
    /// while its set is made.
    pub fn stored_runs(
        &self,
        maker: Option<RunMaker>,
        kept: &Arc<ByteLru<RunSet>>,
        memory: Option<StoredMemory>,
    ) -> Option<StoredRuns<'_>> {
        let make = move |address: DocAddress, maker: &RunMaker, stop: &Stop| {
            let (text, _rooms) = self.text_within(address, memory.as_ref())?;
            maker.of_text(&text, stop)
        };
        self.stored_runs_by(maker, Box::new(make), kept)
    }

    /// Reads the text of a document, and reserves memory for its runs.
    ///
    /// # Errors
    /// When the text cannot be read, or not enough memory is left.
    pub fn text_within(
        &self,
        address: DocAddress,
        memory: Option<&StoredMemory>,
    ) -> Result<(String, [Option<Permit>; 2])> {
        let snapshot = self.snapshot();
        let text = snapshot.text(address)?.unwrap_or_default();
        let tokens = snapshot.segment(address).signatures.document(address.doc)?.tokens;
        let rooms = memory.map(|memory| {
            let analyzer = &snapshot.config().analyzer;
            memory.reserve(address, analyzer, text.len(), tokens, RUN_TOKEN_BYTES)
        });
        Ok((text, rooms.transpose()?.unwrap_or_default()))
    }

    /// Like [`stored_runs`](Self::stored_runs), but with sets made by `make`.
    pub fn stored_runs_by<'a>(
        &self,
        maker: Option<RunMaker>,
        make: MakeRuns<'a>,
        kept: &Arc<ByteLru<RunSet>>,
    ) -> Option<StoredRuns<'a>> {
        let maker = maker.filter(|_| self.snapshot().config().store_text)?;
        Some(StoredRuns::by(self.snapshot(), maker, make, kept))
    }
}

/// Creates a cache of run sets.
pub fn kept_runs() -> Arc<ByteLru<RunSet>> {
    Arc::new(ByteLru::new(KEPT_BYTES))
}

impl<'a> StoredRuns<'a> {
    /// Creates a reader of run sets for the documents of `snapshot`, whose texts `read` returns.
    /// `kept` caches the sets.
    pub fn new(
        snapshot: &Snapshot,
        maker: RunMaker,
        read: ReadText<'a>,
        kept: &Arc<ByteLru<RunSet>>,
    ) -> StoredRuns<'a> {
        let make =
            move |address, maker: &RunMaker, stop: &Stop| maker.of_text(&read(address)?, stop);
        StoredRuns::by(snapshot, maker, Box::new(make), kept)
    }

    fn by(
        snapshot: &Snapshot,
        maker: RunMaker,
        make: MakeRuns<'a>,
        kept: &Arc<ByteLru<RunSet>>,
    ) -> StoredRuns<'a> {
        let kept = snapshot.segments().iter().map(|_| kept.share()).collect();
        StoredRuns { make, maker, kept }
    }

    /// Returns the maker of the sets.
    pub fn maker(&self) -> &RunMaker {
        &self.maker
    }

    /// Returns the runs of the document at `address`.
    ///
    /// # Errors
    /// When a file cannot be read. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn of(&self, address: DocAddress, stop: &Stop) -> Result<Arc<RunSet>> {
        self.kept[address.segment as usize]
            .get(address.doc, || (self.make)(address, &self.maker, stop))
    }
}
