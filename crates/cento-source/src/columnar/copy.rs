//! Copies selected rows of a Parquet file to a new file.
//!
//! Columns are copied as Parquet stores them, as levels and values. Nothing is converted, so values
//! of every type stay unchanged. Small row groups are combined until they have as many rows as the
//! largest row group of the file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, ByteArrayType, DataType as Typed, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData, RowGroupMetaData, SortingColumn};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use serde_json::Value;

use super::Annotation;
use super::batch::{Batch, Reason, said};
use super::input::Input;
use crate::worker::set_for_next;

/// The number of rows that are copied at a time.
const BATCH_ROWS: usize = 64;

/// Metadata keys that repeat the schema for Arrow and for Hugging Face.
const ARROW_SCHEMA: &str = "ARROW:schema";
const HUGGING_FACE: &str = "huggingface";

/// The selection of a whole file, without texts and annotations.
#[derive(Default)]
struct SelectedRows {
    is_kept: Vec<bool>,
    /// The offset in the selection of each row's line.
    offsets: Vec<u64>,
    annotation: Option<Annotation>,
    has_texts: bool,
}

/// Consecutive rows of a row group.
struct RowRange {
    group: usize,
    rows: Range<usize>,
    /// The number of the first row in the file.
    first: usize,
}

/// Copies the rows of `input` that `selection` keeps to `output`. The selection may replace values
/// of the column `text`. An `annotation` adds a column.
///
/// # Errors
/// When a file cannot be read or written, or the selection does not fit the file, as a clause.
pub fn copy(
    input: Input,
    output: File,
    selection: &File,
    text: &str,
    annotation: Option<Annotation>,
) -> Result<(), Reason> {
    let reader = SerializedFileReader::new(input).map_err(said)?;
    let meta = reader.metadata().clone();
    let rows = SelectedRows { annotation, ..read_selection(selection)? };
    let groups: Vec<usize> =
        meta.row_groups().iter().map(|group| group.num_rows().max(0) as usize).collect();
    if groups.iter().sum::<usize>() != rows.is_kept.len() {
        return Err(format!(
            "it has {} rows, but {} were read before; it was changed meanwhile",
            groups.iter().sum::<usize>(),
            rows.is_kept.len()
        ));
    }
    let root = meta.file_metadata().schema_descr().root_schema_ptr();
    let schema = match annotation {
        Some(annotation) => annotated(&root, annotation)?,
        None => root,
    };
    let properties = properties(&meta, rows.has_texts.then_some(text), annotation)?;
    let output = io::BufWriter::new(output);
    let mut writer =
        SerializedFileWriter::new(output, schema, Arc::new(properties)).map_err(said)?;
    let copier = Copier { reader, rows, selection, text };
    for parts in regrouped(&groups, &copier.rows.is_kept) {
        let mut group = writer.next_row_group().map_err(said)?;
        copier.write_group(&parts, &mut group)?;
        group.close().map_err(said)?;
    }
    writer.finish().map_err(said)?;
    let output = writer.inner_mut();
    io::Write::flush(output).and_then(|()| output.get_ref().sync_all()).map_err(said)
}

fn read_selection(selection: &File) -> Result<SelectedRows, Reason> {
    let (mut rows, mut offset) = (SelectedRows::default(), 0);
    for line in BufReader::new(selection).lines() {
        let line = line.map_err(said)?;
        rows.is_kept.push(line != "-");
        rows.offsets.push(offset);
        rows.has_texts |= line.starts_with('"');
        offset += line.len() as u64 + 1;
    }
    Ok(rows)
}

/// Returns the row groups of the copy, each as parts of row groups of the file.
fn regrouped(groups: &[usize], is_kept: &[bool]) -> Vec<Vec<RowRange>> {
    let rows_max = groups.iter().copied().max().unwrap_or(0);
    let (mut made, mut current) = (Vec::new(), Vec::new());
    let (mut count, mut first) = (0, 0);
    for (group, &len) in groups.iter().enumerate() {
        let mut start = 0;
        for row in 0..len {
            if !is_kept[first + row] {
                continue;
            }
            if count == rows_max {
                current.push(RowRange { group, rows: start..row, first: first + start });
                made.push(std::mem::take(&mut current));
                (start, count) = (row, 0);
            }
            count += 1;
        }
        current.push(RowRange { group, rows: start..len, first: first + start });
        first += len;
    }
    if count > 0 {
        made.push(current);
    }
    // Parts without a kept row need not be read.
    for parts in &mut made {
        parts.retain(|part| is_kept[part.first..][..part.rows.len()].contains(&true));
    }
    made
}

/// Returns the schema with the column of annotations.
fn annotated(root: &TypePtr, annotation: Annotation) -> Result<TypePtr, Reason> {
    let column = annotation.column();
    if root.get_fields().iter().any(|field| field.name() == column) {
        return Err(format!("it has a column `{column}` already; rename that column"));
    }
    let leaf = |(at, (name, is_number)): (usize, (&str, bool))| {
        let physical = if is_number { Physical::DOUBLE } else { Physical::BYTE_ARRAY };
        let is_first = if at == 0 { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        let logical = (!is_number).then_some(LogicalType::String);
        let made = Type::primitive_type_builder(name, physical);
        made.with_repetition(is_first).with_logical_type(logical).build().map(Arc::new)
    };
    let members: Result<Vec<TypePtr>, ParquetError> =
        annotation.members().into_iter().enumerate().map(leaf).collect();
    let group = Type::group_type_builder(column)
        .with_repetition(Repetition::REQUIRED)
        .with_fields(members.map_err(said)?)
        .build()
        .map_err(said)?;
    let mut fields = root.get_fields().to_vec();
    fields.push(Arc::new(group));
    let made = Type::group_type_builder(root.name()).with_fields(fields).build();
    made.map(Arc::new).map_err(said)
}

/// Returns the properties of the copy, which are the properties of the file as far as they stay
/// true. `changed` is the column with replaced texts.
fn properties(
    meta: &ParquetMetaData,
    changed: Option<&str>,
    annotation: Option<Annotation>,
) -> Result<WriterProperties, Reason> {
    let mut builder = WriterProperties::builder();
    if let Some(first) = meta.row_groups().first() {
        for column in first.columns() {
            let path = column.column_path().clone();
            builder = builder
                .set_column_compression(path.clone(), column.compression())
                .set_column_dictionary_enabled(path, column.dictionary_page_offset().is_some());
        }
        let sorted = first.sorting_columns();
        if meta
            .row_groups()
            .iter()
            .all(|group: &RowGroupMetaData| group.sorting_columns() == sorted)
        {
            // Dropping rows preserves an order, but replacing values does not.
            let is_changed = |column: &SortingColumn| {
                let column = first.columns().get(column.column_idx as usize);
                column.is_none_or(|column| {
                    changed.is_some_and(|text| column.column_path().parts() == [text])
                })
            };
            let kept = sorted.map(|sorted| {
                sorted.iter().take_while(|column| !is_changed(column)).cloned().collect::<Vec<_>>()
            });
            builder = builder.set_sorting_columns(kept.filter(|sorted| !sorted.is_empty()));
        }
    }
    let mut pairs = meta.file_metadata().key_value_metadata().cloned().unwrap_or_default();
    if let Some(annotation) = annotation {
        // The schema of Hugging Face lists the columns, and would contradict the additional column.
        pairs.retain(|pair| pair.key != HUGGING_FACE);
        if let Some(pair) = pairs.iter_mut().find(|pair| pair.key == ARROW_SCHEMA) {
            pair.value = Some(arrow_schema(meta, annotation)?);
        }
    }
    let pairs: Option<Vec<KeyValue>> = (!pairs.is_empty()).then_some(pairs);
    Ok(builder.set_key_value_metadata(pairs).build())
}

/// Returns the Arrow schema with the column of annotations, encoded as in Parquet files.
fn arrow_schema(meta: &ParquetMetaData, annotation: Annotation) -> Result<String, Reason> {
    use arrow_schema::{DataType, Field, Schema};
    let file = meta.file_metadata();
    let own =
        parquet::arrow::parquet_to_arrow_schema(file.schema_descr(), file.key_value_metadata())
            .map_err(said)?;
    let member = |(at, (name, is_number)): (usize, (&str, bool))| {
        let kind = if is_number { DataType::Float64 } else { DataType::Utf8 };
        Field::new(name, kind, at > 0)
    };
    let members: Vec<Field> = annotation.members().into_iter().enumerate().map(member).collect();
    let mut fields = own.fields().to_vec();
    fields.push(Arc::new(Field::new_struct(annotation.column(), members, false)));
    let schema = Schema::new_with_metadata(fields, own.metadata().clone());
    Ok(parquet::arrow::encode_arrow_schema(&schema))
}

struct Copier<'a> {
    reader: SerializedFileReader<Input>,
    rows: SelectedRows,
    selection: &'a File,
    text: &'a str,
}

impl Copier<'_> {
    fn write_group(
        &self,
        parts: &[RowRange],
        out: &mut SerializedRowGroupWriter<'_, io::BufWriter<File>>,
    ) -> Result<(), Reason> {
        let columns = self.reader.metadata().file_metadata().schema_descr().num_columns();
        for column in 0..columns {
            let missing = || Reason::from("a column is missing in the copy");
            let mut writer = out.next_column().map_err(said)?.ok_or_else(missing)?;
            let name = self.reader.metadata().file_metadata().schema_descr().column(column);
            let is_text = name.path().parts() == [self.text] && self.rows.has_texts;
            let texts = if is_text { self.texts(parts)? } else { Vec::new() };
            self.write_column(column, parts, texts, writer.untyped())
                .map_err(|error| format!("the column `{}`: {error}", name.path().string()))?;
            writer.close().map_err(said)?;
        }
        for (name, is_number) in self.rows.annotation.map(Annotation::members).into_iter().flatten()
        {
            let missing = || Reason::from("a column of annotations is missing in the copy");
            let mut writer = out.next_column().map_err(said)?.ok_or_else(missing)?;
            let mut levels = Vec::new();
            match is_number {
                true => {
                    let found =
                        self.annotations(parts, name, &mut levels, &|value| value.as_f64())?;
                    let writer = writer.typed::<DoubleType>();
                    writer.write_batch(&found, Some(&levels), None).map_err(said)?;
                }
                false => {
                    let text = |value: &Value| value.as_str().map(ByteArray::from);
                    let found = self.annotations(parts, name, &mut levels, &text)?;
                    let writer = writer.typed::<ByteArrayType>();
                    writer.write_batch(&found, Some(&levels), None).map_err(said)?;
                }
            }
            writer.close().map_err(said)?;
        }
        Ok(())
    }

    /// Calls `each` with row number and selection line of every kept row.
    fn each_kept(
        &self,
        parts: &[RowRange],
        each: &mut dyn FnMut(usize, &str) -> Result<(), Reason>,
    ) -> Result<(), Reason> {
        let mut lines = BufReader::new(self.selection);
        for part in parts {
            lines.seek(SeekFrom::Start(self.rows.offsets[part.first])).map_err(said)?;
            for (row, line) in (part.first..).zip((&mut lines).lines()).take(part.rows.len()) {
                if self.rows.is_kept[row] {
                    each(row, &line.map_err(said)?)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the values of a member of the annotations. `levels` gets 1 for each row with a
    /// value.
    fn annotations<T>(
        &self,
        parts: &[RowRange],
        name: &str,
        levels: &mut Vec<i16>,
        value_of: &dyn Fn(&Value) -> Option<T>,
    ) -> Result<Vec<T>, Reason> {
        let mut values = Vec::new();
        self.each_kept(parts, &mut |_, line| {
            let annotation: Value = serde_json::from_str(line).map_err(said)?;
            let value = annotation.get(name).and_then(value_of);
            levels.push(i16::from(value.is_some()));
            values.extend(value);
            Ok(())
        })?;
        Ok(values)
    }

    /// Returns the replacement texts, with their row numbers.
    fn texts(&self, parts: &[RowRange]) -> Result<Vec<(usize, ByteArray)>, Reason> {
        let mut texts = Vec::new();
        self.each_kept(parts, &mut |row, line| {
            if line.starts_with('"') {
                let text: String = serde_json::from_str(line).map_err(said)?;
                texts.push((row, ByteArray::from(text.into_bytes())));
            }
            Ok(())
        })?;
        Ok(texts)
    }

    fn write_column(
        &self,
        column: usize,
        parts: &[RowRange],
        texts: Vec<(usize, ByteArray)>,
        writer: &mut ColumnWriter<'_>,
    ) -> Result<(), Reason> {
        let descriptor = self.reader.metadata().file_metadata().schema_descr().column(column);
        let levels = (descriptor.max_def_level(), descriptor.max_rep_level());
        let open = |part: &RowRange| {
            let group = self.reader.get_row_group(part.group).map_err(said)?;
            group.get_column_reader(column).map_err(said)
        };
        macro_rules! copy_as {
            ($writer:expr, $variant:ident) => {
                for part in parts {
                    let ColumnReader::$variant(mut reader) = open(part)? else {
                        return Err("its type is another in the copy".into());
                    };
                    let mut batch = Batch::new(levels.0, levels.1);
                    self.copy_part(part, &mut reader, &mut batch, &mut |_, _| {}, &mut |batch| {
                        let (definitions, repetitions) = batch.levels();
                        $writer.write_batch(&batch.values, definitions, repetitions).map(|_| ())
                    })?;
                }
            };
        }
        match writer {
            ColumnWriter::BoolColumnWriter(writer) => copy_as!(writer, BoolColumnReader),
            ColumnWriter::Int32ColumnWriter(writer) => copy_as!(writer, Int32ColumnReader),
            ColumnWriter::Int64ColumnWriter(writer) => copy_as!(writer, Int64ColumnReader),
            ColumnWriter::Int96ColumnWriter(writer) => copy_as!(writer, Int96ColumnReader),
            ColumnWriter::FloatColumnWriter(writer) => copy_as!(writer, FloatColumnReader),
            ColumnWriter::DoubleColumnWriter(writer) => copy_as!(writer, DoubleColumnReader),
            ColumnWriter::FixedLenByteArrayColumnWriter(_) if !texts.is_empty() => {
                return Err("its texts are bytes of one length, and cannot be shortened".into());
            }
            ColumnWriter::FixedLenByteArrayColumnWriter(writer) => {
                copy_as!(writer, FixedLenByteArrayColumnReader)
            }
            ColumnWriter::ByteArrayColumnWriter(writer) => {
                let mut texts = texts.into_iter().peekable();
                for part in parts {
                    let ColumnReader::ByteArrayColumnReader(mut reader) = open(part)? else {
                        return Err("its type is another in the copy".into());
                    };
                    let mut replace = |row: usize, value: &mut ByteArray| {
                        if let Some((_, text)) = texts.next_if(|(at, _)| *at == row) {
                            *value = text;
                        }
                    };
                    let mut batch = Batch::new(levels.0, levels.1);
                    self.copy_part(part, &mut reader, &mut batch, &mut replace, &mut |batch| {
                        let (definitions, repetitions) = batch.levels();
                        writer.write_batch(&batch.values, definitions, repetitions).map(|_| ())
                    })?;
                }
            }
        }
        Ok(())
    }

    /// Copies rows of a column. `replace` gets the number and value of every kept row.
    fn copy_part<T: Typed>(
        &self,
        part: &RowRange,
        reader: &mut ColumnReaderImpl<T>,
        batch: &mut Batch<T>,
        replace: &mut dyn FnMut(usize, &mut T::T),
        write: &mut dyn FnMut(&Batch<T>) -> Result<(), ParquetError>,
    ) -> Result<(), Reason> {
        let short = || Reason::from("it has fewer rows than its row group");
        if reader.skip_records(part.rows.start).map_err(said)? != part.rows.start {
            return Err(short());
        }
        let mut row = part.first;
        let end = part.first + part.rows.len();
        while row < end {
            let read = batch.read(reader, (end - row).min(BATCH_ROWS))?;
            if read == 0 {
                return Err(short());
            }
            batch.keep(&self.rows.is_kept[row..row + read], row, replace)?;
            write(batch).map_err(said)?;
            row += read;
            set_for_next().map_err(said)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn row_groups_of_the_copy_are_as_large_as_the_largest(
            groups in proptest::collection::vec(
                proptest::collection::vec(any::<bool>(), 0..12), 0..8,
            ),
        ) {
            let is_kept: Vec<bool> = groups.iter().flatten().copied().collect();
            let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
            let mut firsts = vec![0];
            firsts.extend(sizes.iter().scan(0, |sum, size| { *sum += size; Some(*sum) }));
            let made = regrouped(&sizes, &is_kept);
            let (mut rows, mut counts) = (Vec::new(), Vec::new());
            for parts in &made {
                let before = rows.len();
                for part in parts {
                    prop_assert_eq!(part.first, firsts[part.group] + part.rows.start);
                    prop_assert!(part.rows.end <= sizes[part.group]);
                    let all = part.first..part.first + part.rows.len();
                    rows.extend(all.filter(|&row| is_kept[row]));
                }
                counts.push(rows.len() - before);
            }
            let expected: Vec<usize> = (0..is_kept.len()).filter(|&row| is_kept[row]).collect();
            prop_assert_eq!(rows, expected);
            let max = sizes.iter().copied().max().unwrap_or(0);
            if let Some((last, others)) = counts.split_last() {
                prop_assert!(others.iter().all(|&count| count == max) && (1..=max).contains(last));
            }
        }
    }
}
