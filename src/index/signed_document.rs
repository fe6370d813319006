//! A document that is ready to be written.

use std::sync::Arc;

use super::{Config, Document};
use crate::error::Result;
use crate::hash::Digest;
use crate::runtime::Stop;
use crate::scheme::Fingerprint;

/// A document with its signature.
///
/// Signing takes most of the time of adding. Several threads can sign for the same
/// [`Writer`](super::Writer), as in [`Index::sign_all`](super::Index::sign_all).
///
/// ```
/// use cento::{Config, Document, Index, SignedDocument, Stop, WriterOptions};
///
/// let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
/// let mut writer = index.writer(WriterOptions::default())?;
/// let document = Document::new("a", "some text");
/// let signed = SignedDocument::new(document, index.config(), Stop::NEVER)?;
/// assert_eq!(signed.token_count, 2);
/// writer.add_signed(signed)?;
/// # Ok::<(), cento::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SignedDocument {
    /// The document to be added, with the token counts of its parts.
    pub document: Document,
    /// The digest of the text, keyed if the index has a key.
    pub digest: Digest,
    /// The number of tokens of the text.
    pub token_count: u32,
    /// The fingerprints, ordered by position.
    pub signature: Arc<Vec<Fingerprint>>,
}

impl SignedDocument {
    /// Signs a document with the scheme and analyzer of `config`.
    ///
    /// # Errors
    /// When the text is too large. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn new(document: Document, config: &Config, stop: &Stop) -> Result<SignedDocument> {
        let digest = config.text_digest(&document.text)?;
        SignedDocument::with_digest(document, digest, config, stop)
    }

    /// Signs a document whose text has this digest.
    pub(super) fn with_digest(
        mut document: Document,
        digest: Digest,
        config: &Config,
        stop: &Stop,
    ) -> Result<SignedDocument> {
        config.count_tokens_of_parts(&mut document.parts, &document.text, stop)?;
        // The tokens are not kept.
        let signed = config.sign_within(&document.text, usize::MAX, &mut Vec::new(), stop)?;
        let signature = signed.fingerprints.expect("nothing is too large");
        Ok(SignedDocument {
            document,
            digest,
            token_count: signed.tokens,
            signature: Arc::new(signature),
        })
    }

    /// Combines a document with the digest of its text, its number of tokens, and its signature.
    #[must_use]
    pub fn of(
        document: Document,
        digest: Digest,
        token_count: u32,
        signature: Vec<Fingerprint>,
    ) -> SignedDocument {
        SignedDocument { document, digest, token_count, signature: Arc::new(signature) }
    }
}
