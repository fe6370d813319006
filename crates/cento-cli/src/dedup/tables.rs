//! Copies of Parquet files with only the kept rows.
//!
//! The decisions on the rows of an input go to a file beside the copy, called the selection. At the
//! end of the input, a separate process copies the kept rows while the run continues with the next
//! input.

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use cento::runtime::replace;
use cento::{Error, Refusal, Result};
use cento_source::{Annotation, Copying, Selection, Tables};
use tempfile::NamedTempFile;

use super::tree::TableInput;
use crate::outfile::OutFile;

/// Copies of Parquet files in an output directory.
pub struct TableFiles {
    tables: Tables,
    dir: PathBuf,
    text_field: String,
    /// With an annotation, every row is kept and annotated.
    annotation: Option<Annotation>,
    inputs: Vec<TableInput>,
    /// The number of the input whose rows are being decided upon.
    current: usize,
    /// The selection of the current input.
    selection: Selecting,
    /// The unfinished copy of the previous input.
    copying: Option<(Copying, NamedTempFile, PathBuf)>,
    /// The first input whose selection still exists. A resumed run may need every selection from
    /// here to the current input.
    selected: usize,
    /// The current input at the last commit.
    committed: usize,
    /// Whether an interrupted run can be resumed.
    is_resumable: bool,
    /// Whether this run continues an interrupted run.
    is_resumed: bool,
}

struct Selecting {
    file: OutFile,
    /// Rows decided so far, one line each.
    rows: u64,
}

/// Returns whether the output is a directory with a copy per input.
pub fn is_dir(out: &Path) -> bool {
    out.is_dir() || out.to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR])
}

impl TableFiles {
    /// Opens the outputs of a new run, or of a run that was interrupted in the input `at.0` after
    /// `at.1` bytes of the selection.
    ///
    /// # Errors
    /// When a directory cannot be created, or a copy exists already.
    pub fn open(
        tables: Option<Tables>,
        dir: &Path,
        inputs: &[TableInput],
        text_field: String,
        annotation: Option<Annotation>,
        is_resumable: bool,
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
            is_resumed: at.is_some(),
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
            // An existing file belongs to an earlier, interrupted run.
            let file = match path.exists() {
                true => OutFile::resume(&path, 0)?,
                false => OutFile::create(&path)?,
            };
            self.selection = Selecting { file, rows: 0 };
        }
        Ok(())
    }

    /// Waits until the copy in progress has its durable name.
    fn end_copying(&mut self) -> Result<()> {
        let Some((copying, new, target)) = self.copying.take() else { return Ok(()) };
        copying.finish()?;
        let failed = |e| Error::io("write", &target, e);
        new.persist(&target).map_err(|e| failed(e.error))?;
        replace::sync_name(&target).map_err(failed)
    }

    /// Makes everything written durable. Returns the number of the current input and the length of
    /// the current selection.
    ///
    /// # Errors
    /// When a file cannot be written.
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

    /// Removes the copies of a run that was not resumed, and directories left empty.
    pub fn discard(mut self) {
        if self.is_resumed {
            return;
        }
        // Removal is best effort: the reason for it is an error already.
        let _ = self.end_copying();
        let _ = self.remove_selections((self.current + 1).min(self.inputs.len()));
        for (at, input) in self.inputs.iter().enumerate() {
            let copy = self.dir.join(&input.copy);
            if at < self.current {
                let _ = std::fs::remove_file(&copy);
            }
            let inner = copy.ancestors().skip(1).take_while(|dir| dir.starts_with(&self.dir));
            inner.for_each(|dir| drop(std::fs::remove_dir(dir)));
        }
    }

    /// Removes the selections of the inputs before `end`.
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
            // Removal is best effort: `drop` cannot report an error.
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

/// Creates the temporary file for the copy at `target`. The name is derived from `target`, so that
/// a resumed run finds and removes the file of a killed run.
fn unfinished(target: &Path) -> io::Result<NamedTempFile> {
    let dir = target.parent().unwrap_or(Path::new("."));
    let name = format!(".{}.part", target.file_name().unwrap_or_default().display());
    match std::fs::remove_file(dir.join(&name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(&name).rand_bytes(0);
    // Temporary files are private by default. The copy gets the permissions that the umask leaves.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(dir)
}

/// Returns the path of an input's selection, beside the copy, and creates the directory.
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
