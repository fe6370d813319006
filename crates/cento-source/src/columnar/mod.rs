//! Reads the rows of Parquet and Arrow files as documents.
//!
//! A row becomes a line of JSON with a member for each column, so that rows are read and named like
//! other records. The parsers of these formats are large, and their input is untrusted. They run in
//! a separate process, the worker ([`serve`]), which is the same program with a hidden verb. The
//! worker gets the file as standard input and writes lines to standard output. If the worker
//! crashes, takes too long for a few rows or needs too much memory, only this file fails, with a
//! reason.
//!
//! The worker also copies selected rows of a Parquet file ([`Tables::copy`]).
//!
//! An answer is a sequence of frames: a kind, a number and a length (1, 8 and 8 bytes,
//! little-endian), followed by that number of bytes. See [`Frame`].

#[cfg(feature = "parquet")]
mod batch;
#[cfg(feature = "parquet")]
mod columns;
#[cfg(feature = "parquet")]
mod copy;
#[cfg(feature = "parquet")]
mod input;
#[cfg(feature = "parquet")]
mod rows;
#[cfg(feature = "parquet")]
mod values;
#[cfg(feature = "parquet")]
mod worker;

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use cento::{Error, Reason, Refusal, Result};
use serde::{Deserialize, Serialize};

use crate::format::{Columnar, PARQUET};
use crate::jsonl::{ADDED, CHUNK_BYTES, Lines};
use crate::table::Fault;
use crate::worker::{Process, by_limit};
use crate::{MetaFields, SourceOptions, TextField};

#[cfg(feature = "parquet")]
pub use worker::serve;

/// The argument that makes the program a worker. A request follows as the next argument.
pub const WORKER_VERB: &str = "table-worker";

/// The maximum memory of a worker, in bytes. Enforced on Linux only.
pub const TABLE_MEMORY_BYTES_MAX: u64 = 2 << 30;

/// The maximum unpacked size of a compressed or archived file, in bytes.
const UNPACKED_BYTES_MAX: u64 = 8 << 30;

/// The reasons that a worker reports by number, from 1.
const REASONS: [Reason<'static>; 2] = [Reason::UnusableIds, Reason::MissingField { field: "text" }];

/// The maximum size of the reason for a failure, in bytes.
const REASON_BYTES_MAX: usize = 4 << 10;

/// A request to a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// The rows of standard input.
    Read(TableRequest),
    /// Copies selected rows of standard input to standard output.
    Copy {
        /// The path of a file with a line for each row ([`Selection`]).
        selection: PathBuf,
        /// The column whose texts a selection may replace.
        text: String,
        /// The kind of annotations, which add a column to the copy.
        annotation: Option<Annotation>,
    },
}

/// A request for the rows of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRequest {
    /// The kind of the file.
    pub kind: Columnar,
    /// The column of the ids, which may be absent.
    pub id: String,
    /// The columns of the texts.
    pub text: TextField,
    /// The columns of the meta objects, which may be absent.
    pub meta: MetaFields,
    /// Return all columns, for copying records, not only the columns of documents.
    pub all: bool,
    /// Longer rows are not given.
    pub row_bytes_max: usize,
}

/// The kind of a frame, as its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Frame {
    /// Lines of JSON. The number is the row number of the first line, from 1.
    Rows = 0,
    /// The row of this number is too long.
    TooLong = 1,
    /// The file does not contain documents, and why.
    Refused = 2,
    /// The file cannot be read further, and why.
    Failed = 3,
    /// There are no more rows.
    End = 4,
    /// The row of this number is not a record, and why.
    Bad = 5,
    /// The names of the columns, with a flag for columns that are read, as a JSON list.
    Columns = 6,
}

/// The maximum number of column names that a worker reports, and the maximum length of a name.
/// Columns that the options name come first.
#[cfg(feature = "parquet")]
const COLUMNS_MAX: usize = 100;
#[cfg(feature = "parquet")]
const COLUMN_BYTES_MAX: usize = 1 << 10;

/// The treatment of a row when a file is copied: a line of a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection<'a> {
    /// The row is dropped.
    Dropped,
    /// The row is copied unchanged.
    Kept,
    /// The row is copied with this text instead of its own.
    Text(&'a str),
    /// The row is copied, with this JSON object in the column of [annotations](Annotation).
    Annotated(&'a str),
}

impl Selection<'_> {
    /// Returns the line of the selection, with a line feed.
    #[must_use]
    pub fn to_line(self) -> String {
        match self {
            Selection::Dropped => "-\n".into(),
            Selection::Kept => "+\n".into(),
            Selection::Text(text) => serde_json::Value::from(text).to_string() + "\n",
            Selection::Annotated(object) => format!("{object}\n"),
        }
    }
}

/// The kind of annotations in a copy: a verb's verdict on each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Annotation {
    /// The verdict of a deduplication.
    Dedup,
    /// The verdict of a decontamination.
    Decontaminate,
}

impl Annotation {
    /// Returns the name of the column, which is the name of the verb.
    #[must_use]
    pub fn column(self) -> &'static str {
        match self {
            Annotation::Dedup => "dedup",
            Annotation::Decontaminate => "decontaminate",
        }
    }

    /// Returns the members of the column, with a flag for numbers. Only the first member is
    /// required.
    #[cfg(feature = "parquet")]
    fn members(self) -> [(&'static str, bool); 5] {
        match self {
            Annotation::Dedup => [
                ("verdict", false),
                ("of", false),
                ("resemblance", true),
                ("containment", true),
                ("kept_as", false),
            ],
            Annotation::Decontaminate => [
                ("verdict", false),
                ("benchmark", false),
                ("question", false),
                ("share", true),
                ("questions", true),
            ],
        }
    }
}

/// Reads and copies Parquet and Arrow files with workers.
#[derive(Debug, Clone)]
pub struct Tables {
    program: PathBuf,
}

impl Tables {
    /// Uses `program` as the worker. It is started with the arguments `table-worker` and a request,
    /// and runs [`serve_as_worker`](crate::serve_as_worker). The command `cento` with the feature
    /// `parquet` is such a program.
    #[must_use]
    pub fn by(program: impl Into<PathBuf>) -> Tables {
        Tables { program: program.into() }
    }

    /// Copies selected rows of the Parquet file `from` to `to`. The copy has the same columns, and
    /// row groups of at most the same size. `selection` is a file with a line for each row
    /// ([`Selection`]), which may replace values of the column `text`. With an `annotation`, every
    /// kept row needs a line with an annotation.
    ///
    /// Returns immediately. [`Copying::finish`] waits for the end.
    ///
    /// # Errors
    /// When a file cannot be opened, or the worker cannot be started.
    pub fn copy(
        &self,
        from: &Path,
        to: File,
        selection: &Path,
        text: &str,
        annotation: Option<Annotation>,
    ) -> Result<Copying> {
        let file = File::open(from).map_err(|e| Error::io("read", from, e))?;
        let (selection, text) = (selection.to_owned(), text.to_owned());
        let request = Request::Copy { selection, text, annotation };
        let started = self.start(&request, file, to.into(), Stdio::piped());
        let process = started.map_err(|e| Error::io("copy", from, e))?;
        Ok(Copying { process, from: from.to_owned() })
    }

    fn start(
        &self,
        request: &Request,
        input: File,
        output: Stdio,
        errors: Stdio,
    ) -> io::Result<Process> {
        let request = serde_json::to_string(request).map_err(io::Error::other)?;
        let arguments = [WORKER_VERB.to_owned(), request];
        let started = Process::start(&self.program, &arguments, [input.into(), output, errors]);
        started.map_err(|error| {
            let program = self.program.display();
            let what = format!("it is read by {program}, which cannot be started: {error}");
            io::Error::other(what)
        })
    }

    /// Calls `emit` with the rows of a file, as lines of JSON.
    pub(crate) fn read(
        &self,
        source: impl Read,
        file: Option<File>,
        kind: Columnar,
        options: &SourceOptions,
        emit: &mut dyn FnMut(Lines) -> ControlFlow<()>,
    ) -> std::result::Result<ControlFlow<()>, Fault> {
        let file = match file {
            Some(file) => file,
            None => unpacked(source)?,
        };
        let row_bytes_max = options.record_bytes_max;
        let request = Request::Read(TableRequest {
            kind,
            id: options.id_field.clone(),
            text: options.text_field.clone(),
            meta: options.meta_fields.clone(),
            all: options.keeps_records,
            row_bytes_max,
        });
        let mut process = self.start(&request, file, Stdio::piped(), Stdio::null())?;
        let mut output = process.0.stdout.take().expect("it is a pipe");
        let mut next = 1;
        loop {
            let frame = read_frame(&mut output, row_bytes_max);
            let Ok((kind, number, bytes)) = frame else {
                let status = process.ended();
                return Err(Fault::Read(io::Error::other(said_of(status, next))));
            };
            let lines = match kind {
                Frame::End => return Ok(ControlFlow::Continue(())),
                Frame::Refused => {
                    let known = number.checked_sub(1).and_then(|at| REASONS.get(at as usize));
                    let refusal = Refusal { reason: known.copied(), what: reason(&bytes) };
                    return Err(Fault::Input(refusal));
                }
                Frame::Failed => return Err(Fault::Read(io::Error::other(reason(&bytes)))),
                Frame::TooLong => Lines::TooLong(number),
                Frame::Bad => Lines::Bad(number, reason(&bytes)),
                Frame::Rows => Lines::Whole { first_line: number, bytes },
                Frame::Columns => {
                    tell_columns(&bytes, options);
                    continue;
                }
            };
            next = match &lines {
                Lines::Whole { first_line, bytes } => {
                    first_line + memchr::memchr_iter(b'\n', bytes).count() as u64
                }
                _ => number + 1,
            };
            if emit(lines).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
}

/// Records which columns become part of documents. A column that is read only for a copy does not.
fn tell_columns(columns: &[u8], options: &SourceOptions) {
    let Some(all) = &options.field_use else { return };
    let columns: Vec<(String, bool)> = serde_json::from_slice(columns).unwrap_or_default();
    let kept: HashSet<&str> =
        columns.iter().filter(|(_, is_read)| *is_read).map(|(name, _)| name.as_str()).collect();
    let are_all = options.meta_fields.are_all();
    let is_kept = |name: &str| are_all && name != ADDED && kept.contains(name);
    let names = columns.iter().map(|(name, _)| name.as_str());
    all.add_columns(names, options, is_kept);
}

/// A copy in progress. Dropping the value stops the copy.
#[derive(Debug)]
pub struct Copying {
    process: Process,
    from: PathBuf,
}

impl Copying {
    /// Waits for the end.
    ///
    /// # Errors
    /// When the file cannot be read or the copy cannot be written, with the reason.
    pub fn finish(mut self) -> Result<()> {
        let mut said = Vec::new();
        if let Some(errors) = self.process.0.stderr.take() {
            // If the worker could not write a reason, the exit status shows what happened.
            let _ = errors.take(REASON_BYTES_MAX as u64).read_to_end(&mut said);
        }
        let status = self.process.0.wait().map_err(|e| Error::io("copy", &self.from, e))?;
        if status.success() {
            return Ok(());
        }
        let said = match reason(&said) {
            said if said.is_empty() || by_limit(status).is_some() => said_of(Some(status), 0),
            said => said,
        };
        Err(Error::io("copy the rows of", &self.from, io::Error::other(said)))
    }
}

/// Returns why a process gives no more rows. `next` is the number of the row expected next.
fn said_of(status: Option<ExitStatus>, next: u64) -> String {
    let place = if next > 1 { format!("after row {}: ", next - 1) } else { String::new() };
    match status.and_then(by_limit) {
        Some(limit) => format!("{place}reading a few rows took more than {limit}"),
        None => format!(
            "{place}the process that reads it ended{}: the file is damaged, or a few rows need \
             more than {} MiB of memory",
            status.map_or(String::new(), |status| format!(" ({status})")),
            TABLE_MEMORY_BYTES_MAX >> 20
        ),
    }
}

/// Returns the message of a worker, cut to the maximum length.
fn reason(bytes: &[u8]) -> String {
    let said = String::from_utf8_lossy(&bytes[..bytes.len().min(REASON_BYTES_MAX)]);
    said.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn read_frame(input: &mut impl Read, row_bytes_max: usize) -> io::Result<(Frame, u64, Vec<u8>)> {
    let mut head = [0; 17];
    input.read_exact(&mut head)?;
    let [kind, rest @ ..] = head;
    let number = |at: usize| {
        let bytes: [u8; 8] = rest[at..at + 8].try_into().expect("it has 16 bytes");
        u64::from_le_bytes(bytes)
    };
    let kinds = [
        Frame::Rows,
        Frame::TooLong,
        Frame::Refused,
        Frame::Failed,
        Frame::End,
        Frame::Bad,
        Frame::Columns,
    ];
    let kind = kinds.into_iter().find(|found| *found as u8 == kind);
    let kind = kind.ok_or_else(|| io::Error::other("it is no answer"))?;
    let (number, len) = (number(0), number(8));
    // A worker sends lines before their size exceeds a chunk, so only a single row adds to the
    // chunk size.
    if len > CHUNK_BYTES.saturating_add(row_bytes_max as u64).saturating_add(1) {
        return Err(io::Error::other("it says too much"));
    }
    let mut bytes = Vec::new();
    let read = input.take(len).read_to_end(&mut bytes)?;
    match read as u64 == len {
        true => Ok((kind, number, bytes)),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Returns a temporary file with the bytes of a stream. Closing the file deletes it.
fn unpacked(stream: impl Read) -> std::result::Result<File, Fault> {
    let mut file = tempfile::tempfile()?;
    let copied = io::copy(&mut stream.take(UNPACKED_BYTES_MAX + 1), &mut file)?;
    if copied > UNPACKED_BYTES_MAX {
        let max = UNPACKED_BYTES_MAX >> 30;
        let what = format!("it has more than {max} GiB; unpack it to a file first");
        return Err(Fault::Input(what.into()));
    }
    file.rewind()?;
    Ok(file)
}

/// Returns whether the file at `path` begins like a Parquet file.
///
/// # Errors
/// When it cannot be read.
pub fn is_parquet(path: &Path) -> Result<bool> {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4).read_to_end(&mut start));
    read.map_err(|e| Error::io("read", path, e))?;
    Ok(start == PARQUET)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// Returns the output of a worker that runs this script.
    fn read_by(script: &str) -> (Vec<Lines>, String) {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("worker");
        std::fs::write(&program, format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let options = SourceOptions { record_bytes_max: 1 << 20, ..SourceOptions::default() };
        let mut lines = Vec::new();
        let read = Tables::by(program).read(
            &b"PAR1"[..],
            None,
            Columnar::Parquet,
            &options,
            &mut |found| {
                lines.push(found);
                ControlFlow::Continue(())
            },
        );
        let why = match read {
            Ok(_) => String::new(),
            Err(Fault::Input(what)) => format!("input: {what}"),
            Err(Fault::Read(error)) => format!("read: {error}"),
        };
        (lines, why)
    }

    const ROWS: &str =
        r"printf '\000\001\000\000\000\000\000\000\000\006\000\000\000\000\000\000\000{}\n{}\n'";
    const END: &str =
        r"printf '\004\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000'";

    #[test]
    fn a_worker_gives_rows_until_it_says_that_there_are_no_more() {
        let rows = vec![Lines::Whole { first_line: 1, bytes: b"{}\n{}\n".to_vec() }];
        assert_eq!(read_by(&format!("{ROWS}\n{END}")), (rows, String::new()));
        let refused =
            r"printf '\002\000\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000no'";
        assert_eq!(read_by(refused), (vec![], "input: no".into()));
        let failed =
            r"printf '\003\000\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000no'";
        assert_eq!(read_by(failed), (vec![], "read: no".into()));
    }

    #[test]
    fn a_worker_that_ends_before_is_a_failure_with_its_place() {
        let (rows, why) = read_by(&format!("{ROWS}\nexit 3"));
        assert_eq!(rows.len(), 1);
        assert!(why.starts_with("read: after row 2: ") && why.contains("exit status: 3"), "{why}");
        let (_, why) = read_by("kill -XCPU $$");
        assert!(why.contains("20 s of processor time"), "{why}");
        // A frame of an unknown kind, and a frame of 2^63 bytes.
        for answer in [
            r"printf '\011'; head -c 99 /dev/zero",
            r"printf '\000\001\000\000\000\000\000\000\000\000\000\000\000\000\000\000\200'; cat /dev/zero",
        ] {
            let (rows, why) = read_by(answer);
            assert!(rows.is_empty() && why.contains("the process that reads it ended"), "{why}");
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let options = SourceOptions::default();
        let read = Tables::by("/no/such/program").read(
            &b""[..],
            None,
            Columnar::Arrow,
            &options,
            &mut |_| ControlFlow::Continue(()),
        );
        let Err(Fault::Read(error)) = read else { panic!("it was read") };
        assert!(error.to_string().contains("/no/such/program, which cannot be started"), "{error}");
    }
}
