//! Files as documents of several files, by their names.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::FileReason;

/// Names of files to make documents of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GroupingRequest {
    /// The paths of the files; the first part of each is the file, directory or archive that a
    /// person chose.
    pub names: Vec<String>,
    /// The unit of a document, as `cento add --by` takes it: `file`, `directory`, `archive`, or a
    /// pattern such as `{document}_{*}_{part}`. Default: what the names suggest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// The documents that files make.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GroupingResponse {
    /// The unit of a document, as it was given or as the names suggest.
    pub by: String,
    /// Where the documents begin, as a clause, if that is not obvious.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// The documents.
    pub documents: Vec<FilesOfDocument>,
    /// Files that are in no document, and documents without files, with the reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<FileReason>,
}

/// The files of one document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FilesOfDocument {
    /// The id of the document.
    pub id: String,
    /// The files that are its parts, in their order.
    pub parts: Vec<FileOfDocument>,
    /// The fields of the pattern.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// A file of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FileOfDocument {
    /// The name of the part.
    pub name: String,
    /// The place of the file in the list of names, counted from 0.
    pub file: u32,
}
