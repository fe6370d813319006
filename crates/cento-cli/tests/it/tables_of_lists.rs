//! Lists as tables: the columns are the fields of JSON.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Map, Value, json};

use crate::common::run::{Dir, line};
use crate::common::words;

/// An index of two documents that share a passage, and a document with different words.
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

/// The rows of a table, each as a map from column to cell.
fn rows(table: &str, delimiter: u8) -> Vec<Value> {
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(table.as_bytes());
    reader
        .deserialize()
        .map(|row| row.unwrap())
        .map(|row: BTreeMap<String, String>| json!(row))
        .collect()
}

#[test]
fn a_table_of_passages_has_their_texts_and_contexts() {
    let dir = index();
    let args = ["pairs", "idx", "--min-passage", "20", "--context", "10", "--format"];
    let run = dir.run(&[&args[..], &["csv"]].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    let table = rows(&run.out, b',');
    assert_eq!(table.len(), 1, "{}", run.out);
    let found = jsons(&dir.run(&[&args[..], &["json"]].concat()).out);
    assert_eq!(found.len(), 1);
    // A text that looks like a formula is escaped in a table, and unchanged in JSON.
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
    let human = dir.passages(&[]);
    assert!(human.out.contains(&format!("[{}]", words(1, 40))), "{}", human.out);
    assert!(human.err.contains("1 passage of 1 pair"), "{}", human.err);
    assert_eq!(dir.run(&["pairs", "idx", "--min-passage", "100", "--context", "40"]).status, 1);
}

#[test]
fn rows_of_passages_can_be_those_of_the_best_pairs_of_indexes() {
    let dir = Dir::new();
    let text = |shared: usize, own: u64| format!("{} {}", words(1, shared), words(own, 30));
    let texts = [("x", text(90, 2)), ("y", text(90, 3)), ("z", text(40, 4))];
    dir.write("in.jsonl", texts.map(|(id, text)| line(id, &text, json!({}))).concat());
    assert_eq!(dir.run(&["add", "idx", "in.jsonl"]).status, 0);
    let pairs_of = |more: &[&str]| -> Vec<Value> {
        let args = ["pairs", "idx", "--context", "0", "--format", "json"];
        let found = jsons(&dir.run(&[&args[..], more].concat()).out);
        found.iter().map(|row| json!([row["a"], row["b"]])).collect()
    };
    assert_eq!(pairs_of(&[]), [json!(["x", "y"]), json!(["x", "z"]), json!(["y", "z"])]);
    assert_eq!(pairs_of(&["--limit", "1", "--rank", "passages"]), [json!(["x", "y"])]);
    assert_eq!(pairs_of(&["--limit", "1", "--out", "rows.jsonl"]), [json!(null); 0]);
    assert_eq!(jsons(&fs::read_to_string(dir.path("rows.jsonl")).unwrap()).len(), 1);
    dir.write("x.txt", words(1, 90));
    let refused = dir.run(&["pairs", "x.txt", "x.txt", "--context", "1"]);
    assert!(refused.err.contains("--context is for pairs of indexes"), "{}", refused.err);
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

/// Returns the cell of a table for a value of JSON.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        // A spreadsheet would evaluate the text as a formula.
        Value::String(text) if text.starts_with(['=', '+', '-', '@']) => format!("'{text}"),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Returns the cells for the fields of an object. A field has a column, or a column for each nested
/// field.
fn cells(object: &Value, columns: &Map<String, Value>, place: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (field, value) in object.as_object().unwrap() {
        let name = format!("{place}{field}");
        if columns.contains_key(&name) {
            all.insert(name, cell(value));
        } else {
            assert!(value.is_object(), "there is no column {name}");
            all.extend(cells(value, columns, &format!("{name}.")));
        }
    }
    all
}

/// Extracts the rows of the table from a JSON line of a verb.
type Items = fn(Value) -> Vec<Value>;

/// The arguments of every verb with a list, and a function that extracts the rows.
const LISTS: [(&[&str], Items); 13] = [
    (&["search", "idx", "q.txt", "q2.txt", "--passages", "--min-overlap", "1"], hits),
    (&["search", "idx", "q.txt", "--verify", "cosine", "--rank", "weight"], hits),
    (&["pairs", "idx", "--min-passage", "20", "--rank", "weight"], item),
    (&["pairs", "idx", "--passages"], item),
    (&["pairs", "q.txt", "q2.txt", "--min-passage", "20"], item),
    (&["pairs", "in", "--by", "directory"], item),
    (&["pairs", "idx", "--min-passage", "20", "--context", "40"], item),
    (&["cluster", "idx", "--min-resemblance", "0.1"], members),
    (&["method", "boilerplate", "repeated"], item),
    (&["list", "idx"], item),
    (&["info", "schemes"], item),
    (&["info", "measures", "cosine", "hamming"], item),
    (&["info", "formats"], item),
];

fn item(line: Value) -> Vec<Value> {
    vec![line]
}

fn hits(line: Value) -> Vec<Value> {
    let with_query = |hit: &Value| {
        let mut hit = hit.clone();
        hit["query"] = line["query"]["id"].clone();
        hit
    };
    line["hits"].as_array().unwrap().iter().map(with_query).collect()
}

fn members(line: Value) -> Vec<Value> {
    let of_all = |id: &Value| {
        json!({"cluster": line["cluster"], "size": line["size"], "id": id,
                                     "representative": line["representative"]})
    };
    let mut rows = vec![of_all(&line["representative"])];
    for member in line["members"].as_array().unwrap() {
        let mut row = of_all(&member["id"]);
        row.as_object_mut().unwrap().extend(member.as_object().unwrap().clone());
        rows.push(row);
    }
    rows
}

#[test]
fn every_list_has_the_same_rows_as_csv_and_tsv_as_in_json() {
    let dir = index();
    dir.write("q.txt", format!("{} {}", words(1, 30), words(6, 20)));
    dir.write("q2.txt", format!("{} {}", words(7, 20), words(1, 40)));
    for (name, own) in [("in/ann/a.txt", 8), ("in/bob/b.txt", 9)] {
        fs::create_dir_all(dir.path(name).parent().unwrap()).unwrap();
        dir.write(name, format!("{} {}", words(1, 60), words(own, 30)));
    }
    let license = |at: u64| {
        let text = format!("{} {}", words(20, 30), words(30 + at, 40));
        line(&format!("l{at}"), &text, json!({}))
    };
    dir.write("repeated.jsonl", (0..5).map(license).collect::<String>());
    assert_eq!(dir.run(&["add", "repeated", "repeated.jsonl"]).status, 0);
    for (args, items) in LISTS {
        let run = |format: &str| {
            let run = dir.run(&[args, &["--format", format]].concat());
            assert_eq!(run.status, 0, "{args:?} {format}: {}", run.err);
            run.out
        };
        // The last line of a list of pairs may only say that further pairs exist.
        let lines = jsons(&run("json")).into_iter().filter(|line| line.get("more").is_none());
        let is_search = args[0] == "search";
        let lines: Vec<Value> = if is_search { jsons(&run("json")) } else { lines.collect() };
        let expected: Vec<Value> = lines.into_iter().flat_map(items).collect();
        assert!(!expected.is_empty(), "{args:?}");
        for (format, delimiter) in [("csv", b','), ("tsv", b'\t')] {
            let table = rows(&run(format), delimiter);
            assert_eq!(table.len(), expected.len(), "{args:?}");
            for (row, json) in table.iter().zip(&expected) {
                let columns = row.as_object().unwrap();
                let cells = cells(json, columns, "");
                // Only tables have the share that a report shows.
                for (column, found) in columns.iter().filter(|found| found.0 != "share_in_text") {
                    let expected = cells.get(column).map_or("", String::as_str);
                    assert_eq!(found, expected, "{args:?}: {column}");
                }
            }
        }
    }
}

#[test]
fn every_verb_that_prints_json_lines_prints_tables() {
    // The remaining verbs print a single object, or documents.
    const OTHERS: [&str; 18] = [
        "add",
        "check",
        "compact",
        "compare",
        "decontaminate",
        "dedup",
        "merge",
        "method analyze",
        "method fingerprint",
        "method tune",
        "recover",
        "remove",
        "show",
        "stats",
        "store pull",
        "store push",
        "store restore",
        "withdraw",
    ];
    let dir = Dir::new();
    let verbs = dir.all_verbs();
    let has = |name: &str| verbs.iter().any(|(verb, _)| verb == name);
    assert!(has("search") && has("watch events") && has("info schemes"), "{verbs:?}");
    for (verb, text) in verbs {
        let takes_json = text.contains("--format <") && text.contains("- json:");
        let takes_tables = text.contains("- csv:");
        let is_other = OTHERS.contains(&&*verb);
        assert_eq!(takes_tables, takes_json && !is_other, "{verb}: {text}");
    }
}
