//! The real binary: which of several duplicates stays.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::common::run::Dir;
use crate::common::words;

/// Three versions of several texts, from two sources, with dates and scores in an unrelated order.
fn versions(count: u64) -> String {
    let version = |i: u64, id: &str, cut: usize, (source, date, score): (&str, String, f64)| {
        let text = words(i, 60);
        let text: Vec<&str> = text.split(' ').take(60 - cut).collect();
        let text = text.join(" ");
        let fields = json!({
            "id": format!("{id}{i}"), "source": source, "date": date, "score": score, "text": text,
        });
        format!("{fields}\n")
    };
    let three = |i: u64| {
        [
            version(i, "short", 3, ("crawl", format!("2024-01-{:02}", i % 28 + 1), 0.2)),
            version(i, "long", 0, ("crawl", format!("2025-01-{:02}", i % 28 + 1), 0.9)),
            version(i, "other", 1, ("books", format!("2020-01-{:02}", i % 28 + 1), 0.5)),
        ]
    };
    (0..count).flat_map(three).collect()
}

fn ids(dir: &Dir, name: &str) -> Vec<String> {
    let text = fs::read_to_string(dir.path(name)).unwrap();
    let id = |line: &str| {
        let record: Value = serde_json::from_str(line).unwrap();
        record["id"].as_str().unwrap().to_owned()
    };
    text.lines().map(id).collect()
}

#[test]
fn the_preferred_duplicate_stays_as_in_clusters() {
    let dir = Dir::new();
    dir.write("in.jsonl", versions(4));
    let fields = ["--meta-field", "source", "--meta-field", "date", "--meta-field", "score"];
    dir.json(&[&["add", "x.idx", "in.jsonl"], &fields[..]].concat());
    for (prefer, kept) in
        [("longest", "long"), ("-date", "long"), ("date", "other"), ("score", "short")]
    {
        let (out, list) = (format!("by{prefer}"), format!("by{prefer}.list"));
        let args = ["dedup", "in.jsonl", "--prefer", prefer, "--out", &out, "--dropped", &list];
        let summary = dir.json(&args);
        assert_eq!((&summary["kept"], &summary["near"]), (&json!(4), &json!(8)), "{summary}");
        let found: BTreeSet<String> = ids(&dir, &out).into_iter().collect();
        assert_eq!(found, (0..4).map(|i| format!("{kept}{i}")).collect(), "{prefer}");
        let clusters = dir.run(&[
            "cluster",
            "x.idx",
            "--min-resemblance",
            "0.8",
            "--prefer",
            prefer,
            "--format",
            "json",
        ]);
        let representatives = clusters.out.lines().map(|line| {
            let cluster: Value = serde_json::from_str(line).unwrap();
            cluster["representative"].as_str().unwrap().to_owned()
        });
        assert_eq!(found, representatives.collect(), "{prefer}");
        // The list says what stays instead.
        let dropped = fs::read_to_string(dir.path(&list)).unwrap();
        assert_eq!(dropped.matches(&format!("\"of\":\"{kept}")).count(), 8, "{dropped}");
    }
    let best: Vec<String> = ids(&dir, "by-date");
    assert_eq!(best, ["long3", "long2", "long1", "long0"], "the most preferred is first");
}

#[test]
fn no_document_of_a_group_is_kept_on_request() {
    let dir = Dir::new();
    // `x` and `y` resemble only `z`, the middle of the chain.
    let all: Vec<String> = words(9, 165).split(' ').map(String::from).collect();
    let chain = [("x", 0..150), ("z", 10..155), ("y", 22..165)]
        .map(|(id, range)| format!("{}\n", json!({"id": id, "text": all[range].join(" ")})));
    let alone = |id: &str, seed| format!("{}\n", json!({"id": id, "text": words(seed, 50)}));
    let lines = [alone("q", 70), versions(2), chain.concat(), alone("r", 71)].concat();
    let turned: String = lines.lines().rev().map(|line| format!("{line}\n")).collect();
    dir.write("in.jsonl", &lines);
    dir.write("turned.jsonl", turned);
    let none = |input: &str, out: &str, more: &[&str]| {
        let args = ["dedup", input, "--prefer", "none", "--out", out, "--dropped"];
        let summary = dir.json(&[&args[..], &[&format!("{out}.list")], more].concat());
        (ids(&dir, out), summary)
    };
    let (kept, summary) = none("in.jsonl", "a", &[]);
    assert_eq!((kept, &summary["near"]), (vec!["q".into(), "r".into()], &json!(9)), "{summary}");
    assert_eq!(none("turned.jsonl", "b", &[]).0, ["r", "q"]);
    // The memory of a run decides nothing.
    assert_eq!(none("in.jsonl", "c", &["--memory", "1MiB", "--threads", "1"]).0, ["q", "r"]);
    let list = fs::read_to_string(dir.path("a.list")).unwrap();
    assert!(list.contains(r#"{"id":"x","verdict":"near","of":"z""#), "{list}");
    // No two texts are the same.
    assert_eq!(none("in.jsonl", "d", &["--exact"]).1["kept"], 11);
    for args in [
        &["dedup", "in.jsonl", "--prefer", "none", "--index", "x.idx"][..],
        &["dedup", "in.jsonl", "--prefer", "none", "--cut-passages", "9"],
        &["cluster", "in.jsonl", "--prefer", "none"],
    ] {
        let run = dir.run(args);
        assert!(run.status == 2 && run.err.contains("none"), "{args:?}: {}", run.err);
    }
    assert!(!dir.path("x.idx").exists());
}

#[test]
fn records_are_kept_byte_for_byte_and_numbers_of_tables_are_numbers() {
    let dir = Dir::new();
    let text = words(1, 40);
    dir.write("in.csv", format!("id,score,text\na,9,{text}\nb,10.50,{text}\nc,,{text}\n"));
    dir.json(&["dedup", "in.csv", "--prefer", "-score", "--out", "out.csv", "--dropped", "list"]);
    let out = fs::read_to_string(dir.path("out.csv")).unwrap();
    assert_eq!(out, format!("id,score,text\nb,10.50,{text}\n"));
    let record = format!("{{\"text\":  \"{text}\", \"n\":1.0, \"id\":\"z\",\"x\":1e999 }}\n");
    dir.write("in.jsonl", format!("{{\"id\":\"a\",\"n\":2,\"text\":\"{text}\"}}\n{record}"));
    dir.json(&["dedup", "in.jsonl", "--prefer", "n", "--out", "out.jsonl", "--dropped", "list2"]);
    assert_eq!(fs::read_to_string(dir.path("out.jsonl")).unwrap(), record);
}

#[test]
fn duplicates_are_dropped_within_a_group_or_across_groups() {
    let dir = Dir::new();
    dir.write("in.jsonl", versions(3));
    let kept = |name: &str, args: &[&str]| {
        let call = ["dedup", "in.jsonl", "--out", name, "--dropped"];
        let list = format!("{name}.list");
        dir.json(&[&call[..], &[&list], args].concat());
        ids(&dir, name)
    };
    let each = |names: &[&str]| -> Vec<String> {
        (0..3).flat_map(|i| names.iter().map(move |name| format!("{name}{i}"))).collect()
    };
    assert_eq!(kept("within", &["--within", "source"]), each(&["short", "other"]));
    assert_eq!(kept("across", &["--group-by", "source"]), each(&["short", "long"]));
    let mut best = kept("best", &["--within", "source", "--prefer", "longest"]);
    best.sort_unstable();
    let mut expected = each(&["long", "other"]);
    expected.sort_unstable();
    assert_eq!(best, expected);
    // Groups survive commits, and a later run knows the groups of earlier runs.
    let small = ["--within", "source", "--index", "x.idx", "--memory", "1MiB"];
    assert_eq!(kept("stored", &small), each(&["short", "other"]));
    let again = dir.json(&[
        "dedup",
        "in.jsonl",
        "--index",
        "x.idx",
        "--within",
        "source",
        "--out",
        "2",
        "--dropped",
        "2.list",
    ]);
    assert_eq!((&again["unchanged"], &again["near"]), (&json!(6), &json!(3)), "{again}");
    // Equal texts of different groups are not copies.
    let text = words(9, 40);
    let line = |id: &str, of: &str| format!("{}\n", json!({"id": id, "text": text, "of": of}));
    dir.write("same.jsonl", [line("x/1", "x"), line("y/2", "y"), line("x/3", "x")].concat());
    let same = ["dedup", "same.jsonl", "--exact", "--within"];
    dir.json(&[&same[..], &["of", "--out", "s", "--dropped", "s.list"]].concat());
    assert_eq!(ids(&dir, "s"), ["x/1", "y/2"]);
    // A pattern of ids gives the same groups.
    dir.json(&[&same[..], &["{of}/{*}", "--out", "t", "--dropped", "t.list"]].concat());
    assert_eq!(ids(&dir, "t"), ["x/1", "y/2"]);
}

#[test]
fn a_choice_by_a_field_that_no_record_has_is_refused() {
    let dir = Dir::new();
    dir.write("in.jsonl", versions(2));
    for (args, what) in [
        (&["--prefer", "dat"][..], "no document has the field `dat`"),
        (&["--within", "sourec"], "no document has the field `sourec`"),
        (&["--prefer", "date", "--out", "dir/"], "--prefer"),
        (&["--within", "a", "--group-by", "b"], "cannot be used with"),
    ] {
        let run = dir.run(&[&["dedup", "in.jsonl"], args].concat());
        assert_eq!(run.status, 2, "{args:?}: {}", run.err);
        assert!(run.err.contains(what), "{args:?}: {}", run.err);
    }
    // Once the message was "no document has any `meta`", although each record had the field.
    dir.write(
        "flat.jsonl",
        "{\"id\":\"a\",\"text\":\"one two\",\"series\":1,\"of\":{\"rev\":2}}\n",
    );
    for option in ["--within", "--group-by"] {
        let run = dir.run(&["dedup", "flat.jsonl", option, "serie"]);
        let said =
            "`serie` (did you mean `series`?); the fields there are `id`, `of.rev`, `series`";
        assert!(run.status == 2 && run.err.contains(said), "{}", run.err);
    }
    let run = dir.run(&["dedup", "flat.jsonl", "--prefer", "of.rew"]);
    assert!(run.err.contains("(did you mean `of.rev`?)"), "{}", run.err);
    // A refused run leaves nothing that looks like an interrupted run.
    let args = ["dedup", "in.jsonl", "--index", "x.idx", "--out", "out", "--prefer"];
    assert_eq!(dir.run(&[&args[..], &["dat"]].concat()).status, 2);
    assert!(!dir.path("out").exists());
    dir.json(&[&args[..], &["date", "--dropped", "list"]].concat());
}

#[test]
fn a_run_by_preference_goes_on_to_the_same_end() {
    let dir = Dir::new();
    dir.write("in.jsonl", versions(1500));
    let options = ["--prefer", "-date", "--within", "source", "--memory", "1MiB"];
    let whole = ["dedup", "in.jsonl", "--out", "whole", "--dropped", "whole.list", "--index", "a"];
    let summary = dir.json(&[&whole[..], &["--threads", "1"], &options].concat());
    assert_eq!(summary["kept"], json!(3000), "{summary}");
    let args = ["dedup", "in.jsonl", "--out", "out", "--dropped", "list", "--index", "b"];
    let args = [&args[..], &options, &["--threads", "3"]].concat();
    for (attempt, point) in ["commit:2", "document:900"].into_iter().enumerate() {
        let resume: &[&str] = if attempt == 0 { &[] } else { &["--resume"] };
        dir.paused(point, &[&args[..], resume].concat()).kill();
    }
    assert_eq!(dir.json(&[&args[..], &["--resume"]].concat()), summary);
    for (whole, resumed) in [("whole", "out"), ("whole.list", "list")] {
        assert!(fs::read(dir.path(whole)).unwrap() == fs::read(dir.path(resumed)).unwrap());
    }
}
