//! Signing of documents on the threads of a pipeline, in memory that is reserved for it.
//!
//! The size of a signature is known only when it has been made. A document whose signature turns
//! out to take more than was reserved is not signed by the thread that prepares it, but by the
//! taker's thread when its turn has come: so there is one such document at a time, and no thread
//! waits for memory while it holds some.

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

/// Tells whether the index has a document already; the digest is that of its text.
pub type IsKnown = Arc<dyn Fn(&Document, Digest) -> bool + Send + Sync>;

/// The memory of a fingerprint beside its signature: its place in the segment that is being made.
const BUILDER_BYTES: usize = 12;

/// Signs documents on several threads, each in the memory that is reserved for it.
///
/// A thread [prepares](Self::prepare) documents; the thread that takes the results
/// [finishes](Self::finish) them, one after the other.
#[derive(Clone, Setters)]
#[setters(into)]
pub struct DocumentSigner {
    #[setters(skip)]
    config: Config,
    #[setters(skip)]
    faults: Faults,
    /// The memory to be reserved for signing each byte of a text; a signed sample determines it.
    #[setters(skip)]
    signing_bytes_a_byte: usize,
    /// Documents that are known are not signed.
    is_known: Option<IsKnown>,
    /// Whether documents are passed on with their texts once they are signed: memory freed by a
    /// thread other than the one that allocated it costs both of them time.
    keeps_texts: bool,
    /// The memory for one document that takes more than others of its size; one that would take
    /// still more is refused.
    document_bytes_max: usize,
    /// Ends the signing of a document.
    stop: Stop,
}

impl fmt::Debug for DocumentSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DocumentSigner").field("config", &self.config).finish_non_exhaustive()
    }
}

/// A document that has been signed, unless it is known.
#[derive(Debug)]
pub enum SignOutcome {
    /// A document and its signature.
    Signed {
        /// Both; without the text if it is not kept.
        signed: SignedDocument,
        /// The length of the text.
        text_bytes: usize,
    },
    /// A document that is known, and the digest of its text.
    Known(Document, Digest),
}

/// A document that has been prepared by a thread.
#[derive(Debug)]
pub struct Prepared(State);

#[derive(Debug)]
enum State {
    Done(SignOutcome),
    /// It is left to the taker's thread, because signing it takes too much memory.
    Large(Document, Digest, Signature),
}

impl DocumentSigner {
    /// Creates a signer of documents for an index with this configuration, and the faults that a
    /// test injects. Documents keep their texts, and may take any memory.
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

    /// Returns the memory that documents with texts of this many bytes may take to be signed, and
    /// one document of any kind.
    #[must_use]
    pub fn reserved(&self, text_bytes: usize) -> usize {
        self.signing_bytes_a_byte.saturating_mul(text_bytes).saturating_add(PART_TOKENS)
    }

    /// Returns the memory to be reserved for analyzing and signing, for each byte of a text.
    #[must_use]
    pub fn bytes_a_byte(&self) -> usize {
        let scratch = self.config.analyzer.scratch_bytes(1 << 10) >> 10;
        self.signing_bytes_a_byte + scratch
    }

    /// Signs a document if that takes at most `bytes_left`, which becomes less by that; otherwise
    /// leaves it to [`finish`](Self::finish). `part` is memory that one text leaves to the next.
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
            return Ok(Prepared(State::Done(SignOutcome::Known(document, digest))));
        }
        Ok(Prepared(match self.sign(&document, *bytes_left, part)? {
            Signature { tokens, bytes, fingerprints: Some(signature), .. } => {
                *bytes_left = bytes_left.saturating_sub(bytes);
                State::Done(self.signed(document, digest, tokens, signature)?)
            }
            cost => State::Large(document, digest, cost),
        }))
    }

    /// Signs a prepared document that takes much memory, and returns any other as it is.
    ///
    /// # Errors
    /// [`Error::Input`] when it takes more memory than one document may, and the errors of
    /// [`sign`](Self::sign).
    pub fn finish(&self, prepared: Prepared) -> Result<SignOutcome> {
        match prepared.0 {
            State::Done(outcome) => Ok(outcome),
            State::Large(document, digest, cost) => {
                self.check_cost(&document, &cost)?;
                let signed = self.sign(&document, usize::MAX, &mut Vec::new())?;
                let signature = signed.fingerprints.expect("nothing is too large");
                self.signed(document, digest, signed.tokens, signature)
            }
        }
    }

    /// Signs a document without reserved memory, in the taker's thread.
    ///
    /// # Errors
    /// The errors of [`finish`](Self::finish).
    pub fn sign_alone(&self, document: Document, digest: Digest) -> Result<SignOutcome> {
        let cost = self.sign(&document, 0, &mut Vec::new())?;
        let state = match cost.fingerprints {
            Some(signature) => {
                State::Done(self.signed(document, digest, cost.tokens, signature)?)
            }
            None => State::Large(document, digest, cost),
        };
        self.finish(Prepared(state))
    }

    /// Computes the signature of a document, if that takes at most `bytes_max`.
    ///
    /// # Errors
    /// [`Error::Internal`] when the document triggers a defect, which then fails no other;
    /// [`Error::Cancelled`] soon after the stop is set; when the text is too large.
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

    /// Combines a document with its signature, which was made before: with the digest of its text,
    /// and with its parts as the index records them.
    ///
    /// # Errors
    /// When the digest depends on a key that is not known; when the text is too large;
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

/// Returns the name of a document in errors.
fn place_of(document: &Document) -> String {
    format!("document `{}`", document.id)
}
