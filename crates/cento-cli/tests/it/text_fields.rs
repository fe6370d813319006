//! The real binary: records whose text is not a string at the top level.

use std::fs;

use crate::common::run::Dir;
use crate::common::words;
use serde_json::{Value, json};

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// Two different chats, a copy of the first chat, and the second chat with a different answer.
fn chats() -> Vec<Value> {
    let chat = |id: &str, question: u64, answer: u64| {
        json!({"id": id, "messages": [
            {"role": "system", "content": "You are a helpful assistant."},
            {"role": "user", "content": words(question, 40)},
            {"role": "assistant", "content": words(answer, 200)},
        ]})
    };
    vec![chat("a", 1, 2), chat("b", 3, 4), chat("a-copy", 1, 2), chat("b-other", 3, 5)]
}

fn ids(out: &str) -> Vec<String> {
    let records = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.map(|record| record["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn chats_are_compared_by_their_messages() {
    // Regression: a text could only be a single string of a record.
    let dir = Dir::new();
    dir.write("chat.jsonl", lines(&chats()));
    let run = dir.run(&["dedup", "chat.jsonl", "--text-field", "messages"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert_eq!(ids(&run.out), ["a", "b", "b-other"]);
    // Records are written unchanged.
    assert_eq!(run.out.lines().next(), Some(&*chats()[0].to_string()));
    let run = dir.run(&["dedup", "chat.jsonl", "--text-field", "messages.user"]);
    assert_eq!(ids(&run.out), ["a", "b"]);
    dir.json(&["add", "idx", "chat.jsonl", "--text-field", "messages.user"]);
    assert_eq!(dir.json(&["show", "idx", "b"])["text"], words(3, 40));
}

#[test]
fn a_text_may_be_within_other_fields_or_several_of_them() {
    let dir = Dir::new();
    let text = words(1, 60);
    let pages = json!([{"body": text}, {"body": "the end"}]);
    let record = |id: u64, title: &str| json!({"id": id, "title": title, "doc": {"pages": pages}});
    dir.write("in.jsonl", lines(&[record(1, "one"), record(2, "two")]));
    let add = |index: &str, fields: &[&str]| {
        let fields: Vec<&str> = fields.iter().flat_map(|name| ["--text-field", name]).collect();
        dir.run(&[&["add", index, "in.jsonl"][..], &fields].concat())
    };
    let run = add("path", &["doc.pages[].body"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert_eq!(dir.json(&["show", "path", "1"])["meta"], json!({"title": "one"}));
    assert_eq!(dir.json(&["show", "path", "1"])["text"], format!("{text}\nthe end"));
    assert_eq!(add("joined", &["title", "doc.pages.body"]).status, 0);
    assert_eq!(dir.json(&["show", "joined", "2"])["text"], format!("two\n{text}\nthe end"));
    // Regression: the other members of the field with the text were dropped in silence.
    let doc = json!({"id": 3, "doc": {"lang": "en", "body": text, "of": {"page": 7}}});
    dir.write("doc.jsonl", lines(&[doc]));
    let fields = ["--text-field", "doc.body"];
    dir.json(&[&["add", "rest", "doc.jsonl"][..], &fields].concat());
    let rest = json!({"doc": {"lang": "en", "of": {"page": 7}}});
    assert_eq!(dir.json(&["show", "rest", "3"])["meta"], rest);
    dir.json(&[&["add", "named", "doc.jsonl", "--meta-field", "doc"][..], &fields].concat());
    assert_eq!(dir.json(&["show", "named", "3"])["meta"], rest["doc"]);
    // A path that does not exist is an error in every record.
    let run = add("none", &["doc.pages[].text"]);
    assert_eq!(run.status, 2, "{}", run.err);
    let said = "in.jsonl:1: there is no `doc.pages[].text`; its fields are `doc`, `id`, `title`";
    assert!(run.err.contains(said), "{}", run.err);
    let run = add("none", &["doc"]);
    assert!(run.err.contains("in.jsonl:1: `doc` is not a string"), "{}", run.err);
    dir.write("in.csv", "id,question,answer\n1,what rises,the sea\n");
    let fields = ["--text-field", "question", "--text-field", "answer"];
    dir.json(&[&["add", "rows", "in.csv"][..], &fields].concat());
    assert_eq!(dir.json(&["show", "rows", "1"])["text"], "what rises\nthe sea");
}

#[test]
fn an_id_field_that_no_record_has_is_an_error() {
    // Regression: with a misspelled field every record got a number, and nothing said so.
    let dir = Dir::new();
    let record = |id: &str, seed: u64| json!({"url": id, "text": words(seed, 40)});
    dir.write("in.jsonl", lines(&[record("a", 1), record("b", 2)]));
    dir.write("in.csv", format!("url,text\na,{}\n", words(1, 40)));
    for file in ["in.jsonl", "in.csv"] {
        let run = dir.run(&["add", "idx", file, "--id-field", "ulr"]);
        assert_eq!(run.status, 2, "{}", run.err);
        let said = "no record has the field `ulr` of --id-field";
        assert!(run.err.contains(said), "{}", run.err);
        let run = dir.run(&["add", "right", file, "--id-field", "url"]);
        assert_eq!(run.status, 0, "{}", run.err);
        // Some verbs said so and ended with 0, and the others said nothing.
        for verb in [
            &["dedup"][..],
            &["pairs"],
            &["cluster"],
            &["families"],
            &["lineage"],
            &["search", "right"],
            &["trace", "right"],
            &["watch", "add", "right"],
            &["decontaminate", "--against", "in.jsonl", "--question-field", "text"],
            &["method", "train", "--out", "table"],
        ] {
            let run = dir.run(&[verb, &[file, "--id-field", "ulr"]].concat());
            assert_eq!(run.err.matches(said).count(), 1, "{verb:?}: {}", run.err);
            assert_eq!(run.status, 2, "{verb:?}: {}", run.err);
        }
        assert!(!dir.path("table").exists());
        // Without the usual field, records get numbers.
        let run = dir.run(&["add", "numbers", file]);
        assert_eq!(run.status, 0, "{}", run.err);
    }
}

#[test]
fn passages_are_not_cut_from_texts_of_several_strings() {
    // Cutting is refused, because the messages would become a single string.
    let dir = Dir::new();
    let chat = |id: &str, own: u64| {
        let messages = [words(1, 100), words(own, 100)].map(|text| json!({"content": text}));
        json!({"id": id, "messages": messages})
    };
    dir.write("chat.jsonl", lines(&[chat("a", 2), chat("b", 3)]));
    for field in ["messages", "messages[].content"] {
        let cut = ["dedup", "chat.jsonl", "--cut-passages", "50", "--text-field", field];
        let run = dir.run(&cut);
        assert_eq!(run.status, 2, "{}", run.err);
        let said = "only be cut from a text that is one string of the record";
        assert!(run.err.contains(said), "{field}: {}", run.err);
    }
}

#[test]
fn benchmarks_may_be_nested() {
    // The message named an option of the corpus.
    let dir = Dir::new();
    let question = words(7, 30);
    let qas = json!([{"id": "q1", "question": question, "answers": [{"text": "north"}]}]);
    let benchmark = json!({"data": [{"paragraphs": [{"context": words(8, 30), "qas": qas}]}]});
    dir.write("squad.json", benchmark.to_string());
    let text = format!("{} {question} {}", words(9, 40), words(10, 40));
    let clean = json!({"id": "b", "text": words(11, 90)});
    dir.write("corpus.jsonl", lines(&[json!({"id": "a", "text": text}), clean]));
    let args = ["decontaminate", "corpus.jsonl", "--against", "squad.json"];
    let path = ["--question-field", "data.paragraphs.qas.question", "--answer-field", "answers"];
    for (path, out) in [(&path[..], "clean.jsonl"), (&[], "without-path.jsonl")] {
        let run = dir.run(&[&args[..], path, &["--out", out]].concat());
        assert_eq!(run.status, 0, "{}", run.err);
        assert_eq!(ids(&fs::read_to_string(dir.path(out)).unwrap()), ["b"]);
    }
    dir.write("squad.json", json!({"data": [{"paragraphs": [{"q": question}]}]}).to_string());
    let run = dir.run(&args);
    assert!(run.err.contains("with --question-field"), "{}", run.err);
}

#[test]
fn a_field_that_no_record_has_adds_and_writes_nothing() {
    // Regression: documents were added under numbers, and again under their ids by the corrected
    // command.
    let dir = Dir::new();
    let record = |id: &str, seed: u64| json!({"uid": id, "text": words(seed, 40)});
    dir.write("in.jsonl", lines(&[record("a", 1), record("b", 2)]));
    let misspelled = ["in.jsonl", "--id-field", "udi"];
    let said = "no record has the field `udi` of --id-field (did you mean `uid`?); they have `uid`";
    for more in [&[][..], &["--commit-every", "1"]] {
        let run = dir.run(&[&["add", "idx"], &misspelled[..], more].concat());
        assert!(run.status == 2 && run.err.contains(said), "{}", run.err);
        assert!(run.err.contains("nothing was added"), "{}", run.err);
        assert!(!dir.path("idx").exists());
    }
    assert_eq!(dir.run(&["add", "idx", "in.jsonl", "--id-field", "uid"]).status, 0);
    let listed = dir.run(&["list", "idx"]).out;
    let run = dir.run(&[&["add", "idx"], &misspelled[..]].concat());
    assert_eq!((run.status, dir.run(&["list", "idx"]).out), (2, listed), "{}", run.err);
    let run = dir.run(&[&["dedup"], &misspelled[..]].concat());
    assert!(run.status == 2 && run.err.contains(said) && run.out.is_empty(), "{}", run.err);
    let outputs = ["--index", "new", "--out", "out.jsonl"];
    let run = dir.run(&[&["dedup"], &misspelled[..], &outputs].concat());
    assert!(run.status == 2 && run.err.contains(said), "{}", run.err);
    assert!(!dir.path("new").exists() && !dir.path("out.jsonl").exists());
    let run = dir.run(&["dedup", "in.jsonl", "--id-field", "uid"]);
    assert_eq!((run.status, run.out.lines().count()), (0, 2), "{}", run.err);
    // Only some of the records have an id, and no commit came too early.
    dir.write("some.jsonl", lines(&[json!({"text": words(3, 40)}), record("c", 4)]));
    let some = ["add", "some", "some.jsonl", "--id-field", "uid", "--commit-every", "1"];
    assert_eq!(dir.run(&some).status, 0);
}

#[test]
fn a_record_may_lack_some_of_several_fields_and_one_that_no_record_has_is_told() {
    let dir = Dir::new();
    let (title, body) = (words(1, 20), words(2, 40));
    let records = [
        json!({"id": "both", "title": title, "body": body}),
        json!({"id": "title", "title": title}),
        json!({"id": "body", "body": body}),
        json!({"id": "none", "other": body}),
    ];
    dir.write("in.jsonl", lines(&records));
    let fields = ["--text-field", "title", "--text-field", "body"];
    let run = dir.run(&[&["add", "idx", "in.jsonl", "--format", "json"][..], &fields].concat());
    assert_eq!((run.status, &run.json()["added"]), (3, &json!(3)), "{}", run.err);
    assert!(run.err.contains("in.jsonl:4: there is no `title`; its fields are"), "{}", run.err);
    assert_eq!(dir.json(&["show", "idx", "both"])["text"], format!("{title}\n{body}"));
    assert_eq!(dir.json(&["show", "idx", "title"])["text"], title);
    // Tables may have different columns.
    dir.write("titles.csv", format!("id,title\n1,{title}\n"));
    dir.write("bodies.csv", format!("id,body\n2,{body}\n"));
    let tables = ["add", "tables", "titles.csv", "bodies.csv"];
    let run = dir.run(&[&tables[..], &fields].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    assert_eq!(dir.json(&["show", "tables", "2"])["text"], body);
    let fields = [&fields[..], &["--text-field", "abstrakt"]].concat();
    let said = "no record has the field `abstrakt` of --text-field";
    for verb in [&["add", "new"][..], &["pairs"], &["search", "idx"], &["families"]] {
        let run = dir.run(&[verb, &["in.jsonl"], &fields].concat());
        assert!(run.status >= 2 && run.err.contains(said), "{verb:?}: {} {}", run.status, run.err);
    }
}

#[test]
fn a_row_of_empty_cells_is_no_record() {
    // Spreadsheets write empty rows above, between and below the used rows.
    let dir = Dir::new();
    let (one, two) = (words(1, 40), words(2, 40));
    let rows = format!(",,\nid,text,year\n1,{one},1\n,,\n\"\",\" \",\n2,{two},2\n3,,3\n,,\n,,");
    dir.write("in.csv", rows);
    let run = dir.run(&["add", "idx", "in.csv", "--format", "json"]);
    let told = (run.json()["added"].clone(), run.json()["empty"].clone());
    assert_eq!((run.status, told), (0, (json!(3), json!(1))), "{}", run.err);
    assert_eq!(dir.json(&["show", "idx", "2"])["meta"], json!({"year": 2}));
}
