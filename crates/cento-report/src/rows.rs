//! JSON objects as rows of csv or tsv.
//!
//! A column has the name of its field in JSON, with a point before each field of a nested object,
//! so that a list has the same names in JSON and csv. A cell with a list or an object contains
//! JSON.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use crate::table::cell;

/// The type of the cells in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellType {
    /// A string. The cell of a list or an object contains JSON.
    Text,
    /// A whole number of 64 bits.
    Integer,
    /// A number with a fraction.
    Real,
    /// A boolean: true or false.
    Truth,
}

/// The separator between the cells of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    /// Commas, as csv has them (RFC 4180).
    Comma,
    /// Tabs: tsv, with the quotation marks of csv.
    Tab,
}

/// Writes objects as rows of a table.
///
/// ```
/// use cento_report::{Delimiter, Rows};
///
/// let mut table = Vec::new();
/// let mut rows = Rows::new(&mut table, Delimiter::Comma, &["id", "weighted.resemblance"])?;
/// rows.write(&serde_json::json!({"id": "a, b", "weighted": {"resemblance": 0.5}, "meta": {}}))?;
/// rows.write(&serde_json::json!({"id": "=1+1"}))?;
/// rows.flush()?;
/// drop(rows);
/// assert_eq!(table, b"id,weighted.resemblance\n\"a, b\",0.5\n'=1+1,\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Rows<W: Write> {
    out: csv::Writer<W>,
    columns: &'static [&'static str],
}

impl<W: Write> Rows<W> {
    /// Writes the names of the columns.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn new(
        out: W,
        delimiter: Delimiter,
        columns: &'static [&'static str],
    ) -> io::Result<Rows<W>> {
        let mut rows = Rows::continued(out, delimiter, columns);
        rows.out.write_record(columns)?;
        Ok(rows)
    }

    /// Continues a table whose output already contains the column names.
    pub fn continued(out: W, delimiter: Delimiter, columns: &'static [&'static str]) -> Rows<W> {
        let delimiter = match delimiter {
            Delimiter::Comma => b',',
            Delimiter::Tab => b'\t',
        };
        let out = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
        Rows { out, columns }
    }

    /// Writes the fields of `object` that have columns. A text that looks like a spreadsheet
    /// formula gets a `'` in front. A missing or null field leaves its cell empty.
    ///
    /// # Errors
    /// When the output cannot be written, or `object` has no form in JSON.
    pub fn write(&mut self, object: &impl Serialize) -> io::Result<()> {
        let object = serde_json::to_value(object)?;
        let cells = self.columns.iter().map(|column| {
            let field = column.split('.').try_fold(&object, |value, name| value.get(name));
            match field {
                Some(Value::String(text)) => cell(text),
                Some(Value::Number(number)) => number.to_string(),
                Some(Value::Bool(is)) => is.to_string(),
                Some(nested @ (Value::Object(_) | Value::Array(_))) => cell(&nested.to_string()),
                Some(Value::Null) | None => String::new(),
            }
        });
        Ok(self.out.write_record(cells)?)
    }

    /// Flushes everything to the output.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Rows<W> {
    /// Writes everything and returns the output.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn finish(self) -> io::Result<W> {
        self.out.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(delimiter: Delimiter, rows: &[Value], expected: &str) {
        let mut table = Vec::new();
        let mut out = Rows::new(&mut table, delimiter, &["id", "n", "is", "meta"]).unwrap();
        rows.iter().for_each(|row| out.write(row).unwrap());
        out.flush().unwrap();
        drop(out);
        assert_eq!(String::from_utf8(table).unwrap(), expected);
    }

    #[test]
    fn every_row_has_every_column() {
        let rows = [
            json!({"id": "a\tb", "n": -1.5, "is": true, "meta": {"k": [1]}, "other": 1}),
            json!({"n": null, "is": [1, "x"]}),
        ];
        check(
            Delimiter::Tab,
            &rows,
            "id\tn\tis\tmeta\n\"a\tb\"\t-1.5\ttrue\t\"{\"\"k\"\":[1]}\"\n\t\t\"[1,\"\"x\"\"]\"\t\n",
        );
        check(Delimiter::Comma, &[], "id,n,is,meta\n");
    }

    #[test]
    fn a_continued_table_has_its_columns_once() {
        let mut table = Vec::new();
        let columns: &[&str] = &["id"];
        let mut rows = Rows::new(&mut table, Delimiter::Comma, columns).unwrap();
        rows.write(&json!({"id": 1})).unwrap();
        rows.flush().unwrap();
        drop(rows);
        let mut rows = Rows::continued(&mut table, Delimiter::Comma, columns);
        rows.write(&json!({"id": 2})).unwrap();
        rows.flush().unwrap();
        drop(rows);
        assert_eq!(String::from_utf8(table).unwrap(), "id\n1\n2\n");
    }

    #[test]
    fn a_number_is_not_a_formula_and_a_text_may_be() {
        let rows = [json!({"id": "-1", "n": -1}), json!({"id": "two\nlines"})];
        check(Delimiter::Comma, &rows, "id,n,is,meta\n'-1,-1,,\n\"two\nlines\",,,\n");
    }
}
