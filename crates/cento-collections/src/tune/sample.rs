//! Samples a collection while reading it.

use std::collections::{BTreeMap, HashSet};

use cento::index::Document;
use cento_api::error::{Error, Result};
use cento_text::hash::{hash_bytes, mix64};

/// The documents of a collection whose ids have the smallest hashes, up to a number of documents
/// and an amount of text.
///
/// The sample depends on the seed and the documents, not on their order. It is random (Broder 1997,
/// section 3), and a larger sample contains a smaller one. Documents that must be kept are always
/// in the sample.
///
/// ```
/// use cento::Document;
/// use cento_collections::tune::Sample;
///
/// let mut sample = Sample::new(10, 100_000, 1);
/// for number in 0..100 {
///     sample.offer(Document::new(number.to_string(), format!("text number {number}")))?;
/// }
/// // The seed alone decides which documents are taken.
/// assert_eq!((sample.seen(), sample.into_documents().len()), (100, 10));
/// # Ok::<(), cento::Error>(())
/// ```
#[derive(Debug)]
pub struct Sample {
    documents_max: usize,
    bytes_max: usize,
    seed: u64,
    keep: HashSet<String>,
    kept: BTreeMap<String, Document>,
    kept_bytes: usize,
    sampled: BTreeMap<(u64, String), Document>,
    sampled_bytes: usize,
    seen: u64,
}

/// A document takes at most one part in this many of the text of a sample.
const DOCUMENT_SHARE: usize = 8;

impl Sample {
    /// Starts a sample of at most this many documents and bytes of text.
    #[must_use]
    pub fn new(documents_max: usize, bytes_max: usize, seed: u64) -> Sample {
        Sample {
            documents_max,
            bytes_max,
            seed,
            keep: HashSet::new(),
            kept: BTreeMap::new(),
            kept_bytes: 0,
            sampled: BTreeMap::new(),
            sampled_bytes: 0,
            seen: 0,
        }
    }

    /// Keeps the documents with these ids, in addition to the sample.
    #[must_use]
    pub fn keeping(self, ids: impl IntoIterator<Item = String>) -> Sample {
        Sample { keep: ids.into_iter().collect(), ..self }
    }

    /// Returns the maximum length of a sampled document, in bytes.
    #[must_use]
    pub fn document_bytes_max(&self) -> usize {
        self.bytes_max / DOCUMENT_SHARE
    }

    /// Considers a document, which replaces an earlier document with the same id. Returns false if
    /// the document is too long.
    ///
    /// # Errors
    /// When the documents to keep take more text than a sample may.
    pub fn offer(&mut self, document: Document) -> Result<bool> {
        self.seen += 1;
        let bytes = document.text.len();
        if self.keep.contains(&document.id) {
            let before = self.kept.insert(document.id.clone(), document);
            self.kept_bytes += bytes;
            self.kept_bytes -= before.map_or(0, |before| before.text.len());
            if self.kept_bytes > self.bytes_max {
                let what = format!(
                    "the documents of the pairs have more than {} bytes of text; name fewer pairs",
                    self.bytes_max
                );
                return Err(Error::argument("pairs", what));
            }
            return Ok(true);
        }
        if bytes > self.document_bytes_max() {
            return Ok(false);
        }
        let key =
            (mix64(hash_bytes(document.id.as_bytes()) ^ mix64(self.seed)), document.id.clone());
        let before = self.sampled.insert(key, document);
        self.sampled_bytes += bytes;
        self.sampled_bytes -= before.map_or(0, |before| before.text.len());
        while self.sampled.len() > self.documents_max || self.sampled_bytes > self.bytes_max {
            let Some((_, last)) = self.sampled.pop_last() else { break };
            self.sampled_bytes -= last.text.len();
        }
        Ok(true)
    }

    /// Returns the number of documents considered.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Returns the documents: kept documents first, then sampled documents in the order of their
    /// hashes.
    #[must_use]
    pub fn into_documents(self) -> Vec<Document> {
        self.kept.into_values().chain(self.sampled.into_values()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(ids: impl Iterator<Item = u32>, documents_max: usize) -> Vec<String> {
        let mut sample = Sample::new(documents_max, 1 << 20, 7);
        for id in ids {
            assert!(sample.offer(Document::new(id.to_string(), "a text")).unwrap());
        }
        sample.into_documents().into_iter().map(|document| document.id).collect()
    }

    #[test]
    fn a_sample_depends_on_the_documents_and_not_on_their_order() {
        let chosen = sample(0..1000, 50);
        assert_eq!(chosen.len(), 50);
        assert_eq!(sample((0..1000).rev(), 50), chosen);
        assert_eq!(sample(0..1000, 80)[..50], chosen, "a larger sample contains a smaller one");
        assert_eq!(sample((0..1000).chain(0..1000), 50), chosen, "a later one replaces the first");
        let numbers = chosen.iter().map(|id| id.parse::<u64>().unwrap());
        let mean = numbers.sum::<u64>() / 50;
        assert!((350..650).contains(&mean), "{mean}");
    }

    #[test]
    fn a_sample_is_bounded_in_bytes_and_keeps_what_it_must() {
        let text = "x".repeat(1000);
        let mut sample = Sample::new(1000, 8 << 10, 7).keeping(["999".to_owned()]);
        for id in 0..1000 {
            assert!(sample.offer(Document::new(id.to_string(), text.clone())).unwrap());
        }
        assert!(!sample.offer(Document::new("long", "x".repeat(1 + (1 << 10)))).unwrap());
        assert_eq!(sample.seen(), 1001);
        let documents = sample.into_documents();
        assert_eq!((documents.len(), &*documents[0].id), (9, "999"));
        let mut sample = Sample::new(1000, 1500, 7).keeping(["a".to_owned(), "b".to_owned()]);
        assert!(sample.offer(Document::new("a", text.clone())).unwrap());
        assert!(sample.offer(Document::new("b", text)).is_err());
    }
}
