//! The real binary: merging shards with `cento merge`.

use serde_json::json;

use crate::common::run::{Dir, line};
use crate::common::words;

/// Indexes `s0` and `s1` with a document each, and `s2` with a different version of the second
/// document.
fn shards() -> Dir {
    let dir = Dir::new();
    for (shard, id, seed) in [("s0", "a", 1), ("s1", "b", 2), ("s2", "b", 3)] {
        dir.write("one.jsonl", line(id, &words(seed, 200), json!({ "from": shard })));
        dir.json(&["add", shard, "one.jsonl"]);
    }
    dir
}

#[test]
fn shards_are_merged_once_and_a_conflict_is_named() {
    let dir = shards();
    let run = dir.run(&["merge", "all", "s0", "s1"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.err.starts_with("merged 2 documents in 2 segments, "), "{}", run.err);
    let run = dir.run(&["merge", "all", "s0", "s1"]);
    assert!(run.err.contains("nothing to do"), "{}", run.err);
    assert_eq!(dir.json(&["merge", "all", "s0", "s1"])["known"], 2);
    dir.write("query.txt", words(2, 200));
    assert_eq!(dir.json(&["search", "all", "query.txt"])["hits"][0]["id"], "b");

    let run = dir.run(&["merge", "all", "s2"]);
    assert_eq!(run.status, 2);
    for part in ["the document `b` is in all and in s2", "--on-conflict later"] {
        assert!(run.err.contains(part), "{}", run.err);
    }
    let merged = dir.json(&["merge", "all", "s2", "--on-conflict", "later"]);
    assert_eq!((&merged["documents"], &merged["replaced"]), (&json!(1), &json!(1)));
    dir.write("query.txt", words(3, 200));
    assert_eq!(dir.json(&["search", "all", "query.txt"])["hits"][0]["meta"]["from"], "s2");
    assert_eq!(dir.json(&["stats", "all"])["documents"], 2);
    assert_eq!(dir.run(&["check", "all"]).status, 0);
}

#[test]
fn moved_shards_are_gone() {
    let dir = shards();
    let merged = dir.json(&["merge", "all", "s0", "s1", "--move"]);
    assert_eq!((&merged["removed"], &merged["documents"]), (&json!(2), &json!(2)));
    assert!(!dir.path("s0").exists() && !dir.path("s1").exists());
    assert_eq!(dir.run(&["check", "all"]).status, 0);
    let run = dir.run(&["merge", "all", "s0"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("s0 does not exist"), "{}", run.err);
}

#[test]
fn an_index_that_signs_otherwise_is_refused() {
    let dir = shards();
    dir.run(&["create", "other", "--scheme", "kgram(k=5)"]);
    let run = dir.run(&["merge", "all", "s0", "other"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("kgram(k=5)") && run.err.contains("winnow"), "{}", run.err);
    assert!(!dir.path("all").exists());
}

#[test]
fn several_indexes_are_searched_as_one() {
    let dir = shards();
    dir.write("query.txt", format!("{} {}", words(1, 100), words(2, 100)));
    dir.json(&["merge", "all", "s0", "s1"]);
    let merged = dir.json(&["search", "all", "query.txt"]);
    let mut union = dir.json(&["search", "s0", "s1", "query.txt"]);
    assert_eq!(union["hits"].as_array().unwrap().len(), 2);
    for hit in union["hits"].as_array_mut().unwrap() {
        let index = hit.as_object_mut().unwrap().remove("index");
        assert_eq!(index, Some(json!(if hit["id"] == "a" { "s0" } else { "s1" })));
    }
    assert_eq!(union["hits"], merged["hits"]);
    let run = dir.run(&["search", "s1", "s2", "--id", "b"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("is in s1 and in s2"), "{}", run.err);
    let run = dir.run(&["search", "s0", "s1", "query.txt"]);
    assert!(run.out.contains("a in s0") && run.out.contains("b in s1"), "{}", run.out);

    dir.write("copy.jsonl", line("c", &words(1, 200), json!({})));
    dir.json(&["add", "s3", "copy.jsonl"]);
    let pair = dir.json(&["pairs", "s0", "s1", "s3"]);
    let sides = [(&pair["a"], &pair["index_a"]), (&pair["b"], &pair["index_b"])];
    assert_eq!(sides, [(&json!("a"), &json!("s0")), (&json!("c"), &json!("s3"))]);
    dir.run(&["create", "other", "--scheme", "kgram(k=5)"]);
    let run = dir.run(&["pairs", "s0", "other"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("kgram(k=5)"), "{}", run.err);
}
