//! Groups files by names alone, when a client has the contents.

use std::collections::HashMap;

use cento::{Map, Result, Stop};
use serde_json::Value;

use super::names::InputNames;
use super::{By, Grouping, NO_MATCH};
use crate::chunk::{meta_of_fields, with_own_names};
use crate::filter::{LIST, PathFilter};

/// Listed files, grouped into documents.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ListedFiles {
    /// The documents, in the order of their first files.
    pub documents: Vec<GroupedFiles>,
    /// The paths of skipped files and documents, with the reasons.
    pub left_out: Vec<(String, &'static str)>,
    /// Where the documents begin, if the choice is not obvious.
    pub said: Option<String>,
}

/// A document with its files.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GroupedFiles {
    /// The id of the document.
    pub id: String,
    /// The parts of the document: name, and index of the file in the list.
    pub parts: Vec<(String, usize)>,
    /// The fields of the pattern.
    pub meta: Map<String, Value>,
}

impl Grouping {
    /// Groups files with these names into documents. The first component of a path is an input.
    /// Libraries and data are skipped in documents of several files, as in the command.
    ///
    /// # Errors
    /// [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
    pub fn of_names(by: &By, names: &[String], stop: &Stop) -> Result<ListedFiles> {
        let mut found = ListedFiles { documents: Vec::new(), left_out: Vec::new(), said: None };
        if *by == By::File {
            let alone = |(at, name): (usize, &String)| GroupedFiles {
                id: name.clone(),
                parts: vec![(name.clone(), at)],
                meta: Map::new(),
            };
            found.documents = names.iter().enumerate().map(alone).collect();
            return Ok(found);
        }
        let inputs = inputs_of(names, &mut found.left_out);
        let all: Vec<InputNames> = inputs.iter().map(ListedInput::names).collect();
        let grouping = Grouping::of_all(by, &all, stop)?;
        let (mut open, mut fields) = (HashMap::new(), Vec::<Vec<(String, String)>>::new());
        for (number, input) in inputs.iter().enumerate() {
            for &(at, path) in &input.files {
                stop.check()?;
                let Some(place) = grouping.place(number, path) else {
                    found.left_out.push((path.to_owned(), NO_MATCH));
                    continue;
                };
                let next = open.len();
                let known = *open.entry(place.document.clone()).or_insert(next);
                if known == next {
                    let (id, parts, meta) = (place.document, Vec::new(), Map::new());
                    found.documents.push(GroupedFiles { id, parts, meta });
                    fields.push(Vec::new());
                }
                found.documents[known].parts.push((place.part, at));
                for field in place.fields {
                    if !fields[known].contains(&field) {
                        fields[known].push(field);
                    }
                }
            }
        }
        for (document, fields) in found.documents.iter_mut().zip(&fields) {
            with_own_names(&mut document.parts);
            document.meta = meta_of_fields(fields);
        }
        found.left_out.extend(grouping.emptied.into_iter().map(|id| (id, super::NOTHING_LEFT)));
        found.said = grouping.remarks.into_iter().next().map(|remark| remark.fact);
        Ok(found)
    }
}

/// An input: the files whose paths have the same first part.
struct ListedInput<'a> {
    place: &'a str,
    files: Vec<(usize, &'a str)>,
    by_name: Vec<String>,
}

impl ListedInput<'_> {
    fn names(&self) -> InputNames {
        let files = self.files.iter().map(|file| file.1);
        InputNames::listed(self.place, files, self.by_name.clone())
    }
}

/// Returns the inputs with their files, without files that are skipped by their names.
fn inputs_of<'a>(
    names: &'a [String],
    left_out: &mut Vec<(String, &'static str)>,
) -> Vec<ListedInput<'a>> {
    let filter = PathFilter::default().without_libraries(true, true).without_data();
    let mut inputs: Vec<ListedInput<'a>> = Vec::new();
    let mut known = HashMap::new();
    for (at, name) in names.iter().enumerate() {
        let (place, below) = name.split_once('/').unwrap_or((name, ""));
        let at_input = *known.entry(place).or_insert(inputs.len());
        if at_input == inputs.len() {
            inputs.push(ListedInput { place, files: Vec::new(), by_name: Vec::new() });
        }
        let why = match below {
            "" => PathFilter::is_data(name).then_some(LIST),
            _ => filter.why_not(below.as_ref()),
        };
        match why {
            None => inputs[at_input].files.push((at, name)),
            Some(why) => {
                inputs[at_input].by_name.push(name.clone());
                left_out.push((name.clone(), why));
            }
        }
    }
    inputs
}
