//! The real binary: `cento list`, `show` and `export`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::common::run::{Dir, Run, line};
use crate::common::service::Service;
use crate::common::words;

/// The lines of an output, as JSON.
fn lines(run: &Run) -> Vec<Value> {
    run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Documents in several segments. A document was removed and a document was replaced.
fn index() -> Dir {
    let dir = Dir::new();
    for (id, seed) in [("a", 1), ("b", 2), ("c", 3), ("b", 4)] {
        let lang = if seed % 2 == 0 { "de" } else { "en" };
        dir.write("one.jsonl", line(id, &words(seed, 60), json!({"lang": lang})));
        dir.json(&["add", "idx", "one.jsonl"]);
    }
    dir.json(&["remove", "idx", "c"]);
    dir.write("in/d.txt", words(5, 60));
    dir.json(&["add", "idx", "in"]);
    dir
}

/// The documents of an index by id, without the time of addition.
fn exported(dir: &Dir, index: &str) -> BTreeMap<String, Value> {
    let documents = lines(&dir.run(&["export", index])).into_iter().map(|mut document| {
        assert!(document["added"].as_str().unwrap().ends_with('Z'), "{document}");
        document.as_object_mut().unwrap().remove("added");
        (document["id"].as_str().unwrap().to_owned(), document)
    });
    documents.collect()
}

#[test]
fn a_document_with_parts_is_one_document_and_its_passages_name_the_part() {
    let dir = Dir::new();
    let part = |name: &str, text: &str| json!({"name": name, "text": text});
    let ann = [part("Main.java", &words(1, 60)), part("src/Tree.java", &words(2, 60))];
    // The second file is copied below a new first line.
    let ben = [part("Main.java", &words(3, 60)), part("T.java", &format!("own\n{}", words(2, 60)))];
    let record = |id: &str, parts: &[Value]| json!({"id": id, "parts": parts}).to_string() + "\n";
    dir.write("in.jsonl", record("ann", &ann) + &record("ben", &ben));
    assert_eq!(dir.json(&["add", "idx", "in.jsonl"])["added"], 2);
    assert_eq!(dir.json(&["add", "idx", "in.jsonl"])["unchanged"], 2);
    assert_eq!(dir.json(&["stats", "idx"])["documents"], 2);
    let listed = lines(&dir.run(&["list", "idx", "--format", "json"]));
    assert_eq!(listed.iter().map(|listed| &listed["parts"]).collect::<Vec<_>>(), [2, 2]);

    let shown = dir.run(&["show", "idx", "ben"]).out;
    assert!(shown.contains("\n--- T.java\nown\n"), "{shown}");
    let shown = dir.json(&["show", "idx", "ann"]);
    assert_eq!(shown["part_names"], json!(["Main.java", "src/Tree.java"]));

    let found = lines(&dir.passages(&["--format", "json"]));
    assert_eq!(found.len(), 1, "{found:?}");
    let place = |name: &str| &found[0][name];
    assert_eq!([place("a_part"), place("b_part")], ["src/Tree.java", "T.java"]);
    assert_eq!((place("a_line"), place("b_line")), (&Value::Null, &json!(2)));
    let human = dir.run(&["search", "idx", "--id", "ann", "--passages"]).out;
    assert!(human.contains(" in src/Tree.java, bytes "), "{human}");
    assert!(human.contains(" \u{2194} in T.java, line 2:"), "{human}");

    let before = exported(&dir, "idx");
    assert_eq!((&before["ben"]["parts"], before["ben"].get("text")), (&json!(ben), None));
    dir.write("all.jsonl", dir.run(&["export", "idx"]).out);
    assert_eq!(dir.json(&["add", "new", "all.jsonl"])["added"], 2);
    assert_eq!(exported(&dir, "new"), before);

    // The same text in a different file is a new version.
    let moved = [ann[0].clone(), part("src/Bush.java", &words(2, 60))];
    dir.write("moved.jsonl", record("ann", &moved));
    assert_eq!(dir.json(&["add", "idx", "moved.jsonl"])["replaced"], 1);
    dir.json(&["remove", "idx", "ann"]);
    assert_eq!(exported(&dir, "idx").into_keys().collect::<Vec<_>>(), ["ben"]);
    dir.write("bad.jsonl", record("eve", &[part("a", ""), part("a", "")]));
    let run = dir.run(&["add", "idx", "bad.jsonl"]);
    assert!(run.err.contains("bad.jsonl") && run.err.contains("two of its parts"), "{}", run.err);
}

#[test]
fn parts_without_texts_are_named_whatever_way_they_were_added() {
    // Only `add` to a directory recorded where parts begin.
    let dir = Dir::new();
    for (student, seed) in [("ann", 1), ("ben", 3)] {
        dir.write(&format!("class/{student}/a.txt"), words(seed, 60));
        dir.write(&format!("class/{student}/b.txt"), words(2, 60));
    }
    let is_named = |index: &str| {
        let args = ["search", index, "--id", "class/ann", "--passages"];
        let found = dir.json(&args);
        let passage = &found["hits"][0]["passages"][0];
        assert_eq!((&passage["a_part"], &passage["b_part"]), (&json!("b.txt"), &json!("b.txt")));
    };
    for index in ["added", "compared", "idx"] {
        assert_eq!(dir.run(&["create", index, "--no-text"]).status, 0);
    }
    dir.json(&["add", "added", "class", "--by", "directory"]);
    is_named("added");
    dir.run(&["pairs", "class", "--by", "directory", "--against", "compared", "--add"]);
    is_named("compared");
    let service = Service::start(&dir, &[]);
    let url = service.url.clone();
    assert_eq!(dir.json(&["add", "--url", &url, "class", "--by", "directory"])["added"], 2);
    assert!(service.stop());
    is_named("idx");
}

#[test]
fn reports_name_the_parts_of_passages_with_their_lines() {
    let dir = Dir::new();
    // Ben's second file is Ann's second, after a line of his own.
    for (path, text) in [
        ("class/ann/a.txt", words(1, 60)),
        ("class/ann/b.txt", words(2, 60)),
        ("class/ben/a.txt", words(3, 60)),
        ("class/ben/c.txt", format!("own\n{}", words(2, 60))),
    ] {
        dir.write(path, text + "\n");
    }
    let check = |args: &[&str], heading: &str, places: [&str; 2]| {
        let reports = ["--report", "r.html", "--report", "r.json", "--report", "r.csv"];
        let run = dir.run(&[args, &reports].concat());
        assert_eq!(run.status, 0, "{}", run.err);
        let html = std::fs::read_to_string(dir.path("r.html")).unwrap();
        assert_eq!(html.contains("<span class=\"part\">"), !heading.is_empty(), "{html}");
        assert!(html.contains(heading), "{html}");
        for place in places {
            assert!(html.contains(place), "{place}: {html}");
        }
        let json: Value =
            serde_json::from_slice(&std::fs::read(dir.path("r.json")).unwrap()).unwrap();
        let found = json.pointer("/pairs/0/passages/0");
        let found = found.or(json.pointer("/documents/0/sources/0/passages/0")).unwrap();
        assert_eq!((&found["part"], &found["source_part"]), (&json!("b.txt"), &json!("c.txt")));
        assert_eq!(found["source_line"], 2);
        let csv = std::fs::read_to_string(dir.path("r.csv")).unwrap();
        assert!(csv.contains(r#"{""part"":""b.txt"",""source_part"":""c.txt"",""#), "{csv}");
    };
    let places = ["class/ann</bdi>, <bdi>b.txt</bdi>", "class/ben</bdi>, <bdi>c.txt</bdi>, line 2"];
    check(&["pairs", "class", "--by", "directory"], "", places);
    dir.json(&["add", "idx", "class", "--by", "directory"]);
    let places =
        ["This document</bdi>, <bdi>b.txt</bdi>", "Source</bdi>, <bdi>c.txt</bdi>, line 2"];
    let heading = "<span class=\"part\">b.txt</span>";
    check(&["search", "idx", "--id", "class/ann"], heading, places);
}

#[test]
fn a_document_with_parts_that_is_cut_keeps_them() {
    let dir = Dir::new();
    let part = |name: &str, text: &str| json!({"name": name, "text": text});
    let own = words(2, 40);
    // The copied words are in two files.
    let a = format!("six own words of this part {}", words(3, 60));
    let parts = json!([part("a.txt", &a), part("b.txt", &format!("{} {own}", words(4, 60)))]);
    let old = line("old", &format!("{} {}", words(3, 60), words(4, 60)), json!({}));
    let record = json!({"z": 1.5, "id": "new", "parts": parts}).to_string() + "\n";
    let expected = json!([part("a.txt", "six own words of this part"), part("b.txt", &own)]);
    let check = |file: &str| {
        let all = std::fs::read_to_string(dir.path(file)).unwrap();
        let mut records = all.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let cut = records.find(|record| record["id"] == "new").unwrap();
        assert_eq!((&cut["parts"], cut.get("text")), (&expected, None), "{all}");
        assert_eq!(cut["z"], 1.5);
    };
    dir.write("in.jsonl", old.clone() + &record);
    let args =
        ["dedup", "in.jsonl", "--cut-passages", "20", "--out", "out.jsonl", "--dropped", "d"];
    assert_eq!(dir.json(&args)["cut"], 1);
    check("out.jsonl");

    dir.write("old.jsonl", &old);
    dir.json(&["add", "idx", "old.jsonl"]);
    dir.write("files.jsonl", record);
    let args = ["dedup", "files.jsonl", "--against", "idx", "--only-against"];
    let args = [&args[..], &["--cut-passages", "20", "--out", "rest.jsonl"]].concat();
    assert_eq!(dir.json(&args)["cut"], 1);
    check("rest.jsonl");
}

#[test]
fn an_export_is_added_to_an_equal_index() {
    let dir = index();
    let before = exported(&dir, "idx");
    assert_eq!(before.keys().collect::<Vec<_>>(), ["a", "b", "in/d.txt"]);
    assert_eq!(before["b"]["text"], words(4, 60));
    assert!(before["in/d.txt"]["id_place"].is_u64());
    dir.write("all.jsonl", dir.run(&["export", "idx"]).out);
    assert_eq!(dir.json(&["add", "new", "all.jsonl"])["added"], 3);
    assert_eq!(exported(&dir, "new"), before);
    // Adding the original file again recognizes the document.
    assert_eq!(dir.json(&["add", "new", "in"])["unchanged"], 1);
    let some = lines(&dir.run(&["export", "idx", "--filter", "meta.lang:de"]));
    assert_eq!((some.len(), &some[0]["id"]), (1, &json!("b")));
    let run = dir.run(&["export", "idx", "--filter", "meta.lang:fr"]);
    assert_eq!((run.status, run.out.as_str()), (1, ""));
    dir.json(&["add", "--no-text", "bare", "all.jsonl"]);
    let run = dir.run(&["export", "bare"]);
    assert!(run.status == 2 && run.err.contains("stores no texts"), "{}", run.err);
}

#[test]
fn an_export_has_the_order_of_addition_and_names_the_withdrawals_that_it_lacks() {
    // Regression: segments have no order, so the order of an export differed between indexes.
    let dir = Dir::new();
    let names = ["h", "b", "g", "c", "f", "d", "e", "a"];
    for (seed, name) in (10..).zip(names) {
        dir.write("one.jsonl", line(name, &words(seed, 60), json!({})));
        dir.json(&["add", "idx", "one.jsonl"]);
    }
    let exported = |index: &str| {
        let run = dir.run(&["export", index]);
        let id = |document: Value| document["id"].as_str().unwrap().to_owned();
        (lines(&run).into_iter().map(id).collect::<Vec<_>>(), run)
    };
    let (ids, run) = exported("idx");
    assert_eq!((ids, run.err.as_str()), (names.map(str::to_owned).to_vec(), ""));
    // `g` has a new text, and therefore was added last.
    dir.write("one.jsonl", line("g", &words(40, 60), json!({})));
    assert_eq!(dir.json(&["add", "idx", "one.jsonl"])["replaced"], 1);
    dir.json(&["withdraw", "idx", "c"]);
    let expected = ["h", "b", "f", "d", "e", "a", "g"];
    let (ids, run) = exported("idx");
    assert_eq!(ids, expected);
    assert!(run.err.contains("idx: 1 withdrawal is not in the export"), "{}", run.err);
    dir.json(&["compact", "idx"]);
    let (ids, run) = exported("idx");
    assert_eq!(ids, expected);
    dir.write("all.jsonl", run.out);
    assert_eq!(dir.json(&["add", "new", "all.jsonl"])["added"], 7);
    let (ids, run) = exported("new");
    assert_eq!((&*ids, run.err.as_str()), (&expected.map(str::to_owned)[..], ""));
    // As the message says.
    dir.write("one.jsonl", line("c", &words(13, 60), json!({})));
    assert_eq!(dir.run(&["add", "idx", "one.jsonl"]).status, 2);
    assert_eq!(dir.json(&["add", "new", "one.jsonl"])["added"], 1);
}

#[test]
fn documents_are_listed_and_shown() {
    let dir = index();
    let listed = lines(&dir.run(&["list", "idx", "--format", "json"]));
    assert_eq!(listed.len(), 3);
    let a = listed.iter().find(|listed| listed["id"] == "a").unwrap();
    assert_eq!((&a["tokens"], &a["meta"]), (&json!(60), &json!({"lang": "en"})));
    assert_eq!(a["bytes"], words(1, 60).len());
    let run = dir.run(&["list", "idx"]);
    assert_eq!((run.status, run.out.lines().count()), (0, 3), "{}", run.err);
    assert!(run.out.lines().any(|line| line.ends_with("Z  a")), "{}", run.out);
    assert_eq!(dir.run(&["list", "idx", "--filter", "id:a OR id:b"]).out.lines().count(), 2);
    let run = dir.run(&["list", "idx", "--filter", "(("]);
    assert!(run.status == 2 && run.err.contains("(("), "{}", run.err);

    let shown = dir.json(&["show", "idx", "b"]);
    assert_eq!(shown["text"], words(4, 60));
    dir.write("b.txt", words(4, 60));
    let made = dir.json(&["method", "fingerprint", "b.txt"]);
    let keys = |list: &Value, key: &str| -> Vec<u64> {
        list.as_array().unwrap().iter().map(|found| found[key].as_u64().unwrap()).collect()
    };
    let shown = keys(&shown["fingerprints"], "fingerprint");
    assert!(!shown.is_empty() && made.to_string().contains(&shown[0].to_string()), "{made}");
    let run = dir.run(&["show", "idx", "b"]);
    assert!(run.out.contains(&words(4, 60)), "{}", run.out);
    let run = dir.run(&["show", "idx", "c"]);
    assert!(run.status == 2 && run.err.contains("`c`"), "{}", run.err);
}
