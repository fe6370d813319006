//! Reads and makes Arrow columns of parts of documents: lists of structs with `name` and `text`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeListArray, LargeStringArray, StructArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, FieldRef};
use cento::{Document, Error, Result};

use crate::convert::PARTS;
use crate::strings::StringColumn;

/// A column of lists of parts.
pub struct PartColumn {
    lists: LargeListArray,
    parts: StructArray,
    names: StringColumn,
    texts: StringColumn,
}

/// Names of the struct fields of a part.
const NAME: &str = "name";
const TEXT: &str = "text";

/// Returns the item of a list type whose items are structs with the strings `name` and `text`.
fn item_of(kind: &DataType) -> Option<&FieldRef> {
    let (DataType::List(item)
    | DataType::LargeList(item)
    | DataType::ListView(item)
    | DataType::LargeListView(item)
    | DataType::FixedSizeList(item, _)) = kind
    else {
        return None;
    };
    let DataType::Struct(members) = item.data_type() else { return None };
    let is_string = |kind: &DataType| match kind {
        DataType::Dictionary(_, values) => values.is_string(),
        kind => kind.is_string(),
    };
    let has = |name| members.find(name).is_some_and(|(_, member)| is_string(member.data_type()));
    (has(NAME) && has(TEXT)).then_some(item)
}

fn lists_of(array: &ArrayRef, item: &FieldRef) -> std::result::Result<LargeListArray, ArrowError> {
    Ok(cast(array, &DataType::LargeList(item.clone()))?.as_list().clone())
}

fn failed(error: ArrowError) -> Error {
    Error::input(format!("the column `{PARTS}`"), error.to_string())
}

impl PartColumn {
    /// Reads a column, or returns `None` if it holds no parts: a foreign table may have a column of
    /// that name beside its texts.
    pub fn new(array: &ArrayRef) -> Result<Option<PartColumn>> {
        let Some(item) = item_of(array.data_type()) else { return Ok(None) };
        let lists = lists_of(array, item).map_err(failed)?;
        let parts = lists.values().as_struct().clone();
        let column = |name| {
            let column = parts.column_by_name(name).expect("the type has it");
            StringColumn::new(column, &format!("{PARTS}.{name}"))
        };
        let (names, texts) = (column(NAME)?, column(TEXT)?);
        Ok(Some(PartColumn { lists, parts, names, texts }))
    }

    fn range(&self, row: usize) -> std::ops::Range<usize> {
        let offsets = self.lists.offsets();
        match self.lists.is_null(row) {
            true => 0..0,
            false => offsets[row] as usize..offsets[row + 1] as usize,
        }
    }

    /// Returns the bytes of the texts of a row.
    pub fn bytes(&self, row: usize) -> usize {
        self.range(row).map(|at| self.texts.at(at).map_or(0, str::len)).sum()
    }

    /// Makes a document of the parts of a row, or `None` if the row has no list. An error is a
    /// clause that says which part is missing.
    pub fn document(&self, row: usize, id: &str) -> Option<std::result::Result<Document, String>> {
        if self.lists.is_null(row) {
            return None;
        }
        let range = self.range(row);
        if range.is_empty() {
            return Some(Err("its list of parts is empty".into()));
        }
        let parts = range.map(|at| {
            // The members of a part that is null may have values.
            let is_there = self.parts.is_valid(at);
            let value = |column: &StringColumn, name| match column.at(at).filter(|_| is_there) {
                Some(value) => Ok(value.to_owned()),
                None => Err(format!("a part of it has no `{name}`")),
            };
            Ok((value(&self.names, NAME)?, value(&self.texts, TEXT)?))
        });
        let parts = parts.collect::<std::result::Result<Vec<(String, String)>, String>>();
        Some(parts.map(|parts| Document::of_parts(id, parts)))
    }
}

/// Makes a column of parts with new texts in the rows where texts are given.
pub fn with_texts(
    array: &ArrayRef,
    texts: &[Option<&[String]>],
) -> std::result::Result<ArrayRef, ArrowError> {
    let missing = || ArrowError::SchemaError(format!("`{PARTS}` is no column of parts"));
    let lists = lists_of(array, item_of(array.data_type()).ok_or_else(missing)?)?;
    let (item, offsets, values, nulls) = lists.into_parts();
    let (members, mut columns, of_parts) = values.as_struct().clone().into_parts();
    let (at, member) = members.find(TEXT).ok_or_else(missing)?;
    let plain = cast(&columns[at], &DataType::LargeUtf8)?;
    let plain = plain.as_string::<i64>();
    let mut changed: Vec<Option<&str>> = plain.iter().collect();
    for (row, texts) in texts.iter().enumerate() {
        let range = offsets[row] as usize..offsets[row + 1] as usize;
        if let Some(texts) = texts {
            changed[range].iter_mut().zip(*texts).for_each(|(old, new)| *old = Some(new));
        }
    }
    columns[at] = cast(&LargeStringArray::from(changed), member.data_type())?;
    let values = Arc::new(StructArray::try_new(members, columns, of_parts)?);
    let lists = LargeListArray::try_new(item, offsets, values, nulls)?;
    cast(&lists, array.data_type())
}
