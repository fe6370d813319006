//! The real binary: Parquet files copied without part of the text, and copies that could not be
//! written.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::run::{Dir, Run, line};

const PARQUET: &[u8] = include_bytes!("tables/sample.parquet");
const LINES: &str = include_str!("tables/sample.jsonl");
const COLUMNS: [&str; 4] = ["--text-field", "content", "--id-field", "url"];

fn texts() -> Vec<String> {
    let text = |line| serde_json::from_str::<Value>(line).unwrap()["content"].as_str().map(from);
    LINES.lines().map(|line| text(line).unwrap()).collect()
}

fn from(text: &str) -> String {
    text.to_owned()
}

/// Words of a row, different for each row.
fn passage(row: usize, words: usize) -> String {
    texts()[row].split(' ').take(words).collect::<Vec<_>>().join(" ")
}

/// Every row of a Parquet file, with every column.
fn rows(dir: &Dir, name: &str) -> Vec<Value> {
    let args = ["dedup", name, "--annotate", "--exact", "--out", "rows.jsonl"];
    dir.run(&[&args[..], &COLUMNS].concat());
    let text = fs::read_to_string(dir.path("rows.jsonl")).unwrap();
    fs::remove_file(dir.path("rows.jsonl")).unwrap();
    let mut rows: Vec<Value> = text.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    for row in &mut rows {
        row.as_object_mut().unwrap().remove("dedup");
    }
    rows
}

/// Runs a command with a limit on the size of written files, in blocks of 512 bytes.
fn limited(dir: &Dir, blocks: u32, args: &[&str]) -> Run {
    let cento = env!("CARGO_BIN_EXE_cento");
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {cento} \"$@\"");
    let mut command = Command::new("sh");
    let command = command.args(["-c", &script, "sh"]).args(args).current_dir(dir.path("."));
    command.output().unwrap().into()
}

fn names(dir: &Dir, of: &str) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let names = fs::read_dir(dir.path(of)).unwrap().map(name);
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

#[test]
fn a_copy_without_contaminated_rows_of_parquet_is_whole_or_missing() {
    let dir = Dir::new();
    dir.write("in/a.parquet", PARQUET);
    dir.write("bench.jsonl", format!("{}\n", json!({"question": texts()[7]})));
    let args = ["decontaminate", "in", "--against", "bench.jsonl", "--out", "out/"];
    let args = [&args[..], &COLUMNS].concat();
    let run = limited(&dir, 8, &args);
    assert_eq!(run.status, 2, "{} {}", run.out, run.err);
    assert!(run.err.contains("a.parquet"), "{}", run.err);
    assert_eq!(names(&dir, "out"), [""; 0], "nothing incomplete stays");
    assert_eq!(dir.run(&args).status, 0);
    assert_eq!(names(&dir, "out"), ["a.parquet"]);
}

#[test]
fn a_column_says_which_rows_of_parquet_may_be_duplicates() {
    // Regression: copies of Parquet files have no records, and the column was not read.
    let dir = Dir::new();
    dir.write("in/a.parquet", PARQUET);
    for (option, lines, copies) in
        [("--within", "within.jsonl", "within/"), ("--group-by", "across.jsonl", "across/")]
    {
        let args = [&["dedup", "in", option, "kind"][..], &COLUMNS].concat();
        let lines = dir.json(&[&args[..], &["--out", lines]].concat());
        let copied = dir.json(&[&args[..], &["--out", copies]].concat());
        assert_eq!(copied, lines, "{option}");
    }
    let all = [&["dedup", "in", "--out", "all.jsonl"][..], &COLUMNS].concat();
    let kept = |name: &str| fs::read_to_string(dir.path(name)).unwrap().lines().count();
    dir.json(&all);
    assert!(kept("within.jsonl") > kept("all.jsonl"), "the column decides");
}

#[test]
fn passages_are_cut_out_of_rows_of_parquet_and_all_else_stays() {
    let dir = Dir::new();
    dir.write("in/a.parquet", PARQUET);
    // Part of the text of a row is a question.
    let question = passage(7, 15);
    dir.write("bench.jsonl", format!("{}\n", json!({"question": question})));
    let before = rows(&dir, "in/a.parquet");
    let args =
        ["decontaminate", "in", "--against", "bench.jsonl", "--out", "out/", "--cut-passages"];
    let summary = dir.json(&[&args[..], &COLUMNS].concat());
    assert_eq!((&summary["dropped"], &summary["cut"]), (&json!(0), &json!(1)), "{summary}");
    let after = rows(&dir, "out/a.parquet");
    assert_eq!(after.len(), before.len());
    for (number, (before, after)) in before.iter().zip(&after).enumerate() {
        if number != 7 {
            assert_eq!(before, after);
            continue;
        }
        let [was, is] = [before, after].map(|row| row["content"].as_str().unwrap());
        assert_eq!(is.trim(), was.strip_prefix(&question).unwrap().trim());
        for (name, value) in
            before.as_object().unwrap().iter().filter(|(name, _)| *name != "content")
        {
            assert_eq!(&after[name], value, "{name}");
        }
    }
    // The same passage, now in a document of a second index.
    dir.write("own.jsonl", line("own", &question, json!({})));
    assert_eq!(dir.run(&["add", "idx", "own.jsonl", "--scheme", "kgram(k=5)"]).status, 0);
    let args = ["dedup", "in", "--against", "idx", "--only-against", "--cut-passages", "10"];
    let summary = dir.json(&[&args[..], &["--out", "cut/"], &COLUMNS].concat());
    assert_eq!((&summary["near"], &summary["cut"]), (&json!(0), &json!(1)), "{summary}");
    assert_eq!(rows(&dir, "cut/a.parquet"), after);
}
