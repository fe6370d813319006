//! The local copy of a follower.
//!
//! A mirror is a directory with a copy of the served manifest, under its number, and for a moment
//! also the next manifest. Common files are links, so that only new files are fetched and take
//! space. A copy never changes, so its open files remain valid.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::origin::Origin;
use crate::pull::PullOptions;
use crate::{Remote, Watch};
use cento::{Error, Index, Reason, Result};

/// The file that marks a mirror, and is locked.
const LOCK: &str = ".mirror.lock";

/// A directory of copies of manifests, for a single process.
#[derive(Debug)]
pub struct Mirror {
    remote: Remote,
    dir: PathBuf,
    bytes_max: u64,
    known: Mutex<StoreState>,
    _lock: File,
}

/// The state of the served copy in the store, as of the last check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct StoreState {
    /// The number of the manifest and the time of its creation, by the clock of the store.
    manifest: Option<(u64, i64)>,
    /// Whether the store has a different manifest with this number, or never had one.
    is_foreign: bool,
}

impl Mirror {
    /// Takes the directory `dir`, which is created if needed, for copies of the manifests in
    /// `remote`. The files take at most `bytes_max` bytes.
    ///
    /// # Errors
    /// [`Error::Locked`] when another process has the directory. Also when it contains anything
    /// else.
    pub fn begin(remote: Remote, dir: &Path, bytes_max: u64) -> Result<Mirror> {
        std::fs::create_dir_all(dir).map_err(|e| Error::io("create", dir, e))?;
        let entries = std::fs::read_dir(dir).map_err(|e| Error::io("read", dir, e))?;
        for entry in entries {
            let name = entry.map_err(|e| Error::io("read", dir, e))?.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') {
                continue;
            }
            if number_of(&name).is_none() {
                let what = format!(
                    "`{name}` is no copy of a manifest; give the follower a directory of its own"
                );
                return Err(Error::index(dir, Reason::NotEmpty, what));
            }
            let origin = Origin::read(&dir.join(name.as_ref()))?;
            if origin.is_some_and(|origin| origin.number_at(remote.url()).is_none()) {
                let what =
                    "it has copies from another store; give the follower a directory of its own";
                return Err(Error::index(dir, Reason::Unsuitable, what));
            }
        }
        let path = dir.join(LOCK);
        let failed = |e| Error::io("lock", &path, e);
        let lock = File::create(&path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Mirror {
                remote,
                dir: dir.to_owned(),
                bytes_max,
                known: Mutex::default(),
                _lock: lock,
            }),
            Err(TryLockError::WouldBlock) => Err(Error::Locked { path: dir.to_owned() }),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Returns the store that the mirror copies.
    #[must_use]
    pub fn remote(&self) -> &Remote {
        &self.remote
    }

    /// Returns the local directory of the copy.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the number of the store's current manifest, 0 without one, and whether the manifest
    /// `served` belongs to a different history, because the store was emptied or started again. If
    /// a retention has removed `served`, the history is unknown, and the previous answer is
    /// repeated.
    ///
    /// # Errors
    /// When the store or the copy cannot be read.
    pub fn newest(&self, served: Option<u64>) -> Result<(u64, bool)> {
        let store = &self.remote.store;
        let manifests = store.block(store.dated_manifests())?;
        let newest = manifests.last().map_or(0, |&(number, _)| number);
        let Some(served) = served else { return Ok((newest, false)) };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let dated = manifests.into_iter().find(|&(number, _)| number == served);
        if newest < served {
            *known = StoreState { manifest: None, is_foreign: true };
        } else if dated.is_some() && known.manifest != dated {
            let manifest = match store.block(store.manifest_if_there(served)) {
                // A damaged manifest is no evidence of the history, and a later manifest may be
                // valid.
                Err(Error::Corrupt(_)) => None,
                manifest => manifest?,
            };
            let origin = Origin::read(&self.path(served))?;
            let is_foreign = match (&manifest, origin) {
                (Some(manifest), Some(origin)) => !origin.is(manifest),
                _ => known.is_foreign,
            };
            *known = StoreState { manifest: dated, is_foreign };
        }
        Ok((newest, known.is_foreign))
    }

    /// Returns the newest complete copy, with its manifest's number.
    #[must_use]
    pub fn present(&self) -> Option<(u64, PathBuf)> {
        let entries = std::fs::read_dir(&self.dir).ok()?;
        let numbers = entries.flatten().filter_map(|entry| {
            let number = number_of(&entry.file_name().to_string_lossy())?;
            Some((number, entry.path()))
        });
        numbers.filter(|(_, path)| Index::exists(path)).max()
    }

    /// Fetches a manifest, unless the copy is complete already. Files in the copy of `beside` are
    /// linked.
    ///
    /// # Errors
    /// [`Error::Memory`] when the manifest does not fit into the allowed size together with
    /// `beside`. Otherwise the errors of [`Remote::pull`].
    pub fn fetch(&self, manifest: u64, beside: Option<u64>, watch: Watch<'_>) -> Result<PathBuf> {
        let bytes = self.remote.bytes(manifest, beside)?;
        if bytes > self.bytes_max {
            let mib = |bytes: u64| bytes.div_ceil(1 << 20);
            let what = format!(
                "manifest {manifest} takes {} MiB beside the one that is served, but the cache may \
                 have {} MiB",
                mib(bytes),
                mib(self.bytes_max)
            );
            return Err(Error::Memory { what, is_for_now: false });
        }
        let reuse = beside.map(|number| self.path(number)).filter(|path| Index::exists(path));
        let options =
            PullOptions { manifest: Some(manifest), force: true, reuse, ..PullOptions::default() };
        let path = self.path(manifest);
        self.remote.pull(&path, &options, watch)?;
        Ok(path)
    }

    /// Removes all copies except the copy of `manifest`. Open files stay readable.
    pub fn keep_only(&self, manifest: u64) {
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return };
        for entry in entries.flatten() {
            let number = number_of(&entry.file_name().to_string_lossy());
            if number.is_some_and(|number| number != manifest) {
                // Without its list of segments, a half-removed copy cannot pass for a complete
                // copy.
                let _ = std::fs::remove_file(entry.path().join("meta.json"));
                if let Err(error) = std::fs::remove_dir_all(entry.path()) {
                    log::warn!("cannot remove {}: {error}", entry.path().display());
                }
            }
        }
    }

    fn path(&self, manifest: u64) -> PathBuf {
        self.dir.join(format!("{manifest:020}"))
    }
}

/// Returns the number of the manifest whose copy has this name.
fn number_of(name: &str) -> Option<u64> {
    let is_number = name.len() == 20 && name.bytes().all(|byte| byte.is_ascii_digit());
    name.parse().ok().filter(|_| is_number)
}
