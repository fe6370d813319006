//! Deduplication of a stream of documents.
//!
//! In one pass, each document is compared with all that were kept before it, including those of a
//! moment ago, and with other indexes. Kept documents go into an index, against which the next
//! batch runs tomorrow. A document is dropped because of one other document, which the verdict
//! names:
//!
//! 1. *exact*: the same text.
//! 2. *near*: a resemblance of at least the threshold.
//! 3. *contained*: at least a given share of it is in the other document.
//!
//! Programs are *near* or *contained* only if their texts share words, too, and neither is too
//! short to tell.
//!
//! Fingerprints bring up the candidate documents, and the texts decide, by all of their words: an
//! analyzer that leaves words out serves to find candidates only. Texts are those of the
//! documents at hand, stored ones, and, where the index is temporary, those of the run itself,
//! which wait in a temporary file. An index without texts leaves an estimate, which must be
//! evidence ([`Similarity::resembles`](cento::Similarity::resembles)); the verdict reports which it
//! was. If its analyzer leaves words out, it leaves nothing that could decide, and the run is
//! refused unless only equal texts are duplicates.
//!
//! Of several reasons the first is reported, of several documents the most similar, then the first
//! id. Optionally, passages that an earlier document has are cut out of kept documents. The
//! rest is treated like another document: searched for passages until it has no more, because
//! parts that meet can make one, and dropped if it is a duplicate, or only a few words. The index
//! keeps the rest.
//!
//! A document is no duplicate of itself. One that an index has already under its id, from before
//! the run, is *unchanged* if it has the same text, and otherwise takes the place of the old
//! version. So a batch can be repeated, and a document corrected.
//!
//! With `prefer`, the records are read to the end first, and the run goes over them in the order of
//! preference: the documents that it keeps are the representatives that `cluster` finds with the
//! same preference. With `within` and `group_by`, only documents of one group, or of different
//! groups, are compared.
//!
//! With `none` for `prefer`, no document of a group is kept: the documents are compared with all
//! before them and with all after them, also with those that are dropped.
//!
//! With `only_against`, documents are compared with other indexes alone and not with each other,
//! and none is itself. So a stream loses what those indexes have, such as withdrawn texts and the
//! passages quoted from them.
//!
//! The verdicts depend on the order of the documents, not on threads or on the times of commits. A
//! commit carries a note of the progress of the run, so that an interrupted one can be resumed.

mod commit_note;
mod committed;
mod identity;
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
pub use verdict::{Cut, Decision, Evidence, Verdict};

use super::Prefer;
use super::defaults::EffectiveOptions;
use cento_api::error::{Error, Result};

use cento::index::{Config, Index, PresetDefaults, SignedDocument};
use cento::search::{Boilerplate, Searcher};
use cento_text::runtime::Stop;
use none_kept::NoneKept;
use preferred::Preferred;
use run::Run;
use scope::GroupScope;

/// The options of a run, as it needs them.
#[derive(Debug, Clone)]
struct Settings {
    /// The least resemblance of a duplicate; unset, only equal texts are duplicates.
    min_resemblance: Option<f64>,
    min_containment: Option<f64>,
    cut_passages: Option<usize>,
    /// The least number of words of a rest that is kept.
    min_left: usize,
    only_against: bool,
    scope: Option<GroupScope>,
    boilerplate: Option<Arc<Boilerplate>>,
    threads: usize,
    memory_bytes: usize,
    resumable: bool,
    temporary: bool,
    strict: bool,
    /// Later documents are also compared with those that are dropped.
    keeps_none: bool,
}

/// An event of the input, in its order.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A verdict on a document was reached.
    Decided(Decision),
    /// An input was left out.
    Skipped {
        /// The path.
        place: String,
        /// The reason, as a clause.
        why: &'static str,
    },
    /// A record is no document, or a file could not be read.
    Failed(Error),
    /// The document with this id, whose verdict comes next, has no token.
    Empty(String),
    /// A commit is about to be made, by the next call of [`next`](Iterator::next), or a run whose
    /// index is temporary begins or ends. Before that call, make the output of earlier events
    /// durable, and give the caller's own note to [`Dedup::set_note`]; it is returned as
    /// [`Progress::note`].
    Committing,
}

/// The progress of a run; the note of its commits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The caller's number for the run: inputs and options.
    pub run: u64,
    /// Records that have been decided upon, skipped or found to be no documents.
    pub records: u64,
    /// A hash of all these records: equal records have an equal one.
    pub hash: u64,
    /// The note of the caller at the last commit.
    pub note: Value,
    /// Whether the run has ended.
    pub done: bool,
}

impl Progress {
    /// Returns the progress of the run of the index's last commit, if there was one.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn of(index: &Index) -> Result<Option<Progress>> {
        Ok(index.note()?.and_then(|note| serde_json::from_str(&note).ok()))
    }
}

/// A record of the stream, in its order.
#[derive(Debug)]
pub enum Record {
    /// A document, signed as the index signs.
    Document(SignedDocument),
    /// A file that was left out, with the reason.
    Skipped {
        /// The path.
        place: String,
        /// The reason, as a clause.
        why: &'static str,
    },
    /// A record that is no document, or a file that could not be read.
    Failed(Error),
}

/// A run over a stream of documents, which puts those that are kept into an index: an iterator over
/// the [`Event`]s of the records, in their order, some time after they were taken from `records`:
/// decisions are made a batch at a time.
///
/// The run begins at the first call of [`next`](Iterator::next). One that is dropped before its end
/// leaves the index as the last commit left it.
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
/// The iterator gives an error, and ends, when an option is out of bounds, an index signs
/// otherwise, cannot be read or written, keeps no texts to search for passages, or keeps none and
/// has an analyzer that leaves words out, when the records
/// are not those of the run that is resumed, at an error of `records`, and, if
/// [`strict`](Dedup::strict), at the first record that is no document.
#[must_use = "a run decides nothing before the first call of `next`"]
pub struct Dedup<R: Iterator> {
    index: Index,
    options: DedupOptions,
    defaults: Option<PresetDefaults>,
    against: Vec<Searcher>,
    settings: Settings,
    from: Progress,
    stop: Stop,
    records: Preferred<Fuse<R>>,
    run: Option<Run>,
    /// The events of a run that keeps no document of a group.
    none_kept: Option<NoneKept>,
    is_over: bool,
}

impl<R: Iterator> std::fmt::Debug for Dedup<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dedup").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Refuses indexes that a run cannot compare with. Its own index has this configuration and name;
/// one that is removed afterwards has no name.
///
/// # Errors
/// When an index signs otherwise, or keeps no texts to search for passages.
pub fn check_against(
    (config, name): (&Config, Option<&Path>),
    against: &[Searcher],
    options: &DedupOptions,
) -> Result<()> {
    check_others((config, name), against, options.cut_passages.is_some())
}

fn check_others(
    (config, name): (&Config, Option<&Path>),
    against: &[Searcher],
    seeks_passages: bool,
) -> Result<()> {
    // An index without a name signs as one of the others does, or as the options say.
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

/// The default memory for documents that are being processed or not committed yet.
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
        let settings = Settings {
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
        };
        Dedup {
            index: index.clone(),
            records: Preferred::new(records.into_iter().fuse(), options.prefer.clone()),
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

    /// Compares with the documents of other indexes too, which are not changed.
    ///
    /// Boilerplate does not count in them either if their searchers were made without it.
    pub fn against(mut self, others: &[Searcher]) -> Dedup<R> {
        self.against = others.to_vec();
        self
    }

    /// Ignores text that does not count, such as that of templates.
    pub fn boilerplate(mut self, boilerplate: Option<Arc<Boilerplate>>) -> Dedup<R> {
        self.settings.boilerplate = boilerplate;
        self
    }

    /// Searches with this number of threads instead of as many as there are processors.
    pub fn threads(mut self, threads: usize) -> Dedup<R> {
        self.settings.threads = threads;
        self
    }

    /// Uses this memory for documents that are being processed or not committed yet, instead of 512
    /// MiB.
    pub fn memory_bytes(mut self, bytes: usize) -> Dedup<R> {
        self.settings.memory_bytes = bytes;
        self
    }

    /// Records in the index, until its end, that it has a run that can be resumed.
    pub fn resumable(mut self, is_resumable: bool) -> Dedup<R> {
        self.settings.resumable = is_resumable;
        self
    }

    /// Writes nothing to the index, which is to be removed after the run, as long as half of the
    /// memory suffices. Not together with [`resumable`](Dedup::resumable).
    pub fn temporary(mut self, is_temporary: bool) -> Dedup<R> {
        self.settings.temporary = is_temporary;
        self
    }

    /// Ends at the first record that is no document.
    pub fn strict(mut self, is_strict: bool) -> Dedup<R> {
        self.settings.strict = is_strict;
        self
    }

    /// Resumes an interrupted run: its records are taken again and not decided again. The number of
    /// a run that begins is that of `from` too.
    pub fn from(mut self, from: Progress) -> Dedup<R> {
        self.from = from;
        self
    }

    /// Ends soon after `stop` is set, with [`Error::Cancelled`].
    pub fn stop(mut self, stop: &Stop) -> Dedup<R> {
        self.stop = stop.clone();
        self
    }

    /// Returns the defaults of the preset of the index that decide.
    #[must_use]
    pub fn defaults(&self) -> Option<PresetDefaults> {
        self.defaults
    }

    /// Sets the caller's note of the commit that [`Event::Committing`] announces.
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
            // A field that no document has is refused before anything is written.
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
            self.run = Some(Run::new(&self.index, against, settings, from, &self.stop)?);
        }
        let Some(run) = &mut self.run else { return Ok(None) };
        loop {
            self.stop.check()?;
            if let Some(event) = run.next_event()? {
                return Ok(Some(event));
            }
            if run.is_over() {
                return self.run.take().map_or(Ok(()), Run::finish).map(|()| None);
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
            // The writer gives up uncommitted changes.
            (self.is_over, self.run) = (true, None);
        }
        event
    }
}
