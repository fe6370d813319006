//! The questions of benchmarks in files.
//!
//! A list of records (JSON lines, a table, Parquet) has a question in each record; any other text
//! has one on each line. A benchmark is called after its file, or by a field of the records.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use cento::join::decontaminate::Question;
use cento::{Error, Reason, Refusal};
use serde_json::{Map, Value};

use crate::documents::documents;
use crate::fields;
use crate::{FileBelow, ReadError, SourceOptions, files_below, place_of};

/// The fields of a record with the parts of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionFields {
    /// The question: the values of these fields, one after the other. The first is a string.
    pub question: Vec<String>,
    /// The answer.
    pub answer: Option<String>,
    /// The id; the number of the line or row without one.
    pub id: String,
    /// The name of the benchmark; that of the file without one.
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

/// A part of the files that is no question.
pub type QuestionError = ReadError;

/// Returns the questions of `inputs`, in order.
///
/// # Errors
/// An error is a record without a question, or a file that is left out or cannot be read; the
/// others are read nevertheless.
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
    let names = names_of(&files);
    let source = SourceOptions {
        text_field: fields.question.first().cloned().unwrap_or_default(),
        id_field: fields.id.clone(),
        keeps_records: true,
        keeps_places: false,
        needs_text_only: true,
        ..source.clone()
    };
    for ((path, _), name) in files.iter().zip(names) {
        read_file(path, &name, fields, &source, &mut read);
    }
    read
}

/// Returns the names of the benchmarks in these files: those of the files without endings, or with
/// their directories where two would be the same.
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
    read: &mut Vec<Result<Question, QuestionError>>,
) {
    for document in documents(std::slice::from_ref(&path.to_owned()), source) {
        let (document, _) = match document {
            Ok(document) => document,
            Err(error) => {
                read.push(Err(error));
                continue;
            }
        };
        match &document.record {
            Some(record) => {
                let question = of_record(record, &document.id, name, fields);
                let question = question.map_err(|what| Error::input(&document.id, what));
                read.push(question.map_err(QuestionError::from));
            }
            None => read.extend(of_lines(&document.text, name).map(Ok)),
        }
    }
}

/// Returns the questions on the lines of a text.
fn of_lines(text: &str, name: &str) -> impl Iterator<Item = Question> {
    let lines = (1..).zip(text.lines()).filter(|(_, line): &(u64, &str)| !line.trim().is_empty());
    lines.map(|(number, line)| Question {
        benchmark: name.to_owned(),
        id: number.to_string(),
        text: line.trim().to_owned(),
        answer: None,
    })
}

/// Returns the question in a record; `id` is its id, or its place.
fn of_record(
    record: &str,
    id: &str,
    name: &str,
    fields: &QuestionFields,
) -> Result<Question, Refusal> {
    let members: Map<String, Value> = serde_json::from_str(record).map_err(|e| e.to_string())?;
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
    // Without an id its place has become the id, which ends with the number.
    let is_given = members.get(&fields.id).is_some_and(|id| !id.is_null());
    let id = match is_given {
        true => id,
        false => id.rsplit_once(':').map_or(id, |(_, number)| number),
    };
    Ok(Question {
        benchmark,
        id: id.to_owned(),
        // A field of choices may be empty.
        text: parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n"),
        answer: fields.answer.as_ref().map(text_of).transpose()?,
    })
}

/// The maximum depth of the texts of a value that are read.
const DEPTH_MAX: usize = 8;

/// Appends the texts and numbers of a value, such as a list of choices.
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
            members.values().for_each(|value| push_texts(value, depth + 1, text));
        }
    }
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
