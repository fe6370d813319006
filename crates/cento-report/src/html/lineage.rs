//! The lineage of documents as a page.

use std::collections::HashMap;

use maud::{Markup, html};

use super::names::ShortNames;
use super::text::VisibleText;
use super::timeline::{Point, timeline};
use crate::lineage::LineageReport;
use crate::number::{count, counted, percent};
use cento_collections::lineage::{Descent, DirectionBy};

/// The maximum number of documents in a drawing, for readability.
const DRAWN_MAX: usize = 500;

pub fn body(report: &LineageReport) -> Markup {
    let names = ShortNames::new(report.documents.iter().map(|row| row.id.as_str()));
    let trees = report.documents.chunk_by(|one, other| one.tree == other.tree);
    let shown = report.documents.last().map_or(0, |row| row.tree);
    html! {
        p.note {
            (counted(report.versions, "version")) " in " (counted(report.trees, "tree"))
            @if shown < report.trees { "; the " (count(shown)) " largest are shown" }
            ". The ancestor of a document is the earlier document that has the greatest share of "
            "its text. A broken line is a direction that dates do not tell: versions are taken to "
            "add more than they leave out. A document without a date is drawn between its ancestor "
            "and its versions."
        }
        @if report.dated < report.versions {
            p.warning { "Of " (counted(report.versions - report.dated, "version")) " dates do not tell the direction: it is uncertain." }
        }
        @for tree in trees { (card(tree, &names)) }
    }
}

fn card(tree: &[Descent], names: &ShortNames<'_>) -> Markup {
    let first = &tree[0];
    html! {
        section.card id={ "tree" (first.tree) } {
            h3 { "Tree " (first.tree) ": " (counted(tree.len() as u64, "document")) " from " (names.show(&first.id, None)) " on" }
            @if tree.len() <= DRAWN_MAX {
                (timeline("The versions by time, branches below each other", &points(tree)))
            } @else { p.note { "Too many documents to draw." } }
            div.wide tabindex="0" role="region" aria-label="Versions" {
                table.list {
                    thead { tr {
                        th.number scope="col" { "No." } th scope="col" { "Date" } th scope="col" { "Document" }
                        th scope="col" { "Ancestor" } th.number scope="col" { "Words" } th.number scope="col" { "New" }
                        th.number scope="col" { "Left out" } th scope="col" { "Direction" }
                    } }
                    tbody { @for (at, row) in tree.iter().enumerate() { tr {
                        td.number { (at + 1) }
                        td { (VisibleText(row.date.as_deref().unwrap_or("\u{2013}"))) }
                        th scope="row" { (names.show(&row.id, None)) }
                        td { @if let Some(ancestor) = &row.ancestor { (names.show(ancestor, None)) } @else { span.note { "none" } } }
                        td.number { (count(row.tokens.into())) }
                        @if let Some(found) = &row.similarity {
                            td.number { (percent(1.0 - found.containment_of_b)) }
                            td.number { (percent(1.0 - found.containment_of_a)) }
                        } @else { td {} td {} }
                        td { @match row.direction_by {
                            Some(DirectionBy::Date) => { "by date" },
                            Some(DirectionBy::Length) => { "uncertain: by length" },
                            Some(DirectionBy::Added) => { "uncertain: by addition" },
                            Some(DirectionBy::Unknown) => { "unknown" },
                            None => {},
                        } }
                    } } }
                }
            }
        }
    }
}

/// The maximum number of points that are drawn with their numbers.
const NUMBERED_MAX: usize = 60;

/// Places the first version of a document on the document's lane, and further versions on lanes
/// below.
fn points(tree: &[Descent]) -> Vec<Point> {
    let mut at_of: HashMap<&str, usize> = HashMap::new();
    let (mut points, mut lanes): (Vec<Point>, usize) = (Vec::new(), 0);
    let mut has_version: Vec<bool> = Vec::new();
    for (at, row) in tree.iter().enumerate() {
        let from = row.ancestor.as_deref().and_then(|ancestor| at_of.get(ancestor)).copied();
        let lane = match from {
            Some(from) if !has_version[from] => points[from].lane,
            None => 0,
            Some(_) => {
                lanes += 1;
                lanes
            }
        };
        if let Some(from) = from {
            has_version[from] = true;
        }
        has_version.push(false);
        at_of.insert(&row.id, at);
        let date = row.date.clone().unwrap_or_default();
        let shown = if date.is_empty() { "no date" } else { &*date };
        points.push(Point {
            time: row.time,
            number: (tree.len() <= NUMBERED_MAX).then_some(at + 1),
            lane,
            color: lane + 1,
            title: format!("{}, {}, {shown}", at + 1, row.id),
            date: if date.is_empty() { row.id.chars().take(12).collect() } else { date },
            from,
            is_certain: row.direction_by == Some(DirectionBy::Date),
        });
    }
    place_undated(&mut points);
    points
}

/// Gives a point without a time a time between its ancestor and its versions, if a version has a
/// time. Otherwise lines would lead back.
fn place_undated(points: &mut [Point]) {
    // Per point, the time of the earliest version, and the number of links to that version.
    let mut next: Vec<Option<(f64, f64)>> = vec![None; points.len()];
    for at in (0..points.len()).rev() {
        let own = points[at].time.map(|time| (time, 0.0)).or(next[at]);
        let Some((from, (time, links))) = points[at].from.zip(own) else { continue };
        if next[from].is_none_or(|(other, _)| time < other) {
            next[from] = Some((time, links + 1.0));
        }
    }
    // An ancestor gets its time before its versions do.
    for at in 0..points.len() {
        let before = points[at].from.and_then(|from| points[from].time);
        if let (None, Some((time, links))) = (points[at].time, next[at]) {
            points[at].time =
                Some(before.map_or(time, |before| before + (time - before) / (links + 1.0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_without_a_date_is_drawn_between_its_neighbors() {
        let row = |id: &str, ancestor: Option<&str>, time: Option<f64>| -> Descent {
            serde_json::from_value(serde_json::json!({
                "tree": 1, "depth": 0, "id": id, "tokens": 9, "ancestor": ancestor, "time": time,
                "direction_by": ancestor.map(|_| "length"),
            }))
            .unwrap()
        };
        let tree = [
            row("a", None, Some(10.0)),
            row("b", Some("a"), None),
            row("c", Some("b"), None),
            row("d", Some("c"), Some(40.0)),
            row("e", Some("a"), None),
        ];
        let times: Vec<_> = points(&tree).iter().map(|point| point.time).collect();
        assert_eq!(times, [Some(10.0), Some(20.0), Some(30.0), Some(40.0), None]);
    }

    #[test]
    fn a_branch_is_on_a_lane_below_and_an_uncertain_direction_is_broken() {
        let row = |id: &str, ancestor: Option<&str>, by: Option<&str>| -> Descent {
            serde_json::from_value(serde_json::json!({
                "tree": 1, "depth": 0, "id": id, "tokens": 9, "ancestor": ancestor,
                "direction_by": by,
            }))
            .unwrap()
        };
        let tree = [
            row("a", None, None),
            row("b", Some("a"), Some("date")),
            row("c", Some("b"), Some("length")),
            row("d", Some("a"), Some("date")),
        ];
        let points = points(&tree);
        let lanes: Vec<_> = points.iter().map(|point| point.lane).collect();
        assert_eq!(lanes, [0, 0, 0, 1]);
        assert!(points[1].is_certain && !points[2].is_certain);
        let drawn = timeline("l", &points).into_string();
        assert_eq!(drawn.matches("stroke-dasharray").count(), 1, "{drawn}");
    }
}
