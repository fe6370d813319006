//! The kept rows of Arrow data, as Arrow data.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, StructArray,
};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use cento::Error;
use cento_collections::dedup::Verdict;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};

use crate::arrow::Table;
use crate::convert::PARTS;
use crate::dedup::{Decided, Dedup};
use crate::entry::Refusal;
use crate::error::{Failure, refused};
use crate::parts::with_texts;
use crate::writer::REFUSALS_MAX;

/// The column of verdicts, as `cento dedup --annotate` writes it to Parquet.
const ANNOTATION: &str = "dedup";

/// The rows that stay, while they are read: batches like those that came in, or a stream of them.
#[pyclass(frozen, module = "cento._native")]
pub struct Stream {
    run: Py<Dedup>,
    schema: SchemaRef,
    /// The column of the texts.
    text: String,
    annotates: bool,
    /// Whether rows that are not documents get a verdict with a reason.
    skips: bool,
    /// No more rows come.
    is_over: AtomicBool,
    /// The number of rows that were refused, and the first of them.
    refused: Mutex<(u64, Vec<Refusal>)>,
}

#[pymethods]
impl Stream {
    #[new]
    fn new(py: Python<'_>, run: Py<Dedup>, annotates: bool, skips: bool) -> PyResult<Stream> {
        let Some(schema) = run.get().schema(py)? else {
            let what = "there is no batch, so nothing says which columns there are; give a table \
                        or a reader, which know theirs";
            return Err(refused(what).into());
        };
        let text = run.get().text()?;
        let mut fields = schema.fields().to_vec();
        if annotates {
            if schema.column_with_name(ANNOTATION).is_some() {
                let what = format!("there is a column `{ANNOTATION}` already; rename that column");
                return Err(refused(what).into());
            }
            fields.push(Arc::new(Field::new_struct(ANNOTATION, members(skips), false)));
        }
        let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        let (is_over, refused) = (AtomicBool::new(false), Mutex::default());
        Ok(Stream { run, schema, text, annotates, skips, is_over, refused })
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Returns the number of rows that were not documents, among those read.
    #[getter]
    fn failed(&self) -> u64 {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// Returns the first refused rows, with their reasons.
    #[getter]
    fn refusals<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let class = py.import("cento._types")?.getattr("Refusal")?;
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner).1.clone();
        refused.into_iter().map(|each| class.call1((each.number, each.reason))).collect()
    }

    fn __iter__(slf: Py<Stream>) -> Py<Stream> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        Ok(self.next(py)?.map(Table::new))
    }

    /// Ends the run and drops everything that has not been committed.
    fn close(&self, py: Python<'_>) {
        self.is_over.store(true, Ordering::Relaxed);
        self.run.get().close(py, true);
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        slf: Bound<'py, Stream>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let py = slf.py();
        // Without this a second reader would find a table without rows. A reader that only asks for
        // the columns has read none.
        if slf.get().is_over.load(Ordering::Relaxed) {
            let what = "the rows have been read, and come once; keep them as a table, or call \
                        `dedup_arrow` again";
            return Err(refused(what).into());
        }
        let field = Field::new_struct("", slf.get().schema.fields().clone(), false);
        let field = field.with_metadata(slf.get().schema.metadata().clone());
        let stream = slf.unbind();
        // The reader of the stream has released the GIL, and may be any thread.
        let arrays = std::iter::from_fn(move || {
            Python::attach(|py| match stream.get().next(py) {
                Ok(batch) => batch.map(|batch| Ok(Arc::new(StructArray::from(batch)) as ArrayRef)),
                Err(error) => Some(Err(ArrowError::ExternalError(error.to_string().into()))),
            })
        });
        let arrays = ArrayIterator::new(arrays, field.into());
        Ok(to_stream_pycapsule(py, Box::new(arrays), requested_schema)?)
    }
}

impl Stream {
    /// Returns the next batch with any kept rows; `None` at the end.
    fn next(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        let next = self.read(py);
        if !matches!(next, Ok(Some(_))) {
            self.is_over.store(true, Ordering::Relaxed);
        }
        next
    }

    fn read(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        while let Some((batch, decided)) = self.run.get().batch(py)? {
            {
                let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
                for refusal in decided.iter().filter_map(|decided| decided.verdict.as_ref().err()) {
                    refused.0 += 1;
                    if refused.1.len() < REFUSALS_MAX {
                        refused.1.push(refusal.clone());
                    }
                }
            }
            let batch = py
                .detach(|| self.staying(&batch, &decided))
                .map_err(|error| Failure(Error::input("the Arrow stream", error.to_string())))?;
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    fn staying(&self, batch: &RecordBatch, decided: &[Decided]) -> Result<RecordBatch, ArrowError> {
        let mut columns = batch.columns().to_vec();
        let parts: Vec<Option<&[String]>> =
            decided.iter().map(|of| (!of.parts.is_empty()).then_some(&of.parts[..])).collect();
        if parts.iter().any(Option::is_some) {
            let at = batch.schema_ref().index_of(PARTS)?;
            columns[at] = with_texts(&columns[at], &parts)?;
        }
        if decided.iter().any(|decided| decided.text.is_some() && decided.parts.is_empty()) {
            let at = batch.schema_ref().index_of(&self.text)?;
            columns[at] = replaced(&columns[at], decided)?;
        }
        if self.annotates {
            columns.push(annotation(decided, self.skips));
        }
        let batch = RecordBatch::try_new(self.schema.clone(), columns)?;
        if self.annotates {
            return Ok(batch);
        }
        let is_kept = |decided: &Decided| decided.verdict.as_ref().is_ok_and(Verdict::is_kept);
        let kept = decided.iter().map(is_kept);
        filter_record_batch(&batch, &BooleanArray::from_iter(kept.map(Some)))
    }
}

/// Makes the column of texts without the passages that were cut out.
fn replaced(texts: &ArrayRef, decided: &[Decided]) -> Result<ArrayRef, ArrowError> {
    let plain = cast(texts, &DataType::LargeUtf8)?;
    let own = plain.as_string::<i64>();
    let text = |(row, decided): (usize, &Decided)| match &decided.text {
        Some(text) if decided.parts.is_empty() => Some(text.clone()),
        _ => own.is_valid(row).then(|| own.value(row).to_owned()),
    };
    let made = arrow_array::LargeStringArray::from_iter(decided.iter().enumerate().map(text));
    cast(&made, texts.data_type())
}

fn members(skips: bool) -> Fields {
    let text = |name: &str, is_first: bool| Field::new(name, DataType::Utf8, !is_first);
    let share = |name: &str| Field::new(name, DataType::Float64, true);
    let (resemblance, containment) = (share("resemblance"), share("containment"));
    let (of, kept_as, reason) = (text("of", false), text("kept_as", false), text("reason", false));
    let mut members = vec![text("verdict", true), of, resemblance, containment, kept_as];
    members.extend(skips.then_some(reason));
    members.into()
}

/// Makes the column of verdicts.
fn annotation(decided: &[Decided], skips: bool) -> ArrayRef {
    let each = || decided.iter().map(|decided| decided.verdict.as_ref().ok());
    let kind = |verdict: Option<&Verdict>| verdict.map_or("failed", Verdict::kind);
    let reasons = decided.iter().map(|decided| decided.verdict.as_ref().err());
    let reasons = reasons.map(|refusal| refusal.map(|refusal| refusal.reason.clone()));
    let of = |verdict: &Verdict| match verdict {
        Verdict::Exact { of, .. }
        | Verdict::Near { of, .. }
        | Verdict::Contained { of, .. }
        | Verdict::Withdrawn { of, .. } => Some(of.clone()),
        _ => None,
    };
    let resemblance = |verdict: &Verdict| match verdict {
        Verdict::Near { resemblance, .. } => Some(*resemblance),
        _ => None,
    };
    let containment = |verdict: &Verdict| match verdict {
        Verdict::Contained { containment, .. } => Some(*containment),
        _ => None,
    };
    let kept_as = |verdict: &Verdict| match verdict {
        Verdict::Kept { kept_as, .. } | Verdict::Unchanged { kept_as, .. } => kept_as.clone(),
        _ => None,
    };
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(each().map(kind))),
        Arc::new(StringArray::from_iter(each().map(|verdict| verdict.and_then(of)))),
        Arc::new(Float64Array::from_iter(each().map(|verdict| verdict.and_then(resemblance)))),
        Arc::new(Float64Array::from_iter(each().map(|verdict| verdict.and_then(containment)))),
        Arc::new(StringArray::from_iter(each().map(|verdict| verdict.and_then(kept_as)))),
    ];
    if skips {
        columns.push(Arc::new(StringArray::from_iter(reasons)));
    }
    Arc::new(StructArray::new(members(skips), columns, None))
}
