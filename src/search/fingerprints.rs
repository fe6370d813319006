//! The fingerprints of stored documents: which, how many, and how much do they weigh?

use super::candidate::Candidate;
use super::frequencies;
use super::memory::{self, QueryMemory};
use super::searcher::Searcher;
use super::weigh::Weigh;
use crate::error::Result;
use crate::index::DocAddress;
use crate::runtime::Stop;
use crate::scheme::distinct_keys;

impl Searcher {
    /// Returns the distinct fingerprints of a stored document, ascending.
    ///
    /// # Errors
    /// When its signature, or the text to make it from, is damaged;
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn keys_of(&self, address: DocAddress, stop: &Stop) -> Result<Vec<u64>> {
        self.keys_within(address, None, stop)
    }

    /// Returns the distinct fingerprints within the memory budget of the query, if it has one.
    pub(super) fn keys_within(
        &self,
        address: DocAddress,
        memory: Option<&QueryMemory>,
        stop: &Stop,
    ) -> Result<Vec<u64>> {
        let mut keys = match self.snapshot.config().store_signatures {
            true => self.stored_keys_of(address)?,
            false => distinct_keys(&memory::signature(&self.snapshot, address, memory, stop)?),
        };
        if let Some(ignored) = &self.ignored {
            keys.retain(|&key| !ignored.has(key));
        }
        Ok(keys)
    }

    fn stored_keys_of(&self, address: DocAddress) -> Result<Vec<u64>> {
        let ordinals = self.stored_ordinals_of(address)?;
        Ok(self.snapshot.segment(address).signatures.keys_at(&ordinals)?)
    }

    /// Returns the ordinals in its segment of the distinct fingerprints of a document with a stored
    /// signature, ascending, as their keys do.
    fn stored_ordinals_of(&self, address: DocAddress) -> Result<Vec<u32>> {
        let mut ordinals = Vec::new();
        self.snapshot.segment(address).signatures.forward_ordinals(address.doc, &mut ordinals)?;
        ordinals.sort_unstable();
        ordinals.dedup();
        Ok(ordinals)
    }

    /// Returns the number of distinct fingerprints of a stored document.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn size_of(&self, address: DocAddress) -> Result<u32> {
        let mut sizes = 0;
        let counted = Candidate { address, overlap: 0, weight: 0 };
        self.for_each_size(&[counted], |_, size| sizes = size)?;
        Ok(sizes)
    }

    /// Calls `each` with each of the documents, which are ordered by segment, and the number of its
    /// distinct fingerprints.
    pub(super) fn for_each_size(
        &self,
        documents: &[Candidate],
        mut each: impl FnMut(&Candidate, u32),
    ) -> Result<()> {
        let (mut docs, mut sizes) = (Vec::new(), Vec::new());
        for same in documents.chunk_by(|a, b| a.address.segment == b.address.segment) {
            let number = same[0].address.segment;
            let segment = &self.snapshot.segments()[number as usize];
            docs.clear();
            docs.extend(same.iter().map(|counted| counted.address.doc));
            segment.signatures.distinct_of(&docs, &mut sizes)?;
            for (counted, &size) in same.iter().zip(&sizes) {
                let doc = counted.address.doc;
                let ignored = self.ignored.as_ref().map_or(0, |b| b.count(number, doc));
                each(counted, size.saturating_sub(ignored));
            }
        }
        Ok(())
    }

    /// Returns the weight of the distinct fingerprints of a stored document.
    pub(crate) fn weight_of(
        &self,
        address: DocAddress,
        weigh: Weigh,
        memory: Option<&QueryMemory>,
        stop: &Stop,
    ) -> Result<u64> {
        // Which fingerprints are ignored is known by their keys, and which of its documents are
        // deleted by the list of a term.
        let is_by_ordinal = self.snapshot.config().store_signatures
            && self.ignored.is_none()
            && self.snapshot.segment(address).deleted_documents() == 0;
        let dfs = match is_by_ordinal {
            true => {
                let (own, ordinals) = (address.segment as usize, self.stored_ordinals_of(address)?);
                frequencies::live_frequencies_at(&self.snapshot, own, &ordinals, stop)?
            }
            false => {
                let keys = self.keys_within(address, memory, stop)?;
                frequencies::live_frequencies(&self.snapshot, &keys, stop)?
            }
        };
        Ok(weigh.weights(&dfs).into_iter().sum())
    }

    /// Returns the weight of each of the ascending keys.
    pub(crate) fn weights_of(&self, keys: &[u64], weigh: Weigh, stop: &Stop) -> Result<Vec<u64>> {
        Ok(weigh.weights(&frequencies::live_frequencies(&self.snapshot, keys, stop)?))
    }
}
