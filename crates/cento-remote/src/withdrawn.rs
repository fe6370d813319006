//! Does a manifest bring documents back that were withdrawn since?
//!
//! The list of segments names the file with the withdrawals, so an old list refuses fewer documents
//! and may have those that the later withdrawals removed.

use std::path::Path;

use crate::manifest::Manifest;
use crate::store::Store;
use cento::index::{FileList, Receiver, Withdrawals};
use cento::{Corruption, Error, Reason, Result};

/// Refuses a manifest that lacks withdrawals of the current one.
///
/// # Errors
/// The withdrawals, by the ids of their documents; when they cannot be read.
pub async fn check_manifest(store: &Store, current: &Manifest, other: &Manifest) -> Result<()> {
    if current.list.withdrawals() == other.list.withdrawals() {
        return Ok(());
    }
    let (own, others) = (withdrawals(store, current).await?, withdrawals(store, other).await?);
    check(Path::new(store.url()), &own, &others, other.number)
}

/// Refuses to replace an index in a directory by a manifest that lacks withdrawals of it. All files
/// of the manifest are there.
///
/// # Errors
/// As [`check_manifest`].
pub fn check_directory(receiver: &Receiver, manifest: &Manifest) -> Result<()> {
    let withdrawals = |list: &FileList| receiver.withdrawals(list);
    let Some(current) = receiver.current() else { return Ok(()) };
    if current.withdrawals() == manifest.list.withdrawals() {
        return Ok(());
    }
    let (own, others) = (withdrawals(current)?, withdrawals(&manifest.list)?);
    check(receiver.path(), &own, &others, manifest.number)
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
