//! Selects the fields of a record that become its meta object.
//!
//! Beside id and text, a record has fields such as source, date and language. These fields are
//! kept, because filters, groups and preferences need them, and because an export should lose
//! nothing that the owner knew. If a meta object cannot hold a field, only this field is dropped
//! and reported ([`FieldUse`](crate::FieldUse)), not the record.

use std::collections::{HashMap, HashSet};

use cento::index::{
    META_KEPT_BYTES_MAX, META_WRITTEN_BYTES_MAX, longest_fields, meta_of_json, meta_problem,
    shorten_meta,
};
use cento_api::json;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

/// The field with a meta object.
pub const META: &str = "meta";

/// The fields of records that become members of meta objects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MetaFields {
    /// The members of `meta`, and every field without a different purpose under its own name. An
    /// unsuitable field is dropped.
    All,
    /// These fields: the members of an object, or any other value under the name of its field. If
    /// the fields do not fit, the record is refused.
    Named(Vec<String>),
}

impl MetaFields {
    /// Returns the field `meta` alone, for readers that need no other field.
    #[must_use]
    pub fn object() -> MetaFields {
        MetaFields::Named(vec![META.into()])
    }

    /// Returns the chosen fields, or [the object](MetaFields::object) if all fields are kept.
    #[must_use]
    pub fn or_object(self) -> MetaFields {
        match self {
            MetaFields::All => MetaFields::object(),
            named => named,
        }
    }

    /// Returns whether unnamed fields are kept, too.
    #[must_use]
    pub fn are_all(&self) -> bool {
        *self == MetaFields::All
    }

    /// Returns the names given by the user, empty if all fields are kept.
    pub(crate) fn named(&self) -> &[String] {
        match self {
            MetaFields::All => &[],
            MetaFields::Named(names) => names,
        }
    }

    /// Returns the name of the field with this [number](MetaFields::number_of).
    pub(crate) fn name(&self, number: usize) -> &str {
        self.named().get(number).map_or(META, String::as_str)
    }

    /// Returns the index of a named field, or 0 for `meta` if all fields are kept.
    pub(crate) fn number_of(&self, name: &str) -> Option<usize> {
        match self {
            MetaFields::All => (name == META).then_some(0),
            MetaFields::Named(names) => names.iter().position(|own| own == name),
        }
    }
}

/// The fields of a record that no option names.
#[derive(Default, Clone, Copy)]
pub(crate) struct OtherFields<'a> {
    /// In the order of the record.
    pub fields: &'a [(String, &'a RawValue)],
    /// The values are table cells, so numbers are strings and have to be parsed.
    pub is_row: bool,
}

/// Returns the meta object of a record, made of `numbered` fields, which the options name, and of
/// `others`. `leave_out` gets the names of dropped fields.
///
/// # Errors
/// When the numbered fields make no meta object, as a clause.
pub(crate) fn meta_of(
    fields: &MetaFields,
    numbered: &[(usize, &RawValue)],
    others: OtherFields<'_>,
    leave_out: impl FnMut(&str),
) -> Result<Map<String, Value>, String> {
    let mut meta = Map::new();
    for &(number, json) in numbered {
        let name = fields.name(number);
        let exact =
            with_exact_numbers(json.get()).and_then(|json| RawValue::from_string(json).ok());
        let members = meta_of_json(name, exact.as_deref().unwrap_or(json))?;
        if let Some(member) = members.keys().find(|member| meta.contains_key(*member)) {
            return Err(format!("`{name}` and another field make `{member}` of the meta object"));
        }
        match meta.is_empty() {
            true => meta = members,
            false => meta.extend(members),
        }
    }
    if !others.fields.is_empty() {
        add_others(&mut meta, others, leave_out);
    }
    meta_problem(&meta).map_or(Ok(meta), Err)
}

/// Adds unnamed fields as far as they fit. Which fields are dropped does not depend on the order of
/// the fields.
fn add_others(
    meta: &mut Map<String, Value>,
    others: OtherFields<'_>,
    mut leave_out: impl FnMut(&str),
) {
    let OtherFields { fields: others, is_row } = others;
    let repeated = repeated_names(others);
    let too_long = longest_fields(
        others.iter().map(|(name, json)| (name.as_str(), json.get().len())),
        META_WRITTEN_BYTES_MAX,
    );
    let mut added = Vec::new();
    for (name, json) in others {
        let is_left_out = repeated.contains(name.as_str()) || too_long.contains(name.as_str());
        match (!is_left_out).then(|| value_of(json, is_row)).flatten() {
            Some(Value::Null) => {}
            // The object `meta` has the same member, perhaps with a different value.
            Some(value) if meta.contains_key(name) => {
                if meta[name] != value {
                    leave_out(name);
                }
            }
            Some(value) => {
                meta.insert(name.clone(), value);
                added.push(name.as_str());
            }
            None => leave_out(name),
        }
    }
    // Usually everything fits, so the lengths in the record suffice, without serialization.
    let written: usize = others.iter().map(|(name, json)| name.len() + json.get().len()).sum();
    if written >= META_KEPT_BYTES_MAX / 8 {
        shorten_meta(meta, &added, leave_out);
    }
}

/// Returns the repeated names of a record. Which value counts is unknown.
fn repeated_names<'a>(fields: &'a [(String, &RawValue)]) -> HashSet<&'a str> {
    let mut repeated = HashSet::new();
    if fields.len() > 1 {
        let mut times: HashMap<&str, u32> = HashMap::with_capacity(fields.len());
        for (name, _) in fields {
            let times = times.entry(name).or_default();
            *times += 1;
            if *times > 1 {
                repeated.insert(name.as_str());
            }
        }
    }
    repeated
}

/// Returns the value of a field, or `None` for a value that a meta object cannot hold.
fn value_of(json: &RawValue, is_row: bool) -> Option<Value> {
    let exact = with_exact_numbers(json.get());
    let json = exact.as_deref().unwrap_or(json.get());
    let parsed = serde_json::from_str(json);
    // A half of a surrogate pair is repaired, as in texts.
    let value = parsed.or_else(|error| {
        let repaired = crate::jsonl::repaired(json.as_bytes());
        repaired.map_or(Err(error), |json| serde_json::from_str(&json))
    });
    let value: Value = value.ok()?;
    match value {
        Value::String(text) if is_row && text.is_empty() => Some(Value::Null),
        Value::String(text) if is_row => Some(number_in(&text).unwrap_or(Value::String(text))),
        Value::Object(_) | Value::Array(_) => {
            json::repeated_field(json, json::fields_in(&value)).is_none().then_some(value)
        }
        value => Some(value),
    }
}

/// Writes numbers that a meta object cannot hold as strings of digits. Returns `None` without such
/// numbers. As a floating-point number, a hash of 128 bits would lose half of its digits.
fn with_exact_numbers(json: &str) -> Option<String> {
    if json.starts_with('"') || json.len() < INEXACT_BYTES_MIN {
        return None;
    }
    let (mut exact, mut copied, mut at) = (String::new(), 0, 0);
    let bytes = json.as_bytes();
    let is_of_number =
        |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let mut end = at + 1;
                while end < bytes.len() && bytes[end] != b'"' {
                    end += 1 + usize::from(bytes[end] == b'\\');
                }
                at = end + 1;
            }
            b'-' | b'0'..=b'9' => {
                let len = bytes[at..].iter().take_while(|byte| is_of_number(byte)).count();
                let number = &json[at..at + len];
                if len >= INEXACT_BYTES_MIN && number_in(number).is_none() {
                    exact.push_str(&json[copied..at]);
                    exact.extend(["\"", number, "\""]);
                    copied = at + len;
                }
                at += len;
            }
            _ => at += 1,
        }
    }
    (copied > 0).then(|| exact + &json[copied..])
}

/// The length of the shortest number that a meta object cannot hold, such as `1e999`.
const INEXACT_BYTES_MIN: usize = 5;

/// Returns the number in a cell. Digits beyond 64 bits, as in ids, stay a string.
fn number_in(cell: &str) -> Option<Value> {
    let number: Number = cell.parse().ok()?;
    let is_digits = cell.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    (!is_digits || number.is_i64() || number.is_u64()).then_some(Value::Number(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the meta object of a record without id and text, and the names of dropped fields.
    fn kept(record: &str, is_row: bool) -> (Value, Vec<String>) {
        let fields: Vec<(String, Box<RawValue>)> = pairs(record);
        let is_meta = |field: &&(String, Box<RawValue>)| field.0 == META;
        let numbered: Vec<_> = fields.iter().filter(is_meta).map(|own| (0, &*own.1)).collect();
        let others = fields.iter().filter(|field| field.0 != META);
        let others: Vec<_> = others.map(|(name, json)| (name.clone(), &**json)).collect();
        let mut left_out = Vec::new();
        let others = OtherFields { fields: &others, is_row };
        let meta = meta_of(&MetaFields::All, &numbered, others, |name| {
            left_out.push(name.to_owned());
        });
        left_out.sort_unstable();
        left_out.dedup();
        (Value::Object(meta.unwrap()), left_out)
    }

    /// Returns the members of an object, including repeated members.
    fn pairs(record: &str) -> Vec<(String, Box<RawValue>)> {
        struct Pairs;
        impl<'de> serde::de::Visitor<'de> for Pairs {
            type Value = Vec<(String, Box<RawValue>)>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }
        let mut deserializer = serde_json::Deserializer::from_str(record);
        serde::Deserializer::deserialize_map(&mut deserializer, Pairs).unwrap()
    }

    #[test]
    fn numbers_beyond_64_bits_keep_their_digits() {
        let long = "12345678901234567890123";
        let record = format!(
            r#"{{"hash":{long},"of":{{"a":[-{long},1.5,"\"{long}"]}},"u":18446744073709551615,
                "e":1e999,"meta":{{"h":{long}}}}}"#
        );
        let expected = json!({
            "hash": long,
            "of": {"a": [format!("-{long}"), 1.5, format!("\"{long}")]},
            "u": u64::MAX,
            "e": "1e999",
            "h": long,
        });
        assert_eq!(kept(&record, false), (expected, vec![]));
    }

    #[test]
    fn fields_are_kept_under_their_names_as_they_are() {
        let record =
            r#"{"source":"herald","n":7,"tags":["a"],"of":{"b":1},"x":null,"s":"{\"a\":1}"}"#;
        let expected = json!({
            "source": "herald", "n": 7, "tags": ["a"], "of": {"b": 1}, "s": "{\"a\":1}",
        });
        assert_eq!(kept(record, false), (expected, vec![]));
        // The members of the object `meta` are kept.
        let record = r#"{"year":2024,"meta":{"lang":"de"}}"#;
        assert_eq!(kept(record, false), (json!({"year": 2024, "lang": "de"}), vec![]));
        let half = r#"{"a":"b\ud83d"}"#;
        assert_eq!(kept(half, false), (json!({"a": "b\u{fffd}"}), vec![]));
    }

    #[test]
    fn cells_of_a_table_are_numbers_where_they_read_so() {
        let row = r#"{"n":"7","f":"1.50","e":"","t":"x","z":"007","id2":"123456789012345678901"}"#;
        let expected = json!({
            "n": 7, "f": 1.5, "t": "x", "z": "007", "id2": "123456789012345678901",
        });
        assert_eq!(kept(row, true), (expected, vec![]));
        assert_eq!(kept(r#"{"n":"7"}"#, false), (json!({"n": "7"}), vec![]));
    }

    #[test]
    fn a_field_that_cannot_be_kept_costs_no_other() {
        let check = |record: &str, expected: Value, left_out: &[&str]| {
            let (found, left) = kept(record, false);
            let left: Vec<&str> = left.iter().map(String::as_str).collect();
            assert_eq!((found, &left[..]), (expected, left_out));
        };
        check(r#"{"a":1,"a":2,"a":1,"b":3}"#, json!({"b": 3}), &["a"]);
        check(r#"{"a":{"x":1,"x":2},"b":3}"#, json!({"b": 3}), &["a"]);
        // The members of `meta` take precedence.
        check(r#"{"a":1,"b":3,"meta":{"a":2,"b":3}}"#, json!({"a": 2, "b": 3}), &["a"]);
        let deep = format!(r#"{{"a":{}{},"b":3}}"#, "[".repeat(1000), "]".repeat(1000));
        check(&deep, json!({"b": 3}), &["a"]);
    }

    #[test]
    fn the_longest_fields_are_left_out_until_the_others_fit() {
        let long = |len: usize| "x".repeat(len);
        let record = format!(
            r#"{{"html":"{}","abstract":"{}","title":"t","notes":"{}"}}"#,
            long(300 << 10),
            long(40 << 10),
            long(30 << 10),
        );
        let expected = json!({"title": "t", "notes": long(30 << 10)});
        let left_out = ["abstract", "html"].map(String::from).to_vec();
        assert_eq!(kept(&record, false), (expected, left_out));
        // Each field fits by itself. Among equally long fields, the first name in alphabetical
        // order goes.
        let many: Vec<String> = (10..90).map(|i| format!(r#""f{i}":"{}""#, long(1000))).collect();
        let (found, left) = kept(&format!("{{{}}}", many.join(",")), false);
        assert!(found.to_string().len() <= META_KEPT_BYTES_MAX && left[0] == "f10", "{left:?}");
        assert_eq!(found.as_object().unwrap().len() + left.len(), 80);
        // The order of the fields must not matter.
        let turned: Vec<String> = many.into_iter().rev().collect();
        assert_eq!(kept(&format!("{{{}}}", turned.join(",")), false), (found, left));
    }
}
