//! The documents that shards have found for a trace, as far as the shards have compared and read
//! documents.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use cento_api::{DocumentFacts, Passage, ShardAnswers, ShardCandidate, ShardCandidates};

use super::super::candidate::Candidate;
use super::super::cover::CoverCounting;
use super::super::frequencies::added_up;
use super::super::query::Query;
use super::super::score::Scored;
use super::super::trace::{DocumentTime, TraceArchive, TracedDocument};
use super::super::weigh::Weigh;
use super::known_hits::{KnownHit, KnownHits};
use super::text_sample;
use crate::error::{Error, Result};
use crate::field_date::{read, shown};
use crate::index::DocAddress;
use crate::text::Tokens;

/// Ranges of bytes of a text.
type TextRanges = Vec<(u32, u32)>;

/// The documents that shards have named for a trace.
pub struct ShardArchive<'a> {
    shards: &'a [ShardCandidates],
    documents: u64,
    /// The tokens of the query: the tokens of signatures, and the words if different.
    signed: Tokens,
    words: Option<Tokens>,
    compared: KnownHits<'a>,
    facts: HashMap<&'a str, &'a DocumentFacts>,
    /// The excerpts of documents, by id and range.
    excerpts: HashMap<(&'a str, (u32, u32)), &'a str>,
    /// The weight of each fingerprint of the query.
    weights: Vec<u64>,
    /// Whether each fingerprint of the query is stopped.
    is_stopped: Vec<bool>,
    /// The documents with each fingerprint of the query.
    holders: Rc<[Vec<DocAddress>]>,
    /// The documents to request, for a comparison or for these excerpts.
    wanted: RefCell<BTreeSet<(DocAddress, Option<TextRanges>)>>,
}

impl<'a> ShardArchive<'a> {
    /// Collects what the shards have answered about a query with these tokens.
    ///
    /// # Errors
    /// When an answer names a fingerprint that the query does not have.
    pub fn new(
        query: &Query,
        answers: &'a ShardAnswers,
        signed: Tokens,
        words: Option<Tokens>,
    ) -> Result<ShardArchive<'a>> {
        let ShardAnswers { frequencies, candidates: shards, hits, .. } = answers;
        let max_df = query.options.max_df.unwrap_or(frequencies.max_df);
        let max_df = max_df.limit(frequencies.documents);
        let live = added_up(frequencies, max_df, true);
        let read = hits.iter().filter_map(|hit| Some((&*hit.id, hit.facts.as_ref()?)));
        let mut excerpts = HashMap::new();
        for (id, facts) in read.clone() {
            excerpts.extend(facts.excerpts.iter().map(|found| ((id, found.b), &*found.text)));
        }
        Ok(ShardArchive {
            shards,
            documents: frequencies.documents,
            signed,
            words,
            compared: KnownHits::of(hits),
            facts: read.collect(),
            excerpts,
            weights: Weigh::among(frequencies.documents).weights(&live),
            is_stopped: live.iter().map(|&df| df > max_df).collect(),
            holders: holders(shards, live.len())?.into(),
            wanted: RefCell::default(),
        })
    }

    /// Returns what to request of each shard.
    pub fn wanted(&self) -> Vec<Vec<ShardCandidate>> {
        let mut wanted = vec![Vec::new(); self.shards.len()];
        for (address, excerpts) in self.wanted.borrow().iter() {
            let (candidate, excerpts) = (self.candidate(*address).clone(), excerpts.clone());
            let candidate =
                ShardCandidate { digest: None, shared: Vec::new(), excerpts, ..candidate };
            wanted[address.segment as usize].push(candidate);
        }
        wanted
    }

    fn candidate(&self, address: DocAddress) -> &'a ShardCandidate {
        &self.shards[address.segment as usize].candidates[address.doc as usize]
    }

    /// Requests a document, for a comparison or for these excerpts.
    fn request(&self, address: DocAddress, excerpts: Option<TextRanges>) {
        self.wanted.borrow_mut().insert((address, excerpts));
    }
}

/// Returns the documents with each of this number of fingerprints.
fn holders(shards: &[ShardCandidates], fingerprints: usize) -> Result<Vec<Vec<DocAddress>>> {
    let mut holders = vec![Vec::new(); fingerprints];
    for (segment, shard) in (0..).zip(shards) {
        for (doc, candidate) in (0..).zip(&shard.candidates) {
            for &place in &candidate.shared {
                let Some(holders) = holders.get_mut(place as usize) else {
                    let what = format!(
                        "`{}` shares fingerprint {place}, and the query has only {fingerprints}",
                        candidate.id
                    );
                    return Err(Error::argument("candidates", what));
                };
                holders.push(DocAddress { segment, doc });
            }
        }
    }
    Ok(holders)
}

impl<'a> TraceArchive for ShardArchive<'a> {
    type Document = KnownHit<'a>;
    type Counts = SharedCounts;

    fn documents(&self) -> u64 {
        self.documents
    }

    fn words(&self) -> &Tokens {
        self.words.as_ref().unwrap_or(&self.signed)
    }

    fn signed(&self) -> &Tokens {
        &self.signed
    }

    fn in_order_of_texts(&self, hits: Vec<Scored>) -> Result<Vec<Scored>> {
        let mut order = Vec::with_capacity(hits.len());
        for hit in hits {
            let digest = self.candidate(hit.address).digest.as_deref();
            let Some(digest) = digest.and_then(text_sample::digest_of) else {
                let what = format!("`{}` has no digest of 32 hexadecimal digits", hit.id);
                return Err(Error::argument("candidates", what));
            };
            order.push((digest, hit));
        }
        order.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.id.cmp(&b.1.id)));
        Ok(order.into_iter().map(|(_, hit)| hit).collect())
    }

    fn cover_counts(&self, hits: &[Scored]) -> Result<SharedCounts> {
        let weight = |hit: &Scored| hit.weighted.map_or(0, |weighted| weighted.shared);
        let adds = hits.iter().map(|hit| (hit.address, weight(hit))).collect();
        Ok(SharedCounts { adds, holders: self.holders.clone(), weights: self.weights.clone() })
    }

    fn compare(&mut self, scored: Scored) -> Result<Option<KnownHit<'a>>> {
        let Some(&hit) = self.compared.by_id.get(&*scored.id) else {
            self.request(scored.address, None);
            return Ok(None);
        };
        let known = KnownHit::new(scored, hit);
        let is_range = |range: &(u32, u32)| range.0 <= range.1;
        let is_placed =
            |passage: &Passage| is_range(&passage.a) && passage.matched_ranges.iter().all(is_range);
        if !known.found().iter().all(is_placed) {
            let what = format!("a passage of `{}` ends before it begins", known.id());
            return Err(Error::argument("hits", what));
        }
        Ok(Some(known))
    }

    fn sharing(&self, fingerprints: &[u32]) -> Result<Vec<Candidate>> {
        let mut found: BTreeMap<DocAddress, (u32, bool)> = BTreeMap::new();
        for &place in fingerprints {
            for &address in &self.holders[place as usize] {
                let (overlap, is_brought_up) = found.entry(address).or_default();
                *overlap += 1;
                *is_brought_up |= !self.is_stopped[place as usize];
            }
        }
        let brought_up = found.into_iter().filter(|(_, (_, is_brought_up))| *is_brought_up);
        let candidate = |(address, (overlap, _))| Candidate { address, overlap, weight: 0 };
        Ok(brought_up.map(candidate).collect())
    }

    fn id(&self, address: DocAddress) -> Result<String> {
        Ok(self.candidate(address).id.clone())
    }

    fn index(&self, address: DocAddress) -> Option<String> {
        let hit = self.compared.by_id.get(&*self.candidate(address).id)?;
        hit.hit.as_ref()?.index.clone()
    }

    fn added(&self, address: DocAddress) -> Result<i64> {
        let id = &*self.candidate(address).id;
        let missing = || Error::argument("hits", format!("`{id}` has no time of addition"));
        self.facts.get(id).map(|facts| micros(facts)).ok_or_else(missing)
    }

    fn times(&self, addresses: &[DocAddress]) -> Result<Option<Vec<DocumentTime>>> {
        let mut times = Vec::with_capacity(addresses.len());
        for &address in addresses {
            match self.facts.get(&*self.candidate(address).id) {
                None => self.request(address, Some(Vec::new())),
                Some(facts) => times.push(DocumentTime {
                    date: facts.date.as_ref().map(shown),
                    written: facts.date.as_ref().and_then(read),
                    added: micros(facts),
                }),
            }
        }
        Ok((times.len() == addresses.len()).then_some(times))
    }

    fn excerpts(
        &self,
        address: DocAddress,
        ranges: &[(u32, u32)],
    ) -> Result<Option<Vec<Option<String>>>> {
        let id = &*self.candidate(address).id;
        let known = ranges.iter().map(|&range| self.excerpts.get(&(id, range)));
        let known = known.map(|found| found.map(|&text| Some(text.to_owned())));
        let known: Option<Vec<Option<String>>> = known.collect();
        if known.is_none() {
            self.request(address, Some(ranges.to_vec()));
        }
        Ok(known)
    }

    fn is_waiting(&self) -> bool {
        !self.wanted.borrow().is_empty()
    }
}

/// Returns when a document was added, in microseconds.
fn micros(facts: &DocumentFacts) -> i64 {
    i64::try_from(facts.added).unwrap_or(i64::MAX)
}

/// The contribution of each document to a cover, from the fingerprints that the shards have sent.
pub struct SharedCounts {
    adds: HashMap<DocAddress, u64>,
    holders: Rc<[Vec<DocAddress>]>,
    weights: Vec<u64>,
}

impl CoverCounting for SharedCounts {
    fn by(&self, address: DocAddress) -> u64 {
        self.adds.get(&address).copied().unwrap_or(0)
    }

    fn explain(&mut self, key: u32) -> Result<()> {
        for holder in &self.holders[key as usize] {
            if let Some(adds) = self.adds.get_mut(holder) {
                *adds = adds.saturating_sub(self.weights[key as usize]);
            }
        }
        Ok(())
    }
}
