//! How much of each document is reused, from which sources, and where?

use std::ops::Range;

use cento::{Error, Origin, Passage, Result, Tokens, Unit};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::excluded::{self, Exclusions};
use crate::link::link;
use crate::run::Run;
use crate::shares::{Counted, Ranges, Share, cover};

/// A report of documents that were searched for.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ReuseReport {
    /// How it was made.
    pub run: Run,
    /// The documents, in the order in which they were searched for.
    pub documents: Vec<DocumentReport>,
}

/// What is known of a document before its shares are computed.
#[derive(Debug, Clone)]
pub struct Searched {
    /// What the reader knows it by.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The documents that it shares text with, best first.
    pub sources: Vec<Found>,
    /// Whether further documents share text with it, and the search left them out because of its limit.
    pub more: bool,
    /// Whether the search went to its end.
    pub complete: bool,
}

/// A document that shares text with the one that was searched for.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its id.
    pub id: String,
    /// What the caller knows of it.
    pub meta: Map<String, Value>,
    /// Its text, if it is stored.
    pub text: Option<String>,
    /// The passages in common.
    pub passages: Vec<Place>,
    /// Whether these are all.
    pub complete: bool,
}

/// A passage in common, in bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    /// Where it stands in the document.
    pub document: (u32, u32),
    /// Where it stands in the source, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<(u32, u32)>,
    /// Words of the document in it.
    pub tokens: u32,
    /// How alike both places are, 0 to 1.
    pub similarity: f64,
    /// The page of the document on which it begins, counted from 1, if the document has pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The line of the document on which it begins, counted from 1, if the document has lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The page of the source on which it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_page: Option<u32>,
    /// The line of the source on which it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_line: Option<u32>,
    /// Where it stands in the file that the document was extracted from, if that is known: in a web page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Where it stands in the file that the source was extracted from, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_origin: Option<Origin>,
}

impl Place {
    /// Takes a passage of a search over. `tokens` are those of the document as it was signed: where an
    /// index keeps no texts, passages are ranges of these.
    #[must_use]
    pub fn new(passage: &Passage, tokens: &Tokens) -> Place {
        let Passage { tokens: count, similarity, query_page, query_line, .. } = *passage;
        let (document, source) = match passage.unit {
            Unit::Bytes => (passage.query, Some(passage.hit)),
            Unit::Tokens => (passage.clone().in_bytes(tokens, &Tokens::default()).query, None),
        };
        Place {
            document,
            source,
            tokens: count,
            similarity,
            page: query_page,
            line: query_line,
            source_page: passage.page,
            source_line: passage.line,
            origin: passage.query_origin,
            source_origin: passage.origin,
        }
    }
}

/// How much of a document is reused.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DocumentReport {
    /// What the reader knows it by.
    pub name: String,
    /// Bytes that count: neither white space nor excluded.
    pub bytes: u64,
    /// The share that some source has, 0 to 1.
    pub reused: Share,
    /// The share that no source has: 1 less `reused`, or 0 of a document of which nothing counts.
    pub originality: Share,
    /// The sources in cover order: always the one that has most of what no source before it has.
    pub sources: Vec<Source>,
    /// Hits of the search that are no sources, because no passage of theirs counts.
    pub without_passages: u64,
    /// Bytes of quotations and of the bibliography, if they were excluded.
    pub excluded: Excluded,
    /// Whether further documents share text with it, and the search left them out because of its limit:
    /// they may be sources.
    pub more: bool,
    /// Whether the search went to its end; if not, sources may be missing.
    pub complete: bool,
    #[serde(skip)]
    pub(crate) text: String,
    #[serde(skip)]
    pub(crate) parts: Vec<Part>,
}

/// What was left out on request, in bytes without white space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Excluded {
    /// In quotations.
    pub quotations: u64,
    /// In the bibliography, outside of quotations.
    pub bibliography: u64,
}

/// A source of a document.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Source {
    /// Its place in cover order, from 1.
    pub number: usize,
    /// Its id.
    pub id: String,
    /// Its address, if the id is one of http or https.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// What the caller knows of it.
    pub meta: Map<String, Value>,
    /// The share of the document that this source has and none before it. These add up to `reused`.
    pub share_in_report: Share,
    /// The share of the document that this source has.
    pub share_in_text: Share,
    /// The passages in common, in the order of the document.
    pub passages: Vec<Place>,
    /// Whether these are all.
    pub complete: bool,
    #[serde(skip)]
    pub(crate) text: Option<String>,
    /// Where its passages are, in bytes that count.
    #[serde(skip)]
    pub(crate) counted: Ranges,
}

/// A part of the text that the same sources have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub range: Range<u32>,
    /// The sources by their places in cover order, and of each its first passage that has the part.
    pub sources: Vec<(u32, u32)>,
    pub is_excluded: bool,
}

impl ReuseReport {
    /// Computes the report of documents that were searched for.
    ///
    /// # Errors
    /// When a passage is not in the text of its document or source.
    pub fn new(run: Run, searched: Vec<Searched>, exclusions: Exclusions) -> Result<ReuseReport> {
        let report = |searched| DocumentReport::new(searched, exclusions);
        let documents = searched.into_iter().map(report).collect::<Result<_>>()?;
        Ok(ReuseReport { run, documents })
    }
}

impl DocumentReport {
    /// Computes the report of one document.
    ///
    /// # Errors
    /// When a passage is not in the text of its document or source.
    pub fn new(searched: Searched, exclusions: Exclusions) -> Result<DocumentReport> {
        let Searched { name, text, sources, more, complete } = searched;
        for found in &sources {
            check(&name, &text, found)?;
        }
        let all = Counted::new(&text, &[]);
        let (excluded, cut) = exclude(&text, &all, exclusions);
        let counted = Counted::new(&text, cut.as_slice());
        let of = u64::from(counted.total());
        let found_count = sources.len();
        let (sources, ranges): (Vec<Found>, Vec<Ranges>) = sources
            .into_iter()
            .map(|found| with_counted(found, &counted))
            .filter(|(_, ranges)| !ranges.is_empty())
            .unzip();
        let without_passages = (found_count - sources.len()) as u64;
        let mut sources: Vec<_> =
            sources.into_iter().zip(ranges.iter().cloned()).map(Some).collect();
        let ordered = (1..).zip(cover(&ranges)).filter_map(|(number, (at, adds))| {
            let (found, counted) = sources[at].take()?;
            let share = |bytes: u32| Share { bytes: bytes.into(), of };
            Some(Source {
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
            })
        });
        let sources: Vec<Source> = ordered.collect();
        let reused = sources.iter().map(|source| source.share_in_report.bytes).sum();
        let parts = parts(&text, &sources, &cut);
        Ok(DocumentReport {
            name,
            bytes: of,
            reused: Share { bytes: reused, of },
            originality: Share { bytes: of - reused, of },
            sources,
            without_passages,
            excluded,
            more,
            complete,
            text,
            parts,
        })
    }
}

/// Checks that passages are in their texts: they may come from a service.
fn check(name: &str, text: &str, found: &Found) -> Result<()> {
    let is_in = |text: &str, (start, end): (u32, u32)| {
        start <= end && text.get(start as usize..end as usize).is_some()
    };
    for Place { document, source, .. } in &found.passages {
        let in_source = || {
            source.is_none_or(|place| found.text.as_deref().is_none_or(|text| is_in(text, place)))
        };
        if !is_in(text, *document) || !in_source() {
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

/// What does not count.
fn exclude(text: &str, all: &Counted, exclusions: Exclusions) -> (Excluded, Ranges) {
    let quotations = match exclusions.quotations {
        true => Ranges::new(excluded::quotations(text)),
        false => Ranges::default(),
    };
    let bibliography = exclusions.bibliography.then(|| excluded::bibliography(text)).flatten();
    let bibliography = Ranges::new(bibliography.into_iter().collect()).without(&quotations);
    let bytes = |ranges: &Ranges| {
        let counted =
            |range: &Range<u32>| u64::from(all.before(range.end) - all.before(range.start));
        ranges.as_slice().iter().map(counted).sum()
    };
    let excluded = Excluded { quotations: bytes(&quotations), bibliography: bytes(&bibliography) };
    (excluded, quotations.with(&bibliography))
}

/// The passages that count, and where they are in the bytes that count.
fn with_counted(mut found: Found, counted: &Counted) -> (Found, Ranges) {
    let place =
        |passage: &Place| counted.before(passage.document.0)..counted.before(passage.document.1);
    found.passages.retain(|passage| !place(passage).is_empty());
    found.passages.sort_by_key(|passage| (passage.document, passage.source));
    let ranges = Ranges::new(found.passages.iter().map(place).collect());
    (found, ranges)
}

/// Cuts the text where the sources that have it change, and where a passage begins.
fn parts(text: &str, sources: &[Source], cut: &Ranges) -> Vec<Part> {
    // Of each passage its begin and its end: the place, whether it begins, the source, the passage.
    let mut events: Vec<(u32, bool, u32, u32)> = Vec::new();
    for (source, of) in (0..).zip(sources) {
        for (passage, place) in (0..).zip(&of.passages) {
            events.push((place.document.0, true, source, passage));
            events.push((place.document.1, false, source, passage));
        }
    }
    events.sort_unstable();
    let mut borders: Vec<u32> = events.iter().map(|event| event.0).collect();
    borders.extend(cut.as_slice().iter().flat_map(|range| [range.start, range.end]));
    borders.extend([0, text.len() as u32]);
    borders.sort_unstable();
    borders.dedup();
    let mut events = events.into_iter().peekable();
    let mut open: Vec<(u32, u32)> = Vec::new();
    let mut parts = Vec::with_capacity(borders.len());
    for border in borders.windows(2) {
        while let Some((_, begins, source, passage)) = events.next_if(|event| event.0 <= border[0])
        {
            match begins {
                true => open.push((source, passage)),
                false => open.retain(|&found| found != (source, passage)),
            }
        }
        let at = cut.as_slice().partition_point(|range| range.end <= border[0]);
        let is_excluded = cut.as_slice().get(at).is_some_and(|range| range.start <= border[0]);
        let mut sources = if is_excluded { Vec::new() } else { open.clone() };
        sources.sort_unstable();
        sources.dedup_by_key(|found| found.0);
        parts.push(Part { range: border[0]..border[1], sources, is_excluded });
    }
    parts
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn found(id: &str, places: &[(u32, u32)]) -> Found {
        let place = |&(start, end): &(u32, u32)| Place {
            document: (start, end),
            source: Some((0, end - start)),
            tokens: end - start,
            similarity: 1.0,
            page: Some(2),
            line: None,
            source_page: None,
            source_line: Some(12),
            origin: None,
            source_origin: None,
        };
        Found {
            id: id.into(),
            meta: Map::new(),
            text: Some("x".repeat(100)),
            passages: places.iter().map(place).collect(),
            complete: true,
        }
    }

    pub(crate) fn report(text: &str, sources: Vec<Found>, by: Exclusions) -> DocumentReport {
        let searched = Searched {
            name: "essay".into(),
            text: text.into(),
            sources,
            more: false,
            complete: true,
        };
        DocumentReport::new(searched, by).unwrap()
    }

    #[test]
    fn shares_in_report_add_up_and_shares_in_text_may_overlap() {
        let text = "aaaaaaaaaa bbbbbbbbbb";
        let sources = vec![found("one", &[(0, 8)]), found("two", &[(5, 21)]), found("none", &[])];
        let report = report(text, sources, Exclusions::default());
        let shown = |source: &Source| {
            let shares = [source.share_in_report, source.share_in_text];
            (source.number, source.id.clone(), shares.map(Share::thousandths))
        };
        assert_eq!(
            report.sources.iter().map(shown).collect::<Vec<_>>(),
            [(1, "two".into(), [750, 750]), (2, "one".into(), [250, 400]),]
        );
        assert_eq!((report.reused.thousandths(), report.originality.thousandths()), (1000, 0));
        assert_eq!((report.bytes, report.without_passages), (20, 1));
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["sources"][1]["share_in_text"], 0.4);
        assert_eq!(json.get("text"), None);
    }

    #[test]
    fn what_is_excluded_neither_counts_nor_is_reused() {
        let text = "aaaa \"bbbb\" cccc";
        let sources = || vec![found("quoted", &[(6, 10)]), found("both", &[(0, 11)])];
        let all = report(text, sources(), Exclusions::default());
        assert_eq!((all.bytes, all.reused.bytes, all.sources.len()), (14, 10, 2));
        let by = Exclusions { quotations: true, bibliography: false };
        let less = report(text, sources(), by);
        assert_eq!((less.bytes, less.reused.bytes, less.excluded.quotations), (8, 4, 6));
        assert_eq!((less.sources.len(), less.without_passages), (1, 1));
    }

    #[test]
    fn a_passage_beyond_its_text_is_an_error() {
        let searched = |text: &str, place| Searched {
            name: "essay".into(),
            text: text.into(),
            sources: vec![found("source", &[place])],
            more: false,
            complete: true,
        };
        for (text, place) in [("short", (0, 6)), ("\u{e9}", (1, 2))] {
            assert!(DocumentReport::new(searched(text, place), Exclusions::default()).is_err());
        }
    }

    proptest! {
        #[test]
        fn shares_are_those_of_painted_bytes(
            text in "[a \"\n\u{e9}]{1,60}",
            places in prop::collection::vec((0..5usize, 0..60usize, 0..30usize), 0..12),
            quotations in any::<bool>(),
        ) {
            let starts: Vec<usize> = text.char_indices().map(|c| c.0).chain([text.len()]).collect();
            let at = |n: usize| starts[n.min(starts.len() - 1)] as u32;
            let mut passages: Vec<Vec<(u32, u32)>> = vec![Vec::new(); 5];
            for (source, start, len) in places {
                passages[source].push((at(start), at(start + len)));
            }
            let sources = (0..5).map(|n| found(&n.to_string(), &passages[n])).collect();
            let by = Exclusions { quotations, bibliography: false };
            let report = report(&text, sources, by);
            let cut = if quotations { excluded::quotations(&text) } else { Vec::new() };
            let counts: Vec<bool> = text
                .char_indices()
                .flat_map(|(at, c)| {
                    let is_cut = cut.iter().any(|range| range.contains(&(at as u32)));
                    std::iter::repeat_n(!is_cut && !c.is_whitespace(), c.len_utf8())
                })
                .collect();
            let has = |source: &Source, byte: usize| {
                let places = &passages[source.id.parse::<usize>().unwrap()];
                counts[byte] && places.iter().any(|p| (p.0 as usize..p.1 as usize).contains(&byte))
            };
            let mut owned = vec![false; text.len()];
            for source in &report.sources {
                let mine = (0..text.len()).filter(|&byte| has(source, byte));
                prop_assert_eq!(source.share_in_text.bytes, mine.clone().count() as u64);
                let first = mine.filter(|&byte| !owned[byte]).collect::<Vec<_>>();
                prop_assert_eq!(source.share_in_report.bytes, first.len() as u64);
                first.into_iter().for_each(|byte| owned[byte] = true);
            }
            let total = counts.iter().filter(|&&counts| counts).count() as u64;
            let reused = owned.iter().filter(|&&owned| owned).count() as u64;
            prop_assert_eq!((report.reused.bytes, report.reused.of), (reused, total));
            // The parts are the text, and each names the sources that have it.
            let mut end = 0;
            for part in &report.parts {
                prop_assert_eq!(part.range.start, end);
                end = part.range.end;
                let bytes = part.range.start as usize..end as usize;
                for byte in bytes.filter(|&byte| counts[byte]) {
                    let having: Vec<u32> = (0..report.sources.len())
                        .filter(|&n| has(&report.sources[n], byte))
                        .map(|n| n as u32)
                        .collect();
                    let named: Vec<u32> = part.sources.iter().map(|found| found.0).collect();
                    prop_assert_eq!(having, named);
                }
            }
            prop_assert_eq!(end as usize, text.len());
        }
    }
}
