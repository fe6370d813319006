//! Files read by a command of the user (`--reader`).

use std::io::Write;

use serde_json::json;

use crate::common::run::Dir;
use crate::common::{words, zip};

/// A binary file: a text with zero bytes in place of spaces.
fn packed(text: &str) -> Vec<u8> {
    text.replace(' ', "\0").into_bytes()
}

const DJVU: &str = "djvu=tr '\\000' ' '";

#[test]
fn every_verb_reads_files_by_a_command() {
    let dir = Dir::new();
    let (one, two) = (words(1, 60), words(2, 60));
    dir.write("in/a.djvu", packed(&one));
    dir.write("in/z.zip", zip(&[("b.djvu", &packed(&two))]));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&packed(&format!("{one} {two}"))).unwrap();
    dir.write("in/c.djvu.gz", gz.finish().unwrap());
    let without = dir.run(&["add", "none.idx", "in", "--format", "json"]);
    assert_eq!(without.json()["added"], 0, "{}", without.err);
    assert_eq!(dir.json(&["add", "idx", "in", "--reader", DJVU])["added"], 3);
    let found = dir.json(&["search", "idx", "in/a.djvu", "--reader", DJVU]);
    assert_eq!(found["hits"][0]["id"], "in/a.djvu");
    dir.write("a.txt", &one);
    let compared = dir.json(&["compare", "a.txt", "in/a.djvu", "--reader", DJVU]);
    assert_eq!(compared["resemblance"], 1.0);
    let signed = dir.json(&["method", "fingerprint", "in/a.djvu", "--reader", DJVU]);
    assert_eq!(signed["tokens"], 60);
    let dedup = dir.json(&["dedup", "in/a.djvu", "a.txt", "--out", "o.jsonl", "--reader", DJVU]);
    assert_eq!((&dedup["kept"], &dedup["exact"]), (&json!(1), &json!(1)), "{dedup}");
    let pairs = dir.run(&["pairs", "in", "a.txt", "--reader", DJVU]);
    assert!(pairs.out.contains("100.0 %     60     60  in/a.djvu  a.txt"), "{}", pairs.out);
}

#[test]
fn a_command_that_fails_costs_its_file_and_gets_no_secrets() {
    let dir = Dir::new();
    dir.write("a.txt", words(1, 60));
    dir.write("b.djvu", "x");
    let run = dir.run(&[
        "add",
        "idx",
        "a.txt",
        "b.djvu",
        "--reader",
        "djvu=sh -c 'echo broken >&2; exit 4'",
    ]);
    assert_eq!(run.status, 3);
    assert!(run.err.contains("b.djvu: the reader of .djvu files failed"), "{}", run.err);
    assert!(run.err.contains("broken"), "{}", run.err);
    assert_eq!(dir.json(&["stats", "idx"])["documents"], 1);
    let mut shown = dir.command(&[
        "add",
        "idx",
        "b.djvu",
        "--reader",
        "djvu=sh -c 'echo token $CENTO_TOKEN $KEPT'",
    ]);
    assert!(shown.env("CENTO_TOKEN", "secret").env("KEPT", "kept").status().unwrap().success());
    let text = dir.json(&["search", "idx", "--text", "token kept", "--min-overlap", "1"]);
    assert_eq!(text["hits"][0]["id"], "b.djvu", "{text}");
    let run = dir.run(&["add", "idx", "b.djvu", "--reader", "pdftotext"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("EXT='COMMAND'"), "{}", run.err);
}
