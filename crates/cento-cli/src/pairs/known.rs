//! The index that new files are compared with and added to.

use std::collections::HashSet;
use std::path::Path;

use crate::key;
use crate::memory;
use crate::output::counted;
use crate::terminal::note;
use cento::index::{
    AddReport, Config, DocAddress, Document, DocumentSigner, IdSource, Index, Outcome,
    SignedDocument, Snapshot, Writer, WriterOptions,
};
use cento::{Error, Stop};
use cento_collections::submissions::Submissions;

/// The index that new documents are compared with.
pub struct KnownIndex {
    /// The path as given by the user.
    pub place: String,
    snapshot: Snapshot,
    /// Locked before the comparison, so that every document in the index has been compared.
    writer: Option<Writer>,
}

impl KnownIndex {
    /// Opens an index. With `adds`, locks the index for writing.
    ///
    /// # Errors
    /// When the index cannot be opened, or another process is writing.
    pub fn open(path: &Path, adds: bool) -> cento::Result<KnownIndex> {
        let index = key::open(path)?;
        let options = WriterOptions::default().memory_bytes(memory::default_bytes() / 2);
        let mut writer = adds.then(|| index.writer(options)).transpose()?;
        let snapshot = match &mut writer {
            Some(writer) => writer.committed()?.clone(),
            None => index.snapshot()?,
        };
        Ok(KnownIndex { place: path.display().to_string(), snapshot, writer })
    }

    /// Uses a temporary index of the files at `place`, which gets no new documents.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn of_files(index: &Index, place: Option<&Path>) -> cento::Result<KnownIndex> {
        let place = place.map(|place| place.display().to_string()).unwrap_or_default();
        Ok(KnownIndex { place, snapshot: index.snapshot()?, writer: None })
    }

    /// Returns the configuration that decides on signatures.
    pub fn config(&self) -> &Config {
        self.snapshot.config()
    }

    /// Lets submissions be compared with the documents of the index, and notes the skipped earlier
    /// versions.
    ///
    /// # Errors
    /// When a new document to be added has the id of a different document in the index, or an id
    /// cannot be read.
    pub fn compared_with(&self, submissions: Submissions) -> cento::Result<Submissions> {
        let submissions = submissions.against(&self.snapshot, &self.place)?;
        if let [id, ..] = submissions.ids_from_elsewhere()
            && self.writer.is_some()
        {
            let what = format!(
                "{} has another document of this name, from another place; rename the file or \
                 directory, or leave out --add",
                self.place
            );
            return Err(Error::input(id, what));
        }
        let count = submissions.earlier_versions().len() as u64;
        if count > 0 {
            note!(
                "cento: {} of {} {}",
                counted(count, "document"),
                self.place,
                match count {
                    1 => "is an earlier version of a new one, and is not compared",
                    _ => "are earlier versions of new ones, and are not compared",
                }
            );
        }
        Ok(submissions)
    }

    /// Adds the new documents in one commit, if requested.
    ///
    /// # Errors
    /// When a document cannot be read or written. Nothing is added then. [`Error::Cancelled`] after
    /// `stop`.
    pub fn add(self, new: &Snapshot, stop: &Stop) -> cento::Result<Option<AddReport>> {
        let Some(mut writer) = self.writer else { return Ok(None) };
        let index = self.snapshot.index();
        let signer = DocumentSigner::new(index.config(), index.faults()).stop(stop.clone());
        let mut report = AddReport::default();
        let mut ids = HashSet::new();
        for address in new.live() {
            stop.check()?;
            let signed = signed(&signer, new, address, stop)?;
            report.bytes += signed.document.text.len() as u64;
            assert!(ids.insert(signed.document.id.clone()), "a new document is there twice");
            match writer.add_signed(signed)? {
                Outcome::Added => report.added += 1,
                Outcome::Replaced => report.replaced += 1,
                Outcome::Unchanged => report.unchanged += 1,
            }
        }
        writer.finish()?;
        Ok(Some(report))
    }
}

/// Returns a document with the signature used in the comparison.
fn signed(
    signer: &DocumentSigner,
    snapshot: &Snapshot,
    address: DocAddress,
    stop: &Stop,
) -> cento::Result<SignedDocument> {
    let stored = snapshot.document(address)?;
    let tokens = snapshot.segment(address).signatures.document(address.doc)?.tokens;
    let id_source = match snapshot.id_place(address)? {
        Some(place) => IdSource::made(place),
        None => IdSource::GIVEN,
    };
    let document = Document::new(stored.id, stored.text.unwrap_or_default())
        .with_parts(stored.parts)
        .with_meta(stored.meta)
        .with_id_source(id_source);
    signer.combine(document, tokens, snapshot.signature(address, stop)?)
}
