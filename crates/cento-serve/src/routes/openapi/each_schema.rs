//! Changes for every schema of the OpenAPI document: rules for all fields of a type or name, and
//! the forms that client generators understand.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use cento::compare::measure::families;

/// Adds rules to a schema.
pub fn extend(schema: &mut Value, rules: Value) {
    let (Some(schema), Value::Object(rules)) = (schema.as_object_mut(), rules) else {
        unreachable!("the schema of a body is an object, and so are rules");
    };
    schema.extend(rules);
}

/// Gives a field for a measure the pattern of all measures, with examples.
pub fn say_measures(schema: &mut Map<String, Value>) {
    if schema.get("format") == Some(&json!("cento-measure")) {
        schema.remove("format");
        schema.insert("pattern".into(), json!(format!("^({})$", measure_pattern())));
        schema.insert("examples".into(), json!(["levenshtein", "containment(k=5)"]));
    }
}

/// Returns a regular expression of all measures, written without spaces. Includes measures that
/// this build lacks, so that the document is identical for every build.
fn measure_pattern() -> String {
    let mut all: Vec<String> = families()
        .iter()
        .map(|family| match family.parameters {
            [] => family.name.to_owned(),
            [one] => format!(r"{}(\({}=({})\))?", family.name, one.name, up_to(one.max)),
            _ => unreachable!("no measure has two parameters"),
        })
        .collect();
    all.sort_unstable();
    all.join("|")
}

/// Returns a regular expression of the numbers from 1 to `max`.
fn up_to(max: u32) -> String {
    let digits = max.to_string();
    // First shorter numbers, then numbers with the same first digits and a smaller digit after
    // them, then `max`.
    let mut ways: Vec<String> =
        (1..digits.len()).map(|n| format!("[1-9][0-9]{{{}}}", n - 1)).collect();
    for (i, digit) in digits.bytes().enumerate() {
        let least = if i == 0 { b'1' } else { b'0' };
        if digit > least {
            let (same, rest) = (&digits[..i], digits.len() - i - 1);
            let (least, most) = (char::from(least), char::from(digit - 1));
            ways.push(format!("{same}[{least}-{most}][0-9]{{{rest}}}"));
        }
    }
    ways.push(digits);
    ways.join("|").replace("[0-9]{0}", "").replace("{1}", "")
}

/// Returns the schema of a list of measures; `all` means every measure.
pub fn measures() -> Value {
    let pattern = format!("^(all|{})$", measure_pattern());
    json!({"type": "array", "items": {"type": "string", "pattern": pattern}})
}

/// Calls `change` for every object in the document.
pub fn each_object(value: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            change(object);
            object.values_mut().for_each(|value| each_object(value, change));
        }
        Value::Array(array) => array.iter_mut().for_each(|value| each_object(value, change)),
        _ => {}
    }
}

/// Writes `true` for a schema of any value. For `{}` generators make a pointer to a value, or
/// nothing.
pub fn say_maps(schema: &mut Map<String, Value>) {
    if schema.get("additionalProperties") == Some(&json!({})) {
        schema.insert("additionalProperties".into(), json!(true));
    }
}

/// Bounds thresholds, which are shares.
pub fn say_shares(schema: &mut Map<String, Value>) {
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
    for (_, field) in fields.filter(|(name, _)| name.starts_with("min_")) {
        if field.as_object().is_some_and(|field| is_of(field, "number")) {
            extend(field, json!({"minimum": 0, "maximum": 1}));
        }
    }
}

/// Writes a pair in a form for client generators. utoipa gives a tuple `items: false`, which
/// generators refuse.
pub fn say_pairs(schema: &mut Map<String, Value>) {
    let Some(Value::Array(items)) = schema.get("prefixItems") else { return };
    let count = items.len();
    let are_equal = items.iter().all(|item| *item == items[0]);
    let item = if are_equal { items[0].clone() } else { json!({}) };
    if are_equal {
        schema.remove("prefixItems");
    }
    schema.extend([
        ("items".to_owned(), item),
        ("minItems".to_owned(), json!(count)),
        ("maxItems".to_owned(), json!(count)),
    ]);
}

/// Removes null from the optional fields of an answer, because cento omits a field without a value.
pub fn forbid_null(schema: &mut Map<String, Value>) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required =
        |name: &str| required.as_array().is_some_and(|all| all.contains(&name.into()));
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
    for (_, field) in fields.filter(|(name, _)| !is_required(name)) {
        if let Some(given) = or_null(&field["oneOf"]) {
            *field = given;
        } else if let Some(given) = or_null(&field["type"]) {
            field["type"] = given;
        }
    }
}

/// Returns the first of two schemas or types, if the second is null.
fn or_null(choice: &Value) -> Option<Value> {
    match choice.as_array()?.as_slice() {
        [given, null] if null == "null" || null["type"] == "null" => Some(given.clone()),
        _ => None,
    }
}

/// Returns the names of the schemas that only requests contain. A request may have null for each
/// field without a value.
pub fn of_requests(document: &Value) -> BTreeSet<String> {
    let reached = |field: &str| {
        let mut names = BTreeSet::new();
        let paths = document["paths"].as_object().into_iter().flat_map(Map::values);
        for operation in paths.filter_map(Value::as_object).flat_map(Map::values) {
            add_schemas(&operation[field], &document["components"]["schemas"], &mut names);
        }
        names
    };
    &reached("requestBody") - &reached("responses")
}

/// Adds the names of all schemas in a value.
fn add_schemas(value: &Value, schemas: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            let named = object.get("$ref").and_then(Value::as_str);
            if let Some(name) = named.and_then(|name| name.rsplit('/').next())
                && names.insert(name.to_owned())
            {
                add_schemas(&schemas[name], schemas, names);
            }
            object.values().for_each(|value| add_schemas(value, schemas, names));
        }
        Value::Array(array) => array.iter().for_each(|value| add_schemas(value, schemas, names)),
        _ => {}
    }
}

/// Tells whether a schema is one of a type of JSON, or of null.
pub fn is_of(schema: &Map<String, Value>, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.contains(&kind.into()),
        Some(only) => only == kind,
        None => false,
    }
}

/// Writes an unsigned integer as `int64` with the largest accepted value. Generators take unsigned
/// formats for signed integers of 32 bits.
pub fn say_integers(schema: &mut Map<String, Value>) {
    if !is_of(schema, "integer") {
        return;
    }
    let maximum = match schema.get("format").and_then(Value::as_str) {
        Some("u-int8" | "uint8") => u64::from(u8::MAX),
        Some("u-int16" | "uint16") => u64::from(u16::MAX),
        Some("u-int32" | "uint32") => u64::from(u32::MAX),
        // utoipa gives `usize` no format.
        Some("u-int64" | "uint64") | None => u64::MAX,
        Some(_) => return,
    };
    schema.insert("format".into(), json!("int64"));
    schema.entry("maximum").or_insert(json!(maximum));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_of_measures_has_all_names_and_bounds() {
        let pattern = measure_pattern();
        for family in families() {
            assert!(pattern.split('|').any(|way| way.starts_with(family.name)), "{}", family.name);
            // The pattern has 1 as the lower bound.
            assert!(family.parameters.iter().all(|one| one.min == 1 && one.names.is_empty()));
        }
        assert!(
            pattern.contains(r"containment(\(k=([1-9]|[1-5][0-9]|6[0-3]|64)\))?|"),
            "{pattern}"
        );
        assert!(
            pattern.contains(r"overlap(\(n=([1-9]|[1-9][0-9]|[1-9][0-9]{2}|1000)\))?|"),
            "{pattern}"
        );
    }
}
