//! The output of pairs, and the continuation of an interrupted run.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::outfile::{OutFile, is_stream, is_taken};
use crate::{Result, VerbFailure, terminal, whole};
use cento::Error;
use cento::runtime::replace;

/// The checkpoint of a run. Stored beside the output until the run ends.
#[derive(Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// A hash of the indexes and of every option that changes the output.
    run: u64,
    /// The next document to process.
    pub next: u64,
    /// The length of the output up to there.
    bytes: u64,
    /// Pairs written before the checkpoint.
    pub pairs: u64,
}

/// A checkpoint is made about as often.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(5);

/// Upper bound of the size of a checkpoint.
const CHECKPOINT_BYTES_MAX: usize = 64 << 10;

/// The destination of pairs, with checkpoints.
pub struct Output {
    pub out: OutFile,
    /// The path of the checkpoint. `None` for standard output, a pipe or a device.
    beside: Option<PathBuf>,
    pub checkpoint: Checkpoint,
    saved: Instant,
    /// The path of the output, if this run created the file.
    created: Option<PathBuf>,
}

impl Output {
    pub fn open(path: Option<&Path>, resumes: bool, run: u64) -> Result<Output> {
        let mut checkpoint = Checkpoint { run, next: 0, bytes: 0, pairs: 0 };
        let saved = Instant::now();
        let Some(path) = path else {
            let out = OutFile::stdout();
            return Ok(Output { out, beside: None, checkpoint, saved, created: None });
        };
        terminal::set_plain_output();
        if is_stream(path) {
            // A pipe or device has no checkpoint, and earlier output cannot be read again.
            if resumes {
                let what = "it is no regular file, and what was written to it is not known; start \
                            again without --resume";
                return Err(Error::input(path.display().to_string(), what).into());
            }
            let out = OutFile::create(path)?;
            return Ok(Output { out, beside: None, checkpoint, saved, created: None });
        }
        let mut created = None;
        let beside = beside(path, "checkpoint");
        // A run that was cut off before the first checkpoint leaves at most an empty file.
        let is_begun = beside.exists() || is_taken(path);
        let out = if resumes && is_begun {
            let json = whole::read(&beside, CHECKPOINT_BYTES_MAX)?;
            let found: Option<Checkpoint> = serde_json::from_slice(&json).ok();
            checkpoint = found.filter(|found| found.run == run).ok_or_else(|| {
                let what = "the checkpoint belongs to a run with other options, or to another \
                            state of the index; remove it and the output, and start again without \
                            --resume";
                Error::input(beside.display().to_string(), what)
            })?;
            OutFile::resume(path, checkpoint.bytes)?
        } else {
            if beside.exists() {
                let what = "an interrupted run wrote here; continue it with --resume, or remove \
                            this file and the output to start again";
                return Err(Error::input(beside.display().to_string(), what).into());
            }
            match path.exists() && !is_taken(path) {
                true => OutFile::resume(path, 0)?,
                false => {
                    let out = OutFile::create(path)?;
                    created = Some(path.to_owned());
                    out
                }
            }
        };
        let mut output = Output { out, beside: Some(beside), checkpoint, saved, created };
        output.save()?;
        Ok(output)
    }

    /// Ends a run early. Makes everything written durable, or removes the files of a run that has
    /// not begun.
    pub fn give_up(mut self) -> cento::Result<()> {
        let created = self.created.take().filter(|_| self.checkpoint.next == 0);
        match created {
            Some(path) => {
                [Some(path), self.beside.take()].into_iter().flatten().try_for_each(|path| {
                    std::fs::remove_file(&path).map_err(|e| Error::io("remove", path, e))
                })
            }
            None => self.save(),
        }
    }

    pub fn save_sometimes(&mut self) -> cento::Result<()> {
        if self.saved.elapsed() < CHECKPOINT_INTERVAL {
            return Ok(());
        }
        self.save()
    }

    /// Makes the output durable first, and then the checkpoint that refers to the output.
    pub fn save(&mut self) -> cento::Result<()> {
        self.saved = Instant::now();
        let Some(beside) = &self.beside else { return Ok(()) };
        self.checkpoint.bytes = self.out.sync().map_err(|e| self.out.failed(e))?;
        let json = serde_json::to_string(&self.checkpoint).expect("numbers are JSON");
        replace::file(beside, json.as_bytes()).map_err(|e| Error::io("write", beside, e))
    }

    /// Makes the error for a failed write, with the file name if there is a file.
    pub fn failure(&self, error: io::Error) -> VerbFailure {
        match self.out.is_file() {
            true => self.out.failed(error).into(),
            false => error.into(),
        }
    }

    /// Removes the checkpoint; returns the number of pairs.
    pub fn finish(mut self) -> Result<u64> {
        self.out.finish().map_err(|e| self.failure(e))?;
        if let Some(beside) = &self.beside {
            std::fs::remove_file(beside).map_err(|e| Error::io("remove", beside, e))?;
        }
        Ok(self.checkpoint.pairs)
    }
}

/// Returns `path` with a second extension appended.
fn beside(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}
