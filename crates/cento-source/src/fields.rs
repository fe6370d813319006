//! Messages about missing, unknown and repeated fields.

use std::collections::HashSet;
use std::fmt;

use cento::{Reason, Refusal};
use cento_api::suggest::did_you_mean;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

/// The maximum number of names in a message, and of characters of a name.
pub const SHOWN_MAX: usize = 20;
const CHARS_MAX: usize = 40;

/// Refuses a record or table that lacks the field `name`, which would be the `field` of a document,
/// and lists the names found instead. `noun` follows "there is no".
pub fn missing<'a>(
    noun: &str,
    field: &'static str,
    name: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Refusal {
    let mut names = names.into_iter();
    let first: Vec<&str> = names.by_ref().take(SHOWN_MAX).collect();
    let shown: Vec<String> = first.iter().map(|name| format!("`{}`", short(name))).collect();
    let more = if names.next().is_some() { ", and more" } else { "" };
    let there = match (shown.is_empty(), noun) {
        (true, _) => "it is empty".to_owned(),
        (false, "column ") => format!("its columns are {}{more}", shown.join(", ")),
        (false, _) => format!("its fields are {}{more}", shown.join(", ")),
    };
    let meant = did_you_mean(name, first.iter().copied().filter(|known| known.len() <= CHARS_MAX));
    let what = format!("there is no {noun}`{name}`{meant}; {there}");
    Refusal::new(Reason::MissingField { field }, what)
}

/// Refuses a document with an unknown field. `id` and `text` are the names of known fields.
pub fn unknown(name: &str, [id, text]: [&str; 2]) -> Refusal {
    let name = short(name);
    let meant = did_you_mean(&name, [id, text, "meta", "parts"]);
    let what = format!(
        "unknown field `{name}`{meant}; a document has `{id}`, `{text}` or `parts`, and `meta`, an \
         object with all else"
    );
    what.into()
}

/// Describes a field that no record has. Also lists existing fields that cento does not read.
pub fn missing_in_all(name: &str, names: &[&str]) -> String {
    format!("no record has a field `{}`{}", short(name), instead(name, names))
}

/// Describes a field that `option` names and no record has, and lists existing fields.
pub fn missing_of_option(name: &str, option: &str, names: &[&str]) -> String {
    format!("no record has the field `{}` of {option}{}", short(name), instead(name, names))
}

/// Returns the name that may be meant, and the names that there are.
fn instead(name: &str, names: &[&str]) -> String {
    let meant = did_you_mean(name, names.iter().copied().filter(|known| known.len() <= CHARS_MAX));
    let shown = names.iter().take(SHOWN_MAX).map(|name| format!("`{}`", short(name)));
    let shown = shown.collect::<Vec<_>>().join(", ");
    let there = match names.len() {
        0 => "they have no other fields".to_owned(),
        1..=SHOWN_MAX => format!("they have {shown}"),
        _ => format!("they have {shown}, and more"),
    };
    format!("{meant}; {there}")
}

/// Refuses a record or table with two `nouns` (such as columns) called `name`.
pub fn twice(nouns: &str, name: &str) -> Refusal {
    format!("two {nouns} are called `{}`; which one counts is not known", short(name)).into()
}

/// Returns the first repeated name, among names that `counts` accepts.
pub fn repeated<'a>(
    names: impl IntoIterator<Item = &'a str>,
    counts: impl Fn(&str) -> bool,
) -> Option<&'a str> {
    let mut seen = HashSet::new();
    names.into_iter().find(|name| counts(name) && !seen.insert(*name))
}

/// Returns a name, shortened for a message.
pub fn short(name: &str) -> String {
    match name.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// Returns the names of the fields of a JSON object, at most one more than a message shows. Returns
/// no names for other values.
pub fn names_of(json: &[u8]) -> Vec<String> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    deserializer.deserialize_map(FieldNames).unwrap_or_default()
}

struct FieldNames;

impl<'de> Visitor<'de> for FieldNames {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<String>, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = map.next_key()? {
            map.next_value::<IgnoredAny>()?;
            if names.len() <= SHOWN_MAX {
                names.push(name);
            }
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_without_the_field_names_those_that_it_has() {
        let check = |json: &str, expected: &str| {
            let names = names_of(json.as_bytes());
            let refusal = missing("", "text", "text", names.iter().map(String::as_str));
            assert_eq!(refusal.what, expected);
            assert_eq!(refusal.reason, Some(Reason::MissingField { field: "text" }));
        };
        check(
            r#"{"id":1,"txt":{"text":2}}"#,
            "there is no `text` (did you mean `txt`?); its fields are `id`, `txt`",
        );
        check(r#"{"body":[]}"#, "there is no `text`; its fields are `body`");
        check("{}", "there is no `text`; it is empty");
        let long = format!(r#"{{"{}":1}}"#, "\u{e9}".repeat(50));
        check(&long, &format!("there is no `text`; its fields are `{}...`", "\u{e9}".repeat(40)));
        let many: Vec<String> = (0..30).map(|number| format!(r#""f{number}":0"#)).collect();
        let names = names_of(format!("{{{}}}", many.join(",")).as_bytes());
        assert_eq!(names.len(), 21);
        let refusal = missing("column ", "id", "key", names.iter().map(String::as_str));
        assert!(refusal.what.ends_with("`f19`, and more"), "{refusal}");
    }
}
