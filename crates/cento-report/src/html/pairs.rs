//! Body of a report on pairs.

use std::collections::HashMap;

use maud::{Markup, html};

use super::drawing::{self, GRAPH_DOCUMENTS_MAX, MATRIX_DOCUMENTS_MAX, thousandths};
use super::excerpt::{ExcerptSide, Excerpts};
use super::names::ShortNames;
use super::text::VisibleText;
use super::{color, count, counted, linked, not_compared, not_compared_note, percent, warnings};
use crate::MORE_PASSAGES;
use crate::connected::clusters_of;
use crate::number::shown_of;
use crate::pairs::{Member, PairEntry, PairsReport};
use cento::compare::shares::{CountedText, Share};
use cento_api::Sources;

/// Writes the body of the page.
pub fn body(report: &PairsReport) -> Markup {
    let mut excerpts = Excerpts::new(report.run.is_code);
    let shown = report.pairs.len() as u64;
    let cut = shown_of(shown, report.total, "pairs", report.limit_option);
    let names = ShortNames::new(report.documents.iter().map(|document| document.name.as_str()));
    html! {
        section {
            h2 { "Pairs" }
            div.shares {
                p { span.share { (count(report.compared)) } " documents compared" }
                p { span.share { (count(report.pairs.len() as u64)) } @if report.pairs.len() == 1 { " pair shown" } @else { " pairs shown" } }
                p { span.share { (count(report.clusters.len() as u64)) } @if report.clusters.len() == 1 { " cluster" } @else { " clusters" } }
            }
            @if let Some(cut) = cut {
                p.warning {
                    (cut) ". The matrix is of the shown pairs."
                    @if report.examined_pairs.is_none() { " The clusters are of all pairs." }
                }
            }
            @if let Some(examined) = report.examined_pairs {
                p.warning { "Too many pairs: " (clusters_of(examined, report.total)) "." }
            }
            (not_compared_note(&report.not_compared))
            (warnings(&report.warnings))
            @if report.documents_without_field > 0 {
                p.warning {
                    (counted(report.documents_without_field, "document"))
                    @if report.documents_without_field == 1 { " does" } @else { " do" }
                    " not have the field by which pairs were chosen."
                }
            }
            @if report.estimated_pairs > 0 {
                p.note {
                    (counted(report.estimated_pairs, "pair")) " with documents of the index"
                    @if report.estimated_pairs == 1 { " was" } @else { " were" }
                    " compared by fingerprints alone: others resemble the new documents more."
                }
            }
            @if report.pairs.is_empty() { p { "No pair is similar enough." } } @else { (table(report, &names)) }
        }
        (not_compared(&report.not_compared))
        (sources(report, &names))
        @if let Some(histogram) = &report.histogram {
            section { h2 { "All pairs by similarity" } (drawing::histogram(histogram)) }
        }
        @if !report.pairs.is_empty() {
            section {
                h2 { "Clusters" }
                @let drawn = drawing::drawn(report);
                @if drawn.len() > GRAPH_DOCUMENTS_MAX {
                    p.note { "More than " (GRAPH_DOCUMENTS_MAX) " documents are in pairs: no graph is drawn." }
                } @else {
                    p.note {
                        "Documents by their numbers; the wider a line, the more similar. A line leads to its pair."
                        @if drawn.len() < report.documents.len() {
                            @let lacking = (report.documents.len() - drawn.len()) as u64;
                            " The graph lacks " (counted(lacking, "document"))
                            " of the clusters, which are in no shown pair."
                        }
                        @let edges = drawing::edges(report);
                        @if edges < report.total {
                            " " (count(edges)) " of " (counted(report.total, "pair")) " drawn."
                            @if !report.links.is_empty() {
                                " A pale line is a pair that is not shown, but connects documents."
                            }
                        }
                    }
                    (drawing::graph(report))
                }
                (members(report, &names))
            }
            section {
                h2 { "Matrix" }
                @if report.documents_in_pairs > MATRIX_DOCUMENTS_MAX {
                    p.note { "The first " (MATRIX_DOCUMENTS_MAX) " of " (report.documents_in_pairs) " documents." }
                }
                div.wide tabindex="0" role="region" aria-label="Matrix" { (drawing::matrix(report)) }
            }
            section {
                h2 { "Pairs side by side" }
                @if report.documents.iter().any(|document| !document.boilerplate.is_empty()) {
                    p.note { label { input #boilerplate type="checkbox" checked; " Show excluded text" } }
                }
                @for (number, pair) in (1..).zip(&report.pairs) { (section(report, number, pair, &mut excerpts)) }
            }
        }
    }
}

/// The description of the column of scores.
const SCORE: &str = " Score: how much two programs suggest that one was copied, in code and in \
                     words; what few programs have counts for more.";

/// The members of a cluster that are listed. The JSON of the report lists all.
const MEMBERS_MAX: usize = 500;

/// The heading above the pairs of programs that are too short.
const TOO_SHORT: &str = "Programs that are too short to tell";

fn table(report: &PairsReport, names: &ShortNames<'_>) -> Markup {
    let has_scores = report.pairs.iter().any(|pair| pair.score.is_some());
    let columns = 6 + usize::from(has_scores);
    // The list may be sorted by a rank that has no column.
    let measures: [fn(&PairEntry) -> f64; 2] =
        [|pair| pair.similarity, |pair| pair.score.unwrap_or_default()];
    let sorted_by = measures.iter().position(|of| {
        report.numbered(false).map(|(_, pair)| of(pair)).is_sorted_by(|one, next| one >= next)
    });
    let is_by = |column: usize| (sorted_by == Some(column)).then_some("descending");
    let row = |number: usize, pair: &PairEntry| {
        let (a, b) = (report.member(pair.a), report.member(pair.b));
        let score = pair.score.map_or(String::new(), |score| percent(thousandths(score)));
        html! { tr {
            td.number { a href={ "#pair" (number) } { (number) } }
            @if has_scores { td.number { (score) } }
            td.number { (percent(thousandths(pair.similarity))) }
            td { (short(a, names)) } td { (short(b, names)) }
            td.number.rest { (count(a.tokens.into())) " \u{b7} " (count(b.tokens.into())) }
            td.number.rest { (pair.passages.len()) }
        } }
    };
    html! {
        p.note { "Similarity: " (VisibleText(&report.measure)) ". " (words(report)) ": of the one and of the other."
            @if has_scores { (SCORE) }
        }
        div.wide tabindex="0" role="region" aria-label="Pairs by similarity" {
            table.list {
                thead { tr {
                    th.number scope="col" { "Pair" }
                    @if has_scores { th.number scope="col" aria-sort=[is_by(1)] { "Score" } }
                    th.number scope="col" aria-sort=[is_by(0)] { "Similarity" }
                    th scope="col" { "Document" } th scope="col" { "Document" }
                    th.number.rest scope="col" { (words(report)) } th.number.rest scope="col" { "Passages" }
                } }
                tbody { @for (number, pair) in report.numbered(false) { (row(number, pair)) } }
                @if report.pairs.iter().any(PairEntry::is_too_short) {
                    tbody {
                        tr { th colspan=(columns) scope="rowgroup" { (TOO_SHORT) } }
                        @for (number, pair) in report.numbered(true) { (row(number, pair)) }
                    }
                }
            }
        }
    }
}

/// Shows where the text of each new document came from.
fn sources(report: &PairsReport, names: &ShortNames<'_>) -> Markup {
    let share = |one: &Sources, tokens: u32| {
        percent(Share { part: tokens.into(), of: one.tokens.into() }.thousandths())
    };
    let has_boilerplate = report.sources.iter().any(|one| one.boilerplate > 0);
    let member = |one: &Sources| report.documents.iter().find(|document| document.name == one.name);
    // The first pair of each document, with the other document of the pair.
    let first_pair = |one: &Sources| {
        let document = member(one)?;
        let pair =
            (1..).zip(&report.pairs).find(|(_, pair)| [pair.a, pair.b].contains(&document.number));
        let (number, pair) = pair?;
        let other = if pair.a == document.number { pair.b } else { pair.a };
        Some((number, report.member(other), pair.similarity))
    };
    html! {
        @if !report.sources.is_empty() {
            section {
                h2 { "New documents" }
                p.note {
                    "Known: in passages that the document shares with documents of the index. \
                     Shared: in passages that it shares with other new documents alone. \
                     New: in no passage. Passages that chance explains do not count."
                    " They come from a search for each document, whatever pairs are shown."
                    @if report.sources.iter().any(|one| !one.complete) {
                        " Of those with *, the search was cut short: more may be from elsewhere."
                    }
                }
                div.wide tabindex="0" role="region" aria-label="New documents" {
                    table.list {
                        thead { tr {
                            th scope="col" { "Document" }
                            th.number scope="col" { (words(report)) }
                            th.number scope="col" { "New" }
                            th.number scope="col" { "Known" }
                            th.number scope="col" { "Shared" }
                            @if has_boilerplate { th.number scope="col" { "Excluded" } }
                            th scope="col" { "Most alike" }
                        } }
                        tbody { @for one in &report.sources { tr {
                            td {
                                @match member(one) {
                                    Some(document) => (short(document, names)),
                                    None => (VisibleText(&one.name)),
                                }
                            }
                            td.number { (count(one.tokens.into())) }
                            td.number { (share(one, one.new)) @if !one.complete { "*" } }
                            td.number { (share(one, one.known)) }
                            td.number { (share(one, one.shared)) }
                            @if has_boilerplate { td.number { (share(one, one.boilerplate)) } }
                            td {
                                @if let Some((number, other, similarity)) = first_pair(one) {
                                    (short(other, names)) ", "
                                    a href={ "#pair" (number) } { (percent(thousandths(similarity))) }
                                }
                            }
                        } } }
                    }
                }
            }
        }
    }
}

/// Returns the share of a document that is boilerplate, in thousandths: of the tokens of a new
/// document, otherwise of the characters.
fn boilerplate(report: &PairsReport, document: &Member) -> u64 {
    if let Some(one) = report.sources.iter().find(|one| one.name == document.name) {
        return Share { part: one.boilerplate.into(), of: one.tokens.into() }.thousandths();
    }
    let Some(text) = &document.text else { return 0 };
    let counted = CountedText::new(text, &[]);
    let places = document.boilerplate.iter();
    let part = places.map(|&(start, end)| counted.before(end) - counted.before(start));
    Share { part: part.map(u64::from).sum(), of: counted.total().into() }.thousandths()
}

/// Returns the name for the tokens of documents.
fn words(report: &PairsReport) -> &'static str {
    if report.run.is_code { "Tokens" } else { "Words" }
}

/// Shows a document with its number in the color of its cluster.
fn named(document: &Member) -> Markup {
    html! {
        span class={ "badge " (color(document.cluster)) } { (document.number) } " "
        (linked(&document.name, document.link.as_deref()))
    }
}

fn short(document: &Member, names: &ShortNames<'_>) -> Markup {
    html! {
        span class={ "badge " (color(document.cluster)) } { (document.number) } " "
        (names.show(&document.name, document.link.as_deref()))
    }
}

fn members(report: &PairsReport, names: &ShortNames<'_>) -> Markup {
    let has_groups = report.documents.iter().any(|document| document.group.is_some());
    let members = if has_groups { "Groups" } else { "Documents" };
    html! {
        table {
            thead { tr {
                th scope="col" { "Cluster" } th.number scope="col" { "Size" } th scope="col" { (members) }
            } }
            tbody { @for cluster in &report.clusters { tr {
                th.number scope="row" { (cluster.cluster) }
                td.number { (count(cluster.size as u64)) }
                td {
                    @for member in of_cluster(report, cluster.cluster).iter().take(MEMBERS_MAX) {
                        (grouped(member, names)) "\u{2003}"
                    }
                    @if cluster.size > MEMBERS_MAX {
                        "and " (count((cluster.size - MEMBERS_MAX) as u64)) " more"
                    }
                }
            } } }
        }
    }
}

/// Returns the members of a cluster, by the numbers of their first documents: a document, or the
/// documents of a group.
fn of_cluster(report: &PairsReport, cluster: usize) -> Vec<Vec<&Member>> {
    let mut members: Vec<Vec<&Member>> = Vec::new();
    let mut groups: HashMap<&str, usize> = HashMap::new();
    for document in report.documents.iter().filter(|document| document.cluster == cluster) {
        let next = members.len();
        let group = document.group_key.as_deref().map(|key| *groups.entry(key).or_insert(next));
        match group.filter(|&group| group < next) {
            Some(group) => members[group].push(document),
            None => members.push(vec![document]),
        }
    }
    members
}

/// Shows a group with the numbers of its documents, or a document without a group.
fn grouped(documents: &[&Member], names: &ShortNames<'_>) -> Markup {
    let Some(group) = &documents[0].group else { return short(documents[0], names) };
    html! {
        @for document in documents {
            span class={ "badge " (color(document.cluster)) } { (document.number) } " "
        }
        bdi { (VisibleText(group)) }
    }
}

fn section(
    report: &PairsReport,
    number: usize,
    pair: &PairEntry,
    excerpts: &mut Excerpts,
) -> Markup {
    let (a, b) = (report.member(pair.a), report.member(pair.b));
    let sides = a.text.as_ref().zip(b.text.as_ref());
    html! {
        section.card.pair id={ "pair" (number) } {
            h3 { (number) ". " (named(a)) " and " (named(b)) }
            p {
                "Similarity " (percent(thousandths(pair.similarity))) "; "
                (percent(thousandths(pair.texts.containment_of_a))) " of the first is in the second, "
                (percent(thousandths(pair.texts.containment_of_b))) " of the second in the first; "
                (counted(pair.passages.len() as u64, "passage"))
                @if pair.is_too_short() { "; these programs are too short to tell" }
                @if !pair.complete { "; " (MORE_PASSAGES) }
                "."
            }
            @if !(a.boilerplate.is_empty() && b.boilerplate.is_empty()) {
                p.note {
                    span.excluded.boilerplate { "Excluded text" } ", shown so, counts nowhere: "
                    (percent(boilerplate(report, a))) " of the first document, "
                    (percent(boilerplate(report, b))) " of the second."
                }
            }
            @match sides {
                Some((one, other)) => {
                    @for place in &pair.passages {
                        @let one = ExcerptSide { text: one, name: &a.name, boilerplate: &a.boilerplate };
                        @let other = ExcerptSide { text: other, name: &b.name, boilerplate: &b.boilerplate };
                        (excerpts.passage(place, one, Some(other), None))
                    }
                },
                None => p.note { "The texts are not stored, and cannot be shown." },
            }
        }
    }
}
