//! Body of a report on the questions of benchmarks in a corpus.

use std::ops::Range;

use maud::{Markup, PreEscaped, html};

use super::excerpt::bytes;
use super::text::{VisibleText, Writer, at_most};
use super::{count, counted, not_compared, not_compared_note};
use crate::decontamination::{DecontaminationReport, QuestionEntry};
use crate::number::percent;

/// Maximum shown size of a question, in bytes.
const QUESTION_BYTES_MAX: usize = 4_000;

/// Writes the body of the page.
pub fn body(report: &DecontaminationReport) -> Markup {
    let counts = &report.counts;
    let sum = |of: fn(&cento_collections::decontaminate::BenchmarkCounts) -> u64| {
        counts.benchmarks.iter().map(of).sum::<u64>()
    };
    let (questions, contaminated) = (sum(|of| of.questions), sum(|of| of.contaminated));
    html! {
        section {
            div.shares {
                p {
                    span.share { (count(contaminated)) }
                    " of " (counted(questions, "question")) " contaminated"
                }
                p {
                    span.share { (count(report.contaminated_documents)) }
                    " of " (counted(counts.documents, "document")) " with such a question"
                }
            }
            p.note {
                "A question is contaminated if a document has at least " (percent(report.min_share))
                " of its own words, in one place and in runs of several words. Letter "
                "case, white space and line breaks do not count. Each word counts as far as it is "
                "hard to guess, divided among the questions that have it, and among the unrelated "
                "documents that have it without the rest of the question. At least 8 words must occur there, "
                "or all of a shorter question."
            }
            (not_compared_note(&report.not_compared))
        }
        section {
            h2 { "Benchmarks" }
            (benchmarks(report))
        }
        @if !report.common_phrases.is_empty() {
            section {
                h2 { "Common words" }
                p.note {
                    "Questions that only lend documents words that unrelated ones share, such as a "
                    "quotation, and questions of at most 12 words in more than "
                    (counted(counts.common_documents, "document"))
                    ". They say nothing about where a "
                    "document comes from, and are not counted as contaminated."
                }
                table.list {
                    thead { tr {
                        th scope="col" { "Benchmark" } th scope="col" { "Question" } th scope="col" { "Text" }
                        th.number scope="col" { "Documents" }
                    } }
                    tbody { @for entry in &report.common_phrases { tr {
                        td { bdi { (VisibleText(&entry.counts.benchmark)) } }
                        th scope="row" { bdi { (VisibleText(&entry.counts.id)) } }
                        td { bdi { (VisibleText(&entry.text)) } }
                        td.number { (count(entry.counts.documents_with_common_words)) }
                    } } }
                }
            }
        }
        @if !report.strongest.is_empty() {
            section {
                h2 { "Evidence" }
                p.note {
                    "Of each benchmark the contaminated questions with the greatest shares, "
                    "the longest first. Marked words are in both texts."
                }
                @for entry in &report.strongest { (card(entry)) }
            }
        }
        (not_compared(&report.not_compared))
    }
}

fn benchmarks(report: &DecontaminationReport) -> Markup {
    let all = &report.counts.benchmarks;
    let has = |of: fn(&cento_collections::decontaminate::BenchmarkCounts) -> u64| {
        all.iter().any(|benchmark| of(benchmark) > 0)
    };
    let (answers, common) = (has(|of| of.answers), has(|of| of.common));
    let left = has(|of| of.too_short + of.empty);
    html! {
        div.wide tabindex="0" role="region" aria-label="Benchmarks" {
            table.list {
                thead { tr {
                    th scope="col" { "Benchmark" } th.number scope="col" { "Questions" }
                    th.number scope="col" { "Contaminated" } th.number scope="col" { "Rate" }
                    @if answers { th.number scope="col" { "With answer" } }
                    @if common { th.number scope="col" { "Common words" } }
                    @if left { th.number scope="col" { "Too short" } th.number scope="col" { "Empty" } }
                } }
                tbody { @for of in all { tr {
                    th scope="row" { bdi { (VisibleText(&of.benchmark)) } }
                    td.number { (count(of.questions)) }
                    td.number { (count(of.contaminated)) }
                    td.number { (percent(of.rate)) }
                    @if answers { td.number {
                        @if of.answers > 0 { (count(of.with_answer)) } @else { "-" }
                    } }
                    @if common { td.number { (count(of.common)) } }
                    @if left { td.number { (count(of.too_short)) } td.number { (count(of.empty)) } }
                } } }
            }
        }
        p.note { "A rate is a share of the questions that were searched for." }
    }
}

/// Shows a question beside the place where the question occurs.
fn card(entry: &QuestionEntry) -> Markup {
    let QuestionEntry { counts, text, answer } = entry;
    let Some(evidence) = &counts.evidence else { return html! {} };
    let finding = &evidence.finding;
    let marks: Vec<Range<usize>> = finding.of_question.iter().map(|range| bytes(*range)).collect();
    let shift = |range: &(u32, u32)| {
        let start = evidence.excerpt_start;
        bytes((range.0.saturating_sub(start), range.1.saturating_sub(start)))
    };
    let in_excerpt: Vec<Range<usize>> = finding.of_document.iter().map(shift).collect();
    let (page, line) = (finding.page, finding.line);
    html! {
        article.card {
            h3 { bdi { (VisibleText(&counts.benchmark)) } ", question " bdi { (VisibleText(&counts.id)) } }
            p.place {
                (counted(counts.tokens as u64, "word")) ", " (percent(finding.share)) " of it in this document, in "
                (counted(counts.documents, "document")) " in all"
                @if counts.documents_with_common_words > 0 {
                    ", " (counted(counts.documents_with_common_words, "other")) " with common words only"
                }
                @if let Some(answered) = counts.with_answer {
                    ", " (count(answered)) " with the answer"
                }
            }
            div.beside {
                div.side {
                    p.where { "The question" }
                    div.excerpt.c0 dir="auto" { (marked(text, &at_most(text, &(0..text.len()), QUESTION_BYTES_MAX), &marks)) }
                    @if let Some(answer) = answer {
                        p.where { "The answer" }
                        div.excerpt dir="auto" { (VisibleText(answer)) }
                    }
                }
                div.side {
                    p.where {
                        bdi { (VisibleText(&evidence.document)) }
                        @if let Some(page) = page { ", page " (page) }
                        @if let Some(line) = line { ", line " (line) }
                        ", bytes " (finding.bytes.0) " to " (finding.bytes.1)
                    }
                    div.excerpt.c0 dir="auto" {
                        (marked(&evidence.excerpt, &(0..evidence.excerpt.len()), &in_excerpt))
                    }
                }
            }
        }
    }
}

/// Writes a part of a text with some ranges marked. A range beyond the text is cut.
fn marked(text: &str, part: &Range<usize>, marks: &[Range<usize>]) -> Markup {
    let within = |mark: &Range<usize>| {
        let end = text.floor_char_boundary(mark.end.min(text.len()));
        text.floor_char_boundary(mark.start.min(end))..end
    };
    let marks: Vec<Range<usize>> = marks.iter().map(within).collect();
    let mut shown = String::new();
    Writer::new(&mut shown, None, None).marked(text, part.clone(), &marks, "mark");
    PreEscaped(shown)
}
