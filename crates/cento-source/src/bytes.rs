//! The sources of a file's bytes.

use std::fs::File;
use std::io::{self, Read, Seek};

use crate::compressed::peek;

/// The bytes of a file.
pub enum Source<'a> {
    /// A file on disk.
    File(File),
    /// A file in memory, whole.
    Bytes(io::Cursor<Vec<u8>>),
    /// A stream that can be read only once.
    Stream(Box<dyn Read + 'a>),
}

/// A file with random access.
pub enum Seekable {
    /// A file on disk.
    File(File),
    /// A file in memory, whole.
    Bytes(io::Cursor<Vec<u8>>),
}

impl<'a> Source<'a> {
    /// Returns the source for a file whose directory has been read.
    pub fn of(file: Seekable) -> Source<'a> {
        match file {
            Seekable::File(file) => Source::File(file),
            Seekable::Bytes(bytes) => Source::Bytes(bytes),
        }
    }

    /// Returns the length in bytes, if known.
    pub fn len(&self) -> Option<u64> {
        match self {
            Source::File(file) => {
                let found = file.metadata().ok().filter(|found| found.is_file());
                found.map(|found| found.len())
            }
            Source::Bytes(bytes) => Some(bytes.get_ref().len() as u64),
            Source::Stream(_) => None,
        }
    }

    /// Reads the first `bytes_max` bytes ahead. The returned source starts with the same bytes.
    pub fn peek(self, bytes_max: usize) -> io::Result<(Vec<u8>, Source<'a>)> {
        // A pipe cannot be read twice.
        if let Source::File(mut file) = self {
            let is_file = file.metadata().is_ok_and(|found| found.is_file());
            if is_file {
                let mut start = Vec::new();
                (&mut file).take(bytes_max as u64).read_to_end(&mut start)?;
                file.rewind()?;
                return Ok((start, Source::File(file)));
            }
            let (start, stream) = peek(file, bytes_max)?;
            return Ok((start, Source::Stream(stream)));
        }
        let (start, stream) = peek(self, bytes_max)?;
        Ok((start, Source::Stream(stream)))
    }

    /// Returns the source with random access, or `None` if a stream exceeds `bytes_max` bytes,
    /// since a stream has to be held in memory.
    pub fn seekable(self, bytes_max: usize) -> io::Result<Option<Seekable>> {
        match self {
            Source::File(file) => Ok(Some(Seekable::File(file))),
            Source::Bytes(bytes) => Ok(Some(Seekable::Bytes(bytes))),
            Source::Stream(stream) => {
                let mut bytes = Vec::new();
                stream.take((bytes_max as u64).saturating_add(1)).read_to_end(&mut bytes)?;
                Ok((bytes.len() <= bytes_max).then(|| Seekable::Bytes(io::Cursor::new(bytes))))
            }
        }
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::File(file) => file.read(buffer),
            Source::Bytes(bytes) => bytes.read(buffer),
            Source::Stream(stream) => stream.read(buffer),
        }
    }
}

impl Read for Seekable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Seekable::File(file) => file.read(buffer),
            Seekable::Bytes(bytes) => bytes.read(buffer),
        }
    }
}

impl Seek for Seekable {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        match self {
            Seekable::File(file) => file.seek(to),
            Seekable::Bytes(bytes) => bytes.seek(to),
        }
    }
}
