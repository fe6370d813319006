//! What reading a source yields: chunks, and reports about parts that are not documents.

use std::fmt;
use std::ops::ControlFlow;

use cento::Error;

use crate::Chunk;

/// A part of a source that is not a document.
#[derive(Debug)]
pub enum ReadError {
    /// A file that is skipped on purpose: binary, empty, or not a regular file.
    LeftOut {
        /// The path of the file.
        place: String,
        /// The reason, as a clause.
        why: &'static str,
        /// The missing feature that would read the file, if any.
        feature: Option<&'static str>,
    },
    /// A refused record or file.
    Refused(Error),
    /// A source that cannot be read, or only in part.
    Unread(Error),
}

/// [`Error::Input`] is about a record. Every other error is about a file, or the remainder of a
/// file.
impl From<Error> for ReadError {
    fn from(error: Error) -> ReadError {
        match error {
            Error::Input { .. } => ReadError::Refused(error),
            error => ReadError::Unread(error),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::LeftOut { place, why, .. } => write!(f, "{place}: {why}"),
            ReadError::Refused(error) | ReadError::Unread(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReadError::LeftOut { .. } => None,
            ReadError::Refused(error) | ReadError::Unread(error) => error.source(),
        }
    }
}

/// A chunk, or a report about a part that is not a document.
pub type ReadChunk = Result<Chunk, ReadError>;

/// A consumer of chunks. `Break` ends the reading.
pub type Emit<'a> = &'a mut dyn FnMut(ReadChunk) -> ControlFlow<()>;
