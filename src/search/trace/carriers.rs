//! The documents that have a span: how many, which has most of it, and which came first.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, UNIX_EPOCH};

use cento_api::part::part_at;
use cento_api::{SpanCarrier, TimeOrder, TracedSpan, Unit};

use super::super::candidate::Candidate;
use super::super::query::Query;
use super::{Compared, Reuse, Tracing};
use crate::compare::passages::tokens_in;
use crate::compare::place::places_in_parts;
use crate::compare::shares::Ranges;
use crate::error::Result;
use crate::field_date::{FieldDate, compare, field_of, read, shown, times};
use crate::index::{DocAddress, date_of, is_common};
use crate::search::NeighborLimits;

/// If many documents share fingerprints with a span, a document is compared only if it shares at
/// least a quarter of the maximum. It carries the span if it has half of the words of the span, and
/// an edited word destroys several fingerprints.
const SHARED_MIN: u32 = 4;

/// With many such documents, the comparison ends after this many in a row without any of the span,
/// because later documents share even fewer of its fingerprints.
const PATIENCE: usize = 10;

/// The most documents that are examined after the comparison, earliest first, until a document
/// carries the span.
const EARLIEST_MAX: usize = 10;

/// Which carriers of the spans were compared.
pub struct Carriers {
    asked: Vec<AskedSpan>,
}

/// A span whose carriers were looked for.
struct AskedSpan {
    span: Range<u32>,
    /// Whether every document that may carry the span was compared.
    is_exact: bool,
    /// Documents with half of its fingerprints that were not compared.
    left_out: Vec<DocAddress>,
}

/// A document with part of a span.
struct SpanHolder<'a> {
    address: DocAddress,
    compared: &'a Compared,
    /// How much of the span the document has.
    size: u32,
    /// The passage with the most of the span.
    reuse: &'a Reuse,
}

/// A span, and the documents whose texts are shown.
struct DescribedSpan {
    span: TracedSpan,
    best: DocAddress,
    first: DocAddress,
}

/// The times of a document, for ordering.
struct DocumentTime {
    date: Option<String>,
    written: Option<FieldDate>,
    added: i64,
}

impl Carriers {
    /// Compares the documents that share fingerprints with each span, largest overlap first.
    ///
    /// # Errors
    /// When a document cannot be read.
    pub fn find(tracing: &mut Tracing<'_>, spans: &[Range<u32>]) -> Result<Carriers> {
        let asked = spans.iter().map(|span| look_for(tracing, span)).collect::<Result<_>>()?;
        Ok(Carriers { asked })
    }

    /// Describes spans by the compared documents. Also returns which time orders the carriers.
    ///
    /// # Errors
    /// When a document cannot be read.
    pub fn describe(
        &self,
        tracing: &Tracing<'_>,
        spans: &[Range<u32>],
    ) -> Result<(Vec<TracedSpan>, TimeOrder)> {
        let query = tracing.search.query;
        let snapshot = tracing.search.searcher.snapshot();
        let parts = tracing.search.subject.parts(snapshot, query)?;
        let starts: Vec<u32> = spans.iter().map(|span| span.start).collect();
        let places = places_in_parts((&tracing.text, &parts), &starts);
        let mut described = Vec::with_capacity(spans.len());
        for (span, (page, line)) in spans.iter().zip(places) {
            query.stop().check()?;
            if let Some(mut found) = self.describe_one(tracing, span)? {
                (found.span.a_page, found.span.a_line) = (page, line);
                found.span.a_part = part_at(&parts, span.start).map(|part| part.name.clone());
                described.push(found);
            }
        }
        read_texts(tracing, &mut described)?;
        // A carrier with a date comes before carriers without one.
        let is_dated = described.iter().any(|found| found.span.first.date.is_some());
        let order = if is_dated { TimeOrder::Date } else { TimeOrder::Added };
        Ok((described.into_iter().map(|found| found.span).collect(), order))
    }

    /// Describes a span, or returns `None` if no document has any of it.
    fn describe_one(
        &self,
        tracing: &Tracing<'_>,
        span: &Range<u32>,
    ) -> Result<Option<DescribedSpan>> {
        let mut carriers = carriers_of(tracing, span);
        let most = carriers.iter().map(|carrier| carrier.size).max().unwrap_or(0);
        carriers.retain(|carrier| 2 * carrier.size >= most);
        let addresses: Vec<DocAddress> = carriers.iter().map(|carrier| carrier.address).collect();
        let dated = dated(tracing, &addresses)?;
        let mut order: Vec<usize> = in_order_of_time(&dated, |at| &carriers[at].compared.scored.id);
        let Some(&first) = order.first() else { return Ok(None) };
        // A stable sort: ties go to the earliest.
        order.sort_by(|&a, &b| {
            let (a, b) = (&carriers[a], &carriers[b]);
            let by_similarity = b.reuse.passage.similarity.total_cmp(&a.reuse.passage.similarity);
            b.size.cmp(&a.size).then(by_similarity)
        });
        let best = order[0];
        let (left_out, carriers_exact) = self.left_out(tracing, span);
        let count = carriers.len() as u64 + left_out;
        let documents = tracing.search.searcher.snapshot().documents();
        let shown = tracing.search.query.options.carriers.unwrap_or(0);
        let others = order.iter().filter(|&&at| at != best && at != first).take(shown);
        let of = |at: usize| carrier(tracing, &carriers[at], &dated[at]);
        let passage = &carriers[best].reuse.passage;
        let words = tracing.words();
        let matched = within(&carriers[best].compared.reuses, span);
        let matched = matched.as_slice().iter().map(|range| (range.start, range.end));
        let traced = TracedSpan {
            a: (span.start, span.end),
            a_part: None,
            a_page: None,
            a_line: None,
            text: slice(&tracing.text, span.start, span.end).unwrap_or_default(),
            words: tokens_in(words, (span.start, span.end)).len() as u32,
            matched: matched.map(|range| tokens_in(words, range).len() as u32).sum(),
            evidence: passage.evidence,
            expected: passage.expected,
            is_common: is_common(count, documents),
            carriers: count,
            carriers_exact,
            best: of(best)?,
            first: of(first)?,
            others: others.map(|&at| of(at)).collect::<Result<_>>()?,
        };
        let (best, first) = (carriers[best].address, carriers[first].address);
        Ok(Some(DescribedSpan { span: traced, best, first }))
    }

    /// Returns the number of carriers of a span that were not compared, and whether every document
    /// that may carry it was compared.
    fn left_out(&self, tracing: &Tracing<'_>, span: &Range<u32>) -> (u64, bool) {
        let overlaps =
            |asked: &&AskedSpan| asked.span.start < span.end && span.start < asked.span.end;
        let overlapping = self.asked.iter().filter(overlaps);
        overlapping.fold((0, true), |(left_out, is_exact), asked| {
            // Some have been compared meanwhile, with another span or because they may be the
            // first.
            let open = asked.left_out.iter().filter(|address| tracing.open.contains_key(address));
            (left_out.max(open.count() as u64), is_exact && asked.is_exact)
        })
    }
}

/// Compares the documents that may carry a span.
fn look_for(tracing: &mut Tracing<'_>, span: &Range<u32>) -> Result<AskedSpan> {
    let query = tracing.search.query;
    let most = query.options.candidates.unwrap_or(Query::CARRIERS);
    let Sharing { candidates, are_all } = sharing(tracing, span)?;
    let patience = if candidates.len() > Query::PATIENCE { PATIENCE } else { usize::MAX };
    let shared_max = candidates.first().map_or(0, |candidate| candidate.overlap);
    let (mut compared, mut in_vain) = (0, 0);
    let mut is_exact = are_all;
    let mut left_out: Vec<DocAddress> = Vec::new();
    for candidate in candidates {
        if compared == most || in_vain == patience {
            is_exact = false;
            if 2 * candidate.overlap >= shared_max {
                left_out.push(candidate.address);
            }
            continue;
        }
        let has_some = !within(tracing.compare(candidate.address)?, span).is_empty();
        compared += 1;
        in_vain = if has_some { 0 } else { in_vain + 1 };
    }
    if in_vain == patience {
        left_out.clear();
    }
    let dated = dated(tracing, &left_out)?;
    // Ties go to the document with the most fingerprints, independent of storage.
    for at in in_order_of_time(&dated, |at| at).into_iter().take(EARLIEST_MAX) {
        if !within(tracing.compare(left_out[at])?, span).is_empty() {
            break;
        }
    }
    Ok(AskedSpan { span: span.clone(), is_exact, left_out })
}

/// The documents that share enough fingerprints with a span.
struct Sharing {
    /// The documents, largest overlap first.
    candidates: Vec<Candidate>,
    /// Whether no further uncompared document may have a part of the span.
    are_all: bool,
}

/// Returns the documents that share fingerprints with a span.
fn sharing(tracing: &Tracing<'_>, span: &Range<u32>) -> Result<Sharing> {
    let (searcher, query) = (tracing.search.searcher, tracing.search.query);
    let (keys, max_df) = (tracing.keys_in(span), query.options.max_df);
    let limits = NeighborLimits { overlap_min: 1, share_min: 0.0, max_df, except: None };
    let mut found = searcher.sharing(&keys, None, limits, query.stop())?.documents;
    found.retain(|Candidate { address, .. }| tracing.may_carry(*address));
    let shared_max = found.iter().map(|candidate| candidate.overlap).max().unwrap_or(0);
    let all = found.len();
    if all > Query::PATIENCE {
        found.retain(|candidate| SHARED_MIN * candidate.overlap >= shared_max);
    }
    // A span without a fingerprint, as in a sketch, says nothing about documents not compared.
    let are_all = if keys.is_empty() { tracing.open.is_empty() } else { found.len() == all };
    let mut named = Vec::with_capacity(found.len());
    for candidate in found {
        named.push((
            Reverse(candidate.overlap),
            searcher.snapshot().id(candidate.address)?,
            candidate,
        ));
    }
    named.sort_by(|a, b| (a.0, &a.1, a.2.address).cmp(&(b.0, &b.1, b.2.address)));
    let candidates = named.into_iter().map(|(.., candidate)| candidate).collect();
    Ok(Sharing { candidates, are_all })
}

/// Returns the compared documents that have some of a span.
fn carriers_of<'a>(tracing: &'a Tracing<'_>, span: &Range<u32>) -> Vec<SpanHolder<'a>> {
    let mut carriers = Vec::new();
    for (&address, compared) in tracing.with_passages() {
        let size = tracing.size_of(&within(&compared.reuses, span));
        let of_one = |reuse: &&Reuse| tracing.size_of(&within(std::slice::from_ref(*reuse), span));
        let reuse = compared.reuses.iter().rev().max_by_key(of_one);
        if let Some(reuse) = reuse.filter(|_| size > 0) {
            carriers.push(SpanHolder { address, compared, size, reuse });
        }
    }
    carriers
}

/// Returns the matched parts of passages within a span.
fn within(reuses: &[Reuse], span: &Range<u32>) -> Ranges {
    let overlapping =
        reuses.iter().filter(|reuse| reuse.a.start < span.end && span.start < reuse.a.end);
    let parts = overlapping.flat_map(|reuse| reuse.matched.as_slice());
    let parts = parts.map(|part| part.start.max(span.start)..part.end.min(span.end));
    Ranges::new(parts.collect())
}

/// Reads the times that decide which of these documents came first.
fn dated(tracing: &Tracing<'_>, addresses: &[DocAddress]) -> Result<Vec<DocumentTime>> {
    let snapshot = tracing.search.searcher.snapshot();
    let field = tracing.search.query.options.date.as_deref();
    let mut dated = Vec::with_capacity(addresses.len());
    for &address in addresses {
        let (mut date, mut written) = (None, None);
        if let Some(field) = field {
            let meta = snapshot.meta(address)?;
            let value = field_of(&meta, field);
            written = value.and_then(read);
            date = value.filter(|_| written.is_some()).map(shown);
        }
        let added = snapshot.segment(address).added_micros(address.doc)?;
        dated.push(DocumentTime { date, written, added });
    }
    Ok(dated)
}

/// Returns the places of documents in order of date, then time of addition, then `tie`.
fn in_order_of_time<T: Ord>(dated: &[DocumentTime], tie: impl Fn(usize) -> T) -> Vec<usize> {
    let written: Vec<Option<FieldDate>> = dated.iter().map(|dated| dated.written).collect();
    let times = times(&written);
    let mut order: Vec<usize> = (0..dated.len()).collect();
    order.sort_by(|&a, &b| -> Ordering {
        let by_date = compare(times[a], times[b]).then(dated[a].added.cmp(&dated[b].added));
        by_date.then_with(|| tie(a).cmp(&tie(b)))
    });
    order
}

fn carrier(
    tracing: &Tracing<'_>,
    of: &SpanHolder<'_>,
    dated: &DocumentTime,
) -> Result<SpanCarrier> {
    let snapshot = tracing.search.searcher.snapshot();
    let passage = &of.reuse.passage;
    Ok(SpanCarrier {
        id: of.compared.scored.id.clone(),
        index: snapshot.name_of(of.address).map(str::to_owned),
        date: dated.date.clone(),
        added: date_of(UNIX_EPOCH + Duration::from_micros(dated.added.try_into().unwrap_or(0))),
        b: passage.b,
        unit: passage.unit,
        b_part: passage.b_part.clone(),
        b_page: passage.b_page,
        b_line: passage.b_line,
        text: None,
        similarity: passage.similarity,
    })
}

/// Reads the words of the best and the first carriers, reading each document once.
fn read_texts(tracing: &Tracing<'_>, described: &mut [DescribedSpan]) -> Result<()> {
    let snapshot = tracing.search.searcher.snapshot();
    let mut wanted: BTreeMap<DocAddress, Vec<&mut SpanCarrier>> = BTreeMap::new();
    for DescribedSpan { span, best, first } in described {
        wanted.entry(*best).or_default().push(&mut span.best);
        wanted.entry(*first).or_default().push(&mut span.first);
    }
    for (address, carriers) in wanted {
        tracing.search.query.stop().check()?;
        if !snapshot.config().store_text {
            break;
        }
        let text = snapshot.text(address)?.unwrap_or_default();
        for carrier in carriers {
            carrier.text =
                slice(&text, carrier.b.0, carrier.b.1).filter(|_| carrier.unit == Unit::Bytes);
        }
    }
    Ok(())
}

fn slice(text: &str, start: u32, end: u32) -> Option<String> {
    text.get(start as usize..end as usize).map(str::to_owned)
}
