//! Finds the field of a request that cannot be read.
//!
//! serde reports only an unknown field, and a fault in flattened options only at the end of the
//! body. So every field is read again with only the required fields beside it, until a field has
//! the same fault. Then the values inside the field are read again in the same way.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Error, Value};

use crate::failure::Failure;
use crate::known_fields::{known_fields, with_known};
use crate::readable::{plain, split_place};

/// The maximum depth of a value in a request.
const DEPTH_MAX: usize = 8;

/// The maximum number of fields in a request. More fields would take long to read again.
const FIELDS_MAX: usize = 256;

/// The maximum number of items of a list to read again.
const ITEMS_MAX: usize = 1 << 16;

/// Longer strings are shortened in required fields, unless the field may be wrong.
const STRING_MAX: usize = 64;

/// Reads a JSON text in the place of a value, and returns the fault.
type Probe<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Finds the unreadable field in a body with this error. Returns `None` if the body itself is
/// wrong, because it is no JSON, is no object, or lacks a field.
pub fn wrong_field<T: DeserializeOwned>(body: &[u8], error: &Error) -> Option<Failure> {
    let body = str::from_utf8(body).ok()?;
    let fault = fault_of(error);
    let mut place = ValuePlace::default();
    let probe = |json: &str| serde_json::from_str::<T>(json).err().map(|e| fault_of(&e));
    locate(body, &fault, &probe, &mut place);
    let ValuePlace { path, name, .. } = place;
    let (path, name) = match name {
        Some(name) => (path, name),
        // The body has too many fields.
        None => {
            let (name, _) = fault.strip_prefix("unknown field `")?.split_once('`')?;
            (name.to_owned(), name.to_owned())
        }
    };
    let said = match fault.strip_prefix("unknown variant ") {
        // The name of a field decides the meaning of its object.
        Some(rest) if rest.starts_with(&format!("`{name}`")) => format!("unknown field {rest}"),
        _ if fault == "expected value" => "expected an object with one field".to_owned(),
        _ => plain(&fault),
    };
    let said = with_known(said, || known_fields::<T>(&path));
    Some(Failure::argument(name, format!("`{path}`: {said}")))
}

/// Returns the message of an error without the place.
fn fault_of(error: &Error) -> String {
    split_place(&error.to_string()).0.to_owned()
}

/// The place of a value in a body.
#[derive(Default)]
struct ValuePlace {
    path: String,
    /// The name of the innermost field.
    name: Option<String>,
    depth: usize,
}

/// Descends into a value as long as a value inside has the fault by itself.
fn locate(json: &str, fault: &str, probe: Probe<'_>, place: &mut ValuePlace) {
    place.depth += 1;
    if place.depth > DEPTH_MAX {
        return;
    }
    match json.trim_start().as_bytes().first() {
        Some(b'{') => {
            let Some(Wrong { name, others, value }) = wrong_in_object(json, fault, probe) else {
                return;
            };
            let dot = if place.path.is_empty() { "" } else { "." };
            place.path += &format!("{dot}{name}");
            let inner = |json: &str| probe(&object(&others, &name, json));
            place.name = Some(name.clone());
            locate(value, fault, &inner, place);
        }
        Some(b'[') => {
            let Some((at, value)) = wrong_in_list(json, fault, probe) else { return };
            place.path += &format!("[{at}]");
            locate(value, fault, &|json| probe(&format!("[{json}]")), place);
        }
        _ => {}
    }
}

/// A field with the fault.
struct Wrong<'a> {
    name: String,
    /// The other required fields of the object.
    others: Vec<(String, String)>,
    value: &'a str,
}

fn object(others: &[(String, String)], name: &str, value: &str) -> String {
    let others = others.iter().filter(|(other, _)| other != name);
    let all = others.map(|(name, value)| (name.as_str(), value.as_str())).chain([(name, value)]);
    let all: Vec<String> =
        all.map(|(name, value)| format!("{}:{value}", Value::from(name))).collect();
    format!("{{{}}}", all.join(","))
}

/// Finds the field with the fault in an object.
fn wrong_in_object<'a>(json: &'a str, fault: &str, probe: Probe<'_>) -> Option<Wrong<'a>> {
    let mut error = probe("{}");
    if error.as_deref() == Some(fault) {
        return None;
    }
    let fields = fields(json)?;
    let mut others: Vec<(String, String)> = Vec::new();
    // Collect the required fields, as short as possible.
    while let Some(missing) = error.as_deref().and_then(missing_field) {
        let Some((name, value)) = fields.iter().find(|(name, _)| name == missing) else { break };
        if others.iter().any(|(other, _)| other == name) {
            break;
        }
        let mut known = short(value, 0);
        error = probe(&object(&others, name, &known));
        if error.as_deref().is_some_and(|error| missing_field(error).is_none()) {
            error = probe(&object(&others, name, value));
            if error.as_deref() == Some(fault) {
                return Some(Wrong { name: name.clone(), others, value });
            }
            known = (*value).to_owned();
        }
        others.push((name.clone(), known));
    }
    if error.as_deref() == Some(fault) {
        return None;
    }
    let is_wrong = |(name, value): &&(String, &str)| {
        probe(&object(&others, name, value)).as_deref() == Some(fault)
    };
    let (name, value) = fields.iter().find(is_wrong)?;
    others.retain(|(other, _)| other != name);
    Some(Wrong { name: name.clone(), others, value })
}

/// Returns the missing field, if the fault is about a missing field.
fn missing_field(fault: &str) -> Option<&str> {
    fault.strip_prefix("missing field `")?.strip_suffix('`')
}

/// Returns a short value of the same kind.
fn short(json: &str, depth: usize) -> String {
    match json.as_bytes().first() {
        Some(b'[') => "[]".to_owned(),
        Some(b'"') if json.len() > STRING_MAX => "\"\"".to_owned(),
        Some(b'{') if depth < DEPTH_MAX => match fields(json) {
            Some(fields) => {
                let field = |(name, value): &(String, &str)| {
                    format!("{}:{}", Value::from(name.as_str()), short(value, depth + 1))
                };
                format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
            }
            None => json.to_owned(),
        },
        _ => json.to_owned(),
    }
}

/// Returns the fields of an object as written, or `None` if it is no JSON or has too many fields.
fn fields(json: &str) -> Option<Vec<(String, &str)>> {
    struct BodyFields;

    impl<'de> Visitor<'de> for BodyFields {
        type Value = Vec<(String, &'de str)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut fields = Vec::new();
            while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                if fields.len() == FIELDS_MAX {
                    return Err(A::Error::custom("too many fields"));
                }
                fields.push((name, value.get()));
            }
            Ok(fields)
        }
    }

    let mut deserializer = serde_json::Deserializer::from_str(json);
    let fields = deserializer.deserialize_map(BodyFields).ok()?;
    deserializer.end().ok()?;
    Some(fields)
}

/// Finds the item with the fault in a list.
fn wrong_in_list<'a>(json: &'a str, fault: &str, probe: Probe<'_>) -> Option<(usize, &'a str)> {
    struct Items<'p, 'de> {
        is_wrong: &'p dyn Fn(&str) -> bool,
        found: &'p mut Option<(usize, &'de str)>,
    }

    impl<'de> Visitor<'de> for Items<'_, 'de> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
            for at in 0..ITEMS_MAX {
                let Some(item) = items.next_element::<&RawValue>()? else { break };
                if (self.is_wrong)(item.get()) {
                    *self.found = Some((at, item.get()));
                    break;
                }
            }
            Ok(())
        }
    }

    if probe("[]").as_deref() == Some(fault) {
        return None;
    }
    let is_wrong = |item: &str| probe(&format!("[{item}]")).as_deref() == Some(fault);
    let mut found = None;
    let items = Items { is_wrong: &is_wrong, found: &mut found };
    // The parser complains about the items after the found item.
    let _ = serde_json::Deserializer::from_str(json).deserialize_seq(items);
    found
}

#[cfg(test)]
mod tests {
    use cento_api::http::{
        CompareRequest, PairsReportRequest, PairsRequest, PassagesRequest, RemoveRequest,
        ReportRequest,
    };

    use super::*;

    fn check<T: DeserializeOwned>(body: &str, argument: &str, said: &str) {
        let error = serde_json::from_str::<T>(body).err().unwrap();
        let failure = wrong_field::<T>(body.as_bytes(), &error);
        let failure = failure.unwrap_or_else(|| panic!("{body}: {error}"));
        let info = failure.body().error;
        assert_eq!(
            (info.code.as_str(), info.argument.as_deref()),
            ("invalid_argument", Some(argument))
        );
        assert!(info.message.starts_with(said), "{body}: {}", info.message);
    }

    #[test]
    fn a_field_that_cannot_be_read_is_named_wherever_it_is() {
        let two = r#""a":{"text":"a b"},"b":{"text":"a b"}"#;
        let of = |more: &str| format!("{{{two},{more}}}");
        check::<CompareRequest>(&of(r#""foo":1"#), "foo", "`foo`: unknown field `foo`");
        check::<CompareRequest>(
            &of(r#""min_passage":-2"#),
            "min_passage",
            "`min_passage`: expected a",
        );
        let a = |a: &str| format!(r#"{{"a":{a},"b":{{"id":"x"}}}}"#);
        check::<CompareRequest>(&a("5"), "a", "`a`: expected ");
        check::<CompareRequest>(&a(r#"{"txt":"a"}"#), "txt", "`a.txt`: unknown field `txt`");
        check::<CompareRequest>(
            &a(r#"{"text":5}"#),
            "text",
            "`a.text`: expected a string, not the number 5",
        );
        check::<CompareRequest>(
            &a(r#"{"text":"a","id":"b"}"#),
            "a",
            "`a`: expected an object with one field",
        );
        check::<PassagesRequest>(r#"{"hit":5,"text":"a"}"#, "hit", "`hit`: expected a string");
        check::<PassagesRequest>(r#"{"hit":"b","txt":"a"}"#, "txt", "`txt`: unknown field");
        let parts = r#"{"hit":"b","parts":[{"name":"x","text":"y"},{"name":1,"text":"z"}]}"#;
        check::<PassagesRequest>(parts, "name", "`parts[1].name`: expected a string");
        let ids = r#"{"ids":["a","b",5,6]}"#;
        check::<RemoveRequest>(ids, "ids", "`ids[2]`: expected a string, not the number 5");
        check::<RemoveRequest>(r#"{"ids":"a"}"#, "ids", "`ids`: expected a list, not the string");
        let long = "x".repeat(1000);
        let one = format!(r#"{{"id":"a","text":"{long}","meta":{{"a":[1]}}}}"#);
        let pairs = |more: &str| format!(r#"{{"documents":[{one},{one}],{more}}}"#);
        check::<PairsRequest>(
            &pairs(r#""min_passage":-2"#),
            "min_passage",
            "`min_passage`: expected a",
        );
        check::<PairsRequest>(
            &pairs(r#""sources":1"#),
            "sources",
            "`sources`: expected true or false",
        );
        let documents = r#"{"documents":[{"id":"a","text":"b"},{"id":"","text":"c"}]}"#;
        check::<PairsRequest>(documents, "id", "`documents[1].id`: `id` is empty");
        let without = r#"{"limit":3,"documents":[{"id":"a","text":"b"},{"text":"c"}]}"#;
        check::<PairsRequest>(without, "documents", "`documents[1]`: missing field `id`");
        let report = format!(r#"{{"anonymous":true,"pairs":{}}}"#, pairs(r#""min_passage":-2"#));
        check::<PairsReportRequest>(&report, "min_passage", "`pairs.min_passage`: expected a");
        let report = r#"{"search":{"text":"a","limit":-1},"name":"a"}"#;
        check::<ReportRequest>(report, "limit", "`search.limit`: expected a whole number");
        let report = r#"{"search":{"text":"a","foo":[[1]]}}"#;
        check::<ReportRequest>(report, "foo", "`search.foo`: unknown field `foo`");
    }

    #[test]
    fn a_body_that_is_itself_at_fault_names_no_field() {
        for body in [
            r#"{"a":{"text":"a"}}"#,
            r#"{"a":{"text":"a"},"foo":1}"#,
            r#"{"a":{"text":"a"},"a":{"text":"b"}}"#,
            r#"{"foo":"#,
            "5",
            "{}",
        ] {
            let error = serde_json::from_str::<CompareRequest>(body).err().unwrap();
            let failure = wrong_field::<CompareRequest>(body.as_bytes(), &error);
            assert!(failure.is_none(), "{body:.80}: {}", failure.unwrap().message);
        }
    }

    #[test]
    fn a_body_that_is_deep_or_wide_is_read_again_in_part() {
        let deep = format!(r#"{{"ids":[],"x":{}1{}}}"#, "[".repeat(5000), "]".repeat(5000));
        check::<RemoveRequest>(&deep, "x", "`x`: unknown field `x`");
        let many: String = (0..1000).map(|at| format!(r#","f{at}":1"#)).collect();
        check::<RemoveRequest>(&format!(r#"{{"ids":[]{many}}}"#), "f0", "`f0`: unknown field");
        let deep = format!(r#"{{"text":"a","x":{}1{}}}"#, "[".repeat(5000), "]".repeat(5000));
        let error = serde_json::from_str::<cento_api::http::SearchRequest>(&deep).err().unwrap();
        let failure = wrong_field::<cento_api::http::SearchRequest>(deep.as_bytes(), &error);
        assert_eq!(failure.unwrap().body().error.argument.as_deref(), Some("x"));
    }
}
