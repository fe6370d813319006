//! Options of a comparison of two texts.
//!
//! This is the only list of these options. The list of search options is
//! [`SearchOptions`](crate::SearchOptions).

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::{CitedPart, whole};

/// The options of a comparison.
///
/// ```
/// use cento_api::CompareOptions;
///
/// let options = CompareOptions::default().min_passage(20u32);
/// options.check()?;
/// assert!(options.min_passage(0u32).check().is_err());
/// # Ok::<(), cento_api::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, Setters)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[setters(into)]
pub struct CompareOptions {
    /// Also compute these measures of similarity, or every measure with `all`. `cosine` weights
    /// words by a frequency table, if there is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "MEASURE"))]
    pub measures: Vec<String>,
    /// Show only passages of at least this many words of the first document, as in a search. Fewer
    /// than 12 words are a passage only if they are an entire document.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "WORDS", value_parser = clap::value_parser!(u32).range(1..),
    ))]
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub min_passage: Option<u32>,
    /// Ignore this part of every document: it counts in no number and in no passage, like
    /// boilerplate. Measures use the full texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "clap", arg(long, value_enum, value_name = "PART"))]
    pub without: Vec<CitedPart>,
}

impl CompareOptions {
    /// Refuses options that are out of bounds.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], which names the field.
    pub fn check(&self) -> Result<()> {
        check_min_passage(self.min_passage)
    }
}

/// Refuses a minimum length of passages that excludes nothing and is no passage.
///
/// # Errors
/// [`Error::InvalidArgument`] for 0.
pub(crate) fn check_min_passage(tokens: Option<u32>) -> Result<()> {
    match tokens {
        Some(0) => Err(Error::argument("min_passage", "`min_passage` must be at least 1")),
        _ => Ok(()),
    }
}
