//! `trace`: where does every part of a text come from?

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;

use super::{Result, Search, VerbOutcome, line, output};
use crate::output::percent;
use crate::terminal::Id;
use cento::search::{
    Answer, ContainingDocuments, Goal, SearchOptions, SpanCarrier, Trace, TracedSpan,
};
use cento_api::{TimeOrder, Unit};

/// Show which parts of your text stored documents have too, and which document had each part first.
///
/// A part that stored documents have is a span. You see how many documents have each span, the best
/// of them and the first. The shares above the spans add up to 1. Words that stored documents have
/// are `reused`. They are `common` instead if more than half of the documents have them, and
/// `cited` if your text has them in quotation marks or in its bibliography. Everything else is
/// `new`, including the words of a span that were edited.
#[derive(Debug, Args)]
#[command(mut_arg("goal", |arg| arg.hide(true)))]
pub struct TraceText {
    #[command(flatten)]
    search: Search,
}

impl TraceText {
    pub fn run(mut self) -> Result<VerbOutcome> {
        self.search.options.goal = Goal::Trace;
        self.search.run()
    }
}

/// The columns of a table of spans.
pub const COLUMNS: &[&str] = &[
    "query",
    "a",
    "a_part",
    "a_page",
    "a_line",
    "words",
    "matched",
    "evidence",
    "expected",
    "is_common",
    "carriers",
    "carriers_exact",
    "best.id",
    "best.index",
    "best.date",
    "best.added",
    "best.b",
    "best.unit",
    "best.b_part",
    "best.b_page",
    "best.b_line",
    "best.similarity",
    "first.id",
    "first.index",
    "first.date",
    "first.added",
    "first.b",
    "first.unit",
    "first.b_part",
    "first.b_page",
    "first.b_line",
    "first.similarity",
    "text",
    "best.text",
    "first.text",
    "others",
];

/// A span, as a row of a table.
#[derive(Serialize)]
pub struct Row<'a> {
    pub query: Option<&'a str>,
    #[serde(flatten)]
    pub span: &'a TracedSpan,
}

/// Prints the shares and spans of a text.
pub fn print(
    out: &mut impl Write,
    answer: &Answer,
    trace: &Trace,
    options: &SearchOptions,
) -> io::Result<()> {
    line!(
        out,
        "{} reused, {} common, {} cited, {} new, in {}",
        percent(trace.reused),
        percent(trace.common),
        percent(trace.cited),
        percent(trace.new),
        output::counted(trace.spans.len() as u64, "span"),
    )?;
    if let (Some(field), TimeOrder::Added, false) =
        (&options.date, trace.order, trace.spans.is_empty())
    {
        line!(out, "no carrier has a date in `{field}`: `first` means added first")?;
    }
    if let Some(containing) = &trace.containing {
        print_containing(out, containing, options.filter.is_some())?;
    }
    for span in &trace.spans {
        let TracedSpan { words, matched, carriers, .. } = *span;
        let is_first = (&span.best.index, &span.best.id) == (&span.first.index, &span.first.id);
        line!(
            out,
            "{} \u{2194} {}: {}, similarity {}, {}{}{}{}",
            output::begin(span.a_part.as_deref(), span.a_page, span.a_line, Unit::Bytes, span.a),
            of(&span.best),
            output::tokens_of(words, matched),
            percent(span.best.similarity),
            if span.carriers_exact { "" } else { "about " },
            output::counted(carriers, "carrier"),
            if carriers > 1 && is_first { ", the first" } else { "" },
            if span.is_common { ", common" } else { "" },
        )?;
        line!(out, "    {}", output::beginning(&span.text))?;
        if !is_first {
            let when = span.first.date.as_ref().map_or(String::new(), |date| format!(" ({date})"));
            line!(out, "    first: {}{when}", of(&span.first))?;
        }
        for other in &span.others {
            line!(out, "    also: {}", of(other))?;
        }
    }
    if !answer.hits.is_empty() {
        line!(out)?;
    }
    Ok(())
}

/// Prints the documents that contain the whole text.
fn print_containing(
    out: &mut impl Write,
    containing: &ContainingDocuments,
    is_filtered: bool,
) -> io::Result<()> {
    let ContainingDocuments { documents, ids } = containing;
    if *documents == 0 {
        let of = if is_filtered { " that matches the filter" } else { "" };
        return line!(out, "no document{of} contains the whole text");
    }
    let more = if *documents > ids.len() as u64 { ", ..." } else { "" };
    let ids: Vec<String> = ids.iter().map(|id| Id(id).to_string()).collect();
    let documents = output::counted(*documents, "document");
    let of = if is_filtered { " among those that match the filter" } else { "" };
    line!(out, "{documents} with the whole text{of}: {}{more}", ids.join(", "))
}

/// Returns the carrier's id and position.
fn of(carrier: &SpanCarrier) -> String {
    let SpanCarrier { b_part, b_page, b_line, unit, b, .. } = carrier;
    let id = output::named(&carrier.id, carrier.index.as_deref());
    let place = output::begin(b_part.as_deref(), *b_page, *b_line, *unit, *b);
    format!("{place} of {}", Id(&id))
}
