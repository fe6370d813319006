//! Pulling a manifest into a directory.
//!
//! Parts arrive in hidden files, several at a time, and are compared with their digests. A file
//! with all its parts is synced and gets its name, and the list of segments comes last. Nothing is
//! fetched before the pull is known to be allowed, because the parts may contain withdrawn texts.
//! After an interruption, a repeated pull compares the existing parts with the digests again, and
//! keeps them. A check of the index reports such parts, and the next writer of the index removes
//! them.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::stream::{self, StreamExt, TryStreamExt};

use crate::manifest::{Manifest, Part, PartDigest, StoredFile};
use crate::origin::{Origin, Turn};
use crate::store::Store;
use crate::withdrawn;
use crate::{Progress, PullResult, Remote, Watch};
use cento::index::{FileList, ListedFile, Receiver};
use cento::{ConflictKind, Error, LockWait, Reason, Result};

/// Options for pulling an index.
#[derive(Debug, Clone)]
pub struct PullOptions {
    /// The number of the manifest to take, or `None` for the current manifest.
    pub manifest: Option<u64>,
    /// Overwrite an index in the directory even if changes are in no manifest and are lost, and
    /// accept a manifest that lacks recent withdrawals.
    pub force: bool,
    /// The maximum number of parts in transfer at a time.
    pub parallel: usize,
    /// How long to wait while a second process writes to the directory.
    pub lock_wait: LockWait,
    /// The directory of another pulled index, whose identical files are linked or copied.
    pub reuse: Option<PathBuf>,
}

impl Default for PullOptions {
    fn default() -> PullOptions {
        let (parallel, lock_wait) = (8, LockWait::default());
        PullOptions { manifest: None, force: false, parallel, lock_wait, reuse: None }
    }
}

/// The common state of all arriving parts.
struct Receiving<'a> {
    store: &'a Store,
    receiver: &'a Receiver,
    received: AtomicU64,
    found: AtomicU64,
    done: AtomicU64,
    total: u64,
    watch: Watch<'a>,
}

impl Remote {
    /// Makes the index in `dir` equal to a manifest of the store. Creates the directory if it does
    /// not exist.
    ///
    /// Existing files stay, and are not read. Readers of the index see the old commit or the new
    /// one. Can be repeated after any failure. Waits while another process pushes the index in
    /// `dir`.
    ///
    /// # Errors
    /// When the manifest does not exist, or an object is missing or damaged ([`Error::Corrupt`]).
    /// When the index in `dir` has changes that are in no manifest, or when that index or the
    /// current manifest refuses documents that this manifest does not refuse. When `dir` is being
    /// written ([`Error::Locked`]), or contains files that do not belong to an index.
    /// [`Error::Conflict`] when the manifest is removed meanwhile. In all these cases the index in
    /// `dir` is unchanged. [`Error::Cancelled`].
    pub fn pull(&self, dir: &Path, options: &PullOptions, watch: Watch<'_>) -> Result<PullResult> {
        // Nothing is created in `dir` for a store without an index.
        let manifest = self.store.block(async {
            self.store.check_layout().await?;
            let number = match options.manifest {
                Some(number) => number,
                None => self.store.current().await?,
            };
            let manifest = self.store.manifest(number).await?;
            if options.manifest.is_some() && !options.force {
                withdrawn::check_newer(&self.store, &manifest).await?;
            }
            Ok::<_, Error>(manifest)
        })?;
        let receiver = options.lock_wait.retry(|| Receiver::begin(dir))?;
        let _turn = Turn::wait(dir, watch.stop)?;
        if let Some(current) = receiver.current() {
            let origin = self.store.block(Origin::settled(dir, &self.store))?;
            check_unchanged(dir, current, origin, &manifest, options)?;
        }
        if !options.force {
            self.store.block(withdrawn::check_directory(&self.store, &receiver, &manifest))?;
        }
        let mut pulled = PullResult {
            manifest: manifest.number,
            is_new: receiver.current() != Some(&manifest.list),
            documents: manifest.list.documents(),
            watches: manifest.watches,
            ..PullResult::default()
        };
        let missing = self.missing(&receiver, &manifest, options, &mut pulled)?;
        pulled.files = missing.len();
        let receiving = Receiving {
            store: &self.store,
            receiver: &receiver,
            received: AtomicU64::new(0),
            found: AtomicU64::new(0),
            done: AtomicU64::new(0),
            total: missing.values().map(|file| file.bytes).sum(),
            watch,
        };
        let received = self.store.block(receiving.all(&missing, options));
        received.map_err(|error| self.unless_removed(manifest.number, error))?;
        pulled.bytes = receiving.received.load(Ordering::Relaxed);
        pulled.found = receiving.found.load(Ordering::Relaxed);
        Origin::forget_next(dir)?;
        receiver.finish(&manifest.list)?;
        Origin::of(self.store.url(), &manifest).write(dir)?;
        Ok(pulled)
    }

    /// Returns the error of a pull, or a conflict if the manifest has been removed meanwhile
    /// together with the missing object.
    fn unless_removed(&self, manifest: u64, error: Error) -> Error {
        if !matches!(error, Error::Corrupt(_)) {
            return error;
        }
        match self.store.block(self.store.manifest_if_there(manifest)) {
            Ok(None) => Error::conflict(
                ConflictKind::ManifestRemoved,
                format!(
                    "manifest {manifest} of {} was removed while it was pulled; pull again",
                    self.store.url()
                ),
            ),
            _ => error,
        }
    }

    /// Returns the files of the manifest that are missing in the directory.
    fn missing<'a>(
        &self,
        receiver: &Receiver,
        manifest: &'a Manifest,
        options: &PullOptions,
        pulled: &mut PullResult,
    ) -> Result<BTreeMap<&'a str, &'a StoredFile>> {
        let dir = receiver.path();
        let elsewhere = options.reuse.as_deref().and_then(|reuse| {
            let opened = OtherIndex::open(reuse);
            opened.inspect_err(|error| log::warn!("no files are linked from there: {error}")).ok()
        });
        let mut missing = BTreeMap::new();
        for (name, file) in &manifest.files {
            let path = dir.join(name);
            let current = receiver.current().and_then(|current| identity(current, name));
            let wanted = identity(&manifest.list, name);
            if current.is_some() && current != wanted {
                let what = format!(
                    "its file {name} has another content than in manifest {}; pull that into \
                     another directory",
                    manifest.number
                );
                return Err(Error::index(dir, Reason::Unsuitable, what));
            }
            // Files in the list stay in place, because readers look for them there.
            let is_there = current.is_some() && is_whole(&path, name, file, wanted);
            let link = |elsewhere: &OtherIndex| {
                let from = elsewhere.dir.join(name);
                identity(&elsewhere.list, name) == wanted
                    && is_whole(&from, name, file, wanted)
                    && link(&from, &path)
            };
            if is_there || elsewhere.as_ref().is_some_and(link) {
                pulled.kept += 1;
                continue;
            }
            // The file of an interrupted pull, or of a writer, is compared part by part.
            if path.exists() {
                let hidden = receiver.unfinished(name);
                std::fs::rename(&path, &hidden).map_err(|e| Error::io("rename", &path, e))?;
            }
            missing.insert(name.as_str(), file);
        }
        Ok(missing)
    }
}

/// Another index, as a source of files.
struct OtherIndex {
    dir: PathBuf,
    list: FileList,
}

impl OtherIndex {
    fn open(dir: &Path) -> Result<OtherIndex> {
        let path = dir.join("meta.json");
        let list = std::fs::read(&path).map_err(|e| Error::io("read", &path, e))?;
        Ok(OtherIndex { dir: dir.to_owned(), list: FileList::parse(list)? })
    }
}

/// The identity of a file's content: a segment's file, or the digest of the frequency table.
type Identity<'a> = (Option<ListedFile<'a>>, Option<&'a str>);

/// Returns the identity of the file with this name, or `None` if the list lacks the file.
fn identity<'a>(list: &'a FileList, name: &str) -> Option<Identity<'a>> {
    match list.file(name) {
        Some(listed) => Some((Some(listed), None)),
        None => list.table().filter(|table| *table == name).map(|_| (None, list.table_digest())),
    }
}

/// Returns whether the file of an index at `path` is as good as the manifest's file. A segment's
/// file is not read, because every reader of segments compares the checksum. A table is read,
/// because the identity of a table does not cover every byte.
fn is_whole(path: &Path, name: &str, file: &StoredFile, identity: Option<Identity<'_>>) -> bool {
    let has_length = std::fs::metadata(path).is_ok_and(|found| found.len() == file.bytes);
    let is_table = matches!(identity, Some((None, _)));
    has_length && (!is_table || file.parts(name).iter().all(|part| holds(path, part)))
}

/// Links a file. Returns whether that worked.
fn link(from: &Path, to: &Path) -> bool {
    // An existing file may have any content.
    let _ = std::fs::remove_file(to);
    std::fs::hard_link(from, to).is_ok()
}

/// Refuses to replace an index with changes that would be lost.
fn check_unchanged(
    dir: &Path,
    current: &FileList,
    origin: Option<Origin>,
    manifest: &Manifest,
    options: &PullOptions,
) -> Result<()> {
    let is_manifest = *current == manifest.list;
    let is_unchanged = origin.is_some_and(|origin| origin.is_unchanged(current.as_bytes()));
    if is_manifest || is_unchanged || options.force {
        return Ok(());
    }
    let what = "it has changes that were not pushed, and a pull would lose them; push them, pull \
                into another directory, or overwrite them";
    Err(Error::index(dir, Reason::UnpushedChanges, what))
}

impl Receiving<'_> {
    /// Fetches all parts. A file is complete after its last part.
    async fn all(&self, files: &BTreeMap<&str, &StoredFile>, options: &PullOptions) -> Result<()> {
        let mut left: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, file) in files {
            left.insert(name, file.parts.len());
            if file.parts.is_empty() {
                let hidden = self.receiver.unfinished(name);
                File::create(&hidden).map_err(|e| Error::io("create", &hidden, e))?;
                self.complete(name, file)?;
            }
        }
        let parts = files.iter().flat_map(|(name, file)| file.parts(name));
        let mut arrived = stream::iter(parts)
            .map(|part| async move {
                self.part(&part).await?;
                Ok::<_, Error>(part.name)
            })
            .buffer_unordered(options.parallel.max(1));
        while let Some(name) = arrived.try_next().await? {
            let left = left.get_mut(name.as_str()).expect("a part belongs to a file");
            *left -= 1;
            if *left == 0 {
                self.complete(&name, files[name.as_str()])?;
            }
        }
        Ok(())
    }

    /// Gives a file its name. Only the directory is not synced yet.
    fn complete(&self, name: &str, file: &StoredFile) -> Result<()> {
        let hidden = self.receiver.unfinished(name);
        let failed = |e| Error::io("write", &hidden, e);
        let opened = OpenOptions::new().write(true).open(&hidden).map_err(failed)?;
        // An older hidden file may have been longer.
        opened.set_len(file.bytes).map_err(failed)?;
        opened.sync_all().map_err(failed)?;
        let path = self.receiver.path().join(name);
        std::fs::rename(&hidden, &path).map_err(|e| Error::io("rename", &hidden, e))
    }

    /// Fetches a part, unless the part has arrived already.
    async fn part(&self, part: &Part) -> Result<()> {
        if self.watch.stop.is_set() {
            return Err(Error::Cancelled);
        }
        let hidden = self.receiver.unfinished(&part.name);
        let len = part.range.end - part.range.start;
        if holds(&hidden, part) {
            self.found.fetch_add(len, Ordering::Relaxed);
        } else {
            let bytes = self.store.part(part).await?;
            write_at(&hidden, part.range.start, &bytes)
                .map_err(|e| Error::io("write", &hidden, e))?;
            self.received.fetch_add(len, Ordering::Relaxed);
        }
        let done = self.done.fetch_add(len, Ordering::Relaxed) + len;
        (self.watch.progress)(Progress { done, total: self.total });
        Ok(())
    }
}

/// Returns whether a file contains this part already.
fn holds(path: &Path, part: &Part) -> bool {
    let read = || -> std::io::Result<Option<Vec<u8>>> {
        let mut file = File::open(path)?;
        if file.metadata()?.len() < part.range.end {
            return Ok(None);
        }
        file.seek(SeekFrom::Start(part.range.start))?;
        let mut bytes = vec![0; (part.range.end - part.range.start) as usize];
        file.read_exact(&mut bytes)?;
        Ok(Some(bytes))
    };
    matches!(read(), Ok(Some(bytes)) if PartDigest::of(&bytes) == part.digest)
}

fn write_at(path: &Path, at: u64, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}
