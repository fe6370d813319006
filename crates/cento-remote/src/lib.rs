//! Pushing an index to an object store, and pulling it from there.
//!
//! A store contains the files of commits, which never change, and one *manifest* per push.
//! Manifests are numbered from 1 and list the segments with their files, in parts of 16 MiB with
//! digests. A push puts the missing parts, and then the next manifest on the condition that the
//! store has no manifest with the same number. If several pushes start from the same manifest, only
//! one succeeds, and the others fail with [`Error::Conflict`]. A pull takes a manifest, compares
//! all bytes with their digests, and puts the list of segments into the directory last. You can cut
//! off pushes and pulls anywhere and repeat them. Parts that have arrived are not sent again.
//!
//! Old manifests are the history, until [`Remote::retain`] removes them and the files that no other
//! manifest lists. [`Remote::restore`] makes an old manifest the newest.
//!
//! The objects of a store, under its URL:
//!
//! | object | content |
//! |---|---|
//! | `cento.json` | that this is a repository, and the version of its layout |
//! | `manifests/NUMBER.json` | a manifest; the current one has the greatest number |
//! | `data/SINCE-FILE-PART-DIGEST` | a part of a file, put by a push that was made from the manifest SINCE |
//!
//! The name of a part contains the manifest that its push started from. Once that manifest is not
//! the current one, the push has succeeded or never will. Unlisted parts of older manifests can
//! therefore be removed even during other pushes.

mod listing;
mod manifest;
mod mirror;
mod origin;
mod place;
mod pull;
mod push;
mod retention;
mod store;
mod withdrawn;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use cento::Stop;
use cento::{ConflictKind, Error, Reason, Result};
use manifest::{Base, Manifest};
pub use mirror::Mirror;
pub use pull::PullOptions;
pub use push::PushOptions;
pub use retention::Retention;
use store::Store;

/// An index in an object store.
///
/// `url` is a directory or, with the feature `cloud`, `s3://`, `gs://` or `az://`. `settings` are
/// the options of the store. A transfer has a few parts of 16 MiB in memory.
///
/// # Errors
/// [`Error::Conflict`] if another push came first. Other errors name the object or the file. Every
/// method can be repeated after a failure.
///
/// # Examples
/// ```
/// use cento::{Config, Document, Index, Stop, WriterOptions};
/// use cento_remote::{PullOptions, PushOptions, Remote, Watch};
/// # let dir = tempfile::tempdir()?;
/// # let path = |name: &str| dir.path().join(name);
///
/// let index = Index::create(path("a"), Config::new("winnow(k=5,w=10)", "words", true)?)?;
/// let mut writer = index.writer(WriterOptions::default())?;
/// writer.add(Document::new("a", "some text"))?;
/// writer.finish()?;
///
/// let watch = Watch { progress: &|_| {}, stop: Stop::NEVER };
/// let remote = Remote::open(path("store").to_str().expect("it is UTF-8"), [])?;
/// assert_eq!(remote.push(&index, &PushOptions::default(), watch)?.manifest, 1);
/// assert_eq!(remote.pull(&path("b"), &PullOptions::default(), watch)?.documents, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Remote {
    store: Store,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("url", &self.store.url()).finish_non_exhaustive()
    }
}

/// The progress of a push or a pull, in bytes of the parts to transfer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the parts that are finished.
    pub done: u64,
    /// Bytes of all parts.
    pub total: u64,
}

/// The progress callback of a push or a pull, and the flag that stops the transfer.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Called as parts arrive.
    pub progress: &'a dyn Fn(Progress),
    /// Ends the work with [`Error::Cancelled`] soon after the flag is set.
    pub stop: &'a Stop,
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

/// The result of a push.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PushResult {
    /// The number of the manifest that now equals the index.
    pub manifest: u64,
    /// Whether the push made the manifest. Otherwise the store already had the commit.
    pub is_new: bool,
    /// The number of live documents.
    pub documents: u64,
    /// The number of files that the previous manifest does not list.
    pub files: usize,
    /// The number of bytes that were sent.
    pub bytes: u64,
    /// Bytes of new files that an earlier, interrupted push had already sent.
    pub found: u64,
}

/// The result of a pull.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PullResult {
    /// The number of the pulled manifest.
    pub manifest: u64,
    /// Whether the pull changed the index. Otherwise the index already equaled the manifest.
    pub is_new: bool,
    /// The number of live documents.
    pub documents: u64,
    /// The number of files that were missing.
    pub files: usize,
    /// The number of bytes that were received.
    pub bytes: u64,
    /// Bytes of missing files that an earlier, interrupted pull had already received.
    pub found: u64,
    /// The number of files that were present, or linked from a second directory.
    pub kept: usize,
    /// The number of watches of the pushed index. No store contains watches.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub watches: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A manifest of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// The number of the manifest, counted from 1.
    pub manifest: u64,
    /// Whether a pull takes this manifest by default.
    pub is_current: bool,
    /// The commit, or the damage.
    #[serde(flatten)]
    pub content: Content,
}

impl HistoryEntry {
    /// Returns the commit; `None` if the manifest cannot be read.
    #[must_use]
    pub fn commit(&self) -> Option<&ListedCommit> {
        match &self.content {
            Content::Commit(commit) => Some(commit),
            Content::Damaged { .. } => None,
        }
    }
}

/// The content of a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// A readable manifest, as its commit.
    Commit(ListedCommit),
    /// A manifest that cannot be read.
    Damaged {
        /// The damage, with the name of the object.
        damaged: String,
    },
}

/// A commit in a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListedCommit {
    /// The number of the manifest that was restored, if the commit is a copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored: Option<u64>,
    /// The time of creation, by the clock of the machine that pushed the commit (RFC 3339).
    pub created: String,
    /// The number of live documents.
    pub documents: u64,
    /// The number of segments.
    pub segments: usize,
    /// The size of all files in bytes.
    pub bytes: u64,
    /// The size of the files that the previous readable manifest in the list does not list, in
    /// bytes.
    pub new_bytes: u64,
}

/// The result of applying a retention.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RetentionResult {
    /// The number of manifests that stay.
    pub manifests: usize,
    /// The number of removed manifests.
    pub removed_manifests: usize,
    /// The number of removed parts of files.
    pub removed_parts: usize,
    /// The size of the removed parts in bytes.
    pub removed_bytes: u64,
    /// The kept manifests that cannot be read. Their files are unknown, so no part was removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<u64>,
}

impl Remote {
    /// Connects to the object store at `url`: `s3://BUCKET/PATH`, `gs://BUCKET/PATH`,
    /// `az://CONTAINER/PATH` (feature `cloud`), `file:///PATH`, or the path of a directory.
    /// `settings` are names and values as in the environment, such as `AWS_ACCESS_KEY_ID`. Other
    /// names are ignored. Reads nothing yet.
    ///
    /// # Errors
    /// When the URL cannot be used, or a setting is missing.
    pub fn open(url: &str, settings: impl IntoIterator<Item = (String, String)>) -> Result<Remote> {
        Ok(Remote { store: Store::open(url, settings)? })
    }

    /// Uses any store. `url` is its name in messages.
    ///
    /// # Errors
    /// When threads cannot be started.
    #[doc(hidden)]
    pub fn over(store: std::sync::Arc<dyn object_store::ObjectStore>, url: &str) -> Result<Remote> {
        Ok(Remote { store: Store::over(store, url)? })
    }

    /// Returns the URL of the store.
    #[must_use]
    pub fn url(&self) -> &str {
        self.store.url()
    }

    /// Returns the number of the current manifest, or 0 before the first push.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn current(&self) -> Result<u64> {
        self.store.block(self.store.current())
    }

    /// Returns the total size in bytes of the files of a manifest and of the manifest `beside`.
    /// Files in both count once. The manifest `beside` may be removed or damaged.
    ///
    /// # Errors
    /// When the manifest does not exist, or the store cannot be read.
    pub fn bytes(&self, manifest: u64, beside: Option<u64>) -> Result<u64> {
        self.store.block(async {
            let manifest = self.store.manifest(manifest).await?;
            let other = match beside {
                Some(number) => match self.store.manifest_if_there(number).await {
                    Err(Error::Corrupt(_)) => None,
                    other => other?,
                },
                None => None,
            };
            let new = manifest.bytes_beside(other.as_ref());
            Ok(new + other.map_or(0, |other| other.bytes()))
        })
    }

    /// Returns all manifests, oldest first. A manifest that is damaged or has another version is
    /// listed with the reason.
    ///
    /// ```no_run
    /// let settings = std::env::vars();
    /// let remote = cento_remote::Remote::open("s3://bucket/essays", settings)?;
    /// for entry in remote.history()? {
    ///     println!("{}{}", entry.manifest, if entry.is_current { " (current)" } else { "" });
    /// }
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is no index, or the store cannot be read.
    pub fn history(&self) -> Result<Vec<HistoryEntry>> {
        self.store.block(async {
            self.store.check_layout().await?;
            let numbers = self.store.manifests().await?;
            let current = numbers.last().copied();
            let mut before: Option<Manifest> = None;
            let mut listed = Vec::new();
            for number in numbers {
                let content = match self.store.manifest_if_there(number).await {
                    Ok(None) => continue,
                    Ok(Some(manifest)) => {
                        let commit = ListedCommit {
                            restored: manifest.restored,
                            created: manifest.created.to_string(),
                            documents: manifest.list.documents(),
                            segments: manifest.list.segments(),
                            bytes: manifest.bytes(),
                            new_bytes: manifest.bytes_beside(before.as_ref()),
                        };
                        before = Some(manifest);
                        Content::Commit(commit)
                    }
                    Err(error) if is_unreadable(&error) => {
                        Content::Damaged { damaged: error.to_string() }
                    }
                    Err(error) => return Err(error),
                };
                let is_current = Some(number) == current;
                listed.push(HistoryEntry { manifest: number, is_current, content });
            }
            Ok(listed)
        })
    }

    /// Makes an old manifest the newest, as if its commit had been pushed again. Returns the new
    /// number. Only a manifest is sent. The current manifest may be damaged.
    ///
    /// # Errors
    /// When the manifest does not exist, is damaged, or is removed meanwhile. Without `force`, when
    /// documents would come back that have been withdrawn since. [`Error::Conflict`] if another
    /// process pushes meanwhile.
    pub fn restore(&self, manifest: u64, force: bool) -> Result<u64> {
        self.store.block(async {
            self.store.check_conditions(false).await?;
            let old = self.store.manifest(manifest).await?;
            if !force {
                withdrawn::check_newer(&self.store, &old).await?;
            }
            let number = self.store.current().await?;
            let current = match self.store.manifest(number).await {
                Ok(current) => Base::from(&current),
                Err(Error::Corrupt(_)) => Base { number, id: None },
                Err(error) => return Err(error),
            };
            let next = old.restored_after(current);
            self.store.put_manifest(&next, number).await?;
            // If a retention removed the old manifest before the new one existed, the retention may
            // also remove the files.
            if let Err(error) = self.store.manifest(manifest).await {
                self.store.remove_manifest(next.number).await?;
                return Err(error);
            }
            Ok(next.number)
        })
    }
}

/// Returns whether a manifest exists but this version cannot read it. Otherwise the store failed.
fn is_unreadable(error: &Error) -> bool {
    matches!(error.reason(), Reason::Damaged | Reason::OtherVersion)
}

/// Converts a duration to microseconds, the unit of times in an object store.
fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// Returns the error for a push that lost the race against a second push.
fn outrun(url: &str, base: u64, current: u64) -> Error {
    match base {
        0 => Error::conflict(
            ConflictKind::OtherIndex,
            format!(
                "{url} holds an index already, which this one was not made from: its manifest is \
                 {current}"
            ),
        ),
        _ => Error::conflict(
            ConflictKind::Outrun,
            format!(
                "{url} has changed since this index was pulled or pushed: its manifest was {base} \
                 and is {current}"
            ),
        ),
    }
}
