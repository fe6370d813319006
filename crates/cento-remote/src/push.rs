//! Pushing a commit as a manifest.
//!
//! Files in the previous manifest are already in the store. The parts of the remaining files are
//! put, several at a time. A part is skipped if its name exists, because the name contains the
//! digest. The manifest comes last. An interruption leaves unlisted parts. A repeated push finds
//! these parts if the push starts from the same manifest.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::stream::{self, StreamExt, TryStreamExt};

use crate::manifest::{Base, Manifest, PartDigest, StoredFile};
use crate::origin::{Origin, Turn};
use crate::store::{Store, TRIES, pause};
use crate::{Progress, PushResult, Remote, Watch, outrun, place};
use cento::index::OpenCommit;
use cento::runtime::replace;
use cento::{ConflictKind, Corruption, Error, Index, Result};

/// Options for pushing an index.
#[derive(Debug, Clone)]
pub struct PushOptions {
    /// The maximum number of parts in transfer at a time.
    pub parallel: usize,
    /// The length of a part in bytes, at most 64 MiB. All parts in transfer are in memory.
    pub part_bytes: u64,
    /// The number of watches of the index. The manifest records the number, so that a pull can
    /// report that the watches are missing.
    pub watches: u64,
}

impl Default for PushOptions {
    fn default() -> PushOptions {
        PushOptions { parallel: 8, part_bytes: 16 << 20, watches: 0 }
    }
}

/// The shared state of the parts in transfer.
struct PushProgress<'a> {
    store: &'a Store,
    commit: &'a OpenCommit,
    sent: AtomicU64,
    found: AtomicU64,
    done: AtomicU64,
    total: u64,
    watch: Watch<'a>,
}

impl Remote {
    /// Puts the last commit of `index` into the store, as the next manifest.
    ///
    /// The index must be made from the current manifest: pulled from it, or pushed as it and then
    /// changed. The first push needs an empty store, outside of the index's directory. Can be
    /// repeated after any failure, even if the index has changed meanwhile. Parts in the store are
    /// not sent again, and a commit that equals the current manifest is not pushed twice. If the
    /// current manifest is damaged and the index was made from it, all files are sent and the next
    /// manifest is put. Waits while another process pushes this index or pulls into its directory.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the index was not made from the store's current manifest, even if
    /// that manifest is damaged. Nothing is changed then, and the index loses nothing. When the
    /// store has no conditional writes, or cannot be read or written. When a file of the index is
    /// damaged. [`Error::Cancelled`].
    pub fn push(
        &self,
        index: &Index,
        options: &PushOptions,
        watch: Watch<'_>,
    ) -> Result<PushResult> {
        let _turn = Turn::wait(index.path(), watch.stop)?;
        let commit = index.open_commit()?;
        // After a power cut, a commit in the store must not be lost here.
        let list = index.path().join("meta.json");
        replace::sync_name(&list).map_err(|e| Error::io("sync", &list, e))?;
        let (manifest, pushed) =
            self.store.block(push(&self.store, &commit, index.path(), options, watch))?;
        // If this fails, the next push finds out that the manifest was put.
        Origin::of(self.store.url(), &manifest).write(index.path())?;
        Ok(pushed)
    }
}

async fn push(
    store: &Store,
    commit: &OpenCommit,
    dir: &Path,
    options: &PushOptions,
    watch: Watch<'_>,
) -> Result<(Manifest, PushResult)> {
    let number = store.current().await?;
    if number == 0 {
        place::check_outside(store.url(), dir)?;
        store.check_empty(Origin::has_begun(dir, store.url())?).await?;
    }
    store.check_conditions(true).await?;
    let origin = Origin::settled(dir, store).await?;
    let current = match number {
        0 => None,
        _ => match store.manifest(number).await {
            Ok(manifest) => Some(manifest),
            Err(Error::Corrupt(damage)) => {
                let base = origin.as_ref().and_then(|origin| origin.number_at(store.url()));
                if base != Some(number) {
                    return Err(unreadable(store.url(), base, number, &damage));
                }
                // The index was made from this manifest, so the damage loses no changes of another
                // push. No part is trusted, and all files are sent.
                log::warn!("{damage}; all files are sent again");
                None
            }
            Err(error) => return Err(error),
        },
    };
    let mut pushed = PushResult { documents: commit.list().documents(), ..PushResult::default() };
    if let Some(current) = &current {
        pushed.manifest = current.number;
        if current.list == *commit.list() {
            return Ok((current.clone(), pushed));
        }
        if !origin.as_ref().is_some_and(|origin| origin.is(current)) {
            let base = match &origin {
                Some(origin) => origin.number_in(store).await?,
                None => None,
            };
            return Err(outrun(store.url(), base.unwrap_or(0), current.number));
        }
    }
    let base = Base { number, id: current.as_ref().map(|current| current.id) };
    if number == 0 {
        Origin::first(store.url(), commit.list()).write_next(dir)?;
    }
    let before = current.as_ref();
    let files = send(store, commit, number, before, options, watch, &mut pushed).await?;
    let manifest = Manifest::after(base, commit.list().clone(), files);
    let manifest = Manifest { watches: options.watches, ..manifest };
    Origin::of(store.url(), &manifest).write_next(dir)?;
    store.put_manifest(&manifest, number).await?;
    pushed.manifest = manifest.number;
    pushed.is_new = true;
    Ok((manifest, pushed))
}

/// Returns the error for a damaged current manifest that the index was not made from.
fn unreadable(url: &str, base: Option<u64>, number: u64, damage: &Corruption) -> Error {
    let made = match base {
        None => "this index was not made from it".to_owned(),
        Some(base) => format!("this index was made from manifest {base}"),
    };
    let what = format!(
        "the current manifest {number} of {url} is damaged ({damage}), and {made}, so what it held \
         would be lost"
    );
    Error::conflict(ConflictKind::UnreadableManifest, what)
}

/// Puts the files that the previous manifest, number `since`, lacks. Puts every file if the
/// manifest cannot be read. Returns all files.
async fn send(
    store: &Store,
    commit: &OpenCommit,
    since: u64,
    before: Option<&Manifest>,
    options: &PushOptions,
    watch: Watch<'_>,
    pushed: &mut PushResult,
) -> Result<BTreeMap<String, StoredFile>> {
    let mut files = BTreeMap::new();
    let mut new = Vec::new();
    let mut add = |name: &str, bytes: u64, known: Option<&StoredFile>| match known {
        Some(known) => drop(files.insert(name.to_owned(), known.clone())),
        None => new.push((name.to_owned(), StoredFile::new(bytes, since, options.part_bytes))),
    };
    for file in commit.list().files() {
        // The name of a list of deleted documents can be used again, with different content.
        let is_same = before.is_some_and(|before| before.list.file(file.name) == Some(file));
        let known = before.filter(|_| is_same).and_then(|before| before.files.get(file.name));
        add(file.name, file.bytes, known);
    }
    if let Some(name) = commit.list().table() {
        // The table is written only once, before the first commit.
        let known = before.and_then(|before| before.files.get(name));
        add(name, commit.table().len() as u64, known);
    }
    pushed.files = new.len();
    let sending = PushProgress {
        store,
        commit,
        sent: AtomicU64::new(0),
        found: AtomicU64::new(0),
        done: AtomicU64::new(0),
        total: new.iter().map(|(_, file)| file.bytes).sum(),
        watch,
    };
    let parts = new.iter().enumerate().flat_map(|(at, (name, file))| {
        file.ranges().enumerate().map(move |(number, range)| (at, name, file, number, range))
    });
    let sending = &sending;
    let digests: Vec<(usize, PartDigest)> = stream::iter(parts)
        .map(|(at, name, file, number, range)| async move {
            // Refuses damage that every pull would notice later.
            if number == 0 && commit.list().file(name).is_some() {
                commit.verify(name)?;
            }
            Ok::<_, Error>((at, sending.part(name, file, number, range).await?))
        })
        .buffered(options.parallel.max(1))
        .try_collect()
        .await?;
    for (at, digest) in digests {
        new[at].1.parts.push(digest);
    }
    pushed.bytes = sending.sent.load(Ordering::Relaxed);
    pushed.found = sending.found.load(Ordering::Relaxed);
    files.extend(new);
    Ok(files)
}

impl PushProgress<'_> {
    /// Puts a part, unless the store has the part.
    async fn part(
        &self,
        name: &str,
        file: &StoredFile,
        number: usize,
        range: std::ops::Range<u64>,
    ) -> Result<PartDigest> {
        if self.watch.stop.is_set() {
            return Err(Error::Cancelled);
        }
        let bytes = match self.commit.list().file(name) {
            Some(_) => self.commit.read(name, range)?,
            None => self.commit.table()[range.start as usize..range.end as usize].to_vec(),
        };
        let bytes = Bytes::from(bytes);
        let digest = PartDigest::of(&bytes);
        let path = file.path(name, number, digest);
        let mut tries = 0;
        loop {
            tries += 1;
            match self.put(&path, &bytes).await {
                Ok(()) => break,
                Err(Error::Store { .. }) if tries < TRIES => pause(tries).await,
                Err(error) => return Err(error),
            }
        }
        let len = bytes.len() as u64;
        let done = self.done.fetch_add(len, Ordering::Relaxed) + len;
        (self.watch.progress)(Progress { done, total: self.total });
        Ok(digest)
    }

    async fn put(&self, path: &object_store::path::Path, bytes: &Bytes) -> Result<()> {
        let len = bytes.len() as u64;
        if self.store.put_new(path, bytes.clone()).await? {
            self.sent.fetch_add(len, Ordering::Relaxed);
            return Ok(());
        }
        // The name determines the content, but the store may have kept only a part of the object.
        // Such an object is replaced.
        if self.store.length(path).await? == Some(len) {
            self.found.fetch_add(len, Ordering::Relaxed);
            return Ok(());
        }
        self.store.put_over(path, bytes.clone()).await?;
        self.sent.fetch_add(len, Ordering::Relaxed);
        Ok(())
    }
}
