//! Matching: which watches do the documents of a commit match?
//!
//! The signatures of the watches are an inverted index, so a document costs one look-up of its
//! fingerprints, whatever the number of watches that share none of them. The watches that share
//! enough are decided by their search, among the new documents alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::events::Batch;
use super::store::{Entry, Store};
use cento::index::DocAddress;
use cento::search::Searcher;
use cento_api::WatchEvent;
use cento_api::error::Result;
use cento_text::runtime::Stop;

/// The number of documents that are matched at a time: it bounds the memory for their passages.
const DOCUMENTS_AT_ONCE: usize = 1024;

/// A commit that is matched.
#[derive(Debug, Clone, Copy)]
pub struct Matched {
    /// Its number.
    pub commit: u64,
    /// The time of its events, in seconds since 1970.
    pub time: u64,
}

/// Writes the events of the documents with these ids to the batch, those of a watch together, in
/// the order of the names.
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
            // A watch of a document that was removed matches nothing.
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

/// Watches, by their names, with the documents that they may match.
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
        // Removed since, by a commit that has not been matched either.
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
