//! Inputs that exceed a limit of length or memory, for every verb.

use std::fs;

use crate::common::run::{Dir, line};
use crate::common::words;
use serde_json::json;

#[test]
fn no_verb_reads_a_file_that_is_longer_than_its_limit() {
    // `compare`, `fingerprint` and standard input of `search` read files of any size: 2.2 GB took
    // 14.6 GB.
    let dir = Dir::new();
    let long = words(1, 30_000);
    assert!(long.len() > 100_000);
    dir.write("long.txt", &long);
    dir.write("short.txt", words(2, 60));
    dir.write("long.json", format!("{{\"fingerprints\": [{}", " ".repeat(100_000)));
    dir.write("idx.jsonl", line("a", &words(2, 60), json!({})));
    assert_eq!(dir.run(&["add", "idx", "idx.jsonl"]).status, 0);
    for (args, stdin) in [
        (&["compare", "long.txt", "short.txt"][..], ""),
        (&["compare", "short.txt", "long.txt"], ""),
        (&["compare", "-", "short.txt"], long.as_str()),
        (&["method", "fingerprint", "long.txt"], ""),
        (&["method", "fingerprint", "-"], &long),
        (&["search", "idx", "long.txt"], ""),
        (&["search", "idx", "-"], &long),
        (&["search", "idx", "--signature", "long.json"], ""),
        (&["pairs", "long.txt", "short.txt"], ""),
    ] {
        let args = [args, &["--max-record-bytes", "100kB"]].concat();
        let run = dir.run_with(&args, stdin.as_bytes());
        assert_eq!(run.status, 2, "{args:?}: {}", run.err);
        let said =
            "longer than 100000 bytes, the limit for a record; --max-record-bytes sets the limit";
        assert!(run.err.contains(said), "{args:?}: {}", run.err);
    }
    let run = dir.run(&["compare", "long.txt", "long.txt", "--max-record-bytes", "10MB"]);
    assert_eq!(run.status, 0, "{}", run.err);
}

#[test]
fn ids_to_remove_are_read_line_by_line() {
    // Regression: the whole file was held in memory.
    let dir = Dir::new();
    let ids = ["a", "b", "c"];
    let lines: String = ids.iter().map(|id| line(id, &words(3, 30), json!({}))).collect();
    dir.write("idx.jsonl", lines);
    assert_eq!(dir.run(&["add", "idx", "idx.jsonl"]).status, 0);
    dir.write("ids.txt", format!("a\n{}\nb\n", "x".repeat(2_000)));
    let run = dir.run(&["remove", "idx", "--from-file", "ids.txt"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("ids.txt:2: no id has more than 1024 bytes"), "{}", run.err);
    dir.write("ids.txt", b"a\n\xff\n");
    let run = dir.run(&["remove", "idx", "--from-file", "ids.txt"]);
    assert!(run.err.contains("ids.txt:2: it is not UTF-8"), "{}", run.err);
    // The refused run removed nothing, because an id could not be read.
    dir.write("ids.txt", "\u{feff}a\r\n\nnone\nb");
    let report = dir.json(&["remove", "idx", "c", "--from-file", "ids.txt"]);
    assert_eq!(report, json!({"removed": 3, "missing": ["none"]}));
}

#[test]
fn passages_and_sources_that_exceed_the_memory_are_left_out_and_counted() {
    // 10,000 hits with passages took 3.6 GB, and their report 6.9 GB, whatever the memory was to
    // be.
    let dir = Dir::new();
    let text = words(4, 200);
    let of = |i: u64| {
        line(&format!("{i}"), &format!("{text} {}", words(10 + i, 20 + i as usize)), json!({}))
    };
    dir.write("idx.jsonl", (0..20).map(of).collect::<String>());
    assert_eq!(dir.run(&["add", "idx", "idx.jsonl"]).status, 0);
    dir.write("query.txt", &text);
    let search = ["search", "idx", "query.txt", "--limit", "20", "--passages"];
    let as_json = ["--format", "json"];
    let all = dir.json(&search);
    let some = dir.run(&[&search[..], &as_json, &["--memory", "8kB"]].concat());
    assert_eq!(some.status, 0);
    let answer = some.json();
    let (all, some_hits) = (all["hits"].as_array().unwrap(), answer["hits"].as_array().unwrap());
    let with = some_hits.iter().take_while(|hit| hit.get("passages").is_some()).count();
    assert!((1..20).contains(&with), "{with}");
    assert_eq!(&all[..with], &some_hits[..with]);
    for (hit, whole) in some_hits[with..].iter().zip(&all[with..]) {
        assert_eq!((&hit["id"], &hit["passages"]), (&whole["id"], &json!(null)));
        assert_eq!(hit["passages_complete"], json!(false));
    }
    let said = format!("the passages of the last {} hits are left out", 20 - with);
    assert!(some.err.contains(&said) && some.err.contains("raise it"), "{}", some.err);
    // The report omits complete sources, because it shows their texts.
    let report = |memory: &str, name: &str| {
        let run =
            dir.run(&[&search[..], &as_json, &["--memory", memory, "--report", name]].concat());
        (
            run,
            serde_json::from_str(&fs::read_to_string(dir.path(name)).unwrap_or("{}".into()))
                .unwrap(),
        )
    };
    let (run, whole): (_, serde_json::Value) = report("100MB", "whole.json");
    assert_eq!((run.status, &*run.err), (0, ""));
    let sources =
        |report: &serde_json::Value| report["documents"][0]["sources"].as_array().unwrap().len();
    assert_eq!(sources(&whole), 20);
    let (run, part) = report("60kB", "part.json");
    assert!(run.err.contains("the report lacks the last"), "{}", run.err);
    assert!((1..20).contains(&sources(&part)), "{}", sources(&part));
    assert!(part["not_compared"][0]["reason"].as_str().unwrap().contains("raise it"), "{part}");
    let (run, none) = report("10kB", "none.json");
    assert!(run.err.contains("the report does not have it"), "{}", run.err);
    assert_eq!(none["documents"], json!([]));
}
