//! The formats of a list: text, JSON lines, csv and tsv.

use std::io::{self, Write};

use clap::ValueEnum;
use serde::Serialize;

use super::output::print_json_to;
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
    /// Returns whether people read it, who also get the total.
    pub fn is_human(self) -> bool {
        self == ListFormat::Human
    }
}

/// A list on its way out.
pub enum ListOut<W: Write> {
    /// As text.
    Human(W),
    /// As JSON lines.
    Json(W),
    /// As a table.
    Rows(Box<Rows<W>>),
}

impl<W: Write> ListOut<W> {
    /// Begins a list; a table begins with the names of its `columns`, which are fields of its items in JSON.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn new(
        out: W,
        format: ListFormat,
        columns: &'static [&'static str],
    ) -> io::Result<ListOut<W>> {
        Ok(match format {
            ListFormat::Human => ListOut::Human(out),
            ListFormat::Json => ListOut::Json(out),
            ListFormat::Csv => ListOut::Rows(Box::new(Rows::new(out, Delimiter::Comma, columns)?)),
            ListFormat::Tsv => ListOut::Rows(Box::new(Rows::new(out, Delimiter::Tab, columns)?)),
        })
    }

    /// Writes an item: `human` writes it for people.
    ///
    /// # Errors
    /// When the output cannot be written.
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
