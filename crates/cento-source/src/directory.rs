//! The files below a directory.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::{DirEntry, WalkBuilder};

use cento::Error;

use crate::filter::HIDDEN;
use crate::{SourceOptions, ignored, names};

const LINK: &str = "it is a link; --follow follows the links in directories";
const NO_FILE: &str = "it is not a regular file";

/// An entry below a directory.
#[derive(Debug)]
pub enum DirectoryEntry {
    /// A file.
    File {
        /// Its path, which begins with that of the directory as given.
        path: PathBuf,
        /// Its path below the directory.
        below: PathBuf,
    },
    /// A file or directory that is left out.
    LeftOut {
        /// Its place.
        place: Arc<str>,
        /// Why, as a clause.
        why: &'static str,
    },
    /// An entry that cannot be read.
    Failed(Error),
}

/// Returns the name of a file or directory in places and ids: its path as an id, without a leading
/// `./`.
#[must_use]
pub fn place_of(path: &Path) -> Arc<str> {
    let name = names::escaped(path.as_os_str().as_encoded_bytes());
    name.strip_prefix("./").unwrap_or(&name).into()
}

/// Finds all files below a directory, in the order of their paths; reports those that `options`
/// leave out.
pub fn files_below(
    dir: &Path,
    options: &SourceOptions,
    each: &mut dyn FnMut(DirectoryEntry) -> ControlFlow<()>,
) -> ControlFlow<()> {
    // A link given as the directory is followed; the entries below it keep the name of the link.
    let real = match dir.is_symlink().then(|| dir.canonicalize()).transpose() {
        Ok(real) => real.unwrap_or_else(|| dir.to_owned()),
        Err(error) => return each(DirectoryEntry::Failed(Error::io("read", dir, error))),
    };
    let named = |found: &Path| match found.strip_prefix(&real) {
        Ok(below) => dir.join(below),
        Err(_) => found.to_owned(),
    };
    let left_out =
        |path: &Path, why| DirectoryEntry::LeftOut { place: place_of(&named(path)), why };
    let gate = Gate::new(options);
    let mut walk = WalkBuilder::new(&real);
    walk.standard_filters(false).sort_by_file_path(Path::cmp);
    walk.follow_links(options.follow_links);
    // Not `info/exclude`: a `.git` that is a file names the directory that has it, a path under
    // foreign control, which the gate does not see.
    walk.ignore(options.obeys_ignore_files).git_ignore(options.obeys_ignore_files);
    walk.parents(options.obeys_ignore_files);
    if options.obeys_ignore_files
        && let Err(error) = ignored::check_with_parents(&real)
    {
        return each(DirectoryEntry::Failed(error));
    }
    let filter = gate.clone();
    walk.filter_entry(move |entry| filter.passes(entry));
    let name_stopped = |each: &mut dyn FnMut(DirectoryEntry) -> ControlFlow<()>| {
        gate.stopped().into_iter().try_for_each(|stopped| match stopped {
            Stopped::Hidden(path) => each(left_out(&path, HIDDEN)),
            Stopped::Refused(error) => each(DirectoryEntry::Failed(error)),
        })
    };
    for entry in walk.build() {
        name_stopped(each)?;
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let error = std::io::Error::other(error);
                each(DirectoryEntry::Failed(Error::io("read", dir, error)))?;
                continue;
            }
        };
        let Some(kind) = entry.file_type().filter(|kind| !kind.is_dir()) else { continue };
        let below = entry.path().strip_prefix(&real).unwrap_or(entry.path());
        each(match options.filter.why_not(below) {
            Some(why) => left_out(entry.path(), why),
            None if kind.is_symlink() => left_out(entry.path(), LINK),
            None if !kind.is_file() => left_out(entry.path(), NO_FILE),
            None => DirectoryEntry::File { path: named(entry.path()), below: below.to_owned() },
        })?;
    }
    name_stopped(each)
}

/// Decides where a walk goes, and records where it does not: the filter of a walk can only refuse.
#[derive(Clone)]
struct Gate {
    reads_hidden: bool,
    obeys_ignore_files: bool,
    stopped: Arc<Mutex<Vec<Stopped>>>,
}

/// A place where a walk does not go.
enum Stopped {
    /// It is hidden.
    Hidden(PathBuf),
    /// Its list of ignored files is not read.
    Refused(Error),
}

impl Gate {
    /// Returns the gate of a walk with these options.
    fn new(options: &SourceOptions) -> Gate {
        let SourceOptions { read_hidden, obeys_ignore_files, .. } = *options;
        Gate { reads_hidden: read_hidden, obeys_ignore_files, stopped: Arc::default() }
    }

    /// Returns whether the walk may enter. It may begin in a hidden directory that was given
    /// explicitly.
    fn passes(&self, entry: &DirEntry) -> bool {
        let is_hidden = entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".");
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        let stopped = if is_hidden && !self.reads_hidden {
            Stopped::Hidden(entry.path().to_owned())
        } else if self.obeys_ignore_files
            && is_dir
            && let Err(error) = ignored::check(entry.path())
        {
            Stopped::Refused(error)
        } else {
            return true;
        };
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner).push(stopped);
        false
    }

    /// Returns the places that it refused since the last call, in order.
    fn stopped(&self) -> Vec<Stopped> {
        std::mem::take(&mut *self.stopped.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
