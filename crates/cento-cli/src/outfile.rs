//! Where does a run write, and where does it continue after an interruption?

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use cento::replace;
use cento::{Error, Result};

/// A file that is written from some position on, or standard output.
pub struct OutFile {
    writer: BufWriter<Box<dyn Write>>,
    /// None for standard output.
    file: Option<(File, PathBuf)>,
    written: u64,
}

/// The name of a file as it counts in the number of a run: its bytes, escaped where they are not
/// printable ASCII.
pub fn path_name(path: &Path) -> String {
    path.as_os_str().as_encoded_bytes().escape_ascii().to_string()
}

/// Things as they count in the number of a run: each on a line of its own, so none is the empty
/// text.
pub fn listed<T: Display>(things: impl IntoIterator<Item = T>) -> String {
    things.into_iter().map(|thing| format!("{thing}\n")).collect()
}

const BUFFER_BYTES: usize = 1 << 20;

impl OutFile {
    /// Standard output.
    pub fn stdout() -> OutFile {
        let writer =
            BufWriter::with_capacity(BUFFER_BYTES, Box::new(io::stdout()) as Box<dyn Write>);
        OutFile { writer, file: None, written: 0 }
    }

    /// Creates a new file and makes its name durable, so that a later note about it holds.
    ///
    /// # Errors
    /// When it cannot be created, or is there.
    pub fn create(path: &Path) -> Result<OutFile> {
        let file = File::create_new(path).map_err(|e| Error::io("create", path, e))?;
        replace::sync_name(path).map_err(|e| Error::io("sync", path, e))?;
        OutFile::at_end(file, path)
    }

    /// Opens a file that an interrupted run wrote, and truncates it to `length`.
    ///
    /// # Errors
    /// When it is not there, or shorter.
    pub fn resume(path: &Path, length: u64) -> Result<OutFile> {
        let failed = |action| move |e| Error::io(action, path, e);
        let file = File::options().write(true).open(path).map_err(failed("open"))?;
        if file.metadata().map_err(failed("read"))?.len() < length {
            let what =
                "the file is shorter than when the run was interrupted; remove it and start again";
            return Err(Error::input(path.display().to_string(), what));
        }
        file.set_len(length).map_err(failed("shorten"))?;
        // The process that created it may have been killed before.
        replace::sync_name(path).map_err(|e| Error::io("sync", path, e))?;
        OutFile::at_end(file, path)
    }

    fn at_end(mut file: File, path: &Path) -> Result<OutFile> {
        let written = file.seek(SeekFrom::End(0)).map_err(|e| Error::io("read", path, e))?;
        let writer = file.try_clone().map_err(|e| Error::io("open", path, e))?;
        let writer = BufWriter::with_capacity(BUFFER_BYTES, Box::new(writer) as Box<dyn Write>);
        Ok(OutFile { writer, file: Some((file, path.to_owned())), written })
    }

    /// Returns whether it is a file, and not standard output.
    pub fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// Makes what has been written durable, if it is a file; returns its length.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn sync(&mut self) -> io::Result<u64> {
        self.writer.flush()?;
        if let Some((file, _)) = &self.file {
            file.sync_all()?;
        }
        Ok(self.written)
    }

    /// Makes the error for a failure to write, which names the file.
    pub fn failed(&self, error: io::Error) -> Error {
        let path = self.file.as_ref().map_or(Path::new("standard output"), |(_, path)| path);
        Error::io("write", path, error)
    }
}

/// Whether something was written at `path` already. Of a run that was cut off before its first
/// checkpoint there may be an empty file.
pub fn is_taken(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.len() > 0)
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.writer.write(bytes)?;
        self.written += len as u64;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
