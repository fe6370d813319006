//! What can go wrong, and what can a user do about it?
//!
//! One error for the crate. A message names the file and the place, and says what to do, but no
//! option of the command; the lower-level cause, if any, is the
//! [`source`](std::error::Error::source). Broken invariants inside cento are assertions; where a
//! panic must not end what others depend on, it is caught and becomes [`Error::Internal`].

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Any failure of a cento operation.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to read or write a file.
    Io {
        /// What was being done, as in "cannot {action} {path}".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file of the index does not contain what its writer must have written.
    Corrupt(Corruption),
    /// A scheme or analyzer specification that cannot be used.
    Spec {
        /// The specification as given.
        spec: String,
        /// What is wrong with it, as a clause.
        what: String,
    },
    /// An index that cannot be opened or created as asked: absent, already there, or built by
    /// another version of the scheme, the analyzer or the format.
    Index {
        /// The directory of the index.
        path: PathBuf,
        /// What is wrong, as a clause, and what to do about it.
        what: String,
    },
    /// Another process is writing to the index.
    Locked {
        /// The directory of the index.
        path: PathBuf,
    },
    /// An operation of the storage layer failed.
    Store {
        /// What was being done, as in "cannot {action} {path}".
        action: &'static str,
        /// The directory of the index.
        path: PathBuf,
        /// The storage layer's reason.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// Input that is not a document.
    Input {
        /// Where it is: a path, with `:line` for JSON lines.
        place: String,
        /// What is wrong with it, as a clause.
        what: String,
    },
    /// A query that cannot be answered as asked.
    Query {
        /// What is wrong with it, as a sentence.
        what: String,
    },
    /// No document has this id.
    UnknownId {
        /// The id.
        id: String,
    },
    /// A service refused a request.
    Service {
        /// The URL of the service.
        url: String,
        /// Its code for the reason.
        code: String,
        /// Its reason, as a sentence.
        message: String,
    },
    /// The operation needs more memory than is allowed, or than is free.
    Memory {
        /// What needs it, and how much is allowed, as a sentence.
        what: String,
        /// Whether others use the memory at present, so that the same can succeed later.
        is_for_now: bool,
    },
    /// Another change came first. Nothing is wrong, and nothing was changed.
    Conflict {
        /// What came first, as a clause, and what to do about it.
        what: String,
    },
    /// The caller stopped the operation.
    Cancelled,
    /// A broken invariant inside cento, such as a panic: never the caller's fault.
    Internal {
        /// What was being done, or to which document.
        place: String,
        /// What was found, as a clause; never the text of a panic, which may contain private data.
        what: String,
    },
}

/// A place in a file that does not contain what its writer must have written.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Corruption {
    /// The file, as a name inside the index directory or as a path.
    pub file: String,
    /// The section of the file, as segments-format.md names it.
    pub section: &'static str,
    /// The byte offset in the file at or after which the damage lies.
    pub offset: u64,
    /// What was found, as a clause.
    pub what: String,
}

impl Corruption {
    /// Reports damage in `section` of `file`, `offset` bytes from the start of the file.
    pub fn new(
        file: impl Into<String>,
        section: &'static str,
        offset: u64,
        what: impl Into<String>,
    ) -> Corruption {
        Corruption { file: file.into(), section, offset, what: what.into() }
    }
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Corruption { file, section, offset, what } = self;
        write!(f, "{file}: {section} at byte {offset}: {what}")
    }
}

impl StdError for Corruption {}

impl Error {
    /// Makes the error for an I/O failure while doing `action` ("read", "create", ...) to `path`.
    pub fn io(action: &'static str, path: impl AsRef<Path>, source: io::Error) -> Error {
        Error::Io { action, path: path.as_ref().to_owned(), source }
    }

    /// Makes the error for a specification that cannot be used.
    pub fn spec(spec: impl Into<String>, what: impl Into<String>) -> Error {
        Error::Spec { spec: spec.into(), what: what.into() }
    }

    /// Makes the error for an index that cannot be opened or created as asked.
    pub fn index(path: impl AsRef<Path>, what: impl Into<String>) -> Error {
        Error::Index { path: path.as_ref().to_owned(), what: what.into() }
    }

    /// Makes the error for a change that another one outran.
    pub fn conflict(what: impl Into<String>) -> Error {
        Error::Conflict { what: what.into() }
    }

    /// Makes the error for a broken invariant at `place`.
    pub fn internal(place: impl Into<String>, what: impl Into<String>) -> Error {
        Error::Internal { place: place.into(), what: what.into() }
    }

    /// Returns the result of `work`; [`Error::Internal`] at `place` if it panics. What it was
    /// changing may then be half changed: the caller has to discard it.
    #[doc(hidden)]
    pub fn catch<T>(place: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        catch_unwind(AssertUnwindSafe(work))
            .unwrap_or_else(|_| Err(Error::internal(place, "it panicked")))
    }

    /// Makes the error for a `subject` that needs `bytes` of memory, which are not free of the
    /// `bytes_max` that are allowed.
    pub fn memory(subject: impl fmt::Display, bytes: usize, bytes_max: usize) -> Error {
        let (needed, max) = (bytes.div_ceil(1 << 20), bytes_max >> 20);
        let is_for_now = bytes <= bytes_max;
        let what = if is_for_now {
            format!(
                "{subject} needs {needed} MiB of memory, and less than that is free of the {max} MiB \
                 allowed; try again later"
            )
        } else {
            format!(
                "{subject} needs {needed} MiB of memory, but at most {max} MiB are allowed; use less \
                 text at a time"
            )
        };
        Error::Memory { what, is_for_now }
    }

    /// Makes the error for input at `place` that is not a document.
    pub fn input(place: impl Into<String>, what: impl Into<String>) -> Error {
        Error::Input { place: place.into(), what: what.into() }
    }
}

impl From<Corruption> for Error {
    fn from(corruption: Corruption) -> Error {
        Error::Corrupt(corruption)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io { action, path, source } => {
                write!(f, "cannot {action} {}: {source}", path.display())
            }
            Error::Corrupt(corruption) => corruption.fmt(f),
            Error::Spec { spec, what } => write!(f, "`{spec}`: {what}"),
            Error::Index { path, what } => write!(f, "{}: {what}", path.display()),
            Error::Locked { path } => write!(
                f,
                "{}: another process is writing to this index; wait until it has finished, or stop it (the lock \
                 is that of a running process, never a stale file: deleting it would lose documents)",
                path.display()
            ),
            Error::Store { action, path, source } => {
                write!(f, "cannot {action} {}: {source}", path.display())
            }
            Error::Input { place, what } => write!(f, "{place}: {what}"),
            Error::Query { what } | Error::Memory { what, .. } => f.write_str(what),
            Error::Service { url, message, .. } => write!(f, "{url}: {message}"),
            Error::UnknownId { id } => write!(f, "no document has the id `{id}`"),
            Error::Conflict { what } => f.write_str(what),
            Error::Cancelled => {
                f.write_str("cancelled; the index is in the state of its last commit")
            }
            Error::Internal { place, what } => {
                write!(f, "{place}: {what}; this is a defect in cento, please report it")
            }
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            Error::Store { source, .. } => Some(source.as_ref()),
            Error::Corrupt(corruption) => Some(corruption),
            _ => None,
        }
    }
}
