//! Novelty: how much of a document did the index not have before?
//!
//! Of each fingerprint of the document, the first earlier document that has it is its source: by
//! the time of addition, which no two documents have in common, so that neither merges nor commits
//! matter. Earlier documents are those of the last commit ([`stored`]) and those that this writer
//! has added since ([`uncommitted`]). Fingerprints of one source, each near the next one, are a
//! part that the document took or has from where the source has it ([`shares`]).
//!
//! Texts are not compared: that would take many times as long as adding the document.

mod by_day;
mod shares;
mod stored;
#[cfg(test)]
mod tests;
mod uncommitted;

use cento_api::{Novelty, NoveltySource};

use self::shares::{Origin, Shares};
use self::stored::Stored;
use self::uncommitted::Uncommitted;
use super::{DocAddress, SignedDocument, Snapshot};
use crate::error::Result;
use crate::hash::Digest;
use crate::scheme::distinct_keys;

/// Fingerprints of more documents have no source: their documents are not looked at one by one.
const SOURCES_MAX: u64 = 200;

/// The documents that are named.
const NAMED_MAX: usize = 3;

/// What more than half of the documents have is common, if at least eight have it: among fewer, two
/// or three would be most of them.
const COMMON_MIN: u64 = 8;

/// Returns whether something that `holders` of this number of documents have is common.
pub fn is_common(holders: u64, documents: u64) -> bool {
    holders >= COMMON_MIN && 2 * holders > documents
}

/// A document that had a fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// A document of the last commit.
    Stored(DocAddress),
    /// The number of a document that was added since.
    Uncommitted(u32),
}

/// A fingerprint of a document in the others.
#[derive(Debug, Clone, Copy, Default)]
pub struct Earlier {
    /// The number of them that have it.
    documents: u64,
    /// The first of them that is earlier, with its time, unless more than [`SOURCES_MAX`] have it.
    first: Option<(i64, Source)>,
}

impl Earlier {
    /// Adds a document that has it, with its time if it is an earlier one.
    fn add(&mut self, source: Option<(i64, Source)>) {
        self.documents += 1;
        if let Some(source) = source {
            self.first = Some(self.first.map_or(source, |first| first.min(source)));
        }
    }

    /// Returns where the fingerprint is from, of an index with this number of other documents.
    fn origin(self, others: u64) -> Option<Origin> {
        match self.documents {
            0 => None,
            all if is_common(all, others) => Some(Origin::Common),
            all if all > SOURCES_MAX => Some(Origin::Many),
            _ => self.first.map(|(added, source)| Origin::One { added, source }),
        }
    }
}

/// What a writer remembers, to say how much of the next document is new.
#[derive(Debug)]
pub struct NoveltyRecorder {
    /// The tokens of a fingerprint.
    span: u32,
    stored: Stored,
    uncommitted: Uncommitted,
    bytes_max: usize,
}

impl NoveltyRecorder {
    /// Begins, with this memory for the documents of a commit; each fingerprint has `span` tokens.
    pub fn new(span: u32, bytes_max: usize) -> NoveltyRecorder {
        let (stored, uncommitted) = (Stored::default(), Uncommitted::with_room(bytes_max));
        NoveltyRecorder { span, stored, uncommitted, bytes_max }
    }

    /// Returns whether the documents since the last commit take all of the memory.
    pub fn is_full(&self) -> bool {
        self.uncommitted.bytes() >= self.bytes_max
    }

    /// Forgets the documents since the last commit, which `committed` has now.
    pub fn begin(&mut self) {
        self.stored = Stored::default();
        self.uncommitted.clear();
    }

    /// Notes that a document is added at this time, in microseconds, and returns its novelty;
    /// `None` for an empty document. No document that was not removed has its id, whose digest is
    /// `of_id`.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn add(
        &mut self,
        committed: &Snapshot,
        signed: &SignedDocument,
        (of_id, added): (Digest, i64),
    ) -> Result<Option<Novelty>> {
        let others = self.stored.documents(committed) + self.uncommitted.documents();
        let keys = distinct_keys(&signed.signature);
        let (id, own) = (signed.document.id.clone(), (of_id, added));
        let mut earlier = self.uncommitted.add(id, keys.clone(), own);
        if signed.token_count == 0 {
            return Ok(None);
        }
        self.stored.add_to(committed, &keys, (added, others), &mut earlier)?;
        let origins = signed.signature.iter().map(|fingerprint| {
            let at = keys.binary_search(&fingerprint.key).expect("a key of the signature");
            earlier[at].origin(others).map(|origin| (fingerprint.position, origin))
        });
        let shares = Shares::new(origins.flatten(), self.span, signed.token_count);
        let named = shares.sources.iter().take(NAMED_MAX).map(|&(source, share)| {
            let id = match source {
                Source::Stored(address) => committed.id(address)?,
                Source::Uncommitted(number) => self.uncommitted.id(number).to_owned(),
            };
            Ok(NoveltySource { id, share })
        });
        let sources = named.collect::<Result<_>>()?;
        Ok(Some(Novelty { new: shares.new, common: shares.common, sources }))
    }

    /// Notes that the document with this id was replaced or removed.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn remove(&mut self, committed: &Snapshot, id: &str, of_id: Digest) -> Result<()> {
        self.stored.remove(committed, id)?;
        self.uncommitted.remove(of_id);
        Ok(())
    }
}
