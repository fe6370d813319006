//! The reuse in a document: shares, sources and places.

use std::cmp::Reverse;
use std::ops::Range;

use cento::text::cited::cited;
use cento::{CitedPart, Error, Origin, Passage, Result, Tokens, Unit};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::link::link;
use crate::omission::NotCompared;
use crate::parted_text::PartedText;
use crate::run::Run;
use cento::compare::shares::{CountedText, Ranges, Share};

/// A report of documents that were searched for.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ReuseReport {
    /// The origin of the numbers.
    pub run: Run,
    /// The documents, in the order of the searches.
    pub documents: Vec<DocumentReport>,
    /// The inputs that were not searched for, or only in part.
    pub not_compared: Vec<NotCompared>,
    /// Warnings about the documents, for the reader, for example about invisible characters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<NotCompared>,
}

/// What a report says of a document whose sources may be more than it shows.
pub(crate) const MORE_SOURCES: &str =
    "the list of sources was cut: a higher limit of the search may show more";

/// A document before its shares are computed.
#[derive(Debug, Clone)]
pub struct MeasuredDocument {
    /// The name for the reader.
    pub name: String,
    /// The text that the passages of the sources are ranges of.
    pub text: PartedText,
    /// The documents that share text with it, best first.
    pub sources: Vec<ReuseSource>,
    /// How the text is counted.
    pub counting: Counting,
    /// Whether the search dropped further documents.
    pub more: bool,
    /// Whether the search ran to its end.
    pub complete: bool,
}

/// The unit of counting, and the parts of a text that do not count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counting {
    /// The bytes of boilerplate, which do not count. The search knew the boilerplate and found no
    /// passage there.
    pub boilerplate: Vec<(u32, u32)>,
    /// The first byte of every token of a program, or `None` for prose. In programs tokens count
    /// instead of characters, because comments must not count, and a long string must count as much
    /// as a short string.
    pub tokens: Option<Vec<u32>>,
    /// The bytes of common spans of a trace, which are not reused.
    pub common: Vec<(u32, u32)>,
    /// The bytes that a trace counts as cited if sources have them, which are not reused either.
    pub cited: Vec<(u32, u32)>,
}

/// The unit of the numbers of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CountUnit {
    /// Letters and digits, or all characters but white space in a text without letters and digits.
    #[default]
    Characters,
    /// Tokens of a program.
    Tokens,
}

/// A document that shares text with the searched document.
#[derive(Debug, Clone)]
pub struct ReuseSource {
    /// The id in the index.
    pub id: String,
    /// The caller's data about the document.
    pub meta: Map<String, Value>,
    /// The text, if stored.
    pub text: Option<PartedText>,
    /// The passages in common.
    pub passages: Vec<Place>,
    /// Whether the passages are complete.
    pub complete: bool,
}

/// A common passage, in bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    /// The place in the document.
    pub document: (u32, u32),
    /// The place in the source, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<(u32, u32)>,
    /// The number of words of the document in the passage.
    pub tokens: u32,
    /// The number of these words that the source also has in the passage. Edited words do not
    /// count.
    pub matched: u32,
    /// The places of the matched words in the document, ascending and disjoint. Empty if all words
    /// match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matched_ranges: Vec<(u32, u32)>,
    /// The similarity of the two places, 0 to 1.
    pub similarity: f64,
    /// Whether letters were aligned instead of words. The whole passage then matches.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_letters: bool,
    /// The part of the document with the passage, if the document has parts. Pages and lines are
    /// counted in the part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The page of the document where the passage begins, from 1, if the document has pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The line of the document where the passage begins, from 1, if the document has lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The part of the source with the passage, if the source has parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_part: Option<String>,
    /// The page of the source where the passage begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_page: Option<u32>,
    /// The line of the source where the passage begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_line: Option<u32>,
    /// The place in the file that the document was extracted from, if known: in a web page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The place in the file that the source was extracted from, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_origin: Option<Origin>,
}

impl Place {
    /// Converts a passage of a search. `tokens` are the tokens that were signed: if an index stores
    /// no texts, passages are ranges of tokens.
    #[must_use]
    pub fn new(passage: &Passage, tokens: &Tokens) -> Place {
        let in_bytes;
        let (passage, source) = match passage.unit {
            Unit::Bytes => (passage, Some(passage.b)),
            Unit::Tokens => {
                in_bytes = cento::compare::in_bytes(passage.clone(), tokens, &Tokens::default());
                (&in_bytes, None)
            }
        };
        let Passage { a: document, tokens: count, matched, similarity, .. } = *passage;
        Place {
            document,
            source,
            tokens: count,
            matched,
            matched_ranges: passage.matched_ranges.clone(),
            similarity,
            by_letters: passage.by_letters,
            part: passage.a_part.clone(),
            page: passage.a_page,
            line: passage.a_line,
            source_part: passage.b_part.clone(),
            source_page: passage.b_page,
            source_line: passage.b_line,
            origin: passage.a_origin,
            source_origin: passage.b_origin,
        }
    }

    /// Converts a passage of bytes of a comparison or a pair. `a` is the document, `b` the source.
    #[must_use]
    pub fn of_pair(passage: Passage) -> Place {
        Place::new(&passage, &Tokens::default())
    }

    /// Returns the parts of the document that the source also has. These parts count as reused.
    #[must_use]
    pub fn matched_in_document(&self) -> &[(u32, u32)] {
        match self.matched_ranges.is_empty() || self.by_letters {
            true => std::slice::from_ref(&self.document),
            false => &self.matched_ranges,
        }
    }
}

/// How much of a document is reused.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DocumentReport {
    /// The name for the reader.
    pub name: String,
    /// The number of letters and digits, or tokens, that count, without excluded parts.
    pub size: u64,
    /// The unit of `size` and `excluded`: tokens of a program, otherwise characters.
    pub unit: CountUnit,
    /// The share that some source has, 0 to 1. Only matched words of passages count: edited words
    /// within a passage are not reused.
    pub reused: Share,
    /// The share in common spans, if the document was traced.
    pub common: Share,
    /// The share that sources have and that is in quotation marks or the bibliography, if the
    /// document was traced.
    pub cited: Share,
    /// The share that no source has: 1 less the other shares, or 0 if nothing in the document
    /// counts.
    pub originality: Share,
    /// The sources, the source of the largest share of the document first.
    pub sources: Vec<Source>,
    /// Hits of the search that are not sources, because none of their passages counts.
    pub without_passages: u64,
    /// The number of characters or tokens that do not count, by reason.
    pub excluded: ExcludedUnits,
    /// Whether the search dropped documents that may be sources, because of its limit, or because
    /// too many documents before had no passage.
    pub more: bool,
    /// Whether the search ran to its end. If not, sources may be missing.
    pub complete: bool,
    #[serde(skip)]
    pub(crate) text: PartedText,
    #[serde(skip)]
    pub(crate) stretches: Vec<SourceStretch>,
}

/// Letters and digits, or tokens, that do not count. Each is counted once, for the first reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ExcludedUnits {
    /// In boilerplate that the caller specified.
    pub boilerplate: u64,
    /// In quotations, if quotations are excluded.
    pub quotations: u64,
    /// In the bibliography, if the bibliography is excluded.
    pub bibliography: u64,
}

/// A source of a document.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Source {
    /// The place in the order of the shares, from 1.
    pub number: usize,
    /// The id in the index.
    pub id: String,
    /// The address, if the id is an address of http or https.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The caller's data about the source.
    pub meta: Map<String, Value>,
    /// The share of the document that this source adds to the sources before. The sum is `reused`.
    pub share_in_report: Share,
    /// The share of the document that this source has.
    pub share_in_text: Share,
    /// The passages in common, in the order of the document.
    pub passages: Vec<Place>,
    /// Whether the passages are complete.
    pub complete: bool,
    #[serde(skip)]
    pub(crate) text: Option<PartedText>,
    /// The places of the passages, in counted characters or tokens.
    #[serde(skip)]
    pub(crate) counted: Ranges,
}

/// A stretch of the text, within a part, that the same sources have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceStretch {
    pub range: Range<u32>,
    /// The sources, by their places, each with its first passage at the stretch.
    pub sources: Vec<(u32, u32)>,
    pub is_excluded: bool,
    /// Whether the reason for the exclusion is boilerplate.
    pub is_boilerplate: bool,
}

impl ReuseReport {
    /// Computes the report of documents that were searched for. The document with most
    /// reused text comes first.
    ///
    /// # Errors
    /// When a passage is not in the text of its document or source.
    pub fn new(
        run: Run,
        searched: Vec<MeasuredDocument>,
        without: &[CitedPart],
    ) -> Result<ReuseReport> {
        let report = |searched| DocumentReport::new(searched, without);
        let mut documents = searched.into_iter().map(report).collect::<Result<Vec<_>>>()?;
        documents.sort_by(|a, b| b.reused.ratio().total_cmp(&a.reused.ratio()));
        Ok(ReuseReport { run, documents, not_compared: Vec::new(), warnings: Vec::new() })
    }
}

impl DocumentReport {
    /// Returns the reused share and the original share of the headline, in thousandths. The
    /// original share is 1000 less the other shares as shown, so that the shown numbers add up.
    pub(crate) fn reused_and_original(&self) -> (u64, u64) {
        let shares = [self.reused, self.common, self.cited].map(Share::thousandths);
        let others = shares.iter().sum::<u64>().min(1000);
        (shares[0], if self.size == 0 { 0 } else { 1000 - others })
    }

    /// Computes the report of a document.
    ///
    /// # Errors
    /// When a passage is not in the text of its document or source.
    pub fn new(searched: MeasuredDocument, without: &[CitedPart]) -> Result<DocumentReport> {
        let MeasuredDocument { name, text, sources, counting, more, complete } = searched;
        for found in &sources {
            check(&name, &text, found)?;
        }
        let count = |excluded: &[Range<u32>]| match &counting.tokens {
            Some(starts) => CountedText::of_tokens(starts, excluded),
            None => CountedText::new(&text, excluded),
        };
        let boilerplate = ranges(&counting.boilerplate);
        let (excluded, cut, boilerplate) = exclude(&text, &count(&[]), &boilerplate, without);
        let counted = count(cut.as_slice());
        let common = ranges(&counting.common);
        let apart = common.with(&ranges(&counting.cited));
        let size_of = |bytes: &Ranges| -> u64 {
            let size = |range: &Range<u32>| counted.before(range.end) - counted.before(range.start);
            bytes.as_slice().iter().map(|range| u64::from(size(range))).sum()
        };
        let matched = sources.iter().flat_map(|source| &source.passages);
        let matched = matched.flat_map(Place::matched_in_document).copied().collect::<Vec<_>>();
        let matched = ranges(&matched);
        let [all, in_common, in_both] =
            [&matched, &matched.without(&common), &matched.without(&apart)].map(size_of);
        let (common_size, cited_size) = (all - in_common, in_common - in_both);
        let unit =
            if counting.tokens.is_some() { CountUnit::Tokens } else { CountUnit::Characters };
        let of = u64::from(counted.total());
        let found_count = sources.len();
        let (sources, ranges): (Vec<ReuseSource>, Vec<Ranges>) = sources
            .into_iter()
            .map(|found| with_counted(found, &counted, &apart))
            .filter(|(_, ranges)| !ranges.is_empty())
            .unzip();
        let without_passages = (found_count - sources.len()) as u64;
        let sources = largest_first(sources, ranges, of);
        let reused = sources.iter().map(|source| source.share_in_report.part).sum();
        let (cut, boilerplate) = (cut.with(&apart), boilerplate.with(&common));
        let stretches = stretches(&text, &sources, &cut, &boilerplate);
        Ok(DocumentReport {
            name,
            size: of,
            unit,
            reused: Share { part: reused, of },
            common: Share { part: common_size, of },
            cited: Share { part: cited_size, of },
            originality: Share { part: of - reused - common_size - cited_size, of },
            sources,
            without_passages,
            excluded,
            more,
            complete,
            text,
            stretches,
        })
    }
}

/// Puts the sources of a document, with their ranges, in the order of their shares. Among equal
/// sources the first in `sources` comes first.
fn largest_first(sources: Vec<ReuseSource>, ranges: Vec<Ranges>, of: u64) -> Vec<Source> {
    let mut sources: Vec<_> = sources.into_iter().zip(ranges).collect();
    sources.sort_by_key(|(_, counted)| Reverse(counted.len()));
    let mut covered = Ranges::default();
    let ordered = (1..).zip(sources).map(|(number, (found, counted))| {
        let adds = counted.len_without(&covered);
        if adds > 0 {
            covered = covered.with(&counted);
        }
        let share = |part: u32| Share { part: part.into(), of };
        Source {
            number,
            link: link(&found.id).map(str::to_owned),
            id: found.id,
            meta: found.meta,
            share_in_report: share(adds),
            share_in_text: share(counted.len()),
            passages: found.passages,
            complete: found.complete,
            text: found.text,
            counted,
        }
    });
    ordered.collect()
}

/// Checks that passages are in their texts, because passages may come from a service.
fn check(name: &str, text: &str, found: &ReuseSource) -> Result<()> {
    let is_in = |text: &str, (start, end): (u32, u32)| {
        start <= end && text.get(start as usize..end as usize).is_some()
    };
    for place in &found.passages {
        let in_source = || {
            let source = place.source.zip(found.text.as_deref());
            source.is_none_or(|(place, text)| is_in(text, place))
        };
        let are_in = place.matched_in_document().iter().all(|&range| is_in(text, range));
        if !is_in(text, place.document) || !are_in || !in_source() {
            let what = format!(
                "a passage in common with {:?} is not in the text; repeat the search, for the \
                 document may have been replaced meanwhile",
                found.id
            );
            return Err(Error::input(name, what));
        }
    }
    Ok(())
}

/// Finds the parts to ignore, and counts the ignored characters or tokens. Returns the counts, the
/// ignored parts, and the uncited boilerplate.
fn exclude(
    text: &str,
    all: &CountedText,
    boilerplate: &Ranges,
    without: &[CitedPart],
) -> (ExcludedUnits, Ranges, Ranges) {
    let of = |part| match without.contains(&part) {
        true => Ranges::new(cited(text, &[part])),
        false => Ranges::default(),
    };
    let mut cut = Ranges::default();
    // A search counts the cited parts as boilerplate, so cited parts come first.
    let parts = [of(CitedPart::Quotations), of(CitedPart::Bibliography), boilerplate.clone()];
    let parts = parts.map(|ranges| {
        let own = ranges.without(&cut);
        cut = cut.with(&own);
        own
    });
    let counted = |range: &Range<u32>| u64::from(all.before(range.end) - all.before(range.start));
    let [quotations, bibliography, of_boilerplate] =
        [0, 1, 2].map(|part| parts[part].as_slice().iter().map(counted).sum());
    let [.., boilerplate] = parts;
    (ExcludedUnits { boilerplate: of_boilerplate, quotations, bibliography }, cut, boilerplate)
}

fn ranges(pairs: &[(u32, u32)]) -> Ranges {
    Ranges::new(pairs.iter().map(|&(start, end)| start..end).collect())
}

/// Returns the passages that count, and their matched parts in counted characters, without the
/// parts `apart`.
fn with_counted(
    mut found: ReuseSource,
    counted: &CountedText,
    apart: &Ranges,
) -> (ReuseSource, Ranges) {
    let matched = |passage: &Place| -> Vec<Range<u32>> {
        let matched = ranges(passage.matched_in_document()).without(apart);
        let place = |range: &Range<u32>| counted.before(range.start)..counted.before(range.end);
        let ranges = matched.as_slice().iter().map(place);
        ranges.filter(|range| !range.is_empty()).collect()
    };
    found.passages.retain(|passage| !matched(passage).is_empty());
    found.passages.sort_by_key(|passage| (passage.document, passage.source));
    let ranges = Ranges::new(found.passages.iter().flat_map(matched).collect());
    (found, ranges)
}

/// Cuts the text where its sources change, and where a passage or a part begins.
fn stretches(
    text: &PartedText,
    sources: &[Source],
    cut: &Ranges,
    boilerplate: &Ranges,
) -> Vec<SourceStretch> {
    // For the beginning and the end of each passage: the place, whether it begins, the source, the
    // passage.
    let mut events: Vec<(u32, bool, u32, u32)> = Vec::new();
    for (source, of) in (0..).zip(sources) {
        for (passage, place) in (0..).zip(&of.passages) {
            events.push((place.document.0, true, source, passage));
            events.push((place.document.1, false, source, passage));
        }
    }
    events.sort_unstable();
    let mut borders: Vec<u32> = events.iter().map(|event| event.0).collect();
    let gray = cut.as_slice().iter().chain(boilerplate.as_slice());
    borders.extend(gray.flat_map(|range| [range.start, range.end]));
    borders.extend(text.parts.iter().map(|part| part.start));
    borders.extend([0, text.len() as u32]);
    borders.retain(|&border| border as usize <= text.len());
    borders.sort_unstable();
    borders.dedup();
    let mut events = events.into_iter().peekable();
    let mut open: Vec<(u32, u32)> = Vec::new();
    let mut stretches = Vec::with_capacity(borders.len());
    for border in borders.windows(2) {
        while let Some((_, begins, source, passage)) = events.next_if(|event| event.0 <= border[0])
        {
            match begins {
                true => open.push((source, passage)),
                false => open.retain(|&found| found != (source, passage)),
            }
        }
        let is_in = |ranges: &Ranges| {
            let at = ranges.as_slice().partition_point(|range| range.end <= border[0]);
            ranges.as_slice().get(at).is_some_and(|range| range.start <= border[0])
        };
        let (is_excluded, is_boilerplate) = (is_in(cut), is_in(boilerplate));
        let mut sources = if is_excluded { Vec::new() } else { open.clone() };
        sources.sort_unstable();
        sources.dedup_by_key(|found| found.0);
        let range = border[0]..border[1];
        stretches.push(SourceStretch { range, sources, is_excluded, is_boilerplate });
    }
    stretches
}

#[cfg(test)]
pub(crate) mod tests;
