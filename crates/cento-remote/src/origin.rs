//! The manifest that an index was made from.
//!
//! A small file beside the list of segments names the manifest, and its store, that the index was
//! pulled as, or pushed as last. Number and id identify the manifest, wherever its store has been
//! moved or copied to. A digest of the list shows whether it has changed since. Before a push puts
//! a manifest, a second file names that manifest: if the push is cut off then, the next one finds
//! out whether the manifest was put, though the index has changed meanwhile. Pushes and pulls of
//! one directory take turns, so that none of them overwrites files that another one has just
//! written here.

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

/// Hidden, like other files that belong to a directory and are not part of the index.
const FILE: &str = ".remote.json";
/// The hidden file for the manifest that a push is about to put.
const NEXT: &str = ".remote.next.json";
const LOCK: &str = ".remote.lock";

/// The time between two attempts at a lock that another process holds.
const PATIENCE: Duration = Duration::from_millis(50);

/// The lock of the only push or pull of an index in a directory, held as long as it lives.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "it is locked until it is dropped")] File);

impl Turn {
    /// Waits until no other process pushes the index in `dir` or pulls into it.
    ///
    /// # Errors
    /// When the lock cannot be taken; [`Error::Cancelled`] soon after `stop` has been set.
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
    /// Returns the origin of an index which is this manifest of the store at `url`.
    pub fn of(url: &str, manifest: &Manifest) -> Origin {
        Origin {
            url: url.to_owned(),
            manifest: manifest.number,
            id: manifest.id,
            list: PartDigest::of(manifest.list.as_bytes()),
        }
    }

    /// Returns what an index becomes with the first push into the store at `url`, before its
    /// manifest is known.
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

    /// Returns the origin of the index in `dir`; `None` if it came from no store.
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

    /// Returns the origin of the index in `dir` after settling a push that was cut off: if its
    /// manifest is in the store, the index was made from that.
    ///
    /// # Errors
    /// When a file cannot be read or written, or the store cannot be read.
    pub async fn settled(dir: &Path, store: &Store) -> Result<Option<Origin>> {
        if let Some(next) = Origin::read_from(&dir.join(NEXT))? {
            match store.manifest_if_there(next.manifest).await {
                Ok(Some(manifest)) if next.is(&manifest) => next.write(dir)?,
                // The owner of the manifest is unknown: the index counts as made from the manifest
                // before.
                Ok(_) | Err(Error::Corrupt(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Origin::read(dir)
    }

    /// Writes it into `dir`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, dir: &Path) -> Result<()> {
        self.write_to(&dir.join(FILE))?;
        Origin::forget_next(dir)
    }

    /// Writes into `dir` that the index there is about to become this.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_next(&self, dir: &Path) -> Result<()> {
        self.write_to(&dir.join(NEXT))
    }

    fn write_to(&self, path: &Path) -> Result<()> {
        let bytes = serde_json::to_vec(self).expect("an origin is JSON");
        replace::file(path, &bytes).map_err(|e| Error::io("write", path, e))
    }

    /// Removes the record of the manifest that a push was about to put, because the index in `dir`
    /// becomes another one.
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

    /// Returns the number of the manifest, if this store has it, wherever the store was, or the
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

    /// Returns whether the origin is this manifest, in its store or in a copy of that.
    pub fn is(&self, manifest: &Manifest) -> bool {
        self.manifest == manifest.number && self.id == manifest.id
    }

    /// Returns whether the index is as it was pulled or pushed.
    pub fn is_unchanged(&self, list: &[u8]) -> bool {
        self.list == PartDigest::of(list)
    }
}
