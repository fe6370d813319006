//! What if some text does not count?
//!
//! Templates, licences, headers: text that is known and says nothing about copying. Its
//! fingerprints are taken out of every document and query, as if they had never had them; so overlap,
//! containment and resemblance are those of what is left. Passages still show it.

use crate::error::Result;
use crate::index::Snapshot;
use crate::search::shared::terms_of;
use crate::stop::Stop;

/// Fingerprints that do not count.
#[derive(Debug)]
pub struct Boilerplate {
    /// Ascending.
    keys: Vec<u64>,
    /// By segment and document, how many of them the document has.
    counts: Vec<Vec<u32>>,
}

impl Boilerplate {
    /// Finds out how many of these fingerprints each document of the snapshot has.
    ///
    /// # Errors
    /// When a segment is damaged; [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn new(snapshot: &Snapshot, mut keys: Vec<u64>, stop: Stop<'_>) -> Result<Boilerplate> {
        keys.sort_unstable();
        keys.dedup();
        let mut counts = Vec::new();
        let mut docs = Vec::new();
        for segment in snapshot.segments() {
            let signatures = &segment.signatures;
            let mut of_segment = vec![0; signatures.header().documents as usize];
            for (_, term) in terms_of(&[signatures], &keys, stop)?.iter().flatten() {
                stop.check()?;
                docs.clear();
                signatures.documents_of(term, &mut docs)?;
                docs.iter().for_each(|&doc| of_segment[doc as usize] += 1);
            }
            counts.push(of_segment);
        }
        Ok(Boilerplate { keys, counts })
    }

    /// Whether this fingerprint does not count.
    pub fn has(&self, key: u64) -> bool {
        self.keys.binary_search(&key).is_ok()
    }

    /// How many of the fingerprints of a document do not count.
    pub fn count(&self, segment: u32, doc: u32) -> u32 {
        self.counts[segment as usize][doc as usize]
    }
}
