//! The documents of JSON lines, and the boundaries of lines.

mod repair;

use std::fmt;
use std::io::{self, Read};
use std::mem;
use std::ops::{ControlFlow, Range};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Map;
use serde_json::value::RawValue;

use super::field_use::RecordFields;
use super::fields::twice;
use super::meta_fields::{OtherFields, meta_of};
use super::text_field::{FieldText, no_string};
use super::{Document, SourceOptions, charset, fields};
use cento::index::{IdSource, META_WRITTEN_BYTES_MAX};
use cento::index::{id_of_json, id_problem};
use cento::{Part, PartText, Reason, Refusal};
use cento_api::json;
use cento_api::part::{exchanged_parts, parts_problem};
pub(crate) use repair::repaired;

/// The approximate size of a chunk of lines, in bytes.
pub const CHUNK_BYTES: u64 = 256 << 10;

/// Returns the document in a line, or the defect as a clause. Common kinds of invalid JSON are
/// repaired ([`repaired`]). A generated id is marked as made for a stream. `is_row` says that the
/// values are the cells of a table, which are strings.
pub fn parse(
    line: &[u8],
    is_row: bool,
    options: &SourceOptions,
    place: impl Fn() -> String,
) -> Result<Document, Refusal> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let reading = RecordReading { options, is_row, is_repaired: false };
    let parsed = strictly_parsed(line, reading, &place);
    let document = parsed.or_else(|LineFault { what, is_json }| {
        // Valid JSON stays refused without a repair, which would copy a possibly large line.
        let repaired = if is_json { None } else { repaired(line) };
        let reading = RecordReading { is_repaired: true, ..reading };
        let again = repaired.map(|line| strictly_parsed(line.as_bytes(), reading, &place));
        match again {
            Some(Err(LineFault { what, is_json: true })) if what.reason == UNUSABLE_IDS => {
                Err(what)
            }
            again => again.and_then(Result::ok).ok_or(what),
        }
    })?;
    // A comma after the record comes from a surrounding JSON array.
    let line = line.trim_ascii();
    let line = line.strip_suffix(b",").unwrap_or(line);
    let record = || charset::record_text(line).into_owned().into();
    let kept = options.keeps_places.then(|| place().into());
    Ok(Document { record: kept.or_else(|| options.keeps_records.then(record)), ..document })
}

/// The reason of a refusal for an id.
const UNUSABLE_IDS: Option<Reason<'static>> = Some(Reason::UnusableIds);

/// The reason why a line is not a document.
struct LineFault {
    what: Refusal,
    /// The line is JSON.
    is_json: bool,
}

impl<R: Into<Refusal>> From<R> for LineFault {
    fn from(what: R) -> LineFault {
        LineFault { what: what.into(), is_json: true }
    }
}

/// How a line is read.
#[derive(Clone, Copy)]
struct RecordReading<'a> {
    options: &'a SourceOptions,
    /// The line is a row of a table.
    is_row: bool,
    /// The line was invalid JSON before a repair.
    is_repaired: bool,
}

fn strictly_parsed(
    line: &[u8],
    reading: RecordReading<'_>,
    place: &impl Fn() -> String,
) -> Result<Document, LineFault> {
    let RecordReading { options, is_row, is_repaired } = reading;
    let mut record = fields_of(line, options)?.once(options)?;
    let field = &options.text_field;
    let meta_fields = &options.meta_fields;
    let is_kept = |name: &str| meta_fields.are_all() || meta_fields.number_of(name).is_some();
    let rest = field.rest_of(&record.within, is_kept);
    for (name, json) in &rest {
        match meta_fields.number_of(name) {
            Some(number) => {
                record.fields.meet(number);
                record.meta.push((number, json));
            }
            None => record.others.push((name.clone(), json)),
        }
    }
    let text = match (record.text, field.plain()) {
        (Some(text), _) => Ok(text),
        (None, Some(name)) => Err(name),
        (None, None) => field.text_in(&record.within),
    };
    // Clients of a service send a single string.
    let fields_met = text.as_ref().map_or(0, |text| text.fields);
    let is_text = |text: &FieldText| text.is_some && !(text.is_list && options.requires_id);
    let Document { text, parts, .. } = match (text, record.parts) {
        (Ok(text), _) if is_text(&text) => Document::new("", text.text),
        (_, Some(parts)) => of_parts(parts)?,
        (Ok(text), None) => return Err(no_string(field, &text, options.requires_id).into()),
        (Err(missing), None) => return Err(without(line, "text", missing).into()),
    };
    if let Some(name) = record.unknown.as_ref().filter(|_| options.requires_id) {
        return Err(fields::unknown(name, [&options.id_field, &field.to_string()]).into());
    }
    if options.requires_id && record.parts.is_some() && parts.is_empty() {
        let what = format!("it has `{field}` and `{PARTS}`, and a document has one of them");
        return Err(what.into());
    }
    let (id, id_source) = id_of(record.id, line, options, place)?;
    let (id, id_source) = match is_repaired && id.contains(char::REPLACEMENT_CHARACTER) {
        true if options.needs_text_only => (place(), IdSource::STREAM),
        true => {
            let what = format!(
                "the id {id:?} has half of a surrogate pair, or bytes that are no text; other ids \
                 would look like it"
            );
            return Err(Refusal::new(Reason::UnusableIds, what).into());
        }
        false => (id, id_source),
    };
    let id_source = record.id_place.map_or(id_source, IdSource::made);
    // A string of either field may hold the invalid JSON.
    let is_long = record.meta.iter().any(|(_, meta)| meta.get().len() > META_WRITTEN_BYTES_MAX);
    let mut fields = record.fields;
    if record.id.is_some() {
        fields.meet_id();
    }
    fields.meet_text(fields_met);
    let others = OtherFields { fields: &record.others, is_row };
    let meta = meta_of(&options.meta_fields, &record.meta, others, |name| {
        options.field_use.iter().for_each(|all| fields.leave_out(all, name));
    });
    let meta = match meta {
        Err(_) if options.needs_text_only => Map::new(),
        Err(what) => {
            let what = Refusal::new(Reason::UnusableMeta, what);
            return Err(LineFault { what, is_json: is_long });
        }
        Ok(meta) => meta,
    };
    if let Some(all) = &options.field_use {
        if record.parts.is_some() && parts.is_empty() {
            fields.leave_out(all, PARTS);
        }
        fields.see_others(all, options, record.others.iter().map(|(name, _)| name.as_str()));
        all.add(fields);
    }
    Ok(Document { id, text, parts, meta, record: None, id_source })
}

/// Reads the fields of a line.
fn fields_of<'a>(line: &'a [u8], options: &SourceOptions) -> Result<LineRecord<'a>, LineFault> {
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    let no_json = |e: serde_json::Error| {
        let what = json::problem(&e);
        let what = match e.is_data() {
            true => what,
            false => format!("it is not JSON: {what}, at column {}", e.column()),
        };
        LineFault { what: what.into(), is_json: false }
    };
    let record = FieldReader(options).deserialize(&mut deserializer).map_err(no_json)?;
    deserializer.end().map_err(no_json)?;
    Ok(record)
}

/// Returns the id and the meta object of a line without further fields, as a document without a
/// text. A line with any other field does not count, because its text may be in a field with a
/// different name.
pub fn meta_change(line: &[u8], options: &SourceOptions) -> Option<Document> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    let record = FieldReader(options).deserialize(&mut deserializer).ok()?;
    let has_others = record.unknown.is_some()
        || record.parts.is_some()
        || record.id_place.is_some()
        || !record.within.is_empty()
        || !record.others.is_empty()
        || !record.twice.is_empty();
    if has_others || record.meta.is_empty() {
        return None;
    }
    let (id, id_source) = id_of(record.id, line, options, &String::new).ok()?;
    let others = OtherFields::default();
    let meta = meta_of(&options.meta_fields, &record.meta, others, |_| {}).ok()?;
    if let Some(all) = &options.field_use {
        all.add_change(record.fields);
    }
    (id_source == IdSource::GIVEN).then(|| Document::new(id, "").with_meta(meta))
}

/// Returns a document of the parts in this field, which has no text.
fn of_parts(json: &RawValue) -> Result<Document, Refusal> {
    let parts: Vec<PartText> = serde_json::from_str(json.get()).map_err(|e| {
        let what = json::problem(&e);
        format!("`{PARTS}` is not a list of parts, each with `name` and `text`: {what}")
    })?;
    let document = Document::of_parts("", parts.into_iter().map(|part| (part.name, part.text)));
    let problem = if document.parts.is_empty() {
        Some(format!("`{PARTS}` is empty"))
    } else {
        parts_problem(&document.parts, &document.text)
    };
    problem.map_or(Ok(document), |what| Err(what.into()))
}

/// Refuses a record without the field `name`, and lists the fields found.
fn without(line: &[u8], field: &'static str, name: &str) -> Refusal {
    fields::missing("", field, name, fields::names_of(line).iter().map(String::as_str))
}

/// Returns the id of a record, with its source. An invalid id is refused, never changed, because
/// two changed ids could become equal, and a document would replace an unrelated document.
fn id_of(
    json: Option<&RawValue>,
    line: &[u8],
    options: &SourceOptions,
    place: &impl Fn() -> String,
) -> Result<(String, IdSource), LineFault> {
    let field = &options.id_field;
    let made = || (place(), IdSource::STREAM);
    let id = match json.map(id_of_json).transpose() {
        Err(_) if options.needs_text_only => return Ok(made()),
        Err(what) => {
            let members = json.map(|json| fields::names_of(json.get().as_bytes()));
            let inner = match members.as_deref() {
                Some([member, ..]) => format!(" (its member is `{field}.{member}`)"),
                _ => String::new(),
            };
            let what = format!("`{field}` is {what}{inner}");
            let what = Refusal::new(Reason::UnusableIds, what);
            let is_string = json.is_some_and(|json| json.get().starts_with('"'));
            return Err(LineFault { what, is_json: !is_string });
        }
        Ok(id) => id.flatten(),
    };
    match (id, json) {
        (None, None) if options.requires_id => Err(without(line, "id", field).into()),
        (None, Some(json)) if options.requires_id => {
            let what = if json.get() == "null" { "null" } else { "empty" };
            let reason = Reason::MissingField { field: "id" };
            Err(Refusal::new(reason, format!("`{field}` is {what}")).into())
        }
        (None, Some(json)) if json.get() != "null" && !options.needs_text_only => {
            Err(Refusal::new(Reason::UnusableIds, format!("`{field}` is empty")).into())
        }
        (None, _) => Ok(made()),
        (Some(id), _) => match id_problem(&id) {
            Some(_) if options.needs_text_only => Ok(made()),
            Some(what) if !options.takes_any_id => {
                Err(Refusal::new(Reason::UnusableIds, what).into())
            }
            _ if id.contains(char::REPLACEMENT_CHARACTER) => Ok((id, IdSource::STREAM)),
            _ => Ok((id, IdSource::GIVEN)),
        },
    }
}

/// Returns the valid id in this field of a record, as a document would get it.
#[must_use]
pub fn id_in(record: &str, field: &str) -> Option<String> {
    let read = |record: &str| {
        let json: &RawValue = serde_json::from_str(&record[value_place(record, field)?]).ok()?;
        let id = id_of_json(json).ok().flatten()?;
        id_problem(&id).is_none().then_some(id)
    };
    let again = || read(&repaired(record.as_bytes())?);
    let is_told = |id: &String| !id.contains(char::REPLACEMENT_CHARACTER);
    read(record).or_else(|| again().filter(is_told))
}

/// Returns the record with a new value for `field`, or for its parts if there are any. Everything
/// else stays unchanged. Returns `None` if the field is not a string.
///
/// ```
/// use cento_source::with_text;
///
/// // The order and the spaces of the other fields stay.
/// let record = r#"{"id":7,  "text":"long text", "lang":"en"}"#;
/// let cut = with_text(record, "text", "text", &[]);
/// assert_eq!(cut.as_deref(), Some(r#"{"id":7,  "text":"text", "lang":"en"}"#));
/// ```
#[must_use]
pub fn with_text(record: &str, field: &str, text: &str, parts: &[Part]) -> Option<String> {
    let replaced = |record: &str| {
        let (Range { start, end }, json) = match parts.is_empty() {
            true => {
                let place = value_place(record, field)?;
                // A value such as the messages of a chat cannot be replaced by a string.
                record[place.clone()].starts_with('"').then_some(())?;
                (place, serde_json::to_string(text))
            }
            false => {
                let parts = exchanged_parts(parts, text);
                (value_place(record, PARTS)?, serde_json::to_string(&parts))
            }
        };
        let json = json.ok()?;
        Some(format!("{}{json}{}", &record[..start], &record[end..]))
    };
    replaced(record).or_else(|| replaced(&repaired(record.as_bytes())?))
}

/// Tells whether a record has a field of this name.
///
/// ```
/// use cento_source::has_field;
///
/// assert!(has_field(r#"{"id": 1, "body": "text"}"#, "body"));
/// // A name within a text is no field.
/// assert!(!has_field(r#"{"text": "body"}"#, "body"));
/// ```
#[must_use]
pub fn has_field(record: &str, field: &str) -> bool {
    let has = |record: &str| value_place(record, field).is_some();
    // A quick test first, because most records lack the name altogether. Escapes may hide a name.
    (record.contains(field) || record.contains("\\u"))
        && (has(record) || repaired(record.as_bytes()).is_some_and(|record| has(&record)))
}

/// Returns the member of a value at a path of names.
fn member_at<'a>(mut value: &'a RawValue, path: &str) -> Option<&'a RawValue> {
    for step in path.split('.') {
        let place = value_place(value.get(), step)?;
        value = serde_json::from_str(&value.get()[place]).ok()?;
    }
    Some(value)
}

/// Returns the range of a field's value in a record, including quotes. A repeated field has the
/// last value.
fn value_place(record: &str, field: &str) -> Option<Range<usize>> {
    let mut deserializer = serde_json::Deserializer::from_str(record);
    let value = FieldPlace(field).deserialize(&mut deserializer).ok()??;
    // The value is a part of the record, so addresses give its position.
    let start = value.as_ptr().addr().checked_sub(record.as_ptr().addr())?;
    Some(start..start + value.len())
}

/// Finds the last value of a field of this name, unparsed.
struct FieldPlace<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for FieldPlace<'_> {
    type Value = Option<&'de str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FieldPlace<'_> {
    type Value = Option<&'de str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<String>()? {
            if key == self.0 {
                found = Some(map.next_value::<&'de RawValue>()?.get());
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// The values of a line that make a document. Only the text is parsed immediately, because other
/// values may be of any size.
#[derive(Default)]
struct LineRecord<'de> {
    id: Option<&'de RawValue>,
    text: Option<FieldText>,
    /// The top-level members that contain the text, if the text field is nested.
    within: Vec<(String, &'de RawValue)>,
    /// The top-level member that contains the id, if the id field is nested.
    above_id: Option<&'de RawValue>,
    parts: Option<&'de RawValue>,
    /// With the numbers of the fields in the options.
    meta: Vec<(usize, &'de RawValue)>,
    /// Fields that no option names, but that become members of the meta object.
    others: Vec<(String, &'de RawValue)>,
    id_place: Option<u64>,
    /// The first unknown field, if unknown fields matter.
    unknown: Option<String>,
    /// Which fields are dropped and found.
    fields: RecordFields,
    /// The names of repeated fields.
    twice: Vec<String>,
}

impl LineRecord<'_> {
    /// Refuses a line with a repeated field, because either value could be meant. If only the text
    /// must be usable, a repeated id or meta object counts as missing instead.
    fn once(mut self, options: &SourceOptions) -> Result<Self, Refusal> {
        for name in mem::take(&mut self.twice) {
            match () {
                () if !options.needs_text_only
                    || options.text_field.is_in(&name)
                    || name == PARTS =>
                {
                    return Err(twice("fields", &name));
                }
                () if name == options.id_field => self.id = None,
                () if options.meta_fields.number_of(&name).is_some() => self.meta.clear(),
                () => self.id_place = None,
            }
        }
        Ok(self)
    }
}

/// The field with the parts of a text, in the place of the text.
pub const PARTS: &str = "parts";

/// The field with the place behind a generated id. Clients of a service and exports write this
/// field.
const ID_PLACE: &str = "id_place";

/// The field of exports with the time of addition. Ignored, because an added document gets a new
/// time.
pub const ADDED: &str = "added";

/// Reads the fields named by options, and the remaining fields if the options keep everything.
struct FieldReader<'a>(&'a SourceOptions);

impl<'de> DeserializeSeed<'de> for FieldReader<'_> {
    type Value = LineRecord<'de>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<LineRecord<'de>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FieldReader<'_> {
    type Value = LineRecord<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LineRecord<'de>, A::Error> {
        let mut record = LineRecord::default();
        let text_field = self.0.text_field.plain();
        let keeps_all = self.0.meta_fields.are_all();
        let (above_id, below) = self.0.id_field.split_once('.').unwrap_or_default();
        while let Some(key) = map.next_key::<String>()? {
            let is_again = if text_field == Some(key.as_str()) {
                record.text.replace(map.next_value()?).is_some()
            } else if text_field.is_none() && self.0.text_field.is_in(&key) {
                let is_again = record.within.iter().any(|(other, _)| *other == key);
                record.within.push((key.clone(), map.next_value()?));
                is_again
            } else if key == self.0.id_field {
                record.id.replace(map.next_value()?).is_some()
            } else if let Some(number) = self.0.meta_fields.number_of(&key) {
                record.fields.meet(number);
                record.meta.push((number, map.next_value()?));
                record.meta[..record.meta.len() - 1].iter().any(|(other, _)| *other == number)
            } else if key == PARTS {
                record.parts.replace(map.next_value()?).is_some()
            } else if self.0.requires_id && key == ID_PLACE {
                mem::replace(&mut record.id_place, map.next_value()?).is_some()
            } else if key == ID_PLACE {
                // `export` writes a number. Foreign records may have anything here, which is
                // ignored.
                record.id_place = map.next_value::<&RawValue>()?.get().parse().ok();
                false
            } else if keeps_all && key != ADDED {
                let value = map.next_value()?;
                if key == above_id {
                    record.above_id = Some(value);
                }
                record.others.push((key, value));
                continue;
            } else if key == above_id {
                record.above_id.replace(map.next_value()?).is_some()
            } else {
                map.next_value::<IgnoredAny>()?;
                if let Some(all) = &self.0.field_use {
                    record.fields.leave_out(all, &key);
                }
                let is_told = self.0.requires_id || self.0.takes_meta_changes;
                if is_told && key != ADDED && record.unknown.is_none() {
                    record.unknown = Some(key);
                    continue;
                }
                false
            };
            if is_again {
                record.twice.push(key);
            }
        }
        if record.id.is_none() && !above_id.is_empty() {
            let within = record.within.iter().map(|(key, value)| (key.as_str(), *value));
            let meta = &record.meta;
            let meta =
                meta.iter().map(|(number, value)| (self.0.meta_fields.name(*number), *value));
            let mut others = within.chain(meta);
            let other = || others.find(|(key, _)| *key == above_id).map(|(_, value)| value);
            record.id = record.above_id.or_else(other).and_then(|above| member_at(above, below));
        }
        Ok(record)
    }
}

/// A result of reading lines.
#[derive(Debug, PartialEq, Eq)]
pub enum Lines {
    /// Whole lines, the first of this number.
    Whole {
        /// The number of the first line, counted from 1.
        first_line: u64,
        /// The lines with line ends, except perhaps at the end of the stream.
        bytes: Vec<u8>,
    },
    /// The line of this number is longer than allowed, and has been passed over.
    TooLong(u64),
    /// The row of this number is not a record, and why, as a clause.
    Bad(u64, String),
}

/// Cuts a stream into chunks of whole lines, looking at nothing but their ends, until `emit`
/// breaks off. A line much longer than `line_bytes_max` is passed over without being held.
///
/// # Errors
/// When the stream cannot be read further. The complete lines before have been emitted.
pub fn read_lines(
    mut inner: impl Read,
    line_bytes_max: usize,
    mut emit: impl FnMut(Lines) -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    let mut buffer = Vec::new();
    let mut first_line = 1;
    let mut is_skipping = false;
    loop {
        let mut start = buffer.len();
        let outcome = (&mut inner).take(CHUNK_BYTES).read_to_end(&mut buffer);
        let is_at_end = outcome.as_ref().map_or(true, |&len| len == 0);
        if is_skipping {
            let end = memchr::memchr(b'\n', &buffer);
            is_skipping = end.is_none();
            first_line += u64::from(!is_skipping);
            buffer.drain(..end.map_or(buffer.len(), |end| end + 1));
            start = 0;
        }
        if let Some(end) = memchr::memrchr(b'\n', &buffer[start..]) {
            let rest = buffer.split_off(start + end + 1);
            let bytes = mem::replace(&mut buffer, rest);
            let count = memchr::memchr_iter(b'\n', &bytes).count() as u64;
            if emit(Lines::Whole { first_line, bytes }).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            first_line += count;
        } else if buffer.len() > line_bytes_max {
            buffer.clear();
            is_skipping = true;
            if emit(Lines::TooLong(first_line)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        if is_at_end {
            outcome?;
            if buffer.is_empty() {
                return Ok(ControlFlow::Continue(()));
            }
            return Ok(emit(Lines::Whole { first_line, bytes: buffer }));
        }
    }
}

#[cfg(test)]
mod tests;
