//! Writing the records of a table as rows again.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};

use cento::{Error, Result};
use csv::{ReaderBuilder, Terminator, Writer, WriterBuilder};
use serde_json::Value;

use crate::charset::decode;
use crate::compressed::{Compression, peek};
use crate::fields::{repeated, twice};
use crate::sniff::{self, Form};
use crate::table::is_separator;
use crate::{SourceOptions, unread};

/// The size of the beginning of a table that must contain the column names, in bytes.
const HEAD_BYTES: usize = 64 << 10;

/// The columns and the format of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableForm {
    columns: Vec<String>,
    delimiter: u8,
    /// The column of annotations.
    added: Option<&'static str>,
    /// Whether the table begins with a byte order mark, without which spreadsheets do not expect
    /// UTF-8.
    is_marked: bool,
    /// Whether lines end in CR LF.
    is_crlf: bool,
}

impl TableForm {
    /// Returns the common form of tables with the same columns, which is the form of the first
    /// table.
    ///
    /// # Errors
    /// When a file is not a table, has different columns, or repeats a column name.
    pub fn of_files(paths: &[PathBuf], options: &SourceOptions) -> Result<TableForm> {
        let mut found: Option<(&Path, TableForm)> = None;
        for path in paths {
            let form = TableForm::of_file(path, options)?;
            match &found {
                None => found = Some((path, form)),
                Some((first, of_first)) if sorted(&of_first.columns) != sorted(&form.columns) => {
                    let what =
                        format!("its columns differ from the columns of {}", first.display());
                    return Err(Error::input(path.display().to_string(), what));
                }
                Some(_) => {}
            }
        }
        found.map(|(_, form)| form).ok_or_else(|| Error::input("the input", "it is no table"))
    }

    fn of_file(path: &Path, options: &SourceOptions) -> Result<TableForm> {
        let shown = || path.display().to_string();
        let no_table = || Error::input(shown(), "it is no table (.csv, .tsv)");
        if path == Path::new("-") || path.is_dir() {
            return Err(no_table());
        }
        let failed = |error| Error::io("read", path, error);
        let name = path.to_string_lossy();
        let (promised, inner) = Compression::of_name(&name);
        let (start, stream) = peek(File::open(path).map_err(failed)?, 16).map_err(failed)?;
        let opened = Compression::of_start(&start, promised).open(stream, options.window_bytes_max);
        let (head, _) = peek(opened, HEAD_BYTES).map_err(failed)?;
        let is_whole = head.len() < HEAD_BYTES;
        let Form::Table(delimiter) = sniff::form(&head, is_whole, inner, options) else {
            return Err(no_table());
        };
        let text = decode(&head, options.encoding.as_deref()).text;
        let is_marked = head.starts_with(b"\xef\xbb\xbf");
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let is_crlf = text.find('\n').is_some_and(|at| text[..at].ends_with('\r'));
        let mut reader = ReaderBuilder::new();
        reader.delimiter(delimiter).has_headers(false).flexible(true);
        let mut rows = reader.from_reader(Cursor::new(text)).into_records();
        let mut columns = || -> Result<Vec<String>> {
            let row = rows.next().transpose().map_err(|error| failed(io::Error::other(error)))?;
            Ok(row.iter().flatten().map(|name| name.trim().to_owned()).collect())
        };
        let first = columns()?;
        let columns = if is_separator(&first) { columns()? } else { first };
        match repeated(columns.iter().map(String::as_str), |_| true) {
            Some(name) => Err(unread(&shown(), twice("columns", name))),
            None => Ok(TableForm { columns, delimiter, added: None, is_marked, is_crlf }),
        }
    }

    /// Separates columns by tabs.
    #[must_use]
    pub fn with_tabs(self) -> TableForm {
        TableForm { delimiter: b'\t', ..self }
    }

    /// Separates columns as the table did, but not by tabs.
    #[must_use]
    pub fn without_tabs(self) -> TableForm {
        let delimiter = if self.delimiter == b'\t' { b',' } else { self.delimiter };
        TableForm { delimiter, ..self }
    }

    /// Adds an empty column. Returns `None` if the table has a column of this name already.
    #[must_use]
    pub fn with_column(self, name: &'static str) -> Option<TableForm> {
        let is_there = self.columns.iter().any(|column| column == name);
        (!is_there).then_some(TableForm { added: Some(name), ..self })
    }

    /// Returns the header row with its line end. Starts with a byte order mark if the table had a
    /// mark.
    #[must_use]
    pub fn head(&self) -> String {
        let mark = if self.is_marked { "\u{feff}" } else { "" };
        format!("{mark}{}", self.line(self.names().map(Cow::Borrowed)))
    }

    /// Returns the row of a record, a JSON object, with the line end. Values other than strings
    /// become JSON.
    #[must_use]
    pub fn row(&self, record: &str) -> String {
        let values: HashMap<String, Value> = serde_json::from_str(record).unwrap_or_default();
        self.line(self.names().map(|name| match values.get(name) {
            None | Some(Value::Null) => Cow::Borrowed(""),
            Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
            Some(other) => Cow::Owned(other.to_string()),
        }))
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(String::as_str).chain(self.added)
    }

    fn line<'a>(&self, fields: impl Iterator<Item = Cow<'a, str>>) -> String {
        let end = if self.is_crlf { Terminator::CRLF } else { Terminator::Any(b'\n') };
        let mut writer: Writer<Vec<u8>> =
            WriterBuilder::new().delimiter(self.delimiter).terminator(end).from_writer(Vec::new());
        for field in fields {
            writer.write_field(&*field).expect("memory takes every byte");
        }
        writer.write_record(None::<&[u8]>).expect("memory takes every byte");
        let line = writer.into_inner().expect("memory takes every byte");
        String::from_utf8(line).expect("it is made of text")
    }
}

fn sorted(columns: &[String]) -> Vec<String> {
    let mut sorted = columns.to_vec();
    sorted.sort_unstable();
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(name: &str, table: &[u8]) -> Result<TableForm> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, table).unwrap();
        TableForm::of_files(&[path], &SourceOptions::default())
    }

    #[test]
    fn a_row_has_the_columns_of_the_table_in_their_order() {
        let form = form("a.csv", "\u{feff}text;id ;meta\n1;2;3\n".as_bytes()).unwrap();
        assert_eq!(form.head(), "\u{feff}text;id;meta\n");
        let row = form.row(r#"{"id":"1","meta":{"a":[1]},"text":"one; \"two\"\nthree"}"#);
        assert_eq!(row, "\"one; \"\"two\"\"\nthree\";1;\"{\"\"a\"\":[1]}\"\n");
        let form = form.with_tabs().with_column("dedup").unwrap();
        assert!(form.clone().with_column("text").is_none());
        assert_eq!(form.row(r#"{"text":"a","dedup":{"verdict":"kept"}}"#).matches('\t').count(), 3);
        assert_eq!(form.without_tabs().head(), "\u{feff}text,id,meta,dedup\n");
    }

    #[test]
    fn a_table_keeps_its_mark_and_the_ends_of_its_lines() {
        let form = form("a.csv", "\u{feff}id;text\r\n1;2\r\n".as_bytes()).unwrap();
        assert_eq!(form.head(), "\u{feff}id;text\r\n");
        assert_eq!(form.row(r#"{"id":"1","text":"a"}"#), "1;a\r\n");
        // The delimiter is what `sep=` tells Excel.
        let told = self::form("a.csv", b"sep=;\r\nid;text,more\r\n1;2\r\n").unwrap();
        assert_eq!(told.head(), "id;text,more\r\n");
        let form = self::form("a.csv", b"id,text\n1,\"a\r\nb\"\n").unwrap();
        assert_eq!((form.head(), form.row(r#"{"id":"1"}"#)), ("id,text\n".into(), "1,\n".into()));
    }

    #[test]
    fn text_that_is_no_table_or_an_ambiguous_one_has_no_form() {
        assert!(form("a.csv", b"id,text,id\n").unwrap_err().to_string().contains("two columns"));
        assert!(form("a.jsonl", b"{}\n").unwrap_err().to_string().contains("no table"));
        let one = form("a.csv", "text\nx\n".as_bytes()).unwrap();
        // An empty line would not be a row.
        assert_eq!(one.row("{}"), "\"\"\n");
    }
}
