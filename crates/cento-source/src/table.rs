//! Reads the rows of a table as documents.
//!
//! A row becomes a line of JSON with a string for each column. Rows are then read, named and
//! written like other records.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, Read};
use std::mem;
use std::ops::ControlFlow;
use std::rc::Rc;

use cento::{Reason, Refusal};
use cento_api::json;
use csv::ByteRecord;
use serde_json::{Map, Value};

use crate::SourceOptions;
use crate::bytes::Source;
use crate::charset::record_text;
use crate::fields::{missing, repeated, twice};
use crate::jsonl::{ADDED, CHUNK_BYTES, Lines};
use crate::quotes::Quotes;
use crate::sniff::SEPARATOR;
use crate::transcode::utf8;

/// The reason why a table cannot be read.
pub enum Fault {
    /// The table does not contain documents. The reason is a clause.
    Input(Refusal),
    /// The stream cannot be read further, or not as a table.
    Read(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        Fault::Read(error)
    }
}

/// Reads the rows of a table, whose first row names the columns. The number of a row is the number
/// of the line where the row begins. A row with an unclosed quotation is refused, because its
/// fields are unknown.
///
/// # Errors
/// When there is no column for the text, when a quotation mark is not closed, and when the stream
/// cannot be read further. The rows before have been emitted.
pub fn read_table(
    source: Source<'_>,
    delimiter: u8,
    options: &SourceOptions,
    mut emit: impl FnMut(Lines) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, Fault> {
    let mut rows = TableRows::new(utf8(source, options.encoding.as_deref())?, delimiter, options);
    let mut row = ByteRecord::new();
    let names = loop {
        let Some(_) = rows.next(&mut row)? else { return Ok(ControlFlow::Continue(())) };
        let name = |field: &[u8]| {
            record_text(field.strip_prefix(b"\xef\xbb\xbf").unwrap_or(field)).trim().to_owned()
        };
        let names: Vec<String> = row.iter().map(name).collect();
        if !is_separator(&names) && !is_blank(&row) {
            break names;
        }
    };
    let columns = columns(names, options).map_err(Fault::Input)?;
    let (mut lines, mut first_line, mut line) = (Vec::new(), 1, 1);
    loop {
        let next = rows.next(&mut row);
        let fault = match &next {
            Ok(Some(RowPlace { stray: Some(line), .. })) => Some(format!(
                "the quotation mark in line {line} is closed in a later line, and text follows; it \
                 may have taken other rows"
            )),
            Ok(Some(_)) if row.len() > columns.len() => Some(format!(
                "it has {} fields, and the table {} columns",
                row.len(),
                columns.len()
            )),
            _ => None,
        };
        let is_end = !matches!(next, Ok(Some(_)));
        if is_end || fault.is_some() || lines.len() as u64 >= CHUNK_BYTES {
            let bytes = mem::take(&mut lines);
            if !bytes.is_empty() && emit(Lines::Whole { first_line, bytes }).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        let Some(RowPlace { line: own, .. }) = next? else { return Ok(ControlFlow::Continue(())) };
        if let Some(what) = fault {
            if emit(Lines::Bad(own, what)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            continue;
        }
        if lines.is_empty() {
            (first_line, line) = (own, own);
        }
        if is_blank(&row) {
            continue;
        }
        // A row may span lines, and the first line counts.
        lines.resize(lines.len() + own.saturating_sub(line) as usize, b'\n');
        let record = record(&columns, row.iter().map(record_text), options);
        let written = serde_json::to_writer(&mut lines, &record);
        written.expect("strings are JSON, and memory takes every byte");
        lines.push(b'\n');
        line = own + 1;
    }
}

/// Returns whether a row before the names of the columns is a message to Excel, such as `sep=;`.
pub fn is_separator(row: &[String]) -> bool {
    matches!(row, [name, rest] if name == SEPARATOR && rest.is_empty())
}

/// Returns whether a row has only empty cells, as spreadsheets write below the last used row and
/// between parts of a sheet.
fn is_blank(row: &ByteRecord) -> bool {
    row.iter().all(|cell| cell.trim_ascii().is_empty() || cell == b"\xef\xbb\xbf")
}

/// The place of a row.
struct RowPlace {
    /// The line where the row begins.
    line: u64,
    /// The line of a quotation mark in the row that is closed within a text.
    stray: Option<u64>,
}

/// The rows of a table.
struct TableRows<'a> {
    reader: csv::Reader<BoundedRows<'a>>,
    quotes: Rc<Quotes>,
    /// The number of bytes that may still be read for the current row.
    left: Rc<Cell<usize>>,
    max: usize,
}

impl<'a> TableRows<'a> {
    fn new(inner: Source<'a>, delimiter: u8, options: &SourceOptions) -> TableRows<'a> {
        let quotes = Rc::new(Quotes::new(delimiter));
        let (left, max) = (Rc::new(Cell::new(options.record_bytes_max)), options.record_bytes_max);
        let watched = BoundedRows { inner, left: left.clone(), quotes: quotes.clone() };
        let mut reader = csv::ReaderBuilder::new();
        let reader = reader.delimiter(delimiter).has_headers(false).flexible(true);
        TableRows { reader: reader.from_reader(watched), quotes, left, max }
    }

    /// Reads the next row. Returns the row's place, or `None` at the end.
    fn next(&mut self, row: &mut ByteRecord) -> Result<Option<RowPlace>, Fault> {
        self.left.set(self.max);
        let read = self.reader.read_byte_record(row);
        let is_row = read.map_err(|error| Fault::Read(io::Error::other(error)))?;
        // The bytes read ahead hold whole rows, but the file may end within a row.
        let end = if is_row { self.reader.position().byte() } else { u64::MAX };
        if let Some(line) = self.quotes.unclosed_before(end) {
            let what = format!(
                "the quotation mark in line {line} is not closed, and so it is not known where its \
                 row ends; close it, or double it if it belongs to the text"
            );
            return Err(Fault::Input(what.into()));
        }
        if !is_row {
            return Ok(None);
        }
        let line = row.position().map_or(1, |position| position.line());
        let line = line + u64::from(self.quotes.is_crlf());
        Ok(Some(RowPlace { line, stray: self.quotes.stray_before(end) }))
    }
}

/// A column of a table.
struct TableColumn {
    name: String,
    /// Whether the column becomes a member of records. False for unused columns with a repeated
    /// name.
    is_read: bool,
}

/// Returns the columns. Refuses a table without a text, or with a repeated name among the used
/// columns, because a record can have each name only once.
fn columns(names: Vec<String>, options: &SourceOptions) -> Result<Vec<TableColumn>, Refusal> {
    let SourceOptions { text_field, id_field, meta_fields, keeps_records, .. } = options;
    let each = || names.iter().map(String::as_str);
    // Paths are not supported, because a cell is a single string.
    if !text_field.names().any(|text| each().any(|name| name == text)) {
        let absent = text_field.names().next().unwrap_or_default();
        return Err(missing("column ", "text", absent, each()));
    }
    let is_used = |name: &str| {
        let is_meta = meta_fields.number_of(name).is_some();
        *keeps_records || text_field.is_in(name) || id_field == name || is_meta
    };
    if let Some(name) = repeated(each(), is_used) {
        return Err(twice("columns", name));
    }
    let mut times: HashMap<&str, u32> = HashMap::new();
    each().for_each(|name| *times.entry(name).or_default() += 1);
    // A row has no member for an empty field of the meta object.
    if let Some(all) = &options.field_use {
        let is_kept = |name: &str| meta_fields.are_all() && name != ADDED && times[name] == 1;
        all.add_columns(each(), options, is_kept);
    }
    let is_read: Vec<bool> = each().map(|name| times[name] == 1 || is_used(name)).collect();
    let columns = names.into_iter().zip(is_read);
    Ok(columns.map(|(name, is_read)| TableColumn { name, is_read }).collect())
}

fn record<'a>(
    columns: &[TableColumn],
    fields: impl Iterator<Item = Cow<'a, str>>,
    options: &SourceOptions,
) -> Map<String, Value> {
    let mut record = Map::new();
    for (TableColumn { name, is_read }, field) in columns.iter().zip(fields) {
        if !is_read {
            continue;
        }
        // An empty id gets replaced by the place of the row, and an empty meta object is omitted.
        let is_meta = options.meta_fields.number_of(name).is_some();
        if field.is_empty() && (*name == options.id_field || is_meta) {
            continue;
        }
        let meta = is_meta.then(|| serde_json::from_str(&field).ok());
        // Kept as a string, so that the object is refused like the object of a record.
        let meta = meta.map(|meta: Option<Value>| {
            meta.filter(|meta| json::repeated_field(&field, json::fields_in(meta)).is_none())
        });
        record.insert(
            name.clone(),
            meta.flatten().unwrap_or_else(|| Value::String(field.into_owned())),
        );
    }
    record
}

/// The input of a table. Reading fails when a row is too long.
struct BoundedRows<'a> {
    inner: Source<'a>,
    left: Rc<Cell<usize>>,
    quotes: Rc<Quotes>,
}

impl Read for BoundedRows<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            let what = "a row of the table is longer than the limit for a record; a quotation mark \
                        may not be closed";
            return Err(Refusal::new(Reason::RecordTooLong, what).into());
        }
        let read = self.inner.read(buffer)?;
        self.quotes.see(&buffer[..read]);
        self.left.set(self.left.get().saturating_sub(read));
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MetaFields;
    use serde_json::json;

    fn read(table: &[u8], delimiter: u8, options: &SourceOptions) -> (Vec<(u64, Value)>, String) {
        let (mut rows, mut faults) = (Vec::new(), String::new());
        let source = Source::Bytes(io::Cursor::new(table.to_vec()));
        let end = read_table(source, delimiter, options, |lines| {
            match lines {
                Lines::Whole { first_line, bytes } => {
                    let lines = (first_line..).zip(bytes.split(|&byte| byte == b'\n'));
                    let lines = lines.filter(|(_, line)| !line.is_empty());
                    rows.extend(
                        lines.map(|(line, row)| (line, serde_json::from_slice(row).unwrap())),
                    );
                }
                Lines::Bad(number, what) => faults.push_str(&format!("{number}: {what}; ")),
                Lines::TooLong(number) => faults.push_str(&format!("{number}: too long; ")),
            }
            ControlFlow::Continue(())
        });
        match end {
            Ok(_) => {}
            Err(Fault::Input(what)) => faults.push_str(&what.what),
            Err(Fault::Read(error)) => faults.push_str(&error.to_string()),
        }
        (rows, faults)
    }

    #[test]
    fn rows_are_records() {
        let options = SourceOptions {
            meta_fields: MetaFields::Named(vec!["m".into()]),
            ..SourceOptions::default()
        };
        let table =
            "\u{feff}id, text,m\n7,\"a \"\"b\"\",\nc\",\"{\"\"x\"\":1}\"\n,d,\n1,2,3,4\n8\n";
        let (rows, faults) = read(table.as_bytes(), b',', &options);
        let expected = [
            (2, json!({"id": "7", "text": "a \"b\",\nc", "m": {"x": 1}})),
            (4, json!({"text": "d"})),
            (6, json!({"id": "8"})),
        ];
        assert_eq!(rows, expected);
        assert_eq!(faults, "5: it has 4 fields, and the table 3 columns; ");
        let lines =
            |rows: Vec<(u64, Value)>| rows.iter().map(|(line, _)| *line).collect::<Vec<_>>();
        let (rows, _) = read(table.replace('\n', "\r\n").as_bytes(), b',', &options);
        assert_eq!(lines(rows), [2, 4, 6]);
        let (rows, _) = read(b"\xef\xbb\xbfsep=;\r\nid;text\r\n1;a\r\n", b';', &options);
        assert_eq!(rows, [(3, json!({"id": "1", "text": "a"}))]);
        let (rows, faults) = read(b"a\tb\n1\t2\n", b'\t', &options);
        assert_eq!(
            (rows.len(), faults.as_str()),
            (0, "there is no column `text`; its columns are `a`, `b`")
        );
    }

    #[test]
    fn encodings_are_found() {
        let options = SourceOptions::default();
        let french = "text\n\u{e9}l\u{e8}ve \u{e2}g\u{e9} d\u{e9}j\u{e0} re\u{e7}u\n";
        let latin: Vec<u8> = french.chars().map(|c| c as u32 as u8).collect();
        let utf16: Vec<u8> = french.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [french.as_bytes(), &latin, &utf16] {
            let (rows, faults) = read(bytes, b',', &options);
            assert_eq!(faults, "");
            assert_eq!(rows[0].1["text"], french[5..].trim());
        }
    }

    #[test]
    fn a_quotation_mark_that_is_not_closed_is_not_read_without_bound() {
        let options = SourceOptions { record_bytes_max: 1 << 16, ..SourceOptions::default() };
        let table = format!("text\nx\n\"{}", "y\n".repeat(1 << 20));
        let (rows, faults) = read(table.as_bytes(), b',', &options);
        assert!(faults.contains("longer than the limit"), "{faults}");
        assert_eq!(rows.len(), 1);
    }

    #[test]
    fn a_quotation_mark_that_is_not_closed_takes_no_rows_without_a_word() {
        let options = SourceOptions::default();
        let many = |open: &str| {
            let rows = |from: usize| {
                (from..from + 300).map(|i| format!("{i},some words\n")).collect::<String>()
            };
            format!("id,text\n{}a,{open}\n{}", rows(0), rows(1000))
        };
        let (rows, faults) = read(many("\"open").as_bytes(), b',', &options);
        assert_eq!(rows.len(), 300);
        assert!(faults.starts_with("the quotation mark in line 302 is not closed"), "{faults}");
        let (rows, faults) = read(many("a \"quoted\" word").as_bytes(), b',', &options);
        assert_eq!((rows.len(), faults.as_str()), (601, ""));
        // The next quotation mark closes the stray quotation.
        let table = many("\"open") + "b,\"closed\"\nc,last\n";
        let (rows, faults) = read(table.as_bytes(), b',', &options);
        assert_eq!(rows.len(), 301);
        assert!(
            faults.starts_with("302: the quotation mark in line 302 is closed in a later"),
            "{faults}"
        );
    }
}
