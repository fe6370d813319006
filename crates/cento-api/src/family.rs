//! Families of passages: a passage, with all documents that carry it.

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
    /// Show at most this many families, those with the most documents. Default: all.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, short = 'n', value_name = "N"))]
    #[cfg_attr(feature = "openapi", schema(maximum = 10000))]
    pub limit: Option<usize>,
    /// Ignore fingerprints that occur in more documents than this when looking for passages: a
    /// number of documents, or a share such as `0.01`. Default: the setting of the index.
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
    /// Refuses options that contradict each other or are out of bounds.
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

/// How the date of a document relates to that of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DateRelation {
    /// Its date is before that of the other.
    Earlier,
    /// Both have the same date, which does not tell which is the earlier one.
    SameDate,
    /// Dates do not tell: one is missing, or is less precise than the other, as `1885` is beside
    /// `1885-03`; or the order is that of addition.
    Unknown,
    /// Its date is after that of the other.
    Later,
}

/// A reused passage with all its carriers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Family {
    /// The number of the family: 1 for that with the most documents.
    pub family: u64,
    /// The number of documents that carry the passage.
    pub documents: u64,
    /// The words of the passage in its first carrier, as the analyzer of the index counts them.
    pub tokens: u32,
    /// The order of the carriers.
    pub order: TimeOrder,
    /// Whether the first carrier is the earliest by its date: all carriers have a date, and
    /// no other has the same one.
    pub first_is_certain: bool,
    /// The number of different wordings, as the analyzer of the index compares words: it folds
    /// case, punctuation and layout, and spellings if it is to.
    pub versions: u64,
    /// Whether no search for passages of its documents was cut short. If one was, in long texts,
    /// carriers may be missing. Not all pairs of documents are compared, so carriers can be missing
    /// even if it is `true`.
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
    /// The index that has it, if several were searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// Its date, as `meta` has it, if documents are ordered by dates and it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The beginning of that date: in seconds since 1970 or, if dates are numbers, the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// The first byte of the passage in the text of the document.
    pub start: u32,
    /// The byte after its last one.
    pub end: u32,
    /// The part of the document that it is in, if the document has parts. Its page and line are
    /// then those of the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The page on which it begins, counted from 1, if the text has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The line on which it begins, counted from 1, if the text has lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// How its date relates to that of the document that families were requested for; none without
    /// such a document, and for the places of that document itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<DateRelation>,
    /// The number of its wording, in the order of the carriers that have it first.
    pub version: u64,
    /// The earlier carrier with the nearest wording, by its place in the list, from 1; none for the
    /// first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<u64>,
    /// The reason why the nearest carrier is taken for the earlier one: `date`, or `added` if dates
    /// do not tell; `unknown` if both were added at the same time. Only `date` is certain. None for
    /// places of the same document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction_by: Option<DirectionBy>,
    /// How alike the two wordings are, 0 to 1: the words that both have in the same order, as a
    /// share of their mean number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// The words that differ from the nearest wording. Empty if both wordings are the same, or if
    /// the passages are too long to be compared word by word: there is no `similarity` then.
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
