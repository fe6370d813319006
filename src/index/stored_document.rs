//! Reads the documents of a snapshot.

use cento_api::Part;
use cento_api::json::heap_bytes;
use serde_json::{Map, Value};

use super::storage::record;
use super::{DocAddress, Snapshot, parts};
use crate::error::Result;
use crate::runtime::Stop;
use crate::text::{AnalyzedText, Analyzer};

/// A document as it was added.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StoredDocument {
    /// The caller's id of the document.
    pub id: String,
    /// The text. `None` if the index stores no text.
    pub text: Option<String>,
    /// The parts that the text was joined from. Empty for most documents.
    pub parts: Vec<Part>,
    /// The caller's metadata. Empty if the document has no metadata.
    pub meta: Map<String, Value>,
}

/// The stored fields of a document.
pub(super) struct StoredFields {
    pub id: String,
    pub text: Option<String>,
    pub parts: Vec<Part>,
}

impl Snapshot {
    /// Reads a document, and verifies its digests.
    ///
    /// ```
    /// # use cento::{Config, Document, Index, WriterOptions};
    /// # let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// # let mut writer = index.writer(WriterOptions::default())?;
    /// # let poem = "A lighthouse was a fire behind a window and half of the light went up";
    /// # writer.add(Document::new("poem", poem))?;
    /// # writer.add(Document::new("copy", format!("{poem} the chimney")))?;
    /// # writer.commit()?;
    /// let snapshot = index.snapshot()?;
    /// let stored = snapshot.document(snapshot.find("poem")?.unwrap())?;
    /// assert_eq!((stored.id.as_str(), stored.text.as_deref()), ("poem", Some(poem)));
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the document cannot be read, or differs from the document that was added.
    pub fn document(&self, address: DocAddress) -> Result<StoredDocument> {
        let StoredFields { id, text, parts } = self.stored(address)?;
        Ok(StoredDocument { id, text, parts, meta: self.meta(address)? })
    }

    /// Reads the text of a document, and verifies its digest. `None` if texts are not stored.
    ///
    /// # Errors
    /// When the text cannot be read, or differs from the added text.
    pub fn text(&self, address: DocAddress) -> Result<Option<String>> {
        Ok(self.stored(address)?.text)
    }

    /// Returns the parts of the text of a document, in order. Empty for most documents.
    ///
    /// # Errors
    /// When the parts cannot be read, or differ from the parts that were added.
    pub fn parts(&self, address: DocAddress) -> Result<Vec<Part>> {
        match self.parts_digest(address)? {
            None => Ok(Vec::new()),
            Some(_) => Ok(self.stored(address)?.parts),
        }
    }

    /// Returns the metadata of a document.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub fn meta(&self, address: DocAddress) -> Result<Map<String, Value>> {
        Ok(self.measured_meta(address)?.0)
    }

    /// Returns the metadata of a document, and their size in an answer: the bytes of an object and,
    /// while writing, of JSON in a buffer that has just doubled.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub(crate) fn measured_meta(&self, address: DocAddress) -> Result<(Map<String, Value>, usize)> {
        let json = self.meta_json(address)?;
        if json.is_empty() {
            return Ok((Map::new(), 0));
        }
        let meta = serde_json::from_slice(&json)
            .map_err(|_| self.damaged(address, "fast", "the meta object is not JSON"))?;
        let bytes = heap_bytes(&meta) + 2 * json.len();
        Ok((meta, bytes))
    }

    /// Refuses a document whose parts are missing in the store.
    ///
    /// # Errors
    /// When the document has a digest of parts, but no parts.
    pub(super) fn check_parts(&self, address: DocAddress, parts: &[Part]) -> Result<()> {
        if parts.is_empty() && self.parts_digest(address)?.is_some() {
            return Err(self.damaged(address, "store", "its parts are missing"));
        }
        Ok(())
    }

    fn parts_digest(&self, address: DocAddress) -> Result<Option<u64>> {
        self.segment(address).parts_digest(address.doc)
    }

    /// Reads the stored fields of a document, and verifies its digests.
    pub(super) fn stored(&self, address: DocAddress) -> Result<StoredFields> {
        let fields = *self.index().fields();
        let damaged = |what: &str| self.damaged(address, "store", what);
        let store = &self.segment(address).store;
        let bytes = store.document(address.doc);
        let bytes = bytes.map_err(|(at, what)| damaged(&format!("{what}, at byte {at}")))?;
        let texts = record::texts(&bytes);
        let texts = texts.ok_or_else(|| damaged("the document cannot be decoded"))?;
        let text_of = |field| {
            let found = texts.iter().find(|(other, _)| *other == field);
            found.map_or("", |&(_, text)| text)
        };
        let id = text_of(fields.id).to_owned();
        let text = fields.text.map(|field| text_of(field).to_owned());
        let digest = self.segment(address).signatures.digest(address.doc)?;
        let text_fits = match &text {
            Some(text) => self.config().text_digest(text)? == digest,
            None => true,
        };
        if !text_fits || id != self.id(address)? {
            return Err(damaged("the document does not match its digest"));
        }
        // Do not open the column without parts, because opening reads the whole file.
        let parts = match text_of(fields.parts) {
            "" => Some(Vec::new()),
            stored => self.parts_digest(address)?.and_then(|digest| parts::read(stored, digest)),
        };
        let parts = parts.ok_or_else(|| damaged("its parts do not match their digest"))?;
        Ok(StoredFields { id, text, parts })
    }

    /// Reads the text of a document and splits it into tokens. Empty if the index stores no text.
    ///
    /// # Errors
    /// The errors of [`document`](Self::document). [`Error::Cancelled`](crate::Error::Cancelled)
    /// soon after `stop`.
    pub fn analyzed(&self, address: DocAddress, stop: &Stop) -> Result<AnalyzedText> {
        self.analyzed_by(&self.config().analyzer, address, stop)
    }

    /// Like [`analyzed`](Self::analyzed), but with the tokens that passages are found by.
    ///
    /// # Errors
    /// The errors of [`analyzed`](Self::analyzed).
    pub fn analyzed_for_passages(&self, address: DocAddress, stop: &Stop) -> Result<AnalyzedText> {
        self.analyzed_by(&self.config().analyzer.of_passages(), address, stop)
    }

    fn analyzed_by(
        &self,
        analyzer: &Analyzer,
        address: DocAddress,
        stop: &Stop,
    ) -> Result<AnalyzedText> {
        let StoredFields { text, parts, .. } = self.stored(address)?;
        Ok(AnalyzedText::new(text.unwrap_or_default(), analyzer, stop)?.with_parts(parts))
    }
}
