//! Withdrawal of documents over HTTP.

use serde::{Deserialize, Serialize};

use crate::{WithdrawOptions, Withdrawal};

/// A document to withdraw, with its copies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WithdrawRequest {
    /// The id of the document.
    pub id: String,
    /// Only list what would be removed and what quotes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// The options.
    #[serde(flatten, deserialize_with = "crate::json::flattened")]
    pub options: WithdrawOptions,
}

/// The result of a withdrawal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WithdrawResponse {
    /// Whether the document is withdrawn: durably, and no file of the index has bytes of it. If
    /// not, the record says what would be removed, and what quotes it.
    pub done: bool,
    /// Whether the document had been withdrawn before. The answer then has the first record.
    pub again: bool,
    /// What the withdrawal removed or would remove, and which documents quote it.
    pub withdrawal: Withdrawal,
}

/// The withdrawn documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WithdrawalsResponse {
    /// In the order of their withdrawal.
    pub withdrawals: Vec<ListedWithdrawal>,
}

/// A withdrawn document in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListedWithdrawal {
    /// The id of the withdrawn document.
    pub id: String,
    /// When it was withdrawn, as RFC 3339.
    pub withdrawn: String,
    /// The digest of its text.
    pub digest: String,
    /// The tokens of its text.
    pub tokens: u32,
    /// The number of documents that were removed with it, itself included.
    pub removed: u64,
    /// The number of documents that quote it.
    pub quoting: u64,
}

impl ListedWithdrawal {
    /// Makes the entry of a withdrawal.
    #[must_use]
    pub fn of(withdrawal: &Withdrawal) -> ListedWithdrawal {
        ListedWithdrawal {
            id: withdrawal.id.clone(),
            withdrawn: withdrawal.withdrawn.clone(),
            digest: withdrawal.digest.clone(),
            tokens: withdrawal.signature.tokens,
            removed: withdrawal.removed.len() as u64,
            quoting: withdrawal.quoting.len() as u64,
        }
    }
}

/// A document whose withdrawal is lifted: it may be added again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ForgetRequest {
    /// The id of the document.
    pub id: String,
}

/// The result of lifting a withdrawal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForgetResponse {
    /// The number of withdrawals of the document that were lifted.
    pub forgotten: u64,
}
