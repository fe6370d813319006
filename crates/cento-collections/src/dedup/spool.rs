//! A temporary file for texts that no index stores, and for documents that wait for their turn.
//!
//! A run compares later documents with the texts. The file has no name, so it disappears with the
//! run. The latest entries are still in memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cento_api::error::{Error, Result};

/// How many bytes wait in memory before they are written.
const TAIL_BYTES: usize = 4 << 20;

/// Texts by place. Several threads may read and append.
#[derive(Debug, Default)]
pub struct Spool(Mutex<SpooledTexts>);

#[derive(Debug, Default)]
struct SpooledTexts {
    /// `None` until the first bytes are written.
    file: Option<File>,
    written: u64,
    /// The bytes that follow the file.
    tail: Vec<u8>,
}

impl Spool {
    /// Appends a text and returns its place.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn push(&self, text: &str) -> Result<u64> {
        self.push_bytes(text.as_bytes())
    }

    /// Appends bytes and returns their place.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn push_bytes(&self, bytes: &[u8]) -> Result<u64> {
        let mut texts = self.texts();
        if texts.tail.len() >= TAIL_BYTES {
            texts.write().map_err(|error| failure("write", error))?;
        }
        let place = texts.written + texts.tail.len() as u64;
        texts.tail.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        texts.tail.extend_from_slice(bytes);
        Ok(place)
    }

    /// Reads the text at a place.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn read(&self, place: u64) -> Result<String> {
        String::from_utf8(self.read_bytes(place)?)
            .map_err(|_| failure("read", io::Error::other("another program has changed the file")))
    }

    /// Reads the bytes at a place.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn read_bytes(&self, place: u64) -> Result<Vec<u8>> {
        let mut texts = self.texts();
        let mut read = || {
            let mut len = [0; 8];
            texts.read(place, &mut len)?;
            let mut bytes = vec![0; u64::from_le_bytes(len) as usize];
            texts.read(place + 8, &mut bytes)?;
            Ok(bytes)
        };
        read().map_err(|error| failure("read", error))
    }

    fn texts(&self) -> MutexGuard<'_, SpooledTexts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SpooledTexts {
    fn write(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile()?),
        };
        file.seek(SeekFrom::Start(self.written))?;
        file.write_all(&self.tail)?;
        self.written += self.tail.len() as u64;
        self.tail.clear();
        Ok(())
    }

    /// Fills `bytes` from `place` on. The bytes of an entry are all in the file or all in memory.
    fn read(&mut self, place: u64, bytes: &mut [u8]) -> io::Result<()> {
        if let Some(at) = place.checked_sub(self.written) {
            let at = at as usize;
            bytes.copy_from_slice(&self.tail[at..at + bytes.len()]);
            return Ok(());
        }
        let file = self.file.as_mut().expect("entries that are not in memory have been written");
        file.seek(SeekFrom::Start(place))?;
        file.read_exact(bytes)
    }
}

fn failure(action: &'static str, error: io::Error) -> Error {
    Error::io(action, "the temporary file of texts", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_where_they_were_written_wherever_that_is() {
        let spool = Spool::default();
        let text = |n: usize| format!("{n} ").repeat(n % 7 * 1000);
        let places: Vec<u64> = (0..2000).map(|n| spool.push(&text(n)).unwrap()).collect();
        assert!(spool.texts().written > 0 && spool.texts().tail.len() < 2 * TAIL_BYTES);
        for (n, place) in places.into_iter().enumerate() {
            assert_eq!(spool.read(place).unwrap(), text(n), "{n}");
        }
    }
}
