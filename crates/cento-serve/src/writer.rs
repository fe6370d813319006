//! Starts the thread of the writer, and sends it commands.
//!
//! The thread has the index's only writer and runs [`writer_loop`]. This module publishes the
//! status of the writer.

mod pending;
mod writer_loop;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use crossbeam::channel::{Receiver, Sender, bounded};

use super::command::Command;
use super::matching::Matching;
use super::metrics::Metrics;
use super::priority;
use super::published::{PublishedCommit, unlocked};
use super::schedule::Daily;
use cento::index::Index;
use cento::runtime::Faults;
use cento::{Error, Key, Reason, Result};
use cento_api::http::Run;
use writer_loop::WriterLoop;

/// The maximum number of requests with signed documents in the writer's queue.
const DOCUMENTS_MAX: usize = 64;

/// The maximum number of other commands in the writer's queue.
const COMMANDS_MAX: usize = 64;

/// The state of the writer for other threads.
pub struct Status {
    /// When the service was started, in microseconds since 1970.
    pub started: u64,
    /// Documents changed since the last commit.
    pub uncommitted: AtomicU64,
    /// Acknowledged documents that could not be committed.
    pub lost: AtomicU64,
    /// Whether a compaction is in progress.
    pub compacting: AtomicBool,
    /// Whether the last write failed.
    pub failed: AtomicBool,
    /// Whether the last commit could not be opened for searching.
    pub stale: AtomicBool,
}

impl Status {
    /// Returns the status of a service that starts now.
    pub fn new() -> Status {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Status {
            started: since.map_or(0, |since| since.as_micros() as u64),
            uncommitted: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            compacting: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            stale: AtomicBool::new(false),
        }
    }

    /// Returns the unique identity of this run.
    pub fn run(&self) -> Run {
        Run { started: self.started, lost: self.lost.load(Ordering::Relaxed) }
    }
}

/// The settings of the writer.
#[derive(Clone)]
pub struct WriterSettings {
    /// The memory for documents on their way into a segment, in bytes.
    pub memory_bytes: usize,
    /// The maximum time until an acknowledged document is committed.
    pub commit_interval: Duration,
    /// The time of day to compact.
    pub compact_at: Option<Daily>,
    /// The watches to match with every commit.
    pub matching: Arc<Matching>,
    /// The key of the index, if its fingerprints depend on a key.
    pub key: Option<Key>,
    /// The faults of a test.
    pub faults: Faults,
}

/// The thread of the writer.
pub struct WriterThread {
    thread: JoinHandle<()>,
    /// Receives at the end whether the last commit succeeded.
    committed: Receiver<bool>,
}

/// Channels to the writer. With a separate channel for documents, other commands do not wait for
/// queued documents.
pub struct WriterSenders {
    pub documents: Sender<Command>,
    pub others: Sender<Command>,
}

/// The receiving ends of [`WriterSenders`].
struct WriterInbox {
    documents: Receiver<Command>,
    others: Receiver<Command>,
}

impl WriterThread {
    /// Opens the writer of the index at `path`, and starts its thread.
    ///
    /// # Errors
    /// When another process has the writer, or the index cannot be opened.
    pub fn start(
        path: &Path,
        settings: WriterSettings,
        published: Arc<PublishedCommit>,
        metrics: Arc<Metrics>,
        status: Arc<Status>,
    ) -> Result<(WriterThread, Index, WriterSenders)> {
        let index = unlocked(Index::open(path)?, settings.key.as_ref())?;
        index.set_faults(settings.faults.clone());
        let (documents, from_signers) = bounded(DOCUMENTS_MAX);
        let (others, from_others) = bounded(COMMANDS_MAX);
        let incoming = WriterInbox { documents: from_signers, others: from_others };
        let (committed_tx, committed) = bounded(1);
        let (opened_tx, opened_rx) = bounded(1);
        let (own_index, commands) = (index.clone(), others.clone());
        let thread = std::thread::Builder::new().spawn(move || {
            // Lower the priority first, because the threads of tantivy inherit the priority.
            priority::give_way();
            let begun =
                WriterLoop::begin(own_index, settings, published, metrics, status, commands);
            let work = match begun {
                Ok(work) => work,
                Err(error) => {
                    let _ = opened_tx.send(Err(error));
                    return;
                }
            };
            let _ = opened_tx.send(Ok(()));
            work.run(&incoming, &committed_tx);
        });
        let thread = thread.map_err(|e| Error::io("start", "the thread of the writer", e))?;
        let ended = |_| Err(Error::internal("the thread of the writer", "it panicked"));
        opened_rx.recv().unwrap_or_else(ended)?;
        Ok((WriterThread { thread, committed }, index, WriterSenders { documents, others }))
    }

    /// Waits for the last commit, however long it takes, and then for merges up to `patience`.
    /// Merges may continue until the process ends. Cutting them off leaves the index unchanged.
    ///
    /// # Errors
    /// When acknowledged documents could not be committed.
    pub fn join(self, index: &Index, patience: Duration) -> Result<()> {
        if !self.committed.recv().unwrap_or(false) {
            let what = "acknowledged documents could not be committed; the log says why";
            return Err(Error::index(index.path(), Reason::WriteFailed, what));
        }
        let started = Instant::now();
        while !self.thread.is_finished() {
            if started.elapsed() >= patience {
                tracing::warn!("merges were cut off; the index is in the state of its last commit");
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}
