//! Decides whether a document differs from the stored document with the same id.

use tantivy::DateTime;

use super::canonical::canonical_json;
use super::own_meta::without_novelty;
use super::{DocAddress, Document, Snapshot, parts};
use crate::error::{Error, Result};
use crate::hash::Digest;
use crate::reason::{Reason, Refusal};

/// The compared part of the stored content of a document.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// The digest of text, parts and meta object together.
    pub digest: Digest,
    /// The place that the id was made from, if the id was made.
    pub place: Option<u64>,
    /// The digest of the text alone.
    pub text: Digest,
    /// When the document was added with this text.
    pub added: DateTime,
}

impl Content {
    /// Reads the content of a stored document.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn of(snapshot: &Snapshot, address: DocAddress) -> Result<Content> {
        let segment = snapshot.segment(address);
        let text = segment.signatures.digest(address.doc)?;
        let parts = segment.parts_digest(address.doc)?;
        let digest = content_digest(text, parts, &snapshot.own_meta_json(address)?);
        let added = segment.added(address.doc)?;
        Ok(Content { digest, place: segment.place(address.doc)?, text, added })
    }
}

/// Why a document does not replace the stored document with its id.
const OTHER_SOURCE: &str = "the index has a document with this id from another place, and the id \
                            was made from the name of a file or stream, so nothing is replaced; \
                            give documents ids of their own, rename the file, or ask for the \
                            replacement";

/// A new document next to the stored document with the same id.
pub struct Compared {
    /// The digest of the id.
    pub of_id: Digest,
    /// The new meta object as canonical JSON.
    pub meta: String,
    /// The digest of the new content.
    pub content: Digest,
    /// The stored content, or `None` if the id is new.
    pub before: Option<Content>,
}

impl Compared {
    /// Compares a document with the stored content. `digest` belongs to its text, `of_id` to its
    /// id.
    pub fn new(
        document: &Document,
        digest: Digest,
        of_id: Digest,
        before: Option<Content>,
    ) -> Compared {
        let meta = canonical_json(&document.meta);
        let own = without_novelty(&document.meta);
        let own = own.as_ref().unwrap_or(&meta);
        let content = content_digest(digest, parts::digest(&document.parts), own.as_bytes());
        Compared { of_id, meta, content, before }
    }

    /// Returns whether the stored content equals the new content.
    pub fn is_unchanged(&self) -> bool {
        self.before.is_some_and(|before| before.digest == self.content)
    }

    /// Returns the time of addition of the document. If only the meta object or the parts differ
    /// from the stored document, the stored time is kept: correcting metadata must not make a
    /// document look newer than its quotations.
    pub fn added(&self, text: Digest, now: DateTime) -> DateTime {
        let same = self.before.filter(|before| before.text == text);
        same.map_or(now, |before| before.added.min(now))
    }

    /// Refuses a document with a generated id that would replace a document from another place.
    ///
    /// # Errors
    /// [`Error::Input`] for this conflict.
    pub fn check_replacement(&self, document: &Document) -> Result<()> {
        match self.before {
            Some(before) if !document.id_source.may_replace(before.place) => {
                let refusal = Refusal::new(Reason::IdTaken, OTHER_SOURCE);
                Err(Error::input(document.id.clone(), refusal))
            }
            _ => Ok(()),
        }
    }
}

/// Combines the digests of text and parts and the meta object into one digest.
fn content_digest(digest: Digest, parts: Option<u64>, meta: &[u8]) -> Digest {
    let digest = digest.to_le_bytes();
    match parts {
        None => Digest::of_parts(&[&digest, meta]),
        Some(parts) => Digest::of_parts(&[&digest, meta, &parts.to_le_bytes()]),
    }
}
