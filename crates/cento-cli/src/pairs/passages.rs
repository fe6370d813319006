//! Passages of pairs as rows with the texts.

use std::io::{self, Write};

use serde::Serialize;

use super::Pairs;
use crate::output::{self, counted, named, percent};
use crate::progress::Progress;
use crate::rows_out::{CellType, RowsOut};
use crate::terminal::{Id, line, note, tell};
use crate::{Result, VerbOutcome};
use cento::index::{DocAddress, Snapshot};
use cento::search::Searcher;
use cento::{Error, Passage, Stop, Unit};
use cento_collections::pairs::{self, PairOptions, PairReport};

/// A passage with the texts. `start` and `end` are byte offsets in the stored document.
#[derive(Debug, Serialize)]
struct PassageRow<'a> {
    a: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    index_a: Option<&'a str>,
    b: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    index_b: Option<&'a str>,
    tokens: u32,
    matched: u32,
    similarity: f64,
    passages_complete: bool,
    a_start: u32,
    a_end: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    a_part: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    a_page: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    a_line: Option<u32>,
    a_before: &'a str,
    a_text: &'a str,
    a_after: &'a str,
    b_start: u32,
    b_end: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    b_part: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b_page: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b_line: Option<u32>,
    b_before: &'a str,
    b_text: &'a str,
    b_after: &'a str,
}

/// The columns of a table of passages.
const COLUMNS: &[&str] = &[
    "a",
    "index_a",
    "b",
    "index_b",
    "tokens",
    "matched",
    "similarity",
    "passages_complete",
    "a_start",
    "a_end",
    "a_part",
    "a_page",
    "a_line",
    "a_before",
    "a_text",
    "a_after",
    "b_start",
    "b_end",
    "b_part",
    "b_page",
    "b_line",
    "b_before",
    "b_text",
    "b_after",
];

impl Pairs {
    /// Writes a row for each passage of the pairs, with `context` characters around the passage.
    pub(super) fn run_passages(
        &self,
        context: usize,
        options: &PairOptions,
        searcher: &Searcher,
        against: Option<&Searcher>,
        stop: &Stop,
    ) -> Result {
        let searched = against.unwrap_or(searcher);
        let (a, b) = (searcher.snapshot(), searched.snapshot());
        let mut out = RowsOut::open(self.indexes.out.as_deref(), self.format, COLUMNS, cell_type)?;
        let progress = Progress::new(pairs::document_count(searcher), "documents");
        let mut found = self.pairs(searcher, against, options, stop).progress(progress.setter());
        let (mut passages, mut pair_count, mut cut) = (0, 0, 0);
        let mut first: Option<(DocAddress, String)> = None;
        let result = found.by_ref().try_for_each(|pair| -> Result<()> {
            let pair = pair?;
            // Consecutive pairs often share the first document, so its text is kept.
            let text_a = match first.take() {
                Some((address, text)) if address == pair.a => text,
                _ => text_of(a, pair.a)?,
            };
            let (address, text_b) = (pair.a, text_of(b, pair.b)?);
            let report = pair.report(a, b)?;
            pair_count += 1;
            cut += u64::from(report.passages_complete == Some(false));
            for row in rows(&report, [&text_a, &text_b], context) {
                out.write(&row, |out| print(out, &row))?;
                passages += 1;
            }
            first = Some((address, text_a));
            Ok(())
        });
        progress.finish();
        result?;
        out.finish()?;
        self.tell_without_field(found.summary());
        self.join.tell_stopped(searched, self.options.max_df, stop)?;
        if cut > 0 {
            let of = counted(cut, "pair");
            tell!("cento: of {of} the search for passages was cut short: there may be more");
        }
        if self.format.is_human() {
            note!("{} of {}", counted(passages, "passage"), counted(pair_count, "pair"));
        }
        Ok(if passages > 0 { VerbOutcome::Found } else { VerbOutcome::Nothing })
    }
}

/// Returns the type of a column: the type of the field in [`Row`].
fn cell_type(column: &str) -> CellType {
    match column {
        "tokens" | "matched" => CellType::Integer,
        "similarity" => CellType::Real,
        "passages_complete" => CellType::Truth,
        place if ["_start", "_end", "_page", "_line"].iter().any(|end| place.ends_with(end)) => {
            CellType::Integer
        }
        _ => CellType::Text,
    }
}

fn text_of(snapshot: &Snapshot, address: DocAddress) -> cento::Result<String> {
    let document = snapshot.document(address)?;
    let without = || Error::input(&document.id, "the index stores no text of this document");
    document.text.ok_or_else(without)
}

/// Returns the rows of a pair whose texts are given.
fn rows<'a>(
    pair: &'a PairReport,
    texts: [&'a str; 2],
    context: usize,
) -> impl Iterator<Item = PassageRow<'a>> {
    let passages = pair.passages.iter().flatten();
    let passages = passages.filter(|passage| passage.unit == Unit::Bytes);
    passages.map(move |passage| row(pair, passage, texts, context))
}

fn row<'a>(
    pair: &'a PairReport,
    passage: &'a Passage,
    [text_a, text_b]: [&'a str; 2],
    context: usize,
) -> PassageRow<'a> {
    let ((a_start, a_end), (b_start, b_end)) = (passage.a, passage.b);
    let [a_before, a_text, a_after] = cut(text_a, passage.a, context);
    let [b_before, b_text, b_after] = cut(text_b, passage.b, context);
    PassageRow {
        a: &pair.a,
        index_a: pair.index_a.as_deref(),
        b: &pair.b,
        index_b: pair.index_b.as_deref(),
        tokens: passage.tokens,
        matched: passage.matched,
        similarity: passage.similarity,
        passages_complete: pair.passages_complete.unwrap_or(true),
        a_start,
        a_end,
        a_part: passage.a_part.as_deref(),
        a_page: passage.a_page,
        a_line: passage.a_line,
        a_before,
        a_text,
        a_after,
        b_start,
        b_end,
        b_part: passage.b_part.as_deref(),
        b_page: passage.b_page,
        b_line: passage.b_line,
        b_before,
        b_text,
        b_after,
    }
}

/// Returns the text before, in and after a range of bytes.
fn cut(text: &str, (start, end): (u32, u32), context: usize) -> [&str; 3] {
    let (start, end) = (start as usize, end as usize);
    let (Some(before), Some(within), Some(after)) =
        (text.get(..start), text.get(start..end), text.get(end..))
    else {
        return [""; 3];
    };
    let from = before.char_indices().rev().take(context).last().map_or(start, |(at, _)| at);
    let to = after.char_indices().nth(context).map_or(after.len(), |(at, _)| at);
    [&before[from..], within, &after[..to]]
}

fn print(out: &mut impl Write, row: &PassageRow<'_>) -> io::Result<()> {
    let size = output::tokens_of(row.tokens, row.matched);
    line!(out, "{size}, similarity {}", percent(row.similarity))?;
    let of_a = output::place(row.a_part, row.a_page, row.a_line);
    let of_b = output::place(row.b_part, row.b_page, row.b_line);
    for (id, index, place, texts) in [
        (row.a, row.index_a, of_a, [row.a_before, row.a_text, row.a_after]),
        (row.b, row.index_b, of_b, [row.b_before, row.b_text, row.b_after]),
    ] {
        line!(out, "  {}{place}", Id(&named(id, index)))?;
        let [before, text, after] = texts.map(on_one_line);
        line!(out, "    {before}[{text}]{after}")?;
    }
    Ok(())
}

/// Returns a text with a single space for each stretch of white space.
fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_whitespace() {
            true if line.ends_with(' ') => {}
            true => line.push(' '),
            false => line.push(c),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_ends_at_the_ends_of_the_text_and_between_characters() {
        let text = "\u{e4}bc def gh\u{fc}";
        let place = (5, 8);
        assert_eq!(cut(text, place, 2), ["c ", "def", " g"]);
        assert_eq!(cut(text, place, 9), ["\u{e4}bc ", "def", " gh\u{fc}"]);
        assert_eq!(cut(text, place, 0), ["", "def", ""]);
        assert_eq!(cut(text, (1, 8), 2), ["", "", ""]);
    }

    #[test]
    fn every_row_says_whether_all_passages_of_its_pair_were_found() {
        for is_complete in [true, false] {
            let pair = serde_json::json!({
                "a": "x", "b": "y", "overlap": 1, "resemblance": 1.0, "containment_of_a": 1.0,
                "containment_of_b": 1.0, "exact": true, "fingerprints_a": 1, "fingerprints_b": 1,
                "tokens_a": 2, "tokens_b": 2, "category": null, "passages_complete": is_complete,
                "passages": [
                    {"a": [0, 3], "b": [0, 3], "tokens": 1, "matched": 1, "similarity": 1.0},
                    {"a": [4, 7], "b": [4, 7], "tokens": 1, "matched": 1, "similarity": 1.0},
                ],
            });
            let pair: PairReport = serde_json::from_value(pair).unwrap();
            let rows = rows(&pair, ["one two"; 2], 40);
            let said: Vec<_> = rows.map(|row| row.passages_complete).collect();
            assert_eq!(said, [is_complete; 2]);
            assert!(COLUMNS.contains(&"passages_complete"));
        }
    }

    #[test]
    fn a_passage_is_shown_on_one_line() {
        assert_eq!(on_one_line("a\n  b\tc "), "a b c ");
    }
}
