//! Removing old manifests, and the objects that no manifest names.
//!
//! Manifests go first, then parts that no manifest lists. Both stay for some time, because a pull
//! of an old manifest may be in progress. Ages are measured by the clock of the store, so a wrong
//! clock on this machine removes nothing. The time of the last push would not do as "now": the
//! commit before the last push would never be old.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use object_store::ObjectMeta;
use object_store::path::Path;

use crate::listing;
use crate::manifest::{PARTS, file_of_withdrawals, since_of};
use crate::store::Store;
use crate::{Remote, RetentionResult, is_unreadable, micros};
use cento::Result;

/// Which manifests to keep. The current manifest is always kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// The number of newest manifests to keep.
    pub keep: usize,
    /// Keep manifests that were current within this time.
    pub keep_for: Duration,
    /// The minimum time since an object was last needed before it may be removed. After another
    /// push, no pull of an older manifest may take longer.
    pub keep_min_age: Duration,
}

impl Default for Retention {
    fn default() -> Retention {
        let day = Duration::from_secs(86_400);
        Retention { keep: 10, keep_for: Duration::ZERO, keep_min_age: day }
    }
}

impl Remote {
    /// Removes old manifests, and parts of files that no other manifest lists.
    ///
    /// Other processes may push and pull meanwhile. An interruption leaves parts for the next time.
    /// While a kept manifest is damaged, no part is removed.
    ///
    /// # Errors
    /// When there is no index, or the store cannot be read or written.
    pub fn retain(&self, retention: &Retention) -> Result<RetentionResult> {
        self.store.block(async {
            self.store.check_layout().await?;
            retain(&self.store, retention).await
        })
    }
}

async fn retain(store: &Store, retention: &Retention) -> Result<RetentionResult> {
    let manifests = store.dated_manifests().await?;
    let Some(&(current, pushed)) = manifests.last() else { return Ok(RetentionResult::default()) };
    let now = store.now().await?.max(pushed);
    let oldest = now.saturating_sub(micros(retention.keep_min_age.max(retention.keep_for)));
    let newest = manifests.len().saturating_sub(retention.keep.max(1));
    let mut retained = RetentionResult::default();
    for (&(number, _), &(_, replaced)) in manifests.iter().zip(&manifests[1..]).take(newest) {
        // A pull may have begun with a manifest until it was replaced.
        if replaced <= oldest {
            retained.removed_manifests += usize::from(store.remove_manifest(number).await?);
        }
    }
    // Read after the removals. If a removed manifest is restored meanwhile, the manifest is either
    // included here, or the restore fails.
    let KeptParts { paths, manifests, damaged } = KeptParts::read(store).await?;
    (retained.manifests, retained.damaged) = (manifests, damaged);
    if !retained.damaged.is_empty() {
        return Ok(retained);
    }
    let oldest = now.saturating_sub(micros(retention.keep_min_age));
    let remove = async |part: ObjectMeta| {
        if is_over(&part, current)
            && part.last_modified.timestamp_micros() <= oldest
            && !paths.contains(&part.location)
            && store.remove(&part.location).await?
        {
            retained.removed_parts += 1;
            retained.removed_bytes += part.size;
        }
        Ok(())
    };
    store.for_each_below(&Path::from(PARTS), listing::PARTS, remove).await?;
    Ok(retained)
}

/// Returns whether no push can still list this part. A push that started from the current manifest
/// or a later one may still succeed.
fn is_over(part: &ObjectMeta, current: u64) -> bool {
    since_of(&part.location).is_some_and(|since| since < current)
}

/// The parts that the manifests of a store list.
struct KeptParts {
    paths: BTreeSet<Path>,
    manifests: usize,
    /// The manifests that cannot be read, whose parts are unknown.
    damaged: Vec<u64>,
}

impl KeptParts {
    async fn read(store: &Store) -> Result<KeptParts> {
        let mut named = KeptParts { paths: BTreeSet::new(), manifests: 0, damaged: Vec::new() };
        for number in store.manifests().await? {
            match store.manifest_if_there(number).await {
                Ok(None) => continue,
                Ok(Some(manifest)) => named.paths.extend(manifest.paths()),
                Err(error) if is_unreadable(&error) => named.damaged.push(number),
                Err(error) => return Err(error),
            }
            named.manifests += 1;
        }
        Ok(named)
    }
}

/// Returns the files of withdrawals that no readable manifest lists, with their parts in order.
///
/// # Errors
/// When the store cannot be read.
pub async fn unnamed_withdrawals(store: &Store) -> Result<BTreeMap<String, Vec<ObjectMeta>>> {
    let named = KeptParts::read(store).await?;
    let mut found = BTreeMap::<String, Vec<ObjectMeta>>::new();
    let collect = async |part: ObjectMeta| {
        if let Some(file) = file_of_withdrawals(&part.location)
            && !named.paths.contains(&part.location)
        {
            found.entry(file.to_owned()).or_default().push(part);
        }
        Ok(())
    };
    store.for_each_below(&Path::from(PARTS), listing::PARTS, collect).await?;
    for parts in found.values_mut() {
        // The path of a part ends with number and digest.
        parts.sort_by(|a, b| a.location.cmp(&b.location));
    }
    Ok(found)
}

/// Returns the number of parts that no manifest lists and no push will list: parts of pushes or
/// retentions that were cut off.
///
/// # Errors
/// When the store cannot be read.
pub async fn unnamed_parts(store: &Store) -> Result<u64> {
    let Some(&current) = store.manifests().await?.last() else { return Ok(0) };
    // Reads the current number first. A push meanwhile then starts from this manifest or a later
    // manifest, so no part looks unlisted.
    let named = KeptParts::read(store).await?;
    let mut unnamed = 0;
    let count = async |part: ObjectMeta| {
        unnamed += u64::from(is_over(&part, current) && !named.paths.contains(&part.location));
        Ok(())
    };
    store.for_each_below(&Path::from(PARTS), listing::PARTS, count).await?;
    Ok(unnamed)
}
