//! Finds the fewest documents that together explain a query.
//!
//! A text that was stitched together has many hits with the same parts. A greedy choice, which
//! always takes the document that adds the most unexplained fingerprints, finds a small set of
//! documents that together have everything any hit has. The set is within a factor of ln(m) of the
//! smallest, and no fast method guarantees less (set cover).

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
    /// Returns the fewest documents that together explain a text, at most `limit`, without `hidden`
    /// documents. The document that adds most comes first. Ties go to the better hit, then to the
    /// document stored first. Texts are not read. The limit of the query itself is not applied,
    /// because it would drop documents that add more.
    ///
    /// # Errors
    /// The errors of [`search`](Self::search).
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
            Search::retrieve(self, query, subject, None, &mut scratch.counters)?;
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
    /// Calls `explained_by` with one document after another, always the document that adds the most
    /// fingerprints to the explained ones, until no document adds `adds_min`. `explained_by`
    /// returns which keys the document explains, or `None` to end.
    ///
    /// A key counts once, or by weight if documents are weighed. Ties go to the first of `hits`.
    pub(super) fn greedily(
        &self,
        hits: Vec<Scored>,
        adds_min: u64,
        mut explained_by: impl FnMut(Scored, &[Vec<(u32, u32)>]) -> Result<Option<Vec<u32>>>,
    ) -> Result<()> {
        let Search { searcher, query, subject, found } = self;
        let (keys, stop) = (&subject.keys[..], query.stop());
        let mut adding = CoverCounts::new(&searcher.snapshot, keys, &found.weights, &hits, stop)?;
        let terms = adding.ordinals();
        let candidate = |(at, scored)| CoverCandidate { adds: all_of(&scored), at, scored };
        let mut open: BinaryHeap<CoverCandidate> = (0..).zip(hits).map(candidate).collect();
        let mut explained = vec![false; keys.len()];
        while let Some(mut candidate) = open.pop() {
            if candidate.adds < adds_min {
                break;
            }
            // What a document adds can only have decreased since it was last examined. If it is
            // unchanged, no other document adds more.
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

/// Returns what a document adds before any document is chosen.
fn all_of(scored: &Scored) -> u64 {
    scored.weighted.map_or(scored.overlap.shared.into(), |weighted| weighted.shared)
}

/// For each hit, the number or the weight of its fingerprints of the query that are unexplained.
///
/// When a fingerprint is explained, it is subtracted from the hits in its posting lists. Each list
/// is read once, and signatures of hits are not read.
struct CoverCounts<'a> {
    segments: Vec<AddingIn<'a>>,
    /// The weight of each key, or empty if each key counts once.
    weights: &'a [u64],
}

/// The hits of a segment.
struct AddingIn<'a> {
    signatures: &'a SegmentReader,
    /// The terms of the query in this segment, with the places of their keys, ascending.
    terms: Terms<'a>,
    /// The hits, ascending, with the number or weight that each adds.
    adds: Vec<(u32, u64)>,
    /// The hits again, for probing lists that are too long to be read whole.
    hits: OnceCell<Candidates>,
    docs: Vec<u32>,
}

impl<'a> CoverCounts<'a> {
    fn new(
        snapshot: &'a Snapshot,
        keys: &[u64],
        weights: &'a [u64],
        hits: &[Scored],
        stop: &Stop,
    ) -> Result<CoverCounts<'a>> {
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
        Ok(CoverCounts { segments, weights })
    }

    /// Returns the ordinals of the terms of each segment, with the places of their keys.
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

    /// Marks a key as explained, so that no hit adds it any more.
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

/// A document that may come next, with an upper bound of its addition.
struct CoverCandidate {
    adds: u64,
    /// The place among equal documents.
    at: usize,
    scored: Scored,
}

impl Ord for CoverCandidate {
    /// The next document is the maximum: the largest addition, then the better hit.
    fn cmp(&self, other: &CoverCandidate) -> Ordering {
        let by_hit = || other.scored.cmp_score(&self.scored);
        self.adds.cmp(&other.adds).then_with(by_hit).then(other.at.cmp(&self.at))
    }
}

impl PartialOrd for CoverCandidate {
    fn partial_cmp(&self, other: &CoverCandidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for CoverCandidate {
    fn eq(&self, other: &CoverCandidate) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for CoverCandidate {}
