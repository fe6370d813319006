//! State and maintenance of a service.

use serde::{Deserialize, Serialize};

use crate::{Compaction, OnConflict, Stats, whole};

/// The result of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CommitResponse {
    /// The number of documents in the index.
    pub documents: u64,
    /// The number of segments.
    pub segments: usize,
    /// Whether searches see it. If not, it is committed nevertheless, the two numbers are those
    /// that searches see, and the service keeps trying to open it.
    #[serde(default = "yes")]
    pub searchable: bool,
    /// The run of the service that made the commit.
    #[serde(flatten)]
    pub run: Run,
}

/// Returns the default, for services that do not send the field.
fn yes() -> bool {
    true
}

/// A run of the service. Compare the run in the answers to two commits, before and after a change
/// acknowledged with 202. If the run is the same, the change is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Run {
    /// When the service was started, in microseconds since 1970.
    pub started: u64,
    /// Documents that it acknowledged with 202 and then could not commit: they have to be sent
    /// again.
    pub lost: u64,
}

/// Options for compacting the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CompactRequest {
    /// The maximum number of segments to leave. Default: 1.
    #[serde(default = "one", deserialize_with = "whole::number")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub segments: u32,
    /// Answer when it is done, with 200; otherwise, by default, immediately, with 202.
    #[serde(default)]
    pub wait: bool,
}

fn one() -> u32 {
    1
}

impl Default for CompactRequest {
    fn default() -> CompactRequest {
        CompactRequest { segments: one(), wait: false }
    }
}

/// The result of compacting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompactResponse {
    /// Whether it is done; if not, it continues, and `stats` shows when it has ended.
    pub done: bool,
    /// The work done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<Compaction>,
}

/// The finished indexes to merge into the index of the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MergeRequest {
    /// Their names in the directory that the service was started with for them
    /// (`serve --shard-dir`). No name leads out of it.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 1000))]
    pub shards: Vec<String>,
    /// The handling of two documents with the same id in the indexes: `error`, the default, merges
    /// nothing; with `later` the index that is named later wins.
    #[serde(default)]
    pub on_conflict: OnConflict,
}

/// The index, and the work of the service on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatsResponse {
    /// The index, as of the last commit.
    #[serde(flatten)]
    pub index: Stats,
    /// Whether the index stores texts.
    pub stores_text: bool,
    /// The version of cento.
    pub version: String,
    /// Documents added, replaced or removed since the last commit.
    pub uncommitted: u64,
    /// The run of the service.
    #[serde(flatten)]
    pub run: Run,
    /// Whether a compaction is in progress.
    pub compacting: bool,
}

/// The health of the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Health {
    /// `ok`.
    #[cfg_attr(feature = "openapi", schema(example = "ok"))]
    pub status: String,
    /// When the service was started, in microseconds since 1970.
    pub started: u64,
    /// The progress of following, if the service follows an index that is written elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub following: Option<Following>,
}

/// The progress of a follower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Following {
    /// The number of the manifest that it serves.
    pub manifest: u64,
    /// The number of the newest manifest that it knows of.
    pub newest: u64,
    /// How long it has known of a newer manifest than the served one, or that the store was started
    /// again, in milliseconds.
    pub lag_ms: u64,
    /// The time since the last answer of the store about its newest manifest, in milliseconds.
    pub unseen_ms: u64,
    /// Whether the store was emptied or started again: the served manifest is not in it any more,
    /// and stays until the service is stopped and the directory of its copy removed.
    #[serde(default)]
    pub restarted: bool,
}
