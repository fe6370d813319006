//! Does a document differ from the stored one of its id?

use tantivy::DateTime;

use super::canonical::canonical_json;
use super::own_meta::without_novelty;
use super::{DocAddress, Document, Snapshot, parts};
use crate::error::{Error, Result};
use crate::hash::Digest;
use crate::reason::{Reason, Refusal};

/// The content of a document of the index, as far as it is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// The digest of its text, parts and meta object.
    pub digest: Digest,
    /// The place that its id was made from, if it was.
    pub place: Option<u64>,
    /// The digest of its text.
    pub text: Digest,
    /// When it was added with this text.
    pub added: DateTime,
}

impl Content {
    /// Returns the content of a stored document.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(snapshot: &Snapshot, address: DocAddress) -> Result<Content> {
        let segment = snapshot.segment(address);
        let text = segment.signatures.digest(address.doc)?;
        let parts = segment.parts_digest(address.doc)?;
        let digest = content_digest(text, parts, &snapshot.own_meta_json(address)?);
        let added = segment.added(address.doc)?;
        Ok(Content { digest, place: segment.place(address.doc)?, text, added })
    }
}

/// Why a document does not replace another.
const OTHER_SOURCE: &str = "the index has a document with this id from another place, and the id \
                            was made from the name of a file or stream, so nothing is replaced; \
                            give documents ids of their own, rename the file, or ask for the \
                            replacement";

/// A document beside the stored one of its id.
pub struct Compared {
    /// The digest of the id.
    pub of_id: Digest,
    /// The document's meta object as canonical JSON.
    pub meta: String,
    /// The digest of the document's content.
    pub content: Digest,
    /// The content of the stored one, if there is one.
    pub before: Option<Content>,
}

impl Compared {
    /// Compares a document, whose text has this digest and whose id has the digest `of_id`, with
    /// the content of the stored one.
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

    /// Returns whether the stored one has the same content.
    pub fn is_unchanged(&self) -> bool {
        self.before.is_some_and(|before| before.digest == self.content)
    }

    /// Returns the time that a document whose text has this digest was added: that of the stored
    /// one if it has the same text, and only the meta object or the parts differ. So a correction
    /// of these makes no document a later one than those that quote it.
    pub fn added(&self, text: Digest, now: DateTime) -> DateTime {
        let same = self.before.filter(|before| before.text == text);
        same.map_or(now, |before| before.added.min(now))
    }

    /// Refuses a document that would replace one of another source without anybody having chosen
    /// its id.
    ///
    /// # Errors
    /// [`Error::Input`] for such a document.
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

/// Combines the digests of a text and its parts, and its meta object, to one digest.
fn content_digest(digest: Digest, parts: Option<u64>, meta: &[u8]) -> Digest {
    let digest = digest.to_le_bytes();
    match parts {
        None => Digest::of_parts(&[&digest, meta]),
        Some(parts) => Digest::of_parts(&[&digest, meta, &parts.to_le_bytes()]),
    }
}
