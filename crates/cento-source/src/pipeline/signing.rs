//! Signing of the documents of the pipeline.
//!
//! A worker signs a document, in memory that is reserved for it; a document that turns out to take
//! more is signed alone and in the caller's thread.

use super::{Output, PipelineOptions};
use cento::Stop;
use cento::fault::{Faults, Point};
use cento::hash::Digest;
use cento::index::{Config, Document, Signature, SignedDocument};
use cento::scheme::Fingerprint;
use cento::{Error, Reason, Refusal, Result};

/// The memory of a fingerprint beside its signature: its place in the segment that is being made.
const BUILDER_BYTES: usize = 12;

impl Output {
    /// Returns a document, the digest of its text, its number of tokens and its signature; without
    /// the text, unless that is kept.
    pub(super) fn of(
        document: Document,
        digest: Digest,
        (tokens, signature): (u32, Vec<Fingerprint>),
        keeps_text: bool,
    ) -> Output {
        let text_bytes = document.text.len();
        let mut signed = SignedDocument::of(document, digest, tokens, signature);
        if !keeps_text {
            signed.document.text = String::new();
        }
        Output::Signed { signed, text_bytes }
    }
}

/// Signs a document, if that takes at most `bytes_max`.
pub fn sign(
    (config, faults): (&Config, &Faults),
    document: &Document,
    bytes_max: usize,
    part: &mut Vec<u64>,
) -> Result<Signature> {
    // A defect that one document triggers must not fail the others with it.
    Error::catch(&document_place(document), || {
        let point = faults.at(Point::Sign, &document.id);
        point.map_err(|e| Error::io("sign", &document.id, e))?;
        config.sign_within(&document.text, bytes_max, part, Stop::NEVER)
    })
}

/// Signs a document in the caller's thread, if that takes no more memory than one document may;
/// otherwise, or if it triggers a defect, returns why it was not signed.
pub(crate) fn sign_alone(
    config: &Config,
    options: &PipelineOptions,
    document: Document,
    digest: Digest,
) -> Output {
    match sign((config, &options.faults), &document, 0, &mut Vec::new()) {
        Ok(Signature { tokens, fingerprints: Some(signature), .. }) => {
            Output::of(document, digest, (tokens, signature), options.keeps_texts)
        }
        Ok(cost) => Large { config, options }.sign(document, digest, &cost),
        Err(error) => Output::Failed(error),
    }
}

/// Signs documents that take much memory, one at a time.
pub struct Large<'a> {
    pub config: &'a Config,
    pub options: &'a PipelineOptions,
}

impl Large<'_> {
    pub fn sign(&self, document: Document, digest: Digest, cost: &Signature) -> Output {
        let bytes_max = self.options.document_bytes_max;
        let text = document.text.len();
        let bytes = cost.bytes.saturating_add(cost.count * BUILDER_BYTES).saturating_add(text);
        if bytes > bytes_max {
            let what = format!(
                "fingerprinting its {text} bytes of text, of {} tokens, needs {} MiB of memory, \
                 but a document may use at most {} MiB; split the text, or allow {} times the \
                 memory",
                cost.tokens,
                bytes.div_ceil(1 << 20),
                bytes_max >> 20,
                bytes.div_ceil(bytes_max.max(1)),
            );
            return Output::Failed(Error::input(
                document_place(&document),
                Refusal::new(Reason::DocumentTooLarge, what),
            ));
        }
        match sign((self.config, &self.options.faults), &document, usize::MAX, &mut Vec::new()) {
            Ok(Signature { tokens, fingerprints, .. }) => {
                let signature = fingerprints.expect("nothing is too large");
                Output::of(document, digest, (tokens, signature), self.options.keeps_texts)
            }
            Err(error) => Output::Failed(error),
        }
    }
}

/// Returns the name of a document in errors.
#[doc(hidden)]
#[must_use]
pub fn document_place(document: &Document) -> String {
    format!("document `{}`", document.id)
}
