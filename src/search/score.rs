//! Which candidates are the best hits?

use std::cmp::Ordering;

use super::candidates::Counted;
use super::{Query, Searcher};
use crate::error::Result;
use crate::index::{DocAddress, Snapshot};
use crate::stop::Stop;

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

/// The least number, at least 1, that is this share of `of`.
pub fn least_overlap(share: f64, of: u32) -> u32 {
    let mut least = (share * f64::from(of)) as u32;
    // The product may be off by one either way; the test of a hit is the quotient.
    least = least.saturating_sub(1);
    while least < of && f64::from(least) / f64::from(of) < share {
        least += 1;
    }
    least.max(1)
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
        hit.overlap >= query.min_overlap.max(1)
            && hit.containment >= query.min_containment
            && hit.resemblance >= query.min_resemblance
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_overlap_is_the_first_that_meets_the_threshold() {
        for in_query in [1, 3, 7, 10, 100, 1241] {
            for share in [0.0, 0.1, 0.3, 1.0 / 3.0, 0.5, 0.7, 0.8, 0.99, 1.0] {
                let query = Query { min_containment: share, ..Query::text("") };
                let least = overlap_min(&query, in_query);
                let meets = |overlap: u32| f64::from(overlap) / f64::from(in_query) >= share;
                assert!(meets(least) && least >= 1, "{share} of {in_query}");
                assert!(least == 1 || !meets(least - 1), "{share} of {in_query}");
            }
        }
    }
}
