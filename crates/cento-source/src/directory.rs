//! The files below a directory.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::{DirEntry, Walk, WalkBuilder};

use cento::Error;

use crate::filter::{HIDDEN, LINK, NO_FILES, PathFilter};
use crate::read_error::ReadError;
use crate::{SourceOptions, ignored, names};

const NO_FILE: &str = "it is not a regular file";

/// A file below a directory.
#[derive(Debug)]
pub struct FileBelow {
    /// The path, beginning with the directory as the user gave it.
    pub path: PathBuf,
    /// The path below the directory.
    pub below: PathBuf,
}

/// A file below a directory, or an error for a skipped or unreadable entry.
type StreamRecord = Result<FileBelow, ReadError>;

/// Returns the path of a file or directory in the form of ids and places, without a leading `./`.
#[must_use]
pub fn place_of(path: &Path) -> Arc<str> {
    let name = names::escaped(path.as_os_str().as_encoded_bytes());
    name.strip_prefix("./").unwrap_or(&name).into()
}

/// Finds all files below a directory, sorted by path.
///
/// # Errors
/// An unreadable entry, or an entry excluded by `options`, gives an error. The iterator continues.
pub fn files_below(
    dir: &Path,
    options: &SourceOptions,
) -> impl Iterator<Item = StreamRecord> + use<> {
    let (walk, error) = match FilesBelow::open(dir, options) {
        Ok(walk) => (Some(walk), None),
        Err(error) => (None, Some(Err(error.into()))),
    };
    walk.into_iter().flatten().chain(error)
}

struct FilesBelow {
    dir: PathBuf,
    /// The target, if `dir` is a link to a directory.
    real: PathBuf,
    filter: PathFilter,
    /// Whether to report directories without files, because each could be a document.
    tells_empty: bool,
    gate: WalkFilter,
    /// `None` after the last entry.
    walk: Option<Walk>,
    /// Entries that have been found but not returned.
    ready: VecDeque<StreamRecord>,
}

impl FilesBelow {
    fn open(dir: &Path, options: &SourceOptions) -> cento::Result<FilesBelow> {
        // A link given as an input is followed. Entries below the link keep the name of the link.
        let real = dir.is_symlink().then(|| dir.canonicalize()).transpose();
        let real = real.map_err(|e| Error::io("read", dir, e))?.unwrap_or_else(|| dir.to_owned());
        let gate = WalkFilter::new(options);
        let mut walk = WalkBuilder::new(&real);
        walk.standard_filters(false).sort_by_file_path(Path::cmp);
        walk.follow_links(options.follow_links);
        // `info/exclude` stays unread. A `.git` file may name any directory for it, a path under
        // foreign control that the gate does not see.
        walk.ignore(options.obeys_ignore_files).git_ignore(options.obeys_ignore_files);
        walk.parents(options.obeys_ignore_files);
        if options.obeys_ignore_files {
            ignored::check_with_parents(&real)?;
        }
        let filter = gate.clone();
        walk.filter_entry(move |entry| filter.passes(entry));
        let (dir, filter, walk) = (dir.to_owned(), options.filter.clone(), Some(walk.build()));
        let (tells_empty, ready) = (options.grouping.is_some(), VecDeque::new());
        Ok(FilesBelow { dir, real, filter, tells_empty, gate, walk, ready })
    }

    fn named(&self, found: &Path) -> PathBuf {
        match found.strip_prefix(&self.real) {
            Ok(below) => self.dir.join(below),
            Err(_) => found.to_owned(),
        }
    }

    fn left_out(&self, path: &Path, why: &'static str) -> ReadError {
        ReadError::LeftOut { place: place_of(&self.named(path)).to_string(), why, feature: None }
    }

    /// Returns the error for an entry where the walk fails, such as a broken link under
    /// `follow_links` or an unreadable directory.
    fn failed(&self, error: ignore::Error) -> ReadError {
        let (path, loops) = of_walk(&error);
        let path = path.unwrap_or(&self.real);
        let below = path.strip_prefix(&self.real).unwrap_or(path);
        if path != self.real && is_hidden(path) && !self.gate.reads_hidden {
            return self.left_out(path, HIDDEN);
        }
        if let Some(why) = self.filter.why_not(below) {
            return self.left_out(path, why);
        }
        let is_missing = |e: io::Error| e.kind() == io::ErrorKind::NotFound;
        let what = match () {
            () if loops => io::Error::other("the link leads to a directory above it"),
            () if path.is_symlink() && path.metadata().is_err_and(is_missing) => {
                io::Error::other("the link leads nowhere")
            }
            () => match code_of(&error) {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::other(error.to_string()),
            },
        };
        Error::io("read", self.named(path), what).into()
    }

    /// Returns the file or error for an entry, or `None` for a directory that is not reported.
    fn found(&self, entry: Result<DirEntry, ignore::Error>) -> Option<StreamRecord> {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return Some(Err(self.failed(error))),
        };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            let is_told = self.tells_empty && entry.depth() > 0 && is_empty(entry.path());
            return is_told.then(|| Err(self.left_out(entry.path(), NO_FILES)));
        }
        let below = entry.path().strip_prefix(&self.real).unwrap_or(entry.path());
        Some(match self.filter.why_not(below) {
            Some(why) => Err(self.left_out(entry.path(), why)),
            None if kind.is_symlink() => Err(self.left_out(entry.path(), LINK)),
            None if !kind.is_file() => Err(self.left_out(entry.path(), NO_FILE)),
            None => Ok(FileBelow { path: self.named(entry.path()), below: below.to_owned() }),
        })
    }
}

/// Returns the path of a failed walk, and whether the path is a link to a directory above.
fn of_walk(error: &ignore::Error) -> (Option<&Path>, bool) {
    match error {
        ignore::Error::Loop { child, .. } => (Some(child), true),
        ignore::Error::WithPath { path, err } => match of_walk(err) {
            (None, loops) => (Some(path), loops),
            found => found,
        },
        ignore::Error::WithDepth { err, .. } => of_walk(err),
        _ => (None, false),
    }
}

/// Returns the number of the system's error in an error of a walk, whose message repeats the path.
fn code_of(error: &ignore::Error) -> Option<i32> {
    let error = error.io_error()?;
    let inner = || error.get_ref()?.source()?.downcast_ref::<io::Error>()?.raw_os_error();
    error.raw_os_error().or_else(inner)
}

/// Returns whether the name of a file or directory begins with a dot.
fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Tells whether a directory has no entries.
fn is_empty(dir: &Path) -> bool {
    dir.read_dir().is_ok_and(|mut entries| entries.next().is_none())
}

impl Iterator for FilesBelow {
    type Item = StreamRecord;

    fn next(&mut self) -> Option<StreamRecord> {
        loop {
            if let Some(found) = self.ready.pop_front() {
                return Some(found);
            }
            let entry = self.walk.as_mut()?.next();
            for stopped in self.gate.stopped() {
                let error = match stopped {
                    WalkStop::Hidden(path) => self.left_out(&path, HIDDEN),
                    WalkStop::Refused(error) => error.into(),
                };
                self.ready.push_back(Err(error));
            }
            match entry {
                Some(entry) => {
                    let found = self.found(entry);
                    self.ready.extend(found);
                }
                None => self.walk = None,
            }
        }
    }
}

/// Decides where a walk goes, and records refused places, because the filter of a walk cannot
/// report them.
#[derive(Clone)]
struct WalkFilter {
    reads_hidden: bool,
    obeys_ignore_files: bool,
    stopped: Arc<Mutex<Vec<WalkStop>>>,
}

/// A place where a walk does not go.
enum WalkStop {
    /// A hidden file or directory.
    Hidden(PathBuf),
    /// A directory whose ignore file cannot be read.
    Refused(Error),
}

impl WalkFilter {
    fn new(options: &SourceOptions) -> WalkFilter {
        let SourceOptions { read_hidden, obeys_ignore_files, .. } = *options;
        WalkFilter { reads_hidden: read_hidden, obeys_ignore_files, stopped: Arc::default() }
    }

    /// Returns whether the walk may enter. The walk may begin in a hidden directory, because the
    /// user named the directory.
    fn passes(&self, entry: &DirEntry) -> bool {
        let is_hidden = entry.depth() > 0 && is_hidden(entry.path());
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        let stopped = if is_hidden && !self.reads_hidden {
            WalkStop::Hidden(entry.path().to_owned())
        } else if self.obeys_ignore_files
            && is_dir
            && let Err(error) = ignored::check(entry.path())
        {
            WalkStop::Refused(error)
        } else {
            return true;
        };
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner).push(stopped);
        false
    }

    /// Returns the places refused since the last call, in order.
    fn stopped(&self) -> Vec<WalkStop> {
        std::mem::take(&mut *self.stopped.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
