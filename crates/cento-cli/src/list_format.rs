//! The formats of a list: text, JSON lines, csv and tsv.

use std::io::{self, Write};
use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;

use super::outfile::{PromisedFormat, promised, promises_json};
use super::output::print_json_to;
use cento::Error;
use cento_report::{Delimiter, Rows};

/// The format of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// Text for people.
    Human,
    /// JSON lines for programs.
    Json,
    /// A table with commas; its columns are fields of the JSON.
    Csv,
    /// A table with tabs; its columns are fields of the JSON.
    Tsv,
}

impl ListFormat {
    /// Returns whether the format is for people, who also get the total.
    pub fn is_human(self) -> bool {
        self == ListFormat::Human
    }

    /// Returns whether the format is a table, which has rows of one kind only.
    pub fn is_table(self) -> bool {
        self.delimiter().is_some()
    }

    /// Returns the format's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ListFormat::Human => "human",
            ListFormat::Json => "json",
            ListFormat::Csv => "csv",
            ListFormat::Tsv => "tsv",
        }
    }

    fn delimiter(self) -> Option<Delimiter> {
        match self {
            ListFormat::Human | ListFormat::Json => None,
            ListFormat::Csv => Some(Delimiter::Comma),
            ListFormat::Tsv => Some(Delimiter::Tab),
        }
    }

    /// Refuses an output file whose name implies a different format.
    ///
    /// # Errors
    /// When the name implies a different format.
    pub fn check_name(self, path: &Path) -> cento::Result<()> {
        let (what, option) = match promised(path, "lines")? {
            PromisedFormat::Lines if promises_json(path) => ("JSON lines", ListFormat::Json),
            PromisedFormat::Lines => return Ok(()),
            PromisedFormat::Table(Delimiter::Comma) => ("a table with commas", ListFormat::Csv),
            PromisedFormat::Table(Delimiter::Tab) => ("a table with tabs", ListFormat::Tsv),
        };
        if self == option {
            return Ok(());
        }
        let what = format!("its name promises {what}; add --format {}", option.name());
        Err(Error::input(path.display().to_string(), what))
    }
}

/// A list that is being written.
pub enum ListOut<W: Write> {
    /// Lines of text for people.
    Human(W),
    /// One JSON object per line.
    Json(W),
    Rows(Box<Rows<W>>),
}

impl<W: Write> ListOut<W> {
    /// Begins a list. A table begins with the names of `columns`, which are the JSON fields of the
    /// items.
    ///
    /// # Errors
    /// When writing to `out` fails.
    pub fn new(
        out: W,
        format: ListFormat,
        columns: &'static [&'static str],
    ) -> io::Result<ListOut<W>> {
        Ok(match format.delimiter() {
            Some(delimiter) => ListOut::Rows(Box::new(Rows::new(out, delimiter, columns)?)),
            None => ListOut::continued(out, format, columns),
        })
    }

    /// Continues a list whose output has the names of the columns already.
    pub fn continued(out: W, format: ListFormat, columns: &'static [&'static str]) -> ListOut<W> {
        match (format, format.delimiter()) {
            (_, Some(delimiter)) => {
                ListOut::Rows(Box::new(Rows::continued(out, delimiter, columns)))
            }
            (ListFormat::Json, None) => ListOut::Json(out),
            (_, None) => ListOut::Human(out),
        }
    }

    /// Writes an item. `human` writes the item for people.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(
        &mut self,
        item: &impl Serialize,
        human: impl FnOnce(&mut W) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            ListOut::Human(out) => human(out),
            ListOut::Json(out) => print_json_to(out, item),
            ListOut::Rows(rows) => rows.write(item),
        }
    }

    /// Writes everything and returns the output.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn finish(self) -> io::Result<W> {
        match self {
            ListOut::Human(out) | ListOut::Json(out) => Ok(out),
            ListOut::Rows(rows) => rows.finish(),
        }
    }

    /// Hands everything on.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        match self {
            ListOut::Human(out) | ListOut::Json(out) => out.flush(),
            ListOut::Rows(rows) => rows.flush(),
        }
    }
}
