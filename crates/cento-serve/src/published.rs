//! Publishes the searcher that answers queries.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use super::allocator;
use super::metrics::Metrics;
use cento::index::{Index, Snapshot};
use cento::search::Searcher;
use cento::{Key, Result};

/// The list of segments of an index, which every commit rewrites.
const LIST: &str = "meta.json";

/// The searcher over the last commit. A request takes the searcher at the beginning and keeps it,
/// so it sees a single commit.
pub struct PublishedCommit {
    /// The indexes, opened for searching. The writer has a separate `Index`.
    indexes: RwLock<Vec<Index>>,
    current: RwLock<Arc<Searcher>>,
}

impl PublishedCommit {
    /// Opens the index at `path`.
    ///
    /// # Errors
    /// When the index cannot be opened.
    pub fn open(path: &Path, key: Option<&Key>, metrics: &Metrics) -> Result<PublishedCommit> {
        PublishedCommit::open_all(&[path.to_owned()], key, metrics)
    }

    /// Opens the indexes at `paths`, for searches in all of them.
    ///
    /// # Errors
    /// When an index cannot be opened, or the indexes do not fit together.
    pub fn open_all(
        paths: &[PathBuf],
        key: Option<&Key>,
        metrics: &Metrics,
    ) -> Result<PublishedCommit> {
        let open = |path: &PathBuf| unlocked(Index::open_for_search(path)?, key);
        let indexes = paths.iter().map(open).collect::<Result<Vec<_>>>()?;
        let searcher = searcher(&indexes)?;
        tell(&indexes, &searcher, metrics);
        Ok(PublishedCommit { indexes: RwLock::new(indexes), current: RwLock::new(searcher) })
    }

    /// Returns the current searcher.
    pub fn current(&self) -> Arc<Searcher> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens the last commit, if there was a commit or a merge in the meantime.
    ///
    /// # Errors
    /// When the commit cannot be read. The searcher then stays the same.
    pub fn refresh(&self, metrics: &Metrics) -> Result<()> {
        if self.current().snapshot().is_current()? {
            return Ok(());
        }
        let indexes = self.indexes.read().unwrap_or_else(PoisonError::into_inner).clone();
        self.replace_all(indexes, metrics)
    }

    /// Switches to another index.
    ///
    /// # Errors
    /// When the index cannot be read. The searcher then stays the same.
    pub fn replace(&self, index: Index, metrics: &Metrics) -> Result<()> {
        self.replace_all(vec![index], metrics)
    }

    fn replace_all(&self, indexes: Vec<Index>, metrics: &Metrics) -> Result<()> {
        let searcher = searcher(&indexes)?;
        tell(&indexes, &searcher, metrics);
        *self.indexes.write().unwrap_or_else(PoisonError::into_inner) = indexes;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = searcher;
        // The searcher of the previous commit, and its caches, may be freed by now.
        allocator::give_back_if_grown();
        Ok(())
    }
}

/// Gives the key to an index, if there is a key.
///
/// # Errors
/// When the key is wrong, or the index has no key.
pub fn unlocked(index: Index, key: Option<&Key>) -> Result<Index> {
    key.map_or(Ok(()), |key| index.unlock(key))?;
    Ok(index)
}

/// Returns a searcher over the last commits of all indexes. An index is named after its path.
fn searcher(indexes: &[Index]) -> Result<Arc<Searcher>> {
    let named = indexes
        .iter()
        .map(|index| Ok((index.path().display().to_string(), index.snapshot()?)))
        .collect::<Result<_>>()?;
    Ok(Arc::new(Searcher::new(Snapshot::union(named)?)))
}

fn tell(indexes: &[Index], searcher: &Searcher, metrics: &Metrics) {
    let written = |index: &Index| std::fs::metadata(index.path().join(LIST)).ok()?.modified().ok();
    let committed = indexes.iter().filter_map(written).max();
    match searcher.snapshot().stats() {
        Ok(stats) => metrics.publishes(&stats, committed),
        Err(error) => tracing::warn!(%error, "the metrics of the index are those of before"),
    }
}
