//! Every verb accounts for every record: as a document, a reported refusal, or a reported
//! exclusion.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::run::{Dir, Run, indexed};
use crate::common::service::Service;
use crate::common::{words, zip};
use cento_client::api::{Commit, FileBody};

/// A record that is a document, or is refused for a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Good,
    Copy,
    WithoutText,
    Binary,
}

impl Kind {
    /// The record with this number in a list.
    fn record(self, number: usize) -> Value {
        match self {
            Kind::Good => json!({"id": format!("r{number}"), "text": words(number as u64, 60)}),
            Kind::Copy => json!({"id": format!("r{number}"), "text": words(1000, 60)}),
            Kind::WithoutText => json!({"id": format!("r{number}"), "lang": "de"}),
            Kind::Binary => json!({"id": format!("r{number}"), "text": "\u{1}\u{2}".repeat(9)}),
        }
    }

    /// The record as a file.
    fn file(self, number: usize) -> Vec<u8> {
        match self {
            Kind::Good => words(number as u64, 60).into_bytes(),
            Kind::Copy => words(1000, 60).into_bytes(),
            Kind::WithoutText => Vec::new(),
            Kind::Binary => b"\x89PNG\r\n\x1a\n\0\0".to_vec(),
        }
    }

    fn is_document(self) -> bool {
        matches!(self, Kind::Good | Kind::Copy)
    }
}

fn kinds() -> impl Strategy<Value = Vec<Kind>> {
    let kind = prop_oneof![
        3 => Just(Kind::Good),
        2 => Just(Kind::Copy),
        1 => Just(Kind::WithoutText),
        1 => Just(Kind::Binary),
    ];
    // At least two records can be compared.
    prop::collection::vec(kind, 2..9).prop_map(|mut kinds| {
        kinds[..2].fill(Kind::Good);
        kinds
    })
}

const SOURCES: [&str; 5] = ["lines.jsonl", "array.json", "table.csv", "files.zip", "dir"];

fn write(dir: &Dir, source: &str, kinds: &[Kind]) {
    let all = || (0..).zip(kinds.iter().copied());
    let records: Vec<Value> = all().map(|(number, kind)| kind.record(number)).collect();
    match source {
        "lines.jsonl" => dir
            .write(source, records.iter().map(|record| format!("{record}\n")).collect::<String>()),
        "array.json" => dir.write(source, Value::from(records).to_string()),
        "table.csv" => {
            let mut rows = "id,text\n".to_owned();
            for record in &records {
                // A record without a text becomes a row with too many columns.
                let text = record["text"].as_str().unwrap_or("too,many");
                rows += &format!("{},{text}\n", record["id"].as_str().unwrap());
            }
            dir.write(source, rows);
        }
        "files.zip" => {
            let files: Vec<(String, Vec<u8>)> =
                all().map(|(number, kind)| (format!("{number}.txt"), kind.file(number))).collect();
            let files: Vec<(&str, &[u8])> =
                files.iter().map(|(name, bytes)| (&name[..], &bytes[..])).collect();
            dir.write(source, zip(&files));
        }
        _ => all().for_each(|(number, kind)| {
            dir.write(&format!("{source}/{number}.txt"), kind.file(number));
        }),
    }
}

/// The sum of the numbers in these fields.
fn sum(object: &Value, names: &[&str]) -> u64 {
    names
        .iter()
        .map(|name| object[name].as_u64().unwrap_or_else(|| panic!("{name} {object}")))
        .sum()
}

fn lines(run: &Run) -> Vec<Value> {
    run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn length(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

/// Asserts that the exit status reflects refused or skipped records.
fn check_status(status: i32, kinds: &[Kind], source: &str) {
    let is_whole = kinds.iter().all(|kind| kind.is_document());
    let is_list = !matches!(source, "files.zip" | "dir");
    // A file that is no text or is empty is left out of a directory, and no refusal.
    let is_any_read = kinds.iter().any(|kind| kind.is_document());
    let refused = (!is_whole && is_list).then_some(if is_any_read { 3 } else { 2 });
    assert_eq!((status > 1).then_some(status), refused, "{source} {kinds:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn every_verb_accounts_for_every_record(kinds in kinds()) {
        let dir = Dir::new();
        let count = kinds.len() as u64;
        let documents = kinds.iter().filter(|kind| kind.is_document()).count() as u64;
        for source in SOURCES {
            write(&dir, source, &kinds);
            let index = format!("{source}.idx");

            let run = dir.run(&["add", &index, source, "--format", "json"]);
            let report = run.json();
            let all = sum(&report, &["added", "replaced", "unchanged", "failed", "skipped"]);
            prop_assert_eq!((all, sum(&report, &["added"])), (count, documents), "{} {}", source, report);
            check_status(run.status, &kinds, source);

            let (out, dropped) = (format!("{source}.out"), format!("{source}.report"));
            let asked = ["dedup", source, "--out", &out, "--dropped", &dropped, "--format", "json"];
            let run = dir.run(&asked);
            let summary = run.json();
            let decided = ["kept", "exact", "near", "contained", "empty", "failed", "skipped"];
            prop_assert_eq!(sum(&summary, &decided), count, "{} {}", source, summary);
            let written = |name: &str| {
                std::fs::read_to_string(dir.path(name)).unwrap().lines().count() as u64
            };
            prop_assert_eq!(written(&out) + written(&dropped), count, "{} {}", source, summary);
            check_status(run.status, &kinds, source);

            let run = dir.run(&["search", &index, source, "--format", "json"]);
            let mut answers = lines(&run);
            let is_whole = documents == count;
            let not_compared = match is_whole {
                true => 0,
                false => length(&answers.pop().unwrap()["not_compared"]),
            };
            prop_assert_eq!(answers.len() as u64, documents, "{} {}", source, run.out);
            prop_assert_eq!(not_compared as u64, count - documents, "{} {}", source, run.out);

            let asked = ["pairs", source, "--min-similarity", "0", "-n", "1000", "--format", "json"];
            let run = dir.run(&asked);
            let not_compared = match is_whole {
                true => 0,
                false => {
                    let end = lines(&run).pop().unwrap();
                    length(&end["not_compared"]) + length(&end["left_out"])
                }
            };
            prop_assert_eq!(not_compared as u64, count - documents, "{} {}", source, run.out);

            let run = dir.run(&["method", "train", source, "--out", "frequencies.table"]);
            let said = run.err.lines().filter(|line| line.contains(source)).count();
            std::fs::remove_file(dir.path("frequencies.table")).unwrap();
            prop_assert_eq!(said as u64, count - documents, "{} {}", source, run.err);
        }
    }
}

#[test]
fn the_service_accounts_for_every_record_of_a_file() {
    let kinds = [Kind::Good, Kind::Copy, Kind::WithoutText, Kind::Good, Kind::Binary, Kind::Copy];
    let dir = indexed();
    let service = Service::start(&dir, &[]);
    let client = service.client();
    for source in &SOURCES[..4] {
        write(&dir, source, &kinds);
        let bytes = std::fs::read(dir.path(source)).unwrap();
        let file = FileBody { part: "file", name: source, bytes: &bytes };
        let added = client.add_files(&[file], Commit::Wait).unwrap();
        let not_read = added.not_read.left_out.len() + added.not_read.unread_files.len();
        let report = added.report;
        let taken = (report.added + report.replaced + report.unchanged) as usize;
        assert_eq!((taken, not_read), (4, 2), "{source}");
        let texts = client.texts(&[file]).unwrap();
        let not_read = texts.not_read.left_out.len() + texts.not_read.unread_files.len();
        assert_eq!((texts.documents.len(), not_read), (4, 2), "{source}");
    }
}
