//! The goal `trace`: finds where every part of the query comes from.
//!
//! Documents are compared in the order of a cover ([`cover`](super::cover)): always the document
//! with the most fingerprints, by weight, that no passage covers yet. If a text has a hundred
//! copies, only one copy is read for the common part. The passages of the compared documents make
//! the spans of the query ([`spans`]). Then the documents that share fingerprints with a span are
//! compared, largest overlap first, to count the carriers and to find the best and the first
//! carrier ([`carriers`]). The documents come from an index or from shards ([`archive`]).

mod archive;
mod carriers;
mod index_archive;
mod spans;
#[cfg(test)]
mod tests;
mod traced_text;

use std::collections::BTreeMap;
use std::ops::Range;

use cento_api::{CitedPart, Passage, TimeOrder, Trace, TracedSpan, Unit};

pub use self::archive::{DocumentTime, TraceArchive, TracedDocument};
use self::carriers::Carriers;
pub use self::index_archive::IndexArchive;
use self::spans::Spans;
pub use self::traced_text::TracedText;
use super::cover::greedily;
use super::extent::Extent;
use super::hit_details::List;
use super::outcome::GoalOutcome;
use super::query::Query;
use super::retrieve::Search;
use super::score::Scored;
use crate::compare::passages::in_bytes;
use crate::compare::shares::{Ranges, cover};
use crate::error::{Error, Result};
use crate::index::DocAddress;
use crate::text::Tokens;
use crate::text::cited::cited;

/// A document that was compared with the query.
pub struct Compared<D> {
    pub document: D,
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
pub struct Tracing<'a, A: TraceArchive> {
    pub query: &'a Query,
    pub text: &'a TracedText,
    pub archive: A,
    /// Documents that meet the query and have not been compared yet.
    pub open: BTreeMap<DocAddress, Scored>,
    compared: BTreeMap<DocAddress, Compared<A::Document>>,
    /// The number of documents that the archive has not compared yet.
    waiting: usize,
}

/// The trace of a query, with the documents to show.
pub struct TracedDocuments<D> {
    pub trace: Trace,
    /// The documents that together have everything any document has of the query, best first.
    pub shown: Vec<D>,
    pub extent: Extent,
}

impl Search<'_> {
    /// Returns the trace of the query, and the documents with passages.
    ///
    /// # Errors
    /// When the query has no text, or a document cannot be read.
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after the query is stopped.
    pub fn trace(&self, hits: Vec<Scored>) -> Result<GoalOutcome> {
        let (text, archive) = self.traced()?;
        let found = Tracing::new(self.query, &text, archive, hits).find()?;
        let incomplete = || Error::internal("a trace", "an index has no answer");
        let TracedDocuments { trace, shown, extent } = found.ok_or_else(incomplete)?;
        Ok(GoalOutcome { trace: Some(trace), ..GoalOutcome::new(self.hits_of(shown)?, extent) })
    }

    /// Reads the query, and prepares its comparison with documents.
    ///
    /// # Errors
    /// When the query has no text. [`Error::Cancelled`](crate::Error::Cancelled) soon after the
    /// query is stopped.
    pub fn traced(&self) -> Result<(TracedText, IndexArchive<'_>)> {
        let Search { searcher, query, subject, .. } = self;
        let snapshot = searcher.snapshot();
        let text = subject.text(snapshot, query)?.ok_or_else(without_text)?;
        let archive = IndexArchive::new(self, &text)?;
        let parts = subject.parts(snapshot, query)?;
        let left_out = subject.boilerplate(searcher, query)?;
        let is_program = snapshot.config().analyzer.is_of_programs();
        let signature = (self.traced_signature(), subject.keys.len());
        let text =
            TracedText::new((text, parts), archive.signed(), &left_out, is_program, signature);
        Ok((text, archive))
    }

    /// Returns the token of each fingerprint of the query, and its place among the distinct
    /// fingerprints.
    pub fn traced_signature(&self) -> impl Iterator<Item = (u32, u32)> {
        let subject = &self.subject;
        subject.signature.iter().filter_map(|found| {
            let at = subject.keys.binary_search(&found.key).ok()?;
            Some((found.position, at as u32))
        })
    }
}

/// Makes the error for a query without text.
pub fn without_text() -> Error {
    let what = "a trace shows the text of the query, and it has none: search for the text, or in \
                an index that stores texts";
    Error::argument("goal", what)
}

impl<'a, A: TraceArchive> Tracing<'a, A> {
    /// Begins the trace. `hits` are the documents that meet the query.
    pub fn new(
        query: &'a Query,
        text: &'a TracedText,
        archive: A,
        hits: Vec<Scored>,
    ) -> Tracing<'a, A> {
        let open = hits.into_iter().map(|scored| (scored.address, scored)).collect();
        Tracing { query, text, archive, open, compared: BTreeMap::new(), waiting: 0 }
    }

    /// Returns the trace, or `None` if the archive waits for answers.
    ///
    /// # Errors
    /// When a document cannot be read. [`Error::Cancelled`](crate::Error::Cancelled) soon after the
    /// query is stopped.
    pub fn find(&mut self) -> Result<Option<TracedDocuments<A::Document>>> {
        let is_cut = self.find_sources()?;
        if self.archive.is_waiting() {
            return Ok(None);
        }
        let spans = self.spans();
        let carriers = Carriers::find(self, &spans)?;
        if self.archive.is_waiting() {
            return Ok(None);
        }
        // The carriers compared meanwhile may have more of a span, and text next to it.
        let spans = self.spans();
        let (spans, order) = carriers.describe(self, &spans)?;
        if self.archive.is_waiting() {
            return Ok(None);
        }
        let trace = self.with_shares(spans, order);
        // If the search for passages in a text was cut short, passages may be missing.
        let is_incomplete = |found: &Compared<A::Document>| !found.document.is_complete();
        let is_cut = is_cut || self.compared.values().any(is_incomplete);
        let (shown, all) = self.in_cover_order()?;
        let extent = Extent::of_those_looked_at(shown.len(), all, is_cut);
        Ok(Some(TracedDocuments { trace, shown, extent }))
    }

    /// Compares documents in the order of a cover, until many in a row have no passage. Returns
    /// whether remaining documents may have a passage.
    fn find_sources(&mut self) -> Result<bool> {
        let TracedText { places, fingerprints, .. } = self.text;
        let (query, stop) = (self.query, self.query.stop());
        let most = query.options.candidates.unwrap_or(Query::CANDIDATES);
        // A number of candidates chosen by the caller is examined completely.
        let patience = query.options.candidates.map_or(Query::PATIENCE, |_| usize::MAX);
        // Sort by digest, so that storage makes no difference.
        let hits = self.archive.in_order_of_texts(self.open.values().cloned().collect())?;
        let all = hits.len();
        let mut left = vec![0u32; *fingerprints];
        places.iter().for_each(|&(_, fingerprint)| left[fingerprint as usize] += 1);
        let mut is_covered = vec![false; places.len()];
        let mut in_vain = 0;
        let mut counts = self.archive.cover_counts(&hits)?;
        greedily(hits, 1, &mut counts, stop, |scored| {
            if in_vain == patience || self.is_enough(most) {
                return Ok(None);
            }
            let found = self.compare(scored.address)?.unwrap_or_default();
            in_vain = if found.is_empty() { in_vain + 1 } else { 0 };
            let mut explained = Vec::new();
            for reuse in found {
                let first = places.partition_point(|place| place.0 < reuse.a.start);
                for (at, &(start, fingerprint)) in places.iter().enumerate().skip(first) {
                    if start >= reuse.a.end {
                        break;
                    }
                    if !std::mem::replace(&mut is_covered[at], true) {
                        left[fingerprint as usize] -= 1;
                        if left[fingerprint as usize] == 0 {
                            explained.push(fingerprint);
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
    /// does not meet the query, or misses the threshold of `verify`. `None` before the archive has
    /// compared the document.
    pub fn compare(&mut self, address: DocAddress) -> Result<Option<&[Reuse]>> {
        if let Some(scored) = self.open.remove(&address) {
            self.query.stop().check()?;
            let Some(document) = self.archive.compare(scored)? else {
                self.waiting += 1;
                return Ok(None);
            };
            let mut reuses = Vec::with_capacity(document.found().len());
            for passage in document.found() {
                reuses.push(self.reuse(passage));
            }
            // A passage of only punctuation counts for nothing.
            reuses.retain(|reuse| self.text.size_of(&reuse.matched) > 0);
            self.compared.insert(address, Compared { document, reuses });
        }
        Ok(Some(self.compared.get(&address).map_or(&[], |compared| &compared.reuses[..])))
    }

    /// Returns whether `most` documents were compared, with those that the archive is to compare,
    /// or whether the archive is to compare enough documents at once.
    fn is_enough(&self, most: usize) -> bool {
        let known = self.compared.len();
        known + self.waiting >= most || self.waiting >= known.max(Query::PATIENCE)
    }

    /// Returns the place of a passage in the query.
    fn reuse(&self, passage: &Passage) -> Reuse {
        let in_query = match passage.unit {
            Unit::Bytes => passage.clone(),
            Unit::Tokens => in_bytes(passage.clone(), self.archive.signed(), &Tokens::default()),
        };
        let matched = in_query.matched_in_a().iter().map(|&(start, end)| start..end);
        let matched = Ranges::new(matched.collect());
        let a = in_query.a.0..in_query.a.1;
        // Where words have wrong letters, the whole passage corresponds. Elsewhere a document has
        // nothing of the words before the first matched word and after the last.
        let ends = matched.as_slice().first().zip(matched.as_slice().last());
        let a = match (ends, passage.by_letters) {
            (Some((first, last)), false) => first.start..last.end,
            _ => a,
        };
        Reuse { a, matched, passage: passage.clone() }
    }

    /// Returns whether a document meets the query and either has passages or was not compared yet.
    pub fn may_carry(&self, address: DocAddress) -> bool {
        let has_passages = |compared: &Compared<A::Document>| !compared.reuses.is_empty();
        self.open.contains_key(&address) || self.compared.get(&address).is_some_and(has_passages)
    }

    /// Returns the documents with passages.
    pub fn with_passages(&self) -> impl Iterator<Item = (&DocAddress, &Compared<A::Document>)> {
        self.compared.iter().filter(|(_, compared)| !compared.reuses.is_empty())
    }

    /// Returns the spans of the passages found so far.
    fn spans(&self) -> Vec<Range<u32>> {
        let passages = self.with_passages().flat_map(|(_, compared)| &compared.reuses);
        let mut spans = Spans::new(|bytes: &Ranges| self.text.size_of(bytes));
        passages.for_each(|reuse| spans.add(reuse));
        spans.finish(&self.text.text)
    }

    /// Makes the trace of these spans, with the shares of the query.
    fn with_shares(&self, spans: Vec<TracedSpan>, order: TimeOrder) -> Trace {
        let matched = self.with_passages().flat_map(|(_, compared)| &compared.reuses);
        let matched = matched.flat_map(|reuse| reuse.matched.as_slice()).cloned();
        let matched = Ranges::new(matched.collect());
        let common = spans.iter().filter(|span| span.is_common);
        let common = Ranges::new(common.map(|span| span.a.0..span.a.1).collect());
        let parts = [CitedPart::Quotations, CitedPart::Bibliography];
        let marked = Ranges::new(cited(&self.text.text, &parts));
        let known = self.text.size_of(&matched);
        let rest = matched.without(&common);
        let reused = self.text.size_of(&rest.without(&marked));
        let cited = self.text.size_of(&rest) - reused;
        let share = |size: u32| match self.text.counted.total() {
            0 => 0.0,
            total => f64::from(size) / f64::from(total),
        };
        Trace {
            size: self.text.counted.total().into(),
            unit: self.text.unit(),
            reused: share(reused),
            common: share(known - self.text.size_of(&rest)),
            cited: share(cited),
            new: share(self.text.counted.total() - known),
            order,
            containing: None,
            spans,
        }
    }

    /// Returns the documents to show, and the number of documents in a cover of everything in the
    /// query that any document has. The next document in the cover is always the document that adds
    /// most.
    fn in_cover_order(&mut self) -> Result<(Vec<A::Document>, usize)> {
        let mut found = Vec::new();
        for (address, compared) in std::mem::take(&mut self.compared) {
            if !compared.reuses.is_empty() {
                found.push((self.archive.added(address)?, address, compared));
            }
        }
        // Ties go to the document that was added first.
        found.sort_by(|(added, address, one), (later, other_address, other)| {
            let by_id = || one.document.id().cmp(other.document.id());
            added.cmp(later).then_with(by_id).then_with(|| address.cmp(other_address))
        });
        let counted = |compared: &Compared<A::Document>| {
            let matched = compared.reuses.iter().flat_map(|reuse| reuse.matched.as_slice());
            let before = |at| self.text.counted.before(at);
            let ranges = matched.map(|range| before(range.start)..before(range.end));
            Ranges::new(ranges.collect())
        };
        let ranges: Vec<Ranges> = found.iter().map(|(.., compared)| counted(compared)).collect();
        let mut order = cover(&ranges);
        order.retain(|&(_, adds)| adds > 0);
        let all = order.len();
        let documents = found.into_iter().map(|(.., compared)| Some(compared.document));
        let mut documents: Vec<Option<A::Document>> = documents.collect();
        let mut list = List::of(self.query);
        for (at, adds) in order.into_iter().take(self.query.options.limit.unwrap_or(usize::MAX)) {
            if let Some(mut document) = documents[at].take() {
                document.set_adds(adds);
                list.push(document);
            }
        }
        Ok((list.finish(), all))
    }
}

/// Returns these bytes of a text.
fn slice(text: &str, start: u32, end: u32) -> Option<String> {
    text.get(start as usize..end as usize).map(str::to_owned)
}
