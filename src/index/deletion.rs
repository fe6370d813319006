//! The deletions of the next commit, and the memory they take.
//!
//! tantivy keeps a deletion until every segment has applied it, and applying a deletion visits
//! every document with its id in a segment. With one deletion per version, n versions of a document
//! would cause n^2 visits, and each deletion would take 1.2 kB. A commit therefore has a single
//! deletion for every document of the last commit ([`DeletedIds`]). A document added since the last
//! commit
//! gets its own deletion, which voids the previous deletion of the same id. The new deletion covers
//! the documents of the voided one, because a commit applies every deletion to every segment.
//!
//! The deletion of committed documents can grow until the commit because no segment applies it
//! earlier. Committed segments apply deletions at a commit, and newer segments do not contain its
//! ids, as long as no document added since the last commit is included.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, IndexWriter, Score, SegmentReader, TERMINATED, TantivyError, Term};

use crate::hash::Digest;

/// Ids are stored in pieces of this many bytes, so that a growing list never moves them.
const PIECE_BYTES: usize = 64 << 10;

/// The bytes of the length prefix of an id.
const LEN_BYTES: usize = 4;

/// The bytes of a single-document deletion, void or not, without the id itself: the entry in
/// tantivy's queue (which grows by doubling), the query, and the allocation of the id.
const SINGLE_BYTES: usize = 176;

/// The bytes to remember the last deletion of an id.
const LAST_BYTES: usize = 64;

/// The deletions since the last commit.
pub struct Deletions {
    /// The field with the ids.
    field: Field,
    /// The deleted documents of the last commit. `None` before the first such deletion.
    committed: Option<Arc<DeletedIds>>,
    /// By digest of the id, the last deletion of a document added since the last commit.
    single: HashMap<Digest, Arc<DeletedIds>>,
    bytes: usize,
    period: Arc<Period>,
}

/// State shared by the deletions between two commits.
#[derive(Default)]
struct Period {
    /// True if no commit will follow.
    is_abandoned: AtomicBool,
    /// The number of documents that deletions have visited.
    met: AtomicU64,
}

impl Deletions {
    /// Creates an empty set of deletions. `field` is the field with the ids.
    pub fn new(field: Field) -> Deletions {
        let (committed, single) = (None, HashMap::new());
        Deletions { field, committed, single, bytes: 0, period: Arc::default() }
    }

    /// Starts over after a commit.
    pub fn begin(&mut self) {
        *self = Deletions::new(self.field);
    }

    /// Deletes the document with this id, whose digest is `of_id`. `is_committed` is true if the
    /// document has not changed since the last commit.
    ///
    /// # Errors
    /// The errors of tantivy.
    pub fn delete(
        &mut self,
        writer: &IndexWriter,
        of_id: Digest,
        id: &str,
        is_committed: bool,
    ) -> tantivy::Result<()> {
        let (field, period) = (self.field, &self.period);
        let query = |ids: &Arc<DeletedIds>| {
            Box::new(Deletion { field, ids: ids.clone(), period: period.clone() })
        };
        if is_committed {
            if self.committed.is_none() {
                let ids = Arc::default();
                writer.delete_query(query(&ids))?;
                self.committed = Some(ids);
            }
            let ids = self.committed.as_ref().expect("it was made above");
            self.bytes += ids.push(id);
            return Ok(());
        }
        let ids = Arc::new(DeletedIds::of_one(id));
        // Add the new deletion before voiding the old one, so that every segment meets a deletion.
        writer.delete_query(query(&ids))?;
        self.bytes += SINGLE_BYTES;
        match self.single.entry(of_id) {
            Entry::Occupied(mut last) => last.insert(ids).clear(),
            Entry::Vacant(place) => {
                self.bytes += LAST_BYTES + id.len();
                place.insert(ids);
            }
        }
        Ok(())
    }

    /// Returns the approximate memory of the deletions, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Abandons the deletions. Segments then skip the deletions.
    pub fn abandon(&self) {
        self.period.is_abandoned.store(true, Ordering::Relaxed);
    }

    /// Returns the state with the number of visited documents.
    #[cfg(test)]
    fn met(&self) -> Arc<Period> {
        self.period.clone()
    }
}

/// Ids of documents, prefixed with the lengths.
#[derive(Default)]
struct DeletedIds(Mutex<Vec<Vec<u8>>>);

impl DeletedIds {
    /// Stores a single id without spare capacity.
    fn of_one(id: &str) -> DeletedIds {
        let mut piece = Vec::with_capacity(LEN_BYTES + id.len());
        write_id(&mut piece, id);
        DeletedIds(Mutex::new(vec![piece]))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an id. Returns the number of newly allocated bytes.
    fn push(&self, id: &str) -> usize {
        let mut pieces = self.lock();
        let is_room = |piece: &Vec<u8>| piece.capacity() - piece.len() >= LEN_BYTES + id.len();
        let mut taken = 0;
        if !pieces.last().is_some_and(is_room) {
            taken = PIECE_BYTES.max(LEN_BYTES + id.len());
            pieces.push(Vec::with_capacity(taken));
        }
        write_id(pieces.last_mut().expect("there is one with room"), id);
        taken
    }

    fn clear(&self) {
        *self.lock() = Vec::new();
    }

    /// Calls `each` with every id. The lock is released meanwhile, so that ids can be added.
    fn for_each(&self, each: &mut dyn FnMut(&str) -> tantivy::Result<()>) -> tantivy::Result<()> {
        for at in 0.. {
            let Some(piece) = self.lock().get(at).cloned() else { break };
            let mut rest = &piece[..];
            while let Some((len, ids)) = rest.split_first_chunk() {
                let (id, others) = ids.split_at(u32::from_le_bytes(*len) as usize);
                each(std::str::from_utf8(id).expect("it was text"))?;
                rest = others;
            }
        }
        Ok(())
    }
}

fn write_id(piece: &mut Vec<u8>, id: &str) {
    let len = u32::try_from(id.len()).expect("a text is smaller than 4 GiB");
    piece.extend_from_slice(&len.to_le_bytes());
    piece.extend_from_slice(id.as_bytes());
}

/// A tantivy query that deletes the documents with these ids.
#[derive(Clone)]
struct Deletion {
    field: Field,
    ids: Arc<DeletedIds>,
    period: Arc<Period>,
}

impl fmt::Debug for Deletion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deletion").finish_non_exhaustive()
    }
}

impl Query for Deletion {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for Deletion {
    fn scorer(&self, _: &SegmentReader, _: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Err(TantivyError::InternalError("deleted documents are not searched for".into()))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Err(TantivyError::InternalError("deleted documents have no score".into()))
    }

    fn for_each_no_score(
        &self,
        reader: &SegmentReader,
        callback: &mut dyn FnMut(&[DocId]),
    ) -> tantivy::Result<()> {
        let postings = reader.inverted_index(self.field)?;
        self.ids.for_each(&mut |id| {
            if self.period.is_abandoned.load(Ordering::Relaxed) {
                return Ok(());
            }
            let term = Term::from_field_text(self.field, id);
            let found = postings.read_postings(&term, IndexRecordOption::Basic)?;
            let Some(mut found) = found else { return Ok(()) };
            let mut met = 0;
            while found.doc() != TERMINATED {
                callback(&[found.doc()]);
                found.advance();
                met += 1;
            }
            self.period.met.fetch_add(met, Ordering::Relaxed);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Config, Document, Index, Outcome, WriterOptions};

    const VERSIONS: u64 = 600;

    fn index() -> Index {
        Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true).unwrap()).unwrap()
    }

    #[test]
    fn n_versions_of_a_document_are_met_twice_each_and_not_n_times() {
        // Regression: every version had a deletion, and every deletion visited every version. 10 MB
        // of a single id kept a writer busy for 90 s.
        let index = index();
        let mut writer =
            index.writer(WriterOptions::default().memory_bytes(0usize).merge(false)).unwrap();
        let add = |writer: &mut crate::index::Writer, version| {
            writer.add(Document::new("same", format!("version {version}"))).unwrap()
        };
        assert_eq!(add(&mut writer, 0), Outcome::Added);
        writer.commit().unwrap();
        let period = writer.deletions.met();
        for version in 1..VERSIONS {
            assert_eq!(add(&mut writer, version), Outcome::Replaced);
        }
        writer.commit().unwrap();
        let met = period.met.load(Ordering::Relaxed);
        assert!((VERSIONS - 1..=2 * VERSIONS).contains(&met), "{met}");
        let snapshot = writer.committed().unwrap();
        assert_eq!(snapshot.documents(), 1);
        let address = snapshot.find("same").unwrap().unwrap();
        let text = snapshot.document(address).unwrap().text.unwrap();
        assert_eq!(text, format!("version {}", VERSIONS - 1));
    }

    #[test]
    fn the_first_deletion_of_a_writer_is_met_by_segments_that_are_merged_meanwhile() {
        // A writer was killed after a commit with deletions. The next writer replaced a document,
        // and a merge of segments with and without such deletions brought the old version back.
        for first in 0..8u64 {
            let index = index();
            let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
            let id = |segment: u64, doc: u64| format!("{segment}-{doc}");
            let add = |writer: &mut crate::index::Writer, id: String, version: u64| {
                writer.add(Document::new(id.clone(), format!("{id} {version}"))).unwrap()
            };
            for segment in 0..10 {
                for doc in 0..3 {
                    add(&mut writer, id(segment, doc), 0);
                }
                writer.commit().unwrap();
            }
            let some = || (0..10).filter(|segment| (segment + first) % 3 > 0);
            some().for_each(|segment| assert!(writer.remove(&id(segment, 0)).unwrap()));
            writer.commit().unwrap();
            drop(writer);
            let mut writer = index.writer(WriterOptions::default()).unwrap();
            for segment in some() {
                assert_eq!(add(&mut writer, id(segment, 1), 1), Outcome::Replaced);
            }
            writer.commit().unwrap();
            writer.finish().unwrap();
            assert!(index.merges() > 0);
            let snapshot = index.snapshot().unwrap();
            assert_eq!(snapshot.documents(), 30 - some().count() as u64, "first {first}");
        }
    }

    #[test]
    fn a_writer_that_is_dropped_meets_no_document() {
        // Stopping once took as long as a commit.
        let index = index();
        let mut writer =
            index.writer(WriterOptions::default().memory_bytes(0usize).merge(false)).unwrap();
        for version in 0..VERSIONS {
            writer.add(Document::new("same", format!("version {version}"))).unwrap();
        }
        let period = writer.deletions.met();
        writer.deletions.abandon();
        drop(writer);
        assert_eq!(period.met.load(Ordering::Relaxed), 0);
        assert_eq!(index.snapshot().unwrap().documents(), 0);
    }

    #[test]
    fn deletions_that_use_up_their_memory_are_committed() {
        let index = index();
        let mut writer =
            index.writer(WriterOptions::default().memory_bytes(0usize).merge(false)).unwrap();
        let id = |i: u32| format!("{i:0>1000}");
        const DOCUMENTS: u32 = 6_000;
        for i in 0..DOCUMENTS {
            writer.add(Document::new(id(i), "a")).unwrap();
        }
        writer.commit().unwrap();
        for i in 0..2_000 {
            assert!(writer.remove(&id(i)).unwrap());
        }
        let taken = writer.deletions.bytes();
        assert!((2_000_000..2_200_000).contains(&taken), "{taken}");
        // The ids take more than a sixth of 32 MiB.
        for i in 2_000..DOCUMENTS {
            writer.remove(&id(i)).unwrap();
        }
        assert!(writer.uncommitted() < 1_000, "{}", writer.uncommitted());
        assert!(writer.committed().unwrap().documents() < 1_000);
    }
}
