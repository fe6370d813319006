//! The searcher that answers queries now.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use super::metrics::Metrics;
use cento::index::{Index, Snapshot};
use cento::search::Searcher;
use cento::{Key, Result};

/// The list of segments of an index, which every commit writes anew.
const LIST: &str = "meta.json";

/// The searcher over the last commit. A request takes it once, so it sees one commit only.
pub struct Published {
    /// Opened for searching; the writer has an `Index` of its own. Several are searched as one.
    indexes: RwLock<Vec<Index>>,
    current: RwLock<Arc<Searcher>>,
}

impl Published {
    /// Opens the index at `path`.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path, key: Option<&Key>, metrics: &Metrics) -> Result<Published> {
        Published::open_all(&[path.to_owned()], key, metrics)
    }

    /// Opens the indexes at `paths`, to be searched as one.
    ///
    /// # Errors
    /// When one cannot be opened, or they do not fit each other.
    pub fn open_all(paths: &[PathBuf], key: Option<&Key>, metrics: &Metrics) -> Result<Published> {
        let open = |path: &PathBuf| unlocked(Index::open_for_search(path)?, key);
        let indexes = paths.iter().map(open).collect::<Result<Vec<_>>>()?;
        let searcher = searcher(&indexes)?;
        tell(&indexes, &searcher, metrics);
        Ok(Published { indexes: RwLock::new(indexes), current: RwLock::new(searcher) })
    }

    /// Returns the searcher.
    pub fn current(&self) -> Arc<Searcher> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens the last commit, if there was a commit or a merge since.
    ///
    /// # Errors
    /// When it cannot be read; the searcher then stays the one before.
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
    /// When it cannot be read; the searcher then stays the one before.
    pub fn replace(&self, index: Index, metrics: &Metrics) -> Result<()> {
        self.replace_all(vec![index], metrics)
    }

    fn replace_all(&self, indexes: Vec<Index>, metrics: &Metrics) -> Result<()> {
        let searcher = searcher(&indexes)?;
        tell(&indexes, &searcher, metrics);
        *self.indexes.write().unwrap_or_else(PoisonError::into_inner) = indexes;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = searcher;
        Ok(())
    }
}

/// Makes the key known to an index, if there is one.
///
/// # Errors
/// When the index has another key, or none.
pub fn unlocked(index: Index, key: Option<&Key>) -> Result<Index> {
    key.map_or(Ok(()), |key| index.unlock(key))?;
    Ok(index)
}

/// Returns a searcher over the last commits of these indexes, as if they were one; each has the
/// name of its path.
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
