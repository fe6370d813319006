//! Which stored documents does this document share text with, and how much?
//!
//! A document in, hits out: signature, look-up of its fingerprints in every segment, pruning by
//! document frequency, counting, scoring. Measures follow Broder's terms: containment C(Q,D) is
//! the share of the query's distinct fingerprints that the document has; resemblance is the
//! share of both documents' fingerprints that both have.

mod candidates;
mod query;
mod score;

use std::collections::HashSet;
use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value};

pub use query::{MaxDf, Query, Subject};

use crate::error::{Error, Result};
use crate::index::{DocAddress, Snapshot};
use crate::scheme::Fingerprint;
use candidates::Candidates;

/// Answers queries over one snapshot of an index. It may be used by many threads at once.
#[derive(Clone)]
pub struct Searcher {
    snapshot: Snapshot,
}

/// What a query found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// What was searched for.
    pub query: QueryInfo,
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// The time it took, in microseconds.
    pub took_us: u64,
}

/// What was searched for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueryInfo {
    /// The stored document, if the query is one.
    pub id: Option<String>,
    /// Tokens of the query.
    pub tokens: u32,
    /// Distinct fingerprints of the query.
    pub fingerprints: u32,
    /// How many of them are stop-fingerprints, which bring up no document by themselves.
    pub stopped: u32,
}

/// A stored document that shares fingerprints with the query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// The caller's id.
    pub id: String,
    /// Distinct fingerprints in common.
    pub overlap: u32,
    /// C(Q,D): how much of the query is in the document, 0 to 1.
    pub containment: f64,
    /// C(D,Q): how much of the document is in the query, 0 to 1.
    pub containment_in_query: f64,
    /// How much of both together is in both, 0 to 1.
    pub resemblance: f64,
    /// What the caller knows of the document.
    pub meta: Map<String, Value>,
}

impl Searcher {
    /// A searcher over `snapshot`.
    pub fn new(snapshot: Snapshot) -> Searcher {
        Searcher { snapshot }
    }

    /// The snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The documents that share fingerprints with the query, best first: by overlap, then by
    /// resemblance, then by id.
    ///
    /// With no more stop-fingerprints than `max_df` allows, the hits are exactly the documents
    /// that meet the thresholds. A stop-fingerprint counts for documents that are found through
    /// another fingerprint, so every number of a hit is exact in any case.
    ///
    /// # Errors
    /// When the query names no stored document, its filter is no query, or a file is damaged.
    pub fn search(&self, query: &Query) -> Result<Answer> {
        let started = Instant::now();
        let subject = self.resolve(&query.subject)?;
        let mut keys: Vec<u64> = subject.signature.iter().map(|f| f.key).collect();
        keys.sort_unstable();
        keys.dedup();
        let max_df = query.max_df.unwrap_or_default().limit(self.snapshot.documents());
        let allowed = match &query.filter {
            None => None,
            Some(filter) => Some(candidates::filter(&self.snapshot, filter)?),
        };
        let found = candidates::find(&self.snapshot, &keys, max_df, allowed.as_deref())?;
        let Candidates { stopped, mut counted } = found;
        counted.retain(|candidate| Some(candidate.address) != subject.address);
        let scored = score::best(&self.snapshot, counted, keys.len() as u32, query)?;
        let hits = scored.into_iter().map(|scored| self.hit(scored)).collect::<Result<_>>()?;
        Ok(Answer {
            query: QueryInfo {
                id: subject.id,
                tokens: subject.tokens,
                fingerprints: keys.len() as u32,
                stopped,
            },
            hits,
            took_us: started.elapsed().as_micros() as u64,
        })
    }

    fn resolve(&self, subject: &Subject) -> Result<Resolved> {
        match subject {
            Subject::Text(text) => {
                let (tokens, signature) = self.snapshot.config().sign(text)?;
                Ok(Resolved { id: None, address: None, tokens, signature })
            }
            Subject::Signature { tokens, fingerprints } => Ok(Resolved {
                id: None,
                address: None,
                tokens: *tokens,
                signature: fingerprints.clone(),
            }),
            Subject::Id(id) => {
                let Some(address) = self.snapshot.find(id)? else {
                    return Err(Error::Query { what: format!("no document has the id `{id}`") });
                };
                let segment = &self.snapshot.segments()[address.segment as usize].signatures;
                Ok(Resolved {
                    id: Some(id.clone()),
                    address: Some(address),
                    tokens: segment.document(address.doc)?.tokens,
                    signature: segment.signature(address.doc)?,
                })
            }
        }
    }

    fn hit(&self, scored: score::Scored) -> Result<Hit> {
        Ok(Hit {
            meta: self.snapshot.meta(scored.address)?,
            id: scored.id,
            overlap: scored.overlap,
            containment: scored.containment,
            containment_in_query: scored.containment_in_query,
            resemblance: scored.resemblance,
        })
    }
}

/// The subject of a query, as numbers.
struct Resolved {
    id: Option<String>,
    address: Option<DocAddress>,
    tokens: u32,
    signature: Vec<Fingerprint>,
}

/// The documents that pass a filter, segment by segment.
type Allowed = Vec<HashSet<u32>>;
