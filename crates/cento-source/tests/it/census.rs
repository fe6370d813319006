//! In every format, also in damaged files, every record of a source becomes a document, a refusal
//! or an exclusion.

use std::io::Write;

use cento::Error;
use cento_source::{ReadError, SourceOptions, read_bytes};
use proptest::prelude::*;
use serde_json::json;

/// The fate of the records of a source.
#[derive(Debug, Default, PartialEq, Eq)]
struct Census {
    documents: usize,
    /// Records that are not documents.
    refused: usize,
    left_out: usize,
    /// Files that could not be read, or not to their end.
    unread: usize,
}

fn census(name: &str, bytes: &[u8]) -> Census {
    let options = SourceOptions::default();
    let mut found = Census::default();
    let fail = |found: &mut Census, error: &Error| match error {
        Error::Input { .. } => found.refused += 1,
        _ => found.unread += 1,
    };
    for chunk in read_bytes(name, bytes.to_vec(), &options) {
        match chunk {
            Ok(chunk) => chunk.documents(&options).for_each(|document| match document {
                Ok(_) => found.documents += 1,
                Err(error) => fail(&mut found, &error),
            }),
            Err(ReadError::LeftOut { .. }) => found.left_out += 1,
            Err(ReadError::Refused(error) | ReadError::Unread(error)) => fail(&mut found, &error),
        }
    }
    found
}

/// A kind of record, as it may occur several times in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Good,
    /// The text has a line break, quotation marks and brackets.
    Odd,
    WithoutText,
    TextOfNumbers,
    /// The text is binary.
    Binary,
}

impl Kind {
    fn record(self, number: usize) -> serde_json::Value {
        match self {
            Kind::Good => json!({"id": format!("r{number}"), "text": "some words of a text"}),
            Kind::Odd => json!({"text": "a \"quoted\"\n{word}, [and] others\\", "id": number}),
            Kind::WithoutText => json!({"id": number, "meta": {"a": [{"b": 1}]}}),
            Kind::TextOfNumbers => json!({"id": number, "text": [1, 2]}),
            Kind::Binary => json!({"id": number, "text": "\u{1}\u{2}\u{3}".repeat(9)}),
        }
    }

    fn is_document(self) -> bool {
        matches!(self, Kind::Good | Kind::Odd)
    }

    /// Returns the contents of a file of this kind.
    fn file(self) -> Vec<u8> {
        match self {
            Kind::Good | Kind::Odd => b"Some words of a text, and others.\n".to_vec(),
            Kind::WithoutText => b" \n".to_vec(),
            Kind::TextOfNumbers => b"\x89PNG\r\n\x1a\n\0\0".to_vec(),
            Kind::Binary => b"\x01\0\x02\0\0\0".repeat(9),
        }
    }
}

fn kinds() -> impl Strategy<Value = Vec<Kind>> {
    let kind = prop_oneof![
        4 => Just(Kind::Good),
        2 => Just(Kind::Odd),
        1 => Just(Kind::WithoutText),
        1 => Just(Kind::TextOfNumbers),
        1 => Just(Kind::Binary),
    ];
    // One good record is needed, because JSON is recognized by a record with a text.
    prop::collection::vec(kind, 1..12).prop_map(|mut kinds| {
        kinds[0] = Kind::Good;
        kinds
    })
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// The records as a list, in a form that a file of this name has.
fn list(name: &str, kinds: &[Kind]) -> Vec<u8> {
    let records: Vec<_> = (0..).zip(kinds).map(|(number, kind)| kind.record(number)).collect();
    let joined = |with: &str| {
        let records: Vec<String> = records.iter().map(ToString::to_string).collect();
        records.join(with).into_bytes()
    };
    match name {
        "lines.jsonl" => joined("\n"),
        "lines.txt.gz" => gzip(&joined("\n")),
        "lines.jsonl.zst" => zstd::encode_all(&joined("\n")[..], 1).unwrap(),
        "array.json" => serde_json::to_vec(&records).unwrap(),
        "pretty.json" => {
            let records: Vec<String> = records.iter().map(|record| format!("{record:#}")).collect();
            records.join("\n").into_bytes()
        }
        "members.json" => serde_json::to_vec(&json!({"n": 1, "data": records})).unwrap(),
        name => panic!("{name}"),
    }
}

const LISTS: [&str; 6] =
    ["lines.jsonl", "lines.txt.gz", "lines.jsonl.zst", "array.json", "pretty.json", "members.json"];

fn table(kinds: &[Kind]) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    writer.write_record(["id", "text"]).unwrap();
    for (number, kind) in kinds.iter().enumerate() {
        let record = kind.record(number);
        let text = record["text"].as_str().unwrap_or("too").to_owned();
        match kind {
            Kind::WithoutText | Kind::TextOfNumbers => {
                writer.write_record([&number.to_string(), &text, "many"]).unwrap();
            }
            _ => writer.write_record([&number.to_string(), &text]).unwrap(),
        }
    }
    writer.into_inner().unwrap()
}

fn zip(kinds: &[Kind]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (number, kind) in kinds.iter().enumerate() {
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(format!("{number}.txt"), options).unwrap();
        writer.write_all(&kind.file()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn tar(kinds: &[Kind]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for kind in kinds {
        let file = kind.file();
        let mut header = tar::Header::new_gnu();
        header.set_size(file.len() as u64);
        header.set_mode(0o644);
        // Entries with the same name are separate documents.
        builder.append_data(&mut header, "a.txt", &file[..]).unwrap();
    }
    builder.into_inner().unwrap()
}

/// Returns these records as sources of every format, by name.
fn sources(kinds: &[Kind]) -> Vec<(&'static str, Vec<u8>)> {
    let mut sources: Vec<_> = LISTS.iter().map(|&name| (name, list(name, kinds))).collect();
    sources.push(("table.csv", table(kinds)));
    sources.extend([("files.zip", zip(kinds)), ("files.tar", tar(kinds))]);
    sources
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_record_of_a_whole_source_is_counted_once(kinds in kinds()) {
        let documents = kinds.iter().filter(|kind| kind.is_document()).count();
        for (name, bytes) in sources(&kinds) {
            let found = census(name, &bytes);
            prop_assert_eq!(found.documents, documents, "{} {:?}", name, found);
            let all = found.documents + found.refused + found.left_out;
            prop_assert_eq!((all, found.unread), (kinds.len(), 0), "{} {:?}", name, found);
        }
    }

    #[test]
    fn the_missing_part_of_a_cut_source_is_reported(kinds in kinds(), cut in 1usize..400) {
        for (name, bytes) in sources(&kinds) {
            // Some lists have no mark at their end. If such a list is cut between two records,
            // nothing shows the loss.
            let cut = cut.min(bytes.len() - 1);
            let found = census(name, &bytes[..bytes.len() - cut]);
            let all = found.documents + found.refused + found.left_out;
            let is_open = matches!(name, "lines.jsonl" | "pretty.json" | "table.csv");
            prop_assert!(found.unread > 0 || all == kinds.len() || is_open, "{} {:?}", name, found);
            prop_assert!(all <= kinds.len() + 1, "{} {:?}", name, found);
        }
    }

    #[test]
    fn a_damaged_source_is_read_or_named(kinds in kinds(), at in any::<prop::sample::Index>(), byte: u8) {
        for (name, mut bytes) in sources(&kinds) {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let found = census(name, &bytes);
            let documents = kinds.iter().filter(|kind| kind.is_document()).count();
            let said = found.refused + found.left_out + found.unread;
            prop_assert!(found.documents + said > 0, "{} {:?}", name, found);
            // A damaged document may still be a document. If a document is missing, a report must
            // exist.
            let is_said = found.documents >= documents || said > 0;
            prop_assert!(is_said, "{} {:?} at {} of {}", name, found, at, bytes.len());
        }
    }
}
