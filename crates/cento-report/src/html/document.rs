//! What is shown of documents that were searched for?

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use super::excerpt::{Excerpts, Side, bytes};
use super::text::{Shown, Writer};
use super::{colour, counted, linked, percent};
use crate::MORE_PASSAGES;
use crate::reuse::{DocumentReport, Excluded, ReuseReport, Source};

/// The body of the page.
pub fn body(report: &ReuseReport) -> Markup {
    let mut excerpts = Excerpts::default();
    html! {
        @if report.documents.len() > 1 { (overview(report)) }
        @for (number, document) in (1..).zip(&report.documents) {
            (section(number, document, &mut excerpts))
        }
        @if report.documents.is_empty() { p { "No document was searched for." } }
    }
}

fn overview(report: &ReuseReport) -> Markup {
    html! {
        section {
            h2 { (counted(report.documents.len() as u64, "document")) }
            div.wide tabindex="0" role="region" aria-label="All documents" {
                table {
                    thead { tr {
                        th scope="col" { "Document" } th.number scope="col" { "Reused" }
                        th.number scope="col" { "Original" } th.number scope="col" { "Sources" }
                        th scope="col" { "Largest source" }
                    } }
                    tbody { @for (number, document) in (1..).zip(&report.documents) { tr {
                        th scope="row" { a href={ "#d" (number) } { bdi { (Shown(&document.name)) } } }
                        td.number { (percent(document.reused.thousandths())) }
                        td.number { (percent(document.originality.thousandths())) }
                        td.number { (document.sources.len()) }
                        td { @if let Some(source) = document.sources.first() { bdi { (Shown(&source.id)) } } }
                    } } }
                }
            }
        }
    }
}

fn section(number: usize, document: &DocumentReport, excerpts: &mut Excerpts) -> Markup {
    let id = format!("d{number}");
    let of = document.bytes;
    html! {
        section.reuse id=(id) data-total=(of) {
            h2 { bdi { (Shown(&document.name)) } }
            div.shares {
                p { span.share.reused { (percent(document.reused.thousandths())) } " reused" }
                p { span.share.original { (percent(1000 - document.reused.thousandths())) } " original" }
                p { span.share { (document.sources.len()) } @if document.sources.len() == 1 { " source" } @else { " sources" } }
            }
            (bar(document))
            (notes(document))
            @if !document.sources.is_empty() { (sources(&id, document)) }
            div.texts {
                h3 { "Text" }
                (text(&id, document, excerpts))
            }
            @if !document.sources.is_empty() {
                div.cards {
                    h3 { "Sources side by side" }
                    @for source in &document.sources { (card(&id, document, source, excerpts)) }
                }
            }
        }
    }
}

/// The share of each source, as a bar in its colours.
fn bar(document: &DocumentReport) -> Markup {
    let label = format!("{} reused", percent(document.reused.thousandths()));
    let mut at = 0;
    html! {
        svg.bar viewBox="0 0 1000 16" preserveAspectRatio="none" role="img" aria-label=(label) {
            rect.rest x="0" y="0" width="1000" height="16" {}
            @for source in &document.sources {
                @let before = at;
                @let width = source.share_in_report.thousandths();
                rect class=(colour(source.number)) data-n=(source.number) x=({ at += width; before }) y="0" width=(width) height="16" {}
            }
        }
    }
}

fn notes(document: &DocumentReport) -> Markup {
    let Excluded { quotations, bibliography } = document.excluded;
    html! {
        p.note {
            (counted(document.bytes, "byte")) " count: those that are not white space"
            @if quotations + bibliography > 0 { " and are not excluded" } "."
            @if quotations > 0 { " Excluded: " (counted(quotations, "byte")) " of quotations." }
            @if bibliography > 0 { " Excluded: " (counted(bibliography, "byte")) " of the bibliography." }
            @if document.without_passages > 0 {
                " " (counted(document.without_passages, "hit"))
                " of the search " @if document.without_passages == 1 { "has" } @else { "have" }
                " no passage that counts, and " @if document.without_passages == 1 { "is" } @else { "are" }
                " not shown."
            }
            @if document.more {
                " Further documents share text with this one; the search left them out because of its "
                "limit."
            }
            @if !document.complete { " The search was cut short by its budget: sources may be missing." }
        }
    }
}

fn sources(id: &str, document: &DocumentReport) -> Markup {
    let ranges = |source: &Source| {
        let range = |range: &Range<u32>| format!("{}-{}", range.start, range.end);
        source.counted.as_slice().iter().map(range).collect::<Vec<_>>().join(" ")
    };
    html! {
        div.sources {
            h3 { "Sources" }
            p.note {
                "In report: what no source above has. In text: all that the source has. "
                span.scripted hidden { "Untick a source to leave it out of all shares." }
            }
            table {
                thead { tr {
                    th scope="col" { "No." } th scope="col" { "Source" }
                    th.number scope="col" { "In report" } th.number scope="col" { "In text" }
                    th.number scope="col" { "Passages" }
                } }
                tbody { @for source in &document.sources {
                    tr.source data-n=(source.number) data-ranges=(ranges(source)) {
                        td {
                            label {
                                input.scripted type="checkbox" checked hidden aria-label={ "Count source " (source.number) };
                                " " span class={ "badge " (colour(source.number)) } { (source.number) }
                            }
                        }
                        th scope="row" { (linked(&source.id, source.link.as_deref())) }
                        td.number.in-report { (percent(source.share_in_report.thousandths())) }
                        td.number { (percent(source.share_in_text.thousandths())) }
                        td.number { a href={ "#" (id) "s" (source.number) } { (source.passages.len()) } }
                    }
                } }
            }
        }
    }
}

/// The text in the colours of its sources. Words that the source of a part has not are marked.
fn text(id: &str, document: &DocumentReport, excerpts: &mut Excerpts) -> Markup {
    let mut out = String::with_capacity(document.text.len() * 2);
    // Of each passage that colours a part, the places in the text where it differs.
    let mut differences: HashMap<(u32, u32), Vec<Range<usize>>> = HashMap::new();
    let page = document.text.contains('\u{c}').then_some(1);
    let mut writer = Writer::new(&mut out, page);
    // The source of the part before, if that was coloured.
    let mut last = None;
    for (number, part) in document.parts.iter().enumerate() {
        let range = part.range.start as usize..part.range.end as usize;
        if part.is_excluded {
            let _ = write!(writer.out, "<span class=\"excluded\">");
            writer.text(&document.text[range]);
            let _ = write!(writer.out, "</span>");
            last = None;
            continue;
        }
        let Some(&owner) = part.sources.first() else {
            writer.text(&document.text[range]);
            last = None;
            continue;
        };
        let marks =
            differences.entry(owner).or_insert_with(|| differing(document, owner, excerpts));
        let names: Vec<String> =
            part.sources.iter().map(|found| (found.0 + 1).to_string()).collect();
        let source = owner.0 as usize + 1;
        // A part that goes on in the same colour has no number of its own.
        let hidden = if last == Some(source) { " hidden" } else { "" };
        let _ = write!(
            writer.out,
            "<mark class=\"{}\" id=\"{id}p{number}\" data-s=\"{}\" data-d=\"{source}\">\
             <a class=\"n\" href=\"#{id}s{source}\"{hidden}>{source}</a>",
            colour(source),
            names.join(" ")
        );
        writer.marked(&document.text, range, marks, "u");
        let _ = write!(writer.out, "</mark>");
        last = Some(source);
    }
    html! { div.text dir="auto" { (PreEscaped(out)) } }
}

/// The places of the text where a passage differs from its source.
fn differing(
    document: &DocumentReport,
    (source, passage): (u32, u32),
    excerpts: &mut Excerpts,
) -> Vec<Range<usize>> {
    let source = &document.sources[source as usize];
    let place = &source.passages[passage as usize];
    let (at, Some(other)) = (bytes(place.document), place.source) else { return Vec::new() };
    let Some(text) = source.text.as_deref() else { return Vec::new() };
    let found = excerpts.difference(&document.text[at.clone()], &text[bytes(other)]);
    let found = found.unwrap_or_default().left.into_iter();
    found.map(|range| range.start + at.start..range.end + at.start).collect()
}

fn card(id: &str, document: &DocumentReport, source: &Source, excerpts: &mut Excerpts) -> Markup {
    // The beginning of an excluded quotation has no mark to go to.
    let part_at = |start: u32| {
        let number = document.parts.partition_point(|part| part.range.start < start);
        let is_marked = document.parts.get(number).is_some_and(|part| !part.sources.is_empty());
        is_marked.then(|| format!("#{id}p{number}"))
    };
    let one = Side { text: &document.text, name: "This document" };
    let other = source.text.as_deref().map(|text| Side { text, name: "Source" });
    html! {
        section.card id={ (id) "s" (source.number) } {
            h4 {
                span class={ "badge " (colour(source.number)) } { (source.number) } " "
                (linked(&source.id, source.link.as_deref()))
            }
            p {
                (percent(source.share_in_text.thousandths())) " of the text; "
                (counted(source.passages.len() as u64, "passage"))
                @if !source.complete { "; " (MORE_PASSAGES) }
            }
            @if !source.meta.is_empty() {
                dl.meta { @for (name, value) in &source.meta {
                    dt { bdi { (Shown(name)) } } dd { bdi { (Shown(&said(value))) } }
                } }
            }
            @for place in &source.passages {
                (excerpts.passage(place, one, other, part_at(place.document.0)))
            }
        }
    }
}

/// A value of `meta`: a text without quotes, anything else as JSON.
fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::excluded::Exclusions;
    use crate::reuse::tests::{found, report};

    #[test]
    fn a_part_that_goes_on_in_one_colour_has_one_number() {
        let sources = vec![found("long", &[(0, 20)]), found("short", &[(5, 10)])];
        let document = report("aaaaa bbbbb ccccc ddddd", sources, Exclusions::default());
        let shown = text("d1", &document, &mut Excerpts::default()).into_string();
        assert_eq!(shown.matches("<mark class=\"c1\"").count(), 3, "{shown}");
        assert_eq!(shown.matches(" hidden").count(), 2, "{shown}");
        assert!(shown.contains("data-s=\"1 2\""), "{shown}");
    }
}
