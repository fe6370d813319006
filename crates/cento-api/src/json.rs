//! The fault of a JSON text, in the words of its writer instead of those of a parser.

use serde_json::Error;
use serde_json::error::Category;

/// The messages of the parser that name its own terms, and their subjects.
const PROBLEMS: [(&str, &str); 19] = [
    ("EOF while parsing a list", "it ends within a list"),
    ("EOF while parsing an object", "it ends within an object"),
    ("EOF while parsing a string", "it ends within a string"),
    ("EOF while parsing a value", "it ends before a value"),
    ("expected `:`", "there is no `:` after the name of a field"),
    ("expected `,` or `]`", "there is no `,` or `]` after a value of a list"),
    ("expected `,` or `}`", "there is no `,` or `}` after the value of a field"),
    ("expected `\"`", "there is no quotation mark before a string"),
    ("expected ident", "there is a word that is not `true`, `false` or `null`"),
    ("expected value", "there is no value"),
    ("invalid escape", "there is an escape that JSON lacks"),
    ("invalid number", "there is an invalid number"),
    ("number out of range", "there is a number that is too large"),
    ("control character", "there is a control character in a string"),
    ("key must be a string", "the name of a field is not in quotation marks"),
    ("trailing comma", "there is no value after a comma"),
    ("trailing characters", "there is more text after its end"),
    ("unexpected end of hex escape", "there is half of a pair of escapes"),
    ("recursion limit exceeded", "it is nested too deeply, beyond the recursion limit"),
];

/// The names of types in messages of the parser; a value may follow them.
const TYPES: [(&str, &str); 8] = [
    ("sequence", "a list"),
    ("map", "an object"),
    ("string", "a string"),
    ("integer", "a number"),
    ("floating point", "a number"),
    ("number", "a number"),
    ("boolean", "`true` or `false`"),
    ("null", "`null`"),
];

/// Describes the fault of a JSON text, as a clause: the value there, and the one needed. It lacks
/// the place, which [`Error::column`] has.
#[must_use]
pub fn problem(error: &Error) -> String {
    let what = error.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    let named = |names: &[(&str, &'static str)], text: &str| {
        names.iter().find(|(name, _)| text.starts_with(name)).map(|(_, plain)| *plain)
    };
    if error.classify() != Category::Data {
        return named(&PROBLEMS, what).unwrap_or(what).to_owned();
    }
    let types = what.strip_prefix("invalid type: ");
    match types.and_then(|types| types.rsplit_once(", expected ")) {
        Some((found, needed)) => {
            let found = named(&TYPES, found).unwrap_or(found);
            let needed = if needed == "a sequence" { "a list" } else { needed };
            format!("it is {found}, not {needed}")
        }
        None => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn check(json: &str, expected: &str) {
        let error = serde_json::from_str::<BTreeMap<String, Vec<u8>>>(json).unwrap_err();
        assert_eq!(problem(&error), expected, "{json}");
        let error = serde_json::from_str::<serde_json::Value>(json);
        if let Err(error) = error {
            let shown = problem(&error);
            assert!(!shown.contains("EOF") && !shown.contains("expected"), "{json}: {shown}");
        }
    }

    #[test]
    fn defects_of_json_are_told_without_the_terms_of_a_parser() {
        check("{\"a\":[1", "it ends within a list");
        check("{", "it ends within an object");
        check("{\"a", "it ends within a string");
        check("", "it ends before a value");
        check("{\"a\" 1}", "there is no `:` after the name of a field");
        check("{\"a\":[1 2]}", "there is no `,` or `]` after a value of a list");
        check("{\"a\":[1] \"b\"}", "there is no `,` or `}` after the value of a field");
        check("{\"a\":[tru]}", "there is a word that is not `true`, `false` or `null`");
        check("hello", "there is no value");
        check("{\"\\x\":1}", "there is an escape that JSON lacks");
        check("{\"a\":[01]}", "there is an invalid number");
        check("{\"a\n\":1}", "there is a control character in a string");
        check("{a: 1}", "the name of a field is not in quotation marks");
        check("{\"a\":[1],}", "there is no value after a comma");
        check("{} x", "there is more text after its end");
        check("[1]", "it is a list, not a map");
        check("5", "it is a number, not a map");
        check("\"a, expected b\"", "it is a string, not a map");
        check("null", "it is `null`, not a map");
        check("{\"a\":true}", "it is `true` or `false`, not a list");
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        let error = serde_json::from_str::<serde_json::Value>(&deep).unwrap_err();
        assert!(problem(&error).contains("nested too deeply"));
    }
}
