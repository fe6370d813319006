//! Unreadable inputs: bad entries in archives, binary files, empty texts, unusual names.

use crate::common::run::{Dir, Run, line};
use crate::common::words;
use cento_testing::archive::{central, ends, entry, stored};
use serde_json::json;

/// The first bytes of an old Word document.
#[cfg(not(feature = "office"))]
const DOC: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0\0\0";

#[test]
fn a_file_of_an_archive_that_cannot_be_read_is_named_and_the_others_are_added() {
    let dir = Dir::new();
    let (one, two) = (words(1, 60), words(2, 60));
    let mut archive = stored(&[("bad.txt", &one), ("good.txt", &two)]);
    let at = central(&archive, "bad.txt");
    archive[at + 8] |= 1;
    dir.write("locked.zip", &archive);
    let run = dir.run(&["add", "idx", "locked.zip", "--format", "json"]);
    let report = run.json();
    let counts = ["added", "failed", "unread"].map(|name| report[name].clone());
    assert_eq!((counts, run.status), ([json!(1), json!(1), json!(1)], 3), "{}", run.err);
    assert!(run.err.contains("cannot read locked.zip/bad.txt: "), "{}", run.err);
}

#[test]
fn a_comparison_names_the_chapters_that_it_does_not_read() {
    let dir = Dir::new();
    dir.write("t/main.tex", "\\documentclass{a}\\begin{document}\\input{one} one two three\n");
    dir.write("plain.txt", "one two three four five six");
    let run = dir.run(&["compare", "t/main.tex", "plain.txt"]);
    let said = "t/one.tex: t/main.tex includes it, and only that file is read";
    assert!(run.err.contains(said), "{}", run.err);
}

#[test]
fn chapters_that_are_inputs_too_are_not_called_skipped_and_have_the_macros() {
    // Every input was read alone, so the main file missed its chapters.
    let dir = Dir::new();
    dir.write(
        "main.tex",
        "\\documentclass{a}\\def\\x{sea}\\begin{document}\\input{one} two words\n",
    );
    dir.write("one.tex", "The \\x{} rises.\n");
    let run = dir.run(&["add", "idx", "main.tex", "one.tex"]);
    assert!(!run.err.contains("skipped") && run.status == 0, "{}", run.err);
    let shown = dir.run(&["show", "idx", "one.tex"]).out;
    assert!(shown.contains("The sea rises."), "{shown}");
}

#[test]
fn a_file_that_is_cut_short_is_not_called_skipped() {
    // The message was "skipped", and the records before the cut were added.
    let dir = Dir::new();
    dir.write("t.json", r#"[{"id":"a","text":"one two three four five"},{"id":"b","text":"si"#);
    let run = dir.run(&["add", "idx", "t.json"]);
    assert!(run.err.contains("cannot read all of t.json: it is cut short"), "{}", run.err);
    assert!(run.err.contains("; the rest of it is added"), "{}", run.err);
    assert!(!run.err.contains("skipped") && run.err.contains("1 added, 1 failed"), "{}", run.err);
    dir.write("e.xml", "<TEI.2><text><body><p>one two three four five</p><p>six");
    let run = dir.run(&["add", "idx", "e.xml"]);
    assert!(run.err.contains("cannot read all of e.xml: "), "{}", run.err);
    assert!(!run.err.contains("skipped"), "{}", run.err);
    dir.write("none.json", "[");
    let run = dir.run(&["add", "idx", "none.json"]);
    assert!(run.err.contains("cannot read none.json: "), "{}", run.err);
    assert!(run.err.contains("; not added"), "{}", run.err);
}

#[test]
fn a_quiet_run_that_adds_nothing_gives_the_reason() {
    let dir = Dir::new();
    dir.write("nul.txt", b"some\0words\0and\0others\0between\0NUL\0bytes\n");
    let run = dir.run(&["add", "idx", "nul.txt", "-q"]);
    let said = "nul.txt: skipped: it is binary data (NUL bytes)";
    assert!(run.status == 2 && run.err.contains(said), "{}", run.err);
    // If a document was added, the skipped file is only a note.
    dir.write("a.txt", words(1, 60));
    let run = dir.run(&["add", "idx", "nul.txt", "a.txt", "-q"]);
    assert_eq!((run.status, &*run.err), (0, ""));
}

#[test]
fn old_encodings_are_read_if_they_are_named_and_refused_if_they_are_in_doubt() {
    let dir = Dir::new();
    let (dos, latin) = (&b"Die Gr\x94\xe1e der St\x84dte f\x81hrt"[..], b"f\xfchrt zu H\xe4ndlern");
    dir.write("dos.txt", dos);
    dir.write(
        "dos.jsonl",
        [&b"{\"id\":\"line\",\"text\":\""[..], &dos.repeat(3)[..], b"\"}\n"].concat(),
    );
    dir.write("m.eml", [b"From: a@b.c\nSubject: Stadt\n\n", &latin[..]].concat());
    let xml =
        |name: &str| [b"<?xml version='1.0' encoding='", name.as_bytes(), b"'?><a>", dos].concat();
    dir.write("a.xml", xml("IBM850"));
    dir.write("b.xml", xml("IBM1047"));
    for name in ["dos.txt", "dos.jsonl", "b.xml"] {
        let run = dir.run(&["add", "idx", name]);
        assert!(run.status == 2 && run.err.contains("--encoding"), "{name}: {}", run.err);
    }
    dir.run(&["add", "idx", "dos.txt", "dos.jsonl", "--encoding", "cp850"]);
    dir.run(&["add", "idx", "a.xml"]);
    dir.run(&["add", "idx", "m.eml", "--encoding", "latin1"]);
    let out = dir.run(&["export", "idx"]).out;
    assert_eq!(out.matches("Die Gr\u{f6}\u{df}e der St\u{e4}dte f\u{fc}hrt").count(), 5, "{out}");
    assert!(out.contains("f\u{fc}hrt zu H\u{e4}ndlern"), "{out}");
}

/// A folder of texts and unreadable files.
#[cfg(not(feature = "office"))]
fn mixed() -> Dir {
    let dir = Dir::new();
    dir.write("in/a.txt", words(1, 80));
    dir.write("in/b.txt", format!("{} {}", words(1, 50), words(2, 30)));
    dir.write("in/c.doc", DOC);
    dir.write("in/d.png", b"\x89PNG\r\n\x1a\n\0");
    dir.write("in/e.bin", b"a\0b");
    dir.write("in/f.txt", " \n");
    dir.write("in/g.rtf", "{\\rtf1 text}");
    dir
}

#[cfg(not(feature = "office"))]
const LEFT_OUT: [(&str, &str); 5] = [
    ("in/c.doc", "old Office document; `cargo install --locked --path crates/cento-cli"),
    ("in/d.png", "an image"),
    ("in/e.bin", "NUL"),
    ("in/f.txt", "it is empty"),
    ("in/g.rtf", "--features office` builds a cento that reads it"),
];

#[cfg(not(feature = "office"))]
#[track_caller]
fn names_what_it_leaves_out(run: &Run, list: &serde_json::Value) {
    for (at, (path, why)) in LEFT_OUT.into_iter().enumerate() {
        assert!(run.err.contains(&format!("{path}: skipped: ")), "{path} in {}", run.err);
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
            let is_office = [".doc", ".rtf"].iter().any(|ending| path.ends_with(ending));
            let named = run.err.matches("--features office`").count();
            assert_eq!(named, usize::from(is_office), "{args:?}: {}", run.err);
        }
    }
    let run = dir.run_with(&["search", "idx", "-"], DOC);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("old Office document"), "{}", run.err);
    assert_eq!(dir.run(&["method", "fingerprint", "in/c.doc"]).status, 2);
    assert_eq!(dir.run(&["compare", "in/a.txt", "in/b.txt"]).status, 0);
    // `compare` reads a compressed file like `add`.
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
    assert_eq!((run.status, run.out.lines().count()), (3, 2));
    let last: serde_json::Value = serde_json::from_str(run.out.lines().last().unwrap()).unwrap();
    let list = last["not_compared"].as_array().unwrap().iter();
    let list = list.map(|one| json!({"path": one["name"], "reason": one["reason"]})).collect();
    names_what_it_leaves_out(&run, &serde_json::Value::Array(list));
    assert!(run.err.contains("5 texts not compared"), "{}", run.err);
    let run = dir.run(&["dedup", "in", "--out", "new.jsonl", "--format", "json"]);
    assert_eq!((run.status, &run.json()["skipped"]), (0, &json!(5)));
    names_what_it_leaves_out(&run, &run.json()["left_out"]);
    assert_eq!(dir.run(&["pairs", "in/a.txt", "in/b.txt"]).status, 0);
    // The command should add a document, but added nothing.
    assert_eq!(dir.run(&["add", "other", "in/c.doc"]).status, 2);
}

#[test]
fn of_many_files_left_out_the_first_are_named_and_the_others_counted() {
    let dir = Dir::new();
    dir.write("in/a.txt", words(1, 60));
    (0..50).for_each(|i| dir.write(&format!("in/{i:02}.bin"), b"\0"));
    let run = dir.run(&["add", "idx", "in", "--format", "json"]);
    assert_eq!(run.json()["left_out"].as_array().unwrap().len(), 50);
    assert_eq!(run.err.matches(".bin: skipped: ").count(), 10);
    assert!(run.err.contains("and 40 more of this kind: skipped: it is"), "{}", run.err);
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

/// A name that would color the terminal, change the title, and be displayed backwards.
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
    // An id cannot have control characters, but may have characters for the writing direction.
    let odd_id = "b\u{202e}txt.exe\u{2069}";
    dir.write(&format!("in/{ODD}"), &one);
    dir.write("in/plain.txt", &one);
    dir.write(&format!("in/{odd_id}"), &two);
    dir.write(&format!("in/bin{ODD}"), b"\0");
    let mut bad = stored(&[(ODD, &one), ("last.txt", &one)]);
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
        (&["method", "fingerprint", &format!("in/no{ODD}")], escaped),
        (&["stats", &odd], escaped),
        (&["remove", "idx", ODD], escaped),
        (&["method", "train", "in", "--out", "t"], escaped),
        (&["search", "idx", "--text", &one, "-b", "in"], escaped),
    ] {
        let run = dir.run(args);
        check_printable(&run);
        let said = [run.out.as_str(), &run.err].concat();
        // A name is escaped for the terminal. An id made from the name is escaped already, and
        // shown unchanged.
        let id = ["1b", "7", "9b"].iter().fold(shows.replace("\\r", "%0D"), |id, code| {
            let bytes =
                if *code == "9b" { "%C2%9B" } else { &format!("%{:0>2}", code.to_uppercase()) };
            id.replace(&format!("\\u{{{code}}}"), bytes)
        });
        assert!(said.contains(shows) || said.contains(&id), "{args:?}: {said}");
    }
    dir.write("escapes.txt", format!("{one} \u{1b}[2Jerased\u{9b}31m \u{202e}backwards"));
    for args in
        [&["compare", "escapes.txt", "escapes.txt"][..], &["method", "fingerprint", "escapes.txt"]]
    {
        let run = dir.run(args);
        assert_eq!(run.status, 0);
        check_printable(&run);
    }
}
