//! The lineage of documents: versions and their ancestors.

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::search::check_share;
use crate::{MaxDf, Similarity};

/// The options of a search for the lineage of documents.
///
/// ```
/// use cento_api::LineageOptions;
///
/// let options = LineageOptions::default().date("revised").min_explained(0.5);
/// assert_eq!(options.date.as_deref(), Some("revised"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Setters)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[setters(into)]
pub struct LineageOptions {
    /// Field of `meta` that says which of two documents is earlier, with dates such as `2021`,
    /// `2021-03` or `2021-03-04T10:00:00Z`, or numbers. Where dates do not say, cento guesses from
    /// length, because all versions of a document together add more than they omit.
    #[setters(strip_option)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FIELD"))]
    pub date: Option<String>,
    /// Minimum share of a version that its ancestor must have, 0 to 1. Or the minimum share of the
    /// ancestor that the version must have, spread over at least half of the ancestor, because text
    /// in one place is a quotation. Text that more than 50 documents have does not count, unless
    /// both documents are nearly the same.
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "X", default_value_t = MIN_EXPLAINED,
        value_parser = crate::search::share,
    ))]
    pub min_explained: f64,
    /// Ignore fingerprints that occur in more documents than this when looking for versions: a
    /// number of documents, or a share such as `0.01`. Default: the setting of your index.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N|F"))]
    pub max_df: Option<MaxDf>,
}

/// The default of `min_explained`.
const MIN_EXPLAINED: f64 = 0.3;

impl Default for LineageOptions {
    fn default() -> LineageOptions {
        LineageOptions { date: None, min_explained: MIN_EXPLAINED, max_df: None }
    }
}

impl LineageOptions {
    /// Refuses options that are out of bounds.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument), which names the field.
    pub fn check(&self) -> Result<()> {
        check_share("min_explained", Some(self.min_explained))
    }
}

/// The reason why one document is taken for the earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum DirectionBy {
    /// Both documents have a date.
    Date,
    /// The lengths of all versions of the tree. In this direction the versions add more than they
    /// leave out. Lengths prove nothing.
    Length,
    /// The time of addition, because lengths do not decide. The time of addition says nothing about
    /// when the documents were written.
    Added,
    /// Nothing decides, because both documents were added at the same time. Their ids give the
    /// order.
    Unknown,
}

/// A document of a lineage: a version, or the first document of a tree of versions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Descent {
    /// The number of the tree. Tree 1 is the largest.
    pub tree: u64,
    /// The number of steps from the document up to the first document of the tree.
    pub depth: u64,
    /// The id of the document.
    pub id: String,
    /// The date of the document as in `meta`, if you requested dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The beginning of the date: in seconds since 1970 or, if dates are numbers, the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// The number of its words.
    pub tokens: u32,
    /// The id of the direct ancestor. Missing for the first document of a tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ancestor: Option<String>,
    /// Why cento takes the ancestor for the earlier document. Only `date` is certain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction_by: Option<DirectionBy>,
    /// How similar the texts of the ancestor, `a`, and of the document, `b`, are. The document
    /// adds 1 less `containment_of_b` of itself, and leaves out 1 less `containment_of_a` of the
    /// ancestor.
    #[serde(flatten)]
    pub similarity: Option<Similarity>,
}
