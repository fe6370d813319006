//! What are these bytes, if they are no text?
//!
//! What is compared as text and is none shares nothing with anything, and who asks is told that
//! nothing was found. So formats that hold text in another form are known by their first bytes, and
//! anything else by its NULs and control characters. The table holds only what no text begins with:
//! `BM` begins a picture, and an article on cars.

use super::charset::{is_utf16, looks_binary};

/// As much of the beginning as is looked at.
const SAMPLE_BYTES: usize = 8 << 10;

/// How files begin, and what they are.
const BEGINNINGS: [(&[u8], &str); 24] = [
    (b"%PDF-", "it is a PDF document, no text; convert it first"),
    (b"{\\rtf", "it is an RTF document, no plain text; convert it first"),
    (b"%!PS-Adobe", "it is a PostScript document, no text; convert it first"),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "it is an old Office document, no text; convert it first",
    ),
    (b"PK\x05\x06", "it is an empty zip archive"),
    (b"\x1f\x8b\x08", "it is compressed with gzip; give it a name that ends in .gz"),
    (b"\x28\xb5\x2f\xfd", "it is compressed with Zstandard; give it a name that ends in .zst"),
    (b"BZh91AY&SY", "it is compressed with bzip2"),
    (b"\xfd7zXZ\0", "it is compressed with xz"),
    (b"7z\xbc\xaf\x27\x1c", "it is a 7z archive"),
    (b"Rar!\x1a\x07", "it is a RAR archive"),
    (b"\x89PNG\r\n\x1a\n", "it is a picture"),
    (b"\xff\xd8\xff", "it is a picture"),
    (b"GIF87a", "it is a picture"),
    (b"GIF89a", "it is a picture"),
    (b"II*\0", "it is a picture"),
    (b"MM\0*", "it is a picture"),
    (b"\x7fELF", "it is a program"),
    (b"MZ\x90\0", "it is a program"),
    (b"\xca\xfe\xba\xbe", "it is a program"),
    (b"\xcf\xfa\xed\xfe", "it is a program"),
    (b"SQLite format 3\0", "it is a database"),
    (b"OggS\0", "it is a recording"),
    (b"ID3\x03\0", "it is a recording"),
];

/// What zip archives are that have this in their beginning.
const IN_ZIP: [(&[u8], &str); 7] = [
    (b"word/", "it is a Word document (.docx), no text; convert it first"),
    (b"ppt/", "it is a PowerPoint document (.pptx), no text; convert it first"),
    (b"xl/", "it is an Excel document (.xlsx), no text; convert it first"),
    (b"vnd.oasis.opendocument", "it is an OpenDocument document, no text; convert it first"),
    (b"application/epub+zip", "it is an e-book (EPUB), no text; convert it first"),
    (b"[Content_Types].xml", "it is an Office document, no text; convert it first"),
    (b"META-INF/MANIFEST.MF", "it is a Java archive"),
];

/// Why these bytes are no text, as a clause, if they are none; in the encoding that was declared for
/// them, if one was, NULs may be characters.
pub fn no_text(bytes: &[u8], is_declared: bool) -> Option<&'static str> {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    if let Some(why) = by_beginning(sample) {
        return Some(why);
    }
    if is_declared {
        return None;
    }
    if looks_binary(sample) {
        return Some("it is binary: there are NUL bytes in it");
    }
    // In UTF-16 any byte may be half of a letter.
    let is_binary = has_controls(sample) && !is_utf16(sample);
    is_binary.then_some("it is binary: there are control characters in it")
}

/// The same of what has come as characters, such as a string of JSON. A file that was read as if it
/// were text has its beginning still.
pub fn no_text_in(text: &str) -> Option<&'static str> {
    let sample = &text.as_bytes()[..text.len().min(SAMPLE_BYTES)];
    let beginning = by_beginning(sample).or_else(|| {
        // Bytes above ASCII have become other ones.
        let characters: Vec<u8> = text.chars().take(16).map(|c| c as u32 as u8).collect();
        let is_latin = text.chars().take(16).all(|c| (c as u32) < 0x100);
        by_beginning(&characters).filter(|_| is_latin)
    });
    let has_nul = || sample.contains(&0).then_some("it is binary: there are NUL characters in it");
    let has_controls =
        || has_controls(sample).then_some("it is binary: there are control characters in it");
    beginning.or_else(has_nul).or_else(has_controls)
}

fn by_beginning(sample: &[u8]) -> Option<&'static str> {
    if sample.starts_with(b"PK\x03\x04") {
        let has = |part: &[u8]| memchr::memmem::find(sample, part).is_some();
        let found = IN_ZIP.iter().find(|(part, _)| has(part));
        return Some(found.map_or(
            "it is a zip archive, or a document that is one; give it a name that ends in .zip, or convert it",
            |(_, what)| what,
        ));
    }
    if sample.starts_with(b"RIFF") && sample.get(8..12) == Some(b"WEBP") {
        return Some("it is a picture");
    }
    let found = BEGINNINGS.iter().find(|(beginning, _)| sample.starts_with(beginning));
    found.map(|(_, what)| *what)
}

/// Whether more than a thirty-second of the bytes are control characters of no text. Those of
/// ISO-2022 encodings and of coloured output are in texts.
fn has_controls(sample: &[u8]) -> bool {
    let is_control = |byte: &&u8| matches!(**byte, 1..=7 | 0x10..=0x1a | 0x1c..=0x1f);
    let controls = sample.iter().filter(is_control).count();
    controls > 4 && controls > sample.len() / 32
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
        check(b"\x89PNG\r\n\x1a\n\0", "picture");
        check(b"a\0b", "NUL");
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
            b"",
        ] {
            assert_eq!(no_text(text, false), None, "{text:?}");
        }
    }

    #[test]
    fn letters_of_two_bytes_are_no_control_characters() {
        let russian = "\u{412}\u{441}\u{435} \u{441}\u{447}\u{430}\u{441}\u{442}. ".repeat(20);
        // Of many Chinese characters one half is a control character of ASCII.
        let chinese = "\u{4e01}\u{4e02}\u{5403}\u{6211}\u{4f1a}".repeat(20);
        for text in [russian.clone(), format!("\u{feff}{russian}"), format!("\u{feff}{chinese}")] {
            let pairs = || text.encode_utf16().map(|unit| [(unit >> 8) as u8, unit as u8]);
            let big: Vec<u8> = pairs().flatten().collect();
            let little: Vec<u8> = pairs().flat_map(|[high, low]| [low, high]).collect();
            assert!(has_controls(&big), "{text}");
            assert_eq!((no_text(&big, false), no_text(&little, false)), (None, None), "{text}");
        }
    }

    #[test]
    fn a_file_that_was_read_as_characters_is_known_too() {
        let docx = b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0word/document.xml\xff\xfe";
        let lossy = String::from_utf8_lossy(docx);
        assert!(no_text_in(&lossy).is_some_and(|what| what.contains("Word")));
        let latin: String =
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".iter().map(|&b| b as char).collect();
        assert!(no_text_in(&latin).is_some_and(|what| what.contains("Office")));
        assert!(no_text_in("a\0b").is_some());
        for text in ["", "a text", "caf\u{e9}", "\u{414}\u{430}", "\u{ff}\u{d8}\u{100}"] {
            assert_eq!(no_text_in(text), None, "{text}");
        }
    }
}
