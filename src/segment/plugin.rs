//! Connects `.sig` files to the life of tantivy segments.
//!
//! tantivy calls the plugin when it writes a segment and when it merges segments. The plugin passes
//! the signatures on to the builder and the merge, which know nothing of tantivy. A merge drops and
//! numbers documents like tantivy: without index sorting, the live documents of the sources follow
//! in order.

use std::any::Any;
use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tantivy::directory::error::OpenReadError;
use tantivy::directory::{OwnedBytes, TerminatingWrite};
use tantivy::index::SegmentComponent;
use tantivy::schema::document::ErasedDocument;
use tantivy::schema::{Schema, Value};
use tantivy::{
    DocId, PluginMergeContext, PluginWriter, PluginWriterContext, Segment, SegmentPlugin,
    TantivyDocument,
};

use super::{
    Header, Identity, MergeOptions, MergeSource, ReadAhead, SegmentBuilder, SegmentReader, merge,
    merge_work,
};
use crate::error::{Corruption, Error, Result};
use crate::hash::Digest;
use crate::runtime::{ByteBudget, Permit};
use crate::runtime::{Faults, Point};
use crate::scheme::Fingerprint;

/// The extension of `.sig` files.
pub const EXTENSION: &str = "sig";

/// The name of the field with the signatures.
pub const FIELD: &str = "signature";
/// The type name of [`FIELD`] in the schema.
pub const FIELD_TYPE: &str = "cento_signature";
/// The name of the field with the caller's id.
pub const ID_FIELD: &str = "id";

/// A segment is flushed this many occurrences before sorting would need twice the memory, so that
/// another document still fits.
const OCCURRENCES_MARGIN: usize = 1 << 20;

/// Larger merges, in postings and fingerprints of documents, get threads of their own.
const WORK_OF_THREADS: u64 = 4 << 20;

/// The memory usage that the plugin reports to have its segment written immediately.
const FLUSH_NOW_BYTES: usize = 1 << 40;

/// The usual limit of waiting documents: about a hundredth of a second of texts to compress.
/// Signing threads are faster than the compressing thread, which would otherwise be left with all
/// waiting documents in the end.
const WAITING_BYTES: usize = 4 << 20;

/// After this time without progress, the thread that drains the queue may have ended.
const STALL: Duration = Duration::from_secs(5);

/// Documents that were passed to tantivy but have not arrived in a segment, with their signatures.
///
/// tantivy limits its queue by the number of documents. The backlog limits it by their size. A
/// signature is not copied into tantivy's document, which only has the number of its entry in the
/// backlog.
pub struct Backlog {
    budget: Arc<ByteBudget>,
    /// The limit in bytes while the signatures of a segment are written.
    bytes_max: AtomicUsize,
    waiting: Mutex<PendingPayloads>,
}

impl std::fmt::Debug for Backlog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backlog").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct PendingPayloads {
    next: u64,
    documents: HashMap<u64, (Payload, Option<Permit>)>,
    /// The number of documents that have arrived.
    arrived: u64,
}

/// The data of a document for the plugin.
pub struct Payload {
    /// The digest of the document's text.
    pub digest: Digest,
    /// The number of tokens.
    pub tokens: u32,
    /// The signature, ordered by position.
    pub signature: Arc<Vec<Fingerprint>>,
}

impl std::fmt::Debug for Payload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Payload").finish_non_exhaustive()
    }
}

impl Default for Backlog {
    fn default() -> Backlog {
        let (budget, bytes_max) = (ByteBudget::new(0), AtomicUsize::new(0));
        Backlog { budget, bytes_max, waiting: Mutex::default() }
    }
}

impl Backlog {
    fn lock(&self) -> MutexGuard<'_, PendingPayloads> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a document that takes `bytes`. Waits until the document fits, or no other document is
    /// waiting. Returns the value of the signature field.
    ///
    /// After a while without progress, the document is admitted regardless. If tantivy's thread has
    /// ended, only tantivy can report the end, on receiving the document. If the thread is slow,
    /// little memory is added.
    pub fn push(&self, payload: Payload, bytes: usize) -> [u8; 8] {
        self.push_within(payload, bytes, STALL)
    }

    fn push_within(&self, payload: Payload, bytes: usize, stall: Duration) -> [u8; 8] {
        let moved = Cell::new((self.lock().arrived, Instant::now()));
        let is_moving = || {
            let arrived = self.lock().arrived;
            if arrived != moved.get().0 {
                moved.set((arrived, Instant::now()));
            }
            moved.get().1.elapsed() < stall
        };
        let permit = self.budget.enter_while(bytes, &is_moving);
        let mut waiting = self.lock();
        let number = waiting.next;
        waiting.next += 1;
        waiting.documents.insert(number, (payload, permit));
        number.to_le_bytes()
    }

    /// Starts over for a writer with room for `bytes_max` bytes of waiting documents.
    pub fn begin(&self, bytes_max: usize) {
        self.have(bytes_max);
        self.clear();
    }

    /// Sets the room for waiting documents to `bytes_max` bytes.
    pub fn have(&self, bytes_max: usize) {
        self.bytes_max.store(bytes_max, Ordering::Relaxed);
    }

    /// Removes every document, after the queue was discarded or has run empty.
    pub fn clear(&self) {
        self.lock().documents.clear();
        self.wait_as_usual();
    }

    /// Admits as many documents as memory allows, because none will be taken for a while.
    fn wait_for_long(&self) {
        self.budget.open(self.bytes_max.load(Ordering::Relaxed));
    }

    /// Admits enough documents to keep the consuming threads busy.
    fn wait_as_usual(&self) {
        self.budget.open(self.bytes_max.load(Ordering::Relaxed).min(WAITING_BYTES));
    }

    /// Removes the document with this number. `None` if its queue was discarded.
    fn pop(&self, number: [u8; 8]) -> Option<(Payload, Option<Permit>)> {
        let mut waiting = self.lock();
        waiting.arrived += 1;
        waiting.documents.remove(&u64::from_le_bytes(number))
    }

    fn give_up(&self) {
        self.budget.close();
    }
}

/// The properties that the segments of an index share.
#[derive(Debug, Clone, Copy)]
pub struct Description {
    /// Keys are smaller than 2^`key_bits`.
    pub key_bits: u8,
    /// The digest of scheme, analyzer and hash.
    pub config: u64,
    /// Whether signatures are stored.
    pub signatures: bool,
}

impl Description {
    fn header(self, documents: u32) -> Header {
        let Description { key_bits, config, signatures } = self;
        Header { key_bits, documents, config, signatures }
    }
}

/// The plugin of an open index.
pub struct SignaturePlugin {
    /// The properties that the segments of the index share.
    pub description: Description,
    /// The directory for posting lists while terms are written. `None`: the system's choice.
    pub spool_dir: Option<PathBuf>,
    /// The documents on their way into a segment, shared with the writer.
    pub backlog: Arc<Backlog>,
    /// The number of segments merged into larger segments.
    pub merges: AtomicU64,
    /// The progress of merges.
    pub progress: Progress,
    /// Failures injected by a test.
    pub faults: OnceLock<Faults>,
}

/// The progress of merges since the index was opened, in postings and fingerprints of documents.
#[derive(Debug, Default)]
pub struct Progress {
    /// The amount written so far.
    pub done: AtomicU64,
    /// The total amount of work of the merges that have begun.
    pub total: AtomicU64,
}

impl std::fmt::Debug for SignaturePlugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignaturePlugin").finish_non_exhaustive()
    }
}

/// The signatures of a segment, opened but not read yet.
///
/// Opening is separate, so that the list of segments is locked only while files are opened.
pub struct SignatureFile {
    name: String,
    bytes: OwnedBytes,
    read_ahead: ReadAhead,
}

impl std::fmt::Debug for SignatureFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignatureFile").finish_non_exhaustive()
    }
}

impl SignatureFile {
    /// Opens the signatures of a segment of the index in the directory `path`.
    ///
    /// # Errors
    /// When the file is missing, truncated, or differs from the committed file.
    pub fn open(segment: &tantivy::SegmentReader, path: &Path) -> Result<SignatureFile> {
        let path = path.join(name_of(segment));
        let file = SignatureFile::read_from(segment, path.display().to_string())?;
        Ok(SignatureFile { read_ahead: ReadAhead::of(&path), ..file })
    }

    /// Reads the signatures without read-ahead. `name` is the name of the file for messages.
    fn read_from(segment: &tantivy::SegmentReader, name: String) -> Result<SignatureFile> {
        let file = segment.open_read(SegmentComponent::Custom(EXTENSION.into()));
        let file = file.map_err(|e| match e {
            OpenReadError::FileDoesNotExist(_) => {
                Error::io("read", &name, io::ErrorKind::NotFound.into())
            }
            OpenReadError::IoError { io_error, .. } => unreadable(&name, &io_error),
            OpenReadError::IncompatibleIndex(_) => {
                let what = "it was written by another version of tantivy";
                Error::io("read", &name, io::Error::other(what))
            }
        })?;
        let bytes = file.read_bytes().map_err(|e| unreadable(&name, &e))?;
        Ok(SignatureFile { name, bytes, read_ahead: ReadAhead::default() })
    }

    /// Reads the signatures of `segment`, which belongs to an index with this `description`.
    ///
    /// # Errors
    /// When the file is damaged, belongs to another index, or has another number of documents.
    pub fn read(
        self,
        segment: &tantivy::SegmentReader,
        description: Description,
    ) -> Result<SegmentReader> {
        let SignatureFile { name, bytes, read_ahead } = self;
        let reader = SegmentReader::open_ahead(name.clone(), bytes, read_ahead)?;
        let header = reader.header();
        let foreign = |at, what: &str| Error::from(Corruption::new(&name, "header", at, what));
        if header.config != description.config {
            return Err(foreign(
                16,
                "it was written with another scheme or analyzer than that of its index",
            ));
        }
        if header.signatures != description.signatures {
            return Err(foreign(
                11,
                "it stores signatures and its index does not, or the other way round",
            ));
        }
        if header.documents != segment.max_doc() {
            return Err(foreign(12, "it belongs to another segment"));
        }
        Ok(reader)
    }
}

fn name_of(segment: &tantivy::SegmentReader) -> String {
    format!("{}.{EXTENSION}", segment.segment_id().uuid_string())
}

/// Converts a failure to read a file into the damage that was found, if any.
fn unreadable(name: &str, error: &io::Error) -> Error {
    match error.get_ref().and_then(|cause| cause.downcast_ref::<Corruption>()) {
        Some(corruption) => {
            let directory = Path::new(name).parent().unwrap_or(Path::new(""));
            corruption.clone().in_directory(directory).into()
        }
        None => Error::io("read", name, io::Error::new(error.kind(), error.to_string())),
    }
}

fn to_tantivy(error: impl Into<Error>) -> tantivy::TantivyError {
    io::Error::other(error.into()).into()
}

impl SegmentPlugin for SignaturePlugin {
    fn extensions(&self) -> &[&str] {
        &[EXTENSION]
    }

    fn create_writer(
        &self,
        ctx: &PluginWriterContext<'_>,
    ) -> tantivy::Result<Box<dyn PluginWriter>> {
        Ok(Box::new(SignatureWriter {
            field: ctx.segment.schema().get_field(FIELD)?,
            id_field: ctx.segment.schema().get_field(ID_FIELD)?,
            faults: self.faults.get().cloned().unwrap_or_default(),
            description: self.description,
            spool_dir: self.spool_dir.clone(),
            backlog: self.backlog.clone(),
            builder: SegmentBuilder::new(),
            is_written: false,
        }))
    }

    fn merge(&self, ctx: PluginMergeContext<'_>) -> tantivy::Result<()> {
        let mut readers = Vec::with_capacity(ctx.readers.len());
        for reader in ctx.readers {
            // The system reads ahead by itself, because a merge reads sequentially. The caller of
            // the merge knows the directory.
            let file = SignatureFile::read_from(reader, name_of(reader)).map_err(to_tantivy)?;
            readers.push(file.read(reader, self.description).map_err(to_tantivy)?);
        }
        let alive = |segment: &tantivy::SegmentReader| {
            segment.has_deletes().then(|| segment.doc_ids_alive().collect())
        };
        let sources: Vec<MergeSource<'_>> = readers
            .iter()
            .zip(ctx.readers)
            .map(|(reader, segment)| MergeSource { reader, alive: alive(segment) })
            .collect();
        let documents = sources.iter().map(MergeSource::documents).sum();
        let header = self.description.header(documents);
        let out = ctx.target_segment.open_write(SegmentComponent::Custom(EXTENSION.into()))?;
        let work = merge_work(&sources);
        self.progress.total.fetch_add(work, Ordering::Relaxed);
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let options = MergeOptions {
            spool_dir: self.spool_dir.as_deref(),
            threads: if work < WORK_OF_THREADS || cores == 1 { 0 } else { cores },
            done: Some(&|more| {
                self.progress.done.fetch_add(more, Ordering::Relaxed);
            }),
        };
        let (_, mut out) = merge(&sources, header, out, &options).map_err(to_tantivy)?;
        out.flush()?;
        out.terminate()?;
        self.merges.fetch_add(ctx.readers.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

struct SignatureWriter {
    field: tantivy::schema::Field,
    id_field: tantivy::schema::Field,
    faults: Faults,
    description: Description,
    spool_dir: Option<PathBuf>,
    backlog: Arc<Backlog>,
    builder: SegmentBuilder,
    is_written: bool,
}

impl Drop for SignatureWriter {
    fn drop(&mut self) {
        if !self.is_written {
            self.backlog.give_up();
        }
    }
}

impl PluginWriter for SignatureWriter {
    fn add_document(
        &mut self,
        _doc: DocId,
        document: &dyn ErasedDocument,
        _schema: &Schema,
    ) -> tantivy::Result<()> {
        let document = document
            .as_any()
            .downcast_ref::<TantivyDocument>()
            .expect("cento hands tantivy only documents of its own type");
        let id = document.get_first(self.id_field);
        let id = id.as_ref().and_then(|id| id.as_str()).expect("every document of cento has an id");
        if self.faults.is_some() {
            self.faults.at(Point::Index, id)?;
        }
        let number = document.get_first(self.field).and_then(|value| value.as_custom());
        let number = number.and_then(|number| number.try_into().ok());
        let number = number.expect("every document of cento has the number of its signature");
        let Some((Payload { digest, tokens, signature }, permit)) = self.backlog.pop(number) else {
            let what = "a document arrived after its queue had been thrown away";
            return Err(tantivy::TantivyError::InternalError(what.into()));
        };
        self.builder.push(Identity { id, digest }, tokens, &signature);
        drop((signature, permit));
        Ok(())
    }

    fn serialize(
        mut self: Box<Self>,
        segment: &Segment,
        doc_id_map: Option<&tantivy::indexer::doc_id_mapping::DocIdMapping>,
    ) -> tantivy::Result<()> {
        assert!(doc_id_map.is_none(), "index sorting is never turned on");
        let documents = self.builder.documents();
        let header = self.description.header(documents);
        let out = segment.clone().open_write(SegmentComponent::Custom(EXTENSION.into()))?;
        let builder = std::mem::take(&mut self.builder);
        self.backlog.wait_for_long();
        let (_, mut out) = builder.write(out, header, self.spool_dir.as_deref())?;
        out.flush()?;
        out.terminate()?;
        self.backlog.wait_as_usual();
        self.is_written = true;
        Ok(())
    }

    fn mem_usage(&self) -> usize {
        if self.faults.at(Point::Fill, "").is_err() {
            return FLUSH_NOW_BYTES;
        }
        let occurrences_max = SegmentBuilder::occurrences_max(self.description.key_bits);
        if occurrences_max > OCCURRENCES_MARGIN
            && self.builder.occurrences() > occurrences_max - OCCURRENCES_MARGIN
        {
            return FLUSH_NOW_BYTES;
        }
        self.builder.memory_bytes()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_waits_while_signatures_are_written_than_otherwise() {
        let backlog = Backlog::default();
        for (bytes_max, usual) in [(1 << 30, WAITING_BYTES), (1 << 20, 1 << 20)] {
            backlog.begin(bytes_max);
            assert_eq!(backlog.budget.bytes_max(), usual);
            backlog.wait_for_long();
            assert_eq!(backlog.budget.bytes_max(), bytes_max);
            backlog.wait_as_usual();
            assert_eq!(backlog.budget.bytes_max(), usual);
        }
    }

    #[test]
    fn a_queue_that_is_not_drained_blocks_no_writer_for_ever() {
        // A thread that ended between two segments did not notify, and callers of `add` waited
        // forever.
        let backlog = Backlog::default();
        backlog.begin(5);
        let payload = || Payload { digest: Digest::of(b""), tokens: 0, signature: Arc::default() };
        let stall = Duration::from_millis(1);
        let first = backlog.push_within(payload(), 10, stall);
        let second = backlog.push_within(payload(), 10, stall);
        assert_eq!(backlog.lock().documents.len(), 2);
        // While a thread drains the backlog, `push` waits.
        thread::scope(|scope| {
            scope.spawn(|| drop((backlog.pop(first), backlog.pop(second))));
            let third = backlog.push_within(payload(), 10, Duration::from_secs(3600));
            assert!(backlog.pop(third).is_some_and(|(_, permit)| permit.is_some()));
        });
        assert!(backlog.pop(first).is_none(), "it has arrived");
    }
}
