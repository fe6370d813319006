//! Macros that a LaTeX source defines.
//!
//! Only macros without arguments are expanded, such as names of firms, persons and terms. Each text
//! is made once, with the macros defined before, so that nested macros cost nothing.

use std::collections::HashMap;

use super::option::bracketed;
use super::plain;
use super::shorthand::Shorthands;

/// The maximum size of an expanded definition, in bytes. Longer definitions are layout.
const BODY_BYTES_MAX: usize = 200;

/// Commands that define macros.
const DEFINITIONS: [&str; 5] =
    ["newcommand", "renewcommand", "providecommand", "DeclareRobustCommand", "def"];

/// The texts of macros, by their names.
pub type Definitions = HashMap<String, String>;

/// Returns the texts of the macros that a source defines.
pub fn definitions(source: &str, shorthands: Shorthands) -> Definitions {
    let mut found = Definitions::new();
    for at in memchr::memchr_iter(b'\\', source.as_bytes()) {
        let rest = &source[at + 1..];
        let Some(rest) = DEFINITIONS.iter().find_map(|name| rest.strip_prefix(name)) else {
            continue;
        };
        if let Some((name, body)) = definition(rest) {
            let text = plain(body, &found, shorthands);
            if text.chars().any(char::is_alphabetic) {
                found.insert(name.to_owned(), text);
            }
        }
    }
    found
}

/// Returns the name and body of a macro without arguments. `rest` follows the defining command.
fn definition(rest: &str) -> Option<(&str, &str)> {
    let rest = rest.strip_prefix('*').unwrap_or(rest).trim_start_matches(' ');
    let is_braced = rest.starts_with('{');
    let rest = rest.trim_start_matches('{').strip_prefix('\\')?;
    let len = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (name, rest) = rest.split_at(len);
    let rest = if is_braced { rest.strip_prefix('}')? } else { rest };
    let mut end = rest.len().min(BODY_BYTES_MAX);
    while !rest.is_char_boundary(end) {
        end -= 1;
    }
    let len = bracketed(&rest[..end], b'{', b'}').filter(|_| rest.starts_with('{'))?;
    let body = rest.get(1..len.checked_sub(1)?)?;
    (!name.is_empty() && !body.contains('#')).then_some((name, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_without_arguments_have_texts() {
        let source = "\\newcommand{\\firm}{Acme \\emph{Ltd}}\\def\\Ann{Ann\\,B.}\
            \\newcommand*\\both{\\Ann{} of \\firm}\\newcommand{\\x}[1]{y #1}\\def\\z#1{#1}\
            \\renewcommand{\\gap}{\\vspace{1cm}}\\newcommand{\\open}{a";
        let found = definitions(source, Shorthands::default());
        assert_eq!(found["firm"], "Acme Ltd");
        assert_eq!(found["both"], "Ann B. of Acme Ltd");
        assert_eq!(found.len(), 3, "{found:?}");
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
        assert!(definitions(&bomb, Shorthands::default()).values().all(|text| text.len() < 5000));
    }
}
