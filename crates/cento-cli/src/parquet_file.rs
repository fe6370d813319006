//! Rows in a Parquet file, which gets the final name when the file is complete.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::NamedTempFile;

use cento::runtime::replace;
use cento::{Error, Result};
use cento_report::{CellType, ParquetRows};

/// A new Parquet file, under a temporary name.
pub struct ParquetFile {
    rows: ParquetRows<NamedTempFile>,
    path: PathBuf,
    /// Whether a file with the final name existed.
    replaces: bool,
}

impl ParquetFile {
    /// Begins a file whose column types come from `cell_type`.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(
        path: &Path,
        columns: &[&'static str],
        cell_type: fn(&str) -> CellType,
    ) -> Result<ParquetFile> {
        let failed = |error| Error::io("create", path, error);
        let file = replace::beside(path).map_err(failed)?;
        let columns = columns.iter().map(|column| (*column, cell_type(column))).collect();
        let rows = ParquetRows::new(file, columns).map_err(failed)?;
        Ok(ParquetFile { rows, path: path.to_owned(), replaces: path.exists() })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(&mut self, row: &impl Serialize) -> io::Result<()> {
        self.rows.write(row)
    }

    /// Completes the file, and gives it the final name.
    ///
    /// # Errors
    /// When writing fails, or another file has got the name meanwhile.
    pub fn finish(self) -> io::Result<()> {
        let file = self.rows.finish()?;
        file.as_file().sync_all()?;
        let named = match self.replaces {
            true => file.persist(&self.path),
            false => file.persist_noclobber(&self.path),
        };
        named.map_err(|error| error.error)?;
        replace::sync_name(&self.path)
    }
}
