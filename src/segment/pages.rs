//! Pages of a file and their checksums.
//!
//! A `.sig` file has a CRC-32 for each page of [`PAGE_BYTES`]. A page is verified when it is first
//! read, and never again by the same reader. Opening a large segment therefore costs nothing, and
//! no byte is used unverified. Layout: segments-format.md, "Checksums".

use std::io::{self, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use ownedbytes::OwnedBytes;

use super::read_ahead::ReadAhead;
use crate::error::Corruption;

/// The bytes that a checksum covers.
pub const PAGE_BYTES: usize = 4096;

/// Counts the bytes that are written, and checksums them page by page.
pub struct PageWriter<W: Write> {
    inner: W,
    written: u64,
    page: crc32fast::Hasher,
    page_filled: usize,
    checksums: Vec<u32>,
}

impl<W: Write> PageWriter<W> {
    /// Creates a writer whose first byte is the first byte of the file.
    pub fn new(inner: W) -> PageWriter<W> {
        PageWriter {
            inner,
            written: 0,
            page: crc32fast::Hasher::new(),
            page_filled: 0,
            checksums: Vec::new(),
        }
    }

    /// Returns the number of bytes written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Ends the checksummed part. Returns the checksums of its pages, and the inner writer.
    pub fn finish(mut self) -> (Vec<u32>, W) {
        if self.page_filled > 0 {
            self.end_page();
        }
        (self.checksums, self.inner)
    }

    fn end_page(&mut self) {
        let page = std::mem::take(&mut self.page);
        self.checksums.push(page.finalize());
        self.page_filled = 0;
    }
}

impl<W: Write> Write for PageWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.inner.write_all(bytes)?;
        self.written += bytes.len() as u64;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(rest.len().min(PAGE_BYTES - self.page_filled));
            self.page.update(head);
            self.page_filled += head.len();
            if self.page_filled == PAGE_BYTES {
                self.end_page();
            }
            rest = tail;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Bytes of a file that are returned only after their page has been verified.
pub struct CheckedBytes {
    file: String,
    bytes: OwnedBytes,
    checksums: Vec<u32>,
    /// A bit per page, set once the page has been verified. Two threads may both verify a page,
    /// which is harmless.
    verified: Vec<AtomicU64>,
    read_ahead: ReadAhead,
}

impl CheckedBytes {
    /// Creates a reader of the first pages of `bytes`, one per checksum. The last may be short.
    ///
    /// `covered` is the number of bytes that the checksums cover, at most the length of the file.
    pub fn new(
        file: String,
        bytes: OwnedBytes,
        covered: usize,
        checksums: Vec<u32>,
        read_ahead: ReadAhead,
    ) -> CheckedBytes {
        assert_eq!(covered.div_ceil(PAGE_BYTES), checksums.len(), "one checksum a page");
        let words = checksums.len().div_ceil(64);
        CheckedBytes {
            file,
            bytes: bytes.slice(0..covered),
            checksums,
            verified: (0..words).map(|_| AtomicU64::new(0)).collect(),
            read_ahead,
        }
    }

    /// Requests the unverified pages of these ranges from the system. Ranges should ascend, so that
    /// adjacent pages become a single request.
    pub fn fetch(&self, ranges: impl Iterator<Item = Range<usize>>) {
        let mut wanted = 0..0;
        for range in ranges {
            for page in range.start / PAGE_BYTES..range.end.div_ceil(PAGE_BYTES) {
                if !self.is_verified(page) {
                    self.want(page, &mut wanted);
                }
            }
        }
        self.ask(&wanted);
    }

    /// Returns the `N` bytes at `at`, if they are within a single verified page.
    #[inline]
    pub fn checked<const N: usize>(&self, at: usize) -> Option<&[u8; N]> {
        let is_known = at % PAGE_BYTES + N <= PAGE_BYTES && self.is_verified(at / PAGE_BYTES);
        self.bytes.get(at..)?.first_chunk().filter(|_| is_known)
    }

    /// Adds a page to the `wanted` range, which is requested first if the page does not follow.
    #[cold]
    fn want(&self, page: usize, wanted: &mut Range<usize>) {
        if wanted.contains(&page) {
            return;
        }
        if page != wanted.end {
            self.ask(wanted);
            *wanted = page..page;
        }
        wanted.end = page + 1;
    }

    fn ask(&self, pages: &Range<usize>) {
        if !pages.is_empty() {
            let [start, len] = [pages.start, pages.len()].map(|n| (n * PAGE_BYTES) as u64);
            self.read_ahead.ask(start, len);
        }
    }

    #[inline]
    fn is_verified(&self, page: usize) -> bool {
        let word = self.verified.get(page / 64);
        word.is_none_or(|word| word.load(Ordering::Relaxed) & 1 << (page % 64) != 0)
    }

    /// Loads the byte at `at` into the cache, without verifying or using it. Independent loads
    /// overlap, but the loads of a search within a block do not.
    #[inline]
    pub fn touch(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// Returns the name of the file for messages.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the bytes `start..start + len` of the file, which belong to `section`.
    ///
    /// # Errors
    /// When a touched page is damaged, or the bytes reach past the checksummed part.
    #[inline(always)]
    pub fn read(
        &self,
        section: &'static str,
        start: usize,
        len: usize,
    ) -> Result<&[u8], Corruption> {
        let Some(bytes) = start.checked_add(len).and_then(|end| self.bytes.get(start..end)) else {
            return Err(self.too_short(section, start));
        };
        // Most reads are within a page that has been read before.
        let first = start / PAGE_BYTES;
        let is_new = start % PAGE_BYTES + len > PAGE_BYTES || !self.is_verified(first);
        if is_new && len > 0 {
            self.verify_new(section, first..(start + len).div_ceil(PAGE_BYTES))?;
        }
        Ok(bytes)
    }

    #[cold]
    fn too_short(&self, section: &'static str, start: usize) -> Corruption {
        self.corruption(section, start, "it ends before its content does")
    }

    /// Verifies the pages that have not been verified yet.
    #[inline(never)]
    fn verify_new(&self, section: &'static str, pages: Range<usize>) -> Result<(), Corruption> {
        for page in pages {
            if !self.is_verified(page) {
                self.verify(section, page)?;
                self.verified[page / 64].fetch_or(1 << (page % 64), Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Verifies every page, even if read before. Returns the file offsets of the damaged pages.
    pub fn damaged_pages(&self) -> Vec<usize> {
        (0..self.checksums.len())
            .filter(|&page| self.verify("", page).is_err())
            .map(|page| page * PAGE_BYTES)
            .collect()
    }

    /// Describes damage found at byte `offset` of the file.
    #[cold]
    pub fn corruption(
        &self,
        section: &'static str,
        offset: usize,
        what: impl Into<String>,
    ) -> Corruption {
        Corruption::new(&self.file, section, offset as u64, what)
    }

    #[cold]
    fn verify(&self, section: &'static str, page: usize) -> Result<(), Corruption> {
        let start = page * PAGE_BYTES;
        let end = self.bytes.len().min(start + PAGE_BYTES);
        let found = crc32fast::hash(&self.bytes[start..end]);
        let expected = self.checksums[page];
        if found == expected {
            return Ok(());
        }
        let what = format!("the checksum is {found:08x}, but {expected:08x} was written");
        Err(self.corruption(section, start, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(len: usize) -> (Vec<u8>, Vec<u32>) {
        let bytes: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        let mut writer = PageWriter::new(Vec::new());
        for piece in bytes.chunks(1000) {
            writer.write_all(piece).unwrap();
        }
        let (checksums, inner) = writer.finish();
        assert_eq!(inner, bytes);
        (bytes, checksums)
    }

    fn checked(bytes: Vec<u8>, covered: usize, checksums: Vec<u32>) -> CheckedBytes {
        let bytes = OwnedBytes::new(bytes);
        CheckedBytes::new("f".into(), bytes, covered, checksums, ReadAhead::default())
    }

    #[test]
    fn damage_is_met_in_the_page_that_holds_it_and_nowhere_else() {
        let (mut bytes, checksums) = written(3 * PAGE_BYTES + 10);
        bytes[PAGE_BYTES + 5] ^= 1;
        let len = bytes.len();
        let bytes = checked(bytes, len, checksums);
        assert!(bytes.read("terms", 0, PAGE_BYTES).is_ok());
        assert!(bytes.read("terms", 2 * PAGE_BYTES, PAGE_BYTES + 10).is_ok());
        let damage = bytes.read("terms", PAGE_BYTES - 1, 2).unwrap_err();
        assert_eq!(damage.offset, PAGE_BYTES as u64);
        assert!(bytes.read("terms", PAGE_BYTES + 5, 0).is_ok(), "nothing of the page is read");
        assert_eq!(bytes.damaged_pages(), [PAGE_BYTES]);
    }

    #[test]
    fn a_read_past_the_end_is_an_error() {
        let (bytes, checksums) = written(PAGE_BYTES);
        let bytes = checked(bytes, PAGE_BYTES, checksums);
        assert!(bytes.read("terms", PAGE_BYTES - 1, 1).is_ok());
        assert!(bytes.read("terms", PAGE_BYTES - 1, 2).is_err());
        assert!(bytes.read("terms", usize::MAX, 2).is_err());
    }
}
