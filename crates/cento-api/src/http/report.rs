//! Requests for a report over HTTP.

use serde::{Deserialize, Serialize};

use super::{FileReason, PairsRequest, SearchRequest};

/// A search whose answer is a report: one HTML file for people to read, print and pass on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReportRequest {
    /// The search. `passages` is always true; `signature` has no text and the goal `passage` no
    /// shares, so both are refused.
    pub search: SearchRequest,
    /// The name of the document for readers. Default: its id, or "Text".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A comparison of documents with each other whose answer is a report: one HTML file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PairsReportRequest {
    /// The comparison. The passages of the pairs are always found.
    pub pairs: PairsRequest,
    /// Replace ids with numbers. The texts stay as they are.
    #[serde(default)]
    pub anonymous: bool,
    /// Files that the client could not read, for the list in the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<FileReason>,
    /// Files with content that a reader does not see, for the report, with descriptions of it as
    /// clauses. Default: of the texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<FileReason>,
}
