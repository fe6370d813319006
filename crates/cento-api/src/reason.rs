//! Reasons why an operation failed.
//!
//! A [`Reason`] is for programs, and a message is for people.
//! [`Error::reason`](crate::Error::reason) returns the reason of any error. Status codes,
//! exceptions and hints follow from the reason. A lower layer that reports an [`io::Error`] puts a
//! [`Refusal`] inside, which carries the reason.

use std::error::Error as StdError;
use std::fmt;
use std::io;

/// The reason why an operation failed.
///
/// ```
/// use cento_api::Reason;
///
/// assert_eq!(Reason::of_code("not_found", None), Reason::NotFound);
/// let unsupported = Reason::Unsupported { feature: "code" };
/// assert_eq!((unsupported.code(), unsupported.detail()), ("unsupported", Some("code")));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason<'a> {
    /// An argument has an invalid value, or two arguments contradict each other.
    InvalidArgument {
        /// The argument, under its name in queries and options. `None` for several arguments.
        argument: Option<&'a str>,
    },
    /// The specification of a scheme, an analyzer or a measure cannot be used.
    InvalidSpec,
    /// This build lacks a part of cento.
    Unsupported {
        /// The feature that has the part. The message names the package.
        feature: &'a str,
    },
    /// The frequency table that the scheme or measure needs is missing.
    NeedsFrequencyTable,
    /// The frequency table counts other runs of tokens, or tokens of another analyzer.
    OtherFrequencyTable,
    /// A file is not a frequency table.
    NotAFrequencyTable,
    /// Fingerprints depend on a key that was not given.
    NeedsKey,
    /// Fingerprints depend on a different key than the given key, or on no key.
    OtherKey,
    /// No document has the id.
    UnknownId,
    /// The input is not a document, or not of the kind expected there.
    InvalidInput,
    /// A record, or a file that is read as one, is longer than the limit.
    RecordTooLong,
    /// A document needs more memory than one document may use.
    DocumentTooLarge,
    /// A record lacks the field with the given name, or any field with a usual name.
    MissingField {
        /// The field of a document that the record lacks: `text` or `id`.
        field: &'a str,
    },
    /// The values of a field or column cannot be ids.
    UnusableIds,
    /// The value of a field cannot be a meta object.
    UnusableMeta,
    /// A compressed stream refers back further than the memory for it allows.
    WindowTooLarge {
        /// The name of the format.
        format: &'a str,
    },
    /// A file with rules for ignored files cannot be applied.
    UnusableIgnoreFile,
    /// The index has another document of this id, which was not chosen by the caller.
    IdTaken,
    /// Two indexes that are to be merged have documents with the same id.
    SharedId,
    /// The document was withdrawn from the index, or is a copy of a withdrawn document.
    Withdrawn,
    /// There is no index.
    NotFound,
    /// There is an index already.
    AlreadyExists,
    /// The directory for a new index has other files.
    NotEmpty,
    /// The store has no index.
    NoStore,
    /// The store lacks this manifest of its index.
    NoManifest,
    /// The index was not made by cento.
    NotAnIndex,
    /// The index signs texts in a different way, so fingerprints cannot be compared.
    OtherScheme,
    /// The settings of the index differ from the requested settings.
    OtherSettings,
    /// Another version of cento, with another format, wrote the index or manifest.
    OtherVersion,
    /// The index stores no texts.
    NoTexts,
    /// The index was replaced, moved or removed after it was opened.
    Replaced,
    /// The index has changes that were not pushed, which would be lost.
    UnpushedChanges,
    /// An earlier run was interrupted, and was neither continued nor abandoned.
    Interrupted,
    /// The index or directory cannot be used for this in its present state.
    Unsuitable,
    /// An earlier write failed. The index is in the state of its last commit.
    WriteFailed,
    /// Another process is writing to the index.
    Locked,
    /// A file does not contain what its writer must have written.
    Damaged,
    /// The operation needs more memory than it may ever use.
    MemoryLimit,
    /// The memory or time for the operation is in use. A repetition can succeed later.
    Busy,
    /// The disk is full, or the quota for writing to it is exhausted.
    StorageFull,
    /// A certificate was not accepted, or the certificates for the check are missing.
    Certificate,
    /// The system or an object store refused to read or write.
    Io,
    /// Another change came first.
    Conflict(ConflictKind),
    /// A service refused the operation for a reason that only services have.
    Refused,
    /// The caller stopped the operation.
    Cancelled,
    /// The operation took longer than a service allows.
    Timeout,
    /// A service is stopping, or cannot write at present.
    Unavailable,
    /// A document triggers a defect in cento, and was refused.
    PoisonousDocument,
    /// A defect in cento.
    Internal,
}

/// The change that came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConflictKind {
    /// Another writer added documents.
    Writer,
    /// Another merge removed segments that were to be merged.
    Merge,
    /// The store has changed since the index was pulled or pushed.
    Outrun,
    /// The store holds a different index, which this index was not made from.
    OtherIndex,
    /// The store's current manifest is damaged, and its contents would be lost.
    UnreadableManifest,
    /// A manifest was removed while it was pulled.
    ManifestRemoved,
    /// A shard has a different commit than the commit of the continued request.
    Commit,
    /// A service refused a change because of a different change, which the message names.
    Service,
}

/// All reasons, with empty details.
const ALL: [Reason<'static>; 49] = [
    Reason::InvalidArgument { argument: None },
    Reason::InvalidSpec,
    Reason::Unsupported { feature: "" },
    Reason::NeedsFrequencyTable,
    Reason::OtherFrequencyTable,
    Reason::NotAFrequencyTable,
    Reason::NeedsKey,
    Reason::OtherKey,
    Reason::UnknownId,
    Reason::InvalidInput,
    Reason::RecordTooLong,
    Reason::DocumentTooLarge,
    Reason::MissingField { field: "" },
    Reason::UnusableIds,
    Reason::UnusableMeta,
    Reason::WindowTooLarge { format: "" },
    Reason::UnusableIgnoreFile,
    Reason::IdTaken,
    Reason::SharedId,
    Reason::Withdrawn,
    Reason::NotFound,
    Reason::AlreadyExists,
    Reason::NotEmpty,
    Reason::NoStore,
    Reason::NoManifest,
    Reason::NotAnIndex,
    Reason::OtherScheme,
    Reason::OtherSettings,
    Reason::OtherVersion,
    Reason::NoTexts,
    Reason::Replaced,
    Reason::UnpushedChanges,
    Reason::Interrupted,
    Reason::Unsuitable,
    Reason::WriteFailed,
    Reason::Locked,
    Reason::Damaged,
    Reason::MemoryLimit,
    Reason::Busy,
    Reason::StorageFull,
    Reason::Certificate,
    Reason::Io,
    Reason::Conflict(ConflictKind::Service),
    Reason::Refused,
    Reason::Cancelled,
    Reason::Timeout,
    Reason::Unavailable,
    Reason::PoisonousDocument,
    Reason::Internal,
];

impl<'a> Reason<'a> {
    /// Returns the name of the reason in JSON and in Python, such as `not_found`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Reason::InvalidArgument { .. } => "invalid_argument",
            Reason::InvalidSpec => "invalid_spec",
            Reason::Unsupported { .. } => "unsupported",
            Reason::NeedsFrequencyTable => "needs_frequency_table",
            Reason::OtherFrequencyTable => "other_frequency_table",
            Reason::NotAFrequencyTable => "not_a_frequency_table",
            Reason::NeedsKey => "needs_key",
            Reason::OtherKey => "other_key",
            Reason::UnknownId => "unknown_id",
            Reason::InvalidInput => "invalid_input",
            Reason::RecordTooLong => "record_too_long",
            Reason::DocumentTooLarge => "document_too_large",
            Reason::MissingField { .. } => "missing_field",
            Reason::UnusableIds => "unusable_ids",
            Reason::UnusableMeta => "unusable_meta",
            Reason::WindowTooLarge { .. } => "window_too_large",
            Reason::UnusableIgnoreFile => "unusable_ignore_file",
            Reason::IdTaken => "id_taken",
            Reason::SharedId => "shared_id",
            Reason::Withdrawn => "withdrawn",
            Reason::NotFound => "not_found",
            Reason::AlreadyExists => "already_exists",
            Reason::NotEmpty => "not_empty",
            Reason::NoStore => "no_store",
            Reason::NoManifest => "no_manifest",
            Reason::NotAnIndex => "not_an_index",
            Reason::OtherScheme => "other_scheme",
            Reason::OtherSettings => "other_settings",
            Reason::OtherVersion => "other_version",
            Reason::NoTexts => "no_texts",
            Reason::Replaced => "replaced",
            Reason::UnpushedChanges => "unpushed_changes",
            Reason::Interrupted => "interrupted",
            Reason::Unsuitable => "unsuitable",
            Reason::WriteFailed => "write_failed",
            Reason::Locked => "locked",
            Reason::Damaged => "damaged",
            Reason::MemoryLimit => "too_large",
            Reason::Busy => "busy",
            Reason::StorageFull => "storage_full",
            Reason::Certificate => "certificate",
            Reason::Io => "io",
            Reason::Conflict(_) => "conflict",
            Reason::Refused => "refused",
            Reason::Cancelled => "cancelled",
            Reason::Timeout => "timeout",
            Reason::Unavailable => "unavailable",
            Reason::PoisonousDocument => "poisonous_document",
            Reason::Internal => "internal",
        }
    }

    /// Returns the reason with this code, as a service reports it: the `detail` is the argument,
    /// feature, field or format, if the reason has one. [`Reason::Refused`] if the code is unknown.
    #[must_use]
    pub fn of_code(code: &str, detail: Option<&'a str>) -> Reason<'a> {
        let known = ALL.into_iter().find(|known| known.code() == code);
        let text = detail.unwrap_or("");
        match known.unwrap_or(Reason::Refused) {
            Reason::InvalidArgument { .. } => Reason::InvalidArgument { argument: detail },
            Reason::Unsupported { .. } => Reason::Unsupported { feature: text },
            Reason::MissingField { .. } => Reason::MissingField { field: text },
            Reason::WindowTooLarge { .. } => Reason::WindowTooLarge { format: text },
            reason => reason,
        }
    }

    /// Returns the subject of the reason: an argument, feature, field or format. Most reasons have
    /// no subject.
    #[must_use]
    pub fn detail(self) -> Option<&'a str> {
        match self {
            Reason::InvalidArgument { argument } => argument,
            Reason::Unsupported { feature: detail }
            | Reason::MissingField { field: detail }
            | Reason::WindowTooLarge { format: detail } => Some(detail),
            _ => None,
        }
    }
}

/// Returns an error, followed by its causes from layer to layer.
pub(crate) fn causes<'e>(
    error: &'e (dyn StdError + 'static),
) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| {
        // The `source` of an `io::Error` is the source of its inner error, not the inner error
        // itself.
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(held) => Some(held),
            None => error.source(),
        }
    })
}

/// A message with its reason. An [`io::Error`] can hold the value, and a caller can add the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason, if there is more to know than the message.
    pub reason: Option<Reason<'static>>,
    /// The problem, as a clause.
    pub what: String,
}

impl Refusal {
    /// Makes a message for this reason.
    pub fn new(reason: Reason<'static>, what: impl Into<String>) -> Refusal {
        Refusal { reason: Some(reason), what: what.into() }
    }

    /// Copies message and reason of an error, to report the error again.
    #[must_use]
    pub fn of(error: &io::Error) -> Refusal {
        let refusal = causes(error).find_map(|cause| cause.downcast_ref::<Refusal>());
        let reason = refusal.and_then(|refusal| refusal.reason);
        Refusal { reason, what: error.to_string() }
    }

    /// Makes the message that `subject` needs a `feature` of a `package`, which this build lacks.
    pub fn unsupported(
        subject: impl fmt::Display,
        feature: &'static str,
        package: &str,
    ) -> Refusal {
        let what = format!(
            "{subject} needs the feature `{feature}` of the package `{package}`, which this build \
             lacks"
        );
        Refusal::new(Reason::Unsupported { feature }, what)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl StdError for Refusal {}

impl From<String> for Refusal {
    fn from(what: String) -> Refusal {
        Refusal { reason: None, what }
    }
}

impl From<&str> for Refusal {
    fn from(what: &str) -> Refusal {
        Refusal::from(what.to_owned())
    }
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> io::Error {
        io::Error::other(refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn every_reason_has_a_code_that_leads_back_to_it() {
        for reason in ALL {
            assert_eq!(Reason::of_code(reason.code(), reason.detail()), reason);
        }
        // Every reason must be in the list. The match in `code` has an arm for each reason.
        let source = include_str!("reason.rs");
        let arms = source.lines().filter(|line| {
            line.trim_start().starts_with("Reason::")
                && line.ends_with("\",")
                && line.contains(" => \"")
        });
        assert_eq!(arms.count(), ALL.len());
        let detailed = Reason::InvalidArgument { argument: Some("limit") };
        assert_eq!(Reason::of_code(detailed.code(), detailed.detail()), detailed);
        assert_eq!(Reason::of_code("new_in_a_later_version", None), Reason::Refused);
    }

    #[test]
    fn a_reason_is_found_within_an_io_error() {
        let of = |source: io::Error| Error::io("read", "a.txt", source).reason().code();
        let refusal = || Refusal::new(Reason::RecordTooLong, "longer than 5 bytes");
        assert_eq!(of(refusal().into()), "record_too_long");
        assert_eq!(of(io::Error::other(io::Error::from(refusal()))), "record_too_long");
        assert_eq!(
            of(io::Error::other(Error::io("write", "b", refusal().into()))),
            "record_too_long"
        );
        // The words alone determine nothing.
        assert_eq!(of(io::Error::other("longer than 5 bytes")), "io");
        assert_eq!(of(io::Error::other("No space left on device")), "io");
        assert_eq!(of(io::ErrorKind::StorageFull.into()), "storage_full");
        assert_eq!(
            of(io::Error::other(Error::io("write", "b", io::ErrorKind::QuotaExceeded.into()))),
            "storage_full"
        );
    }
}
