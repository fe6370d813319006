//! The parameters of a search for families.

use crate::FamilyOptions;
use crate::chronology::Chronology;
use cento::index::SegmentView;
use cento::search::Searcher;
use cento_api::error::{Error, Result};
use cento_text::runtime::Stop;

/// Of a fingerprint in at most this many documents, all pairs are compared.
const ALL_PAIRS_MAX: usize = 4;

/// A fingerprint in more documents tells little about how alike two of them are: it is not counted
/// to find the nearest one. This bounds the work for each fingerprint of a document.
const COUNTED_MAX: usize = 256;

/// The sizes where the choice of pairs changes its method.
#[derive(Debug, Clone, Copy)]
pub struct Tuning {
    pub all_pairs_max: usize,
    pub counted_max: usize,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning { all_pairs_max: ALL_PAIRS_MAX, counted_max: COUNTED_MAX }
    }
}

/// How links are searched for.
pub struct Request<'a> {
    pub searcher: &'a Searcher,
    pub options: &'a FamilyOptions,
    pub threads: usize,
    pub memory_bytes: usize,
    pub tuning: Tuning,
    pub stop: &'a Stop,
}

impl Request<'_> {
    /// Returns the documents that are searched for, by rank; `None` for all.
    ///
    /// # Errors
    /// When the document is not there, or a file is damaged.
    pub fn searched_for(&self, documents: &Chronology) -> Result<Option<Vec<u32>>> {
        let snapshot = self.searcher.snapshot();
        if let Some(id) = &self.options.document {
            let address = snapshot.find(id)?.ok_or_else(|| Error::UnknownId { id: id.clone() })?;
            return Ok(Some(vec![documents.rank(address)]));
        }
        let Some(since) = self.options.since else { return Ok(None) };
        let mut found = Vec::new();
        for rank in 0..documents.len() as u32 {
            self.stop.check_at(rank as usize)?;
            let address = documents.address(rank);
            let segment: &SegmentView = snapshot.segment(address);
            let added = segment.added_micros(address.doc)?;
            if u64::try_from(added).is_ok_and(|added| added >= since) {
                found.push(rank);
            }
        }
        Ok(Some(found))
    }
}
