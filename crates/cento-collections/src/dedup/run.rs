//! Runs deduplication: batches, decisions and commits.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use super::commit_note::{CommitNote, Wholes};
use super::committed::{CommittedDocuments, Prepared, RecentTexts, Source, Stored, corrected};
use super::identity::{EarlierDocuments, numbered};
use super::passages::{CutExtent, Rest};
use super::recent::{Prefix, Recent, RecentDocuments};
use super::scope::GroupUse;
use super::unwritten::UnwrittenRecords;
use super::verdict::{Decision, Holder, Reason, Verdict};
use super::{DedupSettings, Event, Progress, Record, check_against, no_texts};
use crate::seam::has_words;
use crate::verify::check_all_words;
use cento::index::{Document, Index, SignedDocument, Snapshot, Withdrawals, Writer, WriterOptions};
use cento::search::Searcher;
use cento_api::error::{Error, Result};
use cento_text::hash::{Digest, mix64};
use cento_text::runtime::Stop;
use cento_text::sampling::{Sampling, Size};
use cento_text::text::Analyzer;

/// The maximum size of a batch of documents looked up together, in documents and in bytes of text.
const BATCH: usize = 1024;
const BATCH_BYTES: usize = 4 << 20;

fn changed() -> Error {
    Error::argument(
        "resume",
        "the documents differ from those of the interrupted run; resume with the same documents, \
         or give that run up",
    )
}

/// Returns the hash of all records so far, from the hash before this record.
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
fn without(snapshot: &Snapshot, options: &DedupSettings) -> Result<Searcher> {
    let searcher = Searcher::new(snapshot.clone());
    match &options.boilerplate {
        None => Ok(searcher),
        Some(boilerplate) => searcher.excluding(boilerplate.clone(), Stop::NEVER),
    }
}

/// A run with its decisions so far and the records waiting for a decision.
pub(super) struct DedupRun {
    writer: Writer,
    /// The searcher over the committed documents.
    own: Searcher,
    against: Arc<[Searcher]>,
    /// The withdrawals of the indexes in `against`, which those indexes refuse to accept.
    refused: Vec<Withdrawals>,
    options: Arc<DedupSettings>,
    /// The analyzer for cutting passages, which omits no words.
    all_words: Analyzer,
    recent: RecentDocuments,
    /// The documents that the index had before the run.
    earlier: EarlierDocuments,
    texts: Arc<RecentTexts>,
    /// The uncommitted documents of a temporary index.
    unwritten: UnwrittenRecords,
    batch: Vec<Record>,
    batch_bytes: usize,
    progress: Progress,
    read: u64,
    /// The hash of the records read again, which the interrupted run has decided on.
    hash: u64,
    /// Documents that passages were cut from, by the digest of the original text. The index has
    /// only the remaining text, so a copy of the original would not be found there.
    wholes: HashMap<Digest, String>,
    group_use: GroupUse,
    /// The last number that was appended to an id in use.
    numbers: HashMap<String, u32>,
    /// The progress of the interrupted run. Its records are read again but not decided again.
    from: Progress,
    /// Events that have not been given yet.
    events: VecDeque<Event>,
    failure: Option<Error>,
    /// Whether the last event announced a commit that is still to be made.
    commits: bool,
    is_over: bool,
    stop: Stop,
}

impl DedupRun {
    /// Begins a run, or resumes the run that stopped at `from`.
    ///
    /// # Errors
    /// When an index signs texts differently, cannot be read or written, or stores no texts to
    /// search for passages.
    pub fn new(
        index: &Index,
        against: Vec<Searcher>,
        options: DedupSettings,
        from: Progress,
        stop: &Stop,
    ) -> Result<DedupRun> {
        let config = index.config();
        let name = (!options.temporary).then(|| index.path());
        check_against(config, name, &against, options.cut_passages.is_some())?;
        if options.cut_passages.is_some() && !config.store_text {
            return Err(no_texts(index.path()));
        }
        if options.only_against && (against.is_empty() || !options.temporary) {
            let what = "`only_against` needs an index to compare with, and none to add to";
            return Err(Error::argument("only_against", what));
        }
        let decides = options.compares_texts();
        let refused = against.iter().map(|other| other.snapshot().index().withdrawals());
        let refused = refused.collect::<Result<Vec<_>>>()?;
        let memory_bytes = options.memory_bytes / 4;
        let mut writer = index.writer(WriterOptions::default().memory_bytes(memory_bytes))?;
        let own = without(writer.committed()?, &options)?;
        if decides {
            let is_at_hand = options.temporary || config.store_text;
            check_all_words(&own, is_at_hand)?;
            against.iter().try_for_each(|other| check_all_words(other, other.stores_texts()))?;
        }
        let maker = own.verdict_maker().filter(|_| decides);
        let texts = RecentTexts::new(maker, options.temporary || config.store_text);
        let wholes = if from.records == 0 { HashMap::new() } else { Wholes::of(index)? };
        let earlier = EarlierDocuments::new(writer.committed()?.clone());
        let mut run = DedupRun {
            own,
            writer,
            against: against.into(),
            refused,
            options: Arc::new(options),
            all_words: config.analyzer.of_all_words(),
            recent: RecentDocuments::default(),
            earlier,
            texts: Arc::new(texts),
            unwritten: UnwrittenRecords::default(),
            batch: Vec::new(),
            batch_bytes: 0,
            progress: from.clone(),
            read: 0,
            hash: 0,
            numbers: HashMap::new(),
            group_use: GroupUse::default(),
            wholes,
            from,
            events: VecDeque::new(),
            failure: None,
            commits: false,
            is_over: false,
            stop: stop.clone(),
        };
        if run.from.records == 0 {
            // The first commit makes the run resumable, whatever is written later.
            run.events.push_back(Event::Committing);
        }
        Ok(run)
    }

    /// Sets the caller's note of the next commit.
    pub fn set_note(&mut self, note: Value) {
        self.progress.note = note;
    }

    /// Tells whether all events have been given.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the next event, or `None` if more records are needed or the run is over.
    ///
    /// # Errors
    /// When an announced commit cannot be made, or the error of a record, if strict.
    pub fn next_event(&mut self) -> Result<Option<Event>> {
        if std::mem::take(&mut self.commits) {
            self.commit()?;
        }
        let Some(event) = self.events.pop_front() else {
            return self.failure.take().map_or(Ok(None), Err);
        };
        self.commits = matches!(event, Event::Committing);
        Ok(Some(event))
    }

    /// Ends the run, after its last commit.
    ///
    /// # Errors
    /// When the index cannot be written.
    pub fn finish(self) -> Result<()> {
        if self.options.temporary { Ok(()) } else { self.writer.finish() }
    }

    /// Processes the next record.
    ///
    /// # Errors
    /// When a resumed run gets other records than before, or an index cannot be read or written.
    pub fn push(&mut self, mut record: Record) -> Result<()> {
        self.read += 1;
        if let (Some(scope), Record::Document(signed)) = (&self.options.scope, &mut record) {
            self.group_use.meet(scope, &mut signed.document);
        }
        if self.read <= self.from.records {
            self.hash = next_hash(self.hash, &record);
            if let Record::Document(signed) = &record {
                self.earlier.meet_again(signed)?;
            }
            let is_last = self.read == self.from.records;
            return if is_last && self.hash != self.from.hash { Err(changed()) } else { Ok(()) };
        }
        self.batch_bytes += match &record {
            Record::Document(signed) => signed.document.text.len(),
            _ => 0,
        };
        self.batch.push(record);
        let is_full = self.batch.len() == BATCH || self.batch_bytes >= BATCH_BYTES;
        if is_full { self.decide_batch() } else { Ok(()) }
    }

    /// Decides on the remaining documents and announces the last commit.
    ///
    /// # Errors
    /// The errors of [`push`](Self::push).
    pub fn end(&mut self) -> Result<()> {
        if self.read < self.from.records {
            return Err(changed());
        }
        if !self.batch.is_empty() {
            // The batch may have announced a commit, which has to come first.
            return self.decide_batch();
        }
        if let Some(scope) = &self.options.scope {
            self.group_use.check(scope, self.read)?;
        }
        self.progress.done = true;
        self.events.push_back(Event::Committing);
        Ok(())
    }

    fn decide_batch(&mut self) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        let (own, against) = (self.own.clone(), self.against.clone());
        let options = self.options.clone();
        let texts = self.texts.clone();
        let committed = CommittedDocuments::new(&own, &against, &options, &texts);
        self.earlier.begin_batch();
        let stored = committed.stored_versions(&batch, &self.earlier, &self.stop)?;
        self.earlier.correct(corrected(&batch, &stored));
        let prepared =
            committed.look_up(&batch, &stored, &self.recent, &self.earlier, &self.stop)?;
        let first = self.recent.len();
        for (record, prepared) in batch.into_iter().zip(prepared) {
            self.progress.hash = next_hash(self.progress.hash, &record);
            match (record, prepared) {
                (Record::Document(signed), Some(prepared)) => {
                    self.decide(&committed, first, signed, prepared)?
                }
                (Record::Skipped { place, why }, _) => {
                    self.events.push_back(Event::Skipped { place, why });
                }
                (Record::Failed(error), _) if self.options.strict => {
                    self.failure = Some(error);
                    return Ok(());
                }
                (Record::Failed(error), _) => {
                    self.events.push_back(Event::Failed(error));
                }
                // Every document has been prepared, so this does not happen.
                (Record::Document(_), None) => {}
            }
            self.progress.records += 1;
        }
        // Commit before the writer commits by itself, without the note.
        let uncommitted = self.writer.uncommitted() + self.unwritten.len();
        let bytes = self.recent.bytes() + self.unwritten.bytes();
        if uncommitted + BATCH >= self.writer.uncommitted_max()
            || bytes > self.options.memory_bytes / 2
        {
            self.events.push_back(Event::Committing);
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.is_over = self.progress.done;
        if self.options.temporary && (self.progress.done || self.unwritten.len() == 0) {
            return Ok(());
        }
        self.unwritten.write(&mut self.writer)?;
        let done = self.progress.done || !self.options.resumable;
        let progress = Progress { done, ..self.progress.clone() };
        let wholes = if done { Wholes::default() } else { Wholes::listing(&self.wholes) };
        let note = serde_json::to_string(&CommitNote { progress, wholes });
        let note = note.expect("numbers are JSON");
        self.writer.commit_with(&note)?;
        self.own = without(self.writer.committed()?, &self.options)?;
        self.recent = RecentDocuments::default();
        self.earlier.after_commit();
        let are_stored = self.own.snapshot().config().store_text;
        self.texts = Arc::new(self.texts.after_commit(are_stored));
        Ok(())
    }

    /// Decides on a document, after all documents before it. Uncommitted documents from number
    /// `first` on belong to the same batch.
    fn decide(
        &mut self,
        committed: &CommittedDocuments<'_>,
        first: usize,
        signed: SignedDocument,
        prepared: Prepared,
    ) -> Result<()> {
        let Prepared { mut keys, runs, mut reason, sources, stored } =
            self.renewed(committed, &signed, prepared)?;
        if let Some(verdict) = self.withdrawn(&signed)? {
            self.earlier.meet(&signed, stored.earlier, None)?;
            self.retire(&signed, &stored)?;
            self.tell(signed.document, verdict);
            return Ok(());
        }
        let own = committed.own(&signed, &keys);
        let size = own.size;
        let is_stored = stored.has_own(signed.digest);
        if !is_stored && reason.as_ref().is_none_or(|reason| !reason.is_exact()) {
            let mut own = own.with_runs(runs);
            let found = committed.among_recent(&signed, &mut own, &self.recent, first)?;
            reason = Reason::better(reason, found);
        }
        let whole = self.options.whole_digest(&signed).filter(|_| !is_stored);
        let whole = whole.and_then(|digest| self.wholes.get(&digest));
        reason = Reason::better(reason, whole.map(|id| Reason::exact(Holder::own(id))));
        let itself = self.earlier.meet(&signed, stored.earlier, reason.as_ref())?;
        let kept_as = itself.clone().filter(|itself| *itself != signed.document.id);
        let mut rest = None;
        let cut_passages = self.options.cut_passages.filter(|_| !is_stored);
        let mut verdict = match (reason, cut_passages) {
            _ if itself.is_some() => Verdict::Unchanged { cut: Vec::new(), kept_as },
            (Some(reason), _) => reason.verdict(),
            (None, None) => Verdict::Kept { cut: Vec::new(), kept_as: None, replaces: false },
            (None, Some(len_min)) => {
                let document = &signed.document;
                let verdict;
                (verdict, keys, rest) =
                    self.without_passages(committed, document, keys, sources, &stored, len_min)?;
                verdict
            }
        };
        if signed.token_count == 0 {
            self.events.push_back(Event::Empty(signed.document.id.clone()));
        }
        let is_kept = itself.is_none() && verdict.is_kept();
        if !is_kept && !self.options.keeps_none {
            if itself.is_none() {
                self.retire(&signed, &stored)?;
            }
            self.tell(signed.document, verdict);
            return Ok(());
        }
        if !is_kept {
            // Later documents may resemble this document even if it is dropped.
            let mut given = Verdict::Kept { cut: Vec::new(), kept_as: None, replaces: false };
            let id = self.identify(&signed.document.id, signed.digest, &stored, &mut given)?;
            self.tell(signed.document.clone(), verdict);
            let mut signed = signed;
            signed.document.id = id;
            return self.store(signed, &stored, keys, committed.sampling(), size);
        }
        let text = rest.as_ref().map_or(signed.digest, |rest| rest.digest);
        let id = self.identify(&signed.document.id, text, &stored, &mut verdict)?;
        let whole = self.options.whole_digest(&signed);
        if let Some(whole) = whole.filter(|_| rest.is_some() && !self.options.only_against) {
            self.wholes.insert(whole, id.clone());
        }
        self.tell(signed.document.clone(), verdict);
        let size = rest.as_ref().map_or(size, |rest| committed.own(rest, &keys).size);
        let mut signed = rest.unwrap_or(signed);
        signed.document.id = id;
        self.store(signed, &stored, keys, committed.sampling(), size)
    }

    /// Returns the findings for a document of the batch. Repeats the search if the reason is an old
    /// version that was replaced since the batch was looked up.
    fn renewed(
        &self,
        committed: &CommittedDocuments<'_>,
        signed: &SignedDocument,
        mut prepared: Prepared,
    ) -> Result<Prepared> {
        if prepared.reason.as_ref().is_some_and(|reason| self.earlier.is_stale(reason)) {
            let (recent, earlier) = (&self.recent, &self.earlier);
            return committed.look_up_one(signed, recent, earlier, prepared.stored);
        }
        let is_current =
            |source: &Source| source.searcher != 0 || !self.earlier.is_replaced(source.address);
        prepared.sources.retain(|(_, source)| is_current(source));
        Ok(prepared)
    }

    fn tell(&mut self, document: Document, verdict: Verdict) {
        self.events.push_back(Event::Decided(Decision { document, verdict }));
    }

    /// Completes the verdict on a document that is kept with this text, depending on whether an
    /// index has the text already. Returns the id of the document in the index of the run.
    fn identify(
        &mut self,
        id: &str,
        text: Digest,
        stored: &Stored,
        verdict: &mut Verdict,
    ) -> Result<String> {
        let has_own = stored.own().is_some();
        let given = if has_own { id.to_owned() } else { self.free_id(id)? };
        let cut = verdict.cut().to_vec();
        let kept_as = (given != id).then(|| given.clone());
        *verdict = match stored.has(text) {
            true => Verdict::Unchanged { cut, kept_as },
            false => Verdict::Kept { cut, kept_as, replaces: has_own },
        };
        Ok(given)
    }

    /// Puts a document of this size into the index, so that later documents are compared with it.
    /// Replaces an old version.
    fn store(
        &mut self,
        signed: SignedDocument,
        stored: &Stored,
        keys: Vec<u64>,
        sampling: Sampling,
        size: Size,
    ) -> Result<()> {
        if self.options.only_against {
            return Ok(());
        }
        let Some(own) = stored.own() else { return self.keep(signed, keys, sampling, size) };
        if own.text != signed.digest {
            self.earlier.replace(&signed.document.id, own.address);
            return self.keep(signed, keys, sampling, size);
        }
        // Uncut it seemed to correct the stored document, which the batch then did not look up.
        if self.earlier.is_replaced(own.address) {
            self.remember(&signed, keys, sampling, size)?;
        }
        // The meta object or the parts may have changed.
        if own.is_replaceable {
            self.writer.add_signed(signed)?;
        }
        Ok(())
    }

    /// Removes the old version of a document whose new version is dropped. Later documents would
    /// otherwise be duplicates of a text that the corpus no longer has.
    fn retire(&mut self, signed: &SignedDocument, stored: &Stored) -> Result<()> {
        if let Some(old) = stored.own().filter(|old| old.text != signed.digest) {
            self.earlier.replace(&signed.document.id, old.address);
            self.writer.remove(&signed.document.id)?;
        }
        Ok(())
    }

    /// Cuts passages of earlier documents out of a document, and treats the remaining text like
    /// another document until nothing is cut, because parts that meet can form a passage or a
    /// duplicate. Starts with the fingerprints and the committed sources of the document. Returns
    /// the verdict, the fingerprints of the document to keep, and the remaining document if
    /// something was cut.
    fn without_passages(
        &self,
        committed: &CommittedDocuments<'_>,
        document: &Document,
        mut keys: Vec<u64>,
        mut sources: Vec<(u32, Source)>,
        stored: &Stored,
        len_min: usize,
    ) -> Result<(Verdict, Vec<u64>, Option<SignedDocument>)> {
        let config = self.writer.index().config();
        let boilerplate = self.options.boilerplate.as_deref();
        let (mut rest, mut kept) = (Rest::of(document), None);
        loop {
            let all = Prefix { probed: keys.len(), needed: 1 };
            let mut recent = self.recent.neighbors(0, &keys, all, 1, |_| true);
            let group = self.options.group(document);
            recent.retain(|(_, recent, _)| self.options.keeps(group, recent.group));
            let texts = committed.texts(sources, recent)?;
            match rest.cut(&self.all_words, boilerplate, &texts, len_min, &self.stop)? {
                CutExtent::Nothing => {
                    let cut = rest.into_cuts();
                    let verdict = Verdict::Kept { cut, kept_as: None, replaces: false };
                    return Ok((verdict, keys, kept));
                }
                CutExtent::All => {
                    let verdict = Verdict::Passages { cut: rest.into_cuts() };
                    return Ok((verdict, Vec::new(), None));
                }
                CutExtent::Part => {}
            }
            let left = SignedDocument::new(rest.document().clone(), config, &self.stop)?;
            // Cutting whole letters may leave no token, and parts that meet may form a comment
            // without tokens.
            if left.token_count == 0 || !has_words(&left.document.text, self.options.min_left) {
                let verdict = Verdict::Passages { cut: rest.into_cuts() };
                return Ok((verdict, Vec::new(), None));
            }
            if let Some(verdict) = self.withdrawn(&left)? {
                return Ok((verdict, Vec::new(), None));
            }
            let (recent, stored) = (&self.recent, stored.clone());
            let found = committed.look_up_one(&left, recent, &self.earlier, stored)?;
            if let Some(reason) = found.reason {
                return Ok((reason.verdict(), Vec::new(), None));
            }
            (keys, sources, kept) = (found.keys, found.sources, Some(left));
        }
    }

    /// Returns the verdict on a document that an index refuses because it was withdrawn.
    fn withdrawn(&self, signed: &SignedDocument) -> Result<Option<Verdict>> {
        let (config, text) = (self.writer.index().config(), signed.checked_text());
        for withdrawals in std::iter::once(self.writer.withdrawals()).chain(&self.refused) {
            if let Some(found) = withdrawals.refused_for(config, text)? {
                let (of, withdrawn) = (found.id.clone(), found.withdrawn.clone());
                return Ok(Some(Verdict::Withdrawn { of, withdrawn }));
            }
        }
        Ok(None)
    }

    /// Returns the id, with a number appended if another document has the id.
    fn free_id(&mut self, id: &str) -> Result<String> {
        let is_taken =
            |id: &str| -> Result<bool> { Ok(self.unwritten.has(id) || self.writer.has(id)?) };
        if !is_taken(id)? {
            return Ok(id.to_owned());
        }
        let number = self.numbers.entry(id.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let numbered = numbered(id, *number);
            if !is_taken(&numbered)? {
                return Ok(numbered);
            }
        }
    }

    /// Puts a document of this size into the index and among the recent documents.
    fn keep(
        &mut self,
        signed: SignedDocument,
        keys: Vec<u64>,
        sampling: Sampling,
        size: Size,
    ) -> Result<()> {
        let place = self.remember(&signed, keys, sampling, size)?;
        if !self.options.temporary {
            return self.writer.add_signed(signed).map(drop);
        }
        let scope = self.options.scope.as_ref();
        let field = scope.map(|scope| scope.field_in(&signed.document)).unwrap_or_default();
        self.unwritten.push(signed, self.writer.index().config().store_text, place, field);
        Ok(())
    }

    /// Puts a document of this size among the recent documents. Returns the place of its text in
    /// the spool, if texts decide.
    fn remember(
        &mut self,
        signed: &SignedDocument,
        keys: Vec<u64>,
        sampling: Sampling,
        size: Size,
    ) -> Result<Option<u64>> {
        let is_compared = self.options.compares_texts();
        let texts_decide = self.texts.maker.is_some();
        let place =
            texts_decide.then(|| self.texts.spool.push(&signed.document.text)).transpose()?;
        let text = self.options.cut_passages.map(|_| signed.document.text.clone());
        let signature = (is_compared && !texts_decide).then(|| signed.signature.clone());
        let (id, tokens) = (signed.document.id.clone(), signed.token_count);
        let indexed = self.options.indexed(sampling, size);
        let group = self.options.group(&signed.document);
        let recent = Recent { id, keys, size, tokens, signature, place, indexed, text, group };
        self.recent.add(recent, self.options.text_digest(signed));
        Ok(place)
    }
}

#[cfg(test)]
mod tests;
