//! Finds the first document with a text.

use crate::chronology::Chronology;
use cento::index::Snapshot;
use cento_api::error::Result;
use cento_text::runtime::Stop;

/// Returns by rank the first document with the same text, which is the document itself if no
/// earlier document has the text.
///
/// # Errors
/// When a file is damaged. [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
pub fn first_copies(snapshot: &Snapshot, documents: &Chronology, stop: &Stop) -> Result<Vec<u32>> {
    let mut digests = Vec::with_capacity(documents.len());
    for rank in 0..documents.len() as u32 {
        stop.check_at(rank as usize)?;
        let address = documents.address(rank);
        digests.push((snapshot.segment(address).signatures.digest(address.doc)?, rank));
    }
    digests.sort_unstable();
    let mut firsts = vec![0; digests.len()];
    for copies in digests.chunk_by(|one, other| one.0 == other.0) {
        for &(_, rank) in copies {
            firsts[rank as usize] = copies[0].1;
        }
    }
    Ok(firsts)
}
