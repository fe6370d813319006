//! The real binary: detection of boilerplate.

use std::fs;

use serde_json::{Value, json};

use crate::cli_join::jsons;
use crate::common::run::Dir;
use crate::common::words;

/// Writes submissions of a class: a worksheet, and below it the text of each student. The second
/// student copied from the first.
fn submissions(dir: &Dir, students: u64) -> String {
    let sheet = words(1, 80);
    for student in 0..students {
        let own = words(10 + student.max(1), 60);
        let name = format!("class/s{student:02}/answer.txt");
        fs::create_dir_all(dir.path(&name).parent().unwrap()).unwrap();
        let lead = words(100 + student, 10);
        dir.write(&name, format!("{lead} {sheet} {own}"));
    }
    sheet
}

#[test]
fn the_assignment_of_a_class_finds_itself() {
    let dir = Dir::new();
    let sheet = submissions(&dir, 16);
    dir.write("sheet.txt", &sheet);
    for by in ["file", "directory"] {
        let pairs = |boilerplate: &[&str]| {
            let args = ["pairs", "class", "--by", by, "--format", "json"];
            let run = dir.run(&[&args[..], boilerplate].concat());
            (jsons(&run.out), run.err)
        };
        assert!(pairs(&[]).0.len() > 10);
        let (named, _) = pairs(&["-b", "sheet.txt"]);
        let (found, said) = pairs(&["-b", "auto"]);
        assert_eq!(found, named, "{by}");
        assert_eq!(found.len(), 1);
        assert!(found[0]["a"].as_str().unwrap().starts_with("class/s00"));
        let expected = "cento: boilerplate: 1 passage of 80 tokens in all, each in at least 16 of \
                        16 different documents; `cento method boilerplate` shows them\n";
        assert_eq!(said, expected);
    }
    // Written to a file, of files and of an index; and in gray in the report.
    dir.json(&["add", "idx", "class"]);
    for (from, out) in [("class", "a.jsonl"), ("idx", "b.jsonl")] {
        let run = dir.run(&["method", "boilerplate", from, "--out", out]);
        assert_eq!((run.status, &*run.err), (0, ""));
        let written = jsons(&fs::read_to_string(dir.path(out)).unwrap());
        assert_eq!((written.len(), &written[0]["text"]), (1, &json!(sheet)));
        // The list is not overwritten.
        assert_eq!(dir.run(&["method", "boilerplate", from, "--out", out]).status, 2);
        let search = |boilerplate: &str| {
            dir.json(&["search", "idx", "class/s03/answer.txt", "-b", boilerplate])["hits"].clone()
        };
        assert_eq!(search(out).as_array().unwrap().len(), 1);
        assert_eq!(search(out), search("auto"));
    }
    let args = ["pairs", "class", "-b", "auto", "--report", "r.json"];
    assert_eq!(dir.run(&args).status, 0);
    let report: Value =
        serde_json::from_str(&fs::read_to_string(dir.path("r.json")).unwrap()).unwrap();
    let lead = words(100, 10).len() + 1;
    let expected = json!([[lead, lead + sheet.len()]]);
    assert_eq!(report["documents"][0]["boilerplate"], expected);
}

#[test]
fn a_small_class_has_no_boilerplate_of_its_own() {
    let dir = Dir::new();
    submissions(&dir, 4);
    let auto = dir.run(&["pairs", "class", "-b", "auto"]);
    assert!(auto.out.lines().count() > 6, "{}", auto.out);
    let said = "cento: boilerplate: no passage is proposed, because there are only 4 different \
                documents: a passage must be in at least 5\n";
    assert_eq!(auto.err, said);
}

#[test]
fn boilerplate_is_not_found_where_the_documents_are_not_known() {
    let dir = Dir::new();
    submissions(&dir, 5);
    dir.json(&["add", "--no-text", "idx", "class"]);
    let refused = |args: &[&str], said: &str| {
        let run = dir.run(args);
        assert_eq!(run.status, 2, "{args:?}");
        assert!(run.err.contains(said), "{args:?}: {}", run.err);
    };
    refused(&["dedup", "class", "-b", "auto"], "one after the other");
    refused(&["pairs", "idx", "-b", "auto"], "it stores no texts");
    refused(&["method", "boilerplate", "idx"], "it stores no texts");
    refused(&["method", "boilerplate", "idx", "class"], "name only indexes, or only files");
    refused(&["pairs", "class", "-b", "auto:2"], "0.01 to 1");
    refused(&["method", "boilerplate", "none"], "none");
    let args = ["search", "--url", "http://127.0.0.1:9", "class/s00/answer.txt", "-b", "auto"];
    refused(&args, "with --url");
}

#[test]
fn a_group_counts_once_in_what_most_documents_repeat() {
    // Seven authors have the worksheet. One author has his own text in twelve attempts.
    let dir = Dir::new();
    let (sheet, own) = (words(1, 60), words(2, 60));
    for author in 0..7u64 {
        for attempt in 0..(if author == 0 { 12 } else { 1 }) {
            let name = format!("class/s{author}/try{attempt:02}.txt");
            fs::create_dir_all(dir.path(&name).parent().unwrap()).unwrap();
            let rest = words(10 + author * 20 + attempt, 50);
            let own = if author < 2 { &own } else { "" };
            dir.write(&name, format!("{sheet} {rest} {own}"));
        }
    }
    let by = ["--group-by", "{author}/{*}"];
    let found = |args: &[&str]| {
        let run =
            dir.run(&[&["method", "boilerplate", "class", "--min-share", "0.5"], args].concat());
        run.out.lines().filter(|line| !line.starts_with(' ')).collect::<Vec<_>>().join("\n")
    };
    let plain = "in 18 of 18 documents, 60 tokens, such as class/s0/try00.txt:\n\n\
                 in 13 of 18 documents, 60 tokens, such as class/s0/try00.txt:";
    assert_eq!(found(&[]), plain);
    let groups = "in 7 of 7 groups, 60 tokens, such as class/s0/try00.txt:";
    assert_eq!(found(&by), groups);
    let pairs = |by: &[&str]| {
        let args = ["pairs", "class", "-b", "auto:0.5", "--min-similarity", "0.2"];
        let run = dir.run(&[&args[..], &["--format", "json"], by].concat());
        (jsons(&run.out).iter().filter(|pair| pair["a"].is_string()).count(), run.err)
    };
    let (copies, said) = pairs(&by);
    // The second author has the text of the first author's twelve attempts.
    assert_eq!(copies, 12);
    let expected = "cento: boilerplate: 1 passage of 60 tokens in all, each in at least 7 of 7 \
                    groups; `cento method boilerplate` shows them\n";
    assert_eq!(said, expected);
    assert_eq!(pairs(&[]).0, 0);
    dir.json(&["add", "idx", "class"]);
    let args = ["pairs", "idx", "-b", "auto:0.5", "--min-similarity", "0.2", "--format", "json"];
    let run = dir.run(&[&args[..], &by].concat());
    assert_eq!((jsons(&run.out).len(), run.err.lines().next()), (12, expected.lines().next()));
    let refused = dir.run(&["method", "boilerplate", "class", "--group-by", "{*}/x"]);
    assert!(refused.err.contains("no field with a name"), "{}", refused.err);
    let refused = dir.run(&["method", "boilerplate", "class", "--group-by", "author"]);
    assert!(refused.err.contains("no document has the field `author`"), "{}", refused.err);
}

#[test]
fn submissions_are_counted_and_not_their_files() {
    let dir = Dir::new();
    let header = words(1, 60);
    for student in 0..6u64 {
        for part in 0..3 {
            let name = format!("class/s{student}/part{part}.txt");
            fs::create_dir_all(dir.path(&name).parent().unwrap()).unwrap();
            let own = words(10 + student * 3 + part, 50);
            // The header is in a single part of every document.
            dir.write(&name, if part == 0 { format!("{header} {own}") } else { own });
        }
    }
    let found = |args: &[&str]| {
        let run =
            dir.run(&[&["method", "boilerplate", "class", "--format", "json"], args].concat());
        jsons(&run.out).iter().map(|found| found["documents"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(found(&[]), [] as [Value; 0]);
    assert_eq!(found(&["--by", "directory"]), [json!(6)]);
    assert_eq!(found(&["--by", "class/{document}/{part}"]), [json!(6)]);
    dir.json(&["add", "idx", "class", "--by", "directory"]);
    let run = dir.run(&["method", "boilerplate", "idx", "--format", "json"]);
    assert_eq!(jsons(&run.out)[0]["documents"], 6);
    let refused = dir.run(&["method", "boilerplate", "idx", "--by", "directory"]);
    assert!(refused.status == 2 && refused.err.contains("--by is for files"), "{}", refused.err);
}
