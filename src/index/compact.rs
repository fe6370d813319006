//! How does the index get rid of deleted documents and small segments?

use tantivy::index::{SegmentId, SegmentMeta};

use super::{Index, WriterOptions};
use crate::error::Result;

/// What a compaction did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Compaction {
    /// Segments before.
    pub segments_before: usize,
    /// Segments after.
    pub segments_after: usize,
    /// Deleted documents whose space was given back.
    pub purged: u64,
}

impl Index {
    /// Merges the segments into at most `segments`, without the deleted documents, and removes
    /// the files that nothing needs any more.
    ///
    /// Searches go on meanwhile; snapshots taken before stay whole.
    ///
    /// # Errors
    /// When another process is writing, or a segment is damaged; the index is then as it was.
    pub fn compact(&self, segments: usize) -> Result<Compaction> {
        let failed = |e| self.error("compact", e);
        let mut writer = self.writer(WriterOptions { merge: false, ..WriterOptions::default() })?;
        let (groups, segments_before, purged) = {
            // Held no longer than this: files are collected only when nobody holds their meta.
            let metas = self.tantivy().searchable_segment_metas().map_err(failed)?;
            let purged = metas.iter().map(|meta| u64::from(meta.num_deleted_docs())).sum();
            (groups(&metas, segments.max(1)), metas.len(), purged)
        };
        let writer = writer.tantivy_writer();
        for group in groups {
            writer.merge(&group).wait().map_err(failed)?;
        }
        writer.garbage_collect_files().wait().map_err(failed)?;
        let segments_after = self.tantivy().searchable_segment_ids().map_err(failed)?.len();
        Ok(Compaction { segments_before, segments_after, purged })
    }
}

/// Which segments to merge: into at most `count`, of like size; one that is alone in its group
/// and has no deleted documents is left as it is.
fn groups(metas: &[SegmentMeta], count: usize) -> Vec<Vec<SegmentId>> {
    let mut by_size: Vec<&SegmentMeta> = metas.iter().collect();
    by_size.sort_by_key(|meta| (std::cmp::Reverse(meta.num_docs()), meta.id()));
    let mut groups: Vec<(u64, Vec<&SegmentMeta>)> = vec![(0, Vec::new()); count];
    for meta in by_size {
        let smallest = groups.iter_mut().min_by_key(|group| group.0).expect("count is not 0");
        smallest.0 += u64::from(meta.num_docs()).max(1);
        smallest.1.push(meta);
    }
    groups
        .into_iter()
        .map(|(_, group)| group)
        .filter(|group| group.len() > 1 || group.iter().any(|meta| meta.has_deletes()))
        .map(|group| group.iter().map(|meta| meta.id()).collect())
        .collect()
}
