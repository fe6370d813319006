//! Formats of numbers and tables.

use std::io::{self, Write};

use clap::ValueEnum;
use serde::Serialize;

use super::left_out::LeftOut;
use super::terminal::{self, line, note, printable};
use cento::{Error, Origin, PresetDefaults};
use cento_api::whole::is_zero;
use cento_api::{Passage, Unit};

pub use cento_report::{MORE_PASSAGES, NotCompared, count, counted, named, percent, warnings};

/// The format of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people.
    Human,
    /// JSON lines for programs.
    Json,
}

/// Formats the note under a truncated list: the total, if known, and the option to raise.
pub fn cut(shown: u64, total: Option<u64>, noun: &str, option: &str) -> String {
    let of = |total| cento_report::shown_of(shown, total, &format!("{noun}s"), option);
    total.and_then(of).unwrap_or_else(|| {
        format!("{} shown, there are more; raise {option}", counted(shown, noun))
    })
}

/// Formats the line under a list: the number of results, and of the documents compared.
pub fn of_documents(results: u64, noun: &str, documents: u64) -> String {
    format!("{} of {}", counted(results, noun), counted(documents, "document"))
}

/// Formats a duration, with the throughput in bytes if the run was long enough to measure.
pub fn taken(bytes: u64, seconds: f64) -> String {
    // Less than a second is mostly opening and committing the index.
    match seconds >= 1.0 && bytes as f64 / seconds >= 5e5 {
        true => format!(" in {seconds:.1} s ({})", rate(bytes, seconds)),
        false => format!(" in {seconds:.1} s"),
    }
}

/// Formats a speed: with a decimal below 10 MB/s, where a whole number says little.
pub fn rate(bytes: u64, seconds: f64) -> String {
    let speed = bytes as f64 / seconds.max(1e-9) / 1e6;
    let decimals = if speed < 9.95 { 1 } else { 0 };
    format!("{speed:.decimals$} MB/s")
}

/// Prints a JSON object on one line.
pub fn print_json(value: &impl Serialize) -> io::Result<()> {
    print_json_to(&mut io::stdout().lock(), value)
}

/// Prints a JSON object on one line of a locked output.
pub fn print_json_to(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    writeln!(out, "{}", terminal::json(value)?)
}

/// Returns the size of a passage: the number of tokens, and of matched tokens if they differ.
pub fn tokens_of(tokens: u32, matched: u32) -> String {
    let all = counted(tokens.into(), "word");
    match matched < tokens {
        true => format!("{all}, {} of them matched", count(matched.into())),
        false => all,
    }
}

/// The last object of a list in JSON lines. Only this line has a field `more`.
#[derive(Debug, Serialize)]
pub struct ListEnd<'a> {
    /// Whether further items exist.
    more: bool,
    shown: u64,
    /// The number of items in total.
    total: u64,
    /// Inputs that were not compared, with reasons.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    not_compared: &'a [NotCompared],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    left_out: &'a [LeftOut],
    /// Texts that were extracted only in part.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [NotCompared],
    /// Pairs compared only by fingerprints.
    #[serde(skip_serializing_if = "is_zero")]
    estimated_pairs: u64,
    /// The clusters are of this number of most similar pairs, if not of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    examined_pairs: Option<u64>,
    /// The preset's defaults that affected the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    defaults: Option<PresetDefaults>,
}

impl<'a> ListEnd<'a> {
    /// Makes the end of a list with this number of items out of `total`.
    pub fn new(shown: usize, total: u64, not_compared: &'a [NotCompared]) -> ListEnd<'a> {
        let shown = shown as u64;
        let more = shown < total;
        ListEnd {
            more,
            shown,
            total,
            not_compared,
            left_out: &[],
            warnings: &[],
            estimated_pairs: 0,
            examined_pairs: None,
            defaults: None,
        }
    }

    /// Adds the files that were skipped because of their names.
    pub fn with_left_out(self, left_out: &'a [LeftOut]) -> ListEnd<'a> {
        ListEnd { left_out, ..self }
    }

    /// Adds the texts that were extracted only in part.
    pub fn with_warnings(self, warnings: &'a [NotCompared]) -> ListEnd<'a> {
        ListEnd { warnings, ..self }
    }

    /// Adds the number of pairs compared only by fingerprints.
    pub fn with_estimated_pairs(self, estimated_pairs: u64) -> ListEnd<'a> {
        ListEnd { estimated_pairs, ..self }
    }

    /// Adds the number of pairs that clusters are of, if there are more.
    pub fn with_examined_pairs(self, examined_pairs: Option<u64>) -> ListEnd<'a> {
        ListEnd { examined_pairs, ..self }
    }

    /// Adds the preset's defaults that affected the result.
    pub fn with_defaults(self, defaults: Option<PresetDefaults>) -> ListEnd<'a> {
        ListEnd { defaults, ..self }
    }

    /// Writes the object as JSON, unless the list is complete and nothing else is to be reported.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let is_whole = self.not_compared.is_empty()
            && self.left_out.is_empty()
            && self.warnings.is_empty()
            && self.estimated_pairs == 0
            && self.examined_pairs.is_none()
            && self.defaults.is_none();
        match self.more || !is_whole {
            true => writeln!(out, "{}", terminal::json(self)?),
            false => Ok(()),
        }
    }

    /// Returns a message with the number of shown items and the option for more, if the list is
    /// truncated.
    pub fn said(&self, things: &str, option: &str) -> Option<String> {
        cento_report::shown_of(self.shown, self.total, things, option)
    }
}

/// Reports on standard error which defaults of a preset affected the result.
pub fn tell_defaults(defaults: Option<PresetDefaults>) {
    if let Some(defaults) = defaults {
        note!("cento: --for {defaults}");
    }
}

/// Prints the warnings about the compared texts.
///
/// # Errors
/// When the output cannot be written.
pub fn print_warnings(out: &mut impl Write, warnings: &[NotCompared]) -> io::Result<()> {
    for NotCompared { name, reason } in warnings {
        line!(out, "{name} {reason}")?;
    }
    Ok(())
}

/// Converts an error to an entry in the list of inputs that were not compared.
pub fn not_compared(error: &Error) -> NotCompared {
    let (place, what) = error.place_and_message();
    NotCompared::new(place, what)
}

/// Formats a position in a text, after a comma: the part if the text has parts, and the page if the
/// text has pages, else the line. Empty for a text of one line.
pub fn place(part: Option<&str>, page: Option<u32>, line: Option<u32>) -> String {
    let part = part.map_or(String::new(), |part| format!(", in {}", printable(part)));
    let place = match (page, line) {
        (Some(page), _) => format!(", page {page}"),
        (None, Some(line)) => format!(", line {line}"),
        (None, None) => String::new(),
    };
    part + &place
}

/// Formats a start position. In a text of one line, formats the range in bytes or tokens instead.
pub fn begin(
    part: Option<&str>,
    page: Option<u32>,
    line: Option<u32>,
    unit: Unit,
    range: (u32, u32),
) -> String {
    let place = place(part, page, line);
    let unit = if unit == Unit::Bytes { "bytes" } else { "tokens" };
    match place.strip_prefix(", ") {
        Some(place) if page.is_some() || line.is_some() => place.to_owned(),
        Some(place) => format!("{place}, {unit} {}..{}", range.0, range.1),
        None => format!("{unit} {}..{}", range.0, range.1),
    }
}

/// Formats a passage on a line: the positions in both texts, the size, and the similarity.
pub fn passage(passage: &Passage) -> String {
    let Passage { unit, tokens, matched, similarity: alike, .. } = *passage;
    let (part, line) = (passage.a_part.as_deref(), passage.a_line);
    let a = begin(part, passage.a_page, line, unit, passage.a) + &in_page(passage.a_origin);
    let (part, line) = (passage.b_part.as_deref(), passage.b_line);
    let b = begin(part, passage.b_page, line, unit, passage.b) + &in_page(passage.b_origin);
    format!("{a} \u{2194} {b}: {}, similarity {}", tokens_of(tokens, matched), percent(alike))
}

/// Maximum number of characters to show of a passage.
const SHOWN_CHARS: usize = 80;

/// Returns the first words of a text on a single line, because line breaks would break the layout.
pub fn beginning(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut shown = String::new();
    for word in &mut words {
        let room = if shown.is_empty() { "" } else { " " };
        let left = SHOWN_CHARS.saturating_sub(shown.chars().count() + room.len());
        if word.chars().count() > left {
            // A script without spaces has no words to end with.
            let part: String = word.chars().take(left).collect();
            return if shown.is_empty() { part + "..." } else { shown + "..." };
        }
        shown = shown + room + word;
    }
    shown
}

/// Formats a position in the original web page, in brackets. Empty without a page.
pub fn in_page(origin: Option<Origin>) -> String {
    origin.map_or(String::new(), |Origin { start, end, line }| {
        format!(" (in the page {start}..{end}, line {line})")
    })
}

/// Formats a share from 0 to 1, with a ~ before an estimate.
pub fn share(share: f64, is_exact: bool) -> String {
    format!("{}{}", if is_exact { "" } else { "~" }, percent(share))
}

/// Formats a number of bytes in a suitable unit.
pub fn bytes(bytes: u64) -> String {
    indicatif::DecimalBytes(bytes).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_shown_of_a_second_and_more() {
        assert_eq!(taken(3_000_000, 1.5), " in 1.5 s (2.0 MB/s)");
        assert_eq!(taken(400_000, 1.0), " in 1.0 s");
        assert_eq!(taken(9_000_000, 0.9), " in 0.9 s");
        assert_eq!(taken(0, 0.0), " in 0.0 s");
    }
}
