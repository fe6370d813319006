//! The real binary: similar programs, and boilerplate in programs.

use std::fs;

use serde_json::{Value, json};

use crate::cli_join::jsons;
use crate::common::run::{Dir, line};
use crate::common::service::Service;
use crate::common::words;

/// Returns a program that is a table of numbers.
fn table(seed: u64) -> String {
    let mut rows = String::new();
    for row in 0..60u64 {
        let number = |at: u64| (seed * 7_919 + row * 104_729 + at * 1_299_709) % 999_983;
        rows += &format!("    {{{}, {}, {}}},\n", number(1), number(2), number(3));
    }
    format!("class Data{seed} {{\n static final int[][] T = {{\n{rows}}};\n}}\n")
}

/// A program that counts words, with these local names.
fn counting(names: [&str; 5]) -> String {
    let [file, total, each, least, text] = names;
    format!(
        "import java.nio.file.*;\nimport java.util.*;\nclass Main {{\n\
         public static void main(String[] args) throws Exception {{\n\
         Map<String, Integer> {total} = new TreeMap<>();\n\
         String {text} = new String(Files.readAllBytes(Paths.get(args[0])));\n\
         for (String {each} : {text}.toLowerCase().split(\"[^a-z]+\")) {{\n\
         {total}.merge({each}, 1, Integer::sum); }}\n\
         int {least} = Integer.parseInt(args[1]);\n\
         for (Map.Entry<String, Integer> {file} : {total}.entrySet()) {{\n\
         if ({file}.getValue() >= {least}) {{\n\
         System.out.println({file}.getKey() + \" \" + {file}.getValue()); }} }} }} }}\n"
    )
}

const ANN: [&str; 5] = ["entry", "counts", "word", "least", "text"];
const BOB: [&str; 5] = ["pair", "seen", "w", "low", "all"];

fn kept(dir: &Dir, args: &[&str]) -> Vec<Value> {
    let run = dir.run(&[&["dedup", "m.jsonl", "--out", "kept.jsonl"], args].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    let kept = jsons(&fs::read_to_string(dir.path("kept.jsonl")).unwrap());
    fs::remove_file(dir.path("kept.jsonl")).unwrap();
    kept.into_iter().map(|one| one["id"].clone()).collect()
}

#[test]
fn submissions_without_a_name_of_the_language_are_read_wherever_they_go() {
    let dir = Dir::new();
    for name in ["class/ann/main.txt", "class/bob/main.txt"] {
        dir.write(name, counting(ANN));
    }
    let by = |verb: &[&str]| {
        let run = dir.run(&[verb, &["class", "--by", "directory"], &JAVA].concat());
        assert_eq!(run.status, 0, "{}", run.err);
        assert!(!run.err.contains("skipped"), "{}", run.err);
        run
    };
    assert!(by(&["pairs"]).out.contains("class/ann  class/bob"));
    assert!(by(&["add", "idx"]).err.contains("2 added; "));
    let service = Service::start(&dir, &[]);
    let to_service = ["add", "--url", &service.url, "class", "--by", "directory"];
    assert_eq!(dir.json(&to_service)["skipped"], 0);
    // An index behind a service also skips foreign languages, if there are files in the language of
    // the index.
    dir.write("class/ann/A.java", counting(BOB));
    let run = dir.run(&to_service);
    assert!(run.err.contains("1 replaced, 3 skipped; "), "{}", run.err);
    assert!(service.stop());
}

const JAVA: [&str; 4] = ["--for", "code", "--analyzer", "code(language=java)"];

#[test]
fn texts_without_a_common_word_are_no_duplicates_as_programs() {
    let dir = Dir::new();
    let prose = (0..4u64).map(|at| line(&format!("prose{at}"), &words(at, 200), json!({})));
    let tables = (0..3u64).map(|at| line(&format!("table{at}"), &table(at), json!({})));
    dir.write("m.jsonl", prose.chain(tables).collect::<String>());
    assert_eq!(kept(&dir, &JAVA).len(), 7);
    // An index of programs finds no duplicates either, with or without stored texts.
    dir.write("A.java", counting(ANN));
    dir.write("T.java", table(9));
    for (index, more) in [("texts.idx", &[][..]), ("bare.idx", &["--no-text"])] {
        dir.json(&[&["add", index, "A.java", "T.java", "--for", "code"], more].concat());
        assert_eq!(kept(&dir, &["--against", index]).len(), 7, "{index}");
    }
    dir.json(&[&["add", "idx", "m.jsonl"], &JAVA[..]].concat());
    let pairs = dir.run(&["pairs", "idx", "--rank", "score", "--format", "json"]);
    for pair in jsons(&pairs.out).iter().filter(|pair| pair["a"].is_string()) {
        assert!(pair["score"].as_f64().unwrap() < 0.1, "{pair}");
    }
    let clusters = dir.run(&["cluster", "idx", "--format", "json"]);
    assert_eq!(jsons(&clusters.out).iter().filter(|one| one["cluster"].is_u64()).count(), 0);
}

#[test]
fn a_program_with_other_names_is_found() {
    let dir = Dir::new();
    let commented = counting(ANN).replace(";\n", "; // counts\n");
    let some = counting(["entry", "counts", "word", "minimum", "text"]);
    for (name, text) in
        [("ann", counting(ANN)), ("bob", counting(BOB)), ("cy", commented), ("di", some)]
    {
        dir.write(&format!("in/{name}.java"), text);
    }
    dir.json(&["add", "idx", "in", "--for", "code"]);
    let run = dir.run(&["pairs", "in", "--for", "code", "--limit", "1", "--format", "json"]);
    let best = &jsons(&run.out)[0];
    assert!(best["score"].as_f64().unwrap() > 0.6, "{best}");
    let bob = dir.run(&["pairs", "idx", "--rank", "score", "--format", "json"]);
    let bob = jsons(&bob.out);
    let of_bob = |pair: &&Value| [&pair["a"], &pair["b"]].contains(&&json!("in/bob.java"));
    for pair in bob.iter().filter(of_bob) {
        assert!(pair["score"].as_f64().unwrap() > 0.6, "{pair}");
    }
    // A copy with renamed local names is a duplicate if most words are equal.
    let run = dir.run(&["dedup", "in", "--for", "code", "--out", "out.jsonl"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let ids: Vec<Value> = jsons(&fs::read_to_string(dir.path("out.jsonl")).unwrap())
        .into_iter()
        .map(|one| one["id"].clone())
        .collect();
    assert_eq!(ids, ["in/ann.java"]);
    // The copies are a single cluster.
    let clusters = dir.run(&["cluster", "idx", "--format", "json"]);
    assert_eq!(jsons(&clusters.out)[0]["size"], 4);
}

#[test]
fn programs_that_are_too_short_are_duplicates_only_of_equal_texts() {
    let dir = Dir::new();
    for number in 1..=3 {
        dir.write(&format!("in/s{number}.py"), format!("print('hello {number}')\n"));
    }
    dir.write("in/s4.py", "print('hello 1')\n");
    dir.json(&["add", "idx", "in", "--for", "code"]);
    let run = dir.run(&["dedup", "in", "--for", "code", "--out", "out.jsonl"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert_eq!(jsons(&fs::read_to_string(dir.path("out.jsonl")).unwrap()).len(), 3);
    let run = dir.run(&["cluster", "idx", "--format", "json"]);
    assert_eq!(
        jsons(&run.out).iter().filter(|one| one["cluster"].is_u64()).count(),
        0,
        "{}",
        run.out
    );
}

/// A template with every run of five tokens of Ann's program, without the names.
fn template() -> String {
    let other = counting(["e", "t", "x", "m", "s"]);
    let lines: Vec<&str> = other.lines().collect();
    let reading = "import java.io.*;\nclass Main {\n// Read the input here.\n\
                   static Scanner in = new Scanner(System.in);\n}\n";
    lines.chunks(2).rev().map(|two| two.join("\n")).collect::<Vec<_>>().join("\n") + reading
}

#[test]
fn own_code_that_is_like_a_template_but_for_its_names_is_no_boilerplate() {
    let dir = Dir::new();
    dir.write("t/start.java", template());
    dir.write("s/ann.java", counting(ANN));
    dir.write("s/bob.java", counting(BOB));
    let passages = |more: &[&str]| {
        let args = ["pairs", "s", "--for", "code", "--passages", "--format", "json"];
        let run = dir.run(&[&args[..], more].concat());
        assert_eq!(run.status, 0, "{}", run.err);
        let pair = jsons(&run.out)[0].clone();
        let tokens = |passage: &Value| passage["tokens"].as_u64().unwrap();
        pair["passages"].as_array().unwrap().iter().map(tokens).sum::<u64>()
    };
    let all = passages(&[]);
    assert!(passages(&["-b", "t"]) * 2 > all, "{} of {all}", passages(&["-b", "t"]));
    // Code from the template is boilerplate, whatever the layout and comments.
    let same = counting(ANN).replace("; ", ";\n\n\t").replace("{\n", "{ // here\n");
    dir.write("same/Main.java", same);
    let run =
        dir.run(&["pairs", "s", "--for", "code", "-b", "same", "--format", "json", "--passages"]);
    assert!(
        jsons(&run.out).iter().all(|pair| pair["passages"] == json!([]) || pair["a"].is_null()),
        "{}",
        run.out
    );
}

#[test]
fn boilerplate_of_programs_is_the_same_by_file_and_by_itself() {
    let dir = Dir::new();
    let given = "import java.util.*;\nclass Main {\n// Do not change this method.\n\
                 static int[] read(Scanner in, int count) {\nint[] all = new int[count];\n\
                 for (int at = 0; at < count; at++) { all[at] = in.nextInt(); }\nreturn all;\n}\n";
    for student in 0..8u64 {
        let own: String = (0..20)
            .map(|at| format!("int f{student}x{at} = g{at}(h{student}) + {};\n", student * 31 + at))
            .collect();
        let other = counting(if student % 2 == 0 { ANN } else { BOB });
        dir.write(
            &format!("in/s{student}.java"),
            format!("{given}void own() {{\n{own}}}\n}}\n{other}"),
        );
    }
    let run = dir.run(&["method", "boilerplate", "in", "--for", "code", "--out", "b.jsonl"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let pairs = |boilerplate: &str| {
        let args = ["pairs", "in", "--for", "code", "--format", "json", "-b", boilerplate];
        let run = dir.run(&args);
        assert_eq!(run.status, 0, "{}", run.err);
        jsons(&run.out)
    };
    let by_file = pairs("b.jsonl");
    assert!(!by_file.is_empty());
    assert_eq!(by_file, pairs("auto"));
}

#[test]
fn boilerplate_that_is_not_there_is_an_error() {
    let dir = Dir::new();
    fs::create_dir(dir.path("empty")).unwrap();
    dir.write("in/a.txt", words(1, 50));
    dir.write("in/b.txt", words(1, 60));
    dir.json(&["add", "idx", "in"]);
    for args in [
        &["pairs", "in", "-b", "empty"][..],
        &["search", "idx", "in/a.txt", "-b", "empty"],
        &["dedup", "in", "--out", "o.jsonl", "-b", "empty"],
        &["cluster", "idx", "-b", "empty"],
    ] {
        let run = dir.run(args);
        assert!(
            run.status == 2 && run.err.contains("empty: there is no text in it"),
            "{}",
            run.err
        );
    }
}

#[test]
fn a_report_and_a_search_count_the_same_tokens_of_a_program() {
    let dir = Dir::new();
    dir.write("in/a.java", counting(ANN));
    dir.write("in/b.java", counting(BOB));
    dir.json(&["add", "idx", "in", "--for", "code"]);
    let args = ["search", "idx", "in/a.java", "--passages"];
    let found = dir.json(&[&args[..], &["--report", "a.json"]].concat());
    let report: Value =
        serde_json::from_str(&fs::read_to_string(dir.path("a.json")).unwrap()).unwrap();
    let size = &report["documents"][0]["size"];
    assert_eq!(size, &found["query"]["tokens"], "{report}");
}

#[test]
fn messages_about_programs_say_what_to_do() {
    let dir = Dir::new();
    for at in 0..4u64 {
        dir.write(&format!("in/{at}.txt"), words(1, 60) + " " + &words(2 + at, 20));
        let cell = json!({"cells": [{"cell_type": "code", "source": ["x = 1"]}]});
        dir.write(&format!("notes/{at}.ipynb"), cell.to_string());
    }
    let check = |args: &[&str], part: &str| {
        let run = dir.run(args);
        assert!(run.status == 2 && run.err.contains(part), "{}", run.err);
    };
    check(&["pairs", "in", "--rank", "score"], "with `--for code`");
    check(&["pairs", "notes", "--for", "code"], "such as `notes/0.ipynb`");
}
