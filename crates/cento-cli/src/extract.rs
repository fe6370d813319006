//! Extraction of documents in separate processes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use cento::{Error, Reason};
use cento_source::{Extraction, Readers, SourceOptions, Tables};

/// Returns this program, to be started as a worker.
fn itself() -> Option<PathBuf> {
    // Refers to the running program, even after an upgrade replaced the file at its path.
    let own = PathBuf::from("/proc/self/exe");
    if own.exists() { Some(own) } else { std::env::current_exe().ok() }
}

/// Returns the extractor: this program in separate processes, if possible.
pub fn extraction() -> Option<Extraction> {
    // Shared by every part of a verb, so that the processes start only once.
    static EXTRACTION: OnceLock<Option<Extraction>> = OnceLock::new();
    let by_itself = || itself().map(Extraction::by);
    EXTRACTION.get_or_init(by_itself).clone()
}

/// Returns the reader of Parquet and Arrow files: this program in separate processes, if possible.
pub fn tables() -> Option<Tables> {
    itself().filter(|_| cfg!(feature = "parquet")).map(Tables::by)
}

/// Returns the default way of reading files.
pub fn source_options() -> SourceOptions {
    SourceOptions { extraction: extraction(), tables: tables(), ..SourceOptions::default() }
}

/// Returns an error of a verb without `--text-field`, so that no hint offers this option.
pub fn without_text_field(error: Error) -> Error {
    if !matches!(error.reason(), Reason::MissingField { .. }) {
        return error;
    }
    let (place, what) = error.place_and_message();
    Error::input(place, format!("{what}; this verb reads the field `text`"))
}

/// Commands that read files.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ReaderArgs {
    /// Read files whose names end in EXT with a command. The command gets the file on standard
    /// input and writes UTF-8 text to standard output: pdf='pdftotext -enc UTF-8 - -'. Can be
    /// repeated.
    #[arg(long = "reader", value_name = "EXT=COMMAND", value_parser = parse_reader)]
    readers: Vec<String>,
}

impl ReaderArgs {
    /// Returns the user's reader commands.
    pub fn readers(&self) -> Readers {
        let readers = Readers::parse(self.readers.iter().map(String::as_str));
        // Hides cento's variables from the commands, because some are secrets.
        let is_own = |name: &OsString| name.to_string_lossy().starts_with("CENTO_");
        let own = std::env::vars_os().map(|(name, _)| name).filter(is_own);
        readers.expect("each has been checked").hiding(own)
    }
}

fn parse_reader(given: &str) -> Result<String, String> {
    Readers::parse([given]).map(|_| given.to_owned())
}
