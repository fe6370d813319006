//! Which stored document is an incoming one itself?
//!
//! A document is no duplicate of itself. An index that has a document under the same id, from
//! before this run, has an earlier version of it: the version is no reason to drop the document. A
//! document with the same text is *unchanged*, and with another it takes the place of its version.
//! Only the first document of an id in a run is a version of the stored one. Later ones are other
//! documents, so that files whose records are numbered from 0 each can be one run.
//!
//! An id that was made identifies a document of the same place only. If it has the number of a
//! record, it does so together with the text: tomorrow the file may have another record there.

use std::collections::HashSet;

use super::Record;
use super::verdict::Reason;
use cento::index::{DocAddress, Document, SignedDocument, Snapshot};
use cento_api::error::Result;
use cento_text::hash::Digest;

/// A stored version of a document: under its id, from before this run.
#[derive(Debug, Clone, Copy)]
pub struct StoredVersion {
    /// The place of the searcher that has it: 0 is that of the run.
    pub searcher: usize,
    /// Its address in that searcher.
    pub address: DocAddress,
    /// The digest of its text.
    pub text: Digest,
    /// Whether a document with another text takes its place.
    pub is_replaceable: bool,
}

impl StoredVersion {
    /// Returns the version of a document, whose text has this digest, that a searcher has under its
    /// id.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn find(
        searcher: usize,
        snapshot: &Snapshot,
        document: &Document,
        digest: Digest,
    ) -> Result<Option<StoredVersion>> {
        let Some(address) = snapshot.find(&document.id)? else { return Ok(None) };
        if !may_be(document, snapshot, address)? {
            return Ok(None);
        }
        let text = snapshot.segment(address).signatures.digest(address.doc)?;
        let is_replaceable = document.id_source.made_of().is_none() || document.record.is_none();
        let version = StoredVersion { searcher, address, text, is_replaceable };
        Ok((is_replaceable || text == digest).then_some(version))
    }

    /// Returns whether the index of the run has it.
    pub fn is_own(&self) -> bool {
        self.searcher == 0
    }
}

/// A bit for each document of each segment.
struct DocumentBits(Vec<Vec<u64>>);

impl DocumentBits {
    fn none_of(snapshot: &Snapshot) -> DocumentBits {
        let headers = snapshot.segments().iter().map(|segment| segment.signatures.header());
        DocumentBits(
            headers.map(|header| vec![0; header.documents.div_ceil(64) as usize]).collect(),
        )
    }

    fn has(&self, address: DocAddress) -> bool {
        self.0[address.segment as usize][address.doc as usize / 64] >> (address.doc % 64) & 1 == 1
    }

    fn set(&mut self, address: DocAddress) {
        self.0[address.segment as usize][address.doc as usize / 64] |= 1 << (address.doc % 64);
    }
}

/// The documents that the index of a run has from before it.
pub struct EarlierDocuments {
    snapshot: Snapshot,
    /// A document of the id has come in this run.
    met: DocumentBits,
    /// A document of the id and the text has come.
    repeated: DocumentBits,
    /// In the last commit, and replaced since then.
    replaced: HashSet<DocAddress>,
    /// The ids of those replaced since the batch was looked up.
    replaced_in_batch: HashSet<String>,
}

impl EarlierDocuments {
    /// Creates the set from the state of the index before the run.
    pub fn new(snapshot: Snapshot) -> EarlierDocuments {
        let [met, repeated] = [&snapshot; 2].map(DocumentBits::none_of);
        let (replaced, replaced_in_batch) = (HashSet::new(), HashSet::new());
        EarlierDocuments { snapshot, met, repeated, replaced, replaced_in_batch }
    }

    fn is_empty(&self) -> bool {
        self.met.0.is_empty()
    }

    /// Finds the document with this id, if this run has not had the id yet.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn find(&self, id: &str) -> Result<Option<DocAddress>> {
        let found = if self.is_empty() { None } else { self.snapshot.find(id)? };
        Ok(found.filter(|&address| !self.met.has(address)))
    }

    /// Notes that a document has come; `earlier` is that of its id, and `reason` the reason to drop
    /// it. If that is the document itself, stored under its id or its id with a number, returns the
    /// id that it is stored under.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn meet(
        &mut self,
        signed: &SignedDocument,
        earlier: Option<DocAddress>,
        reason: Option<&Reason>,
    ) -> Result<Option<String>> {
        if let Some(earlier) = earlier {
            self.met.set(earlier);
            if self.digest(earlier)? == signed.digest {
                self.repeated.set(earlier);
                return Ok(None);
            }
        }
        let same = reason.filter(|reason| reason.is_exact()).and_then(Reason::of_own);
        self.repeat(signed, same)
    }

    /// Notes that a document has come that an interrupted run decided upon.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn meet_again(&mut self, signed: &SignedDocument) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let earlier = self.find(&signed.document.id)?;
        self.meet(signed, earlier, None)?;
        let same = self.snapshot.find_digest(signed.digest)?;
        self.repeat(signed, same.as_deref()).map(|_| ())
    }

    /// Notes that a document has come that has the text of the stored one with the id `same`, if
    /// that is the document itself, and has not come yet. Returns the id then.
    fn repeat(&mut self, signed: &SignedDocument, same: Option<&str>) -> Result<Option<String>> {
        let id = &signed.document.id;
        let same = same.filter(|same| same == id || is_numbered(same, id));
        let Some(same) = same.filter(|_| !self.is_empty()) else { return Ok(None) };
        let Some(address) = self.snapshot.find(same)? else { return Ok(None) };
        let is_itself = !self.repeated.has(address)
            && self.digest(address)? == signed.digest
            && may_be(&signed.document, &self.snapshot, address)?;
        if !is_itself {
            return Ok(None);
        }
        self.repeated.set(address);
        Ok(Some(same.to_owned()))
    }

    fn digest(&self, address: DocAddress) -> Result<Digest> {
        Ok(self.snapshot.segment(address).signatures.digest(address.doc)?)
    }

    /// Returns which documents of a batch have the id of one before them in it.
    pub fn repeated(&self, batch: &[Record]) -> Vec<bool> {
        if self.is_empty() {
            return vec![false; batch.len()];
        }
        let mut ids = HashSet::new();
        let is_again = |record: &Record| match record {
            Record::Document(signed) => !ids.insert(signed.document.id.clone()),
            _ => false,
        };
        batch.iter().map(is_again).collect()
    }

    /// Begins a batch, which is looked up in the state of this moment.
    pub fn begin_batch(&mut self) {
        self.replaced_in_batch.clear();
    }

    /// Notes that the document with this id, and this address in the last commit, was replaced.
    pub fn replace(&mut self, id: &str, address: DocAddress) {
        self.replaced.insert(address);
        self.replaced_in_batch.insert(id.to_owned());
    }

    /// Returns whether the document with this address in the last commit has been replaced since.
    pub fn is_replaced(&self, address: DocAddress) -> bool {
        !self.replaced.is_empty() && self.replaced.contains(&address)
    }

    /// Returns whether a reason that was found for a document of the batch may be a document that
    /// has been replaced since.
    pub fn is_stale(&self, reason: &Reason) -> bool {
        reason.of_own().is_some_and(|of| self.replaced_in_batch.contains(of))
    }

    /// Forgets the documents that the last commit does not have any more.
    pub fn after_commit(&mut self) {
        self.replaced.clear();
        self.replaced_in_batch.clear();
    }
}

/// Returns whether a document may be the one with this address, which has its id: if the id was
/// made, both have one place.
fn may_be(document: &Document, snapshot: &Snapshot, address: DocAddress) -> Result<bool> {
    let source = document.id_source;
    Ok(source.made_of().is_none() || source.may_replace(snapshot.id_place(address)?))
}

/// Returns the id of the document that comes with an id that others have, as the one of this
/// number.
pub fn numbered(id: &str, number: u32) -> String {
    format!("{id}#{number}")
}

/// Returns whether an id is one that [`numbered`] makes of the other.
fn is_numbered(id: &str, of: &str) -> bool {
    let number = id.strip_prefix(of).and_then(|rest| rest.strip_prefix('#'));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numbered_id_is_told_from_others() {
        assert!(is_numbered(&numbered("a", 2), "a"));
        for id in ["a", "a#", "a#x", "a#2x", "ab#2", "b#2"] {
            assert!(!is_numbered(id, "a"), "{id}");
        }
    }
}
