//! Adds to the OpenAPI document what utoipa cannot derive.
//!
//! utoipa derives the document from the routes and their types. This module adds the rules between
//! fields that serde and the service check. `each_schema` changes all schemas by the same rules.

use serde_json::{Map, Value, json};
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};

mod each_schema;

use each_schema::{
    each_object, extend, forbid_null, measures, of_requests, say_integers, say_maps, say_measures,
    say_pairs, say_shares,
};

use super::{
    compare, documents, families, grouping, maintenance, pairs, report, search, shards, status,
    texts, watches, withdrawals,
};
use cento_api::http::{ErrorBody, FamiliesSummary, LineageSummary};
use cento_api::{Descent, Family};

/// The description of the API as a whole.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "cento",
        description = "Which stored documents are near-duplicates of this one, which ones does it \
                       borrow from, and exactly which passages?",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    // The server is relative to the document. Without it, clients would expect the API at the root
    // of the host, even behind a proxy.
    servers((url = ".", description = "Where this document is")),
    paths(
        search::search,
        shards::shard_frequencies,
        shards::shard_candidates,
        shards::shard_spans,
        compare::compare,
        compare::passages,
        pairs::pairs,
        pairs::report,
        families::of_passages,
        families::of_documents,
        report::report,
        texts::texts,
        grouping::grouping,
        documents::list,
        documents::stored,
        documents::add,
        documents::patch,
        documents::remove_one,
        documents::remove,
        watches::add_watch,
        watches::list_watches,
        watches::watch,
        watches::remove_watch,
        watches::watch_events,
        watches::events,
        maintenance::commit,
        maintenance::compact,
        maintenance::merge,
        withdrawals::withdraw,
        withdrawals::list,
        withdrawals::forget,
        status::stats,
        status::metrics,
        status::healthz,
        status::readyz,
        status::openapi,
    ),
    components(schemas(ErrorBody, FamiliesSummary, Family, LineageSummary, Descent)),
    modifiers(&TokenSecurity)
)]
struct ApiDocument;

/// Requires a token for every route, unless the route says otherwise or the service has no tokens.
struct TokenSecurity;

impl utoipa::Modify for TokenSecurity {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(
            "A token of the service. A service that was started without tokens needs none.",
        ));
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(bearer.build()));
    }
}

/// Returns the document of the API, which is identical for every service of this version.
pub fn document() -> Value {
    let document = serde_json::to_value(ApiDocument::openapi());
    let mut document = document.expect("the document is made of strings");
    let schemas = &mut document["components"]["schemas"];
    let bodies = [
        "SearchRequest",
        "PairsRequest",
        "CompareRequest",
        "WatchRequest",
        "Watch",
        "WithdrawRequest",
        "FamiliesRequest",
        "LineageRequest",
    ];
    for body in bodies {
        flatten(schemas, body);
    }
    flatten_descent(schemas);
    // Later versions may add fields to an answer.
    schemas["Watch"].as_object_mut().map(|watch| watch.remove("additionalProperties"));
    if let Value::Object(schemas) = schemas {
        schemas.retain(|name, _| !PARTS.contains(&name.as_str()));
    }
    each_object(schemas, &mut say_shares);
    extend(&mut schemas["CompareRequest"]["properties"]["measures"], measures());
    extend(&mut schemas["PassagesRequest"], one_subject_or_parts());
    extend(&mut schemas["SearchRequest"], one_subject_or_parts());
    extend(&mut schemas["WatchRequest"], one_subject());
    extend(&mut schemas["SearchRequest"], options_that_go_together());
    for variant in schemas["TextOrId"]["oneOf"].as_array_mut().into_iter().flatten() {
        variant["additionalProperties"] = json!(false);
        // utoipa has no attribute for the pattern of an unnamed field.
        if let Some(text) = variant["properties"].get_mut("text") {
            text["pattern"] = json!(TEXT_THAT_IS_NOT_EMPTY);
        }
    }
    let fingerprint = &mut schemas["Signature"]["properties"]["fingerprints"]["items"];
    fingerprint["prefixItems"][0]["pattern"] = json!("^[0-9]+$");
    for change in [say_measures, say_pairs, say_integers, say_maps] {
        each_object(&mut document, &mut { change });
    }
    let only_asked = of_requests(&document);
    let schemas = document["components"]["schemas"].as_object_mut().into_iter().flatten();
    for (_, schema) in schemas.filter(|(name, _)| !only_asked.contains(*name)) {
        each_object(schema, &mut forbid_null);
    }
    document
}

/// Options that occur only as fields of bodies.
const PARTS: [&str; 8] = [
    "SearchOptions",
    "Thresholds",
    "PairOptions",
    "CompareOptions",
    "WatchOptions",
    "WithdrawOptions",
    "FamilyOptions",
    "LineageOptions",
];

/// A text without NUL that has a character besides the white space of `is_white_space`.
const TEXT_THAT_IS_NOT_EMPTY: &str = concat!(
    r"^[^\x00]*[^\x00\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]",
    r"[^\x00]*$"
);

/// Returns a schema with the field present and not null.
fn given(field: &str) -> Value {
    json!({"required": [field], "properties": {field: {"not": {"type": "null"}}}})
}

/// Returns a schema with the fields missing or null.
fn absent(fields: &[&str]) -> Value {
    let fields = fields.iter().map(|field| ((*field).to_owned(), json!({"type": "null"})));
    json!({"properties": fields.collect::<Map<_, _>>()})
}

/// Returns a schema with exactly one of `text`, `parts`, `id` and `signature`. Client generators
/// read `oneOf` as a choice of types and would lose the fields. They leave `if` to validators.
fn one_subject_or_parts() -> Value {
    let others = one_subject();
    json!({"if": given("parts"), "then": absent(&["text", "id", "signature"]), "else": others})
}

/// Returns the rule of [`one_subject_or_parts`] for a body without `parts`.
fn one_subject() -> Value {
    json!({
        "if": given("text"),
        "then": absent(&["id", "signature"]),
        "else": {"if": given("id"), "then": absent(&["signature"]), "else": given("signature")},
    })
}

/// Returns the rules for options: `goal: passage` excludes some options, `rank` needs hits,
/// `min_similarity` needs `verify`, and options about the query's text exclude a signature.
fn options_that_go_together() -> Value {
    let mut alone = absent(&["verify", "min_passage"]);
    alone["properties"]["boilerplate"] = json!({"maxItems": 0});
    let mut without_text = absent(&["verify"]);
    without_text["properties"]["goal"] = json!({"const": "hits"});
    json!({"dependentSchemas": {
        "goal": {"if": {"properties": {"goal": {"const": "passage"}}}, "then": alone},
        "rank": {
            "if": {"properties": {"rank": {"enum": ["weight", "passages"]}}},
            "then": {"properties": {"goal": {"const": "hits"}}},
        },
        "min_similarity": {
            "if": {"properties": {"min_similarity": {"type": "number", "exclusiveMinimum": 0}}},
            "then": given("verify"),
        },
        "signature": {"if": given("signature"), "then": without_text},
    }})
}

/// Merges the parts that utoipa derives for a body into one object. A separate part would refuse
/// the fields of the remaining parts.
fn flatten(schemas: &mut Value, body: &str) {
    let mut merged = MergedObject::default();
    merged.add(schemas, &schemas[body]["allOf"]);
    let MergedObject { properties, required } = merged;
    let mut properties = Value::Object(properties);
    remove_defaults(&mut properties);
    let description = schemas[body]["description"].take();
    schemas[body] = json!({
        "type": "object",
        "description": description,
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schemas[body]["required"] = required.into();
    }
}

/// Removes the defaults of fields, because generated clients would send the defaults.
fn remove_defaults(properties: &mut Value) {
    let fields = properties.as_object_mut().into_iter().flat_map(Map::values_mut);
    for field in fields.filter_map(Value::as_object_mut) {
        field.remove("default");
    }
}

/// Merges the parts of a lineage's document. The first document of a tree has no similarity with an
/// ancestor, so the fields of the similarity are optional.
fn flatten_descent(schemas: &mut Value) {
    let mut required = Value::Null;
    for part in schemas["Descent"]["allOf"].as_array_mut().into_iter().flatten() {
        match part.get("oneOf").and_then(|choice| choice.get(0)) {
            Some(similarity) => *part = similarity.clone(),
            None => required = part["required"].clone(),
        }
    }
    flatten(schemas, "Descent");
    let Some(descent) = schemas["Descent"].as_object_mut() else {
        unreachable!("the schema of an answer is an object");
    };
    descent.remove("additionalProperties");
    descent.insert("required".into(), required);
}

/// The merged fields of an object in parts.
#[derive(Default)]
struct MergedObject {
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl MergedObject {
    fn add(&mut self, schemas: &Value, parts: &Value) {
        let Value::Array(parts) = parts else {
            unreachable!("a body with flattened options is made of parts");
        };
        for part in parts {
            let named = part["$ref"].as_str().and_then(|name| name.rsplit('/').next());
            let part = named.map_or(part, |name| &schemas[name]);
            if part["allOf"].is_array() {
                self.add(schemas, &part["allOf"]);
            }
            let fields = part["properties"].as_object().into_iter().flatten();
            self.properties.extend(fields.map(|(name, field)| (name.clone(), field.clone())));
            self.required.extend(part["required"].as_array().into_iter().flatten().cloned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects all objects of the document with their paths.
    fn objects(value: &Value, path: String, found: &mut Vec<(String, Map<String, Value>)>) {
        match value {
            Value::Object(object) => {
                found.push((path.clone(), object.clone()));
                for (name, value) in object {
                    objects(value, format!("{path}/{name}"), found);
                }
            }
            Value::Array(array) => {
                for (i, value) in array.iter().enumerate() {
                    objects(value, format!("{path}/{i}"), found);
                }
            }
            _ => {}
        }
    }

    #[track_caller]
    fn check_objects(holds: impl Fn(&Map<String, Value>) -> bool) {
        let mut found = Vec::new();
        objects(&document(), String::new(), &mut found);
        assert!(found.len() > 500, "the whole document is walked");
        for (path, object) in found {
            assert!(holds(&object), "{path}: {object:?}");
        }
    }

    /// Returns the document as written to `openapi.json`.
    fn derived() -> String {
        format!("{:#}\n", document())
    }

    #[test]
    fn the_document_is_the_one_that_is_kept() {
        assert!(
            crate::openapi() == derived(),
            "openapi.json is of another version; \
             `cargo test -p cento-serve write_the_document -- --ignored` writes it anew"
        );
    }

    #[test]
    #[ignore = "writes openapi.json"]
    fn write_the_document() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
        std::fs::write(path, derived()).unwrap();
    }

    #[test]
    fn the_document_has_the_routes_and_no_others() {
        let mut routes: Vec<_> =
            [super::super::monitors(), super::super::readers(), super::super::writers()]
                .into_iter()
                .chain([super::super::everybody()])
                .flatten()
                .map(|route| (route.path.to_owned(), route.method.as_str().to_ascii_lowercase()))
                .collect();
        routes.sort();
        let document = document();
        let paths = document["paths"].as_object().unwrap().iter();
        let mut described: Vec<_> = paths
            .flat_map(|(path, operations)| {
                let methods = operations.as_object().unwrap().keys();
                methods.map(move |method| (path.clone(), method.clone()))
            })
            .collect();
        described.sort();
        assert_eq!(described, routes);
    }

    #[test]
    fn what_a_route_says_of_an_error_takes_the_place_of_what_all_say() {
        let said = &document()["paths"]["/v1/watches"]["post"]["responses"]["409"]["description"];
        assert_eq!(said, "A watch has this name and another content");
    }

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        // Once two operations were called `report`, after functions of two modules. A generated
        // client had only one of the two.
        let document = document();
        let operations = document["paths"].as_object().unwrap().values();
        let operations = operations.flat_map(|methods| methods.as_object().unwrap().values());
        let mut names: Vec<&str> =
            operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{names:?}");
    }

    #[test]
    fn the_api_is_where_the_document_is() {
        assert_eq!(document()["servers"][0]["url"], ".");
    }

    #[test]
    fn no_value_is_a_default() {
        // Validators refuse null for fields that are not nullable, and openapi-typescript treats
        // fields with a default as always present.
        check_objects(|object| !object.contains_key("default"));
    }

    #[test]
    fn a_choice_is_one_of_types() {
        // openapi-python-client makes `Any` of a choice of fields.
        let is_type = |of: &Value| ["type", "$ref"].iter().any(|name| of.get(*name).is_some());
        check_objects(|object| {
            let choices = ["oneOf", "anyOf", "allOf"].iter().filter_map(|name| object.get(*name));
            choices.filter_map(Value::as_array).flatten().all(is_type)
        });
    }

    #[test]
    fn an_array_has_items_that_are_a_schema() {
        // `items: false` beside `prefixItems` makes openapi-python-client refuse the whole
        // document.
        check_objects(|object| object.get("items").is_none_or(Value::is_object));
        check_objects(|object| {
            object.get("type") != Some(&json!("array")) || object.contains_key("items")
        });
        check_objects(|object| {
            !object.contains_key("prefixItems") || object["minItems"] == object["maxItems"]
        });
    }

    #[test]
    fn an_integer_has_a_width_that_generators_know() {
        check_objects(|object| {
            !each_schema::is_of(object, "integer")
                || (object["format"] == "int64" && object["maximum"].is_u64())
        });
    }

    #[test]
    fn every_route_names_its_security_and_the_license_its_identifier() {
        let document = document();
        assert_eq!(document["info"]["license"]["identifier"], "MIT OR Apache-2.0");
        for (path, operations) in document["paths"].as_object().unwrap() {
            for operation in operations.as_object().unwrap().values() {
                let is_open = ["/healthz", "/readyz", "/openapi.json"].contains(&path.as_str());
                let expected = if is_open { Value::Null } else { json!([{"token": []}]) };
                assert_eq!(operation["security"], expected, "{path}");
            }
        }
    }

    #[test]
    fn a_field_with_a_default_is_not_required() {
        let document = document();
        let check = |name: &str, expected: Value| {
            assert_eq!(document["components"]["schemas"][name]["required"], expected, "{name}");
        };
        check("SearchRequest", Value::Null);
        check("CompactRequest", Value::Null);
        check("PassagesRequest", json!(["hit"]));
        check("CompareRequest", json!(["a", "b"]));
        check("PairsRequest", json!(["documents"]));
        check("FamiliesRequest", Value::Null);
        check("LineageRequest", Value::Null);
        check("Descent", json!(["tree", "depth", "id", "tokens"]));
        check("DocumentBody", json!(["id", "text"]));
        check("DocumentOfParts", json!(["id", "parts"]));
    }
}
