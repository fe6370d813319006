//! Reads column values from the directories of a data set.
//!
//! Hive, Spark and other programs write the values of some columns into directory names, as in
//! `year=2024/lang=de/part-0.parquet`, and omit these columns from the files.

use serde_json::{Map, Value};

use crate::compressed::Compression;
use crate::format::{COLUMNS, has_ending};
use crate::jsonl::has_field;
use crate::names;

/// The directory name that Hive uses for a missing value.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Returns the values in the directory names of a file of records, outermost first.
pub fn values(path: &str) -> Vec<(String, Value)> {
    if !path.contains('=') {
        return Vec::new();
    }
    let path = &names::unescaped(path);
    let path = &*String::from_utf8_lossy(path);
    let mut parts: Vec<&str> = path.split(['/', std::path::MAIN_SEPARATOR]).collect();
    parts.pop();
    parts.into_iter().filter_map(value).collect()
}

/// Adds the values to a meta object. Existing members take precedence.
pub fn add(values: &[(String, Value)], meta: &mut Map<String, Value>) {
    for (name, value) in values {
        if !meta.contains_key(name) {
            meta.insert(name.clone(), value.clone());
        }
    }
}

/// Adds the values to a row of Parquet or Arrow, which becomes JSON. A row keeps values of its own,
/// and a record of any other file stays unchanged.
pub fn add_to_row(values: &[(String, Value)], path: &str, row: &mut Option<Box<str>>) {
    let Some(record) = row.as_deref().filter(|_| !values.is_empty()) else { return };
    if !has_ending(Compression::of_name(path).1, COLUMNS) {
        return;
    }
    let Some(members) = record.strip_suffix('}') else { return };
    let mut members = members.to_owned();
    for (name, value) in values.iter().filter(|(name, _)| !has_field(record, name)) {
        let comma = if members.ends_with('{') { "" } else { "," };
        members.push_str(&format!("{comma}{}:{value}", Value::from(name.as_str())));
    }
    members.push('}');
    *row = Some(members.into());
}

fn value(part: &str) -> Option<(String, Value)> {
    let (name, value) = part.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || !c.is_ascii() || "_-.".contains(c);
    if name.is_empty() || !name.chars().all(is_name) || value == NULL {
        return None;
    }
    let value = unescaped(value);
    // A number in a different form, such as 07, stays a string.
    let number = value.parse::<i64>().ok().filter(|number| number.to_string() == value);
    Some((name.to_owned(), number.map_or(Value::String(value), Value::from)))
}

/// Decodes Hive's escapes, such as `%3A`.
fn unescaped(name: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), name.as_bytes());
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).filter(|_| *first == b'%');
        let byte = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn directories_of_a_data_set_have_values() {
        let check = |path: &str, expected: Value| {
            let mut meta = Map::new();
            add(&values(path), &mut meta);
            assert_eq!(Value::Object(meta), expected, "{path}");
        };
        let both = json!({"year": 2024, "lang": "de"});
        check("hive/year=2024/lang=de/part-0.parquet", both.clone());
        check("year=2024/lang=de/part-0.PARQUET.zst", both);
        check("d=%25C3%25A9/a.parquet", json!({"d": "\u{e9}"}));
        check("d=2024-01-01%2010%3A00/m=07/a.arrow", json!({"d": "2024-01-01 10:00", "m": "07"}));
        check(&format!("a={NULL}/b=%zz/c.parquet"), json!({"b": "%zz"}));
        check("year=2024/part-0.jsonl", json!({"year": 2024}));
        check("in/=x/a b=c/x=1.parquet", json!({}));
        let mut meta = Map::from_iter([("year".to_owned(), json!(1))]);
        add(&values("year=2024/a.parquet"), &mut meta);
        assert_eq!(meta["year"], 1);
    }

    #[test]
    fn a_row_gets_the_values_that_it_lacks() {
        let check = |path: &str, row: &str, expected: &str| {
            let mut record = Some(row.into());
            add_to_row(&values(path), path, &mut record);
            assert_eq!(record.as_deref(), Some(expected), "{path}");
        };
        let path = "year=2024/lang=d\"e/a.parquet";
        check(path, r#"{"text":"t"}"#, r#"{"text":"t","year":2024,"lang":"d\"e"}"#);
        check(path, r#"{"year":1}"#, r#"{"year":1,"lang":"d\"e"}"#);
        check("year=2024/a.jsonl", r#"{"text":"t"}"#, r#"{"text":"t"}"#);
    }
}
