//! Unreadable inputs: bad entries of archives, files that are no text, empty texts, odd names.

use std::io::{Cursor, Write};

use crate::common::run::{Dir, Run, line};
use crate::common::words;
use serde_json::json;
use zip::write::SimpleFileOptions;

/// The first bytes of a Word document.
#[cfg(not(feature = "office"))]
const DOCX: &[u8] = b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0[Content_Types].xml\0word/document.xml\0";

fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, text) in files {
        zip.start_file(*name, options).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The start of the central header of the entry of this name.
fn central(zip: &[u8], name: &str) -> usize {
    let is_central = |at: &usize| {
        zip[*at..].starts_with(b"PK\x01\x02") && zip[at + 46..].starts_with(name.as_bytes())
    };
    (0..zip.len() - 46).find(is_central).unwrap()
}

fn entry(kind: tar::EntryType, name: &str, contents: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.set_path(name).unwrap();
    header.set_mode(0o644);
    header.set_entry_type(kind);
    header.set_size(contents.len() as u64);
    header.set_cksum();
    let mut bytes = [header.as_bytes(), contents].concat();
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

fn file(name: &str, seed: u64) -> Vec<u8> {
    entry(tar::EntryType::Regular, name, words(seed, 60).as_bytes())
}

fn ends() -> Vec<u8> {
    vec![0; 1024]
}

/// Adds an archive, which must name the bad entries, and lack nothing else.
#[track_caller]
fn check(name: &str, archive: &[u8], added: u64, failed: u64, said: &str) {
    let dir = Dir::new();
    dir.write(name, archive);
    let run = dir.run(&["add", "idx", name, "--format", "json"]);
    let report = run.json();
    assert_eq!(
        (&report["added"], &report["failed"]),
        (&json!(added), &json!(failed)),
        "{}",
        run.err
    );
    assert_eq!(report["unread"], failed);
    assert_eq!(run.status, if failed > 0 { 2 } else { 0 }, "{}", run.err);
    assert!(run.err.contains(said), "{said} in {}", run.err);
    let last = dir.run(&["search", "idx", "--text", &words(9, 60), "--format", "json"]);
    assert_eq!(last.json()["hits"][0]["id"], format!("{name}/last.txt"), "{}", run.err);
}

#[test]
fn a_bad_entry_of_a_zip_archive_ends_it_not() {
    let (first, bad, last) = (words(1, 60), words(2, 60), words(9, 60));
    let whole = zip(&[("first.txt", &first), ("bad.txt", &bad), ("last.txt", &last)]);
    let at = central(&whole, "bad.txt");
    let with = |changes: &[(usize, u8)]| {
        let mut bytes = whole.clone();
        changes.iter().for_each(|&(at, byte)| bytes[at] = byte);
        bytes
    };
    check("whole.zip", &whole, 3, 0, "");
    check("locked.zip", &with(&[(at + 8, 1)]), 2, 1, "cannot read locked.zip/bad.txt: ");
    check("method.zip", &with(&[(at + 10, 97)]), 2, 1, "method.zip/bad.txt");
    check("offset.zip", &with(&[(at + 42, 7)]), 2, 1, "offset.zip/bad.txt");
    // Fifty entries of one content were fifty documents: 400 MiB of 27 KB.
    let shared = with(&[(at + 42, 0), (at + 43, 0)]);
    check("shared.zip", &shared, 2, 1, "shared.zip/bad.txt: another file of the archive");
    // Its contents do not fit their checksum.
    check("damaged.zip", &with(&[(at + 16, whole[at + 16] ^ 1)]), 2, 1, "damaged.zip/bad.txt");
    let twice =
        whole.iter().map(|&byte| if byte == b'?' { b'!' } else { byte }).collect::<Vec<_>>();
    assert_eq!(twice, whole);
    let mut twins = zip(&[("same1.txt", &first), ("same2.txt", &bad), ("last.txt", &last)]);
    let local = twins.windows(9).position(|name| name == b"same2.txt").unwrap();
    let at = central(&twins, "same2.txt");
    (twins[local + 4], twins[at + 46 + 4]) = (b'1', b'1');
    check("twins.zip", &twins, 2, 1, "the same name");
    let long = "n".repeat(65_000);
    check("name.zip", &zip(&[("a.txt", &first), ("last.txt", &last)]), 2, 0, "");
    let dir = Dir::new();
    dir.write("long.zip", zip(&[(&long, &first), ("last.txt", &last)]));
    let run = dir.run(&["add", "idx", "long.zip", "--format", "json"]);
    assert_eq!((&run.json()["added"], &run.json()["failed"]), (&json!(1), &json!(1)));
    assert!(run.err.contains("the id has 65009 bytes"), "{}", &run.err[run.err.len() - 200..]);
}

#[test]
fn a_bad_entry_of_a_tar_archive_ends_it_not() {
    let (first, last) = (file("first.txt", 1), file("last.txt", 9));
    let with = |middle: &[u8]| [&first[..], middle, &last, &ends()].concat();
    check("whole.tar", &with(&file("middle.txt", 2)), 3, 0, "");
    let mut damaged = file("middle.txt", 2);
    let len = damaged.len();
    damaged[0] ^= 1;
    check(
        "header.tar",
        &with(&damaged),
        2,
        1,
        &format!("header.tar: {len} bytes in it belong to no entry"),
    );
    let long = |kind, contents: &[u8]| [entry(kind, "x", contents), file("middle.txt", 2)].concat();
    let name = vec![b'n'; 70 << 10];
    let named = with(&long(tar::EntryType::GNULongName, &name));
    check("name.tar", &named, 2, 1, "name.tar/middle.txt: its name has 71680 bytes");
    let fields = |key: &str, len: usize| {
        let rest = format!(" {key}={}\n", "v".repeat(len));
        let digits = (rest.len() + 7).to_string().len();
        format!("{}{rest}", rest.len() + digits).into_bytes()
    };
    // A large header of further fields is read if it can be, and passed over if not.
    let large = with(&long(tar::EntryType::XHeader, &fields("comment", 200_000)));
    check("large.tar", &large, 3, 0, "");
    let larger = with(&long(tar::EntryType::XHeader, &fields("comment", 2_000_000)));
    check("larger.tar", &larger, 2, 1, "larger.tar/middle.txt: its extended header has ");
    let torn = with(&long(tar::EntryType::XHeader, b"99 path=x\n"));
    check("torn.tar", &torn, 2, 1, "torn.tar/middle.txt: its extended header is damaged");
    let lines = with(&long(tar::EntryType::XHeader, b"15 comment=a\nb\n20 path=renamed.txt\n"));
    check("lines.tar", &lines, 3, 0, "");
    // Archives one after the other.
    let two = [&file("first.txt", 1)[..], &ends(), &last, &ends()].concat();
    check("two.tar", &two, 2, 0, "");
    // Whatever stands behind the end does not belong to it.
    check("tail.tar", &[with(b""), vec![b'?'; 5000]].concat(), 2, 0, "");
}

#[test]
fn an_archive_that_is_cut_short_is_a_failure() {
    let whole = [file("last.txt", 9), file("next.txt", 1), ends()].concat();
    let entry = whole.len() / 2 - 512;
    for cut in [entry + 10, entry + 600, whole.len() - 1024] {
        let added = 1 + u64::from(cut == whole.len() - 1024);
        let failed = 1 + u64::from(cut == entry + 600);
        check("cut.tar", &whole[..cut], added, failed, "cannot read cut.tar: it is cut short");
    }
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    gz.write_all(&whole).unwrap();
    let gz = gz.finish().unwrap();
    check("cut.tar.gz", &gz[..entry + 100], 1, 1, "cannot read cut.tar.gz: ");
    let dir = Dir::new();
    dir.write("not.tar", words(1, 500));
    let run = dir.run(&["add", "idx", "not.tar"]);
    assert_eq!(run.status, 2);
    assert!(
        run.err.contains("cannot read not.tar: it is named .tar, but it is text"),
        "{}",
        run.err
    );
}

/// A folder of texts and other things.
#[cfg(not(feature = "office"))]
fn mixed() -> Dir {
    let dir = Dir::new();
    dir.write("in/a.txt", words(1, 80));
    dir.write("in/b.txt", format!("{} {}", words(1, 50), words(2, 30)));
    dir.write("in/c.docx", DOCX);
    dir.write("in/d.pdf", "%PDF-1.4\n1 0 obj\n");
    dir.write("in/e.bin", b"a\0b");
    dir.write("in/f.txt", " \n");
    dir.write("in/g.rtf", "{\\rtf1 text}");
    dir
}

#[cfg(not(feature = "office"))]
const LEFT_OUT: [(&str, &str); 5] = [
    ("in/c.docx", "Word document"),
    ("in/d.pdf", "PDF"),
    ("in/e.bin", "NUL"),
    ("in/f.txt", "it is empty"),
    ("in/g.rtf", "RTF"),
];

#[cfg(not(feature = "office"))]
#[track_caller]
fn names_what_it_leaves_out(run: &Run, list: &serde_json::Value) {
    for (at, (path, why)) in LEFT_OUT.into_iter().enumerate() {
        assert!(run.err.contains(&format!("{path}: left out: ")), "{path} in {}", run.err);
        assert!(run.err.contains(why), "{why} in {}", run.err);
        if !list.is_null() {
            assert_eq!(list[at]["path"], path);
            assert!(list[at]["reason"].as_str().unwrap().contains(why), "{list}");
        }
    }
}

#[cfg(not(feature = "office"))]
#[test]
fn a_file_that_is_no_text_is_refused_by_name() {
    let dir = mixed();
    for (path, why) in LEFT_OUT {
        for args in [
            &["compare", path, "in/a.txt"][..],
            &["compare", "in/a.txt", path, "--format", "json"],
            &["search", "idx", path],
        ] {
            if args[0] == "search" {
                dir.run(&["add", "idx", "in/a.txt"]);
            }
            let run = dir.run(args);
            assert_eq!((run.status, run.out.as_str()), (2, ""), "{args:?}");
            assert!(run.err.contains(path) && run.err.contains(why), "{args:?}: {}", run.err);
            let is_office = ["Word document", "PDF", "RTF"].contains(&why);
            assert_eq!(run.err.contains("--features office"), is_office, "{args:?}: {}", run.err);
        }
    }
    let run = dir.run_with(&["search", "idx", "-"], DOCX);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("Word document"), "{}", run.err);
    assert_eq!(dir.run(&["fingerprint", "in/c.docx"]).status, 2);
    assert_eq!(dir.run(&["compare", "in/a.txt", "in/b.txt"]).status, 0);
    // Compressed, it is compared as it is added.
    dir.write("in/a.txt.zst", zstd::encode_all(words(1, 80).as_bytes(), 1).unwrap());
    assert_eq!(dir.json(&["compare", "in/a.txt", "in/a.txt.zst"])["resemblance"], 1.0);
}

#[cfg(not(feature = "office"))]
#[test]
fn files_left_out_of_a_folder_are_named() {
    let dir = mixed();
    let run = dir.run(&["add", "idx", "in", "--format", "json"]);
    assert_eq!((run.status, &run.json()["skipped"]), (0, &json!(5)));
    names_what_it_leaves_out(&run, &run.json()["left_out"]);
    let run = dir.run(&["pairs", "in", "--format", "json"]);
    // A pair, and the list.
    assert_eq!((run.status, run.out.lines().count()), (2, 2));
    let last: serde_json::Value = serde_json::from_str(run.out.lines().last().unwrap()).unwrap();
    let list = last["not_compared"].as_array().unwrap().iter();
    let list = list.map(|one| json!({"path": one["name"], "reason": one["reason"]})).collect();
    names_what_it_leaves_out(&run, &serde_json::Value::Array(list));
    assert!(run.err.contains("5 texts not compared"), "{}", run.err);
    let run = dir.run(&["dedup", "in", "--out", "new.jsonl", "--format", "json"]);
    assert_eq!((run.status, &run.json()["skipped"]), (0, &json!(5)));
    names_what_it_leaves_out(&run, &run.json()["left_out"]);
    assert_eq!(dir.run(&["pairs", "in/a.txt", "in/b.txt"]).status, 0);
    // No document was added, although the command was to add one.
    assert_eq!(dir.run(&["add", "other", "in/c.docx"]).status, 2);
}

#[test]
fn of_many_files_left_out_the_first_are_named_and_the_others_counted() {
    let dir = Dir::new();
    dir.write("in/a.txt", words(1, 60));
    (0..50).for_each(|i| dir.write(&format!("in/{i:02}.bin"), b"\0"));
    let run = dir.run(&["add", "idx", "in", "--format", "json"]);
    assert_eq!(run.json()["left_out"].as_array().unwrap().len(), 50);
    assert_eq!(run.err.matches(".bin: left out: ").count(), 10);
    assert!(run.err.contains("and 40 more of this kind: left out: it is"), "{}", run.err);
}

#[test]
fn empty_texts_are_counted_and_said() {
    let dir = Dir::new();
    let lines = [("none", ""), ("space", " \n"), ("some", &words(1, 60))];
    dir.write("in.jsonl", lines.map(|(id, text)| line(id, text, json!({}))).concat());
    for _ in 0..2 {
        let run = dir.run(&["add", "idx", "in.jsonl", "--format", "json"]);
        assert_eq!((run.status, &run.json()["empty"]), (0, &json!(2)));
        assert!(run.err.contains("none: it has no words"), "{}", run.err);
        assert!(run.err.contains("space: it has no words"), "{}", run.err);
    }
    assert!(dir.run(&["add", "idx", "in.jsonl"]).err.contains("2 empty"));
    let run = dir.run(&["dedup", "in.jsonl", "--format", "json", "--out", "out"]);
    assert_eq!(run.json()["empty"], 2);
    let run = dir.run(&["pairs", "in.jsonl"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("2 texts not compared"), "{}", run.err);
}

/// A name that would colour the terminal, change its title, and be shown backwards.
const ODD: &str = "a\u{1b}[31m\u{1b}]0;title\u{7}\u{9b}2J\r\u{202e}txt.x";

#[track_caller]
fn check_printable(run: &Run) {
    for text in [&run.out, &run.err] {
        let is_obeyed = |c: char| {
            (c.is_control() && c != '\n')
                || ('\u{202a}'..='\u{202e}').contains(&c)
                || ('\u{2066}'..='\u{2069}').contains(&c)
        };
        assert!(!text.contains(is_obeyed), "{text:?}");
    }
}

#[cfg(unix)]
#[test]
fn control_characters_of_names_do_not_reach_the_terminal() {
    let dir = Dir::new();
    let (one, two) = (words(1, 80), format!("{} {}", words(1, 60), words(2, 20)));
    // An id has no control characters, but may have those of direction.
    let odd_id = "b\u{202e}txt.exe\u{2069}";
    dir.write(&format!("in/{ODD}"), &one);
    dir.write("in/plain.txt", &one);
    dir.write(&format!("in/{odd_id}"), &two);
    dir.write(&format!("in/bin{ODD}"), b"\0");
    let mut bad = zip(&[(ODD, &one), ("last.txt", &one)]);
    let at = central(&bad, ODD);
    bad[at + 8] |= 1;
    dir.write("bad.zip", &bad);
    dir.write("odd.tar", [entry(tar::EntryType::Symlink, "x\u{1b}[2J", b""), ends()].concat());
    let odd = format!("in/{ODD}");
    let escaped = "a\\u{1b}[31m\\u{1b}]0;title\\u{7}\\u{9b}2J\\r\\u{202e}txt.x";
    for (args, shows) in [
        (&["add", "idx", "in"][..], escaped),
        (&["add", "idx", "bad.zip"], escaped),
        (&["add", "idx", "odd.tar"], "x\\u{1b}[2J"),
        (&["add", "idx", "in", "--format", "json"], "\\u202e"),
        (&["search", "idx", "--text", &one], "b\\u{202e}txt.exe\\u{2069}"),
        (&["search", "idx", "--text", &one, "--format", "json"], "b\\u202etxt.exe\\u2069"),
        (&["search", "idx", &format!("in/bin{ODD}")], escaped),
        (&["search", "idx", "--text", "x", "--filter", "(\u{1b}[31m"], "\\u{1b}[31m"),
        (&["pairs", "idx"], "b\\u{202e}txt.exe\\u{2069}"),
        (&["pairs", "idx", "--format", "json"], "b\\u202etxt.exe\\u2069"),
        (&["cluster", "idx"], "b\\u{202e}txt.exe\\u{2069}"),
        (&["pairs", "in"], escaped),
        (&["dedup", "in", "--out", "new"], escaped),
        (&["compare", &odd, "in/plain.txt"], escaped),
        (&["compare", "in/plain.txt", &format!("in/bin{ODD}")], escaped),
        (&["fingerprint", &format!("in/no{ODD}")], escaped),
        (&["stats", &odd], escaped),
        (&["remove", "idx", ODD], escaped),
        (&["train", "in", "--out", "t"], escaped),
        (&["search", "idx", "--text", &one, "-b", "in"], escaped),
    ] {
        let run = dir.run(args);
        check_printable(&run);
        let said = [run.out.as_str(), &run.err].concat();
        // A name is shown as it is escaped for the terminal, and an id that was made of it as it
        // is.
        let id = ["1b", "7", "9b"].iter().fold(shows.replace("\\r", "%0D"), |id, code| {
            let bytes =
                if *code == "9b" { "%C2%9B" } else { &format!("%{:0>2}", code.to_uppercase()) };
            id.replace(&format!("\\u{{{code}}}"), bytes)
        });
        assert!(said.contains(shows) || said.contains(&id), "{args:?}: {said}");
    }
    dir.write("escapes.txt", format!("{one} \u{1b}[2Jerased\u{9b}31m \u{202e}backwards"));
    for args in [&["compare", "escapes.txt", "escapes.txt"][..], &["fingerprint", "escapes.txt"]] {
        let run = dir.run(args);
        assert_eq!(run.status, 0);
        check_printable(&run);
    }
}

#[cfg(unix)]
#[test]
fn a_list_of_braces_ends_no_walk() {
    let dir = Dir::new();
    dir.write("in/a.txt", words(1, 60));
    let braces = format!("{}x{}\n", "{".repeat(100_000), "}".repeat(100_000));
    dir.write("in/sub/.gitignore", &braces);
    dir.write("in/sub/b.txt", words(2, 60));
    let run = dir.run(&["add", "idx", "in", "--ignore-files", "--format", "json"]);
    assert_eq!((run.status, &run.json()["added"]), (2, &json!(1)), "{}", run.err);
    assert!(
        run.err.contains(
            "in/sub/.gitignore: a line of its rules for ignored files has more than 64 braces"
        ),
        "{}",
        run.err
    );
    let run = dir.run(&["add", "idx", "in/sub", "--ignore-files"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains(".gitignore: a line of its rules"), "{}", run.err);
    // Opening a pipe would wait without end.
    std::fs::remove_file(dir.path("in/sub/.gitignore")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(dir.path("in/sub/.gitignore")).status();
    assert!(made.unwrap().success());
    let run = dir.run(&["add", "idx", "in", "--ignore-files", "--format", "json"]);
    assert_eq!((run.status, &run.json()["unread"]), (2, &json!(1)));
    assert!(run.err.contains("in/sub/.gitignore: it is not a regular file"), "{}", run.err);
    std::fs::remove_file(dir.path("in/sub/.gitignore")).unwrap();
    assert_eq!(dir.json(&["add", "idx", "in", "--ignore-files", "--all"])["failed"], 0);
}

#[cfg(unix)]
#[test]
fn a_git_file_leads_a_walk_nowhere() {
    // Its list of exclusions led to recursion, and a pipe in its place to a wait without end.
    let dir = Dir::new();
    dir.write("in/a.txt", words(1, 60));
    dir.write("in/.git", "gitdir: real\n");
    dir.write("real/commondir", ".\n");
    dir.write("real/info/exclude", format!("{}a{}\n", "{".repeat(60_000), "}".repeat(60_000)));
    let run = dir.run(&["add", "idx", "in", "--format", "json"]);
    assert_eq!((run.status, &run.json()["added"]), (0, &json!(1)), "{}", run.err);
    std::fs::remove_file(dir.path("real/info/exclude")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(dir.path("real/info/exclude")).status();
    assert!(made.unwrap().success());
    let run = dir.run(&["add", "idx", "in", "--format", "json"]);
    assert_eq!((run.status, &run.json()["unchanged"]), (0, &json!(1)), "{}", run.err);
}
