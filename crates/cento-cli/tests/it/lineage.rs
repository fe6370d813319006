//! The real binary: the lineage of documents as a list, tables, networks and a report.

use std::fs;

use serde_json::json;

use crate::common::run::Dir;
use crate::common::words;

/// An index of a text, two versions, a version of the second version without a date, a quotation
/// and an unrelated text.
fn versions() -> Dir {
    let dir = Dir::new();
    let text =
        |version: u64| format!("{} {}", words(1, 100), words(10 + version, 10 * version as usize));
    let third = format!("{} {}", text(1), words(60, 30));
    let undated = format!("{} {}", text(1), words(61, 40));
    let quotes = format!("{} {} {}", words(50, 300), text(0), words(51, 300));
    let rows = [
        json!({"id": "a/first.txt", "text": text(0), "meta": {"date": "2001"}}),
        json!({"id": "a/second.txt", "text": text(1), "meta": {"date": "2002-03"}}),
        json!({"id": "a/third.txt", "text": third, "meta": {"date": "2003-01-02"}}),
        json!({"id": "a/undated.txt", "text": undated, "meta": {"date": "ca. 1901"}}),
        json!({"id": "b/quotes.txt", "text": quotes, "meta": {"date": "2004"}}),
        json!({"id": "b/other.txt", "text": words(70, 90), "meta": {"date": "2004"}}),
    ];
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    dir.write("versions.jsonl", lines);
    assert_eq!(dir.run(&["add", "x.idx", "versions.jsonl"]).status, 0);
    dir
}

#[test]
fn a_list_has_each_version_below_its_ancestor_and_names_what_is_no_date() {
    let dir = versions();
    let run = dir.run(&["lineage", "x.idx", "--date", "date"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines[0], "2001  a/first.txt", "{}", run.out);
    assert!(lines[1].starts_with("    2002-03  a/second.txt  of a/first.txt: "), "{}", run.out);
    assert!(lines[2].starts_with("        2003-01-02  a/third.txt  of a/second.txt: "));
    assert!(lines[3].starts_with("        a/undated.txt  of a/second.txt?: "), "{}", run.out);
    // A quotation is no version.
    assert_eq!(lines.len(), 4, "{}", run.out);
    assert!(run.err.contains("1 document without a date in `date`, such as a/undated.txt"));
    assert!(run.err.contains("3 versions in 1 tree; 1 of uncertain direction"), "{}", run.err);
    // A document alone has no lineage.
    dir.write("alone.txt", words(1, 50));
    dir.run(&["add", "alone.idx", "alone.txt"]);
    assert_eq!(dir.run(&["lineage", "alone.idx"]).status, 1);
}

#[test]
fn tables_have_a_row_for_each_document() {
    let dir = versions();
    for (format, separator) in [("csv", ','), ("tsv", '\t')] {
        let run = dir.run(&["lineage", "x.idx", "--date", "date", "--format", format]);
        let rows: Vec<Vec<&str>> =
            run.out.lines().map(|row| row.split(separator).collect()).collect();
        assert_eq!(rows[0][..8].join(" "), "tree depth id date time tokens ancestor direction_by");
        assert_eq!(rows[1][..8].join(" "), "1 0 a/first.txt 2001 978307200.0 100  ", "{}", run.out);
        assert_eq!(rows[2][..4], ["1", "1", "a/second.txt", "2002-03"]);
        assert_eq!(rows[2][6..8], ["a/first.txt", "date"]);
        assert_eq!(rows[4][6..8], ["a/second.txt", "length"]);
        assert_eq!(rows.len(), 5);
        let file = format!("rows.{format}");
        dir.run(&["lineage", "x.idx", "--date", "date", "--format", format, "--out", &file]);
        assert_eq!(fs::read_to_string(dir.path(&file)).unwrap(), run.out);
    }
}

#[cfg(feature = "parquet")]
#[test]
fn a_parquet_file_has_the_rows_of_json() {
    let dir = versions();
    let run = dir.run(&["lineage", "x.idx", "--date", "date", "--out", "rows.parquet"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let columns = ["--text-field", "id", "--id-field", "id"];
    let rows = ["dedup", "rows.parquet", "--exact", "--annotate", "--out", "rows.jsonl"];
    dir.run(&[&rows[..], &columns].concat());
    let rows = fs::read_to_string(dir.path("rows.jsonl")).unwrap();
    let rows: Vec<serde_json::Value> =
        rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let listed = dir.run(&["lineage", "x.idx", "--date", "date", "--format", "json"]).out;
    assert_eq!(rows.len(), listed.lines().count());
    for (row, line) in rows.iter().zip(listed.lines()) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        for (name, value) in line.as_object().unwrap() {
            assert_eq!(&row[name], value, "{name} of {line}");
        }
    }
    // Refuses an existing file, and a file name that implies a different format.
    let run = |more: &[&str]| dir.run(&[&["lineage", "x.idx", "--out"], more].concat());
    assert_eq!(run(&["rows.parquet"]).status, 2);
    assert_eq!(run(&["new.parquet", "--format", "csv"]).status, 2);
}

#[test]
fn a_network_has_an_edge_from_each_ancestor() {
    let dir = versions();
    let edges = [
        ("a/first.txt", "a/second.txt"),
        ("a/second.txt", "a/third.txt"),
        ("a/second.txt", "a/undated.txt"),
    ];
    for file in ["g.graphml", "g.dot"] {
        let run = dir.run(&["lineage", "x.idx", "--date", "date", "--graph", file]);
        assert_eq!(run.status, 0, "{}", run.err);
        let text = fs::read_to_string(dir.path(file)).unwrap();
        for id in ["a/first.txt", "a/second.txt", "a/third.txt", "a/undated.txt"] {
            assert!(text.contains(id), "{file} without {id}: {text}");
        }
        assert!(!text.contains("b/quotes.txt"), "{text}");
        let count = match file {
            "g.graphml" => {
                assert!(text.contains("directed"), "{text}");
                text.matches("<edge ").count()
            }
            _ => {
                for (from, to) in edges {
                    assert!(text.contains(&format!("\"{from}\" -> \"{to}\"")), "{text}");
                }
                text.matches(" -> ").count()
            }
        };
        assert_eq!(count, edges.len(), "{text}");
    }
    assert_eq!(dir.run(&["lineage", "x.idx", "--graph", "g.txt"]).status, 2);
    assert!(!dir.path("g.txt").exists());
}

#[test]
fn a_report_draws_each_tree_and_says_what_is_uncertain() {
    let dir = versions();
    let run = dir.run(&["lineage", "x.idx", "--date", "date", "--report", "r.html"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let html = fs::read_to_string(dir.path("r.html")).unwrap();
    assert!(html.contains("3 versions in 1 tree"), "{}", html.len());
    assert!(html.contains("Of 1 version dates do not tell the direction"));
    assert_eq!(html.matches("<circle").count(), 4);
    assert_eq!(html.matches("stroke-dasharray=\"4 4\"").count(), 1);
    assert!(html.contains("uncertain: by length"));
}
