//! Signs documents on the threads of a pipeline, within reserved memory.
//!
//! The size of a signature is known only after signing. If a signature would need more than the
//! reserved memory, the preparing thread leaves the document to the consumer's thread, which signs
//! in order. So at most one large document is signed at a time, and no thread waits for memory
//! while holding memory. The pipeline cannot deadlock.

use std::fmt;
use std::sync::Arc;

use derive_setters::Setters;

use super::signing::Signature;
use super::{Config, Document, SignedDocument};
use crate::error::{Error, Result};
use crate::hash::Digest;
use crate::reason::{Reason, Refusal};
use crate::runtime::{Faults, Point, Stop};
use crate::scheme::Fingerprint;
use crate::text::PART_TOKENS;

/// Returns whether the index already has a document. The digest is the digest of its text.
pub type IsKnown = Arc<dyn Fn(&Document, Digest) -> bool + Send + Sync>;

/// Bytes per fingerprint in the segment under construction, in addition to the signature.
const BUILDER_BYTES: usize = 12;

/// Signs documents on several threads, each within reserved memory.
///
/// The threads [prepare](Self::prepare) documents. The consumer's thread [finishes](Self::finish)
/// the results in order.
#[derive(Clone, Setters)]
#[setters(into)]
pub struct DocumentSigner {
    #[setters(skip)]
    config: Config,
    #[setters(skip)]
    faults: Faults,
    /// Bytes to reserve for signing each byte of text, estimated from a signed sample.
    #[setters(skip)]
    signing_bytes_a_byte: usize,
    /// Known documents are not signed.
    is_known: Option<IsKnown>,
    /// Whether signed documents keep their texts. Freeing memory on a different thread costs time
    /// on both threads.
    keeps_texts: bool,
    /// Bytes for one document whose signature takes more than is usual for its size. A document
    /// above this limit is refused.
    document_bytes_max: usize,
    /// Ends the signing of a document early.
    stop: Stop,
}

impl fmt::Debug for DocumentSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DocumentSigner").field("config", &self.config).finish_non_exhaustive()
    }
}

/// The outcome for a document.
#[derive(Debug)]
pub enum SignOutcome {
    /// The document is new or changed, and was signed.
    Signed {
        /// The document and its signature. The text is empty unless texts are kept.
        signed: SignedDocument,
        /// The length of the text in bytes.
        text_bytes: usize,
    },
    /// The document is known. With the digest of its text.
    Known(Document, Digest),
}

/// A document that a thread has prepared.
#[derive(Debug)]
pub struct Prepared(SignerState);

#[derive(Debug)]
enum SignerState {
    Done(SignOutcome),
    /// Left to the consumer's thread, because signing takes too much memory.
    Large(Document, Digest, Signature),
}

impl DocumentSigner {
    /// Creates a signer for an index with this configuration. Texts are kept, and the memory per
    /// document is unlimited. `faults` are for tests.
    #[must_use]
    pub fn new(config: &Config, faults: Faults) -> DocumentSigner {
        DocumentSigner {
            config: config.clone(),
            faults,
            signing_bytes_a_byte: config.signing_bytes_a_byte(),
            is_known: None,
            keeps_texts: true,
            document_bytes_max: usize::MAX,
            stop: Stop::default(),
        }
    }

    /// Returns the bytes for signing documents with `text_bytes` bytes of text together, with a
    /// margin for one document of any kind.
    #[must_use]
    pub fn reserved(&self, text_bytes: usize) -> usize {
        self.signing_bytes_a_byte.saturating_mul(text_bytes).saturating_add(PART_TOKENS)
    }

    /// Returns the bytes to reserve for analyzing and signing each byte of text.
    #[must_use]
    pub fn bytes_a_byte(&self) -> usize {
        let scratch = self.config.analyzer.scratch_bytes(1 << 10) >> 10;
        self.signing_bytes_a_byte + scratch
    }

    /// Signs a document if `bytes_left` suffices, and subtracts the used bytes. Otherwise the
    /// document is left to [`finish`](Self::finish). `part` is scratch memory that is reused
    /// between texts.
    ///
    /// # Errors
    /// The errors of [`sign`](Self::sign).
    pub fn prepare(
        &self,
        document: Document,
        bytes_left: &mut usize,
        part: &mut Vec<u64>,
    ) -> Result<Prepared> {
        let digest = self.config.text_digest(&document.text)?;
        if self.is_known.as_ref().is_some_and(|is_known| is_known(&document, digest)) {
            return Ok(Prepared(SignerState::Done(SignOutcome::Known(document, digest))));
        }
        Ok(Prepared(match self.sign(&document, *bytes_left, part)? {
            Signature { tokens, bytes, fingerprints: Some(signature), .. } => {
                *bytes_left = bytes_left.saturating_sub(bytes);
                SignerState::Done(self.signed(document, digest, tokens, signature)?)
            }
            cost => SignerState::Large(document, digest, cost),
        }))
    }

    /// Signs a prepared document that needs much memory. Returns further outcomes unchanged.
    ///
    /// # Errors
    /// [`Error::Input`] when the document exceeds the memory for one document, and the errors of
    /// [`sign`](Self::sign).
    pub fn finish(&self, prepared: Prepared) -> Result<SignOutcome> {
        match prepared.0 {
            SignerState::Done(outcome) => Ok(outcome),
            SignerState::Large(document, digest, cost) => {
                self.check_cost(&document, &cost)?;
                let signed = self.sign(&document, usize::MAX, &mut Vec::new())?;
                let signature = signed.fingerprints.expect("nothing is too large");
                self.signed(document, digest, signed.tokens, signature)
            }
        }
    }

    /// Signs a document on the consumer's thread, without reserved memory.
    ///
    /// # Errors
    /// The errors of [`finish`](Self::finish).
    pub fn sign_alone(&self, document: Document, digest: Digest) -> Result<SignOutcome> {
        let cost = self.sign(&document, 0, &mut Vec::new())?;
        let state = match cost.fingerprints {
            Some(signature) => {
                SignerState::Done(self.signed(document, digest, cost.tokens, signature)?)
            }
            None => SignerState::Large(document, digest, cost),
        };
        self.finish(Prepared(state))
    }

    /// Computes the signature of a document if that takes at most `bytes_max`. Beyond the limit,
    /// only the size of the signature is computed.
    ///
    /// # Errors
    /// [`Error::Internal`] when the document triggers a panic, which then affects no other
    /// document. [`Error::Cancelled`] soon after the stop is set. When the text is too large.
    pub fn sign(
        &self,
        document: &Document,
        bytes_max: usize,
        part: &mut Vec<u64>,
    ) -> Result<Signature> {
        Error::catch(&place_of(document), || {
            let point = self.faults.at(Point::Sign, &document.id);
            point.map_err(|e| Error::io("sign", &document.id, e))?;
            self.config.sign_within(&document.text, bytes_max, part, &self.stop)
        })
    }

    /// Combines a document with a signature that was computed elsewhere, the number of tokens and
    /// the digest of the text. Counts the tokens of parts, for the index to record.
    ///
    /// # Errors
    /// When the digest depends on an unknown key, and when the text is too large.
    /// [`Error::Cancelled`] soon after the stop is set.
    pub fn combine(
        &self,
        document: Document,
        tokens: u32,
        signature: Vec<Fingerprint>,
    ) -> Result<SignedDocument> {
        let digest = self.config.text_digest(&document.text)?;
        self.combine_with(document, digest, tokens, signature)
    }

    fn combine_with(
        &self,
        mut document: Document,
        digest: Digest,
        tokens: u32,
        signature: Vec<Fingerprint>,
    ) -> Result<SignedDocument> {
        let Document { text, parts, .. } = &mut document;
        self.config.count_tokens_of_parts(parts, text, &self.stop)?;
        Ok(SignedDocument::of(document, digest, tokens, signature))
    }

    fn signed(
        &self,
        document: Document,
        digest: Digest,
        tokens: u32,
        signature: Vec<Fingerprint>,
    ) -> Result<SignOutcome> {
        let text_bytes = document.text.len();
        let mut signed = self.combine_with(document, digest, tokens, signature)?;
        if !self.keeps_texts {
            signed.document.text = String::new();
        }
        Ok(SignOutcome::Signed { signed, text_bytes })
    }

    fn check_cost(&self, document: &Document, cost: &Signature) -> Result<()> {
        let (bytes_max, text) = (self.document_bytes_max, document.text.len());
        let bytes = cost.bytes.saturating_add(cost.count * BUILDER_BYTES).saturating_add(text);
        if bytes <= bytes_max {
            return Ok(());
        }
        let what = format!(
            "fingerprinting its {text} bytes of text, of {} tokens, needs {} MiB of memory, but a \
             document may use at most {} MiB; split the text, or allow {} times the memory",
            cost.tokens,
            bytes.div_ceil(1 << 20),
            bytes_max >> 20,
            bytes.div_ceil(bytes_max.max(1)),
        );
        Err(Error::input(place_of(document), Refusal::new(Reason::DocumentTooLarge, what)))
    }
}

/// Returns the description of a document for errors.
fn place_of(document: &Document) -> String {
    format!("document `{}`", document.id)
}
