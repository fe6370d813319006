//! The text that is withdrawn, and what another text has of it.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::cutting::Cutting;
use crate::ranges::{joined, without};
use crate::verify::{OWN_WORDS_OF_DUPLICATE, share_words};
use cento::index::Config;
use cento::search::RunMaker;
use cento_api::error::Result;
use cento_text::compare::measure::overlap::stretches;
use cento_text::compare::passages::{self, Genre, Prepared};
use cento_text::compare::runs::{self, Place, RunSet, Runs};
use cento_text::runtime::Stop;
use cento_text::text::{Analyzer, Side, Tokens};

/// Shorter runs of tokens in common are chance.
const SHORT_TOKENS: usize = 5;

/// The maximum number of times that a text is searched for edited passages, which may come together
/// where others were cut out between them.
const SEARCHES_MAX: usize = 16;

/// The text of a withdrawn document.
pub struct Source {
    text: String,
    /// The maker of the runs that are compared for resemblance, and those of this text.
    maker: RunMaker,
    runs: RunSet,
    shared: Runs,
    /// The analyzer whose tokens passages are made of, if it is another than that of the runs.
    of_passages: Option<Analyzer>,
    genre: Genre,
    /// The tokens of passages; those of earlier documents are hidden.
    tokens: Tokens,
    /// The same tokens, without hidden ones.
    unhidden: Vec<u64>,
    least: f64,
    passage_tokens: usize,
    /// All runs of that length, those of them that earlier documents have, and all short runs.
    all: Runs,
    earlier: Runs,
    short: Runs,
    /// The whole text, if it is shorter than a passage and no chance.
    whole: Option<Runs>,
    /// Each is used by one thread at a time.
    prepared: Mutex<Vec<Prepared>>,
}

/// What a text has of the withdrawn one.
#[derive(Debug, Default)]
pub struct Found {
    /// The resemblance of the texts.
    pub resemblance: f64,
    /// Whether it is a copy.
    pub is_copy: bool,
    /// The tokens of the text.
    pub tokens: u32,
    /// The bytes to cut.
    pub cuts: Vec<(u32, u32)>,
    /// The tokens that are cut.
    pub cut_tokens: u32,
    /// The text that is left, if anything is cut.
    pub left: Option<String>,
    /// Tokens that stay because an earlier document has them.
    pub earlier_tokens: u32,
    /// Tokens that stay because they were edited too much.
    pub edited_tokens: u32,
    /// Whether all edited passages were found.
    pub is_complete: bool,
    /// The longest stretch of runs that stays because it is shorter than a passage.
    pub shorter_tokens: u32,
    /// Whether it has the whole text, which is shorter than a passage.
    pub has_whole: bool,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").finish_non_exhaustive()
    }
}

impl Source {
    /// Makes the source of a text: copies have the resemblance `least`, passages the given number
    /// of tokens; `None` for the default.
    ///
    /// # Errors
    /// When the text is too large; [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
    pub fn new(
        text: String,
        config: &Config,
        (least, passage_tokens): (f64, Option<u32>),
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
            Genre::Prose => super::PASSAGE_TOKENS,
            Genre::Program => super::PROGRAM_PASSAGE_TOKENS,
        };
        let passage_tokens = passage_tokens.unwrap_or(default) as usize;
        let runs_of = |k| {
            let mut runs = Runs::new(k);
            runs.add(&tokens.hashes);
            runs
        };
        let (all, short) = (runs_of(passage_tokens), runs_of(SHORT_TOKENS));
        let count = tokens.hashes.len();
        let whole = (SHORT_TOKENS..passage_tokens).contains(&count).then(|| runs_of(count));
        Ok(Source {
            earlier: Runs::new(passage_tokens),
            all,
            short,
            whole,
            unhidden: tokens.hashes.clone(),
            text,
            maker,
            runs,
            shared,
            of_passages,
            genre,
            tokens,
            least,
            passage_tokens,
            prepared: Mutex::default(),
        })
    }

    /// Returns the minimum length of a passage, in tokens.
    pub fn passage_tokens(&self) -> usize {
        self.passage_tokens
    }

    /// Returns the number of tokens.
    pub fn tokens(&self) -> usize {
        self.tokens.hashes.len()
    }

    /// Hides the tokens of these passages, each of an earlier document: they are not cut.
    pub fn hide(&mut self, earlier: &[Range<usize>]) {
        runs::hide(&mut self.tokens.hashes, earlier, Place::Query);
        for range in earlier {
            self.earlier.add(&self.unhidden[range.clone()]);
        }
        self.prepared = Mutex::default();
    }

    /// Returns the tokens of a text that are in passages of this one and in none of an earlier
    /// document. A few tokens beside such a passage may follow it by chance.
    fn own_in(&self, tokens: &[u64]) -> Vec<Range<usize>> {
        let own = without(&self.all.mask(tokens), &self.earlier.mask(tokens));
        own.into_iter().filter(|range| range.len() >= SHORT_TOKENS).collect()
    }

    /// Returns whether a text may have anything of this one: a run in common.
    ///
    /// # Errors
    /// As [`new`](Self::new).
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

    /// Returns the resemblance of a text, 0 to 1, and whether it is a copy: a program is one only
    /// if it shares words, too.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn resemblance(&self, text: &str, stop: &Stop) -> Result<(f64, bool)> {
        let runs = self.maker.of_text(text, stop)?;
        let resemblance = self.runs.overlap(&runs).resemblance();
        let is_evident = || match self.runs.program().zip(runs.program()) {
            Some((own, other)) => share_words(own, other, OWN_WORDS_OF_DUPLICATE),
            None => true,
        };
        Ok((resemblance, resemblance >= self.least && is_evident()))
    }

    /// Returns the tokens of this text, hidden ones included, in passages that another one has too.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn in_passages_of(&self, text: &str, stop: &Stop) -> Result<Vec<Range<usize>>> {
        let other = self.tokens_of(text, stop)?;
        if self.all.mask(&other.hashes).is_empty() {
            return Ok(Vec::new());
        }
        stretches(&self.unhidden, &other.hashes, self.passage_tokens, stop)
    }

    /// Returns what a text has of this one.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn found_in(&self, text: &str, stop: &Stop) -> Result<Found> {
        let mut cutting = Cutting::new(text);
        let mut tokens = self.tokens_of(text, stop)?;
        let before = tokens.hashes.len();
        let (resemblance, is_copy) = self.resemblance(text, stop)?;
        let mut found = Found {
            resemblance,
            is_copy,
            tokens: before as u32,
            is_complete: true,
            ..Found::default()
        };
        let mut edited = Vec::new();
        let mut searches = 0;
        loop {
            // Each round cuts a passage at least, so that their number is bounded.
            stop.check()?;
            let mut ranges = self.own_in(&tokens.hashes);
            if ranges.is_empty() {
                let aligned = self.edited_in(&cutting.text, &tokens, stop)?;
                found.is_complete = aligned.is_complete;
                (ranges, edited) = (aligned.alike, aligned.others);
                searches += 1;
            }
            if ranges.is_empty() {
                break;
            }
            let has_cut = cutting.cut(&in_bytes(&tokens, &ranges));
            tokens = self.tokens_of(&cutting.text, stop)?;
            if !has_cut || searches == SEARCHES_MAX {
                // Tokens without a letter of their own, or passages upon passages.
                found.is_complete = false;
                break;
            }
        }
        let count = |ranges: &[Range<usize>]| ranges.iter().map(|r| r.len() as u32).sum();
        found.edited_tokens = count(&edited);
        found.earlier_tokens = count(&self.earlier.mask(&tokens.hashes));
        let short = self.short.mask(&tokens.hashes);
        found.shorter_tokens = short.iter().map(|range| range.len() as u32).max().unwrap_or(0);
        let whole = self.whole.as_ref();
        found.has_whole = whole.is_some_and(|whole| !whole.mask(&tokens.hashes).is_empty());
        found.cuts = cutting.cuts();
        if !found.cuts.is_empty() {
            found.cut_tokens = before.saturating_sub(tokens.hashes.len()) as u32;
            found.left = Some(cutting.text);
        }
        Ok(found)
    }

    fn tokens_of(&self, text: &str, stop: &Stop) -> Result<Tokens> {
        let mut tokens = Tokens::default();
        let by = self.of_passages.as_ref().unwrap_or(self.maker.analyzer());
        by.analyze(text, &mut tokens, stop)?;
        Ok(tokens)
    }

    /// Finds passages that were edited, in a text without passages that are word for word.
    fn edited_in(&self, text: &str, tokens: &Tokens, stop: &Stop) -> Result<Edited> {
        if self.short.mask(&tokens.hashes).is_empty() {
            return Ok(Edited::default());
        }
        // Quotations are found whole, whatever the parts they are in.
        let own = Side { text: &self.text, tokens: &self.tokens, parts: &[] };
        let lock = || self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = lock().pop();
        let prepared = match kept {
            Some(prepared) => prepared,
            None => Prepared::new(own, self.genre, stop)?,
        };
        let other = Side { text, tokens, parts: &[] };
        let aligned = passages::between_prepared((own, &prepared), other, stop)?;
        lock().push(prepared);
        let aligned_tokens = self.passage_tokens as u32;
        let (mut alike, mut others) = (Vec::new(), Vec::new());
        for passage in aligned.found.iter().filter(|passage| passage.tokens >= aligned_tokens) {
            let range = passages::tokens_in(tokens, passage.b);
            let range = range.start as usize..range.end as usize;
            let is_alike = passage.similarity >= self.least && !range.is_empty();
            if is_alike { alike.push(range) } else { others.push(range) }
        }
        let in_order = |mut ranges: Vec<Range<usize>>| {
            ranges.sort_unstable_by_key(|range| range.start);
            joined(ranges.into_iter())
        };
        let (alike, others) = (in_order(alike), in_order(others));
        Ok(Edited { alike, others, is_complete: aligned.complete })
    }
}

/// The passages of a text that were edited, as ranges of its tokens that do not touch.
struct Edited {
    /// Those as similar as copies are.
    alike: Vec<Range<usize>>,
    others: Vec<Range<usize>>,
    is_complete: bool,
}

impl Default for Edited {
    fn default() -> Edited {
        Edited { alike: Vec::new(), others: Vec::new(), is_complete: true }
    }
}

/// Returns the bytes of ranges of tokens, which do not overlap.
fn in_bytes(tokens: &Tokens, ranges: &[Range<usize>]) -> Vec<(u32, u32)> {
    let mut bytes: Vec<(u32, u32)> = Vec::new();
    for range in ranges {
        let (start, end) = passages::bytes(tokens, range);
        // Pairs of letters without spaces between them overlap.
        let start = start.max(bytes.last().map_or(0, |last| last.1));
        bytes.push((start, end.max(start)));
    }
    bytes
}
