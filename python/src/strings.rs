//! Texts and ids in Arrow columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType};
use cento::index::id_of_json;
use cento::{Error, Result};
use serde_json::value::RawValue;

/// A column of strings, or of bytes that are strings.
pub struct StringColumn {
    values: ArrayRef,
    /// The rows whose bytes are not a string.
    not_utf8: Vec<bool>,
}

impl StringColumn {
    /// Reads a column, whose name is `place`.
    pub fn new(array: &ArrayRef, place: &str) -> Result<StringColumn> {
        let plain = match array.data_type() {
            DataType::Dictionary(_, values) => cast(array, values)
                .map_err(|e| Error::input(format!("the column `{place}`"), e.to_string()))?,
            _ => array.clone(),
        };
        match plain.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Ok(StringColumn { values: plain, not_utf8: Vec::new() })
            }
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => {
                // A row that is not a string is null after it.
                let values = cast(&plain, &DataType::LargeBinary)
                    .and_then(|bytes| cast(&bytes, &DataType::LargeUtf8))
                    .map_err(|e| Error::input(format!("the column `{place}`"), e.to_string()))?;
                let is_bad = |row| plain.is_valid(row) && values.is_null(row);
                let not_utf8 = (0..plain.len()).map(is_bad).collect();
                Ok(StringColumn { values, not_utf8 })
            }
            other => {
                let what = format!("it is of {other}, not of strings");
                Err(Error::input(format!("the column `{place}`"), what))
            }
        }
    }

    /// Returns the string of a row, if there is one.
    pub fn at(&self, row: usize) -> Option<&str> {
        (!self.values.is_null(row)).then(|| match self.values.data_type() {
            DataType::LargeUtf8 => self.values.as_string::<i64>().value(row),
            DataType::Utf8View => self.values.as_string_view().value(row),
            _ => self.values.as_string::<i32>().value(row),
        })
    }

    /// Returns whether a row has bytes that are not a string.
    pub fn is_not_utf8(&self, row: usize) -> bool {
        self.not_utf8.get(row).is_some_and(|is_bad| *is_bad)
    }
}

/// Reads a column of ids as strings, as the command line reads them from a file. Whole numbers are
/// their digits, also those with a fraction of 0; bytes of one length, and those that are not text,
/// are hexadecimal.
pub fn ids_of(ids: &ArrayRef, are_uuids: bool) -> std::result::Result<ArrayRef, ArrowError> {
    let ids = match ids.data_type() {
        DataType::Dictionary(_, values) => &cast(ids, values)?,
        _ => ids,
    };
    let shown: Box<dyn Fn(usize) -> std::result::Result<String, ArrowError>> = match ids.data_type()
    {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => return Ok(ids.clone()),
        found if found.is_integer() => return cast(ids, &DataType::Utf8),
        found if found.is_nested() => {
            let what = "it is nested, and only single values can be ids; name another column with \
                        `id`, or number the rows with `id_prefix`";
            return Err(ArrowError::SchemaError(what.into()));
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            let bytes = cast(ids, &DataType::LargeBinary)?;
            Box::new(move |row| {
                let bytes = bytes.as_binary::<i64>().value(row);
                let text = std::str::from_utf8(bytes).ok();
                let text = text.filter(|text| !text.chars().any(char::is_control));
                Ok(text.map_or_else(|| hex(bytes), str::to_owned))
            })
        }
        DataType::FixedSizeBinary(size) => {
            let is_uuid = are_uuids && *size == 16;
            Box::new(move |row| {
                let digits = hex(ids.as_fixed_size_binary().value(row));
                Ok(if is_uuid { uuid(&digits) } else { digits })
            })
        }
        _ => {
            let options = FormatOptions::default();
            Box::new(move |row| {
                let shown = ArrayFormatter::try_new(ids, &options)?.value(row).try_to_string()?;
                // A float far from 1, which has all of its digits in this form.
                if ids.data_type().is_floating()
                    && shown.contains('e')
                    && let Ok(raw) = RawValue::from_string(shown.clone())
                    && let Ok(Some(id)) = id_of_json(&raw)
                {
                    return Ok(id);
                }
                Ok(match shown.split_once('.') {
                    Some((whole, rest)) if rest.bytes().all(|byte| byte == b'0') => whole.into(),
                    _ => shown,
                })
            })
        }
    };
    let nulls = ids.logical_nulls();
    let is_null = |row| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
    let values = (0..ids.len()).map(|row| match is_null(row) {
        true => Ok(None),
        // Data frames use NaN for missing values.
        false => shown(row).map(|id| Some(id).filter(|id| id != "NaN")),
    });
    let values = values.collect::<std::result::Result<Vec<_>, _>>()?;
    Ok(Arc::new(StringArray::from(values)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Formats 32 digits in the groups of a UUID.
fn uuid(digits: &str) -> String {
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// Returns the column of this name.
///
/// # Errors
/// When it is missing, with the names of all columns, or there are two.
pub fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    let fields = batch.schema_ref().fields();
    let mut found = fields.iter().zip(batch.columns()).filter(|(field, _)| field.name() == name);
    let what = match (found.next(), found.next()) {
        (Some((_, column)), None) => return Ok(column),
        (Some(_), Some(_)) => {
            format!("two columns are called `{name}`; which one counts is not known")
        }
        (None, _) => {
            let names = fields.iter().map(|field| format!("`{}`", field.name()));
            let names = names.collect::<Vec<_>>().join(", ");
            format!("there is no column `{name}`; it has {names}")
        }
    };
    Err(Error::input("the table", what))
}
