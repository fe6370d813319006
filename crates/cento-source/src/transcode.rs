//! Converts long files to UTF-8 while they are read.

use std::io;

use encoding_rs::{Encoding, UTF_8};
use encoding_rs_io::DecodeReaderBytesBuilder;

use crate::bytes::Source;
use crate::charset::{DecodingReader, DosPage, Width, decode, doubt};

/// The size of the sample that shows the encoding, in bytes.
const SAMPLE_BYTES: usize = 64 << 10;

/// The minimum number of controls that make the encoding of a list doubtful. Fewer controls may be
/// a damaged record.
const CONTROLS_MIN: usize = 3;

/// Converts a file to UTF-8 from the encoding `declared`, or from the encoding detected at its
/// beginning. UTF-8 stays unchanged, including invalid bytes.
///
/// # Errors
/// When the file cannot be read, or its encoding is in [doubt].
pub fn utf8<'a>(source: Source<'a>, declared: Option<&str>) -> io::Result<Source<'a>> {
    let (sample, source) = source.peek(SAMPLE_BYTES)?;
    let decoded = decode(&sample, declared);
    let charset = decoded.charset;
    if let Some(page) = DosPage::named(charset) {
        let decode = move |bytes: &[u8]| page.decode(bytes);
        return Ok(Source::Stream(Box::new(DecodingReader::new(source, 1, decode))));
    }
    if let Some(width) = Width::named(charset) {
        let decode = move |bytes: &[u8]| width.decode(bytes).0;
        return Ok(Source::Stream(Box::new(DecodingReader::new(source, 4, decode))));
    }
    if declared.is_none()
        && let Some(why) = doubt(&decoded, CONTROLS_MIN)
    {
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let found = Encoding::for_label(charset.as_bytes()).filter(|&found| found != UTF_8);
    let Some(encoding) = found else { return Ok(source) };
    let decoder = DecodeReaderBytesBuilder::new().encoding(Some(encoding)).build(source);
    Ok(Source::Stream(Box::new(decoder)))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], declared: Option<&str>, text: &str) {
        let mut read = String::new();
        let source = Source::Bytes(Cursor::new(bytes.to_vec()));
        utf8(source, declared).unwrap().read_to_string(&mut read).unwrap();
        assert_eq!(read.trim_start_matches('\u{feff}'), text);
    }

    #[test]
    fn a_file_of_any_length_is_read_in_its_encoding() {
        let text = "l'\u{e9}l\u{e8}ve \u{e2}g\u{e9} d\u{e9}j\u{e0} re\u{e7}u\n".repeat(10_000);
        let utf16 = |units: fn(u16) -> [u8; 2], mark: &str| -> Vec<u8> {
            format!("{mark}{text}").encode_utf16().flat_map(units).collect()
        };
        let latin: Vec<u8> = text.chars().map(|c| c as u32 as u8).collect();
        check(text.as_bytes(), None, &text);
        check(&latin, None, &text);
        check(&latin, Some("latin1"), &text);
        let dos = "l'\u{e9}l\u{e8}ve \u{2554}\n".repeat(10_000);
        check(&b"l'\x82l\x8ave \xc9\n".repeat(10_000), Some("cp437"), &dos);
        for mark in ["", "\u{feff}"] {
            check(&utf16(u16::to_le_bytes, mark), None, &text);
            check(&utf16(u16::to_be_bytes, mark), None, &text);
        }
        let wide: Vec<u8> = text.chars().flat_map(|c| (c as u32).to_be_bytes()).collect();
        check(&wide, None, &text);
        check(&utf16(u16::to_be_bytes, ""), Some("utf-16be"), &text);
        check(&utf16(u16::to_le_bytes, "\u{feff}"), Some("utf-16be"), &text);
    }
}
