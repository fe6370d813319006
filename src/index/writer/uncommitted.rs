//! The changes since the last commit, and how many of them there may be.

use super::{MEMORY_BYTES_MIN, Writer};
use crate::hash::Digest;
use crate::index::content::Content;

/// What a writer did to a document.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WriterChange {
    Removed,
    Added(Content),
}

/// This fraction of the memory is for the changes of the next commit.
const SHARE: usize = 6;

/// The most bytes that a change takes in a hash map.
const CHANGE_BYTES: usize = 100;
const _: () = assert!(size_of::<(Digest, WriterChange)>() < CHANGE_BYTES, "bytes of a place");

/// The most changes, whatever the memory: a hash map of 2^20 places holds 7/8 of that number.
const CHANGES_MAX: usize = 900_000;

impl Writer {
    /// Returns the most changes in a commit. The writer commits by itself at this number, because
    /// it remembers each change until the commit. It takes a sixth of
    /// [`WriterOptions::memory_bytes`](super::WriterOptions::memory_bytes) for them: a fixed number
    /// took 150 MB beside the smallest memory.
    ///
    /// # Examples
    /// ```
    /// use cento::{Config, Index, WriterOptions};
    ///
    /// let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", false)?)?;
    /// let writer = index.writer(WriterOptions::default().memory_bytes(64_usize << 20))?;
    /// assert_eq!(writer.uncommitted_max(), 111_848);
    /// # Ok::<(), cento::Error>(())
    /// ```
    #[must_use]
    pub fn uncommitted_max(&self) -> usize {
        let bytes = self.options.memory_bytes.max(MEMORY_BYTES_MIN) / SHARE;
        (bytes / CHANGE_BYTES).min(CHANGES_MAX)
    }
}

#[cfg(test)]
mod tests {
    use crate::index::{Config, Document, Index, WriterOptions};

    #[test]
    fn a_writer_with_little_memory_commits_before_its_changes_fill_it() {
        let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", false).unwrap());
        let index = index.unwrap();
        let options = WriterOptions::default().memory_bytes(0_usize).merge(false);
        let mut writer = index.writer(options).unwrap();
        let max = writer.uncommitted_max();
        for i in 0..=max {
            assert!(writer.uncommitted() < max, "{i}");
            writer.add(Document::new(i.to_string(), "")).unwrap();
        }
        assert_eq!(writer.uncommitted(), 1);
        assert_eq!(index.snapshot().unwrap().documents() as usize, max);
    }
}
