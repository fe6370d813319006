//! Compressed files as people have them: padded, cut off, with misleading names, with large
//! windows.

use std::io::Write;

use crate::common::{check, gzip, line, read_stream, words};
use cento_source::{ReadError, SourceOptions, read_bytes};
use serde_json::json;

fn records(from: u64, to: u64) -> String {
    (from..to).map(|n| line(&format!("d{n}"), &words(n, 40), json!({}))).collect()
}

#[test]
fn zero_padding_is_ignored_and_other_bytes_behind_a_member_are_an_error() {
    let two = [gzip(records(0, 3).as_bytes()), gzip(records(3, 5).as_bytes())].concat();
    check("a.jsonl.gz", &[&two[..], &[0; 512]].concat(), [5, 0, 0, 0], "");
    let ends = two.len();
    let said = format!("a.jsonl.gz: what follows the gzip data, which ends at byte {ends}");
    check("a.jsonl.gz", &[&two[..], b"garbage"].concat(), [5, 0, 0, 1], &said);
}

#[test]
fn a_file_that_is_compressed_twice_is_read() {
    let twice = gzip(&gzip(records(0, 3).as_bytes()));
    check("a.jsonl.gz", &twice, [3, 0, 0, 0], "");
    check("a.jsonl.gz.gz", &twice, [3, 0, 0, 0], "");
    check("a.gz", &gzip(&gzip(words(1, 60).as_bytes())), [1, 0, 0, 0], "");
}

#[test]
fn a_compressed_text_is_read_as_a_whole_or_not_at_all() {
    let text = gzip(words(1, 60).as_bytes());
    check("a.txt.gz", &[&text[..], &[0; 512]].concat(), [1, 0, 0, 0], "");
    let garbage = [&text[..], b"garbage"].concat();
    check("a.txt.gz", &garbage, [0, 0, 0, 1], "is neither gzip nor zero padding");
    check("a.txt.gz", &text[..text.len() - 5], [0, 0, 0, 1], "the gzip data is cut off");
    check("a.txt.gz", &text[..2], [0, 0, 0, 1], "the gzip data is cut off");
}

#[test]
fn a_file_named_as_compressed_that_is_not_is_read_by_its_first_bytes() {
    for ending in ["gz", "zst", "bz2", "xz"] {
        check(&format!("a.jsonl.{ending}"), records(0, 3).as_bytes(), [3, 0, 0, 0], "");
        check(&format!("a.txt.{ending}"), words(1, 60).as_bytes(), [1, 0, 0, 0], "");
        let csv = format!("id,text\n1,{}\n2,{}\n", words(1, 40), words(2, 40));
        check(&format!("a.csv.{ending}"), csv.as_bytes(), [2, 0, 0, 0], "");
        // The extension promises a compression, but the contents are binary or empty.
        let said = "data, which it is not; it is binary";
        check(&format!("a.txt.{ending}"), b"\x1e\x8a\x08\0\0\0\0\0", [0, 0, 0, 1], said);
        check(&format!("a.txt.{ending}"), b"", [0, 0, 1, 0], "it is empty");
    }
}

#[test]
fn a_compressed_file_of_another_name_is_unpacked() {
    for name in ["a.jsonl", "a.jsonl.zst"] {
        check(name, &gzip(records(0, 3).as_bytes()), [3, 0, 0, 0], "");
    }
}

#[test]
fn a_window_of_two_gigabytes_is_read() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(31).unwrap();
    encoder.write_all(records(0, 30).as_bytes()).unwrap();
    assert_eq!(read_stream("a.jsonl.zst", &encoder.finish().unwrap()).documents.len(), 30);
}

#[test]
fn a_window_that_takes_more_memory_than_is_allowed_is_refused() {
    // The header declares a window of 2 GiB, and contents of 3 GiB.
    let mut large = b"\x28\xb5\x2f\xfd\x80\xa8".to_vec();
    large.extend((3_u32 << 30).to_le_bytes());
    for (bytes_max, said) in [(512 << 20, "more than the 512 MiB of memory"), (2 << 30, "cut off")]
    {
        let options = SourceOptions { window_bytes_max: bytes_max, ..SourceOptions::default() };
        let read: Vec<_> = read_bytes("b.jsonl.zst", large.clone(), &options).collect();
        let [Err(ReadError::Unread(error))] = &read[..] else { panic!("{read:?}") };
        assert!(error.to_string().contains(said), "{error}");
    }
}
