//! A document of a snapshot, as it was added.

use cento_api::Part;
use serde_json::{Map, Value};

use super::storage::record;
use super::{DocAddress, Snapshot, parts};
use crate::error::Result;
use crate::runtime::Stop;
use crate::text::{Analyzed, Analyzer};

/// A document as it was added.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StoredDocument {
    /// The caller's id.
    pub id: String,
    /// The text; `None` in an index that stores no text.
    pub text: Option<String>,
    /// The parts of the text, if it was joined of several.
    pub parts: Vec<Part>,
    /// The caller's metadata of the document.
    pub meta: Map<String, Value>,
}

/// What the store has of a document.
pub(super) struct Stored {
    pub id: String,
    pub text: Option<String>,
    pub parts: Vec<Part>,
}

impl Snapshot {
    /// Reads a document as it was added, and checks it against its digests.
    ///
    /// # Errors
    /// When it cannot be read, or differs from the document that was added.
    pub fn document(&self, address: DocAddress) -> Result<StoredDocument> {
        let Stored { id, text, parts } = self.stored(address)?;
        Ok(StoredDocument { id, text, parts, meta: self.meta(address)? })
    }

    /// Reads the text of a document, and checks it against its digest; `None` if texts are not
    /// stored.
    ///
    /// # Errors
    /// When it cannot be read, or differs from the document that was added.
    pub fn text(&self, address: DocAddress) -> Result<Option<String>> {
        Ok(self.stored(address)?.text)
    }

    /// Returns the parts of the text of a document, in their order; none of most documents.
    ///
    /// # Errors
    /// When they cannot be read, or differ from those of the document that was added.
    pub fn parts(&self, address: DocAddress) -> Result<Vec<Part>> {
        match self.parts_digest(address)? {
            None => Ok(Vec::new()),
            Some(_) => Ok(self.stored(address)?.parts),
        }
    }

    /// Refuses a document whose parts are not in the store.
    ///
    /// # Errors
    /// When it has a digest of parts, but no parts.
    pub(super) fn check_parts(&self, address: DocAddress, parts: &[Part]) -> Result<()> {
        if parts.is_empty() && self.parts_digest(address)?.is_some() {
            return Err(self.damaged(address, "store", "its parts are missing"));
        }
        Ok(())
    }

    fn parts_digest(&self, address: DocAddress) -> Result<Option<u64>> {
        self.segment(address).parts_digest(address.doc)
    }

    /// Reads what the store has of a document, and checks it against its digests.
    pub(super) fn stored(&self, address: DocAddress) -> Result<Stored> {
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
        // The column is not opened for a document without parts: all of its file is read then.
        let parts = match text_of(fields.parts) {
            "" => Some(Vec::new()),
            stored => self.parts_digest(address)?.and_then(|digest| parts::read(stored, digest)),
        };
        let parts = parts.ok_or_else(|| damaged("its parts do not match their digest"))?;
        Ok(Stored { id, text, parts })
    }

    /// Reads the text of a document, empty if the index stores none, and splits it into tokens.
    ///
    /// # Errors
    /// The errors of [`document`](Self::document); [`Error::Cancelled`](crate::Error::Cancelled)
    /// soon after `stop`.
    pub fn analyzed(&self, address: DocAddress, stop: &Stop) -> Result<Analyzed> {
        self.analyzed_by(&self.config().analyzer, address, stop)
    }

    /// Splits the text as [`analyzed`](Self::analyzed) does, with the analyzer whose tokens
    /// passages are found by.
    ///
    /// # Errors
    /// The errors of [`analyzed`](Self::analyzed).
    pub fn analyzed_for_passages(&self, address: DocAddress, stop: &Stop) -> Result<Analyzed> {
        self.analyzed_by(&self.config().analyzer.of_passages(), address, stop)
    }

    fn analyzed_by(
        &self,
        analyzer: &Analyzer,
        address: DocAddress,
        stop: &Stop,
    ) -> Result<Analyzed> {
        let Stored { text, parts, .. } = self.stored(address)?;
        Ok(Analyzed::new(text.unwrap_or_default(), analyzer, stop)?.with_parts(parts))
    }
}
