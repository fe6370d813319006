//! A cache of stored documents split into tokens.
//!
//! Reading a text and splitting it takes a third of the time of comparing it with a passage, and
//! many queries meet the same documents, so recently compared documents are cached.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::storage::{ByteLru, InMemory, LruShare};
use crate::text::AnalyzedText;

/// The bytes of analyzed documents that an open index caches.
pub(super) const DOCUMENTS_KEPT_BYTES: usize = 32 << 20;

/// A larger document, from about 18 kB of text, is not cached. RFCs of 42 kB were evicted before
/// they were needed again, and the cached memory displaced other data from the processor's caches:
/// searches among such RFCs took a sixth longer.
const DOCUMENT_BYTES_MAX: usize = 64 << 10;

/// Which tokens of a document. For some analyzers, signatures and passages use different tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// The tokens that signatures are made from.
    Signed,
    /// The tokens that passages are found by.
    OfPassages,
}

#[derive(Debug)]
pub(crate) struct AnalyzedDocument {
    analyzed: AnalyzedText,
    /// The number of distinct runs of words, with nothing left out. Empty until counted.
    pub distinct_runs: OnceLock<u32>,
}

impl AnalyzedDocument {
    pub fn new(analyzed: AnalyzedText) -> AnalyzedDocument {
        AnalyzedDocument { analyzed, distinct_runs: OnceLock::new() }
    }
}

impl Deref for AnalyzedDocument {
    type Target = AnalyzedText;

    fn deref(&self) -> &AnalyzedText {
        &self.analyzed
    }
}

impl InMemory for AnalyzedDocument {
    fn memory_bytes(&self) -> usize {
        self.analyzed.bytes() + size_of::<AnalyzedDocument>()
    }
}

/// The cached documents of one segment.
pub(super) struct AnalyzedDocuments {
    signed: LruShare<AnalyzedDocument>,
    of_passages: LruShare<AnalyzedDocument>,
}

impl AnalyzedDocuments {
    /// Registers a segment with the cache of its index.
    pub fn new(kept: &Arc<ByteLru<AnalyzedDocument>>) -> AnalyzedDocuments {
        AnalyzedDocuments { signed: kept.share(), of_passages: kept.share() }
    }

    /// Returns a document of the segment if the cache has it.
    pub fn find(&self, kind: TokenKind, doc: u32) -> Option<Arc<AnalyzedDocument>> {
        self.share(kind).find(doc)
    }

    /// Caches a document of the segment, split into tokens of this kind, unless it is too large.
    pub fn keep(&self, kind: TokenKind, doc: u32, document: &Arc<AnalyzedDocument>) {
        if document.memory_bytes() <= DOCUMENT_BYTES_MAX {
            self.share(kind).put(doc, document);
        }
    }

    fn share(&self, kind: TokenKind) -> &LruShare<AnalyzedDocument> {
        match kind {
            TokenKind::Signed => &self.signed,
            TokenKind::OfPassages => &self.of_passages,
        }
    }
}
