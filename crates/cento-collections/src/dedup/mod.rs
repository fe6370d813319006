//! Deduplication of a stream of documents.
//!
//! In one pass, each document is compared with the documents kept before it, including the latest,
//! and with other indexes. Kept documents go into an index, and tomorrow's batch runs against that
//! index. A document is dropped because of a single other document, which the verdict names:
//!
//! 1. *exact*: both have the same text.
//! 2. *near*: their resemblance reaches the threshold.
//! 3. *contained*: the other document contains at least a given share of the text.
//!
//! Programs are *near* or *contained* only if they share words as well and are long enough for
//! meaningful numbers.
//!
//! Fingerprints bring up candidates, and then the texts decide by all of their words, even if the
//! analyzer of the index omits some. The texts are in the index or, for a temporary index, in a
//! temporary file. An index without texts leaves only an estimate, which must be evidence
//! ([`Similarity::resembles`](cento::Similarity::resembles)), and the verdict says so. If such an
//! index has an analyzer that omits words, nothing could decide, so the run is refused unless only
//! equal texts count as duplicates.
//!
//! The first of several reasons is reported, with the most similar document, then the smallest id.
//! Optionally, passages of earlier documents are cut out of kept documents. The remaining text is
//! treated like a new document: it is searched for passages until the search finds nothing, because
//! parts that meet can form a passage, and it is dropped if it is a duplicate or only a few words
//! long. The index keeps the remaining text.
//!
//! A document is no duplicate of itself. If an index has had its id since before the run, the
//! document is *unchanged* if the text is the same, and otherwise replaces the old version. So a
//! batch can be repeated, and a document corrected.
//!
//! With `prefer`, the run reads all records first and processes them in order of preference, so it
//! keeps the same documents that `cluster` makes representatives. With `within` or `group_by`, it
//! compares only documents of one group or of different groups.
//!
//! With `none` for `prefer`, no document of a group is kept: each document is compared with all
//! documents before and after it, including dropped ones.
//!
//! With `only_against`, documents are compared with other indexes only, and never count as versions
//! of stored documents. So a stream loses whatever those indexes have, such as withdrawn texts and
//! passages quoted from them.
//!
//! Verdicts depend on the order of the documents, but not on threads or the times of commits. The
//! note of a commit records the progress, so an interrupted run can be resumed.

mod commit_note;
mod committed;
mod identity;
mod judge;
mod none_kept;
mod passages;
mod preferred;
mod recent;
mod record_fields;
mod run;
mod scope;
mod spool;
mod unwritten;
mod verdict;

use std::iter::Fuse;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use super::DedupOptions;
pub use judge::DuplicateJudge;
pub use verdict::{CutPassage, Decision, Evidence, Verdict};

use super::Prefer;
use super::defaults::EffectiveOptions;
use cento_api::error::{Error, Result};

use cento::index::{Config, Index, PresetDefaults, SignedDocument};
use cento::search::{Boilerplate, Searcher};
use cento_text::runtime::Stop;
use none_kept::NoneKept;
use preferred::PreferredFirst;
use run::DedupRun;
use scope::GroupScope;

/// The options of a run, checked and completed.
#[derive(Debug, Clone)]
struct DedupSettings {
    /// The minimum resemblance of duplicates. `None` if only equal texts are duplicates.
    min_resemblance: Option<f64>,
    min_containment: Option<f64>,
    cut_passages: Option<usize>,
    /// The minimum number of words that must remain of a document after cuts.
    min_left: usize,
    only_against: bool,
    scope: Option<GroupScope>,
    boilerplate: Option<Arc<Boilerplate>>,
    threads: usize,
    memory_bytes: usize,
    resumable: bool,
    temporary: bool,
    strict: bool,
    /// Later documents are also compared with dropped documents.
    keeps_none: bool,
}

impl DedupSettings {
    /// Creates the settings of a run from options that the preset has completed.
    fn of(options: &DedupOptions) -> DedupSettings {
        DedupSettings {
            min_resemblance: options.resemblance(),
            min_containment: options.min_containment,
            cut_passages: options.cut_passages.map(|tokens| tokens as usize),
            min_left: options.min_left.unwrap_or(DedupOptions::MIN_LEFT) as usize,
            only_against: options.only_against,
            scope: None,
            boilerplate: None,
            threads: cento::available_threads(),
            memory_bytes: MEMORY_BYTES,
            resumable: false,
            temporary: false,
            strict: false,
            keeps_none: options.prefer == Some(Prefer::None),
        }
    }

    /// Tells whether similar texts are duplicates, or only equal texts.
    fn compares_texts(&self) -> bool {
        self.min_resemblance.is_some() || self.min_containment.is_some()
    }
}

/// An event of a run, in the order of the records.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A document has its verdict.
    Decided(Decision),
    /// The reader excluded an input.
    Skipped {
        /// The path of the input.
        place: String,
        /// The reason, as a clause.
        why: &'static str,
    },
    /// A record is no document, or a file could not be read.
    Failed(Error),
    /// The document with this id has no token. Its verdict comes next.
    Empty(String),
    /// The next call of [`next`](Iterator::next) makes a commit, or a run with a temporary index
    /// begins or ends. Before that call, make the output for earlier events durable, and pass your
    /// own note to [`Dedup::set_note`]. A resumed run gets the note back as [`Progress::note`].
    Committing,
}

/// The progress of a run, stored in the note of each commit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The caller's number for the run, which identifies its inputs and options.
    pub run: u64,
    /// Records that were decided on, excluded, or no documents.
    pub records: u64,
    /// A hash of these records in order, which tells whether a resumed run has the same records.
    pub hash: u64,
    /// The caller's note at the last commit.
    pub note: Value,
    /// Whether the run has ended.
    pub done: bool,
}

impl Progress {
    /// Returns the progress of the run that made the index's last commit, if a run did.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn of(index: &Index) -> Result<Option<Progress>> {
        Ok(index.note()?.and_then(|note| serde_json::from_str(&note).ok()))
    }
}

/// A record of the input stream.
#[derive(Debug)]
pub enum Record {
    /// A document that was signed with the configuration of the index.
    Document(SignedDocument),
    /// A file that the reader excluded.
    Skipped {
        /// The path of the file.
        place: String,
        /// The reason, as a clause.
        why: &'static str,
    },
    /// A record that is no document, or a file that could not be read.
    Failed(Error),
}

/// A run that deduplicates a stream of documents and puts the kept documents into an index. It is
/// an iterator over the [`Event`]s of the records, in order. Documents are decided on in batches,
/// so events come some time after their records are taken.
///
/// The run begins at the first call of [`next`](Iterator::next). Dropping the run before its end
/// leaves the index as of the last commit.
///
/// ```
/// use cento_collections::dedup::{Dedup, DedupOptions, Event, Record};
/// use cento::{Config, Document, Index, SignedDocument, Stop};
///
/// let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
/// let text = "a text of a few words that two documents have";
/// let records = ["a", "b"].map(|id| {
///     let signed = SignedDocument::new(Document::new(id, text), index.config(), Stop::NEVER)?;
///     Ok(Record::Document(signed))
/// });
/// for event in Dedup::new(&index, &DedupOptions::default(), records) {
///     if let Event::Decided(decision) = event? {
///         assert_eq!(decision.verdict.is_kept(), decision.document.id == "a");
///     }
/// }
/// assert_eq!(index.snapshot()?.documents(), 1);
/// # Ok::<(), cento::Error>(())
/// ```
///
/// # Errors
/// The iterator gives an error, and ends, when an option is out of bounds, when an index signs
/// texts differently, cannot be read or written, stores no texts to search for passages, or stores
/// no texts and has an analyzer that omits words, when a resumed run gets other records than
/// before, at an error of `records`, and, if [`strict`](Dedup::strict), at the first record that is
/// no document.
#[doc(alias = "deduplicate")]
#[doc(alias = "near-duplicate")]
#[must_use = "a run decides nothing before the first call of `next`"]
pub struct Dedup<R: Iterator> {
    index: Index,
    options: DedupOptions,
    defaults: Option<PresetDefaults>,
    against: Vec<Searcher>,
    settings: DedupSettings,
    from: Progress,
    stop: Stop,
    records: PreferredFirst<Fuse<R>>,
    run: Option<DedupRun>,
    /// The events of a run that keeps no document of a group.
    none_kept: Option<NoneKept>,
    is_over: bool,
}

impl<R: Iterator> std::fmt::Debug for Dedup<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dedup").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Refuses indexes that a run cannot compare with, or whose passages it cannot cut out if it
/// `seeks_passages`. `config` and `name` describe the index of the run. A temporary index has no
/// name.
///
/// # Errors
/// When an index signs texts differently, or stores no texts to search for passages.
pub fn check_against(
    config: &Config,
    name: Option<&Path>,
    against: &[Searcher],
    seeks_passages: bool,
) -> Result<()> {
    // A temporary index is named after an index that signs alike, for the message.
    let alike = || {
        let mut paths = against.iter().map(|other| (other, other.snapshot().index().path()));
        let alike = paths
            .find(|(other, path)| config.check_signs_as(other.snapshot().config(), path).is_ok());
        alike.map(|(_, path)| path)
    };
    let name = name.or_else(alike).map(|path| path.display().to_string());
    let name = name.unwrap_or_else(|| "this run".into());
    for other in against {
        let (path, other) = (other.snapshot().index().path(), other.snapshot().config());
        config.check_signs_alike(&name, other, path)?;
        if seeks_passages && !other.store_text {
            return Err(no_texts(path));
        }
    }
    Ok(())
}

fn no_texts(path: &Path) -> Error {
    let what = "the index stores no text, so that no passage can be found";
    Error::index(path, cento::Reason::NoTexts, what)
}

/// The default memory for documents in progress or uncommitted, in bytes.
const MEMORY_BYTES: usize = 512 << 20;

impl<R: Iterator<Item = Result<Record>>> Dedup<R> {
    /// Prepares a run over `records`.
    pub fn new(
        index: &Index,
        options: &DedupOptions,
        records: impl IntoIterator<Item = Result<Record>, IntoIter = R>,
    ) -> Dedup<R> {
        let EffectiveOptions { options, defaults } =
            EffectiveOptions::of_dedup(options, index.config().preset);
        let settings = DedupSettings::of(&options);
        Dedup {
            index: index.clone(),
            records: PreferredFirst::new(records.into_iter().fuse(), options.prefer.clone()),
            options,
            defaults,
            against: Vec::new(),
            settings,
            from: Progress::default(),
            stop: Stop::default(),
            run: None,
            none_kept: None,
            is_over: false,
        }
    }

    /// Compares with documents of other indexes too, without changing them.
    ///
    /// Boilerplate counts there unless the searchers were made without boilerplate.
    pub fn against(mut self, others: &[Searcher]) -> Dedup<R> {
        self.against = others.to_vec();
        self
    }

    /// Ignores text that does not count, such as templates.
    pub fn boilerplate(mut self, boilerplate: Option<Arc<Boilerplate>>) -> Dedup<R> {
        self.settings.boilerplate = boilerplate;
        self
    }

    /// Searches with this number of threads. The default is the number of processors.
    pub fn threads(mut self, threads: usize) -> Dedup<R> {
        self.settings.threads = threads;
        self
    }

    /// Sets the memory for documents in progress or uncommitted. The default is 512 MiB.
    pub fn memory_bytes(mut self, bytes: usize) -> Dedup<R> {
        self.settings.memory_bytes = bytes;
        self
    }

    /// Lets the run be resumed: commits say that the run is unfinished, until its end.
    pub fn resumable(mut self, is_resumable: bool) -> Dedup<R> {
        self.settings.resumable = is_resumable;
        self
    }

    /// Keeps documents in memory and writes to the index only when half of the memory is used up.
    /// The caller removes the index after the run, so [`resumable`](Dedup::resumable) makes no
    /// sense here.
    pub fn temporary(mut self, is_temporary: bool) -> Dedup<R> {
        self.settings.temporary = is_temporary;
        self
    }

    /// Stops at the first record that is no document.
    pub fn strict(mut self, is_strict: bool) -> Dedup<R> {
        self.settings.strict = is_strict;
        self
    }

    /// Resumes an interrupted run. Its records are read again but not decided again. For a new run,
    /// `from` supplies the number of the run.
    pub fn from(mut self, from: Progress) -> Dedup<R> {
        self.from = from;
        self
    }

    /// Stops soon after `stop` is set, with [`Error::Cancelled`].
    pub fn stop(mut self, stop: &Stop) -> Dedup<R> {
        self.stop = stop.clone();
        self
    }

    /// Returns the defaults of the index's preset that took effect.
    #[must_use]
    pub fn defaults(&self) -> Option<PresetDefaults> {
        self.defaults
    }

    /// Sets the caller's note for the commit that [`Event::Committing`] announces.
    pub fn set_note(&mut self, note: Value) {
        if let Some(run) = &mut self.run {
            run.set_note(note);
        }
    }

    fn step(&mut self) -> Result<Option<Event>> {
        if let Some(none_kept) = &mut self.none_kept {
            return none_kept.next_event(&mut self.records);
        }
        if self.run.is_none() {
            self.options.check()?;
            // An unknown field is refused before anything is written.
            self.records.prepare()?;
            self.settings.scope = GroupScope::new(&self.options.scope()?)?;
            if self.settings.keeps_none {
                let (config, against) = (self.index.config(), &self.against);
                let decided =
                    NoneKept::new(&self.records, config, against, &self.settings, &self.stop)?;
                return Ok(Some(self.none_kept.insert(decided).first_event()));
            }
            let (settings, from) = (self.settings.clone(), std::mem::take(&mut self.from));
            let against = std::mem::take(&mut self.against);
            self.run = Some(DedupRun::new(&self.index, against, settings, from, &self.stop)?);
        }
        let Some(run) = &mut self.run else { return Ok(None) };
        loop {
            self.stop.check()?;
            if let Some(event) = run.next_event()? {
                return Ok(Some(event));
            }
            if run.is_over() {
                return self.run.take().map_or(Ok(()), DedupRun::finish).map(|()| None);
            }
            match self.records.next() {
                Some(record) => run.push(record?)?,
                None => run.end()?,
            }
        }
    }
}

impl<R: Iterator<Item = Result<Record>>> Iterator for Dedup<R> {
    type Item = Result<Event>;

    fn next(&mut self) -> Option<Result<Event>> {
        if self.is_over {
            return None;
        }
        let event = self.step().transpose();
        if !matches!(event, Some(Ok(_))) {
            // Dropping the writer discards uncommitted changes.
            (self.is_over, self.run) = (true, None);
        }
        event
    }
}
