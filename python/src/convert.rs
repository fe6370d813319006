//! Conversion between Python values and documents, ids and meta objects.

use cento::index::{META_DEPTH_MAX, id_of_json};
use cento::{Document, Error};
use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use crate::entry::{Entry, Refusal};
use crate::error::Failure;
use crate::meta::{FieldUse, META, MetaBuilder, MetaFields};

/// The names of the fields of a mapping.
pub struct Fields {
    /// The name for the id, or `None` to number all documents.
    pub id: Option<String>,
    /// The name for the text.
    pub text: String,
    /// The fields that make the meta object.
    pub meta: MetaFields,
    /// The use of the fields of mappings.
    pub field_use: FieldUse,
}

/// Makes the exception for a value at `place` that is not a document.
fn refuse(place: &str, what: impl Into<String>) -> PyErr {
    Failure(Error::input(place, what.into())).into()
}

fn type_of(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string())
}

/// Reads a value as a text; `name` is its name in the message.
pub fn text_of<'a>(value: &'a Bound<'_, PyAny>, place: &str, name: &str) -> PyResult<&'a str> {
    let Ok(text) = value.cast::<PyString>() else {
        return Err(refuse(place, format!("the {name} is a {}, not a str", type_of(value))));
    };
    text.to_str().map_err(|error| match error.is_instance_of::<PyUnicodeEncodeError>(value.py()) {
        true => refuse(place, format!("the {name} has a surrogate that stands alone: {error}")),
        false => error,
    })
}

/// Returns the id of a value: a `str`, or a number as JSON writes it; a whole number as its digits.
pub fn id_of(value: &Bound<'_, PyAny>, place: &str) -> PyResult<String> {
    if value.is_instance_of::<PyString>() {
        return text_of(value, place, "id").map(str::to_owned);
    }
    let is_number = !value.is_instance_of::<PyBool>()
        && (value.is_instance_of::<PyInt>()
            || value.is_instance_of::<PyFloat>()
            || value.hasattr("__index__")?);
    if !is_number {
        let what = format!("the id is a {}, neither a str nor a number", type_of(value));
        return Err(refuse(place, what));
    }
    let written = match value.cast::<PyFloat>() {
        Ok(float) => serde_json::to_string(&float.extract::<f64>()?).unwrap_or_default(),
        Err(_) => {
            value.py().import("operator")?.call_method1("index", (value,))?.str()?.to_string()
        }
    };
    let json = RawValue::from_string(written).ok();
    let id = json.and_then(|json| id_of_json(&json).ok().flatten());
    id.ok_or_else(|| refuse(place, format!("the id {value} is no number of JSON")))
}

/// The field of a mapping with the parts of a document, in the place of its text.
pub const PARTS: &str = "parts";

/// Returns whether a value may be a list of parts.
pub fn is_list(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>()
}

/// Makes a document of a list of parts: each a tuple `(name, text)`, or a mapping with `name` and
/// `text`.
pub fn document_of_parts(id: String, parts: &Bound<'_, PyAny>, place: &str) -> PyResult<Document> {
    if !is_list(parts) {
        let what = format!("its parts are a {}, not a list", type_of(parts));
        return Err(refuse(place, what));
    }
    let parts = parts.try_iter()?.map(|part| part_of(&part?, place));
    let parts = parts.collect::<PyResult<Vec<(String, String)>>>()?;
    if parts.is_empty() {
        return Err(refuse(place, "its list of parts is empty"));
    }
    Ok(Document::of_parts(id, parts))
}

fn part_of(part: &Bound<'_, PyAny>, place: &str) -> PyResult<(String, String)> {
    let (name, text) = if let Ok(tuple) = part.cast::<PyTuple>()
        && tuple.len() == 2
    {
        (tuple.get_item(0)?, tuple.get_item(1)?)
    } else if let Ok(mapping) = part.cast::<PyMapping>() {
        let get = |name: &str| match mapping.contains(name)? {
            true => mapping.get_item(name),
            false => Err(refuse(place, format!("a part of it has no `{name}`"))),
        };
        (get("name")?, get("text")?)
    } else {
        let what = format!(
            "a part of it is a {}, not a tuple (name, text) or a mapping with `name` and `text`",
            type_of(part)
        );
        return Err(refuse(place, what));
    };
    let name = text_of(&name, place, "name of a part")?.to_owned();
    let text = text_of(&text, place, "text of a part")?.to_owned();
    Ok((name, text))
}

/// Reads a value as a meta object; `None` is an empty one.
pub fn meta_of(value: &Bound<'_, PyAny>, place: &str) -> PyResult<Map<String, Value>> {
    if value.is_none() {
        return Ok(Map::new());
    }
    match json_of(value, place, 0)? {
        Value::Object(map) => Ok(map),
        _ => Err(refuse(place, format!("the meta object is a {}, not a dict", type_of(value)))),
    }
}

/// Converts a value to JSON.
fn json_of(value: &Bound<'_, PyAny>, place: &str, depth: usize) -> PyResult<Value> {
    if depth > META_DEPTH_MAX {
        let what = format!("the meta object is nested more than {META_DEPTH_MAX} levels deep");
        return Err(refuse(place, what));
    }
    let json = if value.is_none() {
        Value::Null
    } else if let Ok(is_set) = value.cast::<PyBool>() {
        Value::Bool(is_set.is_true())
    } else if value.is_instance_of::<PyString>() {
        text_of(value, place, "meta object")?.into()
    } else if let Ok(float) = value.cast::<PyFloat>() {
        let float: f64 = float.extract()?;
        let number = Number::from_f64(float);
        number
            .ok_or_else(|| {
                refuse(place, format!("{float} in the meta object is no number of JSON"))
            })?
            .into()
    } else if let Ok(dict) = value.cast::<PyDict>() {
        let mut map = Map::new();
        for (key, value) in dict {
            let key = text_of(&key, place, "key of the meta object")?.to_owned();
            map.insert(key, json_of(&value, place, depth + 1)?);
        }
        map.into()
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let values = value.try_iter()?.map(|value| json_of(&value?, place, depth + 1));
        values.collect::<PyResult<Vec<_>>>()?.into()
    } else if let Ok(number) = value.extract::<i64>() {
        number.into()
    } else if let Ok(number) = value.extract::<u64>() {
        number.into()
    } else if value.hasattr("isoformat")? {
        // A date or a time. The missing one of pandas is not equal to itself.
        match value.eq(value)? {
            true => text_of(&value.call_method0("isoformat")?, place, "meta object")?.into(),
            false => Value::Null,
        }
    } else {
        let what = format!(
            "the meta object has a {}; it may have dict, list, str, int of 64 bits, float, bool, \
             dates, times and None",
            type_of(value)
        );
        return Err(refuse(place, what));
    };
    Ok(json)
}

/// Converts a meta object to a `dict`.
pub fn dict_of<'py>(py: Python<'py>, meta: &Map<String, Value>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in meta {
        dict.set_item(name, value_of(py, value)?)?;
    }
    Ok(dict)
}

/// Converts a value as `json.loads` does, down to the maximum depth of a meta object.
fn value_of<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(is_set) => PyBool::new(py, *is_set).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (None, Some(number)) => number.into_pyobject(py)?.into_any(),
            (None, None) => number.as_f64().into_pyobject(py)?,
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(values) => {
            let values = values.iter().map(|value| value_of(py, value));
            PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Value::Object(map) => dict_of(py, map)?.into_any(),
    })
}

/// The documents that get an id made of the number of the item.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    /// All documents without an id: the id is the number. A text alone is a document.
    All,
    /// Documents whose id is `None`, or NaN as in data frames: the id is `item/` and the number.
    Nulls,
}

/// The text of an item, or its parts.
enum ItemContent<'py> {
    Text(Bound<'py, PyAny>),
    Parts(Bound<'py, PyAny>),
}

/// Returns the text of a mapping, or its parts if the text is missing or `None`.
fn content_of<'py>(
    text: Option<Bound<'py, PyAny>>,
    parts: impl FnOnce() -> PyResult<Option<Bound<'py, PyAny>>>,
) -> PyResult<Option<ItemContent<'py>>> {
    Ok(match text {
        Some(text) if !text.is_none() => Some(ItemContent::Text(text)),
        none => match parts()?.filter(|parts| !parts.is_none()) {
            Some(parts) => Some(ItemContent::Parts(parts)),
            None => none.map(ItemContent::Text),
        },
    })
}

/// Converts an exception to a refusal, if it is about the item alone.
pub fn refusal_of(py: Python<'_>, number: u64, error: &PyErr) -> PyResult<Option<Refusal>> {
    let class = py.import("cento._errors")?.getattr("InputError")?;
    if !error.matches(py, class)? {
        return Ok(None);
    }
    let what = error.value(py).str()?.to_string();
    let reason = what.strip_prefix(&format!("item {number}: ")).unwrap_or(&what).to_owned();
    Ok(Some(Refusal { number, reason }))
}

/// Reads an item of an iterable as a document: `(id, text)`, `(id, text, meta)` or a mapping, which
/// may have parts in the place of a text, and, if an id is given to all documents without one, a
/// text alone.
pub fn document_of(
    item: &Bound<'_, PyAny>,
    fields: &Fields,
    number: u64,
    numbering: Numbering,
) -> PyResult<Entry> {
    let numbers_all = numbering == Numbering::All;
    let place = format!("item {number}");
    let missing = |name: &str| refuse(&place, format!("there is no `{name}`"));
    let (id, content, meta) = if let Ok(tuple) = item.cast::<PyTuple>() {
        match tuple.len() {
            2 => (Some(tuple.get_item(0)?), ItemContent::Text(tuple.get_item(1)?), None),
            3 => {
                let meta = Some(tuple.get_item(2)?);
                (Some(tuple.get_item(0)?), ItemContent::Text(tuple.get_item(1)?), meta)
            }
            len => {
                let what = format!("it is a tuple of {len}, not (id, text) or (id, text, meta)");
                return Err(refuse(&place, what));
            }
        }
    } else if numbers_all && item.is_instance_of::<PyString>() {
        (None, ItemContent::Text(item.clone()), None)
    } else if let Ok(dict) = item.cast::<PyDict>() {
        return document_of_mapping(dict.as_mapping(), fields, number, numbering);
    } else if let Ok(mapping) = item.cast::<PyMapping>() {
        return document_of_mapping(mapping, fields, number, numbering);
    } else if let Some(document) = stored_document(item)? {
        document
    } else {
        let what = format!("it is a {}, not a tuple (id, text) or a dict", type_of(item));
        return Err(refuse(&place, what));
    };
    let meta = meta.map_or(Ok(Map::new()), |meta| meta_of(&meta, &place))?;
    let id = id.or_else(|| numbers_all.then(|| item.py().None().into_bound(item.py())));
    let id = id.ok_or_else(|| missing("id"))?;
    made(number, (id, content, meta), numbering)
}

/// Makes a document from id, content and meta object.
fn made(
    number: u64,
    (id, content, meta): (Bound<'_, PyAny>, ItemContent<'_>, Map<String, Value>),
    numbering: Numbering,
) -> PyResult<Entry> {
    let place = format!("item {number}");
    let is_null = id.is_none() || is_nan(&id);
    let (id, is_numbered) = match numbering {
        _ if !is_null => (id_of(&id, &place)?, false),
        Numbering::All => (number.to_string(), true),
        Numbering::Nulls => (format!("item/{number}"), true),
    };
    let mut document = match content {
        ItemContent::Text(text) => Document::new(id, text_of(&text, &place, "text")?),
        ItemContent::Parts(parts) => document_of_parts(id, &parts, &place)?,
    };
    document.meta = meta;
    Ok(Entry { number, document: Ok(checked(document, &place)?), is_numbered })
}

/// Returns whether a value is the float that data frames use for missing values.
fn is_nan(value: &Bound<'_, PyAny>) -> bool {
    value.cast::<PyFloat>().is_ok_and(|float| float.value().is_nan())
}

/// Makes a document of a mapping.
fn document_of_mapping(
    mapping: &Bound<'_, PyMapping>,
    fields: &Fields,
    number: u64,
    numbering: Numbering,
) -> PyResult<Entry> {
    let place = format!("item {number}");
    let missing = |name: &str| refuse(&place, format!("there is no `{name}`"));
    let get = |name: &str| match mapping.contains(name)? {
        true => mapping.get_item(name).map(Some),
        false => Ok(None),
    };
    let content = content_of(get(&fields.text)?, || get(PARTS))?;
    let Some(content) = content else {
        let meta = match &fields.meta {
            MetaFields::All => "meta",
            MetaFields::Object(name) => name.as_str(),
            MetaFields::Named(_) => "",
        };
        let advice = match mapping.len()? == 2 && mapping.contains(meta)? {
            true => "; `patch_meta` changes the meta object of a stored document",
            false => "",
        };
        return Err(refuse(&place, format!("there is no `{}`{advice}", fields.text)));
    };
    let has_parts = matches!(content, ItemContent::Parts(_));
    let id = match &fields.id {
        Some(name) => match get(name)? {
            None if numbering == Numbering::Nulls => return Err(missing(name)),
            id => id,
        },
        None => None,
    };
    let meta = match &fields.meta {
        MetaFields::Object(name) => {
            get(name)?.map_or(Ok(Map::new()), |meta| meta_of(&meta, &place))?
        }
        MetaFields::Named(names) => {
            let mut meta = Map::new();
            for name in names {
                let Some(value) = get(name)? else { continue };
                fields.field_use.meet(name);
                if !is_nan(&value)
                    && let json = json_of(&value, &place, 1)?
                    && !json.is_null()
                {
                    meta.insert(name.clone(), json);
                }
            }
            meta
        }
        MetaFields::All => other_fields(mapping, fields, (number, has_parts))?,
    };
    let id = id.unwrap_or_else(|| mapping.py().None().into_bound(mapping.py()));
    made(number, (id, content, meta), numbering)
}

/// Makes a meta object of all fields of a mapping that have no other purpose.
fn other_fields(
    mapping: &Bound<'_, PyMapping>,
    fields: &Fields,
    (number, has_parts): (u64, bool),
) -> PyResult<Map<String, Value>> {
    let place = format!("item {number}");
    let py = mapping.py();
    let mut builder = MetaBuilder::default();
    for pair in mapping.items()? {
        let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        let Some(name) = key.cast::<PyString>().ok().and_then(|name| name.to_str().ok()) else {
            fields.field_use.leave_out(&key.str()?.to_string_lossy());
            continue;
        };
        let is_used = fields.id.as_deref() == Some(name)
            || fields.text == name
            || (name == PARTS && has_parts);
        if is_used || is_nan(&value) {
            continue;
        }
        // A wrong member of `meta` is the fault of the caller, who put it there.
        match json_of(&value, &place, usize::from(name != META)) {
            Ok(json) => builder.add(name, json, &fields.field_use),
            Err(error) if name != META && refusal_of(py, number, &error)?.is_some() => {
                fields.field_use.leave_out(name);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(builder.build(&fields.field_use))
}

/// The id, the content and the meta object of a `Document`, if `item` is one.
#[expect(clippy::type_complexity, reason = "the values of an item")]
fn stored_document<'py>(
    item: &Bound<'py, PyAny>,
) -> PyResult<Option<(Option<Bound<'py, PyAny>>, ItemContent<'py>, Option<Bound<'py, PyAny>>)>> {
    let class = item.py().import("cento._types")?.getattr("Document")?;
    if !item.is_instance(&class)? {
        return Ok(None);
    }
    let parts = item.getattr("parts")?;
    let content = match parts.is_truthy()? {
        true => ItemContent::Parts(parts),
        false => ItemContent::Text(item.getattr("text")?),
    };
    Ok(Some((Some(item.getattr("id")?), content, Some(item.getattr("meta")?))))
}

/// Gives a document back if an index can hold it.
pub fn checked(document: Document, place: &str) -> PyResult<Document> {
    match document.problem() {
        Some(what) => Err(refuse(place, what)),
        None => Ok(document),
    }
}

/// Writes a result of the library as JSON; the Python half makes its classes of it.
pub fn to_json(value: &impl Serialize) -> PyResult<String> {
    let json = serde_json::to_string(value);
    Ok(json.map_err(|e| Failure(Error::internal("a result", e.to_string())))?)
}
