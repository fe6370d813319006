//! Adding, reading, listing and removing documents over HTTP.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::NotRead;
#[cfg(feature = "openapi")]
use super::schema;
use crate::document::{id_of_json, meta_of_json};
use crate::json::problem;
use crate::part::exchanged_parts;
use crate::similarity::is_false;
use crate::{AddReport, Part, PartText};

/// A document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DocumentBody {
    /// The caller's id: a stored document with the same id is replaced. A whole number is read as
    /// its decimal digits.
    #[serde(deserialize_with = "id")]
    #[cfg_attr(feature = "openapi", schema(schema_with = schema::document_id))]
    pub id: String,
    /// The text.
    #[cfg_attr(feature = "openapi", schema(pattern = r"^[^\x00]*$"))]
    pub text: String,
    /// The fields for filters.
    #[serde(default, deserialize_with = "meta", skip_serializing_if = "Map::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Map<String, Value>>))]
    pub meta: Map<String, Value>,
    /// For an id that the client made from the place where it found the document, such as a file: a
    /// number of that place, or 0 if the place is unknown, as for a stream. The document then
    /// replaces only one that was found at the same place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_place: Option<u64>,
}

/// A document of several parts: the files of a submission, the chapters of a book. The texts of the
/// parts are joined with line feeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DocumentOfParts {
    /// The caller's id: a stored document with the same id is replaced. A whole number is read as
    /// its decimal digits.
    #[serde(deserialize_with = "id")]
    #[cfg_attr(feature = "openapi", schema(schema_with = schema::document_id))]
    pub id: String,
    /// The parts, in their order: at least one.
    pub parts: Vec<PartText>,
    /// The fields for filters.
    #[serde(default, deserialize_with = "meta", skip_serializing_if = "Map::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Map<String, Value>>))]
    pub meta: Map<String, Value>,
    /// The number of the place where the client found the document, as in `DocumentBody`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_place: Option<u64>,
}

/// A document, with a text or with parts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum AddedDocument {
    /// With a text.
    Text(DocumentBody),
    /// With parts.
    Parts(DocumentOfParts),
}

impl AddedDocument {
    /// Returns a document with this text, or with these parts if there are any.
    #[must_use]
    pub fn new(
        id: String,
        text: String,
        parts: &[Part],
        meta: Map<String, Value>,
        id_place: Option<u64>,
    ) -> AddedDocument {
        if parts.is_empty() {
            return AddedDocument::Text(DocumentBody { id, text, meta, id_place });
        }
        let parts = exchanged_parts(parts, &text);
        AddedDocument::Parts(DocumentOfParts { id, parts, meta, id_place })
    }

    /// Returns the id of the document.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            AddedDocument::Text(document) => &document.id,
            AddedDocument::Parts(document) => &document.id,
        }
    }

    /// Returns the text, or the texts of the parts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let (own, parts) = match self {
            AddedDocument::Text(document) => (Some(document.text.as_str()), &[][..]),
            AddedDocument::Parts(document) => (None, &document.parts[..]),
        };
        own.into_iter().chain(parts.iter().map(|part| part.text.as_str()))
    }
}

impl From<DocumentBody> for AddedDocument {
    fn from(document: DocumentBody) -> AddedDocument {
        AddedDocument::Text(document)
    }
}

impl From<DocumentOfParts> for AddedDocument {
    fn from(document: DocumentOfParts) -> AddedDocument {
        AddedDocument::Parts(document)
    }
}

/// The fields of a document with a text, or with parts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentFields {
    #[serde(deserialize_with = "id")]
    id: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    parts: Option<Vec<PartText>>,
    #[serde(default, deserialize_with = "meta")]
    meta: Map<String, Value>,
    #[serde(default)]
    id_place: Option<u64>,
}

impl<'de> Deserialize<'de> for AddedDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AddedDocument, D::Error> {
        let DocumentFields { id, text, parts, meta, id_place } =
            DocumentFields::deserialize(deserializer)?;
        match (text, parts) {
            (Some(text), None) => Ok(DocumentBody { id, text, meta, id_place }.into()),
            (None, Some(parts)) => Ok(DocumentOfParts { id, parts, meta, id_place }.into()),
            (None, None) => Err(D::Error::missing_field("text")),
            (Some(_), Some(_)) => {
                Err(D::Error::custom("a document has either `text` or `parts`, not both"))
            }
        }
    }
}

// The type of each value is checked before parsing. A long list in place of a string would
// otherwise take a hundred times its bytes.

fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let json = Box::<RawValue>::deserialize(deserializer)?;
    let id = id_of_json(&json).map_err(|what| D::Error::custom(format!("`id` is {what}")))?;
    let what = if json.get() == "null" { "`id` is null" } else { "`id` is empty" };
    id.ok_or_else(|| D::Error::custom(what))
}

fn meta<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    let json = Box::<RawValue>::deserialize(deserializer)?;
    meta_of_json("meta", &json).map_err(D::Error::custom)
}

/// Reads the members to change. Unlike a meta object that is added, nothing else becomes a member:
/// a list would be set as the member `meta`, and the request would seem to have worked.
fn meta_patch<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    let json = Box::<RawValue>::deserialize(deserializer)?;
    if !json.get().starts_with('{') {
        let problem = serde_json::from_str::<Map<String, Value>>(json.get())
            .map_or_else(|e| problem(&e), |_| String::new());
        let what = format_args!("{problem}; `meta` has the members to change");
        return Err(D::Error::custom(what));
    }
    meta_of_json("meta", &json).map_err(D::Error::custom)
}

/// When searches see a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema, utoipa::IntoParams))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct When {
    /// `auto`: answer immediately, with 202; the change is seen, and safe from a crash, after the
    /// next commit, which is made within the commit interval of the service. `wait`: commit, then
    /// answer, with 200.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", param(inline))]
    pub commit: Commit,
}

/// See [`When`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Commit {
    /// With the next commit.
    #[default]
    Auto,
    /// Now.
    Wait,
}

/// The answer to a request that adds documents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AddResponse {
    /// The counts.
    #[serde(flatten)]
    pub report: AddReport,
    /// Whether the documents are committed: seen by searches, and safe from a crash.
    pub committed: bool,
    /// The first records that are not documents, at most 100; `failed` counts all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<RecordError>,
    /// The files and records that were not read, if files were sent.
    #[serde(flatten)]
    pub not_read: NotRead,
    /// The fields of records in files, beside id, text and meta object, that the documents lack: of
    /// very many, some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields_not_kept: Vec<String>,
}

/// A record that is not a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordError {
    /// Its line, counted from 1.
    pub line: u64,
    /// The reason, for programs: a code like that of an error.
    #[cfg_attr(feature = "openapi", schema(example = "missing_field"))]
    pub code: String,
    /// The reason, as a sentence.
    pub message: String,
}

/// Which documents to remove: a list of ids, or a filter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RemoveRequest {
    /// Their ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<String>>,
    /// Remove all documents that match this query, such as `meta.lang:de` or `meta.year:[* TO
    /// 2023]`. The service first commits the changes that it accepted before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Count the documents and remove nothing. The service still commits earlier accepted changes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub dry_run: bool,
}

/// A change of the meta object of a stored document, whose text stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PatchRequest {
    /// A merge patch (RFC 7396) of the meta object: a member with the value null is removed,
    /// objects are merged member by member, and every other value replaces the one before.
    #[serde(deserialize_with = "meta_patch")]
    pub meta: Map<String, Value>,
}

/// The answer to a request that changes the meta object of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PatchResponse {
    /// Whether the request changed the meta object.
    pub changed: bool,
    /// Whether the change is committed.
    pub committed: bool,
}

/// The answer to a request that removes documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RemoveResponse {
    /// Documents removed, or with `dry_run` found.
    pub removed: u64,
    /// Ids that no document has.
    pub missing: Vec<String>,
    /// Whether the removal is committed.
    pub committed: bool,
}

/// The stored documents to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema, utoipa::IntoParams))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct ListRequest {
    /// The `cursor` of the previous page; leave it out for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The number of documents in a page, 1 to 1,000; 100 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// List only documents that match this query, such as `meta.lang:de` or `text:"went up"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
}

/// A page of stored documents, in the order of the bytes of their ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListResponse {
    /// The documents.
    pub documents: Vec<ListedDocument>,
    /// The start of the next page; missing from the last one. A page sees the last commit: a
    /// document that stays is on one page, regardless of additions, removals and merges meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A document in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListedDocument {
    /// Its id.
    pub id: String,
    /// The index with the document, if several indexes are searched as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// The number of its tokens.
    pub tokens: u32,
    /// The size of its text in bytes, if the index stores texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The number of its parts, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<u32>,
    /// When it was added (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<String>,
    /// The caller's metadata.
    pub meta: Map<String, Value>,
}

/// A part of a stored document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StoredPart {
    /// Its name.
    pub name: String,
    /// The byte of the document's text where it begins. It ends before the line feed that is before
    /// the next part, or with the text.
    pub start: u32,
}

/// A stored document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DocumentResponse {
    /// Its id.
    pub id: String,
    /// Its text; null in an index that stores no texts.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub text: Option<String>,
    /// Its parts, if it has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<StoredPart>,
    /// The caller's metadata.
    pub meta: Map<String, Value>,
    /// The number of its tokens.
    pub tokens: u32,
    /// The number of its distinct fingerprints.
    pub fingerprints: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_a_document_or_is_refused_with_the_reason() {
        let parsed = |json: &str| serde_json::from_str::<DocumentBody>(json);
        let body = parsed(r#"{"id":12,"text":"b","meta":null}"#).unwrap();
        assert_eq!((body.id.as_str(), body.meta.len()), ("12", 0));
        let body = parsed(r#"{"id":"\u0061","text":"b","meta":{"y":[1,{}]}}"#).unwrap();
        assert_eq!(
            serde_json::to_string(&body).unwrap(),
            r#"{"id":"a","text":"b","meta":{"y":[1,{}]}}"#
        );
        let of_parts = r#"{"id":"a","parts":[{"name":"x","text":"b"}]}"#;
        let found: AddedDocument = serde_json::from_str(of_parts).unwrap();
        assert_eq!(found.texts().collect::<Vec<_>>(), ["b"]);
        assert_eq!(serde_json::to_string(&found).unwrap(), of_parts);
        let both = r#"{"id":"a","text":"b","parts":[]}"#;
        let error = serde_json::from_str::<AddedDocument>(both).unwrap_err().to_string();
        assert!(error.contains("not both"), "{error}");
        let many = "[0],".repeat(1 << 16);
        for (json, reason) in [
            (r#"{"id":"","text":""}"#, "`id` is empty"),
            (r#"{"id":null,"text":""}"#, "`id` is null"),
            (&format!(r#"{{"id":[{many}0],"text":""}}"#), "`id` is a list, and not an id"),
            (&format!(r#"{{"id":"a","text":"","meta":{{"a":[{many}0]}}}}"#), "as it is written"),
        ] {
            let error = parsed(json).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
