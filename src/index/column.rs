//! Which string does a document have, without decompressing anything?
//!
//! tantivy keeps the distinct strings of a column in a compressed dictionary; reading one takes
//! some microseconds, ten times what the rest of a short query does. A column that is asked often
//! reads its dictionary into memory once, if it is not too large; one that is asked twice does
//! not.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use tantivy::columnar::BytesColumn;

/// A column of strings, one a document at most.
pub struct Strings {
    column: BytesColumn,
    asked: AtomicU32,
    /// `None` inside if the strings are too many bytes.
    table: OnceLock<Option<Table>>,
}

/// The number of look-ups after which the dictionary is read into memory. A process that answers a
/// single query needs fewer.
const ASKED_MAX: u32 = 100;

/// Dictionaries of more bytes are not kept in memory.
const TABLE_BYTES_MAX: usize = 64 << 20;

/// All strings of a dictionary, in its order.
struct Table {
    bytes: Vec<u8>,
    /// Where each string ends.
    ends: Vec<u32>,
}

impl Strings {
    /// The strings of `column`.
    pub fn new(column: BytesColumn) -> Strings {
        Strings { column, asked: AtomicU32::new(0), table: OnceLock::new() }
    }

    /// Returns the string of document `doc`, if it has one.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub fn get(&self, doc: u32) -> io::Result<Option<Vec<u8>>> {
        let Some(ord) = self.column.ords().first(doc) else { return Ok(None) };
        if self.asked.load(Ordering::Relaxed) < ASKED_MAX {
            self.asked.fetch_add(1, Ordering::Relaxed);
        } else if let Some(table) = self.table.get_or_init(|| Table::read(&self.column)) {
            return table.get(ord).map(Some).ok_or_else(|| no_string(ord));
        }
        let mut string = Vec::new();
        match self.column.ord_to_bytes(ord, &mut string)? {
            true => Ok(Some(string)),
            false => Err(no_string(ord)),
        }
    }
}

fn no_string(ord: u64) -> io::Error {
    io::Error::other(format!("no string {ord}"))
}

impl Table {
    /// `None` if the dictionary is too large or cannot be read; asking for one string will tell.
    fn read(column: &BytesColumn) -> Option<Table> {
        let mut table = Table { bytes: Vec::new(), ends: Vec::new() };
        let mut stream = column.dictionary().stream().ok()?;
        while stream.advance() {
            table.bytes.extend_from_slice(stream.key());
            if table.bytes.len() > TABLE_BYTES_MAX {
                return None;
            }
            table.ends.push(table.bytes.len() as u32);
        }
        // A stream that meets damage ends early.
        (table.ends.len() == column.num_terms()).then_some(table)
    }

    fn get(&self, ord: u64) -> Option<Vec<u8>> {
        let at = usize::try_from(ord).ok()?;
        let start = if at == 0 { 0 } else { *self.ends.get(at - 1)? };
        let end = *self.ends.get(at)?;
        Some(self.bytes[start as usize..end as usize].to_vec())
    }
}
