//! The results of adding documents.

use serde::{Deserialize, Serialize};

use crate::whole::is_zero;

/// The results of adding documents, of a run of the command or of a request to a service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AddReport {
    /// Documents whose id was new.
    pub added: u64,
    /// Documents that replaced another version.
    pub replaced: u64,
    /// Documents that were in the index already, with the same text and meta.
    pub unchanged: u64,
    /// Files left out by their names, or because they are not text, are empty or are not files.
    pub skipped: u64,
    /// The number of these files left out by name, such as hidden ones. Omitted if zero.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped_by_name: u64,
    /// Records that are not documents, and files that could not be read.
    pub failed: u64,
    /// How many of the failed entries are files that cento could not read to their ends. The number
    /// of documents in these files is unknown.
    #[serde(default)]
    pub unread: u64,
    /// Documents without a token, which no search finds.
    #[serde(default)]
    pub empty: u64,
    /// Bytes of text in the documents.
    pub bytes: u64,
    /// The time it took, in microseconds.
    pub took_us: u64,
}
