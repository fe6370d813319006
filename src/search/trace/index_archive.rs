//! The documents of an index that meet a traced query.

use cento_api::Passage;

use super::super::candidate::Candidate;
use super::super::cover::CoverCounts;
use super::super::evidence::Evidence;
use super::super::hit_details::HitDetails;
use super::super::memory;
use super::super::retrieve::Search;
use super::super::score::Scored;
use super::super::verify;
use super::archive::{DocumentTime, TraceArchive, TracedDocument};
use crate::compare::Passages;
use crate::error::{Error, Result};
use crate::field_date::{field_of, read, shown};
use crate::hash::Digest;
use crate::index::DocAddress;
use crate::runtime::Permit;
use crate::search::NeighborLimits;
use crate::text::Tokens;

/// The documents of an index that meet a traced query.
pub struct IndexArchive<'a> {
    search: &'a Search<'a>,
    evidence: Evidence<'a>,
    /// The tokens of signatures, if the evidence does not have them.
    tokens: Option<Tokens>,
    /// The permit for the tokens.
    _room: Option<Permit>,
}

impl<'a> IndexArchive<'a> {
    /// Prepares the query, whose text is `text`.
    ///
    /// # Errors
    /// When memory is lacking, or verification is requested without texts.
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after the query is stopped.
    pub fn new(search: &'a Search<'a>, text: &str) -> Result<IndexArchive<'a>> {
        let Search { searcher, query, subject, .. } = search;
        let evidence = Evidence::of(searcher, subject, query)?;
        let evidence = evidence.ok_or_else(|| Error::argument("goal", "a trace has passages"))?;
        let (mut own, mut room) = (None, None);
        if evidence.signed().is_none() {
            let bytes = memory::of_tokens(subject.tokens);
            room = memory::reserve(query.memory.as_ref(), 0, bytes, subject.tokens)?;
            let mut tokens = Tokens::with_room(subject.tokens, text);
            searcher.snapshot().config().analyzer.analyze(text, &mut tokens, query.stop())?;
            own = Some(tokens);
        }
        Ok(IndexArchive { search, evidence, tokens: own, _room: room })
    }
}

impl<'a> TraceArchive for IndexArchive<'a> {
    type Document = HitDetails;
    type Counts = CoverCounts<'a>;

    fn documents(&self) -> u64 {
        self.search.searcher.snapshot().documents()
    }

    fn words(&self) -> &Tokens {
        self.evidence.words().unwrap_or_else(|| self.signed())
    }

    fn signed(&self) -> &Tokens {
        let known = self.evidence.signed().or(self.tokens.as_ref());
        known.expect("the tokens were found when the trace began")
    }

    fn in_order_of_texts(&self, hits: Vec<Scored>) -> Result<Vec<Scored>> {
        let snapshot = self.search.searcher.snapshot();
        let mut order: Vec<(Digest, String, Scored)> = Vec::with_capacity(hits.len());
        for hit in hits {
            let DocAddress { doc, .. } = hit.address;
            let digest = snapshot.segment(hit.address).signatures.digest(doc)?;
            order.push((digest, String::new(), hit));
        }
        order.sort_by_key(|(digest, ..)| *digest);
        // Ids are read only where digests do not decide.
        for copies in order.chunk_by_mut(|a, b| a.0 == b.0).filter(|copies| copies.len() > 1) {
            for (_, id, hit) in &mut *copies {
                *id = snapshot.id(hit.address)?;
            }
            copies.sort_by(|a, b| a.1.cmp(&b.1));
        }
        Ok(order.into_iter().map(|(.., hit)| hit).collect())
    }

    fn cover_counts(&self, hits: &[Scored]) -> Result<CoverCounts<'a>> {
        CoverCounts::of(self.search, hits)
    }

    fn compare(&mut self, mut scored: Scored) -> Result<Option<HitDetails>> {
        let (address, query) = (scored.address, self.search.query);
        let verified = self.evidence.verify(address)?;
        let is_alike = verified.as_ref().is_none_or(|found| verify::meets(found, query));
        let passages = match is_alike {
            true => self.evidence.passages(address)?.unwrap_or_else(Passages::none),
            false => Passages::none(),
        };
        if !passages.found.is_empty() {
            self.evidence.keep(&passages)?;
            scored.id = self.id(address)?;
            scored.similarity = self.evidence.similarity(address)?.or(scored.similarity);
        }
        scored.weighted = scored.weighted.filter(|_| query.shows_weights());
        Ok(Some(HitDetails::new(scored, None, verified, Some(passages))))
    }

    fn sharing(&self, fingerprints: &[u32]) -> Result<Vec<Candidate>> {
        let Search { searcher, query, subject, .. } = self.search;
        let keys: Vec<u64> = fingerprints.iter().map(|&at| subject.keys[at as usize]).collect();
        let max_df = query.options.max_df;
        let limits = NeighborLimits { overlap_min: 1, share_min: 0.0, max_df, except: None };
        Ok(searcher.sharing(&keys, None, limits, query.stop())?.documents)
    }

    fn id(&self, address: DocAddress) -> Result<String> {
        self.search.searcher.snapshot().id(address)
    }

    fn index(&self, address: DocAddress) -> Option<String> {
        self.search.searcher.snapshot().name_of(address).map(str::to_owned)
    }

    fn added(&self, address: DocAddress) -> Result<i64> {
        let snapshot = self.search.searcher.snapshot();
        snapshot.segment(address).added_micros(address.doc)
    }

    fn times(&self, addresses: &[DocAddress]) -> Result<Option<Vec<DocumentTime>>> {
        let snapshot = self.search.searcher.snapshot();
        let field = self.search.query.options.date.as_deref();
        let mut times = Vec::with_capacity(addresses.len());
        for &address in addresses {
            let (mut date, mut written) = (None, None);
            if let Some(field) = field {
                let meta = snapshot.meta(address)?;
                let value = field_of(&meta, field);
                written = value.and_then(read);
                date = value.filter(|_| written.is_some()).map(shown);
            }
            times.push(DocumentTime { date, written, added: self.added(address)? });
        }
        Ok(Some(times))
    }

    fn excerpts(
        &self,
        address: DocAddress,
        ranges: &[(u32, u32)],
    ) -> Result<Option<Vec<Option<String>>>> {
        let snapshot = self.search.searcher.snapshot();
        if !snapshot.config().store_text {
            return Ok(Some(vec![None; ranges.len()]));
        }
        let text = snapshot.text(address)?.unwrap_or_default();
        let excerpt = |&(start, end): &(u32, u32)| super::slice(&text, start, end);
        Ok(Some(ranges.iter().map(excerpt).collect()))
    }

    fn is_waiting(&self) -> bool {
        false
    }
}

impl TracedDocument for HitDetails {
    fn id(&self) -> &str {
        &self.scored.id
    }

    fn found(&self) -> &[Passage] {
        self.passages.as_ref().map_or(&[], |passages| &passages.found)
    }

    fn is_complete(&self) -> bool {
        self.passages.as_ref().is_none_or(|passages| passages.complete)
    }

    fn set_adds(&mut self, adds: u32) {
        self.adds = Some(adds);
    }
}
