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
//! Fingerprints bring up the candidate documents, and the texts decide. Texts are those of the
//! documents at hand, stored ones, and, where the index is temporary, those of the run itself,
//! which wait in a temporary file. An index without texts leaves an estimate, which must be
//! evidence ([`Similarity::resembles`](crate::Similarity::resembles)); the verdict reports which it
//! was.
//!
//! Of several reasons the first is reported, of several documents the most similar, then the first
//! id. Optionally, passages that an earlier document has are cut out of kept documents.
//!
//! The verdicts depend on the order of the documents, not on threads or on the times of commits. A
//! commit carries a note of the progress of the run, so that an interrupted one can be resumed.

mod committed;
mod passages;
mod recent;
mod spool;
mod unwritten;
mod verdict;

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use verdict::{Cut, Decision, Evidence, Verdict};

use crate::error::{Error, Result};
use crate::hash::{Digest, mix64};
use crate::index::{Index, SignedDocument, Snapshot, UNCOMMITTED_MAX, Writer, WriterOptions};
use crate::sampling::{Sampling, Size};
use crate::search::{Boilerplate, Searcher};
use crate::stop::Stop;
use committed::{Committed, Prepared, RecentTexts};
use recent::{Prefix, Recent, RecentDocuments};
use unwritten::Unwritten;
use verdict::Reason;

/// The options of deduplication.
#[derive(Debug, Clone)]
pub struct DedupOptions {
    /// A document is a duplicate if its text has at least this resemblance to one before it, 0 to
    /// 1; unset, no document is.
    pub min_resemblance: Option<f64>,
    /// A document is a duplicate if at least this share of it is in one before it, 0 to 1.
    pub min_containment: Option<f64>,
    /// Cuts out runs of at least this many tokens that an earlier document also has.
    pub cut_passages: Option<usize>,
    /// The text that does not count, such as that of templates.
    pub boilerplate: Option<Arc<Boilerplate>>,
    /// The number of threads that search.
    pub threads: usize,
    /// The memory for documents being processed, and for those that are not committed yet.
    pub memory_bytes: usize,
    /// Whether the caller intends to resume the run if it is interrupted: until its end the index
    /// records that it has one.
    pub resumable: bool,
    /// Whether the index is removed after the run: nothing is written to it as long as half of
    /// `memory_bytes` suffices. Not together with `resumable`.
    pub temporary: bool,
    /// Whether to stop at the first record that is no document.
    pub strict: bool,
}

/// An event of the input, in its order.
#[derive(Debug)]
pub enum Event<'a> {
    /// A verdict on a document was reached.
    Decided(Decision<'a>),
    /// An input was left out, with the reason.
    Skipped(&'a str, &'static str),
    /// A record is no document, or a file could not be read.
    Failed(&'a Error),
    /// The document with this id has no token.
    Empty(&'a str),
    /// A commit is about to be made, or a run whose index is temporary begins or ends: make the
    /// output of earlier events durable first, and put the caller's own note here. It is returned
    /// as [`Progress::note`].
    Committing(&'a mut Value),
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

/// The maximum size of a batch of documents that are looked up together: their number and their
/// bytes of text.
const BATCH: usize = 1024;
const BATCH_BYTES: usize = 4 << 20;

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

/// A run over a stream of documents, which puts those that are kept into an index.
///
/// [`push`](Dedup::push) the records in order, then [`finish`](Dedup::finish). The sink gets all
/// events in the order of the records, some time after they were pushed: decisions are made a batch
/// at a time. A run that is dropped before its end leaves the index as the last commit left it.
pub struct Dedup<'a> {
    run: Run<'a>,
    /// The progress of an interrupted run: these records are read again and not decided again.
    from: Progress,
}

impl std::fmt::Debug for Dedup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dedup").finish_non_exhaustive()
    }
}

impl<'a> Dedup<'a> {
    /// Begins a run, or resumes one at `from`.
    ///
    /// Boilerplate does not count in `against` either if those searchers were made without it.
    ///
    /// # Errors
    /// When an index signs otherwise, cannot be read or written, or keeps no texts to search for
    /// passages.
    pub fn new(
        index: &Index,
        against: &'a [Searcher],
        options: &'a DedupOptions,
        from: Progress,
        sink: &'a mut dyn FnMut(Event<'_>) -> Result<()>,
    ) -> Result<Dedup<'a>> {
        let config = index.config();
        for searcher in against {
            let other = searcher.snapshot();
            config.check_signs_as(other.config(), other.index().path())?;
            if options.cut_passages.is_some() && !other.config().store_text {
                let what = "the index stores no text in which to find passages";
                return Err(Error::index(other.index().path(), crate::Reason::NoTexts, what));
            }
        }
        if options.cut_passages.is_some() && !config.store_text {
            let what = "the index stores no text in which to find passages";
            return Err(Error::index(index.path(), crate::Reason::NoTexts, what));
        }
        let memory_bytes = options.memory_bytes / 4;
        let mut writer =
            index.writer(WriterOptions { memory_bytes, ..WriterOptions::default() })?;
        let own = without(writer.committed()?, options)?;
        let decides = options.min_resemblance.is_some() || options.min_containment.is_some();
        let maker = own.run_maker().filter(|_| decides);
        let texts = RecentTexts::new(maker, options.temporary || config.store_text);
        let mut run = Run {
            own,
            writer,
            against,
            options: Arc::new(options.clone()),
            recent: RecentDocuments::default(),
            texts: Arc::new(texts),
            unwritten: Unwritten::default(),
            batch: Vec::new(),
            batch_bytes: 0,
            progress: from.clone(),
            read: 0,
            hash: 0,
            numbers: HashMap::new(),
            sink,
        };
        if from.records == 0 {
            // From now on the run can be resumed, whatever it has written.
            run.commit()?;
        }
        Ok(Dedup { run, from })
    }

    /// Processes the next record.
    ///
    /// # Errors
    /// When the records are not those of the run that is resumed, an index cannot be read or
    /// written, the sink fails, or, if `strict`, at the first record that is no document.
    pub fn push(&mut self, record: Record) -> Result<()> {
        let Dedup { run, from } = self;
        run.read += 1;
        if run.read <= from.records {
            run.hash = next_hash(run.hash, &record);
            let is_last = run.read == from.records;
            return if is_last && run.hash != from.hash { Err(changed()) } else { Ok(()) };
        }
        run.batch_bytes += match &record {
            Record::Document(signed) => signed.document.text.len(),
            _ => 0,
        };
        run.batch.push(record);
        let is_full = run.batch.len() == BATCH || run.batch_bytes >= BATCH_BYTES;
        if is_full { run.decide_batch() } else { Ok(()) }
    }

    /// Decides upon the remaining documents, and commits, unless the index is temporary.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn finish(self) -> Result<()> {
        let Dedup { mut run, from } = self;
        if run.read < from.records {
            return Err(changed());
        }
        run.decide_batch()?;
        run.progress.done = true;
        run.commit()?;
        if run.options.temporary { Ok(()) } else { run.writer.finish() }
    }
}

fn changed() -> Error {
    Error::argument(
        "resume",
        "the documents differ from those of the interrupted run; resume with the same documents, or give \
         that run up",
    )
}

/// Returns the hash of all records up to this one, from the hash of those before.
fn next_hash(hash: u64, record: &Record) -> u64 {
    let document = |id: &str, digest: Digest| {
        Digest::of_parts(&[b"document", id.as_bytes(), &digest.to_le_bytes()])
    };
    let own = match record {
        Record::Document(signed) => document(&signed.document.id, signed.digest),
        Record::Skipped { place, .. } => Digest::of_parts(&[b"skipped", place.as_bytes()]),
        Record::Failed(error) => Digest::of_parts(&[b"failed", error.to_string().as_bytes()]),
    };
    mix64(hash ^ own.low)
}

/// Returns a searcher that ignores boilerplate.
fn without(snapshot: &Snapshot, options: &DedupOptions) -> Result<Searcher> {
    let searcher = Searcher::new(snapshot.clone());
    match &options.boilerplate {
        None => Ok(searcher),
        Some(boilerplate) => searcher.excluding(boilerplate.clone(), Stop::NEVER),
    }
}

struct Run<'a> {
    writer: Writer,
    /// The searcher over the committed documents.
    own: Searcher,
    against: &'a [Searcher],
    options: Arc<DedupOptions>,
    recent: RecentDocuments,
    texts: Arc<RecentTexts>,
    /// The unwritten documents of a temporary index.
    unwritten: Unwritten,
    batch: Vec<Record>,
    /// The bytes of text in the batch.
    batch_bytes: usize,
    progress: Progress,
    read: u64,
    /// The hash of the records that an earlier run has decided upon.
    hash: u64,
    /// The last number given to an id that was taken.
    numbers: HashMap<String, u32>,
    sink: &'a mut dyn FnMut(Event<'_>) -> Result<()>,
}

impl Run<'_> {
    /// Decides upon all documents of the batch.
    fn decide_batch(&mut self) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        let own = self.own.clone();
        let options = self.options.clone();
        let texts = self.texts.clone();
        let committed = Committed::new(&own, self.against, &options, &texts);
        let prepared = committed.look_up(&batch, &self.recent)?;
        let first = self.recent.len();
        for (record, prepared) in batch.into_iter().zip(prepared) {
            self.progress.hash = next_hash(self.progress.hash, &record);
            match (record, prepared) {
                (Record::Document(signed), Some(prepared)) => {
                    self.decide((&committed, first), signed, prepared)?
                }
                (Record::Skipped { place, why }, _) => {
                    (self.sink)(Event::Skipped(&place, why))?;
                }
                (Record::Failed(error), _) if self.options.strict => return Err(error),
                (Record::Failed(error), _) => {
                    (self.sink)(Event::Failed(&error))?;
                }
                // Every document is prepared.
                (Record::Document(_), None) => {}
            }
            self.progress.records += 1;
        }
        // Commit before the writer does so by itself, without the note.
        let uncommitted = self.writer.uncommitted() + self.unwritten.len();
        let bytes = self.recent.bytes() + self.unwritten.bytes();
        if uncommitted + BATCH >= UNCOMMITTED_MAX || bytes > self.options.memory_bytes / 2 {
            self.commit()?;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        (self.sink)(Event::Committing(&mut self.progress.note))?;
        if self.options.temporary && (self.progress.done || self.unwritten.len() == 0) {
            return Ok(());
        }
        self.unwritten.write(&mut self.writer)?;
        let done = self.progress.done || !self.options.resumable;
        let noted = Progress { done, ..self.progress.clone() };
        let note = serde_json::to_string(&noted).expect("numbers are JSON");
        self.writer.commit_with(&note)?;
        self.own = without(self.writer.committed()?, &self.options)?;
        self.recent = RecentDocuments::default();
        let are_stored = self.own.snapshot().config().store_text;
        self.texts = Arc::new(self.texts.after_commit(are_stored));
        Ok(())
    }

    /// Decides upon a document, after all before it: those from the number `first` on that are not
    /// committed are of its own batch.
    fn decide(
        &mut self,
        (committed, first): (&Committed<'_>, usize),
        mut signed: SignedDocument,
        prepared: Prepared,
    ) -> Result<()> {
        let Prepared { keys, runs, mut reason, sources } = prepared;
        let own = committed.own(&signed, &keys);
        let size = own.size;
        if reason.as_ref().is_none_or(|reason| !reason.is_exact()) {
            let mut own = own.with_runs(runs);
            let found = committed.among_recent(&signed, &mut own, &self.recent, first)?;
            reason = Reason::better(reason, found);
        }
        let mut verdict = match reason {
            Some(reason) => reason.verdict(),
            None => match self.options.cut_passages {
                None => Verdict::Kept { cut: Vec::new(), kept_as: None },
                Some(len_min) => {
                    let all = Prefix { probed: keys.len(), needed: 1 };
                    let recent = self.recent.neighbours(0, &keys, (all, 1), |_| true);
                    let texts = committed.texts(sources, recent)?;
                    let analyzer = &self.writer.index().config().analyzer;
                    let boilerplate = self.options.boilerplate.as_deref();
                    let text = &signed.document.text;
                    passages::cut((analyzer, boilerplate), text, &texts, len_min)?
                }
            },
        };
        if let Verdict::Kept { kept_as, .. } = &mut verdict {
            let id = self.free_id(&signed.document.id)?;
            *kept_as = (id != signed.document.id).then_some(id);
        }
        if signed.token_count == 0 {
            (self.sink)(Event::Empty(&signed.document.id))?;
        }
        let decision = Decision { document: &signed.document, verdict: &verdict };
        (self.sink)(Event::Decided(decision))?;
        if let Verdict::Kept { kept_as, .. } = verdict {
            if let Some(id) = kept_as {
                signed.document.id = id;
            }
            self.keep(signed, keys, (committed.sampling(), size))?;
        }
        Ok(())
    }

    /// Returns the id itself, or the id with a number if it is taken.
    fn free_id(&mut self, id: &str) -> Result<String> {
        let is_taken =
            |id: &str| -> Result<bool> { Ok(self.unwritten.has(id) || self.writer.has(id)?) };
        if !is_taken(id)? {
            return Ok(id.to_owned());
        }
        let number = self.numbers.entry(id.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let numbered = format!("{id}#{number}");
            if !is_taken(&numbered)? {
                return Ok(numbered);
            }
        }
    }

    /// Puts a document of this size into the index.
    fn keep(
        &mut self,
        signed: SignedDocument,
        keys: Vec<u64>,
        (sampling, size): (Sampling, Size),
    ) -> Result<()> {
        let is_compared =
            self.options.min_resemblance.is_some() || self.options.min_containment.is_some();
        let is_spooled = self.texts.maker.is_some();
        let place = is_spooled.then(|| self.texts.spool.push(&signed.document.text)).transpose()?;
        let text = self.options.cut_passages.map(|_| signed.document.text.clone());
        let signature = (is_compared && !is_spooled).then(|| signed.signature.clone());
        let (id, tokens) = (signed.document.id.clone(), signed.token_count);
        let indexed = self.options.indexed(sampling, size);
        let recent = Recent { id, keys, size, tokens, signature, place, indexed, text };
        self.recent.add(recent, signed.digest);
        if self.options.temporary {
            self.unwritten.push(signed, self.writer.index().config().store_text, place);
        } else {
            self.writer.add_signed(signed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Document;

    #[test]
    fn records_that_change_places_with_their_ids_are_other_records() {
        let known = |id: &str, text: &str| {
            let document = Document::new(id, text);
            let digest = Digest::of(text.as_bytes());
            Record::Document(SignedDocument::of(document, digest, 0, Vec::new()))
        };
        assert_ne!(next_hash(0, &known("a", "b")), next_hash(0, &known("b", "a")));
        assert_ne!(next_hash(0, &known("a", "a")), next_hash(0, &known("b", "b")));
        let skipped = Record::Skipped { place: "a".into(), why: "" };
        let failed = Record::Failed(Error::input("a", ""));
        assert_ne!(next_hash(0, &skipped), next_hash(0, &failed));
    }
}
