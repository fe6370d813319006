//! Combines similarity with tantivy's own queries.
//!
//! [`SimilarTo`] is a tantivy query. It can be a clause of a boolean query, and any collector can
//! gather its matches.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::index::SegmentId;
use tantivy::query::{EnableScoring, Explanation, Query as TantivyQuery, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError};

use super::query::Query;
use super::score::Scored;
use super::searcher::Searcher;
use crate::error::{Error, Result};

/// Matches the documents that meet the thresholds of a [`Query`]. Their score is C(Q,D).
///
/// Run it on the tantivy searcher of the snapshot that it was made for. It only decides which
/// documents match: the collector sets the number of hits, and thresholds apply to fingerprints.
/// Therefore [`Query::limit`], [`Query::passages`], [`Query::goal`] and [`Query::verify`] have no
/// effect.
///
/// ```no_run
/// use cento::index::Index;
/// use cento::search::{Query, Searcher, SimilarTo};
/// use cento::tantivy::collector::TopDocs;
/// use cento::tantivy::query::{BooleanQuery, Occur, QueryParser};
///
/// let searcher = Searcher::new(Index::open("news.idx")?.snapshot()?);
/// let query = Query::text("the text to look for").min_containment(0.3);
/// let similar = SimilarTo::new(&searcher, &query)?;
/// let tantivy = searcher.snapshot().tantivy();
/// let meta = tantivy.schema().get_field("meta")?;
/// let german = QueryParser::for_index(tantivy.index(), vec![meta]).parse_query("meta.lang:de")?;
/// let both = BooleanQuery::from(vec![(Occur::Must, Box::new(similar) as _), (Occur::Must, german)]);
/// let best = tantivy.search(&both, &TopDocs::with_limit(10).order_by_score())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SimilarTo {
    matches: Arc<Matches>,
}

/// The documents of each segment, ascending, with their containment.
type Matches = HashMap<SegmentId, Vec<(DocId, Score)>>;

impl SimilarTo {
    /// Finds the documents that meet the thresholds of `query`.
    ///
    /// # Errors
    /// The errors of [`Searcher::search`], and when the snapshot is a union, because tantivy
    /// searches one index at a time.
    pub fn new(searcher: &Searcher, query: &Query) -> Result<SimilarTo> {
        if searcher.snapshot().is_union() {
            let what = "SimilarTo is for the queries of one index; search each index by itself";
            return Err(Error::arguments(what));
        }
        let readers = searcher.snapshot().tantivy().segment_readers();
        let mut matches: Matches =
            readers.iter().map(|reader| (reader.segment_id(), Vec::new())).collect();
        let query = query.clone().limit(usize::MAX);
        let searcher = &*searcher.without(&query.options.without)?;
        let (search, meeting) = searcher.find(&query)?;
        let tokens = search.subject.tokens;
        for Scored { address, overlap, similarity, .. } in meeting {
            let similarity = match similarity {
                Some(similarity) => similarity,
                None => searcher.similarity_of_counts(tokens, overlap, address)?,
            };
            let segment = readers[address.segment as usize].segment_id();
            let documents = matches.get_mut(&segment).expect("it is one of the snapshot");
            documents.push((address.doc, similarity.containment_of_a as Score));
        }
        for documents in matches.values_mut() {
            documents.sort_unstable_by_key(|document| document.0);
        }
        Ok(SimilarTo { matches: Arc::new(matches) })
    }

    fn in_segment(&self, reader: &SegmentReader) -> tantivy::Result<&[(DocId, Score)]> {
        let documents = self.matches.get(&reader.segment_id()).ok_or_else(|| {
            let what = "this SimilarTo belongs to another snapshot than the one that is searched";
            TantivyError::InvalidArgument(what.into())
        })?;
        Ok(documents)
    }
}

impl TantivyQuery for SimilarTo {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for SimilarTo {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let documents = self.in_segment(reader)?.to_vec();
        Ok(Box::new(SegmentMatches { documents, at: 0, boost }))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let documents = self.in_segment(reader)?;
        let at = documents
            .binary_search_by_key(&doc, |document| document.0)
            .map_err(|_| TantivyError::InvalidArgument(format!("document {doc} does not match")))?;
        Ok(Explanation::new("containment of the query in the document", documents[at].1))
    }
}

/// Iterates over the matches of a segment.
struct SegmentMatches {
    documents: Vec<(DocId, Score)>,
    at: usize,
    boost: Score,
}

impl DocSet for SegmentMatches {
    fn advance(&mut self) -> DocId {
        self.at += 1;
        self.doc()
    }

    fn doc(&self) -> DocId {
        self.documents.get(self.at).map_or(TERMINATED, |document| document.0)
    }

    fn size_hint(&self) -> u32 {
        self.documents.len() as u32
    }
}

impl Scorer for SegmentMatches {
    fn score(&mut self) -> Score {
        self.documents.get(self.at).map_or(0.0, |document| document.1 * self.boost)
    }
}
