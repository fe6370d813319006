//! Which documents are the rows of this table?
//!
//! A row becomes a line of JSON with a string for each column, so that it is read, named and written
//! again as other records are.

use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::mem;
use std::ops::ControlFlow;
use std::rc::Rc;

use csv::ByteRecord;
use serde_json::{Map, Value};

use crate::SourceOptions;
use crate::charset::{decode, is_utf16};
use crate::compressed::peek;
use crate::jsonl::{CHUNK_BYTES, Lines};

/// As much of a table as its encoding is found by.
const SAMPLE_BYTES: usize = 64 << 10;

/// Column names of a table without a text that are shown.
const SHOWN_MAX: usize = 20;

/// Why a table cannot be read.
pub enum Fault {
    /// It is none of documents, as a clause.
    Input(String),
    /// The stream cannot be read on, or not as a table.
    Read(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        Fault::Read(error)
    }
}

/// Reads the rows after the first, which names the columns; rows are numbered from 1 without it.
///
/// # Errors
/// When there is no column for the text, and when the stream cannot be read on. The rows before have
/// been emitted.
pub fn read_table(
    inner: impl Read,
    delimiter: u8,
    options: &SourceOptions,
    mut emit: impl FnMut(Lines) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, Fault> {
    let max = options.record_bytes_max;
    let (sample, stream) = peek(inner, SAMPLE_BYTES)?;
    let declared = options.encoding.as_deref();
    let (stream, charset): (Box<dyn Read>, _) = if declared.is_none() && is_utf16(&sample) {
        (utf16(stream, max)?, None)
    } else {
        // UTF-8 is known without being declared.
        let found = decode(&sample, declared).charset;
        (stream, declared.or((found != "UTF-8").then_some(found)))
    };
    let left = Rc::new(Cell::new(max));
    let stream = Limited { inner: stream, left: left.clone() };
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.delimiter(delimiter).has_headers(false).flexible(true);
    let mut reader = reader.from_reader(stream);
    let mut row = ByteRecord::new();
    let mut next = |row: &mut ByteRecord| {
        left.set(max);
        reader.read_byte_record(row).map_err(|error| Fault::Read(io::Error::other(error)))
    };
    if !next(&mut row)? {
        return Ok(ControlFlow::Continue(()));
    }
    let text_of = |field: &[u8]| match std::str::from_utf8(field) {
        Ok(text) => text.to_owned(),
        Err(_) => decode(field, charset).text.into_owned(),
    };
    let names: Vec<String> = row
        .iter()
        .map(|field| {
            text_of(field.strip_prefix(b"\xef\xbb\xbf").unwrap_or(field)).trim().to_owned()
        })
        .collect();
    check(&names, options).map_err(Fault::Input)?;
    let (mut lines, mut first_line, mut number) = (Vec::new(), 1, 0);
    loop {
        let more = next(&mut row);
        let is_end = !matches!(more, Ok(true));
        let fault = row.len() > names.len();
        if is_end || fault || lines.len() as u64 >= CHUNK_BYTES {
            let bytes = mem::take(&mut lines);
            if !bytes.is_empty() && emit(Lines::Whole { first_line, bytes }).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            first_line = number + 1;
        }
        if is_end {
            return more.map(|_| ControlFlow::Continue(()));
        }
        number += 1;
        if fault {
            let what =
                format!("it has {} fields, and the table {} columns", row.len(), names.len());
            if emit(Lines::Bad(number, what)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            first_line = number + 1;
            continue;
        }
        let record = record(&names, row.iter().map(text_of), options);
        let written = serde_json::to_writer(&mut lines, &record);
        written.expect("strings are JSON, and memory takes every byte");
        lines.push(b'\n');
    }
}

/// Refuses a table without a text.
fn check(names: &[String], options: &SourceOptions) -> Result<(), String> {
    if names.contains(&options.text_field) {
        return Ok(());
    }
    let shown = names[..names.len().min(SHOWN_MAX)].join("`, `");
    let more = if names.len() > SHOWN_MAX { ", and more" } else { "" };
    Err(format!("there is no column `{}`; its columns are `{shown}`{more}", options.text_field))
}

fn record(
    names: &[String],
    fields: impl Iterator<Item = String>,
    options: &SourceOptions,
) -> Map<String, Value> {
    let mut record = Map::new();
    for (name, field) in names.iter().zip(fields) {
        // Without an id it gets its place for one, and without meta none.
        if field.is_empty() && (*name == options.id_field || *name == options.meta_field) {
            continue;
        }
        let meta = (*name == options.meta_field).then(|| serde_json::from_str(&field).ok());
        record.insert(name.clone(), meta.flatten().unwrap_or(Value::String(field)));
    }
    record
}

/// The whole of a stream in UTF-16, as UTF-8: rows are cut at bytes.
fn utf16(stream: impl Read, max: usize) -> Result<Box<dyn Read>, Fault> {
    let mut bytes = Vec::new();
    stream.take((max as u64).saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() > max {
        let what = format!("it is a table in UTF-16 of more than {max} bytes; convert it to UTF-8");
        return Err(Fault::Input(what));
    }
    let text = decode(&bytes, None).text.into_owned();
    Ok(Box::new(Cursor::new(text.into_bytes())))
}

/// Ends with an error where a row is too long: a quotation mark that is not closed takes the rest.
struct Limited<R> {
    inner: R,
    left: Rc<Cell<usize>>,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            let what = "a row of the table is longer than the limit for a record; a quotation mark \
                        may not be closed";
            return Err(io::Error::other(what));
        }
        let read = self.inner.read(buffer)?;
        self.left.set(self.left.get().saturating_sub(read));
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(table: &[u8], delimiter: u8, options: &SourceOptions) -> (Vec<(u64, Value)>, String) {
        let (mut rows, mut faults) = (Vec::new(), String::new());
        let end = read_table(table, delimiter, options, |lines| {
            match lines {
                Lines::Whole { first_line, bytes } => {
                    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
                    let lines = lines.map(|line| serde_json::from_slice(line).unwrap());
                    rows.extend((first_line..).zip(lines));
                }
                Lines::Bad(number, what) => faults.push_str(&format!("{number}: {what}; ")),
                Lines::TooLong(number) => faults.push_str(&format!("{number}: too long; ")),
            }
            ControlFlow::Continue(())
        });
        match end {
            Ok(_) => {}
            Err(Fault::Input(what)) => faults.push_str(&what),
            Err(Fault::Read(error)) => faults.push_str(&error.to_string()),
        }
        (rows, faults)
    }

    #[test]
    fn rows_are_records() {
        let options = SourceOptions { meta_field: "m".into(), ..SourceOptions::default() };
        let table =
            b"\xef\xbb\xbfid, text,m\r\n7,\"a \"\"b\"\",\nc\",\"{\"\"x\"\":1}\"\n,d,\n1,2,3,4\n8\n";
        let (rows, faults) = read(table, b',', &options);
        let expected = [
            (1, json!({"id": "7", "text": "a \"b\",\nc", "m": {"x": 1}})),
            (2, json!({"text": "d"})),
            (4, json!({"id": "8"})),
        ];
        assert_eq!(rows, expected);
        assert_eq!(faults, "3: it has 4 fields, and the table 3 columns; ");
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
}
