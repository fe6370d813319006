//! Which rows of Parquet files are kept, and where are their copies?
//!
//! What becomes of each row of an input is written to a file beside the copy, its selection. When the
//! run has come to the end of the input, another process copies the rows that are kept, while the run
//! goes on with the next one.

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use cento::{Error, Result, replace};
use cento_source::{Copying, Selection, Tables, is_parquet};
use tempfile::NamedTempFile;

use crate::outfile::OutFile;

/// The copies of some Parquet files in a directory.
pub struct TableFiles {
    tables: Tables,
    dir: PathBuf,
    text_field: String,
    /// Each row is kept, and has a verdict.
    annotates: bool,
    inputs: Vec<PathBuf>,
    /// The number of the input whose rows are being decided upon.
    current: usize,
    /// What has been decided of it.
    selection: Selecting,
    /// The copy of the one before.
    copying: Option<(Copying, NamedTempFile, PathBuf)>,
    /// Selections of the inputs from here to the current one are still there: a run that is resumed
    /// may need them.
    selected: usize,
    /// The current one at the last commit.
    committed: usize,
    /// The run can be resumed if it is interrupted.
    is_resumable: bool,
}

/// A selection that is being written.
struct Selecting {
    file: OutFile,
    /// The number of its lines.
    rows: u64,
}

/// Whether this output is a directory, in which each input has its copy.
pub fn is_dir(out: &Path) -> bool {
    out.is_dir() || out.to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR])
}

impl TableFiles {
    /// Opens the outputs of a run that begins, or of one that was interrupted with the input `at.0`, of
    /// whose selection `at.1` bytes had been written.
    ///
    /// # Errors
    /// When the inputs are not Parquet files with names of their own, or a copy is there already.
    pub fn open(
        tables: Option<Tables>,
        dir: &Path,
        inputs: &[PathBuf],
        text_field: String,
        (annotates, is_resumable): (bool, bool),
        at: Option<(usize, u64)>,
    ) -> Result<TableFiles> {
        let shown = dir.display().to_string();
        let Some(tables) = tables else {
            let what = "the output is a directory, for Parquet files, and this build has no feature \
                        `parquet` to write them";
            return Err(Error::input(shown, what));
        };
        check(dir, inputs, at.is_none())?;
        if !dir.is_dir() {
            std::fs::create_dir_all(dir).map_err(|e| Error::io("create", dir, e))?;
        }
        let (current, length) = at.unwrap_or_default();
        let Some(input) = inputs.get(current) else {
            return Err(Error::input(shown, "the interrupted run had more inputs"));
        };
        let path = selection_of(dir, input);
        let file = match path.exists() {
            false if length == 0 => OutFile::create(&path)?,
            _ => OutFile::resume(&path, length)?,
        };
        let rows = lines_of(&path).map_err(|e| Error::io("read", &path, e))?;
        Ok(TableFiles {
            tables,
            dir: dir.to_owned(),
            text_field,
            annotates,
            inputs: inputs.to_owned(),
            current,
            selection: Selecting { file, rows },
            copying: None,
            selected: current,
            committed: current,
            is_resumable,
        })
    }

    /// Notes what becomes of the row at `place`, a path and a number; rows before it that were not
    /// mentioned are left out.
    ///
    /// # Errors
    /// When the selection or the copy of an input before cannot be written.
    pub fn select(&mut self, place: &str, selection: Selection<'_>) -> Result<()> {
        let found = place.rsplit_once(':').and_then(|(path, row)| Some((path, row.parse().ok()?)));
        let (path, row): (&str, u64) =
            found.ok_or_else(|| Error::internal(place, "it is no place of a row"))?;
        let is_current = |input: &PathBuf| name_of(input) == path;
        let at = self.inputs[self.current..].iter().position(is_current);
        let at = at.ok_or_else(|| Error::internal(place, "it is in none of the inputs"))?;
        let at = self.current + at;
        while self.current < at {
            self.end_input()?;
        }
        let file = &mut self.selection.file;
        let skipped = row.saturating_sub(self.selection.rows + 1);
        let mut written = Ok(());
        for _ in 0..skipped {
            written = written.and_then(|()| write!(file, "{}", Selection::Dropped.to_line()));
        }
        let written = written.and_then(|()| write!(file, "{}", selection.to_line()));
        written.map_err(|e| file.failed(e))?;
        self.selection.rows = row;
        Ok(())
    }

    /// Whether this is the name of an input as a whole.
    pub fn is_input(&self, place: &str) -> bool {
        self.inputs.iter().any(|input| name_of(input) == place)
    }

    /// Begins to copy what is kept of the current input, and goes on to the next one.
    fn end_input(&mut self) -> Result<()> {
        self.end_copying()?;
        let file = &mut self.selection.file;
        file.sync().map_err(|e| file.failed(e))?;
        let input = &self.inputs[self.current];
        let target = self.dir.join(file_name(input));
        let selection = selection_of(&self.dir, input);
        let failed = |e| Error::io("create", &target, e);
        let new = replace::beside(&target).map_err(failed)?;
        let out = new.as_file().try_clone().map_err(failed)?;
        let (text, annotates) = (&self.text_field, self.annotates);
        let copying = self.tables.copy(input, out, &selection, text, annotates)?;
        self.copying = Some((copying, new, target));
        self.current += 1;
        if let Some(next) = self.inputs.get(self.current) {
            let path = selection_of(&self.dir, next);
            // One that is there is of a run that was interrupted, before this.
            let file = match path.exists() {
                true => OutFile::resume(&path, 0)?,
                false => OutFile::create(&path)?,
            };
            self.selection = Selecting { file, rows: 0 };
        }
        Ok(())
    }

    /// Waits until the copy that is being made has its name for good.
    fn end_copying(&mut self) -> Result<()> {
        let Some((copying, new, target)) = self.copying.take() else { return Ok(()) };
        copying.finish()?;
        let failed = |e| Error::io("write", &target, e);
        new.persist(&target).map_err(|e| failed(e.error))?;
        replace::sync_name(&target).map_err(failed)
    }

    /// Makes what has been written durable. Returns the number of the current input, and the length of
    /// its selection.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn sync(&mut self) -> Result<(usize, u64)> {
        self.end_copying()?;
        let file = &mut self.selection.file;
        let length = file.sync().map_err(|e| file.failed(e))?;
        self.remove_selections(self.committed)?;
        self.committed = self.current;
        Ok((self.current, length))
    }

    /// Ends the last inputs.
    ///
    /// # Errors
    /// When a copy cannot be written.
    pub fn finish(&mut self) -> Result<()> {
        while self.current < self.inputs.len() {
            self.end_input()?;
        }
        self.end_copying()?;
        self.remove_selections(self.inputs.len())
    }

    /// Removes the selections of inputs before this one.
    fn remove_selections(&mut self, end: usize) -> Result<()> {
        while self.selected < end {
            let path = selection_of(&self.dir, &self.inputs[self.selected]);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", path, error));
                }
                _ => self.selected += 1,
            }
        }
        Ok(())
    }
}

impl Drop for TableFiles {
    fn drop(&mut self) {
        if !self.is_resumable {
            // Nothing more can be done about one that stays.
            let _ = self.remove_selections((self.current + 1).min(self.inputs.len()));
        }
    }
}

/// Refuses inputs that cannot have copies in this directory.
fn check(dir: &Path, inputs: &[PathBuf], is_new: bool) -> Result<()> {
    for (at, input) in inputs.iter().enumerate() {
        let shown = input.display().to_string();
        if input.is_dir() || input == Path::new("-") || !is_parquet(input)? {
            let what = "it is no Parquet file; where the output is a directory, all inputs are Parquet \
                        files";
            return Err(Error::input(shown, what));
        }
        if inputs[..at].iter().any(|other| file_name(other) == file_name(input)) {
            let what = "two inputs have this file name, and their copies would be one file";
            return Err(Error::input(shown, what));
        }
        let target = dir.join(file_name(input));
        if is_new && target.exists() {
            let what = "the file exists already; choose another directory, or remove it";
            return Err(Error::input(target.display().to_string(), what));
        }
    }
    Ok(())
}

/// How documents of an input name it.
fn name_of(input: &Path) -> String {
    let name = input.to_string_lossy();
    name.strip_prefix("./").unwrap_or(&name).to_owned()
}

fn file_name(input: &Path) -> PathBuf {
    input.file_name().map_or_else(|| input.to_owned(), PathBuf::from)
}

fn selection_of(dir: &Path, input: &Path) -> PathBuf {
    dir.join(format!(".{}.rows", file_name(input).display()))
}

fn lines_of(path: &Path) -> io::Result<u64> {
    let (mut reader, mut lines) = (BufReader::new(std::fs::File::open(path)?), 0);
    loop {
        let bytes = reader.fill_buf()?;
        let len = bytes.len();
        if len == 0 {
            return Ok(lines);
        }
        lines += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        reader.consume(len);
    }
}
