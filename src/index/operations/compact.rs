//! Compaction: removal of deleted documents and merging of small segments.

use std::path::PathBuf;

use tantivy::index::{SegmentComponent, SegmentId, SegmentMeta};

use tantivy::{FutureResult, TantivyError};

use crate::error::{Corruption, Error, Result};
use crate::index::Compaction;
use crate::index::Index;
use crate::index::Writer;
use crate::index::WriterOptions;
use crate::reason::ConflictKind;

impl Index {
    /// Returns the damage of a store of the last commit, if there is one: tantivy does not say why
    /// it could not merge it.
    pub(super) fn store_damage(&self) -> Option<Error> {
        let metas = self.tantivy().searchable_segment_metas().ok()?;
        let mut stores = metas.iter().map(|meta| meta.relative_path(SegmentComponent::Store));
        let verify = |path: PathBuf| self.directory().verify_store(&path).err();
        let error = stores.find_map(verify)?;
        let corruption = error.get_ref().and_then(|cause| cause.downcast_ref::<Corruption>())?;
        Some(corruption.clone().into())
    }

    /// Merges the segments into at most `segments`, without the deleted documents, and removes the
    /// files that are no longer needed.
    ///
    /// Searches continue meanwhile; earlier snapshots stay whole.
    ///
    /// # Errors
    /// When another process is writing, or a segment is damaged; the index is then as it was.
    pub fn compact(&self, segments: usize) -> Result<Compaction> {
        let mut writer = self.writer(WriterOptions::default().merge(false))?;
        let done = writer.begin_compaction(segments, 0)?.wait()?;
        let collected = writer.tantivy_writer().garbage_collect_files().wait();
        collected.map_err(|e| self.error("compact", e))?;
        Ok(done)
    }
}

/// A compaction that runs in tantivy's threads while documents are added and committed.
pub struct Compacting {
    index: Index,
    merges: Vec<FutureResult<Option<SegmentMeta>>>,
    segments_before: usize,
    purged: u64,
}

impl std::fmt::Debug for Compacting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compacting").finish_non_exhaustive()
    }
}

impl Writer {
    /// Begins to merge the committed segments of at least `documents_min` documents into at most
    /// `segments`. Documents that are added meanwhile make segments of their own, which are merged
    /// in the background as usual.
    ///
    /// # Errors
    /// When the list of segments cannot be read.
    pub fn begin_compaction(&mut self, segments: usize, documents_min: u32) -> Result<Compacting> {
        let index = self.index().clone();
        let writer = self.tantivy_writer();
        let (groups, segments_before, purged) = {
            // Held no longer than this: files are collected only when their meta is not held.
            let metas = index.tantivy().searchable_segment_metas();
            let mut metas = metas.map_err(|e| index.error("compact", e))?;
            metas.retain(|meta| meta.num_docs() >= documents_min);
            let purged = metas.iter().map(|meta| u64::from(meta.num_deleted_docs())).sum();
            (groups(&metas, segments.max(1)), metas.len(), purged)
        };
        let merges = groups.iter().map(|group| writer.merge(group)).collect();
        Ok(Compacting { index, merges, segments_before, purged })
    }
}

impl Compacting {
    /// Waits for the end; any thread can call it.
    ///
    /// # Errors
    /// When a segment cannot be merged. [`Error::Conflict`] when segments disappeared
    /// meanwhile, by an earlier merge or because all their documents were replaced: begin again,
    /// preferably without the smallest ones.
    pub fn wait(self) -> Result<Compaction> {
        let Compacting { index, merges, segments_before, purged } = self;
        let (mut failure, mut outrun) = (None, false);
        for merge in merges {
            match merge.wait() {
                Ok(_) => {}
                Err(TantivyError::InvalidArgument(_)) => outrun = true,
                Err(error) => failure = failure.or(Some(index.error("compact", error))),
            }
        }
        if let Some(error) = failure {
            return Err(index.store_damage().unwrap_or(error));
        }
        if outrun {
            return Err(Error::conflict(
                ConflictKind::Merge,
                "another merge removed segments that were being merged; try again",
            ));
        }
        let left = index.tantivy().searchable_segment_ids();
        let segments_after = left.map_err(|e| index.error("compact", e))?.len();
        Ok(Compaction { segments_before, segments_after, purged })
    }
}

/// Chooses the segments to merge: into at most `count`, of like size; a segment that is alone in
/// its group and has no deleted documents is left unchanged.
fn groups(metas: &[SegmentMeta], count: usize) -> Vec<Vec<SegmentId>> {
    let mut by_size: Vec<&SegmentMeta> = metas.iter().collect();
    by_size.sort_by_key(|meta| (std::cmp::Reverse(meta.num_docs()), meta.id()));
    let count = count.min(metas.len()).max(1);
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
