//! Output files: path, format, and continuation after an interruption.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use cento::runtime::replace;
use cento::{Error, Result};
use cento_report::{Delimiter, OWN_FILE_BYTES, is_own_file};
use cento_source::{Annotation, SourceOptions, TableForm};
use flate2::write::GzEncoder;

/// Standard output, or a file written from a given position. The file name decides on compression.
pub struct OutFile {
    /// `None` only while an encoder takes ownership of the stream.
    stream: Option<OutputStream>,
    compression: Compression,
    target: OutputTarget,
}

enum OutputTarget {
    StandardOutput,
    /// A pipe or a device, which can be neither truncated nor synced.
    Stream(PathBuf),
    File(File, PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    None,
    Gzip,
    Zstd,
}

/// The target of writes. [`OutFile::sync`] ends a member or frame. A resumed run appends more
/// members, and readers decode the file as one stream.
enum OutputStream {
    Plain(CountedWrites),
    Gzip(GzEncoder<CountedWrites>),
    Zstd(zstd::Encoder<'static, CountedWrites>),
}

/// Bytes on their way to a file.
struct CountedWrites {
    writer: BufWriter<Box<dyn Write>>,
    /// The length so far, with the bytes of earlier runs.
    written: u64,
}

impl Write for CountedWrites {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.writer.write(bytes)?;
        self.written += len as u64;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// The output format that a file name implies, without the ending for compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromisedFormat {
    /// No particular form: lines are written.
    Lines,
    /// A table, with the delimiter that the file name implies.
    Table(Delimiter),
}

/// File name endings of formats other than lines.
const TABLES: [(&str, Delimiter); 3] =
    [("csv", Delimiter::Comma), ("tsv", Delimiter::Tab), ("tab", Delimiter::Tab)];
const COLUMNS: [&str; 4] = ["parquet", "arrow", "feather", "ipc"];
const OTHERS: [&str; 14] = [
    "bz2", "xz", "zip", "tar", "tgz", "7z", "lz4", "br", "json", "html", "xml", "pdf", "docx",
    "xlsx",
];

/// Returns the ending of a name, in small letters.
fn ending_of(path: &Path) -> Option<String> {
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase())
}

/// Returns the output format that a file name implies. `lines` names the data in the error.
///
/// # Errors
/// When cento does not write the implied format.
pub fn promised(path: &Path, lines: &str) -> Result<PromisedFormat> {
    let Some(ending) = ending_of(&Compression::of(path).1) else {
        return Ok(PromisedFormat::Lines);
    };
    let is_in = |list: &[&str]| list.contains(&ending.as_str());
    let instead = format!(
        "its name promises .{ending}, and {lines} are written; end the name in .jsonl, .jsonl.gz \
         or .jsonl.zst"
    );
    if let Some((_, delimiter)) = TABLES.iter().find(|(table, _)| *table == ending) {
        return Ok(PromisedFormat::Table(*delimiter));
    }
    match () {
        () if is_in(&COLUMNS) => {
            let what = format!("{instead}, or in / to copy Parquet files into a directory");
            Err(Error::input(path.display().to_string(), what))
        }
        () if is_in(&OTHERS) => Err(Error::input(path.display().to_string(), instead)),
        () => Ok(PromisedFormat::Lines),
    }
}

/// Returns the table format of `out`, if the file name implies a table: the columns of the input
/// tables, and one column of annotations.
///
/// # Errors
/// When the name implies another format, or the inputs are not tables with equal columns.
pub fn table_form(
    out: &Path,
    inputs: &[PathBuf],
    source: &SourceOptions,
    annotation: Option<Annotation>,
) -> Result<Option<TableForm>> {
    let PromisedFormat::Table(delimiter) = promised(out, "JSON lines")? else { return Ok(None) };
    let form = TableForm::of_files(inputs, source).map_err(|error| match error {
        Error::Input { .. } => {
            let what = format!(
                "a table has the columns of its input, but {error}; end the name in .jsonl"
            );
            Error::input(out.display().to_string(), what)
        }
        error => error,
    })?;
    let form = match delimiter {
        Delimiter::Comma => form.without_tabs(),
        Delimiter::Tab => form.with_tabs(),
    };
    Ok(Some(match annotation {
        Some(annotation) => {
            let column = annotation.column();
            form.with_column(column).ok_or_else(|| {
                let what = format!("it has a column `{column}` already; rename that column");
                let places: Vec<_> = inputs.iter().map(|path| path.display().to_string()).collect();
                Error::input(places.join(", "), what)
            })?
        }
        None => form,
    }))
}

/// Refuses to write into an input, or two outputs into one file.
///
/// # Errors
/// When a path of `written` equals a path of `read`, is below one, or occurs twice.
pub fn check_apart<'a>(
    read: &[PathBuf],
    written: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    // Only existing paths can be canonicalized, so a new file is located by its directory.
    let place = |path: &Path| {
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        let dir = dir.unwrap_or(Path::new(".")).canonicalize().ok()?;
        path.canonicalize().ok().or_else(|| Some(dir.join(path.file_name()?)))
    };
    let mut others: Vec<PathBuf> = Vec::new();
    for path in written {
        if path == Path::new("-") {
            let what = "it is no name of a file; name /dev/stdout for standard output";
            return Err(Error::input("-", what));
        }
        let Some(written_at) = place(path) else { continue };
        let refused = |what: String| Err(Error::input(path.display().to_string(), what));
        let is_read = |input: &&PathBuf| {
            input.canonicalize().is_ok_and(|input| written_at.starts_with(input))
        };
        if !is_stream(path)
            && let Some(input) = read.iter().find(is_read)
        {
            let (is_same, input) =
                (input.canonicalize().is_ok_and(|input| input == written_at), input.display());
            return refused(match is_same {
                true => format!("this output is the input {input}; write to another file"),
                false => format!(
                    "this output is inside the input {input}, where the next run would read it; \
                     write it to another folder"
                ),
            });
        }
        if !is_stream(path) && others.contains(&written_at) {
            return refused("two outputs have this name; give each its own".into());
        }
        others.push(written_at);
    }
    Ok(())
}

/// Refuses a file name that implies any format but lines.
///
/// # Errors
/// When the name implies a table or another known format.
pub fn check_lines(path: &Path, lines: &str) -> Result<()> {
    match promised(path, lines)? {
        PromisedFormat::Lines => Ok(()),
        PromisedFormat::Table(_) => {
            let what = format!(
                "its name promises a table, and {lines} are written; end the name in .jsonl, \
                 .jsonl.gz or .jsonl.zst"
            );
            Err(Error::input(path.display().to_string(), what))
        }
    }
}

/// Returns whether the name of an output promises JSON lines.
pub fn promises_json(path: &Path) -> bool {
    let ending = ending_of(&Compression::of(path).1);
    matches!(ending.as_deref(), Some("jsonl" | "ndjson" | "jl"))
}

/// Refuses a file name that implies a known format, because `what` has a format of its own.
///
/// # Errors
/// When the name implies a known format.
pub fn check_own(path: &Path, what: &str) -> Result<()> {
    let is_plain = Compression::of(path).0 == Compression::None && !promises_json(path);
    if is_plain && matches!(promised(path, what), Ok(PromisedFormat::Lines)) {
        return Ok(());
    }
    let what =
        format!("its name promises another form, and {what} is written; choose another name");
    Err(Error::input(path.display().to_string(), what))
}

impl Compression {
    /// Returns the compression that a file name implies, and the name without the ending.
    fn of(path: &Path) -> (Compression, PathBuf) {
        match ending_of(path).as_deref() {
            Some("gz") => (Compression::Gzip, path.with_extension("")),
            Some("zst" | "zstd") => (Compression::Zstd, path.with_extension("")),
            _ => (Compression::None, path.to_owned()),
        }
    }

    fn begin(self, inner: CountedWrites) -> io::Result<OutputStream> {
        Ok(match self {
            Compression::None => OutputStream::Plain(inner),
            Compression::Gzip => {
                OutputStream::Gzip(GzEncoder::new(inner, flate2::Compression::default()))
            }
            Compression::Zstd => {
                OutputStream::Zstd(zstd::Encoder::new(inner, zstd::DEFAULT_COMPRESSION_LEVEL)?)
            }
        })
    }
}

impl OutputStream {
    /// Ends the current member or frame.
    fn end(self) -> io::Result<CountedWrites> {
        match self {
            OutputStream::Plain(inner) => Ok(inner),
            OutputStream::Gzip(encoder) => encoder.finish(),
            OutputStream::Zstd(encoder) => encoder.finish(),
        }
    }

    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            OutputStream::Plain(inner) => inner,
            OutputStream::Gzip(encoder) => encoder,
            OutputStream::Zstd(encoder) => encoder,
        }
    }
}

/// Returns a file name to hash into the number of a run: ASCII, with other bytes escaped.
pub fn path_name(path: &Path) -> String {
    path.as_os_str().as_encoded_bytes().escape_ascii().to_string()
}

/// Formats values for the number of a run, one per line. No values are the empty text.
pub fn listed<T: Display>(things: impl IntoIterator<Item = T>) -> String {
    things.into_iter().map(|thing| format!("{thing}\n")).collect()
}

const BUFFER_BYTES: usize = 1 << 20;

/// Makes the error for writes after a failed write, which left no stream to write to.
fn broken() -> io::Error {
    io::Error::other("an earlier write failed")
}

impl OutFile {
    pub fn stdout() -> OutFile {
        let writer =
            BufWriter::with_capacity(BUFFER_BYTES, Box::new(io::stdout()) as Box<dyn Write>);
        let stream = Some(OutputStream::Plain(CountedWrites { writer, written: 0 }));
        OutFile { stream, compression: Compression::None, target: OutputTarget::StandardOutput }
    }

    /// Opens a pipe or device, which an earlier run gave `written` bytes.
    fn stream(path: &Path, written: u64) -> Result<OutFile> {
        let file =
            File::options().write(true).open(path).map_err(|e| Error::io("open", path, e))?;
        let writer = BufWriter::with_capacity(BUFFER_BYTES, Box::new(file) as Box<dyn Write>);
        let stream = Some(OutputStream::Plain(CountedWrites { writer, written }));
        let (compression, target) =
            (Compression::of(path).0, OutputTarget::Stream(path.to_owned()));
        Ok(OutFile { stream, compression, target })
    }

    /// Creates a file with a durable name, or opens a device. Checkpoints recorded later refer to
    /// the file, so the name must survive a crash.
    ///
    /// # Errors
    /// When the file has content already or cannot be created.
    pub fn create(path: &Path) -> Result<OutFile> {
        if is_stream(path) {
            return OutFile::stream(path, 0);
        }
        let file = match File::create_new(path) {
            // An empty file counts as missing, because a script may have created the file to
            // reserve the name.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                check_free(path)?;
                File::options().write(true).open(path)
            }
            made => made,
        };
        let file = file.map_err(|e| Error::io("create", path, e))?;
        replace::sync_name(path).map_err(|e| Error::io("sync", path, e))?;
        OutFile::at_end(file, path)
    }

    /// Opens a file from an interrupted run and truncates the file to `length`. Pipes and devices
    /// are continued without truncation, like standard output.
    ///
    /// # Errors
    /// When the file is missing, or shorter than `length`.
    pub fn resume(path: &Path, length: u64) -> Result<OutFile> {
        if is_stream(path) {
            return OutFile::stream(path, length);
        }
        let failed = |action| move |e| Error::io(action, path, e);
        let file = File::options().write(true).open(path).map_err(failed("open"))?;
        if file.metadata().map_err(failed("read"))?.len() < length {
            let what =
                "the file is shorter than when the run was interrupted; remove it and start again";
            return Err(Error::input(path.display().to_string(), what));
        }
        file.set_len(length).map_err(failed("shorten"))?;
        // The process that created the file may have been killed before syncing the name.
        replace::sync_name(path).map_err(|e| Error::io("sync", path, e))?;
        OutFile::at_end(file, path)
    }

    fn at_end(file: File, path: &Path) -> Result<OutFile> {
        OutFile::compressed(file, path, Compression::of(path).0)
    }

    /// Writes to the end of an open file, whatever the file name. Errors mention `path`.
    ///
    /// # Errors
    /// When the end of the file cannot be found.
    pub fn compressed(mut file: File, path: &Path, compression: Compression) -> Result<OutFile> {
        let written = file.seek(SeekFrom::End(0)).map_err(|e| Error::io("read", path, e))?;
        let writer = file.try_clone().map_err(|e| Error::io("open", path, e))?;
        let writer = BufWriter::with_capacity(BUFFER_BYTES, Box::new(writer) as Box<dyn Write>);
        let stream = Some(OutputStream::Plain(CountedWrites { writer, written }));
        Ok(OutFile { stream, compression, target: OutputTarget::File(file, path.to_owned()) })
    }

    /// Returns whether the output has a path, unlike standard output.
    pub fn is_file(&self) -> bool {
        !matches!(self.target, OutputTarget::StandardOutput)
    }

    /// Returns whether neither this run nor an earlier run has written anything.
    pub fn is_empty(&self) -> bool {
        matches!(&self.stream, Some(OutputStream::Plain(inner)) if inner.written == 0)
    }

    /// Makes everything written to a file durable, and returns the file's length.
    ///
    /// # Errors
    /// When writing or syncing fails.
    pub fn sync(&mut self) -> io::Result<u64> {
        let mut inner = self.stream.take().ok_or_else(broken)?.end()?;
        inner.flush()?;
        let written = inner.written;
        self.stream = Some(OutputStream::Plain(inner));
        if let OutputTarget::File(file, _) = &self.target {
            file.sync_all()?;
        }
        Ok(written)
    }

    /// Completes the output and makes it durable. A compressed file without content gets an empty
    /// member.
    ///
    /// # Errors
    /// When writing or syncing fails.
    pub fn finish(&mut self) -> io::Result<()> {
        if self.is_empty() {
            self.begin()?;
        }
        self.sync().map(|_| ())
    }

    /// Begins a member or frame unless one is open already.
    fn begin(&mut self) -> io::Result<&mut OutputStream> {
        if self.compression != Compression::None
            && let Some(OutputStream::Plain(inner)) =
                self.stream.take_if(|s| matches!(s, OutputStream::Plain(_)))
        {
            self.stream = Some(self.compression.begin(inner)?);
        }
        self.stream.as_mut().ok_or_else(broken)
    }

    /// Makes the error for a failure to write, which names the file.
    pub fn failed(&self, error: io::Error) -> Error {
        let path = match &self.target {
            OutputTarget::StandardOutput => Path::new("standard output"),
            OutputTarget::Stream(path) | OutputTarget::File(_, path) => path,
        };
        Error::io("write", path, error)
    }
}

/// Returns whether `path` is a pipe or a device.
pub fn is_stream(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Returns whether an earlier run wrote to `path`. An empty file does not count: a run that was cut
/// off before the first checkpoint may have left it.
pub fn is_taken(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.len() > 0)
}

/// A new file that is named once the content is complete. An aborted run leaves nothing behind.
pub struct NewFile {
    out: OutFile,
    /// The temporary and the final name. `None` for a pipe, which is written in place.
    names: Option<(PathBuf, PathBuf)>,
}

impl NewFile {
    /// Creates the file under a temporary name in the same directory.
    ///
    /// # Errors
    /// When `path` is a file with content, or the file cannot be created.
    pub fn create(path: &Path) -> Result<NewFile> {
        if is_stream(path) {
            return Ok(NewFile { out: OutFile::create(path)?, names: None });
        }
        if path.is_dir() {
            return Err(Error::input(path.display().to_string(), "it is a directory"));
        }
        check_free(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // The temporary name keeps the ending, which decides on compression. A killed run may have
        // left such a file.
        let part = path.with_file_name(format!(".part-{name}"));
        match std::fs::remove_file(&part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("remove", part, error));
            }
            _ => {}
        }
        let out = OutFile::create(&part)?;
        Ok(NewFile { out, names: Some((part, path.to_owned())) })
    }

    /// Completes the file and gives it the final name.
    ///
    /// # Errors
    /// When writing, syncing or renaming fails.
    pub fn finish(mut self) -> Result<()> {
        self.out.finish().map_err(|e| self.out.failed(e))?;
        let Some((part, path)) = self.names.take() else { return Ok(()) };
        let named = std::fs::rename(&part, &path).and_then(|()| replace::sync_name(&path));
        named.map_err(|e| Error::io("write", path, e))
    }

    /// Makes the error for a failure to write, which names the file.
    pub fn failed(&self, error: io::Error) -> Error {
        self.out.failed(error)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some((part, _)) = &self.names {
            // Removal is best effort: `drop` cannot report an error.
            let _ = std::fs::remove_file(part);
        }
    }
}

/// Refuses to replace a file with content.
///
/// # Errors
/// When `path` is a file with content.
pub fn check_free(path: &Path) -> Result<()> {
    match is_taken(path) && path.is_file() {
        true => {
            let what = "the file exists already; choose another name, or remove it";
            Err(Error::input(path.display().to_string(), what))
        }
        false => Ok(()),
    }
}

/// Refuses to replace a file by a report or network, except an older report or network.
///
/// # Errors
/// When `path` is a different kind of file with content, or cannot be read.
pub fn check_replaced(path: &Path) -> Result<()> {
    if !is_taken(path) || !path.is_file() {
        return Ok(());
    }
    let mut beginning = Vec::new();
    let read = File::open(path)
        .and_then(|file| file.take(OWN_FILE_BYTES as u64).read_to_end(&mut beginning));
    read.map_err(|e| Error::io("read", path, e))?;
    if is_own_file(&beginning) { Ok(()) } else { check_free(path) }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begin()?.as_write().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.as_mut().ok_or_else(broken)?.as_write().flush()
    }
}

#[cfg(test)]
mod tests;
