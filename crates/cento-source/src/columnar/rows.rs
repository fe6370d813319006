//! The rows of a file as lines of JSON.

use std::io::{self, BufReader};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_json::writer::EncoderOptions;
use arrow_schema::{ArrowError, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::LogicalType;

use cento::Refusal;

use super::columns::{self, is_uuid};
use super::input::Input;
use super::values::Column;
use super::{Frame, TableRequest};
use crate::format::Columnar;
use crate::jsonl::CHUNK_BYTES;
use crate::worker::set_for_next;

/// The number of rows decoded at a time. The texts of these rows are in memory together.
const BATCH_ROWS: usize = 64;

/// Why there are no more rows.
pub enum Fault {
    /// The file does not contain documents, with the reason as a clause.
    Refused(Refusal),
    /// The file cannot be read further.
    Failed(String),
    /// The rows cannot be written.
    Output(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        Fault::Output(error)
    }
}

/// Takes frames: kind, number and bytes.
type Emit<'a> = &'a mut dyn FnMut(Frame, u64, &[u8]) -> io::Result<()>;

/// Emits all rows of a file as frames.
///
/// # Errors
/// When the file has no documents, or cannot be read further. Rows before the damage are emitted.
pub fn read(reading: &TableRequest, input: Input, emit: Emit<'_>) -> Result<(), Fault> {
    let failed = |error: &dyn std::fmt::Display| Fault::Failed(error.to_string());
    match reading.kind {
        Columnar::Parquet => {
            let builder =
                ParquetRecordBatchReaderBuilder::try_new(input).map_err(|e| failed(&e))?;
            let chosen = chosen(builder.schema(), reading, emit)?;
            // Programs without Arrow mark UUIDs with Parquet's logical type.
            let fields = builder.parquet_schema().root_schema().get_fields();
            let id = fields.iter().find(|field| field.name() == reading.id);
            let logical = id.and_then(|id| id.get_basic_info().logical_type_ref());
            let is_uuid = logical == Some(&LogicalType::Uuid);
            let mask = ProjectionMask::roots(builder.parquet_schema(), chosen);
            let builder = builder.with_projection(mask).with_batch_size(BATCH_ROWS);
            let batches = builder.build().map_err(|e| failed(&e))?;
            write(reading, is_uuid, batches, emit)
        }
        Columnar::Arrow => {
            let open = |projection| FileReader::try_new(BufReader::new(input.file()?), projection);
            let schema = open(None).map_err(|e| failed(&e))?.schema();
            let chosen = chosen(&schema, reading, emit)?;
            write(reading, false, open(Some(chosen)).map_err(|e| failed(&e))?, emit)
        }
        Columnar::ArrowStream => {
            let batches = StreamReader::try_new(BufReader::new(input.file()?), None);
            let batches = batches.map_err(|e| failed(&e))?;
            let chosen = chosen(&batches.schema(), reading, emit)?;
            write(reading, false, batches.map(|batch| batch?.project(&chosen)), emit)
        }
    }
}

/// Returns the indices of the columns to read, ascending, and emits the names of all columns.
fn chosen(schema: &Schema, reading: &TableRequest, emit: Emit<'_>) -> Result<Vec<usize>, Fault> {
    let chosen = columns::chosen(schema, reading).map_err(Fault::Refused)?;
    let names = columns::names(schema, reading, &chosen);
    let names = serde_json::to_vec(&names).expect("names are JSON");
    emit(Frame::Columns, 0, &names)?;
    Ok(chosen)
}

/// Lines of a frame that is not full yet.
struct PendingLines<'a> {
    reading: &'a TableRequest,
    /// The ids are marked as UUIDs outside the column.
    is_uuid: bool,
    emit: Emit<'a>,
    lines: Vec<u8>,
    /// The row numbers of the first waiting line, and of the next row.
    first: u64,
    next: u64,
}

fn write(
    reading: &TableRequest,
    is_uuid: bool,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    emit: Emit<'_>,
) -> Result<(), Fault> {
    let mut written = PendingLines { reading, is_uuid, emit, lines: Vec::new(), first: 1, next: 1 };
    for batch in batches {
        let added = match batch {
            Ok(batch) => written.add(&batch),
            Err(error) => Err(Fault::Failed(error.to_string())),
        };
        // The complete rows before have been read.
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

impl PendingLines<'_> {
    fn add(&mut self, batch: &RecordBatch) -> Result<(), Fault> {
        let options = EncoderOptions::default();
        let schema = batch.schema();
        let mut columns = Vec::new();
        for (field, array) in schema.fields().iter().zip(batch.columns()) {
            let is_uuid = is_uuid(field, self.is_uuid && *field.name() == self.reading.id);
            let column = Column::new(field, array, &options, self.reading, is_uuid);
            columns.push(
                column.map_err(|e| Fault::Failed(format!("the column `{}`: {e}", field.name())))?,
            );
        }
        for row in 0..batch.num_rows() {
            let start = self.lines.len();
            self.lines.push(b'{');
            let mut columns = columns.iter_mut();
            let written =
                columns.try_for_each(|column| column.write(row, start + 1, &mut self.lines));
            self.lines.extend_from_slice(b"}\n");
            let number = self.next;
            self.next += 1;
            if let Err(why) = written {
                self.lines.truncate(start);
                self.hand_on()?;
                (self.emit)(Frame::Bad, number, why.as_bytes())?;
            } else if self.lines.len() - start > self.reading.row_bytes_max {
                self.lines.truncate(start);
                self.hand_on()?;
                (self.emit)(Frame::TooLong, number, b"")?;
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
