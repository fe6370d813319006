//! The options of deduplication.

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::join::{Prefer, Scope};
use crate::search::check_share;
use crate::whole;

/// The options of deduplication: what a duplicate is.
///
/// They differ from [`Thresholds`](crate::Thresholds): a pair must meet every threshold, but a
/// document is dropped if it meets one of these; containment is that of the document in an earlier
/// one, not of either in the other; and there is a default resemblance unless `exact` is set.
///
/// ```
/// use cento_api::DedupOptions;
///
/// let options = DedupOptions::default().min_resemblance(0.9).min_containment(0.95);
/// assert!(!options.exact && options.cut_passages.is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, Setters)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default, deny_unknown_fields)]
#[setters(into)]
pub struct DedupOptions {
    /// Minimum resemblance of the text of a duplicate to that of an earlier document, 0 to 1.
    /// Default: that of the preset of the index for duplicates, or 0.8. For ocr and prints it is
    /// 0.6, more than for pairs.
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
    /// Remove runs of at least this many tokens, 5 or more, that an earlier document contains from
    /// the kept documents, with the punctuation and blanks that belong to them. Up to 4 more words
    /// go if a line or sentence then goes as a whole. Needs an index that stores text.
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
    /// Compare only with the indexes of --against, and not the documents with each other, so that a
    /// stream loses what these indexes have and nothing else. A document is then dropped also if
    /// such an index has it under its own id.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "clap", arg(long, requires = "against", conflicts_with = "index"))]
    pub only_against: bool,
    /// The duplicate to keep instead of the first: `longest`; `FIELD`, the one with the least value
    /// of this field, such as a date; `-FIELD`, the greatest; as in `cento cluster`. The documents
    /// are then read to the end first, and written with the most preferred first. `none` keeps no
    /// duplicate: a document that has one before or after it is dropped, and the rest is written in
    /// its order.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "WHICH", allow_hyphen_values = true))]
    pub prefer: Option<Prefer>,
    /// Only documents of one group are duplicates: those with the same value of this field, or with
    /// the same fields in their ids by a pattern, as in `cento pairs`.
    #[setters(strip_option)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "FIELD|PATTERN", conflicts_with = "group_by",
        value_parser = crate::join::group,
    ))]
    pub within: Option<String>,
    /// Documents of one group are no duplicates of each other. A document without the field is a
    /// group of its own.
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

    /// Refuses options that contradict each other or are out of bounds.
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
