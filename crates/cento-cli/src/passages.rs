//! `cento passages`

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::join::JoinArgs;
use super::list_format::ListFormat;
use super::output::{self, counted, named, similarity};
use super::progress::{Progress, stop_flag};
use super::rows_out::{CellType, RowsOut};
use super::terminal::{Id, line, note, tell};
use super::{Outcome, Result};
use cento::index::{DocAddress, Snapshot};
use cento::{Error, MaxDf, PairPassage, Unit};
use cento_collections::Thresholds;
use cento_collections::pairs::{self, DocumentPairs, Pair, PairOptions, PairReport, Pairs};

/// List the passages that documents share, with their texts.
///
/// One row for each passage of each pair of documents: its place in both, its text there, and the
/// text around it. The texts of both may differ in white space, in punctuation and, where one was
/// rewritten, in words. Pairs are in the order of their documents in the index, passages in the
/// order of the first document. Each part of the first document is in one row with a pair, beside
/// the place of the other document that fits best: a text that only the second document has twice
/// is listed once; `cento families` lists all its places. A row says whether all passages of its
/// pair were found (`passages_complete`): the search of long texts may be cut short. The index must
/// store texts.
#[derive(Debug, Args)]
pub struct PassageList {
    /// Directory of the index; several are taken as one, if they have the same scheme and analyzer.
    #[arg(value_name = "INDEX", required = true)]
    indexes: Vec<PathBuf>,
    /// Only passages that a document of INDEX shares with one of this other index.
    #[arg(long, value_name = "INDEX", conflicts_with = "boilerplate")]
    against: Option<PathBuf>,
    /// Only passages of at least this many words.
    #[arg(
        long, value_name = "WORDS", default_value = "20",
        value_parser = clap::value_parser!(u32).range(1..),
    )]
    min_passage: u32,
    /// Number of characters to show before and after a passage.
    #[arg(long, value_name = "N", default_value = "40")]
    context: usize,
    #[command(flatten)]
    thresholds: Thresholds,
    /// Fingerprints in more documents bring up no pair: a number of documents, or a share of them
    /// such as `0.01`. Default: the setting of the index.
    #[arg(long, value_name = "N|F")]
    max_df: Option<MaxDf>,
    #[command(flatten)]
    join: JoinArgs,
    /// Output format. The columns of csv and tsv are the fields of JSON.
    #[arg(long, value_enum, default_value = "human")]
    format: ListFormat,
    /// Write to this file, which must not exist: a Parquet file if its name ends in .parquet, else
    /// in the format of --format, compressed if it ends in .gz or .zst.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// A passage with its texts.
#[derive(Debug, Serialize)]
struct Row<'a> {
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
    #[serde(flatten)]
    of_a: OfA<'a>,
    #[serde(flatten)]
    of_b: OfB<'a>,
}

/// The place of a passage in the first document: the bytes from `a_start` to `a_end`, and the text
/// there.
#[derive(Debug, Serialize)]
struct OfA<'a> {
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
}

/// The place of a passage in the second document.
#[derive(Debug, Serialize)]
struct OfB<'a> {
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

impl PassageList {
    pub(super) fn run(self) -> Result {
        let stop = stop_flag();
        let searcher = self.join.searcher_of_all(&self.indexes)?;
        let against = self.against.as_deref().map(|path| self.join.searcher(path)).transpose()?;
        let options = PairOptions::default().thresholds(self.thresholds).max_df(self.max_df);
        let options = options.passages(true).min_passage(self.min_passage);
        let (a, b) = (searcher.snapshot(), against.as_ref().unwrap_or(&searcher).snapshot());
        let mut out = RowsOut::open(self.out.as_deref(), self.format, COLUMNS, cell_type)?;
        let progress = Progress::new(pairs::document_count(&searcher), "documents");
        let (mut passages, mut pair_count, mut cut) = (0, 0, 0);
        let found = pairs::pairs(&searcher, &options).threads(self.join.threads()).stop(&stop);
        let found = against.iter().fold(found, Pairs::against).by_document();
        let result = found.into_iter().try_for_each(|document| -> Result<()> {
            let DocumentPairs { next, pairs, .. } = document?;
            let mut first: Option<(DocAddress, String)> = None;
            for pair in pairs {
                if first.as_ref().is_none_or(|(address, _)| *address != pair.a) {
                    first = Some((pair.a, text_of(a, pair.a)?));
                }
                let text_a = first.as_ref().map_or("", |(_, text)| text);
                let text_b = text_of(b, pair.b)?;
                pair_count += 1;
                cut += u64::from(pair.passages.as_ref().is_some_and(|found| !found.complete));
                passages += self.write(&mut out, pair, (a, text_a), (b, &text_b))?;
            }
            progress.set(next);
            Ok(())
        });
        progress.finish();
        result?;
        out.finish()?;
        self.join.tell_stopped(against.as_ref().unwrap_or(&searcher), self.max_df, &stop)?;
        if cut > 0 {
            let of = counted(cut, "pair");
            tell!("cento: of {of} the search for passages was cut short: there may be more");
        }
        if self.format.is_human() {
            note!("{} of {}", counted(passages, "passage"), counted(pair_count, "pair"));
        }
        Ok(if passages > 0 { Outcome::Found } else { Outcome::Nothing })
    }

    /// Writes the passages of a pair, and returns their number.
    fn write(
        &self,
        out: &mut RowsOut,
        pair: Pair,
        (a, text_a): (&Snapshot, &str),
        (b, text_b): (&Snapshot, &str),
    ) -> Result<u64> {
        let pair = pair.report(a, b)?;
        let rows = self.rows_of(&pair, text_a, text_b);
        for row in &rows {
            out.write(row, |out| print(out, row))?;
        }
        Ok(rows.len() as u64)
    }

    /// Returns the rows of a pair.
    fn rows_of<'a>(&self, pair: &'a PairReport, text_a: &'a str, text_b: &'a str) -> Vec<Row<'a>> {
        let ids = (&*pair.a, pair.index_a.as_deref(), &*pair.b, pair.index_b.as_deref());
        let passages = pair.passages.iter().flatten();
        passages
            .filter(|passage| passage.unit == Unit::Bytes)
            .map(|passage| {
                let (a, b) = (self.cut(text_a, passage.a), self.cut(text_b, passage.b));
                Row {
                    passages_complete: pair.passages_complete.unwrap_or(true),
                    ..row(ids, passage, a, b)
                }
            })
            .collect()
    }

    /// Returns the text before, in and after a range of bytes.
    fn cut<'a>(&self, text: &'a str, (start, end): (u32, u32)) -> [&'a str; 3] {
        let (start, end) = (start as usize, end as usize);
        let (Some(before), Some(within), Some(after)) =
            (text.get(..start), text.get(start..end), text.get(end..))
        else {
            return [""; 3];
        };
        let from =
            before.char_indices().rev().take(self.context).last().map_or(start, |(at, _)| at);
        let to = after.char_indices().nth(self.context).map_or(after.len(), |(at, _)| at);
        [&before[from..], within, &after[..to]]
    }
}

/// Returns the type of a column, which is that of its field in [`Row`].
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

fn row<'a>(
    (a, index_a, b, index_b): (&'a str, Option<&'a str>, &'a str, Option<&'a str>),
    passage: &'a PairPassage,
    [a_before, a_text, a_after]: [&'a str; 3],
    [b_before, b_text, b_after]: [&'a str; 3],
) -> Row<'a> {
    let ((a_start, a_end), (b_start, b_end)) = (passage.a, passage.b);
    let (a_page, a_line, b_page, b_line) =
        (passage.a_page, passage.a_line, passage.b_page, passage.b_line);
    let [a_part, b_part] = [&passage.a_part, &passage.b_part].map(Option::as_deref);
    Row {
        a,
        index_a,
        b,
        index_b,
        tokens: passage.tokens,
        matched: passage.matched,
        similarity: passage.similarity,
        passages_complete: true,
        of_a: OfA { a_start, a_end, a_part, a_page, a_line, a_before, a_text, a_after },
        of_b: OfB { b_start, b_end, b_part, b_page, b_line, b_before, b_text, b_after },
    }
}

fn print(out: &mut impl Write, row: &Row<'_>) -> io::Result<()> {
    let size = output::tokens_of(row.tokens, row.matched);
    line!(out, "{size}, similarity {}", similarity(row.similarity))?;
    let OfA { a_part, a_page, a_line, a_before, a_text, a_after, .. } = row.of_a;
    let OfB { b_part, b_page, b_line, b_before, b_text, b_after, .. } = row.of_b;
    for (id, index, place, [before, text, after]) in [
        (row.a, row.index_a, output::place(a_part, a_page, a_line), [a_before, a_text, a_after]),
        (row.b, row.index_b, output::place(b_part, b_page, b_line), [b_before, b_text, b_after]),
    ] {
        line!(out, "  {}{place}", Id(&named(id, index)))?;
        let [before, text, after] = [before, text, after].map(on_one_line);
        line!(out, "    {before}[{text}]{after}")?;
    }
    Ok(())
}

/// Returns a text with one space for each stretch of white space.
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
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        list: PassageList,
    }

    #[test]
    fn context_ends_at_the_ends_of_the_text_and_between_characters() {
        let list = |context: &str| Command::parse_from(["", "idx", "--context", context]).list;
        let text = "\u{e4}bc def gh\u{fc}";
        let place = (5, 8);
        assert_eq!(list("2").cut(text, place), ["c ", "def", " g"]);
        assert_eq!(list("9").cut(text, place), ["\u{e4}bc ", "def", " gh\u{fc}"]);
        assert_eq!(list("0").cut(text, place), ["", "def", ""]);
        assert_eq!(list("2").cut(text, (1, 8)), ["", "", ""]);
    }

    #[test]
    fn every_row_says_whether_all_passages_of_its_pair_were_found() {
        let list = Command::parse_from(["", "idx"]).list;
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
            let rows = list.rows_of(&pair, "one two", "one two");
            let said: Vec<_> = rows.iter().map(|row| row.passages_complete).collect();
            assert_eq!(said, [is_complete; 2]);
            assert!(COLUMNS.contains(&"passages_complete"));
        }
    }

    #[test]
    fn a_passage_is_shown_on_one_line() {
        assert_eq!(on_one_line("a\n  b\tc "), "a b c ");
    }
}
