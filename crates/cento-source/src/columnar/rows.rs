//! Which rows are in this file, as lines of JSON?

use std::io::{self, BufReader};

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_json::writer::{EncoderOptions, NullableEncoder, make_encoder};
use arrow_schema::{ArrowError, DataType, FieldRef, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use super::columns::{self, is_text};
use super::input::Input;
use super::{Frame, Kind, Reading};
use crate::jsonl::CHUNK_BYTES;
use crate::worker::set_for_next;

/// So many rows are decoded at a time: all of their texts are held.
const BATCH_ROWS: usize = 64;

/// Why there are no more rows.
pub enum Fault {
    /// The file is none of documents, as a clause.
    Refused(String),
    /// The file cannot be read on.
    Failed(String),
    /// The rows cannot be given.
    Output(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        Fault::Output(error)
    }
}

/// Takes frames: kind, number and bytes.
type Emit<'a> = &'a mut dyn FnMut(Frame, u64, &[u8]) -> io::Result<()>;

/// Gives all rows of a file as frames.
///
/// # Errors
/// When it has no documents or cannot be read on, after the rows before.
pub fn read(reading: &Reading, input: Input, emit: Emit<'_>) -> Result<(), Fault> {
    let failed = |error: &dyn std::fmt::Display| Fault::Failed(error.to_string());
    match reading.kind {
        Kind::Parquet => {
            let builder =
                ParquetRecordBatchReaderBuilder::try_new(input).map_err(|e| failed(&e))?;
            let chosen = columns::chosen(builder.schema(), reading).map_err(Fault::Refused)?;
            let mask = ProjectionMask::roots(builder.parquet_schema(), chosen);
            let builder = builder.with_projection(mask).with_batch_size(BATCH_ROWS);
            let batches = builder.build().map_err(|e| failed(&e))?;
            write(reading, batches, emit)
        }
        Kind::Arrow => {
            let open = |projection| FileReader::try_new(BufReader::new(input.file()?), projection);
            let schema = open(None).map_err(|e| failed(&e))?.schema();
            let chosen = columns::chosen(&schema, reading).map_err(Fault::Refused)?;
            write(reading, open(Some(chosen)).map_err(|e| failed(&e))?, emit)
        }
        Kind::ArrowStream => {
            let batches = StreamReader::try_new(BufReader::new(input.file()?), None);
            let batches = batches.map_err(|e| failed(&e))?;
            let chosen = columns::chosen(&batches.schema(), reading).map_err(Fault::Refused)?;
            write(reading, batches.map(|batch| batch?.project(&chosen)), emit)
        }
    }
}

/// Lines that are not given yet.
struct Written<'a> {
    reading: &'a Reading,
    emit: Emit<'a>,
    lines: Vec<u8>,
    /// The number of the first of them, and of the next row.
    first: u64,
    next: u64,
}

fn write(
    reading: &Reading,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    emit: Emit<'_>,
) -> Result<(), Fault> {
    let mut written = Written { reading, emit, lines: Vec::new(), first: 1, next: 1 };
    for batch in batches {
        let added = match batch {
            Ok(batch) => written.add(&batch),
            Err(error) => Err(Fault::Failed(error.to_string())),
        };
        // What came whole before has been read.
        written.hand_on()?;
        added.map_err(|fault| match fault {
            Fault::Failed(what) if written.next > 1 => {
                Fault::Failed(format!("after row {}: {what}", written.next - 1))
            }
            fault => fault,
        })?;
        set_for_next()?;
    }
    Ok(())
}

impl Written<'_> {
    fn add(&mut self, batch: &RecordBatch) -> Result<(), Fault> {
        let options = EncoderOptions::default();
        let schema = batch.schema();
        let mut columns = Vec::new();
        for (field, array) in schema.fields().iter().zip(batch.columns()) {
            let column = Column::new(field, array, &options, self.reading);
            columns.push(
                column.map_err(|e| Fault::Failed(format!("the column `{}`: {e}", field.name())))?,
            );
        }
        for row in 0..batch.num_rows() {
            let start = self.lines.len();
            self.lines.push(b'{');
            for column in &mut columns {
                column.write(row, start + 1, &mut self.lines);
            }
            self.lines.extend_from_slice(b"}\n");
            let number = self.next;
            self.next += 1;
            if self.lines.len() - start > self.reading.row_bytes_max {
                self.lines.truncate(start);
                self.hand_on()?;
                (self.emit)(Frame::TooLong, number, b"")?;
                self.first = self.next;
            } else if self.lines.len() as u64 >= CHUNK_BYTES {
                self.hand_on()?;
            }
        }
        Ok(())
    }

    fn hand_on(&mut self) -> io::Result<()> {
        if !self.lines.is_empty() {
            (self.emit)(Frame::Rows, self.first, &self.lines)?;
            self.lines.clear();
        }
        self.first = self.next;
        Ok(())
    }
}

/// A column, and its values as JSON.
struct Column<'a> {
    /// The name, quoted, and the colon.
    name: String,
    values: Values<'a>,
}

enum Values<'a> {
    /// As they are.
    Any(NullableEncoder<'a>),
    /// Texts that are JSON objects.
    Objects(&'a dyn Array),
}

impl<'a> Column<'a> {
    fn new(
        field: &'a FieldRef,
        array: &'a dyn Array,
        options: &'a EncoderOptions,
        reading: &Reading,
    ) -> Result<Column<'a>, ArrowError> {
        let is_object = *field.name() == reading.meta && is_text(array.data_type());
        let is_plain = !matches!(array.data_type(), DataType::Dictionary(..));
        let values = match is_object && is_plain {
            true => Values::Objects(array),
            false => Values::Any(make_encoder(field, array, options)?),
        };
        Ok(Column { name: format!("{}:", Value::from(field.name().as_str())), values })
    }

    /// Writes a member of an object that begins at `start`, if there is a value.
    fn write(&mut self, row: usize, start: usize, lines: &mut Vec<u8>) {
        let is_null = match &self.values {
            Values::Any(values) => values.is_null(row),
            Values::Objects(array) => array.is_null(row),
        };
        if is_null {
            return;
        }
        if lines.len() > start {
            lines.push(b',');
        }
        lines.extend_from_slice(self.name.as_bytes());
        match &mut self.values {
            Values::Any(values) => values.encode(row, lines),
            Values::Objects(array) => {
                let text = match array.data_type() {
                    DataType::LargeUtf8 => array.as_string::<i64>().value(row),
                    DataType::Utf8View => array.as_string_view().value(row),
                    _ => array.as_string::<i32>().value(row),
                };
                // What is no JSON is refused with its place, as anything but an object.
                let value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
                lines.extend_from_slice(value.to_string().as_bytes());
            }
        }
    }
}

/// The type of the column with this name.
pub fn type_of<'a>(schema: &'a Schema, name: &str) -> Option<&'a DataType> {
    schema.fields().iter().find(|field| field.name() == name).map(|field| field.data_type())
}
