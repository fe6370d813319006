//! Withdrawal of a document: its options, and the record of it.
//!
//! A record has no text. It names documents by their ids and the digests of their texts, and holds
//! the signature of the withdrawn one: an index recognises it by that when it comes again.

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::http::SignatureBody;
use crate::search::check_share;
use crate::{DedupOptions, whole};

/// The options of a withdrawal: which documents are copies, and which passages are cut.
///
/// ```
/// use cento_api::WithdrawOptions;
///
/// let options = WithdrawOptions::default().min_resemblance(0.9);
/// assert_eq!(options.resemblance(), 0.9);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, Setters)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[setters(into)]
pub struct WithdrawOptions {
    /// Minimum resemblance of a copy, which is removed, and minimum similarity of an edited
    /// passage, which is cut, 0 to 1. A document that loses at least this share of its tokens is
    /// removed too. Default: 0.8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X", value_parser = crate::search::share))]
    #[cfg_attr(feature = "openapi", schema(minimum = 0.0, maximum = 1.0))]
    pub min_resemblance: Option<f64>,
    /// Minimum length of a passage that is cut, in tokens, 5 or more. Default: 12; in programs 25.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "TOKENS",
        value_parser = clap::value_parser!(u32).range(i64::from(PASSAGE_MIN)..),
    ))]
    #[cfg_attr(feature = "openapi", schema(minimum = 5))]
    pub min_passage: Option<u32>,
    /// Also cut passages that a document which was added before the withdrawn one, or at the same
    /// time, has. By default they are listed and stay: the withdrawn document is not their source,
    /// or nothing shows that it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub cut_earlier: bool,
    /// Id of a document that stays as it is. Can be repeated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID", allow_hyphen_values = true))]
    pub keep: Vec<String>,
    /// Withdraw the document that has the id now, although another text was withdrawn under it.
    /// Such a document is otherwise refused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub reused_id: bool,
}

/// Shorter runs of tokens are common to texts that have nothing to do with each other.
const PASSAGE_MIN: u32 = 5;

impl WithdrawOptions {
    /// Refuses options that are out of bounds.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], which names the field.
    pub fn check(&self) -> Result<()> {
        check_share("min_resemblance", self.min_resemblance)?;
        if self.min_passage.is_some_and(|tokens| tokens < PASSAGE_MIN) {
            let what = format!("`min_passage` must be at least {PASSAGE_MIN}");
            return Err(Error::argument("min_passage", what));
        }
        Ok(())
    }

    /// Returns the least resemblance of a copy.
    #[must_use]
    pub fn resemblance(&self) -> f64 {
        self.min_resemblance.unwrap_or(DedupOptions::MIN_RESEMBLANCE)
    }
}

/// The record of a withdrawal: the texts that were withdrawn, removed, cut and left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Withdrawal {
    /// The id of the withdrawn document.
    pub id: String,
    /// When it was withdrawn, as RFC 3339.
    pub withdrawn: String,
    /// The digest of its text: XXH3-128 of the UTF-8, 32 hexadecimal digits.
    pub digest: String,
    /// Its signature. A document that resembles it is refused, unless it lacks words.
    pub signature: SignatureBody,
    /// If the signature lacks words, because the analyzer of the index leaves some out: the
    /// signature of all words. A document that resembles it is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub words: Option<SignatureBody>,
    /// The minimum resemblance of a copy.
    pub min_resemblance: f64,
    /// The minimum length of a passage, in tokens.
    pub min_passage: u32,
    /// The documents that were removed from the index, the withdrawn one first.
    pub removed: Vec<RemovedDocument>,
    /// The documents of the index that passages were cut from.
    pub cut: Vec<CutDocument>,
    /// The files that were rewritten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<WithdrawnFile>,
    /// The text that is left in the index.
    pub left: LeftText,
}

/// A document that was removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RemovedDocument {
    /// Its id; of a record of a file without one, its line or row.
    pub id: String,
    /// The digest of its text.
    pub digest: String,
    /// Why it was removed.
    pub reason: RemovalReason,
    /// How much it resembles the withdrawn document, 0 to 1.
    pub resemblance: f64,
    /// The share of its tokens that are in passages of the withdrawn document, 0 to 1.
    pub quoted: f64,
    /// Whether it was added to the index before the withdrawn document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub added_earlier: bool,
}

/// The reason for removing a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RemovalReason {
    /// It is the withdrawn document.
    Withdrawn,
    /// It has the same text.
    Exact,
    /// It resembles the withdrawn document.
    Near,
    /// Without the passages little of it would be left.
    LittleLeft,
}

impl RemovalReason {
    /// Returns its name, as JSON has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RemovalReason::Withdrawn => "withdrawn",
            RemovalReason::Exact => "exact",
            RemovalReason::Near => "near",
            RemovalReason::LittleLeft => "little_left",
        }
    }
}

/// A document that passages were cut from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CutDocument {
    /// Its id; of a record of a file without one, its line or row.
    pub id: String,
    /// The digest of the text before.
    pub digest: String,
    /// The digest of the text that is left.
    pub left: String,
    /// The tokens of the text before.
    pub tokens: u32,
    /// The tokens that were cut.
    pub cut_tokens: u32,
    /// The bytes of the text before that were cut: half-open ranges, ascending.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<u32>>))]
    pub passages: Vec<(u32, u32)>,
}

/// A file that documents were removed or cut in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WithdrawnFile {
    /// Its path, as it was named.
    pub file: String,
    /// The records that are documents.
    pub documents: u64,
    /// The records that are no documents: they stay as they are.
    pub no_documents: u64,
    /// The documents that were removed.
    pub removed: Vec<RemovedDocument>,
    /// The documents that passages were cut from.
    pub cut: Vec<CutDocument>,
    /// The text that is left in the file.
    pub left: LeftText,
}

/// Text of the withdrawn document that stays, by the reason.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LeftText {
    /// Documents with passages that a document which was added before the withdrawn one, or at the
    /// same time, has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<LeftPassages>,
    /// Documents with passages that were edited too much to be cut: they are less similar than
    /// copies have to be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<LeftPassages>,
    /// Documents that were to be kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<LeftPassages>,
    /// Documents whose search for edited passages was cut short, so that some may be left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<LeftPassages>,
    /// Documents that have the whole text, which is shorter than a passage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub whole: Vec<LeftPassages>,
    /// The documents that share runs of at least 5 tokens, all shorter than a passage.
    pub shorter_documents: u64,
    /// The longest of these runs, in tokens.
    pub shorter_tokens: u32,
}

impl LeftText {
    /// Returns whether no passage is left that the withdrawn document is the source of, or may be,
    /// nor its whole text.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let lists = [&self.edited, &self.kept, &self.unfinished, &self.whole];
        let may_be_own = |left: &LeftPassages| left.same_time;
        lists.iter().all(|list| list.is_empty()) && !self.earlier.iter().any(may_be_own)
    }
}

/// A document with text that stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LeftPassages {
    /// Its id.
    pub id: String,
    /// The tokens that stay.
    pub tokens: u32,
    /// The document that was added before the withdrawn one, or at the same time, and has them, if
    /// they stay for that reason; it may be this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub earlier: Option<String>,
    /// Whether that document was added at the same time as the withdrawn one, so that nothing shows
    /// which of the two had them first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_time: bool,
}
