//! Removes the bytes of removed documents from disk.
//!
//! A removed document is no longer found, but its segment keeps its bytes until the next merge. A
//! purge rewrites only the segments with removed documents.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tantivy::TantivyError;
use tantivy::index::{SegmentId, SegmentMeta};

use crate::error::{Error, Result};
use crate::index::Index;
use crate::index::Writer;
use crate::index::storage::directory::is_temporary;
use crate::reason::{ConflictKind, Reason};

/// The most attempts of a purge. Each attempt may lose a race against a merge in the background.
const PURGES_MAX: usize = 300;

/// The pause after a lost race, for the merge in the background to end.
const PAUSE: Duration = Duration::from_millis(200);

impl Writer {
    /// Rewrites each committed segment that has removed or replaced documents without them, and
    /// removes the old files. Returns the number of purged documents. No file of the directory
    /// contains the bytes of a purged document afterwards.
    ///
    /// Readers with open files keep the old content until they close the files.
    ///
    /// # Errors
    /// When a segment cannot be merged, or a file cannot be removed.
    pub fn purge(&mut self) -> Result<u64> {
        let (index, mut purged) = (self.index().clone(), 0);
        for _ in 0..PURGES_MAX {
            let segments = {
                let metas = index.tantivy().searchable_segment_metas();
                let metas = metas.map_err(|e| index.error("compact", e))?;
                let with_deletes = metas.iter().filter(|meta| meta.has_deletes());
                purged +=
                    with_deletes.clone().map(|m| u64::from(m.num_deleted_docs())).sum::<u64>();
                with_deletes.map(SegmentMeta::id).collect::<Vec<SegmentId>>()
            };
            if segments.is_empty() {
                self.reopen()?;
                let collected = self.tantivy_writer().garbage_collect_files().wait();
                let collected = collected.map_err(|e| index.error("compact", e))?;
                if index.is_collected(&collected.failed_to_delete_files)? {
                    return Ok(purged);
                }
                std::thread::sleep(PAUSE);
                continue;
            }
            let writer = self.tantivy_writer();
            let merges: Vec<_> = segments.iter().map(|&segment| writer.merge(&[segment])).collect();
            for merge in merges {
                match merge.wait() {
                    Ok(_) => {}
                    // Another merge has taken the segment. Look for its successor.
                    Err(TantivyError::InvalidArgument(_)) => {
                        purged = 0;
                        std::thread::sleep(PAUSE);
                    }
                    Err(error) => {
                        let error = index.error("compact", error);
                        return Err(index.store_damage().unwrap_or(error));
                    }
                }
            }
        }
        let what = "merges in the background, or other processes, made files again and again in \
                    its directory; try again";
        Err(Error::conflict(ConflictKind::Merge, what))
    }
}

impl Index {
    /// Returns whether a segment of the last commit has removed or replaced documents.
    ///
    /// # Errors
    /// When the list of segments cannot be read.
    pub fn has_removed_documents(&self) -> Result<bool> {
        let metas = self.tantivy().searchable_segment_metas();
        let metas = metas.map_err(|e| self.error("read", e))?;
        Ok(metas.iter().any(SegmentMeta::has_deletes))
    }

    /// Returns whether every file that may have documents is listed. A merge in the background has
    /// unlisted files until the end. A process that replaces a small file has an unlisted file for
    /// a moment, such as a push writing its manifest.
    ///
    /// # Errors
    /// When an unlisted file could not be removed, or is not tantivy's.
    fn is_collected(&self, failed: &[PathBuf]) -> Result<bool> {
        let Some(root) = self.directory().root() else { return Ok(true) };
        let names = self.directory().files_with_documents();
        let names = names.map_err(|e| Error::io("read", root, e))?;
        // Read the managed files first: a merge that ends in between is then in the list.
        let managed = self.tantivy().directory().list_managed_files();
        let listed = self.directory().listed();
        let mut is_collected = true;
        for name in names.into_iter().filter(|name| !listed.contains_key(name)) {
            let path = Path::new(&name);
            let is_of_merge = managed.contains(path) && !failed.iter().any(|other| other == path);
            let may_end = is_of_merge || is_temporary(&name);
            is_collected &= !(may_end && root.join(path).exists());
            if !may_end && root.join(path).exists() {
                let what = format!(
                    "the file `{name}`, which is of no commit or of an earlier one, could not be \
                     removed, and may have documents that were removed from the index; delete it"
                );
                return Err(Error::index(self.path(), Reason::Unsuitable, what));
            }
        }
        Ok(is_collected)
    }
}
