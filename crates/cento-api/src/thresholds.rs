//! Thresholds for hits and pairs of documents.

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::Similarity;
use crate::error::Result;
use crate::search::check_share;
use crate::whole;

/// The minimum values for a hit or a pair of documents. All of them must be met.
///
/// If fingerprints alone cannot decide whether two texts are similar enough, cento compares the
/// texts. If a text is missing, an estimate decides if it is evidence ([`Similarity::resembles`]).
/// Shares are from 0 to 1, and a call rejects other values.
///
/// ```
/// use cento_api::Thresholds;
///
/// let thresholds = Thresholds::default().min_containment(0.3).min_overlap(2u32);
/// assert_eq!(thresholds.min_resemblance, None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, Setters)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[setters(into)]
pub struct Thresholds {
    /// Minimum share of the query that a hit contains, 0 to 1. For pairs: of either document that
    /// the other document contains.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X", value_parser = crate::search::share))]
    pub min_containment: Option<f64>,
    /// Minimum resemblance of the two documents, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X", value_parser = crate::search::share))]
    pub min_resemblance: Option<f64>,
    /// Minimum number of distinct fingerprints in common. Default: 1.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub min_overlap: Option<u32>,
    /// Minimum share of the query's fingerprints that a hit contains, weighted by rarity in the
    /// index, 0 to 1. For pairs: of the fingerprints of either document that the other document
    /// contains.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X", value_parser = crate::search::share))]
    pub min_weighted_containment: Option<f64>,
    /// Minimum resemblance of the fingerprints, weighted by rarity in the index, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X", value_parser = crate::search::share))]
    pub min_weighted_resemblance: Option<f64>,
}

impl Thresholds {
    /// Returns the default thresholds of pairs: either document contains a tenth of the second
    /// document.
    #[must_use]
    pub fn of_pairs() -> Thresholds {
        Thresholds::default().min_containment(0.1)
    }

    /// Returns the default thresholds of a cluster: each document resembles the representative by
    /// at least 0.5.
    #[must_use]
    pub fn of_clusters() -> Thresholds {
        Thresholds::default().min_resemblance(0.5)
    }

    /// Tells whether no threshold is set.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Thresholds::default()
    }

    /// Returns these thresholds if any is set, or else `default`.
    #[must_use]
    pub fn or(self, default: Thresholds) -> Thresholds {
        if self.is_none() { default } else { self }
    }

    /// Refuses shares that are not from 0 to 1.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument), which names the field.
    pub fn check(&self) -> Result<()> {
        let Thresholds {
            min_containment,
            min_resemblance,
            min_overlap: _,
            min_weighted_containment,
            min_weighted_resemblance,
        } = *self;
        check_share("min_containment", min_containment)?;
        check_share("min_resemblance", min_resemblance)?;
        check_share("min_weighted_containment", min_weighted_containment)?;
        check_share("min_weighted_resemblance", min_weighted_resemblance)
    }

    /// Returns whether there is evidence that texts with this similarity meet the thresholds.
    #[must_use]
    pub fn meets(&self, similarity: &Similarity) -> bool {
        (self.resemblance() == 0.0 || similarity.resembles(self.resemblance()))
            && (self.containment() == 0.0 || similarity.contains_either(self.containment()))
    }

    /// Returns the minimum containment, or 0 if unset.
    #[must_use]
    pub fn containment(&self) -> f64 {
        self.min_containment.unwrap_or(0.0)
    }

    /// Returns the minimum resemblance, or 0 if unset.
    #[must_use]
    pub fn resemblance(&self) -> f64 {
        self.min_resemblance.unwrap_or(0.0)
    }

    /// Returns the least number of fingerprints in common, at least 1.
    #[must_use]
    pub fn overlap(&self) -> u32 {
        self.min_overlap.unwrap_or(1).max(1)
    }

    /// Returns the minimum weighted containment, or 0 if unset.
    #[must_use]
    pub fn weighted_containment(&self) -> f64 {
        self.min_weighted_containment.unwrap_or(0.0)
    }

    /// Returns the minimum weighted resemblance, or 0 if unset.
    #[must_use]
    pub fn weighted_resemblance(&self) -> f64 {
        self.min_weighted_resemblance.unwrap_or(0.0)
    }

    /// Tells whether the similarity of the texts decides.
    #[must_use]
    pub fn is_of_texts(&self) -> bool {
        self.resemblance() > 0.0 || self.containment() > 0.0
    }

    /// Tells whether fingerprints need to be weighed.
    #[must_use]
    pub fn is_weighed(&self) -> bool {
        self.weighted_containment() > 0.0 || self.weighted_resemblance() > 0.0
    }
}
