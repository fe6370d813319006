//! Compaction: merges small segments and drops deleted documents.

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
    /// Returns the damage of a document store of the last commit, if any. tantivy fails to merge
    /// such a store without saying why.
    pub(super) fn store_damage(&self) -> Option<Error> {
        let metas = self.tantivy().searchable_segment_metas().ok()?;
        let mut stores = metas.iter().map(|meta| meta.relative_path(SegmentComponent::Store));
        let verify = |path: PathBuf| self.directory().verify_store(&path).err();
        let error = stores.find_map(verify)?;
        let corruption = error.get_ref().and_then(|cause| cause.downcast_ref::<Corruption>())?;
        Some(corruption.clone().in_directory(self.path()).into())
    }

    /// Merges the segments into at most `segments`, drops the deleted documents, and removes files
    /// that are no longer needed.
    ///
    /// Searches continue meanwhile, and earlier snapshots stay intact.
    ///
    /// ```
    /// # use cento::{Config, Document, Index, WriterOptions};
    /// # let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// # let mut writer = index.writer(WriterOptions::default())?;
    /// # let poem = "A lighthouse was a fire behind a window and half of the light went up";
    /// # writer.add(Document::new("poem", poem))?;
    /// # writer.add(Document::new("copy", format!("{poem} the chimney")))?;
    /// # writer.commit()?;
    /// // The second commit makes a second segment, and the removed document still takes space.
    /// writer.add(Document::new("late", "a text that was added later"))?;
    /// writer.remove("copy")?;
    /// writer.finish()?;
    /// assert_eq!(index.compact(1)?.segments_after, 1);
    /// assert_eq!(index.snapshot()?.stats()?.deleted, 0);
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// When another process is writing, or a segment is damaged. The index is unchanged then.
    pub fn compact(&self, segments: usize) -> Result<Compaction> {
        let mut writer = self.writer(WriterOptions::default().merge(false))?;
        let done = writer.begin_compaction(segments, 0)?.wait()?;
        let collected = writer.tantivy_writer().garbage_collect_files().wait();
        collected.map_err(|e| self.error("compact", e))?;
        Ok(done)
    }
}

/// A running compaction in tantivy's threads. Adding documents and committing can continue.
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
    /// Starts merging the committed segments of at least `documents_min` documents into at most
    /// `segments`. Documents added meanwhile go to new segments, merged in the background as usual.
    ///
    /// # Errors
    /// When the list of segments cannot be read.
    pub fn begin_compaction(&mut self, segments: usize, documents_min: u32) -> Result<Compacting> {
        let index = self.index().clone();
        let writer = self.tantivy_writer();
        let (groups, segments_before, purged) = {
            // Drop the metas at the end of this block, because tantivy does not collect files whose
            // metas are in use.
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
    /// Waits until the merges have ended. May be called on any thread.
    ///
    /// # Errors
    /// When a segment cannot be merged. [`Error::Conflict`] when segments disappeared meanwhile,
    /// through an earlier merge or because every document in them was replaced: start again,
    /// preferably without the smallest segments.
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

/// Distributes the segments over at most `count` groups of similar size, each to be merged. A
/// segment alone in its group and without deleted documents stays unchanged.
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
