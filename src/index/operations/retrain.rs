//! A new frequency table for a collection that has changed.
//!
//! Every signature of an index depends on the same table, so a new table requires a new index. The
//! new index is built beside the old one from the stored texts, and both are swapped atomically.
//! Opening the directory always finds a whole index. Open handles keep reading the old index, and
//! get an error about the replacement when they write or refresh. The old index is deleted after
//! the swap is durable. A crash leaves a hidden directory, which the next attempt removes.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use tantivy::Directory;
use tantivy::directory::INDEX_WRITER_LOCK;

use super::own_files;
use crate::error::{Error, Result};
use crate::index::Config;
use crate::index::Document;
use crate::index::IdSource;
use crate::index::Index;
use crate::index::SignedDocument;
use crate::index::Training;
use crate::index::WriterOptions;
use crate::index::change_log;
use crate::reason::Reason;
use crate::runtime::Stop;
use crate::scheme::Table;

/// The name of the file with the table while the new index is being built.
const TABLE: &str = "table";

impl Index {
    /// Computes a new frequency table from the stored documents, signs every document again, and
    /// replaces the index. Returns the new index. Open readers keep the old index, whose files take
    /// space until the readers close. Other writers are excluded meanwhile.
    ///
    /// # Errors
    /// When the scheme uses no table, the index stores no text, another process is writing, or the
    /// disk has no space for both. The index is unchanged then. When the system cannot make the
    /// swap durable, a power cut may bring either index back.
    pub fn retrain(&self) -> Result<Index> {
        let config = self.config();
        let refused = |reason, what: &str| Err(Error::index(self.path(), reason, what));
        let Some(table) = &config.frequencies else {
            let what = "its scheme uses no frequency table, so there is nothing to retrain";
            return refused(Reason::Unsuitable, what);
        };
        if !config.store_text {
            let what = "the index stores no text to count and fingerprint again";
            return refused(Reason::NoTexts, what);
        }
        if !self.withdrawals()?.is_empty() {
            let what = "it refuses documents that were withdrawn from it by their signatures, \
                        which cannot be made again without their texts; keep the table, or lift \
                        the withdrawals first, and add and withdraw each document again after it";
            return refused(Reason::Unsuitable, what);
        }
        let _lock = self.lock_wait().retry(|| {
            let lock = self.tantivy().directory().acquire_lock(&INDEX_WRITER_LOCK);
            lock.map_err(|e| self.error("write to", e.into()))
        })?;
        self.check_same()?;
        let path = self.path().canonicalize().map_err(|e| Error::io("find", self.path(), e))?;
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return refused(Reason::Unsuitable, "it is the root of a file system");
        };
        own_files::check_all_own(&path)?;
        let beside = parent.join(format!(".{}.retrain", name.to_string_lossy()));
        if beside.exists() {
            // The process that swapped them may have been killed before the swap was durable.
            settle(parent, &beside)?;
            remove(&beside)?;
        }
        create_private(&beside).map_err(|e| Error::io("create", &beside, e))?;
        let replaced = self.sign_again(table.header().q, &beside).and_then(|new| {
            let carried = change_log::carry(&path, &new);
            let replaced = carried.and_then(|()| adopt(&path, &new));
            let replaced = replaced.and_then(|()| exchange(&new, &path));
            replaced.map_err(|e| Error::io("replace", &path, e))
        });
        // The directory beside now has the old index, or a new one that could not be swapped in.
        let settled = settle(parent, &beside);
        if settled.is_ok()
            && let Err(error) = remove(&beside)
        {
            log::warn!("{error}");
        }
        replaced?;
        settled?;
        Ok(Index::open(path)?.with_lock_wait(self.lock_wait().clone()))
    }

    /// Builds the new index in the directory `beside`, and returns its path.
    fn sign_again(&self, q: usize, beside: &Path) -> Result<std::path::PathBuf> {
        let config = self.config();
        let training = Training {
            analyzer: config.analyzer.clone(),
            q,
            spex: config.scheme.family().table().is_some_and(Table::is_of_repeated),
        };
        let table = training.write_of(self, &beside.join(TABLE))?;
        let (scheme, analyzer) = (config.scheme.to_string(), config.analyzer.to_string());
        let new = Config::with_frequencies(&scheme, &analyzer, true, Some(Arc::new(table)))?;
        let Config { max_df, store_signatures, records_novelty, preset, .. } = *config;
        let new = new.with_preset(preset);
        let new = Config { max_df, store_signatures, records_novelty, ..new };
        let path = beside.join("index");
        let index = Index::create(&path, new)?;
        let mut writer = index.writer(WriterOptions::default())?;
        let snapshot = self.snapshot()?;
        for address in snapshot.live() {
            let stored = snapshot.document(address)?;
            let text = stored.text.unwrap_or_default();
            let segment = snapshot.segment(address);
            let id_source = IdSource::at(segment.place(address.doc)?);
            let document = Document::new(stored.id, text).with_parts(stored.parts);
            let document = document.with_meta(stored.meta);
            let signed = SignedDocument::new(
                document.with_id_source(id_source),
                index.config(),
                Stop::NEVER,
            )?;
            writer.add_as_of(signed, segment.added(address.doc)?)?;
        }
        writer.finish()?;
        Ok(path)
    }
}

/// Makes a swap of `beside` with a directory in `parent` durable. Without the sync, a power cut
/// after the removal could leave the old index in its place without its files.
fn settle(parent: &Path, beside: &Path) -> Result<()> {
    for dir in [parent, beside] {
        let synced = File::open(dir).and_then(|dir| dir.sync_all());
        synced.map_err(|e| Error::io("sync", dir, e))?;
    }
    Ok(())
}

fn remove(dir: &Path) -> Result<()> {
    std::fs::remove_dir_all(dir).map_err(|e| Error::io("remove", dir, e))
}

/// Creates a directory that other users cannot read, because the texts may be private.
#[cfg(unix)]
fn create_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create_private(path: &Path) -> std::io::Result<()> {
    std::fs::create_dir(path)
}

/// Gives the directory `new` the permissions of `old`, and gives its files the owner of `old`.
fn adopt(old: &Path, new: &Path) -> std::io::Result<()> {
    let found = std::fs::metadata(old)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, chown};
        let made = std::fs::metadata(new)?;
        if (made.uid(), made.gid()) != (found.uid(), found.gid()) {
            for entry in std::fs::read_dir(new)? {
                chown(entry?.path(), Some(found.uid()), Some(found.gid()))?;
            }
            chown(new, Some(found.uid()), Some(found.gid()))?;
        }
    }
    std::fs::set_permissions(new, found.permissions())
}

/// Swaps two directories atomically.
#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

/// Swaps two directories in three steps. A crash in between leaves both under other names.
#[cfg(not(target_os = "linux"))]
fn exchange(a: &Path, b: &Path) -> std::io::Result<()> {
    let aside = a.with_extension("old");
    std::fs::rename(b, &aside)?;
    std::fs::rename(a, b).inspect_err(|_| drop(std::fs::rename(&aside, b)))
}
