//! Rows on standard output or in a file: a list of any format, or a Parquet file.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::list_format::{ListFormat, ListOut};
use super::outfile::{OutFile, check_free};
use super::parquet_file::ParquetFile;
use super::unwritten::UnwrittenFile;
use super::{Result, VerbFailure, terminal};
use cento::Error;
pub use cento_report::CellType;

/// The destination of rows.
pub struct RowsOut {
    sink: RowSink,
    path: Option<PathBuf>,
    /// The file, until a row is written.
    unwritten: Option<UnwrittenFile>,
}

enum RowSink {
    List(Box<ListOut<OutFile>>),
    Parquet(Box<ParquetFile>),
}

impl RowsOut {
    /// Begins standard output or a new file. A file name with .parquet gives a Parquet file, whose
    /// column types come from `cell_type`.
    ///
    /// # Errors
    /// When the file name implies a different format, or the file cannot be created.
    pub fn open(
        path: Option<&Path>,
        format: ListFormat,
        columns: &'static [&'static str],
        cell_type: fn(&str) -> CellType,
    ) -> Result<RowsOut> {
        let Some(path) = path else {
            let list = ListOut::new(OutFile::stdout(), format, columns)?;
            return Ok(RowsOut {
                sink: RowSink::List(Box::new(list)),
                path: None,
                unwritten: None,
            });
        };
        terminal::set_plain_output();
        let its_path = Some(path.to_owned());
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("parquet")) {
            if !format.is_human() {
                let what = format!("its name promises Parquet; omit --format {}", format.name());
                return Err(Error::input(path.display().to_string(), what).into());
            }
            check_free(path)?;
            let file = ParquetFile::create(path, columns, cell_type)?;
            let sink = RowSink::Parquet(Box::new(file));
            return Ok(RowsOut { sink, path: its_path, unwritten: None });
        }
        format.check_name(path)?;
        let (out, unwritten) = UnwrittenFile::create(path)?;
        let list = ListOut::new(out, format, columns);
        let list = list.map_err(|error| Error::io("write", path, error))?;
        Ok(RowsOut {
            sink: RowSink::List(Box::new(list)),
            path: its_path,
            unwritten: Some(unwritten),
        })
    }

    /// Writes a row. `human` writes the row for people.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(
        &mut self,
        row: &impl Serialize,
        human: impl FnOnce(&mut OutFile) -> io::Result<()>,
    ) -> Result<()> {
        self.unwritten.iter_mut().for_each(UnwrittenFile::keep);
        let written = match &mut self.sink {
            RowSink::List(list) => list.write(row, human),
            RowSink::Parquet(file) => file.write(row),
        };
        written.map_err(|error| failed(self.path.as_deref(), error))
    }

    /// Returns whether the output is a table, whose rows are of one kind.
    pub fn is_table(&self) -> bool {
        match &self.sink {
            RowSink::List(list) => matches!(**list, ListOut::Rows(_)),
            RowSink::Parquet(_) => true,
        }
    }

    /// Flushes the output, and gives a file its final name.
    ///
    /// # Errors
    /// When writing fails.
    pub fn finish(mut self) -> Result<()> {
        self.unwritten.iter_mut().for_each(UnwrittenFile::keep);
        let written = match self.sink {
            RowSink::List(list) => list.finish().and_then(|mut out| out.finish()),
            RowSink::Parquet(file) => file.finish(),
        };
        written.map(drop).map_err(|error| failed(self.path.as_deref(), error))
    }
}

/// Makes the error for a failed write, with the file name if there is a file.
fn failed(path: Option<&Path>, error: io::Error) -> VerbFailure {
    match path {
        Some(path) => Error::io("write", path, error).into(),
        None => error.into(),
    }
}
