//! The documents that have a span: how many, which has the most, and which came first.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, UNIX_EPOCH};

use cento_api::part::part_at;
use cento_api::{SpanCarrier, TimeOrder, TracedSpan, Unit};

use super::super::candidate::Candidate;
use super::super::query::Query;
use super::{Compared, DocumentTime, Reuse, TraceArchive, TracedDocument, Tracing, slice};
use crate::compare::passages::tokens_in;
use crate::compare::place::places_in_parts;
use crate::compare::shares::Ranges;
use crate::error::Result;
use crate::field_date::{FieldDate, compare, times};
use crate::index::{DocAddress, date_of, is_common};

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
struct SpanHolder<'a, D> {
    address: DocAddress,
    compared: &'a Compared<D>,
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

impl Carriers {
    /// Compares the documents that share fingerprints with each span, largest overlap first.
    ///
    /// # Errors
    /// When a document cannot be read.
    pub fn find<A: TraceArchive>(
        tracing: &mut Tracing<'_, A>,
        spans: &[Range<u32>],
    ) -> Result<Carriers> {
        let asked = spans.iter().map(|span| look_for(tracing, span)).collect::<Result<_>>()?;
        Ok(Carriers { asked })
    }

    /// Describes spans by the compared documents. Also returns which time orders the carriers.
    ///
    /// # Errors
    /// When a document cannot be read.
    pub fn describe<A: TraceArchive>(
        &self,
        tracing: &Tracing<'_, A>,
        spans: &[Range<u32>],
    ) -> Result<(Vec<TracedSpan>, TimeOrder)> {
        let (query, parts) = (tracing.query, &tracing.text.parts);
        let starts: Vec<u32> = spans.iter().map(|span| span.start).collect();
        let places = places_in_parts((&tracing.text.text, parts), &starts);
        let mut described = Vec::with_capacity(spans.len());
        for (span, (page, line)) in spans.iter().zip(places) {
            query.stop().check()?;
            if let Some(mut found) = self.describe_one(tracing, span)? {
                (found.span.a_page, found.span.a_line) = (page, line);
                found.span.a_part = part_at(parts, span.start).map(|part| part.name.clone());
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
    fn describe_one<A: TraceArchive>(
        &self,
        tracing: &Tracing<'_, A>,
        span: &Range<u32>,
    ) -> Result<Option<DescribedSpan>> {
        let carriers = carriers_of(tracing, span);
        let addresses: Vec<DocAddress> = carriers.iter().map(|carrier| carrier.address).collect();
        let Some(dated) = tracing.archive.times(&addresses)? else { return Ok(None) };
        let mut order: Vec<usize> =
            in_order_of_time(&dated, |at| carriers[at].compared.document.id());
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
        let shown = tracing.query.options.carriers.unwrap_or(0);
        let others = order.iter().filter(|&&at| at != best && at != first).take(shown);
        let of = |at: usize| carrier(tracing, &carriers[at], &dated[at]);
        let passage = &carriers[best].reuse.passage;
        let words = tracing.archive.words();
        let matched = within(&carriers[best].compared.reuses, span);
        let matched = matched.as_slice().iter().map(|range| (range.start, range.end));
        let traced = TracedSpan {
            a: (span.start, span.end),
            a_part: None,
            a_page: None,
            a_line: None,
            text: slice(&tracing.text.text, span.start, span.end).unwrap_or_default(),
            words: tokens_in(words, (span.start, span.end)).len() as u32,
            matched: matched.map(|range| tokens_in(words, range).len() as u32).sum(),
            evidence: passage.evidence,
            expected: passage.expected,
            is_common: is_common(count, tracing.archive.documents()),
            carriers: count,
            carriers_exact,
            best: of(best),
            first: of(first),
            others: others.map(|&at| of(at)).collect(),
        };
        let (best, first) = (carriers[best].address, carriers[first].address);
        Ok(Some(DescribedSpan { span: traced, best, first }))
    }

    /// Returns the number of uncompared carriers of a span, and whether every possible carrier was
    /// compared.
    fn left_out<A: TraceArchive>(
        &self,
        tracing: &Tracing<'_, A>,
        span: &Range<u32>,
    ) -> (u64, bool) {
        let overlaps =
            |asked: &&AskedSpan| asked.span.start < span.end && span.start < asked.span.end;
        let overlapping = self.asked.iter().filter(overlaps);
        overlapping.fold((0, true), |(left_out, is_exact), asked| {
            // Some documents have been compared meanwhile, for a different span or as a possible
            // first document.
            let open = asked.left_out.iter().filter(|address| tracing.open.contains_key(address));
            (left_out.max(open.count() as u64), is_exact && asked.is_exact)
        })
    }
}

/// Compares the documents that may carry a span.
fn look_for<A: TraceArchive>(tracing: &mut Tracing<'_, A>, span: &Range<u32>) -> Result<AskedSpan> {
    let query = tracing.query;
    let most = query.options.candidates.unwrap_or(Query::CARRIERS);
    let Sharing { candidates, are_all } = sharing(tracing, span)?;
    let patience = if candidates.len() > Query::PATIENCE { PATIENCE } else { usize::MAX };
    let shared_max = candidates.first().map_or(0, |candidate| candidate.overlap);
    let (mut compared, mut in_vain, mut waiting) = (0, 0, 0);
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
        match tracing.compare(candidate.address)? {
            // Most of the first documents carry the span, so many documents are requested at once.
            None => waiting += 1,
            Some(reuses) => {
                in_vain = if within(reuses, span).is_empty() { in_vain + 1 } else { 0 };
            }
        }
        compared += 1;
        if waiting > 0 && waiting >= (compared - waiting).max(Query::PATIENCE) {
            break;
        }
    }
    if in_vain == patience {
        left_out.clear();
    }
    let dated = if waiting == 0 { tracing.archive.times(&left_out)? } else { None };
    // Ties go to the document with the most fingerprints, independent of storage.
    let order = dated.map(|dated| in_order_of_time(&dated, |at| at)).unwrap_or_default();
    for at in order.into_iter().take(EARLIEST_MAX) {
        let reuses = tracing.compare(left_out[at])?.unwrap_or_default();
        if !within(reuses, span).is_empty() {
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
fn sharing<A: TraceArchive>(tracing: &Tracing<'_, A>, span: &Range<u32>) -> Result<Sharing> {
    let fingerprints = tracing.text.fingerprints_in(span);
    let mut found = tracing.archive.sharing(&fingerprints)?;
    found.retain(|Candidate { address, .. }| tracing.may_carry(*address));
    let shared_max = found.iter().map(|candidate| candidate.overlap).max().unwrap_or(0);
    let all = found.len();
    if all > Query::PATIENCE {
        found.retain(|candidate| SHARED_MIN * candidate.overlap >= shared_max);
    }
    // A span without a fingerprint, as in a sketch, says nothing about documents not compared.
    let are_all =
        if fingerprints.is_empty() { tracing.open.is_empty() } else { found.len() == all };
    let mut named = Vec::with_capacity(found.len());
    for candidate in found {
        let id = tracing.archive.id(candidate.address)?;
        named.push((Reverse(candidate.overlap), id, candidate));
    }
    named.sort_by(|a, b| (a.0, &a.1, a.2.address).cmp(&(b.0, &b.1, b.2.address)));
    let candidates = named.into_iter().map(|(.., candidate)| candidate).collect();
    Ok(Sharing { candidates, are_all })
}

/// Returns the compared documents that have a span, or at least half as much of it as the document
/// with the most.
fn carriers_of<'a, A: TraceArchive>(
    tracing: &'a Tracing<'_, A>,
    span: &Range<u32>,
) -> Vec<SpanHolder<'a, A::Document>> {
    let size_of = |bytes: &Ranges| tracing.text.size_of(bytes);
    let mut carriers = Vec::new();
    for (&address, compared) in tracing.with_passages() {
        let size = size_of(&within(&compared.reuses, span));
        let of_one = |reuse: &&Reuse| size_of(&within(std::slice::from_ref(*reuse), span));
        let reuse = compared.reuses.iter().rev().max_by_key(of_one);
        if let Some(reuse) = reuse.filter(|_| size > 0) {
            carriers.push(SpanHolder { address, compared, size, reuse });
        }
    }
    let most = carriers.iter().map(|carrier| carrier.size).max().unwrap_or(0);
    carriers.retain(|carrier| 2 * carrier.size >= most);
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

fn carrier<A: TraceArchive>(
    tracing: &Tracing<'_, A>,
    of: &SpanHolder<'_, A::Document>,
    dated: &DocumentTime,
) -> SpanCarrier {
    let passage = &of.reuse.passage;
    SpanCarrier {
        id: of.compared.document.id().to_owned(),
        index: tracing.archive.index(of.address),
        date: dated.date.clone(),
        added: date_of(UNIX_EPOCH + Duration::from_micros(dated.added.try_into().unwrap_or(0))),
        b: passage.b,
        unit: passage.unit,
        b_part: passage.b_part.clone(),
        b_page: passage.b_page,
        b_line: passage.b_line,
        text: None,
        similarity: passage.similarity,
    }
}

/// Reads the words of the best and the first carriers, reading each document once.
fn read_texts<A: TraceArchive>(
    tracing: &Tracing<'_, A>,
    described: &mut [DescribedSpan],
) -> Result<()> {
    let mut wanted: BTreeMap<DocAddress, Vec<&mut SpanCarrier>> = BTreeMap::new();
    for DescribedSpan { span, best, first } in described {
        wanted.entry(*best).or_default().push(&mut span.best);
        wanted.entry(*first).or_default().push(&mut span.first);
    }
    for (address, mut carriers) in wanted {
        tracing.query.stop().check()?;
        carriers.retain(|carrier| carrier.unit == Unit::Bytes);
        let ranges: Vec<(u32, u32)> = carriers.iter().map(|carrier| carrier.b).collect();
        let texts = match ranges.is_empty() {
            true => None,
            false => tracing.archive.excerpts(address, &ranges)?,
        };
        for (carrier, text) in carriers.into_iter().zip(texts.into_iter().flatten()) {
            carrier.text = text;
        }
    }
    Ok(())
}
