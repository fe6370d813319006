//! Describes failures of tantivy in words.
//!
//! tantivy shows the causes of many errors in debug form. Here each error becomes a clause, and the
//! system's error is the [`source`](std::error::Error::source), so that a caller can detect a full
//! disk without parsing text.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tantivy::TantivyError;
use tantivy::directory::error::{
    Incompatibility, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::query::QueryParserError;
use tantivy::schema::document::DeserializeError;

use crate::error::{Corruption, Error};

/// A failure of tantivy.
#[derive(Debug)]
pub struct StoreFailure(pub TantivyError);

impl fmt::Display for StoreFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&words(&self.0))
    }
}

impl StdError for StoreFailure {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        io_cause(&self.0).map(|cause| cause as _)
    }
}

/// Returns the system's error behind this error, if any.
pub fn io_cause(error: &TantivyError) -> Option<&io::Error> {
    match error {
        TantivyError::IoError(cause)
        | TantivyError::LockFailure(LockError::IoError(cause), _)
        | TantivyError::OpenDirectoryError(
            OpenDirectoryError::FailedToCreateTempDir(cause)
            | OpenDirectoryError::IoError { io_error: cause, .. },
        )
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error: cause, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: cause, .. })
        | TantivyError::DeserializeError(DeserializeError::CorruptedValue(cause)) => Some(cause),
        _ => None,
    }
}

/// tantivy's list of the files that it has written.
const MANAGED: &str = ".managed.json";

/// What to do when the file is damaged. The list of segments does not depend on it.
const MANAGED_DAMAGE: &str = "the file `.managed.json` is damaged; it has no documents: delete it, \
                              and the next command that writes makes it again";

/// The debug form of a panic's value.
const PANIC: &str = "Any { .. }";

/// Describes a failure as a clause.
pub fn words(error: &TantivyError) -> String {
    let words = match error {
        TantivyError::AggregationError(error) => error.to_string(),
        TantivyError::OpenDirectoryError(error) => open_directory(error),
        TantivyError::OpenReadError(error) => open_read(error),
        TantivyError::OpenWriteError(error) => open_write(error),
        TantivyError::IndexAlreadyExists => "an index exists here already".into(),
        TantivyError::LockFailure(LockError::LockBusy, _) => {
            "another process is writing to it".into()
        }
        TantivyError::LockFailure(LockError::IoError(cause), _) => {
            format!("it cannot be locked: {cause}")
        }
        TantivyError::IoError(cause) => cause.to_string(),
        // Only the debug form is available, which shows the path in debug form too.
        TantivyError::DataCorruption(damage) => {
            let shown = format!("{damage:?}").replace("`\"", "`").replace("\"`", "`");
            if shown.contains(&format!("`{MANAGED}`")) { MANAGED_DAMAGE.into() } else { shown }
        }
        TantivyError::Poisoned => "a thread panicked while it held a lock".into(),
        TantivyError::FieldNotFound(field) => format!("it does not have a field `{field}`"),
        TantivyError::ErrorInThread(what) if what == PANIC => "a thread panicked".into(),
        TantivyError::IndexBuilderMissingArgument(what) => format!("{what} is missing"),
        TantivyError::IncompatibleIndex(other) => incompatible(other),
        TantivyError::DeserializeError(error) => deserialize(error),
        TantivyError::InvalidArgument(what)
        | TantivyError::ErrorInThread(what)
        | TantivyError::SchemaError(what)
        | TantivyError::SystemError(what)
        | TantivyError::InternalError(what) => what.clone(),
        TantivyError::MissingPlugin(_)
        | TantivyError::ConflictingPlugins(_)
        | TantivyError::UnexpectedPlugin(_) => error.to_string(),
    };
    words.trim_end_matches('.').to_owned()
}

fn open_directory(error: &OpenDirectoryError) -> String {
    match error {
        OpenDirectoryError::DoesNotExist(path) => format!("{} does not exist", path.display()),
        OpenDirectoryError::NotADirectory(path) => format!("{} is not a directory", path.display()),
        OpenDirectoryError::FailedToCreateTempDir(cause) => {
            format!("a temporary directory cannot be created: {cause}")
        }
        OpenDirectoryError::IoError { io_error, directory_path } => {
            format!("{}: {io_error}", directory_path.display())
        }
    }
}

/// Describes a failure to open a file for reading.
fn open_read(error: &OpenReadError) -> String {
    match error {
        OpenReadError::FileDoesNotExist(path) => format!("{} is missing", path.display()),
        OpenReadError::IoError { io_error, filepath } => {
            format!("{}: {io_error}", filepath.display())
        }
        OpenReadError::IncompatibleIndex(other) => incompatible(other),
    }
}

fn open_write(error: &OpenWriteError) -> String {
    match error {
        OpenWriteError::FileAlreadyExists(path) => format!("{} exists already", path.display()),
        OpenWriteError::IoError { io_error, filepath } => {
            format!("{}: {io_error}", filepath.display())
        }
    }
}

fn incompatible(other: &Incompatibility) -> String {
    match other {
        Incompatibility::CompressionMismatch {
            library_compression_format,
            index_compression_format,
        } => format!(
            "it is compressed with {index_compression_format}, but this build reads only \
             {library_compression_format}"
        ),
        // The debug form of this variant is a sentence.
        Incompatibility::IndexMismatch { .. } => format!("{other:?}"),
    }
}

fn deserialize(error: &DeserializeError) -> String {
    match error {
        DeserializeError::CorruptedValue(cause) => format!("a value cannot be read: {cause}"),
        DeserializeError::UnsupportedType(_) | DeserializeError::TypeMismatch { .. } => {
            "a value has another type than its field".into()
        }
        other => other.to_string(),
    }
}

/// Describes the error in a query, as a clause.
pub fn query_words(error: &QueryParserError) -> String {
    match error {
        QueryParserError::ExpectedInt(cause) => format!("expected a whole number: {cause}"),
        QueryParserError::ExpectedBase64(cause) => format!("expected base64: {cause}"),
        QueryParserError::ExpectedFloat(cause) => format!("expected a number: {cause}"),
        QueryParserError::ExpectedBool(cause) => format!("expected true or false: {cause}"),
        QueryParserError::PhrasePrefixRequiresAtLeastTwoTerms { phrase, .. } => {
            format!("the phrase `{phrase}` before the star has fewer than two words")
        }
        QueryParserError::UnknownTokenizer { field, .. } => {
            format!("the field `{field}` cannot be searched")
        }
        other => other.to_string(),
    }
}

/// Returns the failure with the system's error as the cause if tantivy has kept only the message,
/// as when writing the texts and fields of a segment.
fn with_system_error(error: TantivyError) -> TantivyError {
    let system_error = match &error {
        TantivyError::IoError(cause) => system_error(&cause.to_string()),
        TantivyError::InternalError(what) => system_error(what),
        _ => None,
    };
    system_error.map_or(error, |cause| TantivyError::IoError(Arc::new(cause)))
}

/// Returns the error of the system that is shown as exactly these words.
fn system_error(words: &str) -> Option<io::Error> {
    let (_, code) = words.strip_suffix(')')?.rsplit_once("(os error ")?;
    let error = io::Error::from_raw_os_error(code.parse().ok()?);
    (error.to_string() == words).then_some(error)
}

/// Converts a failure of tantivy in the directory `path`. If an error of cento caused the failure,
/// returns that error, with the directory before the name of a damaged file.
pub fn store_error(action: &'static str, path: &Path, error: TantivyError) -> Error {
    if let TantivyError::LockFailure(LockError::LockBusy, _) = error {
        return Error::Locked { path: path.to_owned() };
    }
    let error = with_system_error(error);
    if let TantivyError::LockFailure(LockError::IoError(error), _) = &error
        && error.get_ref().is_none()
    {
        // Copy the system's error, because tantivy shares it and it cannot be moved out.
        let copy = error.raw_os_error().map_or_else(
            || io::Error::new(error.kind(), error.to_string()),
            io::Error::from_raw_os_error,
        );
        return Error::io("take a lock in", path, copy);
    }
    let cause = io_cause(&error).and_then(|io| io.get_ref());
    if let Some(corruption) = cause.and_then(|cause| cause.downcast_ref::<Corruption>()) {
        return Error::Corrupt(corruption.clone().in_directory(path));
    }
    match cause.and_then(|cause| cause.downcast_ref::<Error>()) {
        Some(Error::Corrupt(corruption)) => {
            return Error::Corrupt(corruption.clone().in_directory(path));
        }
        Some(Error::Index { path, reason, what }) => {
            return Error::index(path, *reason, what.clone());
        }
        _ => {}
    }
    Error::Store { action, path: path.to_owned(), source: Box::new(StoreFailure(error)) }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn full() -> Arc<io::Error> {
        Arc::new(io::ErrorKind::StorageFull.into())
    }

    /// One error of every kind with only a debug form, and some more.
    fn all() -> Vec<TantivyError> {
        let path = || PathBuf::from("a.idx");
        let damage = Corruption::new("a.idx", "component", 3, "checksum");
        let custom = Arc::new(io::Error::new(io::ErrorKind::InvalidData, damage));
        let compressed = || Incompatibility::CompressionMismatch {
            library_compression_format: "lz4".into(),
            index_compression_format: "zstd".into(),
        };
        vec![
            OpenDirectoryError::DoesNotExist(path()).into(),
            OpenDirectoryError::NotADirectory(path()).into(),
            OpenDirectoryError::FailedToCreateTempDir(full()).into(),
            OpenDirectoryError::IoError { io_error: full(), directory_path: path() }.into(),
            OpenReadError::FileDoesNotExist(path()).into(),
            OpenReadError::IoError { io_error: full(), filepath: path() }.into(),
            OpenReadError::IoError { io_error: custom, filepath: path() }.into(),
            OpenReadError::IncompatibleIndex(compressed()).into(),
            OpenWriteError::FileAlreadyExists(path()).into(),
            OpenWriteError::IoError { io_error: full(), filepath: path() }.into(),
            TantivyError::IndexAlreadyExists,
            TantivyError::LockFailure(LockError::LockBusy, Some("busy".into())),
            TantivyError::LockFailure(LockError::IoError(full()), None),
            TantivyError::IoError(full()),
            tantivy::error::DataCorruption::new(path(), "cut".into()).into(),
            TantivyError::Poisoned,
            TantivyError::FieldNotFound("id".into()),
            TantivyError::InvalidArgument("no".into()),
            TantivyError::ErrorInThread("Any { .. }".into()),
            TantivyError::ErrorInThread("it was killed.".into()),
            TantivyError::IndexBuilderMissingArgument("schema"),
            TantivyError::SchemaError("no".into()),
            TantivyError::SystemError("no".into()),
            TantivyError::IncompatibleIndex(compressed()),
            TantivyError::InternalError("no".into()),
            DeserializeError::CorruptedValue(full()).into(),
            DeserializeError::custom("no").into(),
            TantivyError::MissingPlugin("sig".into()),
            TantivyError::ConflictingPlugins("sig".into()),
            TantivyError::UnexpectedPlugin("sig".into()),
        ]
    }

    #[test]
    fn no_error_is_shown_in_its_debug_form() {
        for error in all() {
            let shown = StoreFailure(error.clone()).to_string();
            for sign in ["{", "}", "\"", "Some(", "Error:", "IoError", "Custom", "kind:"] {
                assert!(!shown.contains(sign), "{shown}, of {error:?}");
            }
            assert!(!shown.is_empty() && !shown.ends_with('.'), "{shown}");
        }
    }

    #[test]
    fn every_failure_of_the_system_has_a_source() {
        let found = all().into_iter().map(StoreFailure).filter(|error| {
            let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
            cause.is_some_and(|cause| cause.kind() == io::ErrorKind::StorageFull)
        });
        assert_eq!(found.count(), 7);
    }

    #[test]
    fn a_full_disk_is_known_where_only_its_words_are_left() {
        // 5 is EIO on Linux, 28 is ENOSPC.
        let system = |code| io::Error::from_raw_os_error(code);
        let reason = |error| store_error("commit to", Path::new("a.idx"), error).reason().code();
        let held = |error| TantivyError::IoError(Arc::new(io::Error::other(error)));
        let shown = system(28).to_string();
        assert_eq!(reason(TantivyError::InternalError(shown.clone())), "storage_full");
        assert_eq!(reason(held(shown.clone())), "storage_full");
        let expected = TantivyError::InternalError(system(5).to_string());
        assert_eq!(reason(expected), reason(TantivyError::IoError(Arc::new(system(5)))));
        for other in [format!("{shown}!"), format!("a.txt: {shown}"), "(os error 28)".to_owned()] {
            assert_ne!(reason(TantivyError::InternalError(other.clone())), "storage_full");
            assert_ne!(reason(held(other)), "storage_full");
        }
    }

    #[test]
    fn the_error_of_a_query_has_no_debug_form() {
        let errors: [QueryParserError; 5] = [
            "x".parse::<u64>().unwrap_err().into(),
            "x".parse::<f64>().unwrap_err().into(),
            "x".parse::<bool>().unwrap_err().into(),
            QueryParserError::PhrasePrefixRequiresAtLeastTwoTerms {
                phrase: "a".into(),
                tokenizer: "raw".into(),
            },
            QueryParserError::UnknownTokenizer { tokenizer: "raw".into(), field: "a".into() },
        ];
        for error in errors {
            let shown = query_words(&error);
            assert!(!shown.contains(['{', '"']) && !shown.contains("Error"), "{shown}");
        }
    }
}
