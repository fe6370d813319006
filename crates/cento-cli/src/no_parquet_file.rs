//! Refuses to write Parquet files, in a build that cannot.

use std::io;
use std::path::Path;

use serde::Serialize;

use cento::{Error, Refusal, Result};
use cento_report::CellType;

/// A Parquet file, which this build cannot create.
pub enum ParquetFile {}

impl ParquetFile {
    pub fn create(path: &Path, _: &[&'static str], _: fn(&str) -> CellType) -> Result<ParquetFile> {
        let refusal = Refusal::unsupported("to write Parquet files", "parquet", "cento-cli");
        Err(Error::input(path.display().to_string(), refusal))
    }

    pub fn write(&mut self, _: &impl Serialize) -> io::Result<()> {
        match *self {}
    }

    pub fn finish(self) -> io::Result<()> {
        match self {}
    }
}
