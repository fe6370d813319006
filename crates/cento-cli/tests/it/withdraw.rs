//! The real binary: withdrawal of documents.

use std::fs;

use serde_json::{Value, json};

use crate::common::run::{Dir, line};
use crate::common::service::Service;
use crate::common::words;

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

/// Withdraws from an index where a document quotes the text, which the exit status tells.
fn withdraw(dir: &Dir, args: &[&str]) -> Value {
    let run = dir.run(&[&["withdraw"], args, &["--format", "json"]].concat());
    assert_eq!(run.status, 3, "{args:?}: {}", run.err);
    run.json()
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
    let planned = withdraw(&dir, &["idx", "own", "--dry-run"]);
    assert_eq!((&planned["done"], stored(&dir).len()), (&json!(false), 4));
    let human = dir.run(&["withdraw", "idx", "own", "--dry-run"]);
    let expected = "remove   own: the withdrawn document\n\
                    remove   copy: the same text\n\
                    quotes   quoting: 1 passage, 30 of 90 tokens\n";
    assert_eq!((human.status, &*human.out), (3, expected), "{}", human.err);
    let before = dir.json(&["show", "idx", "quoting"]);
    let mut done = withdraw(&dir, &["idx", "own"]);
    assert_eq!(ids(&done["withdrawal"]["removed"]), ["own", "copy"]);
    assert_eq!(stored(&dir), [r#""other""#, r#""quoting""#]);
    // Quoting documents stay unchanged, and the list has the positions of the quotations.
    assert_eq!(dir.json(&["show", "idx", "quoting"])["text"], before["text"]);
    let quoting = &done["withdrawal"]["quoting"][0];
    let start = words(2, 60).len() + 1;
    let place = json!([[start, start + words(1, 30).len()]]);
    assert_eq!((&quoting["id"], &quoting["passages"]), (&json!("quoting"), &place));
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
                    quotes   quoting: 1 passage, 30 of 90 tokens\n";
    assert_eq!((human.status, &*human.out), (3, expected), "{}", human.err);
    let removed = &withdraw(&dir, &["idx", "copy"])["withdrawal"]["removed"];
    assert_eq!(removed[0].get("added_earlier"), None);
    assert_eq!(removed[1]["added_earlier"], json!(true));
}

#[test]
fn what_was_withdrawn_is_refused_by_name_until_that_is_lifted() {
    let dir = indexed();
    assert_eq!(dir.run(&["withdraw", "idx", "own"]).status, 3);
    let again = dir.run(&["add", "idx", "in.jsonl"]);
    assert_eq!(again.status, 3);
    for what in [
        "document `own`: it is the document `own`, which was withdrawn on 2",
        "document `copy`: it is the document `own`",
    ] {
        assert!(again.err.contains(what), "{}", again.err);
    }
    assert_eq!(stored(&dir).len(), 2);
    // A second withdrawal reports that the work was done before, and prints no list.
    let second = withdraw(&dir, &["idx", "own"]);
    assert_eq!((&second["done"], &second["again"]), (&json!(true), &json!(true)));
    let planned = withdraw(&dir, &["idx", "own", "--dry-run"]);
    assert_eq!((&planned["done"], &planned["again"]), (&json!(false), &json!(true)));
    let human = dir.run(&["withdraw", "idx", "own"]);
    assert_eq!((human.status, &*human.out), (3, ""), "{}", human.err);
    assert!(human.err.contains("already") && human.err.contains("no passages were looked for"));
    let listed = dir.json(&["withdraw", "idx", "--list"]);
    assert_eq!(
        (&listed["id"], &listed["removed"], &listed["quoting"]),
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
fn dedup_drops_what_was_withdrawn() {
    let dir = indexed();
    assert_eq!(dir.run(&["withdraw", "idx", "own"]).status, 3);
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
            assert_eq!(dir.run(&["withdraw", "own", "--url", &service.url]).status, 3);
        } else {
            assert_eq!(dir.run(&["withdraw", "idx", "own"]).status, 3);
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
fn a_record_tells_later_that_nothing_is_there() {
    let dir = indexed();
    assert_eq!(dir.run(&["remove", "idx", "quoting"]).status, 0);
    let run = dir.run(&["withdraw", "idx", "own", "--record", "record.json"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let record = read(&dir, "record.json");
    assert!(!record.contains(&words(1, 3)), "{record}");
    let check = |dir: &Dir| dir.run(&["withdraw", "idx", "--check", "record.json"]);
    let sound = check(&dir);
    assert_eq!((sound.status, &*sound.out), (0, ""), "{}", sound.err);
    let claim = "no document has a text of the record, is a copy, or has two of its ";
    assert!(sound.err.contains(claim), "{}", sound.err);
    // After lifting the withdrawal, part of the text is added again.
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
fn a_record_that_cannot_be_written_is_told_before_anything_is_withdrawn() {
    let dir = indexed();
    let refused = dir.run(&["withdraw", "idx", "own", "--record", "none/r.json"]);
    assert_eq!(refused.status, 2, "{}", refused.err);
    assert!(refused.err.contains("write the record none/r.json"), "{}", refused.err);
    assert_eq!(stored(&dir).len(), 4);
    let refused = dir.run(&["withdraw", "idx", "own", "--keep-copy", "quotin"]);
    assert!(refused.err.contains("no document has the id `quotin`"), "{}", refused.err);
}

#[test]
fn a_record_replaces_no_other_file() {
    let dir = indexed();
    let first = dir.run(&["withdraw", "idx", "own", "--record", "own.json"]);
    assert_eq!(first.status, 3, "{}", first.err);
    let damaged = read(&dir, "own.json").replace("\"min_passage\":12", "\"min_passage\":13");
    dir.write("damaged.json", damaged);
    dir.write("texts.jsonl", line("x", &words(5, 50), json!({})));
    let all = stored(&dir);
    let refusals = [
        ("own.json", "own.json: it has the record of `own`"),
        ("damaged.json", "damaged.json: it was changed: it does not match its checksum"),
        ("texts.jsonl", "texts.jsonl: it is no record of a withdrawal"),
    ];
    for (file, why) in refusals {
        let before = read(&dir, file);
        let refused = dir.run(&["withdraw", "idx", "quoting", "--record", file]);
        assert_eq!(refused.status, 2, "{}", refused.err);
        assert!(refused.err.contains(why), "{}", refused.err);
        assert!(refused.err.contains("name a new file for the record"), "{}", refused.err);
        assert_eq!(read(&dir, file), before);
        assert_eq!(stored(&dir), all);
    }
}

#[test]
fn a_service_withdraws_as_the_command_does() {
    let (by_command, by_service) = (indexed(), indexed());
    let mut expected = withdraw(&by_command, &["idx", "own"]);
    let service = Service::start(&by_service, &[]);
    let url = ["--url", &service.url];
    let ask = |args: &[&str]| by_service.json(&[args, &url[..]].concat());
    let planned = withdraw(&by_service, &["own", "--dry-run", "--url", &service.url]);
    assert_eq!(planned["done"], json!(false));
    let mut done = withdraw(&by_service, &["own", "--url", &service.url]);
    for answer in [&mut expected, &mut done] {
        answer["withdrawal"]["withdrawn"] = json!("");
    }
    assert_eq!(done, expected);
    let refused = by_service.run(&[&["add", "in.jsonl"], &url[..]].concat());
    assert!(refused.status == 3 && refused.err.contains("withdrawn on"), "{}", refused.err);
    let again = withdraw(&by_service, &["own", "--url", &service.url]);
    assert_eq!(again["again"], json!(true));
    assert_eq!(ask(&["withdraw", "--list"])["id"], json!("own"));
    assert_eq!(ask(&["withdraw", "--forget", "own"])["forgotten"], json!(1));
    assert_eq!(by_service.run(&[&["add", "in.jsonl"], &url[..]].concat()).status, 0);
}

#[test]
fn a_pulled_copy_refuses_what_was_withdrawn() {
    let dir = indexed();
    assert_eq!(dir.run(&["store", "push", "idx", "store"]).status, 0);
    assert_eq!(dir.run(&["store", "pull", "store", "copy"]).status, 0);
    assert_eq!(dir.run(&["withdraw", "idx", "own"]).status, 3);
    assert_eq!(dir.run(&["store", "push", "idx", "store"]).status, 0);
    assert_eq!(dir.run(&["store", "pull", "store", "copy"]).status, 0);
    assert_eq!(dir.json(&["check", "copy"])["problems"], json!([]));
    let refused = dir.run(&["add", "copy", "in.jsonl"]);
    assert!(refused.status == 3 && refused.err.contains("withdrawn on"), "{}", refused.err);
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
