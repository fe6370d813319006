//! Passages beside the passages that they resemble.

use std::ops::Range;

use cento::Origin;
use maud::{Markup, PreEscaped, html};

use super::text::{VisibleText, Writer, at_most, line_at, with_context, with_lines};
use super::{count, counted, percent};
use crate::difference::{Comparer, Difference};
use crate::number::rounded;
use crate::parted_text::PartedText;
use crate::reuse::Place;

/// Maximum shown size of a passage, in bytes. Longer passages are cut at the end.
const PASSAGE_BYTES_MAX: usize = 20_000;

/// Maximum total size of the passages that a report shows side by side, in bytes of texts.
const REPORT_BYTES_MAX: usize = 8 << 20;

/// Size of the text shown before and after a passage, in bytes.
const CONTEXT_BYTES: usize = 160;

/// Maximum size of the lines before and after a passage of a program, in bytes.
const CONTEXT_LINES_BYTES_MAX: usize = 500;

/// Shows passages until the report is large enough.
#[derive(Debug)]
pub struct Excerpts {
    bytes: usize,
    comparer: Comparer,
    is_code: bool,
}

/// A text, and the heading above its passages.
#[derive(Clone, Copy)]
pub struct ExcerptSide<'a> {
    /// The text that the passages are ranges of.
    pub text: &'a PartedText,
    /// The heading above the passages.
    pub name: &'a str,
    /// The ranges of boilerplate in the text, in bytes: ascending and disjoint.
    pub boilerplate: &'a [(u32, u32)],
}

impl ExcerptSide<'_> {
    /// Writes a range of the text with marks. Boilerplate is gray and unmarked.
    fn write(&self, writer: &mut Writer<'_>, part: Range<usize>, (marks, tag): Marks<'_>) {
        let mut at = part.start;
        for &place in self.boilerplate {
            let gray = bytes(place);
            let (start, end) = (gray.start.max(at), gray.end.min(part.end));
            // A place from outside may be within a character.
            if start >= end || self.text.get(start..end).is_none() {
                continue;
            }
            writer.marked(self.text, at..start, marks, tag);
            writer.out.push_str("<span class=\"excluded boilerplate\">");
            writer.text(&self.text[start..end]);
            writer.out.push_str("</span>");
            at = end;
        }
        writer.marked(self.text, at..part.end, marks, tag);
    }
}

/// Marked ranges, and the HTML element of the marks.
type Marks<'a> = (&'a [Range<usize>], &'a str);

/// Returns the bytes of a place.
pub fn bytes((start, end): (u32, u32)) -> Range<usize> {
    start as usize..end as usize
}

impl Excerpts {
    /// Creates an empty report. Passages of programs have lines.
    pub fn new(is_code: bool) -> Excerpts {
        Excerpts { bytes: REPORT_BYTES_MAX, comparer: Comparer::default(), is_code }
    }

    /// Returns whether the texts are programs.
    pub fn is_code(&self) -> bool {
        self.is_code
    }

    /// Finds the words that differ between two passages.
    pub fn difference(&mut self, one: &str, other: &str) -> Option<Difference> {
        self.comparer.compare(one, other)
    }

    /// Shows a passage. `to` is the link to its place in the text, if shown.
    pub fn passage(
        &mut self,
        place: &Place,
        document: ExcerptSide<'_>,
        source: Option<ExcerptSide<'_>>,
        to: Option<String>,
    ) -> Markup {
        let at = bytes(place.document);
        let heading = html! {
            p.place {
                (counted(place.tokens.into(), if self.is_code { "token" } else { "word" })) ", "
                (percent(rounded(place.similarity, 1000))) " alike"
                @if let Some(to) = to { ", " a href=(to) { "in the text" } }
            }
        };
        let sides = source.zip(place.source.map(bytes));
        let needed = at.len() + sides.as_ref().map_or(0, |(_, range)| range.len());
        let shown = needed.min(2 * PASSAGE_BYTES_MAX);
        let Some(left) = self.bytes.checked_sub(shown) else {
            return html! {
                (heading)
                p.note { "Not shown: the passages before this one fill the report." }
            };
        };
        self.bytes = left;
        let (one, other) = (
            at_most(document.text, &at, PASSAGE_BYTES_MAX),
            sides.map(|(side, range)| (side, at_most(side.text, &range, PASSAGE_BYTES_MAX), range)),
        );
        let difference = other.as_ref().and_then(|(side, shown, _)| {
            self.difference(&document.text[one.clone()], &side.text[shown.clone()])
        });
        let is_compared = difference.is_some();
        let Difference { left, right } = difference.unwrap_or_default();
        html! {
            (heading)
            div.beside {
                (self.side(document, (place.page, place.line, place.origin), (&at, &one), &left, "ins"))
                @match &other {
                    Some((source, shown, range)) => {
                        (self.side(*source, (place.source_page, place.source_line, place.source_origin), (range, shown), &right, "del"))
                    },
                    None => div.side { p.note { "The text of this source is not stored." } },
                }
            }
            @if other.is_some() && !is_compared {
                p.note { "These passages are too long to mark the words that differ." }
            }
        }
    }

    /// Writes one side. The passage is `range` of the text and begins on this page and line,
    /// `shown` is its shown beginning, and `marks` are the places that differ, counted from the
    /// start of `shown`. The context does not extend beyond the part.
    fn side(
        &self,
        shown_side: ExcerptSide<'_>,
        (page, line, origin): (Option<u32>, Option<u32>, Option<Origin>),
        (range, shown): (&Range<usize>, &Range<usize>),
        marks: &[Range<usize>],
        tag: &str,
    ) -> Markup {
        let ExcerptSide { text, name, .. } = shown_side;
        let (part, bounds) = match text.part_of(range) {
            Some((part, bounds)) => (Some(part), bounds),
            None => (None, 0..text.len()),
        };
        let own = &text[bounds.clone()];
        let in_part = range.start - bounds.start..range.end - bounds.start;
        let marks: Vec<_> =
            marks.iter().map(|mark| mark.start + shown.start..mark.end + shown.start).collect();
        let lines = match self.is_code {
            true => with_lines(own, &in_part, CONTEXT_LINES_BYTES_MAX),
            false => None,
        };
        let has_lines = lines.is_some();
        let around = lines.unwrap_or_else(|| with_context(own, &in_part, CONTEXT_BYTES));
        let first = self.is_code.then(|| line_at(own, around.start));
        let around = around.start + bounds.start..around.end + bounds.start;
        let is_whole = shown.end == range.end;
        let mut out = String::with_capacity(around.len() + around.len() / 4);
        let mut writer = Writer::new(&mut out, None, first);
        writer.out.push_str("<span class=\"context\">");
        if around.start > bounds.start && !has_lines {
            writer.text("\u{2026} ");
        }
        shown_side.write(&mut writer, around.start..range.start, (&[], tag));
        writer.out.push_str("</span>");
        shown_side.write(&mut writer, shown.clone(), (&marks, tag));
        writer.out.push_str("<span class=\"context\">");
        if is_whole {
            shown_side.write(&mut writer, range.end..around.end, (&[], tag));
            writer.text(if around.end < bounds.end && !has_lines { " \u{2026}" } else { "" });
        } else {
            let rest = text[shown.end..range.end].chars().count() as u64;
            writer.text(&format!(" \u{2026} and {}", counted(rest, "more character")));
        }
        writer.out.push_str("</span>");
        html! {
            div.side {
                p.where {
                    bdi { (VisibleText(name)) }
                    @if let Some(part) = part { ", " bdi { (VisibleText(part)) } }
                    @if let Some(page) = page { ", page " (count(page.into())) }
                    @if self.is_code { ", " (of_lines(own, &in_part)) }
                    @else if let Some(line) = line { ", line " (count(line.into())) }
                    @if let Some(Origin { line, .. }) = origin { "; in the web page line " (count(line.into())) }
                }
                @if self.is_code { div.excerpt.code dir="ltr" { (PreEscaped(out)) } }
                @else { div.excerpt dir="auto" { (PreEscaped(out)) } }
            }
        }
    }
}

/// Names the lines of a program that contain a range.
fn of_lines(text: &str, range: &Range<usize>) -> String {
    let text_of = text[range.clone()].trim_end_matches(['\n', '\r']);
    let (first, last) = (line_at(text, range.start), line_at(text, range.start + text_of.len()));
    match first == last {
        true => format!("line {}", count(first)),
        false => format!("lines {} to {}", count(first), count(last)),
    }
}
