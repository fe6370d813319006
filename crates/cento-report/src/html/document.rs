//! Body of a report on documents that were searched for.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use super::excerpt::{ExcerptSide, Excerpts, bytes};
use super::names::ShortNames;
use super::text::{VisibleText, Writer};
use super::{color, counted, linked, not_compared, not_compared_note, percent, warnings};
use crate::MORE_PASSAGES;
use crate::reuse::{CountUnit, DocumentReport, ExcludedUnits, MORE_SOURCES, ReuseReport, Source};
use cento::compare::shares::Share;

/// Writes the body of the page.
pub fn body(report: &ReuseReport) -> Markup {
    let mut excerpts = Excerpts::new(report.run.is_code);
    let names = ShortNames::new(report.documents.iter().map(|document| document.name.as_str()));
    let sources = report.documents.iter().flat_map(|document| &document.sources);
    let sources = ShortNames::new(sources.map(|source| source.id.as_str()));
    let documents: Vec<_> = (1..).zip(&report.documents).collect();
    html! {
        (not_compared_note(&report.not_compared))
        (warnings(&report.warnings))
        @if documents.len() > 1 { (overview(&documents, &names, &sources)) }
        @for (number, document) in documents {
            (section(number, document, &sources, &mut excerpts))
        }
        @if report.documents.is_empty() { p { "No document was searched for." } }
        (not_compared(&report.not_compared))
    }
}

fn overview(
    documents: &[(usize, &DocumentReport)],
    names: &ShortNames<'_>,
    source_names: &ShortNames<'_>,
) -> Markup {
    let row = |number: usize, document: &DocumentReport| {
        let largest = document.sources.first();
        let (reused, original) = document.reused_and_original();
        html! { tr {
            th scope="row" { a href={ "#d" (number) } { (names.show(&document.name, None)) } }
            td.number { (percent(reused)) }
            td.number.rest { (percent(original)) }
            td.number { (document.sources.len()) }
            td.rest { @if let Some(source) = largest { (source_names.show(&source.id, None)) } }
        } }
    };
    html! {
        section {
            h2 { (counted(documents.len() as u64, "document")) }
            div.wide tabindex="0" role="region" aria-label="All documents" {
                table.list {
                    thead { tr {
                        th scope="col" { "Document" }
                        th.number scope="col" aria-sort="descending" { "Reused" }
                        th.number.rest scope="col" { "Original" }
                        th.number scope="col" { "Sources" }
                        th.rest scope="col" { "Largest source" }
                    } }
                    tbody { @for &(number, document) in documents { (row(number, document)) } }
                }
            }
        }
    }
}

fn section(
    number: usize,
    document: &DocumentReport,
    names: &ShortNames<'_>,
    excerpts: &mut Excerpts,
) -> Markup {
    let id = format!("d{number}");
    let of = document.size;
    let (reused, original) = document.reused_and_original();
    let apart = document.common.thousandths() + document.cited.thousandths();
    html! {
        section.reuse id=(id) data-total=(of) data-apart=(apart) {
            h2 { bdi { (VisibleText(&document.name)) } }
            div.shares {
                p { span.share.reused { (percent(reused)) } " reused" }
                @for (share, what) in [(document.common, " common"), (document.cited, " cited")] {
                    @let shown = percent(share.thousandths());
                    @if share.part > 0 { p { span.share { (shown) } (what) } }
                }
                p { span.share.original { (percent(original)) } " original" }
                p { span.share { (document.sources.len()) } @if document.sources.len() == 1 { " source" } @else { " sources" } }
            }
            (bar(document))
            (notes(document))
            @if !document.sources.is_empty() { (sources(&id, document, names)) }
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

/// Shows the share that each source adds, as a bar in the colors of the sources.
fn bar(document: &DocumentReport) -> Markup {
    let label = format!("{} reused", percent(document.reused.thousandths()));
    // Rounds places, not widths, so that the bar ends where the reused share does.
    let mut before = 0;
    let mut place = |more: u64| {
        before += more;
        (before * 1000 + document.size / 2).checked_div(document.size).unwrap_or(0)
    };
    html! {
        svg.bar viewBox="0 0 1000 16" preserveAspectRatio="none" role="img" aria-label=(label) {
            rect.rest x="0" y="0" width="1000" height="16" {}
            @for source in &document.sources {
                @let (from, to) = (place(0), place(source.share_in_report.part));
                rect class=(color(source.number)) data-n=(source.number) x=(from) y="0" width=(to - from) height="16" {}
            }
        }
    }
}

fn notes(document: &DocumentReport) -> Markup {
    let ExcludedUnits { quotations, bibliography, boilerplate } = document.excluded;
    let (counts, else_counts) = match document.unit {
        CountUnit::Characters => {
            ("letters and digits", " (in a text without any, of all characters but white space)")
        }
        CountUnit::Tokens => ("words and signs of the program", ", without comments"),
    };
    let of = document.size + quotations + bibliography + boilerplate;
    let part = |part: u64| percent(Share { part, of }.thousandths());
    html! { div.notes {
        @if boilerplate > 0 {
            p.note {
                span.excluded.boilerplate { "Boilerplate" } ", shown so: " (part(boilerplate))
                " of the document. It counts neither as reused nor as original."
            }
        }
        p.note {
            "Shares are of the " (counts)
            @if quotations + bibliography > 0 { " outside the excluded parts" }
            (else_counts) "."
            @if quotations > 0 { " Excluded: quotations, " (part(quotations)) " of the document." }
            @if bibliography > 0 { " Excluded: the bibliography, " (part(bibliography)) " of the document." }
            @if document.without_passages > 0 {
                " " (counted(document.without_passages, "hit"))
                " of the search " @if document.without_passages == 1 { "has" } @else { "have" }
                " no passage that counts, and " @if document.without_passages == 1 { "is" } @else { "are" }
                " not shown. Text in common that is in no passage counts as original."
            }
            @if document.more {
                " Note that " (MORE_SOURCES) "."
            }
            @if !document.complete { " The search was cut short by its budget: sources may be missing." }
        }
    } }
}

fn sources(id: &str, document: &DocumentReport, names: &ShortNames<'_>) -> Markup {
    let ranges = |source: &Source| {
        let range = |range: &Range<u32>| format!("{}-{}", range.start, range.end);
        source.counted.as_slice().iter().map(range).collect::<Vec<_>>().join(" ")
    };
    html! {
        div.sources {
            h3 { "Sources" }
            p.note {
                "Share: how much of the text the source has. "
                "Adds: how much of it no source with a lower number has. "
                span.scripted hidden { "Untick a source to leave it out of all shares." }
            }
            table.list {
                thead { tr {
                    th scope="col" { "No." } th scope="col" { "Source" }
                    th.number scope="col" { "Share" }
                    th.number scope="col" { "Adds" }
                    th.number scope="col" { "Passages" }
                } }
                tbody { @for source in &document.sources {
                    tr.source data-n=(source.number) data-ranges=(ranges(source)) {
                        td {
                            label {
                                input.scripted type="checkbox" checked hidden aria-label={ "Count source " (source.number) };
                                " " span class={ "badge " (color(source.number)) } { (source.number) }
                            }
                        }
                        th scope="row" { (names.show(&source.id, source.link.as_deref())) }
                        td.number { (percent(source.share_in_text.thousandths())) }
                        td.number.in-report { (percent(source.share_in_report.thousandths())) }
                        td.number { a href={ "#" (id) "s" (source.number) } { (source.passages.len()) } }
                    }
                } }
            }
        }
    }
}

/// Shows the text in the colors of its sources, with a heading above each part. Words missing from
/// the source are marked.
fn text(id: &str, document: &DocumentReport, excerpts: &mut Excerpts) -> Markup {
    let mut out = String::with_capacity(document.text.len() * 2);
    // Per passage that colors a stretch, the places in the text where the source differs.
    let mut differences: HashMap<(u32, u32), Vec<Range<usize>>> = HashMap::new();
    let page = document.text.contains('\u{c}').then_some(1);
    let line = excerpts.is_code().then_some(1);
    let mut writer = Writer::new(&mut out, page, line);
    // The source of the previous stretch, if colored.
    let mut last = None;
    let mut parts = document.text.parts.iter().peekable();
    for (number, stretch) in document.stretches.iter().enumerate() {
        let range = stretch.range.start as usize..stretch.range.end as usize;
        while let Some(part) = parts.next_if(|part| part.start <= stretch.range.start) {
            writer.part(&part.name, page, line);
            last = None;
        }
        // The line feed between two parts belongs to no part.
        let is_before_part = parts.peek().is_some_and(|part| part.start == stretch.range.end);
        let range = range.start..range.end - usize::from(is_before_part);
        if range.is_empty() {
            continue;
        }
        if stretch.is_excluded {
            let class = if stretch.is_boilerplate { "excluded boilerplate" } else { "excluded" };
            let _ = write!(writer.out, "<span class=\"{class}\">");
            writer.text(&document.text[range]);
            let _ = write!(writer.out, "</span>");
            last = None;
            continue;
        }
        let Some(&owner) = stretch.sources.first() else {
            writer.text(&document.text[range]);
            last = None;
            continue;
        };
        let marks = differences
            .entry(owner)
            .or_insert_with(|| differing(document, owner.0, owner.1, excerpts));
        let names: Vec<String> =
            stretch.sources.iter().map(|found| (found.0 + 1).to_string()).collect();
        let source = owner.0 as usize + 1;
        // The indentation before a passage of a program is not colored.
        let mut range = range;
        if excerpts.is_code() && last != Some(source) {
            let bare = document.text[range.clone()].trim_start();
            let start = range.end - if bare.is_empty() { range.len() } else { bare.len() };
            writer.text(&document.text[range.start..start]);
            range.start = start;
        }
        // A stretch that continues in the same color hides its number.
        let hidden = if last == Some(source) { " hidden" } else { "" };
        let _ = write!(
            writer.out,
            "<mark class=\"{}\" id=\"{id}p{number}\" data-s=\"{}\" data-d=\"{source}\">\
             <a class=\"n\" href=\"#{id}s{source}\"{hidden}>{source}</a>",
            color(source),
            names.join(" ")
        );
        writer.marked(&document.text, range, marks, "u");
        let _ = write!(writer.out, "</mark>");
        last = Some(source);
    }
    parts.for_each(|part| writer.part(&part.name, page, line));
    html! {
        @if excerpts.is_code() { div.text.code dir="ltr" { (PreEscaped(out)) } }
        @else { div.text dir="auto" { (PreEscaped(out)) } }
    }
}

/// Returns the places of the text where a passage differs from its source.
fn differing(
    document: &DocumentReport,
    source: u32,
    passage: u32,
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
    // The beginning of an excluded quotation has no mark to link to.
    let stretch_at = |start: u32| {
        let number = document.stretches.partition_point(|stretch| stretch.range.start < start);
        let found = document.stretches.get(number);
        let is_marked = found.is_some_and(|stretch| !stretch.sources.is_empty());
        is_marked.then(|| format!("#{id}p{number}"))
    };
    let gray = document.stretches.iter().filter(|stretch| stretch.is_boilerplate);
    let gray: Vec<_> = gray.map(|gray| (gray.range.start, gray.range.end)).collect();
    let one = ExcerptSide { text: &document.text, name: "This document", boilerplate: &gray };
    let other = source.text.as_ref();
    let other = other.map(|text| ExcerptSide { text, name: "Source", boilerplate: &[] });
    html! {
        section.card id={ (id) "s" (source.number) } {
            h4 {
                span class={ "badge " (color(source.number)) } { (source.number) } " "
                (linked(&source.id, source.link.as_deref()))
            }
            p {
                (percent(source.share_in_text.thousandths())) " of the text; "
                (counted(source.passages.len() as u64, "passage"))
                @if !source.complete { "; " (MORE_PASSAGES) }
            }
            @if !source.meta.is_empty() {
                dl.meta { @for (name, value) in &source.meta {
                    dt { bdi { (VisibleText(name)) } } dd { bdi { (VisibleText(&said(value))) } }
                } }
            }
            @for place in &source.passages {
                (excerpts.passage(place, one, other, stretch_at(place.document.0)))
            }
        }
    }
}

/// Formats a value of `meta`: a text without quotes, anything else as JSON.
fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PartedText;
    use crate::reuse::tests::{found, report};
    use crate::reuse::{Counting, MeasuredDocument};

    #[test]
    fn a_part_that_goes_on_in_one_color_has_one_number() {
        let sources = vec![found("long", &[(0, 20)]), found("short", &[(5, 10)])];
        let document = report("aaaaa bbbbb ccccc ddddd", sources, &[]);
        let shown = text("d1", &document, &mut Excerpts::new(false)).into_string();
        assert_eq!(shown.matches("<mark class=\"c1\"").count(), 3, "{shown}");
        assert_eq!(shown.matches(" hidden").count(), 2, "{shown}");
        assert!(shown.contains("data-s=\"1 2\""), "{shown}");
    }

    #[test]
    fn boilerplate_is_gray_and_its_share_is_shown() {
        let counting = Counting { boilerplate: vec![(0, 5)], ..Counting::default() };
        let (sources, name) = (vec![found("one", &[(6, 11)])], "essay".to_owned());
        let searched = MeasuredDocument {
            name,
            text: "sheet mine! x".into(),
            sources,
            counting,
            more: false,
            complete: true,
        };
        let document = DocumentReport::new(searched, &[]).unwrap();
        let shown = text("d1", &document, &mut Excerpts::new(false)).into_string();
        assert!(
            shown.contains(r#"<span class="excluded boilerplate">sheet</span> <mark"#),
            "{shown}"
        );
        let said = notes(&document).into_string();
        assert!(said.contains("50.0\u{a0}% of the document. It counts"), "{said}");
        // The boilerplate is also gray beside its source, without marks.
        let card = card("d1", &document, &document.sources[0], &mut Excerpts::new(false));
        let card = card.into_string();
        assert!(card.contains(r#"<span class="excluded boilerplate">sheet</span>"#), "{card}");
        // A report without boilerplate does not mention boilerplate.
        let document = report("sheet mine! x", Vec::new(), &[]);
        assert!(!notes(&document).into_string().contains("oilerplate"));
    }

    #[test]
    fn the_bar_ends_where_the_reused_share_does() {
        // Each of the three is two thirds of a thousandth more than its shown value.
        let sources = (0..3).map(|n| {
            let mut source = found(&n.to_string(), &[(n * 1000, n * 1000 + 998)]);
            source.passages[0].source = None;
            source
        });
        let document = report(&"a".repeat(3001), sources.collect(), &[]);
        let shown = bar(&document).into_string();
        let numbers = |name: &str| -> Vec<u64> {
            let attribute = format!(" {name}=\"");
            let values = shown.split(&attribute).skip(2);
            values.map(|value| value[..value.find('"').unwrap()].parse().unwrap()).collect()
        };
        let (x, width) = (numbers("x"), numbers("width"));
        assert_eq!(x[2] + width[2], document.reused.thousandths(), "{shown}");
        assert_eq!((x[1], x[2]), (x[0] + width[0], x[1] + width[1]), "{shown}");
    }

    #[test]
    fn a_part_has_a_heading_and_its_passages_name_it_with_its_own_lines() {
        let parts = [("a.c", 0), ("empty.c", 9), ("b.c", 10)];
        let parts = parts.map(|(name, start)| cento::Part::new(name, start)).to_vec();
        let parted = PartedText { text: "int one;\n\nint a;\nint b;".into(), parts };
        let mut source = found("x", &[(17, 23)]);
        source.text = Some(parted.clone());
        source.passages[0].source = Some((0, 8));
        let searched = MeasuredDocument {
            name: "ann".into(),
            text: parted,
            sources: vec![source],
            counting: Counting::default(),
            more: false,
            complete: true,
        };
        let document = DocumentReport::new(searched, &[]).unwrap();
        let shown = text("d1", &document, &mut Excerpts::new(true)).into_string();
        let headings = ["a.c", "empty.c", "b.c"];
        let at = headings.map(|name| shown.find(&format!(">{name}</span>")).unwrap());
        assert!(at.is_sorted(), "{shown}");
        assert_eq!(shown.matches("class=\"part\"").count(), 3, "{shown}");
        // Three lines: the first of `a.c`, and both of `b.c`.
        assert_eq!(shown.matches("data-n=\"1\"").count(), 2, "{shown}");
        assert_eq!(shown.matches("data-n=\"2\"").count(), 1, "{shown}");
        let card = card("d1", &document, &document.sources[0], &mut Excerpts::new(true));
        let card = card.into_string();
        let wheres = ["This document</bdi>, <bdi>b.c</bdi>", "Source</bdi>, <bdi>a.c</bdi>"];
        assert!(wheres.iter().all(|place| card.contains(place)), "{card}");
        assert!(card.contains(", line 2<") && card.contains(", line 1<"), "{card}");
        // The lines around a passage come from its part.
        let sides: Vec<&str> = card.split("class=\"side\"").skip(1).collect();
        assert!(!sides[0].contains("one") && sides[0].contains("data-n=\"1\""), "{card}");
        assert_eq!(sides[1].matches("class=\"l\"").count(), 1, "{card}");
    }

    #[test]
    fn a_program_is_shown_by_its_lines() {
        let document = report("int a;\n\nint b;\n", vec![found("x", &[(8, 14)])], &[]);
        let shown = text("d1", &document, &mut Excerpts::new(true)).into_string();
        assert_eq!(shown.matches("class=\"l\"").count(), 3, "{shown}");
        assert!(shown.contains("class=\"text code\""), "{shown}");
        // The number of a line is at its beginning, even within a mark.
        let expected =
            r##"<a class="n" href="#d1s1">1</a><span class="l" data-n="3"></span><u>int b</u>"##;
        assert!(shown.contains(expected), "{shown}");
    }
}
