//! Finds text of a withdrawn document in other texts.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::verify::{OWN_WORDS_OF_DUPLICATE, share_words};
use cento::index::Config;
use cento::search::RunMaker;
use cento_api::QuotingDocument;
use cento_api::error::Result;
use cento_text::compare::passages::{self, Genre, Prepared};
use cento_text::compare::runs::{RunSet, Runs};
use cento_text::runtime::Stop;
use cento_text::text::ranges::joined;
use cento_text::text::{Analyzer, Side, Tokens};

/// Shared runs with fewer tokens are chance.
const SHORT_TOKENS: usize = 5;

/// The text of a withdrawn document, prepared for comparison.
pub struct Source {
    text: String,
    /// Makes the runs for comparing resemblance, and the runs of the withdrawn text.
    maker: RunMaker,
    runs: RunSet,
    shared: Runs,
    /// The analyzer for passages, if it differs from the analyzer for runs.
    of_passages: Option<Analyzer>,
    genre: Genre,
    /// The tokens of the text for passages.
    tokens: Tokens,
    least: f64,
    min_passage: u32,
    /// Runs as long as a passage, or as the text if that is shorter.
    long: Runs,
    short: Runs,
    /// A pool of aligners, each in use by one thread at a time.
    prepared: Mutex<Vec<Prepared>>,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").finish_non_exhaustive()
    }
}

impl Source {
    /// Prepares a text. Copies have at least the resemblance `least`, passages at least
    /// `min_passage` tokens, with a default by genre.
    ///
    /// # Errors
    /// When the text is too large. [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
    pub fn new(
        text: String,
        config: &Config,
        least: f64,
        min_passage: Option<u32>,
        stop: &Stop,
    ) -> Result<Source> {
        let maker = RunMaker::of_verdicts(config, None);
        let of_passages = config.analyzer.of_passages().of_all_words();
        let of_passages = Some(of_passages).filter(|other| other != maker.analyzer());
        let genre = Genre::of(&config.analyzer);
        let mut tokens = Tokens::default();
        maker.analyzer().analyze(&text, &mut tokens, stop)?;
        let mut shared = Runs::new(maker.run_tokens());
        shared.add(&tokens.hashes);
        let runs = maker.of_tokens(&text, &tokens);
        if let Some(other) = &of_passages {
            other.analyze(&text, &mut tokens, stop)?;
        }
        let default = match genre {
            Genre::Prose | Genre::Scan => super::PASSAGE_TOKENS,
            Genre::Program => super::PROGRAM_PASSAGE_TOKENS,
        };
        let min_passage = min_passage.unwrap_or(default);
        let runs_of = |k| {
            let mut runs = Runs::new(k);
            runs.add(&tokens.hashes);
            runs
        };
        let long = (min_passage as usize).min(tokens.hashes.len()).max(SHORT_TOKENS);
        let (long, short) = (runs_of(long), runs_of(SHORT_TOKENS));
        let prepared = Mutex::default();
        Ok(Source {
            text,
            maker,
            runs,
            shared,
            of_passages,
            genre,
            tokens,
            least,
            min_passage,
            long,
            short,
            prepared,
        })
    }

    /// Returns the minimum length of a passage, in tokens.
    pub fn min_passage(&self) -> u32 {
        self.min_passage
    }

    /// Tells whether another text may have text of the withdrawn document, because they share a
    /// run.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn may_be_in(&self, text: &str, tokens: &mut Tokens, stop: &Stop) -> Result<bool> {
        self.maker.analyzer().analyze(text, tokens, stop)?;
        if !self.shared.mask(&tokens.hashes).is_empty() {
            return Ok(true);
        }
        if let Some(other) = &self.of_passages {
            other.analyze(text, tokens, stop)?;
        }
        Ok(!self.short.mask(&tokens.hashes).is_empty())
    }

    /// Returns the resemblance of a text, 0 to 1, and whether the text is a copy. A program must
    /// share words as well to be a copy.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn resemblance(&self, text: &str, stop: &Stop) -> Result<(f64, bool)> {
        let runs = self.maker.of_text(text, stop)?;
        let resemblance = self.runs.overlap(&runs).resemblance();
        let is_evident = || match self.runs.program().zip(runs.program()) {
            Some((own, other)) => share_words(own, other, OWN_WORDS_OF_DUPLICATE),
            None => true,
        };
        Ok((resemblance, resemblance >= self.least && is_evident()))
    }

    /// Returns the passages of a text that quote the withdrawn text, word for word or edited. The
    /// caller fills in id, digest and the time of addition.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn quoted_in(&self, text: &str, stop: &Stop) -> Result<QuotingDocument> {
        let mut tokens = Tokens::default();
        let by = self.of_passages.as_ref().unwrap_or(self.maker.analyzer());
        by.analyze(text, &mut tokens, stop)?;
        let (mut ranges, is_complete) = self.edited_in(text, &tokens, stop)?;
        ranges.extend(self.long.mask(&tokens.hashes));
        ranges.sort_unstable_by_key(|range| range.start);
        let ranges = joined(ranges);
        Ok(QuotingDocument {
            id: String::new(),
            digest: String::new(),
            tokens: tokens.hashes.len() as u32,
            quoted_tokens: ranges.iter().map(|range| range.len() as u32).sum(),
            passages: in_bytes(&tokens, &ranges),
            added_earlier: false,
            cut_short: !is_complete,
        })
    }

    /// Finds passages that may have been edited, as ranges of the tokens of a text. Returns whether
    /// the search was complete.
    fn edited_in(
        &self,
        text: &str,
        tokens: &Tokens,
        stop: &Stop,
    ) -> Result<(Vec<Range<usize>>, bool)> {
        if self.short.mask(&tokens.hashes).is_empty() {
            return Ok((Vec::new(), true));
        }
        // Without parts, because a quotation may span several parts.
        let own = Side { text: &self.text, tokens: &self.tokens, parts: &[] };
        let lock = || self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = lock().pop();
        let prepared = match kept {
            Some(prepared) => prepared,
            None => Prepared::new(own, self.genre, stop)?,
        };
        let other = Side { text, tokens, parts: &[] };
        let aligned = passages::between_prepared(own, &prepared, other, stop)?;
        lock().push(prepared);
        let long = aligned.found.iter().filter(|passage| passage.tokens >= self.min_passage);
        let ranges = long.map(|passage| {
            let range = passages::tokens_in(tokens, passage.b);
            range.start as usize..range.end as usize
        });
        Ok((ranges.filter(|range| !range.is_empty()).collect(), aligned.complete))
    }
}

/// Returns the bytes of token ranges as ranges that do not overlap.
fn in_bytes(tokens: &Tokens, ranges: &[Range<usize>]) -> Vec<(u32, u32)> {
    let mut bytes: Vec<(u32, u32)> = Vec::new();
    for range in ranges {
        let (start, end) = passages::bytes(tokens, range);
        // In scripts without spaces, tokens are overlapping pairs of letters.
        let start = start.max(bytes.last().map_or(0, |last| last.1));
        bytes.push((start, end.max(start)));
    }
    bytes
}
