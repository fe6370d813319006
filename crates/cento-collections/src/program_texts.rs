//! Reads and keeps the runs of the programs of an index.
//!
//! Parsing takes most of the time of comparing a program. Where pairs are decided by texts and have
//! scores too, a program is parsed once for both purposes.

use std::sync::Arc;

use cento::index::{ByteLru, DocAddress, LruShare};
use cento::search::{RunMaker, Searcher, StoredMemory};
use cento_api::error::Result;
use cento_text::compare::programs::ProgramRuns;
use cento_text::compare::runs::RunSet;
use cento_text::runtime::{Permit, Stop};
use cento_text::text::Tokens;

/// The memory for kept runs, in bytes, enough for 50,000 typical programs.
const KEPT_BYTES: usize = 128 << 20;

/// The texts of the programs of an index.
pub(super) struct ProgramTexts {
    searcher: Searcher,
    /// By segment, its runs in a cache that may serve two indexes.
    kept: Vec<LruShare<ProgramRuns>>,
    /// The source of the memory for texts. `None` means unbounded.
    memory: Option<StoredMemory>,
}

impl ProgramTexts {
    fn new(
        searcher: &Searcher,
        kept: &Arc<ByteLru<ProgramRuns>>,
        memory: Option<StoredMemory>,
    ) -> ProgramTexts {
        let kept = searcher.snapshot().segments().iter().map(|_| kept.share()).collect();
        ProgramTexts { searcher: searcher.clone(), kept, memory }
    }

    pub fn searcher(&self) -> &Searcher {
        &self.searcher
    }

    /// Returns the runs of a program for its scores.
    ///
    /// # Errors
    /// When the text cannot be read. [`Error::Cancelled`](cento::Error::Cancelled) soon after
    /// `stop`.
    pub fn runs(&self, address: DocAddress, stop: &Stop) -> Result<Arc<ProgramRuns>> {
        self.kept[address.segment as usize].get(address.doc, || {
            let (text, tokens, _rooms) = self.read(address, stop)?;
            self.made(&text, &tokens, stop)
        })
    }

    /// Returns the runs of a program by `maker` for comparing texts, and keeps the runs for its
    /// scores.
    ///
    /// # Errors
    /// As [`runs`](Self::runs).
    pub fn set(&self, address: DocAddress, maker: &RunMaker, stop: &Stop) -> Result<RunSet> {
        let (text, tokens, _rooms) = self.read(address, stop)?;
        self.kept[address.segment as usize].get(address.doc, || self.made(&text, &tokens, stop))?;
        Ok(maker.of_tokens(&text, &tokens))
    }

    /// Returns the text of a program, its tokens, and the permits for their memory, if it is
    /// bounded.
    fn read(
        &self,
        address: DocAddress,
        stop: &Stop,
    ) -> Result<(String, Tokens, [Option<Permit>; 2])> {
        let (text, rooms) = self.searcher.text_within(address, self.memory.as_ref())?;
        let mut tokens = Tokens::default();
        self.searcher.snapshot().config().analyzer.analyze(&text, &mut tokens, stop)?;
        Ok((text, tokens, rooms))
    }

    fn made(&self, text: &str, tokens: &Tokens, stop: &Stop) -> Result<ProgramRuns> {
        let masked = match self.searcher.boilerplate() {
            Some(boilerplate) => boilerplate.mask_as_signed(text, tokens),
            None => Vec::new(),
        };
        ProgramRuns::of_tokens(text, tokens, &masked, stop)
    }
}

/// The texts of the programs of one index, or of two.
#[derive(Clone)]
pub(super) struct ScoredTexts {
    pub a: Arc<ProgramTexts>,
    /// The texts of the second index. `None` if there is only one index.
    pub b: Option<Arc<ProgramTexts>>,
}

impl ScoredTexts {
    /// Opens the texts of the programs of `searcher` and of `against`. `memory` bounds the memory
    /// for the texts of `searcher`.
    pub fn new(
        searcher: &Searcher,
        against: Option<&Searcher>,
        memory: Option<StoredMemory>,
    ) -> ScoredTexts {
        let kept = Arc::new(ByteLru::new(KEPT_BYTES));
        let of = |searcher, memory| Arc::new(ProgramTexts::new(searcher, &kept, memory));
        ScoredTexts { a: of(searcher, memory), b: against.map(|against| of(against, None)) }
    }

    /// Returns the texts for the second program of a pair.
    pub fn other(&self) -> &Arc<ProgramTexts> {
        self.b.as_ref().unwrap_or(&self.a)
    }
}
