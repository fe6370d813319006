//! What counts as a benchmark question in a document, and how much of one must occur.

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::search::check_share;
use crate::whole;

/// The options of decontamination: what counts as a question that occurs in a document.
///
/// ```
/// use cento_api::DecontaminateOptions;
///
/// let options = DecontaminateOptions::default().min_share(0.8);
/// assert_eq!(options.run, DecontaminateOptions::RUN);
/// options.check()?;
/// # Ok::<(), cento_api::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Setters)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default, deny_unknown_fields)]
#[setters(into)]
pub struct DecontaminateOptions {
    /// Minimum share of a question's own words that a document must have in one place, more than 0
    /// to 1, so that the question occurs there. A token that is hard to guess counts more, and a
    /// token counts less for each further question or document with the same token. At least 8
    /// tokens must occur, or all tokens of a shorter question.
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "X", value_parser = crate::search::share,
        default_value_t = DecontaminateOptions::MIN_SHARE,
    ))]
    pub min_share: f64,
    /// Minimum number of tokens in a row that question and document must share, so that these
    /// tokens count. 2 or more.
    #[serde(deserialize_with = "whole::number")]
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(2..=64),
        default_value_t = DecontaminateOptions::RUN,
    ))]
    pub run: u32,
    /// A question of at most 12 tokens that occurs in more than this many documents is a common
    /// phrase and contaminates none of them. Default: a thousandth of the documents, at least 10.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub common: Option<u64>,
    /// How text is split into tokens.
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "SPEC", default_value = DecontaminateOptions::ANALYZER,
    ))]
    pub analyzer: String,
}

impl Default for DecontaminateOptions {
    fn default() -> DecontaminateOptions {
        DecontaminateOptions {
            min_share: DecontaminateOptions::MIN_SHARE,
            run: DecontaminateOptions::RUN,
            common: None,
            analyzer: DecontaminateOptions::ANALYZER.to_owned(),
        }
    }
}

/// The bounds of `run`.
const RUN_BOUNDS: std::ops::RangeInclusive<u32> = 2..=64;

impl DecontaminateOptions {
    /// The default of `min_share`. Half of the words of a question are seldom exactly half of its
    /// own words: at 0.43, nine of ten halves are found, and one of ten two-fifths.
    pub const MIN_SHARE: f64 = 0.43;

    /// The default of `run`.
    pub const RUN: u32 = 4;

    /// The default of `analyzer`.
    pub const ANALYZER: &'static str = "words";

    /// The maximum number of tokens of a common phrase: 13 tokens in a row identify a text (Brown
    /// et al. 2020, appendix C).
    pub const COMMON_TOKENS_MAX: u32 = 12;

    /// Refuses options that are out of bounds.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], which names the field.
    pub fn check(&self) -> Result<()> {
        check_share("min_share", Some(self.min_share))?;
        if self.min_share <= 0.0 {
            return Err(Error::argument("min_share", "`min_share` must be more than 0"));
        }
        if !RUN_BOUNDS.contains(&self.run) {
            let what = format!("`run` must be a number from 2 to 64, not {}", self.run);
            return Err(Error::argument("run", what));
        }
        Ok(())
    }

    /// Returns the maximum number of documents, out of `documents`, that may have a question of a
    /// few tokens. A more frequent question counts as a common phrase.
    #[must_use]
    pub fn common_of(&self, documents: u64) -> u64 {
        self.common.unwrap_or((documents / 1000).max(10))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_is_out_of_bounds_is_named() {
        let check = |options: DecontaminateOptions, named: &str| {
            let error = options.check().unwrap_err().to_string();
            assert!(error.contains(&format!("`{named}`")), "{error}");
        };
        let plain = DecontaminateOptions::default();
        plain.check().unwrap();
        check(plain.clone().min_share(0.0), "min_share");
        check(plain.clone().min_share(1.5), "min_share");
        check(plain.clone().min_share(f64::NAN), "min_share");
        check(plain.clone().run(1u32), "run");
        check(plain.clone().run(65u32), "run");
        assert_eq!(plain.common_of(5), 10);
        assert_eq!(plain.common_of(50_000), 50);
        assert_eq!(plain.common(3u64).common_of(50_000), 3);
    }
}
