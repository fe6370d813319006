//! Adding, changing and removing documents.

use std::time::Duration;

use crate::common::{Ask, JSON, LINES, Routes, Service, body, created, documents, indexed, words};
use cento_api::PartText;
use cento_api::Reason;
use cento_client::Client;
use cento_client::api::{Commit, DocumentOfParts, RemoveRequest, SearchRequest};
use serde_json::{Map, json};

fn ids(client: &Client, text: &str) -> Vec<String> {
    let request = SearchRequest { text: Some(text.to_owned()), ..SearchRequest::default() };
    client.search(&request).unwrap().hits.into_iter().map(|hit| hit.id).collect()
}

#[test]
fn a_document_is_found_after_its_commit() {
    let dir = created();
    let service =
        Service::with(&dir, |settings| settings.commit_interval = Duration::from_secs(3600));
    let client = service.client();
    let one = words(1, 60);
    let added = client.add(&body("a/1", &one), Commit::Wait).unwrap();
    assert_eq!((added.report.added, added.committed), (1, true));
    assert_eq!(ids(&client, &one), ["a/1"]);
    let added = client.add(&body("b", &one), Commit::Auto).unwrap();
    assert_eq!((added.report.added, added.committed), (1, false));
    assert_eq!(ids(&client, &one), ["a/1"], "before the commit");
    assert_eq!(client.stats().unwrap().uncommitted, 1);
    assert_eq!(client.commit().unwrap().documents, 2);
    assert_eq!(ids(&client, &one), ["a/1", "b"], "after the commit");
}

#[test]
fn a_document_of_parts_is_one_document_whose_passages_name_the_part() {
    let dir = created();
    let service = Service::start(&dir);
    let client = service.client();
    let book = |id: &str, parts: [(&str, &str); 2]| DocumentOfParts {
        id: id.into(),
        parts: parts.map(|(name, text)| PartText { name: name.into(), text: text.into() }).into(),
        meta: Map::new(),
        id_place: None,
    };
    let (one, two, own) = (words(1, 60), words(2, 60), format!("own\n{}", words(2, 60)));
    let add = |book: &DocumentOfParts| client.add_of_parts(book, Commit::Wait).unwrap().report;
    assert_eq!(add(&book("a", [("x", &one), ("y", &two)])).added, 1);
    assert_eq!(add(&book("a", [("x", &one), ("y", &two)])).unchanged, 1);
    assert_eq!(add(&book("b", [("z", &words(3, 60)), ("w", &own)])).added, 1);
    let stored = client.document("a").unwrap();
    assert_eq!(stored.text, Some(format!("{one}\n{two}")));
    let parts: Vec<_> = stored.parts.iter().map(|part| (part.name.as_str(), part.start)).collect();
    assert_eq!(parts, [("x", 0), ("y", one.len() as u32 + 1)]);
    let mut request = SearchRequest { id: Some("a".into()), ..SearchRequest::default() };
    request.options.passages = true;
    let hits = client.search(&request).unwrap().hits;
    let passage = &hits[0].passages.as_deref().unwrap()[0];
    let names = (passage.a_part.as_deref(), passage.b_part.as_deref());
    assert_eq!((names, passage.b_line), ((Some("y"), Some("w")), Some(2)));
    assert_eq!(add(&book("a", [("x", &one), ("renamed", &two)])).replaced, 1);
    let twice = book("c", [("x", "one"), ("x", "two")]);
    let refused = client.add_of_parts(&twice, Commit::Wait).unwrap_err().to_string();
    assert!(refused.contains("two of its parts have the name"), "{refused}");
}

#[test]
fn a_document_with_fields_that_are_not_kept_is_refused_by_their_names() {
    // Once the service dropped unknown fields and reported success.
    let dir = created();
    let service = Service::start(&dir);
    let more = r#"{"id":"a","text":"some words","sorce":"herald","meta":{"year":2024}}"#;
    let both = r#"{"id":"b","text":"some words","parts":[{"name":"x","text":"y"}]}"#;
    // `cento export` writes lines of this form.
    let good = r#"{"id":"c","added":"2024-05-01T00:00:00Z","text":"some words","meta":{"n":1}}"#;
    let unknown = "unknown field `sorce`; a document has `id`, `text` or `parts`, and `meta`";
    let refused = service.post("/v1/documents?commit=wait", more);
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert!(refused.body.contains(unknown), "{}", refused.body);
    let lines =
        service.ask("POST", "/v1/documents?commit=wait", LINES, &[more, both, good].join("\n"));
    let answer = lines.json();
    assert_eq!((&answer["added"], &answer["failed"]), (&json!(1), &json!(2)), "{answer}");
    let said = |at: usize| answer["errors"][at]["message"].as_str().unwrap().to_owned();
    assert!(said(0).contains(unknown), "{answer}");
    assert!(said(1).contains("`text` and `parts`"), "{answer}");
    // Replacing control characters could make two ids equal, so the service refuses control
    // characters.
    let tab = r#"{"id":"a\tb","text":"some words"}"#;
    let refused = service.post("/v1/documents?commit=wait", tab);
    assert!(refused.body.contains("contains a control character"), "{}", refused.body);
}

#[test]
fn a_document_takes_the_place_of_the_one_with_its_id() {
    let dir = created();
    let service = Service::start(&dir);
    let client = service.client();
    let (one, two) = (words(1, 60), words(2, 60));
    let add = |id: &str, text: &str| client.add(&body(id, text), Commit::Wait).unwrap().report;
    assert_eq!(add("a", &one).added, 1);
    assert_eq!(add("a", &one).unchanged, 1);
    assert_eq!(add("a", &two).replaced, 1);
    assert_eq!((ids(&client, &one), ids(&client, &two)), (vec![], vec!["a".to_owned()]));
    assert_eq!(client.document("a").unwrap().text, Some(two));
}

#[test]
fn a_document_that_was_removed_is_gone() {
    let dir = created();
    let service = Service::start(&dir);
    let client = service.client();
    let one = words(1, 60);
    for id in ["a/1", "b"] {
        client.add(&body(id, &one), Commit::Wait).unwrap();
    }
    let removed =
        client.remove(["a/1", "nobody", "a/1"].map(String::from).to_vec(), Commit::Wait).unwrap();
    // A repeated id is removed once, and is not counted as missing.
    assert_eq!((removed.removed, removed.missing), (1, vec!["nobody".to_owned()]));
    assert_eq!(ids(&client, &one), ["b"]);
    assert_eq!(service.ask("GET", "/v1/documents/a%2F1", "", "").status, 404);
    assert_eq!(service.ask("DELETE", "/v1/documents/b?commit=wait", "", "").status, 200);
    assert_eq!(client.stats().unwrap().index.documents, 0);
    service.stop();
    assert_eq!(documents(&dir, "idx"), 0);
}

#[test]
fn an_id_may_be_any_text() {
    let dir = created();
    let service = Service::start(&dir);
    let client = service.client();
    for id in [".", "..", "a b", "\u{e9}/%2F?#"] {
        client.add(&body(id, &words(1, 60)), Commit::Wait).unwrap();
        assert_eq!(client.document(id).unwrap().id, id);
    }
}

#[test]
fn a_malformed_record_is_reported_with_its_line() {
    let dir = created();
    let service = Routes::of(&dir);
    let good = json!({"id": "a", "text": words(1, 50)}).to_string();
    let sent =
        format!("{good}\n\nnonsense\n{{\"text\": \"no id\"}}\n{{\"id\": \"\", \"text\": \"\"}}\n");
    let reply = service.ask("POST", "/v1/documents?commit=wait", LINES, &sent);
    let report = reply.json();
    assert_eq!((reply.status, &report["added"], &report["failed"]), (200, &json!(1), &json!(3)));
    let errors: Vec<u64> =
        report["errors"].as_array().unwrap().iter().map(|e| e["line"].as_u64().unwrap()).collect();
    assert_eq!(errors, [3, 4, 5]);
}

#[test]
fn a_document_without_an_id_is_refused() {
    let dir = created();
    let service = Routes::of(&dir);
    let reply = service.post("/v1/documents", "{\"text\": \"no id\"}");
    assert_eq!((reply.status, reply.code().as_str()), (400, "missing_field"));
}

#[test]
fn an_id_that_is_empty_or_null_is_called_so() {
    // Once the message was "there is no `id` (did you mean `id`?)".
    let dir = created();
    let service = Routes::of(&dir);
    for (id, said) in [(json!(""), "`id` is empty"), (json!(null), "`id` is null")] {
        let line = json!({"id": id, "text": "one two"}).to_string();
        let reply = service.post("/v1/documents", &line);
        let error = &reply.json()["error"];
        assert_eq!((reply.status, error["code"].as_str()), (400, Some("missing_field")));
        assert_eq!(error["field"], "id");
        let message = error["message"].as_str().unwrap();
        assert!(message.ends_with(said), "{message}");
        let reply = service.ask("POST", "/v1/documents?commit=wait", LINES, &line);
        assert_eq!(reply.json()["errors"][0]["message"].as_str(), Some(said), "{reply:?}");
    }
}

#[test]
fn documents_come_in_lines_of_any_end() {
    let dir = created();
    let service = Routes::of(&dir);
    let line = |id: &str| json!({"id": id, "text": words(1, 40)}).to_string();
    let sent = format!("\u{feff}{}\r\n\r\n{}\n{}", line("a"), line("b"), line("c"));
    let reply = service.ask("POST", "/v1/documents?commit=wait", LINES, &sent);
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(service.ask("GET", "/v1/stats", "", "").json()["documents"], 3);
}

#[test]
fn a_missing_field_is_named_with_one_that_resembles_it() {
    let dir = indexed();
    let service = Routes::of(&dir);
    let line = "{\"id\": \"x\", \"txt\": \"y\"}\n";
    let report = service.ask("POST", "/v1/documents?commit=wait", LINES, line).json();
    assert_eq!(report["errors"][0]["code"], "missing_field", "{report}");
    let message = report["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("did you mean `txt`?"), "{message}");
}

#[test]
fn a_filter_removes_and_a_patch_changes_meta_objects() {
    let dir = created();
    let service = Service::start(&dir);
    let client = service.client();
    for year in 2020u64..2026 {
        let mut body = body(&year.to_string(), &words(year, 60));
        body.meta = json!({"year": year}).as_object().unwrap().clone();
        client.add(&body, Commit::Auto).unwrap();
    }
    let patch = |id: &str, meta: serde_json::Value| {
        client.patch_meta(id, meta.as_object().unwrap().clone(), Commit::Wait)
    };
    // The document is accepted but not committed yet.
    let done = patch("2021", json!({"reviewed": true, "year": 1990})).unwrap();
    assert_eq!((done.changed, done.committed), (true, true));
    assert!(!patch("2021", json!({"reviewed": true})).unwrap().changed);
    let stored = client.document("2021").unwrap();
    assert_eq!(json!(stored.meta), json!({"reviewed": true, "year": 1990}));
    assert_eq!(stored.text, Some(words(2021, 60)));
    assert!(patch("gone", json!({})).unwrap_err().to_string().contains("gone"));
    let big = json!({"x": "y".repeat(70_000)});
    let refused = patch("2022", big).unwrap_err();
    assert_eq!(refused.reason(), Reason::UnusableMeta, "{refused}");

    client.add(&body("later", "a text"), Commit::Auto).unwrap();
    let filter = |query: &str, dry_run| RemoveRequest {
        filter: Some(query.into()),
        dry_run,
        ..RemoveRequest::default()
    };
    let remove = |request: RemoveRequest| client.remove_as(&request, Commit::Wait).unwrap();
    let counted = remove(filter("meta.year:[* TO 2022]", true));
    assert_eq!((counted.removed, counted.committed), (3, false));
    let ids = Some(vec!["2020".into(), "gone".into(), "2020".into()]);
    let counted = remove(RemoveRequest { ids, dry_run: true, ..RemoveRequest::default() });
    assert_eq!((counted.removed, counted.missing), (1, vec!["gone".to_owned()]));
    assert_eq!(client.stats().unwrap().index.documents, 7);
    let removed = remove(filter("meta.year:[* TO 2022]", false));
    assert_eq!((removed.removed, removed.committed), (3, true));
    // A filter also removes documents accepted a moment ago.
    client.add(&body("last", "another text"), Commit::Auto).unwrap();
    assert_eq!(remove(filter("id:last", false)).removed, 1);
    assert_eq!(client.stats().unwrap().index.documents, 4);
    for request in [r#"{}"#, r#"{"ids":["a"],"filter":"*"}"#, r#"{"filter":"meta.year:["}"#] {
        let refused = service.post("/v1/remove", request);
        assert_eq!(refused.status, 400, "{}", refused.body);
    }
    assert_eq!(client.stats().unwrap().index.documents, 4);
}

#[test]
fn a_record_with_only_a_meta_object_is_told_of_patch() {
    let dir = indexed();
    let service = Routes::of(&dir);
    let cure = "to change the meta object of a stored document, send it to PATCH";
    let change = r#"{"id":"x","meta":{"seen":true}}"#;
    let report = service.ask("POST", "/v1/documents", LINES, &format!("{change}\n")).json();
    assert_eq!(report["errors"][0]["code"], "missing_field", "{report}");
    assert!(report["errors"][0]["message"].as_str().unwrap().contains(cure), "{report}");
    let refused = service.ask("POST", "/v1/documents", JSON, change);
    assert!(refused.status == 400 && refused.body.contains(cure), "{}", refused.body);
    // The text of a record with other fields may be in one of them.
    let other = r#"{"id":"x","meta":{},"body":"words"}"#;
    let refused = service.ask("POST", "/v1/documents", JSON, other);
    assert!(refused.status == 400 && !refused.body.contains(cure), "{}", refused.body);
}

#[test]
fn a_patch_is_an_object() {
    let dir = created();
    let service = Service::start(&dir);
    service.client().add(&body("x", "some words"), Commit::Wait).unwrap();
    // A list was set as the member `meta` of the meta object.
    for (meta, is) in
        [("[1]", "a list"), ("5", "the number 5"), ("null", "null"), ("\"{}\"", "the")]
    {
        let sent = format!(r#"{{"meta":{meta}}}"#);
        let refused = service.ask("PATCH", "/v1/documents/x", JSON, &sent);
        let error = &refused.json()["error"];
        assert_eq!((refused.status, &error["argument"]), (400, &json!("meta")), "{error}");
        let said = error["message"].as_str().unwrap();
        assert!(said.starts_with(&format!("`meta`: it is {is}")), "{error}");
        assert!(said.ends_with("not an object; `meta` has the members to change"), "{error}");
    }
    assert_eq!(service.client().document("x").unwrap().meta, Map::new());
}
