//! Decodes a stream piece by piece.

use std::io::{self, Read};

/// The number of bytes that are read at a time.
const PIECE_BYTES: usize = 8 << 10;

/// Reads a stream as UTF-8, by an encoding whose characters have a fixed number of bytes.
pub struct DecodingReader<R, D> {
    inner: R,
    decode: D,
    /// The bytes of a character.
    width: usize,
    /// The bytes of an incomplete character.
    rest: Vec<u8>,
    /// Decoded text, which is unread from `at` on.
    text: Vec<u8>,
    at: usize,
}

impl<R: Read, D: FnMut(&[u8]) -> String> DecodingReader<R, D> {
    /// Reads `inner`, whose characters have `width` bytes each. `decode` gets whole characters.
    pub fn new(inner: R, width: usize, decode: D) -> DecodingReader<R, D> {
        DecodingReader { inner, decode, width, rest: Vec::new(), text: Vec::new(), at: 0 }
    }
}

impl<R: Read, D: FnMut(&[u8]) -> String> Read for DecodingReader<R, D> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            let mut bytes = [0; PIECE_BYTES];
            let len = self.inner.read(&mut bytes)?;
            self.rest.extend_from_slice(&bytes[..len]);
            if self.rest.is_empty() {
                return Ok(0);
            }
            // At the end of the stream the last bytes may be part of a character.
            let incomplete = if len == 0 { 0 } else { self.rest.len() % self.width };
            let whole = self.rest.len() - incomplete;
            (self.text, self.at) = ((self.decode)(&self.rest[..whole]).into_bytes(), 0);
            self.rest.drain(..whole);
        }
        let len = out.len().min(self.text.len() - self.at);
        out[..len].copy_from_slice(&self.text[self.at..self.at + len]);
        self.at += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives three bytes at a time, then fails.
    struct Failing<'a>(&'a [u8]);

    impl Read for Failing<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::Error::other("no more"));
            }
            let len = self.0.len().min(3);
            out[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }

    #[test]
    fn what_precedes_a_failure_is_read_whatever_the_pieces() {
        let decode = |bytes: &[u8]| -> String {
            bytes
                .chunks(4)
                .map(|four| if four.len() == 4 { char::from(four[0]) } else { '?' })
                .collect()
        };
        let bytes = b"a...b...c...d";
        let mut reader = DecodingReader::new(Failing(bytes), 4, decode);
        let mut text = Vec::new();
        assert!(reader.read_to_end(&mut text).is_err());
        assert_eq!(text, b"abc");
        let mut text = String::new();
        DecodingReader::new(&bytes[..], 4, decode).read_to_string(&mut text).unwrap();
        assert_eq!(text, "abc?");
    }
}
