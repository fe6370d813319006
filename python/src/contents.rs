//! The contents of the rows of a table: a text or parts for each row.

use arrow_array::RecordBatch;
use cento::{Document, Result};

use crate::convert::PARTS;
use crate::parts::PartColumn;
use crate::strings::{StringColumn, column};

/// The columns of texts and of parts. Parts count in rows without a text.
pub struct Contents<'a> {
    text: &'a str,
    texts: Option<StringColumn>,
    parts: Option<PartColumn>,
}

impl Contents<'_> {
    /// Reads the column `text`, which tables of parts may lack.
    ///
    /// When neither column exists, or a column has the wrong type.
    pub fn of<'a>(batch: &RecordBatch, text: &'a str) -> Result<Contents<'a>> {
        let parts = batch.column_by_name(PARTS).map(|_| PartColumn::new(column(batch, PARTS)?));
        let parts = parts.transpose()?.flatten();
        let texts = match batch.column_by_name(text) {
            None if parts.is_some() => None,
            _ => Some(StringColumn::new(column(batch, text)?, text)?),
        };
        Ok(Contents { text, texts, parts })
    }

    /// Returns whether a column has parts of documents.
    pub fn has_parts(&self) -> bool {
        self.parts.is_some()
    }

    /// Returns the bytes of the text of a row.
    pub fn bytes(&self, row: usize) -> usize {
        let text = self.texts.as_ref().and_then(|texts| texts.at(row)).map(str::len);
        text.unwrap_or_else(|| self.parts.as_ref().map_or(0, |parts| parts.bytes(row)))
    }

    /// Makes the document of a row, or says in a clause which part is missing.
    pub fn document(&self, row: usize, id: String) -> std::result::Result<Document, String> {
        let text = self.text;
        match &self.texts {
            Some(texts) if texts.is_not_utf8(row) => {
                return Err(format!("the bytes of `{text}` are not UTF-8"));
            }
            Some(texts) => {
                if let Some(text) = texts.at(row) {
                    return Ok(Document::new(id, text));
                }
            }
            None => {}
        }
        let of_parts = self.parts.as_ref().and_then(|parts| parts.document(row, &id));
        of_parts.unwrap_or_else(|| Err(format!("there is no `{text}`")))
    }
}
