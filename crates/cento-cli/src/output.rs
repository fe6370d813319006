//! How are numbers and tables shown?

use std::io::{self, Write};

use clap::ValueEnum;
use serde::Serialize;

use super::terminal;
use cento::Origin;

pub use cento_report::{MORE_PASSAGES, count, counted};

/// The format of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people.
    Human,
    /// JSON lines for programs.
    Json,
}

/// Formats that a list of `shown` was cut: how many there are if that is known, and the option to raise.
pub fn cut(shown: u64, total: Option<u64>, noun: &str, option: &str) -> String {
    match total {
        Some(total) => {
            format!(
                "{} of {} shown; {option} {total} shows all",
                count(shown),
                counted(total, noun)
            )
        }
        None => format!("{} shown, there are more; raise {option}", counted(shown, noun)),
    }
}

/// Prints one JSON object on a line of its own.
pub fn print_json(value: &impl Serialize) -> io::Result<()> {
    print_json_to(&mut io::stdout().lock(), value)
}

/// Prints one JSON object on a line of its own to an output that is locked.
pub fn print_json_to(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    writeln!(out, "{}", terminal::json(value)?)
}

/// Formats where in a text something begins, after a comma: its page if the text has pages, else its
/// line; nothing of a text of one line.
pub fn place(page: Option<u32>, line: Option<u32>) -> String {
    match (page, line) {
        (Some(page), _) => format!(", page {page}"),
        (None, Some(line)) => format!(", line {line}"),
        (None, None) => String::new(),
    }
}

/// Formats where something stands in the web page that it was taken from, in brackets; nothing if it was
/// taken from none.
pub fn in_page(origin: Option<Origin>) -> String {
    origin.map_or(String::new(), |Origin { start, end, line }| {
        format!(" (in the page {start}..{end}, line {line})")
    })
}

/// An id, and the index that has it, if several were searched.
pub fn named(id: &str, index: Option<&str>) -> String {
    index.map_or(id.to_owned(), |index| format!("{id} in {index}"))
}

/// Formats a number of bytes in the unit that fits.
pub fn bytes(bytes: u64) -> String {
    indicatif::HumanBytes(bytes).to_string()
}
