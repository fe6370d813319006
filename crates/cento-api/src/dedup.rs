//! The options of deduplication.

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::join::{Prefer, Scope};
use crate::search::check_share;
use crate::whole;

/// The options of deduplication: what a duplicate is.
///
/// Deduplication has options of its own instead of [`Thresholds`](crate::Thresholds), for three
/// reasons. A pair must meet every threshold, but a document is dropped if one condition holds.
/// Containment is the share of a document in an earlier document, never of the earlier document.
/// And there is a default resemblance unless `exact` is set.
///
/// ```
/// use cento_api::DedupOptions;
///
/// let options = DedupOptions::default().min_resemblance(0.9).min_containment(0.95);
/// assert!(!options.exact && options.cut_passages.is_none());
/// ```
#[doc(alias = "near-duplicate")]
#[doc(alias = "deduplication")]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, Setters)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default, deny_unknown_fields)]
#[setters(into)]
pub struct DedupOptions {
    /// Minimum resemblance of a duplicate to an earlier document, 0 to 1. Default: the value that
    /// the index's preset has for duplicates, or 0.8. For ocr it is 0.6, which is higher than
    /// for pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X", value_parser = crate::search::share))]
    pub min_resemblance: Option<f64>,
    /// Also drop a document if an earlier one contains at least this share of it, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X", value_parser = crate::search::share))]
    pub min_containment: Option<f64>,
    /// Drop only documents with identical text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "clap", arg(
        long, conflicts_with_all = ["min_resemblance", "min_containment"],
    ))]
    pub exact: bool,
    /// Cut passages of at least this many tokens, 5 or more, that an earlier document contains,
    /// from the kept documents. The punctuation and spaces around a passage go too, and up to 4
    /// more words if the whole line or sentence goes then. A near-duplicate of a document that was
    /// cut resembles the rest less, so drop near-duplicates in a run before. Needs an index that
    /// stores text. By default, passages of 14 tokens or more are sure to be found, and with the
    /// scheme `kgram(k=N)` passages of N tokens or more.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "TOKENS",
        value_parser = clap::value_parser!(u32).range(i64::from(CUT_MIN)..),
    ))]
    pub cut_passages: Option<u32>,
    /// Drop a document if passages were removed and fewer than this many words are left.
    /// Default: 5.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "WORDS", requires = "cut_passages"))]
    pub min_left: Option<u32>,
    /// Compare the documents only with the indexes of --against, not with each other, so that a
    /// stream loses what these indexes have and nothing else. cento then also drops a document that
    /// such an index has under the same id.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "clap", arg(long, requires = "against", conflicts_with = "index"))]
    pub only_against: bool,
    /// Which duplicate to keep instead of the first one. `longest`: the longest. `FIELD`: the
    /// document with the smallest value of this field, such as a date. `-FIELD`: the document with
    /// the largest value. Values are compared as in `cento cluster`. cento then reads all documents
    /// before it writes any, and writes the most preferred first. `none`: keep no duplicate. cento
    /// then drops every document that has a duplicate before or after it, and writes the rest in
    /// its order. cento chooses among the documents of one run: a document that the index has from
    /// an earlier run stays there, and its duplicates are dropped even if you prefer them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "WHICH", allow_hyphen_values = true))]
    pub prefer: Option<Prefer>,
    /// Drop only duplicates within a group. A group has the same value of this field, or the same
    /// fields in its ids by a pattern, as in `cento pairs`.
    #[setters(strip_option)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "FIELD|PATTERN", conflicts_with = "group_by",
        value_parser = crate::join::group,
    ))]
    pub within: Option<String>,
    /// Keep duplicates within a group. A document without the field is a group of its own.
    #[setters(strip_option)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "FIELD|PATTERN", value_parser = crate::join::group,
    ))]
    pub group_by: Option<String>,
}

/// The minimum length of a cut passage, in tokens, because unrelated texts share shorter runs.
const CUT_MIN: u32 = 5;

impl DedupOptions {
    /// The default of `min_resemblance`.
    pub const MIN_RESEMBLANCE: f64 = 0.8;

    /// The default of `min_left`: fewer words are what passages leave of a line, a heading or a
    /// number.
    pub const MIN_LEFT: u32 = 5;

    /// Rejects contradictory or invalid options.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], which names the field.
    pub fn check(&self) -> Result<()> {
        check_share("min_resemblance", self.min_resemblance)?;
        check_share("min_containment", self.min_containment)?;
        if self.exact && self.min_resemblance.or(self.min_containment).is_some() {
            let what = "`exact` drops only documents with the same text; it cannot be combined \
                        with `min_resemblance` or `min_containment`";
            return Err(Error::argument("exact", what));
        }
        if self.cut_passages.is_some_and(|tokens| tokens < CUT_MIN) {
            let what = format!("`cut_passages` must be at least {CUT_MIN}");
            return Err(Error::argument("cut_passages", what));
        }
        self.scope()?.check()?;
        let is_one_sided = self.only_against || self.cut_passages.is_some();
        if self.prefer == Some(Prefer::None) && is_one_sided {
            let what = "with `none`, `prefer` drops whole documents for others of the stream; it \
                        cannot be combined with `cut_passages` or `only_against`";
            return Err(Error::argument("prefer", what));
        }
        if self.min_left.is_some() && self.cut_passages.is_none() {
            let what = "`min_left` is about what `cut_passages` leaves; give both";
            return Err(Error::argument("min_left", what));
        }
        Ok(())
    }

    /// Returns which documents may be duplicates of each other, by their groups.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `within` and `group_by` are both set.
    pub fn scope(&self) -> Result<Scope> {
        Scope::of(self.within.as_deref(), self.group_by.as_deref())
    }

    /// Returns the minimum resemblance of a duplicate. `None` requires equal texts.
    #[must_use]
    pub fn resemblance(&self) -> Option<f64> {
        (!self.exact).then_some(self.min_resemblance.unwrap_or(DedupOptions::MIN_RESEMBLANCE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_is_out_of_bounds_is_named() {
        let check = |options: DedupOptions, named: &str| {
            let error = options.check().unwrap_err().to_string();
            assert!(error.contains(&format!("`{named}`")), "{error}");
        };
        let plain = DedupOptions::default;
        assert_eq!(plain().resemblance(), Some(0.8));
        assert_eq!(plain().exact(true).resemblance(), None);
        check(plain().exact(true).min_resemblance(0.9), "exact");
        check(plain().cut_passages(4u32), "cut_passages");
        check(plain().within("a").group_by("b"), "within");
        assert!(plain().within("{*}").check().is_err(), "the pattern names no field");
        check(plain().min_left(4u32), "min_left");
        check(plain().prefer(Prefer::None).cut_passages(9u32), "prefer");
        check(plain().min_containment(-0.1), "min_containment");
    }
}
