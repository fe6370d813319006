//! Ids and meta objects of documents: their limits, and how they are read from JSON.

use std::cmp::Reverse;
use std::collections::HashSet;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::json::{fields_in, fields_of, problem as json_problem, repeated_field};

/// Returns the reason why no index can hold a document with this id, as a clause, if any.
///
/// ```
/// use cento_api::document::id_problem;
///
/// assert_eq!(id_problem("press/2026-03-04.txt"), None);
/// assert!(id_problem(&"x".repeat(2000)).is_some());
/// ```
#[must_use]
pub fn id_problem(id: &str) -> Option<String> {
    if id.is_empty() {
        return Some("the id is empty".into());
    }
    if id.len() > ID_BYTES_MAX {
        return Some(format!("the id has {} bytes; the maximum is {ID_BYTES_MAX}", id.len()));
    }
    let has_control = id.chars().any(char::is_control);
    has_control.then(|| format!("the id {id:?} contains a control character"))
}

/// Returns the reason why no index can hold a document with this meta object, as a clause, if any.
#[must_use]
pub fn meta_problem(meta: &Map<String, Value>) -> Option<String> {
    if depth(meta) > META_DEPTH_MAX {
        return Some(format!("the meta object is nested more than {META_DEPTH_MAX} levels deep"));
    }
    let len = match meta.is_empty() {
        true => 0,
        false => serde_json::to_string(meta).map_or(usize::MAX, |json| json.len()),
    };
    let is_long = len > META_BYTES_MAX;
    is_long.then(|| format!("the meta object has {len} bytes; the maximum is {META_BYTES_MAX}"))
}

/// The maximum size of an id, in bytes.
pub const ID_BYTES_MAX: usize = 1024;

/// The longest meta object, as JSON.
pub const META_BYTES_MAX: usize = 64 << 10;

/// The maximum size of a meta object as written, with white space and escapes, in bytes. A longer
/// object is not parsed, because parsing may take a hundred times the bytes.
pub const META_WRITTEN_BYTES_MAX: usize = 4 * META_BYTES_MAX;

/// The maximum size of a meta object that consists of fields the caller did not name, in bytes. The
/// remaining space is for members that come later: values of directories such as `year=2024`, and
/// the novelty.
pub const META_KEPT_BYTES_MAX: usize = META_BYTES_MAX - (4 << 10);

/// The maximum depth of a meta object, which is traversed by recursion.
pub const META_DEPTH_MAX: usize = 128;

/// Converts a JSON value to an id. A string stays a string, a whole number becomes its digits, and
/// any other number or truth value its written form. `null` and an empty string give no id.
///
/// ```
/// use cento_api::document::id_of_json;
///
/// let id = |json| id_of_json(serde_json::from_str(json).unwrap());
/// assert_eq!(id("\"seven\""), Ok(Some("seven".into())));
/// assert_eq!(id("7"), Ok(Some("7".into())));
/// assert_eq!(id("null"), Ok(None));
/// assert!(id("[7]").is_err());
/// ```
///
/// # Errors
/// For a list, an object, or a string with half of a surrogate pair, as a clause.
pub fn id_of_json(json: &RawValue) -> Result<Option<String>, String> {
    let json = json.get();
    let id = match json.as_bytes().first() {
        Some(b'"') => serde_json::from_str(json).map_err(|_| "not valid as a string".to_owned())?,
        Some(b'{') => return Err("an object, and not an id".into()),
        Some(b'[') => return Err("a list, and not an id".into()),
        _ if json == "null" => return Ok(None),
        _ => of_number(json),
    };
    Ok(Some(id).filter(|id: &String| !id.is_empty()))
}

/// JSON does not distinguish `7`, `7.0` and `7e0`, or `0` and `-0`. A value that consists of digits
/// is already an id, or is too large and must not be rounded.
fn of_number(json: &str) -> String {
    let is_digits = json.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let float: Option<f64> = json.parse().ok().filter(|&float| !is_digits || float == 0.0);
    let is_whole =
        |float: &f64| float.fract() == 0.0 && *float >= i64::MIN as f64 && *float < 2f64.powi(64);
    match float.filter(is_whole) {
        Some(float) => (float as i128).to_string(),
        None => json.to_owned(),
    }
}

/// Converts a JSON value to a meta object. The value is an object, a string with an object, or
/// `null`, which gives an empty object. Any other value becomes a member named `field`. A value
/// that is too long for a meta object is not parsed.
///
/// # Errors
/// When the value is too long, or not JSON, as a clause that names the field.
pub fn meta_of_json(field: &str, json: &RawValue) -> Result<Map<String, Value>, String> {
    let json = json.get();
    if json.len() > META_WRITTEN_BYTES_MAX {
        return Err(format!(
            "a meta object of {} bytes as it is written; the longest has {META_BYTES_MAX}",
            json.len()
        ));
    }
    let value: Value = serde_json::from_str(json)
        .map_err(|e| format!("{} in `{field}`, at its column {}", json_problem(&e), e.column()))?;
    let once = |json: &str, fields| match repeated_field(json, fields) {
        Some(name) => Err(format!("two fields in `{field}` are called `{name}`")),
        None => Ok(()),
    };
    once(json, fields_in(&value))?;
    Ok(match value {
        Value::Null => Map::new(),
        Value::Object(meta) => meta,
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(meta)) => {
                once(&text, fields_of(&meta))?;
                meta
            }
            _ => Map::from_iter([(field.to_owned(), Value::String(text))]),
        },
        value => Map::from_iter([(field.to_owned(), value)]),
    })
}

/// Removes the longest of the `added` members until the object has at most [`META_KEPT_BYTES_MAX`].
/// `leave_out` gets their names. Which members are removed does not depend on their order.
pub fn shorten_meta(
    meta: &mut Map<String, Value>,
    added: &[&str],
    mut leave_out: impl FnMut(&str),
) {
    if added.is_empty() {
        return;
    }
    let all = serde_json::to_string(meta).map_or(0, |json| json.len());
    if all <= META_KEPT_BYTES_MAX {
        return;
    }
    let len = |name: &str| name.len() + meta[name].to_string().len();
    let lens: Vec<(&str, usize)> = added.iter().map(|&name| (name, len(name))).collect();
    let own = all - lens.iter().map(|(_, len)| len).sum::<usize>().min(all);
    for name in longest_fields(lens.into_iter(), META_KEPT_BYTES_MAX.saturating_sub(own)) {
        meta.remove(name);
        leave_out(name);
    }
}

/// Returns the longest fields, as many as must be dropped so that the remaining fields have at most
/// `max` bytes in total.
#[must_use]
pub fn longest_fields<'a>(
    lens: impl Iterator<Item = (&'a str, usize)> + Clone,
    max: usize,
) -> HashSet<&'a str> {
    let mut all: usize = lens.clone().map(|(_, len)| len).sum();
    if all <= max {
        return HashSet::new();
    }
    let mut sorted: Vec<(&str, usize)> = lens.collect();
    sorted.sort_unstable_by_key(|&(name, len)| (Reverse(len), name));
    let mut longest = HashSet::new();
    for (name, len) in sorted {
        if all <= max {
            break;
        }
        longest.insert(name);
        all -= len;
    }
    longest
}

/// Returns the nesting depth of the objects and lists of a meta object.
fn depth(meta: &Map<String, Value>) -> usize {
    let mut deepest = 0;
    let mut open: Vec<(&Value, usize)> = meta.values().map(|value| (value, 1)).collect();
    while let Some((value, depth)) = open.pop() {
        deepest = deepest.max(depth);
        match value {
            Value::Object(object) => open.extend(object.values().map(|value| (value, depth + 1))),
            Value::Array(values) => open.extend(values.iter().map(|value| (value, depth + 1))),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written() {
        let check = |json: &str, expected: Option<&str>| {
            let raw = RawValue::from_string(json.to_owned()).unwrap();
            assert_eq!(id_of_json(&raw).unwrap().as_deref(), expected, "{json}");
        };
        check("7", Some("7"));
        check("7.0", Some("7"));
        check("7e2", Some("700"));
        check("-0", Some("0"));
        check("-0.0", Some("0"));
        check("18446744073709551615", Some("18446744073709551615"));
        check("-9223372036854775808", Some("-9223372036854775808"));
        check("18446744073709551616", Some("18446744073709551616"));
        check("-9223372036854775809", Some("-9223372036854775809"));
        check("1.8446744073709551616e19", Some("1.8446744073709551616e19"));
        check("7.5", Some("7.5"));
        check("1e300", Some("1e300"));
        check("\"7.0\"", Some("7.0"));
        check("true", Some("true"));
        check("\"\"", None);
        check("null", None);
        for json in ["[\"a\"]", "{}", "\"\\ud800\""] {
            let raw = RawValue::from_string(json.to_owned()).unwrap();
            assert!(id_of_json(&raw).is_err(), "{json}");
        }
    }

    #[test]
    fn a_meta_object_is_made_of_any_value() {
        let check = |json: &str, expected: Value| {
            let raw = RawValue::from_string(json.to_owned()).unwrap();
            assert_eq!(Value::from(meta_of_json("m", &raw).unwrap()), expected, "{json}");
        };
        check("{\"a\":1}", serde_json::json!({"a": 1}));
        check("\"{\\\"a\\\":1}\"", serde_json::json!({"a": 1}));
        check("null", serde_json::json!({}));
        check("\"a\"", serde_json::json!({"m": "a"}));
        check("\"[1]\"", serde_json::json!({"m": "[1]"}));
        check("[1,2]", serde_json::json!({"m": [1, 2]}));
        check("1.5", serde_json::json!({"m": 1.5}));
        check("\"a: b:\"", serde_json::json!({"m": "a: b:"}));
        check(r#"{"a\":":":\\"}"#, serde_json::json!({"a\":": ":\\"}));
        check(
            r#"[{"a":{"a":1e5}},{"a":{}}]"#,
            serde_json::json!({"m": [{"a": {"a": 1e5}}, {"a": {}}]}),
        );
    }

    #[test]
    fn a_meta_object_with_two_fields_of_one_name_is_refused() {
        // The last value was kept silently.
        let check = |json: &str, name: &str| {
            let raw = RawValue::from_string(json.to_owned()).unwrap();
            let said = meta_of_json("m", &raw).unwrap_err();
            assert_eq!(said, format!("two fields in `m` are called `{name}`"), "{json}");
        };
        check("{\"a\":1,\"b\":2,\"a\":1}", "a");
        check("{\"a\":1,\"\\u0061\":1}", "a");
        check("{\"a\":{\"b\":[1,{\"c\":\":\",\"c\":{}}]}}", "c");
        check("[{\"a\":1},{\"b\":2,\"b\":3}]", "b");
        check("\"{\\\"a\\\":1,\\\"a\\\":2}\"", "a");
    }
}
