//! One segment of a snapshot.
//!
//! The files of a segment never change, only the set of its live documents does. Snapshots of the
//! same [`Index`] therefore share the data read from a segment, and a new snapshot opens only new
//! segments.

use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use tantivy::DateTime;
use tantivy::columnar::Column;
use tantivy::directory::OwnedBytes;
use tantivy::fastfield::{AliveBitSet, FastFieldReaders};
use tantivy::index::SegmentId;

use super::Index;
use super::analyzed_document::AnalyzedDocuments;
use super::schema::{META_JSON, PARTS_DIGEST, PLACE};
use super::storage::byte_lru::ByteLru;
use super::storage::column::{Group, StringColumn};
use super::storage::store::Store;
use super::storage::store_error;
use crate::error::{Corruption, Result};
use crate::segment::SegmentReader;
use crate::segment::plugin::SignatureFile;

/// A segment of a snapshot: its files, and which of its documents are live.
#[derive(Clone)]
pub struct SegmentView {
    files: Arc<SegmentFiles>,
    alive: Option<AliveBitSet>,
    live_documents: u32,
}

impl std::fmt::Debug for SegmentView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SegmentView").finish_non_exhaustive()
    }
}

/// The data read from a segment, deleted documents included.
pub struct SegmentFiles {
    /// The reader of the `.sig` file.
    pub signatures: SegmentReader,
    /// The reader of the stored texts.
    pub(super) store: Store,
    /// The cache of analyzed documents.
    pub(super) documents: AnalyzedDocuments,
    /// The meta objects as JSON. `None` without meta objects. Like the following columns, opened at
    /// first use, because opening compares the whole file with a checksum.
    metas: OnceLock<Option<StringColumn>>,
    /// The times of addition.
    added: OnceLock<Column<DateTime>>,
    /// The places that ids were made from.
    places: OnceLock<Column<u64>>,
    /// The digests of the parts of texts.
    parts_digests: OnceLock<Column<u64>>,
    /// The cache of meta objects.
    kept: Arc<ByteLru<Group>>,
    segment: tantivy::SegmentReader,
    index_path: PathBuf,
}

impl std::fmt::Debug for SegmentFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SegmentFiles").finish_non_exhaustive()
    }
}

impl SegmentFiles {
    /// Reads the parts of a segment of `index` that a snapshot needs, from open files.
    ///
    /// # Errors
    /// When a file is damaged, or does not belong to this index.
    pub(super) fn read(
        segment: &tantivy::SegmentReader,
        signatures: SignatureFile,
        store: Store,
        index: &Index,
    ) -> Result<SegmentFiles> {
        let signatures = signatures.read(segment, index.inner.plugin.description)?;
        let (metas, added) = (OnceLock::new(), OnceLock::new());
        let (places, parts_digests) = (OnceLock::new(), OnceLock::new());
        let segment = segment.clone();
        let (kept, index_path) = (index.inner.metas.clone(), index.path().to_owned());
        Ok(SegmentFiles {
            signatures,
            store,
            documents: AnalyzedDocuments::new(&index.inner.documents),
            metas,
            added,
            places,
            parts_digests,
            kept,
            segment,
            index_path,
        })
    }

    /// Returns the JSON of the meta object of document `doc`, if it has a meta object.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub(super) fn meta_json(&self, doc: u32) -> Result<Option<Vec<u8>>> {
        let column = self.column(&self.metas, |fast| {
            let column = fast.bytes(META_JSON)?;
            Ok(column.map(|column| StringColumn::new(column, &self.kept)))
        })?;
        let Some(column) = column else { return Ok(None) };
        column.get(doc).map_err(|_| {
            let file = format!("{}.fast", self.segment.segment_id().uuid_string());
            let what = format!("document {doc}: the meta object cannot be read");
            Corruption::new(file, "documents", 0, what).in_directory(&self.index_path).into()
        })
    }

    /// Returns the time of addition of document `doc`.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub(super) fn added(&self, doc: u32) -> Result<DateTime> {
        let added = self.column(&self.added, |fast| fast.date("added"))?;
        Ok(added.first(doc).unwrap_or_default())
    }

    /// Returns the number of the place that the id of document `doc` was made from, if any.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub(super) fn place(&self, doc: u32) -> Result<Option<u64>> {
        Ok(self.column(&self.places, |fast| fast.u64(PLACE))?.first(doc))
    }

    /// Returns the digest of the parts of document `doc`, if it has parts.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub(super) fn parts_digest(&self, doc: u32) -> Result<Option<u64>> {
        Ok(self.column(&self.parts_digests, |fast| fast.u64(PARTS_DIGEST))?.first(doc))
    }

    /// Returns a column, and opens it at first use.
    fn column<'a, T>(
        &self,
        column: &'a OnceLock<T>,
        open: impl FnOnce(&FastFieldReaders) -> tantivy::Result<T>,
    ) -> Result<&'a T> {
        if let Some(column) = column.get() {
            return Ok(column);
        }
        let failed = |error| store_error("read the columns of", &self.index_path, error);
        let opened = open(self.segment.fast_fields()).map_err(failed)?;
        Ok(column.get_or_init(|| opened))
    }

    /// Returns the latest time of addition before `end`, in microseconds since 1970, deleted
    /// documents included. `None` if there is no such document.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub(super) fn latest_micros(&self, end: i64) -> Result<Option<i64>> {
        let added = self.column(&self.added, |fast| fast.date("added"))?;
        let documents = self.signatures.header().documents;
        let latest = added.max_value().into_timestamp_micros();
        if documents > 0 && latest < end {
            return Ok(Some(latest));
        }
        let all = (0..documents).map(|doc| self.added_micros(doc));
        let times = all.collect::<Result<Vec<_>>>()?;
        Ok(times.into_iter().filter(|time| *time < end).max())
    }

    /// Returns the time of addition of document `doc`, in microseconds since 1970.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub fn added_micros(&self, doc: u32) -> Result<i64> {
        Ok(self.added(doc)?.into_timestamp_micros())
    }
}

impl Deref for SegmentView {
    type Target = SegmentFiles;

    fn deref(&self) -> &SegmentFiles {
        &self.files
    }
}

impl SegmentView {
    /// Creates the view of a segment with the live documents of `reader`.
    pub(super) fn new(reader: &tantivy::SegmentReader, files: Arc<SegmentFiles>) -> SegmentView {
        SegmentView {
            files,
            alive: reader.alive_bitset().cloned(),
            live_documents: reader.num_docs(),
        }
    }

    /// Returns the segment as if the `hidden` documents were removed too.
    pub(super) fn without(&self, hidden: &HashSet<u32>) -> SegmentView {
        let documents = self.signatures.header().documents;
        let mut words = vec![0u64; documents.div_ceil(64) as usize];
        let live = (0..documents).filter(|doc| self.is_alive(*doc) && !hidden.contains(doc));
        for doc in live {
            words[doc as usize / 64] |= 1 << (doc % 64);
        }
        // tantivy's form of an alive bitset: the number of documents, then a bit per document.
        let mut bytes = documents.to_le_bytes().to_vec();
        words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        let alive = AliveBitSet::open(OwnedBytes::new(bytes));
        let live_documents = alive.num_alive_docs() as u32;
        SegmentView { files: self.files.clone(), alive: Some(alive), live_documents }
    }

    /// Returns whether the document `doc` is live, neither removed nor replaced.
    #[inline]
    pub fn is_alive(&self, doc: u32) -> bool {
        self.alive.as_ref().is_none_or(|alive| alive.is_alive(doc))
    }

    /// Returns the ordinals of the live documents, ascending.
    pub fn live(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        (0..self.signatures.header().documents).filter(|&doc| self.is_alive(doc))
    }

    /// Returns the number of live documents.
    pub fn live_documents(&self) -> u32 {
        self.live_documents
    }

    /// Returns the number of removed or replaced documents that still take space.
    pub fn deleted_documents(&self) -> u32 {
        self.signatures.header().documents - self.live_documents
    }
}

/// The segments that living snapshots of an index have open.
#[derive(Default)]
pub(super) struct OpenSegments {
    /// Segments by name. Names are never reused.
    open: Mutex<HashMap<SegmentId, Weak<SegmentFiles>>>,
}

impl OpenSegments {
    /// Returns the files of a segment if a living snapshot has read them.
    pub(super) fn get(&self, segment: SegmentId) -> Option<Arc<SegmentFiles>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.get(&segment).and_then(Weak::upgrade)
    }

    /// Shares the files of a segment for as long as a snapshot uses them.
    pub(super) fn keep(&self, segment: SegmentId, files: SegmentFiles) -> Arc<SegmentFiles> {
        let files = Arc::new(files);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, files| files.strong_count() > 0);
        open.insert(segment, Arc::downgrade(&files));
        files
    }
}
