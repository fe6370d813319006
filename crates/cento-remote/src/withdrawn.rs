//! Does a manifest bring documents back that were withdrawn since?
//!
//! The list of segments names the file with the withdrawals. An old list therefore refuses fewer
//! documents, and may contain documents that later withdrawals removed.

use std::collections::BTreeMap;
use std::path::Path;

use futures_util::stream::{self, StreamExt};
use object_store::ObjectMeta;

use crate::manifest::Manifest;
use crate::retention::{unnamed_parts, unnamed_withdrawals};
use crate::store::Store;
use crate::{Remote, is_unreadable};
use cento::index::{Receiver, Withdrawals};
use cento::{Corruption, Error, Reason, Result};

/// The number of manifests that are read at a time.
const PARALLEL: usize = 8;

/// Refuses a manifest that lacks withdrawals of the current manifest.
///
/// # Errors
/// The missing withdrawals, by the ids of their documents. When the withdrawals cannot be read.
pub async fn check_manifest(store: &Store, current: &Manifest, other: &Manifest) -> Result<()> {
    if current.list.withdrawals() == other.list.withdrawals() {
        return Ok(());
    }
    let (own, others) = (withdrawals(store, current).await?, withdrawals(store, other).await?);
    check(Path::new(store.url()), &own, &others, other.number)
}

/// Refuses a manifest that lacks withdrawals of a newer manifest. If the newest manifests cannot be
/// read, compares with the newest readable manifest, and with the withdrawals that only unreadable
/// manifests list.
///
/// # Errors
/// As [`check_manifest`].
pub async fn check_newer(store: &Store, manifest: &Manifest) -> Result<()> {
    let mut is_unreadable_newer = false;
    for &number in store.manifests().await?.iter().rev() {
        if number <= manifest.number {
            break;
        }
        match store.manifest_if_there(number).await {
            Ok(None) => {}
            Ok(Some(newer)) => {
                check_manifest(store, &newer, manifest).await?;
                break;
            }
            Err(error) if is_unreadable(&error) => is_unreadable_newer = true,
            Err(error) => return Err(error),
        }
    }
    match is_unreadable_newer {
        true => check_unnamed(store, manifest).await,
        false => Ok(()),
    }
}

/// Refuses a manifest that lacks withdrawals from a file outside of every readable manifest.
async fn check_unnamed(store: &Store, manifest: &Manifest) -> Result<()> {
    let own = withdrawals(store, manifest).await?;
    for (name, parts) in unnamed_withdrawals(store).await? {
        let mut bytes = Vec::new();
        for ObjectMeta { location, size, .. } in parts {
            bytes.extend(store.get_if_there(&location, size).await?.unwrap_or_default());
        }
        let others = Withdrawals::parse(&name, bytes)?;
        check(Path::new(store.url()), &others, &own, manifest.number)?;
    }
    Ok(())
}

/// Refuses to replace an index in a directory by a manifest that lacks its withdrawals. Fetches
/// only the manifest's withdrawals, because its other files may contain the withdrawn texts.
///
/// # Errors
/// As [`check_manifest`].
pub async fn check_directory(
    store: &Store,
    receiver: &Receiver,
    manifest: &Manifest,
) -> Result<()> {
    let Some(current) = receiver.current() else { return Ok(()) };
    if current.withdrawals() == manifest.list.withdrawals() {
        return Ok(());
    }
    let (own, others) = (receiver.withdrawals()?, withdrawals(store, manifest).await?);
    check(receiver.path(), &own, &others, manifest.number)
}

impl Remote {
    /// Returns the numbers of the manifests that lack withdrawals of the current manifest,
    /// ascending. They may contain the withdrawn texts until [`Remote::retain`] removes them.
    /// Unreadable manifests are included.
    ///
    /// # Errors
    /// When there is no index, or the store or the current manifest cannot be read.
    pub fn before_withdrawals(&self) -> Result<Vec<u64>> {
        self.store.block(before_withdrawals(&self.store))
    }

    /// Returns the number of parts of files that no manifest lists, left by interrupted pushes.
    /// They may also contain withdrawn texts, until [`Remote::retain`] removes them.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn unnamed_parts(&self) -> Result<u64> {
        self.store.block(unnamed_parts(&self.store))
    }
}

async fn before_withdrawals(store: &Store) -> Result<Vec<u64>> {
    let numbers = store.manifests().await?;
    let Some((&last, earlier)) = numbers.split_last() else { return Ok(Vec::new()) };
    let current = store.manifest(last).await?;
    let own = withdrawals(store, &current).await?;
    if own.is_empty() {
        return Ok(Vec::new());
    }
    // Many manifests share the same file of withdrawals.
    let mut known = BTreeMap::from([(current.list.withdrawals().map(str::to_owned), false)]);
    let mut found = Vec::new();
    let mut manifests = stream::iter(earlier)
        .map(|&number| async move { (number, store.manifest_if_there(number).await) })
        .buffered(PARALLEL);
    while let Some((number, manifest)) = manifests.next().await {
        let lacks = match manifest {
            Ok(None) => false,
            Err(error) if is_unreadable(&error) => true,
            Err(error) => return Err(error),
            Ok(Some(manifest)) => {
                let name = manifest.list.withdrawals().map(str::to_owned);
                match known.get(&name) {
                    Some(lacks) => *lacks,
                    None => {
                        let others = withdrawals(store, &manifest).await?;
                        let lacks = own.missing_in(&others).next().is_some();
                        known.insert(name, lacks);
                        lacks
                    }
                }
            }
        };
        found.extend(lacks.then_some(number));
    }
    Ok(found)
}

fn check(place: &Path, own: &Withdrawals, others: &Withdrawals, number: u64) -> Result<()> {
    let missing: Vec<_> = own.missing_in(others).collect();
    let Some(first) = missing.first() else { return Ok(()) };
    let more = match missing.len() {
        1 => String::new(),
        count => format!(" and {} others", count - 1),
    };
    let what = format!(
        "manifest {number} does not refuse `{}`{more}, withdrawn on {}, and may have it; take it \
         by force, and withdraw it again",
        first.id, first.withdrawn
    );
    Err(Error::index(place, Reason::Withdrawn, what))
}

async fn withdrawals(store: &Store, manifest: &Manifest) -> Result<Withdrawals> {
    let Some(name) = manifest.list.withdrawals() else { return Ok(Withdrawals::default()) };
    let Some(file) = manifest.files.get(name) else {
        return Err(
            Corruption::new(name, "withdrawals", 0, "the manifest has no parts of it").into()
        );
    };
    let mut bytes = Vec::new();
    for part in file.parts(name) {
        bytes.extend(store.part(&part).await?);
    }
    Withdrawals::parse(name, bytes)
}
