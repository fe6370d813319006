//! Documents as lines of output.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};

use cento::index::Document;
use cento::{Error, Part, PartText, Result};
use cento_api::part::exchanged_parts;
use cento_source::{Annotation, Selection, TableForm, TextField, has_field};

/// Writes a value as JSON. The keys of the value must be strings.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("it has names for keys only")
}

/// Returns the record of a document as read, or a new record.
pub fn record(document: &Document) -> Cow<'_, str> {
    match &document.record {
        Some(record) => (&**record).into(),
        None => written(document, &document.text, &document.parts).into(),
    }
}

/// Makes the record of a document whose source is not a record, with this text and these parts.
fn written(document: &Document, text: &str, parts: &[Part]) -> String {
    let Document { id, meta, .. } = document;
    match parts.is_empty() {
        true => json(&KeptRecord { id, meta, text }),
        false => json(&RecordOfParts { id, meta, parts: exchanged_parts(parts, text) }),
    }
}

/// A record written by cento. A struct keeps the order of members, while the order in `serde_json`
/// objects depends on the features of the build.
#[derive(Serialize)]
struct KeptRecord<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    meta: &'a Map<String, Value>,
    text: &'a str,
}

/// A record written by cento for a document with parts.
#[derive(Serialize)]
struct RecordOfParts<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    meta: &'a Map<String, Value>,
    parts: Vec<PartText>,
}

/// Returns the record with a different text in this field, or different parts. Everything else is
/// copied byte for byte.
///
/// # Errors
/// When the text is not a single string of the record, so the new text has no place.
pub fn with_text(
    document: &Document,
    text: &str,
    parts: &[Part],
    field: &TextField,
) -> Result<String> {
    let Some(record) = document.record.as_deref() else {
        return Ok(written(document, text, parts));
    };
    let changed = cento_source::with_text(record, &field.to_string(), text, parts);
    changed.ok_or_else(|| {
        let what = format!(
            "passages can only be cut from a text that is one string of the record, and `{field}` \
             is not; leave out --cut-passages"
        );
        Error::input(document.id.clone(), what)
    })
}

/// Writes a record unchanged, or as the row of a table.
///
/// # Errors
/// When writing fails.
pub fn write_record(
    out: &mut impl Write,
    form: Option<&TableForm>,
    record: &str,
) -> io::Result<()> {
    match form {
        Some(form) => write!(out, "{}", form.row(record)),
        None => writeln!(out, "{record}"),
    }
}

/// Returns the decision on a row of a copied Parquet file: annotate, replace the text, keep or
/// drop.
pub fn selection<'a>(
    annotation: Option<&'a str>,
    text: Option<&'a str>,
    is_kept: bool,
) -> Selection<'a> {
    match (annotation, text) {
        (Some(annotation), _) => Selection::Annotated(annotation),
        (None, Some(text)) => Selection::Text(text),
        (None, None) if is_kept => Selection::Kept,
        (None, None) => Selection::Dropped,
    }
}

/// Returns the record with the annotation as an additional member.
///
/// # Errors
/// When the record has a member of this name: most readers keep only one of two equal names.
pub fn annotated(
    document: &Document,
    annotation: Annotation,
    value: &impl Serialize,
) -> Result<String> {
    let (record, column) = (record(document), annotation.column());
    if has_field(&record, column) {
        let what = format!("it has a member `{column}` already; rename or remove that member");
        return Err(Error::input(format!("the record {:?}", document.id), what));
    }
    let open = record.trim_end().strip_suffix('}').unwrap_or(&record);
    Ok(format!("{open},\"{column}\":{}}}", json(value)))
}
