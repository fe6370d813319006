//! Lists of records: JSON in every form, tables.

use crate::common::{Dir, check, line, read, read_one, read_stream, words};
use cento_source::{Html, SourceOptions};
use serde_json::{Value, json};

/// Four records as objects.
fn records() -> Vec<Value> {
    (1..5).map(|i| json!({"id": format!("r{i}"), "text": words(i, 60)})).collect()
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

#[test]
fn records_in_json_are_known_by_their_first_bytes() {
    let all = records();
    let pretty: String = all.iter().map(|record| format!("{record:#}\n")).collect();
    let array = Value::from(all.clone());
    let utf16 = |text: &str| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    let forms: [(&str, Vec<u8>); 8] = [
        ("lines.jsonl", lines(&all).into()),
        ("lines.txt", lines(&all).into()),
        ("lines", lines(&all).into()),
        ("array.jsonl", array.to_string().into()),
        ("pretty.json", pretty.into()),
        ("commas.json", lines(&all).replace('\n', ",\n").into()),
        ("members.json", json!({"n": 4, "data": array}).to_string().into()),
        ("utf16.jsonl", utf16(&lines(&all))),
    ];
    for (name, bytes) in forms {
        // The contents suffice, because standard input has no name.
        for name in [name, "-"] {
            let found = read_stream(name, &bytes);
            assert_eq!(found.counts(), [4, 0, 0, 0], "{name}: {found:?}");
            assert_eq!(found.ids(), ["r1", "r2", "r3", "r4"], "{name}");
        }
    }
}

#[test]
fn records_are_documents_in_every_form_of_a_list() {
    let text = |seed| words(seed, 60);
    let record =
        |id: &str, seed| json!({"id": id, "text": text(seed), "meta": {"n": seed}}).to_string();
    let packed = zstd::encode_all(format!("[{}]", record("e1", 1)).as_bytes(), 1).unwrap();
    let lists = [
        ("a.json", format!("[\n{},\n  {}]", record("a1", 1), record("a2", 2)).into_bytes()),
        ("b.json", format!("{}\n{}\n", record("b1", 1), record("b2", 2)).into_bytes()),
        ("c.csv", format!("id,text,lang\nc1,\"{}\",de\n,{},en\n", text(1), text(2)).into_bytes()),
        ("d.tsv", format!("text\tid\n{}\td1\n", text(1)).into_bytes()),
        ("e.json.zst", packed),
    ];
    let ids = [&["a1", "a2"][..], &["b1", "b2"], &["c.csv:3", "c1"], &["d1"], &["e1"]];
    for ((name, bytes), ids) in lists.into_iter().zip(ids) {
        let found = read_stream(name, &bytes);
        assert_eq!((found.ids(), found.counts()[1..].iter().sum()), (ids.to_vec(), 0), "{name}");
        for document in &found.documents {
            let is_second = document.id.ends_with('2') || document.id == "c.csv:3";
            assert_eq!(document.text, text(if is_second { 2 } else { 1 }), "{}", document.id);
        }
    }
}

#[test]
fn the_meta_object_of_a_record_is_that_of_its_document() {
    for (meta, expected) in [
        (json!({"n": 1}), json!({"n": 1})),
        (json!("{\"n\":1}"), json!({"n": 1})),
        (json!([1, 2]), json!({"meta": [1, 2]})),
    ] {
        let found = read_stream("a.jsonl", line("a", "x", meta.clone()).as_bytes());
        assert_eq!(Value::from(found.documents[0].meta.clone()), expected, "{meta}");
    }
}

#[test]
fn json_without_records_is_left_out_by_name() {
    let dir = Dir::new();
    dir.write("settings.json", "{\n  \"a\": [1, 2]\n}\n");
    let found = read_one(&dir, "settings.json");
    assert_eq!(found.counts(), [0, 0, 1, 0], "{found:?}");
    assert!(found.left_out[0].starts_with("settings.json: "), "{found:?}");
    let source = SourceOptions { html: Html::Source, ..SourceOptions::default() };
    assert_eq!(read(&dir, &["settings.json"], &source).ids(), ["settings.json"]);
}

#[test]
fn an_irrelevant_fault_costs_no_record() {
    let text = |i| words(i, 60);
    let good = [
        ("a", format!("{{\"id\":\"a\",\"text\":\"{}\",\"x\":NaN}}", text(1))),
        ("b", format!("{{\"id\":\"b\",\"text\":\"{} \\ud83d\"}}", text(2))),
        ("c", format!("{{\"id\":\"c\",\"text\":\"{} \\u0000\"}}", text(3))),
        ("a number", format!("{{\"id\":1.5,\"text\":\"{}\"}}", text(5))),
        ("meta", format!("{{\"id\":\"f\",\"text\":\"{}\",\"meta\":[1,2]}}", text(6))),
    ];
    for (what, line) in good {
        let found = read_stream("a.jsonl", line.as_bytes());
        assert_eq!(found.counts(), [1, 0, 0, 0], "{what}: {found:?}");
    }
}

#[test]
fn what_an_index_cannot_hold_is_refused_unless_the_text_alone_is_needed() {
    let dir = Dir::new();
    let long = "x".repeat(100_000);
    let text = words(1, 60);
    let needs_text = SourceOptions { needs_text_only: true, ..SourceOptions::default() };
    for (what, line) in [
        ("a list as id", format!("{{\"id\":[1],\"text\":\"{text}\"}}")),
        ("an id with a tab", format!("{{\"id\":\"d\\tx\",\"text\":\"{text}\"}}")),
        ("an id with half a letter", format!("{{\"id\":\"d\\ud83d\",\"text\":\"{text}\"}}")),
        ("an empty id", format!("{{\"id\":\"\",\"text\":\"{text}\"}}")),
        ("a long id", format!("{{\"id\":\"{}\",\"text\":\"{text}\"}}", &long[..2000])),
        (
            "much meta",
            format!("{{\"id\":\"m\",\"text\":\"{text}\",\"meta\":{{\"a\":\"{long}\"}}}}"),
        ),
    ] {
        dir.write("odd.jsonl", line);
        assert_eq!(read_one(&dir, "odd.jsonl").counts(), [0, 1, 0, 0], "{what}");
        assert_eq!(read(&dir, &["odd.jsonl"], &needs_text).counts(), [1, 0, 0, 0], "{what}");
    }
}

#[test]
fn a_file_without_documents_is_named() {
    // Such files disappeared silently, and the exit status was 0.
    let files: [(&str, &[u8]); 5] = [
        ("a.csv", b"id,text\n"),
        ("b.tsv", b"id\ttext\r\n"),
        ("c.json", b"[]"),
        ("d.json", b" [ ] \n"),
        ("e.csv.zst", &zstd::encode_all(&b"text\n"[..], 1).unwrap()),
    ];
    let dir = Dir::new();
    for (name, bytes) in files {
        check(name, bytes, [0, 0, 1, 0], &format!("{name}: it has no documents"));
        dir.write(&format!("in/{name}"), bytes);
    }
    dir.write("in/i.txt", words(1, 60));
    assert_eq!(read_one(&dir, "in").counts(), [1, 0, 5, 0]);
    std::fs::create_dir_all(dir.path("empty/deeper")).unwrap();
    let found = read_one(&dir, "empty");
    assert_eq!(found.left_out, ["empty: it has no files"], "{found:?}");
}

#[test]
fn two_values_for_one_field_are_refused() {
    // The last value became the document, and the first was lost.
    let text = words(1, 60);
    for (name, list, said) in [
        ("a.csv", format!("id,text,text\nq,{text},{text}\n"), "two columns are called `text`"),
        ("b.tsv", format!("id\tid \ttext\n1\t2\t{text}\n"), "two columns are called `id`"),
        ("c.csv", format!("text,meta,meta\n{text},1,2\n"), "two columns are called `meta`"),
    ] {
        check(name, list.as_bytes(), [0, 0, 0, 1], said);
    }
    for (fields, said) in [
        (r#""text":"other""#, "two fields are called `text`"),
        (r#""te\u0078t":null"#, "two fields are called `text`"),
        (r#""id":"b""#, "two fields are called `id`"),
        (r#""meta":{"a":1},"meta":{}"#, "two fields are called `meta`"),
        (r#""meta":{"a":1,"b":2,"a":1}"#, "two fields in `meta` are called `a`"),
        (r#""meta":{"a":[{"b":":","c":1,"c":2}]}"#, "two fields in `meta` are called `c`"),
        (r#""meta":"{\"a\":1,\"a\":2}""#, "two fields in `meta` are called `a`"),
    ] {
        let list = format!("{{\"id\":\"a\",\"text\":\"{text}\",{fields}}}\n");
        check("d.jsonl", list.as_bytes(), [0, 1, 0, 0], &format!("d.jsonl:1: {said}"));
        let list = list + &line("z", &text, json!({"a": {"a": ":\\\"", "b": [{"a": 1}]}}));
        check("e.json", list.as_bytes(), [1, 1, 0, 0], said);
    }
    let meta = r#""{""a"":1,""a"":2}""#;
    let table = format!("text,meta\n{text},{meta}\n");
    check("f.csv", table.as_bytes(), [0, 1, 0, 0], "two fields in `meta` are called `a`");
    let parts = r#"{"parts":[{"name":"p","text":"x"}],"parts":[{"name":"q","text":"y"}]}"#;
    check("g.jsonl", parts.as_bytes(), [0, 1, 0, 0], "two fields are called `parts`");
}

#[test]
fn a_name_that_is_there_twice_matters_only_where_it_is_used() {
    let dir = Dir::new();
    let text = words(1, 60);
    dir.write("a.csv", format!("note,text,note\n1,{text},2\n"));
    dir.write("b.jsonl", format!("{{\"n\":1,\"text\":\"{text}\",\"n\":2}}"));
    let names = ["a.csv", "b.jsonl"];
    let defaults = SourceOptions::default();
    assert_eq!(read(&dir, &names, &defaults).counts(), [2, 0, 0, 0]);
    // A kept record needs distinct column names. A kept line stays unchanged.
    let kept = SourceOptions { keeps_records: true, ..SourceOptions::default() };
    let found = read(&dir, &names, &kept);
    assert_eq!(found.counts(), [1, 0, 0, 1]);
    assert!(found.unread[0].contains("two columns are called `note`"), "{found:?}");
    // Where the text alone is needed, the record has no id.
    dir.write("c.jsonl", format!("{{\"id\":1,\"text\":\"{text}\",\"id\":2}}"));
    let needs_text = SourceOptions { needs_text_only: true, ..SourceOptions::default() };
    let found = read(&dir, &["c.jsonl"], &needs_text);
    assert!(found.ids().len() == 1 && found.ids()[0].ends_with("c.jsonl:1"), "{found:?}");
}

#[test]
fn a_quotation_mark_that_is_not_closed_is_refused_with_its_line() {
    let row = |i: u64| format!("{i},{}\n", words(i, 60));
    let open = "x,\"open\n".to_owned();
    let table: String = (0..20).map(row).chain([open]).chain((20..300).map(row)).collect();
    for (name, text) in [
        ("open.csv", format!("id,text\n{table}")),
        ("open.tsv", format!("id\ttext\n{}", table.replace(',', "\t"))),
    ] {
        let found = read_stream(name, text.as_bytes());
        assert_eq!(found.documents.len(), 20, "{name}");
        let said = [&found.refused[..], &found.unread].concat().join("\n");
        assert!(said.contains("the quotation mark in line 22 is not closed"), "{said}");
    }
}

#[test]
fn the_refusal_of_a_list_without_texts_names_its_fields() {
    let dir = Dir::new();
    dir.write("a.csv", "title,body\nx,y\n");
    dir.write("b.json", "[{\"body\":\"x\"},{\"body\":\"y\"}]");
    let found = read(&dir, &["a.csv", "b.json"], &SourceOptions::default());
    let said = [&found.refused[..], &found.unread].concat().join("\n");
    for expected in [
        "a.csv: there is no column `text`; its columns are `title`, `body`",
        "b.json:1: there is no `text`",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let named = SourceOptions { text_field: "body".into(), ..SourceOptions::default() };
    assert_eq!(read(&dir, &["a.csv", "b.json"], &named).counts(), [3, 0, 0, 0]);
}

#[test]
fn an_array_that_is_cut_short_is_a_failure() {
    let cut = "[{\"text\":\"x\"}, {\"text\":\"y";
    check("c.json", cut.as_bytes(), [1, 0, 0, 1], "c.json: it is cut short: the JSON array");
}

#[test]
fn deep_records_are_refused_and_the_deepest_that_are_not_are_documents() {
    let nested = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let parse = |meta: &str, other: &str| {
        let json = format!(r#"{{"id":"a","text":"x","other":{other},"meta":{meta}}}"#);
        let options = SourceOptions::default();
        let parse = move || cento_source::parse_record(json.as_bytes(), &options);
        // An eighth of the usual stack.
        std::thread::Builder::new().stack_size(256 << 10).spawn(parse).unwrap().join().unwrap()
    };
    assert!(parse(&nested(40_000), "1").unwrap_err().to_string().contains("recursion limit"));
    assert!(parse("{}", &nested(100_000)).is_ok(), "skipped values take no stack");
    assert!(parse(&nested(120), "1").unwrap().meta.contains_key("a"));
}
