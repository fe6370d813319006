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
    /// What to look for.
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub goal: Goal,
    /// How hits are ranked, for the goal `hits`. `weight` and `passages` find rewritten text among
    /// chance matches. Default: the rank of the index's preset, or `overlap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub rank: Option<Rank>,
    /// Number of documents, the best by weight, that the rank `passages` searches for passages, at
    /// least `limit`. Default: until 30 documents in a row lack a passage, at most 1000. For the
    /// goal `trace`: the number of documents to compare with the query, and then with each span.
    /// Default: as above, and 100 with each span.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "openapi", schema(maximum = 1000))]
    pub candidates: Option<usize>,
    /// Maximum number of hits. The answer says if there are more. Default: 10. With `passages`,
    /// `min_passage`, the goal `trace` or the rank `passages`: all hits up to the last document
    /// with a passage. cento stops looking for it when 30 documents in a row lack one, and after
    /// 1000.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, short = 'n', value_name = "N"))]
    #[cfg_attr(feature = "openapi", schema(maximum = 10000))]
    pub limit: Option<usize>,
    /// Search only documents whose meta, id, time of addition or text matches, such as `lang:de AND
    /// year:[2019 TO *]`, `id:2024/*`, `added:[2026-01-31T00:00:00Z TO *]` or `text:"went up"`, for
    /// words in a row.
    #[setters(strip_option)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "QUERY", allow_hyphen_values = true))]
    #[cfg_attr(feature = "openapi", schema(format = "cento-filter"))]
    pub filter: Option<String>,
    /// Ids of stored documents that are never hits. An id that is not stored excludes nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID", allow_hyphen_values = true))]
    pub exclude_id: Vec<String>,
    /// Ignore fingerprints that occur in more documents than this when looking for hits: a number
    /// of documents, or a share such as `0.01`. Default: the setting of your index.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N|F"))]
    pub max_df: Option<MaxDf>,
    /// Maximum number of postings to read, those of the rarest fingerprints first. If the answer
    /// may lack hits, it reports this; the numbers of the hits it has are exact.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub budget: Option<u64>,
    /// Estimate the similarity of hits from the numbers of fingerprints alone. This is faster,
    /// because cento does not read the signatures of hits for the places of shared fingerprints,
    /// and the error is larger.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub counts_only: bool,
    /// Show the passages that the query shares with each hit. Each part of the query is shown once,
    /// next to the place of the hit that fits best.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub passages: bool,
    /// Show only hits that share a passage of at least this many words of the query, and no shorter
    /// passages. Below 12, shared fingerprints also count as passages if a hit has no other
    /// passage, and such passages may be coincidental. If the search for the passages of a hit was
    /// cut short, the hit stays (`passages_complete` is false). In scripts without spaces, a pair
    /// of neighboring letters counts as a share of a word: 5/8 in Chinese and Japanese, 1/3 in
    /// Thai, Lao and Khmer, 1/2 in Burmese and Korean. Without texts, tokens count, and a word is 5
    /// `letters`, 6 `chars` or 3 `consonants`.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "WORDS", value_parser = clap::value_parser!(u32).range(1..),
    ))]
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub min_passage: Option<u32>,
    /// Show only passages that are unlikely to be coincidental: at most this many unrelated
    /// documents are expected to have a passage as good by chance. Default: 0.01.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NUMBER"))]
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub max_expected: Option<f64>,
    /// Field of `meta` with dates such as `2021`, `2021-03` or `2021-03-04T10:00:00Z`, or with
    /// numbers, for the goal `trace`: the carrier with the earliest date is the first one. Default:
    /// the order of addition.
    #[setters(strip_option)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FIELD"))]
    pub date: Option<String>,
    /// Number of carriers to show for each span, for the goal `trace`, in addition to the best and
    /// the first one. Default: 0.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "openapi", schema(maximum = 1000))]
    pub carriers: Option<usize>,
    /// Ignore this part of every document: it counts in no number and in no passage, like
    /// boilerplate. The index must store texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "clap", arg(long, value_enum, value_name = "PART"))]
    pub without: Vec<CitedPart>,
    /// Also measure each hit on the full texts: resemblance, containment, levenshtein and more. An
    /// unknown name gives an error that lists all measures. Hits that then miss a threshold are
    /// dropped.
    #[setters(strip_option)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "MEASURE"))]
    #[cfg_attr(feature = "openapi", schema(format = "cento-measure"))]
    pub verify: Option<String>,
    /// Minimum similarity by the measure of `verify`, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "X", value_parser = share, requires = "verify",
    ))]
    pub min_similarity: Option<f64>,
}

/// The ranking of hits.
///
/// Equal hits follow each other by overlap, then by resemblance, then by id. By `overlap`, up to
/// four first hits that share equally many fingerprints with a text are ordered by their texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    /// Number of shared fingerprints: best for copies.
    #[default]
    Overlap,
    /// Weight of the shared fingerprints, where rare ones weigh more, divided by the square root of
    /// the document's number of fingerprints: best for reused text among many documents that share
    /// common phrases.
    Weight,
    /// Number of words in shared passages, for the best documents by weight: best for text that was
    /// rewritten. Finding these passages takes time, for as many documents as `candidates` says.
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
    /// Where every part of the query comes from: the spans that stored documents have too, each
    /// with its carriers, and the documents that together have most of the query.
    Trace,
    /// The passage, of all documents, that has the most word runs of the query, in any order (Sun
    /// et al. 2013). The limit does not matter.
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
