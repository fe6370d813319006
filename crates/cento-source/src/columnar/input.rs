//! Random access to a file in a confined process.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// An open file with its length. The Parquet library accepts a plain file, too, but then queries
/// the length with a system call that could query any path, and which workers are therefore
/// forbidden.
pub struct Input {
    file: File,
    len: u64,
}

impl Input {
    /// Wraps a file, with the current length.
    ///
    /// # Errors
    /// When the stream has no length, because it is not a file.
    pub fn new(mut file: File) -> io::Result<Input> {
        let start = file.stream_position()?;
        let len = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(start))?;
        Ok(Input { file, len })
    }

    /// Returns a duplicate of the file handle, which shares the position.
    ///
    /// # Errors
    /// When the system has no handle left.
    pub fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

impl Length for Input {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Input {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<BufReader<File>> {
        let mut file = self.file()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(file))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut bytes = Vec::new();
        // Allocates no more than the file holds, whatever length the file declares.
        self.get_read(start)?.take(length as u64).read_to_end(&mut bytes)?;
        match bytes.len() == length {
            true => Ok(bytes.into()),
            false => Err(ParquetError::EOF(format!(
                "expected {length} bytes at byte {start}, but there are {}",
                bytes.len()
            ))),
        }
    }
}
