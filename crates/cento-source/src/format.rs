//! [`FileFormat`], the description of a file format, and names and first bytes that several readers
//! need.
//!
//! The reader of a text format has a [`FileFormat`]. Apart from the reader, only the list in
//! `formats` mentions the format. This file depends on no reader.

use serde::{Deserialize, Serialize};

use crate::extracted::ExtractedText;
use crate::origin::Origins;
use crate::{SourceOptions, charset};

/// A format of files.
///
/// The list of these values drives everything that goes through all formats: recognizing and
/// reading files, `cento info formats`, tables of the documentation, seeds of fuzz targets, and
/// tests of laws for every format.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileFormat {
    /// The name, unique among formats.
    pub name: &'static str,
    /// The usual file-name extensions. The first bytes of a file take precedence over its name.
    pub endings: &'static [&'static str],
    /// What becomes a document, for the lists of formats.
    pub documents: &'static str,
    /// The feature that reads the format, or `None` if every build does.
    pub feature: Option<&'static str>,
    /// Whether this build reads the format.
    pub is_built: bool,
    /// Whether text and file have the same line numbers, so that passages can show line numbers.
    pub keeps_lines: bool,
    /// A small file, or only its beginning if the format is not text.
    pub example: &'static [u8],
    /// How to read the file, if the format is one text with markup.
    pub(crate) markup: Option<Markup>,
}

/// A text format with markup: a file is one document.
#[derive(Debug)]
pub struct Markup {
    /// A clause such as "it is an OCR page", for files whose name promises a different format.
    pub(crate) is: &'static str,
    /// Recognizes a text by its beginning, whatever the file is called.
    pub(crate) begins: fn(&Beginning<'_>) -> bool,
    /// A file with one of the extensions has this format if it begins with these bytes. Empty bytes
    /// accept any text unless it begins as a mail or JSON. `None` ignores the name.
    pub(crate) named_begins: Option<&'static [u8]>,
    /// The function that makes the text of a file.
    pub(crate) text_of: TextOf,
    /// Whether [`Html::Source`](crate::Html) reads the file unchanged.
    pub(crate) has_source: bool,
}

/// The first bytes of a text.
pub(crate) struct Beginning<'a> {
    /// The bytes of the file.
    pub bytes: &'a [u8],
    /// The beginning in UTF-8, without leading white space.
    pub text: &'a [u8],
}

/// The text of a file, and the file places of all stretches if the reader knows the places.
pub(crate) type Text = (ExtractedText, Option<Origins>);

/// Makes the text of a file.
#[derive(Debug)]
pub(crate) enum TextOf {
    /// From the file as text.
    Decoded(fn(&str) -> String),
    /// From the file as text, and from definitions in other files.
    WithDefinitions(fn(&str, &str) -> String),
    /// From the bytes, which may be damaged. The error is a clause.
    Bytes(fn(&[u8], &SourceOptions) -> Result<Text, String>),
}

impl Markup {
    /// Returns the text of a file. `definitions` come from other files.
    ///
    /// # Errors
    /// When it is damaged, with the reason as a clause.
    pub(crate) fn text_of(
        &self,
        bytes: &[u8],
        definitions: &str,
        options: &SourceOptions,
    ) -> Result<Text, String> {
        let decoded = || charset::decode_undoubted(bytes, options.label());
        let text = match self.text_of {
            TextOf::Decoded(text_of) => text_of(&decoded()?),
            TextOf::WithDefinitions(text_of) => text_of(&decoded()?, definitions),
            TextOf::Bytes(text_of) => return text_of(bytes, options),
        };
        Ok((ExtractedText { text, ..ExtractedText::default() }, None))
    }
}

/// Compares addresses, because each format has a single static value.
impl PartialEq for Markup {
    fn eq(&self, other: &Markup) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Markup {}

/// The first bytes of a compound file, the container of old Office documents and of encrypted new
/// documents.
pub const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// The first and last bytes of Parquet files.
pub const PARQUET: &[u8] = b"PAR1";

/// The first bytes of Arrow files.
pub const ARROW: &[u8] = b"ARROW1";

/// The first bytes of Arrow streams. No text begins so.
pub const ARROW_STREAM: &[u8] = b"\xff\xff\xff\xff";

/// The endings of the names of Parquet and Arrow files.
pub const COLUMNS: &[&str] = &[".parquet", ".arrow", ".feather", ".ipc"];

/// The endings of the names of files with a JSON object a line.
pub const LINES: &[&str] = &[".jsonl", ".ndjson", ".jl", ".jsonlines"];

/// The endings of the names of tables.
pub const TABLES: &[&str] = &[".csv", ".tsv", ".tab"];

/// The kind of a file of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Columnar {
    /// A file in the columnar format Parquet.
    Parquet,
    /// A file of the Arrow IPC format.
    Arrow,
    /// A stream of the Arrow IPC format, as Hugging Face keeps data sets.
    ArrowStream,
}

impl Columnar {
    /// Returns the name with an article, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Columnar::Parquet => "a Parquet file",
            Columnar::Arrow => "an Arrow file",
            Columnar::ArrowStream => "an Arrow stream",
        }
    }
}

/// Returns whether a name has one of these endings, ignoring case.
pub fn has_ending(name: &str, endings: &[&str]) -> bool {
    let name = name.as_bytes();
    let is_end = |ending: &&str| {
        let at = name.len().checked_sub(ending.len());
        at.is_some_and(|at| name[at..].eq_ignore_ascii_case(ending.as_bytes()))
    };
    endings.iter().any(is_end)
}
