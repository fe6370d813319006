//! The candidates of a shard, with the data for a trace.

use std::collections::HashMap;

use cento_api::{Goal, QueryTokens, ShardCandidate};

use super::super::cover::CoverCounts;
use super::super::retrieve::Search;
use super::super::score::Scored;
use super::{query_tokens, text_sample};
use crate::error::Result;
use crate::index::DocAddress;

impl Search<'_> {
    /// Returns these documents in the form that a shard sends, and for a trace the tokens of the
    /// query.
    ///
    /// # Errors
    /// When a file is damaged, or memory is lacking. [`Error::Cancelled`] soon after the query is
    /// stopped.
    ///
    /// [`Error::Cancelled`]: crate::Error::Cancelled
    pub fn named(&self, best: Vec<Scored>) -> Result<(Vec<ShardCandidate>, Option<QueryTokens>)> {
        if self.query.options.goal != Goal::Trace {
            return Ok((best.into_iter().map(Scored::into_candidate).collect(), None));
        }
        let mut shared = self.shared_of(&best)?;
        let mut candidates = Vec::with_capacity(best.len());
        for scored in best {
            let address = scored.address;
            let segment = self.searcher.snapshot.segment(address);
            let digest = Some(text_sample::hex_of(segment.signatures.digest(address.doc)?));
            let shared = shared.remove(&address).unwrap_or_default();
            candidates.push(ShardCandidate { digest, shared, ..scored.into_candidate() });
        }
        let (text, archive) = self.traced()?;
        let tokens = query_tokens::to_json(&text, &archive, self.traced_signature());
        Ok((candidates, Some(tokens)))
    }

    /// Returns the places of the fingerprints that each document shares with the query, from the
    /// posting lists.
    fn shared_of(&self, documents: &[Scored]) -> Result<HashMap<DocAddress, Vec<u32>>> {
        let mut shared: HashMap<DocAddress, Vec<u32>> = HashMap::new();
        let mut counts = CoverCounts::of(self, documents)?;
        for key in 0..self.subject.keys.len() as u32 {
            self.query.stop().check()?;
            counts.for_each_with(key, |address| shared.entry(address).or_default().push(key))?;
        }
        Ok(shared)
    }
}
