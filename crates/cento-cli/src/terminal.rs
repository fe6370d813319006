//! Safe output of text from outside to a terminal.
//!
//! Names of files and archive entries, ids and passages come from outside, and a terminal obeys the
//! characters it gets: control characters move its cursor, change its title or hide earlier text,
//! and controls of direction show a name backwards. All text that the verbs write for people goes
//! through here, where such characters are written as escapes; nothing else in `cli` prints.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

use serde::Serialize;

/// Returns whether a terminal would obey this character rather than show it.
pub fn is_obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_any_obeyed(text: &str) -> bool {
    // Most lines are ASCII, and their bytes are checked many at a time: character by character took
    // a tenth of the time of `pairs`.
    let is_plain = text.bytes().fold(true, |is_plain, byte| is_plain & matches!(byte, b' '..=b'~'));
    !is_plain && text.contains(is_obeyed)
}

/// Escapes all characters that a terminal would obey, for example as `\u{1b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !is_any_obeyed(text) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_obeyed(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown.into()
}

/// Writes a line to standard error.
pub fn say(message: fmt::Arguments<'_>) {
    // If standard error is closed, there is nowhere to report that.
    let _ = writeln!(io::stderr().lock(), "{}", printable(&message.to_string()));
}

/// Writes a line to standard error, as `eprintln!` does.
macro_rules! tell {
    ($($arg:tt)*) => { $crate::terminal::say(format_args!($($arg)*)) };
}
pub(super) use tell;

/// An output of lines for people.
pub trait Lines: Write {
    /// Writes a line.
    fn line(&mut self, line: fmt::Arguments<'_>) -> io::Result<()> {
        writeln!(self, "{}", printable(&line.to_string()))
    }
}

impl<W: Write> Lines for W {}

/// Writes a line for people.
macro_rules! line {
    ($out:expr) => { line!($out, "") };
    ($out:expr, $($arg:tt)*) => {{
        use $crate::terminal::Lines as _;
        $out.line(format_args!($($arg)*))
    }};
}
pub(super) use line;

/// Writes JSON on one line. Characters that a terminal would obey are written as JSON escapes.
pub fn json(value: &impl Serialize) -> io::Result<String> {
    let json = serde_json::to_string(value).map_err(io::Error::other)?;
    if !is_any_obeyed(&json) {
        return Ok(json);
    }
    // They are within strings: the syntax of JSON has no such characters.
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match is_obeyed(c) {
            true => shown += &format!("\\u{:04x}", u32::from(c)),
            false => shown.push(c),
        }
    }
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        let check = |text: &str, expected: &str| assert_eq!(printable(text), expected);
        check(
            "caf\u{e9} \u{65e5}\u{672c} \u{5d0}\u{200f}",
            "caf\u{e9} \u{65e5}\u{672c} \u{5d0}\u{200f}",
        );
        check("a\u{1b}]0;x\u{7}b", "a\\u{1b}]0;x\\u{7}b");
        check("a\nb\tc\r", "a\\nb\\tc\\r");
        check("\u{7f}\u{9b}2J", "\\u{7f}\\u{9b}2J");
        check("\u{202e}txt.exe\u{2066}\u{2069}", "\\u{202e}txt.exe\\u{2066}\\u{2069}");
    }

    #[test]
    fn json_says_the_same_without_it() {
        let text = "a\u{1b}\u{7f}\u{9b}\u{202e}\u{2069}\"\\\u{e9}";
        let written = json(&text).unwrap();
        assert!(!written.contains(is_obeyed), "{written}");
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
    }
}
