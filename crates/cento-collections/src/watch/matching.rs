//! Finds the watches that match the documents of a commit.
//!
//! The signatures of the watches form an inverted index, so a document costs one look-up of its
//! fingerprints, however many watches share no fingerprint with the document. A watch with enough
//! shared fingerprints then decides by a search among the new documents.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::events::Batch;
use super::store::{Entry, Store};
use cento::index::DocAddress;
use cento::search::Searcher;
use cento_api::WatchEvent;
use cento_api::error::Result;
use cento_text::runtime::Stop;

/// The number of documents matched together, which bounds the memory for their passages.
const DOCUMENTS_AT_ONCE: usize = 1024;

/// A commit that is being matched.
#[derive(Debug, Clone, Copy)]
pub struct Matched {
    /// The number of the commit.
    pub commit: u64,
    /// The time of the events, in seconds since 1970.
    pub time: u64,
}

/// Writes the events of the documents with these ids to the batch. The events of a watch are
/// together, in order of names.
///
/// # Errors
/// When a file cannot be read or written; [`Error::Cancelled`](cento::Error::Cancelled) soon after
/// `stop`.
pub fn match_documents(
    store: &mut Store,
    searcher: &Searcher,
    ids: &[String],
    Matched { commit, time }: Matched,
    batch: &mut Batch<'_>,
    stop: &Stop,
) -> Result<()> {
    for ids in ids.chunks(DOCUMENTS_AT_ONCE) {
        let pairs = candidates(store, searcher, ids, commit, stop)?;
        for (entry, documents) in pairs.into_values() {
            // A watch on a removed document matches nothing.
            if let Some(id) = &entry.definition.id
                && searcher.snapshot().find(id)?.is_none()
            {
                continue;
            }
            let query = store.query(&entry, stop)?;
            for hit in searcher.search_among(&query, &documents)? {
                let (cursor, watch) = (batch.next(), entry.name.clone());
                batch.push(&WatchEvent { cursor, watch, commit, time, hit })?;
            }
        }
    }
    Ok(())
}

/// Watches by name, with the documents that they may match.
type Candidates = BTreeMap<String, (Arc<Entry>, Vec<DocAddress>)>;

/// Returns the watches that share enough fingerprints with documents.
fn candidates(
    store: &mut Store,
    searcher: &Searcher,
    ids: &[String],
    commit: u64,
    stop: &Stop,
) -> Result<Candidates> {
    let snapshot = searcher.snapshot();
    let mut candidates = Candidates::new();
    for id in ids {
        stop.check()?;
        // The document was removed by a later commit that is not matched yet.
        let Some(address) = snapshot.find(id)? else { continue };
        let signature = snapshot.signature(address, stop)?;
        let mut keys: Vec<u64> = signature.iter().map(|fingerprint| fingerprint.key).collect();
        keys.sort_unstable();
        keys.dedup();
        for (entry, overlap) in store.sharing(&keys, stop)? {
            let is_watched = entry.definition.commit < commit && entry.definition.problem.is_none();
            if is_watched && overlap >= entry.overlap_min(searcher)? {
                let of_entry = candidates.entry(entry.name.clone());
                of_entry.or_insert_with(|| (entry, Vec::new())).1.push(address);
            }
        }
    }
    Ok(candidates)
}
