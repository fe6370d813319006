//! Results as tables of Arrow.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, ListArray, RecordBatch, RecordBatchReader,
    StringArray, StructArray, UInt32Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields, Schema};
use arrow_select::concat::concat_batches;
use cento::{Answer, Error, Passage, Unit};
use cento_collections::pairs::PairReport;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::PyRecordBatchReader;
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};

use crate::arrow::failed;
use crate::error::{Failure, refused};
use crate::reduced::{Reduced, function};

/// Results as a table of Arrow.
#[pyclass(frozen, module = "cento._native")]
pub struct Table {
    batch: RecordBatch,
}

#[pymethods]
impl Table {
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let field = Field::new_struct("", self.batch.schema_ref().fields().clone(), false);
        let array: ArrayRef = Arc::new(StructArray::from(self.batch.clone()));
        let arrays = ArrayIterator::new(std::iter::once(Ok(array)), field.into());
        Ok(to_stream_pycapsule(py, Box::new(arrays), requested_schema)?)
    }

    /// Sends it to another process as a table of pyarrow, if there is that package.
    fn __reduce__<'py>(slf: &Bound<'py, Table>) -> PyResult<Reduced<'py, (Bound<'py, PyAny>,)>> {
        let py = slf.py();
        let Ok(pyarrow) = py.import("pyarrow") else {
            let what = "a table is sent to other processes, or pickled, by pyarrow, which is not \
                        installed; send the rows that another library makes of the table";
            return Err(refused(what).into());
        };
        Ok((function(py, "table_of")?, (pyarrow.call_method1("table", (slf,))?,)))
    }

    /// Returns itself: nothing changes it.
    fn __copy__(slf: Py<Table>) -> Py<Table> {
        slf
    }

    /// Returns itself: nothing changes it.
    fn __deepcopy__(slf: Py<Table>, _memo: &Bound<'_, PyAny>) -> Py<Table> {
        slf
    }
}

/// Restores a table from a second process.
#[pyfunction]
pub fn table_of(rows: PyRecordBatchReader) -> PyResult<Table> {
    let reader = rows.into_reader()?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    Ok(Table::new(concat_batches(&schema, &batches).map_err(failed)?))
}

/// The columns that may have nothing in a row.
const NULLABLE: [&str; 3] = ["passages", "score", "category"];

/// Puts named columns together.
fn table(columns: Vec<(&str, ArrayRef)>) -> PyResult<Table> {
    let field = |(name, column): &(&str, ArrayRef)| {
        Field::new(*name, column.data_type().clone(), NULLABLE.contains(name))
    };
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    let batch = RecordBatch::try_new(Arc::new(schema), columns);
    let batch = batch.map_err(|e| Failure(Error::internal("a table", e.to_string())))?;
    Ok(Table { batch })
}

fn texts<T: AsRef<str>>(values: impl Iterator<Item = T>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn counts(values: impl Iterator<Item = u32>) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(values))
}

fn maybe(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(Float64Array::from_iter(values))
}

fn flags(values: impl Iterator<Item = bool>) -> ArrayRef {
    Arc::new(BooleanArray::from_iter(values.map(Some)))
}

fn shares(values: impl Iterator<Item = f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(values))
}

impl Table {
    /// Makes a table of these rows.
    pub fn new(batch: RecordBatch) -> Table {
        Table { batch }
    }

    /// Makes a table of the hits of answers, in their order.
    pub fn of_answers<'a>(
        answers: impl Iterator<Item = &'a Answer>,
        as_bytes: bool,
    ) -> PyResult<Table> {
        let numbered = (0u32..).zip(answers);
        let hits: Vec<_> = numbered
            .flat_map(|(number, answer)| (1u32..).zip(&answer.hits).map(move |hit| (number, hit)))
            .collect();
        let each = || hits.iter().map(|(_, (_, hit))| *hit);
        let metas = each().map(|hit| crate::convert::to_json(&hit.meta));
        let metas = metas.collect::<PyResult<Vec<_>>>()?;
        table(vec![
            ("query", counts(hits.iter().map(|(number, _)| *number))),
            ("rank", counts(hits.iter().map(|(_, (rank, _))| *rank))),
            ("id", texts(each().map(|hit| &hit.id))),
            ("overlap", counts(each().map(|hit| hit.overlap))),
            ("fingerprints", counts(each().map(|hit| hit.fingerprints))),
            ("containment_of_a", shares(each().map(|hit| hit.similarity.containment_of_a))),
            ("containment_of_b", shares(each().map(|hit| hit.similarity.containment_of_b))),
            ("resemblance", shares(each().map(|hit| hit.similarity.resemblance))),
            ("standard_error", maybe(each().map(|hit| hit.similarity.standard_error))),
            ("exact", flags(each().map(|hit| hit.similarity.exact))),
            ("meta", texts(metas.iter())),
            ("passages", passages(each().map(|hit| hit.passages.as_deref()), as_bytes)),
        ])
    }

    /// Makes a table of pairs, in their order.
    pub fn of_pairs(pairs: &[PairReport]) -> PyResult<Table> {
        let each = || pairs.iter();
        let scores = each().map(|pair| pair.score);
        let categories = each().map(|pair| pair.category.map(|category| format!("{category:?}")));
        table(vec![
            ("a", texts(each().map(|pair| &pair.a))),
            ("b", texts(each().map(|pair| &pair.b))),
            ("overlap", counts(each().map(|pair| pair.overlap))),
            ("containment_of_a", shares(each().map(|pair| pair.similarity.containment_of_a))),
            ("containment_of_b", shares(each().map(|pair| pair.similarity.containment_of_b))),
            ("resemblance", shares(each().map(|pair| pair.similarity.resemblance))),
            ("standard_error", maybe(each().map(|pair| pair.similarity.standard_error))),
            ("exact", flags(each().map(|pair| pair.similarity.exact))),
            ("fingerprints_a", counts(each().map(|pair| pair.fingerprints_a))),
            ("fingerprints_b", counts(each().map(|pair| pair.fingerprints_b))),
            ("tokens_a", counts(each().map(|pair| pair.tokens_a))),
            ("tokens_b", counts(each().map(|pair| pair.tokens_b))),
            ("score", maybe(scores)),
            ("category", Arc::new(StringArray::from_iter(categories))),
        ])
    }
}

/// Returns the unit of the ranges of a passage.
pub fn unit_of(unit: Unit, as_bytes: bool) -> &'static str {
    match (unit, as_bytes) {
        (Unit::Tokens, _) => "tokens",
        (Unit::Bytes, true) => "bytes",
        (Unit::Bytes, false) => "characters",
    }
}

/// The names of the numbers of a passage, but for its similarity.
const PASSAGE: [&str; 6] = ["a_start", "a_end", "b_start", "b_end", "tokens", "matched"];

/// Lists of passages; null where none were looked for.
fn passages<'a>(lists: impl Iterator<Item = Option<&'a [Passage]>>, as_bytes: bool) -> ArrayRef {
    let mut fields = PASSAGE.map(|name| Field::new(name, DataType::UInt32, false)).to_vec();
    fields.push(Field::new("similarity", DataType::Float64, false));
    fields.push(Field::new("unit", DataType::Utf8, false));
    fields.extend(["a_part", "b_part"].map(|name| Field::new(name, DataType::Utf8, true)));
    let (mut numbers, mut similarities, mut units) =
        ([const { Vec::new() }; PASSAGE.len()], Vec::new(), Vec::new());
    let (mut a_parts, mut b_parts) = (Vec::new(), Vec::new());
    let (mut lengths, mut given) = (Vec::new(), Vec::new());
    for list in lists {
        given.push(list.is_some());
        lengths.push(list.map_or(0, <[Passage]>::len));
        for passage in list.unwrap_or_default() {
            let ((a, b), (c, d)) = (passage.a, passage.b);
            for (column, number) in
                numbers.iter_mut().zip([a, b, c, d, passage.tokens, passage.matched])
            {
                column.push(number);
            }
            similarities.push(passage.similarity);
            units.push(unit_of(passage.unit, as_bytes));
            a_parts.push(passage.a_part.as_deref());
            b_parts.push(passage.b_part.as_deref());
        }
    }
    let mut columns: Vec<ArrayRef> =
        numbers.into_iter().map(|column| counts(column.into_iter())).collect();
    columns.push(shares(similarities.into_iter()));
    columns.push(texts(units.into_iter()));
    columns.extend([a_parts, b_parts].map(|parts| Arc::new(StringArray::from(parts)) as _));
    let fields = Fields::from(fields);
    let values = StructArray::new(fields.clone(), columns, None);
    let item = Arc::new(Field::new("item", DataType::Struct(fields), false));
    let offsets = OffsetBuffer::from_lengths(lengths);
    let nulls = NullBuffer::from(given);
    Arc::new(ListArray::new(item, offsets, Arc::new(values), Some(nulls)))
}
