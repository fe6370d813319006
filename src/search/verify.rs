//! Verifies a hit with a measure of whole texts.
//!
//! Fingerprints are a sample. With both texts available, any [`Measure`] can be computed.

use cento_api::Verified;

use super::query::Query;
use crate::compare::measure::Measure;
use crate::error::Result;
use crate::runtime::Stop;
use crate::text::Side;

/// Compares these texts with `measure`.
///
/// # Errors
/// When the texts are too long for a measure with a limit.
/// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
pub(super) fn verified(
    measure: &Measure,
    query: Side<'_>,
    document: Side<'_>,
    stop: &Stop,
) -> Result<Verified> {
    let similarity = measure.try_of(query, document, stop)?;
    Ok(Verified { measure: measure.to_string(), similarity })
}

/// Returns whether the similarity meets the thresholds of the query: the threshold of verification,
/// and also of containment or resemblance if the measure is one of the two.
pub(super) fn meets(verified: &Verified, query: &Query) -> bool {
    let of_measure = match verified.measure.split('(').next() {
        Some("containment") => query.thresholds.containment(),
        Some("resemblance") => query.thresholds.resemblance(),
        _ => 0.0,
    };
    verified.similarity >= query.options.min_similarity.unwrap_or(0.0).max(of_measure)
}
