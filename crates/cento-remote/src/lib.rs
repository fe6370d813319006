//! How does an index get into an object store, and out of it?
//!
//! A store holds the files of commits, which never change, and one *manifest* per push, numbered from
//! 1: the list of segments with the files that it names, in parts of 16 MiB with a digest each. A push
//! puts what is missing, and then the next manifest on the condition that there is none of that number:
//! of several pushes made from one manifest, one succeeds, and the others are told
//! ([`Error::Conflict`]). A pull takes a manifest, compares all bytes with their
//! digests, and puts the list of segments into the directory last. Both can be cut off anywhere and
//! repeated; what has arrived is not sent again.
//!
//! Old manifests are the history, until [`Remote::retain`] removes them, and with them what no other
//! manifest names. [`Remote::restore`] makes an old one the newest.
//!
//! What lies in a store, under its URL:
//!
//! | object | content |
//! |---|---|
//! | `cento.json` | that this is a repository, and the version of its layout |
//! | `manifests/NUMBER.json` | a manifest; the current one has the greatest number |
//! | `data/SINCE-FILE-PART-DIGEST` | a part of a file, put by a push that was made from the manifest SINCE |
//!
//! A part is named after the manifest that its push was made from. If that is not the current one any
//! more, the push has succeeded or never will, so that parts of older ones that no manifest names can be
//! removed, whoever pushes meanwhile.

mod listing;
mod manifest;
mod mirror;
mod origin;
mod place;
mod pull;
mod push;
mod retention;
mod store;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use cento::{ConflictKind, Error, Reason, Result};
use manifest::{Base, Manifest};
pub use mirror::Mirror;
pub use pull::PullOptions;
pub use push::PushOptions;
pub use retention::Retention;
use store::Store;

/// An index in an object store.
pub struct Remote {
    store: Store,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("url", &self.store.url()).finish_non_exhaustive()
    }
}

/// How far a push or a pull has come, in bytes of parts that had to be looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Done.
    pub done: u64,
    /// In all.
    pub total: u64,
}

/// What a push or a pull tells its caller, and how the caller stops it.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Called as parts arrive.
    pub progress: &'a dyn Fn(Progress),
    /// Ends the work with [`Error::Cancelled`] soon after it has been set.
    pub stop: &'a AtomicBool,
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

/// The result of a push.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Pushed {
    /// The number of the manifest that the index now is.
    pub manifest: u64,
    /// Whether the push made it; otherwise the store had this commit already.
    pub is_new: bool,
    /// Live documents.
    pub documents: u64,
    /// Files that the manifest before did not name.
    pub files: usize,
    /// Bytes that were sent.
    pub bytes: u64,
    /// Bytes of the new files that an earlier push, which was cut off, had sent.
    pub found: u64,
}

/// The result of a pull.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Pulled {
    /// The number of the manifest.
    pub manifest: u64,
    /// Live documents.
    pub documents: u64,
    /// Files that were not there.
    pub files: usize,
    /// Bytes that were received.
    pub bytes: u64,
    /// Bytes of these files that an earlier pull, which was cut off, had received.
    pub found: u64,
    /// Files that were there, or linked from another directory.
    pub kept: usize,
}

/// A manifest of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// Its number.
    pub manifest: u64,
    /// Whether it is the one that a pull takes.
    pub is_current: bool,
    /// What it holds.
    #[serde(flatten)]
    pub content: Content,
}

impl HistoryEntry {
    /// The commit; `None` if the manifest cannot be read.
    #[must_use]
    pub fn commit(&self) -> Option<&ListedCommit> {
        match &self.content {
            Content::Commit(commit) => Some(commit),
            Content::Damaged { .. } => None,
        }
    }
}

/// What a manifest holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// A commit.
    Commit(ListedCommit),
    /// Nothing that can be read.
    Damaged {
        /// What is wrong, with the name of the object.
        damaged: String,
    },
}

/// A commit in a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListedCommit {
    /// The number of the manifest that it is a restored copy of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored: Option<u64>,
    /// When it was made, by the clock of the machine that did (RFC 3339).
    pub created: String,
    /// Live documents.
    pub documents: u64,
    /// Segments.
    pub segments: usize,
    /// Bytes of its files.
    pub bytes: u64,
    /// Bytes of files that the readable one listed before it does not name.
    pub new_bytes: u64,
}

/// The result of applying a retention.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Retained {
    /// Manifests that stay.
    pub manifests: usize,
    /// Manifests that were removed.
    pub removed_manifests: usize,
    /// Parts of files that were removed.
    pub removed_parts: usize,
    /// Their bytes.
    pub removed_bytes: u64,
    /// Manifests that stay and cannot be read. What they name is not known, so no part was removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<u64>,
}

impl Remote {
    /// Connects to the object store at `url`: `s3://BUCKET/PATH`, `gs://BUCKET/PATH`,
    /// `az://CONTAINER/PATH` (feature `cloud`), `file:///PATH`, or the path of a directory. `settings` are
    /// names and values as the environment has them, such as `AWS_ACCESS_KEY_ID`; other names are passed
    /// over. Nothing is read yet.
    ///
    /// # Errors
    /// When the URL cannot be used, or a setting is missing.
    pub fn open(url: &str, settings: impl IntoIterator<Item = (String, String)>) -> Result<Remote> {
        Ok(Remote { store: Store::open(url, settings)? })
    }

    /// Uses any store; `url` is its name in messages.
    ///
    /// # Errors
    /// When threads cannot be started.
    #[doc(hidden)]
    pub fn over(store: std::sync::Arc<dyn object_store::ObjectStore>, url: &str) -> Result<Remote> {
        Ok(Remote { store: Store::over(store, url)? })
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> &str {
        self.store.url()
    }

    /// The number of the current manifest; 0 if nothing has been pushed.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn current(&self) -> Result<u64> {
        self.store.block(self.store.current())
    }

    /// The bytes of the files of a manifest and of another one together; what both have counts once. The
    /// other one may be gone or damaged.
    ///
    /// # Errors
    /// When there is no such manifest, or the store cannot be read.
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

    /// All manifests, oldest first. Those that are damaged, or of another version, are listed with the
    /// reason.
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

    /// Makes an old manifest the newest, as if its commit had been pushed again; returns its new number.
    /// Nothing is sent but a manifest. The current one may be damaged.
    ///
    /// # Errors
    /// When there is no such manifest, it is damaged, or it is removed meanwhile; [`Error::Conflict`] when
    /// somebody else has pushed meanwhile.
    pub fn restore(&self, manifest: u64) -> Result<u64> {
        self.store.block(async {
            self.store.check_conditions(false).await?;
            let old = self.store.manifest(manifest).await?;
            let number = self.store.current().await?;
            let current = match self.store.manifest(number).await {
                Ok(current) => Base::from(&current),
                Err(Error::Corrupt(_)) => Base { number, id: None },
                Err(error) => return Err(error),
            };
            let next = old.restored_after(current);
            self.store.put_manifest(&next, number).await?;
            // A retention that removed the old one before the new one was there may remove its files.
            if let Err(error) = self.store.manifest(manifest).await {
                self.store.remove_manifest(next.number).await?;
                return Err(error);
            }
            Ok(next.number)
        })
    }
}

/// Whether a manifest is there and nobody can read it with this version; otherwise the store failed.
fn is_unreadable(error: &Error) -> bool {
    matches!(error.reason(), Reason::Damaged | Reason::OtherVersion)
}

/// A duration in the unit that an object store's times have.
fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// Another push came first.
fn outrun(url: &str, base: u64, current: u64) -> Error {
    match base {
        0 => Error::conflict(
            ConflictKind::OtherIndex,
            format!(
                "{url} holds an index already, which this one was not made from: its manifest is {current}"
            ),
        ),
        _ => Error::conflict(
            ConflictKind::Outrun,
            format!(
                "{url} has changed since this index was pulled or pushed: its manifest was {base} and is \
                 {current}"
            ),
        ),
    }
}
