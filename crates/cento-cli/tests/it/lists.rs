//! The real binary: truncated lists, and inputs that were not compared.

use std::fs;

use serde_json::{Value, json};

use crate::common::run::{Dir, indexed, line};
use crate::common::words;

fn jsons(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn read(dir: &Dir, name: &str) -> String {
    fs::read_to_string(dir.path(name)).unwrap()
}

const REPORTS: [&str; 6] = ["--report", "r.html", "--report", "r.json", "--report", "r.csv"];

/// Checks that the terminal, the last line of JSON and every report format list exactly these
/// inputs, each with the reason.
fn check_named(dir: &Dir, args: &[&str], expected: &[(&str, &str)]) {
    let ran = dir.run(&[args, &REPORTS].concat());
    assert_eq!(ran.status, 3, "the exit status shows that inputs were not compared: {}", ran.err);
    let listed: Value = serde_json::from_str(&read(dir, "r.json")).unwrap();
    let last = jsons(&dir.run(&[args, &["--format", "json"]].concat()).out).pop().unwrap();
    assert_eq!(last["not_compared"], listed["not_compared"]);
    let named: Vec<(&str, &str)> = listed["not_compared"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), one["reason"].as_str().unwrap()))
        .collect();
    assert_eq!(named.len(), expected.len(), "{named:?}");
    let (html, csv) = (read(dir, "r.html"), read(dir, "r.csv"));
    for (name, reason) in expected {
        let found = named.iter().find(|(of, _)| of == name);
        assert!(found.is_some_and(|(_, why)| why.contains(reason)), "{name}: {named:?}");
        assert!(html.contains(&format!("<bdi>{name}</bdi></th><td><bdi>")), "{name}: {html}");
        assert!(csv.lines().any(|row| row.starts_with(name) && row.contains(reason)), "{csv}");
        assert!(ran.err.lines().any(|said| said.contains(name)), "{name}: {}", ran.err);
    }
}

#[test]
fn a_submission_is_compared_or_named_with_the_reason() {
    let dir = Dir::new();
    for (name, seed) in [("ann", 1), ("bob", 2)] {
        dir.write(&format!("in/{name}/essay.txt"), words(seed, 80));
    }
    dir.write("in/cat/scan.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0");
    dir.write("in/dan/empty.txt", "");
    dir.write("in/eve/white.txt", " \n\u{a0}\n");
    dir.write("in/fay/sheet.txt", words(9, 60));
    dir.write("sheet.txt", words(9, 60));
    let files = [
        ("in/cat/scan.png", "an image"),
        ("in/dan/empty.txt", "empty"),
        ("in/eve/white.txt", "it has no words"),
        ("in/fay/sheet.txt", "without the boilerplate nothing is left"),
    ];
    check_named(&dir, &["pairs", "in", "--boilerplate", "sheet.txt"], &files);
    // For a directory without any text left, the message has the directory.
    let directories = [files[0], files[1], ("in/eve", files[2].1), ("in/fay", files[3].1)];
    let args = ["pairs", "in", "--by", "directory", "--boilerplate", "sheet.txt"];
    check_named(&dir, &args, &directories);
    let report: Value = serde_json::from_str(&read(&dir, "r.json")).unwrap();
    assert_eq!((&report["compared"], &report["histogram"]["none"]), (&json!(2), &json!(1)));
}

#[test]
fn a_program_of_comments_is_named_with_the_reason() {
    let dir = Dir::new();
    let program = "class A { int f(int a) { return a + 1; } int g() { return f(2) * 3; } }";
    dir.write("in/a/x.java", "// my solution\n");
    for name in ["b", "c"] {
        dir.write(&format!("in/{name}/x.java"), program);
    }
    let why = "without comments and layout nothing is left";
    check_named(&dir, &["pairs", "in", "--analyzer", "code"], &[("in/a/x.java", why)]);
    let args = ["pairs", "in", "--analyzer", "code", "--by", "directory"];
    check_named(&dir, &args, &[("in/a", why)]);
    // Without the third text nothing can be compared, and the error gives the reason.
    fs::remove_dir_all(dir.path("in/c")).unwrap();
    let ran = dir.run(&args);
    assert!(ran.status == 2 && ran.err.contains("in/a: ") && ran.err.contains(why), "{}", ran.err);
    assert!(ran.err.contains("1 document to compare"), "{}", ran.err);
}

#[test]
fn a_file_that_has_nothing_to_compare_is_not_compared() {
    // Regression: the answer was "nothing in common", without a reason.
    let dir = Dir::new();
    dir.write("a.java", "class A { int f(int a) { return a + 1; } int g() { return f(2) * 3; } }");
    dir.write("b.java", "// my solution\n");
    dir.write("c.txt", "...!!! --- ***\n");
    dir.write("d.txt", "\u{ad}\n");
    for (args, file, why) in [
        (["a.java", "b.java", "--for", "code"], "b.java", "without comments and layout nothing is"),
        (["b.java", "a.java", "--for", "code"], "b.java", "without comments and layout nothing is"),
        (["c.txt", "d.txt", "--for", "essays"], "d.txt", "it has no words"),
    ] {
        let ran = dir.run(&[&["compare"][..], &args].concat());
        let said = format!("{file}: there is nothing to compare: {why}");
        assert!(ran.status == 2 && ran.err.contains(&said) && ran.out.is_empty(), "{}", ran.err);
    }
}

#[test]
fn documents_with_one_id_are_all_compared() {
    // Regression: only the last document was compared, so files with records numbered from 0 lost
    // all but one record.
    let dir = Dir::new();
    let lines = |seeds: [u64; 2]| {
        let numbered = seeds.iter().enumerate();
        let line = |(id, &seed): (usize, &u64)| line(&id.to_string(), &words(seed, 60), json!({}));
        numbered.map(line).collect::<String>()
    };
    dir.write("in.jsonl", lines([1, 2]));
    dir.write("more.jsonl", lines([3, 1]));
    // A file given twice has its documents once.
    let pairs = dir.run(&["pairs", "in.jsonl", "more.jsonl", "more.jsonl", "--format", "csv"]);
    assert_eq!((pairs.status, pairs.err.as_str()), (0, ""), "{}", pairs.out);
    let rows: Vec<&str> = pairs.out.lines().skip(1).collect();
    assert!(rows.len() == 1 && rows[0].contains("1#2"), "{}", pairs.out);
    let clusters = dir.run(&["cluster", "in.jsonl", "more.jsonl", "--format", "csv"]);
    assert_eq!((clusters.status, clusters.out.lines().count()), (0, 3), "{}", clusters.out);
}

#[test]
fn documents_of_an_index_without_words_are_named_in_the_report_of_its_pairs() {
    let dir = Dir::new();
    let lines = [("a", words(1, 60)), ("b", words(1, 60)), ("blank", " ".into())];
    dir.write("in.jsonl", lines.map(|(id, text)| line(id, &text, json!({}))).concat());
    dir.json(&["add", "idx", "in.jsonl"]);
    let ran = dir.run(&[&["pairs", "idx"][..], &REPORTS].concat());
    assert_eq!(ran.status, 0, "{}", ran.err);
    let report: Value = serde_json::from_str(&read(&dir, "r.json")).unwrap();
    assert_eq!(
        (&report["compared"], &report["not_compared"][0]["name"]),
        (&json!(2), &json!("blank"))
    );
    assert!(read(&dir, "r.html").contains("it has no words"));
}

/// Five texts. Each pair has something in common, and the first pairs have most.
fn alike() -> Dir {
    let dir = Dir::new();
    let common = words(1, 80);
    let lines = (0..5u64).map(|n| {
        let own = words(10 + n, 4 * n as usize);
        dir.write(&format!("in/{n}.txt"), format!("{common} {own}"));
        line(&n.to_string(), &format!("{common} {own}"), json!({}))
    });
    let lines: String = lines.collect();
    dir.write("all.jsonl", lines);
    dir.json(&["add", "idx", "all.jsonl"]);
    dir
}

#[test]
fn a_list_of_pairs_that_is_cut_says_of_how_many_it_is() {
    let dir = alike();
    for verb in [&["pairs", "in"][..], &["pairs", "idx", "--rank", "overlap"]] {
        let said = "4 of 10 pairs shown; --limit 10 shows all";
        let cut = [verb, &["-n", "4"]].concat();
        let ran = dir.run(&[&cut[..], &REPORTS].concat());
        assert!(ran.status == 0 && ran.err.contains(said), "{}", ran.err);
        assert!(read(&dir, "r.html").contains(said));
        assert!(read(&dir, "r.csv").lines().last().unwrap().contains(said));
        let report: Value = serde_json::from_str(&read(&dir, "r.json")).unwrap();
        assert_eq!((&report["more"], &report["total"]), (&json!(true), &json!(10)));
        let lines = jsons(&dir.run(&[&cut[..], &["--format", "json"]].concat()).out);
        assert_eq!((lines.len(), &lines[4]), (5, &json!({"more": true, "shown": 4, "total": 10})));
        // A complete list has no last line with `more`.
        let all = dir.run(&[verb, &["-n", "10", "--format", "json"]].concat());
        assert_eq!(all.out.lines().count(), 10, "{}", all.out);
        assert!(jsons(&all.out).iter().all(|line| line.get("more").is_none()));
        let ran = dir.run(&[verb, &["-n", "10"], &REPORTS].concat());
        assert!(!ran.err.contains("shown"), "{}", ran.err);
        let report: Value = serde_json::from_str(&read(&dir, "r.json")).unwrap();
        assert_eq!((&report["more"], &report["total"]), (&json!(false), &json!(10)));
    }
}

#[test]
fn the_files_of_two_directories_are_counted() {
    let dir = Dir::new();
    for name in ["ann", "bob"] {
        (0..3).for_each(|n| dir.write(&format!("in/{name}/{n}.txt"), words(1, 60)));
    }
    let args = ["pairs", "in", "--by", "directory"];
    let pair = dir.json(&args);
    assert_eq!((pair["files"].as_array().unwrap().len(), &pair["files_total"]), (5, &json!(9)));
    let ran = dir.run(&args);
    assert!(ran.out.contains("5 of 9 pairs of files shown"), "{}", ran.out);
}

#[test]
fn pairs_below_the_threshold_are_not_said_to_have_nothing_in_common() {
    let dir = Dir::new();
    dir.write("in/ann.txt", words(1, 90));
    dir.write("in/bob.txt", words(1, 90));
    dir.write("in/cat.txt", format!("{} {}", words(1, 30), words(2, 60)));
    dir.write("in/dan.txt", words(3, 90));
    let args = ["pairs", "in", "--min-similarity", "0.8"];
    let ran = dir.run(&[&args[..], &REPORTS].concat());
    assert_eq!(ran.status, 0, "{}", ran.err);
    let report: Value = serde_json::from_str(&read(&dir, "r.json")).unwrap();
    let histogram = &report["histogram"];
    let sum = |name: &str| -> u64 {
        histogram[name].as_array().unwrap().iter().map(|pairs| pairs.as_u64().unwrap()).sum()
    };
    // Three of six pairs have something in common, two pairs below the threshold.
    assert_eq!((sum("pairs"), sum("below"), &histogram["none"]), (3, 2, &json!(3)), "{histogram}");
    assert_eq!((report["pairs"].as_array().unwrap().len(), &report["total"]), (1, &json!(1)));
    assert!(read(&dir, "r.html").contains("Below the thresholds"));
}

#[test]
fn a_quotation_is_found_by_its_length_alone() {
    // Regression: the default minimum containment of 0.1 applied, and a verbatim quotation was
    // missing.
    let dir = Dir::new();
    let quoted = words(1, 98);
    let long =
        |seed, quoted: &str| format!("{} {quoted} {}", words(seed, 900), words(seed + 1, 900));
    let lines = [("a", long(2, &quoted)), ("b", long(4, &quoted)), ("c", long(6, ""))];
    dir.write("in.jsonl", lines.map(|(id, text)| line(id, &text, json!({}))).concat());
    dir.json(&["add", "idx", "in.jsonl"]);
    assert_eq!(dir.run(&["pairs", "idx"]).status, 1, "less than a tenth");
    let pair = dir.json(&["pairs", "idx", "--min-passage", "40"]);
    assert_eq!(
        (&pair["a"], &pair["b"], &pair["passages"][0]["tokens"]),
        (&json!("a"), &json!("b"), &json!(98))
    );
    assert_eq!(dir.run(&["pairs", "idx", "--min-passage", "99"]).status, 1);
    // An explicit threshold applies in addition to the length.
    let both = ["pairs", "idx", "--min-passage", "40", "--min-containment", "0.1"];
    assert_eq!(dir.run(&both).status, 1);
}

#[test]
fn a_field_that_no_document_has_is_an_error_that_names_the_fields() {
    let dir = Dir::new();
    let text = words(1, 80);
    let meta =
        [json!({"series": "gazette"}), json!({"series": "herald"}), json!({"place": "Turin"})];
    let lines: String =
        (0..).zip(meta).map(|(n, meta)| line(&format!("d{n}"), &text, meta)).collect();
    dir.write("in.jsonl", lines);
    dir.json(&["add", "idx", "in.jsonl"]);
    for option in ["--group-by", "--within"] {
        let ran = dir.run(&["pairs", "idx", option, "sereis"]);
        assert_eq!((ran.status, &*ran.out), (2, ""), "{}", ran.err);
        assert!(ran.err.contains("no document has the field `sereis`"), "{}", ran.err);
        assert!(ran.err.contains("`place`, `series`"), "{}", ran.err);
    }
    let ran = dir.run(&["pairs", "idx", "--group-by", "series", "--report", "r.html"]);
    let pairs = ran.out.lines().filter(|line| !line.starts_with("    ")).count();
    assert_eq!((ran.status, pairs), (0, 3), "{}", ran.err);
    assert!(ran.err.contains("1 document without the field `series`"), "{}", ran.err);
    assert!(read(&dir, "r.html").contains("1 document does not have the field"));
    let within = || dir.run(&["pairs", "idx", "--within", "series"]);
    let ran = within();
    let why = "no two of 3 documents are of one group by `series`, so there are no pairs";
    assert!(ran.status == 2 && ran.err.contains(why), "{}", ran.err);
    dir.write("other.jsonl", line("d3", &words(9, 40), json!({"series": "herald"})));
    dir.json(&["add", "idx", "other.jsonl"]);
    let ran = within();
    assert!(ran.status == 1 && ran.err.contains("in no pair"), "{}", ran.err);
}

#[test]
fn a_report_of_programs_has_their_lines() {
    let dir = Dir::new();
    let program = |name: &str| {
        let lines: String = (0..12).map(|n| format!("    total += {name}.get({n});\n")).collect();
        format!("class A {{\n  int run(int total) {{\n{lines}    return total;\n  }}\n}}\n")
    };
    dir.write("a.java", program("one"));
    dir.write("b.java", program("other"));
    let code = ["--analyzer", "code", "--scheme", "winnow(k=5,w=4)", "--report", "r.html"];
    for verb in [&["pairs", "a.java", "b.java"][..], &["compare", "a.java", "b.java"]] {
        let ran = dir.run(&[verb, &code].concat());
        assert_eq!(ran.status, 0, "{}", ran.err);
        let html = read(&dir, "r.html");
        assert!(html.contains("class=\"excerpt code\"") && html.contains("data-n=\"3\""), "{html}");
        assert!(
            html.contains("lines 1 to") && html.contains(" tokens, 100.0\u{a0}% alike"),
            "{html}"
        );
    }
    assert!(read(&dir, "r.html").contains("class=\"text code\""));
    // In a report on prose, texts lack the class `code`.
    dir.write("a.txt", words(1, 60));
    dir.write("b.txt", words(1, 60));
    assert_eq!(dir.run(&["compare", "a.txt", "b.txt", "--report", "r.html"]).status, 0);
    assert!(!read(&dir, "r.html").contains("data-n=\"3\"></span>"));
}

#[test]
fn inputs_that_a_search_did_not_read_are_in_its_report() {
    let dir = indexed();
    dir.write("essay.txt", words(1, 120));
    dir.write("sheet/words.txt", words(8, 40));
    dir.write("sheet/picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0");
    let args = ["search", "idx", "essay.txt", "-b", "sheet"];
    let ran = dir.run(&[&args[..], &REPORTS].concat());
    assert_eq!(ran.status, 0, "{}", ran.err);
    for form in ["r.html", "r.json", "r.csv"] {
        let report = read(&dir, form);
        assert!(report.contains("sheet/picture.png") && report.contains("not read"), "{report}");
    }
}
