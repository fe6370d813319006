//! Stored documents that are split into tokens: those that queries were compared with last are
//! kept.
//!
//! Reading a text and splitting it into tokens takes a third of the time of comparing it with a
//! passage, and many queries meet the same documents.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::storage::{ByteLru, InMemory, Owner};
use super::{DocAddress, Snapshot};
use crate::text::Analyzed;

/// The bytes of the documents that an open index keeps split into tokens.
pub(super) const DOCUMENTS_KEPT_BYTES: usize = 32 << 20;

/// A document that takes more, one of some 18 kB of text, is not kept. Of RFCs of 42 kB too few
/// would be met again before they go, and memory that is kept meanwhile is memory that no longer is
/// in a cache of the processor: searches among them took a sixth longer.
const DOCUMENT_BYTES_MAX: usize = 64 << 10;

/// The tokens of a document: those that were signed, or those that passages are found by, if these
/// are others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// As the document was signed.
    Signed,
    /// As passages are found.
    OfPassages,
}

/// A stored document, split into tokens.
#[derive(Debug)]
pub(crate) struct AnalyzedDocument {
    analyzed: Analyzed,
    /// The number of its distinct runs of words, nothing left out, once it was counted.
    pub distinct_runs: OnceLock<u32>,
}

impl AnalyzedDocument {
    /// Creates the document of its text and tokens.
    pub fn new(analyzed: Analyzed) -> AnalyzedDocument {
        AnalyzedDocument { analyzed, distinct_runs: OnceLock::new() }
    }
}

impl Deref for AnalyzedDocument {
    type Target = Analyzed;

    fn deref(&self) -> &Analyzed {
        &self.analyzed
    }
}

impl InMemory for AnalyzedDocument {
    fn memory_bytes(&self) -> usize {
        self.analyzed.bytes() + size_of::<AnalyzedDocument>()
    }
}

/// The documents of a segment that are kept.
pub(super) struct AnalyzedDocuments {
    kept: Arc<ByteLru<AnalyzedDocument>>,
    signed: Owner,
    of_passages: Owner,
}

impl AnalyzedDocuments {
    /// Creates the place for those of a segment in the cache of its index.
    pub fn new(kept: &Arc<ByteLru<AnalyzedDocument>>) -> AnalyzedDocuments {
        let (signed, of_passages) = (kept.owner(), kept.owner());
        AnalyzedDocuments { kept: kept.clone(), signed, of_passages }
    }

    fn owner(&self, kind: TokenKind) -> Owner {
        match kind {
            TokenKind::Signed => self.signed,
            TokenKind::OfPassages => self.of_passages,
        }
    }
}

impl Snapshot {
    /// Returns a document if it is kept.
    pub(crate) fn kept_document(
        &self,
        address: DocAddress,
        kind: TokenKind,
    ) -> Option<Arc<AnalyzedDocument>> {
        let documents = &self.segment(address).documents;
        documents.kept.find(documents.owner(kind), address.doc)
    }

    /// Keeps a document, which has these tokens, for later queries.
    pub(crate) fn keep_document(
        &self,
        address: DocAddress,
        kind: TokenKind,
        document: &Arc<AnalyzedDocument>,
    ) {
        if document.memory_bytes() > DOCUMENT_BYTES_MAX {
            return;
        }
        let documents = &self.segment(address).documents;
        documents.kept.put(documents.owner(kind), address.doc, document);
    }
}
