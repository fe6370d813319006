//! Reads the questions of benchmarks from files.
//!
//! A list of records (JSON lines, a table, Parquet) has a question per record, and any other text a
//! question per line. The name of a benchmark is the name of its file, or comes from a field.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use cento::{Error, Reason, Refusal};
use cento_api::json;
use cento_collections::decontaminate::Question;
use serde_json::value::RawValue;
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
                    Some((fields, text_field)) => {
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
/// has no records with the field of the question: the field becomes the path to it. The record is
/// recognized by the path to the first question.
fn deeper_fields(
    error: &QuestionError,
    path: &Path,
    fields: &QuestionFields,
    source: &SourceOptions,
) -> Option<(QuestionFields, TextField)> {
    let has_none = matches!(error, ReadError::LeftOut { why, .. } if *why == NO_TEXT_FIELD);
    let (first, others) = fields.question.split_first().filter(|_| has_none)?;
    if first.contains('.') {
        return None;
    }
    // `Html::Source` reads the whole file as one text.
    let source = SourceOptions { html: Html::Source, ..source.clone() };
    let (document, _) = documents(std::slice::from_ref(&path.to_owned()), &source).next()?.ok()?;
    let value: Value = serde_json::from_str(&document.text).ok()?;
    let (path, recognized) = path_of(&value, first)?;
    let question = std::iter::once(path).chain(others.iter().cloned()).collect();
    Some((QuestionFields { question, ..fields.clone() }, TextField::from(&*recognized)))
}

/// Returns the shortest path to all fields of this name in objects within objects and lists, and
/// the path to the first.
fn path_of(value: &Value, field: &str) -> Option<(String, String)> {
    let mut level = vec![(String::new(), value)];
    for _ in 0..PATH_STEPS_MAX {
        let objects = level.into_iter().flat_map(|(path, value)| {
            elements(value).into_iter().map(move |own| (path.clone(), own))
        });
        let objects: Vec<(String, &Value)> = objects.collect();
        let with_field = objects.iter().filter(|(_, own)| own.get(field).is_some());
        let found: Vec<&str> = with_field.map(|(path, _)| path.as_str()).collect();
        if let Some(path) = common_path(&found) {
            let first = format!("{}{field}", found[0]);
            return (!path.is_empty()).then(|| (format!("{path}{field}"), first));
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

/// The step of a path into every member of an object, whose names are ids, or parts of the list.
const EVERY: &str = "*";

/// Combines paths of one length into a single path, with [`EVERY`] for each step in which they
/// differ. Returns `None` without paths.
fn common_path(paths: &[&str]) -> Option<String> {
    let (first, others) = paths.split_first()?;
    let mut steps: Vec<&str> = first.split('.').collect();
    for path in others {
        for (step, other) in steps.iter_mut().zip(path.split('.')) {
            if *step != other {
                *step = EVERY;
            }
        }
    }
    Some(steps.join("."))
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
    let Some((path, last)) = question.rsplit_once('.') else { return Ok(None) };
    if has_field(record, question) {
        return Ok(None);
    }
    let value: Value = serde_json::from_str(record).map_err(|e| json::problem(&e))?;
    let mut values = vec![&value];
    for step in path.split('.') {
        let step = step.trim_end_matches("[]");
        values =
            values.into_iter().flat_map(elements).flat_map(|own| members_at(own, step)).collect();
    }
    let objects: Vec<&Value> =
        values.into_iter().flat_map(elements).filter(|own| own.is_object()).collect();
    // The messages of a role, as `--text-field` takes them.
    if !objects.iter().any(|own| own.get(last).is_some()) && read_text(record, question).is_some() {
        return Ok(None);
    }
    // Other members may hold something else.
    let is_of_list = |own: &&Value| own.get(last).is_some() || !path.contains(EVERY);
    let objects = objects.into_iter().filter(is_of_list);
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

/// Returns the members of a value that a step of a path names.
fn members_at<'a>(value: &'a Value, step: &str) -> Vec<&'a Value> {
    match value.as_object() {
        Some(members) if step == EVERY => members.values().collect(),
        _ => value.get(step).into_iter().collect(),
    }
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
        if !members.contains_key(field)
            && let Some(text) = read_text(record, field)
        {
            return Ok(text);
        }
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

/// Returns the text at a path of a record, such as the messages of a role (`messages.user`).
fn read_text(record: &str, path: &str) -> Option<String> {
    let members: HashMap<String, &RawValue> = serde_json::from_str(record).ok()?;
    let members: Vec<(String, &RawValue)> = members.into_iter().collect();
    let field = TextField::from(path);
    let found = field.text_in(&members).ok()?;
    (!found.text.is_empty()).then_some(found.text)
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
mod tests;
