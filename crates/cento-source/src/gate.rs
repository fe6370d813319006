//! Where may a walk through a directory go?

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ignore::DirEntry;

use cento::Error;

use crate::{SourceOptions, ignored};

/// Decides where a walk goes, and keeps what it leaves out: the filter of a walk can only say no.
#[derive(Clone)]
pub struct Gate {
    reads_hidden: bool,
    obeys_ignore_files: bool,
    left_out: Arc<Mutex<Vec<LeftOut>>>,
}

/// A place that a walk leaves out.
pub enum LeftOut {
    /// It is hidden.
    Hidden(PathBuf),
    /// Its list of ignored files is not read.
    Refused(Error),
}

impl Gate {
    /// Makes the gate of a walk with these options.
    pub fn new(options: &SourceOptions) -> Gate {
        let SourceOptions { read_hidden, obeys_ignore_files, .. } = *options;
        Gate { reads_hidden: read_hidden, obeys_ignore_files, left_out: Arc::default() }
    }

    /// Returns whether the walk may go there. It may begin in a hidden directory, which somebody has named.
    pub fn passes(&self, entry: &DirEntry) -> bool {
        let is_hidden = entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".");
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        let left_out = if is_hidden && !self.reads_hidden {
            LeftOut::Hidden(entry.path().to_owned())
        } else if self.obeys_ignore_files
            && is_dir
            && let Err(error) = ignored::check(entry.path())
        {
            LeftOut::Refused(error)
        } else {
            return true;
        };
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner).push(left_out);
        false
    }

    /// Returns what was left out since the last call, in order.
    pub fn left_out(&self) -> Vec<LeftOut> {
        std::mem::take(&mut *self.left_out.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
