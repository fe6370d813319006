//! Stored documents that are split into tokens: those that queries were compared with last are
//! kept.
//!
//! Reading a text and splitting it into tokens takes a third of the time of comparing it with a
//! passage, and many queries meet the same documents.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::storage::{ByteLru, InMemory, Owner};
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

    /// Returns a document of the segment if it is kept.
    pub fn find(&self, kind: TokenKind, doc: u32) -> Option<Arc<AnalyzedDocument>> {
        self.kept.find(self.owner(kind), doc)
    }

    /// Keeps a document of the segment, which has these tokens, for later queries.
    pub fn keep(&self, kind: TokenKind, doc: u32, document: &Arc<AnalyzedDocument>) {
        if document.memory_bytes() <= DOCUMENT_BYTES_MAX {
            self.kept.put(self.owner(kind), doc, document);
        }
    }

    fn owner(&self, kind: TokenKind) -> Owner {
        match kind {
            TokenKind::Signed => self.signed,
            TokenKind::OfPassages => self.of_passages,
        }
    }
}
