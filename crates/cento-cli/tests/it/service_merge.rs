//! The real binary: indexes that are merged through a service.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cento::{Index, OnConflict};
use cento_client::api::{Commit, DocumentBody, MergeRequest, SearchRequest};
use serde_json::{Map, Value, json};

use crate::common::run::{Dir, line};
use crate::common::service::{JSON, Service};
use crate::common::words;

/// An index `idx`, and in `shards` the indexes `one`, `sub/two` and `clash`, which has an id of
/// `one`.
fn shards() -> Dir {
    let dir = Dir::new();
    fs::create_dir_all(dir.path("shards/sub")).unwrap();
    for (name, ids) in [
        ("idx", ["a", "b"]),
        ("shards/one", ["c", "d"]),
        ("shards/sub/two", ["e", "f"]),
        ("shards/clash", ["c", "g"]),
    ] {
        let lines = ids.map(|id| line(id, &format!("{} {name}", text(id)), json!({})));
        dir.write("part.jsonl", lines.concat());
        dir.json(&["add", name, "part.jsonl"]);
    }
    dir
}

fn text(id: &str) -> String {
    words(u64::from(id.as_bytes()[0]), 60)
}

/// The ids of the documents that have the text of `id`.
fn found(service: &Service, id: &str) -> Vec<String> {
    let request = SearchRequest { text: Some(text(id)), ..SearchRequest::default() };
    let answer = service.client().search(&request).unwrap();
    answer.hits.into_iter().map(|hit| hit.id).collect()
}

fn ids(dir: &Dir) -> Vec<String> {
    let snapshot = Index::open(dir.path("idx")).unwrap().snapshot().unwrap();
    let mut ids: Vec<String> = snapshot.live().map(|at| snapshot.id(at).unwrap()).collect();
    ids.sort();
    ids
}

#[test]
fn indexes_are_merged_while_the_service_goes_on() {
    let dir = shards();
    let service = Service::start(&dir, &["--shard-dir", "shards"]);
    let client = service.client();
    let (is_done, answers) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                assert_eq!(found(&service, "a"), ["a"]);
                answers.fetch_add(1, Ordering::Relaxed);
            }
        });
        // Documents acknowledged earlier come before, and are there afterwards.
        let new = DocumentBody {
            id: "new".into(),
            text: words(900, 60),
            meta: Map::new(),
            id_place: None,
        };
        client.add(&new, Commit::Auto).unwrap();
        let names = ["one", "sub/two"].map(str::to_owned).to_vec();
        let request = MergeRequest { shards: names, on_conflict: OnConflict::Error };
        let merged = client.merge(&request).unwrap();
        assert_eq!((merged.documents, merged.segments, merged.removed), (4, 2, 0));
        assert_eq!(found(&service, "c"), ["c"]);
        assert_eq!(found(&service, "f"), ["f"]);
        let again = client.merge(&request).unwrap();
        assert_eq!((again.documents, again.known), (0, 2));
        // From the command line, with an id that is there already.
        let run = dir.run(&["merge", "--url", &service.url, "clash"]);
        assert!(run.status == 2 && run.err.contains("`c`"), "{}", run.err);
        let args = ["merge", "--url", &service.url, "clash", "--on-conflict", "later"];
        assert_eq!(dir.json(&args)["replaced"], 1);
        assert_eq!(found(&service, "g"), ["g"]);
        client.add(&new, Commit::Wait).unwrap();
        is_done.store(true, Ordering::Relaxed);
    });
    assert!(answers.load(Ordering::Relaxed) > 0);
    assert!(service.stop());
    assert_eq!(ids(&dir), ["a", "b", "c", "d", "e", "f", "g", "new"]);
    assert_eq!(dir.run(&["check", "idx"]).status, 0);
    // The shards stay.
    assert!(
        ["one", "sub/two", "clash"]
            .map(|name| dir.path("shards").join(name))
            .iter()
            .all(Index::exists)
    );
}

#[test]
fn a_service_merges_only_if_configured_and_with_a_write_token() {
    let dir = shards();
    let body = r#"{"shards": ["one"]}"#;
    let service = Service::start(&dir, &[]);
    let reply = service.post("/v1/merge", body);
    assert_eq!((reply.status, reply.code()), (403, "not_allowed".into()));
    drop(service);
    dir.write("tokens", "read reader-0123456789\nwrite writer-0123456789\n");
    let service = Service::start(&dir, &["--shard-dir", "shards", "--tokens", "tokens"]);
    let ask = |token: &str| {
        let headers = format!("{JSON}Authorization: Bearer {token}\r\n");
        service.ask("POST", "/v1/merge", &headers, body).status
    };
    assert_eq!(service.post("/v1/merge", body).status, 401);
    assert_eq!(ask("reader-0123456789"), 403);
    assert_eq!(ask("writer-0123456789"), 200);
    assert!(service.stop());
    let run = dir.run(&["serve", "idx", "--listen", "127.0.0.1:0", "--shard-dir", "missing"]);
    assert!(run.status == 2 && run.err.contains("missing"), "{}", run.err);
}

#[test]
fn a_refusal_names_no_place_and_leaves_the_index_unchanged() {
    let dir = shards();
    // An index that lies outside, and one that cannot be merged into this one.
    dir.json(&["add", "secret", "part.jsonl"]);
    dir.json(&["add", "shards/other", "part.jsonl", "--scheme", "kgram(k=3)"]);
    dir.json(&["add", "shards/damaged", "part.jsonl"]);
    let damaged = fs::read_dir(dir.path("shards/damaged")).unwrap().flatten();
    let damaged = damaged.map(|entry| entry.path());
    let damaged = damaged.filter(|path| path.extension().is_some_and(|name| name == "store"));
    for path in damaged {
        let mut bytes = fs::read(&path).unwrap();
        bytes[0] ^= 1;
        fs::write(path, bytes).unwrap();
    }
    let service = Service::start(&dir, &["--shard-dir", "shards"]);
    let locked = Index::open(dir.path("shards/sub/two")).unwrap();
    let writer = locked.writer(cento::WriterOptions::default()).unwrap();
    let place = dir.path(".").canonicalize().unwrap().display().to_string();
    let absolute = dir.path("secret").display().to_string();
    for (shards, status, code, named) in [
        (json!(["../secret"]), 404, "not_found", "../secret"),
        (json!([absolute]), 404, "not_found", ""),
        (json!(["one", ""]), 404, "not_found", "``"),
        (json!(["none"]), 404, "not_found", "none"),
        (json!([]), 400, "invalid_argument", "shards"),
        (json!("one"), 400, "bad_request", ""),
        (json!(["one", "one"]), 400, "invalid_argument", "named twice"),
        (json!(["one", "other"]), 409, "other_scheme", "kgram(k=3)"),
        (json!(["damaged"]), 409, "damaged", "damaged"),
        (json!(["one", "sub/two"]), 409, "locked", "sub/two"),
        (json!(["one", "clash"]), 409, "shared_id", "`c` is in one and in clash"),
    ] {
        let reply = service.post("/v1/merge", &json!({ "shards": shards }).to_string());
        assert_eq!((reply.status, reply.code()), (status, code.into()), "{shards}: {reply:?}");
        assert!(reply.body.contains(named), "{shards}: {}", reply.body);
        assert!(shards == json!([absolute]) || !reply.body.contains(&place), "{}", reply.body);
    }
    drop(writer);
    let reply = service.post("/v1/merge", r#"{"shards": ["one"], "move": true}"#);
    assert_eq!((reply.status, reply.code()), (400, "bad_request".into()));
    let run = dir.run(&["merge", "--url", &service.url, "one", "--move"]);
    assert!(run.status == 2 && run.err.contains("--move"), "{}", run.err);
    let run = dir.run(&["merge", "--url", &service.url]);
    assert_eq!(run.status, 2);
    let stats: Value = serde_json::from_str(&service.ask("GET", "/v1/stats", "", "").body).unwrap();
    assert_eq!(stats["documents"], 2);
    // It goes on.
    assert_eq!(service.post("/v1/merge", r#"{"shards": ["one"]}"#).status, 200);
    assert!(service.stop());
    assert_eq!(ids(&dir), ["a", "b", "c", "d"]);
}

#[test]
fn an_index_is_not_merged_to_itself() {
    let dir = shards();
    let service = Service::start(&dir, &["--shard-dir", "."]);
    let reply = service.post("/v1/merge", r#"{"shards": ["idx"]}"#);
    assert_eq!((reply.status, reply.code()), (400, "invalid_argument".into()), "{reply:?}");
    assert_eq!(service.post("/v1/merge", r#"{"shards": ["shards/one"]}"#).status, 200);
}
