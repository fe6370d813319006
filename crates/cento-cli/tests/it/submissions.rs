//! Which files count as handed in.

use serde_json::{Value, json};

use crate::common::run::{Dir, line};
use crate::common::words;

fn program(name: &str) -> String {
    format!(
        "class {name} {{ int f(int a) {{ int b = a + 1; return b * a; }}\n\
         int g(String s) {{ for (int i = 0; i < s.length(); i++) {{ if (s.charAt(i) == 'x') return i; }}\n\
         return f(2) * 3; }} }}\n"
    )
}

/// The last line of an answer.
#[track_caller]
fn end_of(dir: &Dir, args: &[&str]) -> (Vec<Value>, Value) {
    let ran = dir.run(&[args, &["--format", "json"]].concat());
    assert_eq!(ran.status, 0, "{}", ran.err);
    let mut lines: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let end = lines.pop().unwrap();
    (lines, end)
}

fn names(left_out: &Value) -> Vec<(&str, u64)> {
    let list = left_out.as_array().unwrap().iter();
    list.map(|one| (one["name"].as_str().unwrap(), one["files"].as_u64().unwrap())).collect()
}

#[test]
fn data_in_a_submission_is_left_out_by_name_and_ends_no_run() {
    let dir = Dir::new();
    for name in ["ann", "bob", "cas"] {
        dir.write(&format!("in/{name}/A.java"), program("A"));
    }
    dir.write("in/bob/stock.json", r#"[{"id": 1, "name": "nail"}, {"id": 2, "name": "nut"}]"#);
    dir.write("in/cas/rows.csv", "id,name\n1,nail\n");
    dir.write("in/cas/lines.jsonl", line("a", "one two", json!({})));
    dir.write("in/cas/empty.java", "");
    dir.write("in/cas/picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    for analyzer in ["code(language=java)", "code"] {
        let args = ["pairs", "in", "--by", "directory", "--analyzer", analyzer];
        let (pairs, end) = end_of(&dir, &args);
        assert_eq!(pairs.len(), 3);
        let expected = [
            ("in/bob/stock.json", 1),
            ("in/cas/empty.java", 1),
            ("in/cas/lines.jsonl", 1),
            ("in/cas/picture", 1),
            ("in/cas/rows.csv", 1),
        ];
        assert_eq!(names(&end["left_out"]), expected, "{end}");
    }
    // In a comparison of texts, a picture is only recognized by reading the file.
    let args = ["pairs", "in", "--by", "directory"];
    let ran = dir.run(&args);
    assert!(ran.status == 3 && ran.err.contains("in/cas/picture"), "{}", ran.err);
    assert!(ran.err.contains("cento: in/bob/stock.json: skipped: it holds data"));
    // A file that matches --include is read as a single text.
    let args = ["pairs", "in", "--by", "directory", "--include", "*.json*", "--include", "*.java"];
    let (pairs, end) = end_of(&dir, &args);
    let words = |name: &str| {
        let pair = pairs.iter().find(|pair| pair["a"] == name || pair["b"] == name).unwrap();
        if pair["a"] == name { pair["tokens_a"].as_u64() } else { pair["tokens_b"].as_u64() }
    };
    assert!(words("in/bob") > words("in/ann") && words("in/cas") > words("in/ann"), "{end}");
}

#[test]
fn directories_whose_names_are_escaped_in_ids_are_submissions_too() {
    let dir = Dir::new();
    // The id of a file escapes each `%` as `%25`.
    for name in ["ann", "bob"] {
        dir.write(&format!("in%C3%A9/{name}/A.java"), program("A"));
        dir.write(&format!("in%C3%A9/{name}/B.java"), program("B"));
        dir.write(&format!("in%C3%A9/{name}/stock.json"), "[1, 2]");
    }
    let asked = ["pairs", "in%C3%A9", "--by", "directory", "--analyzer", "code(language=java)"];
    let (pairs, end) = end_of(&dir, &asked);
    assert_eq!(pairs.len(), 1, "{pairs:?}");
    assert_eq!(pairs[0]["a"], "in%25C3%25A9/ann");
    assert_eq!(end["left_out"].as_array().unwrap().len(), 2);
}

#[test]
fn libraries_are_left_out_of_submissions_and_counted() {
    let dir = Dir::new();
    for (name, seed) in [("ann", 1), ("bob", 2)] {
        let own = format!("{} {}", words(3, 20), words(seed, 90));
        dir.write(&format!("in/{name}/src/main.txt"), own);
        for number in 0..3 {
            let library = words(10 + number, 200);
            dir.write(&format!("in/{name}/node_modules/x/{number}.txt"), &library);
            dir.write(&format!("in/{name}/target/{number}.txt"), &library);
        }
    }
    let args = ["pairs", "in", "--by", "directory"];
    let (pairs, end) = end_of(&dir, &args);
    assert!(pairs.iter().all(|pair| pair["symmetric"].as_f64() < Some(0.2)), "{pairs:?}");
    let expected = [
        ("in/ann/node_modules", 3),
        ("in/ann/target", 3),
        ("in/bob/node_modules", 3),
        ("in/bob/target", 3),
    ];
    assert_eq!(names(&end["left_out"]), expected);
    let pair = dir.json(&[&args[..], &["--include", "*"]].concat());
    assert!(pair["symmetric"].as_f64() > Some(0.8), "{pair}");
    let only = ["--include", "*.txt", "--exclude", "src"];
    let ran = dir.run(&[&args[..], &only].concat());
    // No file is left, and each skipped file is reported with the reason.
    assert!(
        ran.status == 2 && ran.err.contains("in/bob: skipped: all of its files are skipped"),
        "{}",
        ran.err
    );
    let reported = [&args[..], &["--report", "r.json"]].concat();
    dir.run(&reported);
    let report = std::fs::read_to_string(dir.path("r.json")).unwrap();
    assert!(report.contains("12 files: in/ann/node_modules, in/ann/target"), "{report}");
}

#[test]
fn the_commonest_language_of_the_files_counts() {
    let dir = Dir::new();
    for name in ["ann", "bob"] {
        dir.write(&format!("in/{name}/A.java"), program("A"));
        dir.write(&format!("in/{name}/B.java"), program("B"));
        dir.write(&format!("in/{name}/README"), words(1, 90));
        dir.write(&format!("in/{name}/Makefile"), "all:\n\tjavac A.java\n");
        dir.write(&format!("in/{name}/run.py"), "print(1)\n");
    }
    for by in ["directory", "file"] {
        let (_, end) = end_of(&dir, &["pairs", "in", "--by", by, "--analyzer", "code"]);
        let left_out = names(&end["left_out"]);
        assert_eq!(left_out.len(), 6, "{end}");
        assert!(
            left_out.contains(&("in/ann/README", 1)) && left_out.contains(&("in/bob/run.py", 1))
        );
    }
    // Programs with unusual names are read if no file has a usual name.
    let dir = Dir::new();
    for name in ["ann", "bob"] {
        dir.write(&format!("in/{name}/main.txt"), program("A"));
    }
    let pair = dir.json(&["pairs", "in", "--by", "directory", "--analyzer", "code(language=java)"]);
    assert_eq!(pair["symmetric"].as_f64(), Some(1.0));
    let ran = dir.run(&["pairs", "in", "--by", "directory", "--analyzer", "code"]);
    assert!(ran.status == 2 && ran.err.contains("name the language"), "{}", ran.err);
}

#[test]
fn patterns_choose_the_files_that_are_added() {
    let dir = Dir::new();
    for name in ["a.txt", "b.log", "sub/c.txt", "sub/d.md"] {
        dir.write(&format!("in/{name}"), words(name.len() as u64, 30));
    }
    let added = dir.json(&[
        "add",
        "idx",
        "in",
        "--include",
        "*.txt",
        "--include",
        "*.md",
        "--exclude",
        "sub/c*",
    ]);
    assert_eq!((&added["added"], &added["skipped"]), (&json!(2), &json!(2)), "{added}");
    assert_eq!(added["left_out"][1]["path"], "in/sub/c.txt", "{added}");
    let ran = dir.run(&["add", "idx", "in", "--include", "a["]);
    assert!(ran.status == 2 && ran.err.contains("it is no pattern"), "{}", ran.err);
    let args = ["dedup", "in", "--exclude", "*.log", "--exclude", "sub", "--out", "kept.jsonl"];
    let summary = dir.json(&args);
    assert_eq!((&summary["kept"], &summary["skipped"]), (&json!(1), &json!(3)), "{summary}");
}
