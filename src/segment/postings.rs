//! Posting lists: the documents with a fingerprint.
//!
//! One or two documents are stored in the value of the term. Longer lists are in this section:
//! varint deltas up to [`VARINT_DF_MAX`] documents, and run-optimized roaring bitmaps above. Lists
//! are read in place. They still contain deleted documents, which `index` hides. Layout:
//! segments-format.md, "Postings".

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use roaring::RoaringBitmap;

use super::bits::{VARINT_BYTES_MAX, put_varint, take_array, take_varint, uint_le};
use super::file::SigFile;
use super::layout::{Section, VARINT_DF_MAX};
use crate::error::Corruption;

/// Lists of up to this many documents are stored in the value of the term.
pub const INLINE_DF_MAX: usize = 2;

/// The most bytes of a document in a list, as a varint.
const DOC_BYTES_MAX: usize = 5;

/// The encoding of a list in the postings section, which depends on its number of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PostingEncoding {
    /// The differences of consecutive documents, as varints.
    Varint,
    /// A serialized roaring bitmap.
    Roaring,
}

impl PostingEncoding {
    /// Returns the encoding of a list of `df` documents.
    fn of(df: usize) -> PostingEncoding {
        if df <= VARINT_DF_MAX { PostingEncoding::Varint } else { PostingEncoding::Roaring }
    }
}

/// The postings of a term in the dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Postings {
    /// The single document of the fingerprint.
    One(u32),
    /// The two documents, in order.
    Two(u32, u32),
    /// The offset of a list in the postings section.
    List(u64),
}

/// Collects lists of a segment: in memory while they are small, then in an unnamed file.
///
/// Lists are created together with the terms, but follow after the terms in the file.
pub struct Spool {
    file: tempfile::SpooledTempFile,
    dir: Option<PathBuf>,
    written: u64,
    scratch: Vec<u8>,
}

/// The most bytes that a spool holds in memory.
const SPOOL_BYTES_MAX: usize = 16 << 20;

impl Spool {
    /// Creates an empty spool that grows into a file in `dir`, or in the system's temporary
    /// directory.
    pub fn new(dir: Option<&Path>) -> Spool {
        let file = match dir {
            Some(dir) => tempfile::spooled_tempfile_in(SPOOL_BYTES_MAX, dir),
            None => tempfile::spooled_tempfile(SPOOL_BYTES_MAX),
        };
        Spool { file, dir: dir.map(Path::to_owned), written: 0, scratch: Vec::new() }
    }

    /// Creates an empty spool that grows in the same directory.
    pub fn beside(&self) -> Spool {
        Spool::new(self.dir.as_deref())
    }

    /// Returns the number of bytes in the spool.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Appends bytes that are not a list.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Appends the list of `docs`, which ascend strictly and are more than [`INLINE_DF_MAX`].
    /// Returns its offset.
    pub fn push(&mut self, docs: &[u32]) -> io::Result<u64> {
        assert!(docs.len() > INLINE_DF_MAX, "short lists are held in the term's value");
        let at = self.written;
        self.scratch.clear();
        put_varint(&mut self.scratch, docs.len() as u64);
        match PostingEncoding::of(docs.len()) {
            PostingEncoding::Varint => put_deltas(&mut self.scratch, docs),
            PostingEncoding::Roaring => put_bitmap(&mut self.scratch, docs)?,
        }
        self.file.write_all(&self.scratch)?;
        self.written += self.scratch.len() as u64;
        Ok(at)
    }

    /// Writes the content of the spool to `out`.
    pub fn copy_to(mut self, out: &mut impl Write) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut buffer = vec![0; 64 << 10];
        loop {
            let len = self.file.read(&mut buffer)?;
            if len == 0 {
                return Ok(());
            }
            out.write_all(&buffer[..len])?;
        }
    }
}

fn put_deltas(bytes: &mut Vec<u8>, docs: &[u32]) {
    put_varint(bytes, u64::from(docs[0]));
    for pair in docs.windows(2) {
        put_varint(bytes, u64::from(pair[1] - pair[0] - 1));
    }
}

fn put_bitmap(bytes: &mut Vec<u8>, docs: &[u32]) -> io::Result<()> {
    let mut bitmap = RoaringBitmap::from_sorted_iter(docs.iter().copied())
        .expect("the documents of a list are strictly ascending");
    // Near-duplicates are added together and become runs of ordinals: 2.04 -> 0.44 bytes a posting.
    bitmap.optimize();
    put_varint(bytes, bitmap.serialized_size() as u64);
    bitmap.serialize_into(bytes)
}

/// A set of documents of a segment, for intersection with long lists.
#[derive(Debug, Default)]
pub struct Candidates {
    bitmap: RoaringBitmap,
}

impl Candidates {
    /// Creates the set of these documents, given in any order.
    #[must_use]
    pub fn new(mut docs: Vec<u32>) -> Candidates {
        docs.sort_unstable();
        docs.dedup();
        let bitmap = RoaringBitmap::from_sorted_iter(docs).expect("they were sorted");
        Candidates { bitmap }
    }

    /// Returns whether the set has `doc`.
    #[must_use]
    pub fn contains(&self, doc: u32) -> bool {
        self.bitmap.contains(doc)
    }
}

/// A posting list found in a segment, not decoded yet.
#[derive(Debug, Clone, Copy)]
pub struct List<'a> {
    /// The number of documents.
    pub df: u32,
    encoding: PostingEncoding,
    bytes: &'a [u8],
    at: u64,
}

impl<'a> List<'a> {
    /// Returns the list that begins at byte `at` of the postings section.
    ///
    /// # Errors
    /// When the bytes are damaged or the length is impossible in this segment.
    pub fn open(file: &'a SigFile, at: u64) -> Result<List<'a>, Corruption> {
        let damage = |what| file.corruption(Section::Postings, at as usize, what);
        let start = at as usize;
        let mut head = file.read_up_to(Section::Postings, start, 2 * VARINT_BYTES_MAX)?;
        let before = head.len();
        let df = take_df(file, start, &mut head)? as usize;
        let encoding = PostingEncoding::of(df);
        let bytes = match encoding {
            PostingEncoding::Varint => {
                let start = start + (before - head.len());
                file.read_up_to(Section::Postings, start, df * DOC_BYTES_MAX)?
            }
            PostingEncoding::Roaring => {
                let len = take_varint(&mut head);
                let len = len.ok_or_else(|| damage("a bitmap has no length"))?;
                let start = start + (before - head.len());
                file.read(Section::Postings, start, usize::try_from(len).unwrap_or(usize::MAX))?
            }
        };
        Ok(List { df: df as u32, encoding, bytes, at })
    }

    /// Returns the number of documents of the list at byte `at` of the section, reading no more.
    ///
    /// # Errors
    /// When the bytes are damaged or the length is impossible in this segment.
    pub fn df_at(file: &SigFile, at: usize) -> Result<u32, Corruption> {
        take_df(file, at, &mut file.read_up_to(Section::Postings, at, VARINT_BYTES_MAX)?)
    }

    /// Appends the documents of the list to `docs`, ascending.
    ///
    /// # Errors
    /// When the content of the list contradicts its header. `docs` may have been extended then.
    pub fn decode(&self, file: &SigFile, docs: &mut Vec<u32>) -> Result<(), Corruption> {
        let before = docs.len();
        match self.encoding {
            PostingEncoding::Varint => self.decode_deltas(docs),
            PostingEncoding::Roaring => {
                let bitmap = self.bitmap(file)?;
                docs.resize(before + self.df as usize, 0);
                // Decode many at a time: an iterator has several layers of overhead.
                let len = bitmap.iter().next_many(&mut docs[before..]).len();
                docs.truncate(before + len);
            }
        }
        let decoded = &docs[before..];
        let last_fits = decoded.last().is_some_and(|&doc| doc < file.header.documents);
        if decoded.len() != self.df as usize || !last_fits {
            return Err(self.damage(file, "a list does not contain the documents that it counts"));
        }
        Ok(())
    }

    /// Returns whether intersecting with a set of `candidates` documents is faster than decoding.
    ///
    /// Measured: a probe costs about as much as decoding 400 documents, plus a cost per candidate.
    #[inline]
    pub fn is_probed(&self, candidates: usize) -> bool {
        self.encoding == PostingEncoding::Roaring && self.df as usize > 400 + 4 * candidates
    }

    /// Returns the documents of the list among `candidates`, ascending. A bitmap is intersected in
    /// serialized form, visiting common containers only.
    ///
    /// # Errors
    /// When the content of the list contradicts its header.
    pub fn among(
        &self,
        file: &SigFile,
        candidates: &Candidates,
    ) -> Result<impl Iterator<Item = u32> + use<>, Corruption> {
        let found: Vec<u32> = match self.encoding {
            PostingEncoding::Varint => {
                let mut docs = Vec::with_capacity(self.df as usize);
                self.decode(file, &mut docs)?;
                docs.retain(|&doc| candidates.contains(doc));
                docs
            }
            PostingEncoding::Roaring => Some(self.bytes)
                .filter(|bytes| is_framed(bytes))
                .and_then(|bytes| {
                    let bytes = Cursor::new(bytes);
                    candidates.bitmap.intersection_with_serialized_unchecked(bytes).ok()
                })
                .ok_or_else(|| self.damage(file, "a bitmap cannot be read"))?
                .into_iter()
                .collect(),
        };
        Ok(found.into_iter())
    }

    /// Returns the length of the list in its section, if its documents are `docs`.
    pub fn encoded_bytes(&self, docs: &[u32]) -> usize {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, u64::from(self.df));
        match self.encoding {
            PostingEncoding::Varint => put_deltas(&mut bytes, docs),
            PostingEncoding::Roaring => {
                put_varint(&mut bytes, self.bytes.len() as u64);
                return bytes.len() + self.bytes.len();
            }
        }
        bytes.len()
    }

    /// Stops early at invalid bytes, with fewer documents than `df`.
    fn decode_deltas(&self, docs: &mut Vec<u32>) {
        let mut rest = self.bytes;
        let mut next = 0u64;
        for _ in 0..self.df {
            let Some(delta) = take_varint(&mut rest) else {
                return;
            };
            let Some(doc) = next.checked_add(delta).and_then(|doc| u32::try_from(doc).ok()) else {
                return;
            };
            docs.push(doc);
            next = u64::from(doc) + 1;
        }
    }

    /// Returns the list as a bitmap. Only for [`PostingEncoding::Roaring`].
    fn bitmap(&self, file: &SigFile) -> Result<RoaringBitmap, Corruption> {
        let bitmap = RoaringBitmap::deserialize_from(self.bytes).ok();
        bitmap
            .filter(|bitmap| is_framed(self.bytes) && bitmap.len() == u64::from(self.df))
            .ok_or_else(|| {
                self.damage(file, "a bitmap does not contain the documents that it counts")
            })
    }

    fn damage(&self, file: &SigFile, what: &str) -> Corruption {
        file.corruption(Section::Postings, self.at as usize, what)
    }
}

/// Takes the number of documents off the `head` of the list at byte `at` of the postings section.
fn take_df(file: &SigFile, at: usize, head: &mut &[u8]) -> Result<u32, Corruption> {
    let damage = |what| file.corruption(Section::Postings, at, what);
    let df = take_varint(head).filter(|&df| df <= u64::from(file.header.documents));
    let df = df.ok_or_else(|| damage("a list is longer than the number of documents"))?;
    if df <= INLINE_DF_MAX as u64 {
        return Err(damage("a list is so short that the term itself would have it"));
    }
    Ok(df as u32)
}

/// Returns whether the containers of a serialized bitmap fill the bytes, at the offsets and with
/// the lengths in its header, and whether runs have the stated number of values.
///
/// The crate trusts offsets: it panics when an offset leads out of the bytes, and reads another
/// container when it leads elsewhere.
fn is_framed(bytes: &[u8]) -> bool {
    walk_frame(bytes).is_some_and(|rest| rest.is_empty())
}

/// Returns the bytes after the last container. `None` if a container contradicts the frame.
fn walk_frame(bytes: &[u8]) -> Option<&[u8]> {
    const NO_RUNS_COOKIE: u32 = 12_346;
    const RUNS_COOKIE: u32 = 12_347;
    const ARRAY_VALUES_MAX: usize = 4096;
    const BITS_BYTES: usize = 8192;
    let mut rest = bytes;
    let cookie = u32::from_le_bytes(take_array(&mut rest)?);
    let (count, runs) = match cookie & 0xffff {
        RUNS_COOKIE => {
            let count = (cookie >> 16) as usize + 1;
            let (runs, tail) = rest.split_at_checked(count.div_ceil(8))?;
            rest = tail;
            (count, runs)
        }
        _ if cookie == NO_RUNS_COOKIE => {
            (u32::from_le_bytes(take_array(&mut rest)?) as usize, &[][..])
        }
        _ => return None,
    };
    let (heads, tail) = rest.split_at_checked(count.checked_mul(4)?)?;
    // A bitmap with few containers, some of them runs, has no offsets.
    let has_offsets = runs.is_empty() || count >= 4;
    let (offsets, tail) = tail.split_at_checked(if has_offsets { heads.len() } else { 0 })?;
    rest = tail;
    for (i, head) in heads.chunks_exact(4).enumerate() {
        let place = bytes.len() - rest.len();
        if has_offsets && uint_le(&offsets[4 * i..4 * i + 4]) != place as u64 {
            return None;
        }
        let values = uint_le(&head[2..]) as usize + 1;
        let is_run = runs.get(i / 8).is_some_and(|flags| flags >> (i % 8) & 1 == 1);
        let len = match values {
            _ if is_run => 4 * usize::from(u16::from_le_bytes(take_array(&mut rest)?)),
            0..=ARRAY_VALUES_MAX => 2 * values,
            _ => BITS_BYTES,
        };
        let (container, tail) = rest.split_at_checked(len)?;
        let run_values = |run: &[u8]| uint_le(&run[2..]) as usize + 1;
        if is_run && values != container.chunks_exact(4).map(run_values).sum::<usize>() {
            return None;
        }
        rest = tail;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    fn check_deltas(docs: &[u32]) {
        let mut bytes = Vec::new();
        put_deltas(&mut bytes, docs);
        let list =
            List { df: docs.len() as u32, encoding: PostingEncoding::Varint, bytes: &bytes, at: 0 };
        let mut decoded = Vec::new();
        list.decode_deltas(&mut decoded);
        assert_eq!(decoded, docs);
    }

    proptest! {
        #[test]
        fn deltas_give_back_the_documents(docs in btree_set(any::<u32>(), 3..200)) {
            check_deltas(&docs.into_iter().collect::<Vec<_>>());
        }
    }

    fn serialized(ranges: &[(u32, u32)]) -> Vec<u8> {
        let mut bitmap: RoaringBitmap = ranges.iter().flat_map(|&(a, b)| a..=b).collect();
        bitmap.optimize();
        let mut bytes = Vec::new();
        bitmap.serialize_into(&mut bytes).unwrap();
        bytes
    }

    proptest! {
        #[test]
        fn framed_bytes_are_intersected_without_a_panic(
            runs in proptest::collection::vec((0u32..1 << 19, 0u32..9000), 1..9),
            changes in proptest::collection::vec((any::<u8>(), any::<u8>()), 0..4),
        ) {
            // An offset leading out of the bytes once caused a panic.
            let ranges: Vec<_> = runs.iter().map(|&(first, more)| (first, first + more)).collect();
            let mut bytes = serialized(&ranges);
            prop_assert!(is_framed(&bytes));
            for (at, byte) in changes {
                let at = usize::from(at) % bytes.len();
                bytes[at] = byte;
            }
            if is_framed(&bytes) && RoaringBitmap::deserialize_from(&bytes[..]).is_ok() {
                let all: RoaringBitmap = (0..1 << 20).step_by(7).collect();
                all.intersection_with_serialized_unchecked(Cursor::new(&bytes)).unwrap();
            }
        }
    }

    #[test]
    fn the_largest_ordinals_survive() {
        check_deltas(&[0, 1, u32::MAX - 1, u32::MAX]);
    }

    #[test]
    fn a_spool_gives_back_its_lists_one_after_the_other() {
        let mut spool = Spool::new(None);
        let long: Vec<u32> = (0..1000).map(|i| i * 3).collect();
        assert_eq!(spool.push(&[1, 2, 3]).unwrap(), 0);
        let at = spool.push(&long).unwrap();
        assert_eq!(at, 4);
        let mut bytes = Vec::new();
        spool.copy_to(&mut bytes).unwrap();
        assert_eq!(bytes[..4], [3, 1, 0, 0]);
        let mut rest = &bytes[4..];
        assert_eq!(take_varint(&mut rest), Some(1000));
        assert_eq!(take_varint(&mut rest), Some(rest.len() as u64));
        let bitmap = RoaringBitmap::deserialize_from(rest).unwrap();
        assert!(bitmap.iter().eq(long.iter().copied()));
    }
}
