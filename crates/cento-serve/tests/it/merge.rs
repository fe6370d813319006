//! Merging indexes through a service.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cento::OnConflict;
use cento::index::{Config, Index, WriterOptions};
use cento_client::api::{Commit, MergeRequest, SearchRequest};
use cento_serve::{Settings, Tokens};
use serde_json::json;

use crate::common::{Ask, Dir, JSON, Routes, Service, body, documents, fill, line, words};

/// An index `idx`, and in `shards` the indexes `one`, `sub/two` and `clash`, which shares an id
/// with `one`.
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
        fill(&dir.path(name), &lines.concat());
    }
    dir
}

fn text(id: &str) -> String {
    words(u64::from(id.as_bytes()[0]), 60)
}

/// Returns the ids of the documents with the text of `id`.
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
    let service = Service::with(&dir, |settings| settings.shard_dir = Some(dir.path("shards")));
    let client = service.client();
    let (is_done, answers) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                assert_eq!(found(&service, "a"), ["a"]);
                answers.fetch_add(1, Ordering::Relaxed);
            }
        });
        // Documents acknowledged earlier are committed before the merge.
        let new = body("new", &words(900, 60));
        client.add(&new, Commit::Auto).unwrap();
        let names = ["one", "sub/two"].map(str::to_owned).to_vec();
        let request = MergeRequest { shards: names, on_conflict: OnConflict::Error };
        let merged = client.merge(&request).unwrap();
        assert_eq!((merged.documents, merged.segments, merged.removed), (4, 2, 0));
        assert_eq!(found(&service, "c"), ["c"]);
        assert_eq!(found(&service, "f"), ["f"]);
        let again = client.merge(&request).unwrap();
        assert_eq!((again.documents, again.known), (0, 2));
        // The shard `clash` has an id of the index.
        let shards = vec!["clash".to_owned()];
        let clash =
            |on_conflict| client.merge(&MergeRequest { shards: shards.clone(), on_conflict });
        assert!(clash(OnConflict::Error).unwrap_err().to_string().contains("`c`"));
        assert_eq!(clash(OnConflict::Later).unwrap().replaced, 1);
        assert_eq!(found(&service, "g"), ["g"]);
        client.add(&new, Commit::Wait).unwrap();
        is_done.store(true, Ordering::Relaxed);
    });
    assert!(answers.load(Ordering::Relaxed) > 0);
    service.stop();
    assert_eq!(ids(&dir), ["a", "b", "c", "d", "e", "f", "g", "new"]);
    assert_eq!(documents(&dir, "idx"), 8);
    // A merge leaves the shards unchanged.
    assert!(
        ["one", "sub/two", "clash"]
            .map(|name| dir.path("shards").join(name))
            .iter()
            .all(Index::exists)
    );
}

#[test]
fn a_service_merges_only_if_configured() {
    let dir = shards();
    let reply = Routes::of(&dir).post("/v1/merge", r#"{"shards": ["one"]}"#);
    assert_eq!((reply.status, reply.code()), (403, "not_allowed".into()));
}

#[test]
fn a_merge_needs_a_token_that_writes() {
    let dir = shards();
    let tokens = "read reader reader-0123456789\nwrite writer writer-0123456789\n";
    let service = Routes::with(&dir, |settings| {
        settings.shard_dir = Some(dir.path("shards"));
        settings.tokens = Tokens::parse(tokens, "tokens").unwrap();
    });
    let ask = |token: &str| {
        let headers = format!("{JSON}Authorization: Bearer {token}\r\n");
        service.ask("POST", "/v1/merge", &headers, r#"{"shards": ["one"]}"#).status
    };
    let tokens = ["nobody", "reader-0123456789", "writer-0123456789"];
    assert_eq!(tokens.map(ask), [401, 403, 200]);
}

#[test]
fn a_directory_of_shards_that_is_missing_is_refused_at_the_start() {
    let dir = shards();
    let settings = Settings { shard_dir: Some(dir.path("missing")), ..Settings::default() };
    let refused = Service::refused(&dir, settings);
    assert!(refused.contains("missing"), "{refused}");
}

#[test]
fn a_refusal_names_no_place_and_leaves_the_index_unchanged() {
    let dir = shards();
    // An index outside the directory, and indexes that do not fit.
    let part = line("c", &text("c"), json!({})) + &line("g", &text("g"), json!({}));
    fill(&dir.path("secret"), &part);
    fill(&dir.path("shards/damaged"), &part);
    let other = Config::new("kgram(k=3)", "words", true).unwrap();
    Index::create(dir.path("shards/other"), other).unwrap();
    fill(&dir.path("shards/other"), &part);
    let damaged = fs::read_dir(dir.path("shards/damaged")).unwrap().flatten();
    let damaged = damaged.map(|entry| entry.path());
    let damaged = damaged.filter(|path| path.extension().is_some_and(|name| name == "store"));
    for path in damaged {
        let mut bytes = fs::read(&path).unwrap();
        bytes[0] ^= 1;
        fs::write(path, bytes).unwrap();
    }
    let service = Routes::with(&dir, |settings| settings.shard_dir = Some(dir.path("shards")));
    let locked = Index::open(dir.path("shards/sub/two")).unwrap();
    let writer = locked.writer(WriterOptions::default()).unwrap();
    let place = dir.path(".").canonicalize().unwrap().display().to_string();
    let absolute = dir.path("secret").display().to_string();
    for (shards, status, code, named) in [
        (json!(["../secret"]), 404, "not_found", "../secret"),
        (json!([absolute]), 404, "not_found", ""),
        (json!(["one", ""]), 404, "not_found", "``"),
        (json!(["none"]), 404, "not_found", "none"),
        (json!([]), 400, "invalid_argument", "shards"),
        (json!("one"), 400, "invalid_argument", "`shards`: expected a list"),
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
    assert_eq!((reply.status, reply.code()), (400, "invalid_argument".into()));
    assert_eq!(reply.json()["error"]["argument"], "move");
    assert_eq!(service.ask("GET", "/v1/stats", "", "").json()["documents"], 2);
    // The service still merges after the refusals.
    assert_eq!(service.post("/v1/merge", r#"{"shards": ["one"]}"#).status, 200);
    drop(service);
    assert_eq!(ids(&dir), ["a", "b", "c", "d"]);
}

#[test]
fn an_index_is_not_merged_to_itself() {
    let dir = shards();
    let service = Routes::with(&dir, |settings| settings.shard_dir = Some(dir.path(".")));
    let reply = service.post("/v1/merge", r#"{"shards": ["idx"]}"#);
    assert_eq!((reply.status, reply.code()), (400, "invalid_argument".into()), "{reply:?}");
    assert_eq!(service.post("/v1/merge", r#"{"shards": ["shards/one"]}"#).status, 200);
}
