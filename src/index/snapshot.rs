//! The content of the index as of one commit.
//!
//! A snapshot never changes. Later commits, merges and deletions have no effect, whichever process
//! makes the change. Any number of threads can share a snapshot.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_api::NOVELTY;
use memchr::memmem;
use tantivy::schema::IndexRecordOption;
use tantivy::{
    Directory, DocSet, IndexReader, ReloadPolicy, Searcher, SegmentReader, TERMINATED,
    TantivyError, Term,
};

use super::canonical::canonical_json;
use super::own_meta::without_novelty;
use super::parts;
use super::storage::seal::META;
use super::storage::store::{Damage, Store};
use super::view::{SegmentFiles, SegmentView};
use super::{Config, Index, Preset};
use crate::error::{Corruption, Error, Result};
use crate::hash::{Digest, hash_bytes, mix64};
use crate::index::Document;
use crate::reason::Reason;
use crate::runtime::Stop;
use crate::scheme::Fingerprint;
use crate::segment::plugin::SignatureFile;

/// The place of a document in a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocAddress {
    /// The place of the segment in [`Snapshot::segments`].
    pub segment: u32,
    /// The ordinal of the document in the segment.
    pub doc: u32,
}

/// The state of an index after one of its commits.
///
/// A snapshot never changes: files that later commits replace take space until the last snapshot
/// that reads them is dropped. Making a snapshot opens only segments that no living snapshot of the
/// same [`Index`] has open. A clone is cheap. Methods fail with
/// [`Error::Corrupt`](crate::Error::Corrupt) when a file is damaged.
///
/// ```
/// use cento::{Config, Document, Index, WriterOptions};
///
/// let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
/// let mut writer = index.writer(WriterOptions::default())?;
/// writer.add(Document::new("a", "some text"))?;
/// writer.commit()?;
///
/// let snapshot = index.snapshot()?;
/// writer.remove("a")?;
/// writer.commit()?;
/// let address = snapshot.find("a")?.expect("it was not removed at that commit");
/// assert_eq!(snapshot.document(address)?.text.as_deref(), Some("some text"));
/// assert!(!snapshot.is_current()?);
/// assert_eq!(index.snapshot()?.documents(), 0);
/// # Ok::<(), cento::Error>(())
/// ```
#[derive(Clone)]
pub struct Snapshot {
    /// The indexes: several in a [union](Snapshot::union), otherwise a single one.
    parts: Arc<[SnapshotPart]>,
    segments: Arc<[SegmentView]>,
}

/// The part of a snapshot that belongs to one index.
#[derive(Clone)]
struct SnapshotPart {
    index: Index,
    searcher: Searcher,
    /// The place of the first segment of this index in the snapshot.
    first: usize,
    /// The name of the index in a union.
    name: Option<Arc<str>>,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").finish_non_exhaustive()
    }
}

impl Index {
    /// Returns the index as of its last commit.
    ///
    /// # Errors
    /// When a segment is missing or damaged.
    pub fn snapshot(&self) -> Result<Snapshot> {
        // A directory without write access may have no lock, so files may be removed between
        // reading the list and opening them. The list has changed then: try again.
        let opened = loop {
            let list = self.list()?;
            let opened = self.open_snapshot();
            if opened.is_ok() || self.list()? == list {
                break opened;
            }
        };
        // If another index has taken this place, report the replacement instead of damage.
        if opened.is_err()
            && let Err(error) = self.check_same()
            && error.reason() == Reason::Replaced
        {
            return Err(error);
        }
        opened
    }

    /// Reads the list of segments.
    pub(super) fn list(&self) -> Result<Vec<u8>> {
        let list = self.directory().atomic_read(Path::new(META));
        list.map_err(|e| self.error("read the list of segments of", e.into()))
    }

    fn open_snapshot(&self) -> Result<Snapshot> {
        // Hold the lock until every listed file is open, so that no file is collected before.
        let hold = self.directory().hold_list();
        let hold = hold.map_err(|e| self.error("open", TantivyError::LockFailure(e, None)))?;
        let open = || -> tantivy::Result<Searcher> {
            let reader = self.tantivy().reader_builder().reload_policy(ReloadPolicy::Manual);
            let reader: IndexReader = reader.doc_store_cache_num_blocks(1).try_into()?;
            Ok(reader.searcher())
        };
        let searcher = open().map_err(|e| self.error("open the segments of", e))?;
        let files = searcher.segment_readers().iter().map(|segment| self.open_files(segment));
        let files = files.collect::<Result<Vec<_>>>()?;
        drop(hold);
        let views = searcher.segment_readers().iter().zip(files);
        let views = views.map(|(segment, files)| {
            let files = match files {
                LockedFiles::Read(files) => files,
                LockedFiles::Opened(signatures, store) => {
                    let read = SegmentFiles::read(segment, signatures, store, self)?;
                    self.inner.open_segments.keep(segment.segment_id(), read)
                }
            };
            Ok(SegmentView::new(segment, files))
        });
        let segments = views.collect::<Result<_>>()?;
        let part = SnapshotPart { index: self.clone(), searcher, first: 0, name: None };
        Ok(Snapshot { parts: [part].into(), segments })
    }

    /// Returns the files of a segment, shared with an earlier snapshot if one still has them open.
    fn open_files(&self, segment: &SegmentReader) -> Result<LockedFiles> {
        Ok(match self.inner.open_segments.get(segment.segment_id()) {
            Some(files) => LockedFiles::Read(files),
            None => LockedFiles::Opened(
                SignatureFile::open(segment, self.path())?,
                self.open_store(segment)?,
            ),
        })
    }

    /// Opens the stored texts of a segment.
    fn open_store(&self, segment: &SegmentReader) -> Result<Store> {
        let path = PathBuf::from(format!("{}.store", segment.segment_id().uuid_string()));
        let failed = |e: TantivyError| self.error("open the texts of", e);
        let damage = |(at, what): Damage| {
            let file = path.display().to_string();
            Corruption::new(file, "store", at as u64, what).in_directory(self.path())
        };
        let file = self.directory().open_store(&path).map_err(|e| failed(e.into()))?;
        let file = file.read_bytes().map_err(|e| failed(e.into()))?;
        let store = Store::open(file, &self.inner.blocks).map_err(damage)?;
        if store.documents() != segment.max_doc() {
            return Err(damage((0, "it has another number of documents than its segment")).into());
        }
        Ok(store)
    }
}

/// The files of a segment, either shared or newly opened while the list is locked.
enum LockedFiles {
    Read(Arc<SegmentFiles>),
    Opened(SignatureFile, Store),
}

impl Snapshot {
    /// Combines the snapshots of several indexes, each with a name for its index. Answers are equal
    /// to a single index with all documents: document frequencies are summed before a fingerprint
    /// is stopped. The limit of document frequency of the first index applies.
    ///
    /// Two indexes may contain the same id, and [`name_of`](Self::name_of) tells the documents
    /// apart. A single snapshot is returned unchanged.
    ///
    /// ```
    /// # use cento::{Config, Document, Index, WriterOptions};
    /// # let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// # let mut writer = index.writer(WriterOptions::default())?;
    /// # let poem = "A lighthouse was a fire behind a window and half of the light went up";
    /// # writer.add(Document::new("poem", poem))?;
    /// # writer.commit()?;
    /// use cento::{Query, Searcher, Snapshot};
    ///
    /// let named = ["2025", "2026"].map(|name| (name.to_owned(), index.snapshot().unwrap()));
    /// let both = Snapshot::union(named.into())?;
    /// let hits = Searcher::new(both).search(&Query::text(poem))?.hits;
    /// // A hit says which index has the document.
    /// assert_eq!(hits[0].index.as_deref(), Some("2025"));
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// When `named` is empty, when an index is listed twice, when an index has another scheme,
    /// analyzer, frequency table or schema than the first, and when only some indexes store texts
    /// or signatures.
    pub fn union(named: Vec<(String, Snapshot)>) -> Result<Snapshot> {
        let indexes: Vec<Index> = named.iter().map(|(_, one)| one.index().clone()).collect();
        let Some((first, others)) = indexes.split_first() else {
            return Err(Error::arguments("no index is named"));
        };
        if others.is_empty() {
            return Ok(named.into_iter().map(|(_, one)| one).next().expect("there is one"));
        }
        others.iter().try_for_each(|other| first.check_fits(other))?;
        let mut seen = HashSet::new();
        let twice = indexes
            .iter()
            .find(|index| index.path().canonicalize().is_ok_and(|path| !seen.insert(path)));
        if let Some(index) = twice {
            let reason = Reason::InvalidArgument { argument: None };
            return Err(Error::index(index.path(), reason, "it is named twice"));
        }
        let (mut parts, mut segments) = (Vec::new(), Vec::new());
        for (name, one) in named {
            let name: Arc<str> = name.into();
            let first = segments.len();
            parts.extend(one.parts.iter().map(|part| SnapshotPart {
                first: first + part.first,
                // A snapshot that is already a union keeps the names of its indexes.
                name: Some(part.name.clone().unwrap_or_else(|| name.clone())),
                ..part.clone()
            }));
            segments.extend(one.segments.iter().cloned());
        }
        Ok(Snapshot { parts: parts.into(), segments: segments.into() })
    }

    /// Returns the snapshot as if the `hidden` documents were removed: searches and joins do not
    /// find them, and no statistics count them. Filters still see hidden documents, which is
    /// harmless because a filter only excludes documents.
    #[must_use]
    pub fn without(&self, hidden: &[DocAddress]) -> Snapshot {
        let segments = (0u32..).zip(self.segments.iter()).map(|(number, view)| {
            let own = hidden.iter().filter(|address| address.segment == number);
            let own: HashSet<u32> = own.map(|address| address.doc).collect();
            if own.is_empty() { view.clone() } else { view.without(&own) }
        });
        Snapshot { parts: self.parts.clone(), segments: segments.collect() }
    }

    /// Returns the index, or the first index of a union.
    #[must_use]
    pub fn index(&self) -> &Index {
        &self.parts[0].index
    }

    /// Returns whether the snapshot combines several indexes.
    #[must_use]
    pub fn is_union(&self) -> bool {
        self.parts.len() > 1
    }

    /// Returns the name of a document's index in a union. `None` for an index without a name, such
    /// as an index of new documents.
    #[must_use]
    pub fn name_of(&self, address: DocAddress) -> Option<&str> {
        let name = self.parts[self.part_of(address.segment)].name.as_deref();
        name.filter(|name| !name.is_empty())
    }

    /// Returns the place of the part with this segment.
    fn part_of(&self, segment: u32) -> usize {
        // An index without segments shares its `first` with the next index, so take the last match.
        self.parts.partition_point(|part| part.first <= segment as usize) - 1
    }

    /// Returns tantivy's searchers of every part.
    pub fn searchers(&self) -> impl Iterator<Item = &Searcher> {
        self.parts.iter().map(|part| &part.searcher)
    }

    /// Returns the place of the part with this segment, and tantivy's reader of the segment.
    pub fn reader(&self, segment: u32) -> (usize, &SegmentReader) {
        let at = self.part_of(segment);
        let part = &self.parts[at];
        (at, part.searcher.segment_reader(segment - part.first as u32))
    }

    /// Returns tantivy's readers of every segment, in order.
    pub(super) fn readers(&self) -> impl Iterator<Item = &SegmentReader> {
        self.searchers().flat_map(Searcher::segment_readers)
    }

    /// Returns the indexes, in order.
    pub(super) fn indexes(&self) -> impl Iterator<Item = &Index> {
        self.parts.iter().map(|part| &part.index)
    }

    /// Returns the settings that turn documents into signatures.
    #[must_use]
    pub fn config(&self) -> &Config {
        self.index().config()
    }

    /// Returns the preset of the index. For a union, the preset that all indexes share, if any.
    #[must_use]
    pub fn preset(&self) -> Option<Preset> {
        let first = self.config().preset;
        first.filter(|_| self.indexes().all(|index| index.config().preset == first))
    }

    /// Returns the segments. [`DocAddress::segment`] is a place in this slice.
    #[must_use]
    pub fn segments(&self) -> &[SegmentView] {
        &self.segments
    }

    /// Returns the segment of the document at `address`.
    ///
    /// # Panics
    /// When the address comes from another snapshot and there is no such segment.
    #[must_use]
    pub fn segment(&self, address: DocAddress) -> &SegmentView {
        &self.segments[address.segment as usize]
    }

    /// Returns the live documents, neither removed nor replaced, in stored order.
    pub fn live(&self) -> impl Iterator<Item = DocAddress> + Clone + '_ {
        let segments = (0u32..).zip(self.segments());
        segments.flat_map(|(segment, view)| view.live().map(move |doc| DocAddress { segment, doc }))
    }

    /// Returns a number that identifies the live documents and their addresses. Snapshots with
    /// equal numbers are equal.
    #[must_use]
    pub fn generation(&self) -> u64 {
        let parts = self.readers().zip(self.segments.iter());
        let name = |(reader, view): (&SegmentReader, &SegmentView)| {
            // Without deleted documents a segment has a single state, and needs no hash.
            let mut alive = 0;
            if reader.has_deletes() {
                alive = view.live().fold(1, |hash, doc| mix64(hash ^ u64::from(doc)));
            }
            format!("{} {alive} ", reader.segment_id().uuid_string())
        };
        hash_bytes(parts.map(name).collect::<String>().as_bytes())
    }

    /// Returns whether nothing has been committed or merged since this snapshot.
    ///
    /// # Errors
    /// When the list of segments cannot be read.
    pub fn is_current(&self) -> Result<bool> {
        for SnapshotPart { index, searcher, .. } in self.parts.iter() {
            let metas = index.tantivy().load_metas().map_err(|e| index.error("read", e))?;
            let mut now: Vec<_> =
                metas.segments.iter().map(|m| (m.id(), m.num_deleted_docs())).collect();
            let own = searcher.segment_readers().iter();
            let mut own: Vec<_> = own.map(|s| (s.segment_id(), s.num_deleted_docs())).collect();
            now.sort_unstable();
            own.sort_unstable();
            if now != own {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the tantivy searcher over the same segments, in the same order. For a union, the
    /// searcher of the first index only.
    #[must_use]
    pub fn tantivy(&self) -> &Searcher {
        &self.parts[0].searcher
    }

    /// Returns the number of live documents.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.segments.iter().map(|segment| u64::from(segment.live_documents())).sum()
    }

    /// Returns the number of deleted documents that still take space.
    pub(crate) fn deleted_documents(&self) -> u64 {
        self.segments.iter().map(|segment| u64::from(segment.deleted_documents())).sum()
    }

    /// Returns the id of a document.
    ///
    /// # Errors
    /// When the id cannot be read.
    pub fn id(&self, address: DocAddress) -> Result<String> {
        Ok(self.segment(address).signatures.id(address.doc)?)
    }

    /// Finds the document with this id.
    ///
    /// # Errors
    /// When the dictionary of ids cannot be read, or several indexes have such a document.
    pub fn find(&self, id: &str) -> Result<Option<DocAddress>> {
        let mut found: Option<DocAddress> = None;
        self.find_all(id, &mut |address| {
            if let Some(found) = found {
                let name = |address| self.name_of(address).unwrap_or("the new documents");
                let (one, other) = (name(found), name(address));
                let what = format!(
                    "the document `{id}` is in {one} and in {other}; ask one of them alone"
                );
                return Err(Error::argument("id", what));
            }
            found = Some(address);
            // Within an index, an id is unique.
            Ok(self.is_union())
        })?;
        Ok(found)
    }

    /// Finds the document with this id. In a union, only the index with this name is searched, and
    /// `None` selects the index of new documents (`Submissions`), which has no name.
    ///
    /// # Errors
    /// When the dictionary of ids cannot be read.
    pub fn find_in(&self, index: Option<&str>, id: &str) -> Result<Option<DocAddress>> {
        if !self.is_union() {
            return self.find(id);
        }
        let mut found = None;
        self.find_all(id, &mut |address| {
            if self.name_of(address) == index {
                found = Some(address);
            }
            Ok(found.is_none())
        })?;
        Ok(found)
    }

    /// Calls `each` for the documents with this id, one per index, until it returns `false`.
    pub fn find_all(
        &self,
        id: &str,
        each: &mut dyn FnMut(DocAddress) -> Result<bool>,
    ) -> Result<()> {
        let failed = |e| self.index().error("look up a document in", e);
        let term = Term::from_field_text(self.index().fields().id, id);
        for (segment, reader) in (0u32..).zip(self.readers()) {
            let inverted = reader.inverted_index(term.field()).map_err(failed)?;
            let postings = inverted.read_postings(&term, IndexRecordOption::Basic);
            let Some(mut postings) = postings.map_err(|e| failed(e.into()))? else {
                continue;
            };
            while postings.doc() != TERMINATED {
                let address = DocAddress { segment, doc: postings.doc() };
                postings.advance();
                if self.segment(address).is_alive(address.doc) && !each(address)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns the smallest id of a document whose text has this digest.
    ///
    /// # Errors
    /// When the digests or an id cannot be read.
    pub fn find_digest(&self, digest: Digest) -> Result<Option<String>> {
        self.find_digest_among(digest, |_| true)
    }

    /// Returns the smallest id of a document whose text has this digest, among documents
    /// with a true `counted`.
    ///
    /// # Errors
    /// When the digests or an id cannot be read.
    pub fn find_digest_among(
        &self,
        digest: Digest,
        counted: impl Fn(DocAddress) -> bool,
    ) -> Result<Option<String>> {
        let mut least: Option<String> = None;
        for (segment, view) in (0u32..).zip(self.segments()) {
            let is_wanted = |doc| view.is_alive(doc) && counted(DocAddress { segment, doc });
            for doc in view.signatures.documents_with(digest, is_wanted)? {
                let id = view.signatures.id(doc)?;
                if least.as_ref().is_none_or(|least| id < *least) {
                    least = Some(id);
                }
            }
        }
        Ok(least)
    }

    /// Returns whether the index has the document with the same text (which has this digest), the
    /// same parts and the same meta object.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn holds(&self, document: &Document, digest: Digest) -> Result<bool> {
        let Some(address) = self.find(&document.id)? else {
            return Ok(false);
        };
        let segment = self.segment(address);
        let is_same = segment.signatures.digest(address.doc)? == digest
            && segment.parts_digest(address.doc)? == parts::digest(&document.parts);
        let meta = &document.meta;
        let own = without_novelty(meta).unwrap_or_else(|| canonical_json(meta));
        Ok(is_same && self.own_meta_json(address)? == own.as_bytes())
    }

    /// Returns the time of addition of a document, in seconds since 1970.
    ///
    /// # Errors
    /// When the time cannot be read.
    pub fn added(&self, address: DocAddress) -> Result<i64> {
        Ok(self.segment(address).added(address.doc)?.into_timestamp_secs())
    }

    /// Returns the number of the place that the id of a document was made from, or `None` if the id
    /// was given. 0 means an unknown place.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub fn id_place(&self, address: DocAddress) -> Result<Option<u64>> {
        self.segment(address).place(address.doc)
    }

    /// Returns the signature of a document, ordered by position. The signature is read from the
    /// index, or computed from the text if signatures are not stored.
    ///
    /// # Errors
    /// When the signature or the text cannot be read. [`Error::Cancelled`] soon after `stop`.
    pub fn signature(&self, address: DocAddress, stop: &Stop) -> Result<Vec<Fingerprint>> {
        self.signature_within(address, |_, _| Ok(()), stop)
    }

    /// Like [`signature`](Self::signature), but calls `reserve` with the number of bytes and tokens
    /// before a text is signed. The returned value is dropped when the signature is complete.
    ///
    /// # Errors
    /// The errors of [`signature`](Self::signature), and the errors of `reserve`.
    pub fn signature_within<R>(
        &self,
        address: DocAddress,
        reserve: impl FnOnce(usize, u32) -> Result<R>,
        stop: &Stop,
    ) -> Result<Vec<Fingerprint>> {
        let segment = &self.segment(address).signatures;
        if self.config().store_signatures {
            return Ok(segment.signature(address.doc)?);
        }
        let text = self.stored(address)?.text.unwrap_or_default();
        let _room = reserve(text.len(), segment.document(address.doc)?.tokens)?;
        let signed = self.config().sign_within(&text, usize::MAX, &mut Vec::new(), stop)?;
        Ok(signed.fingerprints.expect("nothing is too large"))
    }

    /// Returns the JSON of a document's meta object with sorted keys. Empty without a meta object.
    pub(super) fn meta_json(&self, address: DocAddress) -> Result<Vec<u8>> {
        Ok(self.segment(address).meta_json(address.doc)?.unwrap_or_default())
    }

    /// Returns the JSON of a document's meta object without its novelty.
    pub(super) fn own_meta_json(&self, address: DocAddress) -> Result<Vec<u8>> {
        let json = self.meta_json(address)?;
        // Most meta objects have no novelty, so parsing can be skipped.
        if memmem::find(&json, NOVELTY.as_bytes()).is_none() {
            return Ok(json);
        }
        Ok(without_novelty(&self.meta(address)?).map_or(json, String::into_bytes))
    }

    pub(super) fn damaged(&self, address: DocAddress, extension: &str, what: &str) -> Error {
        let (at, segment) = self.reader(address.segment);
        let file = format!("{}.{extension}", segment.segment_id().uuid_string());
        let what = format!("document {}: {what}", address.doc);
        let path = self.parts[at].index.path();
        Corruption::new(file, "documents", 0, what).in_directory(path).into()
    }
}
