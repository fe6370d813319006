//! Access to the cache of analyzed documents from a snapshot.

use std::sync::Arc;

use super::analyzed_document::{AnalyzedDocument, TokenKind};
use super::snapshot::{DocAddress, Snapshot};

impl Snapshot {
    /// Returns an analyzed document from the cache.
    pub(crate) fn kept_document(
        &self,
        address: DocAddress,
        kind: TokenKind,
    ) -> Option<Arc<AnalyzedDocument>> {
        self.segment(address).documents.find(kind, address.doc)
    }

    /// Puts an analyzed document with tokens of this kind into the cache.
    pub(crate) fn keep_document(
        &self,
        address: DocAddress,
        kind: TokenKind,
        document: &Arc<AnalyzedDocument>,
    ) {
        self.segment(address).documents.keep(kind, address.doc, document);
    }
}
