//! The documents of the index including a writer's uncommitted changes.

use super::super::Document;
use super::super::content::{Compared, Content};
use super::{Writer, WriterChange, id_digest};
use crate::error::Result;
use crate::hash::Digest;

impl Writer {
    /// Compares a document, whose text has this digest, with the stored document of the same id.
    pub(super) fn compare(&self, document: &Document, digest: Digest) -> Result<Compared> {
        let of_id = id_digest(&document.id);
        let before = self.content_of(of_id, &document.id)?;
        Ok(Compared::new(document, digest, of_id, before))
    }

    /// Returns the current content of the document with this id, whose digest is `of_id`.
    pub(super) fn content_of(&self, of_id: Digest, id: &str) -> Result<Option<Content>> {
        match self.changed.get(&of_id).or_else(|| self.unseen.get(&of_id)) {
            Some(WriterChange::Removed) => return Ok(None),
            Some(&WriterChange::Added(content)) => return Ok(Some(content)),
            None => {}
        }
        let Some(address) = self.committed.find(id)? else {
            return Ok(None);
        };
        Content::of(&self.committed, address).map(Some)
    }
}
