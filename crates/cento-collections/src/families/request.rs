//! The parameters of a search for families.

use crate::FamilyOptions;
use crate::chronology::Chronology;
use cento::index::SegmentView;
use cento::search::{Searcher, Texts};
use cento_api::MAX_EXPECTED;
use cento_api::error::{Error, Result};
use cento_text::runtime::Stop;

/// If at most this many documents have a fingerprint, all pairs of them are compared.
const ALL_PAIRS_MAX: usize = 4;

/// A fingerprint with more carriers says little about likeness, so the search for the nearest
/// document ignores the fingerprint. This bounds the work for a document.
const COUNTED_MAX: usize = 256;

/// The numbers of carriers that change how pairs are chosen.
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

pub struct Request<'a> {
    pub searcher: &'a Searcher,
    pub options: &'a FamilyOptions,
    pub threads: usize,
    pub memory_bytes: usize,
    pub tuning: Tuning,
    pub stop: &'a Stop,
}

impl Request<'_> {
    /// Returns a reader of the texts of pairs. For programs, it leaves out passages that chance
    /// explains, because any two programs share some. In prose, formulas and letterheads are the
    /// families that people look for.
    ///
    /// # Errors
    /// When a document cannot be read. [`Error::Cancelled`] soon after `stop`.
    pub fn texts(&self) -> Result<Texts<'_>> {
        let texts = Texts::new(self.searcher, self.searcher);
        if !self.searcher.snapshot().config().analyzer.is_of_programs() {
            return Ok(texts);
        }
        let chance = self.searcher.chance(self.stop)?;
        Ok(texts.rated(chance, MAX_EXPECTED).counting_common_text())
    }

    /// Returns the ranks of the searched-for documents, or `None` for all documents.
    ///
    /// # Errors
    /// When the document does not exist, or a file is damaged.
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
