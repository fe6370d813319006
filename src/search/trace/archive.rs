//! Data about the documents that meet the query of a trace.

use cento_api::Passage;

use super::super::candidate::Candidate;
use super::super::cover::CoverCounting;
use super::super::hit_details::ListedDocument;
use super::super::score::Scored;
use crate::error::Result;
use crate::field_date::FieldDate;
use crate::index::DocAddress;
use crate::text::Tokens;

/// The documents that meet a traced query, from an index or from shards.
///
/// Shards compare and read documents only on request. Before a shard has answered, a method returns
/// `None` and remembers the question. The trace then goes on as if the document had no passage, so
/// that many questions are asked together, but the results are dropped.
pub trait TraceArchive {
    type Document: TracedDocument;
    type Counts: CoverCounting;

    /// Returns the number of documents, including documents that do not meet the query.
    fn documents(&self) -> u64;

    /// Returns the words of the query, as passages count them.
    fn words(&self) -> &Tokens;

    /// Returns the tokens of the query that signatures use.
    fn signed(&self) -> &Tokens;

    /// Orders documents by the digests of their texts, and copies of a text by id.
    fn in_order_of_texts(&self, hits: Vec<Scored>) -> Result<Vec<Scored>>;

    /// Counts the contribution of these documents to a cover of the query.
    fn cover_counts(&self, hits: &[Scored]) -> Result<Self::Counts>;

    /// Compares a document with the query.
    fn compare(&mut self, scored: Scored) -> Result<Option<Self::Document>>;

    /// Returns the documents that share one of these fingerprints, except stopped fingerprints, and
    /// the number of shared fingerprints. The fingerprints are given as ascending places among the
    /// distinct fingerprints of the query.
    fn sharing(&self, fingerprints: &[u32]) -> Result<Vec<Candidate>>;

    /// Returns the id of a document.
    fn id(&self, address: DocAddress) -> Result<String>;

    /// Returns the index with a document, if the documents are in several indexes.
    fn index(&self, address: DocAddress) -> Option<String>;

    /// Returns when a document with passages was added, in microseconds.
    fn added(&self, address: DocAddress) -> Result<i64>;

    /// Returns the times that decide which of these documents came first.
    fn times(&self, addresses: &[DocAddress]) -> Result<Option<Vec<DocumentTime>>>;

    /// Returns ranges of bytes of the text of a document. `None` if the text is not stored.
    fn excerpts(
        &self,
        address: DocAddress,
        ranges: &[(u32, u32)],
    ) -> Result<Option<Vec<Option<String>>>>;

    /// Returns whether some questions have no answer yet.
    fn is_waiting(&self) -> bool;
}

/// A document that was compared with the query.
pub trait TracedDocument: ListedDocument {
    /// Returns the id, if the document has passages.
    fn id(&self) -> &str;

    /// Returns the passages that the document shares with the query.
    fn found(&self) -> &[Passage];

    /// Returns whether every passage was found.
    fn is_complete(&self) -> bool;

    /// Sets how much of the query the document adds to the documents before.
    fn set_adds(&mut self, adds: u32);
}

/// The times of a document, for ordering.
pub struct DocumentTime {
    /// The value of the field for dates, if it is a date.
    pub date: Option<String>,
    /// The value as a date.
    pub written: Option<FieldDate>,
    /// The time of addition in microseconds.
    pub added: i64,
}
