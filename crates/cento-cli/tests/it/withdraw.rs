//! The real binary: withdrawal of documents, from an index and from files.

use std::fs;
use std::io::{Read, Write};

use serde_json::{Value, json};

use crate::common::run::{Dir, line};
use crate::common::service::Service;
use crate::common::words;

/// Lines of JSON: `own`, a copy, a document that quotes it, one that has nothing of it, and two
/// that are no documents.
fn lines() -> String {
    let quoting = format!("{} {}", words(2, 60), words(1, 30));
    [
        line("own", &words(1, 100), json!({})),
        "{\"note\": \"no text\"}\n".to_owned(),
        format!(
            "{{\"z\": 1.0, \"text\": {}, \"id\": \"quoting\", \"a\": [2]}}\r\n",
            json!(quoting)
        ),
        line("copy", &words(1, 100), json!({"from": "elsewhere"})),
        "no JSON\n".to_owned(),
        format!("{{\"text\":  \"{}\",\"id\":7}}\n", words(3, 50)),
    ]
    .concat()
}

/// The lines that are left.
fn left() -> String {
    let cut = format!("{} ", words(2, 60));
    [
        "{\"note\": \"no text\"}\n".to_owned(),
        format!("{{\"z\": 1.0, \"text\": {}, \"id\": \"quoting\", \"a\": [2]}}\r\n", json!(cut)),
        "no JSON\n".to_owned(),
        format!("{{\"text\":  \"{}\",\"id\":7}}\n", words(3, 50)),
    ]
    .concat()
}

/// A directory with an index of `own`, `copy`, `quoting` and `other`.
fn indexed() -> Dir {
    let dir = Dir::new();
    let quoting = format!("{} {}", words(2, 60), words(1, 30));
    let documents = [
        line("own", &words(1, 100), json!({})),
        line("copy", &words(1, 100), json!({})),
        line("quoting", &quoting, json!({})),
        line("other", &words(3, 50), json!({})),
    ];
    dir.write("in.jsonl", documents.concat());
    assert_eq!(dir.run(&["add", "idx", "in.jsonl"]).status, 0);
    dir
}

fn ids(documents: &Value) -> Vec<&str> {
    documents.as_array().unwrap().iter().map(|document| document["id"].as_str().unwrap()).collect()
}

fn read(dir: &Dir, name: &str) -> String {
    fs::read_to_string(dir.path(name)).unwrap()
}

fn stored(dir: &Dir) -> Vec<String> {
    let listed = dir.run(&["list", "idx", "--format", "json"]).out;
    let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].to_string();
    let mut ids: Vec<String> = listed.lines().map(id).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn a_dry_run_lists_what_is_then_done() {
    let dir = indexed();
    let planned = dir.json(&["withdraw", "idx", "own", "--dry-run"]);
    assert_eq!((&planned["done"], stored(&dir).len()), (&json!(false), 4));
    let human = dir.run(&["withdraw", "idx", "own", "--dry-run"]);
    let expected = "remove   own: the withdrawn document\n\
                    remove   copy: the same text\n\
                    cut      quoting: 1 passage, 30 of 90 tokens\n";
    assert_eq!((human.status, &*human.out), (0, expected), "{}", human.err);
    let mut done = dir.json(&["withdraw", "idx", "own"]);
    assert_eq!(ids(&done["withdrawal"]["removed"]), ["own", "copy"]);
    assert_eq!(stored(&dir), [r#""other""#, r#""quoting""#]);
    let shown = dir.json(&["show", "idx", "quoting"]);
    assert_eq!(shown["text"], json!(format!("{} ", words(2, 60))));
    done["done"] = json!(false);
    done["withdrawal"]["withdrawn"] = planned["withdrawal"]["withdrawn"].clone();
    assert_eq!(done, planned);
}

#[test]
fn a_removed_copy_that_was_added_earlier_is_listed_as_earlier() {
    let dir = indexed();
    let human = dir.run(&["withdraw", "idx", "copy", "--dry-run"]);
    let expected = "remove   copy: the withdrawn document\n\
                    remove   own: the same text, added earlier\n\
                    cut      quoting: 1 passage, 30 of 90 tokens\n";
    assert_eq!((human.status, &*human.out), (0, expected), "{}", human.err);
    let removed = &dir.json(&["withdraw", "idx", "copy"])["withdrawal"]["removed"];
    assert_eq!(removed[0].get("added_earlier"), None);
    assert_eq!(removed[1]["added_earlier"], json!(true));
}

#[test]
fn what_was_withdrawn_is_refused_by_name_until_that_is_lifted() {
    let dir = indexed();
    assert_eq!(dir.run(&["withdraw", "idx", "own"]).status, 0);
    let again = dir.run(&["add", "idx", "in.jsonl"]);
    assert_eq!(again.status, 2);
    for what in [
        "document `own`: it is the document `own`, which was withdrawn on 2",
        "document `copy`: it is the document `own`",
        "document `quoting`: its text has passages of the document `own`",
    ] {
        assert!(again.err.contains(what), "{}", again.err);
    }
    assert_eq!(stored(&dir).len(), 2);
    // The second time it is found to be done, and no list is printed as if it were done again.
    let second = dir.json(&["withdraw", "idx", "own"]);
    assert_eq!((&second["done"], &second["again"]), (&json!(true), &json!(true)));
    let planned = dir.json(&["withdraw", "idx", "own", "--dry-run"]);
    assert_eq!((&planned["done"], &planned["again"]), (&json!(false), &json!(true)));
    let human = dir.run(&["withdraw", "idx", "own", "--cut-earlier"]);
    assert_eq!((human.status, &*human.out), (0, ""), "{}", human.err);
    assert!(human.err.contains("already") && human.err.contains("no passages were looked for"));
    let listed = dir.json(&["withdraw", "idx", "--list"]);
    assert_eq!(
        (&listed["id"], &listed["removed"], &listed["cut"]),
        (&json!("own"), &json!(2), &json!(1))
    );
    assert_eq!(dir.run(&["withdraw", "idx", "none"]).status, 2);
    assert_eq!(dir.json(&["withdraw", "idx", "--forget", "own"])["forgotten"], json!(1));
    assert_eq!(dir.run(&["withdraw", "idx", "--forget", "own"]).status, 1);
    assert_eq!(dir.run(&["withdraw", "idx", "--list"]).status, 1);
    assert_eq!(dir.run(&["add", "idx", "in.jsonl"]).status, 0);
    assert_eq!(stored(&dir).len(), 4);
}

#[test]
fn a_text_that_was_removed_from_a_file_or_cut_in_it_is_refused() {
    let dir = indexed();
    // Half of the document and nothing of it alone; and a quotation within other words.
    let half = format!("{} {} {}", words(6, 5), words(1, 50), words(7, 5));
    let quoting = format!("{} {}", words(8, 60), words(1, 30));
    let lines = [line("half", &half, json!({})), line("longer", &quoting, json!({}))].concat();
    dir.write("files.jsonl", &lines);
    dir.write("again.jsonl", &lines);
    let withdraw = ["withdraw", "idx", "own", "--files", "files.jsonl", "--format", "json"];
    // A dry run keeps nothing.
    assert_eq!(dir.run(&[&withdraw[..], &["--dry-run"]].concat()).status, 0);
    dir.json(&["add", "idx", "again.jsonl"]);
    assert_eq!(dir.run(&["remove", "idx", "half", "longer"]).status, 0);
    let done = dir.run(&[&withdraw[..], &["--record", "own.json"]].concat()).json();
    let found = &done["withdrawal"]["files"][0];
    assert_eq!((ids(&found["removed"]), ids(&found["cut"])), (vec!["half"], vec!["longer"]));
    let again = dir.run(&["add", "idx", "again.jsonl"]);
    assert_eq!(again.status, 2, "{}", again.err);
    for what in [
        "document `half`: its text was removed with the document `own`",
        "document `longer`: its text has passages of the document `own`",
    ] {
        assert!(again.err.contains(what), "{}", again.err);
    }
    // The rest of a text that was cut is not refused.
    dir.json(&["add", "idx", "files.jsonl"]);
    assert_eq!(dir.run(&["withdraw", "idx", "--check", "own.json"]).status, 0);
    // After the withdrawal is lifted, no text is refused; the record still names such a text.
    dir.json(&["withdraw", "idx", "--forget", "own"]);
    dir.json(&["add", "idx", "again.jsonl"]);
    let check = dir.run(&["withdraw", "idx", "--check", "own.json"]);
    assert_eq!(check.status, 1, "{}", check.err);
    let shown = format!("{}{}", check.out, check.err);
    assert!(shown.contains("the document `half` has a text that was removed or cut"), "{shown}");
}

#[test]
fn dedup_drops_what_was_withdrawn() {
    let dir = indexed();
    assert_eq!(dir.run(&["withdraw", "idx", "own"]).status, 0);
    let new = [line("new", &words(1, 100), json!({})), line("n", &words(9, 50), json!({}))];
    dir.write("new.jsonl", new.concat());
    for index in ["--against", "--index"] {
        let (out, dropped) = (format!("out{index}"), format!("dropped{index}"));
        let args = ["dedup", "new.jsonl", index, "idx", "--out", &out, "--dropped", &dropped];
        let summary = dir.json(&args);
        assert_eq!((&summary["kept"], &summary["withdrawn"]), (&json!(1), &json!(1)), "{index}");
        let dropped: Value = serde_json::from_str(&read(&dir, &dropped)).unwrap();
        assert_eq!((&dropped["verdict"], &dropped["of"]), (&json!("withdrawn"), &json!("own")));
    }
}

#[test]
fn lines_of_files_are_removed_and_cut_and_all_others_keep_their_bytes() {
    let dir = indexed();
    dir.write("a.jsonl", lines());
    let untouched = line("x", &words(5, 50), json!({}));
    dir.write("b.jsonl", &untouched);
    let gz = |text: &str| {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(text.as_bytes()).unwrap();
        gz.finish().unwrap()
    };
    fs::write(dir.path("c.jsonl.gz"), gz(&lines())).unwrap();
    let zst = zstd::encode_all(lines().as_bytes(), 1).unwrap();
    fs::write(dir.path("d.jsonl.zst"), zst).unwrap();
    let files = ["--files", "a.jsonl", "b.jsonl", "c.jsonl.gz", "d.jsonl.zst"];
    let before = fs::metadata(dir.path("b.jsonl")).unwrap().modified().unwrap();
    let planned = dir.json(&[&["withdraw", "idx", "own", "--dry-run"], &files[..]].concat());
    assert_eq!(read(&dir, "a.jsonl"), lines());
    let run = dir.run(&[&["withdraw", "idx", "own"], &files[..], &["--format", "json"]].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    let done = run.json();
    assert_eq!(done["withdrawal"]["files"], planned["withdrawal"]["files"]);
    let found = &done["withdrawal"]["files"][0];
    assert_eq!((&found["documents"], &found["no_documents"]), (&json!(4), &json!(2)));
    assert_eq!(
        (ids(&found["removed"]), ids(&found["cut"])),
        (vec!["own", "copy"], vec!["quoting"])
    );
    assert_eq!((read(&dir, "a.jsonl"), read(&dir, "b.jsonl")), (left(), untouched));
    assert_eq!(fs::metadata(dir.path("b.jsonl")).unwrap().modified().unwrap(), before);
    let mut text = String::new();
    let bytes = fs::read(dir.path("c.jsonl.gz")).unwrap();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, left());
    let bytes = fs::read(dir.path("d.jsonl.zst")).unwrap();
    assert_eq!(zstd::decode_all(&bytes[..]).unwrap(), left().as_bytes());
    // No temporary files stay.
    let names = fs::read_dir(dir.path(".")).unwrap().count();
    assert_eq!(names, 6, "the index, its input and four files");
}

#[test]
fn records_are_read_as_add_reads_them_whatever_their_names_and_encodings() {
    let dir = Dir::new();
    let poem: String = (0..40).map(|number| format!("caf\u{e9}{number} ")).collect();
    dir.write("in.jsonl", line("own", &poem, json!({})));
    assert_eq!(dir.run(&["add", "idx", "in.jsonl"]).status, 0);
    let rest = words(2, 60);
    // A name that is not one without its escapes, a line in Latin-1, a byte order mark.
    let escaped = format!("{{\"a\\n\\\"b\":1,\"id\":\"q\\\"1\",\"text\":\"{rest} {poem}\"}}\n");
    let latin =
        format!("{{\"from\":\"M\u{fc}ller\",\"text\":\"{rest} {poem}\",\"id\":\"l\u{e4}\"}}\r\n");
    let other = "{\"text\":\"\u{e9}t\u{e9}\",\"id\":\"other\"}\n";
    let in_latin = |text: &str| text.chars().map(|c| c as u8).collect::<Vec<u8>>();
    let all = [format!("\u{feff}{escaped}").into_bytes(), in_latin(&latin), in_latin(other)];
    dir.write("a.jsonl", all.concat());
    let run = dir.run(&["withdraw", "idx", "own", "--files", "a.jsonl", "--format", "json"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let found = &run.json()["withdrawal"]["files"][0];
    assert_eq!(ids(&found["cut"]), ["q\"1", "l\u{e4}"]);
    let expected = [
        format!("\u{feff}{}", escaped.replace(poem.trim_end(), "")).into_bytes(),
        // Escapes mean the same in every encoding.
        format!("{{\"from\":\"M\\u00fcller\",\"text\":\"{rest}  \",\"id\":\"l\\u00e4\"}}\r\n")
            .into_bytes(),
        in_latin(other),
    ];
    let left = fs::read(dir.path("a.jsonl")).unwrap();
    assert_eq!(String::from_utf8_lossy(&left), String::from_utf8_lossy(&expected.concat()));
    assert_eq!(left, expected.concat());
}

#[test]
fn a_file_that_has_no_texts_is_refused_before_anything_is_done() {
    let dir = indexed();
    dir.write("a.txt", "just a text\n");
    dir.write("list.json", format!("[{}]\n", lines().lines().next().unwrap()));
    for (file, expected) in [
        ("a.txt", "no line of it is a JSON object"),
        ("list.json", "it is a JSON list"),
        ("none", "cannot"),
    ] {
        let run = dir.run(&["withdraw", "idx", "own", "--files", file]);
        assert!(run.status == 2 && run.err.contains(expected), "{}", run.err);
    }
    assert_eq!(stored(&dir).len(), 4);
    assert_eq!(dir.run(&["withdraw", "idx", "own"]).status, 0);
    let late = dir.run(&["withdraw", "idx", "own", "--files", "in.jsonl"]);
    assert!(late.status == 2 && late.err.contains("already, and its text"), "{}", late.err);
}

#[test]
fn no_file_is_changed_if_one_of_them_cannot_be_read() {
    let dir = indexed();
    dir.write("a.jsonl", lines());
    // As `xz` and `bzip2` begin: these are read by `add`, and not written.
    dir.write("b.jsonl.xz", b"\xfd7zXZ\0\0\x04");
    dir.write("b.jsonl.bz2", b"BZh91AY&SY");
    dir.write("b.txt", "just a text\n");
    for (file, expected) in [
        ("b.jsonl.xz", "it is compressed with xz, which is read and not written"),
        ("b.jsonl.bz2", "it is compressed with bzip2"),
        ("b.txt", "no line of it is a JSON object"),
    ] {
        let args = ["withdraw", "idx", "own", "--record", "r.json", "--files", "a.jsonl", file];
        let run = dir.run(&args);
        assert!(run.status == 2 && run.err.contains(expected), "{}", run.err);
        assert_eq!(read(&dir, "a.jsonl"), lines());
        assert!(!dir.path("r.json").exists());
        assert_eq!(stored(&dir).len(), 4);
    }
    let names = fs::read_dir(dir.path(".")).unwrap().count();
    assert_eq!(names, 6, "no temporary file stays");
}

#[test]
fn files_that_were_rewritten_before_a_failure_are_named_and_recorded() {
    let dir = indexed();
    dir.write("a.jsonl", lines());
    dir.write("b.jsonl", lines());
    let args = [
        "withdraw", "idx", "own", "--record", "r.json", "--files", "a.jsonl", "b.jsonl",
        "--format", "json",
    ];
    // Another program appends to the second file, while the first is replaced.
    let paused = dir.paused("file:1", &args);
    let appended = lines() + &line("new", &words(77, 40), json!({}));
    dir.write("b.jsonl", &appended);
    let (status, told) = paused.go_on();
    assert_eq!(status, 2, "{told}");
    assert!(told.contains("b.jsonl: it has changed since it was read"), "{}", told);
    assert!(told.contains("these files were rewritten: a.jsonl;"), "{}", told);
    assert_eq!((read(&dir, "a.jsonl"), read(&dir, "b.jsonl")), (left(), appended));
    assert_eq!(stored(&dir).len(), 4);
    let record = |dir: &Dir| serde_json::from_str::<Value>(&read(dir, "r.json")).unwrap();
    let files = record(&dir)["withdrawal"]["files"].clone();
    assert_eq!(
        (&files[0]["file"], ids(&files[0]["removed"])),
        (&json!("a.jsonl"), vec!["own", "copy"])
    );
    assert_eq!(record(&dir)["withdrawal"]["removed"], json!([]));
    // The repetition completes it, and its record has all that was changed.
    assert_eq!(dir.run(&args).status, 0);
    let done = record(&dir)["withdrawal"].clone();
    assert_eq!(ids(&done["removed"]), ["own", "copy"]);
    for file in done["files"].as_array().unwrap() {
        assert_eq!(
            (ids(&file["removed"]), ids(&file["cut"])),
            (vec!["own", "copy"], vec!["quoting"])
        );
    }
    assert_eq!(stored(&dir).len(), 2);
}

#[test]
fn events_of_watches_lose_what_was_withdrawn() {
    for by_service in [false, true] {
        let dir = Dir::new();
        dir.write("mine.txt", words(1, 100));
        dir.write("old.jsonl", line("old", &words(4, 60), json!({"title": "kept up"})));
        assert_eq!(dir.run(&["add", "idx", "old.jsonl"]).status, 0);
        assert_eq!(dir.run(&["watch", "add", "idx", "mine.txt"]).status, 0);
        let quoting = format!("{} {}", words(2, 60), words(1, 30));
        let documents = [
            line("own", &words(1, 100), json!({"title": "laid up"})),
            line("quoting", &quoting, json!({"title": "kept"})),
        ];
        dir.write("in.jsonl", documents.concat());
        assert_eq!(dir.run(&["add", "idx", "in.jsonl"]).status, 0);
        let events = |dir: &Dir| -> Vec<Value> {
            let out = dir.run(&["watch", "events", "idx", "--format", "json"]).out;
            out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let before = events(&dir);
        assert_eq!(before.len(), 2);
        assert_eq!(dir.run(&["watch", "remove", "idx", "mine.txt"]).status, 0);
        if by_service {
            let service = Service::start(&dir, &[]);
            assert_eq!(dir.run(&["withdraw", "own", "--url", &service.url]).status, 0);
        } else {
            assert_eq!(dir.run(&["withdraw", "idx", "own"]).status, 0);
        }
        // Before anything reads the events.
        for entry in fs::read_dir(dir.path("idx/.watches/events")).unwrap() {
            let bytes = fs::read(entry.unwrap().path()).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains("laid up"), "{by_service}");
        }
        let after = events(&dir);
        let own = |events: &[Value]| events.iter().find(|one| one["hit"]["id"] == "own").cloned();
        let (had, has) = (own(&before).unwrap(), own(&after).unwrap());
        assert_eq!(had["hit"]["meta"]["title"], "laid up");
        assert_eq!((&has["hit"]["meta"], has["hit"].get("passages")), (&json!({}), None));
        assert_eq!(has["cursor"], had["cursor"]);
        let rest = |events: &[Value]| -> Vec<Value> {
            events.iter().filter(|one| one["hit"]["id"] != "own").cloned().collect()
        };
        let others = rest(&after);
        assert_eq!(others[..1], rest(&before)[..]);
    }
}

#[test]
fn a_run_that_is_killed_after_any_file_is_completed_by_another() {
    for at in 1..=2 {
        let dir = indexed();
        dir.write("a.jsonl", lines());
        dir.write("b.jsonl", lines());
        let args = ["withdraw", "idx", "own", "--files", "a.jsonl", "b.jsonl"];
        dir.paused(&format!("file:{at}"), &args).kill();
        // Present and not refused, so that it can be done again.
        assert_eq!((stored(&dir).len(), read(&dir, "a.jsonl")), (4, left()));
        assert_eq!(dir.run(&["withdraw", "idx", "--list"]).status, 1);
        let again = dir.run(&args);
        assert_eq!(again.status, 0, "{}", again.err);
        assert_eq!((read(&dir, "a.jsonl"), read(&dir, "b.jsonl")), (left(), left()));
        assert_eq!(stored(&dir).len(), 2);
    }
}

#[test]
fn a_record_tells_later_that_nothing_is_there() {
    let dir = indexed();
    let run = dir.run(&["withdraw", "idx", "own", "--record", "record.json"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let record = read(&dir, "record.json");
    assert!(!record.contains(&words(1, 3)), "{record}");
    let check = |dir: &Dir| dir.run(&["withdraw", "idx", "--check", "record.json"]);
    let sound = check(&dir);
    assert_eq!((sound.status, &*sound.out), (0, ""), "{}", sound.err);
    let claim = "no document has a text of the record, is a copy, or has two of its ";
    assert!(sound.err.contains(claim), "{}", sound.err);
    // With the withdrawal lifted, and a part of it back.
    assert_eq!(dir.run(&["withdraw", "idx", "--forget", "own"]).status, 0);
    let back = format!("{} {}", words(8, 60), words(1, 60));
    dir.write("back.jsonl", line("back", &back, json!({})));
    assert_eq!(dir.run(&["add", "idx", "back.jsonl"]).status, 0);
    let found = dir.run(&["withdraw", "idx", "--check", "record.json"]);
    assert_eq!(found.status, 1);
    assert!(found.err.contains("does not refuse the document `own`"), "{}", found.err);
    assert!(found.err.contains("the document `back` has a passage"), "{}", found.err);
    dir.write("record.json", record.replace("\"min_passage\":12", "\"min_passage\":13"));
    let changed = check(&dir);
    assert!(changed.status == 2 && changed.err.contains("its checksum"), "{}", changed.err);
    dir.write("record.json", "{}");
    let none = check(&dir);
    assert!(none.status == 2 && none.err.contains("no record of a withdrawal"), "{}", none.err);
}

#[test]
fn a_line_without_a_text_that_has_the_words_is_named_and_nothing_changes() {
    let own = words(1, 100);
    let escaped = own.replace(' ', "\\u0020");
    for (line, why) in [
        (format!("{{\"id\": \"x\", \"text\": \"{own}\"\n"), "it is not JSON"),
        (format!("{{\"id\": \"x\", \"text\": \"{escaped}\n"), "it is not JSON"),
        (
            format!("{{\"id\": \"x\", \"content\": \"{own}\"}}\n"),
            "name the field with --text-field",
        ),
    ] {
        let dir = indexed();
        dir.write("a.jsonl", lines());
        dir.write("b.jsonl", lines() + &line);
        let args = ["withdraw", "idx", "own", "--files", "a.jsonl", "b.jsonl"];
        let refused = dir.run(&args);
        assert_eq!(refused.status, 2, "{}", refused.err);
        assert!(refused.err.contains("b.jsonl:7: the record has passages"), "{}", refused.err);
        assert!(refused.err.contains(why), "{}", refused.err);
        assert_eq!((read(&dir, "a.jsonl"), read(&dir, "b.jsonl")), (lines(), lines() + &line));
        assert_eq!(stored(&dir).len(), 4);
    }
}

#[test]
fn a_record_that_cannot_be_written_is_told_before_anything_is_withdrawn() {
    let dir = indexed();
    let refused = dir.run(&["withdraw", "idx", "own", "--record", "none/r.json"]);
    assert_eq!(refused.status, 2, "{}", refused.err);
    assert!(refused.err.contains("write the record none/r.json"), "{}", refused.err);
    assert_eq!(stored(&dir).len(), 4);
    let refused = dir.run(&["withdraw", "idx", "own", "--keep", "quotin"]);
    assert!(refused.err.contains("no document has the id `quotin`"), "{}", refused.err);
}

#[test]
fn a_record_replaces_no_other_file() {
    let dir = indexed();
    let first = dir.run(&["withdraw", "idx", "own", "--record", "own.json"]);
    assert_eq!(first.status, 0, "{}", first.err);
    let damaged = read(&dir, "own.json").replace("\"min_passage\":12", "\"min_passage\":13");
    dir.write("damaged.json", damaged);
    dir.write("texts.jsonl", lines());
    let all = stored(&dir);
    let refusals = [
        ("own.json", "own.json: it has the record of `own`"),
        ("damaged.json", "damaged.json: it was changed: it does not match its checksum"),
        ("texts.jsonl", "texts.jsonl: it is no record of a withdrawal"),
    ];
    for (file, why) in refusals {
        let before = read(&dir, file);
        let args = ["withdraw", "idx", "quoting", "--record", file, "--files", "texts.jsonl"];
        let refused = dir.run(&args);
        assert_eq!(refused.status, 2, "{}", refused.err);
        assert!(refused.err.contains(why), "{}", refused.err);
        assert!(refused.err.contains("name a new file for the record"), "{}", refused.err);
        assert_eq!((read(&dir, file), read(&dir, "texts.jsonl")), (before, lines()));
        assert_eq!(stored(&dir), all);
    }
}

#[test]
fn a_service_withdraws_as_the_command_does() {
    let (by_command, by_service) = (indexed(), indexed());
    let mut expected = by_command.json(&["withdraw", "idx", "own"]);
    let service = Service::start(&by_service, &[]);
    let url = ["--url", &service.url];
    let ask = |args: &[&str]| by_service.json(&[args, &url[..]].concat());
    let planned = ask(&["withdraw", "own", "--dry-run"]);
    assert_eq!(planned["done"], json!(false));
    let mut done = ask(&["withdraw", "own"]);
    for answer in [&mut expected, &mut done] {
        answer["withdrawal"]["withdrawn"] = json!("");
    }
    assert_eq!(done, expected);
    let refused = by_service.run(&[&["add", "in.jsonl"], &url[..]].concat());
    assert!(refused.status == 2 && refused.err.contains("withdrawn on"), "{}", refused.err);
    assert_eq!(ask(&["withdraw", "own"])["again"], json!(true));
    assert_eq!(ask(&["withdraw", "--list"])["id"], json!("own"));
    assert_eq!(ask(&["withdraw", "--forget", "own"])["forgotten"], json!(1));
    assert_eq!(by_service.run(&[&["add", "in.jsonl"], &url[..]].concat()).status, 0);
}

#[cfg(feature = "remote")]
#[test]
fn a_pulled_copy_refuses_what_was_withdrawn() {
    let dir = indexed();
    assert_eq!(dir.run(&["store", "push", "idx", "store"]).status, 0);
    assert_eq!(dir.run(&["store", "pull", "store", "copy"]).status, 0);
    assert_eq!(dir.run(&["withdraw", "idx", "own"]).status, 0);
    assert_eq!(dir.run(&["store", "push", "idx", "store"]).status, 0);
    assert_eq!(dir.run(&["store", "pull", "store", "copy"]).status, 0);
    assert_eq!(dir.json(&["check", "copy"])["problems"], json!([]));
    let refused = dir.run(&["add", "copy", "in.jsonl"]);
    assert!(refused.status == 2 && refused.err.contains("withdrawn on"), "{}", refused.err);
    assert_eq!(dir.run(&["withdraw", "idx", "--forget", "own"]).status, 0);
    assert_eq!(dir.run(&["store", "push", "idx", "store"]).status, 0);
    let lifted = dir.run(&["store", "pull", "store", "copy"]);
    assert!(lifted.status == 2 && lifted.err.contains("by force"), "{}", lifted.err);
    assert_eq!(dir.run(&["store", "pull", "store", "copy", "--force"]).status, 0);
    assert_eq!(dir.run(&["add", "copy", "in.jsonl"]).status, 0);
    let names = fs::read_dir(dir.path("copy")).unwrap();
    let is_one = |name: &str| name.ends_with(".withdrawn");
    let left = names.filter(|entry| is_one(entry.as_ref().unwrap().file_name().to_str().unwrap()));
    assert_eq!(left.count(), 0);
}

#[cfg(feature = "parquet")]
#[test]
fn rows_of_parquet_are_removed_and_cut_and_all_other_columns_stay() {
    const PARQUET: &[u8] = include_bytes!("tables/sample.parquet");
    let dir = Dir::new();
    dir.write("a.parquet", PARQUET);
    let columns = ["--text-field", "content", "--id-field", "url"];
    let rows = |out: &str| -> Vec<Value> {
        dir.run(
            &[&["dedup", "a.parquet", "--annotate", "--exact", "--out", out], &columns[..]]
                .concat(),
        );
        let text = read(&dir, out);
        let mut rows: Vec<Value> =
            text.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
        for row in &mut rows {
            row.as_object_mut().unwrap().remove("dedup");
        }
        rows
    };
    let before = rows("before.jsonl");
    let first = before[0]["content"].as_str().unwrap();
    dir.write("in.jsonl", line("own", first, json!({})));
    assert_eq!(dir.run(&["add", "idx", "in.jsonl"]).status, 0);
    let args = ["withdraw", "idx", "own", "--files", "a.parquet", "--format", "json"];
    let run = dir.run(&[&args[..], &columns[..]].concat());
    assert!([0, 3].contains(&run.status), "{}", run.err);
    let done = run.json();
    let found = &done["withdrawal"]["files"][0];
    let removed = found["removed"].as_array().unwrap().len();
    assert!(removed > 0);
    assert!(fs::read(dir.path("a.parquet")).unwrap().starts_with(b"PAR1"));
    let after = rows("after.jsonl");
    assert_eq!(after.len(), before.len() - removed);
    let touched: Vec<&str> = [ids(&found["removed"]), ids(&found["cut"])].concat();
    let is_touched = |row: &&Value| touched.contains(&row["url"].as_str().unwrap_or(""));
    let others = |rows: &[Value]| -> Vec<Value> {
        rows.iter().filter(|row| !is_touched(row)).cloned().collect()
    };
    assert_eq!(others(&after), others(&before));
}
