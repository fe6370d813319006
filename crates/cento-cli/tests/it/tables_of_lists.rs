//! Lists as tables: the columns are the fields of JSON.

use serde_json::{Value, json};

use crate::common::run::{Dir, line};
use crate::common::words;

/// An index of two documents with a passage in common, and of one with other words.
fn index() -> Dir {
    let dir = Dir::new();
    let shared = words(1, 40);
    let a = format!("{}\n{shared} {}", words(2, 30), words(3, 30));
    let b = format!("{} {shared}", words(4, 20));
    let lines = [
        line("a", &a, json!({"lang": "de"})),
        line("=b", &b, json!({})),
        line("c", &words(5, 50), json!({})),
    ];
    dir.write("in.jsonl", lines.concat());
    assert_eq!(dir.run(&["add", "idx", "in.jsonl"]).status, 0);
    dir
}

fn jsons(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The rows of a table, each as its cells by column.
fn rows(table: &str, delimiter: u8) -> Vec<Value> {
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(table.as_bytes());
    reader
        .deserialize()
        .map(|row| row.unwrap())
        .map(|row: std::collections::BTreeMap<String, String>| json!(row))
        .collect()
}

#[test]
fn a_table_of_passages_has_their_texts_and_what_stands_around_them() {
    let dir = index();
    let args = ["passages", "idx", "--context", "10", "--format"];
    let run = dir.run(&[&args[..], &["csv"]].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    let table = rows(&run.out, b',');
    assert_eq!(table.len(), 1, "{}", run.out);
    let found = jsons(&dir.run(&[&args[..], &["json"]].concat()).out);
    assert_eq!(found.len(), 1);
    // A text that begins like a formula is guarded in a table, and as it is in JSON.
    assert_eq!((&found[0]["a"], &found[0]["b"]), (&json!("a"), &json!("=b")));
    assert_eq!((&table[0]["a"], &table[0]["b"]), (&json!("a"), &json!("'=b")));
    for field in ["a_text", "b_text", "a_before", "a_after", "b_before", "b_after"] {
        assert_eq!(table[0][field], found[0][field], "{field}");
    }
    let texts = [&found[0]["a_text"], &found[0]["b_text"]].map(|text| text.as_str().unwrap());
    assert!(texts.iter().all(|text| text.contains(&words(1, 40))), "{texts:?}");
    assert_eq!(found[0]["a_before"].as_str().unwrap().chars().count(), 10);
    assert_eq!((&found[0]["a_line"], &table[0]["a_line"]), (&json!(2), &json!("2")));
    assert_eq!(found[0].get("b_line"), None);
    let human = dir.run(&["passages", "idx"]);
    assert!(human.out.contains(&format!("[{}]", words(1, 40))), "{}", human.out);
    assert!(human.err.contains("1 passage of 1 pair"), "{}", human.err);
    assert_eq!(dir.run(&["passages", "idx", "--min-passage", "100"]).status, 1);
}

#[test]
fn a_list_of_documents_is_the_same_in_every_format() {
    let dir = index();
    let list = |format: &str| dir.run(&["list", "idx", "--format", format]).out;
    let expected = jsons(&list("json"));
    for (format, delimiter) in [("csv", b','), ("tsv", b'\t')] {
        let table = rows(&list(format), delimiter);
        assert_eq!(table.len(), expected.len());
        for (row, json) in table.iter().zip(&expected) {
            assert_eq!(row["tokens"], json!(json["tokens"].to_string()));
            assert_eq!(row["added"], json["added"]);
            assert_eq!(row["meta"], json!(json["meta"].to_string()));
        }
        assert_eq!(table[1]["id"], json!("'=b"));
    }
}

#[test]
fn a_table_of_clusters_has_a_row_for_each_document() {
    let dir = Dir::new();
    let copy = |id: &str| line(id, &words(1, 50), json!({}));
    dir.write("in.jsonl", [copy("a"), copy("b"), line("c", &words(2, 50), json!({}))].concat());
    assert_eq!(dir.run(&["add", "idx", "in.jsonl"]).status, 0);
    let run = dir.run(&["cluster", "idx", "--format", "tsv"]);
    let table = rows(&run.out, b'\t');
    let ids: Vec<_> =
        table.iter().map(|row| (&row["cluster"], &row["id"], &row["resemblance"])).collect();
    assert_eq!(
        ids,
        [(&json!("1"), &json!("a"), &json!("")), (&json!("1"), &json!("b"), &json!("1.0"))]
    );
    assert_eq!(run.err, "", "a table is for programs");
}
