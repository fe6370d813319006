//! Which few documents together explain the query?
//!
//! A text that was stitched together has many hits that tell the same. The smallest set of
//! documents that holds all of the query that any hit holds is found greedily: always the document
//! that adds most of what is not yet explained. Greedy is within ln(m) of the best, and no fast
//! method is surely better (set cover).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::score::Scored;
use super::shared::SharedFingerprints;
use crate::error::Result;
use crate::index::Snapshot;
use crate::stop::Stop;

/// A document of a cover.
pub struct Chosen {
    /// The document.
    pub scored: Scored,
    /// Fingerprints of the query that no document before it has.
    pub adds: u32,
}

/// The documents of the cover, at most `limit`, the one that adds most first.
///
/// `hits` have their ids; each adds at least `adds_min` fingerprints to those before it.
pub fn cover(
    snapshot: &Snapshot,
    keys: &[u64],
    hits: Vec<Scored>,
    limit: usize,
    adds_min: u32,
    stop: Stop<'_>,
) -> Result<Vec<Chosen>> {
    let mut open: BinaryHeap<Candidate> =
        hits.into_iter().map(|scored| Candidate { adds: scored.overlap.shared, scored }).collect();
    let mut explained = vec![false; keys.len()];
    let (mut chosen, mut shared) = (Vec::new(), SharedFingerprints::default());
    while let Some(mut candidate) = open.pop() {
        if chosen.len() == limit || candidate.adds < adds_min {
            break;
        }
        // What a document adds can only have become less since it was last looked at: if it still
        // adds as much, no other adds more.
        shared.read(snapshot, keys, candidate.scored.address, stop)?;
        let has = shared.keys();
        let adds = has.iter().filter(|&&key| !explained[key as usize]).count() as u32;
        if adds < candidate.adds {
            candidate.adds = adds;
            open.push(candidate);
            continue;
        }
        has.iter().for_each(|&key| explained[key as usize] = true);
        chosen.push(Chosen { scored: candidate.scored, adds });
    }
    Ok(chosen)
}

/// A document that may come next, with what it adds at most.
struct Candidate {
    adds: u32,
    scored: Scored,
}

impl Ord for Candidate {
    /// The next is the greatest: the one that may add most, then the better hit.
    fn cmp(&self, other: &Candidate) -> Ordering {
        self.adds.cmp(&other.adds).then_with(|| other.scored.cmp_rank(&self.scored))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Candidate) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}
