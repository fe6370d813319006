//! Documents from Arrow tables.
//!
//! Tables come and go by the Arrow PyCapsule interface (`__arrow_c_stream__`, `__arrow_c_array__`),
//! so that no library of Python for Arrow is needed. A text is copied once, into the document that
//! is signed. Results as tables are in [`table`](crate::table).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use cento::{Document, Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use pyo3_arrow::{PyRecordBatch, PyRecordBatchReader};
use serde_json::{Map, Number, Value};

use crate::contents::Contents;
use crate::convert::PARTS;
use crate::entry::{BATCH_BYTES, BATCH_DOCUMENTS, Entry, Refusal};
use crate::error::{Failure, refused};
use crate::meta::{FieldUse, MetaBuilder, MetaFields};
use crate::strings::{StringColumn, column, ids_of};

/// The meaning of the columns of a table.
pub struct Columns {
    /// The column of the ids; if it is not given, `id`, or a number for each row where there is no
    /// such column.
    pub id: Option<String>,
    /// The text before the number of a row in its id, in place of a column.
    pub id_prefix: Option<String>,
    /// The text before the number for rows of a table without a column `id`, if the caller names no
    /// column.
    pub numbered: &'static str,
    /// The column of the texts.
    pub text: String,
    /// The columns that make the meta object.
    pub meta: MetaFields,
    /// The use of the columns.
    pub field_use: FieldUse,
}

/// Some rows of a table.
pub struct Rows {
    batch: RecordBatch,
    /// The whole incoming batch, if these rows are the start of the batch.
    whole: Option<RecordBatch>,
    /// The number of the first row.
    first: u64,
    columns: Arc<Columns>,
}

/// The tables that a value of Python gives.
pub struct Tables {
    /// Further tables, if the value was an iterable of tables.
    rest: Option<Py<PyIterator>>,
    reader: Option<Box<dyn RecordBatchReader + Send>>,
    /// Rows that are still to be given, and whether others of their batch have been.
    current: Option<(RecordBatch, bool)>,
    columns: Arc<Columns>,
    /// The number of the next row.
    number: u64,
}

impl Tables {
    /// Reads anything with `__arrow_c_stream__` or `__arrow_c_array__`, or an iterable of such
    /// values.
    pub fn new(value: &Bound<'_, PyAny>, columns: Columns) -> PyResult<Tables> {
        let columns = Arc::new(columns);
        let mut tables = Tables { rest: None, reader: None, current: None, columns, number: 0 };
        if !tables.open(value)? {
            let rest = value.try_iter().map_err(|_| not_arrow(value))?;
            tables.rest = Some(rest.unbind());
        }
        Ok(tables)
    }

    /// Warns of columns that became no part of a document.
    pub fn warn(&self, py: Python<'_>) -> PyResult<()> {
        self.columns.field_use.warn(py)
    }

    /// Returns the name of the column of the texts.
    pub fn text(&self) -> &str {
        &self.columns.text
    }

    /// Returns the columns of the tables; waits for the first of them. `None` if there is no table.
    pub fn schema(&mut self, py: Python<'_>) -> PyResult<Option<SchemaRef>> {
        Ok(match (self.current.is_some() || self.advance(py)?, &self.current, &self.reader) {
            (_, Some((batch, _)), _) => Some(batch.schema()),
            (_, None, Some(reader)) => Some(reader.schema()),
            (_, None, None) => None,
        })
    }

    /// Continues with this value, if it gives Arrow data.
    fn open(&mut self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        if value.hasattr("__arrow_c_stream__")? {
            let reader = value.extract::<PyRecordBatchReader>();
            let reader = reader.map_err(|error| not_table(value, error))?;
            self.reader = Some(reader.into_reader().map_err(|error| not_table(value, error))?);
        } else if value.hasattr("__arrow_c_array__")? {
            let batch = value.extract::<PyRecordBatch>();
            let batch = batch.map_err(|error| not_table(value, error))?;
            self.current = Some((batch.into_inner(), false));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Opens the next table, or returns `false` at the end.
    fn advance(&mut self, py: Python<'_>) -> PyResult<bool> {
        if self.reader.is_some() {
            return Ok(true);
        }
        let next = self.rest.as_ref().and_then(|rest| rest.bind(py).clone().next());
        let Some(value) = next else { return Ok(false) };
        let value = value?;
        match self.open(&value)? {
            true => Ok(true),
            false => Err(not_arrow(&value)),
        }
    }

    /// Returns the next rows, or `None` at the end.
    pub fn next(&mut self, py: Python<'_>) -> PyResult<Option<Rows>> {
        loop {
            if let Some((batch, is_begun)) = self.current.take()
                && batch.num_rows() > 0
            {
                return Ok(Some(self.cut(&batch, is_begun)?));
            }
            if let Some(reader) = &mut self.reader {
                // A reader that needs the GIL takes it itself.
                match py.detach(|| reader.next()) {
                    Some(batch) => self.current = Some((batch.map_err(failed)?, false)),
                    None => self.reader = None,
                }
                continue;
            }
            if !self.advance(py)? {
                return Ok(None);
            }
        }
    }

    /// Returns the first rows of a batch; the others are left for later.
    fn cut(&mut self, batch: &RecordBatch, is_begun: bool) -> PyResult<Rows> {
        let all = batch.num_rows();
        let begun = batch.slice(0, all.min(BATCH_DOCUMENTS));
        let contents = Contents::of(&begun, &self.columns.text).map_err(Failure)?;
        // By the rows themselves: views and dictionaries do not show the size of their rows.
        let (mut count, mut bytes) = (0, 0);
        while count < begun.num_rows() && bytes < BATCH_BYTES {
            bytes += contents.bytes(count);
            count += 1;
        }
        self.current = (count < all).then(|| (batch.slice(count, all - count), true));
        let first = self.number;
        self.number += count as u64;
        let whole = (!is_begun).then(|| batch.clone());
        Ok(Rows { batch: batch.slice(0, count), whole, first, columns: self.columns.clone() })
    }
}

fn not_arrow(value: &Bound<'_, PyAny>) -> PyErr {
    let kind = value.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
    let what = format!(
        "a {kind} is no Arrow table: it has neither `__arrow_c_stream__` nor `__arrow_c_array__`, \
         and is no iterable of objects that have"
    );
    refused(what).into()
}

/// Makes the exception for a value that gives Arrow data, but no table, such as a column. An
/// exception beside the ordinary exceptions, such as the signal of Ctrl-C, is passed on.
fn not_table(value: &Bound<'_, PyAny>, cause: PyErr) -> PyErr {
    let py = value.py();
    if !cause.is_instance_of::<pyo3::exceptions::PyException>(py) {
        return cause;
    }
    let kind = value.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
    let what = format!(
        "a {kind} is no table of Arrow, with columns that have names; of one column make a table first, such \
         as `pyarrow.table({{\"text\": column}})`, or pass the table or frame that it comes from"
    );
    let error: PyErr = refused(what).into();
    error.set_cause(py, Some(cause));
    error
}

/// Makes the error for a stream that cannot be read.
pub fn failed(error: ArrowError) -> Failure {
    Failure(Error::input("the Arrow stream", error.to_string()))
}

impl Rows {
    pub fn batch(&self) -> &RecordBatch {
        &self.batch
    }

    /// Returns the whole incoming batch, if these rows are the start of the batch.
    pub fn take_whole(&mut self) -> Option<RecordBatch> {
        self.whole.take()
    }

    /// Makes the documents of the rows. Unless `skips` is set, the first row that is not a document
    /// is the last.
    ///
    /// # Errors
    /// When a column is missing, or of a type that it cannot be.
    pub fn documents(&self, skips: bool) -> Result<Vec<Entry>> {
        let Columns { id, id_prefix, numbered, text, .. } = &*self.columns;
        let contents = Contents::of(&self.batch, text)?;
        let others = self.others(contents.has_parts());
        let are_numbered =
            id_prefix.is_none() && id.is_none() && self.batch.column_by_name("id").is_none();
        let id = id.as_deref().unwrap_or("id");
        let ids = match id_prefix {
            Some(_) => None,
            None if are_numbered => None,
            None => {
                let ids = ids_of(column(&self.batch, id)?, self.has_uuids(id))
                    .map_err(|e| Error::input(format!("the column `{id}`"), e.to_string()))?;
                Some(StringColumn::new(&ids, id)?)
            }
        };
        let mut documents = Vec::with_capacity(self.batch.num_rows());
        for row in 0..self.batch.num_rows() {
            let number = self.first + row as u64;
            let own = ids.as_ref().and_then(|ids| ids.at(row));
            // A row without an id is numbered, as one of a table without ids is.
            let is_numbered = are_numbered || (ids.is_some() && own.is_none());
            let id = match (own, id_prefix) {
                (Some(own), _) => own.to_owned(),
                (None, prefix) => format!("{}{number}", prefix.as_deref().unwrap_or(numbered)),
            };
            let document = self.document(id, &contents, &others, row, number);
            let is_bad = document.is_err();
            let document = match document {
                Err(error) => Err(Refusal::of(number, error)?),
                Ok(document) => Ok(document),
            };
            documents.push(Entry { number, document, is_numbered });
            if is_bad && !skips {
                break;
            }
        }
        Ok(documents)
    }

    /// Returns whether a column declares its values of 16 bytes as UUIDs.
    fn has_uuids(&self, name: &str) -> bool {
        let field = self.batch.schema_ref().field_with_name(name).ok();
        let says = field.and_then(|field| field.metadata().get("ARROW:extension:name"));
        says.is_some_and(|name| name == "arrow.uuid")
    }

    /// Makes the document of a row.
    fn document(
        &self,
        id: String,
        contents: &Contents<'_>,
        others: &[(&str, &ArrayRef)],
        row: usize,
        number: u64,
    ) -> Result<Document> {
        let place = || format!("row {number}");
        let document = contents.document(row, id);
        let mut document = document.map_err(|what| Error::input(place(), what))?;
        document.meta = self.meta(others, row, &place)?;
        match document.problem() {
            Some(what) => Err(Error::input(place(), what)),
            None => Ok(document),
        }
    }

    /// Returns the columns without another purpose that a meta object can hold, if all are kept.
    fn others(&self, has_parts: bool) -> Vec<(&str, &ArrayRef)> {
        let Columns { id, id_prefix, text, meta, field_use, .. } = &*self.columns;
        if !matches!(meta, MetaFields::All) {
            return Vec::new();
        }
        let fields = self.batch.schema_ref().fields();
        let id = id_prefix.is_none().then(|| id.as_deref().unwrap_or("id"));
        let is_used = |name: &str| id == Some(name) || text == name || (name == PARTS && has_parts);
        let mut others = Vec::new();
        for (field, column) in fields.iter().zip(self.batch.columns()) {
            let name = field.name().as_str();
            let times = fields.iter().filter(|field| field.name() == name).count();
            match times > 1 || is_bytes(field.data_type()) {
                _ if is_used(name) => {}
                true => field_use.leave_out(name),
                false => others.push((name, column)),
            }
        }
        others
    }

    fn meta(
        &self,
        others: &[(&str, &ArrayRef)],
        row: usize,
        place: &dyn Fn() -> String,
    ) -> Result<Map<String, Value>> {
        let field_use = &self.columns.field_use;
        match &self.columns.meta {
            MetaFields::All => {
                let mut builder = MetaBuilder::default();
                for (name, column) in others {
                    match json_of(column, row, place) {
                        Ok(value) => builder.add(name, value, field_use),
                        // Data frames use NaN for missing values.
                        Err(_) if is_nan(column, row) => {}
                        Err(Error::Input { .. }) => field_use.leave_out(name),
                        Err(error) => return Err(error),
                    }
                }
                Ok(builder.build(field_use))
            }
            MetaFields::Object(name) => match json_of(column(&self.batch, name)?, row, place)? {
                Value::Object(map) => Ok(map),
                Value::Null => Ok(Map::new()),
                // As `Index.to_arrow` gives it.
                Value::String(text) => serde_json::from_str(&text).map_err(|_| {
                    let what = format!("`{name}` is not a struct, and no object of JSON");
                    Error::input(place(), what)
                }),
                _ => Err(Error::input(place(), format!("`{name}` is not a struct"))),
            },
            MetaFields::Named(names) => {
                let named = names.iter().map(|name| Ok((name, column(&self.batch, name)?)));
                object_of(named, row, place)
            }
        }
    }
}

/// Returns whether the values are bytes, which JSON does not have.
fn is_bytes(found: &DataType) -> bool {
    match found {
        DataType::Dictionary(_, values) => is_bytes(values),
        found => found.is_binary() || matches!(found, DataType::FixedSizeBinary(_)),
    }
}

/// Returns whether a row of a column has NaN.
fn is_nan(array: &ArrayRef, row: usize) -> bool {
    match array.data_type() {
        DataType::Float16 => array.as_primitive::<Float16Type>().value(row).is_nan(),
        DataType::Float32 => array.as_primitive::<Float32Type>().value(row).is_nan(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).is_nan(),
        _ => false,
    }
}

/// Returns the values of columns in a row as an object, without the columns that are null there.
fn object_of<'a>(
    columns: impl Iterator<Item = Result<(&'a String, &'a ArrayRef)>>,
    row: usize,
    place: &dyn Fn() -> String,
) -> Result<Map<String, Value>> {
    let mut map = Map::new();
    for named in columns {
        let (name, column) = named?;
        let value = json_of(column, row, place)?;
        if !value.is_null() {
            map.insert(name.clone(), value);
        }
    }
    Ok(map)
}

/// Returns a value of a column as JSON, as the command line reads it from a file; a type that JSON
/// does not have, such as a time, as text.
fn json_of(array: &ArrayRef, row: usize, place: &dyn Fn() -> String) -> Result<Value> {
    macro_rules! number {
        ($kind:ty) => {
            array.as_primitive::<$kind>().value(row).into()
        };
    }
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    let float = |float: f64| {
        let number = Number::from_f64(float).map(Value::Number);
        number.ok_or_else(|| Error::input(place(), format!("{float} is no number of JSON")))
    };
    // The shortest decimal that rounds to the same 32-bit number.
    let short = |value: f32| float(value.to_string().parse().unwrap_or(value.into()));
    let shown = || {
        ArrayFormatter::try_new(array, &FormatOptions::default())
            .and_then(|formatter| formatter.value(row).try_to_string())
            .map_err(|e| Error::input(place(), e.to_string()))
    };
    let list = |values: ArrayRef| {
        let values = (0..values.len()).map(|row| json_of(&values, row, place));
        values.collect::<Result<Vec<_>>>().map(Value::Array)
    };
    Ok(match array.data_type() {
        DataType::Null => Value::Null,
        DataType::Boolean => array.as_boolean().value(row).into(),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float16 => short(array.as_primitive::<Float16Type>().value(row).to_f32())?,
        DataType::Float32 => short(array.as_primitive::<Float32Type>().value(row))?,
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(row))?,
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => {
            let shown = shown()?;
            let number = serde_json::from_str(&shown).map(Value::Number);
            number.map_err(|_| Error::input(place(), format!("{shown} is no number of JSON")))?
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter();
            let named =
                fields.iter().zip(columns).map(|(field, column)| Ok((field.name(), column)));
            object_of(named, row, place)?.into()
        }
        DataType::Map(_, _) => {
            let entries = array.as_map().value(row);
            let keys = StringColumn::new(entries.column(0), "key")?;
            let mut map = Map::new();
            for at in 0..entries.len() {
                let value = json_of(entries.column(1), at, place)?;
                if let (Some(key), false) = (keys.at(at), value.is_null()) {
                    map.insert(key.to_owned(), value);
                }
            }
            map.into()
        }
        DataType::Dictionary(_, values) => {
            let plain = cast(&array.slice(row, 1), values)
                .map_err(|e| Error::input(place(), e.to_string()))?;
            json_of(&plain, 0, place)?
        }
        DataType::List(_) => list(array.as_list::<i32>().value(row))?,
        DataType::LargeList(_) => list(array.as_list::<i64>().value(row))?,
        DataType::FixedSizeList(_, _) => list(array.as_fixed_size_list().value(row))?,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            return Err(Error::input(place(), "a meta object has no bytes; leave the column out"));
        }
        _ => shown()?.into(),
    })
}
