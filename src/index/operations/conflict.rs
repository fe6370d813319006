//! Ids that occur in several indexes.
//!
//! The dictionaries of ids of all segments are sorted, so one pass over all of them together finds
//! every id that two have. It takes no memory for ids that occur once.

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

/// A segment with its holder: 0 is the index that is merged into, then come the shards in their
/// order.
pub struct Source<'a> {
    /// The number of the holder.
    pub holder: usize,
    view: &'a SegmentView,
    reader: &'a SegmentReader,
}

/// Returns the segments `which` of a snapshot.
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
    /// The id.
    pub id: String,
    /// The two indexes, the earlier one first.
    pub holders: (usize, usize),
}

/// The documents whose ids occur again in a later index.
#[derive(Default)]
pub struct RepeatedIds {
    /// The first id that occurs twice, if that is not allowed; nothing else is found then.
    pub clash: Option<Clash>,
    /// The ids of those of the index that is merged into.
    pub own: Vec<Term>,
    /// The documents of each source, ascending.
    pub deleted: Vec<Vec<DocId>>,
    /// The number of these documents.
    pub replaced: u64,
}

/// Finds the documents whose ids a later source has too; `index` determines the field of the ids.
/// Unless that is `allowed`, the search ends at the first.
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
            // The live documents of this id, from the earliest to the latest.
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

/// Matches documents with these ids, except in segments that have just been adopted.
///
/// tantivy applies a deletion to all segments of a commit, whether they came before it or after.
#[derive(Debug, Clone)]
pub struct Elsewhere {
    ids: TermSetQuery,
    adopted: Arc<HashSet<SegmentId>>,
}

impl Elsewhere {
    /// Creates a query for documents with the ids `ids` that are not in the segments `adopted`.
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
