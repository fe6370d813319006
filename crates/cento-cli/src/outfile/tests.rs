//! Tests of output files.

use std::io::Read;

use super::*;

#[test]
fn a_compressed_file_is_resumed_where_it_was_synced() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.jsonl.gz", "a.jsonl.zst", "a.jsonl"] {
        let path = dir.path().join(name);
        let mut out = OutFile::create(&path).unwrap();
        writeln!(out, "one").unwrap();
        let length = out.sync().unwrap();
        writeln!(out, "lost").unwrap();
        out.sync().unwrap();
        drop(out);
        let mut out = OutFile::resume(&path, length).unwrap();
        writeln!(out, "two").unwrap();
        out.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let mut text = String::new();
        match name.rsplit('.').next() {
            Some("gz") => {
                flate2::read::MultiGzDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
            }
            Some("zst") => {
                zstd::Decoder::new(&*bytes).unwrap().read_to_string(&mut text).unwrap();
            }
            _ => text = String::from_utf8(bytes).unwrap(),
        }
        assert_eq!(text, "one\ntwo\n", "{name}");
    }
    let path = dir.path().join("empty.gz");
    OutFile::create(&path).unwrap().finish().unwrap();
    assert!(is_taken(&path), "a file of no bytes is not gzip");
}

#[cfg(unix)]
#[test]
fn a_pipe_or_device_is_written_as_it_is() {
    // Regression: truncating failed with "cannot shorten /dev/null: Invalid argument".
    let null = Path::new("/dev/null");
    for mut out in [OutFile::create(null).unwrap(), OutFile::resume(null, 7).unwrap()] {
        writeln!(out, "one").unwrap();
        out.sync().unwrap();
        out.finish().unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    let mut out = NewFile::create(&pipe).unwrap();
    writeln!(out, "one").unwrap();
    out.finish().unwrap();
    assert_eq!(reader.join().unwrap(), "one\n");
    assert!(is_stream(&pipe), "it was replaced by a file");
    assert!(NewFile::create(dir.path()).is_err());
}

#[test]
fn a_name_promises_a_form() {
    let check = |name: &str, expected: std::result::Result<PromisedFormat, &str>| {
        let found = promised(Path::new(name), "JSON lines").map_err(|error| error.to_string());
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{name}"),
            (Err(said), Err(part)) => assert!(said.contains(part), "{said}"),
            (found, expected) => panic!("{name}: {found:?}, not {expected:?}"),
        }
    };
    for name in ["a", "a.jsonl", "a.jsonl.GZ", "a.txt.zst", "a.b/c", "/dev/null"] {
        check(name, Ok(PromisedFormat::Lines));
    }
    check("a.csv", Ok(PromisedFormat::Table(Delimiter::Comma)));
    check("a.TSV.gz", Ok(PromisedFormat::Table(Delimiter::Tab)));
    check("a.parquet", Err("in / to copy Parquet files"));
    check("a.jsonl.bz2", Err("its name promises .bz2"));
    check("a.json", Err("end the name in .jsonl"));
    assert!(check_lines(Path::new("a.csv"), "pairs").is_err());
}
