//! The signature of a query, once its text is signed or its document is found.

use std::borrow::Cow;

use super::boilerplate::Ignored;
use super::candidates::CandidateSet;
use super::{QueryInfo, Stopped};
use crate::error::Result;
use crate::index::{DocAddress, Snapshot};
use crate::scheme::Fingerprint;
use crate::text::unseen::Unseen;

/// The subject of a query, as numbers.
pub struct QuerySignature {
    pub id: Option<String>,
    pub address: Option<DocAddress>,
    pub tokens: u32,
    pub unseen: Unseen,
    pub signature: Vec<Fingerprint>,
    /// The distinct keys of the signature, ascending.
    pub keys: Vec<u64>,
    /// The first position of each key.
    pub positions: Vec<u32>,
}

impl QuerySignature {
    pub fn new(tokens: u32, signature: Vec<Fingerprint>) -> QuerySignature {
        let mut firsts = signature.clone();
        firsts.sort_unstable();
        firsts.dedup_by_key(|fingerprint| fingerprint.key);
        let (keys, positions) = firsts.into_iter().map(|f| (f.key, f.position)).unzip();
        let unseen = Unseen::default();
        QuerySignature { id: None, address: None, tokens, unseen, signature, keys, positions }
    }

    /// Removes fingerprints that are ignored.
    pub fn leave_out(&mut self, ignored: &Ignored) {
        self.signature.retain(|fingerprint| !ignored.has(fingerprint.key));
        let kept = self.keys.iter().zip(&self.positions).filter(|(key, _)| !ignored.has(**key));
        (self.keys, self.positions) = kept.unzip();
    }

    /// Returns the documents that are never hits, ascending: the query itself, and those with these
    /// ids, in all indexes of a union.
    pub fn excluded(&self, snapshot: &Snapshot, ids: &[String]) -> Result<Cow<'_, [DocAddress]>> {
        let own = self.address.as_slice();
        if ids.is_empty() {
            return Ok(Cow::Borrowed(own));
        }
        let mut excluded = own.to_vec();
        for id in ids {
            snapshot.find_all(id, &mut |address| {
                excluded.push(address);
                Ok(true)
            })?;
        }
        excluded.sort_unstable();
        Ok(Cow::Owned(excluded))
    }

    /// Returns the part of an answer about the query.
    pub fn info(&self, found: &CandidateSet) -> QueryInfo {
        let stopped = found.stopped.iter().map(|&(i, df)| self.stopped(i, df)).collect();
        QueryInfo {
            id: self.id.clone(),
            tokens: self.tokens,
            fingerprints: self.keys.len() as u32,
            global: f64::from(found.known) / self.keys.len().max(1) as f64,
            stopped: found.stopped.len() as u32,
            stopped_fingerprints: stopped,
            postings: found.postings,
            boilerplate: Vec::new(),
            unseen: self.unseen,
        }
    }

    fn stopped(&self, i: u32, df: u64) -> Stopped {
        let at = i as usize;
        Stopped { key: self.keys[at].to_string(), position: self.positions[at], df }
    }
}
