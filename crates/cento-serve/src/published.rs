//! Which searcher answers queries now?

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use super::metrics::Metrics;
use cento::Result;
use cento::index::Index;
use cento::search::Searcher;

/// The searcher over the last commit. A request takes it once, so it sees one commit only.
pub struct Published {
    /// Opened for searching; the writer has another one.
    index: RwLock<Index>,
    current: RwLock<Arc<Searcher>>,
}

impl Published {
    /// Opens the index at `path`.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path, metrics: &Metrics) -> Result<Published> {
        let index = Index::open_for_search(path)?;
        let searcher = Arc::new(Searcher::new(index.snapshot()?));
        tell(&searcher, metrics);
        Ok(Published { index: RwLock::new(index), current: RwLock::new(searcher) })
    }

    /// The searcher.
    pub fn current(&self) -> Arc<Searcher> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks at the index again, if something has been committed or merged.
    ///
    /// # Errors
    /// When it cannot be read; the searcher then stays the one before.
    pub fn refresh(&self, metrics: &Metrics) -> Result<()> {
        if self.current().snapshot().is_current()? {
            return Ok(());
        }
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner).clone();
        self.replace(index, metrics)
    }

    /// Answers from another index from now on.
    ///
    /// # Errors
    /// When it cannot be read; the searcher then stays the one before.
    pub fn replace(&self, index: Index, metrics: &Metrics) -> Result<()> {
        let searcher = Arc::new(Searcher::new(index.snapshot()?));
        tell(&searcher, metrics);
        *self.index.write().unwrap_or_else(PoisonError::into_inner) = index;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = searcher;
        Ok(())
    }
}

fn tell(searcher: &Searcher, metrics: &Metrics) {
    let segments = searcher.snapshot().segments();
    let deleted = segments.iter().map(|segment| u64::from(segment.deleted_documents())).sum();
    metrics.documents.set(searcher.snapshot().documents());
    metrics.deleted.set(deleted);
    metrics.segments.set(segments.len() as u64);
}
