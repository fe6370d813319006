//! A note of merged shards that are being removed.
//!
//! Moved shards are removed after the commit, file by file and shard by shard. Before the first
//! file is removed, a note in the index lists the shards. When a repeated merge finds a shard
//! without a list of segments, or no directory at all, it consults the note: a shard in the note
//! has been merged, so its remaining files may be removed. If the list of a shard differs from the
//! note, the shard was created anew in the same place, and is merged like any other.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tantivy::Directory;
use tantivy::directory::{DirectoryLock, INDEX_WRITER_LOCK};

use super::own_files::{MOVING, is_own};
use crate::error::{Error, Result};
use crate::hash::hash_bytes;
use crate::index::Index;
use crate::index::storage::mmap_directory;
use crate::index::storage::seal::META;
use crate::index::storage::store_error;
use crate::runtime::replace;
use crate::runtime::{Faults, Point};

/// The content of the note.
#[derive(Debug, Default, Serialize, Deserialize)]
struct MoveNote {
    shards: Vec<NotedShard>,
}

#[derive(Debug, Serialize, Deserialize)]
struct NotedShard {
    /// The bytes of the path, which need not be Unicode.
    path: Vec<u8>,
    /// The hash of the list of segments.
    list: u64,
}

/// The shards being removed: bytes of the path, and hash of the list of segments.
#[derive(Debug)]
pub struct Moving {
    /// The path of the note, or `None` for an index in memory.
    path: Option<PathBuf>,
    shards: BTreeMap<Vec<u8>, u64>,
}

impl Moving {
    /// Durably records that these shards have been merged and are about to be removed.
    ///
    /// # Errors
    /// When a list of segments cannot be read, or the note cannot be written.
    pub fn begin<'a>(index: &Index, shards: impl Iterator<Item = &'a Path>) -> Result<Moving> {
        let path = index.directory().root().map(|root| root.join(MOVING));
        let mut moving = Moving { shards: BTreeMap::new(), path };
        if let Some(path) = &moving.path {
            moving.shards = read(path)?;
        }
        for shard in shards {
            let list = shard.join(META);
            let bytes = fs::read(&list).map_err(|e| Error::io("read", &list, e))?;
            moving.shards.insert(key(shard)?, hash_bytes(&bytes));
        }
        moving.write()?;
        Ok(moving)
    }

    /// Records that this shard has been removed.
    pub fn ended(&mut self, shard: &Path) {
        // The path resolves as long as the parent directory of the shard exists.
        if let Ok(key) = key(shard) {
            self.shards.remove(&key);
        }
    }

    /// Updates the note with the remaining shards, or removes the note if no shard remains.
    ///
    /// # Errors
    /// When the note cannot be written or removed.
    pub fn end(self) -> Result<()> {
        match &self.path {
            Some(path) if self.shards.is_empty() => match fs::remove_file(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                removed => removed.map_err(|e| Error::io("remove", path, e)),
            },
            _ => self.write(),
        }
    }

    fn write(&self) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let noted = self.shards.iter().map(|(path, &list)| NotedShard { path: path.clone(), list });
        let bytes =
            serde_json::to_vec(&MoveNote { shards: noted.collect() }).expect("a note is JSON");
        replace::file(path, &bytes).map_err(|e| Error::io("write", path, e))
    }
}

fn read(path: &Path) -> Result<BTreeMap<Vec<u8>, u64>> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        read => read.map_err(|e| Error::io("read", path, e))?,
    };
    // A damaged note counts as missing: shards that have disappeared are then refused.
    let note: MoveNote = serde_json::from_slice(&bytes).unwrap_or_default();
    Ok(note.shards.into_iter().map(|noted| (noted.path, noted.list)).collect())
}

/// Returns the bytes of the absolute path of a shard, which may have been removed.
fn key(shard: &Path) -> Result<Vec<u8>> {
    let failed = |e| Error::io("find", shard, e);
    let absolute = std::path::absolute(shard).map_err(failed)?;
    let real = match (absolute.canonicalize(), absolute.parent(), absolute.file_name()) {
        (Err(error), Some(parent), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
            // Without the parent directory there is no shard, and no entry in the note.
            parent.canonicalize().map_or(absolute.clone(), |parent| parent.join(name))
        }
        (real, _, _) => real.map_err(failed)?,
    };
    Ok(real.into_os_string().into_encoded_bytes())
}

/// Finishes removals that an earlier run into the index at `path` has begun, and drops the affected
/// entries from `shards`. Returns their number.
///
/// # Errors
/// [`Error::Locked`] when a process writes to such a shard. When a file cannot be read or removed.
pub fn finish(path: &Path, shards: &mut Vec<&Path>) -> Result<usize> {
    let note = path.join(MOVING);
    let noted = read(&note)?;
    if noted.is_empty() {
        return Ok(0);
    }
    let mut moving = Moving { path: Some(note), shards: noted };
    let before = shards.len();
    let mut left = Vec::new();
    for &shard in shards.iter() {
        let key = key(shard)?;
        let list = moving.shards.get(&key).copied();
        if list.is_some_and(|list| is_same(shard, list)) {
            if shard.is_dir() {
                let directory = mmap_directory(shard)?;
                let lock = directory.acquire_lock(&INDEX_WRITER_LOCK);
                let lock = lock.map_err(|e| store_error("write to", shard, e.into()))?;
                remove(shard, Some(lock), &Faults::default())?;
            }
            moving.shards.remove(&key);
        } else {
            left.push(shard);
        }
    }
    *shards = left;
    let finished = before - shards.len();
    if finished > 0 {
        moving.end()?;
    }
    Ok(finished)
}

/// Returns whether the list of segments of the shard is missing or has this hash.
fn is_same(shard: &Path, list: u64) -> bool {
    match fs::read(shard.join(META)) {
        Ok(bytes) => hash_bytes(&bytes) == list,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Removes the directory of a completely adopted shard. The list of segments is removed last,
/// because a process that finds no list may take the directory for an empty one.
pub fn remove(shard: &Path, lock: Option<DirectoryLock>, faults: &Faults) -> Result<()> {
    let path = shard.canonicalize().map_err(|e| Error::io("find", shard, e))?;
    let failed = |e| Error::io("remove", &path, e);
    let remove = |name: &OsStr| {
        faults.at(Point::RemoveOfShard, &name.to_string_lossy()).map_err(failed)?;
        match fs::remove_file(path.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(failed),
        }
    };
    for entry in fs::read_dir(&path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let shown = name.to_string_lossy();
        // Keep lock files for now: a removed lock file no longer locks.
        let is_first = is_own(&shown) && shown != META && !shown.ends_with(".lock");
        if is_first && entry.file_type().map_err(failed)?.is_file() {
            remove(&name)?;
        }
    }
    remove(META.as_ref())?;
    drop(lock);
    // Only lock files remain. A process that arrives now creates a new index and loses nothing.
    for entry in fs::read_dir(&path).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let shown = name.to_string_lossy();
        if is_own(&shown) && shown.ends_with(".lock") {
            remove(&name)?;
        }
    }
    faults.at(Point::RemoveOfShard, "").map_err(failed)?;
    match fs::remove_dir(&path) {
        // The remaining files do not belong to the shard.
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => removed.map_err(failed),
    }
}
