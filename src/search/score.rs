//! Which candidates are the best hits?

use std::cmp::Ordering;

use super::candidates::Counted;
use super::{Query, Searcher};
use crate::error::Result;
use crate::index::{DocAddress, Snapshot};
use crate::overlap::{Overlap, least_overlap};
use crate::stop::Stop;

/// A hit, without what the caller knows of it.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The document.
    pub address: DocAddress,
    /// Its id.
    pub id: String,
    /// What the query, the first, and the document have in common.
    pub overlap: Overlap,
}

impl Scored {
    fn new(counted: Counted, in_query: u32, in_document: u32) -> Scored {
        let Counted { address, overlap } = counted;
        Scored { address, id: String::new(), overlap: Overlap::new(overlap, in_query, in_document) }
    }

    /// Better hits first; equal ones are told apart by their id only.
    fn cmp_score(&self, other: &Scored) -> Ordering {
        let by_overlap = other.overlap.shared.cmp(&self.overlap.shared);
        let resemblance = |scored: &Scored| scored.overlap.resemblance();
        by_overlap.then_with(|| resemblance(other).total_cmp(&resemblance(self)))
    }

    /// Better hits first. No two documents are equal.
    pub fn cmp_rank(&self, other: &Scored) -> Ordering {
        self.cmp_score(other).then_with(|| self.id.cmp(&other.id))
    }
}

/// The least overlap with which a document can meet the query's thresholds, if the query has
/// `in_query` distinct fingerprints.
pub fn overlap_min(query: &Query, in_query: u32) -> u32 {
    // Resemblance is at most containment, because both sets together are no smaller than one.
    let share = query.min_containment.max(query.min_resemblance);
    least_overlap(share, in_query).max(query.min_overlap)
}

/// Those of the candidates that meet the query's thresholds, in no order and without their ids.
///
/// `in_query` is the number of the query's distinct fingerprints.
pub fn scored(
    searcher: &Searcher,
    candidates: &[Counted],
    in_query: u32,
    query: &Query,
) -> Result<Vec<Scored>> {
    let mut hits = Vec::with_capacity(candidates.len());
    searcher.for_each_size(candidates, |&candidate, size| {
        hits.push(Scored::new(candidate, in_query, size));
    })?;
    hits.retain(|hit| {
        hit.overlap.shared >= query.min_overlap.max(1)
            && hit.overlap.containment() >= query.min_containment
            && hit.overlap.resemblance() >= query.min_resemblance
    });
    Ok(hits)
}

/// The best `limit` of the hits, best first, with their ids.
pub fn best(
    snapshot: &Snapshot,
    mut hits: Vec<Scored>,
    limit: usize,
    stop: Stop<'_>,
) -> Result<Vec<Scored>> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    if hits.len() > limit {
        hits.select_nth_unstable_by(limit - 1, Scored::cmp_score);
        let last = hits[limit - 1].clone();
        // All that tie with the last: which of them is in depends on the ids alone, not on where
        // the documents happen to be stored.
        hits.retain(|hit| hit.cmp_score(&last) != Ordering::Greater);
    }
    name(snapshot, &mut hits, stop)?;
    hits.sort_unstable_by(Scored::cmp_rank);
    hits.truncate(limit);
    Ok(hits)
}

/// Reads the ids of hits.
pub fn name(snapshot: &Snapshot, hits: &mut [Scored], stop: Stop<'_>) -> Result<()> {
    for (at, hit) in hits.iter_mut().enumerate() {
        // Reading an id takes some microseconds.
        if at.is_multiple_of(64) {
            stop.check()?;
        }
        hit.id = snapshot.id(hit.address)?;
    }
    Ok(())
}
