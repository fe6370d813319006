//! The lists of documents and questions, as JSON lines, tables or Parquet files.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::spool::WithQuestions;
use crate::outfile::{NewFile, PromisedFormat, check_free, promised};
use crate::parquet_file::ParquetFile;
use crate::terminal;
use cento::{Error, Result};
use cento_collections::decontaminate::{Benchmarks, CommonWords, Finding, QuestionCounts};
use cento_report::{CellType, Rows};
use std::io::Write;

/// A question found in a document: a row of the list of documents.
#[derive(Debug, Serialize)]
pub struct DocumentRow<'a> {
    document: &'a str,
    benchmark: &'a str,
    question: &'a str,
    /// Whether further documents have these words without the remaining question, or the words are
    /// a common phrase. Common words contaminate no document.
    common: bool,
    share: f64,
    /// The share of the question's own words.
    own_share: f64,
    tokens: u32,
    /// The number of unrelated documents with these words.
    carriers: u64,
    matched: String,
    start: u32,
    end: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<bool>,
    passage: &'a str,
}

/// The columns of the list of documents.
pub const DOCUMENT_COLUMNS: &[&str] = &[
    "document",
    "benchmark",
    "question",
    "common",
    "share",
    "own_share",
    "tokens",
    "carriers",
    "matched",
    "start",
    "end",
    "page",
    "line",
    "answer",
    "passage",
];

/// A question: a row of the list of questions. The place is where the evidence is strongest.
#[derive(Debug, Serialize)]
pub struct QuestionRow<'a> {
    benchmark: &'a str,
    question: &'a str,
    verdict: &'a str,
    documents: u64,
    documents_with_common_words: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    with_answer: Option<u64>,
    tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    text: &'a str,
}

/// The columns of the list of questions.
pub const QUESTION_COLUMNS: &[&str] = &[
    "benchmark",
    "question",
    "verdict",
    "documents",
    "documents_with_common_words",
    "with_answer",
    "tokens",
    "share",
    "document",
    "start",
    "end",
    "page",
    "line",
    "text",
];

impl<'a> DocumentRow<'a> {
    /// Returns the rows of a document.
    pub fn of(
        found: &'a WithQuestions,
        benchmarks: &'a Benchmarks,
        common: &'a CommonWords<'a>,
    ) -> impl Iterator<Item = DocumentRow<'a>> {
        found.findings.iter().zip(&found.passages).map(move |(finding, passage)| {
            let question = &benchmarks.questions()[finding.question];
            DocumentRow {
                document: &found.id,
                benchmark: &question.benchmark,
                question: &question.id,
                common: common.has(finding),
                share: finding.share,
                own_share: common.own_share(finding),
                tokens: finding.tokens,
                carriers: common.carriers(finding),
                matched: matched(finding, &question.text),
                start: finding.bytes.0,
                end: finding.bytes.1,
                page: finding.page,
                line: finding.line,
                answer: finding.answer.map(|answer| answer.found),
                passage,
            }
        })
    }
}

/// Returns the words of a question found in a document, with dots for omitted words.
fn matched(finding: &Finding, question: &str) -> String {
    let parts =
        finding.of_question.iter().map(|&(start, end)| &question[start as usize..end as usize]);
    parts.collect::<Vec<_>>().join(" ... ")
}

impl<'a> QuestionRow<'a> {
    /// Returns the row of a question.
    pub fn of(counts: &'a QuestionCounts, text: &'a str) -> QuestionRow<'a> {
        let evidence = counts.evidence.as_ref();
        let finding = evidence.map(|evidence| &evidence.finding);
        QuestionRow {
            benchmark: &counts.benchmark,
            question: &counts.id,
            verdict: counts.verdict,
            documents: counts.documents,
            documents_with_common_words: counts.documents_with_common_words,
            with_answer: counts.with_answer,
            tokens: counts.tokens as u64,
            share: finding.map(|finding| finding.share),
            document: evidence.map(|evidence| &*evidence.document),
            start: finding.map(|finding| finding.bytes.0),
            end: finding.map(|finding| finding.bytes.1),
            page: finding.and_then(|finding| finding.page),
            line: finding.and_then(|finding| finding.line),
            text,
        }
    }
}

/// A list in a new file. The file name decides on the format.
pub struct ListFile {
    form: ListForm,
    path: PathBuf,
}

enum ListForm {
    Lines(Box<NewFile>),
    Rows(Box<Rows<NewFile>>),
    Parquet(Box<ParquetFile>),
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("parquet"))
}

/// Checks the file name before the run, so that a long run does not fail at the end.
///
/// # Errors
/// When the name implies an unsupported format, or the file exists already.
pub fn check_name(path: &Path) -> Result<()> {
    if !is_parquet(path) {
        promised(path, "JSON lines")?;
    }
    check_free(path)
}

impl ListFile {
    /// Begins the list.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(path: &Path, columns: &'static [&'static str]) -> Result<ListFile> {
        let failed = |error| Error::io("create", path, error);
        let form = if is_parquet(path) {
            ListForm::Parquet(Box::new(ParquetFile::create(path, columns, cell_type)?))
        } else {
            let file = NewFile::create(path)?;
            match promised(path, "JSON lines")? {
                PromisedFormat::Lines => ListForm::Lines(Box::new(file)),
                PromisedFormat::Table(delimiter) => {
                    ListForm::Rows(Box::new(Rows::new(file, delimiter, columns).map_err(failed)?))
                }
            }
        };
        Ok(ListFile { form, path: path.to_owned() })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(&mut self, row: &impl Serialize) -> Result<()> {
        let written = match &mut self.form {
            ListForm::Lines(file) => terminal::json(row).and_then(|line| writeln!(file, "{line}")),
            ListForm::Rows(rows) => rows.write(row),
            ListForm::Parquet(file) => file.write(row),
        };
        written.map_err(|error| Error::io("write", &self.path, error))
    }

    /// Completes the list, and gives the file its final name.
    ///
    /// # Errors
    /// When writing fails.
    pub fn finish(self) -> Result<()> {
        let failed = |error: io::Error| Error::io("write", &self.path, error);
        match self.form {
            ListForm::Lines(file) => file.finish(),
            ListForm::Rows(rows) => rows.finish().map_err(failed)?.finish(),
            ListForm::Parquet(file) => file.finish().map_err(failed),
        }
    }
}

/// Returns the type of a column: the type of the field in the rows.
fn cell_type(column: &str) -> CellType {
    match column {
        "common" | "answer" => CellType::Truth,
        "share" | "own_share" => CellType::Real,
        "tokens"
        | "carriers"
        | "start"
        | "end"
        | "page"
        | "line"
        | "documents"
        | "documents_with_common_words"
        | "with_answer" => CellType::Integer,
        _ => CellType::Text,
    }
}
