//! Patterns that read facts from file names, such as the author of a submission.
//!
//! Learning platforms put several facts into a name, such as
//! `lindqvistada_LATE_91230_5550000_Main.java`. A pattern gives every fact a field:
//! `{document}{_LATE?}_{*}_{*}_{part}`.

use std::cell::RefCell;
use std::collections::HashSet;

use crate::error::{Error, Result};

/// A pattern of names: text, and fields in braces.
///
/// `{NAME}` is a field of one or more characters, as few as fit. `{*}` has no name and may be
/// empty. `{TEXT?}` is an optional text. Fields contain no `/`, except for a field at the end of a
/// pattern for a path ([`of_path`](NamePattern::of_path)).
///
/// ```
/// use cento_api::NamePattern;
///
/// let pattern = NamePattern::new("{document}{_LATE?}_{*}_{*}_{part}")?;
/// let found = pattern.of_path("lindqvistada_LATE_91230_5550000_Main.java").unwrap();
/// assert_eq!(found, [("document", "lindqvistada"), ("part", "Main.java")]);
/// assert_eq!(pattern.of_path("Main.java"), None);
/// # Ok::<(), cento_api::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern {
    pieces: Vec<PatternPiece>,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternPiece {
    Text(String),
    Optional(String),
    /// A field. An unnamed field is not reported.
    Field(Option<String>),
}

/// The fields of a name, in the order of the pattern.
pub type NameFields<'a> = Vec<(&'a str, &'a str)>;

impl NamePattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// When a brace is not closed, the name of a field is invalid or repeated, or two fields have
    /// no text between them.
    pub fn new(text: &str) -> Result<NamePattern> {
        let refused = |what: String| {
            let what = format!("`{text}` is no pattern: {what}");
            Error::argument("pattern", what)
        };
        let (mut pieces, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let open = rest.find(['{', '}']).unwrap_or(rest.len());
            if open > 0 {
                pieces.push(PatternPiece::Text(rest[..open].to_owned()));
                rest = &rest[open..];
                continue;
            }
            let close = rest.find('}').filter(|_| rest.starts_with('{'));
            let close = close.ok_or_else(|| {
                let place = text[..text.len() - rest.len()].chars().count() + 1;
                refused(match rest.starts_with('{') {
                    true => format!(
                        "the `{{` at character {place} has no `}}`; write a field as `{{student}}`"
                    ),
                    false => format!(
                        "the `}}` at character {place} has no `{{` before it; write a field as \
                         `{{student}}`"
                    ),
                })
            })?;
            let piece = piece(&rest[1..close]).map_err(refused)?;
            let is_field = |piece: &PatternPiece| matches!(piece, PatternPiece::Field(_));
            if is_field(&piece) && pieces.last().is_some_and(is_field) {
                return Err(refused("two fields need a text between them".into()));
            }
            if let PatternPiece::Field(Some(_)) = &piece
                && pieces.contains(&piece)
            {
                return Err(refused(format!("it has {} twice", &rest[..=close])));
            }
            pieces.push(piece);
            rest = &rest[close + 1..];
        }
        Ok(NamePattern { pieces, text: text.to_owned() })
    }

    /// Tells whether a text is meant as a pattern, not as a name: it has a brace.
    #[must_use]
    pub fn is_pattern(text: &str) -> bool {
        text.contains(['{', '}'])
    }

    /// Returns the pattern as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the names of the fields.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            PatternPiece::Field(name) => name.as_deref(),
            _ => None,
        })
    }

    /// Returns the fields of a path, or `None` if the path as a whole does not fit. A field at the
    /// end of the pattern takes the remaining path, including slashes.
    #[must_use]
    pub fn of_path<'a>(&'a self, path: &'a str) -> Option<NameFields<'a>> {
        PatternState::new(self, path, true).fields()
    }

    /// Returns the fields of the end of a path: of as many of its parts between `/` as the pattern
    /// has.
    #[must_use]
    pub fn of_end<'a>(&'a self, path: &'a str) -> Option<NameFields<'a>> {
        let slashes = |text: &str| text.matches('/').count();
        let is_text = |piece: &&PatternPiece| matches!(piece, PatternPiece::Text(_));
        let own = self.pieces.iter().filter(is_text).map(|piece| match piece {
            PatternPiece::Text(text) => slashes(text),
            _ => 0,
        });
        let skipped = slashes(path).checked_sub(own.sum())?;
        let start =
            path.match_indices('/').nth(skipped.wrapping_sub(1)).map_or(0, |(at, _)| at + 1);
        PatternState::new(self, &path[start..], false).fields()
    }
}

/// Reads the text between two braces.
fn piece(text: &str) -> std::result::Result<PatternPiece, String> {
    if let Some(optional) = text.strip_suffix('?') {
        return match optional.is_empty() || optional.contains(['/', '{']) {
            true => Err(format!("{{{text}}} is no text that may be missing")),
            false => Ok(PatternPiece::Optional(optional.to_owned())),
        };
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match text {
        "*" => Ok(PatternPiece::Field(None)),
        _ if !text.is_empty() && text.chars().all(is_name) => {
            Ok(PatternPiece::Field(Some(text.to_owned())))
        }
        _ => Err(format!("{{{text}}} has no name of letters, digits, - and _")),
    }
}

/// The search for a match of a pattern with a text.
struct PatternState<'a> {
    pattern: &'a NamePattern,
    text: &'a str,
    /// Whether a field at the end of the pattern takes the remaining text.
    takes_rest: bool,
    /// Positions where the remaining pattern does not fit, so that each position is tried only
    /// once.
    failed: RefCell<HashSet<(usize, usize)>>,
}

impl<'a> PatternState<'a> {
    fn new(pattern: &'a NamePattern, text: &'a str, takes_rest: bool) -> PatternState<'a> {
        PatternState { pattern, text, takes_rest, failed: RefCell::default() }
    }

    fn fields(&self) -> Option<NameFields<'a>> {
        let is_in = |piece: &PatternPiece| match piece {
            PatternPiece::Text(text) => self.text.contains(text.as_str()),
            _ => true,
        };
        // A quick test, because most names lack a text that a pattern for a different platform
        // requires.
        if !self.pattern.pieces.iter().all(is_in) {
            return None;
        }
        let mut fields = Vec::new();
        self.fits(0, 0, &mut fields).then_some(fields)
    }

    /// Tells whether the pieces from `at` on fit the text from `start` on, and collects the fields.
    fn fits(&self, at: usize, start: usize, fields: &mut NameFields<'a>) -> bool {
        let Some(piece) = self.pattern.pieces.get(at) else { return start == self.text.len() };
        if self.failed.borrow().contains(&(at, start)) {
            return false;
        }
        let rest = &self.text[start..];
        let fits = match piece {
            PatternPiece::Text(text) => {
                rest.starts_with(text.as_str()) && self.fits(at + 1, start + text.len(), fields)
            }
            PatternPiece::Optional(text) => {
                (rest.starts_with(text.as_str()) && self.fits(at + 1, start + text.len(), fields))
                    || self.fits(at + 1, start, fields)
            }
            PatternPiece::Field(name) => self.field(name.as_deref(), at, start, fields),
        };
        if !fits {
            self.failed.borrow_mut().insert((at, start));
        }
        fits
    }

    fn field(
        &self,
        name: Option<&'a str>,
        at: usize,
        start: usize,
        fields: &mut NameFields<'a>,
    ) -> bool {
        let rest = &self.text[start..];
        let is_last = at + 1 == self.pattern.pieces.len();
        let end = match self.takes_rest && is_last {
            true => rest.len(),
            false => rest.find('/').unwrap_or(rest.len()),
        };
        let ends = rest[..end].char_indices().map(|(at, _)| at).chain([end]);
        let known = fields.len();
        ends.filter(|&len| len > 0 || name.is_none()).any(|len| {
            // The end of the pattern must match the end of the text.
            if is_last && start + len < self.text.len() {
                return false;
            }
            fields.extend(name.map(|name| (name, &rest[..len])));
            let fits = self.fits(at + 1, start + len, fields);
            if !fits {
                fields.truncate(known);
            }
            fits
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn fields(pattern: &str, path: &str) -> Option<String> {
        let pattern = NamePattern::new(pattern).unwrap();
        let found = pattern.of_path(path)?;
        Some(
            found
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect::<Vec<_>>()
                .join(" "),
        )
    }

    #[test]
    fn the_names_of_learning_platforms_are_read() {
        let check = |pattern: &str, path: &str, expected: Option<&str>| {
            assert_eq!(fields(pattern, path).as_deref(), expected, "{pattern} {path}");
        };
        let canvas = "{document}{_LATE?}_{*}_{*}_{part}";
        let (ada, bo) = ("ada_91230_555_Inventory_2.java", "bo_LATE_91231_556_Main.java");
        check(canvas, ada, Some("document=ada part=Inventory_2.java"));
        check(canvas, bo, Some("document=bo part=Main.java"));
        check(canvas, "ada_Main.java", None);
        check("{document}_{*}_{*}_{part}", bo, Some("document=bo part=556_Main.java"));
        let moodle = "{document}_{user}_assignsubmission_file_/{part}";
        let path = "Ada Lindqvist_12345_assignsubmission_file_/src/Main.java";
        check(moodle, path, Some("document=Ada Lindqvist user=12345 part=src/Main.java"));
        check("{term}/{document}/{part}", "2023/gr1/a/b", Some("term=2023 document=gr1 part=a/b"));
        check("{document}", "a/b", Some("document=a/b"));
        check("{a}x{b}", "xx", None);
        check("{a}x{b}", "\u{e9}x\u{e8}", Some("a=\u{e9} b=\u{e8}"));
        check("{*}x{b}", "xx", Some("b=x"));
    }

    #[test]
    fn the_end_of_a_path_has_as_many_parts_as_the_pattern() {
        let check = |pattern: &str, path: &str, expected: Option<&str>| {
            let pattern = NamePattern::new(pattern).unwrap();
            let found = pattern.of_end(path).map(|fields| fields[0].1);
            assert_eq!(found, expected, "{path}");
        };
        check("{student}/try{*}", "rs/ann/try1.java", Some("ann"));
        check("{student}/{*}", "a/b/c/d", Some("c"));
        check("{student}/{*}", "a/b", Some("a"));
        check("{student}/{*}", "a", None);
        check("{student}_{*}", "in/ann_2.txt", Some("ann"));
    }

    #[test]
    fn what_is_no_pattern_is_refused_with_the_reason() {
        for (text, why) in [
            // Regression: "a brace has no other".
            ("x/{a", "the `{` at character 3 has no `}`; write a field as `{student}`"),
            ("a}", "the `}` at character 2 has no `{` before it"),
            ("{}", "no name"),
            ("{a}{b}", "between"),
            ("{a}/{a}", "{a} twice"),
            ("{?}", "may be missing"),
        ] {
            let error = NamePattern::new(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_hostile_name_takes_as_many_steps_as_it_has_places() {
        let pattern = "{a}x{b}x{c}x{d}x{e}x{f}x{g}y";
        assert_eq!(fields(pattern, &"x".repeat(2000)), None);
    }
}
