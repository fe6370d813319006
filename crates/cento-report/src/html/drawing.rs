//! Graphs of documents and their pairs, as SVG.

use std::collections::HashMap;
use std::f64::consts::TAU;

use maud::{Markup, html};

use super::text::plain;
use super::{color, count, percent};
use crate::graph::Cluster;
use crate::number::rounded;
use crate::pairs::{Member, PairEntry, PairsReport};
use cento_collections::most_similar::Histogram;

/// Maximum number of documents in a graph. A larger graph would be unreadable.
pub const GRAPH_DOCUMENTS_MAX: usize = 200;

/// Maximum number of documents in a matrix. A larger matrix would be wider than any screen.
pub const MATRIX_DOCUMENTS_MAX: usize = 60;

/// Draws all pairs by similarity as bars. Pairs below the thresholds are pale.
pub fn histogram(histogram: &Histogram) -> Markup {
    let has_below = histogram.below.iter().any(|&pairs| pairs > 0);
    let most = histogram.pairs.iter().copied().max().unwrap_or(0).max(1);
    html! {
        table.histogram {
            thead { tr {
                th scope="col" { "Similarity" } th.number scope="col" { "Pairs" }
                @if has_below { th.number scope="col" { "Below the thresholds" } } td {}
            } }
            tbody {
                @for (bin, (&pairs, &below)) in histogram.pairs.iter().zip(&histogram.below).enumerate().rev() {
                    tr {
                        th scope="row" { (bin * 10) " to " (bin * 10 + 10) "\u{a0}%" }
                        td.number { (count(pairs)) }
                        @if has_below { td.number { (count(below)) } }
                        td { svg.count viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" {
                            // A bar of any number of pairs is wide enough to be seen.
                            @let width = |pairs: u64| if pairs == 0 { 0 } else { (pairs * 1000 / most).max(4) };
                            rect.below x="0" y="0" height="10" width=(width(pairs)) {}
                            rect x="0" y="0" height="10" width=(width(pairs - below)) {}
                        } }
                    }
                }
                tr {
                    th scope="row" { "no text in common" } td.number { (count(histogram.none)) }
                    @if has_below { td {} } td {}
                }
            }
        }
    }
}

fn radius(documents: usize) -> f64 {
    (documents as f64 * 46.0 / TAU).max(40.0)
}

/// Maximum width of the drawing, unless a single cluster is wider.
const WIDTH_MAX: f64 = 1000.0;
const MARGIN: f64 = 34.0;

/// The places of the documents in a drawing, by their numbers.
type Places = HashMap<usize, (f64, f64)>;

/// Returns the documents to draw: all, or the documents of shown pairs if all are too many.
pub fn drawn(report: &PairsReport) -> &[Member] {
    match report.documents.len() > GRAPH_DOCUMENTS_MAX {
        true => &report.documents[..report.documents_in_pairs],
        false => &report.documents,
    }
}

/// Returns the number of pairs to draw.
pub fn edges(report: &PairsReport) -> u64 {
    let shown = report.numbered(false).filter(|(_, pair)| pair.is_edge).count();
    let drawn = drawn(report).len();
    let links = report.links.iter().filter(|&&(a, b, _)| a.max(b) <= drawn).count();
    (shown + links) as u64
}

/// Returns the places of the documents, and the width and height of the drawing. Clusters are in
/// rows, each on a circle where documents of the same group are neighbors.
fn layout(report: &PairsReport) -> (Places, (f64, f64)) {
    let mut places = HashMap::new();
    let (mut x, mut y, mut row_height, mut width) = (0.0, 0.0, 0.0f64, 0.0f64);
    for Cluster { cluster, .. } in &report.clusters {
        let in_cluster = |document: &&Member| document.cluster == *cluster;
        let mut members: Vec<&Member> = drawn(report).iter().filter(in_cluster).collect();
        if members.is_empty() {
            continue;
        }
        let place_of = |one: &Member| (one.group.clone(), one.group_key.clone(), one.name.clone());
        members.sort_by_cached_key(|document| place_of(document));
        let radius = radius(members.len());
        let side = 2.0 * (radius + MARGIN);
        if x > 0.0 && x + side > WIDTH_MAX {
            (x, y, row_height) = (0.0, y + row_height, 0.0);
        }
        for (at, document) in members.iter().enumerate() {
            let angle = TAU * at as f64 / members.len() as f64;
            let place =
                (x + side / 2.0 + radius * angle.sin(), y + side / 2.0 - radius * angle.cos());
            places.insert(document.number, place);
        }
        x += side;
        width = width.max(x);
        row_height = row_height.max(side);
    }
    (places, (width, y + row_height))
}

/// Draws the pairs as edges, which are links, between documents as nodes.
pub fn graph(report: &PairsReport) -> Markup {
    let (places, (width, height)) = layout(report);
    let (width, height) = (width.round(), height.round());
    let place = |number: usize| places[&number];
    html! {
        svg.graph width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="group" aria-label="Graph of the pairs" {
            @for (a, b, resemblance) in &report.links {
                @if let (Some((x1, y1)), Some((x2, y2))) = (places.get(a), places.get(b)) {
                    @let width = at(1.0 + 6.0 * resemblance);
                    line.edge x1=(at(*x1)) y1=(at(*y1)) x2=(at(*x2)) y2=(at(*y2))
                        stroke-width=(width) opacity="0.4" {}
                }
            }
            @for (number, pair) in report.numbered(false).filter(|(_, pair)| pair.is_edge) {
                @let ((x1, y1), (x2, y2)) = (place(pair.a), place(pair.b));
                a href={ "#pair" (number) } aria-label=(label(report, number, pair)) {
                    title { (label(report, number, pair)) }
                    // Wide enough to be clicked.
                    line.target x1=(at(x1)) y1=(at(y1)) x2=(at(x2)) y2=(at(y2)) stroke-width="14" {}
                    line.edge x1=(at(x1)) y1=(at(y1)) x2=(at(x2)) y2=(at(y2)) stroke-width=(at(1.0 + 6.0 * pair.similarity)) {}
                }
            }
            // Documents without an edge are in no cluster, and have no place.
            @for document in drawn(report).iter().filter(|document| document.cluster > 0) {
                @let (x, y) = places[&document.number];
                g.node aria-hidden="true" {
                    title { (plain(&document.name)) }
                    circle class=(color(document.cluster)) cx=(at(x)) cy=(at(y)) r="15" {}
                    text x=(at(x)) y=(at(y + 5.0)) { (document.number) }
                }
            }
        }
    }
}

fn at(coordinate: f64) -> String {
    format!("{coordinate:.1}")
}

fn label(report: &PairsReport, number: usize, pair: &PairEntry) -> String {
    let [a, b] = [pair.a, pair.b].map(|number| plain(&report.member(number).name));
    format!("Pair {number}: {a} and {b}, {}", percent(thousandths(pair.similarity)))
}

/// Returns a similarity in thousandths, rounded like all similarities.
pub fn thousandths(similarity: f64) -> u64 {
    rounded(similarity, 1000)
}

/// Shows the similarities of the documents in pairs, or of the first documents, as a table.
pub fn matrix(report: &PairsReport) -> Markup {
    let mut shown: Vec<usize> = (1..=report.documents_in_pairs.min(MATRIX_DOCUMENTS_MAX)).collect();
    shown.sort_by_key(|&number| (report.member(number).cluster, number));
    let mut pairs: HashMap<(usize, usize), (usize, f64)> = HashMap::new();
    for (number, pair) in (1..).zip(&report.pairs) {
        for key in [(pair.a, pair.b), (pair.b, pair.a)] {
            pairs.entry(key).or_insert((number, pair.similarity));
        }
    }
    html! {
        table.matrix {
            caption { "Similarity in per cent" }
            thead { tr { td {} @for number in &shown { th scope="col" { (number) } } } }
            tbody { @for row in &shown { tr {
                th scope="row" { (row) }
                @for column in &shown {
                    @match pairs.get(&(*row, *column)) {
                        Some((number, similarity)) => td class={ "h" (thousandths(*similarity) / 100) } {
                            a href={ "#pair" (number) } { (rounded(*similarity, 100)) }
                        },
                        None => td {},
                    }
                }
            } } }
        }
    }
}
