//! Counts of documents by the result of a run.

use serde::{Deserialize, Serialize};

use crate::output::{self, count};
use cento_api::whole::is_zero;

/// Counts of documents by result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct VerdictCounts {
    pub kept: u64,
    /// The part of `kept` that an index has already, with equal id and text.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unchanged: u64,
    /// The part of `kept` that replaced an old version in the index.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replaced: u64,
    pub exact: u64,
    pub near: u64,
    pub contained: u64,
    /// The number of near and contained documents whose texts were not compared.
    #[serde(default)]
    pub estimated: u64,
    /// Dropped because passages of further documents cover the whole text.
    pub passages: u64,
    /// Dropped because an index refuses withdrawn texts and copies of withdrawn texts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub withdrawn: u64,
    /// Kept, but with passages removed.
    pub cut: u64,
    pub skipped: u64,
    /// The part of `skipped` that was skipped by file name, such as hidden files.
    #[serde(default)]
    pub skipped_by_name: u64,
    pub failed: u64,
    /// The part of `failed` that is files which could not be read completely.
    #[serde(default)]
    pub unread: u64,
    /// Documents without a token.
    #[serde(default)]
    pub empty: u64,
    pub bytes: u64,
    pub kept_bytes: u64,
}

impl VerdictCounts {
    /// Returns whether any record was a document.
    pub fn has_read(&self) -> bool {
        let dropped = self.exact + self.near + self.contained + self.passages + self.withdrawn;
        self.kept + dropped > 0
    }

    /// Summarizes the results in a line.
    pub fn line(&self) -> String {
        let mut parts = vec![format!("{} kept", count(self.kept))];
        for (number, what) in [
            (self.unchanged, "of these unchanged"),
            (self.replaced, "of these in place of old versions"),
            (self.exact, if self.exact == 1 { "exact duplicate" } else { "exact duplicates" }),
            (self.near, if self.near == 1 { "near-duplicate" } else { "near-duplicates" }),
            (self.contained, "contained in others"),
            (self.estimated, "of these by estimate"),
            (self.passages, "nothing but passages of others"),
            (self.withdrawn, "withdrawn before"),
            (self.cut, "kept without some passages"),
            (self.skipped, "skipped"),
            (self.failed, "failed"),
            (self.empty, "empty"),
        ] {
            if number > 0 {
                parts.push(format!("{} {what}", count(number)));
            }
        }
        format!("{}; {} of text", parts.join(", "), output::bytes(self.bytes))
    }
}
