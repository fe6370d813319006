//! Finds the field of a request that cannot be read.

use cento_api::json::split_field;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Error;
use serde_json::error::Category;
use serde_path_to_error::{Path, Segment};

use crate::failure::Failure;
use crate::known_fields::{known_fields, with_known};
use crate::readable::{plain, split_place};

/// Finds the unreadable field in a body with this error. Returns `None` if the body itself is
/// wrong, because it is no JSON, is no object, or lacks a field.
///
/// This reads the body a second time. Bodies without a fault are read without noting places.
pub fn wrong_field<T: DeserializeOwned>(body: &[u8], error: &Error) -> Option<Failure> {
    // The parser also reports values of a wrong type or depth as faults of the syntax.
    if error.classify() != Category::Data {
        serde_json::from_str::<IgnoredAny>(str::from_utf8(body).ok()?).ok()?;
    }
    let mut reader = serde_json::Deserializer::from_slice(body);
    let fault = serde_path_to_error::deserialize::<_, T>(&mut reader).err()?;
    let message = fault.inner().to_string();
    let (field, what) = split_field(split_place(&message).0);
    let mut place = ValuePlace::of(fault.path());
    if let Some(field) = field {
        place.enter(field);
        place.name = field.split('[').next().map(str::to_owned);
    }
    // A request with flattened options lists no known fields, and the path lacks the unknown one.
    let unknown = what.strip_prefix("unknown field `").and_then(|name| name.strip_suffix('`'));
    if let Some(unknown) = unknown.filter(|name| !name.contains("`, expected ")) {
        place.enter(unknown);
    }
    let ValuePlace { path, name } = place;
    let said = match what {
        "expected value" => "expected a name".to_owned(),
        what => with_known(plain(what), || known_fields::<T>(&path)),
    };
    Some(Failure::argument(name?, format!("`{path}`: {said}")))
}

/// The place of a value in a body.
#[derive(Default)]
struct ValuePlace {
    path: String,
    /// The name of the innermost field.
    name: Option<String>,
}

impl ValuePlace {
    fn of(path: &Path) -> ValuePlace {
        let mut place = ValuePlace::default();
        for segment in path.iter() {
            match segment {
                Segment::Map { key } => place.enter(key),
                Segment::Seq { index } => place.path += &format!("[{index}]"),
                Segment::Enum { .. } | Segment::Unknown => {}
            }
        }
        place
    }

    /// Goes to a field of the value.
    fn enter(&mut self, field: &str) {
        let dot = if self.path.is_empty() { "" } else { "." };
        self.path += &format!("{dot}{field}");
        self.name = Some(field.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use cento_api::http::{
        CompareRequest, MergeRequest, PairsReportRequest, PairsRequest, PassagesRequest,
        RemoveRequest, ReportRequest,
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
        check::<CompareRequest>(&a(r#"{"text":null}"#), "text", "`a.text`: expected a string");
        let search = r#"{"search":{"text":"a","without":["quotations","refs"]}}"#;
        let said = "`search.without[1]`: unknown value `refs`";
        check::<ReportRequest>(search, "without", said);
        let search = r#"{"search":{"text":"a","goal":5}}"#;
        check::<ReportRequest>(search, "goal", "`search.goal`: expected a name, not the number 5");
        check::<MergeRequest>(
            r#"{"shards":["a"],"on_conflict":5}"#,
            "on_conflict",
            "`on_conflict`: expected a name",
        );
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
            r#"{"a":}"#,
            r#"{"a":{"text":"a"},"b":{"text":"a"}} x"#,
            "5",
            "{}",
        ] {
            let error = serde_json::from_str::<CompareRequest>(body).err().unwrap();
            let failure = wrong_field::<CompareRequest>(body.as_bytes(), &error);
            assert!(failure.is_none(), "{body:.80}: {}", failure.unwrap().message);
        }
    }

    #[test]
    fn the_field_of_a_body_that_is_deep_or_wide_is_named() {
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
