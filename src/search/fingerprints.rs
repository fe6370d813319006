//! The fingerprints of stored documents, their number and their weight.

use super::candidate::Candidate;
use super::frequencies;
use super::memory::{self, QueryMemory};
use super::searcher::Searcher;
use super::weigh::Weigh;
use crate::error::Result;
use crate::index::DocAddress;
use crate::runtime::Stop;
use crate::scheme::distinct_keys;
use crate::segment::sort_from;

/// The number of fingerprints that are weighed together.
const TERMS_AT_ONCE: usize = 1 << 14;

impl Searcher {
    /// Returns the distinct fingerprints of a stored document, ascending.
    ///
    /// # Errors
    /// When the signature, or the text that it is computed from, is damaged.
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn keys_of(&self, address: DocAddress, stop: &Stop) -> Result<Vec<u64>> {
        self.keys_within(address, None, stop)
    }

    /// Returns whether only its text tells which fingerprints of a stored document count, because
    /// the boilerplate includes cited text, or templates of programs.
    #[must_use]
    pub fn counts_by_texts(&self) -> bool {
        let ignored = self.ignored.as_ref().filter(|_| self.stores_texts());
        ignored.is_some_and(|ignored| ignored.boilerplate.depends_on_texts())
    }

    /// Returns the distinct fingerprints, within the memory budget of the query, if any.
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
        let signatures = &self.snapshot.segment(address).signatures;
        let mut ordinals = Vec::new();
        signatures.forward_ordinals(address.doc, &mut ordinals)?;
        // Ordinals ascend with their keys.
        ordinals.sort_unstable();
        ordinals.dedup();
        Ok(signatures.keys_at(&ordinals)?)
    }

    /// Returns the number of distinct fingerprints of a stored document.
    ///
    /// # Errors
    /// When the segment is damaged.
    pub fn size_of(&self, address: DocAddress) -> Result<u32> {
        let mut sizes = 0;
        let counted = Candidate { address, overlap: 0, weight: 0 };
        self.for_each_size(&[counted], |_, size| sizes = size)?;
        Ok(sizes)
    }

    /// Calls `each` with every document and its number of distinct fingerprints. `documents` are
    /// ordered by segment.
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
    pub fn weight_of(
        &self,
        address: DocAddress,
        weigh: Weigh,
        memory: Option<&QueryMemory>,
        stop: &Stop,
    ) -> Result<u64> {
        Ok(self.weights_of_documents(&[address], weigh, memory, stop)?[0])
    }

    /// Returns the weights of the distinct fingerprints of stored documents, given in any order.
    ///
    /// Documents found together share many fingerprints, so each fingerprint is weighed once.
    pub(crate) fn weights_of_documents(
        &self,
        addresses: &[DocAddress],
        weigh: Weigh,
        memory: Option<&QueryMemory>,
        stop: &Stop,
    ) -> Result<Vec<u64>> {
        let mut weights = vec![0; addresses.len()];
        let mut order: Vec<u32> = (0..addresses.len() as u32).collect();
        order.sort_by_key(|&at| addresses[at as usize].segment);
        let segment_of = |at: &u32| addresses[*at as usize].segment;
        for own in order.chunk_by(|a, b| segment_of(a) == segment_of(b)) {
            // By ordinal only if no key and no list is needed: ignored fingerprints are recognized
            // by key, and deleted documents by the list of a term.
            let segment = &self.snapshot.segments()[segment_of(&own[0]) as usize];
            let is_by_ordinal = self.snapshot.config().store_signatures
                && self.ignored.is_none()
                && segment.deleted_documents() == 0;
            if is_by_ordinal {
                self.add_weights_by_ordinal(own, addresses, &mut weights, weigh, stop)?;
                continue;
            }
            for &at in own {
                let keys = self.keys_within(addresses[at as usize], memory, stop)?;
                let dfs = frequencies::live_frequencies(&self.snapshot, &keys, stop)?;
                weights[at as usize] = weigh.weights(&dfs).into_iter().sum();
            }
        }
        Ok(weights)
    }

    /// Adds the weights of the documents of a segment. `own` are their places in `addresses`.
    fn add_weights_by_ordinal(
        &self,
        own: &[u32],
        addresses: &[DocAddress],
        weights: &mut [u64],
        weigh: Weigh,
        stop: &Stop,
    ) -> Result<()> {
        let segment = addresses[own[0] as usize].segment as usize;
        let signatures = &self.snapshot.segments()[segment].signatures;
        let (mut signature, mut terms, mut distinct) = (Vec::new(), Vec::new(), Vec::new());
        for (number, &at) in own.iter().enumerate() {
            signature.clear();
            signatures.forward_ordinals(addresses[at as usize].doc, &mut signature)?;
            // Pairs of an ordinal and the place of a document, in the order of documents.
            terms
                .extend(signature.iter().map(|&term| u64::from(term) << u32::BITS | u64::from(at)));
            if terms.len() < TERMS_AT_ONCE && number + 1 < own.len() {
                continue;
            }
            sort_from(&mut terms, u32::BITS);
            terms.dedup();
            let ordinal = |term: u64| (term >> u32::BITS) as u32;
            distinct.clear();
            distinct.extend(terms.iter().map(|&term| ordinal(term)));
            distinct.dedup();
            let dfs = frequencies::live_frequencies_at(&self.snapshot, segment, &distinct, stop)?;
            let weight_of = weigh.weights(&dfs);
            let same = terms.chunk_by(|&a, &b| ordinal(a) == ordinal(b));
            for (same, weight) in same.zip(weight_of) {
                same.iter().for_each(|&term| weights[term as u32 as usize] += weight);
            }
            terms.clear();
        }
        Ok(())
    }

    /// Returns the weight of each of the ascending keys.
    pub fn weights_of(&self, keys: &[u64], weigh: Weigh, stop: &Stop) -> Result<Vec<u64>> {
        Ok(weigh.weights(&frequencies::live_frequencies(&self.snapshot, keys, stop)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Config, Document, Index, WriterOptions};

    #[test]
    fn documents_weighed_together_weigh_as_much_as_each_alone() {
        let config = Config::new("kgram(k=1)", "words", true).unwrap();
        let index = Index::in_memory(config).unwrap();
        let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
        // Together the documents have more fingerprints than are weighed at once, rare and
        // frequent, some of them twice in a document.
        for segment in 0..2u32 {
            for doc in 0..300 {
                let word = |i: u32| format!("w{} ", i * (segment * 7 + doc % (i + 1)));
                let text = format!("{0}{0}", (0..80).map(word).collect::<String>());
                writer.add(Document::new(format!("{segment}-{doc}"), text)).unwrap();
            }
            writer.commit().unwrap();
        }
        writer.remove("1-5").unwrap();
        writer.finish().unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        let weigh = Weigh::new(searcher.snapshot());
        let address = |at: u32| DocAddress { segment: at % 2, doc: at * 7 % 300 };
        // One document occurs twice.
        let addresses: Vec<DocAddress> = (0..601).map(address).collect();
        let weights = searcher.weights_of_documents(&addresses, weigh, None, Stop::NEVER).unwrap();
        let mut fingerprints = 0;
        for (&address, &weight) in addresses.iter().zip(&weights) {
            let keys = searcher.keys_of(address, Stop::NEVER).unwrap();
            fingerprints += keys.len();
            let alone: u64 = searcher.weights_of(&keys, weigh, Stop::NEVER).unwrap().iter().sum();
            assert_eq!(weight, alone, "{address:?}");
        }
        assert!(fingerprints > 2 * TERMS_AT_ONCE, "{fingerprints}");
        let none = searcher.weights_of_documents(&[], weigh, None, Stop::NEVER).unwrap();
        assert!(none.is_empty());
    }
}
