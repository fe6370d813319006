//! How is a document of the pipeline signed?
//!
//! By a worker, in memory that is reserved for it; or, if it turns out to take more, alone and in the caller's thread.

use super::Output;
use cento::fault::{Faults, Point};
use cento::hash::Digest;
use cento::index::{Config, Document, Signature, Signed};
use cento::scheme::Fingerprint;
use cento::stop::Stop;
use cento::{Error, Result};

/// What a fingerprint takes beside that in a signature: its place in the segment that is being made.
const BUILDER_BYTES: usize = 12;

impl Output {
    /// A document and its signature, with its text.
    fn of(document: Document, tokens: u32, signature: Vec<Fingerprint>) -> Output {
        let (digest, text_bytes) = (Digest::of(document.text.as_bytes()), document.text.len());
        Output::Signed { signed: Signed::of(document, digest, tokens, signature), text_bytes }
    }
}

/// Signs a document, if that takes at most `bytes_max`.
pub fn sign(
    (config, faults): (&Config, &Faults),
    document: &Document,
    bytes_max: usize,
    part: &mut Vec<u64>,
) -> Result<Signature> {
    // A defect that one document brings out must not take the others with it.
    Error::catch(&document_place(document), || {
        let point = faults.at(Point::Sign, &document.id);
        point.map_err(|e| Error::io("sign", &document.id, e))?;
        config.sign_within(&document.text, bytes_max, part, Stop::NEVER)
    })
}

/// Signs a document in the caller's thread, if that takes at most `bytes_max`; otherwise, or if it brings out a
/// defect, says why it was not.
pub(crate) fn sign_alone(
    (config, faults): (&Config, &Faults),
    document: Document,
    bytes_max: usize,
) -> Output {
    match sign((config, faults), &document, 0, &mut Vec::new()) {
        Ok(Signature { tokens, fingerprints: Some(signature), .. }) => {
            Output::of(document, tokens, signature)
        }
        Ok(cost) => Large { config, faults, bytes_max }.sign(document, &cost),
        Err(error) => Output::Failed(error),
    }
}

/// Signs documents that take much, one at a time.
pub struct Large<'a> {
    pub config: &'a Config,
    pub faults: &'a Faults,
    /// The memory for one.
    pub bytes_max: usize,
}

impl Large<'_> {
    pub fn sign(&self, document: Document, cost: &Signature) -> Output {
        let text = document.text.len();
        let bytes = cost.bytes.saturating_add(cost.count * BUILDER_BYTES).saturating_add(text);
        if bytes > self.bytes_max {
            let what = format!(
                "fingerprinting its {text} bytes of text, of {} tokens, needs {} MiB of memory, but a \
                 document may use at most {} MiB; split the text, or allow {} times the memory",
                cost.tokens,
                bytes.div_ceil(1 << 20),
                self.bytes_max >> 20,
                bytes.div_ceil(self.bytes_max.max(1)),
            );
            return Output::Failed(Error::input(document_place(&document), what));
        }
        match sign((self.config, self.faults), &document, usize::MAX, &mut Vec::new()) {
            Ok(Signature { tokens, fingerprints, .. }) => {
                let signature = fingerprints.expect("nothing is too large");
                Output::of(document, tokens, signature)
            }
            Err(error) => Output::Failed(error),
        }
    }
}

/// How errors name a document.
#[doc(hidden)]
#[must_use]
pub fn document_place(document: &Document) -> String {
    format!("document `{}`", document.id)
}
