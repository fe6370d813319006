//! Reads column values from the directories of a data set.
//!
//! Hive, Spark and other programs write the values of some columns into directory names, as in
//! `year=2024/lang=de/part-0.parquet`, and omit these columns from the files.

use serde_json::{Map, Value};

use crate::compressed::Compression;
use crate::format::{COLUMNS, has_ending};
use crate::names;

/// The directory name that Hive uses for a missing value.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Returns the values in the directory names of a Parquet or Arrow file, outermost first. Other
/// files have no values.
pub fn values(path: &str) -> Vec<(String, Value)> {
    let path = &names::unescaped(path);
    let path = &*String::from_utf8_lossy(path);
    let name = Compression::of_name(path).1;
    if !has_ending(name, COLUMNS) || !path.contains('=') {
        return Vec::new();
    }
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
        check("year=2024/part-0.jsonl", json!({}));
        check("in/=x/a b=c/x=1.parquet", json!({}));
        let mut meta = Map::from_iter([("year".to_owned(), json!(1))]);
        add(&values("year=2024/a.parquet"), &mut meta);
        assert_eq!(meta["year"], 1);
    }
}
