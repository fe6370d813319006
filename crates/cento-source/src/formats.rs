//! The list of all file formats.
//!
//! The file of its reader describes a text format ([`FileFormat`]). Lists of records, archives and
//! office documents are described here, because [`walk`](crate::walk) calls their readers.

use crate::format::{COLUMNS, FileFormat, LINES, Markup, TABLES};

/// All formats, in the order of printed lists. The first matching format wins.
static FORMATS: &[&FileFormat] = &[
    &FileFormat {
        keeps_lines: true,
        ..format(
            "text",
            &[".txt"],
            "the file; any text that is nothing else",
            ALWAYS,
            b"Twice a day\nthe sea rises.\n",
        )
    },
    &format("json-lines", LINES, "each object", ALWAYS, b"{\"text\":\"x\"}\n{\"text\":\"y\"}\n"),
    &format(
        "json",
        &[".json"],
        "each object of the array, or of an array in the object",
        ALWAYS,
        b"[{\"text\":\"x\"}]",
    ),
    &format("table", TABLES, "each row", ALWAYS, b"id\ttext\n1\tx\n"),
    &format("parquet", COLUMNS, "each row of a Parquet or Arrow file", PARQUET, b"PAR1\x15\0"),
    &crate::hocr::FORMAT,
    &crate::html::FORMAT,
    &format("documents", ZIPPED, "the text of the document", ALWAYS, b"PK\x03\x04"),
    &format("pdf", &[".pdf"], "the text of the document", PDF, b"%PDF-1.4\n"),
    &format("office", &[".doc", ".rtf"], "the text of the document", OFFICE, b"{\\rtf1 x}"),
    &crate::xml::FORMAT,
    &format(
        "mail",
        &[".eml", ".mht", ".mhtml"],
        "the mail, and each of its attachments; the page that a browser saved as one",
        ALWAYS,
        b"From: x\nTo: y\n\nz",
    ),
    &format(
        "mailbox",
        &[".mbox"],
        "each mail, and each of its attachments",
        ALWAYS,
        b"From a@b Mon Jan  1 12:00:00 2024\nTo: y\n\nz\n",
    ),
    &crate::markdown::FORMAT,
    &crate::tex::FORMAT,
    &crate::notebook::FORMAT,
    &crate::subtitles::FORMAT,
    &format("zip", &[".zip"], "each file in the archive", ALWAYS, b"PK\x03\x04"),
    &format("tar", &[".tar", ".tgz"], "each file in the archive", ALWAYS, &TAR),
    &format("warc", &[".warc", ".arc"], "each page of the web archive", ALWAYS, b"WARC/1.0\r\n"),
    &format(
        "compressed",
        &[".gz", ".zst", ".bz2", ".xz"],
        "what the compressed file holds",
        ALWAYS,
        b"\x1f\x8b\x08",
    ),
];

const PDF: (Option<&str>, bool) = (Some("pdf"), cfg!(feature = "pdf"));
const OFFICE: (Option<&str>, bool) = (Some("office"), cfg!(feature = "office"));
const PARQUET: (Option<&str>, bool) = (Some("parquet"), cfg!(feature = "parquet"));
const ALWAYS: (Option<&str>, bool) = (None, true);

/// Extensions of documents that are zip files.
const ZIPPED: &[&str] = &[".docx", ".odt", ".epub", ".pptx", ".ppsx", ".odp"];

/// A header of a tar archive, with only the bytes that identify the format.
const TAR: [u8; 512] = {
    let mut header = [0; 512];
    header[0] = b'a';
    let mut at = 0;
    while at < 5 {
        header[257 + at] = b"ustar"[at];
        at += 1;
    }
    header
};

const fn format(
    name: &'static str,
    endings: &'static [&'static str],
    documents: &'static str,
    (feature, is_built): (Option<&'static str>, bool),
    example: &'static [u8],
) -> FileFormat {
    let (keeps_lines, markup) = (false, None);
    FileFormat { name, endings, documents, feature, is_built, keeps_lines, example, markup }
}

/// Returns all file formats, including formats that this build cannot read.
///
/// ```
/// let names: Vec<&str> = cento_source::formats().iter().map(|format| format.name).collect();
/// assert!(names.contains(&"html") && names.contains(&"latex"));
/// ```
#[must_use]
pub fn formats() -> &'static [&'static FileFormat] {
    FORMATS
}

/// Returns the text formats with markup that this build reads.
pub(crate) fn markups() -> impl Iterator<Item = (&'static FileFormat, &'static Markup)> {
    let built = FORMATS.iter().copied().filter(|format| format.is_built);
    built.filter_map(|format| Some((format, format.markup.as_ref()?)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::compressed::Compression;
    use crate::sniff::{Form, form};
    use crate::{Html, ReadError, SourceOptions, read_bytes};

    /// Returns the name of the listed format for this form, or `None` if nothing reads the form.
    /// Without a catch-all arm, so that a new form does not compile until the list has it.
    fn format_of(form: Form) -> Option<&'static str> {
        Some(match form {
            Form::Unread(_) | Form::Refused(_) | Form::Misnamed { .. } | Form::Unclear => {
                return None;
            }
            Form::NoRecords => return None,
            Form::Text => "text",
            Form::Lines => "json-lines",
            Form::Records(_) => "json",
            Form::Table(_) => "table",
            Form::Document => "documents",
            Form::Zip => "zip",
            Form::Tar => "tar",
            Form::Warc | Form::Arc => "warc",
            Form::Mail => "mail",
            Form::Mailbox => "mailbox",
            Form::Markup(markup) => markups().find(|(_, other)| *other == markup)?.0.name,
            Form::Columns(_) => "parquet",
        })
    }

    fn found(start: &[u8], name: &str) -> Option<&'static str> {
        let form = form(start, true, name, &SourceOptions::default());
        match form {
            // The first bytes show the kind of a document, but not whether a zip file is a
            // document.
            Form::Document if start.starts_with(b"PK") => Some("documents"),
            Form::Document if start.starts_with(b"%PDF") => Some("pdf"),
            Form::Document => Some("office"),
            Form::Zip if ZIPPED.iter().any(|ending| name.ends_with(ending)) => Some("documents"),
            form => format_of(form),
        }
    }

    /// Formats whose file is one text, with or without markup.
    fn texts() -> impl Iterator<Item = &'static FileFormat> {
        let built = formats().iter().copied().filter(|format| format.is_built);
        built.filter(|format| format.name == "text" || format.markup.is_some())
    }

    /// Returns the only document of a file, or the reason for its refusal.
    fn text(name: &str, bytes: &[u8], html: Html) -> Result<String, String> {
        let options = SourceOptions { html, ..SourceOptions::default() };
        let mut texts = Vec::new();
        for chunk in read_bytes(name, bytes.to_vec(), &options) {
            match chunk {
                Ok(chunk) => texts.extend(chunk.documents(&options).map(|document| {
                    document.map(|(it, _)| it.text).map_err(|error| error.to_string())
                })),
                Err(ReadError::LeftOut { why, .. }) => texts.push(Err(why.to_owned())),
                Err(ReadError::Refused(error) | ReadError::Unread(error)) => {
                    texts.push(Err(error.to_string()));
                }
            }
        }
        assert_eq!(texts.len(), 1, "{name}: {texts:?}");
        texts.remove(0)
    }

    #[test]
    fn no_two_formats_share_a_name_or_an_ending() {
        let mut seen = HashSet::new();
        for format in formats() {
            assert!(seen.insert(format.name), "{}", format.name);
            assert!(!format.endings.is_empty(), "{}", format.name);
            for ending in format.endings {
                assert!(ending.starts_with('.') && seen.insert(ending), "{ending}");
            }
        }
    }

    #[test]
    fn the_example_of_a_format_is_recognized_by_each_of_its_endings() {
        for format in formats().iter().filter(|format| format.is_built || format.markup.is_none()) {
            if format.name == "compressed" {
                continue;
            }
            for ending in format.endings {
                let found = found(format.example, &format!("a{ending}"));
                assert_eq!(found, Some(format.name), "{ending}");
            }
        }
    }

    #[test]
    fn an_example_with_first_bytes_of_its_own_is_recognized_whatever_its_name_is() {
        let mut known = 0;
        for format in texts().filter(|format| format.markup.is_some()) {
            if found(format.example, "a") != Some(format.name) {
                let named = format.markup.as_ref().and_then(|markup| markup.named_begins);
                assert!(named.is_some(), "{}: neither bytes nor a name show it", format.name);
                continue;
            }
            known += 1;
            for ending in texts().flat_map(|other| other.endings) {
                let name = format!("a{ending}");
                let is_named = |other: &&FileFormat| other.endings.contains(ending);
                let named = texts().find(is_named).and_then(|other| other.markup.as_ref());
                let begin = named.and_then(|markup| markup.named_begins).unwrap_or_default();
                // The name decides if the first bytes agree with it.
                if begin.is_empty() || !format.example.starts_with(begin) {
                    assert_eq!(found(format.example, &name), Some(format.name), "{name}");
                }
            }
        }
        assert!(known >= 3, "{known} formats have first bytes of their own");
    }

    #[test]
    fn compressed_files_have_the_endings_and_first_bytes_of_the_list() {
        let listed = formats().iter().find(|format| format.name == "compressed").unwrap();
        for ending in listed.endings {
            let named = Compression::of_name(&format!("a{ending}")).0;
            assert_ne!(named, Compression::None, "{ending}");
        }
        let found = Compression::of_start(listed.example, Compression::None);
        assert_ne!(found, Compression::None);
    }

    #[test]
    fn reading_an_example_twice_gives_the_same_text_without_its_markup() {
        for format in texts() {
            let name = format!("a{}", format.endings[0]);
            for html in [Html::Content, Html::All, Html::Source] {
                let read = || text(&name, format.example, html);
                let once = read();
                assert!(
                    once.as_ref().is_ok_and(|text| !text.trim().is_empty()),
                    "{name}: {once:?}"
                );
                assert_eq!(once, read(), "{name}");
                let as_it_is = once.unwrap().as_bytes() == format.example;
                let is_source = html == Html::Source;
                let markup = format.markup.as_ref();
                let expected = markup.is_none_or(|markup| is_source && markup.has_source);
                assert_eq!(as_it_is, expected, "{name}: {html:?}");
            }
        }
    }

    #[test]
    fn lines_stay_lines_in_the_formats_that_promise_it() {
        let lines = |text: &[u8]| text.iter().filter(|&&byte| byte == b'\n').count();
        for format in texts() {
            let name = format!("a{}", format.endings[0]);
            if !format.keeps_lines {
                continue;
            }
            assert!(lines(format.example) > 1, "{name}: the example shows no lines");
            // A file may be cut anywhere.
            for end in 1..=format.example.len() {
                let part = &format.example[..end];
                if let Ok(text) = text(&name, part, Html::Content) {
                    assert_eq!(lines(text.as_bytes()), lines(part), "{name}: {text:?}");
                }
            }
        }
    }
}
