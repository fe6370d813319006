//! What reading a source gives: chunks, and the parts of it that are not documents.

use std::fmt;
use std::ops::ControlFlow;

use cento::Error;

use crate::Chunk;

/// A part of a source that is not a document.
#[derive(Debug)]
pub enum ReadError {
    /// A file that is left out for a good reason: it is binary, empty, or not a file at all.
    LeftOut {
        /// Its place.
        place: String,
        /// Why, as a clause.
        why: &'static str,
        /// The feature of a build that reads it, if this one lacks it.
        feature: Option<&'static str>,
    },
    /// A record or file that is refused.
    Refused(Error),
    /// A source that cannot be read, or not to its end.
    Unread(Error),
}

/// [`Error::Input`] is a record that is not a document; any other is a file, or the rest of one.
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

/// A chunk of a source, or a part of it that is not a document.
pub type ReadChunk = Result<Chunk, ReadError>;

/// Takes the chunks that are read, until it breaks off.
pub type Emit<'a> = &'a mut dyn FnMut(ReadChunk) -> ControlFlow<()>;
