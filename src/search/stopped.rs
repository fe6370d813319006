//! Fingerprints that a join stops, and the documents that have no others.
//!
//! If every fingerprint of a document is stopped, it brings up no other, and no other brings it up.
//! So a join that leaves it out must report this.

use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::frequencies::live_frequencies;
use super::searcher::Searcher;
use super::shared::terms_of;
use crate::error::Result;
use crate::index::{DocAddress, MaxDf};
use crate::runtime::Stop;

/// The effect of a limit of document frequency on a join.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StopCounts {
    /// Fingerprints in more documents than this are stopped.
    pub max_df: u64,
    /// Stop-fingerprints of the index, which bring up no document by themselves.
    pub fingerprints: u64,
    /// Documents that have stop-fingerprints only: joins find exact copies of them, and nothing
    /// else.
    pub documents: u64,
}

impl Searcher {
    /// Counts the stop-fingerprints of the index, and the documents that have no others; `max_df`
    /// is that of the index if `None`. Boilerplate does not count. It takes a pass over all
    /// dictionaries, unless the index has too few documents for a stop-fingerprint.
    ///
    /// # Errors
    /// When a file is damaged; [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn stop_counts(&self, max_df: Option<MaxDf>, stop: &Stop) -> Result<StopCounts> {
        Ok(self.stopped_documents(max_df, stop)?.0)
    }

    /// Counts them, and returns the documents that have stop-fingerprints only, in the order of
    /// storage.
    pub fn stopped_documents(
        &self,
        max_df: Option<MaxDf>,
        stop: &Stop,
    ) -> Result<(StopCounts, Vec<DocAddress>)> {
        let snapshot = &self.snapshot;
        let max_df = max_df.unwrap_or(snapshot.config().max_df).limit(snapshot.documents());
        let none = StopCounts { max_df, ..StopCounts::default() };
        if snapshot.documents() <= max_df {
            return Ok((none, Vec::new()));
        }
        stop.check()?;
        let mut keys = Vec::new();
        snapshot.for_each_term(&mut |key, df| {
            // Deleted documents may be counted here.
            if df > max_df && self.boilerplate().is_none_or(|own| !own.has(key)) {
                keys.push(key);
            }
        })?;
        let dfs = live_frequencies(snapshot, &keys, stop)?;
        let mut dfs = dfs.into_iter();
        keys.retain(|_| dfs.next().is_some_and(|df| df > max_df));
        let mut documents = Vec::new();
        for segment in (0u32..).take(snapshot.segments().len()) {
            let stopped = self.counted_in(segment, &keys, stop)?;
            self.for_each_size(&stopped, |counted, size| {
                if counted.overlap == size {
                    documents.push(counted.address);
                }
            })?;
        }
        let counts = StopCounts {
            fingerprints: keys.len() as u64,
            documents: documents.len() as u64,
            ..none
        };
        Ok((counts, documents))
    }

    /// Returns the live documents of a segment that have any of the ascending keys, each with the
    /// number of keys.
    fn counted_in(&self, segment: u32, keys: &[u64], stop: &Stop) -> Result<Vec<Candidate>> {
        let view = &self.snapshot.segments()[segment as usize];
        let mut counts = vec![0u32; view.signatures.header().documents as usize];
        let mut docs = Vec::new();
        for (_, term) in terms_of(&[&view.signatures], keys, stop)?.iter().flatten() {
            stop.check()?;
            docs.clear();
            view.signatures.documents_of(term, &mut docs)?;
            docs.iter().for_each(|&doc| counts[doc as usize] += 1);
        }
        let counted = |(doc, overlap): (u32, u32)| Candidate {
            address: DocAddress { segment, doc },
            overlap,
            weight: 0,
        };
        let found = (0u32..).zip(counts).filter(|&(doc, count)| count > 0 && view.is_alive(doc));
        Ok(found.map(counted).collect())
    }
}
