//! Python exceptions for errors of the library.

use std::borrow::Cow;

use cento::{Error, Reason};
use pyo3::prelude::*;

use crate::own_writers::OwnWriter;

/// An error of the library on its way to Python.
#[derive(Debug)]
pub struct Failure(pub Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure(error)
    }
}

impl From<Failure> for PyErr {
    fn from(Failure(error): Failure) -> PyErr {
        Python::attach(|py| exception(py, &error).unwrap_or_else(|failure| failure))
    }
}

/// Makes the exception of the package for an error, with its details as attributes.
fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let reason = error.reason();
    let made = py.import("cento._errors")?.getattr(class(reason))?.call1((message(error),))?;
    made.setattr("reason", reason.code())?;
    match reason {
        Reason::InvalidArgument { argument } => made.setattr("argument", argument)?,
        Reason::Unsupported { feature } => made.setattr("feature", feature)?,
        _ => {}
    }
    for (name, value) in attributes(error) {
        made.setattr(name, value)?;
    }
    if let Error::Corrupt(corruption) = error {
        made.setattr("offset", corruption.offset)?;
    }
    Ok(PyErr::from_value(made))
}

/// Returns the library's message, unless it blames a different process for a lock of this process.
fn message(error: &Error) -> String {
    match error {
        Error::Locked { path } if OwnWriter::is_at(path) => format!(
            "{}: this process is writing to this index already: another `Writer` is open, or \
             another `dedup` or `Deduper` is at work; end its `with` block or call its `close()`, \
             share one writer among threads, or wait for it (`wait=`)",
            path.display()
        ),
        error => error.to_string(),
    }
}

/// Returns the name of the class for a reason.
fn class(reason: Reason<'_>) -> &'static str {
    match reason {
        Reason::InvalidArgument { .. } => "InvalidArgumentError",
        Reason::InvalidSpec
        | Reason::NeedsFrequencyTable
        | Reason::OtherFrequencyTable
        | Reason::NeedsKey
        | Reason::OtherKey => "SpecError",
        Reason::Unsupported { .. } => "UnsupportedError",
        Reason::UnknownId => "UnknownIdError",
        Reason::InvalidInput
        | Reason::NotAFrequencyTable
        | Reason::RecordTooLong
        | Reason::DocumentTooLarge
        | Reason::MissingField { .. }
        | Reason::UnusableIds
        | Reason::UnusableMeta
        | Reason::IdTaken
        | Reason::Withdrawn => "InputError",
        Reason::NotFound => "IndexNotFoundError",
        Reason::AlreadyExists => "IndexExistsError",
        Reason::NotEmpty
        | Reason::NotAnIndex
        | Reason::OtherScheme
        | Reason::OtherSettings
        | Reason::OtherVersion
        | Reason::NoTexts
        | Reason::Replaced
        | Reason::SharedId
        | Reason::Unsuitable
        | Reason::WriteFailed => "OpenError",
        Reason::Locked => "LockedError",
        Reason::Damaged => "CorruptError",
        Reason::Io | Reason::StorageFull => "StorageError",
        Reason::MemoryLimit | Reason::Busy => "MemoryLimitError",
        Reason::Conflict(_) => "ConflictError",
        Reason::Cancelled => "CancelledError",
        Reason::Internal => "InternalError",
        _ => "Error",
    }
}

/// Attributes of the exception: what the error is about.
fn attributes(error: &Error) -> Vec<(&'static str, String)> {
    match error {
        Error::Io { path, .. }
        | Error::Store { path, .. }
        | Error::Index { path, .. }
        | Error::Locked { path } => vec![("path", path.display().to_string())],
        Error::Corrupt(corruption) => {
            let section = corruption.section.to_owned();
            vec![("file", corruption.file.clone()), ("section", section)]
        }
        Error::Spec { spec, .. } => vec![("spec", spec.clone())],
        Error::Input { place, .. } => match error.reason() {
            Reason::UnknownId => vec![("id", place.clone())],
            _ => vec![("place", place.clone())],
        },
        Error::UnknownId { id } => vec![("id", id.clone())],
        _ => Vec::new(),
    }
}

/// Makes the error for arguments that cannot be used together.
pub fn refused(what: impl Into<String>) -> Failure {
    Failure(Error::arguments(what))
}

/// Makes the error for an argument that cannot be used.
pub fn refused_argument(
    argument: impl Into<Cow<'static, str>>,
    what: impl Into<String>,
) -> Failure {
    Failure(Error::argument(argument, what))
}
