//! Families of passages and lineage over HTTP, as lines of JSON. The first line is a summary.

use serde::{Deserialize, Serialize};

use crate::{BoilerplateShare, Descent, Family, FamilyOptions, LineageOptions};

/// A search for families of passages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct FamiliesRequest {
    /// Texts that do not count, such as templates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boilerplate: Vec<String>,
    /// The passages that this share of the documents of the index have, and at least five, do not
    /// count either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_boilerplate: Option<BoilerplateShare>,
    /// The options.
    #[serde(flatten, deserialize_with = "crate::json::flattened")]
    pub options: FamilyOptions,
}

/// A search for the lineage of documents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct LineageRequest {
    /// Texts that do not count, such as templates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boilerplate: Vec<String>,
    /// The passages that this share of the documents of the index have, and at least five, do not
    /// count either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_boilerplate: Option<BoilerplateShare>,
    /// The options.
    #[serde(flatten, deserialize_with = "crate::json::flattened")]
    pub options: LineageOptions,
}

impl From<FamilyOptions> for FamiliesRequest {
    fn from(options: FamilyOptions) -> FamiliesRequest {
        FamiliesRequest { options, ..FamiliesRequest::default() }
    }
}

impl From<LineageOptions> for LineageRequest {
    fn from(options: LineageOptions) -> LineageRequest {
        LineageRequest { options, ..LineageRequest::default() }
    }
}

/// The first line of an answer with families.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FamiliesSummary {
    /// The number of families, those beyond the limit too.
    pub families: u64,
    /// The number of lines with a family that follow.
    pub lines: u64,
    /// The pairs of documents whose passages were compared.
    pub pairs: u64,
    /// The pairs whose search for passages was cut short, so that carriers may be missing.
    pub cut_pairs: u64,
    /// Documents without a date, if dates decide: they come last.
    pub undated: u64,
    /// The first of them that has a value that is no date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_date: Option<ValueWithoutDate>,
    /// Pass this cursor as `since` to get the families of documents that you add later.
    pub cursor: u64,
}

/// The first line of an answer with a lineage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LineageSummary {
    /// The number of trees.
    pub trees: u64,
    /// The number of lines with a document that follow.
    pub lines: u64,
    /// The documents that have an ancestor.
    pub versions: u64,
    /// The documents with a later date than their ancestor.
    pub dated: u64,
    /// Documents without a date, if you requested dates.
    pub undated: u64,
    /// The first of them that has a value that is no date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_date: Option<ValueWithoutDate>,
}

/// A value that is no date, in the field that orders documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ValueWithoutDate {
    /// The id of the document.
    pub id: String,
    /// The value.
    pub value: String,
}

/// The families of a collection, as a client has received them.
#[derive(Debug, Clone, PartialEq)]
pub struct FamiliesResponse {
    /// Facts about the search.
    pub summary: FamiliesSummary,
    /// The families, by decreasing number of documents.
    pub families: Vec<Family>,
}

/// The lineage of a collection, as a client has received it.
#[derive(Debug, Clone, PartialEq)]
pub struct LineageResponse {
    /// Facts about the search.
    pub summary: LineageSummary,
    /// The documents in trees of versions, each after its ancestor.
    pub documents: Vec<Descent>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stand_beside_the_boilerplate_and_unknown_ones_are_refused() {
        let text = r#"{"boilerplate":["a"],"date":"d","min_passage":9,"min_documents":2}"#;
        let request: FamiliesRequest = serde_json::from_str(text).unwrap();
        assert_eq!(request.options, FamilyOptions::default().date("d").min_passage(9u32));
        assert_eq!(serde_json::to_string(&request).unwrap(), text);
        let text = r#"{"auto_boilerplate":0.5,"min_explained":0.4}"#;
        let request: LineageRequest = serde_json::from_str(text).unwrap();
        assert_eq!(request.options, LineageOptions::default().min_explained(0.4));
        assert_eq!(serde_json::to_string(&request).unwrap(), text);
        for field in ["options", "threads", "minimum"] {
            let text = format!(r#"{{"{field}":1}}"#);
            let errors = [
                serde_json::from_str::<FamiliesRequest>(&text).unwrap_err(),
                serde_json::from_str::<LineageRequest>(&text).unwrap_err(),
            ];
            for error in errors {
                assert!(error.to_string().contains(field), "{error}");
            }
        }
    }
}
