//! pipeline
use crate::scheme::Fingerprint;
use crate::source::Document;

/// A document and its signature.
pub struct Signed {
    /// The document.
    pub document: Document,
    /// The digest of its text.
    pub digest: u64,
    /// Its tokens.
    pub token_count: u32,
    /// Its fingerprints.
    pub signature: Vec<Fingerprint>,
}
