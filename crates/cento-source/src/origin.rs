//! Maps places of an extracted text to places in its file.
//!
//! A run maps a range of bytes. The bytes of most runs are equal in text and file, and other runs
//! map a character to its reference. Text outside of runs, such as line ends, was added during
//! extraction.

use std::num::NonZeroU32;

use cento::{Origin, Passage, Unit};

/// The maximum size of a file whose offsets fit into 32 bits, in bytes. Decoding makes at most
/// three bytes of one.
const FILE_BYTES_MAX: usize = u32::MAX as usize / 3;

/// Maps places of an extracted text to places in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origins {
    /// The runs, in the order of the text. In the file, notes may be elsewhere.
    runs: Vec<ByteRun>,
    /// The beginnings of the lines of the file, except the first.
    lines: Vec<u32>,
}

/// A range of contiguous bytes, in the text and in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ByteRun {
    text: u32,
    file: u32,
    /// The number of bytes in the text.
    len: u32,
    /// The number of bytes in the file, if the bytes differ.
    replaced: Option<NonZeroU32>,
}

impl ByteRun {
    fn text_end(&self) -> u32 {
        self.text + self.len
    }

    fn file_end(&self) -> u32 {
        self.file + self.replaced.map_or(self.len, NonZeroU32::get)
    }

    /// Returns the place in the file of a passage that begins at `at` of the text, within or before
    /// the run.
    fn start_of(&self, at: u32) -> u32 {
        self.file + if self.replaced.is_none() { at.saturating_sub(self.text) } else { 0 }
    }

    /// Returns the end in the file of a passage that ends at `at` of the text, within or after the
    /// run.
    fn end_of(&self, at: u32) -> u32 {
        match self.replaced {
            None => self.file + (at - self.text).min(self.len),
            Some(_) => self.file_end(),
        }
    }
}

impl Origins {
    /// Returns an empty map for a text from `file`, or `None` if the file is too large.
    pub(crate) fn of_file(file: &str) -> Option<Origins> {
        if file.len() > FILE_BYTES_MAX {
            return None;
        }
        let ends = memchr::memchr_iter(b'\n', file.as_bytes());
        Some(Origins { runs: Vec::new(), lines: ends.map(|end| end as u32 + 1).collect() })
    }

    /// Records `len` equal bytes of text and file at these places.
    pub(crate) fn push_same(&mut self, text: usize, file: usize, len: usize) {
        let (text, file, len) = (text as u32, file as u32, len as u32);
        match self.runs.last_mut() {
            Some(last)
                if last.replaced.is_none()
                    && (last.text_end(), last.file_end()) == (text, file) =>
            {
                last.len += len;
            }
            _ => self.runs.push(ByteRun { text, file, len, replaced: None }),
        }
    }

    /// Records that the bytes at `text` replace the bytes at `file`.
    pub(crate) fn push_replaced(
        &mut self,
        text: std::ops::Range<usize>,
        file: std::ops::Range<usize>,
    ) {
        let run = ByteRun {
            text: text.start as u32,
            file: file.start as u32,
            len: text.len() as u32,
            replaced: NonZeroU32::new(file.len() as u32),
        };
        self.runs.push(run);
    }

    /// Returns the place in the file for a range of the text, or `None` if the range was added
    /// during extraction.
    #[must_use]
    pub fn of(&self, (start, end): (u32, u32)) -> Option<Origin> {
        let first = self.runs.partition_point(|run| run.text_end() <= start);
        let last = self.runs.partition_point(|run| run.text < end);
        let runs = self.runs.get(first..last)?;
        let (first, last) = (runs.first()?, runs.last()?);
        // Between them may be a note, from elsewhere in the file.
        let start = runs[1..].iter().map(|run| run.file).fold(first.start_of(start), u32::min);
        let others = &runs[..runs.len() - 1];
        let end = others.iter().map(ByteRun::file_end).fold(last.end_of(end), u32::max);
        let line = 1 + self.lines.partition_point(|&line| line <= start) as u32;
        Some(Origin { start, end, line })
    }

    /// Adds their places in the file of the first text, or the query, to passages of bytes.
    pub fn place_a<'a>(&self, passages: impl IntoIterator<Item = &'a mut Passage>) {
        for passage in passages.into_iter().filter(|passage| passage.unit == Unit::Bytes) {
            passage.a_origin = self.of(passage.a);
        }
    }

    /// Adds their places in the file of the second text to passages of bytes.
    pub fn place_b<'a>(&self, passages: impl IntoIterator<Item = &'a mut Passage>) {
        for passage in passages.into_iter().filter(|passage| passage.unit == Unit::Bytes) {
            passage.b_origin = self.of(passage.b);
        }
    }

    /// Returns the memory of the map, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&self.runs[..]) + size_of_val(&self.lines[..])
    }

    /// Returns the runs: range in the text, range in the file, and whether the bytes are equal.
    #[cfg(test)]
    pub(crate) fn runs(&self) -> Vec<(std::ops::Range<usize>, std::ops::Range<usize>, bool)> {
        let range = |start: u32, end: u32| start as usize..end as usize;
        let run = |run: &ByteRun| {
            let (text, file) = (range(run.text, run.text_end()), range(run.file, run.file_end()));
            (text, file, run.replaced.is_none())
        };
        self.runs.iter().map(run).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_where_its_runs_are() {
        // The text "ab\n<c d" of this file.
        let file = "\n<p>ab<p>\n&lt;c\td";
        let mut origins = Origins::of_file(file).unwrap();
        origins.push_same(0, 4, 1);
        origins.push_same(1, 5, 1);
        origins.push_replaced(3..4, 10..14);
        origins.push_same(4, 14, 1);
        origins.push_same(6, 16, 1);
        assert_eq!(origins.runs().len(), 4);
        let check = |range, expected: Option<(u32, u32, u32)>| {
            let found = origins.of(range).map(|Origin { start, end, line }| (start, end, line));
            assert_eq!(found, expected, "{range:?}");
        };
        check((0, 7), Some((4, 17, 2)));
        check((1, 2), Some((5, 6, 2)));
        check((1, 4), Some((5, 14, 2)));
        check((2, 5), Some((10, 15, 3)));
        check((4, 6), Some((14, 15, 3)));
        check((2, 3), None);
        check((7, 9), None);
        check((3, 3), None);
    }
}
