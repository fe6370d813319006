//! The value of a row in a column, as JSON.

use std::io::Write;
use std::str;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_json::writer::{EncoderOptions, NullableEncoder, make_encoder};
use arrow_schema::{ArrowError, DataType, FieldRef};
use cento::index::id_of_json;
use serde_json::Value;
use serde_json::value::RawValue;

use super::TableRequest;
use super::columns::{is_bytes, is_text};

/// A column with a writer of JSON values.
pub struct Column<'a> {
    /// The name, quoted, and the colon.
    name: String,
    values: ColumnValues<'a>,
}

enum ColumnValues<'a> {
    /// Values of any type, unchanged.
    Any(NullableEncoder<'a>),
    /// Ids of any type. Fractional numbers, dates and similar values keep their written form.
    Ids(NullableEncoder<'a>),
    /// Strings or bytes, which become text.
    Bytes(Meaning, ByteValues<'a>),
}

/// The meaning of the bytes of a column.
#[derive(Clone, Copy)]
enum Meaning {
    Text,
    /// A meta object, as JSON.
    Meta,
    Id,
    Uuid,
}

impl<'a> Column<'a> {
    /// Prepares the values of a column. `is_uuid` marks values of 16 bytes as UUIDs.
    ///
    /// # Errors
    /// When they cannot be written as JSON.
    pub fn new(
        field: &'a FieldRef,
        array: &'a dyn Array,
        options: &'a EncoderOptions,
        reading: &TableRequest,
        is_uuid: bool,
    ) -> Result<Column<'a>, ArrowError> {
        let (name, found) = (field.name(), array.data_type());
        let encoder = || make_encoder(field, array, options);
        let values = match (is_text(found), is_bytes(found)) {
            // If a column is text as well as meta object, the bytes are text.
            (false, true) if reading.text.is_in(name) => {
                ColumnValues::Bytes(Meaning::Text, ByteValues::new(array))
            }
            (true, _) | (_, true)
                if reading.meta.number_of(name).is_some() && !reading.text.is_in(name) =>
            {
                ColumnValues::Bytes(Meaning::Meta, ByteValues::new(array))
            }
            (false, true) if *name == reading.id => {
                let meaning = if is_uuid { Meaning::Uuid } else { Meaning::Id };
                ColumnValues::Bytes(meaning, ByteValues::new(array))
            }
            (false, false) if *name == reading.id && !found.is_integer() => {
                ColumnValues::Ids(encoder()?)
            }
            _ => ColumnValues::Any(encoder()?),
        };
        let name = format!("{}:", Value::from(name.as_str()));
        Ok(Column { name, values })
    }

    /// Writes a member of an object that begins at `start`, if the row has a value.
    ///
    /// # Errors
    /// When the row is not a record, as a clause.
    pub fn write(&mut self, row: usize, start: usize, lines: &mut Vec<u8>) -> Result<(), String> {
        let end = lines.len();
        if end > start {
            lines.push(b',');
        }
        lines.extend_from_slice(self.name.as_bytes());
        if !self.write_value(row, lines)? {
            lines.truncate(end);
        }
        Ok(())
    }

    /// Writes a value, or returns `false` if the row has no value.
    fn write_value(&mut self, row: usize, lines: &mut Vec<u8>) -> Result<bool, String> {
        let (meaning, values) = match &mut self.values {
            ColumnValues::Any(values) | ColumnValues::Ids(values) if values.is_null(row) => {
                return Ok(false);
            }
            ColumnValues::Any(values) => {
                values.encode(row, lines);
                return Ok(true);
            }
            ColumnValues::Ids(values) => {
                let mut json = Vec::new();
                values.encode(row, &mut json);
                as_id(&mut json);
                lines.extend_from_slice(&json);
                return Ok(true);
            }
            ColumnValues::Bytes(meaning, values) => (*meaning, &*values),
        };
        let Some(bytes) = values.get(row) else { return Ok(false) };
        let value = match meaning {
            Meaning::Text => {
                let text = str::from_utf8(values.unpadded(bytes)).map_err(|error| {
                    let (name, at) = (self.name.trim_end_matches(':'), error.valid_up_to());
                    format!("the text in {name} is not UTF-8: byte {at} is {:#04x}", bytes[at])
                })?;
                Value::from(text)
            }
            // Invalid JSON becomes a string. The record is then refused with its place, like any
            // value except an object.
            Meaning::Meta => serde_json::from_slice(bytes)
                .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(bytes))),
            Meaning::Uuid => Value::from(uuid(bytes)),
            Meaning::Id => Value::from(values.id(bytes)),
        };
        lines.extend_from_slice(value.to_string().as_bytes());
        Ok(true)
    }
}

/// Turns the JSON of a value into an id. A whole number stays a number, `3.0` and `3.00` become
/// `3`, and anything else becomes a string.
fn as_id(json: &mut Vec<u8>) {
    if json.starts_with(b"\"") || json == b"null" {
        return;
    }
    let text = String::from_utf8_lossy(json);
    let text = match text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|byte| byte == b'0') => whole,
        _ => &text,
    };
    // A float in exponent notation. JSON ids are written with all digits.
    let digits = match text.contains('e') {
        true => RawValue::from_string(text.to_owned()).ok(),
        false => None,
    };
    let digits = digits.and_then(|raw| id_of_json(&raw).ok().flatten());
    let text = digits.as_deref().unwrap_or(text);
    let is_whole = text.parse::<u64>().is_ok() || text.parse::<i64>().is_ok();
    *json = if is_whole { text.into() } else { Value::from(text).to_string().into() };
}

/// Returns 16 bytes in the usual form: `00112233-4455-6677-8899-aabbccddeeff`.
fn uuid(bytes: &[u8]) -> String {
    let digits = hex(bytes);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

fn hex(bytes: &[u8]) -> String {
    let mut digits = Vec::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(digits, "{byte:02x}").expect("memory takes every byte");
    }
    String::from_utf8(digits).expect("digits are ASCII")
}

/// Strings or bytes, in any of Arrow's representations.
struct ByteValues<'a> {
    values: &'a dyn Array,
    /// The rows without a value.
    is_null: Option<Vec<bool>>,
    /// For a dictionary, the index of each row's value.
    keys: Option<Vec<usize>>,
}

impl<'a> ByteValues<'a> {
    fn new(array: &'a dyn Array) -> ByteValues<'a> {
        let is_null = array.logical_nulls().map(|valid| valid.iter().map(|valid| !valid).collect());
        let DataType::Dictionary(..) = array.data_type() else {
            return ByteValues { values: array, is_null, keys: None };
        };
        let dictionary = array.as_any_dictionary();
        let values = dictionary.values().as_ref();
        // If the dictionary is empty, all keys are null.
        let keys = if values.is_empty() { Vec::new() } else { dictionary.normalized_keys() };
        ByteValues { values, is_null, keys: Some(keys) }
    }

    fn get(&self, row: usize) -> Option<&'a [u8]> {
        if self.is_null.as_ref().is_some_and(|is_null| is_null[row]) {
            return None;
        }
        let row = match &self.keys {
            Some(keys) => *keys.get(row)?,
            None => row,
        };
        Some(match self.values.data_type() {
            DataType::Utf8 => self.values.as_string::<i32>().value(row).as_bytes(),
            DataType::LargeUtf8 => self.values.as_string::<i64>().value(row).as_bytes(),
            DataType::Utf8View => self.values.as_string_view().value(row).as_bytes(),
            DataType::Binary => self.values.as_binary::<i32>().value(row),
            DataType::LargeBinary => self.values.as_binary::<i64>().value(row),
            DataType::BinaryView => self.values.as_binary_view().value(row),
            DataType::FixedSizeBinary(_) => self.values.as_fixed_size_binary().value(row),
            other => unreachable!("{other} is neither strings nor bytes"),
        })
    }

    fn has_fixed_size(&self) -> bool {
        matches!(self.values.data_type(), DataType::FixedSizeBinary(_))
    }

    /// Removes the zero bytes that pad a text to the fixed size.
    fn unpadded<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let is_padding = |byte: &&u8| self.has_fixed_size() && **byte == 0;
        let padding = bytes.iter().rev().take_while(is_padding).count();
        &bytes[..bytes.len() - padding]
    }

    /// Returns an id for bytes. Bytes of a fixed size are usually digests, so they become
    /// hexadecimal digits, like bytes that are not text.
    fn id(&self, bytes: &[u8]) -> String {
        match str::from_utf8(bytes) {
            Ok(text) if !self.has_fixed_size() && !text.chars().any(char::is_control) => {
                text.into()
            }
            _ => hex(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_whole_are_ids_of_digits() {
        let id = |json: &str| {
            let mut json = json.as_bytes().to_vec();
            as_id(&mut json);
            String::from_utf8(json).unwrap()
        };
        for (json, expected) in [
            ("3.0", "3"),
            ("3.00", "3"),
            ("-7.0", "-7"),
            ("1.5", r#""1.5""#),
            ("12.50", r#""12.50""#),
            ("1.0e19", "10000000000000000000"),
            ("1.0e20", r#""1.0e20""#),
            ("18446744073709551615", "18446744073709551615"),
            // More digits than a number of JSON keeps.
            ("12345678901234567890123", r#""12345678901234567890123""#),
            ("true", r#""true""#),
            ("null", "null"),
            (r#""2024-01-02""#, r#""2024-01-02""#),
        ] {
            assert_eq!(id(json), expected);
        }
        let bytes: Vec<u8> = (0..16).map(|n| n * 17).collect();
        assert_eq!(uuid(&bytes), "00112233-4455-6677-8899-aabbccddeeff");
    }
}
