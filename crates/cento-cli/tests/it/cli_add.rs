//! `cento add` on every kind of source, good and bad.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::common::run::{Dir, corpus, indexed, line};
use crate::common::words;
use serde_json::{Value, json};

#[test]
fn a_document_is_replaced_by_its_id_and_left_alone_if_unchanged() {
    let dir = indexed();
    let again = dir.json(&["add", "idx", "corpus.jsonl"]);
    assert_eq!((&again["added"], &again["unchanged"]), (&json!(0), &json!(3)));
    dir.write(
        "new.jsonl",
        line("a", &words(9, 100), json!({})) + &line("c", &words(3, 100), json!({"x": 1})),
    );
    let replaced = dir.json(&["add", "idx", "new.jsonl"]);
    assert_eq!((&replaced["replaced"], &replaced["unchanged"]), (&json!(2), &json!(0)));
    assert_eq!(dir.json(&["stats", "idx"])["documents"], 3);
    assert_eq!(dir.json(&["search", "idx", "--text", &words(9, 100)])["hits"][0]["id"], "a");
    assert_eq!(
        dir.json(&["search", "idx", "--text", &words(3, 100)])["hits"][0]["meta"],
        json!({"x": 1})
    );
}

#[test]
fn the_last_of_a_repeated_id_wins() {
    let dir = Dir::new();
    let lines = [words(1, 50), words(2, 50), words(1, 50)].map(|text| line("a", &text, json!({})));
    dir.write("twice.jsonl", lines.concat());
    let report = dir.json(&["add", "idx", "twice.jsonl"]);
    assert_eq!((&report["added"], &report["replaced"]), (&json!(1), &json!(2)));
    assert_eq!(dir.run(&["search", "idx", "--text", &words(2, 50)]).status, 1);
    assert_eq!(
        dir.json(&["search", "idx", "--text", &words(1, 50)])["hits"][0]["containment_of_a"],
        1.0
    );
    // A single run over an index with the first version, with commits in between.
    dir.write(
        "back.jsonl",
        line("a", &words(2, 50), json!({})) + &line("a", &words(1, 50), json!({})),
    );
    let report = dir.json(&["add", "idx", "back.jsonl", "--commit-every", "1"]);
    assert_eq!(report["replaced"], 2);
    assert_eq!(dir.run(&["search", "idx", "--text", &words(2, 50)]).status, 1);
}

#[test]
fn files_and_directories_are_documents() {
    let dir = Dir::new();
    dir.write("docs/a.txt", words(1, 60));
    dir.write("docs/sub/b.md", words(2, 60));
    dir.write(
        "docs/latin.txt",
        b"caf\xe9 cr\xe8me br\xfbl\xe9e \xe0 la carte et d\xe9j\xe0 vu sous un ch\xeane pr\xe8s de \
         la for\xeat",
    );
    dir.write("docs/image.png", b"\x89PNG\r\n\0\0\0\0");
    dir.write("docs/empty.txt", " \n");
    dir.write("docs/.hidden", words(4, 60));
    dir.write("docs/more.jsonl", line("in-lines", &words(5, 60), json!({})));
    #[cfg(unix)]
    std::os::unix::fs::symlink("docs", dir.path("docs/loop")).unwrap();
    let report = dir.json(&["add", "idx", "docs"]);
    let expected = if cfg!(unix) { 4 } else { 3 };
    assert_eq!((&report["added"], &report["skipped"]), (&json!(4), &json!(expected)));
    for id in ["docs/a.txt", "docs/sub/b.md", "docs/latin.txt", "in-lines"] {
        assert_ne!(dir.run(&["search", "idx", "--id", id]).status, 2, "{id}");
    }
    let accents = dir.json(&["search", "idx", "--text", "Caf\u{e9} cr\u{e8}me br\u{fb}l\u{e9}e \u{e0} la carte et d\u{e9}j\u{e0} vu sous un ch\u{ea}ne pr\u{e8}s de la for\u{ea}t"]);
    assert_eq!(accents["hits"][0]["id"], "docs/latin.txt");
}

#[test]
fn a_name_that_does_not_exist_ends_the_command_and_says_that_nothing_was_read() {
    let dir = Dir::new();
    dir.write("x.txt", words(1, 50));
    dir.write("y.txt", words(1, 50));
    for args in [
        &["add", "idx"][..],
        &["pairs"],
        &["dedup", "--out", "o.jsonl"],
        &["method", "boilerplate"],
        &["method", "train", "--out", "t.freq"],
        &["decontaminate", "--out", "o.jsonl", "--against", "x.txt"],
    ] {
        let run = dir.run(&[args, &["x.txt", "nope.txt", "y.txt"]].concat());
        assert_eq!((run.status, run.out.as_str()), (2, ""), "{args:?}: {}", run.err);
        assert!(run.err.starts_with("cento: nope.txt does not exist"), "{args:?}: {}", run.err);
        assert!(run.err.contains("; nothing was read"), "{args:?}: {}", run.err);
        assert!(!dir.path("idx").exists() && !dir.path("o.jsonl").exists(), "{args:?}");
    }
}

#[test]
fn a_file_without_documents_is_named_and_nothing_added_is_status_2() {
    // Regression: `0 added` with the status 0.
    let dir = Dir::new();
    dir.write("rows.csv", "id,text\n");
    dir.write("list.json", "[]");
    fs::create_dir(dir.path("empty")).unwrap();
    for (name, reason) in [
        ("rows.csv", "it has no documents"),
        ("list.json", "it has no documents"),
        ("empty", "it has no files"),
    ] {
        let run = dir.run(&["add", "idx", name, "--format", "json"]);
        assert_eq!(run.status, 2, "{name}: {}", run.err);
        let said: Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(said["left_out"], json!([{"path": name, "reason": reason}]));
        let run = dir.run(&["add", "idx", name]);
        assert!(run.err.contains(&format!("{name}: skipped: {reason}")), "{}", run.err);
        let run = dir.run(&["dedup", name, "--out", "/dev/null"]);
        assert!(run.err.contains(reason), "{name}: {}", run.err);
    }
    dir.write("bench.jsonl", "{\"question\":\"words that no document has at all\"}\n");
    let run = dir.run(&["decontaminate", "rows.csv", "--against", "bench.jsonl", "list.json"]);
    assert!(run.err.contains("rows.csv: "), "{}", run.err);
    assert!(run.err.contains("list.json: "), "{}", run.err);
    dir.write("a.txt", words(1, 60));
    dir.write("b.txt", words(1, 60));
    let run = dir.run(&["pairs", "a.txt", "b.txt", "rows.csv"]);
    assert!(run.err.contains("rows.csv"), "{}", run.err);
}

#[test]
fn compressed_sources_are_read() {
    let dir = Dir::new();
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    dir.write("a.jsonl.gz", gzip(&line("a", &words(1, 60), json!({}))));
    dir.write(
        "b.jsonl.zst",
        zstd::encode_all(line("b", &words(2, 60), json!({})).as_bytes(), 1).unwrap(),
    );
    dir.write("c.txt.gz", gzip(&words(3, 60)));
    let report = dir.json(&["add", "idx", "a.jsonl.gz", "b.jsonl.zst", "c.txt.gz"]);
    assert_eq!(report["added"], 3);
    let stdin = gzip(&line("d", &words(4, 60), json!({})));
    let report = dir.run_with(&["add", "idx", "-", "--format", "json"], &stdin).json();
    assert_eq!(report["added"], 1);
    for (id, seed) in [("a", 1), ("b", 2), ("c.txt.gz", 3), ("d", 4)] {
        assert_eq!(dir.json(&["search", "idx", "--text", &words(seed, 60)])["hits"][0]["id"], id);
    }
}

#[test]
fn a_bad_record_is_reported_with_its_place_and_the_others_are_added() {
    let dir = Dir::new();
    let mut bytes = line("a", &words(1, 60), json!({})).into_bytes();
    bytes.extend(
        b"{\"id\": \"b\", \"text\": 5}\n{broken\n{\"id\":\"\",\"text\":\"x\"}\n\n\xff\xfe\n",
    );
    bytes.extend(line("c", &words(2, 60), json!({})).into_bytes());
    dir.write("mixed.jsonl", &bytes);
    let run = dir.run(&["add", "idx", "mixed.jsonl", "--format", "json"]);
    assert_eq!(run.status, 3);
    let report = run.json();
    assert_eq!((&report["added"], &report["failed"]), (&json!(2), &json!(4)));
    for place in [
        "mixed.jsonl:2: `text` is not a string",
        "mixed.jsonl:3: ",
        "mixed.jsonl:4: `id` is empty",
        "mixed.jsonl:6: ",
    ] {
        assert!(run.err.contains(place), "{place} in {}", run.err);
    }
    let strict = dir.run(&["add", "strict", "mixed.jsonl", "--strict"]);
    assert_eq!(strict.status, 2);
    assert!(strict.err.contains("mixed.jsonl:2"), "{}", strict.err);
    assert_eq!(dir.json(&["stats", "strict"])["documents"], 0);
}

#[test]
fn a_line_beyond_the_limit_is_refused_and_its_neighbors_land() {
    let dir = Dir::new();
    let long = line("long", &words(9, 40_000), json!({}));
    let lines = line("a", &words(1, 60), json!({})) + &long + &line("b", &words(2, 60), json!({}));
    dir.write("long.jsonl", lines);
    let run =
        dir.run(&["add", "idx", "long.jsonl", "--max-record-bytes", "100kB", "--format", "json"]);
    assert_eq!((&run.json()["added"], &run.json()["failed"]), (&json!(2), &json!(1)));
    assert!(run.err.contains("long.jsonl:2: longer than 100000 bytes"), "{}", run.err);
}

#[test]
fn a_whole_file_beyond_the_limit_is_an_unread_file() {
    // Regression: counted as a failed record, which no list shows and no exit status reflects.
    let dir = Dir::new();
    dir.write("in/long.txt", words(9, 40_000));
    dir.write("in/table.csv", "id,body\n1,words\n");
    dir.write("in/short.txt", words(1, 60));
    let limit = ["--max-record-bytes", "100kB", "--format", "json"];
    for verb in [&["add", "idx", "in"][..], &["dedup", "in", "--out", "out.jsonl"]] {
        let run = dir.run(&[verb, &limit].concat());
        let report = run.json();
        assert_eq!((run.status, &report["failed"], &report["unread"]), (3, &json!(2), &json!(2)));
        let unread = &report["unread_files"];
        assert_eq!(unread[0]["path"], "in/long.txt", "{unread}");
        assert_eq!(unread[0]["reason"], "longer than 100000 bytes, the limit for a record");
        assert_eq!(unread[1]["path"], "in/table.csv", "{unread}");
    }
    for verb in [&["add", "strict", "in"][..], &["dedup", "in", "--out", "strict.jsonl"]] {
        let run = dir.run(&[verb, &limit, &["--strict"]].concat());
        assert_eq!(run.status, 2);
        assert!(run.err.contains("in/long.txt: longer than 100000 bytes"), "{}", run.err);
    }
}

#[test]
fn a_limit_of_records_that_the_memory_cannot_hold_is_refused() {
    let dir = Dir::new();
    dir.write("long.jsonl", line("long", &words(9, 4_000_000), json!({})));
    let run =
        dir.run(&["add", "idx", "long.jsonl", "--memory", "64MiB", "--max-record-bytes", "17MiB"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("--max-record-bytes is at most an eighth of --memory"), "{}", run.err);
    assert!(!dir.path("idx").exists());
    // The default limit is the same.
    let run = dir.run(&["add", "idx", "long.jsonl", "--memory", "64MiB"]);
    assert!(run.err.contains("long.jsonl:1: longer than 8388608 bytes"), "{}", run.err);
}

#[test]
fn a_truncated_file_keeps_its_earlier_records() {
    let dir = Dir::new();
    let many: String =
        (0..2000).map(|i| line(&format!("d{i}"), &words(i, 40), json!({}))).collect();
    let whole = zstd::encode_all(many.as_bytes(), 1).unwrap();
    dir.write("cut.jsonl.zst", &whole[..whole.len() / 2]);
    let run = dir.run(&["add", "idx", "cut.jsonl.zst", "--format", "json"]);
    assert_eq!((run.status, &run.json()["failed"]), (3, &json!(1)));
    assert_eq!(run.json()["unread"], 1);
    assert!(run.json()["added"].as_u64().unwrap() > 100);
    assert!(run.err.contains("cut.jsonl.zst"), "{}", run.err);
}

#[test]
fn the_fields_of_a_line_can_be_named() {
    let dir = Dir::new();
    dir.write(
        "x.jsonl",
        format!("{}\n", json!({"url": 7, "body": words(1, 60), "info": {"n": 1}})),
    );
    dir.json(&[
        "add",
        "idx",
        "x.jsonl",
        "--id-field",
        "url",
        "--text-field",
        "body",
        "--meta-field",
        "info",
    ]);
    let answer = dir.json(&["search", "idx", "--text", &words(1, 60)]);
    assert_eq!(
        (&answer["hits"][0]["id"], &answer["hits"][0]["meta"]),
        (&json!("7"), &json!({"n": 1}))
    );
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let dir = Dir::new();
    let many: String =
        (0..3000).map(|i| line(&format!("d{i}"), &words(i % 500, 80), json!({}))).collect();
    dir.write("many.jsonl", many);
    let sig = |index: &str, threads: &str| -> Vec<u8> {
        dir.json(&["add", index, "many.jsonl", "--threads", threads]);
        let sigs: Vec<PathBuf> = fs::read_dir(dir.path(index))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "sig"))
            .collect();
        assert_eq!(sigs.len(), 1);
        fs::read(&sigs[0]).unwrap()
    };
    assert!(sig("one", "1") == sig("four", "4"));
}

#[test]
fn an_interrupted_run_leaves_the_index_as_the_last_commit_left_it() {
    let dir = indexed();
    let before = dir.json(&["stats", "idx"]);
    let mut command = dir.command(&["add", "idx", "-"]);
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than the pipe and the buffers hold, so after the last write documents are being added.
    for i in 0..5000 {
        stdin.write_all(line(&format!("n{i}"), &words(i, 100), json!({})).as_bytes()).unwrap();
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    // Standard input stays open, and the process must not wait for the end of input.
    let status = child.wait().unwrap();
    drop(stdin);
    assert_eq!(status.code(), Some(130));
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "cento: stopping; committed documents are kept\n");
    assert_eq!(dir.json(&["stats", "idx"])["documents"], before["documents"]);
    // Uncommitted segments may be left, and `check` lists them until the next change.
    let checked = dir.run(&["check", "idx", "--format", "json"]);
    assert!([0, 3].contains(&checked.status) && checked.json()["ok"] == true, "{}", checked.out);
    dir.write("more.jsonl", line("z", &words(8, 60), json!({})));
    assert_eq!(dir.json(&["add", "idx", "more.jsonl"])["added"], 1);
    assert_eq!(dir.json(&["check", "idx"])["ok"], true);
}

#[test]
fn a_removal_that_was_cut_off_can_be_repeated() {
    // A kill or a full disk during a commit leaves the file of deleted documents, and the same
    // removal writes a file with the same name again.
    let dir = Dir::new();
    let lines = (0..8u64).map(|i| line(&format!("d{i}"), &words(i, 60), json!({})));
    dir.write("corpus.jsonl", lines.collect::<String>());
    dir.json(&["add", "idx", "corpus.jsonl"]);
    let deletes = || -> Vec<PathBuf> {
        let paths = fs::read_dir(dir.path("idx")).unwrap().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "del")).collect()
    };
    let before: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(dir.path("idx"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    dir.json(&["remove", "idx", "d1"]);
    let left = deletes();
    assert_eq!(left.len(), 1);
    before.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    fs::write(&left[0], "cut o").unwrap();
    assert_eq!(dir.json(&["remove", "idx", "d1"])["removed"], 1);
    assert_eq!(deletes(), left);
    assert_eq!(dir.json(&["check", "idx"])["ok"], true);
    assert_eq!(dir.json(&["stats", "idx"])["documents"], 7);
}

#[test]
fn programs_have_the_language_of_their_names() {
    let dir = Dir::new();
    let program = "class A { int f(int a) { return a + 1; } }";
    dir.write("in/A.java", program);
    dir.write("in/B.java", program);
    let language = |index: &str| dir.json(&["stats", index, "--quick"])["analyzer"].clone();
    dir.json(&["add", "idx", "in", "--analyzer", "code"]);
    assert_eq!(language("idx"), "code(language=java,names=0)");
    dir.json(&["add", "idx", "in/A.java", "--analyzer", "code"]);
    dir.json(&["add", "named", "in", "--analyzer", "code(names=1)"]);
    assert_eq!(language("named"), "code(language=java,names=1)");
    let run = dir.run(&["pairs", "in", "--analyzer", "code"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let run = dir.run(&["compare", "in/A.java", "in/B.java", "--analyzer", "code"]);
    assert_eq!(run.status, 0, "{}", run.err);
    // Regression: the language was C for any files.
    dir.write("in/notes.txt", "some words");
    dir.write("b.py", "x = 1");
    for (paths, why) in [
        (&["in"][..], "`in/notes.txt`"),
        (&["in/A.java", "b.py"], "`b.py` is python"),
        (&["-"], "`-`"),
    ] {
        let run = dir.run(&[&["add", "other", "--analyzer", "code"], paths].concat());
        assert!(run.status == 2 && run.err.contains(why), "{}", run.err);
        assert!(run.err.contains("--analyzer 'code(language=java)'"), "{}", run.err);
        assert!(!dir.path("other").exists());
    }
    let run = dir.run(&["create", "other", "--analyzer", "code"]);
    assert!(run.status == 2 && run.err.contains("--analyzer 'code(language=java)'"), "{}", run.err);
}

#[test]
fn fields_beside_the_text_are_kept_or_named() {
    // Regression: such fields were dropped without a message.
    let dir = Dir::new();
    let record = |id: &str, more: Value| {
        let mut record = json!({"id": id, "text": words(1, 60)});
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("{record}\n")
    };
    let records = [
        record("a", json!({"source": "herald", "date": "2024-05-01", "lang": "en"})),
        record("b", json!({"source": "bote", "meta": {"year": 2025}})),
    ];
    dir.write("in.jsonl", records.concat());
    dir.write("in.csv", "id,text,source,date\na,one two three four five,herald,2024-05-01\n");
    let add = |input: &str, fields: &[&str]| {
        let fields: Vec<&str> = fields.iter().flat_map(|name| ["--meta-field", name]).collect();
        dir.run(&[&["add", "idx", input][..], &fields].concat())
    };
    let meta = |id: &str| dir.json(&["show", "idx", id])["meta"].clone();
    let run = add("in.jsonl", &[]);
    assert!(run.status == 0 && run.err.starts_with("2 added"), "{}", run.err);
    assert_eq!(meta("a"), json!({"source": "herald", "date": "2024-05-01", "lang": "en"}));
    assert_eq!(meta("b"), json!({"source": "bote", "year": 2025}));
    let listed = dir.run(&["list", "idx", "--filter", "meta.source:herald"]);
    assert!(listed.out.lines().count() == 1 && listed.out.contains(" a\n"), "{}", listed.out);
    let exported = dir.run(&["export", "idx"]).out;
    dir.write("exported.jsonl", &exported);
    let run = dir.run(&["add", "again", "exported.jsonl"]);
    assert!(run.err.starts_with("cento: fields not kept: added ("), "{}", run.err);
    assert_eq!(dir.json(&["show", "again", "a"])["meta"], meta("a"));
    let run = add("in.jsonl", &["source", "date", "meta"]);
    assert!(run.err.contains("fields not kept: lang (") && run.status == 0, "{}", run.err);
    assert_eq!(meta("a"), json!({"source": "herald", "date": "2024-05-01"}));
    assert_eq!(meta("b"), json!({"source": "bote", "year": 2025}));
    // A field that every record lacks is an error.
    let run = add("in.jsonl", &["sourec"]);
    assert_eq!(run.status, 2, "{}", run.err);
    let said = "no record has a field `sourec` (did you mean `source`?)";
    assert!(run.err.contains(said), "{}", run.err);
    let run = add("in.jsonl", &["NONE"]);
    assert!(run.status == 0 && run.err.contains("date, lang, meta, source"), "{}", run.err);
    let run = add("in.csv", &["source"]);
    assert!(run.status == 0 && run.err.contains("fields not kept: date ("), "{}", run.err);
    assert_eq!(meta("a"), json!({"source": "herald"}));
    assert_eq!(add("in.csv", &["lang"]).status, 2);
    // The message is the same where kept documents are stored.
    let dedup = |more: &[&str]| dir.run(&[&["dedup", "in.jsonl"], more].concat());
    assert_eq!(dedup(&["--index", "kept", "--out", "out"]).status, 0);
    let kept = json!({"source": "herald", "date": "2024-05-01", "lang": "en"});
    assert_eq!(dir.json(&["show", "kept", "a"])["meta"], kept);
    let run = dedup(&["--index", "none", "--out", "out2", "--meta-field", "NONE"]);
    assert!(run.err.contains("fields not kept: date, lang, meta, source ("), "{}", run.err);
    assert!(!dedup(&[]).err.contains("not kept"));
}

#[test]
fn a_field_that_no_meta_object_can_hold_costs_no_record() {
    let dir = Dir::new();
    let html = "<p>tide</p>".repeat(20_000);
    let record = json!({"id": "a", "text": words(1, 60), "lang": "en", "html": html});
    dir.write("in.jsonl", format!("{record}\n"));
    let run = dir.run(&["add", "idx", "in.jsonl"]);
    let said = "cento: fields not kept: html (in a record too long, twice, or bytes)\n1 added";
    assert!(run.status == 0 && run.err.starts_with(said), "{}", run.err);
    assert_eq!(dir.json(&["show", "idx", "a"])["meta"], json!({"lang": "en"}));
    // Rows have numbers again, and nothing for an empty cell.
    dir.write("in.csv", format!("id,text,score,lang,x,x\nb,{},9,,1,2\n", words(2, 60)));
    let run = dir.run(&["add", "idx", "in.csv"]);
    assert!(run.err.starts_with("cento: fields not kept: x ("), "{}", run.err);
    assert_eq!(dir.json(&["show", "idx", "b"])["meta"], json!({"score": 9}));
    // A rewritten table equals the input, and the index has the same meta objects.
    dir.write("kept.csv", format!("id,text,score\nb,{},1.50\n", words(2, 60)));
    dir.json(&["dedup", "kept.csv", "--index", "kept", "--out", "out.csv"]);
    assert_eq!(fs::read(dir.path("out.csv")).unwrap(), fs::read(dir.path("kept.csv")).unwrap());
    assert_eq!(dir.json(&["show", "kept", "b"])["meta"], json!({"score": 1.5}));
}

#[test]
fn verbs_over_files_choose_by_the_fields_of_records() {
    let dir = Dir::new();
    let record = |id: &str, site: &str| {
        format!("{}\n", json!({"id": id, "site": site, "text": words(1, 60)}))
    };
    dir.write("in.jsonl", [record("a", "x"), record("b", "x"), record("c", "y")].concat());
    let pairs = dir.run(&["pairs", "in.jsonl", "--within", "site", "--format", "json"]);
    assert_eq!(pairs.status, 0, "{}", pairs.err);
    assert!(pairs.out.contains("\"a\"") && !pairs.out.contains("\"c\""), "{}", pairs.out);
}

#[test]
fn two_fields_with_one_member_of_the_meta_object_are_refused() {
    let dir = Dir::new();
    let record = json!({"id": "a", "text": "some words", "year": 2024, "meta": {"year": 2023}});
    dir.write("in.jsonl", format!("{record}\n"));
    let run = dir.run(&["add", "i", "in.jsonl", "--meta-field", "year", "--meta-field", "meta"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("in.jsonl:1: "), "{}", run.err);
    let said = "`year` and another field make `year` of the meta object";
    assert!(run.err.contains(said), "{}", run.err);
}

#[test]
fn labels_are_set_without_the_texts_and_documents_are_removed_by_a_filter() {
    let dir = Dir::new();
    let years = (2020..2026).map(|year| {
        line(&year.to_string(), &words(year, 60), json!({"year": year, "source": {"name": "x"}}))
    });
    dir.write("all.jsonl", years.collect::<String>());
    assert_eq!(dir.json(&["add", "idx", "all.jsonl"])["added"], 6);
    let before = dir.json(&["show", "idx", "2021"]);
    let labels = [
        json!({"id": "2021", "meta": {"reviewed": true, "source": {"name": null, "place": "y"}}}),
        json!({"id": "2022", "meta": {"year": 2022}}),
        json!({"id": "1999", "meta": {"reviewed": true}}),
        // The text may be in a field with a different name.
        json!({"id": "2023", "meta": {"reviewed": true}, "body": "some words"}),
    ];
    dir.write("labels.jsonl", labels.map(|label| format!("{label}\n")).concat());
    let run = dir.run(&["add", "idx", "labels.jsonl", "--format", "json"]);
    let report = run.json();
    let counts = ["added", "replaced", "unchanged", "failed"].map(|name| report[name].as_u64());
    assert_eq!(counts, [Some(0), Some(1), Some(1), Some(2)]);
    assert!(run.err.contains("labels.jsonl:3: "), "{}", run.err);
    assert!(run.err.contains("labels.jsonl:4"), "{}", run.err);
    let after = dir.json(&["show", "idx", "2021"]);
    let meta = json!({"year": 2021, "reviewed": true, "source": {"place": "y"}});
    assert_eq!(after["meta"], meta);
    for same in ["text", "fingerprints", "added", "tokens"] {
        assert_eq!(after[same], before[same], "{same}");
    }

    let filter = ["--filter", "meta.year:[* TO 2022]"];
    let remove = |more: &[&str]| dir.json(&[&["remove", "idx"], &filter[..], more].concat());
    let counted = remove(&["--dry-run"]);
    assert_eq!((&counted["removed"], &counted["dry_run"]), (&json!(3), &json!(true)));
    let ids = dir.json(&["remove", "idx", "2020", "gone", "--dry-run"]);
    assert_eq!((&ids["removed"], &ids["missing"]), (&json!(1), &json!(["gone"])));
    assert_eq!(dir.json(&["stats", "idx"])["documents"], 6);
    assert_eq!(remove(&[])["removed"], 3);
    assert_eq!(dir.json(&["stats", "idx"])["documents"], 3);
    let none = dir.run(&["remove", "idx", "--filter", "meta.year:1999"]);
    assert_eq!((none.status, none.err.as_str()), (1, "0 removed\n"));
    let both = dir.run(&["remove", "idx", "2023", "--filter", "*"]);
    assert_eq!(both.status, 2, "{}", both.err);
    assert_eq!(dir.json(&["stats", "idx"])["documents"], 3);
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_that_is_writing_is_named() {
    let dir = Dir::new();
    dir.write("in.jsonl", corpus());
    let paused = dir.paused("document:2", &["dedup", "in.jsonl", "--index", "kept.idx"]);
    let run = dir.run(&["add", "kept.idx", "in.jsonl"]);
    let said = format!("; it is `cento dedup` (process {})", paused.id());
    assert!(run.status == 2 && run.err.contains(&said), "{}", run.err);
    paused.kill();
    // Nothing of the killed process is in the way.
    assert_eq!(dir.run(&["add", "kept.idx", "in.jsonl"]).status, 0);
}

#[cfg(unix)]
#[test]
fn a_run_that_ignores_a_hangup_goes_on() {
    // `nohup` starts a program so.
    let dir = Dir::new();
    dir.write("in.jsonl", corpus());
    let add = "trap '' HUP; exec \"$0\" dedup in.jsonl --index idx --out out.jsonl";
    let mut command = Command::new("sh");
    command.args(["-c", add, env!("CARGO_BIN_EXE_cento")]);
    let paused = dir.paused_with("document:2", command);
    paused.signal("HUP");
    assert_eq!(paused.resume(), 0);
    assert!(dir.path("out.jsonl").exists());
}

#[test]
fn a_refused_command_removes_its_index_and_nothing_else() {
    let dir = Dir::new();
    dir.write("empty.txt", "");
    dir.write("project/.env", "a secret");
    dir.write("class/anna.txt", words(1, 60));
    dir.write("in.jsonl", corpus());
    dir.json(&["add", "idx", "in.jsonl"]);
    assert_eq!(dir.run(&["add", "project", "empty.txt"]).status, 2);
    assert_eq!(fs::read_dir(dir.path("project")).unwrap().count(), 1);
    // A recovery into a folder of essays once removed the essays.
    let run = dir.run(&["recover", "idx", "--to", "class"]);
    assert!(run.status == 2 && run.err.contains("the directory is not empty"), "{}", run.err);
    assert_eq!(fs::read_to_string(dir.path("class/anna.txt")).unwrap(), words(1, 60));
}

#[test]
fn a_change_of_an_unknown_document_names_its_line() {
    let dir = indexed();
    dir.write("meta.jsonl", "{\"id\":\"a\",\"meta\":{\"a\":1}}\n{\"id\":\"no\",\"meta\":{}}\n");
    let run = dir.run(&["add", "idx", "meta.jsonl"]);
    let said = "cento: meta.jsonl:2: the record has no `text`, and no stored document has its id \
                `no`, so there is no meta object to change";
    assert!(run.status == 3 && run.err.contains(said), "{}: {}", run.status, run.err);
    // The line of a change that is refused for another reason was not named either.
    let long = format!("{{\"id\":\"a\",\"meta\":{{\"a\":\"{}\"}}}}\n", "x".repeat(70_000));
    dir.write("long.jsonl", format!("\n{long}"));
    let run = dir.run(&["add", "idx", "long.jsonl"]);
    assert!(run.err.contains("cento: long.jsonl:2: "), "{}", run.err);
}
