//! Canonical JSON: equal objects have equal bytes.
//!
//! Whether a JSON object keeps its members sorted or in insertion order depends on a feature of
//! `serde_json`, which any crate of a build may turn on. Members are therefore sorted here before
//! they are stored, compared or hashed.

use serde_json::{Map, Value};

/// Returns a meta object as JSON with sorted keys and no spaces. An empty object becomes an empty
/// string, like a missing one.
#[must_use]
pub fn canonical_json(meta: &Map<String, Value>) -> String {
    if meta.is_empty() { String::new() } else { object_json(meta) }
}

/// Returns the members of an object, ordered by name.
#[must_use]
pub fn sorted(object: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut members: Vec<(&String, &Value)> = object.iter().collect();
    members.sort_unstable_by_key(|member| member.0);
    members
}

fn object_json(object: &Map<String, Value>) -> String {
    let members = sorted(object)
        .into_iter()
        .map(|(key, value)| format!("{}:{}", Value::String(key.clone()), value_json(value)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

fn value_json(value: &Value) -> String {
    match value {
        Value::Object(object) => object_json(object),
        Value::Array(values) => {
            format!("[{}]", values.iter().map(value_json).collect::<Vec<_>>().join(","))
        }
        scalar => scalar.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_members_makes_no_difference() {
        let written = [
            r#"{"b": {"z": 1, "a": [{"y": 1.5, "x": null}]}, "a": "q\"", "": []}"#,
            r#"{"": [], "b": {"a": [{"x": null, "y": 1.5}], "z": 1}, "a": "q\""}"#,
        ];
        for json in written {
            let object: Map<String, Value> = serde_json::from_str(json).unwrap();
            let expected = r#"{"":[],"a":"q\"","b":{"a":[{"x":null,"y":1.5}],"z":1}}"#;
            assert_eq!(canonical_json(&object), expected);
        }
        assert_eq!(canonical_json(&Map::new()), "");
    }
}
