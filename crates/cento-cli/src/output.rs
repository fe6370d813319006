//! How are numbers and tables shown?

use std::io::{self, Write};
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;

use super::terminal;

/// The format of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people.
    Human,
    /// JSON lines for programs.
    Json,
}

/// The message if the search for passages was cut short.
pub const MORE_PASSAGES: &str =
    "the search for passages reached its limit of steps: there may be more";

/// Prints one JSON object on a line of its own.
pub fn print_json(value: &impl Serialize) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{}", terminal::json(value)?)
}

/// Formats a number with a comma between thousands.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a number of things; `one` is the singular.
pub fn counted(number: u64, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{} {one}s", count(number)),
    }
}

/// Formats a number of bytes in the unit that fits.
pub fn bytes(bytes: u64) -> String {
    indicatif::HumanBytes(bytes).to_string()
}

/// Parses a number of bytes such as `512MiB`, `1GB` or `4096` names.
pub fn parse_bytes(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
    let unit = text[digits.len()..].trim().to_ascii_lowercase();
    let shift = match unit.as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return Err("expected a number of bytes, such as 512MiB or 1GB".into()),
    };
    let number: usize = digits.parse().map_err(|_| "expected a number of bytes, such as 512MiB")?;
    number.checked_mul(shift).ok_or_else(|| "the number is too large".into())
}

/// The time that a text such as `500ms`, `5s` or `10m` names.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let refused = "expected a duration above zero, such as 500ms, 5s or 10m";
    let span: jiff::SignedDuration = text.parse().map_err(|_| refused)?;
    match Duration::try_from(span) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(refused.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("512MiB"), Ok(512 << 20));
        assert_eq!(parse_bytes("512m"), Ok(512 << 20));
        assert_eq!(parse_bytes("1 GB"), Ok(1_000_000_000));
        assert!(parse_bytes("many").is_err());
        assert!(parse_bytes("5 parsecs").is_err());
        assert!(parse_bytes("99999999999999999999").is_err());
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(count(7), "7");
        assert_eq!(count(1234), "1,234");
        assert_eq!(count(1_234_567), "1,234,567");
    }
}
