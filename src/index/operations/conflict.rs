//! Finds ids common to several indexes.
//!
//! The id dictionary of every segment is sorted, so merging the dictionaries in one pass finds
//! every repeated id. Unique ids take no memory.

use std::collections::HashSet;
use std::sync::Arc;

use tantivy::index::SegmentId;
use tantivy::query::{
    EmptyScorer, EnableScoring, Explanation, Query, Scorer, TermSetQuery, Weight,
};
use tantivy::schema::IndexRecordOption;
use tantivy::termdict::TermMerger;
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, Term};

use crate::error::Result;
use crate::index::Index;
use crate::index::SegmentView;
use crate::index::Snapshot;

/// A segment and its holder: 0 is the target of the merge, the shards follow in their order.
pub struct Source<'a> {
    /// The number of the holder.
    pub holder: usize,
    view: &'a SegmentView,
    reader: &'a SegmentReader,
}

/// Returns the segments at the places `which` of a snapshot.
pub fn sources(
    holder: usize,
    snapshot: &Snapshot,
    which: impl IntoIterator<Item = usize>,
) -> Vec<Source<'_>> {
    let (views, readers) = (snapshot.segments(), snapshot.tantivy().segment_readers());
    let source = |at: usize| Source { holder, view: &views[at], reader: &readers[at] };
    which.into_iter().map(source).collect()
}

/// An id that two indexes have.
pub struct Clash {
    pub id: String,
    /// The two indexes, the earlier one first.
    pub holders: (usize, usize),
}

/// The documents whose ids occur again in a later index.
#[derive(Default)]
pub struct RepeatedIds {
    /// The first repeated id, if repetition is not allowed. The other fields are empty then.
    pub clash: Option<Clash>,
    /// The ids of replaced documents of the target of the merge.
    pub own: Vec<Term>,
    /// The replaced documents of each source, ascending.
    pub deleted: Vec<Vec<DocId>>,
    /// The number of replaced documents.
    pub replaced: u64,
}

/// Finds the documents whose ids also occur in a later source. `index` provides the field of the
/// ids. Unless repetition is `allowed`, the search ends at the first repeated id.
///
/// # Errors
/// When a dictionary cannot be read.
pub fn find(sources: &[Source<'_>], index: &Index, allowed: bool) -> Result<RepeatedIds> {
    let mut found =
        RepeatedIds { deleted: vec![Vec::new(); sources.len()], ..RepeatedIds::default() };
    let field = index.fields().id;
    let mut read = || -> tantivy::Result<()> {
        let dictionaries = sources.iter().map(|source| source.reader.inverted_index(field));
        let dictionaries = dictionaries.collect::<tantivy::Result<Vec<_>>>()?;
        let streams = dictionaries.iter().map(|dictionary| dictionary.terms().stream());
        let mut merged = TermMerger::new(streams.collect::<std::io::Result<_>>()?);
        let mut holders: Vec<usize> = Vec::new();
        while merged.advance() {
            holders.clear();
            holders.extend(merged.matching_segments().map(|(source, _)| source));
            if holders.len() < 2 {
                continue;
            }
            let id = String::from_utf8_lossy(merged.key()).into_owned();
            let term = Term::from_field_text(field, &id);
            // The live documents with this id, earliest source first.
            let mut live: Vec<(usize, DocId)> = Vec::new();
            for &source in &holders {
                let postings = &dictionaries[source];
                let postings = postings.read_postings(&term, IndexRecordOption::Basic)?;
                let Some(mut postings) = postings else { continue };
                while postings.doc() != TERMINATED {
                    if sources[source].view.is_alive(postings.doc()) {
                        live.push((source, postings.doc()));
                    }
                    postings.advance();
                }
            }
            let Some((&latest, older)) = live.split_last().filter(|(_, older)| !older.is_empty())
            else {
                continue;
            };
            if !allowed {
                let earlier = sources[older[older.len() - 1].0].holder;
                let holders = (earlier, sources[latest.0].holder);
                found.clash = Some(Clash { id, holders });
                return Ok(());
            }
            found.replaced += older.len() as u64;
            for &(source, doc) in older {
                if sources[source].holder == 0 {
                    found.own.push(term.clone());
                } else {
                    found.deleted[source].push(doc);
                }
            }
        }
        Ok(())
    };
    read().map_err(|e| index.error("compare the ids of", e))?;
    found.deleted.iter_mut().for_each(|documents| documents.sort_unstable());
    Ok(found)
}

/// A query for documents with these ids outside of segments that have just been adopted.
///
/// tantivy applies a deletion to every segment of a commit, including segments added after the
/// deletion. The exclusion keeps the new documents from being deleted.
#[derive(Debug, Clone)]
pub struct Elsewhere {
    ids: TermSetQuery,
    adopted: Arc<HashSet<SegmentId>>,
}

impl Elsewhere {
    /// Creates a query for documents with `ids` that are not in the segments `adopted`.
    pub fn new(ids: Vec<Term>, adopted: HashSet<SegmentId>) -> Elsewhere {
        Elsewhere { ids: TermSetQuery::new(ids), adopted: Arc::new(adopted) }
    }
}

impl Query for Elsewhere {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let ids = self.ids.weight(scoring)?;
        Ok(Box::new(ElsewhereWeight { ids, adopted: self.adopted.clone() }))
    }
}

struct ElsewhereWeight {
    ids: Box<dyn Weight>,
    adopted: Arc<HashSet<SegmentId>>,
}

impl Weight for ElsewhereWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        match self.adopted.contains(&reader.segment_id()) {
            true => Ok(Box::new(EmptyScorer)),
            false => self.ids.scorer(reader, boost),
        }
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.ids.explain(reader, doc)
    }
}
