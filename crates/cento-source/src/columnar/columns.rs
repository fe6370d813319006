//! The columns of ids, texts and meta objects of a file.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::new_empty_array;
use arrow_json::writer::{EncoderOptions, make_encoder};
use arrow_schema::{DataType, Field, Schema};

use super::{COLUMN_BYTES_MAX, COLUMNS_MAX, TableRequest};
use crate::fields::{missing, repeated, twice};
use cento::{Reason, Refusal};

/// Returns the indices of the columns to read, ascending.
///
/// # Errors
/// When no column has texts, or a column has an unsuitable type, as a clause.
pub fn chosen(schema: &Schema, reading: &TableRequest) -> Result<Vec<usize>, Refusal> {
    let TableRequest { id, text, all, .. } = reading;
    let mut is_any = false;
    let mut absent = None;
    for text in text.names() {
        match check_text(schema, text) {
            Ok(()) => is_any = true,
            Err(refusal) if is_missing(&refusal) => drop(absent.get_or_insert(refusal)),
            Err(refusal) => return Err(refusal),
        }
    }
    // A file may lack some of several fields, but at least one must exist.
    if let Some(refusal) = absent.filter(|_| !is_any) {
        return Err(refusal);
    }
    if let Some(found) = type_of(schema, id).filter(|found| found.is_nested()) {
        let name = short(found);
        let what =
            format!("the column `{id}` is nested ({name}), and only single values can be ids");
        return Err(Refusal::new(Reason::UnusableIds, what));
    }
    let is_read = |name: &str| *all || is_used(reading, name);
    let names = || schema.fields().iter().map(|field| field.name().as_str());
    if let Some(name) = repeated(names(), is_read) {
        return Err(twice("columns", name));
    }
    let mut times: HashMap<&str, u32> = HashMap::new();
    names().for_each(|name| *times.entry(name).or_default() += 1);
    let is_kept = |field: &Field| {
        reading.meta.are_all() && times[field.name().as_str()] == 1 && is_member(field)
    };
    let fields = (0..).zip(schema.fields());
    let chosen = fields.filter(|(_, field)| is_read(field.name()) || is_kept(field));
    Ok(chosen.map(|(at, _)| at).collect())
}

fn is_missing(refusal: &Refusal) -> bool {
    matches!(refusal.reason, Some(Reason::MissingField { .. }))
}

fn is_used(reading: &TableRequest, name: &str) -> bool {
    let TableRequest { id, text, meta, .. } = reading;
    text.is_in(name) || id == name || meta.number_of(name).is_some()
}

/// Returns whether a column becomes a member of meta objects by default. Bytes, such as pictures,
/// and types that JSON cannot express do not.
fn is_member(field: &Field) -> bool {
    let empty = new_empty_array(field.data_type());
    let options = EncoderOptions::default();
    let field = Arc::new(field.clone());
    !is_bytes(field.data_type()) && make_encoder(&field, &empty, &options).is_ok()
}

/// Returns the names of the columns, with a flag for chosen columns. Columns named by options come
/// first. Omits names that are too long, and the last names if there are too many.
pub fn names<'a>(
    schema: &'a Schema,
    reading: &TableRequest,
    chosen: &[usize],
) -> Vec<(&'a str, bool)> {
    let fields = schema.fields().iter().enumerate();
    let name = |(at, field): (usize, &'a Arc<Field>)| {
        (field.name().as_str(), chosen.binary_search(&at).is_ok())
    };
    let mut names: Vec<(&str, bool)> = fields.map(name).collect();
    names.retain(|(name, _)| name.len() <= COLUMN_BYTES_MAX);
    names.sort_by_key(|(name, is_read)| (!is_used(reading, name), *is_read));
    names.truncate(COLUMNS_MAX);
    names
}

/// Returns the type of the column with this name.
fn type_of<'a>(schema: &'a Schema, name: &str) -> Option<&'a DataType> {
    schema.fields().iter().find(|field| field.name() == name).map(|field| field.data_type())
}

/// Returns whether the values are strings.
pub fn is_text(found: &DataType) -> bool {
    match found {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// Returns whether the values are bytes.
pub fn is_bytes(found: &DataType) -> bool {
    match found {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        DataType::FixedSizeBinary(_) => true,
        DataType::Dictionary(_, values) => is_bytes(values),
        _ => false,
    }
}

/// Returns whether a column has UUIDs, by the extension type of Arrow or by `marked`.
pub fn is_uuid(field: &Field, marked: bool) -> bool {
    let says =
        field.metadata().get("ARROW:extension:name").is_some_and(|name| name == "arrow.uuid");
    (says || marked) && *field.data_type() == DataType::FixedSizeBinary(16)
}

/// Returns a type, which may have very many fields, in a few characters.
fn short(found: &DataType) -> String {
    const CHARS_MAX: usize = 80;
    let name = found.to_string();
    match name.chars().count() > CHARS_MAX {
        true => name.chars().take(CHARS_MAX).chain("...".chars()).collect(),
        false => name,
    }
}

/// Refuses a text field with an unsuitable column type, or with a path that leads nowhere.
fn check_text(schema: &Schema, text: &str) -> Result<(), Refusal> {
    if let Some(found) = type_of(schema, text) {
        let name = short(found);
        return match found {
            _ if is_text(found) || is_bytes(found) || is_list(found) => Ok(()),
            DataType::Struct(_) => {
                let what = format!("is a struct ({name}); name the field in it: `{text}.NAME`");
                Err(format!("the column `{text}` {what}").into())
            }
            _ => Err(format!("the column `{text}` is of {name}, not of strings").into()),
        };
    }
    let mut steps = text.split('.').map(|step| step.trim_end_matches("[]"));
    let outer = steps.next().unwrap_or_default();
    let Some(found) = type_of(schema, outer) else {
        let names = schema.fields().iter().map(|field| field.name().as_str());
        return Err(missing("column ", "text", text, names));
    };
    if found.is_nested() && steps.clone().next().is_none_or(|step| may_have(found, step)) {
        return Ok(());
    }
    let what = format!("there is no `{text}`; the column `{outer}` is of {}", short(found));
    Err(Refusal::new(Reason::MissingField { field: "text" }, what))
}

fn is_list(found: &DataType) -> bool {
    use DataType::{FixedSizeList, LargeList, LargeListView, List, ListView};
    matches!(found, List(_) | LargeList(_) | FixedSizeList(..) | ListView(_) | LargeListView(_))
}

/// Returns whether values of this type may have a member called `name`. In a list, the name may
/// also be the role of a message, so only structs can be excluded.
fn may_have(found: &DataType, name: &str) -> bool {
    match found {
        DataType::Struct(fields) => fields.iter().any(|field| field.name() == name),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MetaFields;
    use crate::format::Columnar;

    #[test]
    fn two_columns_of_a_used_name_are_refused() {
        // The first of the two columns was read silently.
        let check = |names: &[&str], all: bool, expected: Result<&[usize], &str>| {
            let field = |name: &&str| Field::new(*name, DataType::Utf8, true);
            let schema = Schema::new(names.iter().map(field).collect::<Vec<_>>());
            let (id, text) = ("id".to_owned(), "text".into());
            let meta = MetaFields::object();
            let kind = Columnar::Parquet;
            let request = TableRequest { kind, id, text, meta, all, row_bytes_max: 100 };
            match (chosen(&schema, &request), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{names:?}"),
                (Err(said), Err(name)) => {
                    let name = format!("two columns are called `{name}`");
                    assert!(said.what.starts_with(&name), "{said}");
                }
                (found, _) => panic!("{names:?}: {found:?}"),
            }
        };
        check(&["n", "text", "n", "id"], false, Ok(&[1, 3]));
        check(&["n", "text", "n", "id"], true, Err("n"));
        check(&["text", "id", "text"], false, Err("text"));
        check(&["id", "text", "id"], false, Err("id"));
        check(&["meta", "text", "meta"], true, Err("meta"));
    }
}
