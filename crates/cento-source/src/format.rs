//! The names and first bytes of the formats of files, for all readers.
//!
//! [`sniff`](crate::sniff) determines the format of a file; this file depends on no reader.

use serde::{Deserialize, Serialize};

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
