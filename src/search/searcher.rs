//! The searcher: a snapshot, and the caches that its searches share.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use cento_api::CitedPart;
use crossbeam::queue::ArrayQueue;

use super::boilerplate::{Boilerplate, IgnoredCounts};
use super::candidates::Counters;
use super::chance::Chance;
use super::shard_caches::ShardCaches;
use super::tuning::Tuning;
use crate::error::Result;
use crate::index::Snapshot;
use crate::runtime::Stop;

/// Answers queries over a snapshot of an index.
///
/// A searcher is cheap to make and clone, and threads can share it. A search reads the posting
/// lists of the query's fingerprints. Thresholds and passages also read the texts of hits.
///
/// ```
/// # use cento::{Config, Document, Index, Query, Searcher, WriterOptions};
/// let index = Index::in_memory(Config::new("kgram(k=3)", "words", true)?)?;
/// let mut writer = index.writer(WriterOptions::default())?;
/// writer.add(Document::new("fox", "the quick brown fox jumps over the lazy dog"))?;
/// writer.commit()?;
/// let answer = Searcher::new(index.snapshot()?).search(&Query::text("a quick brown fox"))?;
/// assert_eq!(answer.hits[0].id, "fox");
/// # Ok::<(), cento::Error>(())
/// ```
#[doc(alias = "near-duplicate")]
#[doc(alias = "text reuse")]
#[derive(Clone)]
pub struct Searcher {
    pub(super) snapshot: Snapshot,
    pub(super) ignored: Option<Arc<IgnoredCounts>>,
    pub(super) spare: Arc<ArrayQueue<Scratch>>,
    pub(super) tuning: Tuning,
    /// The statistics for rating passages, computed on demand. `Some(None)` without texts.
    pub(super) chance: Arc<Mutex<Option<Option<Arc<Chance>>>>>,
    /// The caches of a searcher over a shard.
    pub(super) shard: Arc<ShardCaches>,
}

impl std::fmt::Debug for Searcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Searcher").field("snapshot", &self.snapshot).finish_non_exhaustive()
    }
}

/// How many simultaneous queries reuse the memory of earlier queries.
const SPARE_MAX: usize = 64;

/// Memory that is reused between queries.
#[derive(Default)]
pub struct Scratch {
    pub counters: Counters,
    pub part: Vec<u64>,
}

impl Searcher {
    /// Creates a searcher over `snapshot`, without boilerplate.
    #[must_use]
    pub fn new(snapshot: Snapshot) -> Searcher {
        let spare = Arc::new(ArrayQueue::new(SPARE_MAX));
        Searcher {
            snapshot,
            ignored: None,
            spare,
            tuning: Tuning::DEFAULT,
            chance: Arc::default(),
            shard: Arc::default(),
        }
    }

    /// Returns a searcher that ignores boilerplate, such as templates. Numbers of fingerprints are
    /// computed as if no document and no query contained it. No passage begins or ends in it, or
    /// counts its words as matched. The best passage and the measures of `verify` compare whole
    /// texts, including boilerplate.
    ///
    /// ```
    /// # use cento::{Config, Document, Index, WriterOptions};
    /// # let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// # let mut writer = index.writer(WriterOptions::default())?;
    /// # let poem = "A lighthouse was a fire behind a window and half of the light went up";
    /// # writer.add(Document::new("poem", poem))?;
    /// # writer.add(Document::new("copy", format!("{poem} the chimney")))?;
    /// # writer.commit()?;
    /// use cento::{Boilerplate, Query, Searcher, Stop};
    ///
    /// // The poem is the assignment, so sharing it is no reuse.
    /// let boilerplate = Boilerplate::new(index.config())?.with_texts([poem], Stop::NEVER)?;
    /// let searcher = Searcher::new(index.snapshot()?).excluding(boilerplate, Stop::NEVER)?;
    /// let essay = format!("{poem} and this is what I think about it as a whole");
    /// assert!(searcher.search(&Query::text(essay))?.hits.is_empty());
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a segment is damaged. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn excluding(
        self,
        boilerplate: impl Into<Arc<Boilerplate>>,
        stop: &Stop,
    ) -> Result<Searcher> {
        let ignored = IgnoredCounts::new(&self.snapshot, boilerplate.into(), stop)?;
        Ok(Searcher { ignored: Some(Arc::new(ignored)), ..self })
    }

    /// Returns a searcher that also ignores these kinds of cited text, like
    /// [`excluding`](Self::excluding).
    ///
    /// # Errors
    /// When the index stores no texts.
    pub fn without(&self, parts: &[CitedPart]) -> Result<Cow<'_, Searcher>> {
        let known = self.boilerplate();
        if known.map_or(parts.is_empty(), |known| known.has_cited(parts)) {
            return Ok(Cow::Borrowed(self));
        }
        let ignored = IgnoredCounts::with_cited(self.ignored.as_deref(), &self.snapshot, parts)?;
        Ok(Cow::Owned(Searcher { ignored: Some(Arc::new(ignored)), ..self.clone() }))
    }

    /// Returns the ignored boilerplate, if any.
    #[must_use]
    pub fn boilerplate(&self) -> Option<&Arc<Boilerplate>> {
        self.ignored.as_ref().map(|ignored| &ignored.boilerplate)
    }

    /// Returns the statistics for rating passages in this collection, or `None` without texts. The
    /// first call reads a sample of the documents.
    ///
    /// # Errors
    /// When a file cannot be read. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn chance(&self, stop: &Stop) -> Result<Option<Arc<Chance>>> {
        // One thread samples while the others wait, because many requests may follow a commit.
        let mut known = self.chance.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            *known = Some(Chance::of(&[&self.snapshot], stop)?.map(Arc::new));
        }
        Ok(known.clone().flatten())
    }

    /// Returns the snapshot that the searcher answers from.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }
}
