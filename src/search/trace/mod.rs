//! The goal `trace`: finds where every part of the query comes from.
//!
//! Documents are compared in the order of a cover ([`cover`](super::cover)): always the document
//! with the most fingerprints, by weight, that no passage covers yet. If a text has a hundred
//! copies, only one copy is read for its part. The passages of these documents make the spans of
//! the query ([`spans`]). Then the documents that share fingerprints with each span are compared,
//! largest overlap first, to count its carriers and to find the best and the first carrier
//! ([`carriers`]).

mod carriers;
mod spans;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use cento_api::{CitedPart, CountUnit, Passage, TimeOrder, Trace, TracedSpan, Unit, Verified};

use self::carriers::Carriers;
use self::spans::Spans;
use super::evidence::Evidence;
use super::extent::Extent;
use super::hit_details::{HitDetails, List};
use super::memory;
use super::outcome::GoalOutcome;
use super::query::Query;
use super::retrieve::Search;
use super::score::Scored;
use super::verify;
use crate::compare::Passages;
use crate::compare::passages::in_bytes;
use crate::compare::shares::{CountedText, Ranges, cover};
use crate::error::{Error, Result};
use crate::index::DocAddress;
use crate::runtime::Permit;
use crate::scheme::Fingerprint;
use crate::text::Tokens;
use crate::text::cited::cited;

/// A document that was compared with the query.
pub struct Compared {
    pub scored: Scored,
    verified: Option<Verified>,
    passages: Passages,
    /// The time of addition in microseconds, if the document has passages.
    added: i64,
    /// The passages in the order of the query.
    pub reuses: Vec<Reuse>,
}

/// A passage, with its bytes in the query.
pub struct Reuse {
    pub a: Range<u32>,
    /// The matched parts in the query.
    pub matched: Ranges,
    /// The passage as found.
    pub passage: Passage,
}

/// The query, and the documents compared with it so far.
pub struct Tracing<'a> {
    pub search: &'a Search<'a>,
    evidence: Evidence<'a>,
    pub text: String,
    /// The tokens of signatures, if the evidence does not have them.
    tokens: Option<Tokens>,
    /// The first byte of each fingerprint, and the place of its key, ordered by byte.
    places: Vec<(u32, usize)>,
    /// The characters or tokens that count.
    counted: CountedText,
    /// Documents that meet the query and have not been compared yet.
    pub open: BTreeMap<DocAddress, Scored>,
    compared: BTreeMap<DocAddress, Compared>,
    /// The permit for the tokens.
    _room: Option<Permit>,
}

impl Search<'_> {
    /// Returns the trace of the query, and the documents with passages.
    ///
    /// # Errors
    /// When the query has no text, or a document cannot be read.
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after the query is stopped.
    pub fn trace(&self, hits: Vec<Scored>) -> Result<GoalOutcome> {
        let mut tracing = Tracing::new(self, hits)?;
        let is_cut = tracing.find_sources()?;
        let spans = tracing.spans();
        let carriers = Carriers::find(&mut tracing, &spans)?;
        // The carriers compared meanwhile may have more of a span, and text next to it.
        let spans = tracing.spans();
        let (spans, order) = carriers.describe(&tracing, &spans)?;
        let trace = tracing.with_shares(spans, order);
        // If the search for passages in a text was cut short, passages may be missing.
        let is_cut = is_cut || tracing.compared.values().any(|found| !found.passages.complete);
        let (shown, all) = tracing.in_cover_order();
        let extent = Extent::of_those_looked_at(shown.len(), all, is_cut);
        Ok(GoalOutcome { trace: Some(trace), ..GoalOutcome::new(self.hits_of(shown)?, extent) })
    }
}

impl<'a> Tracing<'a> {
    /// Reads the query. `hits` are the documents that meet it.
    fn new(search: &'a Search<'a>, hits: Vec<Scored>) -> Result<Tracing<'a>> {
        let Search { searcher, query, subject, .. } = search;
        let snapshot = searcher.snapshot();
        let Some(text) = subject.text(snapshot, query)? else {
            let what = "a trace shows the text of the query, and it has none: search for the text, \
                        or in an index that stores texts";
            return Err(Error::argument("goal", what));
        };
        let evidence = Evidence::of(searcher, subject, query)?;
        let evidence = evidence.ok_or_else(|| Error::argument("goal", "a trace has passages"))?;
        let analyzer = &snapshot.config().analyzer;
        let (mut own, mut room) = (None, None);
        let signed = match evidence.signed() {
            Some(signed) => signed,
            None => {
                let bytes = memory::of_tokens(subject.tokens);
                room = memory::reserve(query.memory.as_ref(), 0, bytes, subject.tokens)?;
                let mut tokens = Tokens::with_room(subject.tokens, &text);
                analyzer.analyze(&text, &mut tokens, query.stop())?;
                own.insert(tokens)
            }
        };
        let left_out = subject.boilerplate(searcher, query)?;
        let left_out: Vec<Range<u32>> = left_out.into_iter().map(|(a, b)| a..b).collect();
        let counted = match analyzer.is_of_programs() {
            true => CountedText::of_tokens(&signed.places(), &left_out),
            false => CountedText::new(&text, &left_out),
        };
        let place = |found: &Fingerprint| {
            let begins = signed.spans.get(found.position as usize)?.start;
            Some((begins, subject.keys.binary_search(&found.key).ok()?))
        };
        let mut places: Vec<(u32, usize)> = subject.signature.iter().filter_map(place).collect();
        places.sort_unstable();
        let open = hits.into_iter().map(|scored| (scored.address, scored)).collect();
        let compared = BTreeMap::new();
        Ok(Tracing {
            search,
            evidence,
            text,
            tokens: own,
            places,
            counted,
            open,
            compared,
            _room: room,
        })
    }

    /// Compares documents in the order of a cover, until many in a row have no passage. Returns
    /// whether remaining documents may have a passage.
    fn find_sources(&mut self) -> Result<bool> {
        let Search { subject, query, .. } = self.search;
        let most = query.options.candidates.unwrap_or(Query::CANDIDATES);
        // A number of candidates chosen by the caller is examined completely.
        let patience = query.options.candidates.map_or(Query::PATIENCE, |_| usize::MAX);
        // Sort by digest, so that storage makes no difference.
        let snapshot = self.search.searcher.snapshot();
        let mut hits = Vec::with_capacity(self.open.len());
        for (&address, hit) in &self.open {
            hits.push((snapshot.segment(address).signatures.digest(address.doc)?, hit.clone()));
        }
        hits.sort_by_key(|hit| hit.0);
        let hits: Vec<Scored> = hits.into_iter().map(|hit| hit.1).collect();
        let all = hits.len();
        let places = self.places.clone();
        let mut left = vec![0u32; subject.keys.len()];
        places.iter().for_each(|&(_, key)| left[key] += 1);
        let mut is_covered = vec![false; places.len()];
        let mut in_vain = 0;
        self.search.greedily(hits, 1, |scored, _| {
            if in_vain == patience || self.compared.len() == most {
                return Ok(None);
            }
            let found = self.compare(scored.address)?;
            in_vain = if found.is_empty() { in_vain + 1 } else { 0 };
            let mut explained = Vec::new();
            for reuse in found {
                let first = places.partition_point(|place| place.0 < reuse.a.start);
                for (at, &(start, key)) in places.iter().enumerate().skip(first) {
                    if start >= reuse.a.end {
                        break;
                    }
                    if !std::mem::replace(&mut is_covered[at], true) {
                        left[key] -= 1;
                        if left[key] == 0 {
                            explained.push(key as u32);
                        }
                    }
                }
            }
            Ok(Some(explained))
        })?;
        let is_cut = self.compared.len() == most || in_vain == patience;
        Ok(is_cut && self.compared.len() < all)
    }

    /// Compares a document that meets the query, and returns its passages. Empty if the document
    /// does not meet the query, or misses the threshold of `verify`.
    pub fn compare(&mut self, address: DocAddress) -> Result<&[Reuse]> {
        if let Some(mut scored) = self.open.remove(&address) {
            let query = self.search.query;
            query.stop().check()?;
            let verified = self.evidence.verify(address)?;
            let is_alike = verified.as_ref().is_none_or(|found| verify::meets(found, query));
            let passages = match is_alike {
                true => self.evidence.passages(address)?.unwrap_or_else(Passages::none),
                false => Passages::none(),
            };
            let mut added = 0;
            if !passages.found.is_empty() {
                let snapshot = self.search.searcher.snapshot();
                self.evidence.keep(&passages)?;
                added = snapshot.segment(address).added_micros(address.doc)?;
                scored.id = snapshot.id(address)?;
                scored.similarity = self.evidence.similarity(address)?.or(scored.similarity);
            }
            let mut reuses: Vec<Reuse> =
                passages.found.iter().map(|passage| self.reuse(passage)).collect();
            // A passage of only punctuation counts for nothing.
            reuses.retain(|reuse| self.size_of(&reuse.matched) > 0);
            let compared = Compared { scored, verified, passages, added, reuses };
            self.compared.insert(address, compared);
        }
        Ok(self.compared.get(&address).map_or(&[], |compared| &compared.reuses[..]))
    }

    /// Returns the place of a passage in the query.
    fn reuse(&self, passage: &Passage) -> Reuse {
        let in_query = match passage.unit {
            Unit::Bytes => passage.clone(),
            Unit::Tokens => in_bytes(passage.clone(), self.signed(), &Tokens::default()),
        };
        let matched = in_query.matched_in_a().iter().map(|&(start, end)| start..end);
        let matched = Ranges::new(matched.collect());
        Reuse { a: in_query.a.0..in_query.a.1, matched, passage: passage.clone() }
    }

    /// Returns the number of counted characters or tokens in these bytes.
    pub fn size_of(&self, bytes: &Ranges) -> u32 {
        bytes.as_slice().iter().map(|range| self.size_in(range)).sum()
    }

    fn size_in(&self, bytes: &Range<u32>) -> u32 {
        self.counted.before(bytes.end) - self.counted.before(bytes.start)
    }

    /// Returns whether a document meets the query and either has passages or was not compared yet.
    pub fn may_carry(&self, address: DocAddress) -> bool {
        let has_passages = |compared: &Compared| !compared.reuses.is_empty();
        self.open.contains_key(&address) || self.compared.get(&address).is_some_and(has_passages)
    }

    /// Returns the keys of the fingerprints that begin in a span, ascending.
    pub fn keys_in(&self, span: &Range<u32>) -> Vec<u64> {
        let first = self.places.partition_point(|place| place.0 < span.start);
        let within = self.places[first..].iter().take_while(|place| place.0 < span.end);
        let mut keys: Vec<u64> = within.map(|&(_, key)| self.search.subject.keys[key]).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Returns the words of the query, as passages count them.
    pub fn words(&self) -> &Tokens {
        self.evidence.words().unwrap_or_else(|| self.signed())
    }

    /// Returns the tokens of the query that signatures use.
    fn signed(&self) -> &Tokens {
        let known = self.evidence.signed().or(self.tokens.as_ref());
        known.expect("the tokens were found when the trace began")
    }

    /// Returns the documents with passages.
    pub fn with_passages(&self) -> impl Iterator<Item = (&DocAddress, &Compared)> {
        self.compared.iter().filter(|(_, compared)| !compared.reuses.is_empty())
    }

    /// Returns the spans of the passages found so far.
    fn spans(&self) -> Vec<Range<u32>> {
        let passages = self.with_passages().flat_map(|(_, compared)| &compared.reuses);
        let mut spans = Spans::new(|bytes: &Ranges| self.size_of(bytes));
        passages.for_each(|reuse| spans.add(reuse));
        spans.finish(&self.text)
    }

    /// Makes the trace of these spans, with the shares of the query.
    fn with_shares(&self, spans: Vec<TracedSpan>, order: TimeOrder) -> Trace {
        let matched = self.with_passages().flat_map(|(_, compared)| &compared.reuses);
        let matched = matched.flat_map(|reuse| reuse.matched.as_slice()).cloned();
        let matched = Ranges::new(matched.collect());
        let common = spans.iter().filter(|span| span.is_common);
        let common = Ranges::new(common.map(|span| span.a.0..span.a.1).collect());
        let parts = [CitedPart::Quotations, CitedPart::Bibliography];
        let marked = Ranges::new(cited(&self.text, &parts));
        let known = self.size_of(&matched);
        let rest = matched.without(&common);
        let reused = self.size_of(&rest.without(&marked));
        let cited = self.size_of(&rest) - reused;
        let share = |size: u32| match self.counted.total() {
            0 => 0.0,
            total => f64::from(size) / f64::from(total),
        };
        let is_program = self.search.searcher.snapshot().config().analyzer.is_of_programs();
        Trace {
            size: self.counted.total().into(),
            unit: if is_program { CountUnit::Tokens } else { CountUnit::Characters },
            reused: share(reused),
            common: share(known - self.size_of(&rest)),
            cited: share(cited),
            new: share(self.counted.total() - known),
            order,
            containing: None,
            spans,
        }
    }

    /// Returns the documents to show and the number of documents that together have everything any
    /// document has of the query. The next document is always the one that adds most.
    fn in_cover_order(mut self) -> (Vec<HitDetails>, usize) {
        let query = self.search.query;
        let mut found: Vec<Compared> = std::mem::take(&mut self.compared).into_values().collect();
        found.retain(|compared| !compared.reuses.is_empty());
        // Ties go to the document that was added first.
        let time = |found: &Compared| (found.added, found.scored.id.clone(), found.scored.address);
        found.sort_by_cached_key(time);
        let counted = |compared: &Compared| {
            let matched = compared.reuses.iter().flat_map(|reuse| reuse.matched.as_slice());
            let before = |at| self.counted.before(at);
            let ranges = matched.map(|range| before(range.start)..before(range.end));
            Ranges::new(ranges.collect())
        };
        let mut order = cover(&found.iter().map(counted).collect::<Vec<_>>());
        order.retain(|&(_, adds)| adds > 0);
        let all = order.len();
        let mut found: Vec<Option<Compared>> = found.into_iter().map(Some).collect();
        let mut list = List::of(query);
        for (at, adds) in order.into_iter().take(query.options.limit.unwrap_or(usize::MAX)) {
            let Some(Compared { mut scored, verified, passages, .. }) = found[at].take() else {
                continue;
            };
            // Weights decided only the order of reading, so they are not shown.
            scored.weighted = scored.weighted.filter(|_| query.thresholds.is_weighed());
            list.push(HitDetails::new(scored, Some(adds), verified, Some(passages)));
        }
        (list.finish(), all)
    }
}
