//! The fewest documents that together explain a query.
//!
//! A text that was stitched together has many hits with the same parts. The smallest set of
//! documents that holds all of the query that any hit holds is found greedily: always the document
//! that adds most fingerprints not yet explained. Greedy is within ln(m) of the best, and no fast
//! method is surely better (set cover).

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::query::Query;
use super::query_signature::QuerySignature;
use super::retrieve::Search;
use super::score::Scored;
use super::searcher::Searcher;
use super::shared::{SharedFingerprints, terms_of};
use crate::error::Result;
use crate::index::{DocAddress, Snapshot};
use crate::runtime::Stop;
use crate::segment::{Candidates, SegmentReader, Terms};

impl Searcher {
    /// Returns the fewest documents that together explain a text, none of them hidden, at most
    /// `limit`: the one that adds most first; of those that add as many, the better hit, then the
    /// one stored first. Their texts are not read. The query itself has no limit: it would leave
    /// out documents that add more.
    ///
    /// # Errors
    /// Those of [`search`](Self::search).
    pub fn covering(
        &self,
        query: &Query,
        hidden: Vec<DocAddress>,
        limit: usize,
    ) -> Result<Vec<DocAddress>> {
        let mut scratch = self.spare.pop().unwrap_or_default();
        let subject = QuerySignature::of(self, query, &mut scratch.part)?;
        let subject = QuerySignature { hidden, ..subject };
        let (search, documents) =
            Search::retrieve((self, query), subject, None, &mut scratch.counters)?;
        let _ = self.spare.push(scratch);
        let mut shared = SharedFingerprints::within(query.memory.as_ref());
        let (keys, stop) = (&search.subject.keys[..], query.stop());
        let mut chosen = Vec::new();
        let mut hits = search.meeting(&documents)?;
        hits.sort_unstable_by_key(|hit| hit.address);
        let adds_min = query.thresholds.overlap().into();
        search.greedily(hits, adds_min, |Scored { address, .. }, terms| {
            chosen.push(address);
            if chosen.len() == limit {
                return Ok(None);
            }
            shared.read(&self.snapshot, (keys, terms), address, stop)?;
            Ok(Some(shared.keys()))
        })?;
        Ok(chosen)
    }
}

impl Search<'_> {
    /// Calls `explained_by` with one document after the other, always the one that adds most
    /// fingerprints to those explained so far, until none adds at least `adds_min`. It returns
    /// which keys the document explains, or `None` to end.
    ///
    /// Every key counts once, or by its weight if the documents are weighed. Of equal hits, the
    /// first of `hits` comes first.
    pub(super) fn greedily(
        &self,
        hits: Vec<Scored>,
        adds_min: u64,
        mut explained_by: impl FnMut(Scored, &[Vec<(u32, u32)>]) -> Result<Option<Vec<u32>>>,
    ) -> Result<()> {
        let Search { searcher, query, subject, found } = self;
        let (keys, stop) = (&subject.keys[..], query.stop());
        let mut adding = Adding::new((&searcher.snapshot, keys), &found.weights, &hits, stop)?;
        let terms = adding.ordinals();
        let candidate = |(at, scored)| Candidate { adds: all_of(&scored), at, scored };
        let mut open: BinaryHeap<Candidate> = (0..).zip(hits).map(candidate).collect();
        let mut explained = vec![false; keys.len()];
        while let Some(mut candidate) = open.pop() {
            if candidate.adds < adds_min {
                break;
            }
            // What a document adds can only have decreased since it was last examined: if it is
            // unchanged, no other adds more.
            let adds = adding.by(candidate.scored.address);
            if adds < candidate.adds {
                candidate.adds = adds;
                if adds >= adds_min {
                    open.push(candidate);
                }
                continue;
            }
            let Some(keys) = explained_by(candidate.scored, &terms)? else { break };
            if open.is_empty() {
                break;
            }
            for key in keys {
                if !std::mem::replace(&mut explained[key as usize], true) {
                    stop.check()?;
                    adding.explain(key)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns what a document adds before any is chosen.
fn all_of(scored: &Scored) -> u64 {
    scored.weighted.map_or(scored.overlap.shared.into(), |weighted| weighted.shared)
}

/// The fingerprints of the query that each hit has and that are not explained: their number, or
/// their weight.
///
/// When a fingerprint is explained, it is subtracted from the hits that have it, by the posting
/// lists: each list is read once, and no signatures of hits are read.
struct Adding<'a> {
    segments: Vec<AddingIn<'a>>,
    /// The weight of each key; empty if each counts once.
    weights: &'a [u64],
}

/// The hits of a segment.
struct AddingIn<'a> {
    signatures: &'a SegmentReader,
    /// The terms that the query has, each with its key's place, ascending.
    terms: Terms<'a>,
    /// The hits, ascending, each with the number or the weight that it adds.
    adds: Vec<(u32, u64)>,
    /// The hits again, once a list is so long that it is not read as a whole.
    hits: OnceCell<Candidates>,
    docs: Vec<u32>,
}

impl<'a> Adding<'a> {
    fn new(
        (snapshot, keys): (&'a Snapshot, &[u64]),
        weights: &'a [u64],
        hits: &[Scored],
        stop: &Stop,
    ) -> Result<Adding<'a>> {
        let mut adds = vec![Vec::new(); snapshot.segments().len()];
        for scored in hits {
            let DocAddress { segment, doc } = scored.address;
            adds[segment as usize].push((doc, all_of(scored)));
        }
        let readers: Vec<&SegmentReader> =
            snapshot.segments().iter().map(|segment| &segment.signatures).collect();
        let terms = terms_of(&readers, keys, stop)?;
        let of_one = |((signatures, terms), mut adds): ((_, _), Vec<(u32, u64)>)| {
            adds.sort_unstable();
            AddingIn { signatures, terms, adds, hits: OnceCell::new(), docs: Vec::new() }
        };
        let segments = readers.into_iter().zip(terms).zip(adds).map(of_one).collect();
        Ok(Adding { segments, weights })
    }

    /// Returns the ordinals of the terms of each segment, with their keys' places.
    fn ordinals(&self) -> Vec<Vec<(u32, u32)>> {
        let of_one = |own: &AddingIn<'_>| -> Vec<(u32, u32)> {
            own.terms.iter().map(|(place, term)| (term.ordinal, *place)).collect()
        };
        self.segments.iter().map(of_one).collect()
    }

    /// Returns what the hit at `address` adds.
    fn by(&self, address: DocAddress) -> u64 {
        let AddingIn { adds, .. } = &self.segments[address.segment as usize];
        let at = adds.binary_search_by_key(&address.doc, |hit| hit.0);
        at.map_or(0, |at| adds[at].1)
    }

    /// Marks the key at this place as explained: no hit adds it any more.
    fn explain(&mut self, key: u32) -> Result<()> {
        let weight = self.weights.get(key as usize).copied().unwrap_or(1);
        for AddingIn { signatures, terms, adds, hits, docs } in &mut self.segments {
            let Ok(at) = terms.binary_search_by_key(&key, |term| term.0) else { continue };
            let term = &terms[at].1;
            docs.clear();
            if SegmentReader::is_probed(term, adds.len()) {
                let all = || Candidates::new(adds.iter().map(|hit| hit.0).collect());
                signatures.documents_among(term, hits.get_or_init(all), |doc| docs.push(doc))?;
            } else {
                signatures.documents_of(term, docs)?;
            }
            for doc in docs {
                if let Ok(at) = adds.binary_search_by_key(doc, |hit| hit.0) {
                    adds[at].1 = adds[at].1.saturating_sub(weight);
                }
            }
        }
        Ok(())
    }
}

/// A document that may come next, with the most that it adds.
struct Candidate {
    adds: u64,
    /// Its place in the order of equal ones.
    at: usize,
    scored: Scored,
}

impl Ord for Candidate {
    /// The next is the greatest: the one that may add most, then the better hit.
    fn cmp(&self, other: &Candidate) -> Ordering {
        let by_hit = || other.scored.cmp_score(&self.scored);
        self.adds.cmp(&other.adds).then_with(by_hit).then(other.at.cmp(&self.at))
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
