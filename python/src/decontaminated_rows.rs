//! The rows of Arrow data without the questions of benchmarks, as Arrow data.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, StructArray};
use arrow_schema::{DataType, Field, Fields, SchemaRef};
use cento::{Document, Error, Result, Stop};
use cento_api::part::part_texts;
use cento_collections::decontaminate::{Benchmarks as Questions, CommonWords, Finding, Scratch};
use cento_collections::has_words;
use pyo3::prelude::*;

use crate::arrow::{Columns, Rows, Tables};
use crate::decontaminate::{Benchmarks, CorpusCounts, CountTuples, in_threads};
use crate::entry::{Entry, Refusal};
use crate::error::{Failure, refused};
use crate::meta::{FieldUse, MetaFields};
use crate::run;
use crate::stream::{RefusedRows, RowFate, RowSource, Stream, Turns, columns_with, staying};

/// The column of verdicts, as `cento decontaminate --annotate` writes it to Parquet.
const ANNOTATION: &str = "decontaminate";

/// The treatment of rows with questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowTreatment {
    /// Rows with questions are dropped.
    Drop,
    /// The passages with questions are cut out, and rows with fewer words left are left out.
    Cut {
        /// The least number of words.
        min_left: usize,
    },
    /// Rows with questions stay, and every row gets a verdict.
    Annotate,
}

/// The rows without questions, while they are read.
struct DecontaminatedRows {
    benchmarks: Py<Benchmarks>,
    tables: Turns<Tables>,
    schema: SchemaRef,
    text: String,
    treatment: RowTreatment,
    threads: usize,
    skips: bool,
    /// The counts of the whole corpus. Without counts, no words are common.
    counts: Option<CorpusCounts>,
    refused: Mutex<RefusedRows>,
}

/// The findings in a row, and the remaining text.
#[derive(Debug, Clone, Default)]
struct RowVerdict {
    /// The questions that occur.
    own: Vec<Finding>,
    /// Places with common words only.
    common: Vec<Finding>,
    /// The rest of the text, and of its parts, if passages were cut out and enough is left.
    rest: Option<(String, Vec<String>)>,
    /// The reason why the row is no document.
    refusal: Option<Refusal>,
}

impl RowVerdict {
    /// Returns the findings that the verdict names.
    fn deciding(&self) -> &[Finding] {
        if self.own.is_empty() { &self.common } else { &self.own }
    }
}

/// Makes a stream of the rows of Arrow data without the questions; texts are in the column `text`.
#[pyfunction]
#[pyo3(signature = (benchmarks, data, text, annotates, min_left, threads, skips, counts = None))]
#[expect(clippy::too_many_arguments, reason = "the Python half gives them all")]
pub fn decontaminated_rows(
    py: Python<'_>,
    benchmarks: Py<Benchmarks>,
    data: &Bound<'_, PyAny>,
    text: String,
    annotates: bool,
    min_left: Option<usize>,
    threads: Option<usize>,
    skips: bool,
    counts: Option<CountTuples>,
) -> PyResult<Stream> {
    let counts = counts.map(|counts| CorpusCounts::new(&benchmarks.get().questions, &counts));
    let counts = counts.transpose().map_err(Failure)?;
    let treatment = match (annotates, min_left) {
        (true, _) => RowTreatment::Annotate,
        (false, Some(min_left)) => RowTreatment::Cut { min_left },
        (false, None) => RowTreatment::Drop,
    };
    let columns = Columns {
        id: None,
        // No column is read for ids.
        id_prefix: Some(String::new()),
        numbered: "",
        text: text.clone(),
        meta: MetaFields::Named(Vec::new()),
        field_use: FieldUse::default(),
    };
    let mut tables = Tables::new(data, columns)?;
    let Some(schema) = tables.schema(py)? else {
        let what = "there is no batch, so nothing says which columns there are; give a table or a \
                    reader, which know theirs";
        return Err(refused(what).into());
    };
    let schema = columns_with(&schema, annotates.then(|| (ANNOTATION, members(skips))))?;
    let source = DecontaminatedRows {
        benchmarks,
        tables: Turns::new(tables),
        schema: schema.clone(),
        text,
        treatment,
        threads: threads.unwrap_or_else(cento::available_threads),
        skips,
        counts,
        refused: Mutex::default(),
    };
    Ok(Stream::new(source, schema))
}

impl RowSource for DecontaminatedRows {
    fn next(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        self.tables.next(|tables| {
            while let Some(rows) = tables.next(py)? {
                let batch = self.examined(py, &rows)?;
                if batch.num_rows() > 0 {
                    return Ok(Some(batch));
                }
            }
            Ok(None)
        })
    }

    fn close(&self, _py: Python<'_>) {
        self.tables.close();
    }

    fn refused(&self) -> (u64, Vec<Refusal>) {
        let RefusedRows(count, first) =
            &*self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        (*count, first.clone())
    }

    fn call(&self) -> &'static str {
        "decontaminate_arrow"
    }
}

impl DecontaminatedRows {
    /// Returns the rows that stay.
    fn examined(&self, py: Python<'_>, rows: &Rows) -> PyResult<RecordBatch> {
        let benchmarks = self.benchmarks.get();
        let questions = &benchmarks.questions;
        let (verdicts, batch) = run::long(py, |stop| {
            let entries = rows.documents(self.skips)?;
            let common = self.counts.as_ref().map(|counts| benchmarks.common(counts));
            let work = |entry: &Entry, scratch: &mut Scratch| {
                self.verdict(questions, common.as_ref(), entry, scratch, stop)
            };
            let verdicts = in_threads(&entries, self.threads, work)?;
            let fates: Vec<RowFate<'_>> = verdicts.iter().map(fate).collect();
            let column = (self.treatment == RowTreatment::Annotate)
                .then(|| annotation(questions, &verdicts, self.skips));
            let batch = staying(rows.batch(), &fates, &self.text, &self.schema, column)
                .map_err(|error| Error::input("the Arrow stream", error.to_string()))?;
            Ok((verdicts, batch))
        })?;
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        verdicts.iter().filter_map(|of| of.refusal.as_ref()).for_each(|each| refused.add(each));
        Ok(batch)
    }

    fn verdict(
        &self,
        questions: &Questions,
        common: Option<&CommonWords<'_>>,
        Entry { number, document, .. }: &Entry,
        scratch: &mut Scratch,
        stop: &Stop,
    ) -> Result<RowVerdict> {
        let document = match document {
            Ok(document) => document,
            Err(refusal) if self.skips => {
                return Ok(RowVerdict { refusal: Some(refusal.clone()), ..RowVerdict::default() });
            }
            Err(refusal) => {
                return Err(Error::input(format!("row {number}"), refusal.reason.clone()));
            }
        };
        let findings = questions.findings(&document.text, scratch, stop)?;
        let is_common = |finding: &Finding| common.is_some_and(|common| common.has(finding));
        let (common, own): (Vec<_>, Vec<_>) = findings.into_iter().partition(is_common);
        let rest = match self.treatment {
            RowTreatment::Cut { min_left } if !own.is_empty() => {
                let is_cut = |finding: &Finding| !is_common(finding);
                rest_of(questions, document, is_cut, min_left, scratch, stop)?
            }
            _ => None,
        };
        Ok(RowVerdict { own, common, rest, refusal: None })
    }
}

/// Returns the text of a document and of its parts without the questions, if enough is left.
fn rest_of(
    questions: &Questions,
    document: &Document,
    is_cut: impl Fn(&Finding) -> bool,
    min_left: usize,
    scratch: &mut Scratch,
    stop: &Stop,
) -> Result<Option<(String, Vec<String>)>> {
    let rest = questions.cut_out(document, is_cut, scratch, stop)?;
    Ok(rest.filter(|(text, _)| has_words(text, min_left)).map(|(text, parts)| {
        let parts = part_texts(&parts, &text).map(|(_, text)| text.to_owned()).collect();
        (text, parts)
    }))
}

fn fate(RowVerdict { own, rest, refusal, .. }: &RowVerdict) -> RowFate<'_> {
    RowFate {
        is_kept: refusal.is_none() && (own.is_empty() || rest.is_some()),
        text: rest.as_ref().map(|(text, _)| &**text),
        parts: rest.as_ref().map_or(&[], |(_, parts)| parts),
    }
}

fn members(skips: bool) -> Fields {
    let text = |name: &str, is_first: bool| Field::new(name, DataType::Utf8, !is_first);
    let number = |name: &str| Field::new(name, DataType::Float64, true);
    let mut members = vec![
        text("verdict", true),
        text("benchmark", false),
        text("question", false),
        number("share"),
        number("questions"),
    ];
    members.extend(skips.then(|| text("reason", false)));
    members.into()
}

/// Makes the column of verdicts: whether questions occur, the question with the greatest share, and
/// how many they are.
fn annotation(questions: &Questions, verdicts: &[RowVerdict], skips: bool) -> ArrayRef {
    let kind = |of: &RowVerdict| match (&of.refusal, &of.own[..], &of.common[..]) {
        (Some(_), ..) => "failed",
        (None, [], []) => "clean",
        (None, [], _) => "common",
        (None, ..) => "contaminated",
    };
    // The first of equal shares.
    let best = |of: &RowVerdict| {
        let best = of.deciding().iter().rev().max_by(|a, b| a.share.total_cmp(&b.share));
        best.map(|finding| (finding.share, &questions.questions()[finding.question]))
    };
    let count = |of: &RowVerdict| {
        let questions = of.deciding().chunk_by(|a, b| a.question == b.question).count();
        (questions > 0).then_some(questions as f64)
    };
    let each = || verdicts.iter();
    let benchmarks = each().map(|of| best(of).map(|(_, question)| question.benchmark.clone()));
    let ids = each().map(|of| best(of).map(|(_, question)| question.id.clone()));
    let counts = each().map(count);
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(each().map(kind))),
        Arc::new(StringArray::from_iter(benchmarks)),
        Arc::new(StringArray::from_iter(ids)),
        Arc::new(Float64Array::from_iter(each().map(|of| best(of).map(|(share, _)| share)))),
        Arc::new(Float64Array::from_iter(counts)),
    ];
    if skips {
        let reasons = each().map(|of| of.refusal.as_ref().map(|refusal| refusal.reason.clone()));
        columns.push(Arc::new(StringArray::from_iter(reasons)));
    }
    Arc::new(StructArray::new(members(skips), columns, None))
}
