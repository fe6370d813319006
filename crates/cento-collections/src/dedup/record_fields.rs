//! Fields of documents, from their meta objects or from the records that they were read from.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::series::add_fields;
use cento::index::Document;
use cento_text::field_date::field_of;

/// Returns the value of a field from the document's meta object, or else from its record. Members
/// of a record enter the meta object only if the options of the reader name them. Tables have only
/// strings, so a numeric string counts as a number, and an empty string as no value.
pub fn field_of_document<'a>(document: &'a Document, field: &str) -> Option<Cow<'a, Value>> {
    if let Some(value) = field_of(&document.meta, field) {
        return Some(Cow::Borrowed(value));
    }
    let record = document.record.as_deref()?;
    let members: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(record).ok()?;
    let value =
        |name: &str| -> Option<Value> { serde_json::from_str(members.get(name)?.get()).ok() };
    let found = value(field).or_else(|| {
        let (first, rest) = field.split_once('.')?;
        field_of(value(first)?.as_object()?, rest).cloned()
    });
    found
        .map(|value| match value {
            Value::String(text) if text.is_empty() => Value::Null,
            Value::String(text) => {
                let number = text.parse::<serde_json::Number>().ok();
                number.map_or(Value::String(text), Value::Number)
            }
            value => value,
        })
        .map(Cow::Owned)
}

/// Adds the names of the fields that [`field_of_document`] finds.
pub fn add_fields_of_document(document: &Document, fields: &mut BTreeSet<String>) {
    add_fields(&document.meta, "", fields);
    let record = document.record.as_deref().unwrap_or_default();
    let members: HashMap<Cow<'_, str>, &RawValue> =
        serde_json::from_str(record).unwrap_or_default();
    for (name, value) in members {
        match serde_json::from_str::<Map<String, Value>>(value.get()) {
            Ok(members) => add_fields(&members, &format!("{name}."), fields),
            Err(_) => drop(fields.insert(name.into_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_is_found_in_the_meta_object_or_in_the_record() {
        let mut document = Document::new("a", "text");
        document.record = Some(r#"{"n":"0.90","d":"2026-01","of":{"x":[1]},"m":1,"e":""}"#.into());
        document.meta = json!({"m": 2}).as_object().unwrap().clone();
        for (field, expected) in [
            ("m", Some(json!(2))),
            ("n", Some(json!(0.9))),
            ("d", Some(json!("2026-01"))),
            ("of.x", Some(json!([1]))),
            ("of.y", None),
            ("x", None),
            ("e", Some(Value::Null)),
        ] {
            let found = field_of_document(&document, field);
            assert_eq!(found.as_deref(), expected.as_ref(), "{field}");
        }
        let mut names = BTreeSet::new();
        add_fields_of_document(&document, &mut names);
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["d", "e", "m", "n", "of.x"]);
    }
}
