//! Copies of Parquet files with the rows that are kept.
//!
//! The decision on each row of an input is written to a file beside the copy, its selection. When
//! the run has come to the end of the input, another process copies the rows that are kept, while
//! the run goes on with the next one.

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use cento::runtime::replace;
use cento::{Error, Refusal, Result};
use cento_source::{Annotation, Copying, Selection, Tables};
use tempfile::NamedTempFile;

use super::tree::TableInput;
use crate::outfile::OutFile;

/// The copies of some Parquet files in a directory.
pub struct TableFiles {
    tables: Tables,
    dir: PathBuf,
    text_field: String,
    /// If there is one, each row is kept, and has an annotation.
    annotation: Option<Annotation>,
    inputs: Vec<TableInput>,
    /// The number of the input whose rows are being decided upon.
    current: usize,
    /// The decisions on its rows.
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

/// Returns whether this output is a directory with a copy of each input.
pub fn is_dir(out: &Path) -> bool {
    out.is_dir() || out.to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR])
}

impl TableFiles {
    /// Opens the outputs of a run that begins, or of one that was interrupted in the input `at.0`,
    /// after `at.1` bytes of its selection.
    ///
    /// # Errors
    /// When a directory cannot be created, or a copy is there already.
    pub fn open(
        tables: Option<Tables>,
        dir: &Path,
        inputs: &[TableInput],
        text_field: String,
        (annotation, is_resumable): (Option<Annotation>, bool),
        at: Option<(usize, u64)>,
    ) -> Result<TableFiles> {
        let shown = dir.display().to_string();
        let Some(tables) = tables else {
            let subject = "the output is a directory, for Parquet files: to write them";
            return Err(Error::input(
                shown,
                Refusal::unsupported(subject, "parquet", "cento-source"),
            ));
        };
        if at.is_none() {
            check_new(dir, inputs)?;
        }
        let (current, length) = at.unwrap_or_default();
        let Some(input) = inputs.get(current) else {
            return Err(Error::input(shown, "the interrupted run had more inputs"));
        };
        let path = selection_of(dir, input)?;
        let file = match path.exists() {
            false if length == 0 => OutFile::create(&path)?,
            _ => OutFile::resume(&path, length)?,
        };
        let rows = lines_of(&path).map_err(|e| Error::io("read", &path, e))?;
        Ok(TableFiles {
            tables,
            dir: dir.to_owned(),
            text_field,
            annotation,
            inputs: inputs.to_owned(),
            current,
            selection: Selecting { file, rows },
            copying: None,
            selected: current,
            committed: current,
            is_resumable,
        })
    }

    /// Notes the decision on the row at `place`, a path and a number; rows before it that were not
    /// mentioned are left out.
    ///
    /// # Errors
    /// When the selection or the copy of an input before cannot be written.
    pub fn select(&mut self, place: &str, selection: Selection<'_>) -> Result<()> {
        let found = place.rsplit_once(':').and_then(|(path, row)| Some((path, row.parse().ok()?)));
        let (path, row): (&str, u64) =
            found.ok_or_else(|| Error::internal(place, "it is no place of a row"))?;
        let is_current = |input: &TableInput| *input.place == *path;
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

    /// Returns whether this is the name of an input as a whole.
    pub fn is_input(&self, place: &str) -> bool {
        self.inputs.iter().any(|input| *input.place == *place)
    }

    /// Begins to copy the kept rows of the current input, and goes on to the next one.
    fn end_input(&mut self) -> Result<()> {
        self.end_copying()?;
        let file = &mut self.selection.file;
        file.sync().map_err(|e| file.failed(e))?;
        let input = &self.inputs[self.current];
        let target = self.dir.join(&input.copy);
        let selection = selection_of(&self.dir, input)?;
        let failed = |e| Error::io("create", &target, e);
        let new = unfinished(&target).map_err(failed)?;
        let out = new.as_file().try_clone().map_err(failed)?;
        let (text, annotation) = (&self.text_field, self.annotation);
        let copying = self.tables.copy(&input.path, out, &selection, text, annotation)?;
        self.copying = Some((copying, new, target));
        self.current += 1;
        if let Some(next) = self.inputs.get(self.current) {
            let path = selection_of(&self.dir, next)?;
            // An existing file is from a run that was interrupted before this one.
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

    /// Makes everything written durable. Returns the number of the current input, and the length of
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
            let path = selection_of(&self.dir, &self.inputs[self.selected])?;
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
            // Nothing more can be done about a file that cannot be removed.
            let _ = self.remove_selections((self.current + 1).min(self.inputs.len()));
        }
    }
}

/// Refuses to write where there is a file.
fn check_new(dir: &Path, inputs: &[TableInput]) -> Result<()> {
    for target in inputs.iter().map(|input| dir.join(&input.copy)) {
        if target.exists() {
            let what = "the file exists already; choose another directory, or remove it";
            return Err(Error::input(target.display().to_string(), what));
        }
    }
    Ok(())
}

/// Creates the file that becomes the copy at `target`: with its own name, so that a run that is
/// resumed removes the file of one that was killed.
fn unfinished(target: &Path) -> io::Result<NamedTempFile> {
    let dir = target.parent().unwrap_or(Path::new("."));
    let name = format!(".{}.part", target.file_name().unwrap_or_default().display());
    match std::fs::remove_file(dir.join(&name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(&name).rand_bytes(0);
    // As any file that the user creates: what the mask leaves.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(dir)
}

/// Returns the selection of an input, beside its copy, in a directory that is there.
fn selection_of(dir: &Path, input: &TableInput) -> Result<PathBuf> {
    let copy = dir.join(&input.copy);
    let dir = copy.parent().unwrap_or(dir);
    if !dir.is_dir() {
        std::fs::create_dir_all(dir).map_err(|e| Error::io("create", dir, e))?;
    }
    let name = copy.file_name().unwrap_or_default();
    Ok(dir.join(format!(".{}.rows", name.display())))
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
