//! The similarity of two texts, and how certain it is.
//!
//! *Resemblance* and *containment* are defined on the sets of runs of k tokens of two texts (Broder
//! 1997, section 2), where k comes from the scheme. The numbers are exact if both texts have been
//! read, or if the fingerprints are all runs. Otherwise they are estimated from fingerprints, with
//! a standard error. Some schemes have fingerprints that do not represent runs of k tokens, or no
//! estimator for missing texts. Such schemes give only the similarity of sketches, which is marked.

use serde::{Deserialize, Serialize};

use crate::overlap::{Category, Overlap};

/// The similarity of two texts, `a` and `b`.
///
/// The numbers are shares of distinct runs of k tokens, as the scheme sets k. A similarity is
/// [exact](Similarity::exact), or [estimated](Similarity::estimated) with a standard error, or [of
/// sketches](Similarity::of_sketches). [`resembles`](Similarity::resembles) and
/// [`contains_a`](Similarity::contains_a) compare the similarity with a threshold, and allow for
/// the error.
///
/// ```
/// use cento_api::{Overlap, Similarity};
///
/// // Three runs in common, of six and of four.
/// let similarity = Similarity::exact(Overlap { shared: 3, in_a: 6, in_b: 4 });
/// assert_eq!(similarity.containment_of_a, 0.5);
/// assert_eq!(similarity.containment_of_b, 0.75);
/// assert_eq!(similarity.resemblance, 3.0 / 7.0);
/// assert!(similarity.contains_either(0.7) && !similarity.resembles(0.7));
/// ```
#[doc(alias = "Jaccard")]
#[doc(alias = "containment")]
#[doc(alias = "near-duplicate")]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(description = "The similarity of two texts, `a` and `b`."))]
pub struct Similarity {
    /// The share of the runs of either text that both texts have, 0 to 1.
    pub resemblance: f64,
    /// The share of the runs of `a` that `b` has, 0 to 1.
    pub containment_of_a: f64,
    /// The share of the runs of `b` that `a` has, 0 to 1.
    pub containment_of_b: f64,
    /// The standard error of `resemblance`. Two of three estimates are off by less. 0 if the
    /// numbers are exact, and missing if they describe sketches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// Whether the numbers describe the texts, not estimates.
    pub exact: bool,
    /// Whether the numbers describe the scheme's sketches of the texts, without an estimate for the
    /// texts.
    #[serde(default, skip_serializing_if = "is_false")]
    pub of_sketches: bool,
}

/// Returns whether a member is false, so that serde omits the member.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub fn is_false(is: &bool) -> bool {
    !is
}

/// The maximum error of an estimate that conclusions allow for, in standard errors.
const ERRORS: f64 = 3.0;

/// The maximum distance of the lower end of an estimate below a threshold.
const SLACK: f64 = 0.2;

impl Similarity {
    /// Returns the similarity of texts whose sets of runs have these sizes and this intersection.
    #[must_use]
    pub fn exact(runs: Overlap) -> Similarity {
        Similarity { standard_error: Some(0.0), exact: true, ..Similarity::of(runs) }
    }

    /// Returns the similarity of two sketches.
    #[must_use]
    pub fn of_sketches(overlap: Overlap) -> Similarity {
        Similarity { of_sketches: true, ..Similarity::of(overlap) }
    }

    /// Returns an estimate with its standard error.
    #[doc(alias = "estimate")]
    #[must_use]
    pub fn estimated(
        resemblance: f64,
        containment_of_a: f64,
        containment_of_b: f64,
        standard_error: f64,
    ) -> Similarity {
        Similarity {
            resemblance,
            containment_of_a,
            containment_of_b,
            standard_error: Some(standard_error),
            exact: false,
            of_sketches: false,
        }
    }

    fn of(overlap: Overlap) -> Similarity {
        Similarity {
            resemblance: overlap.resemblance(),
            containment_of_a: overlap.containment(),
            containment_of_b: overlap.swapped().containment(),
            standard_error: None,
            exact: false,
            of_sketches: false,
        }
    }

    /// Returns the similarity with the two texts exchanged.
    #[must_use]
    pub fn swapped(self) -> Similarity {
        Similarity {
            containment_of_a: self.containment_of_b,
            containment_of_b: self.containment_of_a,
            ..self
        }
    }

    /// Returns the symmetric similarity (Finkel et al. 2002, section 2.5), 0 to 1: twice the common
    /// part over the sum of both.
    #[must_use]
    pub fn symmetric(&self) -> f64 {
        2.0 * self.resemblance / (1.0 + self.resemblance)
    }

    /// Returns the category of text reuse (Seo and Croft 2008, section 3.3).
    #[must_use]
    pub fn category(&self) -> Option<Category> {
        Category::of(self.containment_of_a, self.containment_of_b)
    }

    /// Tells whether there is evidence that the resemblance is at least this.
    ///
    /// An exact value decides by itself, and so does a value of sketches, whose error is unknown.
    /// An estimate must also be precise: three standard errors below the estimate must be at least
    /// `least` - 0.2. Therefore an estimate whose error is as large as the estimate is no evidence.
    #[must_use]
    pub fn resembles(&self, least: f64) -> bool {
        is_evidence(self.resemblance, self.standard_error, least)
    }

    /// Tells whether there is evidence that `a` is contained in `b` to at least this share, in the
    /// same way.
    #[must_use]
    pub fn contains_a(&self, least: f64) -> bool {
        is_evidence(self.containment_of_a, self.error_of(self.containment_of_a), least)
    }

    /// Returns whether there is evidence that one text contains at least this share of the second
    /// text, in either direction.
    #[must_use]
    pub fn contains_either(&self, least: f64) -> bool {
        self.contains_a(least) || self.swapped().contains_a(least)
    }

    /// Returns whether the resemblance is at least `least`, or `None` if that is uncertain.
    #[must_use]
    pub fn certainly_resembles(&self, least: f64) -> Option<bool> {
        certainly(self.resemblance, self.standard_error, least)
    }

    /// Tells whether `a` is contained in `b` to at least this share, if that is certain.
    #[must_use]
    pub fn certainly_contains_a(&self, least: f64) -> Option<bool> {
        certainly(self.containment_of_a, self.error_of(self.containment_of_a), least)
    }

    /// Returns the standard error of a containment. The error of the number of shared runs becomes
    /// a share of one text instead of both.
    fn error_of(&self, containment: f64) -> Option<f64> {
        let shared = self.resemblance * (1.0 + self.resemblance);
        let share = if shared > 0.0 { containment / shared } else { 1.0 };
        self.standard_error.map(|error| error * share)
    }
}

fn is_evidence(value: f64, standard_error: Option<f64>, least: f64) -> bool {
    let error = standard_error.unwrap_or(0.0);
    value >= least && (error == 0.0 || value - ERRORS * error >= least - SLACK)
}

fn certainly(value: f64, standard_error: Option<f64>, least: f64) -> Option<bool> {
    let margin = ERRORS * standard_error.unwrap_or(0.0);
    if value - margin >= least {
        return Some(true);
    }
    (value + margin < least || margin == 0.0).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_whose_error_is_as_large_as_itself_is_no_evidence() {
        let thin = Similarity::estimated(1.0, 1.0, 1.0, 1.0);
        assert!(!thin.resembles(0.8) && !thin.contains_a(0.5) && !thin.contains_either(0.5));
        let precise = Similarity::estimated(0.85, 0.9, 0.95, 0.03);
        assert!(precise.resembles(0.8) && !precise.resembles(0.86));
        assert!(precise.contains_a(0.9) && !precise.contains_a(0.95));
        assert!(precise.contains_either(0.95) && !precise.contains_either(0.96));
        assert!(Similarity::exact(Overlap::new(4, 5, 5)).resembles(4.0 / 6.0));
        assert!(Similarity::of_sketches(Overlap::new(1, 1, 1)).resembles(1.0));
    }

    #[test]
    fn the_error_of_a_containment_follows_from_the_shared_part() {
        // Of 100 and 200 runs 60 are shared, give or take 6.
        let exact = Similarity::exact(Overlap::new(60, 100, 200));
        let resemblance = |shared: f64| shared / (300.0 - shared);
        let slope = (resemblance(60.5) - resemblance(59.5)) * 6.0;
        let estimated = Similarity { standard_error: Some(slope), ..exact };
        let error = estimated.error_of(estimated.containment_of_a).unwrap();
        assert!((error - 0.06).abs() < 0.001, "{error}");
        let error = estimated.error_of(estimated.containment_of_b).unwrap();
        assert!((error - 0.03).abs() < 0.001, "{error}");
    }
}
