//! JSON objects as rows of a Parquet file.
//!
//! A column has the name of its field, as in a table. A missing field is null. Rows are collected
//! for a row group, so memory does not grow with the file.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use serde::Serialize;
use serde_json::Value;

use crate::rows::CellType;

/// The size of text and cells that makes a row group, in bytes.
const GROUP_BYTES: usize = 16 << 20;

/// The estimated size of a cell without its text, in bytes.
const CELL_BYTES: usize = 32;

/// Writes objects as rows of a Parquet file.
pub struct ParquetRows<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<(&'static str, CellType)>,
    /// The rows of the next group.
    rows: Vec<Value>,
    /// The estimated size of `rows`.
    bytes: usize,
}

impl<W: Write + Send> fmt::Debug for ParquetRows<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows.len();
        f.debug_struct("ParquetRows").field("rows", &rows).finish_non_exhaustive()
    }
}

impl<W: Write + Send> ParquetRows<W> {
    /// Begins a file with these columns.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn new(out: W, columns: Vec<(&'static str, CellType)>) -> io::Result<ParquetRows<W>> {
        let schema = schema(&columns).map_err(failed)?;
        let level = ZstdLevel::default();
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(level));
        let writer = SerializedFileWriter::new(out, schema, Arc::new(properties.build()));
        Ok(ParquetRows { writer: writer.map_err(failed)?, columns, rows: Vec::new(), bytes: 0 })
    }

    /// Writes the fields of `object` that have columns.
    ///
    /// # Errors
    /// When the output cannot be written, or `object` has no form in JSON.
    pub fn write(&mut self, object: &impl Serialize) -> io::Result<()> {
        let row = serde_json::to_value(object)?;
        let texts = self.columns.iter().filter_map(|(name, _)| row.get(name)?.as_str());
        self.bytes += texts.map(str::len).sum::<usize>() + CELL_BYTES * self.columns.len();
        self.rows.push(row);
        if self.bytes >= GROUP_BYTES { self.write_group().map_err(failed) } else { Ok(()) }
    }

    /// Writes the last rows and the end of the file. Returns the output.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_group().and_then(|()| self.writer.into_inner()).map_err(failed)
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        if rows.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for (name, cell) in &self.columns {
            let cells = rows.iter().map(|row| row.get(name));
            let Some(mut column) = group.next_column()? else { break };
            match cell {
                CellType::Text => {
                    write(column.typed::<ByteArrayType>(), cells.map(|cell| text(cell?)))
                }
                CellType::Integer => {
                    write(column.typed::<Int64Type>(), cells.map(|cell| cell?.as_i64()))
                }
                CellType::Real => {
                    write(column.typed::<DoubleType>(), cells.map(|cell| cell?.as_f64()))
                }
                CellType::Truth => {
                    write(column.typed::<BoolType>(), cells.map(|cell| cell?.as_bool()))
                }
            }?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    }
}

fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source),
        },
        error => io::Error::other(error),
    }
}

fn schema(columns: &[(&'static str, CellType)]) -> Result<TypePtr, ParquetError> {
    let field = |(name, cell): &(&'static str, CellType)| {
        let (physical, logical) = match cell {
            CellType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            CellType::Integer => (Physical::INT64, None),
            CellType::Real => (Physical::DOUBLE, None),
            CellType::Truth => (Physical::BOOLEAN, None),
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        field.build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("schema").with_fields(fields).build().map(Arc::new)
}

fn text(value: &Value) -> Option<ByteArray> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.as_str().into()),
        value => Some(value.to_string().as_str().into()),
    }
}

/// Writes the cells of a column; `None` is null.
fn write<T: DataType>(
    column: &mut ColumnWriterImpl<'_, T>,
    cells: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let cells: Vec<_> = cells.collect();
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    column.write_batch(&values, Some(&levels), None).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use serde_json::json;

    /// Writes rows with a column of each type. Returns the number of row groups, and the rows as
    /// read back.
    fn written(rows: &[Value]) -> (usize, Vec<String>) {
        let columns = vec![
            ("id", CellType::Text),
            ("n", CellType::Integer),
            ("x", CellType::Real),
            ("is", CellType::Truth),
        ];
        let mut out = ParquetRows::new(tempfile::tempfile().unwrap(), columns).unwrap();
        rows.iter().for_each(|row| out.write(row).unwrap());
        let reader = SerializedFileReader::new(out.finish().unwrap()).unwrap();
        let rows = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string());
        (reader.num_row_groups(), rows.collect())
    }

    #[test]
    fn cells_have_the_types_of_their_columns_and_may_be_absent() {
        let rows = [
            json!({"id": "=\u{e9}", "n": 4_000_000_000u64, "x": 0.25, "is": true, "other": 1}),
            json!({"id": ["a"], "x": 1}),
        ];
        let expected = [
            "{id: \"=\u{e9}\", n: 4000000000, x: 0.25, is: true}",
            "{id: \"[\"a\"]\", n: null, x: 1.0, is: null}",
        ];
        assert_eq!(written(&rows), (1, expected.map(str::to_owned).to_vec()));
        assert_eq!(written(&[]), (0, Vec::new()));
    }

    #[test]
    fn many_rows_are_several_groups() {
        let row = json!({"id": "x".repeat(GROUP_BYTES / 4), "n": 1});
        let (groups, rows) = written(&vec![row; 9]);
        assert_eq!((groups, rows.len()), (3, 9));
    }
}
