//! What if the collection is no longer the one that the frequency table was made of?
//!
//! All signatures of an index are made with one table, so a new table means a new index. It is made
//! beside the old one, from the stored texts, and then changes places with it at once: whoever opens
//! the directory finds one of them, whole. The old one goes last. A crash leaves a hidden directory,
//! which the next attempt takes away.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use tantivy::Directory;
use tantivy::directory::INDEX_WRITER_LOCK;

use super::pipeline::Signed;
use super::{Config, DocAddress, Index, Training, WriterOptions, train};
use crate::error::{Error, Result};
use crate::source::{Document, SourceOptions};

/// The name of the table while the new index is being made.
const TABLE: &str = "table";

impl Index {
    /// Makes a new frequency table of the stored documents and signs them all again, in place of
    /// the index; gives the new one. Readers that are open keep the old one, which takes its space
    /// until they close; nobody can write meanwhile.
    ///
    /// # Errors
    /// When the scheme reads no table, the index keeps no texts, another process writes, or there is
    /// not the space for both. The index is then as it was.
    pub fn retrain(&self) -> Result<Index> {
        let config = self.config();
        let refused = |what: &str| Err(Error::index(self.path(), what));
        let Some(table) = &config.frequencies else {
            return refused("its scheme reads no frequency table, so there is none to be made");
        };
        if !config.store_text {
            return refused("it keeps no texts to be counted and signed again");
        }
        let lock = self.tantivy().directory().acquire_lock(&INDEX_WRITER_LOCK);
        let _lock = lock.map_err(|e| self.error("write to", e.into()))?;
        let path = self.path().canonicalize().map_err(|e| Error::io("find", self.path(), e))?;
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return refused("it is the root of a file system");
        };
        let beside = parent.join(format!(".{}.retrain", name.to_string_lossy()));
        remove(&beside)?;
        std::fs::create_dir(&beside).map_err(|e| Error::io("create", &beside, e))?;
        let made = self.sign_again(table.header().q, &beside);
        let new = made.inspect_err(|_| drop(remove(&beside)))?;
        let permissions = std::fs::metadata(&path).map(|old| old.permissions());
        permissions
            .and_then(|permissions| std::fs::set_permissions(&new, permissions))
            .and_then(|()| exchange(&new, &path))
            .and_then(|()| File::open(parent)?.sync_all())
            .map_err(|e| Error::io("replace", &path, e))?;
        remove(&beside)?;
        Index::open(self.path())
    }

    /// Makes the new index in the directory `beside`; gives its path.
    fn sign_again(&self, q: usize, beside: &Path) -> Result<std::path::PathBuf> {
        let config = self.config();
        let training = Training {
            analyzer: config.analyzer.clone(),
            q,
            spex: false,
            source: SourceOptions::default(),
        };
        let input = [self.path().to_owned()];
        let table = train(&input, &training, &beside.join(TABLE), &mut |_| {})?;
        let (scheme, analyzer) = (config.scheme.to_string(), config.analyzer.to_string());
        let new = Config::with_frequencies(&scheme, &analyzer, true, Some(Arc::new(table)))?
            .with_max_df(config.max_df);
        let path = beside.join("index");
        let index = Index::create(&path, new)?;
        let mut writer = index.writer(WriterOptions::default())?;
        let snapshot = self.snapshot()?;
        for (segment, view) in (0u32..).zip(snapshot.segments()) {
            let documents = 0..view.signatures.header().documents;
            for doc in documents.filter(|&doc| view.is_alive(doc)) {
                let stored = snapshot.document(DocAddress { segment, doc })?;
                let text = stored.text.unwrap_or_default();
                let document = Document::new(stored.id, text, stored.meta);
                let signed = Signed::new(document, index.config())?;
                writer.add_as_of(signed, view.added(doc))?;
            }
        }
        writer.finish()?;
        Ok(path)
    }
}

fn remove(dir: &Path) -> Result<()> {
    match std::fs::remove_dir_all(dir) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", dir, e)),
        _ => Ok(()),
    }
}

/// Lets two directories change places.
#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

/// Lets two directories change places; a crash at the wrong moment leaves `b` beside its place.
#[cfg(not(target_os = "linux"))]
fn exchange(a: &Path, b: &Path) -> std::io::Result<()> {
    let aside = a.with_extension("old");
    std::fs::rename(b, &aside)?;
    std::fs::rename(a, b)
}
