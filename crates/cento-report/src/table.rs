//! Reports as tables for spreadsheets: csv and tsv.

use std::collections::BTreeMap;

use cento::{Error, Result};
use csv::Writer;
use serde::Serialize;

use crate::connected::clusters_of;
use crate::decontamination::DecontaminationReport;
use crate::number::shown_of;
use crate::omission::NotCompared;
use crate::pairs::PairsReport;
use crate::reuse::{CountUnit, MORE_SOURCES, Place, ReuseReport};
use crate::tuning::TuningReport;
use cento::compare::shares::Share;

/// The note on a document whose search was cut short.
const CUT_SHORT: &str = "the search was cut short: sources may be missing";

/// The note on a pair of programs whose numbers prove nothing.
const TOO_SHORT: &str = "too short to tell";

/// The characters that begin a formula in a spreadsheet. Excel also accepts the wide forms of `=`,
/// `+`, `-` and `@` from Chinese and Japanese keyboards, and the minus sign.
const FORMULA: [char; 9] =
    ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}', '\u{2212}'];

/// Returns a cell with text from outside. A spreadsheet would run a text that begins like a
/// formula, even after white space and zero-width characters, which it skips.
pub(crate) fn cell(text: &str) -> String {
    let is_skipped = |c: char| {
        c.is_control()
            || cento::text::is_white_space(c)
            || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    let is_formula = text.trim_start_matches(is_skipped).starts_with(FORMULA);
    match is_formula || text.starts_with(['\t', '\r', '\n']) {
        true => format!("'{text}"),
        false => text.to_owned(),
    }
}

/// Writes a share in full, as lists in JSON and csv do, so equal shares are equal in every table.
fn share(share: f64) -> String {
    format!("{share:?}")
}

/// Two parts with common passages. The part of a text without parts has no name.
#[derive(Serialize)]
struct PartPair<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_part: Option<&'a str>,
    passages: u32,
    tokens: u32,
}

/// Returns a cell with the parts of these passages as JSON, in descending order of tokens. Empty if
/// the texts have no parts.
fn parts(passages: &[Place]) -> String {
    let mut found = BTreeMap::<_, (u32, u32)>::new();
    for Place { part, source_part, tokens, .. } in passages {
        let of_parts = found.entry((part.as_deref(), source_part.as_deref())).or_default();
        *of_parts = (of_parts.0 + 1, of_parts.1 + tokens);
    }
    found.remove(&(None, None));
    let pair = |((part, source_part), (passages, tokens))| PartPair {
        part,
        source_part,
        passages,
        tokens,
    };
    let mut pairs: Vec<_> = found.into_iter().map(pair).collect();
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.tokens));
    match pairs.is_empty() {
        true => String::new(),
        false => serde_json::to_string(&pairs).expect("names and numbers are JSON"),
    }
}

/// Returns a row for an entry without numbers: a name, and a note in the last column.
fn noted(name: &str, note: String, columns: usize) -> Vec<String> {
    let mut row = vec![String::new(); columns];
    row[0] = cell(name);
    row[columns - 1] = note;
    row
}

fn not_compared(NotCompared { name, reason }: &NotCompared, columns: usize) -> Vec<String> {
    noted(name, format!("not compared: {reason}"), columns)
}

impl TuningReport {
    /// Writes the numbers as csv: a line per setting, then a line per unused input with the reason
    /// as its note.
    ///
    /// # Errors
    /// No error is known: the lines are written to memory.
    pub fn csv(&self) -> Result<String> {
        let head = [
            "setting",
            "scheme",
            "analyzer",
            "best",
            "threshold",
            "recall",
            "first",
            "false_hits",
            "f1",
            "fingerprints",
            "bytes",
            "add_us",
            "search_us",
            "note",
        ];
        let rows = self.tuning.settings.iter().enumerate().map(|(number, setting)| {
            vec![
                setting.name(),
                setting.setting.scheme.clone(),
                setting.setting.analyzer.clone(),
                if self.tuning.best == Some(number) { "yes" } else { "no" }.to_owned(),
                setting.threshold.to_string(),
                share(setting.recall.value),
                share(setting.first.value),
                setting.false_hits.to_string(),
                share(setting.f1),
                setting.fingerprints.to_string(),
                setting.bytes.to_string(),
                setting.add_us.to_string(),
                setting.search_us.to_string(),
                String::new(),
            ]
        });
        let others = self.not_compared.iter().map(|other| not_compared(other, head.len()));
        table(&head, rows.chain(others))
    }
}

impl ReuseReport {
    /// Writes the numbers as csv: a line per source, or one for a document without sources, and one
    /// with a note for a document whose sources may be more, then a line per input that was not
    /// searched for, with the reason as its note. An id that a spreadsheet would take for a formula
    /// begins with `'`.
    ///
    /// # Errors
    /// No error is known: the lines are written to memory.
    pub fn csv(&self) -> Result<String> {
        let mut out = Writer::from_writer(Vec::new());
        let written = self.rows().try_for_each(|row| out.write_record(row));
        finished(out, written)
    }

    fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        let head = [
            "document",
            "size",
            "unit",
            "reused",
            "common",
            "cited",
            "originality",
            "number",
            "source",
            "share_in_report",
            "share_in_text",
            "passages",
            "parts",
            "note",
        ];
        let shown = |of: Share| share(of.ratio());
        let rows = self.documents.iter().flat_map(move |document| {
            let of_document = [
                cell(&document.name),
                document.size.to_string(),
                if document.unit == CountUnit::Tokens { "tokens" } else { "characters" }.into(),
                shown(document.reused),
                shown(document.common),
                shown(document.cited),
                shown(document.originality),
            ];
            let note = if document.complete { "" } else { CUT_SHORT };
            let mut rows: Vec<Vec<String>> = document
                .sources
                .iter()
                .map(|source| {
                    let of_source = [
                        source.number.to_string(),
                        cell(&source.id),
                        shown(source.share_in_report),
                        shown(source.share_in_text),
                        source.passages.len().to_string(),
                        parts(&source.passages),
                        note.to_owned(),
                    ];
                    of_document.iter().cloned().chain(of_source).collect()
                })
                .collect();
            if rows.is_empty() {
                let none = std::iter::repeat_n(String::new(), head.len() - of_document.len() - 1);
                let note = std::iter::once(note.to_owned());
                rows.push(of_document.into_iter().chain(none).chain(note).collect());
            }
            if document.more {
                rows.push(noted(&document.name, MORE_SOURCES.to_owned(), head.len()));
            }
            rows
        });
        let missing = self.not_compared.iter().map(move |one| not_compared(one, head.len()));
        std::iter::once(head.map(str::to_owned).to_vec()).chain(rows).chain(missing)
    }
}

impl PairsReport {
    /// Writes the numbers as csv: a line per pair, then a line per input that was not compared,
    /// with the reason as its note, and a line with the number of all pairs if the list was cut. A
    /// name that a spreadsheet would take for a formula begins with `'`.
    ///
    /// # Errors
    /// No error is known: the lines are written to memory.
    pub fn csv(&self) -> Result<String> {
        let head = [
            "a",
            "b",
            "similarity",
            "containment_of_a",
            "containment_of_b",
            "resemblance",
            "overlap",
            "tokens_a",
            "tokens_b",
            "score",
            "passages",
            "parts",
            "cluster",
            "note",
        ];
        let rows = self.pairs.iter().map(|pair| {
            let (a, b) = (self.member(pair.a), self.member(pair.b));
            [
                cell(&a.name),
                cell(&b.name),
                share(pair.similarity),
                share(pair.texts.containment_of_a),
                share(pair.texts.containment_of_b),
                share(pair.texts.resemblance),
                pair.overlap.to_string(),
                a.tokens.to_string(),
                b.tokens.to_string(),
                pair.score.map_or(String::new(), share),
                pair.passages.len().to_string(),
                parts(&pair.passages),
                a.cluster.to_string(),
                if pair.is_too_short() { TOO_SHORT.into() } else { String::new() },
            ]
            .to_vec()
        });
        let missing = self.not_compared.iter().map(|one| not_compared(one, head.len()));
        let (shown, total) = (self.pairs.len() as u64, self.total);
        let cut = shown_of(shown, total, "pairs", self.limit_option);
        let cut = cut.into_iter().map(|said| noted("", said, head.len()));
        let examined = self.examined_pairs.into_iter();
        let examined = examined.map(|of| noted("", clusters_of(of, total), head.len()));
        table(&head, rows.chain(missing).chain(cut).chain(examined))
    }
}

impl DecontaminationReport {
    /// Writes the numbers as csv: a line per benchmark, then a line per input that was not read,
    /// with the reason as its note. A name that a spreadsheet would take for a formula begins with
    /// `'`.
    ///
    /// # Errors
    /// No error is known: the lines are written to memory.
    pub fn csv(&self) -> Result<String> {
        let head = [
            "benchmark",
            "questions",
            "contaminated",
            "with_answer",
            "common",
            "too_short",
            "empty",
            "rate",
            "note",
        ];
        let rows = self.counts.benchmarks.iter().map(|of| {
            vec![
                cell(&of.benchmark),
                of.questions.to_string(),
                of.contaminated.to_string(),
                of.with_answer.to_string(),
                of.common.to_string(),
                of.too_short.to_string(),
                of.empty.to_string(),
                share(of.rate),
                String::new(),
            ]
        });
        let others = self.not_compared.iter().map(|other| not_compared(other, head.len()));
        table(&head, rows.chain(others))
    }
}

/// Writes a table with these column names.
fn table(head: &[&str], mut rows: impl Iterator<Item = Vec<String>>) -> Result<String> {
    let mut out = Writer::from_writer(Vec::new());
    let written =
        out.write_record(head).and_then(|()| rows.try_for_each(|row| out.write_record(row)));
    finished(out, written)
}

fn finished(out: Writer<Vec<u8>>, written: csv::Result<()>) -> Result<String> {
    let failed = |error: std::io::Error| Error::io("write", "a table", error);
    written.map_err(|error| failed(error.into()))?;
    let bytes = out.into_inner().map_err(|error| failed(error.into_error()))?;
    String::from_utf8(bytes).map_err(|error| failed(std::io::Error::other(error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::tests::{joined, pair};
    use crate::reuse::tests::{found, report};
    use crate::run::Run;

    /// Excel in Chinese and Japanese accepts U+FF1D as `=`.
    #[test]
    fn no_cell_begins_like_a_formula_in_any_width_or_after_skipped_characters() {
        for formula in [
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\u{ff1d}1+1",
            "\u{ff0b}1",
            "\u{ff0d}1",
            "\u{ff20}SUM(A1)",
            "\u{2212}1",
            "\tx",
            "\rx",
            "\nx",
            " =1",
            "\u{3000}\u{ff1d}1",
            "\u{feff}=1",
            "\u{200b}=1",
            "\u{202e}\t=1",
            "\0=1",
        ] {
            assert_eq!(cell(formula), format!("'{formula}"), "{formula:?}");
        }
        for text in ["a=1", "", " ", "1-1", "\u{3042}=", "'=1", "a.txt", " a"] {
            assert_eq!(cell(text), text);
        }
    }

    #[test]
    fn a_table_names_the_parts_with_passages() {
        let mut places = found("x", &[(0, 4), (5, 6), (7, 12)]).passages;
        for (place, part) in places.iter_mut().zip(["a.c", "a.c", "b.c"]) {
            place.part = Some(part.into());
        }
        places[2].source_part = Some("=\"c\"".into());
        let expected = concat!(
            r#"[{"part":"a.c","passages":2,"tokens":5},"#,
            r#"{"part":"b.c","source_part":"=\"c\"","passages":1,"tokens":5}]"#
        );
        assert_eq!(parts(&places), expected);
        assert_eq!(parts(&found("x", &[(0, 4)]).passages), "");
    }

    #[test]
    fn a_table_has_the_numbers_and_no_formulas() {
        let sources = vec![found("=1+1", &[(0, 4)]), found("a,\"b", &[(2, 6)])];
        let mut documents = vec![report("aaaa bbbb", sources, &[])];
        documents.push(report("cc", Vec::new(), &[]));
        documents[1].more = true;
        let not_compared = vec![NotCompared::new("=scan.pdf", "it has no text")];
        let report =
            ReuseReport { run: Run::new("search"), documents, not_compared, warnings: Vec::new() };
        assert_eq!(
            report.csv().unwrap(),
            "document,size,unit,reused,common,cited,originality,number,source,share_in_report,share_in_text,passages,\
             parts,note\n\
             essay,8,characters,0.625,0.0,0.0,0.375,1,'=1+1,0.5,0.5,1,,\n\
             essay,8,characters,0.625,0.0,0.0,0.375,2,\"a,\"\"b\",0.125,0.375,1,,\n\
             essay,2,characters,0.0,0.0,0.0,1.0,,,,,,,\n\
             essay,,,,,,,,,,,,,the list of sources was cut: a higher limit of the \
             search may show more\n\
             '=scan.pdf,,,,,,,,,,,,,not compared: it has no text\n"
        );
        let pairs = PairsReport::new(Run::new("pairs"), joined(vec![pair("@a", "b", 0.5)]), false);
        let table = pairs.csv().unwrap();
        assert_eq!(table.lines().nth(1).unwrap(), "'@a,b,0.5,0.9,0.8,0.5,9,30,40,,1,,1,");
    }
}
