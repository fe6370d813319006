//! Reads rows of Arrow data as a stream.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, StructArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};

use crate::convert::PARTS;
use crate::entry::Refusal;
use crate::error::refused;
use crate::parts::with_texts;
use crate::table::Table;
use crate::writer::REFUSALS_MAX;

/// The source of the rows of a stream.
pub trait RowSource: Send + Sync {
    /// Returns the next batch that has rows; `None` at the end.
    fn next(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>>;

    /// Ends the work early and drops its results.
    fn close(&self, py: Python<'_>);

    /// Returns the number of skipped rows, and the first of them.
    fn refused(&self) -> (u64, Vec<Refusal>) {
        Default::default()
    }

    /// Returns the name of the call that gives the rows again.
    fn call(&self) -> &'static str;
}

/// Rows, while they are read: batches, or a stream of them.
#[pyclass(frozen, module = "cento._native")]
pub struct Stream {
    source: Box<dyn RowSource>,
    schema: SchemaRef,
    /// No more rows come.
    is_over: AtomicBool,
}

#[pymethods]
impl Stream {
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Returns the number of rows that were not documents, among those read.
    #[getter]
    fn failed(&self) -> u64 {
        self.source.refused().0
    }

    /// Returns the first refused rows, with their reasons.
    #[getter]
    fn refusals<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let class = py.import("cento._types")?.getattr("Refusal")?;
        let (_, refused) = self.source.refused();
        refused.into_iter().map(|each| class.call1((each.number, each.reason))).collect()
    }

    fn __iter__(slf: Py<Stream>) -> Py<Stream> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        Ok(self.next(py)?.map(Table::new))
    }

    /// Ends the work and drops everything that has not been committed.
    fn close(&self, py: Python<'_>) {
        self.is_over.store(true, Ordering::Relaxed);
        self.source.close(py);
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        slf: Bound<'py, Stream>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let py = slf.py();
        // Otherwise a second reader would find a table without rows. A reader that only asks for
        // the columns has read no rows.
        if slf.get().is_over.load(Ordering::Relaxed) {
            let what = format!(
                "the rows have been read, and come once; keep them as a table, or call `{}` again",
                slf.get().source.call()
            );
            return Err(refused(what).into());
        }
        let field = Field::new_struct("", slf.get().schema.fields().clone(), false);
        let field = field.with_metadata(slf.get().schema.metadata().clone());
        let stream = slf.unbind();
        // The reader of the stream may be any thread, and does not hold the GIL.
        let arrays = std::iter::from_fn(move || {
            Python::attach(|py| match stream.get().next(py) {
                Ok(batch) => batch.map(|batch| Ok(Arc::new(StructArray::from(batch)) as ArrayRef)),
                Err(error) => Some(Err(ArrowError::ExternalError(error.to_string().into()))),
            })
        });
        let arrays = ArrayIterator::new(arrays, field.into());
        Ok(to_stream_pycapsule(py, Box::new(arrays), requested_schema)?)
    }

    fn __reduce__(&self) -> PyResult<()> {
        let what = "a stream is neither copied nor sent to another process, because its rows come \
                    once; make a table of it first, such as `pyarrow.table(stream)`";
        Err(refused(what).into())
    }
}

impl Stream {
    /// Reads the rows of `source`, which have these columns.
    pub fn new(source: impl RowSource + 'static, schema: SchemaRef) -> Stream {
        Stream { source: Box::new(source), schema, is_over: AtomicBool::new(false) }
    }

    /// Returns the next batch that has rows; `None` at the end.
    fn next(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        let next = self.source.next(py);
        if !matches!(next, Ok(Some(_))) {
            self.is_over.store(true, Ordering::Relaxed);
        }
        next
    }
}

/// A source of rows that serves one thread at a time.
pub struct Turns<T>(Mutex<StreamTurn<T>>);

enum StreamTurn<T> {
    Free(T),
    /// A thread is using the source.
    Taken,
    Over,
}

impl<T> Turns<T> {
    /// Begins with the first turn.
    pub fn new(source: T) -> Turns<T> {
        Turns(Mutex::new(StreamTurn::Free(source)))
    }

    /// Does `work` without holding this lock, so that no thread waits for the lock with the GIL.
    /// Nothing follows an error or the end.
    pub fn next<R>(&self, work: impl FnOnce(&mut T) -> PyResult<Option<R>>) -> PyResult<Option<R>> {
        let turn = std::mem::replace(&mut *self.lock(), StreamTurn::Taken);
        let mut source = match turn {
            StreamTurn::Free(source) => source,
            StreamTurn::Taken => return Err(refused("another thread is reading the rows").into()),
            StreamTurn::Over => {
                self.close();
                return Ok(None);
            }
        };
        let made = work(&mut source);
        let next =
            if matches!(made, Ok(Some(_))) { StreamTurn::Free(source) } else { StreamTurn::Over };
        // Put the source back, unless it was closed meanwhile.
        let mut turn = self.lock();
        if matches!(*turn, StreamTurn::Taken) {
            *turn = next;
        }
        made
    }

    /// Ends the source early.
    pub fn close(&self) {
        // Dropped without the lock, because dropping Python objects may run any code.
        let turn = std::mem::replace(&mut *self.lock(), StreamTurn::Over);
        drop(turn);
    }

    fn lock(&self) -> MutexGuard<'_, StreamTurn<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of skipped rows, and the first of them.
#[derive(Default)]
pub struct RefusedRows(pub u64, pub Vec<Refusal>);

impl RefusedRows {
    /// Counts a refused row, and keeps the first few reasons.
    pub fn add(&mut self, refusal: &Refusal) {
        self.0 += 1;
        if self.1.len() < REFUSALS_MAX {
            self.1.push(refusal.clone());
        }
    }
}

/// The decision about a row.
pub struct RowFate<'a> {
    /// Whether the row stays, unless all rows do.
    pub is_kept: bool,
    /// The new text, if passages were cut out.
    pub text: Option<&'a str>,
    /// The texts of its parts, if passages were cut out and it has parts.
    pub parts: &'a [String],
}

/// Returns the columns of incoming rows. If all rows stay, a column of verdicts follows.
///
/// When a column with the name of the verdicts exists already.
pub fn columns_with(
    schema: &SchemaRef,
    verdicts: Option<(&str, arrow_schema::Fields)>,
) -> PyResult<SchemaRef> {
    let mut fields = schema.fields().to_vec();
    if let Some((name, members)) = verdicts {
        if schema.column_with_name(name).is_some() {
            let what = format!("there is a column `{name}` already; rename that column");
            return Err(refused(what).into());
        }
        fields.push(Arc::new(Field::new_struct(name, members, false)));
    }
    Ok(Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())))
}

/// Returns the rows of a batch that stay, with their new texts; all rows if they have `verdicts`.
pub fn staying(
    batch: &RecordBatch,
    fates: &[RowFate<'_>],
    text: &str,
    schema: &SchemaRef,
    verdicts: Option<ArrayRef>,
) -> Result<RecordBatch, ArrowError> {
    let mut columns = batch.columns().to_vec();
    let parts: Vec<Option<&[String]>> =
        fates.iter().map(|of| (!of.parts.is_empty()).then_some(of.parts)).collect();
    if parts.iter().any(Option::is_some) {
        let at = batch.schema_ref().index_of(PARTS)?;
        columns[at] = with_texts(&columns[at], &parts)?;
    }
    if fates.iter().any(|fate| fate.text.is_some() && fate.parts.is_empty()) {
        let at = batch.schema_ref().index_of(text)?;
        columns[at] = replaced(&columns[at], fates)?;
    }
    let gives_all = verdicts.is_some();
    columns.extend(verdicts);
    let batch = RecordBatch::try_new(schema.clone(), columns)?;
    if gives_all {
        return Ok(batch);
    }
    let kept = fates.iter().map(|fate| Some(fate.is_kept));
    filter_record_batch(&batch, &BooleanArray::from_iter(kept))
}

/// Makes the column of texts without the passages that were cut out.
fn replaced(texts: &ArrayRef, fates: &[RowFate<'_>]) -> Result<ArrayRef, ArrowError> {
    let plain = cast(texts, &DataType::LargeUtf8)?;
    let own = plain.as_string::<i64>();
    let text = |(row, fate): (usize, &RowFate<'_>)| match fate.text {
        Some(text) if fate.parts.is_empty() => Some(text.to_owned()),
        _ => own.is_valid(row).then(|| own.value(row).to_owned()),
    };
    let made = arrow_array::LargeStringArray::from_iter(fates.iter().enumerate().map(text));
    cast(&made, texts.data_type())
}
