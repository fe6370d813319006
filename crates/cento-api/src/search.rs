//! Options of a search, besides the query and the thresholds of hits.
//!
//! This is the only list of these options. The arguments of `cento search`, the fields of requests
//! to a service, and the keywords of the Python module are made from the list, together with their
//! descriptions.

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::compare::check_min_passage;
use crate::error::{Error, Result};
use crate::passage::check_max_expected;
use crate::{CitedPart, MaxDf, whole};

/// The options of a search.
///
/// The default is a list of the ten documents that share most with the query, without passages.
/// Each option is a method too, here and on the library's `Query`. Passages, measures and the rank
/// `passages` compare texts, which takes most of the time of a search.
///
/// ```
/// use cento_api::SearchOptions;
///
/// let options = SearchOptions::default().passages(true).limit(5usize).verify("cosine");
/// assert_eq!((options.limit, options.verify.as_deref()), (Some(5), Some("cosine")));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, Setters)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[setters(into)]
pub struct SearchOptions {
    /// The goal of the search.
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub goal: Goal,
    /// The ranking of the hits, for the goal `hits`. `weight` and `passages` find rewritten text
    /// among chance matches. Default: that of the preset of the index, or `overlap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub rank: Option<Rank>,
    /// Number of documents, the best by weight, searched for passages by the rank `passages`; at
    /// least `limit`. Default: until 30 documents in a row lack one, at most 1000. For the goal
    /// `trace`, the number of documents that are compared with the query, and then with each span.
    /// Default: as above, and 100 with each span.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "openapi", schema(maximum = 1000))]
    pub candidates: Option<usize>,
    /// Maximum number of hits; the answer reports if there are more. Default: 10; with `passages`,
    /// `min_passage`, the goal `trace` or the rank `passages` all up to the last document with a
    /// passage. The search for it ends when 30 documents in a row lack one, and after 1000.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, short = 'n', value_name = "N"))]
    #[cfg_attr(feature = "openapi", schema(maximum = 10000))]
    pub limit: Option<usize>,
    /// Only documents whose meta, id or time of addition match, such as `lang:de AND year:[2019 TO
    /// *]`, `id:2024/*` or `added:[2026-01-31T00:00:00Z TO *]`.
    #[setters(strip_option)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "QUERY", allow_hyphen_values = true))]
    #[cfg_attr(feature = "openapi", schema(format = "cento-filter"))]
    pub filter: Option<String>,
    /// Ids of stored documents that are never hits; an id that is not stored excludes nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID", allow_hyphen_values = true))]
    pub exclude_id: Vec<String>,
    /// Fingerprints in more documents find nothing by themselves: a number of documents, or a share
    /// of them such as `0.01`. Default: the setting of the index.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N|F"))]
    #[cfg_attr(feature = "openapi", schema(
        value_type = Option<String>,
        pattern = r"^(default|[0-9]{1,19}|0?\.[0-9]+|1\.0+)$",
    ))]
    pub max_df: Option<MaxDf>,
    /// Maximum number of postings to read, those of the rarest fingerprints first. If the answer
    /// may lack hits, it reports this; the numbers of the hits it has are exact.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub budget: Option<u64>,
    /// Estimate the similarity of hits by numbers of fingerprints alone: faster, because the
    /// signatures of hits are not read for the places of shared fingerprints, with a larger error.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub counts_only: bool,
    /// Show the passages that the query shares with each hit: each part of the query once, beside
    /// the place of the hit that fits best.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub passages: bool,
    /// Only hits with a passage of at least this many words of the query; shorter passages are not
    /// shown. Below 12, fingerprints in common also count as passages if no others are found; these
    /// may be coincidental. A hit whose search for passages was cut short stays
    /// (`passages_complete` is false). In scripts without spaces a pair of neighbouring letters
    /// counts as a share of a word: 5/8 in Chinese and Japanese, 1/3 in Thai, Lao and Khmer, 1/2 in
    /// Burmese and Korean. Without texts, tokens count, and a word as 5 `letters`, 6 `chars` or 3
    /// `consonants`.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "WORDS", value_parser = clap::value_parser!(u32).range(1..),
    ))]
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub min_passage: Option<u32>,
    /// Maximum number of unrelated documents with a passage as good that are expected by chance;
    /// other passages are left out. Default: 0.01.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NUMBER"))]
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub max_expected: Option<f64>,
    /// Field of `meta` with dates such as `2021`, `2021-03` or `2021-03-04T10:00:00Z`, or numbers,
    /// for the goal `trace`: the carrier with the earliest is the first one. Default: the order of
    /// addition.
    #[setters(strip_option)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FIELD"))]
    pub date: Option<String>,
    /// Number of carriers to show of each span, for the goal `trace`, beside the best and the first
    /// one. Default: 0.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "openapi", schema(maximum = 1000))]
    pub carriers: Option<usize>,
    /// Leave out this part of every text: it counts in no number and in no passage, as boilerplate
    /// does. The index must store texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "clap", arg(long, value_enum, value_name = "PART"))]
    pub without: Vec<CitedPart>,
    /// Also measure each hit on the whole texts: resemblance, containment, levenshtein and more;
    /// the error for an unknown name lists all of them. Hits that then miss a threshold are
    /// dropped.
    #[setters(strip_option)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "MEASURE"))]
    #[cfg_attr(feature = "openapi", schema(format = "cento-measure"))]
    pub verify: Option<String>,
    /// Minimum similarity by `verify`, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "X", value_parser = share, requires = "verify",
    ))]
    #[cfg_attr(feature = "openapi", schema(minimum = 0.0, maximum = 1.0))]
    pub min_similarity: Option<f64>,
}

/// The ranking of hits.
///
/// Equal hits follow each other by overlap, then by resemblance, then by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    /// By the number of fingerprints in common: best for copies.
    #[default]
    Overlap,
    /// By the weight of the fingerprints in common, where rare ones weigh more, over the square
    /// root of the document's number of fingerprints: best for reused text among many documents
    /// that share common phrases.
    Weight,
    /// By the words in passages in common, for the best documents by weight: best for text that
    /// was rewritten. It takes the time of finding passages for as many documents as `candidates`
    /// says.
    Passages,
}

/// The goal of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// The documents that share most with the query, the best first.
    #[default]
    Hits,
    /// Where every part of the query comes from: its spans that documents have, each with its
    /// carriers, and the documents that together have most of it.
    Trace,
    /// The one passage of all documents that has most of the query's runs of words, in any order
    /// (Sun et al. 2013); the limit does not matter.
    Passage,
}

impl SearchOptions {
    /// Refuses options that contradict each other or are out of bounds.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], which names the field.
    pub fn check(&self) -> Result<()> {
        check_share("min_similarity", self.min_similarity)?;
        check_min_passage(self.min_passage)?;
        check_max_expected(self.max_expected)?;
        if self.rank.is_some_and(|rank| rank != Rank::Overlap) && self.goal != Goal::Hits {
            return Err(Error::argument(
                "rank",
                "`rank` orders hits; it cannot be combined with another `goal`",
            ));
        }
        if self.goal == Goal::Passage && (self.min_passage.is_some() || self.verify.is_some()) {
            return Err(Error::argument(
                "goal",
                "the goal `passage` cannot be combined with `min_passage` or `verify`: the passage \
                 has the length of the query, and is the most similar one",
            ));
        }
        if self.min_similarity.is_some_and(|least| least > 0.0) && self.verify.is_none() {
            return Err(Error::argument("min_similarity", "`min_similarity` needs `verify`"));
        }
        Ok(())
    }
}

/// Refuses a share that is not from 0 to 1.
///
/// # Errors
/// [`Error::InvalidArgument`], which names the field.
pub(crate) fn check_share(name: &'static str, share: Option<f64>) -> Result<()> {
    match share {
        Some(share) if !is_share(share) => Err(Error::argument(
            name,
            format!("`{name}` must be a number from 0 to 1, not {share}"),
        )),
        _ => Ok(()),
    }
}

fn is_share(number: f64) -> bool {
    (0.0..=1.0).contains(&number)
}

/// Reads a share from an argument.
#[cfg(feature = "clap")]
pub(crate) fn share(text: &str) -> std::result::Result<f64, String> {
    let share = text.parse().ok().filter(|share| is_share(*share));
    share.ok_or_else(|| "expected a number from 0 to 1, such as 0.5 for 50 %".into())
}
