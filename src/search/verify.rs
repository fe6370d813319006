//! Verification of a hit by a measure of the whole texts.
//!
//! Fingerprints are a sample; with both texts at hand any [`Measure`] can be computed.

use serde::{Deserialize, Serialize};

use super::query::Query;
use crate::compare::measure::Measure;
use crate::error::Result;
use crate::runtime::Stop;
use crate::text::Side;

/// The result of a measure for a hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Verified {
    /// The measure.
    pub measure: String,
    /// The similarity of the query with the document, 0 to 1.
    pub similarity: f64,
}

impl Verified {
    /// Measures these texts by `measure`.
    ///
    /// # Errors
    /// When the texts are too long for a measure that is bounded;
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn new(
        measure: &Measure,
        query: Side<'_>,
        document: Side<'_>,
        stop: &Stop,
    ) -> Result<Verified> {
        let similarity = measure.try_of(query, document, stop)?;
        Ok(Verified { measure: measure.to_string(), similarity })
    }

    /// Tells whether the similarity meets the query's thresholds: that of verification, and that of
    /// containment or resemblance if the measure is one of these.
    pub fn meets(&self, query: &Query) -> bool {
        let of_measure = match query.options.verify.as_ref().map(Measure::name) {
            Some("containment") => query.thresholds.containment(),
            Some("resemblance") => query.thresholds.resemblance(),
            _ => 0.0,
        };
        self.similarity >= query.options.min_similarity.unwrap_or(0.0).max(of_measure)
    }
}
