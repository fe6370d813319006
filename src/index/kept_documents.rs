//! The documents of a snapshot that are kept split into tokens.

use std::sync::Arc;

use super::analyzed_document::{AnalyzedDocument, TokenKind};
use super::snapshot::{DocAddress, Snapshot};

impl Snapshot {
    /// Returns a document if it is kept.
    pub(crate) fn kept_document(
        &self,
        address: DocAddress,
        kind: TokenKind,
    ) -> Option<Arc<AnalyzedDocument>> {
        self.segment(address).documents.find(kind, address.doc)
    }

    /// Keeps a document, which has these tokens, for later queries.
    pub(crate) fn keep_document(
        &self,
        address: DocAddress,
        kind: TokenKind,
        document: &Arc<AnalyzedDocument>,
    ) {
        self.segment(address).documents.keep(kind, address.doc, document);
    }
}
