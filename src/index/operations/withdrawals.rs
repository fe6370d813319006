//! Changes the withdrawals of an index, and carries them into other indexes.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::index::storage::component::is_component;
use crate::index::storage::directory::IndexDirectory;
use crate::index::storage::mmap_directory;
use crate::index::storage::seal::{META, WITHDRAWALS};
use crate::index::{DocAddress, Index, Outcome, SignedDocument, Snapshot, Withdrawals, Writer};
use crate::reason::Reason;

impl Writer {
    /// Returns the documents that the index refuses.
    #[must_use]
    pub fn withdrawals(&self) -> &Withdrawals {
        &self.withdrawals
    }

    /// Collects all changes up to [`commit_withdrawals`](Self::commit_withdrawals) in a single
    /// commit, however many they are.
    pub fn begin_one_commit(&mut self) {
        self.is_one_commit = true;
    }

    /// Replaces the text of the document at `address`, but keeps its time of addition.
    pub fn add_at(
        &mut self,
        signed: SignedDocument,
        snapshot: &Snapshot,
        address: DocAddress,
    ) -> Result<Outcome> {
        let added = snapshot.segment(address).added(address.doc)?;
        self.add_as_of(signed, added)
    }

    /// Discards the changes since [`begin_one_commit`](Self::begin_one_commit). The index is
    /// unchanged, and the writer refuses further use.
    pub fn abandon(&mut self) {
        self.begin_change().abandon();
    }

    /// Commits the changes since the last commit together with `withdrawals`, the documents that
    /// the index refuses from now on.
    ///
    /// # Errors
    /// The errors of [`commit`](Self::commit).
    pub fn commit_withdrawals(&mut self, withdrawals: Withdrawals) -> Result<()> {
        let before = self.index().directory().withdrawals();
        self.check_usable()?;
        let change = self.begin_change();
        self.write_withdrawals(&withdrawals)?;
        self.commit_change(change)?;
        self.end_change_of_withdrawals(before.as_deref(), withdrawals);
        Ok(())
    }

    /// Writes the file with the withdrawals, which the commit in progress will list.
    pub(super) fn write_withdrawals(&self, withdrawals: &Withdrawals) -> Result<()> {
        let bytes = (!withdrawals.is_empty()).then(|| withdrawals.to_file());
        let changed =
            self.index().directory().change_withdrawals(bytes.as_deref(), self.uncommitted() > 0);
        changed.map_err(|e| Error::io("write the withdrawals of", self.index().path(), e))
    }

    /// Finishes a committed change. `before` is the file that is no longer listed.
    pub(super) fn end_change_of_withdrawals(
        &mut self,
        before: Option<&str>,
        withdrawals: Withdrawals,
    ) {
        self.index().directory().end_change_of_withdrawals(before);
        self.withdrawals = Arc::new(withdrawals);
        self.is_one_commit = false;
    }
}

/// A shard of a merge, with a snapshot and the places of its new segments, if it has new segments.
pub type Incoming<'a> = (&'a Index, Option<(&'a Snapshot, &'a [usize])>);

/// Combines the withdrawals of an index, if any, and of the merged shards.
///
/// # Errors
/// When an index or shard refuses a document of a different shard, and when withdrawals cannot be
/// read.
pub fn of_all(
    own: Option<(&Withdrawals, &Snapshot)>,
    shards: &[Incoming<'_>],
) -> Result<Withdrawals> {
    let mut all = own.map_or_else(Withdrawals::default, |(own, _)| own.clone());
    for (shard, _) in shards {
        all = all.union(&shard.withdrawals()?);
    }
    if let Some((_, snapshot)) = own.filter(|(own, _)| own.len() < all.len()) {
        all.check_all(snapshot, snapshot.index().path(), |_| true)?;
    }
    for (shard, incoming) in shards {
        if let Some((snapshot, new)) = incoming {
            all.check_all(snapshot, shard.path(), |segment| new.contains(&segment))?;
        }
    }
    Ok(all)
}

/// Returns the withdrawals in a directory whose list of segments may be lost: the listed
/// withdrawals, or without a list the union of every file with withdrawals. The newest file alone
/// may be wrong, because an interrupted pull of an older commit may have left it.
///
/// # Errors
/// When a file with withdrawals cannot be read.
pub fn found_in(path: &Path) -> Result<Withdrawals> {
    let directory = IndexDirectory::new(Box::new(mmap_directory(path)?), None);
    // A damaged list counts as missing.
    let is_listed = tantivy::Directory::atomic_read(&directory, Path::new(META)).is_ok();
    let names = match directory.withdrawals() {
        None if !is_listed => files_in(path)?,
        named => named.into_iter().collect(),
    };
    let mut all = Withdrawals::default();
    for name in names {
        let read = directory.read_checked(&name).map_err(|e| e.to_string());
        let withdrawals = read.and_then(|bytes| {
            Withdrawals::from_file(&name, &bytes).map_err(|error| error.to_string())
        });
        all = all.union(&withdrawals.map_err(|what| {
            let what = format!(
                "the documents that were withdrawn from it cannot be read ({what}); delete {name} \
                 to recover it without them: they are then no longer refused"
            );
            Error::index(path, Reason::Unsuitable, what)
        })?);
    }
    Ok(all)
}

/// Returns the names of the files with withdrawals in a directory.
fn files_in(path: &Path) -> Result<BTreeSet<String>> {
    let failed = |e| Error::io("read", path, e);
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if is_component(&name) && name.ends_with(&format!(".{WITHDRAWALS}")) {
            names.insert(name);
        }
    }
    Ok(names)
}
