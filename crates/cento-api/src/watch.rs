//! Watches: standing queries, which report matching documents of later commits.
//!
//! A watch uses the thresholds of a search, and decides in the same way. Its options are the
//! options of a search that judge a document independently of other documents.

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::compare::check_min_passage;
use crate::error::{Error, Result};
use crate::{Hit, MaxDf, Thresholds, whole};

/// The options of a watch, besides its thresholds.
///
/// ```
/// use cento_api::WatchOptions;
///
/// let options = WatchOptions::default().min_passage(20u32).filter("lang:de");
/// assert_eq!(options.min_passage, Some(20));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, Setters)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[setters(into)]
pub struct WatchOptions {
    /// Report only documents whose meta, id or time of addition matches, such as `lang:de AND
    /// year:[2019 TO *]` or `id:2024/*`.
    #[setters(strip_option)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "QUERY", allow_hyphen_values = true))]
    #[cfg_attr(feature = "openapi", schema(format = "cento-filter"))]
    pub filter: Option<String>,
    /// Ids of documents that never match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID", allow_hyphen_values = true))]
    pub exclude_id: Vec<String>,
    /// Ignore fingerprints that occur in more documents than this when looking for hits: a number
    /// of documents, or a share such as `0.01`. Default: the setting of your index.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N|F"))]
    pub max_df: Option<MaxDf>,
    /// Report only documents that share a passage of at least this many words of the watch, as in a
    /// search, and show no shorter passages. Default: 12, if the watch has no threshold. If the
    /// search for the passages of a document was cut short, the document stays (`passages_complete`
    /// is false).
    #[serde(deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(
        long, value_name = "WORDS", value_parser = clap::value_parser!(u32).range(1..),
    ))]
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub min_passage: Option<u32>,
}

impl WatchOptions {
    /// The minimum passage of a watch without conditions, in tokens. Shorter passages may be
    /// coincidental.
    pub const MIN_PASSAGE: u32 = 12;

    /// Refuses options that are out of bounds.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], which names the field.
    pub fn check(&self) -> Result<()> {
        check_min_passage(self.min_passage)
    }
}

/// The receiver of the events of a watch.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// The address of the receiver, http or https.
    pub url: String,
    /// The key that signs posts to the receiver, at least 16 bytes. Answers never contain the
    /// secret, and the name of a watch does not depend on it. A request that differs from a watch
    /// only in the secret is therefore a conflict. To change the secret, remove the watch and add
    /// it again.
    pub secret: String,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Webhook {
    /// The minimum length of a secret in bytes.
    pub const SECRET_BYTES_MIN: usize = 16;
    /// The maximum length of an address and of a secret in bytes.
    pub const BYTES_MAX: usize = 2048;

    /// Refuses a webhook that cannot be used.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], for an invalid URL or a short secret.
    pub fn check(&self) -> Result<()> {
        let Webhook { url, secret } = self;
        if secret.len() < Webhook::SECRET_BYTES_MIN {
            let what = "the secret of a webhook has at least 16 bytes";
            return Err(Error::argument("webhook", what));
        }
        if url.len() > Webhook::BYTES_MAX || secret.len() > Webhook::BYTES_MAX {
            let what = "the address and the secret of a webhook have at most 2048 bytes";
            return Err(Error::argument("webhook", what));
        }
        if !url.starts_with("http://") && !url.starts_with("https://") {
            let what = "the address of a webhook begins with `http://` or `https://`";
            return Err(Error::argument("webhook", what));
        }
        Ok(())
    }
}

/// The subject of a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum WatchedKind {
    /// A text that the watch brings along.
    Text,
    /// The current version of a stored document. While the document is removed, nothing matches.
    Document,
    /// A signature, so that the service never sees the text.
    Signature,
}

/// A watch, as it is listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Watch {
    /// The unique name of the watch.
    pub name: String,
    /// The kind of its subject.
    pub kind: WatchedKind,
    /// The id of the watched document, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The number of tokens of its subject.
    pub tokens: u32,
    /// The number of distinct fingerprints of its subject.
    pub fingerprints: u32,
    /// The thresholds that a document must meet.
    #[serde(flatten)]
    pub thresholds: Thresholds,
    /// How passages and hits are chosen, beside the thresholds.
    #[serde(flatten)]
    pub options: WatchOptions,
    /// The last commit before its creation: documents of later commits are matched.
    pub commit: u64,
    /// When it was created, in seconds since 1970.
    pub created: u64,
    /// The address that receives the events, if there is one. Clients that may only read see scheme
    /// and host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<String>,
    /// Why the watch matches nothing at present, if there is a reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A document of a commit matched a watch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchEvent {
    /// The number of the event, ascending over all watches: at least the time of matching in
    /// microseconds since 1970. A restored copy of the index therefore never reuses a number.
    pub cursor: u64,
    /// The name of the watch.
    pub watch: String,
    /// The number of the commit that added the document, or this version of it.
    pub commit: u64,
    /// When it was found, in seconds since 1970.
    pub time: u64,
    /// The document, with its measures and passages, as a hit of a search with the watch.
    pub hit: Hit,
}

/// Events of watches, oldest first, and the cursor to continue with.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchEvents {
    /// The events, oldest first.
    pub events: Vec<WatchEvent>,
    /// The cursor to request the following events with. May be greater than the cursor of the last
    /// event in the list.
    pub next: u64,
    /// Whether there are more events already.
    pub more: bool,
    /// Whether events after the requested cursor are lost: they are no longer kept, or a new log
    /// has not reached the cursor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_that_cannot_be_used_is_refused_and_its_secret_is_not_shown() {
        let check = |url: &str, secret: &str, expected: &str| {
            let webhook = Webhook { url: url.into(), secret: secret.into() };
            let error = webhook.check().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        let secret = "0123456789abcdef";
        check("https://a.example/", "short", "at least 16 bytes");
        check("ftp://a.example/", secret, "begins with");
        check(&format!("https://a.example/{}", "a".repeat(3000)), secret, "at most 2048");
        let webhook = Webhook { url: "https://a.example/".into(), secret: secret.into() };
        webhook.check().unwrap();
        assert!(!format!("{webhook:?}").contains(secret));
    }
}
