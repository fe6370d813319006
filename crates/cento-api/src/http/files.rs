//! Files that a client uploads unread.

use serde::{Deserialize, Serialize};

use crate::whole::is_zero;
use crate::{Answer, UnseenText};

/// Files, as `multipart/form-data`: parts with a file name, in any format that `cento add` reads.
/// An archive, a mail or a list of records is read as the documents in it, whose ids begin with its
/// name.
///
/// This type describes the body; a client makes the body from [`FileBody`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FilesRequest {
    /// The bytes of a file; can be repeated.
    pub file: Vec<String>,
    /// The JSON that the route reads as `application/json`, without the fields that the files
    /// replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// Files to add or to extract, as [`FilesRequest`]. The route reads nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OnlyFilesRequest {
    /// The bytes of a file; can be repeated.
    pub file: Vec<String>,
}

/// Files to compare with each other, as [`FilesRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PairsFilesRequest {
    /// The bytes of a file; can be repeated.
    pub file: Vec<String>,
    /// The bytes of a file whose texts do not count; can be repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boilerplate: Vec<String>,
    /// The JSON that the route reads as `application/json`, without the fields that the files
    /// replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// Two files to compare, as `multipart/form-data`. Each is one text; in place of one of them
/// `request` may name a stored document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompareFilesRequest {
    /// The bytes of the first file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    /// The bytes of the second file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<String>,
    /// The JSON that the route reads as `application/json`, without the fields that the files
    /// replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// A part of a body of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileBody<'a> {
    /// The name of the part: `file`, for a comparison `a` or `b`, or `boilerplate`.
    pub part: &'a str,
    /// The name of the file, with a path or without.
    pub name: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// The files and records that were not read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NotRead {
    /// Files that are not text or are empty, and documents without a fingerprint to compare.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<FileReason>,
    /// Files that could not be read, or not to their ends, and records that are not documents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread_files: Vec<FileReason>,
    /// The number of further files and records that were not read: each list names at most 1,000.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_read_more: u64,
}

/// A file that was not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FileReason {
    /// Its name; in an archive it follows the name of the archive.
    pub path: String,
    /// The reason, as a clause.
    pub reason: String,
}

/// The texts of files.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TextsResponse {
    /// The documents in the files, in order.
    pub documents: Vec<FileText>,
    /// The files and records that were not read.
    #[serde(flatten)]
    pub not_read: NotRead,
}

/// The text of a file, or of a document in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FileText {
    /// The part that it came in.
    pub part: String,
    /// Its id: the name of the file, or the id of a record.
    pub id: String,
    /// The name of the list that it is a record of, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<String>,
    /// The text.
    pub text: String,
    /// The content of the file that a reader does not see, if there is any.
    #[serde(default, skip_serializing_if = "UnseenText::is_none")]
    pub unseen: UnseenText,
}

/// The answer to a search for files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SearchFilesResponse {
    /// The answer for each document in the files, in order.
    pub answers: Vec<FileAnswer>,
    /// The files and records that were not read.
    #[serde(flatten)]
    pub not_read: NotRead,
}

/// The result of the search for one document of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FileAnswer {
    /// The id of the document.
    pub id: String,
    /// The hits.
    pub answer: Answer,
}
