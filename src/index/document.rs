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
    /// # Errors When an index cannot hold its id or its meta object.
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
pub fn id_of_json(json: &RawValue) -> Option<String> {
    let json = json.get();
    if json.starts_with('"') {
        return serde_json::from_str(json).ok();
    }
    // JSON has no whole number that is minus zero: it is a fraction.
    let is_whole =
        json.parse::<u64>().is_ok() || json.parse::<i64>().is_ok_and(|number| number != 0);
    is_whole.then(|| json.to_owned())
}

/// The meta object that a JSON value is; `null` is an empty one. What is too long for one is not parsed.
///
/// # Errors When it is not a meta object; a clause that names the field.
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
