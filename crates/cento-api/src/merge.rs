//! Options for merging finished indexes.

use serde::{Deserialize, Serialize};

/// What happens if two of the indexes have a document with the same id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum OnConflict {
    /// Report the conflict and merge nothing.
    #[default]
    Error,
    /// Keep the document of the later shard in the list, and delete the earlier document.
    Later,
}

/// The result of merging.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AddedIndexes {
    /// Documents that have come from the shards.
    pub documents: u64,
    /// Segments that have come from the shards.
    pub segments: usize,
    /// Bytes of their files.
    pub bytes: u64,
    /// Files that are links to those of the shards; the others are copies.
    pub linked: usize,
    /// Older documents, of the index or an earlier shard, that were deleted because a later shard
    /// has their ids.
    pub replaced: u64,
    /// Segments of the shards that had been merged before, and were not taken again.
    pub known: usize,
    /// Documents that shards have removed or replaced since they were merged. The index still has
    /// them.
    pub removed_since: u64,
    /// Shards whose directories were removed.
    pub removed: usize,
}
