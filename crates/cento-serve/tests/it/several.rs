//! Several indexes behind a service.

use cento_testing::several::{DOCUMENTS, text, without_names};
use serde_json::{Value, json};

use crate::common::{Ask, Dir, Routes, Service, fill, line, parts, wait_until, words};

/// The name of an index in answers, which is the path as given.
fn named(dir: &Dir, name: &str) -> String {
    dir.path(name).display().to_string()
}

#[test]
fn a_service_over_several_indexes_answers_as_over_the_merged_one() {
    let dir = parts();
    let (parts, all) = (Routes::over(&dir, &["a", "b", "c"]), Routes::over(&dir, &["all"]));
    for number in 0..DOCUMENTS {
        let request = json!({"text": text(number), "limit": 20, "passages": true, "max_df": "12"});
        let [mut found, mut whole] = [&parts, &all].map(|service| {
            let reply = service.post("/v1/search", &request.to_string());
            assert_eq!(reply.status, 200, "{reply:?}");
            reply.json()
        });
        let names = without_names(&mut found);
        assert!(names.len() > 4 && without_names(&mut whole).is_empty(), "{found}");
        assert_eq!(found, whole);
        for (hit, name) in found["hits"].as_array().unwrap().iter().zip(&names) {
            let number: usize = hit["id"].as_str().unwrap()[1..].parse().unwrap();
            assert_eq!(*name, named(&dir, ["a", "b", "c"][number % 3]));
        }
        assert!(found["query"]["stopped"].as_u64().unwrap() > 0, "{found}");
    }
}

#[test]
fn a_service_over_several_indexes_counts_and_shows_the_documents_of_all() {
    let dir = parts();
    let service = Routes::over(&dir, &["a", "b", "c"]);
    assert_eq!(service.ask("GET", "/v1/stats", "", "").json()["documents"], DOCUMENTS);
    let document = service.ask("GET", "/v1/documents/d07", "", "");
    assert!(document.status == 200 && document.body.contains(&text(7)), "{document:?}");
}

#[test]
fn a_service_over_several_indexes_only_reads_and_sees_what_others_commit() {
    let dir = parts();
    let service = Service::over(&dir, &["a", "b"]);
    for (path, body) in [
        ("/v1/documents", r#"{"id": "x", "text": "y"}"#),
        ("/v1/remove", r#"{"ids": ["d00"]}"#),
        ("/v1/commit", "{}"),
        ("/v1/compact", "{}"),
    ] {
        let reply = service.post(path, body);
        assert_eq!((reply.status, reply.code()), (403, "read_only".into()), "{path}");
        assert!(reply.body.contains("several indexes as one"), "{}", reply.body);
    }
    let request = json!({"text": words(500, 60)}).to_string();
    let hits = || -> Vec<Value> {
        let answer = service.post("/v1/search", &request).json();
        answer["hits"].as_array().unwrap().clone()
    };
    assert!(hits().is_empty());
    // The indexes are not locked, and two documents with the same id stay distinct.
    fill(&dir.path("b"), &line("d00", &words(500, 60), json!({})));
    wait_until("the new commit", || !hits().is_empty());
    assert_eq!((&hits()[0]["id"], &hits()[0]["index"]), (&json!("d00"), &json!(named(&dir, "b"))));
    let reply = service.post("/v1/search", r#"{"id": "d00"}"#);
    let said = format!("is in {} and in {}", named(&dir, "a"), named(&dir, "b"));
    assert!(reply.status == 400 && reply.body.contains(&said), "{reply:?}");
    service.stop();
    for name in ["a", "b"] {
        assert!(!dir.path(name).join(".service.json").exists());
    }
}
