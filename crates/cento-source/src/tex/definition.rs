//! Macros that a LaTeX source defines.
//!
//! Macros without arguments are expanded, such as names of firms, persons and terms. A macro's text
//! is made once, from the macros defined before, so that nested macros cost nothing. A macro with
//! arguments becomes the words around its arguments, and a rule per argument
//! ([`expand`](super::expand)).

use std::collections::HashMap;

use super::expand::{ArgumentMacro, with_letters};
use super::option::bracketed;
use super::shorthand::Shorthands;
use super::{ARGUMENT_BYTES_MAX, TexReader};

/// The maximum size of an expanded definition, in bytes. Longer definitions are layout.
const BODY_BYTES_MAX: usize = 200;

/// The longest text of a macro.
const MACRO_BYTES_MAX: usize = 1000;

/// Commands of TeX that define macros.
pub const DEFINING: [&str; 4] = ["def", "edef", "gdef", "xdef"];

/// The maximum size of the numbers of arguments in a definition, in bytes.
const NUMBERS_BYTES_MAX: usize = 40;

/// Commands that define macros.
const DEFINITIONS: [&str; 6] = [
    "newcommand",
    "renewcommand",
    "providecommand",
    "DeclareRobustCommand",
    "NewDocumentCommand",
    "def",
];

/// The command whose definitions always specify the arguments, perhaps as none: `{}`.
const SPECIFYING: &str = "NewDocumentCommand";

/// Definitions of packages. The second argument of reledmac holds the notes on the first.
const OF_PACKAGES: &str = "\\newcommand{\\edtext}[2]{#1\\footnote{#2}}";

/// What a macro of the source is.
#[derive(Debug, PartialEq, Eq)]
pub enum Macro {
    Text(String),
    WithArguments(ArgumentMacro),
}

/// The macros of a source, by their names.
pub type Definitions = HashMap<String, Macro>;

/// Returns the macros of a source: its definitions, the definitions in other files, and the macros
/// of reledmac if the source uses this package.
pub fn defined(source: &str, others: &str, shorthands: Shorthands) -> Definitions {
    let mut found = Definitions::new();
    if source.contains("\\edtext") {
        define(&mut found, OF_PACKAGES, shorthands);
    }
    define(&mut found, others, shorthands);
    define(&mut found, source, shorthands);
    found
}

/// Adds the macros that a source defines.
fn define(found: &mut Definitions, source: &str, shorthands: Shorthands) {
    for (_, definition) in all(source) {
        let made = definition.expanded(found, shorthands);
        // Another definition of the name is no longer in force, even if nothing is known of this.
        match made {
            Some(made) => found.insert(definition.name.to_owned(), made),
            None => found.remove(definition.name),
        };
    }
}

/// Returns the definitions of a source without the text around them.
pub fn definition_sources(source: &str) -> String {
    let sources = all(source).map(|(at, definition)| {
        let command = source[at..].bytes().take_while(u8::is_ascii_alphabetic).count();
        format!("\\{}", &source[at..at + command + definition.len])
    });
    sources.collect()
}

/// Returns the definitions of a source, with the places of their commands.
fn all(source: &str) -> impl Iterator<Item = (usize, Definition<'_>)> {
    memchr::memchr_iter(b'\\', source.as_bytes()).filter_map(|at| {
        let rest = &source[at + 1..];
        let (name, rest) = DEFINITIONS
            .iter()
            .find_map(|name| rest.strip_prefix(name).map(|rest| (*name, rest)))?;
        Some((at + 1, Definition::of(rest, name == SPECIFYING)?))
    })
}

/// Returns the number of bytes of the definition of a macro after `\def`, or 0.
pub fn definition_len(rest: &str) -> usize {
    let found = Definition::of(rest, false);
    found.map_or(0, |found| found.len)
}

/// The definition of a macro.
struct Definition<'a> {
    name: &'a str,
    arguments: usize,
    has_option: bool,
    body: &'a str,
    len: usize,
}

impl<'a> Definition<'a> {
    /// Reads the definition after the defining command.
    fn of(source: &'a str, is_specified: bool) -> Option<Definition<'a>> {
        let rest = source.strip_prefix('*').unwrap_or(source).trim_start_matches(' ');
        let is_braced = rest.starts_with('{');
        let rest = rest.trim_start_matches('{').strip_prefix('\\')?;
        let len = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (name, rest) = rest.split_at(len);
        let rest = if is_braced { rest.strip_prefix('}')? } else { rest };
        let none = rest.trim_start_matches(' ').strip_prefix("{}").filter(|_| is_specified);
        let (arguments, has_option, rest) = match none {
            Some(rest) => (0, false, rest),
            None => numbers(rest)?,
        };
        let rest = rest.trim_start_matches(' ');
        let near = &rest[..rest.floor_char_boundary(ARGUMENT_BYTES_MAX)];
        let len = bracketed(near, b'{', b'}')?;
        let body = rest.get(1..len.checked_sub(1)?)?;
        let len = source.len() - rest.len() + len;
        (!name.is_empty()).then_some(Definition { name, arguments, has_option, body, len })
    }

    /// Returns the macro, if it shows words or changes what is read of its arguments.
    fn expanded(&self, known: &Definitions, shorthands: Shorthands) -> Option<Macro> {
        let body = match self.arguments {
            _ if self.body.len() > BODY_BYTES_MAX || is_internal(self.body) => return None,
            0 if self.body.contains('#') => return None,
            0 => self.body.to_owned(),
            arguments => with_letters(self.body, arguments)?,
        };
        let mut reader = TexReader::of(&body, known, shorthands);
        let notes = reader.read_apart().replace('\n', " ");
        let mut text = reader.text.replace('\n', " ");
        if self.arguments > 0 {
            let is_short = text.len() + notes.len() <= MACRO_BYTES_MAX;
            let read = [&*text, &*notes];
            let made = ArgumentMacro::of(&body, read, self.arguments, self.has_option);
            return made.filter(|_| is_short).map(Macro::WithArguments);
        }
        if !notes.is_empty() {
            text = format!("{text} {notes}");
        }
        text.truncate(text.floor_char_boundary(MACRO_BYTES_MAX));
        text.chars().any(char::is_alphabetic).then_some(Macro::Text(text))
    }
}

/// Returns whether a body uses commands with `@` in their names, which are internal commands of
/// LaTeX. Such commands make layout, and `\section` stays a heading, whatever the layout is.
fn is_internal(body: &str) -> bool {
    memchr::memchr_iter(b'@', body.as_bytes()).any(|at| {
        let name = body[..at].trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let has_letter =
            name.len() < at || body[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic());
        name.ends_with('\\') && has_letter
    })
}

/// Returns the number of arguments before the body of a macro, whether the first is an option, and
/// the body: after `[2][x]`, `{m m}` or `#1#2`.
fn numbers(rest: &str) -> Option<(usize, bool, &str)> {
    let near = &rest[..rest.floor_char_boundary(NUMBERS_BYTES_MAX)];
    if rest.starts_with('[') {
        let len = bracketed(near, b'[', b']')?;
        let number = rest[1..len - 1].trim().parse().ok()?;
        let option = bracketed(&near[len..], b'[', b']');
        return Some((number, option.is_some(), &rest[len + option.unwrap_or(0)..]));
    }
    let mut number = 0;
    let mut left = rest;
    while let Some(after) = left.strip_prefix(&format!("#{}", number + 1)) {
        (left, number) = (after, number + 1);
    }
    if number == 0 && rest.starts_with('{') {
        let len = bracketed(near, b'{', b'}').unwrap_or_default();
        let all = rest.get(1..len.saturating_sub(1)).unwrap_or_default();
        let is_specification = !all.is_empty() && all.bytes().all(|byte| b"m ".contains(&byte));
        if is_specification && rest[len..].starts_with('{') {
            return Some((all.matches('m').count(), false, &rest[len..]));
        }
    }
    Some((number, false, left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_without_arguments_have_texts() {
        let source = "\\newcommand{\\firm}{Acme \\emph{Ltd}}\\def\\Ann{Ann\\,B.}\
            \\newcommand*\\both{\\Ann{} of \\firm}\\newcommand{\\x}[1]{y #1}\\def\\z#1{#1}\
            \\NewDocumentCommand{\\none}{}{no one}\\newcommand{\\nil}{}{b}\
            \\renewcommand{\\gap}{\\vspace{1cm}}\\newcommand{\\open}{a";
        let definitions = |source| {
            let mut found = Definitions::new();
            define(&mut found, source, Shorthands::default());
            found
        };
        let found = definitions(source);
        assert_eq!(found["firm"], Macro::Text("Acme Ltd".to_owned()));
        assert_eq!(found["both"], Macro::Text("Ann B. of Acme Ltd".to_owned()));
        assert_eq!(found["none"], Macro::Text("no one".to_owned()));
        assert_eq!(found.len(), 5, "{found:?}");
        let bomb: String = (0..100)
            .map(|n| {
                let name = |n: usize| {
                    format!(
                        "\\m{}{}",
                        (b'a' + (n / 26) as u8) as char,
                        (b'a' + (n % 26) as u8) as char
                    )
                };
                format!("\\def{}{{x{}}}", name(n + 1), name(n).repeat(20))
            })
            .collect();
        let is_short = |found: &Macro| matches!(found, Macro::Text(text) if text.len() < 5000);
        assert!(definitions(&bomb).values().all(is_short));
    }
}
