//! How is the service, and how is it maintained?

use serde::{Deserialize, Serialize};

use cento::OnConflict;
use cento::index::{Compaction, Stats};
use cento::whole;

/// What committing came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CommitResponse {
    /// Documents in the index.
    pub documents: u64,
    /// Segments.
    pub segments: usize,
    /// Whether searches see it. If not it is committed all the same, the two numbers are those that
    /// searches see, and the service goes on trying to open it.
    #[serde(default = "yes")]
    pub searchable: bool,
    /// What committed it.
    #[serde(flatten)]
    pub run: Run,
}

/// A service that does not say so cannot answer otherwise.
fn yes() -> bool {
    true
}

/// A run of the service. What was acknowledged with 202 is committed if a commit after it answers with
/// the same run as one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Run {
    /// When the service was started, in microseconds since 1970.
    pub started: u64,
    /// Documents that it acknowledged with 202 and could then not commit: they have to be sent again.
    pub lost: u64,
}

/// How the index is to be compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CompactRequest {
    /// The maximum number of segments to leave. Default: 1.
    #[serde(default = "one", deserialize_with = "whole::number")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub segments: u32,
    /// Answer when it is done, with 200; otherwise, by default, at once, with 202.
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

/// What compacting came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompactResponse {
    /// Whether it is done; if not it goes on, and `stats` tells when it is.
    pub done: bool,
    /// What was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub compaction: Option<Compaction>,
}

/// Which finished indexes become part of that of the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MergeRequest {
    /// Their names in the directory that the service was started with for them (`serve --shard-dir`). No name
    /// leads out of it.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 1000))]
    pub shards: Vec<String>,
    /// What happens if two of the indexes have a document with the same id: `error`, the default, merges
    /// nothing; with `later` the index that is named later wins.
    #[serde(default)]
    pub on_conflict: OnConflict,
}

/// The index, and what the service is doing to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatsResponse {
    /// The index, as of the last commit.
    #[serde(flatten)]
    pub index: Stats,
    /// Whether the index keeps texts.
    pub stores_text: bool,
    /// The version of cento.
    pub version: String,
    /// Documents added, replaced or removed since the last commit.
    pub uncommitted: u64,
    /// What runs.
    #[serde(flatten)]
    pub run: Run,
    /// Whether a compaction is going on.
    pub compacting: bool,
}

/// Whether the service is well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Health {
    /// `ok`.
    #[cfg_attr(feature = "openapi", schema(example = "ok"))]
    pub status: String,
    /// When the service was started, in microseconds since 1970.
    pub started: u64,
    /// How far it has come, if it follows an index that is written elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub following: Option<Following>,
}

/// How far a follower has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Following {
    /// The number of the manifest that it serves.
    pub manifest: u64,
    /// The newest one that it knows of.
    pub newest: u64,
    /// For how many milliseconds it has known of a newer one than it serves, or that the store was
    /// started again.
    pub lag_ms: u64,
    /// How many milliseconds ago the store last said which one is newest.
    pub unseen_ms: u64,
    /// Whether the store was emptied or started again: what is served is not in it any more, and stays
    /// until the service is stopped and the directory of its copy removed.
    #[serde(default)]
    pub restarted: bool,
}
