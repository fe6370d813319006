//! Fingerprints stopped in a join, and the documents with stopped fingerprints only.
//!
//! If every fingerprint is stopped, a document finds no partner and no partner finds the document.
//! A join misses the document and must say so.

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
    /// The number of stop-fingerprints of the index, which bring up no document by themselves.
    pub fingerprints: u64,
    /// The number of documents with stop-fingerprints only. Joins find only their exact copies.
    pub documents: u64,
}

impl Searcher {
    /// Counts the stop-fingerprints of the index, and the documents without other fingerprints.
    /// `None` as `max_df` means the limit of the index. Boilerplate does not count. Takes a pass
    /// over every dictionary, unless the index has too few documents for a stop-fingerprint.
    ///
    /// ```
    /// # use cento::{Config, Document, Index, WriterOptions};
    /// # let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// # let mut writer = index.writer(WriterOptions::default())?;
    /// # let poem = "A lighthouse was a fire behind a window and half of the light went up";
    /// # writer.add(Document::new("poem", poem))?;
    /// # writer.add(Document::new("copy", format!("{poem} the chimney")))?;
    /// # writer.commit()?;
    /// use cento::{MaxDf, Searcher, Stop};
    ///
    /// let searcher = Searcher::new(index.snapshot()?);
    /// // Both documents share their fingerprints, so a limit of one document stops them.
    /// let counts = searcher.stop_counts(Some(MaxDf::Documents(1)), Stop::NEVER)?;
    /// assert!(counts.fingerprints > 0);
    /// assert_eq!(searcher.stop_counts(None, Stop::NEVER)?.fingerprints, 0);
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a file is damaged. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn stop_counts(&self, max_df: Option<MaxDf>, stop: &Stop) -> Result<StopCounts> {
        Ok(self.stopped_documents(max_df, stop)?.0)
    }

    /// Like [`stop_counts`](Self::stop_counts), and also returns the documents with
    /// stop-fingerprints only, in storage order.
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
            // The frequency includes deleted documents, so it is checked again below.
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

    /// Returns the live documents of a segment with any of the ascending keys, and how many they
    /// have.
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
