//! Every record ends in one place: as a document, a refusal that is named, or an exclusion that is
//! named.

use serde_json::{Value, json};

use crate::common::run::{Dir, line};
use crate::common::words;

/// Four records as objects; the first has the number `from`.
fn records(from: u64) -> Vec<Value> {
    let record = |i: u64| json!({"id": format!("r{i}"), "text": words(i, 60)});
    (from..from + 4).map(record).collect()
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// The report of adding these files, and the exit status.
#[track_caller]
fn added(dir: &Dir, args: &[&str]) -> (Value, i32) {
    let run = dir.run(&[&["add"], args, &["--format", "json"]].concat());
    (run.json(), run.status)
}

#[test]
fn records_in_json_are_known_by_their_first_bytes() {
    let dir = Dir::new();
    let all = records(1);
    let pretty: String = all.iter().map(|record| format!("{record:#}\n")).collect();
    let array = Value::from(all.clone());
    let utf16 = |text: &str| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    let forms: [(&str, Vec<u8>); 8] = [
        ("lines.jsonl", lines(&all).into()),
        ("lines.txt", lines(&all).into()),
        ("lines", lines(&all).into()),
        ("array.jsonl", array.to_string().into()),
        ("pretty.json", pretty.into()),
        ("commas.json", lines(&all).replace('\n', ",\n").into()),
        ("members.json", json!({"n": 4, "data": array}).to_string().into()),
        ("utf16.jsonl", utf16(&lines(&all))),
    ];
    for (name, bytes) in forms {
        dir.write(name, &bytes);
        let (report, status) = added(&dir, &[&format!("{name}.idx"), name]);
        assert_eq!((&report["added"], status), (&json!(4), 0), "{name}: {report}");
        let run = dir.run_with(&["add", &format!("{name}.idx"), "-", "--format", "json"], &bytes);
        assert_eq!((&run.json()["unchanged"], run.status), (&json!(4), 0), "{name}: {}", run.err);
        let run = dir.run(&["dedup", name]);
        assert_eq!((run.out.lines().count(), run.status), (4, 0), "{name}: {}", run.err);
    }
}

#[test]
fn json_without_records_is_left_out_by_name() {
    let dir = Dir::new();
    dir.write("in/settings.json", "{\n  \"a\": [1, 2]\n}\n");
    dir.write("in/a.txt", words(1, 60));
    let (report, status) = added(&dir, &["idx", "in"]);
    assert_eq!((&report["added"], &report["skipped"], status), (&json!(1), &json!(1), 0));
    assert!(report["left_out"][0]["reason"].as_str().unwrap().contains("--text-field"), "{report}");
    let (report, _) = added(&dir, &["whole.idx", "in", "--html", "source"]);
    assert_eq!(report["added"], 2);
    dir.write("broken.json", "{ // a comment\n}");
    let (_, status) = added(&dir, &["idx", "broken.json", "in"]);
    assert_eq!(status, 2);
}

#[test]
fn an_irrelevant_fault_costs_no_record() {
    let dir = Dir::new();
    let text = |i| words(i, 60);
    let good = [
        format!("{{\"id\":\"a\",\"text\":\"{}\",\"x\":NaN}}", text(1)),
        format!("{{\"id\":\"b\",\"text\":\"{} \\ud83d\"}}", text(2)),
        format!("{{\"id\":\"c\",\"text\":\"{} \\u0000\"}}", text(3)),
        format!("{{\"id\":\"d\\tx\",\"text\":\"{}\"}}", text(4)),
        format!("{{\"id\":1.5,\"text\":\"{}\"}}", text(5)),
        format!("{{\"id\":\"f\",\"text\":\"{}\",\"meta\":[1,2]}}", text(6)),
        format!("{{\"id\":\"g\",\"text\":\"{}\",\"meta\":\"{{\\\"n\\\":1}}\"}}", text(7)),
    ];
    dir.write("good.jsonl", good.join("\n"));
    let (report, status) = added(&dir, &["idx", "good.jsonl"]);
    assert_eq!((&report["added"], status), (&json!(7), 0), "{report}");
    let found = dir.json(&["search", "idx", "--text", &text(7), "--filter", "n:1"]);
    assert_eq!(found["hits"][0]["id"], "g");
    // What an index cannot hold is refused by it, and of no interest to deduplication.
    let long = "x".repeat(100_000);
    let odd = [
        format!("{{\"id\":[1],\"text\":\"{}\"}}", text(11)),
        format!("{{\"id\":\"{}\",\"text\":\"{}\"}}", &long[..2000], text(12)),
        format!("{{\"id\":\"m\",\"text\":\"{}\",\"meta\":{{\"a\":\"{long}\"}}}}", text(13)),
    ];
    dir.write("odd.jsonl", odd.join("\n"));
    let (report, status) = added(&dir, &["idx", "odd.jsonl"]);
    assert_eq!((&report["failed"], status), (&json!(3), 2), "{report}");
    let run = dir.run(&["dedup", "good.jsonl", "odd.jsonl"]);
    assert_eq!((run.out.lines().count(), run.status), (10, 0), "{}", run.err);
    assert_eq!(run.out, good.join("\n") + "\n" + &odd.join("\n") + "\n");
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
        assert_eq!(run.status, 2, "{}", run.err);
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
    // Two files of one name in two directories.
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

#[cfg(unix)]
#[test]
fn names_that_are_no_text_are_different_ids() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let dir = Dir::new();
    std::fs::create_dir(dir.path("in")).unwrap();
    let names = [&b"\xfe.txt"[..], b"\xff.txt", b"caf\xe9.txt", b"%FE.txt", b"a\nb.txt"];
    for (i, name) in (1..).zip(names) {
        std::fs::write(dir.path("in").join(OsStr::from_bytes(name)), words(i, 60)).unwrap();
    }
    let (report, status) = added(&dir, &["idx", "in"]);
    assert_eq!((&report["added"], status), (&json!(5), 0), "{report}");
    let hit = dir.json(&["search", "idx", "--text", &words(1, 60)])["hits"][0]["id"].clone();
    assert_eq!(hit, "in/%FE.txt");
}

#[test]
fn a_quotation_mark_that_is_not_closed_is_refused_with_its_line() {
    let dir = Dir::new();
    let row = |i: u64| format!("{i},{}\n", words(i, 60));
    let open = "x,\"open\n".to_owned();
    let table: String = (0..20).map(row).chain([open]).chain((20..300).map(row)).collect();
    dir.write("open.csv", format!("id,text\n{table}"));
    let run = dir.run(&["add", "idx", "open.csv", "--format", "json"]);
    assert_eq!((run.status, &run.json()["added"]), (2, &json!(20)), "{}", run.err);
    assert!(run.err.contains("the quotation mark in line 22 is not closed"), "{}", run.err);
    dir.write("open.tsv", format!("id\ttext\n{}", table.replace(',', "\t")));
    assert_eq!(dir.run(&["dedup", "open.tsv"]).status, 2);
}

#[test]
fn a_named_file_is_read_even_if_git_ignores_it() {
    let dir = Dir::new();
    dir.write("repo/.gitignore", "data/\n*.jsonl\n");
    dir.write("repo/.git/config", "[core]");
    dir.write("repo/data/a.jsonl", lines(&records(1)));
    dir.write("repo/b.txt", words(9, 60));
    let (report, status) = added(&dir, &["idx", "repo"]);
    assert_eq!((&report["added"], status), (&json!(5), 0), "{report}");
    let left_out: Vec<&str> = report["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["path"].as_str().unwrap())
        .collect();
    assert_eq!(left_out, ["repo/.git", "repo/.gitignore"]);
    let (report, _) = added(&dir, &["obeying.idx", "repo", "--ignore-files"]);
    assert_eq!(report["added"], 1, "{report}");
}

#[cfg(unix)]
#[test]
fn links_are_followed_where_they_are_named_or_if_asked() {
    use std::os::unix::fs::symlink;

    let dir = Dir::new();
    dir.write("blobs/abc", lines(&records(1)));
    std::fs::create_dir_all(dir.path("snapshots/r1")).unwrap();
    symlink("../../blobs/abc", dir.path("snapshots/r1/train.jsonl")).unwrap();
    symlink("snapshots", dir.path("latest")).unwrap();
    symlink("..", dir.path("snapshots/loop")).unwrap();
    let run = dir.run(&["add", "idx", "snapshots", "--format", "json"]);
    assert_eq!((run.status, &run.json()["skipped"]), (2, &json!(2)), "{}", run.err);
    assert!(run.err.contains("--follow"), "{}", run.err);
    assert_eq!(added(&dir, &["idx", "snapshots/r1/train.jsonl"]).0["added"], 4);
    std::fs::remove_file(dir.path("snapshots/loop")).unwrap();
    symlink(".", dir.path("snapshots/loop")).unwrap();
    let run = dir.run(&["add", "followed.idx", "latest", "--follow", "--format", "json"]);
    assert_eq!((run.status, &run.json()["added"]), (2, &json!(4)), "{}", run.err);
    assert!(run.err.contains("loop"), "{}", run.err);
    std::fs::remove_file(dir.path("snapshots/loop")).unwrap();
    let (report, status) = added(&dir, &["all.idx", "latest", "--follow"]);
    assert_eq!((&report["added"], status), (&json!(4), 0));
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
fn a_file_that_contradicts_its_name_is_refused() {
    let dir = Dir::new();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n";
    dir.write("in/a.txt", words(1, 60));
    for (name, bytes, says) in [
        ("a.parquet", pointer, "git lfs pull"),
        ("b.jsonl", pointer, "git lfs pull"),
        ("c.pdf", "<!doctype html><p>404", "it is named .pdf, but it is a web page"),
        ("d.zip", "some text", "it is named .zip, but it is text"),
        ("e.docx", "{\"error\": 404}", "it is named .docx, but it is JSON"),
    ] {
        dir.write(&format!("in/{name}"), bytes);
        let run = dir.run(&["add", "idx", &format!("in/{name}")]);
        assert_eq!(run.status, 2, "{name}");
        assert!(run.err.contains(says), "{name}: {}", run.err);
    }
    let (report, status) = added(&dir, &["all.idx", "in"]);
    assert_eq!((&report["added"], &report["unread"], status), (&json!(1), &json!(5), 2));
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
        let compared = dir.json(&["compare", "b.txt", name]);
        assert_eq!(compared["containment_of_a"], 1.0, "{compared}");
    }
}
