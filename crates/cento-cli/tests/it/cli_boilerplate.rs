//! The real binary: boilerplate that is found.

use std::fs;

use serde_json::{Value, json};

use crate::cli_join::jsons;
use crate::common::run::Dir;
use crate::common::words;

/// Writes the hand-ins of a class: a sheet, and the own text of each student below it, which the
/// second has of the first.
fn hand_ins(dir: &Dir, students: u64) -> String {
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
    let sheet = hand_ins(&dir, 16);
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
                        16 different documents; `cento boilerplate` shows them\n";
        assert_eq!(said, expected);
    }
    // Written to a file, of files and of an index; and in grey in the report.
    dir.json(&["add", "idx", "class"]);
    for (from, out) in [("class", "a.jsonl"), ("idx", "b.jsonl")] {
        let run = dir.run(&["boilerplate", from, "--out", out]);
        assert_eq!((run.status, &*run.err), (0, ""));
        let written = jsons(&fs::read_to_string(dir.path(out)).unwrap());
        assert_eq!((written.len(), &written[0]["text"]), (1, &json!(sheet)));
        // It is not overwritten.
        assert_eq!(dir.run(&["boilerplate", from, "--out", out]).status, 2);
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
    hand_ins(&dir, 4);
    let auto = dir.run(&["pairs", "class", "-b", "auto"]);
    assert!(auto.out.lines().count() > 6, "{}", auto.out);
    let said = "cento: boilerplate: no passage is proposed, because there are only 4 different \
                documents: a passage must be in at least 5\n";
    assert_eq!(auto.err, said);
}

#[test]
fn boilerplate_is_not_found_where_the_documents_are_not_known() {
    let dir = Dir::new();
    hand_ins(&dir, 5);
    dir.json(&["add", "--no-text", "idx", "class"]);
    let refused = |args: &[&str], said: &str| {
        let run = dir.run(args);
        assert_eq!(run.status, 2, "{args:?}");
        assert!(run.err.contains(said), "{args:?}: {}", run.err);
    };
    refused(&["dedup", "class", "-b", "auto"], "one after the other");
    refused(&["pairs", "idx", "-b", "auto"], "it stores no texts");
    refused(&["boilerplate", "idx"], "it stores no texts");
    refused(&["boilerplate", "idx", "class"], "name either indexes or files");
    refused(&["pairs", "class", "-b", "auto:2"], "0.01 to 1");
    refused(&["boilerplate", "none"], "none");
    let args = ["search", "--url", "http://127.0.0.1:9", "class/s00/answer.txt", "-b", "auto"];
    refused(&args, "with --url");
}
