//! Families of passages: a passage and every document that carries the passage.

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::lineage::DirectionBy;
use crate::{MaxDf, whole};

/// The options of a search for families of passages.
///
/// ```
/// use cento_api::FamilyOptions;
///
/// let options = FamilyOptions::default().date("published").min_passage(40u32);
/// assert_eq!((options.min_passage, options.min_documents), (40, 2));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Setters)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[setters(into)]
pub struct FamilyOptions {
    /// Order documents by this field of `meta`, with dates such as `2021`, `2021-03` or
    /// `2021-03-04T10:00:00Z`, or numbers. Documents without a date come last. Default: the order
    /// of addition.
    #[setters(strip_option)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FIELD"))]
    pub date: Option<String>,
    /// Minimum number of words of a passage. Six in ten of this number must be different words.
    #[serde(deserialize_with = "whole::number")]
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "WORDS", default_value_t = MIN_PASSAGE,
        value_parser = clap::value_parser!(u32).range(1..),
    ))]
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub min_passage: u32,
    /// Minimum number of documents of a family.
    #[serde(deserialize_with = "whole::number")]
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "N", default_value_t = MIN_DOCUMENTS,
        value_parser = clap::value_parser!(u64).range(2..),
    ))]
    #[cfg_attr(feature = "openapi", schema(minimum = 2))]
    pub min_documents: u64,
    /// Only families that documents added at or after this time carry, in microseconds since 1970.
    /// Take the cursor of an earlier answer. cento searches only for these documents.
    #[setters(strip_option)]
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "CURSOR", conflicts_with = "document"))]
    pub since: Option<u64>,
    /// Only families that the document with this id carries. cento searches only for this document.
    #[setters(strip_option)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID"))]
    pub document: Option<String>,
    /// Show at most this many families, the families with the most documents first. Default: all.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, short = 'n', value_name = "N"))]
    #[cfg_attr(feature = "openapi", schema(maximum = 10000))]
    pub limit: Option<usize>,
    /// Ignore fingerprints that occur in more documents than this when looking for passages: a
    /// number of documents, or a share such as `0.01`. Default: the setting of your index.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N|F"))]
    pub max_df: Option<MaxDf>,
}

/// The default minimum number of words of a passage: shorter ones are often phrases of a language.
const MIN_PASSAGE: u32 = 20;

/// The default minimum number of documents of a family.
const MIN_DOCUMENTS: u64 = 2;

impl Default for FamilyOptions {
    fn default() -> FamilyOptions {
        FamilyOptions {
            date: None,
            min_passage: MIN_PASSAGE,
            min_documents: MIN_DOCUMENTS,
            since: None,
            document: None,
            limit: None,
            max_df: None,
        }
    }
}

impl FamilyOptions {
    /// Rejects contradictory or invalid options.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], which names the field.
    pub fn check(&self) -> Result<()> {
        if self.min_passage == 0 {
            return Err(Error::argument("min_passage", "`min_passage` must be at least 1"));
        }
        if self.min_documents < MIN_DOCUMENTS {
            let what = "`min_documents` must be at least 2: a family has several documents";
            return Err(Error::argument("min_documents", what));
        }
        if self.since.is_some() && self.document.is_some() {
            return Err(Error::argument("since", "`since` cannot be combined with `document`"));
        }
        Ok(())
    }
}

/// The source of the order of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum TimeOrder {
    /// A date in `meta`.
    Date,
    /// The time when documents were added, which says nothing about when they were written.
    Added,
}

/// Which of two documents has the earlier date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DateRelation {
    /// The document has the earlier date.
    Earlier,
    /// Both documents have the same date, so the order is unknown.
    SameDate,
    /// The dates do not decide. One date is missing or less precise, as `1885` is next to
    /// `1885-03`, or the order is the order of addition.
    Unknown,
    /// The document has the later date.
    Later,
}

/// A reused passage with all its carriers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Family {
    /// The number of the family. Family 1 has the most documents.
    pub family: u64,
    /// The number of documents that carry the passage.
    pub documents: u64,
    /// The words of the passage in its first carrier, as the analyzer of the index counts them.
    pub tokens: u32,
    /// The order of the carriers.
    pub order: TimeOrder,
    /// Whether the first carrier is the earliest by its date: every carrier has a date, and the
    /// first date occurs once.
    pub first_is_certain: bool,
    /// The number of different wordings. The analyzer of the index decides which words are equal:
    /// it folds case, punctuation and layout, and spellings if so configured.
    pub versions: u64,
    /// Whether every search for passages of the carriers ran to its end. In long texts a search can
    /// be cut short, and carriers may be missing. cento does not compare all pairs of documents, so
    /// carriers can be missing even if `complete` is `true`.
    pub complete: bool,
    /// The passage, as the first carrier has it.
    pub text: String,
    /// The places of the passage, the earliest document first.
    pub carriers: Vec<Carrier>,
}

/// A place of a passage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Carrier {
    /// The id of the document.
    pub id: String,
    /// The index with the document, if you searched several indexes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// The date of the document as in `meta`, if documents are ordered by dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The beginning of the date: in seconds since 1970 or, if dates are numbers, the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// The first byte of the passage in the text of the document.
    pub start: u32,
    /// The byte after its last one.
    pub end: u32,
    /// The part of the document with the passage, if the document has parts. `page` and `line` then
    /// count from the beginning of the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The page on which it begins, counted from 1, if the text has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The line on which it begins, counted from 1, if the text has lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// How the date relates to the date of the document whose families you requested. Missing if
    /// you requested no document, and for places of the requested document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<DateRelation>,
    /// The number of the wording, counted from 1 in the order of the carriers.
    pub version: u64,
    /// The earlier carrier with the nearest wording: its place in `carriers`, counted from 1.
    /// Missing for the first carrier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<u64>,
    /// Why cento takes the nearest carrier for the earlier document: `date`, or `added` if dates do
    /// not decide, or `unknown` if both documents were added at the same time. Only `date` is
    /// certain. Missing if both places are in the same document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction_by: Option<DirectionBy>,
    /// How alike the two wordings are, 0 to 1: the number of equal words in the same order, divided
    /// by the mean length of both wordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// The words that differ from the nearest wording. Empty if the wordings are equal, or too long
    /// for a comparison word by word. `similarity` is then missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

/// Words that replace others in a later version of a passage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Change {
    /// The words of the earlier version; empty if words were added.
    pub removed: String,
    /// The words of the later version; empty if words were removed.
    pub added: String,
}
