//! Reading of whole files up to a maximum length.

use std::io::{self, Read};
use std::path::Path;

use clap::Args;

use super::parse::parse_bytes;
use cento::Error;
use cento_source::{SourceOptions, too_long};

/// The maximum length of a file that is read as a whole.
#[derive(Debug, Clone, Default, Args)]
pub struct LengthArgs {
    /// Maximum length of a file. cento rejects longer ones. Default: 64MiB.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    max_record_bytes: Option<usize>,
}

impl LengthArgs {
    /// Returns the maximum size in bytes.
    pub fn bytes_max(&self) -> usize {
        self.max_record_bytes.unwrap_or(SourceOptions::default().record_bytes_max)
    }
}

/// Reads a file completely; `-` is standard input.
///
/// # Errors
/// When the file cannot be read, or is longer than `bytes_max`. Reading stops at the limit, so
/// memory never holds a longer file.
pub fn read(path: &Path, bytes_max: usize) -> cento::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = (bytes_max as u64).saturating_add(1);
    let read = match path.to_str() {
        Some("-") => io::stdin().lock().take(limit).read_to_end(&mut bytes),
        _ => std::fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)),
    };
    read.map_err(|e| Error::io("read", path, e))?;
    match bytes.len() > bytes_max {
        true => Err(Error::input(path.display().to_string(), too_long(bytes_max))),
        false => Ok(bytes),
    }
}
