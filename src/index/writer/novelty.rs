//! Records the novelty of the documents that a writer adds.

use cento_api::NOVELTY;
use serde_json::{Map, Value};
use tantivy::DateTime;

use super::super::canonical::canonical_json;
use super::super::content::Compared;
use super::super::novelty::NoveltyRecorder;
use super::super::{Config, SignedDocument};
use super::{MEMORY_BYTES_MIN, Writer};
use crate::error::Result;

/// The fraction of memory for fingerprints of uncommitted documents, if novelty is recorded.
const NOVELTY_SHARE: usize = 3;

/// Returns the recorder of novelty, if the index records novelty.
pub fn recorder(config: &Config, memory_bytes: usize) -> Result<Option<NoveltyRecorder>> {
    let room = memory_bytes.max(MEMORY_BYTES_MIN) / NOVELTY_SHARE;
    Ok(config.novelty_span()?.map(|span| NoveltyRecorder::new(span, room)))
}

impl Writer {
    /// Commits if the recorder of novelty has used up its memory, and opens the last commit.
    pub(super) fn make_room_for_novelty(&mut self) -> Result<()> {
        let Some(novelty) = &self.novelty else { return Ok(()) };
        if novelty.is_full() {
            self.commit()?;
        }
        self.catch_up()
    }

    /// Returns the meta object of a new document including the novelty, and the canonical JSON.
    /// `None` if the index records no novelty, or the meta object already has it.
    pub(super) fn with_novelty(
        &mut self,
        own: &SignedDocument,
        compared: &Compared,
        added: DateTime,
    ) -> Result<Option<(Map<String, Value>, String)>> {
        let Some(novelty) = &mut self.novelty else { return Ok(None) };
        let (of_id, added) = (compared.of_id, added.into_timestamp_micros());
        let found = novelty.add(&self.committed, own, of_id, added)?;
        let Some(found) = found else { return Ok(None) };
        if own.document.meta.contains_key(NOVELTY) {
            return Ok(None);
        }
        let mut meta = own.document.meta.clone();
        meta.insert(NOVELTY.to_owned(), serde_json::json!(found));
        let json = canonical_json(&meta);
        Ok(Some((meta, json)))
    }
}
