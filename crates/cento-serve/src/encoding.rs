//! Decompresses bodies within the limits of plain bodies.
//!
//! Bodies are gzip or Zstandard, with any number of members or frames. Arriving bytes are unpacked
//! in small steps, so that other requests do not wait, and a body beyond the limit is refused at
//! once.

use std::io::{self, Write};

use axum::http::{HeaderMap, header};
use flate2::write::MultiGzDecoder;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::failure::Failure;

/// The largest Zstandard window. Decoders for HTTP must support this size, and encoders must not
/// exceed it (RFC 9659).
const WINDOW_LOG_MAX: u32 = 23;

/// The number of packed bytes to read at a time. gzip unpacks them to at most 264 kB.
const PACKED_BYTES: usize = 256;

/// The maximum size of a Zstandard block.
const BLOCK_BYTES: usize = 128 << 10;

/// The memory of a gzip decoder: its window, tables and latest output.
const GZIP_BYTES: usize = 320 << 10;

/// The memory of a Zstandard decoder without its window: tables and two blocks.
const ZSTD_BYTES: usize = 512 << 10;

/// The maximum memory of a decoder without its window.
pub const DECODER_BYTES: usize = ZSTD_BYTES;

/// How a body is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// The gzip format of RFC 1952, with any number of members.
    Gzip,
    /// The Zstandard format of RFC 8878, with any number of frames.
    Zstd,
}

impl Encoding {
    /// Returns the encoding in the header `Content-Encoding`, or `None` for a plain body.
    ///
    /// # Errors
    /// When the encoding is unknown, or there are several.
    pub fn of(headers: &HeaderMap) -> Result<Option<Encoding>, Failure> {
        let Some(encoding) = headers.get(header::CONTENT_ENCODING) else { return Ok(None) };
        let name = encoding.to_str().unwrap_or_default().trim().to_ascii_lowercase();
        match name.as_str() {
            "" | "identity" => Ok(None),
            "gzip" | "x-gzip" => Ok(Some(Encoding::Gzip)),
            "zstd" => Ok(Some(Encoding::Zstd)),
            _ => Err(Failure::unsupported(
                "this Content-Encoding is not supported; send the body as gzip, as zstd, or \
                 uncompressed",
            )),
        }
    }

    /// Returns the name for messages.
    fn name(self) -> &'static str {
        match self {
            Encoding::Gzip => "gzip",
            Encoding::Zstd => "zstd",
        }
    }
}

/// Unpacks a body step by step.
pub struct Unpacker {
    encoding: Encoding,
    kind: ContentCoding,
}

enum ContentCoding {
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Zstd { decoder: Decoder<'static>, block: Vec<u8>, is_complete: bool },
}

impl Unpacker {
    /// Starts to unpack a body of this encoding.
    ///
    /// # Errors
    /// When there is no memory for a decoder.
    pub fn new(encoding: Encoding) -> Result<Unpacker, Failure> {
        let kind = match encoding {
            Encoding::Gzip => ContentCoding::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            Encoding::Zstd => {
                let started = Decoder::new().and_then(|mut decoder| {
                    decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))?;
                    Ok(decoder)
                });
                let decoder = started.map_err(|error| {
                    tracing::error!(%error, "cannot start a decoder");
                    Failure::internal()
                })?;
                ContentCoding::Zstd { decoder, block: vec![0; BLOCK_BYTES], is_complete: false }
            }
        };
        Ok(Unpacker { encoding, kind })
    }

    /// Returns the memory of a new decoder, in bytes.
    pub fn bytes(&self) -> usize {
        match self.kind {
            ContentCoding::Gzip(_) => GZIP_BYTES,
            ContentCoding::Zstd { .. } => ZSTD_BYTES,
        }
    }

    /// Returns the additional memory for unpacking `more` bytes after `before` bytes, because the
    /// pages of a window are allocated when they are written.
    pub fn window_bytes(&self, before: usize, more: usize) -> usize {
        let window = |unpacked: usize| unpacked.min(1 << WINDOW_LOG_MAX);
        match self.kind {
            ContentCoding::Gzip(_) => 0,
            ContentCoding::Zstd { .. } => window(before.saturating_add(more)) - window(before),
        }
    }

    /// Unpacks some of `packed`, advances it past the bytes read, and appends the output to
    /// `unpacked`. The output is complete once `packed` is empty and a call has appended nothing.
    ///
    /// # Errors
    /// When the body is damaged.
    pub fn step(&mut self, packed: &mut &[u8], unpacked: &mut Vec<u8>) -> Result<(), Failure> {
        let encoding = self.encoding;
        match &mut self.kind {
            ContentCoding::Gzip(decoder) => {
                let (now, later) = packed.split_at((*packed).len().min(PACKED_BYTES));
                decoder.write_all(now).map_err(|error| damaged(encoding, &error))?;
                *packed = later;
                unpacked.append(decoder.get_mut());
            }
            ContentCoding::Zstd { decoder, block, is_complete } => {
                let mut input = InBuffer::around(packed);
                let mut output = OutBuffer::around(block.as_mut_slice());
                let hint = decoder.run(&mut input, &mut output);
                let hint = hint.map_err(|error| damaged(encoding, &error))?;
                let (read, written) = (input.pos(), output.pos());
                // If nothing is read or written, the hint is about the next frame.
                if read > 0 || written > 0 {
                    *is_complete = hint == 0;
                }
                *packed = &packed[read..];
                unpacked.extend_from_slice(&block[..written]);
            }
        }
        Ok(())
    }

    /// Ends the decoding, and appends the remaining output.
    ///
    /// # Errors
    /// When the body ends before its compressed data is complete.
    pub fn finish(&mut self, unpacked: &mut Vec<u8>) -> Result<(), Failure> {
        let encoding = self.encoding;
        match &mut self.kind {
            ContentCoding::Gzip(decoder) => {
                decoder.try_finish().map_err(|error| damaged(encoding, &error))?;
                unpacked.append(decoder.get_mut());
                Ok(())
            }
            ContentCoding::Zstd { is_complete: true, .. } => Ok(()),
            ContentCoding::Zstd { .. } => {
                Err(damaged(encoding, &io::Error::other("it ends before its last frame")))
            }
        }
    }
}

fn damaged(encoding: Encoding, error: &io::Error) -> Failure {
    Failure::bad_request(format!("the body is no valid {}: {error}", encoding.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        zstd::encode_all(text, 3).unwrap()
    }

    /// Unpacks a body in parts of `part_bytes` bytes.
    fn unpack(encoding: Encoding, packed: &[u8], part_bytes: usize) -> Result<Vec<u8>, Failure> {
        let mut unpacker = Unpacker::new(encoding)?;
        let mut all = Vec::new();
        for mut part in packed.chunks(part_bytes) {
            loop {
                let before = all.len();
                unpacker.step(&mut part, &mut all)?;
                assert!(all.len() - before <= PACKED_BYTES * 1032 + BLOCK_BYTES, "{encoding:?}");
                if part.is_empty() && all.len() == before {
                    break;
                }
            }
        }
        unpacker.finish(&mut all)?;
        Ok(all)
    }

    #[test]
    fn a_packed_body_is_unpacked_however_it_arrives() {
        let text: Vec<u8> =
            (0..300_000_u32).flat_map(|i| (i % 977).to_string().into_bytes()).collect();
        for text in [&b""[..], b"a", &text, &vec![b' '; 2 << 20]] {
            for (encoding, packed) in [(Encoding::Gzip, gzip(text)), (Encoding::Zstd, zstd(text))] {
                for part_bytes in [1, 7, 1000, usize::MAX] {
                    if packed.len() / part_bytes.min(packed.len()) > 100_000 {
                        continue;
                    }
                    let unpacked = unpack(encoding, &packed, part_bytes).unwrap();
                    assert!(unpacked == text, "{encoding:?}, {part_bytes}");
                    // Several members form one body.
                    let twice = [packed.as_slice(), &packed].concat();
                    let unpacked = unpack(encoding, &twice, part_bytes.max(7)).unwrap();
                    assert!(unpacked == [text, text].concat(), "{encoding:?}, {part_bytes}");
                }
            }
        }
    }

    #[test]
    fn a_damaged_or_cut_body_is_refused() {
        let text = b"one two three four five six seven ".repeat(100);
        for (encoding, packed) in [(Encoding::Gzip, gzip(&text)), (Encoding::Zstd, zstd(&text))] {
            for length in 0..packed.len() {
                let refused = unpack(encoding, &packed[..length], 1000).unwrap_err();
                assert_eq!(refused.status, 400, "{encoding:?}, {length}");
            }
            let more = [&packed[..], b"more"].concat();
            assert!(unpack(encoding, &more, 1000).is_err(), "{encoding:?}");
            assert!(unpack(encoding, b"{\"text\": \"plain\"}", 1000).is_err(), "{encoding:?}");
        }
    }

    #[test]
    fn a_window_that_takes_too_much_memory_is_refused() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.window_log(WINDOW_LOG_MAX + 1).unwrap();
        encoder.write_all(&[b' '; 1000]).unwrap();
        let refused = unpack(Encoding::Zstd, &encoder.finish().unwrap(), 1000).unwrap_err();
        assert!(refused.message.contains("memory"), "{}", refused.message);
    }

    #[test]
    fn encodings_are_known_by_their_names() {
        let of = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_ENCODING, value.parse().unwrap());
            Encoding::of(&headers).map_err(|failure| failure.status.as_u16())
        };
        assert_eq!(of("GZIP"), Ok(Some(Encoding::Gzip)));
        assert_eq!(of("x-gzip"), Ok(Some(Encoding::Gzip)));
        assert_eq!(of("zstd"), Ok(Some(Encoding::Zstd)));
        assert_eq!(of("identity"), Ok(None));
        for other in ["br", "deflate", "gzip, zstd", "gzip,gzip"] {
            assert_eq!(of(other), Err(415), "{other}");
        }
    }
}
