use super::*;
use crate::MetaFields;
use proptest::prelude::*;
use serde_json::Value;

fn parsed(line: &str) -> Result<Document, Refusal> {
    parse(line.as_bytes(), false, &SourceOptions::default(), || "f.jsonl:7".into())
}

#[test]
fn a_line_is_a_document() {
    let document = parsed(r#"{"x":[1,{}],"id":"a","text":"b\u00e9","meta":{"y":2}}"#).unwrap();
    assert_eq!((document.id.as_str(), document.text.as_str()), ("a", "b\u{e9}"));
    assert_eq!(Value::Object(document.meta), serde_json::json!({"x": [1, {}], "y": 2}));
    assert_eq!(parsed("\u{feff}{\"id\":12,\"text\":\"\"}").unwrap().id, "12");
    assert_eq!(parsed(r#"{"id":-12,"text":""}"#).unwrap().id, "-12");
    assert_eq!(parsed(r#"{"text":"b"}"#).unwrap().id, "f.jsonl:7");
    let nulls = parsed(r#"{"id":null,"text":"b","meta":null}"#).unwrap();
    assert_eq!((nulls.id.as_str(), nulls.meta.len()), ("f.jsonl:7", 0));
    assert!(parsed(r#"{"text":"b","text":"c"}"#).is_err(), "the last one was the text");
    assert!(parsed(r#"{"text":[1],"text":"c"}"#).is_err());
}

#[test]
fn the_place_of_a_text_is_that_of_its_last_value() {
    let line = r#" {"text":1,"a":{"text":"x"},"te\u0078t" : "b\"" , "z":1e999,"n":"\ud800"}"#;
    let place = value_place(line, "text").unwrap();
    assert_eq!(&line[place], r#""b\"""#);
    assert_eq!(value_place(line, "other"), None);
}

#[test]
fn a_record_keeps_all_but_the_text_that_is_changed() {
    let changed = |record: &str| with_text(record, "text", "new", &[]);
    let nan = r#"{"x":NaN,"text":"old","y":1}"#;
    assert_eq!(changed(nan).as_deref(), Some(r#"{"x":null,"text":"new","y":1}"#));
    let plain = r#"{ "y":1.50, "text":"old"}"#;
    assert_eq!(changed(plain).as_deref(), Some(r#"{ "y":1.50, "text":"new"}"#));
    assert_eq!(changed(r#"{"y":1}"#), None);
    let parts = r#"{"y":1.50,"parts":[{"name":"a","text":"x"},{"text":"z","name":"b"}],"text":3}"#;
    let moved = [Part::new("a", 0), Part::new("b", 1)];
    assert_eq!(
        with_text(parts, "text", "\nz", &moved).as_deref(),
        Some(r#"{"y":1.50,"parts":[{"name":"a","text":""},{"name":"b","text":"z"}],"text":3}"#)
    );
    // The kept part of a line is a record by itself, in UTF-8.
    let options = SourceOptions { keeps_records: true, ..SourceOptions::default() };
    let kept = |line: &[u8]| parse(line, false, &options, String::new).unwrap().record.unwrap();
    assert_eq!(&*kept(b" {\"text\":\"a\"}, "), "{\"text\":\"a\"}");
    let latin = b"{\"text\":\"caf\xe9 \xe0 la cr\xe8me\"}";
    assert_eq!(&*kept(latin), "{\"text\":\"caf\u{e9} \u{e0} la cr\u{e8}me\"}");
}

#[test]
fn the_id_of_a_record_is_found_beside_names_with_escapes() {
    let id = |record: &str| id_in(record, "id");
    assert_eq!(id(r#"{"a\"b":1,"x\ny":[],"id":"q\"1 2","text":"t"}"#).as_deref(), Some("q\"1 2"));
    assert_eq!(id(r#"{"\u0069d":7,"x":NaN}"#).as_deref(), Some("7"));
    assert_eq!(id(r#"{"id":"a","id":"b"},"#).as_deref(), Some("b"));
    for none in [
        r#"{"id":null}"#,
        r#"{"id":""}"#,
        r#"{"id":[1]}"#,
        r#"{"text":"t"}"#,
        "no JSON",
        r#"{"id":"a\n"}"#,
    ] {
        assert_eq!(id(none), None, "{none}");
    }
}

#[test]
fn fields_may_have_other_names() {
    let options = SourceOptions {
        id_field: "url".into(),
        text_field: "body".into(),
        meta_fields: MetaFields::Named(vec!["info".into()]),
        ..SourceOptions::default()
    };
    let line = br#"{"id":1,"text":2,"meta":3,"url":"u","body":"b","info":{"n":1}}"#;
    let document = parse(line, false, &options, String::new).unwrap();
    assert_eq!((document.id.as_str(), document.text.as_str()), ("u", "b"));
}

#[test]
fn an_id_may_be_within_a_field() {
    // As MongoDB and GeoJSON have it.
    let id = |line: &str, id_field: &str, meta_fields: MetaFields| {
        let options =
            SourceOptions { id_field: id_field.into(), meta_fields, ..SourceOptions::default() };
        parse(line.as_bytes(), false, &options, || "place".into()).map(|document| document.id)
    };
    let line = r#"{"_id":{"$oid":"5f"},"a":{"b":{"c":7}},"text":"t","x.y":"z"}"#;
    for fields in [MetaFields::All, MetaFields::Named(vec!["a".into()])] {
        for (field, expected) in [
            ("_id.$oid", "5f"),
            ("a.b.c", "7"),
            ("x.y", "z"),
            ("a.c", "place"),
            ("text.a", "place"),
        ] {
            assert_eq!(id(line, field, fields.clone()).unwrap(), expected, "{field}");
        }
    }
    let refused = id(line, "_id", MetaFields::All).unwrap_err().to_string();
    assert!(refused.contains("`_id` is an object, and not an id (its member is `_id.$oid`)"));
    let twice = r#"{"_id":{"$oid":"5f"},"_id":{"$oid":"60"},"text":"t"}"#;
    assert!(id(twice, "_id.$oid", MetaFields::Named(Vec::new())).is_err());
}

#[test]
fn a_line_with_parts_is_a_document_of_them() {
    let parts = r#"[{"name":"a.c","text":"x"},{"text":"y\n","name":"b.c"}]"#;
    let document = parsed(&format!(r#"{{"id":"i","parts":{parts}}}"#)).unwrap();
    assert_eq!(document, Document::of_parts("i", [("a.c", "x"), ("b.c", "y\n")]));
    // Foreign records may have a field of this name beside their text.
    let document = parsed(r#"{"text":"a","id":"i","parts":[1,2]}"#).unwrap();
    assert_eq!(document, Document::new("i", "a"));
    let refused =
        |parts: &str| parsed(&format!(r#"{{"id":"i","parts":{parts}}}"#)).unwrap_err().to_string();
    for (parts, reason) in [
        ("3", "`parts` is not a list of parts, each with `name` and `text`"),
        (r#"[{"name":"a"}]"#, "missing field `text`"),
        ("[]", "`parts` is empty"),
        (r#"[{"name":"a","text":""},{"name":"a","text":""}]"#, "two of its parts"),
    ] {
        assert!(refused(parts).contains(reason), "{}", refused(parts));
    }
}

#[test]
fn a_line_that_is_no_document_is_refused_with_the_reason() {
    let deep = "[".repeat(100_000);
    let nested = format!("{{\"a\":{}{}}}", "[".repeat(1000), "]".repeat(1000));
    let long = format!("{{\"a\":\"{}\"}}", "a".repeat(4 << 16));
    for (line, reason) in [
        ("{", "it is not JSON: it ends within an object, at column 1"),
        ("[]", "it is a list, not a JSON object"),
        (r#"{"id":"a"}"#, "there is no `text`"),
        (r#"{"text":5}"#, "`text` is not a string"),
        (r#"{"text":""} x"#, "more text after its end"),
        (r#"{"id":[],"text":""}"#, "`id` is a list, and not an id"),
        (r#"{"id":{},"text":""}"#, "`id` is an object, and not an id"),
        (r#"{"text":[{"a":1}]}"#, "`text` is not a string"),
        (&format!("{{\"text\":\"\",\"meta\":{nested}}}"), "recursion limit"),
        (&format!("{{\"text\":\"\",\"meta\":{long}}}"), "262152 bytes as it is written"),
        (&format!("{{\"meta\":{deep}"), "it is not JSON: it ends within a list"),
        (&format!("{{\"x\":{deep}"), "it is not JSON: it ends within a list"),
    ] {
        let error = parsed(line).unwrap_err().what;
        assert!(error.contains(reason), "{}: {error}", &line[..line.len().min(60)]);
    }
}

#[test]
fn the_refusal_of_a_text_names_the_values_that_are_one() {
    let check = |line: &str, requires_id: bool, expected: &str| {
        let options = SourceOptions { requires_id, ..SourceOptions::default() };
        let refused = parse(line.as_bytes(), false, &options, || "p".into()).unwrap_err();
        assert_eq!(refused.what, expected, "{line}");
    };
    let shapes = "`text` is not a string, a list of strings, or the messages of a chat, each with \
                  `role` and `content`";
    check(r#"{"text":5}"#, false, shapes);
    check(r#"{"text":[]}"#, false, shapes);
    let path = "; a text deeper in it has a path, as in `text[].body`";
    let messages = r#"{"id":"a","text":[{"author":"ann","body":"words"}]}"#;
    check(messages, false, &format!("{shapes}{path}"));
    check(r#"{"text":{"body":"words"}}"#, false, &format!("{shapes}{}", path.replace("[]", "")));
    check(r#"{"id":"a","text":5}"#, true, "`text` is not a string");
    let one = "`text` is not a string; send its strings as one, or as `parts`";
    check(r#"{"id":"a","text":["a"]}"#, true, one);
}

#[test]
fn a_record_has_a_field_or_only_its_name_in_a_text() {
    for (record, expected) in [
        (r#"{"dedup":1,"text":"a"}"#, true),
        (r#"{"\u0064edup":1,"text":"a"}"#, true),
        (r#"{"x":NaN,"dedup":1,"text":"a"}"#, true),
        (r#"{"text":"a","dedup":null}"#, true),
        (r#"{"text":"dedup","meta":{"dedup":1}}"#, false),
        (r#"{"text":"\u0064edup"}"#, false),
    ] {
        assert_eq!(has_field(record, "dedup"), expected, "{record}");
    }
}

#[test]
fn records_of_other_programs_are_read_as_they_mean_them() {
    let check = |line: &[u8], text: &str| {
        let document = parse(line, false, &SourceOptions::default(), || "f:7".into());
        assert_eq!(document.map(|document| document.text).as_deref(), Ok(text));
    };
    check(br#"{"text":"a\ud83d b\ude00\\ud800","x":NaN}"#, "a\u{fffd} b\u{fffd}\\ud800");
    check(br#"{"text":"\ud83d\ude00\ud83d\u0041"}"#, "\u{1f600}\u{fffd}A");
    check(br#"{"x":[NaN,-Infinity,{"y":Infinity}],"text":"NaN -Infinity"}"#, "NaN -Infinity");
    check(br#"{"text":"a","other":"\udc00"}"#, "a");
    check(b"{\"text\":\"a\tb\x00c\x1f\\n\"}", "a\tb\0c\x1f\n");
    check(br#"{"text":"a"}, "#, "a");
    check(b"{\"text\":\"caf\xe9 \xe0 la cr\xe8me\"}", "caf\u{e9} \u{e0} la cr\u{e8}me");
    for line in
        ["{\"text\":\"a\",\"x\":Nan}", "{\"text\":NaN}", "{\"text\":\"a\\", "{\"text\":\"\\u12"]
    {
        assert!(parsed(line).is_err(), "{line}");
    }
}

#[test]
fn an_id_is_chosen_or_made() {
    let check = |line: &str, id: &str, source: IdSource| {
        let document = parsed(line).unwrap();
        assert_eq!((document.id.as_str(), document.id_source), (id, source), "{line}");
    };
    check(r#"{"id":1.5,"text":""}"#, "1.5", IdSource::GIVEN);
    check(r#"{"id":18446744073709551616,"text":""}"#, "18446744073709551616", IdSource::GIVEN);
    check(r#"{"id":"a","text":""}"#, "a", IdSource::GIVEN);
    check(r#"{"id":"a\ufffd","text":""}"#, "a\u{fffd}", IdSource::STREAM);
    check(r#"{"id":null,"text":""}"#, "f.jsonl:7", IdSource::STREAM);
    let options = SourceOptions { needs_text_only: true, ..SourceOptions::default() };
    let long = "x".repeat(2000);
    for id in ["[]", "{\"a\":1}", "\"a\\tb\"", &format!("\"{long}\"")] {
        let meta = "a".repeat(100_000);
        let line = format!("{{\"id\":{id},\"text\":\"\",\"meta\":\"{meta}\"}}");
        assert!(parsed(&line).is_err(), "{line}");
        let document = parse(line.as_bytes(), false, &options, || "f:7".into()).unwrap();
        assert_eq!((document.id.as_str(), document.meta.len()), ("f:7", 0));
    }
}

#[test]
fn ids_that_differ_in_characters_no_id_has_do_not_become_one() {
    // Control characters became blanks: the second of two documents replaced the first.
    let options = SourceOptions { needs_text_only: true, ..SourceOptions::default() };
    for (id, said) in [
        (r"a\tb", r#"the id "a\tb" contains a control character"#),
        (r"a\nb", r#"the id "a\nb" contains a control character"#),
        ("a\u{1}b", r#"the id "a\u{1}b" contains a control character"#),
        (r"a\u0085b", r#"the id "a\u{85}b" contains a control character"#),
        (r"a\ud800", "the id \"a\u{fffd}\" has half of a surrogate pair"),
        (r"a\udc00", "the id \"a\u{fffd}\" has half of a surrogate pair"),
    ] {
        let line = format!(r#"{{"id":"{id}","text":""}}"#);
        let refused = parsed(&line).unwrap_err();
        assert_eq!(refused.reason, Some(Reason::UnusableIds), "{refused}");
        assert!(refused.what.starts_with(said), "{refused}");
        // Where only the text counts, the record is numbered.
        let document = parse(line.as_bytes(), false, &options, || "f:7".into()).unwrap();
        assert_eq!(document.id, "f:7", "{line}");
        assert_eq!(id_in(&line, "id"), None, "{line}");
    }
}

#[test]
fn an_empty_id_is_refused_and_not_replaced_by_a_place() {
    let by_id = SourceOptions { requires_id: true, ..SourceOptions::default() };
    let by_text = SourceOptions { needs_text_only: true, ..SourceOptions::default() };
    let read = |line: &str, options: &SourceOptions| {
        let document = parse(line.as_bytes(), false, options, || "f:7".into());
        document.map(|document| document.id).map_err(|refusal| (refusal.reason, refusal.what))
    };
    let missing = Some(Reason::MissingField { field: "id" });
    for (id, said) in [("\"\"", "`id` is empty"), ("null", "`id` is null")] {
        let line = format!("{{\"id\":{id},\"text\":\"a\"}}");
        assert_eq!(read(&line, &by_id), Err((missing, said.to_owned())));
        assert_eq!(read(&line, &by_text).as_deref(), Ok("f:7"));
    }
    let empty = read(r#"{"id":"","text":"a"}"#, &SourceOptions::default());
    assert_eq!(empty, Err((Some(Reason::UnusableIds), "`id` is empty".to_owned())));
}

proptest! {
    #[test]
    fn no_line_makes_repairing_panic(parts in proptest::collection::vec(prop_oneof![
        Just("{\"text\":"), Just("\""), Just("\\"), Just("\\ud83d"), Just("\\u12"), Just("NaN"), Just("-"),
        Just("\u{e9}"), Just("\n"), Just(","), Just("}"), Just("\u{0}"),
    ], 0..12)) {
        let _ = parsed(&parts.concat());
    }
}

/// Returns every line with its number, and the numbers of lines that are too long.
fn lines_of(inner: impl Read, max: usize) -> (Vec<(u64, Vec<u8>)>, Vec<u64>) {
    let (mut lines, mut too_long) = (Vec::new(), Vec::new());
    let end = read_lines(inner, max, |read| {
        match read {
            Lines::TooLong(number) => too_long.push(number),
            Lines::Bad(..) => unreachable!("lines are not looked into"),
            Lines::Whole { first_line, bytes } => {
                let split = bytes.split_inclusive(|&byte| byte == b'\n');
                lines.extend((first_line..).zip(split.map(<[u8]>::to_vec)));
            }
        }
        ControlFlow::Continue(())
    });
    assert!(end.unwrap().is_continue());
    (lines, too_long)
}

proptest! {
    #[test]
    fn lines_come_whole_and_numbered(
        lines in proptest::collection::vec((0usize..200_000, any::<u8>()), 0..12), ends: bool,
    ) {
        let lines: Vec<Vec<u8>> = lines
            .into_iter()
            .map(|(len, byte)| [vec![byte.max(b' '); len], vec![b'\n']].concat())
            .collect();
        let mut all = lines.concat();
        if !ends {
            all.pop();
        }
        let (found, too_long) = lines_of(all.as_slice(), 1 << 20);
        let joined: Vec<u8> = found.iter().flat_map(|(_, line)| line.clone()).collect();
        prop_assert_eq!(joined, all);
        prop_assert!(found.iter().zip(1..).all(|((number, _), expected)| *number == expected));
        prop_assert!(too_long.is_empty());
    }
}

#[test]
fn an_endless_line_is_passed_over_without_being_held() {
    let long = 300 << 20;
    let stream = b"a\n".chain(io::repeat(b'x').take(long)).chain(&b"\nb\nc"[..]);
    let (lines, too_long) = lines_of(stream, 1 << 20);
    assert_eq!(too_long, [2]);
    let expected = [(1, b"a\n".to_vec()), (3, b"b\n".to_vec()), (4, b"c".to_vec())];
    assert_eq!(lines, expected);
}
