//! Which exception is an error of the library?

use cento::Error;
use pyo3::prelude::*;

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

/// The exception of the package for an error, with what the error knows as attributes.
fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let (class, attributes) = class(error);
    let made = py.import("cento._errors")?.getattr(class)?.call1((error.to_string(),))?;
    for (name, value) in attributes {
        made.setattr(name, value)?;
    }
    if let Error::Corrupt(corruption) = error {
        made.setattr("offset", corruption.offset)?;
    }
    Ok(PyErr::from_value(made))
}

/// The name of the class, and attributes of it.
fn class(error: &Error) -> (&'static str, Vec<(&'static str, String)>) {
    let path = |path: &std::path::Path| vec![("path", path.display().to_string())];
    match error {
        Error::Io { path: at, .. } | Error::Store { path: at, .. } => ("StorageError", path(at)),
        Error::Corrupt(corruption) => {
            let section = corruption.section.to_owned();
            ("CorruptError", vec![("file", corruption.file.clone()), ("section", section)])
        }
        Error::Spec { spec, .. } => ("SpecError", vec![("spec", spec.clone())]),
        Error::Index { path: at, .. } => ("OpenError", path(at)),
        Error::Locked { path: at } => ("LockedError", path(at)),
        Error::Input { place, .. } => ("InputError", vec![("place", place.clone())]),
        Error::Query { .. } => ("QueryError", Vec::new()),
        Error::UnknownId { id } => ("NotFoundError", vec![("id", id.clone())]),
        Error::Memory { .. } => ("MemoryLimitError", Vec::new()),
        Error::Conflict { .. } => ("ConflictError", Vec::new()),
        Error::Cancelled => ("CancelledError", Vec::new()),
        Error::Internal { .. } => ("InternalError", Vec::new()),
        _ => ("Error", Vec::new()),
    }
}

/// The error for an argument that cannot be used.
pub fn refused(what: impl Into<String>) -> Failure {
    Failure(Error::Query { what: what.into() })
}
