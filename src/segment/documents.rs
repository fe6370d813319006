//! Rows of documents, the places of their forward lists, and look-up by digest.
//!
//! Three bit-packed columns with a value per document, a column that leads to the ids, and a column
//! that leads from digests to documents. Layout: segments-format.md, "Documents".

use std::ops::Range;

use super::bits::{column_bytes, get, put_column, width_of};
use super::file::SigFile;
use super::layout::{ID_GROUP, Section, Widths};
use super::pages::PAGE_BYTES;
use super::radix::sort_from;
use crate::error::Corruption;
use crate::hash::Digest;

/// The row of a document in the documents section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Document {
    /// The number of distinct fingerprints.
    pub distinct: u32,
    /// The number of tokens.
    pub tokens: u32,
    /// The offset of the forward list in its section.
    pub forward_at: u64,
}

/// Collects the digests of a segment in document order: stored bits, packed above the document.
pub struct Digests(Vec<u64>);

impl Digests {
    /// Creates an empty column with room for `documents` digests.
    pub fn with_room(documents: u32) -> Digests {
        Digests(Vec::with_capacity(documents as usize))
    }

    /// Appends the digest of the next document.
    pub fn push(&mut self, digest: Digest) {
        let doc = self.0.len() as u64;
        self.0.push(known_of(digest) << KNOWN_BITS | doc);
    }

    /// Appends the sorted column. A document takes `doc_bits` bits.
    fn put(mut self, bytes: &mut Vec<u8>, doc_bits: u32) {
        sort_from(&mut self.0, KNOWN_BITS);
        let entries = self.0.into_iter().map(|packed| {
            let (known, doc) = (packed >> KNOWN_BITS, packed & u64::from(u32::MAX));
            known << doc_bits | doc
        });
        put_column(bytes, entries, KNOWN_BITS + doc_bits);
    }
}

/// The stored bits of a digest. Among 2^32 documents, a look-up reads one too many on average.
const KNOWN_BITS: u32 = 32;

/// Returns the stored bits of a digest.
pub fn known_of(digest: Digest) -> u64 {
    digest.low & u64::from(u32::MAX)
}

/// Encodes the columns of `documents`, and returns their widths. `ids` are the offsets of the
/// groups of ids. `Widths::ordinal` is left at 0.
pub fn encode(
    documents: &[Document],
    ids: &[u64],
    digests: Digests,
    doc_bits: u32,
) -> (Vec<u8>, Widths) {
    let width =
        |of: fn(&Document) -> u64| documents.iter().map(of).map(width_of).max().unwrap_or(0);
    let columns: [fn(&Document) -> u64; 3] =
        [|d| u64::from(d.distinct), |d| u64::from(d.tokens), |d| d.forward_at];
    let mut bytes = Vec::new();
    for column in columns {
        put_column(&mut bytes, documents.iter().map(column), width(column));
    }
    let [distinct, tokens, forward] = columns.map(|column| width(column) as u8);
    let ids_width = ids.last().map_or(0, |&last| width_of(last));
    put_column(&mut bytes, ids.iter().copied(), ids_width);
    digests.put(&mut bytes, doc_bits);
    (bytes, Widths { ordinal: 0, distinct, tokens, forward, ids: ids_width as u8 })
}

fn widths(file: &SigFile) -> [u32; 3] {
    let Widths { distinct, tokens, forward, .. } = file.footer.widths;
    [distinct, tokens, forward].map(u32::from)
}

/// Returns the length of the section according to its counts.
pub fn section_bytes(file: &SigFile) -> usize {
    let documents = file.header.documents as usize;
    digests_start(file) + column_bytes(documents, KNOWN_BITS + file.header.doc_bits())
}

/// Returns the offset of the column of digests.
fn digests_start(file: &SigFile) -> usize {
    rows_bytes(file) + column_bytes(id_groups(file), u32::from(file.footer.widths.ids))
}

/// Returns the length of the columns with a value per document.
fn rows_bytes(file: &SigFile) -> usize {
    widths(file).iter().map(|&width| column_bytes(file.header.documents as usize, width)).sum()
}

/// Returns the number of groups of ids.
pub fn id_groups(file: &SigFile) -> usize {
    (file.header.documents as usize).div_ceil(ID_GROUP)
}

/// Returns the range of a group of ids in its section.
///
/// # Errors
/// When the bytes with the offsets are damaged.
pub fn ids_of_group(file: &SigFile, group: usize) -> Result<Range<usize>, Corruption> {
    let (start, width) = (rows_bytes(file), u32::from(file.footer.widths.ids));
    let place = |group| cell(file, start, group, width).map(|at| at as usize);
    let end = match group + 1 < id_groups(file) {
        true => place(group + 1)?,
        false => file.len(Section::Ids),
    };
    Ok(place(group)?..end)
}

/// Reads the column of digests at `place`: the stored bits of a digest, and the document.
///
/// # Errors
/// When the bytes are damaged.
pub fn digest_at(file: &SigFile, place: u32) -> Result<(u64, u32), Corruption> {
    let doc_bits = file.header.doc_bits();
    let entry = cell(file, digests_start(file), place as usize, KNOWN_BITS + doc_bits)?;
    Ok((entry >> doc_bits, (entry & ((1 << doc_bits) - 1)) as u32))
}

/// Appends to `docs` the documents whose digests have the same [`known_of`], ascending: the
/// documents with this digest, and rarely another.
///
/// # Errors
/// When the bytes are damaged, or contain a document that the segment does not have.
pub fn with_digest(file: &SigFile, digest: Digest, docs: &mut Vec<u32>) -> Result<(), Corruption> {
    let (known, documents) = (known_of(digest), file.header.documents);
    // Digests are uniformly distributed, so the first digest that is not smaller is near this
    // place. From there, steps double until they enclose the place, and then the enclosing range is
    // halved.
    let guess = (known * u64::from(documents)) >> KNOWN_BITS;
    let (mut low, mut high, mut at, mut step) = (0, documents, guess as u32, 1);
    while low < high {
        let is_less = digest_at(file, at)?.0 < known;
        if is_less {
            low = at + 1
        } else {
            high = at
        }
        at = match (low, high) {
            (1.., _) if high < documents => low + (high - low) / 2,
            _ if is_less => at.saturating_add(step).min(documents - 1),
            _ => at.saturating_sub(step),
        };
        step = step.saturating_mul(2);
    }
    for place in low..documents {
        let (other, doc) = digest_at(file, place)?;
        if other != known {
            break;
        }
        check_exists(file, doc)?;
        docs.push(doc);
    }
    Ok(())
}

/// The most copies of a text among the documents with the smallest digests.
const COPIES_MAX: usize = 16;

/// Returns the documents with the smallest digests among those that `is_wanted` accepts, ordered by
/// [`known_of`], with at most `count` texts. Some of many copies are skipped.
///
/// # Errors
/// When the bytes are damaged, or contain a document that the segment does not have.
pub fn with_least_digests(
    file: &SigFile,
    count: usize,
    is_wanted: impl Fn(u32) -> bool,
) -> Result<Vec<u32>, Corruption> {
    let (mut docs, mut texts, mut last, mut copies) = (Vec::new(), 0, None, 0);
    for place in 0..file.header.documents {
        let (known, doc) = digest_at(file, place)?;
        check_exists(file, doc)?;
        if !is_wanted(doc) {
            continue;
        }
        if last != Some(known) {
            if texts == count {
                break;
            }
            (last, copies, texts) = (Some(known), 0, texts + 1);
        }
        copies += 1;
        if copies <= COPIES_MAX {
            docs.push(doc);
        }
    }
    Ok(docs)
}

/// Refuses a document that the segment does not have.
///
/// # Errors
/// When there is no such document.
pub fn check_exists(file: &SigFile, doc: u32) -> Result<(), Corruption> {
    let documents = file.header.documents;
    if doc < documents {
        return Ok(());
    }
    let what = format!("document {doc} of {documents}");
    Err(file.corruption(Section::Documents, 0, what))
}

/// Reads the row of document `doc`.
///
/// # Errors
/// When the bytes are damaged or there is no such document.
pub fn read(file: &SigFile, doc: u32) -> Result<Document, Corruption> {
    check_exists(file, doc)?;
    let documents = file.header.documents as usize;
    let mut start = 0;
    let mut row = [0; 3];
    for (value, width) in row.iter_mut().zip(widths(file)) {
        *value = cell(file, start, doc as usize, width)?;
        start += column_bytes(documents, width);
    }
    let [distinct, tokens, forward_at] = row;
    Ok(Document { distinct: distinct as u32, tokens: tokens as u32, forward_at })
}

/// Reads a value of the column that begins at byte `start` of the section.
fn cell(file: &SigFile, start: usize, index: usize, width: u32) -> Result<u64, Corruption> {
    let bit = index * width as usize;
    let first = start + bit / 8;
    let len = (bit % 8 + width as usize).div_ceil(8);
    let bytes = file.read(Section::Documents, first, len)?;
    let mut word = [0; 16];
    word[..len].copy_from_slice(bytes);
    let value = (u128::from_le_bytes(word) >> (bit % 8)) as u64;
    Ok(if width == 64 { value } else { value & ((1 << width) - 1) })
}

/// Replaces `sizes` with the number of distinct fingerprints of each of `docs`. Reads a page per
/// document, or the whole column if it has fewer pages.
///
/// # Errors
/// When the bytes are damaged or there is no such document.
pub fn distinct_of(file: &SigFile, docs: &[u32], sizes: &mut Vec<u32>) -> Result<(), Corruption> {
    docs.iter().try_for_each(|&doc| check_exists(file, doc))?;
    sizes.clear();
    let [width, ..] = widths(file);
    if docs.len() * PAGE_BYTES >= column_bytes(file.header.documents as usize, width) {
        let column = distinct_column(file)?;
        sizes.extend(docs.iter().map(|&doc| column.get(doc)));
        return Ok(());
    }
    let byte = |doc: u32| doc as usize * width as usize / 8;
    file.fetch(Section::Documents, docs.iter().map(|&doc| byte(doc)..byte(doc) + 1));
    for &doc in docs {
        sizes.push(cell(file, 0, doc as usize, width)? as u32);
    }
    Ok(())
}

/// Returns the column of distinct fingerprints, for readers that need many documents.
///
/// # Errors
/// When the bytes are damaged.
pub fn distinct_column(file: &SigFile) -> Result<DistinctColumn<'_>, Corruption> {
    let [width, ..] = widths(file);
    let len = column_bytes(file.header.documents as usize, width);
    file.fetch(Section::Documents, std::iter::once(0..len));
    Ok(DistinctColumn { bytes: file.read(Section::Documents, 0, len)?, width })
}

/// The number of distinct fingerprints of each document.
#[derive(Clone, Copy)]
pub struct DistinctColumn<'a> {
    bytes: &'a [u8],
    width: u32,
}

impl std::fmt::Debug for DistinctColumn<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DistinctColumn").finish_non_exhaustive()
    }
}

impl DistinctColumn<'_> {
    /// Returns the number of distinct fingerprints of document `doc`.
    #[inline]
    #[must_use]
    pub fn get(&self, doc: u32) -> u32 {
        get(self.bytes, doc as usize, self.width) as u32
    }
}
