//! Withdrawal of a document: the options, and the record that an index keeps.
//!
//! A record contains no text. It has the ids of documents, the digests of removed texts, and the
//! signature of the withdrawn document. The signature lets the index recognize the text when it is
//! added again.

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::http::SignatureBody;
use crate::search::check_share;
use crate::{DedupOptions, whole};

/// The options of a withdrawal: which documents are copies, and which passages are quotations.
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
    /// Minimum resemblance of a copy, which is removed, 0 to 1. Default: 0.8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X", value_parser = crate::search::share))]
    pub min_resemblance: Option<f64>,
    /// Minimum length of a quotation to list, in tokens, 5 or more. Default: 12, or 25 in source
    /// code.
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "TOKENS",
        value_parser = clap::value_parser!(u32).range(i64::from(PASSAGE_MIN)..),
    ))]
    #[cfg_attr(feature = "openapi", schema(minimum = 5))]
    pub min_passage: Option<u32>,
    /// Id of a copy to keep. cento lists it like a document that quotes all of the text. Can be
    /// repeated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID", allow_hyphen_values = true))]
    pub keep_copy: Vec<String>,
    /// Withdraw the document that has the id now, although another text was withdrawn under it.
    /// Without this option, cento refuses.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub reused_id: bool,
}

/// The minimum length of a passage, in tokens, because unrelated texts share shorter runs.
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

/// The record of a withdrawal: the removed documents, and the documents that quote the withdrawn
/// document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Withdrawal {
    /// The id of the withdrawn document.
    pub id: String,
    /// When it was withdrawn, as RFC 3339.
    pub withdrawn: String,
    /// The digest of its text: XXH3-128 of the UTF-8, 32 hexadecimal digits.
    pub digest: String,
    /// The signature of the withdrawn document. The index rejects a document that resembles it,
    /// unless the signature lacks words.
    pub signature: SignatureBody,
    /// The signature of all words. Present if the analyzer of the index omits words, so that
    /// `signature` lacks them. The index rejects a document that resembles `words`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<SignatureBody>,
    /// The minimum resemblance of a copy.
    pub min_resemblance: f64,
    /// The minimum length of a passage, in tokens.
    pub min_passage: u32,
    /// The documents that were removed, the withdrawn one first.
    pub removed: Vec<RemovedDocument>,
    /// The documents with passages of the withdrawn document. They remain in the index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quoting: Vec<QuotingDocument>,
}

impl Withdrawal {
    /// Returns whether both records withdraw the same document, by id and text.
    #[must_use]
    pub fn is_same(&self, other: &Withdrawal) -> bool {
        (&self.id, &self.digest) == (&other.id, &other.digest)
    }

    /// Returns whether no document quotes the withdrawn document. Documents that were added earlier
    /// do not count, because the withdrawn document may have quoted them.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.quoting.iter().all(|quoting| quoting.added_earlier)
    }
}

/// A document that was removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RemovedDocument {
    /// The id of the removed document.
    pub id: String,
    /// The digest of the removed text.
    pub digest: String,
    /// Why the document was removed.
    pub reason: RemovalReason,
    /// How much the document resembles the withdrawn document, 0 to 1.
    pub resemblance: f64,
    /// Whether the document was added to the index before the withdrawn document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub added_earlier: bool,
}

/// The reason for removing a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RemovalReason {
    /// The withdrawn document.
    Withdrawn,
    /// A document with the same text.
    Exact,
    /// A document that resembles the withdrawn document.
    Near,
}

impl RemovalReason {
    /// Returns the name of the reason in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RemovalReason::Withdrawn => "withdrawn",
            RemovalReason::Exact => "exact",
            RemovalReason::Near => "near",
        }
    }
}

/// A document that quotes the withdrawn document, and remains in the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuotingDocument {
    /// The id of the quoting document.
    pub id: String,
    /// The digest of the text, which may be added again.
    pub digest: String,
    /// The number of tokens of the text.
    pub tokens: u32,
    /// The number of tokens in passages of the withdrawn document.
    pub quoted_tokens: u32,
    /// The byte ranges of these passages in the text: half-open, ascending.
    pub passages: Vec<(u32, u32)>,
    /// Whether the document was added to the index before the withdrawn document, which may have
    /// copied the passages.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub added_earlier: bool,
    /// Whether the search for edited passages was cut short, so that passages may be missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_short: bool,
}
