//! Finds the stored document that an incoming document is a version of.
//!
//! A document is no duplicate of itself. If an index has had a document under the same id since
//! before the run, this document is an earlier version and no reason to drop the incoming one. With
//! the same text the incoming document is *unchanged*, otherwise it replaces its version. Only the
//! first document of a run with some id is a version of the stored document. Later documents with
//! the id are separate documents, so that files whose records are numbered from 0 can share a run.
//!
//! A generated id identifies a document of the same place only. If a generated id contains the
//! number of a record, the text must agree as well, because the file may have a different record
//! there tomorrow.

use std::collections::HashSet;

use super::Record;
use super::verdict::Reason;
use cento::index::{DocAddress, Document, SignedDocument, Snapshot};
use cento_api::error::Result;
use cento_text::hash::Digest;

/// A version of a document that an index had under the same id before the run.
#[derive(Debug, Clone, Copy)]
pub struct StoredVersion {
    /// The number of the searcher, 0 for the index of the run.
    pub searcher: usize,
    /// The address in the snapshot of that searcher.
    pub address: DocAddress,
    /// The digest of the version's text.
    pub text: Digest,
    /// Whether a document with another text replaces the version.
    pub is_replaceable: bool,
}

impl StoredVersion {
    /// Returns the version of `document` that `snapshot` has under its id. `digest` is the digest
    /// of the incoming text.
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

    /// Tells whether the version is in the index of the run.
    pub fn is_own(&self) -> bool {
        self.searcher == 0
    }
}

/// A set of documents of a snapshot, as bits by segment.
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

/// The documents that the index of a run had before the run.
pub struct EarlierDocuments {
    snapshot: Snapshot,
    /// Documents whose id has come in this run.
    met: DocumentBits,
    /// Documents whose id and text have come in this run.
    repeated: DocumentBits,
    /// Documents of the last commit that were replaced since then.
    replaced: HashSet<DocAddress>,
    /// Documents of the last commit that the batch corrects.
    leaving: HashSet<DocAddress>,
    /// The ids of documents replaced since the batch was looked up.
    replaced_in_batch: HashSet<String>,
}

impl EarlierDocuments {
    /// Starts from the state of the index before the run.
    pub fn new(snapshot: Snapshot) -> EarlierDocuments {
        let [met, repeated] = [&snapshot; 2].map(DocumentBits::none_of);
        let (replaced, leaving) = (HashSet::new(), HashSet::new());
        let replaced_in_batch = HashSet::new();
        EarlierDocuments { snapshot, met, repeated, replaced, leaving, replaced_in_batch }
    }

    fn is_empty(&self) -> bool {
        self.met.0.is_empty()
    }

    /// Finds the document with this id, unless the id has come in this run already.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn find(&self, id: &str) -> Result<Option<DocAddress>> {
        let found = if self.is_empty() { None } else { self.snapshot.find(id)? };
        Ok(found.filter(|&address| !self.met.has(address)))
    }

    /// Records the arrival of a document. `earlier` is the stored document with its id, `reason`
    /// the reason to drop it. If the reason is the document itself, stored under its id or under
    /// its id with a number, returns the id of the stored document.
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

    /// Records the arrival of a document that the interrupted run has decided on.
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

    /// Records the arrival of a document whose text the stored document `same` has. If `same` is
    /// the document itself, and comes for the first time, returns its id.
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

    /// Tells for each document of a batch whether a previous document of the batch has the same id.
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

    /// Begins a batch, which is looked up in the current state of the index.
    pub fn begin_batch(&mut self) {
        self.leaving.clear();
        self.replaced_in_batch.clear();
    }

    /// Records the documents of the last commit that the batch corrects. Nothing is a duplicate of
    /// them, because their texts leave with the batch: two documents may have swapped their texts.
    pub fn correct(&mut self, corrected: impl Iterator<Item = DocAddress>) {
        self.leaving.extend(corrected);
    }

    /// Records that the document with this id and this address in the last commit was replaced.
    pub fn replace(&mut self, id: &str, address: DocAddress) {
        self.replaced.insert(address);
        self.replaced_in_batch.insert(id.to_owned());
    }

    /// Tells whether the document at this address of the last commit was replaced since the commit,
    /// or leaves with the batch.
    pub fn is_replaced(&self, address: DocAddress) -> bool {
        let has = |set: &HashSet<DocAddress>| !set.is_empty() && set.contains(&address);
        has(&self.replaced) || has(&self.leaving)
    }

    /// Tells whether a reason found for a document of the batch may be a document that was replaced
    /// since the batch began.
    pub fn is_stale(&self, reason: &Reason) -> bool {
        reason.of_own().is_some_and(|of| self.replaced_in_batch.contains(of))
    }

    /// Forgets replaced documents, which the new commit no longer has.
    pub fn after_commit(&mut self) {
        self.replaced.clear();
        self.leaving.clear();
        self.replaced_in_batch.clear();
    }
}

/// Tells whether a document may be a version of the document at this address, which has the same
/// id. Generated ids must come from the same place.
fn may_be(document: &Document, snapshot: &Snapshot, address: DocAddress) -> Result<bool> {
    let source = document.id_source;
    Ok(source.made_of().is_none() || source.may_replace(snapshot.id_place(address)?))
}

/// Returns the id of the `number`-th document that comes with the same id.
pub fn numbered(id: &str, number: u32) -> String {
    format!("{id}#{number}")
}

/// Tells whether [`numbered`] makes `id` from `of`.
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
