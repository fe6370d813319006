//! Reads the questions of benchmarks from files.
//!
//! A list of records (JSON lines, a table, Parquet) has a question per record, and any other text a
//! question per line. The name of a benchmark is the name of its file, or comes from a field.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use cento::{Error, Reason, Refusal};
use cento_api::json;
use cento_collections::decontaminate::Question;
use serde_json::{Map, Value};

use crate::documents::documents;
use crate::fields;
use crate::filter::NO_TEXT_FIELD;
use crate::jsonl::{has_field, id_in};
use crate::{
    FileBelow, Html, MetaFields, NO_FIELD, ReadError, SourceOptions, TextField, files_below,
    place_of,
};

/// The fields of a record with the parts of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionFields {
    /// The fields whose values, in sequence, are the question. The first field may be a path. Every
    /// object at the end of the path then is a question with these fields.
    pub question: Vec<String>,
    /// The field with the answer.
    pub answer: Option<String>,
    /// The field with the id. Without an id, the line or row number is the id.
    pub id: String,
    /// The field with the name of the benchmark. `None` uses the name of the file.
    pub benchmark: Option<String>,
}

impl Default for QuestionFields {
    fn default() -> QuestionFields {
        QuestionFields {
            question: vec!["question".into()],
            answer: None,
            id: "id".into(),
            benchmark: None,
        }
    }
}

impl QuestionFields {
    /// Returns the field by which records are recognized.
    fn text_field(&self) -> TextField {
        self.question.iter().take(1).cloned().collect::<Vec<_>>().into()
    }
}

/// A part of the files that is not a question.
pub type QuestionError = ReadError;

/// The maximum number of fields on a path to questions.
const PATH_STEPS_MAX: usize = 8;

/// A question with its place in a file.
struct PlacedQuestion {
    question: Question,
    place: String,
    /// The id is the number of the line or row.
    is_numbered: bool,
}

/// Returns the questions of `inputs`, in order. Repeated files are read once.
///
/// # Errors
/// A record without a question, a repeated id within a benchmark, or a file that is skipped or
/// cannot be read gives an error. Everything else is read nevertheless.
pub fn questions(
    inputs: &[PathBuf],
    fields: &QuestionFields,
    source: &SourceOptions,
) -> Vec<Result<Question, QuestionError>> {
    let mut read = Vec::new();
    let mut files: Vec<(PathBuf, PathBuf)> = Vec::new();
    for input in inputs {
        match input.is_dir() {
            false => {
                let name = input.file_name().map_or_else(|| input.clone(), PathBuf::from);
                files.push((input.clone(), name));
            }
            true => files_below(input, source).for_each(|found| match found {
                Ok(FileBelow { path, below }) => files.push((path, below)),
                Err(error) => read.push(Err(error)),
            }),
        }
    }
    let mut known = HashSet::new();
    files.retain(|(path, _)| path.canonicalize().map_or(true, |place| known.insert(place)));
    let names = names_of(&files);
    let source = SourceOptions {
        text_field: fields.text_field(),
        id_field: NO_FIELD.into(),
        field_use: None,
        keeps_records: true,
        keeps_places: false,
        needs_text_only: true,
        meta_fields: MetaFields::object(),
        ..source.clone()
    };
    for ((path, _), name) in files.iter().zip(names) {
        read_file(path, &name, fields, &source, &mut read);
    }
    with_ids(read)
}

/// Makes the ids of a benchmark unique. A repeated line number is replaced by the question's place.
/// A repeated id that was given is an error.
fn with_ids(
    read: Vec<Result<PlacedQuestion, QuestionError>>,
) -> Vec<Result<Question, QuestionError>> {
    let mut places: HashMap<(String, String), String> = HashMap::new();
    let mut named = |placed: PlacedQuestion| {
        let PlacedQuestion { mut question, place, is_numbered } = placed;
        let key = |question: &Question| (question.benchmark.clone(), question.id.clone());
        if is_numbered && places.contains_key(&key(&question)) {
            question.id.clone_from(&place);
        }
        if let Some(other) = places.get(&key(&question)) {
            let what = format!(
                "its id is {:?}, as that of {other}; name the field of another id, or of the \
                 benchmark",
                question.id
            );
            return Err(Error::input(place, what).into());
        }
        places.insert(key(&question), place);
        Ok(question)
    };
    read.into_iter().map(|placed| placed.and_then(&mut named)).collect()
}

/// Returns the names of the benchmarks: file names without extensions, preceded by directories
/// where two names would be equal.
fn names_of(files: &[(PathBuf, PathBuf)]) -> Vec<String> {
    let bare = |path: &Path| {
        let mut path = path.to_owned();
        const PACKED: [&str; 5] = ["gz", "zst", "bz2", "xz", "zstd"];
        if path.extension().is_some_and(|ending| PACKED.iter().any(|packed| ending == *packed)) {
            path.set_extension("");
        }
        path.set_extension("");
        place_of(&path).to_string()
    };
    let mut counts: HashMap<String, usize> = HashMap::new();
    for (_, name) in files {
        *counts.entry(bare(name)).or_default() += 1;
    }
    let name = |(path, name): &(PathBuf, PathBuf)| match counts[&bare(name)] {
        1 => bare(name),
        _ => place_of(path).to_string(),
    };
    files.iter().map(name).collect()
}

fn read_file(
    path: &Path,
    name: &str,
    fields: &QuestionFields,
    source: &SourceOptions,
    read: &mut Vec<Result<PlacedQuestion, QuestionError>>,
) {
    for document in documents(std::slice::from_ref(&path.to_owned()), source) {
        let (document, _) = match document {
            Ok(document) => document,
            Err(error) => {
                match deeper_fields(&error, path, fields, source) {
                    Some(fields) => {
                        let text_field = fields.text_field();
                        let source = SourceOptions { text_field, ..source.clone() };
                        read_file(path, name, &fields, &source, read);
                    }
                    None => read.push(Err(error)),
                }
                continue;
            }
        };
        let place = document.id;
        match &document.record {
            Some(record) => {
                let placed = match nested(record, &place, fields) {
                    Ok(None) => vec![of_record(record, &place, name, fields)],
                    Ok(Some(NestedQuestions { fields, records })) => {
                        let each = records.iter();
                        each.map(|(place, own)| of_record(own, place, name, &fields)).collect()
                    }
                    Err(refusal) => vec![Err(refusal)],
                };
                read.extend(
                    placed.into_iter().map(|placed| {
                        placed.map_err(|what| Error::input(place.clone(), what).into())
                    }),
                );
            }
            None => read.extend(of_lines(&document.text, &place, name).map(Ok)),
        }
    }
}

/// Returns the fields of questions in lists within lists, as in SQuAD, if `error` says that a file
/// has no records with the field of the question: the field becomes the path to it.
fn deeper_fields(
    error: &QuestionError,
    path: &Path,
    fields: &QuestionFields,
    source: &SourceOptions,
) -> Option<QuestionFields> {
    let has_none = matches!(error, ReadError::LeftOut { why, .. } if *why == NO_TEXT_FIELD);
    let (first, others) = fields.question.split_first().filter(|_| has_none)?;
    if first.contains('.') {
        return None;
    }
    // `Html::Source` reads the whole file as one text.
    let source = SourceOptions { html: Html::Source, ..source.clone() };
    let (document, _) = documents(std::slice::from_ref(&path.to_owned()), &source).next()?.ok()?;
    let value: Value = serde_json::from_str(&document.text).ok()?;
    let question = std::iter::once(path_of(&value, first)?).chain(others.iter().cloned()).collect();
    Some(QuestionFields { question, ..fields.clone() })
}

/// Returns the shortest path to a field of this name in objects within objects and lists.
fn path_of(value: &Value, field: &str) -> Option<String> {
    let mut level = vec![(String::new(), value)];
    for _ in 0..PATH_STEPS_MAX {
        let objects = level.into_iter().flat_map(|(path, value)| {
            elements(value).into_iter().map(move |own| (path.clone(), own))
        });
        let objects: Vec<(String, &Value)> = objects.collect();
        let has_field = |(_, own): &&(String, &Value)| own.get(field).is_some();
        if let Some((path, _)) = objects.iter().find(has_field) {
            return (!path.is_empty()).then(|| format!("{path}{field}"));
        }
        let members = objects.into_iter().filter_map(|(path, own)| Some((path, own.as_object()?)));
        level = members
            .flat_map(|(path, own)| {
                let plain = own.iter().filter(|(name, _)| !name.contains(['.', '[', ' ']));
                plain
                    .map(move |(name, inner)| (format!("{path}{name}."), inner))
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    None
}

/// Returns the questions on the lines of a text, which is at this place.
fn of_lines(text: &str, place: &str, name: &str) -> impl Iterator<Item = PlacedQuestion> {
    let lines = (1..).zip(text.lines()).filter(|(_, line): &(u64, &str)| !line.trim().is_empty());
    lines.map(move |(number, line)| PlacedQuestion {
        question: Question {
            benchmark: name.to_owned(),
            id: number.to_string(),
            text: line.trim().to_owned(),
            answer: None,
        },
        place: format!("{place}:{number}"),
        is_numbered: true,
    })
}

/// Objects within a record, each with a question.
struct NestedQuestions {
    /// The names of fields within these objects.
    fields: QuestionFields,
    /// The objects with their places.
    records: Vec<(String, String)>,
}

/// Returns the objects at the end of a path such as `data.paragraphs.qas.question`, or `None` if
/// the question is a plain field. Lists on the way are passed through.
fn nested(
    record: &str,
    place: &str,
    fields: &QuestionFields,
) -> Result<Option<NestedQuestions>, Refusal> {
    let Some(question) = fields.question.first() else { return Ok(None) };
    let Some((path, _)) = question.rsplit_once('.') else { return Ok(None) };
    if has_field(record, question) {
        return Ok(None);
    }
    let value: Value = serde_json::from_str(record).map_err(|e| json::problem(&e))?;
    let mut values = vec![&value];
    for step in path.split('.') {
        let step = step.trim_end_matches("[]");
        values = values.into_iter().flat_map(elements).filter_map(|own| own.get(step)).collect();
    }
    let objects = values.into_iter().flat_map(elements).filter(|own| own.is_object());
    let numbered = (1..).zip(objects);
    let records = numbered.map(|(number, own)| (format!("{place}/{number}"), own.to_string()));
    let start = format!("{path}.");
    let inner = |field: &String| field.strip_prefix(&start).unwrap_or(field).to_owned();
    let fields = QuestionFields {
        question: fields.question.iter().map(inner).collect(),
        answer: fields.answer.as_ref().map(inner),
        id: inner(&fields.id),
        benchmark: fields.benchmark.as_ref().map(inner),
    };
    Ok(Some(NestedQuestions { fields, records: records.collect() }))
}

/// Returns the elements of a list, including nested lists, or the value itself.
fn elements(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(list) => list.iter().flat_map(elements).collect(),
        other => vec![other],
    }
}

/// Returns the question in a record, which is at this place.
fn of_record(
    record: &str,
    place: &str,
    name: &str,
    fields: &QuestionFields,
) -> Result<PlacedQuestion, Refusal> {
    let members: Map<String, Value> =
        serde_json::from_str(record).map_err(|e| json::problem(&e))?;
    let QuestionFields { question, answer, id, benchmark } = fields;
    let used = || question.iter().chain(answer).chain([id]).chain(benchmark);
    let is_used = |name: &str| used().any(|field| field == name);
    let names = json::field_names(record);
    if let Some(name) = fields::repeated(names.iter().map(String::as_str), is_used) {
        return Err(fields::twice("fields", name));
    }
    let value = |field: &String| {
        members
            .get(field)
            .ok_or_else(|| fields::missing("", "text", field, members.keys().map(String::as_str)))
    };
    let text_of = |field: &String| {
        let mut text = String::new();
        push_texts(value(field)?, 0, &mut text);
        Ok::<String, Refusal>(text)
    };
    let parts = fields.question.iter().map(text_of).collect::<Result<Vec<_>, _>>()?;
    let benchmark = match &fields.benchmark {
        Some(field) => text_of(field)?,
        None => name.to_owned(),
    };
    let given = id_in(record, &fields.id);
    let is_numbered = given.is_none();
    // The place ends with the number of the line or row.
    let number = || place.rsplit_once(':').map_or(place, |(_, number)| number).to_owned();
    let question = Question {
        benchmark,
        id: given.unwrap_or_else(number),
        // A field of choices may be empty.
        text: parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n"),
        answer: fields.answer.as_ref().map(text_of).transpose()?,
    };
    Ok(PlacedQuestion { question, place: place.to_owned(), is_numbered })
}

/// The maximum depth of the search for texts in a value.
const DEPTH_MAX: usize = 8;

/// Appends the texts and numbers of a value, such as a list of choices, without labels of choices.
fn push_texts(value: &Value, depth: usize, text: &mut String) {
    let mut push = |part: &str| {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(part);
    };
    match value {
        Value::String(part) => push(part),
        Value::Number(number) => push(&number.to_string()),
        Value::Bool(is) => push(&is.to_string()),
        Value::Null => {}
        Value::Array(_) | Value::Object(_) if depth == DEPTH_MAX => {}
        Value::Array(list) => list.iter().for_each(|value| push_texts(value, depth + 1, text)),
        Value::Object(members) => {
            let is_text =
                |(name, value): &(&String, &Value)| members.len() == 1 || !is_label(name, value);
            let texts = members.iter().filter(is_text);
            texts.for_each(|(_, value)| push_texts(value, depth + 1, text));
        }
    }
}

/// Returns whether a member only labels other members: the values are single letters or numbers,
/// such as `"label": ["A", "B"]` beside `"text"`.
fn is_label(name: &str, value: &Value) -> bool {
    let is_mark = |value: &Value| match value {
        Value::String(mark) => mark.chars().count() <= 2,
        Value::Number(_) => true,
        _ => false,
    };
    let is_named = ["label", "labels"].contains(&name);
    is_named && value.as_array().map_or_else(|| is_mark(value), |all| all.iter().all(is_mark))
}

/// Tells whether an error is a record without the field of the questions.
#[must_use]
pub fn lacks_question(error: &Error) -> bool {
    matches!(error.reason(), Reason::MissingField { field: "text" })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(
            read(&[("a.jsonl", lines)], &["a.jsonl"], &fields),
            [r#"m a "x""#, r#"n a "y""#]
        );
        // Line numbers are not real ids, so the second question gets its place as id.
        let (one, two) =
            ("{\"question\":\"x\",\"of\":\"m\"}\n", "{\"question\":\"y\",\"of\":\"m\"}\n");
        let found = read(&[("a.jsonl", one), ("b.jsonl", two)], &["a.jsonl", "b.jsonl"], &fields);
        assert_eq!(found[0], r#"m 1 "x""#);
        assert!(found[1].starts_with("m ") && found[1].ends_with(r#"b.jsonl:1 "y""#), "{found:?}");
    }

    #[test]
    fn a_path_leads_to_questions_within_records() {
        let fields = QuestionFields {
            question: ["data.sets[].qas.question", "data.sets[].qas.choices"]
                .map(Into::into)
                .into(),
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
}
