//! The goal `cover`: the fewest documents that together explain the query.
//!
//! A text that was stitched together has many hits with the same parts. The smallest set of
//! documents that holds all of the query that any hit holds is found greedily: always the document
//! that adds most fingerprints not yet explained. Greedy is within ln(m) of the best, and no fast
//! method is surely better (set cover).

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::evidence::Evidence;
use super::examine::Examined;
use super::extent::Extent;
use super::outcome::Outcome;
use super::query::Query;
use super::query_signature::QuerySignature;
use super::retrieve::Search;
use super::score::{self, Scored};
use super::searcher::Searcher;
use super::shared::{SharedFingerprints, terms_of};
use super::verify;
use crate::error::Result;
use crate::index::{DocAddress, Snapshot};
use crate::runtime::Stop;
use crate::segment::{Candidates, SegmentReader, Terms};

impl Searcher {
    /// Returns the documents of the cover of a text, none of them hidden, the one that adds most
    /// first; of those that add as many, the better hit, then the one stored first. Their texts are
    /// not read. The limit of the query is that of the cover.
    ///
    /// # Errors
    /// Those of [`search`](Self::search).
    pub fn covering(&self, query: &Query, hidden: Vec<DocAddress>) -> Result<Vec<DocAddress>> {
        let mut scratch = self.spare.pop().unwrap_or_default();
        let subject = QuerySignature::of(self, query, &mut scratch.part)?;
        let subject = QuerySignature { hidden, ..subject };
        let (search, documents) = Search::retrieve((self, query), subject, &mut scratch.counters)?;
        let _ = self.spare.push(scratch);
        let chosen = search.choose(search.meeting(&documents)?)?;
        Ok(chosen.into_iter().map(|(scored, _)| scored.address).collect())
    }
}

impl Search<'_> {
    /// Returns the cover from the documents that meet the query, with all that it requests of them,
    /// and the share of the query's fingerprints that they have.
    ///
    /// # Errors
    /// When verification is requested without texts, or a file is damaged;
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after the query is stopped.
    pub fn cover(&self, meeting: Vec<Scored>) -> Result<Outcome> {
        let Search { searcher, query, subject, .. } = self;
        let mut evidence = Evidence::of(searcher, subject, query)?;
        let mut hits = meeting;
        // A document that does not pass explains nothing.
        if let Some(evidence) = evidence.as_mut().filter(|_| query.checks_texts()) {
            hits = self.passing(hits, evidence)?;
        }
        score::name(&searcher.snapshot, &mut hits, query.stop())?;
        let chosen = self.choose(hits)?;
        let Examined { shown, passed, is_cut } = self.examine(chosen, evidence.as_mut())?;
        let extent = Extent::of_those_looked_at(shown.len(), passed, is_cut);
        let hits = self.hits_of(shown)?;
        let added: u32 = hits.iter().filter_map(|hit| hit.adds).sum();
        let explained = f64::from(added) / f64::from(subject.keys.len().max(1) as u32);
        Ok(Outcome { explained: Some(explained), ..Outcome::new(hits, extent) })
    }

    /// Returns the hits that pass the checks of their texts.
    fn passing(&self, hits: Vec<Scored>, evidence: &mut Evidence<'_>) -> Result<Vec<Scored>> {
        let mut passing = Vec::with_capacity(hits.len());
        for hit in hits {
            self.query.stop().check()?;
            let is_alike = evidence
                .verify(hit.address)?
                .is_none_or(|verified| verify::meets(&verified, self.query));
            if is_alike && evidence.may_have_passage(hit.address)? {
                passing.push(hit);
            }
        }
        Ok(passing)
    }

    /// Returns the documents of the cover, the one that adds most first, each with the number of
    /// fingerprints that it adds.
    ///
    /// `hits` have their ids where these are to decide between equal ones.
    fn choose(&self, hits: Vec<Scored>) -> Result<Vec<(Scored, Option<u32>)>> {
        let Search { searcher, query, subject, .. } = self;
        let (snapshot, keys, stop) = (&searcher.snapshot, &subject.keys[..], query.stop());
        let adds_min = query.thresholds.overlap();
        // One more tells whether there are more.
        let limit = query.looked_at().saturating_add(1);
        let mut shared = SharedFingerprints::within(query.memory.as_ref());
        let mut adding = Adding::new(snapshot, keys, &hits, stop)?;
        let terms = adding.ordinals();
        let mut open: BinaryHeap<Candidate> = hits
            .into_iter()
            .map(|scored| Candidate { adds: scored.overlap.shared, scored })
            .collect();
        let mut explained = vec![false; keys.len()];
        let mut chosen = Vec::new();
        while let Some(mut candidate) = open.pop() {
            if candidate.adds < adds_min {
                break;
            }
            // The number that a document adds can only have decreased since it was last examined:
            // if it is unchanged, no other adds more.
            let address = candidate.scored.address;
            let adds = adding.by(address);
            if adds < candidate.adds {
                candidate.adds = adds;
                if adds >= adds_min {
                    open.push(candidate);
                }
                continue;
            }
            chosen.push((candidate.scored, Some(adds)));
            if open.is_empty() || chosen.len() == limit {
                break;
            }
            shared.read(snapshot, (keys, &terms), address, stop)?;
            for key in shared.keys() {
                if !std::mem::replace(&mut explained[key as usize], true) {
                    stop.check()?;
                    adding.explain(key)?;
                }
            }
        }
        Ok(chosen)
    }
}

/// The number of fingerprints of the query that each hit has and no chosen document has.
///
/// When a document is chosen, each of its fingerprints is subtracted from the other hits that have
/// it, by the posting lists: each list is read once, and no signatures of hits are read.
struct Adding<'a> {
    segments: Vec<AddingIn<'a>>,
}

/// The hits of a segment.
struct AddingIn<'a> {
    signatures: &'a SegmentReader,
    /// The terms that the query has, each with its key's place, ascending.
    terms: Terms<'a>,
    /// The hits, ascending, each with the number of fingerprints that it adds.
    adds: Vec<(u32, u32)>,
    /// The hits again, once a list is so long that it is not read as a whole.
    hits: OnceCell<Candidates>,
    docs: Vec<u32>,
}

impl<'a> Adding<'a> {
    fn new(
        snapshot: &'a Snapshot,
        keys: &[u64],
        hits: &[Scored],
        stop: &Stop,
    ) -> Result<Adding<'a>> {
        let mut adds = vec![Vec::new(); snapshot.segments().len()];
        for Scored { address, overlap, .. } in hits {
            adds[address.segment as usize].push((address.doc, overlap.shared));
        }
        let readers: Vec<&SegmentReader> =
            snapshot.segments().iter().map(|segment| &segment.signatures).collect();
        let terms = terms_of(&readers, keys, stop)?;
        let of_one = |((signatures, terms), mut adds): ((_, _), Vec<(u32, u32)>)| {
            adds.sort_unstable();
            AddingIn { signatures, terms, adds, hits: OnceCell::new(), docs: Vec::new() }
        };
        Ok(Adding { segments: readers.into_iter().zip(terms).zip(adds).map(of_one).collect() })
    }

    /// Returns the ordinals of the terms of each segment, with their keys' places.
    fn ordinals(&self) -> Vec<Vec<(u32, u32)>> {
        let of_one = |own: &AddingIn<'_>| -> Vec<(u32, u32)> {
            own.terms.iter().map(|(place, term)| (term.ordinal, *place)).collect()
        };
        self.segments.iter().map(of_one).collect()
    }

    /// Returns the number of fingerprints that the hit at `address` adds.
    fn by(&self, address: DocAddress) -> u32 {
        let AddingIn { adds, .. } = &self.segments[address.segment as usize];
        let at = adds.binary_search_by_key(&address.doc, |hit| hit.0);
        at.map_or(0, |at| adds[at].1)
    }

    /// Marks the key at this place as explained: no hit adds it any more.
    fn explain(&mut self, key: u32) -> Result<()> {
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
                    adds[at].1 = adds[at].1.saturating_sub(1);
                }
            }
        }
        Ok(())
    }
}

/// A document that may come next, with the maximum number of fingerprints that it adds.
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
