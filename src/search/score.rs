//! Scores and ranking of candidates.

use std::cmp::Ordering;

use super::candidates::Candidate;
use super::query::Query;
use super::searcher::Searcher;
use super::weigh::{Weigh, WeightedOverlap};
use crate::error::Result;
use crate::index::{DocAddress, Snapshot};
use crate::overlap::Overlap;
use crate::runtime::Stop;
use crate::similarity::Similarity;
use cento_api::Rank;

/// A hit, without its meta object.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The document.
    pub address: DocAddress,
    /// Its id.
    pub id: String,
    /// The overlap of the query, the first, and the document.
    pub overlap: Overlap,
    /// The weighted overlap; the weight of the document is 0 until it is needed.
    pub weighted: Option<WeightedOverlap>,
    /// The similarity of the texts, if it decided, or both have been read.
    pub similarity: Option<Similarity>,
    /// The score that ranks before the overlap; equal for all if the overlap ranks first.
    score: f64,
}

impl Scored {
    pub fn new(counted: Candidate, in_query: u32, in_document: u32) -> Scored {
        let Candidate { address, overlap, .. } = counted;
        let overlap = Overlap::new(overlap, in_query, in_document);
        let (id, weighted, similarity) = (String::new(), None, None);
        Scored { address, id, overlap, weighted, similarity, score: 0.0 }
    }

    /// Adds the weight of the shared fingerprints; `in_query` is the weight of the query.
    pub fn weighed(self, shared: u64, in_query: u64, rank: Rank) -> Scored {
        let weighted = Some(WeightedOverlap { shared, in_query, in_document: 0 });
        let score = match rank {
            Rank::Overlap => 0.0,
            Rank::Weight | Rank::Passages => {
                shared as f64 / f64::from(self.overlap.in_b.max(1)).sqrt()
            }
        };
        Scored { weighted, score, ..self }
    }

    /// Better hits first; equal ones are ordered by id only.
    fn cmp_score(&self, other: &Scored) -> Ordering {
        let by_score = other.score.total_cmp(&self.score);
        let by_overlap = by_score.then_with(|| other.overlap.shared.cmp(&self.overlap.shared));
        let resemblance = |scored: &Scored| scored.overlap.resemblance();
        by_overlap.then_with(|| resemblance(other).total_cmp(&resemblance(self)))
    }

    /// Better hits first. No two documents are equal: those of one id are in different indexes.
    pub fn cmp_rank(&self, other: &Scored) -> Ordering {
        let by_id = self.cmp_score(other).then_with(|| self.id.cmp(&other.id));
        by_id.then_with(|| self.address.cmp(&other.address))
    }
}

/// Fills in the weight of the fingerprints of a weighed hit.
pub fn weigh_document(searcher: &Searcher, hit: &mut Scored, query: &Query) -> Result<()> {
    if let Some(weighted) = hit.weighted.as_mut().filter(|weighted| weighted.in_document == 0) {
        let weigh = Weigh::new(searcher.snapshot());
        weighted.in_document =
            searcher.weight_of(hit.address, weigh, query.memory.as_ref(), query.stop())?;
    }
    Ok(())
}

/// Returns the best `limit` of the hits, best first, with their ids.
pub fn best(
    snapshot: &Snapshot,
    mut hits: Vec<Scored>,
    limit: usize,
    stop: &Stop,
) -> Result<Vec<Scored>> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    if hits.len() > limit {
        hits.select_nth_unstable_by(limit - 1, Scored::cmp_score);
        let last = hits[limit - 1].clone();
        // Keeps all that tie with the last: the choice among them depends on the ids alone, not on
        // the places where the documents are stored.
        hits.retain(|hit| hit.cmp_score(&last) != Ordering::Greater);
    }
    name(snapshot, &mut hits, stop)?;
    hits.sort_unstable_by(Scored::cmp_rank);
    hits.truncate(limit);
    Ok(hits)
}

/// Reads the ids of hits.
pub fn name(snapshot: &Snapshot, hits: &mut [Scored], stop: &Stop) -> Result<()> {
    for (at, hit) in hits.iter_mut().enumerate() {
        // Reading an id takes some microseconds.
        if at.is_multiple_of(64) {
            stop.check()?;
        }
        hit.id = snapshot.id(hit.address)?;
    }
    Ok(())
}
