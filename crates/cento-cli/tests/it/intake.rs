//! Every record ends in exactly one place: as a document, a reported refusal, or a reported
//! exclusion.

use serde_json::{Value, json};

use crate::common::run::{Dir, line};
use crate::common::words;

/// The report of adding these files, and the exit status.
#[track_caller]
fn added(dir: &Dir, args: &[&str]) -> (Value, i32) {
    let run = dir.run(&[&["add"], args, &["--format", "json"]].concat());
    (run.json(), run.status)
}

#[test]
fn what_is_left_out_or_refused_is_named_and_sets_the_exit_status() {
    let dir = Dir::new();
    dir.write("in/settings.json", "{\n  \"a\": [1, 2]\n}\n");
    dir.write("in/a.txt", words(1, 60));
    let (report, status) = added(&dir, &["idx", "in"]);
    assert_eq!((&report["added"], &report["skipped"], status), (&json!(1), &json!(1), 0));
    assert!(report["left_out"][0]["advice"].as_str().unwrap().contains("--text-field"), "{report}");
    let (report, _) = added(&dir, &["whole.idx", "in", "--html", "source"]);
    assert_eq!(report["added"], 2);
    dir.write("broken.json", "{ // a comment\n}");
    assert_eq!(added(&dir, &["idx", "broken.json", "in"]).1, 3);
    dir.write("in/d.zip", "some text");
    let run = dir.run(&["add", "idx", "in"]);
    let said = "in/d.zip: its name ends in .zip, but it is text";
    assert!(run.status == 3 && run.err.contains(said), "{}", run.err);
}

#[test]
fn deduplication_keeps_records_that_an_index_cannot_hold() {
    let dir = Dir::new();
    let lines = [
        line("a", &words(1, 60), json!({})),
        format!("{{\"id\":[1],\"text\":\"{}\"}}\n", words(2, 60)),
    ];
    dir.write("odd.jsonl", lines.concat());
    let (report, status) = added(&dir, &["idx", "odd.jsonl"]);
    assert_eq!((&report["added"], &report["failed"], status), (&json!(1), &json!(1), 3));
    let run = dir.run(&["dedup", "odd.jsonl"]);
    assert_eq!((run.status, run.out), (0, lines.concat()), "{}", run.err);
}

#[cfg(unix)]
#[test]
fn links_and_ignored_files_are_read_by_options() {
    let dir = Dir::new();
    dir.write("blobs/abc", line("a", &words(1, 60), json!({})));
    dir.write("in/.ignore", "*.txt\n");
    dir.write("in/b.txt", words(2, 60));
    std::os::unix::fs::symlink("../blobs/abc", dir.path("in/train.jsonl")).unwrap();
    let run = dir.run(&["add", "idx", "in", "--format", "json"]);
    assert_eq!(run.json()["added"], 1, "{}", run.err);
    assert!(run.err.contains("--follow-links"), "{}", run.err);
    assert_eq!(added(&dir, &["both.idx", "in", "--follow-links"]).0["added"], 2);
    assert_eq!(added(&dir, &["link.idx", "in", "--follow-links", "--ignore-files"]).0["added"], 1);
}

#[test]
fn deduplication_writes_every_record_to_the_output_or_to_the_report() {
    let dir = Dir::new();
    let text = words(1, 60);
    let all = [line("a", &text, json!({})), "{\"id\":\"b\"}\n".into(), "no JSON\n".into()];
    dir.write("in/all.jsonl", all.concat() + &line("c", &text, json!({})));
    dir.write("in/image.png", b"\x89PNG\r\n\x1a\n\0");
    for annotates in [&[][..], &["--annotate"]] {
        let args = ["dedup", "in", "--out", "kept.jsonl", "--dropped", "report.jsonl"];
        let run = dir.run(&[&args[..], annotates].concat());
        assert_eq!(run.status, 3, "{}", run.err);
        let read = |name: &str| std::fs::read_to_string(dir.path(name)).unwrap();
        let report: Vec<Value> =
            read("report.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let count = |verdict: &str| report.iter().filter(|line| line["verdict"] == verdict).count();
        assert_eq!((count("failed"), count("left_out"), count("exact")), (2, 1, 1), "{report:?}");
        let failed = report.iter().find(|line| line["verdict"] == "failed").unwrap();
        assert_eq!(failed["place"], "in/all.jsonl:2");
        assert_eq!(read("kept.jsonl").lines().count(), if annotates.is_empty() { 1 } else { 2 });
        std::fs::remove_file(dir.path("kept.jsonl")).unwrap();
        std::fs::remove_file(dir.path("report.jsonl")).unwrap();
    }
}

#[test]
fn an_id_that_was_made_replaces_no_document_of_another_source() {
    let dir = Dir::new();
    let without_ids = |from: u64| -> String {
        (from..from + 3).map(|i| format!("{}\n", json!({"text": words(i, 60)}))).collect()
    };
    let add =
        |bytes: &str| dir.run_with(&["add", "idx", "-", "--format", "json"], bytes.as_bytes());
    assert_eq!(add(&without_ids(1)).json()["added"], 3);
    assert_eq!(add(&without_ids(1)).json()["unchanged"], 3);
    let run = add(&without_ids(10));
    assert_eq!((run.status, &run.json()["failed"]), (2, &json!(3)), "{}", run.err);
    assert!(run.err.contains("give documents ids"), "{}", run.err);
    // Two files with the same name in different directories.
    for (at, from) in [("a", 20), ("b", 30)] {
        dir.write(&format!("{at}/part.jsonl"), without_ids(from));
        dir.write(&format!("{at}/one.txt"), words(from + 5, 60));
    }
    let within = |at: &str, args: &[&str]| {
        let args = [&["add", "../idx", "part.jsonl", "one.txt", "--format", "json"], args].concat();
        let mut command = dir.command(&args);
        let output = command.current_dir(dir.path(at)).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (report, output.status.code().unwrap())
    };
    assert_eq!(within("a", &[]).0["added"], 4);
    let (report, status) = within("b", &[]);
    assert_eq!((&report["added"], &report["failed"], status), (&json!(0), &json!(4), 2));
    // The files themselves may change, also after a merge.
    dir.json(&["compact", "idx"]);
    dir.write("a/one.txt", words(99, 60));
    let (report, status) = within("a", &[]);
    assert_eq!((&report["replaced"], &report["unchanged"], status), (&json!(1), &json!(3), 0));
    assert_eq!(within("b", &["--replace"]).0["replaced"], 4);
}

#[test]
fn files_left_out_by_name_do_not_fail_a_strict_run() {
    let dir = Dir::new();
    dir.write("in/a.txt", words(1, 60));
    dir.write("in/.git/config", "x");
    let (report, status) = added(&dir, &["idx", "in", "--strict"]);
    let counts = (&report["skipped"], &report["skipped_by_name"]);
    assert_eq!((counts, status), ((&json!(1), &json!(1)), 0));
    assert_eq!(dir.run(&["dedup", "in", "--strict"]).status, 0);
    dir.write("in/b.png", b"\x89PNG\r\n\x1a\n\0\0");
    assert_eq!(added(&dir, &["idx", "in", "--strict"]).1, 3);
    assert_eq!(dir.run(&["dedup", "in", "--strict"]).status, 3);
}

#[test]
fn a_file_of_records_that_is_one_text_is_read_to_its_end() {
    let dir = Dir::new();
    let many = |last: &str| -> String {
        let record = |i: u64| json!({"id": i, "text": words(i, 60)});
        let records: String = (0..1500).map(|i| format!("{}\n", record(i))).collect();
        assert!(records.len() > 300_000);
        records + last
    };
    for name in ["a.jsonl", "a.txt"] {
        dir.write(name, many(&words(7, 200)));
        dir.write("b.txt", words(7, 200));
        let compared = dir.json(&["compare", "b.txt", name, "--html", "source"]);
        assert_eq!(compared["containment_of_a"], 1.0, "{compared}");
        // No one text of a list can be chosen.
        let refused = dir.run(&["compare", "b.txt", name]);
        assert!(refused.status == 2 && refused.err.contains("list of records"), "{}", refused.err);
    }
}
