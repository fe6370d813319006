//! Compressed files as people have them: padded, cut off, with misleading names, with large
//! windows.

use std::io::Write;

use serde_json::json;

use crate::common::run::{Dir, line};
use crate::common::words;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn records(from: u64, to: u64) -> String {
    (from..to).map(|n| line(&format!("d{n}"), &words(n, 40), json!({}))).collect()
}

/// Adds a file, and expects this number of documents, this exit status, and these words.
#[track_caller]
fn check(name: &str, bytes: &[u8], added: u64, status: i32, said: &str) {
    let dir = Dir::new();
    dir.write(name, bytes);
    let run = dir.run(&["add", "idx", name, "--format", "json"]);
    assert_eq!((&run.json()["added"], run.status), (&json!(added), status), "{}", run.err);
    assert!(run.err.contains(said), "{said} in {}", run.err);
    assert_eq!(run.json()["failed"], u64::from(status == 2 && !said.contains("left out")));
}

#[test]
fn zero_padding_is_ignored_and_other_bytes_behind_a_member_are_an_error() {
    let two = [gzip(records(0, 3).as_bytes()), gzip(records(3, 5).as_bytes())].concat();
    check("a.jsonl.gz", &[&two[..], &[0; 512]].concat(), 5, 0, "");
    let named = format!(
        "cannot read a.jsonl.gz: what follows the gzip data, which ends at byte {}",
        two.len()
    );
    check("a.jsonl.gz", &[&two[..], b"garbage"].concat(), 5, 2, &named);
    // A text is taken whole or not at all.
    let text = gzip(words(1, 60).as_bytes());
    check("a.txt.gz", &[&text[..], &[0; 512]].concat(), 1, 0, "");
    check("a.txt.gz", &[&text[..], b"garbage"].concat(), 0, 2, "is neither gzip nor zero padding");
    check("a.txt.gz", &text[..text.len() - 5], 0, 2, "the gzip data is cut off");
    check("a.txt.gz", &text[..2], 0, 2, "the gzip data is cut off");
}

#[test]
fn a_file_named_as_compressed_that_is_not_is_read_by_its_first_bytes() {
    for ending in ["gz", "zst", "bz2", "xz"] {
        check(&format!("a.jsonl.{ending}"), records(0, 3).as_bytes(), 3, 0, "");
        check(&format!("a.txt.{ending}"), words(1, 60).as_bytes(), 1, 0, "");
        let csv = format!("id,text\n1,{}\n2,{}\n", words(1, 40), words(2, 40));
        check(&format!("a.csv.{ending}"), csv.as_bytes(), 2, 0, "");
        // The names of both files are wrong.
        let said = "data and is not; it is binary";
        check(&format!("a.txt.{ending}"), b"\x1e\x8a\x08\0\0\0\0\0", 0, 2, said);
        check(&format!("a.txt.{ending}"), b"", 0, 2, "left out: it is empty");
    }
    // And the other way round.
    check("a.jsonl", &gzip(records(0, 3).as_bytes()), 3, 0, "");
    check("a.jsonl.zst", &gzip(records(0, 3).as_bytes()), 3, 0, "");
}

#[test]
fn a_window_of_two_gigabytes_is_read_or_the_advice_reads_it() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(31).unwrap();
    encoder.write_all(records(0, 30).as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    check("a.jsonl.zst", &packed, 30, 0, "");
    // A header that declares a window of 2 GiB, and 3 GiB in it.
    let mut large = b"\x28\xb5\x2f\xfd\x80\xa8".to_vec();
    large.extend((3_u32 << 30).to_le_bytes());
    check("b.jsonl.zst", &large, 0, 2, "zstd -dc --long=31 FILE | cento add INDEX -");
    // Half of the memory may be used for it.
    let dir = Dir::new();
    dir.write("b.jsonl.zst", large);
    for (memory, said) in [("1GiB", "more than the 512 MiB of memory"), ("4GiB", "is cut off")] {
        let run = dir.run(&["add", "idx", "b.jsonl.zst", "--memory", memory]);
        assert!(run.status == 2 && run.err.contains(said), "{}", run.err);
        let run = dir.run(&["dedup", "b.jsonl.zst", "--out", "x.jsonl", "--memory", memory]);
        assert!(run.status == 2 && run.err.contains(said), "{}", run.err);
    }
}
