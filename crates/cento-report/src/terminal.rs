//! Text from outside, as a terminal can show it.
//!
//! Some characters are commands to a terminal. Names of files, ids, addresses and passages come
//! from outside, so programs write the commands as escapes.

use std::borrow::Cow;
use std::io;

use serde::Serialize;

/// Returns whether a terminal would obey this character rather than show it: a control, a separator
/// of lines or paragraphs, or a control of direction.
pub fn is_obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_any_obeyed(text: &str) -> bool {
    // Most lines are ASCII, and their bytes are checked many at a time: checking each character
    // took a tenth of the time of `pairs`.
    let is_plain = text.bytes().fold(true, |is_plain, byte| is_plain & matches!(byte, b' '..=b'~'));
    !is_plain && text.contains(is_obeyed)
}

/// Escapes all characters that a terminal would obey, for example as `\u{1b}`.
///
/// ```
/// use cento_report::terminal::printable;
///
/// // A file name that would clear the screen.
/// assert!(!printable("a\u{1b}[2J.txt").contains('\u{1b}'));
/// assert_eq!(printable("essay.txt"), "essay.txt");
/// ```
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

/// Writes JSON on one line. Characters that a terminal would obey become JSON escapes.
pub fn json(value: &impl Serialize) -> io::Result<String> {
    let json = serde_json::to_string(value).map_err(io::Error::other)?;
    if !is_any_obeyed(&json) {
        return Ok(json);
    }
    // Only strings can contain such characters, because the syntax of JSON does not.
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
    fn control_characters_are_shown_and_not_obeyed() {
        let check = |text: &str, expected: &str| assert_eq!(printable(text), expected);
        check(
            "caf\u{e9} \u{65e5}\u{672c} \u{5d0}\u{200f}",
            "caf\u{e9} \u{65e5}\u{672c} \u{5d0}\u{200f}",
        );
        check("a\u{1b}]0;x\u{7}b", "a\\u{1b}]0;x\\u{7}b");
        check("a\nb\tc\r", "a\\nb\\tc\\r");
        check("\u{7f}\u{9b}2J", "\\u{7f}\\u{9b}2J");
        check("a\u{2028}b\u{2029}", "a\\u{2028}b\\u{2029}");
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
