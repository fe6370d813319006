//! Tests of the questions of benchmarks.

use super::*;

#[test]
fn every_member_of_an_object_of_questions_counts() {
    let fields = |question: &str| QuestionFields {
        question: vec![question.into()],
        ..QuestionFields::default()
    };
    let read = |record: &str, question: &str| {
        let found = nested(record, "a", &fields(question)).unwrap();
        let NestedQuestions { fields, records } = found.unwrap();
        let each = records.iter().map(|(place, own)| of_record(own, place, "a", &fields));
        each.map(|question| question.ok().unwrap().question.text).collect::<Vec<_>>()
    };
    for (record, path) in [
        (r#"{"1":{"q":"One?"},"2":{"q":"Two?"}}"#, "*.q"),
        (r#"{"dev":[{"q":"One?"}],"test":[{"x":[{"q":"no"}]},{"q":"Two?"}]}"#, "*.q"),
        (r#"{"data":{"a":{"q":"One?"},"b":{"q":"Two?"}},"n":1}"#, "data.*.q"),
        (r#"{"data":[{"q":"One?"},{"q":"Two?"}]}"#, "data.q"),
    ] {
        let value: Value = serde_json::from_str(record).unwrap();
        assert_eq!(path_of(&value, "q").unwrap().0, path, "{record}");
        assert_eq!(read(record, path), ["One?", "Two?"], "{record}");
    }
}

#[test]
fn a_question_may_be_the_messages_of_a_role() {
    let record = r#"{"messages":[{"role":"user","content":"Why?"},
            {"role":"assistant","content":"So."}]}"#;
    let fields =
        QuestionFields { question: vec!["messages.user".into()], ..QuestionFields::default() };
    assert!(nested(record, "a", &fields).unwrap().is_none());
    let found = of_record(record, "a:1", "a", &fields).ok().unwrap();
    assert_eq!(found.question.text, "Why?");
}

#[test]
fn a_question_with_two_fields_of_one_name_is_refused() {
    let fields = QuestionFields { answer: Some("answer".into()), ..QuestionFields::default() };
    let check = |record: &str, expected: Option<&str>| {
        let refused = of_record(record, "a:1", "a", &fields).err().map(|said| said.what);
        assert_eq!(refused.is_some(), expected.is_some(), "{record}: {refused:?}");
        let (said, name) = (refused.unwrap_or_default(), expected.unwrap_or_default());
        assert!(said.contains(name), "{said}");
    };
    check(r#"{"question":"Why?","answer":1,"answer":2}"#, Some("are called `answer`"));
    check(r#"{"id":"a","question":"Why?","id":"b"}"#, Some("are called `id`"));
    check(r#"{"question":"Why?","answer":1,"n":1,"n":2}"#, None);
}

#[test]
fn questions_are_read_from_records_and_lines() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    };
    write(
        "all/mmlu.jsonl",
        r#"{"id":"m1","question":"Which?","choices":["one",{"t":"two"}],"answer":2}
{"question":"What?","choices":[],"answer":"x"}
{"text":"no question"}
"#,
    );
    write("all/sub/arc.csv", "question,choices,answer\n\"Why, though?\",a b,7\n");
    write("lines.txt", "Who?\n\n  Whose?  \n");
    let fields = QuestionFields {
        question: vec!["question".into(), "choices".into()],
        answer: Some("answer".into()),
        ..QuestionFields::default()
    };
    let inputs = [dir.path().join("all"), dir.path().join("lines.txt")];
    let read = questions(&inputs, &fields, &SourceOptions::default());
    let shown = read.into_iter().map(|read| match read {
        Ok(Question { benchmark, id, text, answer }) => {
            format!("{benchmark} {id} {text:?} {}", answer.unwrap_or_default())
        }
        Err(QuestionError::Refused(error)) => {
            assert!(lacks_question(&error));
            error.to_string().rsplit_once('/').unwrap().1.to_owned()
        }
        Err(error) => panic!("{error}"),
    });
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            r#"mmlu m1 "Which?\none\ntwo" 2"#,
            r#"mmlu 2 "What?" x"#,
            "mmlu.jsonl:3: there is no `question`; its fields are `text`",
            r#"sub/arc 2 "Why, though?\na b" 7"#,
            r#"lines 1 "Who?" "#,
            r#"lines 3 "Whose?" "#,
        ]
    );
}

fn read(files: &[(&str, &str)], inputs: &[&str], fields: &QuestionFields) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let inputs: Vec<PathBuf> = inputs.iter().map(|input| dir.path().join(input)).collect();
    let root = format!("{}/", dir.path().display());
    let shown = |read: Result<Question, QuestionError>| match read {
        Ok(Question { benchmark, id, text, .. }) => format!("{benchmark} {id} {text:?}"),
        Err(QuestionError::Refused(error)) => error.to_string(),
        Err(error) => panic!("{error}"),
    };
    let read = questions(&inputs, fields, &SourceOptions::default());
    read.into_iter().map(|read| shown(read).replace(&root, "")).collect()
}

#[test]
fn labels_of_choices_are_no_words_of_a_question() {
    let fields = QuestionFields {
        question: vec!["question".into(), "choices".into()],
        ..QuestionFields::default()
    };
    let check = |choices: &str, expected: &str| {
        let line = format!(r#"{{"question":"Which?","choices":{choices}}}"#);
        assert_eq!(read(&[("a.jsonl", &line)], &["a.jsonl"], &fields), [expected]);
    };
    check(r#"{"text":["whale","trout"],"label":["A","B"]}"#, r#"a 1 "Which?\nwhale\ntrout""#);
    check(r#"[{"label":"A","text":"7"},{"label":"B","text":"8"}]"#, r#"a 1 "Which?\n7\n8""#);
    check(r#"{"choices":["yes","no"],"labels":[1,0]}"#, r#"a 1 "Which?\nyes\nno""#);
    // Without other texts, and with words as values, these members are texts.
    check(r#"{"label":["A","B"]}"#, r#"a 1 "Which?\nA\nB""#);
    check(r#"[{"label":"whale","right":true}]"#, r#"a 1 "Which?\nwhale\ntrue""#);
}

#[test]
fn an_id_names_one_question_of_a_benchmark() {
    // Two questions with the same id were both listed under this id, without a warning.
    let lines = r#"{"id":"a","question":"x","of":"m"}
{"id":"a","question":"y","of":"n"}
"#;
    let own = QuestionFields::default();
    let found = read(&[("a.jsonl", lines)], &["a.jsonl"], &own);
    assert_eq!(found[0], r#"a a "x""#);
    assert!(
        found[1].starts_with(r#"a.jsonl:2: its id is "a", as that of a.jsonl:1;"#),
        "{found:?}"
    );
    let fields = QuestionFields { benchmark: Some("of".into()), ..own.clone() };
    assert_eq!(read(&[("a.jsonl", lines)], &["a.jsonl"], &fields), [r#"m a "x""#, r#"n a "y""#]);
    // Line numbers are not real ids, so the second question gets its place as id.
    let (one, two) = ("{\"question\":\"x\",\"of\":\"m\"}\n", "{\"question\":\"y\",\"of\":\"m\"}\n");
    let found = read(&[("a.jsonl", one), ("b.jsonl", two)], &["a.jsonl", "b.jsonl"], &fields);
    assert_eq!(found[0], r#"m 1 "x""#);
    assert!(found[1].starts_with("m ") && found[1].ends_with(r#"b.jsonl:1 "y""#), "{found:?}");
}

#[test]
fn a_path_leads_to_questions_within_records() {
    let fields = QuestionFields {
        question: ["data.sets[].qas.question", "data.sets[].qas.choices"].map(Into::into).into(),
        ..QuestionFields::default()
    };
    let nested = r#"{"v":1,"data":[{"sets":[{"text":"c","qas":[
            {"id":"q1","question":"Who?","choices":["a"]},{"question":"Why?","choices":[]}]}]},
            {"sets":[{"qas":[{"question":"When?"}]}]}]}"#;
    let found = read(&[("a.json", nested)], &["a.json"], &fields);
    assert_eq!(found[..2], [r#"a q1 "Who?\na""#, r#"a 1/2 "Why?""#]);
    assert!(found[2].contains("there is no `choices`"), "{found:?}");
    let other = QuestionFields { question: vec!["data.qas.x".into()], ..fields };
    let found = read(&[("a.json", nested)], &["a.json"], &other);
    assert!(found[0].contains("there is no `data.qas.x`"), "{found:?}");
}

#[test]
fn questions_in_lists_within_lists_are_found_without_a_path() {
    let squad = r#"{"version":"1","data":[{"title":"t","paragraphs":[{"context":"c","qas":[
            {"id":"q1","question":"Who?","answers":[{"text":"I"}]}]},
            {"context":"d","qas":[{"id":"q2","question":"Why?","answers":[]}]}]}]}"#;
    let found = read(&[("a.json", squad)], &["a.json"], &QuestionFields::default());
    assert_eq!(found, [r#"a q1 "Who?""#, r#"a q2 "Why?""#]);
    let rows = r#"{"rows":[{"row":{"id":"q1","question":"Who?"}}]}"#;
    let found = read(&[("a.json", rows)], &["a.json"], &QuestionFields::default());
    assert_eq!(found, [r#"a q1 "Who?""#]);
    for members in [
        r#"{"7":{"id":"q1","question":"Who?"},"8":{"id":"q2","question":"Why?"}}"#,
        r#"{"dev":[{"id":"q1","question":"Who?"}],"test":[{"id":"q2","question":"Why?"}]}"#,
    ] {
        let found = read(&[("a.json", members)], &["a.json"], &QuestionFields::default());
        assert_eq!(found, [r#"a q1 "Who?""#, r#"a q2 "Why?""#], "{members}");
    }
}

#[test]
fn a_file_that_is_named_twice_is_one_benchmark() {
    let files = [("a.txt", "Who?\n")];
    let found = read(&files, &["a.txt", "a.txt", "."], &QuestionFields::default());
    assert_eq!(found, [r#"a 1 "Who?""#]);
}

#[test]
fn a_record_without_a_field_is_named_by_its_line() {
    let fields = QuestionFields {
        question: vec!["question".into(), "choices".into()],
        ..QuestionFields::default()
    };
    let lines = r#"{"id":"q1","question":"x","choices":[]}
{"id":"q2","question":"y"}
"#;
    let found = read(&[("a.jsonl", lines)], &["a.jsonl"], &fields);
    assert_eq!(found[1], "a.jsonl:2: there is no `choices`; its fields are `id`, `question`");
}

#[test]
fn benchmarks_have_the_names_of_their_files() {
    let names = |files: &[(&str, &str)]| {
        names_of(&files.iter().map(|(a, b)| (a.into(), b.into())).collect::<Vec<_>>())
    };
    assert_eq!(names(&[("x/gsm8k.jsonl.gz", "gsm8k.jsonl.gz")]), ["gsm8k"]);
    let same = [("x/test.jsonl", "test.jsonl"), ("y/test.csv", "test.csv")];
    assert_eq!(names(&same), ["x/test.jsonl", "y/test.csv"]);
}
