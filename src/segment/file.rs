//! The sections of a `.sig` file with a valid frame.
//!
//! The frame is checked when a file is opened. The bytes of a section are returned only after their
//! pages have been verified.

use std::ops::Range;

use ownedbytes::OwnedBytes;

use super::bits::uint_le;
use super::layout::{FOOTER_BYTES, Footer, HEADER_BYTES, Header, Section};
use super::pages::{CheckedBytes, PAGE_BYTES};
use super::read_ahead::ReadAhead;
use crate::error::Corruption;

/// A `.sig` file whose frame is valid: header, footer, section table, checksums.
pub struct SigFile {
    /// The header of the segment.
    pub header: Header,
    /// The places of the sections, and the counts.
    pub footer: Footer,
    bytes: CheckedBytes,
}

impl SigFile {
    /// Opens the `.sig` file in `bytes` and checks its frame. `file` is the name for messages.
    ///
    /// # Errors
    /// When header, footer, section table or checksums are not what a writer leaves.
    pub fn open(
        file: impl Into<String>,
        bytes: OwnedBytes,
        read_ahead: ReadAhead,
    ) -> Result<SigFile, Corruption> {
        let file = file.into();
        let header = Header::decode(&file, &bytes)?;
        let footer_at = bytes.len().saturating_sub(FOOTER_BYTES);
        let footer = Footer::decode(&file, &bytes[footer_at..], footer_at as u64)?;
        let mut end = HEADER_BYTES as u64;
        for (section, (offset, len)) in Section::ALL.iter().zip(footer.sections) {
            // A file shorter than header and footer together has no room for any section.
            if offset != end || len > (footer_at as u64).saturating_sub(end) {
                let what = "it does not follow the previous section";
                return Err(Corruption::new(file, section.name(), offset, what));
            }
            end += len;
        }
        let (covered, checksums_len) = footer.sections[Section::Checksums as usize];
        read_ahead.ask(covered, checksums_len);
        let pages = covered.div_ceil(PAGE_BYTES as u64);
        let checksums = &bytes[covered as usize..(covered + checksums_len) as usize];
        if end != footer_at as u64
            || checksums_len != 4 * pages
            || crc32fast::hash(checksums) != footer.checksums_crc
        {
            let what = "the checksums themselves are damaged";
            return Err(Corruption::new(file, Section::Checksums.name(), covered, what));
        }
        let checksums = checksums.chunks_exact(4).map(|crc| uint_le(crc) as u32).collect();
        let bytes = CheckedBytes::new(file, bytes, covered as usize, checksums, read_ahead);
        bytes.read("header", 0, HEADER_BYTES)?;
        Ok(SigFile { header, footer, bytes })
    }

    /// Returns the offset of a section in the file.
    pub fn start(&self, section: Section) -> u64 {
        self.footer.sections[section as usize].0
    }

    /// Returns the length of a section in bytes.
    pub fn len(&self, section: Section) -> usize {
        self.footer.sections[section as usize].1 as usize
    }

    /// Returns the bytes `start..start + len` of a section.
    ///
    /// # Errors
    /// When the bytes are damaged, or not completely within the section.
    #[inline(always)]
    pub fn read(&self, section: Section, start: usize, len: usize) -> Result<&[u8], Corruption> {
        let (offset, section_len) = self.footer.sections[section as usize];
        let offset = offset as usize;
        if start.checked_add(len).is_none_or(|end| end > section_len as usize) {
            return Err(self.points_beyond(section, start));
        }
        self.bytes.read(section.name(), offset + start, len)
    }

    #[cold]
    fn points_beyond(&self, section: Section, start: usize) -> Corruption {
        let what = "something in it points beyond its end";
        self.corruption(section, start.min(self.len(section)), what)
    }

    /// Returns the bytes from `start` to the end of the section, at most `len_max`.
    ///
    /// # Errors
    /// When the bytes are damaged, or `start` is beyond the section.
    #[inline]
    pub fn read_up_to(
        &self,
        section: Section,
        start: usize,
        len_max: usize,
    ) -> Result<&[u8], Corruption> {
        let len = self.len(section).saturating_sub(start).min(len_max);
        self.read(section, start, len)
    }

    /// Requests these ranges of a section from the system, as far as they have not been read yet.
    pub fn fetch(&self, section: Section, ranges: impl Iterator<Item = Range<usize>>) {
        let (offset, len) = self.footer.sections[section as usize];
        let (offset, len) = (offset as usize, len as usize);
        self.bytes.fetch(ranges.map(|range| Range {
            start: offset + range.start.min(len),
            end: offset + range.end.min(len),
        }));
    }

    /// Returns the `N` bytes at byte `at` of the file, if they are already verified.
    #[inline]
    pub fn checked<const N: usize>(&self, at: usize) -> Option<&[u8; N]> {
        self.bytes.checked(at)
    }

    /// Loads byte `start` of a section into the cache. See [`CheckedBytes::touch`].
    #[inline]
    pub fn touch(&self, section: Section, start: usize) -> u8 {
        self.bytes.touch(self.footer.sections[section as usize].0 as usize + start)
    }

    /// Returns the name of the section with the byte `offset` of the file.
    pub fn section_at(&self, offset: u64) -> &'static str {
        let holds = |(start, len): (u64, u64)| Range { start, end: start + len }.contains(&offset);
        let found = Section::ALL.iter().find(|&&s| holds(self.footer.sections[s as usize]));
        found.map_or("header", |section| section.name())
    }

    /// Returns the file offsets of the pages that do not match their checksum.
    pub fn damaged_pages(&self) -> Vec<usize> {
        self.bytes.damaged_pages()
    }

    /// Returns the name of the file for messages.
    pub fn name(&self) -> &str {
        self.bytes.file()
    }

    /// Describes damage found `start` bytes into a section.
    #[cold]
    pub fn corruption(
        &self,
        section: Section,
        start: usize,
        what: impl Into<String>,
    ) -> Corruption {
        let (offset, _) = self.footer.sections[section as usize];
        self.bytes.corruption(section.name(), offset as usize + start, what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::layout::SECTIONS;
    use crate::segment::layout::{Counts, Widths};

    #[test]
    fn a_footer_that_begins_in_the_header_is_an_error() {
        let header =
            Header { key_bits: 1, documents: 0, config: 40 << 40, signatures: true }.encode();
        for end in [40, 79, u64::MAX] {
            let mut sections = [(end, 0); SECTIONS];
            (sections[0], sections[1]) = ((40, 0), (40, end - 40));
            let footer = Footer {
                sections,
                counts: Counts::default(),
                widths: Widths::default(),
                checksums_crc: 0,
            };
            // The offset of the first section overlaps the last bytes of `config`, the following
            // fields overlap reserved bytes.
            let bytes = [&header[..21], &footer.encode()].concat();
            let opened = SigFile::open("f", OwnedBytes::new(bytes), ReadAhead::default());
            let error = opened.err().expect("the sections exceed the file");
            assert_eq!(error.section, "header", "{error}");
        }
    }
}
