//! Recognition of bytes that are not text.
//!
//! Binary data share nothing with any document, so a search would find nothing without saying why.
//! Formats that encode text are therefore recognized by their first bytes, and the remaining data
//! by NULs and control characters. The table contains only bytes that never begin a text: `BM`
//! begins a picture, but also an article on cars, so the table lacks `BM`.

/// The maximum number of bytes that are examined, from the beginning.
pub const SAMPLE_BYTES: usize = 8 << 10;

/// The format of a document, and how to get a build that reads it, by the feature's name.
macro_rules! readable {
    ($what:literal, $feature:literal) => {
        concat!(
            $what,
            "; `cargo install --locked --path crates/cento-cli --features ",
            $feature,
            "` builds a cento that reads it, or convert it to text first"
        )
    };
}

/// The first bytes of documents that can be converted to text, and their formats.
const DOCUMENTS: [(&[u8], &str); 13] = [
    (b"%PDF-", readable!("it is a PDF document", "pdf")),
    (b"{\\rtf", readable!("it is an RTF document", "office")),
    (b"%!PS-Adobe", "it is a PostScript document; convert it to text first"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", readable!("it is an old Office document", "office")),
    (b"\xffWPC", "it is a WordPerfect document; convert it to text first"),
    (b"\x9b\xa5\x21\0", WORD_BEFORE_6),
    (b"\xdb\xa5\x2d\0", WORD_BEFORE_6),
    (b"\xfe\x32\0\0", WORD_BEFORE_6),
    (b"\xfe\x34\0\0", WORD_BEFORE_6),
    (b"\xfe\x37\0", WORD_BEFORE_6),
    (b"\x31\xbe\0\0", WORD_BEFORE_6),
    (b"\x32\xbe\0\0", WORD_BEFORE_6),
    (b"\x01\xfe", "it is a document of Works; convert it to text first"),
];

/// Word for Windows before version 6, for the Macintosh before 6, for DOS, and Write.
const WORD_BEFORE_6: &str = "it is a document of Word before version 6; convert it to text first";

/// The first bytes of other files, and their formats.
const OTHERS: [(&[u8], &str); 21] = [
    (b"PK\x05\x06", "it is an empty zip archive"),
    (b"\x1f\x8b\x08", "it is compressed with gzip; give it a name that ends in .gz"),
    (b"\x28\xb5\x2f\xfd", "it is compressed with Zstandard; give it a name that ends in .zst"),
    (b"BZh91AY&SY", "it is compressed with bzip2"),
    (b"\xfd7zXZ\0", "it is compressed with xz"),
    (b"7z\xbc\xaf\x27\x1c", "it is a 7z archive"),
    (b"Rar!\x1a\x07", "it is a RAR archive"),
    (b"\x89PNG\r\n\x1a\n", "it is an image"),
    (b"\xff\xd8\xff", "it is an image"),
    (b"GIF87a", "it is an image"),
    (b"GIF89a", "it is an image"),
    (b"II*\0", "it is an image"),
    (b"MM\0*", "it is an image"),
    (b"\x7fELF", "it is a program"),
    (b"MZ\x90\0", "it is a program"),
    (b"\xca\xfe\xba\xbe", "it is a program"),
    (b"\xcf\xfa\xed\xfe", "it is a program"),
    (b"SQLite format 3\0", "it is a database"),
    (b"Obj\x01", "it is an Avro file; convert it to Parquet or JSON lines"),
    (b"OggS\0", "it is an audio file"),
    (b"ID3\x03\0", "it is an audio file"),
];

/// Documents in zip archives, by bytes near the beginning.
const IN_ZIP: [(&[u8], &str); 6] = [
    (b"word/", readable!("it is a Word document (.docx)", "documents")),
    (b"ppt/", readable!("it is a PowerPoint document (.pptx)", "documents")),
    (b"xl/", "it is an Excel document (.xlsx); convert it to text first"),
    (b"vnd.oasis.opendocument", readable!("it is an OpenDocument document", "documents")),
    (b"application/epub+zip", readable!("it is an e-book (EPUB)", "documents")),
    (b"[Content_Types].xml", "it is an Office document; convert it to text first"),
];

/// A name near the beginning of archives of Java programs.
const IN_JAR: &[u8] = b"META-INF/MANIFEST.MF";

/// Returns the reason, as a clause, why a string, for example from JSON, is not text. `None` for
/// text. A binary file still has its first bytes after a program has read the file as text.
///
/// ```
/// use cento_text::text::kind::no_text_in;
///
/// assert_eq!(no_text_in("It was a bright cold day in April."), None);
/// assert!(no_text_in("%PDF-1.7 and so on").is_some());
/// ```
#[must_use]
pub fn no_text_in(text: &str) -> Option<&'static str> {
    let sample = &text.as_bytes()[..text.len().min(SAMPLE_BYTES)];
    let beginning = by_beginning(sample).or_else(|| {
        // Bytes above ASCII have been replaced.
        let beginning = || text.chars().take(16);
        let is_other =
            beginning().all(|c| (c as u32) < 0x100) && !beginning().all(|c| c.is_ascii());
        let characters = || beginning().map(|c| c as u32 as u8).collect::<Vec<u8>>();
        is_other.then(characters).and_then(|characters| by_beginning(&characters))
    });
    let has_nuls = || has_nuls(sample).then_some("it contains NUL characters");
    let has_controls = || has_controls(sample).then_some("it contains control characters");
    let is_unreadable =
        || is_unreadable(sample).then_some("much of it is U+FFFD: its characters are lost");
    beginning.or_else(has_nuls).or_else(has_controls).or_else(is_unreadable)
}

/// Returns whether more than a 64th of the bytes are NULs. A few NULs occur in texts assembled by a
/// program, or at the end of a title stored by a C program.
#[must_use]
pub fn has_nuls(sample: &[u8]) -> bool {
    /// The minimum size of a text with a NUL. In fewer bytes, the NUL says more than the letters.
    const WITH_NUL_BYTES_MIN: usize = 8;
    let allowed = (sample.len() / 64).max(usize::from(sample.len() >= WITH_NUL_BYTES_MIN));
    memchr::memchr_iter(0, sample).count() > allowed
}

/// Returns whether more than a tenth of the characters are replacement characters. The program
/// behind the text could not decode its source, so the text is unreadable.
fn is_unreadable(sample: &[u8]) -> bool {
    let replaced = memchr::memmem::find_iter(sample, "\u{fffd}").count();
    let starts = || sample.iter().filter(|&&byte| byte as i8 >= -0x40).count();
    replaced > 4 && replaced > starts() / 10
}

/// Returns the format of a file with these first bytes, or `None` if the file may be text.
#[must_use]
pub fn by_beginning(sample: &[u8]) -> Option<&'static str> {
    if let Some(document) = document(sample) {
        return Some(document);
    }
    if sample.starts_with(ZIP) {
        return Some(match memchr::memmem::find(sample, IN_JAR) {
            Some(_) => "it is a Java archive",
            None => {
                "it is a zip archive, or a document in one; rename it to end in .zip, or convert it"
            }
        });
    }
    if sample.starts_with(b"RIFF") && sample.get(8..12) == Some(b"WEBP") {
        return Some("it is an image");
    }
    let found = OTHERS.iter().find(|(beginning, _)| sample.starts_with(beginning));
    found.map(|(_, what)| *what)
}

/// Returns the format of a file with these first bytes, if the file is a document that can be
/// converted to text.
#[must_use]
pub fn document(sample: &[u8]) -> Option<&'static str> {
    let found = if sample.starts_with(ZIP) {
        IN_ZIP.iter().find(|(part, _)| memchr::memmem::find(sample, part).is_some())
    } else {
        DOCUMENTS.iter().find(|(beginning, _)| sample.starts_with(beginning))
    };
    found.map(|(_, what)| *what)
}

/// The first bytes of zip archives.
const ZIP: &[u8] = b"PK\x03\x04";

/// Returns whether more than a thirty-second of the bytes are control characters that do not occur
/// in text. Control characters of ISO-2022 encodings and of colored output do occur.
#[must_use]
pub fn has_controls(sample: &[u8]) -> bool {
    let is_control = |byte: &u8| u8::from(matches!(byte, 1..=7 | 0x10..=0x1a | 0x1c..=0x1f));
    // Sums in bytes, because the processor can add many bytes at a time.
    let controls = |part: &[u8]| usize::from(part.iter().map(is_control).sum::<u8>());
    let controls: usize = sample.chunks(usize::from(u8::MAX)).map(controls).sum();
    controls > 4 && controls > sample.len() / 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_read_as_characters_is_known_too() {
        let docx = b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0word/document.xml\xff\xfe";
        let lossy = String::from_utf8_lossy(docx);
        assert!(no_text_in(&lossy).is_some_and(|what| what.contains("Word")));
        let latin: String =
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".iter().map(|&b| b as char).collect();
        assert!(no_text_in(&latin).is_some_and(|what| what.contains("Office")));
        assert!(no_text_in("a\0b").is_some());
        assert!(no_text_in("a title\0 with\0 gaps").is_some());
        assert_eq!(no_text_in("a short title\0"), None);
        assert!(no_text_in(&"\u{fffd}a b".repeat(9)).is_some_and(|what| what.contains("U+FFFD")));
        for text in [
            "",
            "a text",
            &format!("a\0{}", "b ".repeat(32)),
            "\u{fffd}",
            "caf\u{e9}",
            "\u{414}\u{430}",
            "\u{ff}\u{d8}\u{100}",
        ] {
            assert_eq!(no_text_in(text), None, "{text}");
        }
    }
}
