//! Describes the fault of a JSON text in terms of JSON, not of the parser.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;
use serde_json::{Error, Map, Value};

/// Messages of the parser in its own terms, with plain replacements.
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

/// Describes the fault of a JSON text, as a clause: the value found and the value needed. The place
/// is in [`Error::column`].
///
/// ```
/// let error = serde_json::from_str::<Vec<u32>>("[1, 2").unwrap_err();
/// assert_eq!(cento_api::json::problem(&error), "it ends within a list");
/// ```
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
    match wrong_value(what) {
        Some((given, needed)) => format!("it is {given}, not {needed}"),
        None => what.to_owned(),
    }
}

/// Returns the value found and the value needed, from a message of serde about a value of a
/// different type. Returns `None` for other messages. serde names types of Rust (`struct Webhook`,
/// `sequence`, `u64`), but writers of JSON know objects, lists and numbers.
#[must_use]
pub fn wrong_value(message: &str) -> Option<(String, &str)> {
    let (found, wanted) = ["invalid type: ", "invalid value: ", "invalid length "]
        .iter()
        .find_map(|kind| message.strip_prefix(kind)?.rsplit_once(", expected "))?;
    Some((given(found), needed(wanted)))
}

/// How the message of a fault within a flattened field begins.
const FIELD: &str = "field `";

/// Reads a flattened field (`#[serde(flatten, deserialize_with = "json::flattened")]`), and names
/// the field with a fault in the message. serde reads the fields of such a type at the end of the
/// object, and reports no place in it.
pub(crate) fn flattened<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    serde_path_to_error::deserialize(deserializer).map_err(|fault| {
        let path = fault.path().to_string();
        match fault.path().iter().next() {
            Some(_) => D::Error::custom(format_args!("{FIELD}{path}`: {}", fault.inner())),
            None => fault.into_inner(),
        }
    })
}

/// Splits off the field that `flattened` named.
#[must_use]
pub fn split_field(message: &str) -> (Option<&str>, &str) {
    match message.strip_prefix(FIELD).and_then(|rest| rest.split_once("`: ")) {
        Some((field, what)) => (Some(field), what),
        None => (None, message),
    }
}

/// Returns the field names of a JSON object in order, including repetitions. Other values have no
/// names.
#[must_use]
pub fn field_names(json: &str) -> Vec<String> {
    let members: ObjectMembers<'_> = serde_json::from_str(json).unwrap_or_default();
    members.0.into_iter().map(|(name, _)| name).collect()
}

/// Returns a name that any object in this JSON text repeats. `fields` is the number of fields after
/// parsing. The parser silently drops repeated fields, so a larger number in the text reveals them.
///
/// ```
/// let json = r#"{"id": "a", "text": "one", "id": "b"}"#;
/// assert_eq!(cento_api::json::repeated_field(json, 2).as_deref(), Some("id"));
/// ```
#[must_use]
pub fn repeated_field(json: &str, fields: usize) -> Option<String> {
    if fields == colons(json) { None } else { repeated(json.trim_ascii_start()) }
}

/// Returns the number of fields of all objects in a value.
#[must_use]
pub fn fields_in(value: &Value) -> usize {
    match value {
        Value::Object(object) => fields_of(object),
        Value::Array(values) => values.iter().map(fields_in).sum(),
        _ => 0,
    }
}

/// Returns the number of fields of an object and of the objects in it.
#[must_use]
pub fn fields_of(object: &Map<String, Value>) -> usize {
    object.len() + object.values().map(fields_in).sum::<usize>()
}

/// Returns the number of colons outside of strings, which is the number of fields in the text.
fn colons(json: &str) -> usize {
    let (mut colons, mut is_string, mut bytes) = (0, false, json.bytes());
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_string = !is_string,
            b'\\' if is_string => drop(bytes.next()),
            b':' if !is_string => colons += 1,
            _ => {}
        }
    }
    colons
}

/// Finds a repeated name by parsing, for [`repeated_field`].
fn repeated(json: &str) -> Option<String> {
    if json.starts_with('[') {
        let values: Vec<&RawValue> = serde_json::from_str(json).ok()?;
        return values.into_iter().find_map(|value| repeated(value.get()));
    }
    let members: ObjectMembers<'_> = serde_json::from_str(json).ok()?;
    let mut seen = HashSet::new();
    let own = members.0.iter().find(|(name, _)| !seen.insert(name));
    let own = own.map(|(name, _)| name.clone());
    own.or_else(|| members.0.iter().find_map(|(_, value)| repeated(value.get())))
}

/// The fields of an object, with their values.
#[derive(Default)]
struct ObjectMembers<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for ObjectMembers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ObjectMembers<'a>, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = ObjectMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<ObjectMembers<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(ObjectMembers(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

/// The maximum length of a string in a message, in characters.
const STRING_MAX: usize = 60;

/// Returns the kind of the value found, in terms of JSON.
fn given(found: &str) -> String {
    match found.split_once(' ') {
        Some(("boolean", value)) => value.trim_matches('`').to_owned(),
        Some(("integer" | "number", value)) => format!("the number {}", value.trim_matches('`')),
        Some(("floating", value)) => {
            format!("the number {}", value.trim_start_matches("point ").trim_matches('`'))
        }
        Some(("string", value)) => match value.char_indices().nth(STRING_MAX) {
            Some((end, _)) => format!("the string {}...\"", &value[..end]),
            None => format!("the {found}"),
        },
        Some(("unit" | "Option", _)) => "null".to_owned(),
        _ => match found {
            "null" => "null".to_owned(),
            "sequence" => "a list".to_owned(),
            "map" => "an object".to_owned(),
            _ => found.to_owned(),
        },
    }
}

/// Returns the kind of the value needed, in terms of JSON.
fn needed(wanted: &str) -> &str {
    match wanted {
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        "u8" | "u16" | "u32" | "u64" | "usize" | "nonzero u64" => "a whole number of at least 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        _ if wanted.starts_with("struct ") => "an object",
        "string or map" | "variant identifier" => "a name",
        _ if wanted.starts_with("enum ") => "a name",
        _ => wanted,
    }
}

/// The memory of a node of a map, in bytes. A map has a node for at most eleven members, and for at
/// least five if there are several nodes.
const NODE_BYTES: usize = 11 * (size_of::<String>() + size_of::<Value>()) + 112;

/// The least memory of an allocation, in bytes.
const ALLOCATION_BYTES: usize = 16;

/// Returns the memory of an object in bytes, beside the object itself. It may be a hundred times
/// the length of the JSON.
///
/// ```
/// let object = |json| serde_json::from_str(json).unwrap();
/// assert_eq!(cento_api::json::heap_bytes(&object("{}")), 0);
/// assert!(cento_api::json::heap_bytes(&object(r#"{"a":{"a":{}}}"#)) > 1000);
/// ```
#[must_use]
pub fn heap_bytes(object: &Map<String, Value>) -> usize {
    let of = |(name, value): (&String, &Value)| of_string(name) + of_value(value);
    let nodes = if object.len() <= 11 { object.len().min(1) } else { object.len().div_ceil(5) };
    nodes * NODE_BYTES + object.iter().map(of).sum::<usize>()
}

/// The least memory of an array with values, in bytes.
const ARRAY_BYTES: usize = 4 * size_of::<Value>() + ALLOCATION_BYTES;

/// Returns an upper bound of the memory of a JSON text as values, in bytes, without the bytes of
/// its strings. Takes little time, because nothing is parsed.
///
/// ```
/// assert_eq!(cento_api::json::value_bytes_max(br#"{"text":"[{,,,"}"#), 728);
/// ```
#[must_use]
pub fn value_bytes_max(json: &[u8]) -> usize {
    let (mut bytes, mut in_string, mut is_escaped) = (0, false, false);
    for &byte in json {
        if in_string {
            in_string = byte != b'"' || is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' => bytes += NODE_BYTES,
            b'[' => bytes += ARRAY_BYTES,
            // The capacity of an array may be twice its length.
            b',' => bytes += 2 * size_of::<Value>(),
            _ => {}
        }
    }
    bytes
}

fn of_string(text: &String) -> usize {
    if text.capacity() == 0 { 0 } else { text.capacity() + ALLOCATION_BYTES }
}

fn of_value(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => of_string(text),
        Value::Array(values) => {
            values.capacity() * size_of::<Value>() + values.iter().map(of_value).sum::<usize>()
        }
        Value::Object(object) => heap_bytes(object),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn check(json: &str, expected: &str) {
        let error = serde_json::from_str::<BTreeMap<String, Vec<u8>>>(json).unwrap_err();
        assert_eq!(problem(&error), expected, "{json}");
        let error = serde_json::from_str::<Value>(json);
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
        check("[1]", "it is a list, not an object");
        check("5", "it is the number 5, not an object");
        check("\"a, expected b\"", "it is the string \"a, expected b\", not an object");
        let long = format!("\"{}\"", "\u{e9}".repeat(200));
        let shown = format!("\"{}...\"", "\u{e9}".repeat(59));
        check(&long, &format!("it is the string {shown}, not an object"));
        check("null", "it is null, not an object");
        check("{\"a\":true}", "it is true, not a list");
        check("{\"a\":[-1]}", "it is the number -1, not a whole number of at least 0");
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        let error = serde_json::from_str::<Value>(&deep).unwrap_err();
        assert!(problem(&error).contains("nested too deeply"));
    }
}
