//! Reads meta objects without decompressing a block per document.
//!
//! tantivy stores the distinct strings of a column in a compressed dictionary. Reading a string
//! takes some microseconds, ten times as long as the rest of a short query. Consecutive strings are
//! therefore read together, and recently used groups are cached.

use std::io;
use std::sync::Arc;

use tantivy::columnar::BytesColumn;

use super::byte_lru::{ByteLru, InMemory, LruShare};

/// The number of strings read together. A decompressed block of the dictionary has ten times as
/// many short strings, but reading more of them costs time for nothing where few are requested
/// again.
const GROUP_STRINGS: u64 = 32;

/// A column with at most one string per document.
pub struct StringColumn {
    column: BytesColumn,
    kept: LruShare<Group>,
}

/// Consecutive strings of a dictionary.
pub struct Group {
    bytes: Box<[u8]>,
    /// The end offset of each string.
    ends: Box<[usize]>,
}

impl StringColumn {
    /// Creates a reader of `column`, with a cache.
    pub fn new(column: BytesColumn, kept: &Arc<ByteLru<Group>>) -> StringColumn {
        StringColumn { column, kept: kept.share() }
    }

    /// Returns the string of document `doc`, if it has a string.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub fn get(&self, doc: u32) -> io::Result<Option<Vec<u8>>> {
        let Some(ord) = self.column.ords().first(doc) else { return Ok(None) };
        let no_string = || io::Error::other(format!("no string {ord}"));
        let number = u32::try_from(ord / GROUP_STRINGS).map_err(|_| no_string())?;
        let group = self.kept.get(number, || Group::read(&self.column, number))?;
        let string = group.get((ord % GROUP_STRINGS) as usize);
        string.map(|string| Some(string.to_vec())).ok_or_else(no_string)
    }
}

impl Group {
    /// Reads the group with this number.
    fn read(column: &BytesColumn, number: u32) -> io::Result<Group> {
        let start = u64::from(number) * GROUP_STRINGS;
        let end = (column.num_terms() as u64).min(start + GROUP_STRINGS);
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        let ords: Vec<u64> = (start..end).collect();
        column.dictionary().sorted_ords_to_term_cb(&ords, |string| {
            bytes.extend_from_slice(string);
            ends.push(bytes.len());
        })?;
        Ok(Group { bytes: bytes.into(), ends: ends.into() })
    }

    /// Returns the string at this place, or `None` if the dictionary ends before.
    fn get(&self, at: usize) -> Option<&[u8]> {
        let start = if at == 0 { 0 } else { *self.ends.get(at - 1)? };
        Some(&self.bytes[start..*self.ends.get(at)?])
    }
}

impl InMemory for Group {
    fn memory_bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.ends)
    }
}

#[cfg(test)]
mod tests {
    use tantivy::columnar::{ColumnarReader, ColumnarWriter, DynamicColumn};

    use super::*;
    use crate::hash::mix64;

    /// A column of `documents` documents. Every seventh document has no string.
    fn column(documents: u32) -> BytesColumn {
        let mut writer = ColumnarWriter::default();
        for doc in (0..documents).filter(|doc| !doc.is_multiple_of(7)) {
            writer.record_bytes(doc, "strings", string(doc).as_bytes());
        }
        let mut bytes = Vec::new();
        writer.serialize(documents, None, &mut bytes).unwrap();
        let columns = ColumnarReader::open(bytes).unwrap().read_columns("strings").unwrap();
        let DynamicColumn::Bytes(column) = columns[0].open().unwrap() else {
            panic!("a column of bytes");
        };
        column
    }

    /// Strings in a different order than the documents, some of them equal.
    fn string(doc: u32) -> String {
        let number = mix64(u64::from(doc) / 2);
        format!("{number:x}").repeat(1 + doc as usize / 2 % 5)
    }

    #[test]
    fn strings_are_those_of_their_documents_and_no_more_are_kept_than_fit() {
        let documents = 5000;
        for bytes_max in [0, 50_000, 200_000, 1 << 30] {
            let kept = Arc::new(ByteLru::new(bytes_max));
            let columns = [(); 2].map(|()| StringColumn::new(column(documents), &kept));
            for i in 0..4 * documents {
                let doc = mix64(u64::from(i)) as u32 % documents;
                let found = columns[i as usize % 2].get(doc).unwrap();
                let expected = (!doc.is_multiple_of(7)).then(|| string(doc).into_bytes());
                assert_eq!(found, expected, "{doc}");
            }
            let bytes = kept.memory_bytes();
            assert!(bytes <= bytes_max, "{bytes} of {bytes_max}");
            assert!(bytes > 0 || bytes_max < 200_000, "nothing of {bytes_max}");
        }
    }
}
