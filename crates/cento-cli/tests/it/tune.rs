//! The real binary: `cento method tune` finds the setting for a collection.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::run::{Dir, Run, line};
use crate::common::wait_until;
use crate::common::words;

/// A directory with a collection of texts that share single words only.
fn collection(documents: u64, length: usize) -> Dir {
    let dir = Dir::new();
    let text = |of: u64| line(&format!("d{of}"), &words(of, length), json!({}));
    dir.write("all.jsonl", (0..documents).map(text).collect::<String>());
    dir
}

fn settings(report: &Value) -> &Vec<Value> {
    report["settings"].as_array().unwrap()
}

#[test]
fn the_commands_of_the_best_setting_find_the_copies() {
    let dir = collection(30, 60);
    let report = dir.json(&["method", "tune", "all.jsonl", "--for", "corpus"]);
    let all = settings(&report);
    assert!((10..=16).contains(&all.len()), "{}", all.len());
    assert_eq!(all[0]["create"], json!(["--for", "essays"]));
    assert_eq!((&all[0]["fingerprints_ratio"], &all[0]["add_ratio"]), (&json!(1.0), &json!(1.0)));
    let best = &all[report["best"].as_u64().unwrap() as usize];
    assert!(best["recall"]["value"].as_f64().unwrap() > 0.9, "{best}");
    assert_eq!(best["false_hits"], 0);
    let commands = report["commands"].as_array().unwrap();
    let run = |command: &str| -> Run {
        let words = shlex::split(command).unwrap();
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        dir.run(&words)
    };
    let created = run(commands[0].as_str().unwrap());
    assert_eq!(created.status, 0, "{}", created.err);
    dir.json(&["add", "NEW.idx", "all.jsonl"]);
    let text = words(7, 60);
    dir.write("FILE", format!("{} of another text", &text[..text.len() * 9 / 10]));
    let found = run(commands[1].as_str().unwrap());
    assert_eq!(found.status, 0, "{}", found.err);
    assert!(found.out.contains("d7"), "{}", found.out);
    let pairs = run(commands[2].as_str().unwrap());
    assert_eq!((pairs.status, &*pairs.out), (1, ""), "{}", pairs.err);
}

#[test]
fn an_index_with_texts_is_a_collection_and_the_seed_decides() {
    let dir = collection(14, 40);
    dir.json(&["add", "idx", "all.jsonl"]);
    let recalls = |args: &[&str]| {
        let report = dir.json(&[&["method", "tune", "--for", "ocr"], args].concat());
        assert_eq!(report["documents"], 12);
        let recall = |setting: &Value| setting["recall"].clone();
        settings(&report).iter().map(recall).collect::<Vec<_>>()
    };
    let of_file = recalls(&["all.jsonl"]);
    assert_eq!(recalls(&["idx"]), of_file);
    assert_ne!(recalls(&["idx", "--seed", "2"]), of_file);
    dir.json(&["add", "without", "all.jsonl", "--no-text"]);
    let refused = dir.run(&["method", "tune", "without"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("stores no texts"), "{}", refused.err);
}

#[test]
fn pairs_decide_and_those_that_name_no_document_are_named() {
    let dir = collection(60, 80);
    let mut pairs = String::from("a\tb\tcopied\n");
    let mut copies = String::new();
    for of in 0..30 {
        let text = words(of, 80);
        let copy = format!("{} {}", &text[..text.len() / 2], words(500 + of, 40));
        copies += &line(&format!("copy-{of}"), &copy, json!({}));
        pairs += &format!("copy-{of}\td{of}\t1\ncopy-{of}\td{}\t0\n", of + 30);
    }
    dir.write("copies.jsonl", copies);
    dir.write("judged.tsv", format!("{pairs}copy-1\tgone\t1\nno pair\n"));
    let args = ["method", "tune", "all.jsonl", "copies.jsonl", "--pairs", "judged.tsv"];
    let run = dir.run(&[&args[..], &["--format", "json"]].concat());
    assert_eq!(run.status, 3);
    assert!(run.err.contains("judged.tsv:62") && run.err.contains("`gone`"), "{}", run.err);
    assert!(run.err.contains("judged.tsv:63"), "{}", run.err);
    assert!(run.err.contains("too few to tell settings apart"), "{}", run.err);
    let report = run.json();
    assert_eq!(report["not_compared"].as_array().unwrap().len(), 2);
    assert_eq!(report["judged_by_labels"], true);
    let queries = |half: &str| report[half].as_u64().unwrap();
    assert_eq!(queries("queries_to_choose") + queries("queries_to_judge"), 30);
    let best = &settings(&report)[report["best"].as_u64().unwrap() as usize];
    assert!(best["recall"]["value"].as_f64().unwrap() > 0.9, "{best}");
    assert_eq!(best["false_hits"], 0, "{best}");
    assert!(best["threshold_option"].as_str().unwrap().ends_with("resemblance"), "{best}");
}

#[test]
fn texts_of_pairs_need_no_collection() {
    let dir = Dir::new();
    let pair = |of: u64| {
        let text = words(of, 60);
        json!({"text_a": text, "text_b": format!("{text} and more"), "kind": "whole"})
    };
    let lines: String = (0..24).map(|of| pair(of).to_string() + "\n").collect();
    dir.write("pairs.jsonl", lines);
    let report = dir.json(&["method", "tune", "--pairs", "pairs.jsonl"]);
    let first = &settings(&report)[0];
    assert_eq!(first["recall"]["value"], 1.0, "{first}");
    assert_eq!(first["kinds"][0]["kind"], "whole");
}

#[test]
fn renamed_programs_are_the_same_by_their_code_and_others_by_their_words() {
    let dir = Dir::new();
    for of in 0..16 {
        let lines: String = (0..12)
            .map(|at| format!("    int v{at} = w{} * {of} + call{of}(v0, {at});\n", at % 5))
            .collect();
        let program = format!(
            "class P{of} {{\n  int run{of}(int w0, int w1, int w2, int w3, int w4) {{\n\
             {lines}{more}    return v0;\n  }}\n}}\n",
            more = "    if (v1 > v2) { v3++; }\n".repeat(of)
        );
        dir.write(&format!("programs/P{of}.java"), program);
    }
    let report = dir.json(&["method", "tune", "programs", "--for", "code"]);
    let code = &settings(&report)[1];
    assert_eq!(code["create"], json!(["--for", "code", "--analyzer", "code(language=java)"]));
    let words = &settings(&report)[0];
    // The originals whose texts resemble the query by .9 and more.
    let alike = |setting: &Value| setting["curve"][9]["found"]["of"].as_u64().unwrap();
    let all = code["recall"]["of"].as_u64().unwrap();
    assert!(all > 10 && alike(code) == all && alike(words) == 0, "{code} {words}");
}

#[test]
fn labels_of_json_are_read_as_those_of_a_table() {
    let dir = collection(60, 80);
    let (mut table, mut lines, mut copies) = (String::new(), String::new(), String::new());
    for of in 0..30 {
        let text = words(of, 80);
        copies += &line(&format!("c{of}"), &format!("{text} end"), json!({}));
        for (other, label) in [(of, 1), (of + 30, 0)] {
            table += &format!("c{of}\td{other}\t{label}\n");
            lines += &(json!({"a": format!("c{of}"), "b": format!("d{other}"), "label": label})
                .to_string()
                + "\n");
        }
    }
    dir.write("copies.jsonl", copies);
    dir.write("pairs.tsv", &table);
    dir.write("pairs.jsonl", &lines);
    let judged = |pairs: &str| {
        let report = dir.json(&["method", "tune", "all.jsonl", "copies.jsonl", "--pairs", pairs]);
        let recall = |setting: &Value| (setting["recall"].clone(), setting["false_hits"].clone());
        let all = settings(&report).iter().map(recall).collect::<Vec<_>>();
        (report["judged_by_labels"].clone(), all)
    };
    let of_table = judged("pairs.tsv");
    assert_eq!(of_table.0, true);
    assert_eq!(judged("pairs.jsonl"), of_table);
    let refused = |pairs: &str, parts: &[&str]| {
        dir.write("wrong", pairs);
        let run = dir.run(&["method", "tune", "all.jsonl", "copies.jsonl", "--pairs", "wrong"]);
        assert_eq!((run.status, &*run.out), (2, ""), "{}", run.err);
        assert!(parts.iter().all(|part| run.err.contains(part)), "{}", run.err);
    };
    refused("{\"a\":\"c1\",\"b\":\"d1\",\"Same\":false}\n", &["wrong:1", "`Same`", "`same`"]);
    let both = "labelled the same and different";
    refused(&format!("{table}d2\tc2\t0\n"), &["wrong:61", "wrong:5", both]);
    refused(&format!("{table}c2\tc2\t1\n"), &["wrong:61", "`c2` is paired with itself"]);
}

#[test]
fn copies_of_the_original_are_the_original() {
    let dir = Dir::new();
    let copies = (0..20u64).flat_map(|of| {
        (0..25).map(move |copy| line(&format!("{of}-{copy}"), &words(of, 120), json!({})))
    });
    dir.write("rep.jsonl", copies.collect::<String>());
    let report = dir.json(&["method", "tune", "rep.jsonl", "--for", "corpus"]);
    assert_eq!(report["documents"], 18 * 25);
    let best = &settings(&report)[report["best"].as_u64().unwrap() as usize];
    assert_eq!((&best["recall"]["value"], &best["first"]["value"]), (&json!(1.0), &json!(1.0)));
    dir.write(
        "few.jsonl",
        (0..30).map(|of| line(&of.to_string(), &words(of % 3, 90), json!({}))).collect::<String>(),
    );
    let few = dir.run(&["method", "tune", "few.jsonl"]);
    assert!(few.err.contains("30 documents with 3 different texts"), "{}", few.err);
}

#[test]
fn programs_in_other_languages_are_left_out_and_named() {
    let dir = Dir::new();
    let java = |of: usize| {
        let lines: String =
            (0..12).map(|at| format!("    int v{at} = w{} * {of};\n", at % 5)).collect();
        format!(
            "class P{of} {{\n  int run{of}(int w0, int w1) {{\n{lines}    return v0;\n  }}\n}}\n"
        )
    };
    let mut records = String::new();
    for of in 0..12 {
        dir.write(&format!("TM/P{of}.java"), java(of));
        records += &line(&format!("P{of}.java"), &java(of), json!({}));
    }
    dir.write("TM/a.py", "def f(x):\n    return x\n");
    dir.write("TM/b.c", "int f(int x) { return x; }\n");
    records += &line("a.py", "def f(x):\n    return x\n", json!({}));
    let args = ["method", "tune", "TM", "--for", "code", "--report", "r.json"];
    let run = dir.run(&[&args[..], &["--format", "json"]].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    for name in ["TM/a.py", "TM/b.c"] {
        assert!(
            run.err.contains(&format!("{name}: skipped: it does not have a file extension")),
            "{}",
            run.err
        );
    }
    let report = run.json();
    let names = |report: &Value| {
        let all = report["left_out"].as_array().unwrap().iter();
        all.map(|left| left["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        (names(&report), &report["documents"]),
        (vec!["TM/a.py".into(), "TM/b.c".into()], &json!(10))
    );
    let written: Value =
        serde_json::from_str(&fs::read_to_string(dir.path("r.json")).unwrap()).unwrap();
    let left_out = &written["run"]["parameters"]["skipped by name"];
    assert_eq!(left_out, "2 files: TM/a.py, TM/b.c");
    // A record, and a stored document, have the name of their id.
    dir.write("records.jsonl", records);
    dir.json(&["add", "idx", "records.jsonl"]);
    for input in ["records.jsonl", "idx"] {
        let report = dir.json(&["method", "tune", input, "--for", "code"]);
        assert_eq!(
            (names(&report), &report["documents"]),
            (vec!["a.py".into()], &json!(10)),
            "{input}"
        );
        assert_eq!(settings(&report)[1]["create"][3], "code(language=java)");
    }
    let all = dir.json(&["method", "tune", "TM", "--for", "code", "--include", "*"]);
    assert_eq!((all.get("left_out"), &all["documents"]), (None, &json!(12)));
}

#[test]
fn a_report_is_written_in_each_form() {
    let dir = collection(20, 60);
    let reports = ["t.html", "t.csv", "t.json"];
    let args: Vec<&str> = reports.iter().flat_map(|report| ["--report", report]).collect();
    let run =
        dir.run(&[&["method", "tune", "all.jsonl", "--title", "Which one?"], &args[..]].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    let [html, csv, json] = reports.map(|report| fs::read_to_string(dir.path(report)).unwrap());
    let best = run.out.lines().find(|line| line.starts_with("Best: ")).unwrap();
    assert!(best.contains("F1"), "{best}");
    let json: Value = serde_json::from_str(&json).unwrap();
    let all = settings(&json);
    assert_eq!(csv.lines().count(), all.len() + 1);
    assert_eq!(csv.lines().filter(|line| line.contains(",yes,")).count(), 1);
    assert!(html.contains("<h1><bdi>Which one?") && html.contains("<polyline"), "{html}");
    assert_eq!(html.matches("<circle cx=").count(), all.len());
    assert!(!html.contains("NaN") && !html.contains("inf\""), "{html}");
    assert_eq!(json["run"]["parameters"]["paths"], "all.jsonl");
}

#[test]
fn too_few_documents_are_refused() {
    let dir = collection(9, 60);
    let run = dir.run(&["method", "tune", "all.jsonl"]);
    assert_eq!((run.status, &*run.out), (2, ""));
    assert!(run.err.contains("9 documents") && run.err.contains("at least 10"), "{}", run.err);
    assert_eq!(dir.run(&["method", "tune"]).status, 2);
    assert_eq!(dir.run(&["method", "tune", "all.jsonl", "--pairs", "all.jsonl"]).status, 2);
    assert_eq!(dir.run(&["method", "tune", "all.jsonl", "--sample", "5"]).status, 2);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_no_index_behind() {
    let dir = collection(400, 200);
    let temporary = dir.path("tmp");
    fs::create_dir(&temporary).unwrap();
    let entries = || fs::read_dir(&temporary).unwrap().count();
    let mut command = dir.command(&["method", "tune", "all.jsonl"]);
    command.env("TMPDIR", &temporary).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    wait_until("an index is made", || entries() > 0);
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(entries(), 0);
}
