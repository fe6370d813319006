//! Options of joins: pairs, clusters.
//!
//! This is the only list of these options. The arguments of the command, the fields of requests to
//! a service, the keywords of the Python module and all their descriptions are made from this list.
//! Settings of a run, such as the number of threads, are arguments of the call.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::compare::check_min_passage;
use crate::error::{Error, Result};
use crate::passage::check_max_expected;
use crate::search::check_share;
use crate::{CitedPart, MaxDf, NamePattern, Thresholds, whole};

/// The options of a search for pairs.
///
/// Each option is a method too. Every document is searched for, so the time grows with the index
/// and with the number of pairs; `limit` keeps the best ones alone in memory.
///
/// ```
/// use cento_api::{PairOptions, Thresholds};
///
/// let thresholds = Thresholds::default().min_resemblance(0.8);
/// let options = PairOptions::default().thresholds(thresholds).min_similarity(0.1);
/// assert_eq!(options.min_similarity, Some(0.1));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, Setters)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[setters(into)]
pub struct PairOptions {
    /// The thresholds of a pair. If none of any kind is set, the index's preset decides. Without a
    /// preset, one document must contain a tenth of the second document.
    #[serde(flatten, deserialize_with = "crate::json::flattened")]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub thresholds: Thresholds,
    /// Minimum symmetric similarity of a pair, 0 to 1. A resemblance of r is a similarity of 2 r /
    /// (1 + r).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X", value_parser = crate::search::share))]
    pub min_similarity: Option<f64>,
    /// Show only pairs that share a passage of at least this many words, as in a search, and show
    /// these passages. Fewer than 12 words are a passage only if they are an entire document. If
    /// the search for the passages of a pair was cut short, the pair stays (`passages_complete` is
    /// false).
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
    /// Ignore this part of every document: it counts in no number and in no passage, like
    /// boilerplate. The index must store texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "clap", arg(long, value_enum, value_name = "PART"))]
    pub without: Vec<CitedPart>,
    /// Show the passages that both documents share.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub passages: bool,
    /// Show the measures weighted by rarity. Thresholds and ranks by weight show these measures,
    /// too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub weighted: bool,
    /// Find all pairs first, and show the best first. Default: with `limit`, the rank of the
    /// index's preset, or `overlap`. Without `limit`, the order of the documents. For documents
    /// that are not stored, `similarity`, or `score` if the preset for source code sets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub rank: Option<PairRank>,
    /// Show at most this many pairs, the best by `rank`, and count the others. Default: all. For
    /// documents that are not stored: 20. For files that `--against` compares with an index: 200.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, short = 'n', value_name = "N"))]
    #[cfg_attr(feature = "openapi", schema(maximum = 10000))]
    pub limit: Option<usize>,
    /// Pair only documents of the same group. A group has the same value of this field of `meta`,
    /// or the same fields in its ids by a pattern, as for `group_by`.
    #[setters(strip_option)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "FIELD|PATTERN", conflicts_with = "group_by", value_parser = group,
    ))]
    pub within: Option<String>,
    /// Do not pair documents of the same group, such as the attempts of an author. A group has the
    /// same value of this field of `meta`, or the same fields in the ends of its ids by a pattern,
    /// such as `{author}/{*}` for `rs/ann/try1.java`. A document without the field is a group of
    /// its own.
    #[setters(strip_option)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FIELD|PATTERN", value_parser = group))]
    pub group_by: Option<String>,
    /// Ignore fingerprints that occur in more documents than this when looking for pairs: a number
    /// of documents, or a share such as `0.01`. Default: the setting of your index.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N|F"))]
    pub max_df: Option<MaxDf>,
}

/// The ranking of pairs.
///
/// Equal pairs follow each other in the order of their documents. Pairs with a program too short to
/// judge come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum PairRank {
    /// Number of shared fingerprints, then resemblance
    #[default]
    Overlap,
    /// Symmetric similarity: twice the common part, divided by the sum of both documents
    Similarity,
    /// Weighted resemblance, where rare fingerprints count more
    Weight,
    /// Number of words in shared passages, which takes about a millisecond per pair
    Passages,
    /// Score of source code: how strongly the two programs suggest copying
    Score,
}

impl PairRank {
    /// Returns its name, as options have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PairRank::Overlap => "overlap",
            PairRank::Similarity => "similarity",
            PairRank::Weight => "weight",
            PairRank::Passages => "passages",
            PairRank::Score => "score",
        }
    }
}

impl PairOptions {
    /// The default maximum number of pairs of documents that are not stored.
    pub const MOST_SIMILAR: usize = 20;

    /// Rejects contradictory or invalid options.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], which names the field.
    pub fn check(&self) -> Result<()> {
        self.thresholds.check()?;
        check_share("min_similarity", self.min_similarity)?;
        check_min_passage(self.min_passage)?;
        check_max_expected(self.max_expected)?;
        self.scope()?.check()
    }

    /// Returns the configured thresholds. If no minimum of any kind is set, returns
    /// [`Thresholds::of_pairs`].
    #[must_use]
    pub fn effective_thresholds(&self) -> Thresholds {
        if self.has_threshold() { self.thresholds } else { Thresholds::of_pairs() }
    }

    /// Tells whether a threshold of any kind is set.
    #[must_use]
    pub fn has_threshold(&self) -> bool {
        !self.thresholds.is_none() || self.min_passage.is_some() || self.min_similarity.is_some()
    }

    /// Tells whether the texts of pairs are searched for passages.
    #[must_use]
    pub fn needs_passages(&self) -> bool {
        self.passages || self.min_passage.is_some() || self.rank == Some(PairRank::Passages)
    }

    /// Returns the pairs that are kept, by the groups of their documents.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if two fields are to decide.
    pub fn scope(&self) -> Result<Scope> {
        Scope::of(self.within.as_deref(), self.group_by.as_deref())
    }
}

/// Which pairs to keep, by the groups of the documents. A field of `meta` or a pattern of ids
/// decides about the group.
///
/// ```
/// use cento_api::{PairOptions, Scope};
///
/// let options = PairOptions::default().group_by("author");
/// assert_eq!(options.scope()?, Scope::Across("author".into()));
/// // A pair cannot be both within and across groups.
/// assert!(options.within("course").scope().is_err());
/// # Ok::<(), cento_api::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All pairs, whatever the groups.
    Everywhere,
    /// Pairs within a group.
    Within(String),
    /// Pairs of documents from different groups.
    Across(String),
}

impl Scope {
    /// Returns the scope that `within` or `group_by` sets.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if both are set.
    pub(crate) fn of(within: Option<&str>, group_by: Option<&str>) -> Result<Scope> {
        match (within, group_by) {
            (None, None) => Ok(Scope::Everywhere),
            (Some(field), None) => Ok(Scope::Within(field.to_owned())),
            (None, Some(field)) => Ok(Scope::Across(field.to_owned())),
            (Some(_), Some(_)) => {
                Err(Error::argument("within", "`within` cannot be combined with `group_by`"))
            }
        }
    }

    /// Returns the field or pattern that decides.
    #[must_use]
    pub fn by(&self) -> Option<&str> {
        match self {
            Scope::Everywhere => None,
            Scope::Within(by) | Scope::Across(by) => Some(by),
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        match self.by().filter(|by| NamePattern::is_pattern(by)) {
            Some(by) => check_group(by),
            None => Ok(()),
        }
    }
}

fn check_group(pattern: &str) -> Result<()> {
    match NamePattern::new(pattern)?.fields().next() {
        Some(_) => Ok(()),
        None => {
            let what = format!("`{pattern}` has no field with a name, such as {{author}}");
            Err(Error::argument("group_by", what))
        }
    }
}

/// Reads a field or a pattern from an argument.
#[cfg(feature = "clap")]
pub(crate) fn group(text: &str) -> std::result::Result<String, String> {
    if NamePattern::is_pattern(text) {
        check_group(text).map_err(|error| error.to_string())?;
    }
    Ok(text.to_owned())
}

/// The options of clustering.
///
/// ```
/// use cento_api::{ClusterOptions, Thresholds};
///
/// let thresholds = Thresholds::default().min_resemblance(0.8);
/// let options = ClusterOptions::default().thresholds(thresholds).min_size(3u64);
/// assert_eq!(options.min_size, 3);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Setters)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default, deny_unknown_fields)]
#[setters(into)]
pub struct ClusterOptions {
    /// The thresholds for two documents to be similar. If none is set, the index's preset sets the
    /// minimum resemblance, or else it is 0.5.
    #[serde(flatten, deserialize_with = "crate::json::flattened")]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub thresholds: Thresholds,
    /// The document that represents a cluster. `oldest`: the document that was added first.
    /// `longest`: the longest. `FIELD`: the document with the smallest value of this field of
    /// `meta`, such as a date. `-FIELD`: the document with the largest value. If most values are
    /// dates or years, cento compares them by time, as in `cento families`. Otherwise numbers are
    /// compared as numbers and come before other values, which are compared as text. Documents
    /// without the field come last, and cento rejects a field that no document has. If documents
    /// are equal, the first id decides.
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "WHICH", default_value = "oldest", allow_hyphen_values = true,)
    )]
    pub prefer: Prefer,
    /// Which documents a member must resemble.
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub linkage: Linkage,
    /// Minimum number of documents in a cluster.
    #[serde(deserialize_with = "whole::number")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = CLUSTER_MIN))]
    pub min_size: u64,
    /// Ignore fingerprints that occur in more documents than this when looking for pairs: a number
    /// of documents, or a share such as `0.01`. Default: the setting of your index.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N|F"))]
    pub max_df: Option<MaxDf>,
}

/// The default minimum number of documents in a cluster.
const CLUSTER_MIN: u64 = 2;

impl Default for ClusterOptions {
    fn default() -> ClusterOptions {
        ClusterOptions {
            thresholds: Thresholds::default(),
            prefer: Prefer::default(),
            linkage: Linkage::default(),
            min_size: CLUSTER_MIN,
            max_df: None,
        }
    }
}

impl ClusterOptions {
    /// Refuses options that are out of bounds.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], which names the field.
    pub fn check(&self) -> Result<()> {
        if self.prefer == Prefer::None {
            let what = "each cluster has a representative; `none` is for `dedup`, which drops all \
                        documents of a group";
            return Err(Error::argument("prefer", what));
        }
        self.thresholds.check()
    }

    /// Returns the configured thresholds, or else [`Thresholds::of_clusters`].
    #[must_use]
    pub fn effective_thresholds(&self) -> Thresholds {
        self.thresholds.or(Thresholds::of_clusters())
    }
}

/// The criterion for membership of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Linkage {
    /// Each member resembles the representative.
    #[default]
    Star,
    /// Each member resembles at least one other member, so a cluster can be a chain.
    Single,
}

/// The choice of the document that represents a cluster. Programs write a text: `oldest`,
/// `longest`, `FIELD` for the smallest value of a field, or `-FIELD` for the largest value.
/// Deduplication also accepts `none`.
///
/// ```
/// use cento_api::Prefer;
///
/// let prefer: Prefer = "-revised".parse().unwrap();
/// assert_eq!(prefer, Prefer::Greatest("revised".into()));
/// assert_eq!(Prefer::default().to_string(), "oldest");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Prefer {
    /// The document that was added first.
    #[default]
    Oldest,
    /// The document with the most tokens.
    Longest,
    /// The document with the least value of this field of `meta`: the earliest if most values are
    /// dates or years, else numbers before texts. Documents without the field come last.
    Least(String),
    /// The document with the largest value of this field of `meta`, compared as for the smallest.
    /// Documents without the field come last.
    Greatest(String),
    /// No document: deduplication drops every document with a duplicate.
    None,
}

impl From<String> for Prefer {
    fn from(text: String) -> Prefer {
        match text.as_str() {
            "oldest" => Prefer::Oldest,
            "longest" => Prefer::Longest,
            "none" => Prefer::None,
            field => match field.strip_prefix('-') {
                Some(field) => Prefer::Greatest(field.to_owned()),
                None => Prefer::Least(text),
            },
        }
    }
}

impl FromStr for Prefer {
    type Err = Infallible;

    fn from_str(text: &str) -> std::result::Result<Prefer, Infallible> {
        Ok(text.to_owned().into())
    }
}

impl From<Prefer> for String {
    fn from(prefer: Prefer) -> String {
        prefer.to_string()
    }
}

impl fmt::Display for Prefer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Prefer::Oldest => f.write_str("oldest"),
            Prefer::Longest => f.write_str("longest"),
            Prefer::Least(field) => f.write_str(field),
            Prefer::Greatest(field) => write!(f, "-{field}"),
            Prefer::None => f.write_str("none"),
        }
    }
}

/// The options of the analysis of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Setters)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default, deny_unknown_fields)]
#[setters(into)]
pub struct ReuseOptions {
    /// Number of pairs of each category to examine.
    #[serde(deserialize_with = "whole::number")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = SAMPLE))]
    pub limit: usize,
    /// Ignore fingerprints that occur in more documents than this when looking for pairs: a number
    /// of documents, or a share such as `0.01`. Default: the setting of your index.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N|F"))]
    pub max_df: Option<MaxDf>,
}

/// The default number of pairs to examine: as many as the paper has.
const SAMPLE: usize = 50;

impl Default for ReuseOptions {
    fn default() -> ReuseOptions {
        ReuseOptions { limit: SAMPLE, max_df: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preference_is_the_text_that_programs_write() {
        for text in ["oldest", "longest", "date", "-meta.year"] {
            let prefer: Prefer = text.parse().unwrap();
            assert_eq!(prefer.to_string(), text);
            let options = ClusterOptions::default().prefer(prefer);
            let json = serde_json::to_string(&options).unwrap();
            assert_eq!(serde_json::from_str::<ClusterOptions>(&json).unwrap(), options);
        }
    }

    #[test]
    fn a_default_threshold_holds_only_where_none_of_any_kind_is_set() {
        let plain = PairOptions::default();
        assert_eq!(plain.effective_thresholds(), Thresholds::of_pairs());
        let own = Thresholds::default().min_overlap(1);
        assert_eq!(plain.clone().thresholds(own).effective_thresholds(), own);
        for set in [plain.clone().min_passage(20), plain.clone().min_similarity(0.0)] {
            assert_eq!(set.effective_thresholds(), Thresholds::default());
        }
        let clusters = ClusterOptions::default();
        assert_eq!(clusters.effective_thresholds(), Thresholds::of_clusters());
    }

    #[test]
    fn an_option_that_is_out_of_bounds_is_named() {
        let check = |options: PairOptions, named: &str| {
            let error = options.check().unwrap_err().to_string();
            assert!(error.contains(&format!("`{named}`")), "{error}");
        };
        let plain = PairOptions::default();
        plain.check().unwrap();
        check(
            plain.clone().thresholds(Thresholds::default().min_resemblance(2.0)),
            "min_resemblance",
        );
        check(plain.clone().min_similarity(f64::NAN), "min_similarity");
        check(plain.clone().min_passage(0), "min_passage");
        check(plain.within("a").group_by("b"), "within");
    }

    #[test]
    fn the_names_of_ranks_are_those_of_json() {
        for rank in [
            PairRank::Overlap,
            PairRank::Similarity,
            PairRank::Weight,
            PairRank::Passages,
            PairRank::Score,
        ] {
            assert_eq!(serde_json::to_value(rank).unwrap(), rank.name());
        }
    }
}
