//! What can be put into an index?

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::text::kind::no_text_in;

/// A document, as its source has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The caller's id: not empty, at most [`ID_BYTES_MAX`], no control characters.
    pub id: String,
    /// The text.
    pub text: String,
    /// What the caller knows of the document: at most [`META_BYTES_MAX`] as JSON.
    pub meta: Map<String, Value>,
    /// The record that it was read from, if its reader keeps it: handed back by joins, never stored.
    pub record: Option<Box<str>>,
}

impl Document {
    /// Makes a document of an id and a text.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Document {
        Document { id: id.into(), text: text.into(), meta: Map::new(), record: None }
    }

    /// Adds what the caller knows of the document: an object that filters can query.
    #[must_use]
    pub fn with_meta(self, meta: Map<String, Value>) -> Document {
        Document { meta, ..self }
    }

    /// Returns the document if an index can hold it.
    ///
    /// # Errors
    /// When an index cannot hold its id or its meta object.
    pub fn checked(self) -> Result<Document> {
        let place = format!("document {:?}", self.id.chars().take(64).collect::<String>());
        match self.problem() {
            Some(what) => Err(Error::input(place, what)),
            None => Ok(self),
        }
    }

    /// Says why an index cannot hold the document, as a clause, if it cannot.
    pub fn problem(&self) -> Option<String> {
        let Document { id, meta, .. } = self;
        if id.is_empty() {
            return Some("the id is empty".into());
        }
        if id.len() > ID_BYTES_MAX {
            return Some(format!("the id has {} bytes; the maximum is {ID_BYTES_MAX}", id.len()));
        }
        if id.chars().any(char::is_control) {
            return Some(format!("the id {id:?} contains a control character"));
        }
        if let Some(why) = no_text_in(&self.text) {
            return Some(format!("its text is not text: {why}"));
        }
        if depth(meta) > META_DEPTH_MAX {
            return Some(format!(
                "the meta object is nested more than {META_DEPTH_MAX} levels deep"
            ));
        }
        if !meta.is_empty() {
            let len = serde_json::to_string(meta).map_or(usize::MAX, |json| json.len());
            if len > META_BYTES_MAX {
                return Some(format!(
                    "the meta object has {len} bytes; the maximum is {META_BYTES_MAX}"
                ));
            }
        }
        None
    }
}

/// The longest id.
pub const ID_BYTES_MAX: usize = 1024;

/// The longest meta object, as JSON.
pub const META_BYTES_MAX: usize = 64 << 10;

/// The longest meta object as it is written: white space and escapes take some of it. What it takes when it is
/// parsed may be a hundred times that, so a longer one is not.
pub const META_WRITTEN_BYTES_MAX: usize = 4 * META_BYTES_MAX;

/// The maximum depth of a meta object, which is traversed by recursion.
pub const META_DEPTH_MAX: usize = 128;

/// The id that a JSON value is, if it is one: a string, or a whole number, which is taken for its digits.
#[must_use]
pub fn id_of_json(json: &RawValue) -> Option<String> {
    let json = json.get();
    if json.starts_with('"') {
        return serde_json::from_str(json).ok();
    }
    if json.parse::<u64>().is_ok() || json.parse::<i64>().is_ok_and(|number| number != 0) {
        return Some(json.to_owned());
    }
    // To JSON `7`, `7.0` and `7e0` are one number, and so are `0` and `-0`. A number of digits alone
    // has been read, or is too large and must not be rounded to one that is not.
    let is_digits = json.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let float: f64 = json.parse().ok().filter(|&float| !is_digits || float == 0.0)?;
    let is_whole = float.fract() == 0.0 && float >= i64::MIN as f64 && float < 2f64.powi(64);
    is_whole.then(|| (float as i128).to_string())
}

/// The meta object that a JSON value is; `null` is an empty one. What is too long for one is not parsed.
///
/// # Errors
/// When it is not a meta object; a clause that names the field.
pub fn meta_of_json(
    field: &str,
    json: &RawValue,
) -> std::result::Result<Map<String, Value>, String> {
    let json = json.get();
    if json.len() > META_WRITTEN_BYTES_MAX {
        return Err(format!(
            "a meta object of {} bytes as it is written; the longest has {META_BYTES_MAX}",
            json.len()
        ));
    }
    if json == "null" {
        return Ok(Map::new());
    }
    if !json.starts_with('{') {
        return Err(format!("`{field}` is not an object"));
    }
    serde_json::from_str(json).map_err(|e| {
        let what = e.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        format!("{what} in `{field}`, at its column {}", e.column())
    })
}

/// How many objects and lists of a meta object are within one another.
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
    fn a_whole_number_is_an_id_however_it_is_written() {
        let check = |json: &str, expected: Option<&str>| {
            let raw = RawValue::from_string(json.to_owned()).unwrap();
            assert_eq!(id_of_json(&raw).as_deref(), expected, "{json}");
        };
        check("7", Some("7"));
        check("7.0", Some("7"));
        check("7e2", Some("700"));
        check("-0", Some("0"));
        check("-0.0", Some("0"));
        check("18446744073709551615", Some("18446744073709551615"));
        check("-9223372036854775808", Some("-9223372036854775808"));
        check("18446744073709551616", None);
        check("-9223372036854775809", None);
        check("1.8446744073709551616e19", None);
        check("7.5", None);
        check("1e300", None);
        check("\"7.0\"", Some("7.0"));
        check("true", None);
    }
}
