//! UTF-32, which the WHATWG Encoding Standard lacks.

use super::SAMPLE_BYTES;

/// The order of the four bytes of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// UTF-32LE: the lowest byte comes first.
    Little,
    /// UTF-32BE: the highest byte comes first.
    Big,
}

/// Byte order marks. The mark of UTF-16LE is a prefix of the little-endian mark.
const MARKS: [([u8; 4], Width); 2] =
    [([0xff, 0xfe, 0, 0], Width::Little), ([0, 0, 0xfe, 0xff], Width::Big)];

/// Returns the byte order of a byte order mark, and the length of the mark. The mark cannot be a
/// UTF-16 mark before a NUL, because a text has no NUL.
pub fn marked(bytes: &[u8]) -> Option<(Width, usize)> {
    let found = MARKS.iter().find(|(mark, _)| bytes.starts_with(mark));
    found.map(|(mark, width)| (*width, mark.len()))
}

/// Returns the byte order of UTF-32 without a mark. All characters of the sample must be valid and
/// printable, which needs a zero in every four bytes.
pub fn detect(bytes: &[u8]) -> Option<Width> {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    if sample.len() < 8 || !bytes.len().is_multiple_of(4) {
        return None;
    }
    let is_text = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\u{c}' | '\r');
    [Width::Little, Width::Big].into_iter().find(|width| {
        let mut characters = sample.chunks_exact(4).map(|four| width.character(four));
        characters.all(|c| c.is_some_and(is_text))
    })
}

impl Width {
    /// Returns the width of this name.
    pub fn named(label: &str) -> Option<Width> {
        match label.trim().to_ascii_lowercase().as_str() {
            "utf-32" | "utf32" | "utf-32le" | "utf32le" | "ucs-4" | "ucs-4le" => {
                Some(Width::Little)
            }
            "utf-32be" | "utf32be" | "ucs-4be" => Some(Width::Big),
            _ => None,
        }
    }

    /// Returns the name of the encoding.
    pub fn name(self) -> &'static str {
        match self {
            Width::Little => "UTF-32LE",
            Width::Big => "UTF-32BE",
        }
    }

    fn character(self, four: &[u8]) -> Option<char> {
        let four: [u8; 4] = four.try_into().ok()?;
        char::from_u32(match self {
            Width::Little => u32::from_le_bytes(four),
            Width::Big => u32::from_be_bytes(four),
        })
    }

    /// Decodes bytes. Returns whether invalid bytes were replaced.
    pub fn decode(self, bytes: &[u8]) -> (String, bool) {
        let mut lossy = !bytes.len().is_multiple_of(4);
        let mut text: String = bytes
            .chunks_exact(4)
            .map(|four| {
                let found = self.character(four);
                lossy |= found.is_none();
                found.unwrap_or(char::REPLACEMENT_CHARACTER)
            })
            .collect();
        if !bytes.len().is_multiple_of(4) {
            text.push(char::REPLACEMENT_CHARACTER);
        }
        (text, lossy)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DecodingReader, decode, is_known, is_utf16, looks_binary};
    use super::*;
    use std::io::Read as _;

    #[test]
    fn utf32_is_known_by_its_mark_and_by_its_zeros() {
        for text in ["Call me Ishmael.\n", "\u{412}\u{441}\u{435}", "\u{9053}\u{53ef}\u{1f44d}"] {
            for mark in ["", "\u{feff}"] {
                let all = || mark.chars().chain(text.chars()).map(|c| c as u32);
                let little: Vec<u8> = all().flat_map(u32::to_le_bytes).collect();
                let big: Vec<u8> = all().flat_map(u32::to_be_bytes).collect();
                for (bytes, charset) in [(little, "UTF-32LE"), (big, "UTF-32BE")] {
                    let decoded = decode(&bytes, None);
                    assert_eq!(decoded.text.trim_start_matches('\u{feff}'), text);
                    assert_eq!((decoded.charset, decoded.lossy), (charset, false));
                    assert!(is_known(charset) && is_utf16(&bytes) && !looks_binary(&bytes));
                    let mut read = String::new();
                    let width = Width::named(charset).unwrap();
                    let decode = |bytes: &[u8]| width.decode(bytes).0;
                    let mut reader = DecodingReader::new(&bytes[..], 4, decode);
                    reader.read_to_string(&mut read).unwrap();
                    assert_eq!(read.trim_start_matches('\u{feff}'), text);
                }
            }
        }
        assert_eq!(detect(b"words in ASCII, in fours"), None);
        assert_eq!(detect(&[0; 64]), None);
        assert!(decode(&[0xff, 0xfe, 0, 0, b'a', 0, 0, 0, 1], None).lossy);
    }
}
