//! Families of passages as a page.

use maud::{Markup, html};

use super::names::ShortNames;
use super::text::{VisibleText, plain};
use super::timeline::{Point, timeline};
use super::{color, percent};
use crate::families::{FamiliesReport, Strip, StripSource};
use crate::number::{count, counted, rounded};
use cento::compare::shares::Share;
use cento_collections::TimeOrder;
use cento_collections::families::{Carrier, DateRelation, DirectionBy, Family};

/// The maximum length of a shown passage, in characters.
const TEXT_CHARACTERS: usize = 1500;

/// The maximum number of changes shown per carrier.
const CHANGES: usize = 12;

/// The maximum number of rows of a table of carriers.
const CARRIERS: usize = 100;

/// The maximum number of carriers in a drawing. With more carriers, points would overlap.
const POINTS: usize = 300;

pub fn body(report: &FamiliesReport) -> Markup {
    let ids = report.families.iter().flat_map(|family| &family.carriers);
    let names = ShortNames::new(ids.map(|carrier| carrier.id.as_str()));
    let shown = report.families.len() as u64;
    html! {
        p.note {
            @if report.total == 1 { "1 family of passages" } @else { (count(report.total)) " families of passages" }
            @if shown < report.total { "; the " (count(shown)) " with most documents are shown" }
            "; " (counted(report.pairs, "pair")) " of documents were compared. "
            @match report.families.first().map(|family| family.order) {
                Some(TimeOrder::Added) => { "Carriers are in the order of addition, which says nothing about who had a passage first." }
                _ => { "Carriers are in the order of their dates." }
            }
            " A broken line, and a question mark, is a direction that dates do not tell."
        }
        @if report.undated > 0 {
            p.warning { (counted(report.undated, "document")) " without a date: in last place, whenever written." }
        }
        @if report.cut_pairs > 0 {
            p.warning { "Of " (counted(report.cut_pairs, "pair")) " the search for passages was cut short: carriers may be missing." }
        }
        @if let Some(stopped) = &report.stopped { p.warning { (VisibleText(stopped)) "." } }
        @if let Some(strip) = &report.strip { (sources(strip, &names)) }
        @if report.strip.is_none() && report.families.len() > 1 { (overview(report, &names)) }
        @for family in &report.families { (card(family, &names)) }
    }
}

fn overview(report: &FamiliesReport, names: &ShortNames<'_>) -> Markup {
    html! {
        section {
            h2 { "Families" }
            table.list {
                thead { tr {
                    th.number scope="col" { "No." } th.number scope="col" { "Documents" }
                    th.number scope="col" { "Words" } th.number scope="col" { "Versions" }
                    th scope="col" { "First" } th scope="col" { "Date" } th scope="col" { "Passage" }
                } }
                tbody { @for family in &report.families {
                    @let first = &family.carriers[0];
                    tr {
                        td.number { a href={ "#family" (family.family) } { (family.family) } }
                        td.number { (count(family.documents)) }
                        td.number { (count(family.tokens.into())) }
                        td.number { (count(family.versions)) }
                        td { (names.show(&first.id, None)) @if !family.first_is_certain { " (uncertain)" } }
                        td { (VisibleText(first.date.as_deref().unwrap_or_default())) }
                        td { bdi { (VisibleText(&beginning(&family.text, 80))) } }
                    }
                } }
            }
        }
    }
}

/// Draws a document by the sources of its parts.
fn sources(strip: &Strip, names: &ShortNames<'_>) -> Markup {
    let sources = strip.sources();
    let color_of = |source: &str, relation: DateRelation| {
        let is_it = |found: &StripSource<'_>| (found.0, found.2) == (source, relation);
        source_color(sources.iter().position(is_it).map_or(0, |at| at + 1), relation)
    };
    let size = strip.size.max(1) as u64;
    let place = |byte: u32| u64::from(byte) * 1000 / size;
    let covered = |is_it: fn(DateRelation) -> bool| -> u64 {
        sources.iter().filter(|source| is_it(source.2)).map(|source| source.3).sum()
    };
    let share = |part: u64| Share { part, of: size }.thousandths();
    let earlier = covered(|relation| relation == DateRelation::Earlier);
    let untold =
        covered(|relation| matches!(relation, DateRelation::SameDate | DateRelation::Unknown));
    html! {
        section {
            h2 { "Where the parts of " bdi { (VisibleText(&strip.id)) } " come from" }
            p.note {
                (percent(share(earlier))) " of its text is in earlier documents"
                @if untold > 0 {
                    ", " (percent(share(untold)))
                    " in documents that dates do not tell to be earlier or later"
                }
                ". From left to right the strip is the text; a part has the color of the first document that carries "
                "it. What only later documents carry too is gray: it is its own."
            }
            svg.bar viewBox="0 0 1000 16" preserveAspectRatio="none" role="img" aria-label="Sources by place" {
                rect.rest x="0" y="0" width="1000" height="16" {}
                @for part in &strip.parts {
                    rect class=(color_of(&part.source, part.relation)) x=(place(part.start)) y="0" width=((place(part.end) - place(part.start)).max(1)) height="16" {
                        title { (plain(&part.source)) }
                    }
                }
            }
            table.list {
                thead { tr {
                    th.number scope="col" { "No." } th scope="col" { "Document" } th scope="col" { "Date" }
                    th scope="col" { "Relation" } th.number scope="col" { "Share" } th scope="col" { "Families" }
                } }
                tbody { @for (at, (id, date, relation, bytes)) in sources.iter().enumerate() { tr {
                    td.number { span class={ "badge " (source_color(at + 1, *relation)) } { (at + 1) } }
                    th scope="row" { (names.show(id, None)) }
                    td { (VisibleText(date.unwrap_or_default())) }
                    td { (relation_word(*relation)) }
                    td.number { (percent(share(*bytes))) }
                    td { @for family in families_of(strip, id, *relation) { a href={ "#family" (family) } { (family) } " " } }
                } } }
            }
        }
    }
}

/// Returns the class of a source by its number from 1. A part that appears only in later documents
/// has no source, because the text is the document's own.
fn source_color(number: usize, relation: DateRelation) -> String {
    match relation {
        DateRelation::Later => "own".to_owned(),
        _ => color(number),
    }
}

fn relation_word(relation: DateRelation) -> &'static str {
    match relation {
        DateRelation::Earlier => "earlier",
        DateRelation::SameDate => "same date",
        DateRelation::Unknown => "unknown",
        DateRelation::Later => "later",
    }
}

fn families_of(strip: &Strip, source: &str, relation: DateRelation) -> Vec<u64> {
    let own = strip.parts.iter().filter(|part| part.source == source && part.relation == relation);
    let mut families: Vec<u64> = own.map(|part| part.family).collect();
    families.sort_unstable();
    families.dedup();
    families
}

fn card(family: &Family, names: &ShortNames<'_>) -> Markup {
    let first = &family.carriers[0];
    html! {
        section.card id={ "family" (family.family) } {
            h3 {
                "Family " (family.family) ": " (counted(family.tokens.into(), "word")) " in "
                (counted(family.documents, "document")) ", " (counted(family.versions, "version"))
            }
            p.note {
                @if family.first_is_certain { "First in " } @else { "Shown first, but perhaps not the earliest: " }
                (names.show(&first.id, None))
                @if let Some(date) = &first.date { ", " (VisibleText(date)) }
                "."
                @if !family.complete { " The search for passages was cut short: carriers may be missing." }
            }
            div.excerpt { (VisibleText(&beginning(&family.text, TEXT_CHARACTERS))) }
            (timeline("The carriers by time, each version on a line of its own", &points(&family.carriers)))
            @if family.carriers.len() > POINTS {
                p.note { (count(POINTS as u64)) " of " (count(family.carriers.len() as u64)) " carriers are drawn, from the first to the last." }
            }
            div.wide tabindex="0" role="region" aria-label="Carriers" {
                table.list {
                    thead { tr {
                        th.number scope="col" { "No." } th scope="col" { "Date" } th scope="col" { "Document" }
                        th scope="col" { "Place" } th.number scope="col" { "Version" } th.number scope="col" { "Nearest" }
                        th.number scope="col" { "Alike" } th scope="col" { "Changes" }
                    } }
                    tbody { @for (at, carrier) in family.carriers.iter().take(CARRIERS).enumerate() { tr {
                        td.number { (at + 1) }
                        td { (VisibleText(carrier.date.as_deref().unwrap_or("\u{2013}"))) }
                        th scope="row" { (names.show(&carrier.id, None)) }
                        td { (where_it_is(carrier)) }
                        td.number { span class={ "badge " (color(carrier.version as usize)) } { (carrier.version) } }
                        td.number {
                            @if let Some(nearest) = carrier.nearest { (nearest) }
                            @if !is_certain(carrier) { "?" }
                        }
                        td.number { @if let Some(alike) = carrier.similarity { (percent(rounded(alike, 1000))) } }
                        td { (changes(carrier)) }
                    } } }
                }
            }
            @if family.carriers.len() > CARRIERS {
                p.note { (count((family.carriers.len() - CARRIERS) as u64)) " more carriers are not shown; --format json has all." }
            }
        }
    }
}

/// Tells whether the nearest carrier is known to be earlier, or is in the same document.
fn is_certain(carrier: &Carrier) -> bool {
    carrier.direction_by.is_none_or(|by| by == DirectionBy::Date)
}

fn where_it_is(carrier: &Carrier) -> Markup {
    html! {
        @if let Some(part) = &carrier.part { (VisibleText(part)) ", " }
        @match (carrier.page, carrier.line) {
            (Some(page), _) => { "page " (page) },
            (None, Some(line)) => { "line " (line) },
            (None, None) => { "byte " (count(carrier.start.into())) },
        }
    }
}

fn changes(carrier: &Carrier) -> Markup {
    html! {
        @match (carrier.nearest, carrier.similarity, carrier.changes.is_empty()) {
            (None, ..) => {},
            (Some(_), None, _) => { span.note { "too long to be compared word by word" } },
            (Some(_), Some(_), true) => { span.note { "none" } },
            _ => {
                @for (at, change) in carrier.changes.iter().take(CHANGES).enumerate() {
                    @if at > 0 { "; " }
                    @if !change.removed.is_empty() { del { (VisibleText(&beginning(&change.removed, 120))) } " " }
                    @if !change.added.is_empty() { ins { (VisibleText(&beginning(&change.added, 120))) } }
                }
                @if carrier.changes.len() > CHANGES { " and " (carrier.changes.len() - CHANGES) " more" }
            }
        }
    }
}

/// Returns the indexes of the carriers to draw: all, or a sample at equal distances from the first
/// to the last.
fn drawn(carriers: usize) -> Vec<usize> {
    match carriers <= POINTS {
        true => (0..carriers).collect(),
        false => (0..POINTS).map(|at| at * (carriers - 1) / (POINTS - 1)).collect(),
    }
}

fn points(carriers: &[Carrier]) -> Vec<Point> {
    let drawn = drawn(carriers.len());
    let point = |&at: &usize| {
        let carrier = &carriers[at];
        let date = carrier.date.clone().unwrap_or_default();
        Point {
            time: carrier.time,
            number: None,
            lane: carrier.version as usize - 1,
            color: carrier.version as usize,
            title: format!("{}, {date}, version {}", carrier.id, carrier.version),
            date: if date.is_empty() { carrier.id.chars().take(12).collect() } else { date },
            from: carrier
                .nearest
                .and_then(|nearest| drawn.binary_search(&(nearest as usize - 1)).ok()),
            is_certain: is_certain(carrier),
        }
    };
    drawn.iter().map(point).collect()
}

/// Returns the beginning of a text, with an ellipsis if the text is longer.
fn beginning(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}\u{2026}", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_carriers_the_first_the_last_and_some_between_are_drawn() {
        assert_eq!(drawn(POINTS), (0..POINTS).collect::<Vec<_>>());
        for carriers in [POINTS + 1, 2 * POINTS, 9999] {
            let drawn = drawn(carriers);
            assert_eq!((drawn.len(), drawn[0], drawn[POINTS - 1]), (POINTS, 0, carriers - 1));
            assert!(drawn.windows(2).all(|two| two[0] < two[1]));
        }
    }
}
