//! The formats of files that can be read, and those that this build reads.
//!
//! [`sniff`](crate::sniff) determines the kind of a file; this list describes the formats to people
//! and programs.

use crate::format::{COLUMNS, LINES, TABLES};

/// A format of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileFormat {
    /// Its name.
    pub name: &'static str,
    /// The usual endings of the names of such files. The first bytes of a file take precedence over
    /// its name.
    pub endings: &'static [&'static str],
    /// The part of a file that becomes a document.
    pub documents: &'static str,
    /// The feature of the build that reads it; `None` if every build does.
    pub feature: Option<&'static str>,
    /// Whether this build reads it.
    pub is_built: bool,
}

const ARCHIVES: (Option<&str>, bool) = (Some("archives"), cfg!(feature = "archives"));
const MAIL: (Option<&str>, bool) = (Some("mail"), cfg!(feature = "mail"));
const MARKDOWN: (Option<&str>, bool) = (Some("markdown"), cfg!(feature = "markdown"));
const OFFICE: (Option<&str>, bool) = (Some("office"), cfg!(feature = "office"));
const PARQUET: (Option<&str>, bool) = (Some("parquet"), cfg!(feature = "parquet"));
const ALWAYS: (Option<&str>, bool) = (None, true);

const DOCUMENTS: &[&str] =
    &[".docx", ".doc", ".odt", ".rtf", ".pdf", ".epub", ".pptx", ".ppsx", ".odp"];

const fn format(
    name: &'static str,
    endings: &'static [&'static str],
    documents: &'static str,
    (feature, is_built): (Option<&'static str>, bool),
) -> FileFormat {
    FileFormat { name, endings, documents, feature, is_built }
}

const FORMATS: &[FileFormat] = &[
    format("text", &[".txt"], "the file; any text that is nothing else", ALWAYS),
    format("json-lines", LINES, "each object", ALWAYS),
    format("json", &[".json"], "each object of the array, or of an array in the object", ALWAYS),
    format("table", TABLES, "each row", ALWAYS),
    format("parquet", COLUMNS, "each row of a Parquet or Arrow file", PARQUET),
    format("html", &[".html", ".htm", ".xhtml"], "the content of the page", ALWAYS),
    format("office", DOCUMENTS, "the text of the document", OFFICE),
    format(
        "xml",
        &[".xml", ".fodt"],
        "the text of an edition (TEI), a recognised page (ALTO, PAGE), or a document of Word or \
         OpenDocument",
        ALWAYS,
    ),
    format("mail", &[".eml"], "the mail, and each of its attachments", MAIL),
    format("mailbox", &[".mbox"], "each mail, and each of its attachments", MAIL),
    format("markdown", &[".md", ".markdown"], "the text without markup", MARKDOWN),
    format("latex", &[".tex", ".ltx", ".latex"], "the text without markup", ALWAYS),
    format("notebook", &[".ipynb"], "the cells of the notebook", ALWAYS),
    format("zip", &[".zip"], "each file in the archive", ARCHIVES),
    format("tar", &[".tar", ".tgz"], "each file in the archive", ARCHIVES),
    format("warc", &[".warc"], "each page of the web archive", ARCHIVES),
    format("compressed", &[".gz", ".zst", ".bz2", ".xz"], "what the compressed file holds", ALWAYS),
];

/// Returns all formats of files.
#[must_use]
pub fn formats() -> &'static [FileFormat] {
    FORMATS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceOptions;
    use crate::compressed::Compression;
    use crate::sniff::{Form, form};

    /// Returns the name of the form's format in the list, or `None` for a form that is not read.
    /// There is no catch-all arm: a new form needs a line in the list.
    fn format_of(form: Form) -> Option<&'static str> {
        Some(match form {
            Form::Unread(_) | Form::Refused(_) | Form::Misnamed { .. } | Form::Unclear => {
                return None;
            }
            Form::NoRecords => return None,
            Form::Text => "text",
            Form::Html => "html",
            Form::Lines => "json-lines",
            Form::Records(_) => "json",
            Form::Table(_) => "table",
            Form::Document => "office",
            Form::Zip => "zip",
            Form::Tar => "tar",
            Form::Warc => "warc",
            Form::Mail => "mail",
            Form::Mailbox => "mailbox",
            Form::Markdown => "markdown",
            Form::Tex => "latex",
            Form::Notebook => "notebook",
            Form::Xml => "xml",
            Form::Columns(_) => "parquet",
        })
    }

    /// Returns the first bytes of a file of this format.
    fn beginning(name: &str, ending: &str) -> Vec<u8> {
        let text = match name {
            "json-lines" => "{\"text\":\"x\"}\n{\"text\":\"y\"}\n",
            "json" => "[{\"text\":\"x\"}]",
            "table" => "id,text\n1,x\n",
            "html" => "<!DOCTYPE html><p>x",
            "xml" => "<TEI.2>",
            "mail" => "From: x\nTo: y\n\nz",
            "mailbox" => "From a@b Mon Jan  1 12:00:00 2024\nTo: y\n",
            "notebook" => "{\n \"cells\": [",
            "warc" => "WARC/1.0\r\n",
            "zip" => "PK\x03\x04",
            "parquet" => "PAR1",
            "office" if ending == ".pdf" => "%PDF-1.4\n",
            "office" => "{\\rtf1 x}",
            "tar" => return [&[b'a'][..], &[0; 256], b"ustar", &[0; 250]].concat(),
            _ => "plain words",
        };
        text.as_bytes().to_vec()
    }

    #[test]
    fn files_with_the_endings_of_a_format_are_read_as_it() {
        let options = SourceOptions::default();
        for format in formats().iter().filter(|format| format.name != "compressed") {
            for ending in format.endings {
                let start = beginning(format.name, ending);
                let found = form(&start, true, &format!("a{ending}"), &options);
                assert_eq!(format_of(found), Some(format.name), "{ending}: {found:?}");
            }
        }
    }

    #[test]
    fn compressed_files_have_the_endings_of_the_list() {
        let listed = formats().iter().find(|format| format.name == "compressed").unwrap();
        for ending in listed.endings {
            assert_ne!(
                Compression::of_name(&format!("a{ending}")).0,
                Compression::None,
                "{ending}"
            );
        }
    }
}
