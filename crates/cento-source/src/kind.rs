//! Distinguishes text from binary files by their bytes.

use cento::text::kind::{SAMPLE_BYTES, by_beginning, has_controls, has_nuls};

use crate::charset::{is_utf16, looks_binary};

/// Returns a clause with the reason why these bytes are not text, or `None` for text. A declared
/// encoding permits NULs, which may be halves of characters.
pub fn no_text(bytes: &[u8], is_declared: bool) -> Option<&'static str> {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    if let Some(why) = by_beginning(sample) {
        return Some(why);
    }
    if is_declared {
        return None;
    }
    // A text with a few NULs is still a text.
    if looks_binary(sample) && (has_nuls(sample) || !is_utf8(sample)) {
        return Some("it is binary data (NUL bytes)");
    }
    // In UTF-16 any byte may be half of a letter.
    let is_binary = has_controls(sample) && !is_utf16(sample);
    is_binary.then_some("it is binary data (control characters)")
}

/// Returns whether the beginning of a text is UTF-8. The sample may end within a character.
pub fn is_utf8(sample: &[u8]) -> bool {
    std::str::from_utf8(sample).map_or_else(|error| error.error_len().is_none(), |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], what: &str) {
        let found = no_text(bytes, false).expect("it is no text");
        assert!(found.contains(what), "{found}");
        assert_eq!(no_text(bytes, true), by_beginning(bytes));
    }

    #[test]
    fn documents_in_other_forms_are_known_by_their_beginnings() {
        let zip = |name: &str| [b"PK\x03\x04\x14\0\0\0", name.as_bytes(), b" \0\x01\x02"].concat();
        check(&zip("[Content_Types].xml word/document.xml"), "Word document");
        check(&zip("mimetypeapplication/vnd.oasis.opendocument.text"), "OpenDocument");
        check(&zip("mimetypeapplication/epub+zip"), "e-book");
        check(&zip("x"), "zip archive");
        check(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "PDF");
        check(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "old Office");
        check(b"{\\rtf1\\ansi Text}", "RTF");
        check(b"\xffWPC\x10\0\0\0\x01\x0a", "WordPerfect");
        check(b"\xdb\xa5\x2d\0\0\0\x09\x04", "Word before version 6");
        check(b"\xfe\x37\0\x23\0\0", "Word before version 6");
        check(b"\x31\xbe\0\0\0\xab", "Word before version 6");
        check(b"\x01\xfe\x03\0", "Works");
        check(b"\x89PNG\r\n\x1a\n\0", "image");
        check(&b"a\0\0\0b".repeat(3), "NUL");
        check(b"\xffa\0b", "NUL");
        check(&b"ab\x01\x02\x03".repeat(10), "control characters");
    }

    #[test]
    fn texts_that_begin_like_files_are_texts() {
        for text in [
            &b"BMW and MZ are makers of motorcycles."[..],
            b"PKs and PDFs; %PDF is how one begins",
            b"ID3 tags are about music",
            b"RIFF raff, WEBP",
            b"GIF is a format, BZh another",
            b"\x1b[31mred\x1b[0m and \x1b[32mgreen\x1b[0m",
            b"\xef\xbb\xbfwith a mark",
            b"caf\xe9",
            b"<html><p>text</p>",
            b"a\x0cb\x08c\x7f",
            b"a text of some words that has one \0 between them, for reasons that are not known",
            b"",
        ] {
            assert_eq!(no_text(text, false), None, "{text:?}");
        }
    }

    #[test]
    fn letters_of_two_bytes_are_no_control_characters() {
        let russian = "\u{412}\u{441}\u{435} \u{441}\u{447}\u{430}\u{441}\u{442}. ".repeat(20);
        // Many Chinese characters have a byte that is an ASCII control character.
        let chinese = "\u{4e01}\u{4e02}\u{5403}\u{6211}\u{4f1a}".repeat(20);
        for text in [russian.clone(), format!("\u{feff}{russian}"), format!("\u{feff}{chinese}")] {
            let pairs = || text.encode_utf16().map(|unit| [(unit >> 8) as u8, unit as u8]);
            let big: Vec<u8> = pairs().flatten().collect();
            let little: Vec<u8> = pairs().flat_map(|[high, low]| [low, high]).collect();
            assert!(has_controls(&big), "{text}");
            assert_eq!((no_text(&big, false), no_text(&little, false)), (None, None), "{text}");
        }
    }
}
