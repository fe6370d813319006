//! Which candidates are the best hits?

use std::cmp::Ordering;

use super::Query;
use super::candidates::Counted;
use crate::error::Result;
use crate::index::{DocAddress, Snapshot};

/// A hit, without what the caller knows of it.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The document.
    pub address: DocAddress,
    /// Its id.
    pub id: String,
    /// Distinct fingerprints in common.
    pub overlap: u32,
    /// C(Q,D).
    pub containment: f64,
    /// C(D,Q).
    pub containment_in_query: f64,
    /// Resemblance.
    pub resemblance: f64,
}

impl Scored {
    fn new(counted: Counted, in_query: u32, in_document: u32) -> Scored {
        let Counted { address, overlap } = counted;
        let share = |of: u32| f64::from(overlap) / f64::from(of);
        Scored {
            address,
            id: String::new(),
            overlap,
            containment: share(in_query),
            containment_in_query: share(in_document),
            resemblance: share(in_query + in_document - overlap),
        }
    }

    /// Better hits first; equal ones are told apart by their id only.
    fn cmp_score(&self, other: &Scored) -> Ordering {
        let by_overlap = other.overlap.cmp(&self.overlap);
        by_overlap.then(other.resemblance.total_cmp(&self.resemblance))
    }
}

/// The best of the candidates that meet the query's thresholds, best first.
///
/// `in_query` is the number of the query's distinct fingerprints.
pub fn best(
    snapshot: &Snapshot,
    candidates: Vec<Counted>,
    in_query: u32,
    query: &Query,
) -> Result<Vec<Scored>> {
    let mut hits = Vec::with_capacity(candidates.len());
    // They come segment by segment, so that the column of each is looked up once.
    for same in candidates.chunk_by(|a, b| a.address.segment == b.address.segment) {
        let segment = &snapshot.segments()[same[0].address.segment as usize];
        let distinct = segment.signatures.distinct()?;
        hits.extend(same.iter().map(|&candidate| {
            Scored::new(candidate, in_query, distinct.get(candidate.address.doc))
        }));
    }
    hits.retain(|hit| {
        hit.overlap >= query.min_overlap.max(1)
            && hit.containment >= query.min_containment
            && hit.resemblance >= query.min_resemblance
    });
    if query.limit == 0 {
        return Ok(Vec::new());
    }
    if hits.len() > query.limit {
        hits.select_nth_unstable_by(query.limit - 1, Scored::cmp_score);
        let last = hits[query.limit - 1].clone();
        // All that tie with the last: which of them is in depends on the ids alone, not on where
        // the documents happen to be stored.
        hits.retain(|hit| hit.cmp_score(&last) != Ordering::Greater);
    }
    for hit in &mut hits {
        hit.id = snapshot.id(hit.address)?;
    }
    hits.sort_unstable_by(|a, b| a.cmp_score(b).then_with(|| a.id.cmp(&b.id)));
    hits.truncate(query.limit);
    Ok(hits)
}
