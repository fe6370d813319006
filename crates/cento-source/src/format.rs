//! The description that a format of files gives of itself, and names and first bytes that several
//! readers know.
//!
//! The reader of a text format has a [`FileFormat`]; the list of them in `formats` is the only
//! other place where the format is named. This file depends on no reader.

use serde::{Deserialize, Serialize};

use crate::extracted::Extracted;
use crate::origin::Origins;
use crate::{SourceOptions, charset};

/// A format of files.
///
/// Files are recognised and read, `cento info formats` is printed, the tables of the documentation
/// and seeds of fuzz targets are made, and the laws of all formats are tested, by going through the
/// list of these values.
#[derive(Debug)]
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
    /// Whether each line of the file is a line of its text, so that passages have its numbers.
    pub keeps_lines: bool,
    /// A small file; of a format that is not text, the beginning of one.
    pub example: &'static [u8],
    /// How a file becomes a text, if it is one text with markup.
    pub(crate) markup: Option<Markup>,
}

/// The markup of a text format: a file is one document, and one function makes its text.
#[derive(Debug)]
pub struct Markup {
    /// What such a file is, as a clause, if its name promises another.
    pub(crate) is: &'static str,
    /// Returns whether a text begins as such a file, whatever its name is.
    pub(crate) begins: fn(&Beginning<'_>) -> bool,
    /// A text with one of the endings that begins with these bytes is such a file. If the bytes are
    /// none, it is one unless it begins as a mail or JSON. `None`: the name does not matter.
    pub(crate) named_begins: Option<&'static [u8]>,
    /// Makes the text.
    pub(crate) text_of: TextOf,
    /// [`Html::Source`](crate::Html) reads the file as it is.
    pub(crate) has_source: bool,
}

/// The first bytes of a text.
pub(crate) struct Beginning<'a> {
    /// The bytes of the file.
    pub bytes: &'a [u8],
    /// The same in UTF-8, without white space before it.
    pub text: &'a [u8],
}

/// The text of a file, and its places there.
pub(crate) type Text = (Extracted, Option<Origins>);

/// Makes the text of a file.
#[derive(Debug)]
pub(crate) enum TextOf {
    /// From the file as text.
    Decoded(fn(&str) -> String),
    /// From its bytes, which may be damaged: the reason is a clause.
    Bytes(fn(&[u8], &SourceOptions) -> Result<Text, String>),
}

impl Markup {
    /// Returns the text of a file.
    ///
    /// # Errors
    /// When it is damaged, with the reason as a clause.
    pub(crate) fn text_of(&self, bytes: &[u8], options: &SourceOptions) -> Result<Text, String> {
        match self.text_of {
            TextOf::Decoded(text_of) => {
                let text = text_of(&charset::decode_undoubted(bytes, options.label())?);
                Ok((Extracted { text, ..Extracted::default() }, None))
            }
            TextOf::Bytes(text_of) => text_of(bytes, options),
        }
    }
}

/// Formats are equal if they are the same one.
impl PartialEq for Markup {
    fn eq(&self, other: &Markup) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Markup {}

/// The first bytes of a compound file, the container of old Office documents and of encrypted new
/// ones.
pub const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// The first and last bytes of Parquet files.
pub const PARQUET: &[u8] = b"PAR1";

/// The first bytes of Arrow files.
pub const ARROW: &[u8] = b"ARROW1";

/// The first bytes of Arrow streams; no text begins with them.
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
    /// Parquet.
    Parquet,
    /// A file of the Arrow IPC format.
    Arrow,
    /// A stream of the Arrow IPC format, as Hugging Face keeps data sets.
    ArrowStream,
}

impl Columnar {
    /// Returns its name, with an article.
    pub fn name(self) -> &'static str {
        match self {
            Columnar::Parquet => "a Parquet file",
            Columnar::Arrow => "an Arrow file",
            Columnar::ArrowStream => "an Arrow stream",
        }
    }
}

/// Returns whether a name has one of these endings, in letters of either case.
pub fn has_ending(name: &str, endings: &[&str]) -> bool {
    let name = name.as_bytes();
    let is_end = |ending: &&str| {
        let at = name.len().checked_sub(ending.len());
        at.is_some_and(|at| name[at..].eq_ignore_ascii_case(ending.as_bytes()))
    };
    endings.iter().any(is_end)
}
