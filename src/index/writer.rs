//! Adds, replaces and deletes documents.
//!
//! No reader sees a change before [`Writer::commit`], and every snapshot taken afterwards does.
//! Dropping a writer discards its uncommitted changes. After a write that failed or panicked, the
//! writer refuses further changes: the disk has the last commit, and the index has to be opened
//! again. A commit is complete when it is durable, even if it cannot be opened yet.

mod current;
mod novelty;
mod patch;
mod uncommitted;

use std::borrow::Borrow;
use std::collections::HashMap;
use std::sync::Arc;

use derive_setters::Setters;
use tantivy::Directory;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::{DateTime, IndexWriter, TantivyError};

use super::SignedDocument;
use super::change_log::ChangeRecorder;
use super::content::{Compared, Content};
use super::deletion::Deletions;
use super::freed;
use super::moments::Moments;
use super::novelty::NoveltyRecorder;
use super::poison::{ChangeGuard, Poison};
use super::policy::TieredMergePolicy;
use super::storage::failure::words;
use super::written::written;
use super::{FINGERPRINT_BYTES, Index, Snapshot, Withdrawals};
use crate::error::{Error, Result};
use crate::hash::Digest;
use crate::index::Document;
use crate::reason::Reason;
use crate::runtime::Point;
use crate::runtime::Stop;
use crate::segment::plugin::{Backlog, Payload};
use uncommitted::WriterChange;

/// Options of a writer.
#[derive(Debug, Clone, Copy, Setters)]
#[non_exhaustive]
#[setters(into)]
pub struct WriterOptions {
    /// Bytes for documents on their way into a segment. Smaller values count as 32 MiB.
    pub memory_bytes: usize,
    /// Whether to merge segments in the background.
    pub merge: bool,
}

impl Default for WriterOptions {
    fn default() -> WriterOptions {
        WriterOptions { memory_bytes: 256 << 20, merge: true }
    }
}

/// Smaller budgets are raised to this.
const MEMORY_BYTES_MIN: usize = 32 << 20;
/// The minimum that tantivy accepts.
const SEGMENT_BYTES_MIN: usize = 16 << 20;
/// The maximum that tantivy accepts.
const SEGMENT_BYTES_MAX: usize = 4_000_000_000;

/// This fraction of the memory is for the deletions of the next commit. The writer commits when the
/// deletions reach the limit. Documents waiting for a segment have less memory accordingly.
const DELETIONS_SHARE: usize = 6;

/// The effect of adding a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The id was new.
    Added,
    /// The document replaced the stored document with the same id.
    Replaced,
    /// The stored document has the same text, parts and meta object, so nothing changed.
    Unchanged,
}

/// The only writer of an index, which adds, replaces and removes documents, and commits.
///
/// Changes are invisible until [`commit`](Writer::commit) makes them durable and visible,
/// atomically. A crash or a dropped writer only loses uncommitted changes. Documents on their way
/// into a segment take about [`WriterOptions::memory_bytes`], whatever their number.
/// [`add`](Writer::add) signs a document on the caller's thread, [`add_all`](Writer::add_all) signs
/// many documents on several threads. Segments are merged in the background, and
/// [`finish`](Writer::finish) waits for the merges.
///
/// # Errors
/// After an [`Error::Input`] the writer stays usable. After any other error it refuses every
/// change, and the index must be opened again to see its last commit. While another process or
/// thread has the writer, [`Index::writer`] fails with [`Error::Locked`].
///
/// # Examples
/// ```
/// use cento::{Config, Document, Index, Outcome, WriterOptions};
///
/// let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
/// let mut writer = index.writer(WriterOptions::default())?;
/// assert_eq!(writer.add(Document::new("a", "one version"))?, Outcome::Added);
/// assert_eq!(writer.add(Document::new("a", "another version"))?, Outcome::Replaced);
/// assert_eq!(index.snapshot()?.documents(), 0);
/// writer.commit()?;
/// assert_eq!(index.snapshot()?.documents(), 1);
/// assert!(writer.remove("a")?);
/// writer.finish()?;
/// assert_eq!(index.snapshot()?.documents(), 0);
/// # Ok::<(), cento::Error>(())
/// ```
pub struct Writer {
    index: Index,
    /// Always present, except while `finish` or `drop` consumes it.
    inner: Option<IndexWriter>,
    /// The last commit that could be opened.
    committed: Snapshot,
    /// Whether later commits could not be opened.
    is_behind: bool,
    /// By digest of the id, the changes in commits that could not be opened.
    unseen: HashMap<Digest, WriterChange>,
    /// By digest of the id, the changes since the last commit.
    changed: HashMap<Digest, WriterChange>,
    /// The documents that the uncommitted changes replace or remove.
    pub(super) deletions: Deletions,
    backlog: Arc<Backlog>,
    moments: Moments,
    /// The change log, if the index has one.
    changes: Option<ChangeRecorder>,
    /// The note of the last commit, which the next commit repeats.
    note: Option<String>,
    /// The documents that the index refuses.
    pub(super) withdrawals: Arc<Withdrawals>,
    /// Whether the changes must go into a single commit.
    pub(super) is_one_commit: bool,
    options: WriterOptions,
    /// Computes novelty, if the index records novelty.
    novelty: Option<NoveltyRecorder>,
    poison: Poison,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("index", &self.index).finish_non_exhaustive()
    }
}

impl Index {
    /// Opens the writer of the index.
    ///
    /// # Errors
    /// [`Error::Locked`] when another process or thread has the writer, immediately or after the
    /// time of [`Index::with_lock_wait`]. When the index is damaged.
    pub fn writer(&self, options: WriterOptions) -> Result<Writer> {
        // A third of the memory is for documents in tantivy's queue, the rest for the next segment.
        // A single indexing thread, so that segments have the documents in the order of addition,
        // whatever the timing.
        freed::keep(options.memory_bytes);
        let segment_bytes =
            (options.memory_bytes / 3 * 2).clamp(SEGMENT_BYTES_MIN, SEGMENT_BYTES_MAX);
        let inner = self.lock_wait().retry(|| {
            let inner = self.tantivy().writer_with_num_threads(1, segment_bytes);
            inner.map_err(|e| self.error("write to", e))
        })?;
        // tantivy gives the first operation the opstamp of the last commit. A merge of committed
        // segments applies deletions up to that opstamp, but skips segments that have deletions of
        // that commit. A first deletion would count as applied, and old versions would come back.
        // An empty run uses up the opstamp.
        inner.run([]).map_err(|e| self.error("write to", e))?;
        if options.merge {
            inner.set_merge_policy(Box::new(TieredMergePolicy));
        } else {
            inner.set_merge_policy(Box::new(NoMergePolicy));
        }
        // Check under the lock, because the directory may contain another index by now.
        self.check_same()?;
        // A killed writer may have left a list that is not durable. This writer relies on the list
        // for every acknowledgment, and for skipping known documents.
        self.directory().sync_directory().map_err(|e| self.error("write to", e.into()))?;
        let begun = self.directory().begin_writing(self.tantivy().directory());
        begun.map_err(|e| self.error("write to", e.into()))?;
        self.inner.plugin.backlog.begin(options.memory_bytes / 3);
        let novelty = novelty::recorder(self.config(), options.memory_bytes)?;
        Ok(Writer {
            index: self.clone(),
            inner: Some(inner),
            // Under the lock, to include a commit that another process has just made.
            committed: self.snapshot()?,
            is_behind: false,
            unseen: HashMap::new(),
            changed: HashMap::new(),
            deletions: Deletions::new(self.fields().id),
            backlog: self.inner.plugin.backlog.clone(),
            moments: Moments::default(),
            changes: ChangeRecorder::open(self)?,
            note: self.note()?,
            withdrawals: Arc::new(self.listed_withdrawals()?),
            is_one_commit: false,
            options,
            novelty,
            poison: Poison::default(),
        })
    }
}

impl Writer {
    /// Returns the index that this writer changes.
    #[must_use]
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Returns the index as of the last commit.
    ///
    /// # Errors
    /// When the segments cannot be opened. The commit is durable nevertheless.
    pub fn committed(&mut self) -> Result<&Snapshot> {
        self.catch_up()?;
        Ok(&self.committed)
    }

    /// Returns whether the writer accepts changes. False after a change has failed or panicked.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        !self.poison.is_set()
    }

    /// Returns whether the index, uncommitted changes included, has the document with the same text
    /// (which has this digest), the same parts and the same meta object.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn holds(&self, document: &Document, digest: Digest) -> Result<bool> {
        Ok(self.compare(document, digest)?.is_unchanged())
    }

    /// Returns the number of documents changed since the last commit.
    #[must_use]
    pub fn uncommitted(&self) -> usize {
        self.changed.len()
    }

    /// Adds a document, or replaces the document with the same id. An unchanged document is kept as
    /// is. A document with a made id ([`super::IdSource`]) only replaces a document from the same
    /// place.
    ///
    /// The document is signed on the caller's thread. [`add_all`](Self::add_all) uses several.
    ///
    /// # Errors
    /// When the index cannot hold the document ([`Document::problem`]), when its made id belongs to
    /// a document from another place, when it was withdrawn, or when it cannot be written. After an
    /// [`Error::Input`] the writer stays usable.
    pub fn add(&mut self, document: Document) -> Result<Outcome> {
        let document = document.checked()?;
        self.check_usable()?;
        let digest = self.index.config().text_digest(&document.text)?;
        let compared = self.compare(&document, digest)?;
        if compared.is_unchanged() {
            return Ok(Outcome::Unchanged);
        }
        let signed =
            SignedDocument::with_digest(document, digest, self.index.config(), Stop::NEVER)?;
        let added = compared.added(digest, self.moments.next(&self.committed)?);
        self.put(signed, &compared, added)
    }

    /// Adds a document that was signed with the configuration of the index.
    ///
    /// # Errors
    /// [`Error::Input`] when a made id belongs to a document from another place, or when the
    /// document was withdrawn. When the document cannot be written.
    pub fn add_signed(&mut self, signed: impl Borrow<SignedDocument>) -> Result<Outcome> {
        let now = self.moments.next(&self.committed)?;
        self.add_as_of(signed, now)
    }

    /// Adds a signed document that was first added at another time.
    pub(super) fn add_as_of(
        &mut self,
        signed: impl Borrow<SignedDocument>,
        added: DateTime,
    ) -> Result<Outcome> {
        self.check_usable()?;
        let own = signed.borrow();
        let compared = self.compare(&own.document, own.digest)?;
        if compared.is_unchanged() {
            return Ok(Outcome::Unchanged);
        }
        let added = compared.added(own.digest, added);
        self.put(signed, &compared, added)
    }

    /// Writes a document that differs from the stored one.
    fn put(
        &mut self,
        signed: impl Borrow<SignedDocument>,
        compared: &Compared,
        added: DateTime,
    ) -> Result<Outcome> {
        let own: &SignedDocument = signed.borrow();
        compared.check_replacement(&own.document)?;
        // A withdrawal writes the remaining text again, which is not new and must not be refused.
        if !self.is_one_commit {
            self.withdrawals.check(self.index.config(), own)?;
        }
        self.make_room()?;
        let stored = self.index.fields().text.map_or(0, |_| own.document.text.len());
        let bytes = stored + FINGERPRINT_BYTES * own.signature.len() + 1024;
        let place = own.document.id_source.place();
        self.make_room_for_novelty()?;
        let payload = Payload {
            digest: own.digest,
            tokens: own.token_count,
            signature: own.signature.clone(),
        };
        let text = own.digest;
        let replaced = compared.before.is_some().then(|| own.document.id.clone());
        let point = self.index.faults().at(Point::Add, &own.document.id);
        point.map_err(|e| Error::io("write to", self.index.path(), e))?;
        // From here on, a failure could delete the old version without adding the new one.
        let change = self.poison.begin();
        self.log_change(&own.document.id)?;
        if let Some(id) = replaced {
            self.delete(compared.of_id, &id)?;
        }
        let novel = self.with_novelty(own, compared, added)?;
        let novel = novel.as_ref().map(|(meta, json)| (meta, &json[..]));
        let (meta, json) = novel.unwrap_or((&own.document.meta, &compared.meta));
        let mut document = written(self.index.fields(), own, meta, json, added);
        drop(signed);
        let number = self.backlog.push(payload, bytes);
        document.add_custom(self.index.fields().signature, &number);
        let queued = self.tantivy_writer().add_document(document);
        queued.map_err(|e| self.failure("add a document to", e))?;
        let content = Content { digest: compared.content, place, text, added };
        self.changed.insert(compared.of_id, WriterChange::Added(content));
        change.finish();
        self.commit_if_many()?;
        Ok(if compared.before.is_some() { Outcome::Replaced } else { Outcome::Added })
    }

    /// Removes the document with this id. Returns whether there was one.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn remove(&mut self, id: &str) -> Result<bool> {
        self.check_usable()?;
        self.make_room()?;
        let of_id = id_digest(id);
        if self.content_of(of_id, id)?.is_none() {
            return Ok(false);
        }
        let change = self.poison.begin();
        self.delete(of_id, id)?;
        self.changed.insert(of_id, WriterChange::Removed);
        change.finish();
        self.commit_if_many()?;
        Ok(true)
    }

    /// Deletes the document with this id, which has the digest `of_id`.
    fn delete(&mut self, of_id: Digest, id: &str) -> Result<()> {
        if let Some(novelty) = &mut self.novelty {
            novelty.remove(&self.committed, id, of_id)?;
        }
        let is_committed = !self.changed.contains_key(&of_id);
        let writer = self.inner.as_ref().expect("a writer is used before it is closed");
        let deleted = self.deletions.delete(writer, of_id, id, is_committed);
        deleted.map_err(|e| self.failure("delete a document of", e))?;
        let bytes = (self.options.memory_bytes / 3).saturating_sub(self.deletions.bytes());
        self.backlog.have(bytes);
        Ok(())
    }

    /// Opens the last commit when the unseen changes reach the limit. They take as much memory as
    /// uncommitted changes, but a commit does not free them.
    fn make_room(&mut self) -> Result<()> {
        if self.unseen.len() >= self.uncommitted_max() { self.catch_up() } else { Ok(()) }
    }

    fn deletions_bytes_max(&self) -> usize {
        self.options.memory_bytes.max(MEMORY_BYTES_MIN) / DELETIONS_SHARE
    }

    fn commit_if_many(&mut self) -> Result<()> {
        if self.is_one_commit {
            return Ok(());
        }
        let are_many = self.changed.len() >= self.uncommitted_max()
            || self.deletions.bytes() >= self.deletions_bytes_max();
        if are_many { self.commit() } else { Ok(()) }
    }

    /// Makes the uncommitted changes durable and visible, atomically.
    ///
    /// # Errors
    /// Only when the changes could not be made durable. The writer is then unusable: open the index
    /// again to see its last commit. A durable commit that cannot be opened is not an error here,
    /// but an error of [`committed`](Self::committed).
    pub fn commit(&mut self) -> Result<()> {
        self.check_usable()?;
        if self.changed.is_empty() {
            self.try_to_catch_up();
            return Ok(());
        }
        self.commit_all(self.poison.begin())
    }

    /// Starts logging the documents that later commits add ([`Index::change_log`]). Earlier changes
    /// are committed first. Returns the number of the last logged commit, or 0 if the log is new.
    ///
    /// # Errors
    /// When the log cannot be written, or the index is in memory, and the errors of
    /// [`commit`](Self::commit).
    pub fn log_changes(&mut self) -> Result<u64> {
        self.commit()?;
        let changes = match self.changes.take() {
            Some(changes) => changes,
            None => ChangeRecorder::begin(&self.index)?,
        };
        Ok(self.changes.insert(changes).last())
    }

    /// Logs that the next commit adds a document, if the index has a change log.
    pub(super) fn log_change(&mut self, id: &str) -> Result<()> {
        let noted = self.changes.as_mut().map_or(Ok(()), |changes| changes.note(id));
        noted.map_err(|e| Error::io("write to", self.index.path(), e))
    }

    /// Returns whether the index has a change log.
    pub(super) fn logs_changes(&self) -> bool {
        self.changes.is_some()
    }

    /// Commits with a note, even if nothing has changed. [`Index::note`] reads the note, which
    /// later commits repeat until the next note.
    ///
    /// # Errors
    /// The errors of [`commit`](Self::commit).
    pub fn commit_with(&mut self, note: &str) -> Result<()> {
        self.check_usable()?;
        self.note = Some(note.to_owned());
        self.commit_all(self.poison.begin())
    }

    fn commit_all(&mut self, change: ChangeGuard) -> Result<()> {
        let note = self.note.clone();
        let point = self.index.faults().at(Point::Commit, "");
        point.map_err(|e| Error::io("write to", self.index.path(), e))?;
        let mut changes = self.changes.take();
        let committed = self.tantivy_writer().prepare_commit().and_then(|mut prepared| {
            // A commit without the note would remove the last note.
            if let Some(note) = &note {
                prepared.set_payload(note);
            }
            if let Some(changes) = &mut changes {
                changes.seal(prepared.opstamp())?;
            }
            prepared.commit()
        });
        self.changes = changes;
        committed.map_err(|e| self.failure("commit to", e))?;
        change.finish();
        self.deletions.begin();
        self.backlog.begin(self.options.memory_bytes / 3);
        self.is_behind = true;
        if self.unseen.is_empty() {
            std::mem::swap(&mut self.unseen, &mut self.changed);
        } else {
            self.unseen.extend(self.changed.drain());
        }
        self.try_to_catch_up();
        Ok(())
    }

    /// Opens the last commit. A commit that cannot be opened is not lost: `unseen` lists the
    /// changes until the commit can be opened.
    fn catch_up(&mut self) -> Result<()> {
        if self.is_behind {
            self.committed = Error::catch("opening the commit", || {
                let point = self.index.faults().at(Point::OpenCommitted, "");
                point.map_err(|e| Error::io("read", self.index.path(), e))?;
                self.index.snapshot()
            })?;
            self.unseen.clear();
            self.is_behind = false;
            if let Some(novelty) = &mut self.novelty {
                novelty.begin();
            }
        }
        Ok(())
    }

    /// Opens the last commit again, because a merge may have replaced its segments.
    pub(super) fn reopen(&mut self) -> Result<()> {
        self.is_behind = true;
        self.catch_up()
    }

    fn try_to_catch_up(&mut self) {
        if let Err(error) = self.catch_up() {
            log::error!("the commit is durable but cannot be opened yet: {error}");
        }
    }

    /// Returns whether there is a document with this id, uncommitted changes included.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn has(&self, id: &str) -> Result<bool> {
        Ok(self.content_of(id_digest(id), id)?.is_some())
    }

    /// Commits, then waits until the merges in the background have ended.
    ///
    /// # Errors
    /// When the commit or a merge fails.
    pub fn finish(mut self) -> Result<()> {
        self.commit()?;
        self.close().map_err(|e| self.index.error("merge segments of", e))
    }

    /// Waits until tantivy's threads have ended before releasing the lock. A merge that ended under
    /// the next writer would remove the segments of that writer.
    fn close(&mut self) -> tantivy::Result<()> {
        self.inner.take().map_or(Ok(()), IndexWriter::wait_merging_threads)
    }

    pub(super) fn tantivy_writer(&mut self) -> &mut IndexWriter {
        self.inner.as_mut().expect("a writer is used before it is closed")
    }

    /// Returns whether segments are merged in the background.
    pub(super) fn merges(&self) -> bool {
        self.options.merge
    }

    /// Begins a change of the list of segments. Unless committed, it makes the writer unusable.
    pub(super) fn begin_change(&self) -> ChangeGuard {
        self.poison.begin()
    }

    /// Commits a change begun with [`begin_change`](Self::begin_change).
    pub(super) fn commit_change(&mut self, change: ChangeGuard) -> Result<()> {
        self.moments.forget();
        self.commit_all(change)
    }

    pub(super) fn check_usable(&self) -> Result<()> {
        if self.poison.is_set() {
            let what = "an earlier write failed; open the index again, which is in the state of \
                        its last commit";
            return Err(Error::index(self.index.path(), Reason::WriteFailed, what));
        }
        Ok(())
    }

    /// Returns the cause of a failed write. tantivy first reports only that its thread has ended.
    fn failure(&mut self, action: &'static str, error: TantivyError) -> Error {
        // If the directory was exchanged, the exchange is the cause of whatever failed.
        if let Err(exchanged) = self.index.directory().check_writer() {
            return self.index.error(action, exchanged.into());
        }
        let is_thread = |error: &TantivyError| matches!(error, TantivyError::ErrorInThread(_));
        let error = match is_thread(&error) {
            true => self.tantivy_writer().prepare_commit().err().unwrap_or(error),
            false => error,
        };
        if is_thread(&error) {
            return Error::internal("the thread that writes segments", "it panicked");
        }
        self.index.error(action, error)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.deletions.abandon();
        if let Err(error) = self.close() {
            log::warn!("a merge in the background failed: {}", words(&error));
        }
    }
}

fn id_digest(id: &str) -> Digest {
    Digest::of(id.as_bytes())
}
