//! Novelty: how much of a document was new to the index?
//!
//! The source of a fingerprint is the earliest document with this fingerprint. Earlier means a
//! smaller time of addition, and no two documents have equal times, so neither merges nor commits
//! change the answer. Earlier documents are in the last commit ([`stored`]) or were added since by
//! this writer ([`uncommitted`]). Fingerprints of one source that are near each other form a part:
//! text taken from the source, or from where the source has it ([`shares`]).
//!
//! Novelty does not compare texts, because comparing would take many times as long as adding.

mod by_day;
mod shares;
mod stored;
#[cfg(test)]
mod tests;
mod uncommitted;

use cento_api::{Novelty, NoveltySource};

use self::shares::{Origin, Shares};
use self::stored::Stored;
use self::uncommitted::UncommittedPostings;
use super::{DocAddress, SignedDocument, Snapshot};
use crate::error::Result;
use crate::hash::Digest;
use crate::scheme::distinct_keys;

/// A fingerprint in more documents gets no source, because finding the earliest document visits
/// every document of the fingerprint.
const SOURCES_MAX: u64 = 200;

/// The number of sources that are listed.
const NAMED_MAX: usize = 3;

/// Text of more than half of the documents is common, but only from this number of documents on.
/// With fewer, two or three documents would already be a majority.
const COMMON_MIN: u64 = 8;

/// Returns whether text that `holders` of `documents` documents have is common.
pub fn is_common(holders: u64, documents: u64) -> bool {
    holders >= COMMON_MIN && 2 * holders > documents
}

/// An earlier document with a fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// A document of the last commit.
    Stored(DocAddress),
    /// The number of a document added since the last commit.
    Uncommitted(u32),
}

/// Where a fingerprint occurs in other documents.
#[derive(Debug, Clone, Copy, Default)]
pub struct Earlier {
    /// The number of documents with this fingerprint.
    documents: u64,
    /// The earliest document and its time. `None` beyond [`SOURCES_MAX`] documents.
    first: Option<(i64, Source)>,
}

impl Earlier {
    /// Adds a document with this fingerprint, with its time if the document is earlier.
    fn add(&mut self, source: Option<(i64, Source)>) {
        self.documents += 1;
        if let Some(source) = source {
            self.first = Some(self.first.map_or(source, |first| first.min(source)));
        }
    }

    /// Classifies the fingerprint, in an index with `others` other documents.
    fn origin(self, others: u64) -> Option<Origin> {
        match self.documents {
            0 => None,
            all if is_common(all, others) => Some(Origin::Common),
            all if all > SOURCES_MAX => Some(Origin::Many),
            _ => self.first.map(|(added, source)| Origin::One { added, source }),
        }
    }
}

/// The state that a writer needs to compute the novelty of the next document.
#[derive(Debug)]
pub struct NoveltyRecorder {
    /// The number of tokens of a fingerprint.
    span: u32,
    stored: Stored,
    uncommitted: UncommittedPostings,
    bytes_max: usize,
}

impl NoveltyRecorder {
    /// Creates a recorder with this memory for uncommitted documents, in bytes. Each fingerprint
    /// has `span` tokens.
    pub fn new(span: u32, bytes_max: usize) -> NoveltyRecorder {
        let (stored, uncommitted) = (Stored::default(), UncommittedPostings::with_room(bytes_max));
        NoveltyRecorder { span, stored, uncommitted, bytes_max }
    }

    /// Returns whether the uncommitted documents have used up the memory.
    pub fn is_full(&self) -> bool {
        self.uncommitted.bytes() >= self.bytes_max
    }

    /// Starts over after a commit, which made the uncommitted documents part of `committed`.
    pub fn begin(&mut self) {
        self.stored = Stored::default();
        self.uncommitted.clear();
    }

    /// Records a document added at a time in microseconds. Returns its novelty, or `None` if it is
    /// empty. No live document may have the same id, whose digest is `of_id`.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn add(
        &mut self,
        committed: &Snapshot,
        signed: &SignedDocument,
        of_id: Digest,
        added: i64,
    ) -> Result<Option<Novelty>> {
        let others = self.stored.documents(committed) + self.uncommitted.documents();
        let keys = distinct_keys(&signed.signature);
        let id = signed.document.id.clone();
        let mut earlier = self.uncommitted.add(id, keys.clone(), of_id, added);
        if signed.token_count == 0 {
            return Ok(None);
        }
        self.stored.add_to(committed, &keys, added, others, &mut earlier)?;
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

    /// Records that the document with this id was replaced or removed.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn remove(&mut self, committed: &Snapshot, id: &str, of_id: Digest) -> Result<()> {
        self.stored.remove(committed, id)?;
        self.uncommitted.remove(of_id);
        Ok(())
    }
}
