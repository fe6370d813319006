//! Comparisons of two documents over HTTP.

use serde::{Deserialize, Deserializer, Serialize};

use super::SignatureBody;
use crate::{CompareOptions, Comparison, PartText, Passage};

/// Two texts, or stored documents, to compare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CompareRequest {
    /// The first document.
    pub a: TextOrId,
    /// The second document.
    pub b: TextOrId,
    /// The options.
    #[serde(flatten, deserialize_with = "crate::json::flattened")]
    pub options: CompareOptions,
}

/// A text, or a stored document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase", try_from = "TextOrIdFields")]
pub enum TextOrId {
    /// This text.
    Text(String),
    /// The stored document with this id.
    Id(String),
}

/// The fields of a [`TextOrId`]. Reading the struct tells unknown fields from wrong values, which
/// reading the enum does not.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextOrIdFields {
    #[serde(default, deserialize_with = "not_null")]
    text: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    id: Option<String>,
}

fn not_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}

impl TryFrom<TextOrIdFields> for TextOrId {
    type Error = &'static str;

    fn try_from(fields: TextOrIdFields) -> Result<TextOrId, &'static str> {
        match (fields.text, fields.id) {
            (Some(text), None) => Ok(TextOrId::Text(text)),
            (None, Some(id)) => Ok(TextOrId::Id(id)),
            _ => Err("expected an object with one field, `text` or `id`"),
        }
    }
}

/// The result of comparing two documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompareResponse {
    /// The id of the first document, if it is stored.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub a: Option<String>,
    /// The id of the second document, if it is stored.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub b: Option<String>,
    /// The numbers, and the passages.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// A query, and one of its hits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PassagesRequest {
    /// The query is this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(pattern = r"^[^\x00]*$"))]
    pub text: Option<String>,
    /// The query is a text of these parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<PartText>>,
    /// The query is the stored document with this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The query is this signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<SignatureBody>,
    /// The id of the hit.
    pub hit: String,
}

/// The passages that a query shares with a hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PassagesResponse {
    /// The id of the hit.
    pub hit: String,
    /// The passages, in the order of the query.
    pub passages: Vec<Passage>,
    /// Whether the list is complete: if not, finding all passages would have exceeded the limit on
    /// steps or memory. Equal texts have equal answers.
    #[serde(default = "yes")]
    pub complete: bool,
}

/// The default of `complete`, for services that do not send the field.
fn yes() -> bool {
    true
}
