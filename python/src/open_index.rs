//! Keeps an index open in this process, also after a fork.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cento::{Key, Searcher, Snapshot};

/// An open index and the commit that it shows.
pub struct OpenIndex {
    path: PathBuf,
    key: Option<KeyFile>,
    /// Locked only to copy the value, because a fork may come at any time.
    open: Mutex<OpenedIndex>,
}

/// A key, and the file that it was read from.
pub struct KeyFile {
    pub path: PathBuf,
    pub key: Key,
}

impl KeyFile {
    /// Reads and checks the key in a file.
    pub fn read(path: PathBuf) -> cento::Result<KeyFile> {
        Ok(KeyFile { key: Key::read(&path)?, path })
    }
}

struct OpenedIndex {
    /// The id of the process that opened the index.
    process: u32,
    index: cento::Index,
    /// A searcher over the shown commit, or `None` while the commit cannot be read.
    searcher: Option<Searcher>,
}

impl OpenedIndex {
    /// Shows the last commit. An index with a damaged file still opens, so that `check` can report
    /// the file. Calls that need the commit try again, and say why it cannot be read.
    fn new(index: cento::Index) -> OpenedIndex {
        let searcher = index.snapshot().ok().map(Searcher::new);
        OpenedIndex { process: std::process::id(), index, searcher }
    }
}

impl OpenIndex {
    /// Makes the index that this process opened at `path`.
    pub fn new(path: PathBuf, key: Option<KeyFile>, index: cento::Index) -> OpenIndex {
        OpenIndex { path, key, open: Mutex::new(OpenedIndex::new(index)) }
    }

    /// Returns the key of the index, if it was opened with one.
    pub fn key_file(&self) -> Option<&KeyFile> {
        self.key.as_ref()
    }

    /// Returns the path that the index was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the index, opening it again after a fork.
    pub fn index(&self) -> cento::Result<cento::Index> {
        Ok(self.opened()?.0)
    }

    fn opened(&self) -> cento::Result<(cento::Index, Option<Searcher>)> {
        let process = std::process::id();
        {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            if open.process == process {
                return Ok((open.index.clone(), open.searcher.clone()));
            }
        }
        let index = cento::Index::open(&self.path)?;
        self.key.iter().try_for_each(|file| index.unlock(&file.key))?;
        let new = OpenedIndex::new(index);
        let opened = (new.index.clone(), new.searcher.clone());
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // Threads of the parent process may hold the locks.
        std::mem::forget(std::mem::replace(&mut *open, new));
        Ok(opened)
    }

    /// Returns a searcher over the commit that the index shows.
    pub fn searcher(&self) -> cento::Result<Searcher> {
        let (index, searcher) = self.opened()?;
        if let Some(searcher) = searcher {
            return Ok(searcher);
        }
        let searcher = Searcher::new(index.snapshot()?);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(open.searcher.get_or_insert(searcher).clone())
    }

    /// Shows this commit from now on.
    pub fn show(&self, snapshot: Snapshot) {
        let searcher = Some(Searcher::new(snapshot));
        self.open.lock().unwrap_or_else(PoisonError::into_inner).searcher = searcher;
    }
}
