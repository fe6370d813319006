//! The real binary: `cento serve --follow`.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::common::run::{Dir, line};
use crate::common::service::Service;
use crate::common::{wait_until, words};

const DOCUMENTS: u64 = 4;

/// Replaces every document of the index `all` by documents of a generation, which share a text, and
/// pushes.
fn push(dir: &Dir, generation: u64, compact: bool) {
    let lines: Vec<String> = (0..DOCUMENTS)
        .map(|number| {
            let text = format!("{} {}", words(7, 60), words(100 + number, 60));
            line(&number.to_string(), &text, json!({ "generation": generation }))
        })
        .collect();
    dir.write("new.jsonl", lines.concat());
    dir.json(&["add", "all", "new.jsonl"]);
    if compact {
        dir.json(&["compact", "all"]);
    }
    dir.json(&["store", "push", "all", "store"]);
}

/// Serves a copy in `idx`.
fn follow(dir: &Dir, args: &[&str]) -> Service {
    Service::start(dir, &[&["--follow", "store", "--follow-interval", "10ms"], args].concat())
}

/// The generation of the hits for the shared text.
fn generation(service: &Service) -> u64 {
    let body = json!({"text": words(7, 60), "limit": 10}).to_string();
    let reply = service.post("/v1/search", &body);
    assert_eq!(reply.status, 200, "{reply:?}");
    let answer: Value = serde_json::from_str(&reply.body).unwrap();
    let hits = answer["hits"].as_array().unwrap();
    let generations: Vec<u64> =
        hits.iter().map(|hit| hit["meta"]["generation"].as_u64().unwrap()).collect();
    assert_eq!(generations.len() as u64, DOCUMENTS, "{answer}");
    assert!(generations.iter().all(|other| *other == generations[0]), "mixed: {generations:?}");
    generations[0]
}

fn following(service: &Service) -> Value {
    let body = service.ask("GET", "/healthz", "", "").body;
    serde_json::from_str::<Value>(&body).unwrap()["following"].clone()
}

fn serves(service: &Service, manifest: u64) -> bool {
    following(service)["manifest"] == manifest
}

/// The copies held by a follower.
fn copies(dir: &Dir) -> Vec<String> {
    let entries = fs::read_dir(dir.path("idx")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    names
}

#[test]
fn a_follower_switches_between_whole_commits_without_failing_a_request() {
    let dir = Dir::new();
    push(&dir, 1, false);
    let service = follow(&dir, &[]);
    assert_eq!(generation(&service), 1);
    let (is_done, answers) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut last = 0;
                while !is_done.load(Ordering::Relaxed) {
                    let now = generation(&service);
                    assert!(now >= last, "{now} came after {last}");
                    last = now;
                    answers.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for commit in 2..8 {
            push(&dir, commit, commit % 2 == 0);
            wait_until("the new commit", || serves(&service, commit));
            assert_eq!(generation(&service), commit);
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert!(answers.load(Ordering::Relaxed) > 0);
    wait_until("one copy", || copies(&dir) == ["00000000000000000007"]);
    assert_eq!(service.metric("cento_manifest"), 7.0);
    assert_eq!(service.metric("cento_manifest_newest"), 7.0);
    assert_eq!(service.metric("cento_follow_lag_seconds"), 0.0);
    assert_eq!(following(&service)["lag_ms"], 0);
    assert!(service.stop());
}

#[test]
fn writes_are_refused_and_say_why() {
    let dir = Dir::new();
    push(&dir, 1, false);
    let service = follow(&dir, &[]);
    for (path, body) in [
        ("/v1/documents", r#"{"id": "x", "text": "y"}"#),
        ("/v1/remove", r#"{"ids": ["0"]}"#),
        ("/v1/commit", "{}"),
        ("/v1/compact", "{}"),
    ] {
        let reply = service.post(path, body);
        assert_eq!((reply.status, reply.code()), (403, "read_only".into()), "{path}");
        assert!(reply.body.contains("written elsewhere"), "{}", reply.body);
    }
    assert_eq!(generation(&service), 1);
}

#[test]
fn a_follower_serves_its_copy_while_the_store_is_away() {
    let dir = Dir::new();
    push(&dir, 1, false);
    assert!(follow(&dir, &[]).stop());
    fs::rename(dir.path("store"), dir.path("away")).unwrap();
    let service = follow(&dir, &[]);
    assert_eq!(generation(&service), 1);
    fs::rename(dir.path("away"), dir.path("store")).unwrap();
    push(&dir, 2, false);
    wait_until("the new commit", || serves(&service, 2));
    assert_eq!(generation(&service), 2);
    // A second process, or a different store, cannot use the same copies.
    let run = dir.run(&["serve", "idx", "--listen", "127.0.0.1:0", "--follow", "store"]);
    assert_eq!(run.status, 2);
    assert!(service.stop());
    let run = dir.run(&["serve", "idx", "--listen", "127.0.0.1:0", "--follow", "other"]);
    assert!(run.err.contains("another store"), "{}", run.err);
    let run = dir.run(&["serve", "all", "--listen", "127.0.0.1:0", "--follow", "store"]);
    assert!(run.err.contains("a directory of its own"), "{}", run.err);
}

#[test]
fn a_store_that_was_emptied_and_started_again_is_noticed() {
    let dir = Dir::new();
    push(&dir, 1, false);
    push(&dir, 2, false);
    let service = follow(&dir, &["--max-lag", "1s"]);
    assert_eq!(generation(&service), 2);
    wait_until("a ready service", || service.ask("GET", "/readyz", "", "").status == 200);
    let noticed = |restarted: bool| following(&service)["restarted"] == restarted;
    fs::rename(dir.path("store"), dir.path("emptied")).unwrap();
    wait_until("the empty store", || noticed(true));
    assert_eq!(following(&service)["newest"], 0);
    assert_eq!(service.metric("cento_store_restarted"), 1.0);
    wait_until("a service that is not ready", || {
        service.ask("GET", "/readyz", "", "").status == 503
    });
    // A different index with fewer, equally many, or more manifests never counts as a later
    // version.
    for (generation, manifest) in [(7, 1), (8, 2), (9, 3)] {
        if manifest == 1 {
            fs::rename(dir.path("all"), dir.path("first")).unwrap();
        }
        push(&dir, generation, false);
        wait_until("the other store", || following(&service)["newest"] == manifest);
        assert!(noticed(true), "{}", following(&service));
        assert_eq!(self::generation(&service), 2);
    }
    // What comes back is followed again.
    fs::rename(dir.path("store"), dir.path("other")).unwrap();
    fs::rename(dir.path("emptied"), dir.path("store")).unwrap();
    wait_until("the first store", || noticed(false));
    fs::remove_dir_all(dir.path("all")).unwrap();
    fs::rename(dir.path("first"), dir.path("all")).unwrap();
    push(&dir, 3, false);
    wait_until("the new commit", || serves(&service, 3));
    assert_eq!(generation(&service), 3);
    assert!(service.stop());
    // A newly started follower serves the different index.
    fs::rename(dir.path("store"), dir.path("emptied")).unwrap();
    fs::rename(dir.path("other"), dir.path("store")).unwrap();
    let service = follow(&dir, &[]);
    wait_until("the other store", || following(&service)["restarted"] == true);
    assert_eq!(generation(&service), 3);
    assert!(service.stop());
    fs::remove_dir_all(dir.path("idx")).unwrap();
    let service = follow(&dir, &[]);
    assert_eq!((generation(&service), &following(&service)["restarted"]), (9, &json!(false)));
}

/// The largest part of a file that was pushed since manifest `since`.
fn largest_part(dir: &Dir, since: u64) -> PathBuf {
    let entries = fs::read_dir(dir.path("store/data")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_of = |path: &PathBuf| path.to_string_lossy().contains(&format!("/data/{since:020}-"));
    paths.filter(is_of).max_by_key(|path| path.metadata().unwrap().len()).unwrap()
}

#[test]
fn a_damaged_push_is_not_served_and_a_mended_one_is() {
    let dir = Dir::new();
    push(&dir, 1, false);
    let service = follow(&dir, &[]);
    let manifests = dir.path("store/manifests");
    push(&dir, 2, false);
    wait_until("the second", || serves(&service, 2));
    push(&dir, 3, false);
    wait_until("the third", || serves(&service, 3));
    assert!(service.stop());
    // Without a copy, the follower fetches everything.
    fs::remove_dir_all(dir.path("idx")).unwrap();
    let part = largest_part(&dir, 2);
    let whole = fs::read(&part).unwrap();
    fs::write(&part, &whole[..whole.len() / 2]).unwrap();
    let run = dir.run(&["serve", "idx", "--listen", "127.0.0.1:0", "--follow", "store"]);
    assert_eq!(run.status, 2);
    let name = part.file_name().unwrap().to_string_lossy().into_owned();
    assert!(run.err.contains(&name), "{}", run.err);
    // With the copy of the second manifest, the follower continues from there.
    let third = manifests.join("00000000000000000003.json");
    fs::rename(&third, dir.path("third.json")).unwrap();
    let service = follow(&dir, &["--max-lag", "1ms"]);
    assert_eq!(generation(&service), 2);
    fs::rename(dir.path("third.json"), &third).unwrap();
    wait_until("a failure", || service.metric("cento_follow_failures_total") > 0.0);
    assert_eq!(generation(&service), 2);
    assert_eq!(following(&service)["newest"], 3);
    wait_until("the service not to be ready", || {
        service.ask("GET", "/readyz", "", "").status == 503
    });
    fs::write(&part, &whole).unwrap();
    wait_until("the mended push", || serves(&service, 3));
    assert_eq!(generation(&service), 3);
    assert_eq!(service.ask("GET", "/healthz", "", "").status, 200);
}

#[test]
fn a_copy_takes_no_more_space_than_it_may() {
    let dir = Dir::new();
    push(&dir, 1, false);
    let run = dir.run(&[
        "serve",
        "idx",
        "--listen",
        "127.0.0.1:0",
        "--follow",
        "store",
        "--cache-size",
        "1k",
    ]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("the cache may have"), "{}", run.err);
    // The cache has room for the first copy, but not for two copies.
    let bytes = dir.json(&["store", "history", "store"])["bytes"].as_u64().unwrap();
    let service = follow(&dir, &["--cache-size", &(bytes + 100).to_string()]);
    push(&dir, 2, true);
    wait_until("a failure", || service.metric("cento_follow_failures_total") > 0.0);
    assert_eq!((generation(&service), &following(&service)["newest"]), (1, &json!(2)));
}
