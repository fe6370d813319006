//! The errors of cento, with reasons for programs.
//!
//! There is a single error type. A message names the file and the place and gives advice, but
//! mentions no option of the command. Programs use the [`reason`](Error::reason), and never read
//! the message. The cause in a lower layer, if any, is the [`source`](std::error::Error::source).
//! Broken invariants inside cento are assertions. Where a panic must not end unrelated work, the
//! panic is caught and becomes [`Error::Internal`].

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::reason::{ConflictKind, Reason, Refusal, causes};

/// The result of a cento operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Any failure of a cento operation.
///
/// The message names the place and the fault, and often the remedy. The cause in a lower layer is
/// the [`source`](std::error::Error::source). Programs distinguish errors by their
/// [`reason`](Error::reason), not by messages.
///
/// ```
/// use cento_api::{Error, Preset, Reason};
///
/// let error = "essay".parse::<Preset>().unwrap_err();
/// assert_eq!(error.reason(), Reason::InvalidArgument { argument: Some("preset") });
/// assert!(matches!(&error, Error::InvalidArgument { what, .. } if what.contains("`essays`")));
/// assert!(error.to_string().contains("did you mean `essays`?"));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to read or write a file.
    Io {
        /// The attempted action, as in "cannot {action} {path}".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file of the index does not contain what its writer must have written.
    Corrupt(Corruption),
    /// A scheme, analyzer or measure specification that cannot be used.
    Spec {
        /// The specification as given.
        spec: String,
        /// The reason, for programs.
        reason: Reason<'static>,
        /// The problem with the specification, as a clause.
        what: String,
    },
    /// An index, or a directory or URL for an index, that you cannot use as requested: missing,
    /// existing already, or built by a different version of scheme, analyzer or format.
    Index {
        /// The directory of the index.
        path: PathBuf,
        /// The reason, for programs.
        reason: Reason<'static>,
        /// The problem, as a clause, and advice.
        what: String,
    },
    /// Another process is writing to the index.
    Locked {
        /// The directory of the index.
        path: PathBuf,
    },
    /// An operation of the storage layer failed.
    Store {
        /// The attempted action, as in "cannot {action} {path}".
        action: &'static str,
        /// The directory of the index.
        path: PathBuf,
        /// The storage layer's reason.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// Input that is not a document.
    Input {
        /// The place of the input: a path, with `:line` for JSON lines.
        place: String,
        /// The reason, for programs.
        reason: Reason<'static>,
        /// The problem with the input, as a clause.
        what: String,
    },
    /// An invalid argument, or several contradictory arguments.
    InvalidArgument {
        /// The argument, under its name in queries and options. `None` for several arguments.
        argument: Option<Cow<'static, str>>,
        /// The problem with the argument, as a sentence.
        what: String,
    },
    /// No document has this id.
    UnknownId {
        /// The id that you asked for.
        id: String,
    },
    /// A service refused a request.
    Service {
        /// The URL of the service.
        url: String,
        /// The code of the reason. Either the code of a [`Reason`], or a code of services only.
        code: String,
        /// The argument, feature, field or format that the reason is about, if any.
        detail: Option<String>,
        /// The message of the service, as a sentence.
        message: String,
    },
    /// The operation needs more memory than is allowed, or than is free.
    Memory {
        /// The consumer of the memory, and the amount allowed, as a sentence.
        what: String,
        /// Whether the memory is only in use at present, so that a repetition can succeed later.
        is_for_now: bool,
    },
    /// A different change came first. Nothing is wrong, and nothing was changed.
    Conflict {
        /// The change that came first.
        kind: ConflictKind,
        /// The change that came first, as a clause, and advice.
        what: String,
    },
    /// The caller stopped the operation.
    Cancelled,
    /// A broken invariant inside cento, such as a panic. Never your fault.
    Internal {
        /// The attempted action, or the document in question.
        place: String,
        /// The finding, as a clause. Never the text of a panic, which may contain private data.
        what: String,
    },
}

/// A place in a file that does not contain what its writer must have written.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Corruption {
    /// The path of the file; in the report of a check, its name inside the index directory.
    pub file: String,
    /// The section of the file, under its name in segments-format.md.
    pub section: &'static str,
    /// The byte offset in the file. The damage begins at the offset or later.
    pub offset: u64,
    /// The finding, as a clause.
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

    /// Puts the directory before the name of the file, unless the file has a directory already.
    #[must_use]
    pub fn in_directory(self, directory: &Path) -> Corruption {
        match Path::new(&self.file).parent() {
            Some(own) if own == Path::new("") => {
                Corruption { file: directory.join(self.file).display().to_string(), ..self }
            }
            _ => self,
        }
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

    /// Returns the reason of the failure, for decisions by programs.
    #[must_use]
    pub fn reason(&self) -> Reason<'_> {
        match self {
            Error::Io { source, .. } => reason_of_cause(source).unwrap_or(Reason::Io),
            Error::Store { source, .. } => reason_of_cause(source.as_ref()).unwrap_or(Reason::Io),
            Error::Corrupt(_) => Reason::Damaged,
            Error::Spec { reason, .. }
            | Error::Index { reason, .. }
            | Error::Input { reason, .. } => *reason,
            Error::Locked { .. } => Reason::Locked,
            Error::InvalidArgument { argument, .. } => {
                Reason::InvalidArgument { argument: argument.as_deref() }
            }
            Error::UnknownId { .. } => Reason::UnknownId,
            Error::Service { code, detail, .. } => Reason::of_code(code, detail.as_deref()),
            Error::Memory { is_for_now: true, .. } => Reason::Busy,
            Error::Memory { is_for_now: false, .. } => Reason::MemoryLimit,
            Error::Conflict { kind, .. } => Reason::Conflict(*kind),
            Error::Cancelled => Reason::Cancelled,
            Error::Internal { .. } => Reason::Internal,
        }
    }

    /// Splits the message for lists of skipped documents into the file or document concerned, and
    /// the problem. The first is empty if the message itself names the file.
    #[must_use]
    pub fn place_and_message(&self) -> (String, String) {
        match self {
            Error::Input { place, what, .. } => (place.clone(), what.clone()),
            Error::Io { action, path, source } => {
                (path.display().to_string(), format!("cannot {action} it: {source}"))
            }
            Error::Service { message, .. } => (String::new(), message.clone()),
            error => (String::new(), error.to_string()),
        }
    }

    /// Makes the error for a specification that cannot be used, by default for
    /// [`Reason::InvalidSpec`].
    pub fn spec(spec: impl Into<String>, what: impl Into<Refusal>) -> Error {
        let Refusal { reason, what } = what.into();
        Error::Spec { spec: spec.into(), reason: reason.unwrap_or(Reason::InvalidSpec), what }
    }

    /// Returns the error for an index that you cannot use as requested.
    pub fn index(
        path: impl AsRef<Path>,
        reason: Reason<'static>,
        what: impl Into<String>,
    ) -> Error {
        Error::Index { path: path.as_ref().to_owned(), reason, what: what.into() }
    }

    /// Returns the error for an invalid `argument`.
    pub fn argument(argument: impl Into<Cow<'static, str>>, what: impl Into<String>) -> Error {
        Error::InvalidArgument { argument: Some(argument.into()), what: what.into() }
    }

    /// Returns the error for contradictory arguments.
    pub fn arguments(what: impl Into<String>) -> Error {
        Error::InvalidArgument { argument: None, what: what.into() }
    }

    /// Returns the error for a change that lost against an earlier change.
    pub fn conflict(kind: ConflictKind, what: impl Into<String>) -> Error {
        Error::Conflict { kind, what: what.into() }
    }

    /// Makes the error for a broken invariant at `place`.
    pub fn internal(place: impl Into<String>, what: impl Into<String>) -> Error {
        Error::Internal { place: place.into(), what: what.into() }
    }

    /// Returns the result of `work`, or [`Error::Internal`] at `place` if it panics. After a panic,
    /// data that `work` was changing may be inconsistent, so the caller has to discard the data.
    pub fn catch<T>(place: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        catch_unwind(AssertUnwindSafe(work))
            .unwrap_or_else(|_| Err(Error::internal(place, "it panicked")))
    }

    /// Returns the error for a `subject` that needs `bytes` of memory, which the limit `bytes_max`
    /// does not allow, or not at present.
    pub fn memory(subject: impl fmt::Display, bytes: usize, bytes_max: usize) -> Error {
        let (needed, max) = (bytes.div_ceil(1 << 20), bytes_max >> 20);
        let is_for_now = bytes <= bytes_max;
        let what = if is_for_now {
            format!(
                "{subject} needs {needed} MiB of memory, and less than that is free of the {max} \
                 MiB allowed; try again later"
            )
        } else {
            format!(
                "{subject} needs {needed} MiB of memory, but at most {max} MiB are allowed; use \
                 less text at a time"
            )
        };
        Error::Memory { what, is_for_now }
    }

    /// Makes the error for input at `place` that is not a document, by default for
    /// [`Reason::InvalidInput`].
    pub fn input(place: impl Into<String>, what: impl Into<Refusal>) -> Error {
        let Refusal { reason, what } = what.into();
        let reason = reason.unwrap_or(Reason::InvalidInput);
        Error::Input { place: place.into(), reason, what }
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
            Error::Spec { spec, what, .. } => write!(f, "`{spec}`: {what}"),
            Error::Index { path, what, .. } => write!(f, "{}: {what}", path.display()),
            Error::Locked { path } => write!(
                f,
                "{}: another process is writing to this index; wait until it has finished, or stop \
                 it (the lock is that of a running process, never a stale file: deleting it would \
                 lose documents)",
                path.display()
            ),
            Error::Store { action, path, source } => {
                write!(f, "cannot {action} {}: {source}", path.display())
            }
            Error::Input { place, what, .. } => write!(f, "{place}: {what}"),
            Error::InvalidArgument { what, .. } | Error::Memory { what, .. } => f.write_str(what),
            Error::Service { url, message, .. } => write!(f, "{url}: {message}"),
            Error::UnknownId { id } => write!(f, "no document has the id `{id}`"),
            Error::Conflict { what, .. } => f.write_str(what),
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

/// Returns the first reason among an error of the system or another crate, and its causes.
fn reason_of_cause<'e>(error: &'e (dyn StdError + 'static)) -> Option<Reason<'e>> {
    for error in causes(error) {
        if let Some(refusal) = error.downcast_ref::<Refusal>() {
            return refusal.reason;
        }
        if let Some(own) = error.downcast_ref::<Error>() {
            return Some(own.reason());
        }
        let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        if matches!(kind, Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)) {
            return Some(Reason::StorageFull);
        }
    }
    None
}
