//! A report on families of passages.

use serde::Serialize;

use cento::{Error, Result};
use cento_collections::TimeOrder;
use cento_collections::families::{Carrier, DateRelation, Family};

use crate::rows::{Delimiter, Rows};
use crate::run::Run;

/// The families of a collection, or of a single document.
#[derive(Debug, Clone, Serialize)]
pub struct FamiliesReport {
    /// The origin of the numbers.
    pub run: Run,
    /// The number of families, including families that are not shown.
    pub total: u64,
    /// The number of pairs of documents whose passages were compared.
    pub pairs: u64,
    /// The number of these pairs whose search for passages was cut short.
    pub cut_pairs: u64,
    /// The number of documents without a date, if dates decide the order.
    pub undated: u64,
    /// What the limit of document frequency hides, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The sources of the document, if the report is about a single document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strip: Option<Strip>,
    /// The families, in descending order of documents.
    pub families: Vec<Family>,
}

impl FamiliesReport {
    /// Writes the carriers as rows of a table.
    ///
    /// # Errors
    /// When a number has no form in JSON.
    pub fn csv(&self) -> Result<String> {
        let mut out = Vec::new();
        let failed = |error| Error::io("write", "the report", error);
        let mut rows =
            Rows::new(&mut out, Delimiter::Comma, CarrierRow::COLUMNS).map_err(failed)?;
        for row in self.families.iter().flat_map(CarrierRow::of) {
            rows.write(&row).map_err(failed)?;
        }
        rows.finish().map_err(failed)?;
        Ok(String::from_utf8(out).expect("cells are UTF-8"))
    }
}

/// A carrier with its family, as a row of a table. Only the family's first row has the text.
#[derive(Debug, Clone, Serialize)]
pub struct CarrierRow<'a> {
    family: u64,
    documents: u64,
    tokens: u32,
    versions: u64,
    order: TimeOrder,
    first_is_certain: bool,
    complete: bool,
    #[serde(flatten)]
    carrier: &'a Carrier,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

impl<'a> CarrierRow<'a> {
    /// The columns of a table of carriers.
    pub const COLUMNS: &'static [&'static str] = &[
        "family",
        "documents",
        "tokens",
        "versions",
        "order",
        "first_is_certain",
        "complete",
        "id",
        "index",
        "date",
        "time",
        "start",
        "end",
        "part",
        "page",
        "line",
        "relation",
        "version",
        "nearest",
        "direction_by",
        "similarity",
        "changes",
        "text",
    ];

    /// Returns the rows of a family.
    pub fn of(family: &'a Family) -> impl Iterator<Item = CarrierRow<'a>> {
        family.carriers.iter().enumerate().map(|(at, carrier)| CarrierRow {
            family: family.family,
            documents: family.documents,
            tokens: family.tokens,
            versions: family.versions,
            order: family.order,
            first_is_certain: family.first_is_certain,
            complete: family.complete,
            carrier,
            text: (at == 0).then_some(&*family.text),
        })
    }
}

/// A document, cut into parts by their sources.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Strip {
    /// The id of the document.
    pub id: String,
    /// The size of the text in bytes.
    pub size: usize,
    /// The parts that other documents also carry, in the order of the text. Where passages overlap,
    /// the part belongs to the passage whose first carrier is the earliest, so parts do not
    /// overlap.
    pub parts: Vec<StripPart>,
}

/// A part of a document that other documents carry.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StripPart {
    /// The first byte of the part, in the text of the document.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// The number of the family.
    pub family: u64,
    /// The carrier that is the source: the first carrier that is known to be earlier, or else the
    /// first carrier without a decisive date. If every carrier is later, the first of these, and
    /// the part is the document's own.
    pub source: String,
    /// The date of the source, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// How the date of the source relates to the date of the document.
    pub relation: DateRelation,
}

/// A document that carries parts of an earlier document: id, date, the relation of the two dates,
/// and the bytes of the parts.
pub type StripSource<'a> = (&'a str, Option<&'a str>, DateRelation, u64);

impl Strip {
    /// Finds the sources of the parts of a document of `size` bytes, given the families that were
    /// requested for the document. A carrier without `relation` is a place of the document itself.
    #[must_use]
    pub fn new(id: &str, size: usize, families: &[Family]) -> Strip {
        // The earliest source decides, then the longer passage.
        let mut found: Vec<(f64, u32, StripPart)> = Vec::new();
        for family in families {
            let others = family.carriers.iter();
            let others = others.filter_map(|carrier| Some((carrier.relation?, carrier)));
            // The first of the carriers with the same relation to the document.
            let Some((relation, from)) = others.min_by_key(|&(relation, _)| relation) else {
                continue;
            };
            let own = family.carriers.iter().filter(|carrier| carrier.relation.is_none());
            for carrier in own {
                let part = StripPart {
                    start: carrier.start,
                    end: carrier.end,
                    family: family.family,
                    source: from.id.clone(),
                    date: from.date.clone(),
                    relation,
                };
                let (time, length) = (from.time.unwrap_or(f64::INFINITY), part.end - part.start);
                found.push((time, u32::MAX - length, part));
            }
        }
        found.sort_by(|a, b| {
            let by_time = a.2.relation.cmp(&b.2.relation).then(a.0.total_cmp(&b.0));
            by_time.then_with(|| (a.1, a.2.start, a.2.family).cmp(&(b.1, b.2.start, b.2.family)))
        });
        let mut parts: Vec<StripPart> = Vec::new();
        for (.., part) in found {
            let mut free = vec![(part.start, part.end)];
            for taken in &parts {
                free = free
                    .into_iter()
                    .flat_map(|(start, end)| {
                        [(start, end.min(taken.start)), (start.max(taken.end), end)]
                    })
                    .filter(|(start, end)| start < end)
                    .collect();
            }
            parts.extend(free.into_iter().map(|(start, end)| StripPart {
                start,
                end,
                ..part.clone()
            }));
        }
        parts.sort_by_key(|part| part.start);
        Strip { id: id.to_owned(), size, parts }
    }

    /// Returns the sources, each with its bytes in the document, in descending order of bytes.
    #[must_use]
    pub fn sources(&self) -> Vec<StripSource<'_>> {
        let mut sources: Vec<StripSource<'_>> = Vec::new();
        for part in &self.parts {
            let bytes = u64::from(part.end - part.start);
            let known = sources
                .iter_mut()
                .find(|(id, _, relation, _)| (*id, *relation) == (&*part.source, part.relation));
            match known {
                Some(source) => source.3 += bytes,
                None => {
                    sources.push((&part.source, part.date.as_deref(), part.relation, bytes));
                }
            }
        }
        sources.sort_by(|a, b| b.3.cmp(&a.3).then(a.0.cmp(b.0)));
        sources
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(number: u64, carriers: &[(&str, f64, u32, u32)]) -> Family {
        let carriers: Vec<_> = carriers
            .iter()
            .map(|&(id, time, start, end)| {
                // The families were requested for the document of time 5.
                let relation = match id {
                    "own" => None,
                    _ if time < 5.0 => Some("earlier"),
                    _ if time == 5.0 => Some("same_date"),
                    _ => Some("later"),
                };
                serde_json::json!({
                    "id": id, "time": time, "date": time.to_string(), "start": start, "end": end,
                    "version": 1, "relation": relation,
                })
            })
            .collect();
        serde_json::from_value(serde_json::json!({
            "family": number, "documents": carriers.len(), "tokens": 20, "order": "date",
            "first_is_certain": true, "versions": 1, "complete": true, "text": "=text",
            "carriers": carriers,
        }))
        .unwrap()
    }

    #[test]
    fn a_part_comes_from_the_earliest_source_and_parts_do_not_overlap() {
        let families = [
            family(1, &[("b", 2.0, 0, 100), ("own", 5.0, 0, 100)]),
            family(2, &[("a", 1.0, 0, 40), ("own", 5.0, 30, 70)]),
            family(3, &[("own", 5.0, 150, 200), ("late", 6.0, 0, 50)]),
            family(4, &[("x", 0.0, 0, 9), ("y", 1.0, 0, 9)]),
        ];
        let strip = Strip::new("own", 200, &families);
        let parts: Vec<_> = strip
            .parts
            .iter()
            .map(|part| (part.start, part.end, &*part.source, part.relation))
            .collect();
        assert_eq!(
            parts,
            [
                (0, 30, "b", DateRelation::Earlier),
                (30, 70, "a", DateRelation::Earlier),
                (70, 100, "b", DateRelation::Earlier),
                (150, 200, "late", DateRelation::Later)
            ]
        );
        let sources: Vec<_> = strip.sources().iter().map(|source| (source.0, source.3)).collect();
        assert_eq!(sources, [("b", 60), ("late", 50), ("a", 40)]);
    }

    #[test]
    fn a_source_of_the_same_date_is_no_earlier_one_and_what_only_later_ones_have_is_own() {
        let families = [
            family(1, &[("twin", 5.0, 0, 50), ("own", 5.0, 0, 50), ("late", 6.0, 0, 50)]),
            family(2, &[("own", 5.0, 100, 150), ("late", 6.0, 50, 100)]),
            family(3, &[("old", 1.0, 0, 50), ("twin", 5.0, 50, 99), ("own", 5.0, 150, 200)]),
        ];
        let mut report = FamiliesReport {
            run: Run::new("families"),
            total: 3,
            pairs: 3,
            cut_pairs: 0,
            undated: 0,
            stopped: None,
            strip: Some(Strip::new("own", 200, &families)),
            families: families.to_vec(),
        };
        let relations = |report: &FamiliesReport| -> Vec<DateRelation> {
            let parts = &report.strip.as_ref().unwrap().parts;
            parts.iter().map(|part| part.relation).collect()
        };
        let expected = [DateRelation::SameDate, DateRelation::Later, DateRelation::Earlier];
        assert_eq!(relations(&report), expected);
        let page = report.html();
        for expected in ["25.0\u{a0}% of its text is in earlier documents", "<td>same date</td>"] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
        assert_eq!(page.matches("<rect class=\"own\"").count(), 1, "{page}");
        // The order of the carriers is no evidence where their dates are not.
        report.families[0].carriers.swap(0, 1);
        report.strip = Some(Strip::new("own", 200, &report.families));
        assert_eq!(relations(&report), expected);
    }

    #[test]
    fn the_table_has_a_row_for_each_carrier_and_the_text_once() {
        let report = FamiliesReport {
            run: Run::new("families"),
            total: 1,
            pairs: 1,
            cut_pairs: 0,
            undated: 0,
            stopped: None,
            strip: None,
            families: vec![family(1, &[("b", 2.0, 0, 100), ("own", 5.0, 0, 100)])],
        };
        let csv = report.csv().unwrap();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines.len(), 3, "{csv}");
        assert!(lines[1].ends_with("'=text") && lines[2].ends_with(','), "{csv}");
        assert!(report.html().contains("Family 1"));
    }
}
