//! The fields that a request may have, according to the document of the API.
//!
//! serde lists known fields only if no fields are flattened, but most requests flatten fields.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;

use cento_api::suggest::did_you_mean;

/// The document of the API.
pub const OPENAPI: &str = include_str!("../openapi.json");

/// The schemas of the document, by the names of their types.
static SCHEMAS: LazyLock<Value> = LazyLock::new(|| {
    let mut document: Value = serde_json::from_str(OPENAPI).unwrap_or_default();
    document["components"]["schemas"].take()
});

/// The maximum number of references from schema to schema before a schema with fields.
const DEPTH_MAX: usize = 8;

/// Returns the names that may replace the last name of `path` in a request of type `T`. Empty if
/// the document does not say.
pub fn known_fields<T>(path: &str) -> BTreeSet<&'static str> {
    let name = std::any::type_name::<T>().rsplit("::").next().unwrap_or_default();
    let mut schemas: Vec<&Value> = SCHEMAS.get(name).into_iter().collect();
    let before = path.rsplit_once('.').map_or("", |(before, _)| before);
    for field in before.split('.').filter(|field| !field.is_empty()) {
        let (name, _) = field.split_once('[').unwrap_or((field, ""));
        let objects = schemas.iter().flat_map(|schema| objects(schema, 0));
        schemas = objects.filter_map(|object| object["properties"].get(name)).collect();
    }
    let objects = schemas.iter().flat_map(|schema| objects(schema, 0));
    let fields = objects.filter_map(|object| object["properties"].as_object());
    fields.flat_map(|fields| fields.keys().map(String::as_str)).collect()
}

/// Returns the schemas with the fields of a value, or of its items.
fn objects(schema: &'static Value, depth: usize) -> Vec<&'static Value> {
    if depth > DEPTH_MAX {
        return Vec::new();
    }
    let named = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next());
    let named = named.and_then(|name| SCHEMAS.get(name));
    let parts = ["allOf", "anyOf", "oneOf"].into_iter();
    let parts = parts.filter_map(|kind| schema[kind].as_array()).flatten();
    let others = parts.chain(named).chain(schema.get("items"));
    let own = schema.get("properties").map(|_| schema);
    own.into_iter().chain(others.flat_map(|other| objects(other, depth + 1))).collect()
}

/// Adds the known names to a message about an unknown name, unless the message lists names, and
/// adds the name that was probably meant.
pub fn with_known(said: String, known: impl FnOnce() -> BTreeSet<&'static str>) -> String {
    // Only the message tells kinds of serde's errors apart.
    if said.strip_prefix("unknown ").is_none() {
        return said;
    }
    let (what, listed) = said.split_once(", expected ").unwrap_or((&said, ""));
    let given = what.split('`').nth(1).unwrap_or_default();
    let meant = match listed {
        "" => {
            let known = known();
            let meant = did_you_mean(given, known.iter().copied());
            let list: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            return match list.is_empty() {
                true => said,
                false => format!("{what}{meant}, expected one of {}", list.join(", ")),
            };
        }
        listed => did_you_mean(given, listed.split('`').skip(1).step_by(2)),
    };
    format!("{what}{meant}, expected {listed}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento_api::http::{PairsReportRequest, ReportRequest, SearchRequest};

    #[test]
    fn fields_are_those_of_the_place() {
        let of_search = known_fields::<SearchRequest>("txt");
        assert!(["text", "id", "limit", "min_containment"].iter().all(|f| of_search.contains(f)));
        assert_eq!(known_fields::<ReportRequest>("search.foo"), of_search);
        let report = known_fields::<ReportRequest>("foo");
        assert!(report.contains("search") && !report.contains("text"));
        let document = known_fields::<PairsReportRequest>("pairs.documents[3].txt");
        assert!(document.contains("text") && document.contains("id"), "{document:?}");
        assert!(known_fields::<String>("a.b").is_empty());
    }

    #[test]
    fn a_message_names_what_was_meant() {
        let of = |said: &str| with_known(said.to_owned(), || ["id", "text"].into());
        assert_eq!(
            of("unknown field `txt`"),
            "unknown field `txt` (did you mean `text`?), expected one of `id`, `text`"
        );
        assert_eq!(of("unknown field `foo`"), "unknown field `foo`, expected one of `id`, `text`");
        assert_eq!(
            of("unknown value `waits`, expected `auto` or `wait`"),
            "unknown value `waits` (did you mean `wait`?), expected `auto` or `wait`"
        );
        assert_eq!(of("expected a list"), "expected a list");
        assert_eq!(with_known("unknown field `a`".into(), BTreeSet::new), "unknown field `a`");
    }
}
