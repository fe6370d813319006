//! Follows the commits of other processes, for a service that only reads.
//!
//! A thread checks the lists of segments every second and publishes a new searcher after a change.
//! If an index cannot be opened, the thread tries again, and searches continue on the previous
//! commit.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use super::metrics::Metrics;
use super::priority;
use super::published::PublishedCommit;
use super::writer::Status;
use cento::Stop;
use cento::{Error, Result};

/// The time between two checks.
const INTERVAL: Duration = Duration::from_secs(1);

/// The thread that checks for new commits.
pub struct CommitPoller {
    thread: JoinHandle<()>,
    stop: Stop,
}

impl CommitPoller {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(
        published: Arc<PublishedCommit>,
        metrics: Arc<Metrics>,
        status: Arc<Status>,
    ) -> Result<CommitPoller> {
        let stop = Stop::new();
        let is_over = stop.clone();
        let look = move || {
            priority::give_way();
            while !is_over.is_set() {
                let seen = Error::catch("looking for commits", || published.refresh(&metrics));
                let was_stale = status.stale.swap(seen.is_err(), Ordering::Relaxed);
                if let (Err(error), false) = (seen, was_stale) {
                    tracing::warn!(%error, "cannot open the last commit; searches see the one \
                                            before, and it is tried again");
                }
                std::thread::park_timeout(INTERVAL);
            }
        };
        let thread = std::thread::Builder::new().name("poll".into()).spawn(look);
        let thread =
            thread.map_err(|e| Error::io("start", "the thread that looks for commits", e))?;
        Ok(CommitPoller { thread, stop })
    }

    /// Stops the thread and waits for its end.
    pub fn join(self) {
        self.stop.set();
        self.thread.thread().unpark();
        // The thread has reported a panic already.
        let _ = self.thread.join();
    }
}
