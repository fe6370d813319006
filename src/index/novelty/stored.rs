//! Looks up fingerprints in the documents of the last commit.

use std::collections::HashSet;

use super::{Earlier, SOURCES_MAX, Source, is_common};
use crate::error::Result;
use crate::index::{DocAddress, Snapshot};
use crate::segment::{SegmentReader, find_in};

/// The documents of the last commit, without documents changed since.
#[derive(Debug, Default)]
pub struct Stored {
    /// Documents that were replaced or removed since the last commit.
    gone: HashSet<DocAddress>,
}

impl Stored {
    /// Returns the number of remaining documents.
    pub fn documents(&self, committed: &Snapshot) -> u64 {
        committed.documents() - self.gone.len() as u64
    }

    /// Records that the document with this id, if any, was replaced or removed.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn remove(&mut self, committed: &Snapshot, id: &str) -> Result<()> {
        self.gone.extend(committed.find(id)?);
        Ok(())
    }

    /// Adds the documents of the last commit to `all`, which already counts the uncommitted
    /// documents for each of the ascending `keys`. The new document is added at the time `added`,
    /// and `others` is the number of committed and uncommitted documents together.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn add_to(
        &self,
        committed: &Snapshot,
        keys: &[u64],
        added: i64,
        others: u64,
        all: &mut [Earlier],
    ) -> Result<()> {
        let segments = committed.segments();
        let readers: Vec<&SegmentReader> = segments.iter().map(|s| &s.signatures).collect();
        let terms = find_in(&readers, keys)?;
        if terms.iter().all(Vec::is_empty) {
            return Ok(());
        }
        let mut dfs = vec![0; keys.len()];
        for (at, term) in terms.iter().flatten() {
            dfs[*at as usize] += u64::from(term.df());
        }
        let gone = committed.deleted_documents() + self.gone.len() as u64;
        let is_counted: Vec<bool> = dfs
            .iter()
            .zip(&mut *all)
            .map(|(&df, earlier)| {
                let is_counted = is_counted(df, earlier.documents, gone, others);
                earlier.documents += if is_counted { 0 } else { df };
                is_counted
            })
            .collect();
        let mut docs = Vec::new();
        for ((segment, terms), number) in segments.iter().zip(&terms).zip(0u32..) {
            for (at, term) in terms.iter().filter(|(at, _)| is_counted[*at as usize]) {
                docs.clear();
                segment.signatures.documents_of(term, &mut docs)?;
                for &doc in &docs {
                    let address = DocAddress { segment: number, doc };
                    if segment.is_alive(doc) && !self.gone.contains(&address) {
                        let time = segment.added_micros(doc)?;
                        let source = (time < added).then_some((time, Source::Stored(address)));
                        all[*at as usize].add(source);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns whether the posting list of a key must be read: because the key has few enough documents
/// to have a source, or because the `gone` documents decide whether the key is common.
fn is_counted(stored: u64, also: u64, gone: u64, others: u64) -> bool {
    let all = stored + also;
    let least = all.saturating_sub(gone);
    let is_surely_common = is_common(least, others);
    least <= SOURCES_MAX && !is_surely_common || is_common(all, others) != is_surely_common
}
