//! The manifest that an index was made from.
//!
//! A small file beside the list of segments records the manifest that the index was last pulled
//! from or pushed as, and its store. Number and id identify the manifest, even if the store is
//! moved or copied. A digest of the list shows whether the index has changed since. Before a push
//! puts a manifest, a second file records that manifest. If the push is then cut off, the next push
//! finds out whether the manifest was put, even if the index has changed meanwhile. Pushes and
//! pulls of the same directory take turns, so that none overwrites files that another has just
//! written.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::manifest::{Manifest, PartDigest};
use crate::store::Store;
use cento::Stop;
use cento::index::FileList;
use cento::runtime::replace;
use cento::{Error, Result};

/// Hidden, because the file belongs to the directory but not to the index.
const FILE: &str = ".remote.json";
/// The hidden file for the manifest that a push is about to put.
const NEXT: &str = ".remote.next.json";
const LOCK: &str = ".remote.lock";

/// The time between two attempts at a lock while a second process holds the lock.
const PATIENCE: Duration = Duration::from_millis(50);

/// The lock for pushing or pulling the index in a directory, until it is dropped.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "it is locked until it is dropped")] File);

impl Turn {
    /// Waits until no other process pushes the index in `dir` or pulls into it.
    ///
    /// # Errors
    /// When the lock cannot be taken. [`Error::Cancelled`] soon after `stop` is set.
    pub fn wait(dir: &Path, stop: &Stop) -> Result<Turn> {
        let path = dir.join(LOCK);
        let failed = |e| Error::io("lock", &path, e);
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(failed)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Turn(file)),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if stop.is_set() => {
                    return Err(Error::Cancelled);
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(PATIENCE),
            }
        }
    }
}

/// The content of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    url: String,
    manifest: u64,
    id: PartDigest,
    list: PartDigest,
}

impl Origin {
    /// Returns the origin of an index that equals this manifest of the store at `url`.
    pub fn of(url: &str, manifest: &Manifest) -> Origin {
        Origin {
            url: url.to_owned(),
            manifest: manifest.number,
            id: manifest.id,
            list: PartDigest::of(manifest.list.as_bytes()),
        }
    }

    /// Returns the origin of an index before its first push into the store at `url`, whose manifest
    /// is not known yet.
    pub fn first(url: &str, list: &FileList) -> Origin {
        let (url, id) = (url.to_owned(), PartDigest::of(&[]));
        Origin { url, manifest: 1, id, list: PartDigest::of(list.as_bytes()) }
    }

    /// Returns whether a first push of the index in `dir` into the store at `url` was cut off.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn has_begun(dir: &Path, url: &str) -> Result<bool> {
        let next = Origin::read_from(&dir.join(NEXT))?;
        Ok(next.is_some_and(|next| next.number_at(url) == Some(1)))
    }

    /// Returns the origin of the index in `dir`, or `None` if the index came from no store.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(dir: &Path) -> Result<Option<Origin>> {
        Origin::read_from(&dir.join(FILE))
    }

    fn read_from(path: &Path) -> Result<Option<Origin>> {
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|e| Error::io("read", path, e))?,
        };
        // A damaged file counts as missing: a push or pull then refuses to guess.
        Ok(serde_json::from_slice(&bytes).ok())
    }

    /// Settles a push that was cut off, and returns the origin of the index in `dir`: if the
    /// manifest of that push is in the store, the index was made from it.
    ///
    /// # Errors
    /// When a file cannot be read or written, or the store cannot be read.
    pub async fn settled(dir: &Path, store: &Store) -> Result<Option<Origin>> {
        if let Some(next) = Origin::read_from(&dir.join(NEXT))? {
            match store.manifest_if_there(next.manifest).await {
                Ok(Some(manifest)) if next.is(&manifest) => next.write(dir)?,
                // It is unknown who owns the manifest, so the index counts as made from the
                // previous manifest.
                Ok(_) | Err(Error::Corrupt(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Origin::read(dir)
    }

    /// Writes the origin into `dir`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, dir: &Path) -> Result<()> {
        self.write_to(&dir.join(FILE))?;
        Origin::forget_next(dir)
    }

    /// Records in `dir` the origin that the index is about to get.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_next(&self, dir: &Path) -> Result<()> {
        self.write_to(&dir.join(NEXT))
    }

    fn write_to(&self, path: &Path) -> Result<()> {
        let bytes = serde_json::to_vec(self).expect("an origin is JSON");
        replace::file(path, &bytes).map_err(|e| Error::io("write", path, e))
    }

    /// Removes the record of the manifest that a push was about to put, because the index in `dir`
    /// is replaced.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn forget_next(dir: &Path) -> Result<()> {
        let path = dir.join(NEXT);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(|e| Error::io("remove", &path, e)),
        }
    }

    /// Returns the number of the manifest, if the store at `url` had it.
    pub fn number_at(&self, url: &str) -> Option<u64> {
        (self.url == url).then_some(self.manifest)
    }

    /// Returns the number of the manifest, if this store has it, even at a new address, or if the
    /// store at this address had it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn number_in(&self, store: &Store) -> Result<Option<u64>> {
        match store.manifest_if_there(self.manifest).await {
            Ok(Some(manifest)) if self.is(&manifest) => Ok(Some(self.manifest)),
            Ok(_) | Err(Error::Corrupt(_)) => Ok(self.number_at(store.url())),
            Err(error) => Err(error),
        }
    }

    /// Returns whether this manifest is the origin, in its store or in a copy of the store.
    pub fn is(&self, manifest: &Manifest) -> bool {
        self.manifest == manifest.number && self.id == manifest.id
    }

    /// Returns whether the index is unchanged since it was pulled or pushed.
    pub fn is_unchanged(&self, list: &[u8]) -> bool {
        self.list == PartDigest::of(list)
    }
}
