//! Finds the fewest documents that together explain a query.
//!
//! A text that was stitched together has many hits with the same parts. A greedy choice, which
//! always takes the document that adds the most unexplained fingerprints, finds a small set of
//! documents that together have everything any hit has. The set is within a factor of ln(m) of the
//! smallest, and no fast method guarantees less (set cover).

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};

use super::query::Query;
use super::query_signature::QuerySignature;
use super::retrieve::Search;
use super::score::Scored;
use super::searcher::Searcher;
use super::shared::{SharedFingerprints, terms_of};
use crate::error::Result;
use crate::index::DocAddress;
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
        let mut subject = QuerySignature::of(self, query, &mut scratch.part)?;
        subject.hidden = hidden;
        let (search, documents) =
            Search::retrieve(self, query, subject, None, &mut scratch.counters)?;
        let _ = self.spare.push(scratch);
        let mut shared = SharedFingerprints::within(query.memory.as_ref());
        let (keys, stop) = (&search.subject.keys[..], query.stop());
        let mut chosen = Vec::new();
        let mut hits = search.meeting(&documents)?;
        hits.sort_unstable_by_key(|hit| hit.address);
        let adds_min = query.thresholds.overlap().into();
        let mut counts = CoverCounts::of(&search, &hits)?;
        let terms = counts.ordinals();
        greedily(hits, adds_min, &mut counts, stop, |Scored { address, .. }| {
            chosen.push(address);
            if chosen.len() == limit {
                return Ok(None);
            }
            shared.read(&self.snapshot, (keys, &terms), address, stop)?;
            Ok(Some(shared.keys()))
        })?;
        Ok(chosen)
    }
}

/// The number or the weight of the unexplained fingerprints of each hit.
pub trait CoverCounting {
    /// Returns what the hit at `address` adds.
    fn by(&self, address: DocAddress) -> u64;

    /// Marks a key, given by its place, as explained. No hit adds the key after that.
    ///
    /// # Errors
    /// When a file is damaged.
    fn explain(&mut self, key: u32) -> Result<()>;
}

/// Calls `explained_by` with one document after another, always the document that adds the most
/// fingerprints to the explained ones, until no document adds `adds_min`. `explained_by` returns
/// which keys the document explains, or `None` to end.
///
/// A key counts once, or by weight if documents are weighed. Ties go to the first of `hits`.
///
/// # Errors
/// The errors of `explained_by` and of `counts`.
pub fn greedily(
    hits: Vec<Scored>,
    adds_min: u64,
    counts: &mut impl CoverCounting,
    stop: &Stop,
    mut explained_by: impl FnMut(Scored) -> Result<Option<Vec<u32>>>,
) -> Result<()> {
    let candidate = |(at, scored)| CoverCandidate { adds: all_of(&scored), at, scored };
    let mut open: BinaryHeap<CoverCandidate> = (0..).zip(hits).map(candidate).collect();
    let mut explained = HashSet::new();
    while let Some(mut candidate) = open.pop() {
        if candidate.adds < adds_min {
            break;
        }
        // A document's contribution can only have decreased since the last look. If the
        // contribution is unchanged, no document adds more.
        let adds = counts.by(candidate.scored.address);
        if adds < candidate.adds {
            candidate.adds = adds;
            if adds >= adds_min {
                open.push(candidate);
            }
            continue;
        }
        let Some(keys) = explained_by(candidate.scored)? else { break };
        if open.is_empty() {
            break;
        }
        for key in keys {
            if explained.insert(key) {
                stop.check()?;
                counts.explain(key)?;
            }
        }
    }
    Ok(())
}

/// Returns what a document adds before any document is chosen.
fn all_of(scored: &Scored) -> u64 {
    scored.weighted.map_or(scored.overlap.shared.into(), |weighted| weighted.shared)
}

/// The number or the weight of the query's unexplained fingerprints in each hit.
///
/// When a fingerprint is explained, it is subtracted from the hits in its posting lists. Lists are
/// read once, and signatures of hits are not read.
pub struct CoverCounts<'a> {
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
    /// Counts the initial contributions of these hits.
    ///
    /// # Errors
    /// When a file is damaged. [`Error::Cancelled`](crate::Error::Cancelled) soon after the query
    /// is stopped.
    pub fn of(search: &'a Search<'_>, hits: &[Scored]) -> Result<CoverCounts<'a>> {
        let Search { searcher, query, subject, found } = search;
        let snapshot = &searcher.snapshot;
        let mut adds = vec![Vec::new(); snapshot.segments().len()];
        for scored in hits {
            let DocAddress { segment, doc } = scored.address;
            adds[segment as usize].push((doc, all_of(scored)));
        }
        let readers: Vec<&SegmentReader> =
            snapshot.segments().iter().map(|segment| &segment.signatures).collect();
        let terms = terms_of(&readers, &subject.keys, query.stop())?;
        let of_one = |((signatures, terms), mut adds): ((_, _), Vec<(u32, u64)>)| {
            adds.sort_unstable();
            AddingIn { signatures, terms, adds, hits: OnceCell::new(), docs: Vec::new() }
        };
        let segments = readers.into_iter().zip(terms).zip(adds).map(of_one).collect();
        Ok(CoverCounts { segments, weights: &found.weights })
    }

    /// Returns the ordinals of the terms of each segment, with the places of their keys.
    fn ordinals(&self) -> Vec<Vec<(u32, u32)>> {
        let of_one = |own: &AddingIn<'_>| -> Vec<(u32, u32)> {
            own.terms.iter().map(|(place, term)| (term.ordinal, *place)).collect()
        };
        self.segments.iter().map(of_one).collect()
    }

    /// Calls `each` with every hit that has the key at this place.
    ///
    /// # Errors
    /// When a file is damaged.
    pub fn for_each_with(&mut self, key: u32, mut each: impl FnMut(DocAddress)) -> Result<()> {
        for (segment, adding) in (0..).zip(&mut self.segments) {
            adding.read(key)?;
            let is_hit = |doc: &&u32| adding.place_of(**doc).is_some();
            adding.docs.iter().filter(is_hit).for_each(|&doc| each(DocAddress { segment, doc }));
        }
        Ok(())
    }
}

impl CoverCounting for CoverCounts<'_> {
    fn by(&self, address: DocAddress) -> u64 {
        let adding = &self.segments[address.segment as usize];
        adding.place_of(address.doc).map_or(0, |at| adding.adds[at].1)
    }

    fn explain(&mut self, key: u32) -> Result<()> {
        let weight = self.weights.get(key as usize).copied().unwrap_or(1);
        for adding in &mut self.segments {
            adding.read(key)?;
            for at in 0..adding.docs.len() {
                if let Some(place) = adding.place_of(adding.docs[at]) {
                    let adds = &mut adding.adds[place].1;
                    *adds = adds.saturating_sub(weight);
                }
            }
        }
        Ok(())
    }
}

impl AddingIn<'_> {
    /// Reads the documents with a key, of which hits are some.
    fn read(&mut self, key: u32) -> Result<()> {
        let AddingIn { signatures, terms, adds, hits, docs } = self;
        docs.clear();
        let Ok(at) = terms.binary_search_by_key(&key, |term| term.0) else { return Ok(()) };
        let term = &terms[at].1;
        if SegmentReader::is_probed(term, adds.len()) {
            let all = || Candidates::new(adds.iter().map(|hit| hit.0).collect());
            signatures.documents_among(term, hits.get_or_init(all), |doc| docs.push(doc))?;
        } else {
            signatures.documents_of(term, docs)?;
        }
        Ok(())
    }

    /// Returns the place of a document among the hits.
    fn place_of(&self, doc: u32) -> Option<usize> {
        self.adds.binary_search_by_key(&doc, |hit| hit.0).ok()
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
